//! Renders Markdown as HTML: raw HTML is text, links lead only to http, https, mail addresses and
//! entities, and nothing is loaded.

use maud::{Markup, PreEscaped, html};
use percent_encoding::percent_decode_str;
use pulldown_cmark::{
    Alignment, CodeBlockKind, CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd,
};

use crate::model::{Graph, replace_entity_links};
use crate::render::{one_line, printable_text_for_html};
use crate::view::Links;

/// The beginning of a link to an entity, before it is resolved.
const ENTITY_SCHEME: &str = "palazzo-entity:";

/// Renders a text of a palace with its links to entities. A longer text than `limit` is cut.
pub(super) fn markdown_to_html(text: &str, limit: usize, graph: &Graph, links: &Links) -> Markup {
    let text = printable_text_for_html(text);
    let end = (0..=limit.min(text.len())).rev().find(|it| text.is_char_boundary(*it));
    let shown = &text[..end.unwrap_or_default()];
    let linked = link_entities(shown, graph);
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let mut renderer = EventFilter { links, open_links: Vec::new() };
    let events = Parser::new_ext(&linked, options).map(|it| renderer.filter(it));
    let mut page = String::new();
    pulldown_cmark::html::push_html(&mut page, events);
    html! {
        div class="prose" {
            (PreEscaped(page))
            @if shown.len() < text.len() { p class="note" { "… the rest is left out here." } }
        }
    }
}

/// Replaces the links to entities by links of Markdown.
/// A link has no longer name of an entity as its target: no browser could follow it.
const MAX_TARGET_BYTES: usize = 2_000;

fn link_entities(text: &str, graph: &Graph) -> String {
    replace_entity_links(text, |link| {
        let name = &graph.find_entity(link.name)?.name;
        let words = escape_markdown(&one_line(link.words.unwrap_or(name)));
        if name.len() > MAX_TARGET_BYTES {
            return Some(words);
        }
        let target =
            percent_encoding::utf8_percent_encode(name, percent_encoding::NON_ALPHANUMERIC);
        Some(format!("[{words}]({ENTITY_SCHEME}{target})"))
    })
}

fn escape_markdown(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for it in text.chars() {
        if it.is_ascii_punctuation() {
            escaped.push('\\');
        }
        escaped.push(it);
    }
    escaped
}

/// Replaces the events of the parser that would make harmful HTML.
struct EventFilter<'a> {
    links: &'a Links,
    /// Whether each open link has a target.
    open_links: Vec<bool>,
}

impl EventFilter<'_> {
    fn filter<'e>(&mut self, event: Event<'e>) -> Event<'e> {
        match event {
            Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::TaskListMarker(_) | Event::FootnoteReference(_) => Event::Text("".into()),
            other => other,
        }
    }

    fn start<'e>(&mut self, tag: Tag<'e>) -> Event<'e> {
        match tag {
            Tag::HtmlBlock => Event::Start(Tag::Paragraph),
            Tag::Heading { level, .. } => raw(format!("<{}>", lower_heading(level))),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => self.start_link(&dest_url),
            // The alignments of columns would become style attributes.
            Tag::Table(columns) => Event::Start(Tag::Table(vec![Alignment::None; columns.len()])),
            Tag::CodeBlock(CodeBlockKind::Fenced(_) | CodeBlockKind::Indented) => {
                raw("<pre tabindex=\"0\"><code>".to_owned())
            }
            other => Event::Start(other),
        }
    }

    fn end<'e>(&mut self, tag: TagEnd) -> Event<'e> {
        match tag {
            TagEnd::HtmlBlock => Event::End(TagEnd::Paragraph),
            TagEnd::Heading(level) => raw(format!("</{}>\n", lower_heading(level))),
            TagEnd::Link | TagEnd::Image => match self.open_links.pop() {
                Some(true) => raw("</a>".to_owned()),
                _ => Event::Text("".into()),
            },
            TagEnd::CodeBlock => raw("</code></pre>\n".to_owned()),
            other => Event::End(other),
        }
    }

    fn start_link<'e>(&mut self, target: &str) -> Event<'e> {
        let entity = target.strip_prefix(ENTITY_SCHEME);
        let name = entity.map(|it| percent_decode_str(it).decode_utf8_lossy().into_owned());
        let href = match name {
            Some(name) => self.links.entity(&name),
            None => is_harmless(target).then(|| target.to_owned()),
        };
        let href = href.filter(|_| !self.open_links.contains(&true));
        self.open_links.push(href.is_some());
        let Some(href) = href else { return Event::Text("".into()) };
        let rel = entity.is_none().then_some("noopener noreferrer");
        let link = html! { a href=(href) rel=[rel] {} }.into_string();
        raw(link.trim_end_matches("</a>").to_owned())
    }
}

