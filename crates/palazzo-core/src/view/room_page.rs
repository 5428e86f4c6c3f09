//! The page of a room: what a visitor sees there, and what is around it.

use maud::{Markup, html};

use crate::model::{
    Action, ActionKind, CommitSummary, Grouping, Layout, NavigationTarget, Palace, RoomId, RoomRef,
    ScrollId, Slot,
};
use crate::render::{
    self, DrawerView, Notice, RoomView, ScrollView, ago, count_with_noun, drawer_title, one_line,
    truncate, whole_line,
};
use crate::view::list_pages::commit_list;
use crate::view::markdown_html::markdown_to_html;
use crate::view::{Links, PageKind};

/// Limits for the bytes of texts on the page of a room.
const MAX_DESCRIPTION: usize = 12_000;
const MAX_SCROLL: usize = 5_000;
const MAX_DRAWER: usize = 1_000;
const MAX_ACTION_TEXT: usize = 3_000;

/// Limit for the characters of a name in a list.
const MAX_NAME: usize = 120;

/// A room, and what is around it.
#[derive(Clone, Debug)]
pub struct RoomPage<'a> {
    /// The palace.
    pub palace: &'a Palace,
    /// The links of the page.
    pub links: &'a Links,
    /// The room as a visitor sees it.
    pub view: RoomView<'a>,
    /// What a visitor reads in a room that is not built.
    pub unbuilt: Option<String>,
    /// The scrolls that are older than those that a visitor sees first, newest first; not all.
    pub older_scrolls: Vec<ScrollView<'a>>,
    /// The newest drawers.
    pub drawers: Vec<DrawerView<'a>>,
    /// The rooms with a door to this one.
    pub leads_here: Vec<&'a RoomId>,
    /// The entities that it shows or links to.
    pub entities: Vec<&'a str>,
    /// The commits that changed it, newest first; not all.
    pub changes: Vec<CommitSummary>,
    /// Its version and its age.
    pub versions: String,
}

/// Renders a room beside the map.
pub fn room_page(page: &RoomPage<'_>, map: Option<&Markup>) -> Markup {
    html! {
        div class="room" {
            div class="inside" {
                (description(page))
                (notices(&page.view.notices))
                (actions(page))
                (entity_listing(page))
                (scrolls(page))
                (drawers(page))
                @if !page.versions.trim().is_empty() {
                    p class="versions" { (page.versions.trim()) }
                }
            }
            div class="around" {
                @if let Some(map) = map {
                    div id="map" class="map-frame" { (map) }
                    p class="note" { a href=[page.links.page(PageKind::Map)] { "The whole map" } }
                }
                (rooms_leading_here(page))
                (entities(page))
                (changes(page))
            }
        }
    }
}

fn description(page: &RoomPage<'_>) -> Markup {
    let text = page.view.room.map(|it| it.description.as_str()).unwrap_or_default();
    html! {
        @if !text.is_empty() {
            (markdown_to_html(text, MAX_DESCRIPTION, &page.palace.graph, page.links))
        }
        @for line in page.unbuilt.iter().flat_map(|it| it.lines()).filter(|it| !it.trim().is_empty()) {
            p { (whole_line(line)) }
        }
    }
}

fn notices(notices: &[Notice]) -> Markup {
    html! {
        @if !notices.is_empty() {
            section class="notices" {
                h2 { "Notices:" }
                ul { @for Notice(text) in notices { li { (text) } } }
            }
        }
    }
}

