//! The pages that list: palaces, rooms and entities, search results, findings, tasks; and the page
//! of one item.

use chrono::{DateTime, Utc};
use maud::{Markup, html};

use crate::model::{CommitSummary, Diagnostic, Graph, ItemId, Severity};
use crate::render::{
    HitView, WorkView, ago, count_with_noun, one_line, printable_text_for_html, truncate,
    whole_line, work_notice,
};
use crate::view::markdown_html::markdown_to_html;
use crate::view::{Links, PageKind};

/// Limit for the characters of a name or a line.
const MAX_NAME: usize = 120;
const MAX_LINE: usize = 400;
/// Limit for the bytes of a text.
const MAX_TEXT: usize = 400_000;

/// A row of a list: the item and what is said about it.
#[derive(Clone, Debug)]
pub struct ListRow {
    /// The item, for its link.
    pub item: ItemId,
    /// Its name.
    pub name: String,
    /// A note behind the name.
    pub note: String,
}

/// One page of the rooms and the entities of a palace.
#[derive(Clone, Debug)]
pub struct IndexPage {
    /// The genus whose entities are listed; `None`: the rooms and the genera.
    pub genus: Option<String>,
    /// The rooms, or the entities of the genus, on this page.
    pub rows: Vec<ListRow>,
    /// The genera with their numbers of entities.
    pub genera: Vec<(String, usize)>,
    /// The number of the page, from 1, and of all pages.
    pub page: (usize, usize),
}

/// Renders one page of the index.
pub fn index_page(index: &IndexPage, links: &Links) -> Markup {
    html! {
        @if let Some(genus) = &index.genus {
            p { a href=[links.page(PageKind::Index)] { "All rooms and genera" } }
            h2 { (short(genus)) }
        } @else { h2 { "Rooms" } }
        (rows(&index.rows, links))
        (page_links(links, PageKind::Index, index.genus.as_deref(), index.page))
        @if !index.genera.is_empty() {
            h2 { "Entities by genus" }
            ul class="columns" {
                @for (genus, count) in &index.genera {
                    li {
                        a href=[links.page_with(PageKind::Index, &[("genus", genus)])] { (short(genus)) }
                        " " span class="by" { (count_with_noun(*count, "entity")) }
                    }
                }
            }
        }
    }
}

/// Renders rows as a list of links.
pub(super) fn rows(rows: &[ListRow], links: &Links) -> Markup {
    html! {
        ul class="columns" {
            @for it in rows {
                li {
                    a href=[links.item(&it.item)] { (short(&it.name)) }
                    @if !it.note.is_empty() { " " span class="by" { (short(&it.note)) } }
                }
            }
        }
    }
}

/// Renders the links to the pages before and after one of several.
pub(super) fn page_links(
    links: &Links,
    kind: PageKind,
    genus: Option<&str>,
    (page, pages): (usize, usize),
) -> Markup {
    let to = |page: usize| {
        let number = page.to_string();
        let genus = genus.map(|it| ("genus", it));
        let query: Vec<_> = genus.into_iter().chain([("page", number.as_str())]).collect();
        links.page_with(kind, &query)
    };
    html! {
        @if pages > 1 {
            nav class="pages" aria-label="Pages" {
                @if page > 1 { a href=[to(page - 1)] { "← page " (page - 1) } }
                span { "page " (page) " of " (pages) }
                @if page < pages { a href=[to(page + 1)] { "page " (page + 1) " →" } }
            }
        }
    }
}

/// Renders commits with their authors and ages.
pub(super) fn commit_list(commits: &[CommitSummary], links: &Links, now: DateTime<Utc>) -> Markup {
    html! {
        ul class="commits" {
            @for it in commits {
                li {
                    a href=[links.commit(&it.short)] { (truncate(&one_line(&it.subject), MAX_NAME)) }
                    " " span class="by" { (truncate(&one_line(&it.by), 40)) ", " (ago(it.at, now)) }
                }
            }
        }
    }
}

