//! Draws the map of a palace as SVG, and of a large one the part around a room; and the page with
//! the whole map.

use maud::{Markup, PreEscaped, html};

use crate::model::{RoomArrivalOrder, RoomId};
use crate::render::{MapView, one_line, truncate};
use crate::view::Links;
use crate::view::lattice::{Cell, runs_behind};
use crate::view::map_plan::{Door, MapPlan, Place, PlaceKind, WingRegion, plan_map, room_place};

/// The size of a cell, and of the box of a room in it, in pixels.
const CELL: (i32, i32) = (176, 72);
const BOX: (i32, i32) = (144, 34);
/// The free space around the picture and around a wing, in pixels.
const MARGIN: i32 = 24;
/// The maximum number of characters of a name.
const MAX_NAME_CHARS: usize = 20;
/// A room that was changed in the last days is warm.
const RECENT_DAYS: i64 = 7;

/// How rooms are drawn on the map: the class of the style, and what it means.
const LEGEND: [(&str, &str); 4] = [
    ("entry", "entry"),
    ("recent", "changed in the last week"),
    ("unfinished", "not built yet"),
    ("changed", "changed while you look"),
];

/// Colours without variables, which some programs for SVG do not know.
const STYLE: &str = "
text { fill: #3b3226; font: 12px system-ui, sans-serif; text-anchor: middle; }
.paper { fill: #faf6ee; }
.wing { fill: #ece4d3; }
.wing-name { font-size: 12px; font-style: italic; text-anchor: start; }
.door { fill: none; stroke: #7a6a55; stroke-width: 1.5; }
.arrow { fill: #7a6a55; }
.room { fill: #fffdf8; stroke: #3b3226; }
.recent { fill: #f6d9a8; }
.unfinished, .to-unfinished { stroke-dasharray: 5 4; }
.room.unfinished { fill: #faf6ee; }
.box { stroke-width: 2; }
.frame { fill: none; stroke: #3b3226; }
.room.here { fill: #3b3226; }
.on-here { fill: #faf6ee; }
.scrolls { font-size: 11px; }
@media (prefers-color-scheme: dark) {
  text { fill: #e8e0d2; }
  .paper, .room.unfinished { fill: #1f1c18; }
  .wing { fill: #292520; }
  .door { stroke: #9a8a72; }
  .arrow { fill: #9a8a72; }
  .room { fill: #2b2721; stroke: #e8e0d2; }
  .recent { fill: #5a4420; }
  .frame { stroke: #e8e0d2; }
  .room.here { fill: #e8e0d2; }
  .on-here { fill: #1f1c18; }
}
";

/// Draws the map of a palace: rooms in the order in which they came, so that the map keeps its shape
/// when the palace grows; wings as regions. Above 60 rooms, other wings than that of the visitor,
/// else that of the entry, are boxes.
pub fn map_svg(view: &MapView<'_>, arrivals: &RoomArrivalOrder) -> String {
    draw_map(&plan_map(view, arrivals), view, None).into_string() + "\n"
}

/// Draws a map; with links, as a part of a page whose style has the classes of the map, and each
/// room is a link to its page.
fn draw_map(plan: &MapPlan, view: &MapView<'_>, links: Option<&Links>) -> Markup {
    let cells = || plan.places.iter().map(|it| it.cell);
    let first =
        (cells().map(|it| it.0).min().unwrap_or(0), cells().map(|it| it.1).min().unwrap_or(0));
    let last =
        (cells().map(|it| it.0).max().unwrap_or(0), cells().map(|it| it.1).max().unwrap_or(0));
    let (left, top) = (first.0 * CELL.0 - MARGIN, first.1 * CELL.1 - MARGIN);
    let width = (last.0 - first.0 + 1) * CELL.0 + 2 * MARGIN;
    let height = (last.1 - first.1 + 1) * CELL.1 + 2 * MARGIN;
    let title = format!("Map of {}", one_line(&view.palace.settings.name));
    let (role, class) = match links {
        Some(_) => ("group", Some("map")),
        None => ("img", None),
    };
    html! {
        svg xmlns="http://www.w3.org/2000/svg" role=(role) class=[class] aria-label=(title)
            viewBox=(format!("{left} {top} {width} {height}")) width=(width) height=(height) {
            @if links.is_none() {
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            defs {
                marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8"
                    markerHeight="8" orient="auto" { path class="arrow" d="M0 0 8 4 0 8Z" {} }
            }
            rect class="paper" x=(left) y=(top) width=(width) height=(height) {}
            @for wing in &plan.wings { (wing_region(wing)) }
            @for door in &plan.doors { (door_line(plan, *door, links.is_none())) }
            @for place in &plan.places {
                @match links.and_then(|it| it.room(&place.room)) {
                    Some(link) => {
                        a href=(link) data-room=[room_of_box(place)]
                            aria-current=[place.is_here.then_some("location")] { (place_box(place)) }
                    }
                    None => { (place_box(place)) }
                }
            }
        }
    }
}

/// Returns the room of a box; `None` for that of a wing.
fn room_of_box(place: &Place) -> Option<&RoomId> {
    (place.kind != PlaceKind::Wing).then_some(&place.room)
}

/// Returns the centre of a cell.
fn centre(cell: Cell) -> (i32, i32) {
    (cell.0 * CELL.0 + CELL.0 / 2, cell.1 * CELL.1 + CELL.1 / 2)
}

fn wing_region(wing: &WingRegion) -> Markup {
    let (x, y) = (wing.first.0 * CELL.0 - 4, wing.first.1 * CELL.1 - 14);
    let width = (wing.last.0 - wing.first.0 + 1) * CELL.0 + 8;
    let height = (wing.last.1 - wing.first.1 + 1) * CELL.1 + 18;
    html! {
        rect class="wing" x=(x) y=(y) width=(width) height=(height) rx="10" {}
        text class="wing-name" x=(x + 10) y=(y + 15) { (wing.name) }
    }
}

/// Draws a door as a line from box to box; one that would run behind a room has a bend.
fn door_line(plan: &MapPlan, door: Door, has_title: bool) -> Markup {
    let [from, to] = [door.from, door.to].map(|it| &plan.places[it]);
    let ends = (from.cell, to.cell);
    let is_behind =
        |it: &Place| it.cell != from.cell && it.cell != to.cell && runs_behind(ends, it.cell);
    let (start, end) = (centre(from.cell), centre(to.cell));
    let bend = plan.places.iter().any(is_behind).then(|| {
        let (x, y) = (f64::from(end.0 - start.0), f64::from(end.1 - start.1));
        let length = x.hypot(y).max(1.0);
        let middle = (f64::from(start.0 + end.0) / 2.0, f64::from(start.1 + end.1) / 2.0);
        let aside = f64::from(CELL.1);
        (middle.0 - y / length * aside * 1.6, middle.1 + x / length * aside)
    });
    let before_end = bend.unwrap_or((f64::from(start.0), f64::from(start.1)));
    let tip = if door.is_one_way { edge_of_box(end, before_end) } else { to_float(end) };
    let path = match bend {
        Some(bend) => {
            format!(
                "M{} {}Q{:.0} {:.0} {:.0} {:.0}",
                start.0, start.1, bend.0, bend.1, tip.0, tip.1
            )
        }
        None => format!("M{} {}L{:.0} {:.0}", start.0, start.1, tip.0, tip.1),
    };
    let is_unfinished = [from, to].iter().any(|it| it.kind == PlaceKind::UnfinishedRoom);
    let class = if is_unfinished { "door to-unfinished" } else { "door" };
    let marker = (door.is_one_way && !is_unfinished).then_some("url(#arrow)");
    html! {
        path class=(class) d=(path) marker-end=[marker] {
            @if has_title {
                title { (from.name) @if door.is_one_way { " → " } @else { " — " } (to.name) }
            }
        }
    }
}

fn to_float(at: (i32, i32)) -> (f64, f64) {
    (f64::from(at.0), f64::from(at.1))
}

/// Returns the point in which a line from `from` meets the box around a centre.
fn edge_of_box(centre: (i32, i32), from: (f64, f64)) -> (f64, f64) {
    let centre = to_float(centre);
    let (x, y) = (from.0 - centre.0, from.1 - centre.1);
    let half = (f64::from(BOX.0) / 2.0, f64::from(BOX.1) / 2.0);
    let part = (half.0 / x.abs().max(1e-9)).min(half.1 / y.abs().max(1e-9)).min(1.0);
    (centre.0 + x * part, centre.1 + y * part)
}

fn place_box(place: &Place) -> Markup {
    let (x, y) = centre(place.cell);
    let (left, top) = (x - BOX.0 / 2, y - BOX.1 / 2);
    let is_recent = place.age.is_some_and(|it| it < RECENT_DAYS);
    let class = match place.kind {
        _ if place.is_here => "room here",
        PlaceKind::UnfinishedRoom => "room unfinished",
        PlaceKind::Wing => "room box",
        PlaceKind::Room if is_recent => "room recent",
        PlaceKind::Room => "room",
    };
    let name_class = place.is_here.then_some("on-here");
    let scrolls = (place.scrolls > 0).then_some(place.scrolls);
    html! {
        g {
            title { (place.name) "\n" (place.detail) @if place.is_here { "\nyou are here" } }
            rect class=(class) x=(left) y=(top) width=(BOX.0) height=(BOX.1) rx="4" {}
            @if place.is_entry {
                rect class="frame" x=(left - 4) y=(top - 4) width=(BOX.0 + 8) height=(BOX.1 + 8) rx="7" {}
            }
            text class=[name_class] x=(x) y=(y + 4) { (truncate(&place.name, MAX_NAME_CHARS)) }
            @if let Some(scrolls) = scrolls {
                text class="scrolls" x=(left + BOX.0 - 10) y=(top - 7) { "✉ " (scrolls) }
            }
        }
    }
}

/// The maximum numbers of rooms and of wings in the part of a map.
const MAX_ROOMS: usize = 40;
const MAX_WINGS: usize = 9;
/// A map with at most this number of columns is drawn as a whole.
const MAX_COLUMNS: i32 = 5;
/// How many wings are beside each other.
const WINGS_PER_ROW: usize = 3;

/// Draws a planned map as a part of a page: `view` has the room of the visitor and the ages. If
/// `is_whole` is false, only the rooms near that room are drawn of a large map.
///
/// The count of scrolls of a wing is left out: it changes without the plan.
pub fn draw_planned_map(
    plan: &MapPlan,
    view: &MapView<'_>,
    links: &Links,
    is_whole: bool,
) -> Markup {
    let shown: Vec<_> = match is_large(plan) && !is_whole {
        true => cells_around(plan, view),
        false => plan.places.iter().map(|it| it.cell).enumerate().collect(),
    };
    let place = |(number, cell): &(usize, Cell)| {
        let place = &plan.places[*number];
        match place.kind {
            PlaceKind::Wing => Place { cell: *cell, scrolls: 0, ..place.clone() },
            _ => Place { cell: *cell, ..room_place(view, &place.room) },
        }
    };
    let number = |of: usize| shown.iter().position(|(it, _)| *it == of);
    let doors = plan.doors.iter().filter_map(|it| {
        Some(Door { from: number(it.from)?, to: number(it.to)?, is_one_way: it.is_one_way })
    });
    let part = MapPlan {
        places: shown.iter().map(place).collect(),
        doors: doors.collect(),
        wings: plan.wings.iter().filter_map(|it| clip_wing(it, plan, &shown)).collect(),
    };
    draw_map(&part, view, Some(links))
}

/// Returns whether a map is too large to be drawn beside a room.
fn is_large(plan: &MapPlan) -> bool {
    let columns = || plan.places.iter().map(|it| it.cell.0);
    let width = columns().max().unwrap_or_default() - columns().min().unwrap_or_default() + 1;
    width > MAX_COLUMNS || plan.places.len() > MAX_ROOMS
}

/// Returns the places near the visitor with their cells, and below them the boxes of wings.
fn cells_around(plan: &MapPlan, view: &MapView<'_>) -> Vec<(usize, Cell)> {
    let rooms = || plan.places.iter().enumerate().filter(|(_, it)| it.kind != PlaceKind::Wing);
    let here = view.here.or(view.palace.entry_room());
    let here = rooms().find(|(_, it)| Some(&it.room) == here).map(|(_, it)| it.cell);
    let centre = here.unwrap_or_default();
    // A cell is about twice as wide as high.
    let distance = |it: Cell| (2 * (it.0 - centre.0).abs()).max((it.1 - centre.1).abs());
    let is_near = |it: &(usize, Cell)| (it.1.0 - centre.0).abs() <= MAX_COLUMNS / 2;
    let mut near: Vec<_> = rooms().map(|(number, it)| (number, it.cell)).filter(is_near).collect();
    near.sort_by_key(|(number, cell)| (distance(*cell), *number));
    near.truncate(MAX_ROOMS);
    let left = near.iter().map(|(_, it)| it.0).min().unwrap_or_default();
    let below = near.iter().map(|(_, it)| it.1).max().unwrap_or_default() + 1;
    let wings = plan.places.iter().enumerate().filter(|(_, it)| it.kind == PlaceKind::Wing);
    let cell = |place: usize| {
        let (row, column) = (place / WINGS_PER_ROW, place % WINGS_PER_ROW);
        let offset = |it: usize| i32::try_from(it).unwrap_or_default();
        (left + offset(column), below + offset(row))
    };
    let wings = wings.take(MAX_WINGS).enumerate().map(|(place, (number, _))| (number, cell(place)));
    near.extend(wings);
    near
}

/// Returns the part of a wing that has shown rooms.
fn clip_wing(wing: &WingRegion, plan: &MapPlan, shown: &[(usize, Cell)]) -> Option<WingRegion> {
    let is_inside = |it: &Cell| {
        (wing.first.0..=wing.last.0).contains(&it.0) && (wing.first.1..=wing.last.1).contains(&it.1)
    };
    let rooms = shown.iter().filter(|(number, _)| plan.places[*number].kind != PlaceKind::Wing);
    let cells: Vec<_> = rooms.map(|(_, it)| *it).filter(is_inside).collect();
    let columns = || cells.iter().map(|it| it.0);
    let rows = || cells.iter().map(|it| it.1);
    Some(WingRegion {
        name: wing.name.clone(),
        first: (columns().min()?, rows().min()?),
        last: (columns().max()?, rows().max()?),
    })
}

/// Renders the whole map.
pub fn map_page(map: &Markup) -> Markup {
    html! {
        div id="map" class="map-frame whole" { (map) }
        ul class="legend" aria-label="Legend" {
            @for (class, meaning) in LEGEND { li { span class=(class) {} (meaning) } }
            li { "✉ number of scrolls" }
            li { "→ one-way door" }
        }
    }
}
