//! Renders rooms and scrolls as Markdown resources: with links, and without action numbers,
//! which have a meaning only during a visit.

use chrono::SecondsFormat;
use pulldown_cmark::{Event, HeadingLevel, Parser, TagEnd};

use crate::model::{
    Action, ActionKind, NavigationTarget, Palace, ResourceUri, Room, RoomId, Scroll, ScrollId,
    UriTarget, quoted,
};
use crate::render::resolve_entity_links;
use crate::render::text::{name_in_sentence, one_line, text_in_page, whole_line};

/// Limit for the scrolls that a room links to.
const MAX_SCROLLS: usize = 50;

/// Renders a room; `workspace` is the name of the palace in URIs, `origin_of` renders where a scroll comes
/// from.
pub fn room_markdown(
    palace: &Palace,
    workspace: &str,
    (id, room): (&RoomId, &Room),
    origin_of: impl Fn(&Scroll) -> String,
) -> String {
    let mut page = format!("# {}\n", escape_link_text(&room.name));
    if !room.description.is_empty() {
        let description = resolve_entity_links(&room.description, &palace.graph);
        page.push_str(&format!("\n{}\n", closed_markdown(&text_in_page(&description))));
    }
    let link = |name: &str, to: &RoomId| room_link(palace, workspace, name, to);
    let actions = room.actions.iter().map(|it| action_item(palace, workspace, id, it));
    page.push_str(&markdown_section("Actions", actions));
    let shown = room.generate.iter().map(|it| escape_link_text(&it.to_string()));
    page.push_str(&markdown_section("Shown from the graph", shown));
    let doors = palace.doors_without_action(id).into_iter().map(|it| link(&it.name, &it.to));
    page.push_str(&markdown_section("Doors", doors));
    let scrolls = palace.scrolls_in_room(id).take(MAX_SCROLLS);
    let scrolls = scrolls.map(|it| {
        let target = UriTarget::Scroll(ScrollId { room: id.clone(), id: it.id });
        let address = ResourceUri { workspace: workspace.to_owned(), target };
        let (title, by) =
            (escape_link_text(&it.title), escape_link_text(&name_in_sentence(&it.by)));
        let origin = escape_link_text(&origin_of(it));
        format!("[{title}]({address}) by {by}, {}{origin}", it.written.format("%Y-%m-%d"))
    });
    page.push_str(&markdown_section("Scrolls", scrolls));
    let older = palace.scrolls_in_room(id).count().saturating_sub(MAX_SCROLLS);
    if older > 0 {
        page.push_str(&format!("- and {older} older\n"));
    }
    page
}

/// Renders a scroll; `workspace` is the name of the palace in URIs, `origin` is where it comes from.
pub fn scroll_markdown(
    palace: &Palace,
    workspace: &str,
    (room, scroll): (&RoomId, &Scroll),
    origin: &str,
) -> String {
    let Scroll { title, written, by, body, .. } = scroll;
    let place = room_link(palace, workspace, &palace.room_name(room), room);
    let written = written.to_rfc3339_opts(SecondsFormat::Secs, true);
    format!(
        "# {}\n\nBy {} in {place}, {written}{}\n\n{}\n",
        escape_link_text(title),
        escape_link_text(&name_in_sentence(by)),
        escape_link_text(origin),
        text_in_page(&resolve_entity_links(body, &palace.graph))
    )
}

fn markdown_section(title: &str, items: impl Iterator<Item = String>) -> String {
    let items: Vec<_> = items.map(|it| format!("- {it}\n")).collect();
    if items.is_empty() { String::new() } else { format!("\n## {title}\n\n{}", items.concat()) }
}

fn action_item(palace: &Palace, workspace: &str, id: &RoomId, it: &Action) -> String {
    let label = escape_link_text(&it.label);
    match &it.kind {
        ActionKind::ShowEntity { entity } => format!("{label}: {}", escape_link_text(entity)),
        ActionKind::Navigate(NavigationTarget { room, workspace: Some(other) }) => {
            let target = UriTarget::Room(room.as_literal_id().clone());
            format!("[{label}]({})", ResourceUri { workspace: other.clone(), target })
        }
        ActionKind::Navigate(NavigationTarget { room, workspace: None }) => {
            match palace.resolve_present_room(room, Some(id)) {
                Ok(to) => room_link(palace, workspace, &it.label, &to),
                Err(_) => label,
            }
        }
        ActionKind::Query { tool, params } if params.is_empty() => {
            format!("{label}: {}", quoted(tool))
        }
        ActionKind::Query { tool, params } => {
            let params = whole_line(&serde_json::Value::from(params.clone()).to_string());
            format!("{label}: {}", code_span(&format!("{} {params}", one_line(tool))))
        }
        ActionKind::Text { content } => {
            let quoted: Vec<_> = text_in_page(&resolve_entity_links(content, &palace.graph))
                .lines()
                .map(|it| format!("  > {it}").trim_end().to_owned())
                .collect();
            format!("{label}\n\n{}", quoted.join("\n"))
        }
        ActionKind::EnterHall(_) => label,
    }
}

fn room_link(palace: &Palace, workspace: &str, name: &str, to: &RoomId) -> String {
    if palace.room(to).is_none() {
        return format!("{} (not built yet)", escape_link_text(name));
    }
    let address =
        ResourceUri { workspace: workspace.to_owned(), target: UriTarget::Room(to.clone()) };
    format!("[{}]({address})", escape_link_text(name))
}

/// Escapes a name so that it is neither a link, nor HTML, nor code, and can be the text of a link.
fn escape_link_text(name: &str) -> String {
    let mut escaped = String::with_capacity(name.len());
    for it in one_line(name).chars() {
        if matches!(it, '\\' | '[' | ']' | '<' | '`') {
            escaped.push('\\');
        }
        escaped.push(it);
    }
    escaped
}

