//! The part of a large map around one room.

use maud::Markup;

use crate::render::MapView;
use crate::view::Links;
use crate::view::lattice::Cell;
use crate::view::map_plan::{Door, MapPlan, Place, PlaceKind, WingRegion, room_place};
use crate::view::map_svg::draw_map;

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