fn raw<'e>(text: String) -> Event<'e> {
    Event::InlineHtml(CowStr::from(text))
}

/// Returns the name of a heading below those of the page.
fn lower_heading(level: HeadingLevel) -> HeadingLevel {
    match level {
        HeadingLevel::H1 => HeadingLevel::H3,
        HeadingLevel::H2 => HeadingLevel::H4,
        HeadingLevel::H3 => HeadingLevel::H5,
        _ => HeadingLevel::H6,
    }
}

fn is_harmless(target: &str) -> bool {
    let lower = target.trim().to_ascii_lowercase();
    ["http://", "https://", "mailto:"].iter().any(|it| lower.starts_with(it))
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::model::Entity;

    fn rendered(text: &str) -> String {
        let mut graph = Graph::default();
        let ada = Entity { is_defined: true, ..Entity::new_loose_end("Ada <b>") };
        graph.set_file_entity("ada.yaml", Some(ada)).unwrap();
        let entities = BTreeMap::from([("Ada <b>".to_owned(), 7)]);
        let links = Links::File { rooms: BTreeSet::new(), entities };
        markdown_to_html(text, 10_000, &graph, &links).into_string()
    }

    #[test]
    fn raw_html_is_text() {
        let page =
            rendered("A <b onclick=x>b</b>\n\n<script>alert(1)</script>\n\n<style>*{}</style>");
        assert!(!page.contains("<script") && !page.contains("<b") && !page.contains("<style"));
        assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "{page}");
    }

    #[test]
    fn only_harmless_links_lead_somewhere() {
        let page =
            rendered("[a](javascript:alert(1)) [b](https://x.org/\"y) [c](DATA:text/html,x)");
        assert_eq!(page.matches("<a").count(), 1, "{page}");
        assert!(page.contains("rel=\"noopener noreferrer\""), "{page}");
        let image = rendered("![a picture](https://x.org/a.png) ![b](x.png)");
        assert!(!image.contains("<img") && image.contains(">a picture</a>"), "{image}");
    }

    #[test]
    fn entities_are_linked_by_their_names() {
        let page = rendered("[[ada <B>]] and [[Ada <b>|her *friend*]], not [[Eve]].");
        assert!(page.contains("<a href=\"#entity/7\">Ada &lt;b&gt;</a>"), "{page}");
        assert!(page.contains("<a href=\"#entity/7\">her *friend*</a>"), "{page}");
        assert!(page.contains("[[Eve]]"), "{page}");
    }

    #[test]
    fn headings_are_below_those_of_the_page_and_tables_have_no_style() {
        let page = rendered("# One\n\n| a | b |\n|:-:|--:|\n| 1 | 2 |\n\n```x\n<i>\n```\n");
        assert!(page.contains("<h3>One</h3>") && page.contains("<table>"), "{page}");
        assert!(!page.contains("style") && page.contains("&lt;i&gt;"), "{page}");
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let links = Links::File { rooms: BTreeSet::new(), entities: BTreeMap::new() };
        let page = markdown_to_html("ééé", 3, &Graph::default(), &links).into_string();
        assert!(page.contains("<p>é</p>") && page.contains("left out"), "{page}");
    }
}
