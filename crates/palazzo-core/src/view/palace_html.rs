//! A whole palace as one HTML file, without script: each page is a section, and links lead to
//! sections.

use chrono::{DateTime, Utc};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::model::{CommitSummary, ItemDiff, ItemId, RoomId};
use crate::render::{count_with_noun, one_line, truncate};
use crate::view::commit_page::item_changes;
use crate::view::entity_page::entity_page;
use crate::view::list_pages::rows;
use crate::view::room_page::room_page;
use crate::view::{EntityPage, Links, ListRow, PAGE_STYLE, RoomPage};

/// Limit for the rooms that are marked on the map while they are shown.
const MAX_MARKED: usize = 300;
/// The map of at most this number of rooms is made to fit.
const MAX_FITTING: usize = 25;
/// Limit for the characters of a name.
const MAX_NAME: usize = 200;

/// The style of sections: the one that the address names is shown, else the first.
const SECTIONS: &str = "
.file { display: grid; grid-template-columns: minmax(0, 1fr); gap: 1rem 3rem; }
@media (min-width: 70rem) {
  .file { grid-template-columns: minmax(0, 38rem) minmax(24rem, 1fr); }
  .file > aside { position: sticky; top: 1rem; align-self: start; margin-top: 1rem; }
  .file .map-frame { max-height: 92vh; }
  .file .map-frame:not(.whole) .map { max-width: 100%; }
}
.file > aside:target { grid-column: 1 / -1; order: -1; position: static; }
.page { display: none; }
.page:target, .page:has(:target) { display: block; }
body:not(:has(.page:target, .page :target)) .page.first { display: block; }
.page .room { display: block; }
.page > h2 { font-size: 1.9rem; margin-top: 1rem; }
@media print { .file { display: block; } .page { display: block !important; break-inside: avoid; } }
";

/// A palace as one file.
pub struct PalaceHtml<'a> {
    /// The name of the palace.
    pub name: String,
    /// The commit as of which it is shown; `None`: the present.
    pub at: Option<CommitSummary>,
    /// The links of the file.
    pub links: &'a Links,
    /// The entry room.
    pub entry: Option<&'a RoomId>,
    /// The map.
    pub map: Markup,
    /// The rooms.
    pub rooms: Vec<RoomPage<'a>>,
    /// The entities, in the order of their numbers.
    pub entities: Vec<EntityPage<'a>>,
    /// The numbers of rooms and entities that are left out.
    pub left_out: (usize, usize),
    /// What changed since an earlier revision.
    pub changes: Option<PalaceHtmlChanges>,
    /// The current time.
    pub now: DateTime<Utc>,
}

/// What changed between two states of a palace.
pub struct PalaceHtmlChanges {
    /// The earlier commit.
    pub from: Option<CommitSummary>,
    /// The later commit; `None`: the files on disk.
    pub to: Option<CommitSummary>,
    /// The items that differ.
    pub items: Vec<ItemDiff>,
}

/// Renders a palace as one file.
pub fn palace_html(file: &PalaceHtml<'_>) -> String {
    let name = truncate(&one_line(&file.name), MAX_NAME);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (name) }
                style { (PreEscaped(PAGE_STYLE)) (PreEscaped(SECTIONS)) (PreEscaped(marks(file))) }
            }
            body {
                a class="skip" href="#main" { "Skip to the content" }
                header class="top" { (head(file, &name)) }
                div class="file" {
                    main id="main" tabindex="-1" { (sections(file)) }
                    aside id="map" aria-label="Map" {
                        div class=(map_class(file)) { (file.map) }
                    }
                }
            }
        }
    };
    page.into_string()
}