/// Renders the numbered actions; those behind the first page of the menu have no number.
fn actions(page: &RoomPage<'_>) -> Markup {
    let view = &page.view;
    let size = view.layout.page_size(view.actions.len());
    let (first, more) = view.actions.split_at(size.min(view.actions.len()));
    let menu = render::menu(view);
    let is_line = |it: &&str| !it.trim().starts_with('─');
    let terminal: Vec<_> = menu.lines().skip(1 + first.len()).filter(is_line).collect();
    html! {
        section class="actions" {
            h2 { "Actions:" }
            @if !first.is_empty() {
                ol class="menu" {
                    @for (place, it) in first.iter().enumerate() {
                        li { (action(page, it, Some(view.layout.number_of_slot(Slot::Action(place))))) }
                    }
                }
            }
            @if !more.is_empty() {
                details {
                    summary { (count_with_noun(more.len(), "more action")) }
                    ol class="menu" { @for it in more { li { (action(page, it, None)) } } }
                }
            }
            p class="keys" {
                "Keys: " kbd { "1" } " to " kbd { "9" } " choose an action, " kbd { "/" } " searches."
            }
            details class="terminal" {
                summary { "In a walk at the terminal" }
                p { @for line in terminal { span class="line" { (line.trim()) } " " } }
            }
        }
    }
}

fn action(page: &RoomPage<'_>, action: &Action, number: Option<usize>) -> Markup {
    let label = html! {
        @if let Some(number) = number { span class="number" { (number) "." } " " }
        (one_line(&action.label))
    };
    let to = |href: Option<String>, class: Option<&str>| {
        html! { a href=[href] class=[class] data-number=[number] { (label) } }
    };
    let unfold = |content: &Markup| {
        html! { details { summary data-number=[number] { (label) } (content) } }
    };
    let links = page.links;
    match &action.kind {
        ActionKind::Navigate(NavigationTarget { room, workspace: Some(workspace) }) => {
            to(links.room_elsewhere(workspace, &room.to_string()), None)
        }
        ActionKind::Navigate(NavigationTarget { room, workspace: None }) => {
            let (href, is_built) = door(page, room);
            to(href, (!is_built).then_some("unfinished"))
        }
        ActionKind::ShowEntity { entity } => to(entity_link(page, entity), None),
        ActionKind::EnterHall(hall) => to(
            match &hall.grouping {
                Grouping::Genus { genus, .. } => {
                    links.page_with(PageKind::Index, &[("genus", genus)])
                }
                Grouping::Everything => links.page(PageKind::Index),
            },
            None,
        ),
        ActionKind::Text { content } => {
            unfold(&markdown_to_html(content, MAX_ACTION_TEXT, &page.palace.graph, links))
        }
        ActionKind::Query { tool, params } => unfold(&html! {
            p { "Calls the tool " code { (one_line(tool)) } "." }
            @if !params.is_empty() { pre tabindex="0" { code { (params_text(params)) } } }
            @for name in action.named_entities() { p { (entity_reference(page, name)) } }
        }),
    }
}

fn params_text(params: &serde_json::Map<String, serde_json::Value>) -> String {
    let text = serde_json::to_string_pretty(params).unwrap_or_default();
    truncate(&render::printable_text_for_html(&text), MAX_DRAWER)
}

/// Returns the link through a door, and whether the room behind it is built.
fn door(page: &RoomPage<'_>, room: &RoomRef) -> (Option<String>, bool) {
    match page.palace.resolve_present_room(room, Some(page.view.id)) {
        Ok(to) => (page.links.room(&to), page.palace.is_enterable_room(&to)),
        Err(_) => (None, false),
    }
}

fn entity_link(page: &RoomPage<'_>, name: &str) -> Option<String> {
    page.links.entity(&page.palace.graph.find_entity(name)?.name)
}

fn entity_reference(page: &RoomPage<'_>, name: &str) -> Markup {
    let shown = truncate(&one_line(name), MAX_NAME);
    html! { a href=[entity_link(page, name)] { (shown) } }
}

/// Renders the entities that the graph shows here as a visitor reads them, with links.
fn entity_listing(page: &RoomPage<'_>) -> Markup {
    let Some(listing) = &page.view.entity_listing else { return html! {} };
    let text = render::room_listing(listing);
    let lines: Vec<_> = text.lines().filter(|it| !it.trim().is_empty()).collect();
    let (about, entities) = lines.split_at(lines.len().saturating_sub(listing.entities.len()));
    html! {
        section class="listing" {
            @for line in about { p { (line) } }
            ul class="plain" {
                @for (line, entity) in entities.iter().zip(&listing.entities) {
                    li { a href=[page.links.entity(&entity.name)] { (line.trim()) } }
                }
            }
        }
    }
}