/// Renders a text as code, between more backticks than it has in a row.
fn code_span(text: &str) -> String {
    let longest = text.split(|it| it != '`').map(str::len).max().unwrap_or_default();
    match longest {
        0 => format!("`{text}`"),
        _ => {
            let fence = "`".repeat(longest + 1);
            format!("{fence} {text} {fence}")
        }
    }
}

/// Quotes a text that would swallow what comes below it, such as one with an open fence or an open
/// comment.
fn closed_markdown(text: &str) -> String {
    const END: &str = "End";
    let below = format!("{text}\n\n## {END}\n");
    let mut events = Parser::new(&below).collect::<Vec<_>>().into_iter().rev();
    let is_heading = matches!(events.next(), Some(Event::End(TagEnd::Heading(HeadingLevel::H2))));
    if is_heading && events.next() == Some(Event::Text(END.into())) {
        return text.to_owned();
    }
    text.lines().map(|it| format!("> {it}").trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::json;

    use super::*;
    use crate::model::{Grouping, RoomRef, Settings};

    fn doorway(room: &str, workspace: Option<&str>) -> ActionKind {
        let workspace = workspace.map(str::to_owned);
        ActionKind::Navigate(NavigationTarget { room: room.parse().unwrap(), workspace })
    }

    fn palace() -> Palace {
        let mut palace = Palace::new(Settings::with_name("Survey"));
        let room = |name: &str, actions: Vec<Action>, portals: &[&str]| Room {
            id: None,
            name: name.to_owned(),
            description: "Red rock.\nGrey rock.".to_owned(),
            actions,
            generate: None,
            portals: portals.iter().map(|it| it.parse::<RoomRef>().unwrap()).collect(),
        };
        let action = |label: &str, kind| Action { label: label.to_owned(), kind };
        let params = json!({ "genus": "Claim" }).as_object().unwrap().clone();
        let actions = vec![
            action(
                "Open the drawers",
                ActionKind::Query { tool: "list_entities".to_owned(), params },
            ),
            action("Enter the alcove [low]", doorway("alcove", None)),
            action("Descend", doorway("crypt", None)),
            action("Climb the wall", doorway("study", Some("Other Palace"))),
            action("Read the card", ActionKind::Text { content: "One.\n\nTwo.".to_owned() }),
        ];
        let generate = Grouping::parse(Some("Claim".to_owned()), None).ok();
        let hall = Room { generate, ..room("Hall", actions, &["attic"]) };
        palace.set_room(&"hall".parse().unwrap(), Some(hall));
        palace.set_room(&"alcove".parse().unwrap(), Some(room("Alcove", Vec::new(), &[])));
        palace.set_room(&"attic".parse().unwrap(), Some(room("Attic", Vec::new(), &[])));
        let scroll = Scroll {
            id: "01KJMPXF9069S44V81ASY1KY37".parse().unwrap(),
            title: "On stasis".to_owned(),
            written: "2026-03-01T12:00:00Z".parse().unwrap(),
            by: "claude".to_owned(),
            replaces: Vec::new(),
            body: "It is data.\n".to_owned(),
        };
        palace.insert_scroll("scrolls/hall/a.md", &"hall".parse().unwrap(), scroll).unwrap();
        palace
    }

    #[test]
    fn a_room_is_rendered_as_markdown_with_links() {
        let (palace, id) = (palace(), "hall".parse().unwrap());
        assert_snapshot!(room_markdown(&palace, "my survey", (&id, palace.room(&id).unwrap()), |_| String::new()), @r#"
        # Hall

        Red rock.
        Grey rock.

        ## Actions

        - Open the drawers: `list_entities {"genus":"Claim"}`
        - [Enter the alcove \[low\]](palace://my%20survey/rooms/alcove)
        - Descend (not built yet)
        - [Climb the wall](palace://Other%20Palace/rooms/study)
        - Read the card

          > One.
          >
          > Two.

        ## Shown from the graph

        - Claim by status

        ## Doors

        - [Attic](palace://my%20survey/rooms/attic)

        ## Scrolls

        - [On stasis](palace://my%20survey/scrolls/hall/01KJMPXF9069S44V81ASY1KY37) by claude, 2026-03-01
        "#);
    }

    #[test]
    fn a_description_cannot_hide_the_sections_below_it() {
        for open in ["Red.\n\n```\ncode", "Red.\n\n<!-- rock", "<pre>", "<script>", "~~~"] {
            let quoted: Vec<_> =
                open.lines().map(|it| format!("> {it}").trim_end().to_owned()).collect();
            assert_eq!(closed_markdown(open), quoted.join("\n"));
        }
        for text in ["", "Red rock.", "```\ncode\n```", "- a\n- b", "<!-- rock -->", "| a |\n|---|"]
        {
            assert_eq!(closed_markdown(text), text);
        }
    }

    #[test]
    fn a_name_is_neither_a_link_nor_code() {
        let name = r"x\](https://evil.example/) [y] `z` <b>";
        assert_eq!(escape_link_text(name), r"x\\\](https://evil.example/) \[y\] \`z\` \<b>");
        assert_eq!(code_span("a `b` ``c"), "``` a `b` ``c ```");
    }

    #[test]
    fn a_scroll_is_rendered_as_markdown_with_its_room() {
        let (palace, id) = (palace(), "hall".parse().unwrap());
        let scroll = palace.scrolls_in_room(&id).next().unwrap();
        assert_snapshot!(scroll_markdown(&palace, "my survey", (&id, scroll), ""), @"
        # On stasis

        By claude in [Hall](palace://my%20survey/rooms/hall), 2026-03-01T12:00:00Z

        It is data.
        ");
    }
}