/// Returns the class of the map: a small one is made to fit.
fn map_class(file: &PalaceHtml<'_>) -> &'static str {
    if file.rooms.len() > MAX_FITTING { "map-frame whole" } else { "map-frame" }
}

fn head(file: &PalaceHtml<'_>, name: &str) -> Markup {
    let moment = file.at.as_ref().map_or(file.now, |it| it.at);
    html! {
        h1 { (name) }
        nav class="palace" aria-label="Palace" {
            ul {
                @if file.changes.is_some() { li { a href="#changed" { "What changed" } } }
                @if let Some(entry) = file.entry.and_then(|it| file.links.room(it)) {
                    li { a href=(entry) { "Entry" } }
                }
                li { a href="#map" { "Map" } }
                li { a href="#index" { "Index" } }
            }
            span class="by" {
                "as of " (moment.format("%-d %B %Y, %H:%M UTC"))
                @if let Some(at) = &file.at { " (" code { (at.short) } ")" }
            }
        }
    }
}

fn sections(file: &PalaceHtml<'_>) -> Markup {
    let is_first = |id: &RoomId| file.changes.is_none() && file.entry == Some(id);
    let has_first = file.changes.is_some() || file.entry.is_some();
    html! {
        @if let Some(changes) = &file.changes { (changed_section(changes, file.links)) }
        @for it in &file.rooms {
            section class=(class(is_first(it.view.id))) id=(Links::anchor_of_room(it.view.id)) {
                h2 { (truncate(&one_line(&it.palace.room_name(it.view.id)), MAX_NAME)) }
                p class="place" { (it.view.id) }
                (room_page(it, None))
            }
        }
        @for (number, it) in file.entities.iter().enumerate() {
            section class="page" id=(Links::anchor_of_entity(number)) {
                h2 { (truncate(&one_line(&it.view.entity.name), MAX_NAME)) }
                (entity_page(it))
            }
        }
        section class=(class(!has_first)) id="index" { h2 { "Index" } (index(file)) }
    }
}

fn class(is_first: bool) -> &'static str {
    if is_first { "page first" } else { "page" }
}

fn changed_section(changes: &PalaceHtmlChanges, links: &Links) -> Markup {
    let name = |it: &Option<CommitSummary>, none: &str| {
        it.as_ref().map_or(none.to_owned(), |it| it.short.clone())
    };
    html! {
        section class="page first" id="changed" {
            h2 { "What changed" }
            p class="kind" {
                (count_with_noun(changes.items.len(), "item")) ", from "
                code { (name(&changes.from, "nothing")) } " to "
                code { (name(&changes.to, "the files on disk")) }
                ". Changed rooms have a thick border on the map."
            }
            (item_changes(&changes.items, links))
        }
    }
}

fn index(file: &PalaceHtml<'_>) -> Markup {
    let room = |it: &RoomPage<'_>| ListRow {
        item: ItemId::Room(it.view.id.clone()),
        name: it.palace.room_name(it.view.id),
        note: it.view.id.to_string(),
    };
    let entity = |it: &EntityPage<'_>| ListRow {
        item: ItemId::Entity(it.view.entity.name.clone()),
        name: it.view.entity.name.clone(),
        note: it.view.entity.genus.clone(),
    };
    let (rooms, entities) = file.left_out;
    html! {
        h2 { "Rooms" }
        (rows(&file.rooms.iter().map(room).collect::<Vec<_>>(), file.links))
        @if rooms > 0 { p class="note" { (count_with_noun(rooms, "more room")) " are not in this file." } }
        @if !file.entities.is_empty() {
            h2 { "Entities" }
            (rows(&file.entities.iter().map(entity).collect::<Vec<_>>(), file.links))
        }
        @if entities > 0 {
            p class="note" { (count_with_noun(entities, "more entity")) " are not in this file." }
        }
    }
}

/// Returns the style that marks on the map the room that is shown, and the rooms that changed.
fn marks(file: &PalaceHtml<'_>) -> String {
    let mut style = String::new();
    for it in file.rooms.iter().take(MAX_MARKED) {
        let id = it.view.id;
        style.push_str(&format!(
            "body:has([id=\"{}\"]:target) .map [data-room=\"{id}\"] .room{{stroke-width:3;\
             fill:var(--warm)}}\n",
            Links::anchor_of_room(id)
        ));
    }
    for id in changed_rooms(file).take(MAX_MARKED) {
        style.push_str(&format!(
            ".map [data-room=\"{id}\"] .room{{stroke:var(--link);stroke-width:4}}\n"
        ));
    }
    style
}

/// Yields the rooms that changed, or in which a scroll was changed.
fn changed_rooms<'a>(file: &'a PalaceHtml<'_>) -> impl Iterator<Item = &'a RoomId> {
    let items = file.changes.iter().flat_map(|it| &it.items);
    items.filter_map(|it| match it.item.id()? {
        ItemId::Room(id) => Some(id),
        ItemId::Scroll(which) => Some(&which.room),
        _ => None,
    })
}