/// Renders search results; `total` is the number of all.
pub fn search_page(query: &str, hits: &[(ItemId, HitView)], total: usize, links: &Links) -> Markup {
    let query = truncate(&one_line(query), MAX_NAME);
    html! {
        @if query.is_empty() {
            p { "Write words in the field above, or open the "
                a href=[links.page(PageKind::Index)] { "index" } "." }
            noscript {
                p {
                    "The field needs JavaScript. Without it, write the words at the end of this "
                    "page's address: " code { (links.page(PageKind::Search).unwrap_or_default()) "?q=words" }
                }
            }
        } @else if hits.is_empty() {
            p { "Nothing in the palace mentions “" (query) "”: try other words." }
        } @else {
            p { (count_with_noun(total, "result")) " for “" (query) "”" }
            ol class="hits" {
                @for (item, hit) in hits {
                    li {
                        a href=[links.item(item)] { (short(&hit.title)) }
                        " " span class="by" { (short(&hit.note)) }
                        @if !hit.snippet.is_empty() && hit.snippet != hit.title {
                            p { (truncate(&whole_line(&hit.snippet), MAX_LINE)) }
                        }
                    }
                }
            }
            @if total > hits.len() {
                p class="note" { "and " (total - hits.len()) " more: search with more words" }
            }
        }
    }
}

/// Renders findings, errors first, and conflicts, each with the file that it is about.
pub fn findings_page(
    findings: &[(Diagnostic, Option<ItemId>)],
    conflicts: &[(String, Option<ItemId>)],
    links: &Links,
) -> Markup {
    let label = |it: &Diagnostic| match it.severity() {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    };
    let place = |file: &str, item: &Option<ItemId>| {
        let href = item.as_ref().and_then(|it| links.item(it));
        html! { a href=[href] { code { (truncate(&one_line(file), MAX_NAME)) } } }
    };
    html! {
        @if !conflicts.is_empty() {
            h2 { "Conflicts" }
            ul class="findings" {
                @for (text, item) in conflicts {
                    li { a href=[item.as_ref().and_then(|it| links.item(it))] { "Open" } " " (whole_line(text)) }
                }
            }
        }
        @if findings.is_empty() { p { "Nothing is wrong." } } @else {
            p class="lead" {
                "What the files of this palace get wrong, as " code { "palazzo check" } " reports it. "
                "Notes are only for information."
            }
        }
        ul class="findings" {
            @for (it, item) in findings {
                li {
                    span class=(label(it)) { (label(it)) } " " (place(&it.file, item)) ":" (it.at.line)
                    " " (truncate(&whole_line(&it.message), MAX_LINE))
                    @if let Some(hint) = &it.hint { span class="by" { " " (truncate(&whole_line(hint), MAX_LINE)) } }
                }
            }
        }
    }
}

/// Renders open tasks and processes; `total` is the number of all.
pub fn tasks_page(
    work: &[(ItemId, WorkView<'_>)],
    total: usize,
    links: &Links,
    now: DateTime<Utc>,
) -> Markup {
    html! {
        @if work.is_empty() { p { "Nothing is to be done." } }
        ul class="work" {
            @for (item, view) in work {
                li {
                    a href=[links.item(item)] { (work_notice(view, now)) }
                    @let about = about(view);
                    @if !about.is_empty() { " " span class="by" { (about) } }
                }
            }
        }
        @if total > work.len() { p class="note" { "and " (total - work.len()) " more" } }
    }
}

fn about<'a>(view: &'a WorkView<'_>) -> &'a str {
    match view {
        WorkView::Task(it) => &it.about,
        WorkView::Process(it) => &it.about,
    }
}

/// Renders a scroll or a drawer: what is said about it, and its text.
pub fn text_page(about: &str, text: &str, graph: &Graph, links: &Links) -> Markup {
    html! {
        p class="kind" { (whole_line(about)) }
        (markdown_to_html(text, MAX_TEXT, graph, links))
    }
}

/// Renders an item as the command line shows it.
pub fn plain_text_page(text: &str) -> Markup {
    html! { pre tabindex="0" class="shown" { (truncate(&printable_text_for_html(text), MAX_TEXT)) } }
}

/// Renders why a page cannot be shown.
pub fn refusal_page(why: &str) -> Markup {
    html! {
        p { (truncate(&whole_line(why), MAX_LINE)) }
        p { a href="/" { "To the first page" } }
    }
}

fn short(text: &str) -> String {
    truncate(&one_line(text), MAX_NAME)
}