fn scrolls(page: &RoomPage<'_>) -> Markup {
    let view = &page.view;
    let link = |it: &ScrollView<'_>| {
        page.links.scroll(&ScrollId { room: view.id.clone(), id: it.scroll.id })
    };
    html! {
        @if !view.scrolls.is_empty() {
            section class="scrolls" {
                h2 { "Scrolls:" }
                @for (place, it) in view.scrolls.iter().enumerate() {
                    details id=(format!("scroll/{}", it.scroll.id)) {
                        summary { (scroll_label(view, it, place)) }
                        (markdown_to_html(&it.scroll.body, MAX_SCROLL, &page.palace.graph, page.links))
                        @if it.scroll.body.len() > MAX_SCROLL {
                            p { a href=[link(it)] { "The whole scroll" } }
                        }
                    }
                }
                @if view.older_scroll_count > 0 {
                    details {
                        summary { (count_with_noun(view.older_scroll_count, "older scroll")) }
                        ul {
                            @for it in &page.older_scrolls {
                                li { a href=[link(it)] { (one_line(&it.scroll.title)) } " " (written(view, it)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn scroll_label(view: &RoomView<'_>, it: &ScrollView<'_>, place: usize) -> Markup {
    let title = one_line(&it.scroll.title);
    match view.layout {
        Layout::Wide => {
            let number = view.layout.number_of_slot(Slot::Scroll(place));
            html! { span class="number" { (number) "." } " " (title) " " (written(view, it)) }
        }
        Layout::Classic => html! { "[" (title) " (" (ago(it.scroll.written, view.now)) ")]" },
    }
}

fn written(view: &RoomView<'_>, it: &ScrollView<'_>) -> Markup {
    html! { span class="by" { "(" (render::scroll_note(it, view.now)) ")" } }
}

fn drawers(page: &RoomPage<'_>) -> Markup {
    let (count, now) = (page.view.drawer_count, page.view.now);
    html! {
        @if !page.drawers.is_empty() {
            section class="drawers" {
                h2 { "Drawers" }
                @for DrawerView { drawer, shelf, provenance, .. } in &page.drawers {
                    details {
                        summary {
                            (drawer_title(drawer)) " "
                            span class="by" {
                                "(" (one_line(&shelf.wing))
                                @if let Some(filed) = drawer.filed { ", " (ago(filed, now)) }
                                @let provenance = render::provenance(provenance);
                                @if !provenance.is_empty() { ", " (provenance) } ")"
                            }
                        }
                        (markdown_to_html(&drawer.text, MAX_DRAWER, &page.palace.graph, page.links))
                    }
                }
                @if count > page.drawers.len() {
                    p class="note" { "and " (count_with_noun(count - page.drawers.len(), "older drawer")) }
                }
            }
        }
    }
}

fn rooms_leading_here(page: &RoomPage<'_>) -> Markup {
    html! {
        @if !page.leads_here.is_empty() {
            section {
                h2 { "What leads here" }
                ul class="plain" {
                    @for id in &page.leads_here {
                        li {
                            a href=[page.links.room(id)] {
                                (truncate(&one_line(&page.palace.room_name(id)), MAX_NAME))
                            }
                        }
                    }
                }
            }
        }
    }
}

fn entities(page: &RoomPage<'_>) -> Markup {
    html! {
        @if !page.entities.is_empty() {
            section {
                h2 { "Entities" }
                ul class="tags" {
                    @for name in &page.entities { li { (entity_reference(page, name)) } }
                }
            }
        }
    }
}

fn changes(page: &RoomPage<'_>) -> Markup {
    html! {
        @if !page.changes.is_empty() {
            section {
                h2 { "Last changes of this room" }
                (commit_list(&page.changes, page.links, page.view.now))
                @if let Some(log) = page.links.page(PageKind::Log) {
                    p { a href=(log) { "All changes of the palace" } }
                }
            }
        }
    }
}
