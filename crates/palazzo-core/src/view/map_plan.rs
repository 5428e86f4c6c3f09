//! Lays out a map: wings side by side, each with its rooms on a lattice.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::model::{Action, RoomArrivalOrder, RoomId, RoomRef, Slug};
use crate::render::{MapView, ago, count_with_noun, one_line};
use crate::view::lattice::{Cell, place_rooms};

/// Above this number of rooms a map shows other wings as boxes, and only the present one in full.
const MAX_ROOMS: usize = 60;

/// A map in which every place has its cell.
#[derive(Debug, Default)]
pub struct MapPlan {
    pub(super) places: Vec<Place>,
    pub(super) doors: Vec<Door>,
    pub(super) wings: Vec<WingRegion>,
}

/// A room, or a wing as a box.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) kind: PlaceKind,
    /// The room, or the first room of the wing.
    pub(super) room: RoomId,
    pub(super) name: String,
    /// More about it, for a tooltip.
    pub(super) detail: String,
    pub(super) scrolls: usize,
    /// The days since the last commit that changed it.
    pub(super) age: Option<i64>,
    pub(super) is_here: bool,
    pub(super) is_entry: bool,
    pub(super) cell: Cell,
}

/// The kind of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PlaceKind {
    Room,
    /// A room that is not built yet.
    UnfinishedRoom,
    /// A wing whose rooms are not shown.
    Wing,
}

/// A door between two places, by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Door {
    pub(super) from: usize,
    pub(super) to: usize,
    /// Whether an action leads to the second place, which has no way back of its own.
    pub(super) is_one_way: bool,
}

/// The cells of a wing that is shown in full.
#[derive(Debug)]
pub(super) struct WingRegion {
    pub(super) name: String,
    pub(super) first: Cell,
    pub(super) last: Cell,
}

/// A place, and the wing that it is drawn in.
struct Node {
    wing: Option<Slug>,
    place: Place,
}

/// Plans the map of a palace.
pub fn plan_map(view: &MapView<'_>, arrivals: &RoomArrivalOrder) -> MapPlan {
    let rooms = rooms_in_order_of_arrival(view, arrivals);
    let is_large = view.palace.enterable_rooms().len() > MAX_ROOMS;
    let entry = view.palace.entry_room();
    let shown_wing = view.here.or(entry).and_then(|it| it.wing.clone());
    let (mut nodes, mut node_of_room) = (Vec::<Node>::new(), HashMap::<&RoomId, usize>::new());
    let mut boxes = BTreeMap::<&Option<Slug>, usize>::new();
    for id in &rooms {
        let number = if is_large && id.wing != shown_wing {
            *boxes.entry(&id.wing).or_insert_with(|| {
                nodes.push(Node { wing: id.wing.clone(), place: wing_box(view, &rooms, id) });
                nodes.len() - 1
            })
        } else {
            nodes.push(Node { wing: id.wing.clone(), place: room_place(view, id) });
            nodes.len() - 1
        };
        node_of_room.insert(id, number);
    }
    let mut doors = doors_between(view, &node_of_room);
    let is_wing = |it: usize| nodes[it].place.kind == PlaceKind::Wing;
    for door in &mut doors {
        // Another room of the wing may lead back.
        door.is_one_way &= !is_wing(door.from) && !is_wing(door.to);
    }
    place_nodes(view, nodes, doors)
}

/// Lists the rooms and the unfinished rooms: first those that came into the palace first; those that
/// are in no commit yet in the order of their ids, which is that of building.
fn rooms_in_order_of_arrival(view: &MapView<'_>, arrivals: &RoomArrivalOrder) -> Vec<RoomId> {
    let palace = view.palace;
    let mut rooms: Vec<_> = palace.enterable_rooms().into_iter().cloned().collect();
    rooms.sort_by_cached_key(|room| {
        let id = palace.room(room).and_then(|it| it.id);
        let arrival = id.map(|it| (arrivals.get(&it).copied().unwrap_or(usize::MAX), it));
        (id.is_none(), arrival, room.clone())
    });
    rooms.extend(palace.unfinished_rooms());
    rooms
}

/// Describes a room for its box, without its cell.
pub(super) fn room_place(view: &MapView<'_>, id: &RoomId) -> Place {
    let palace = view.palace;
    let is_built = palace.is_enterable_room(id);
    let scrolls = palace.scrolls_in_room(id).count();
    let history = view.history.get(&(view.room_file)(id));
    let age = history.map(|it| (view.now - it.updated).num_days());
    let detail = match (is_built, &history) {
        (false, _) => "not built yet".to_owned(),
        (true, None) => count_with_noun(scrolls, "scroll"),
        (true, Some(it)) => format!(
            "{}, {}, changed {}",
            count_with_noun(scrolls, "scroll"),
            count_with_noun(it.count as usize, "version"),
            ago(it.updated, view.now)
        ),
    };
    Place {
        kind: if is_built { PlaceKind::Room } else { PlaceKind::UnfinishedRoom },
        room: id.clone(),
        name: one_line(&palace.room_name(id)),
        detail: format!("{id}: {detail}"),
        scrolls,
        age,
        is_here: view.here == Some(id),
        is_entry: palace.entry_room() == Some(id),
        cell: (0, 0),
    }
}

/// Describes the wing of a room, its first, that is shown as a box.
fn wing_box(view: &MapView<'_>, rooms: &[RoomId], first: &RoomId) -> Place {
    let wing = first.wing.as_ref();
    let inside: Vec<_> = rooms.iter().filter(|it| it.wing.as_ref() == wing).collect();
    let count = inside.iter().filter(|it| view.palace.is_enterable_room(it)).count();
    Place {
        kind: PlaceKind::Wing,
        room: first.clone(),
        name: format!("{} · {count}", wing_title(view, wing)),
        detail: count_with_noun(count, "room"),
        scrolls: inside.iter().map(|it| view.palace.scrolls_in_room(it).count()).sum(),
        age: None,
        is_here: false,
        is_entry: inside.iter().any(|it| view.palace.entry_room() == Some(it)),
        cell: (0, 0),
    }
}

fn wing_title(view: &MapView<'_>, wing: Option<&Slug>) -> String {
    match wing {
        Some(wing) => one_line(view.palace.drawers.wing_name(wing).unwrap_or(wing.as_str())),
        None => "Rooms without a wing".to_owned(),
    }
}

/// Lists the doors between nodes, each once.
fn doors_between(view: &MapView<'_>, node_of_room: &HashMap<&RoomId, usize>) -> Vec<Door> {
    let palace = view.palace;
    // A portal has two sides. An action has one, until the other room has a way back.
    let (mut ways, mut actions) = (BTreeSet::new(), BTreeSet::new());
    for (id, room) in palace.rooms() {
        let node = |to: &RoomRef| {
            let to = palace.resolve_present_room(to, Some(id)).ok()?;
            Some((*node_of_room.get(id)?, *node_of_room.get(&to)?))
        };
        ways.extend(room.linked_rooms().filter_map(node));
        actions.extend(room.actions.iter().filter_map(Action::target_room).filter_map(node));
    }
    let has_back = |(from, to): &(usize, usize)| ways.contains(&(*to, *from));
    let once = ways.iter().filter(|it| it.0 < it.1 || it.0 > it.1 && !has_back(it));
    let door = |it: &(usize, usize)| {
        let is_one_way = actions.contains(it) && !has_back(it);
        Door { from: it.0, to: it.1, is_one_way }
    };
    once.map(door).collect()
}

/// Gives each node its cell: wings on a lattice of their own, and the rooms of each wing within it.
fn place_nodes(view: &MapView<'_>, nodes: Vec<Node>, doors: Vec<Door>) -> MapPlan {
    let mut wings = Vec::<(Option<Slug>, Vec<usize>)>::new();
    for (number, node) in nodes.iter().enumerate() {
        match wings.iter_mut().find(|(wing, _)| *wing == node.wing) {
            Some((_, members)) => members.push(number),
            None => wings.push((node.wing.clone(), vec![number])),
        }
    }
    let mut wing_of = vec![0; nodes.len()];
    for (wing, (_, members)) in wings.iter().enumerate() {
        for member in members {
            wing_of[*member] = wing;
        }
    }
    let between: Vec<_> = doors.iter().map(|it| (wing_of[it.from], wing_of[it.to])).collect();
    let wing_cells = place_rooms(wings.len(), &between);
    let inner: Vec<_> = wings.iter().map(|(_, members)| cells_within(members, &doors)).collect();
    let starts = starts_of_wings(&wing_cells, &inner);
    let mut plan = MapPlan { doors, ..MapPlan::default() };
    plan.places = nodes.into_iter().map(|it| it.place).collect();
    for (number, (wing, members)) in wings.iter().enumerate() {
        let (start, cells) = (starts[number], &inner[number]);
        let moved = |it: &Cell| (start.0 + it.0, start.1 + it.1);
        for (member, cell) in members.iter().zip(cells) {
            plan.places[*member].cell = moved(cell);
        }
        let is_box = members.iter().all(|it| plan.places[*it].kind == PlaceKind::Wing);
        if !is_box && wings.len() > 1 {
            let size = size_of(cells);
            let last = moved(&(size.0 - 1, size.1 - 1));
            plan.wings.push(WingRegion {
                name: wing_title(view, wing.as_ref()),
                first: start,
                last,
            });
        }
    }
    plan
}

/// Returns the cells of the rooms of one wing, from column and row 0.
fn cells_within(members: &[usize], doors: &[Door]) -> Vec<Cell> {
    let local: HashMap<_, _> = members.iter().enumerate().map(|(at, it)| (*it, at)).collect();
    let inside = doors.iter().filter_map(|it| Some((*local.get(&it.from)?, *local.get(&it.to)?)));
    let cells = place_rooms(members.len(), &inside.collect::<Vec<_>>());
    let first_column = cells.iter().map(|it| it.0).min().unwrap_or_default();
    let first_row = cells.iter().map(|it| it.1).min().unwrap_or_default();
    cells.into_iter().map(|it| (it.0 - first_column, it.1 - first_row)).collect()
}

/// Returns the number of columns and rows.
fn size_of(cells: &[Cell]) -> Cell {
    let columns = cells.iter().map(|it| it.0 + 1).max().unwrap_or(1);
    (columns, cells.iter().map(|it| it.1 + 1).max().unwrap_or(1))
}

/// Returns the first cell of each wing: a column of wings is as wide as its widest, a row as high as
/// its highest, and a column and a row of cells are free between them.
fn starts_of_wings(wing_cells: &[Cell], inner: &[Vec<Cell>]) -> Vec<Cell> {
    let (mut widths, mut heights) = (BTreeMap::<i32, i32>::new(), BTreeMap::<i32, i32>::new());
    for (cell, cells) in wing_cells.iter().zip(inner) {
        let size = size_of(cells);
        let width = widths.entry(cell.0).or_default();
        *width = size.0.max(*width);
        let height = heights.entry(cell.1).or_default();
        *height = size.1.max(*height);
    }
    let start = |sizes: &BTreeMap<i32, i32>, at: i32| -> i32 {
        sizes.range(..at).map(|(_, size)| size + 1).sum()
    };
    wing_cells.iter().map(|it| (start(&widths, it.0), start(&heights, it.1))).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use ulid::Ulid;

    use super::*;
    use crate::format::{parse_palace, room_path};
    use crate::model::{Audience, FileHistories, Files, Palace};
    use crate::view::lattice::count_crossings;
    use crate::view::map_svg;

    fn read_files(root: &Path, folder: &Path, files: &mut Files) {
        for place in fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()) {
            if place.is_dir() {
                read_files(root, &place, files);
            } else if let Ok(text) = fs::read_to_string(&place) {
                let path = place.strip_prefix(root).unwrap().to_str().unwrap();
                files.insert(path.replace('\\', "/"), text);
            }
        }
    }

    fn with_view<T>(palace: &Palace, with: impl FnOnce(&MapView<'_>) -> T) -> T {
        let history = FileHistories::default();
        with(&MapView {
            palace,
            here: None,
            hall: None,
            conflicts: 0,
            history: &history,
            room_file: room_path,
            audience: Audience::Agent,
            now: "2026-03-01T12:00:00Z".parse().unwrap(),
        })
    }

    fn palace_of(rooms: &[(String, String)]) -> Palace {
        parse_palace("P", &rooms.iter().cloned().collect()).0
    }

    #[test]
    fn the_example_palace_has_at_most_one_crossing() {
        let root = Path::new("../../example-palaces/paradigm-survey");
        let mut files = Files::new();
        read_files(root, root, &mut files);
        let plan =
            with_view(&parse_palace("P", &files).0, |it| plan_map(it, &RoomArrivalOrder::new()));
        let cells: Vec<_> = plan.places.iter().map(|it| it.cell).collect();
        assert_eq!(cells.iter().collect::<BTreeSet<_>>().len(), cells.len());
        let doors: Vec<_> = plan.doors.iter().map(|it| (it.from, it.to)).collect();
        assert!(plan.places.len() >= 9 && doors.len() >= 15, "{plan:?}");
        assert!(count_crossings(&cells, &doors) <= 1, "{cells:?}");
    }

    #[test]
    fn a_room_with_an_older_id_leaves_the_directions_of_doors_as_they_are() {
        let ulid = |number: usize| Ulid::from_parts(number as u64, 0);
        let room = |number: usize| {
            let to = number.wrapping_mul(2_654_435_761) >> 13;
            let portals = match number {
                0 => String::new(),
                number if number.is_multiple_of(3) => {
                    format!("r{}, r{}", to % number, to / 7 % number)
                }
                number => format!("r{}", to % number),
            };
            let text = format!("id: {}\nname: R\nportals: [{portals}]\n", ulid(number * 2));
            (format!("rooms/r{number}.yaml"), text)
        };
        let mut arrivals: RoomArrivalOrder = (0..60).map(|it| (ulid(it * 2), it)).collect();
        let mut rooms: Vec<_> = (0..60).map(room).collect();
        // The direction of each door, by the rooms on both sides.
        let directions = |rooms: &[(String, String)], arrivals: &RoomArrivalOrder| {
            let plan = with_view(&palace_of(rooms), |it| plan_map(it, arrivals));
            let direction = |door: &Door| {
                let [from, to] = [door.from, door.to].map(|it| &plan.places[it]);
                let step = (to.cell.0 - from.cell.0, to.cell.1 - from.cell.1);
                ((from.room.clone(), to.room.clone()), (step.0.signum(), step.1.signum()))
            };
            plan.doors.iter().map(direction).collect::<HashMap<_, _>>()
        };
        let before = directions(&rooms, &arrivals);
        rooms.push((String::new(), String::new()));
        let (mut kept, mut all) = (0, 0);
        for older in 0..60 {
            let id = ulid(older * 2 + 1);
            let text = format!("id: {id}\nname: R\nportals: [r{}]\n", older * 7 % 60);
            rooms[60] = ("rooms/new.yaml".to_owned(), text);
            arrivals.insert(id, 60);
            let after = directions(&rooms, &arrivals);
            arrivals.remove(&id);
            kept += before.iter().filter(|(door, it)| after.get(door) == Some(it)).count();
            all += before.len();
        }
        assert!(kept * 100 >= all * 99, "{kept} of {all}");
    }

    #[test]
    fn above_sixty_rooms_other_wings_are_boxes() {
        let room = |wing: &str, number: usize| {
            let path = format!("rooms/{wing}/r{number}.yaml");
            let next = (number + 1) % 40;
            (path, format!("name: Room {number}\nportals: [{wing}/r{next}, east/r0, west/r0]\n"))
        };
        let rooms = ["east", "west"].map(|wing| (0..40).map(move |it| (wing, it)));
        let rooms: Vec<_> = rooms.into_iter().flatten().map(|(wing, it)| room(wing, it)).collect();
        let palace = palace_of(&rooms);
        let plan = with_view(&palace, |it| plan_map(it, &RoomArrivalOrder::new()));
        let boxes = plan.places.iter().filter(|it| it.kind == PlaceKind::Wing);
        let boxes: Vec<_> = boxes.map(|it| format!("{}: {}", it.name, it.detail)).collect();
        assert_eq!(boxes, ["west · 40: 40 rooms"]);
        assert_eq!(plan.places.len(), 41);
        assert_eq!(plan.wings.len(), 1);
    }

    #[test]
    fn names_are_escaped_and_rooms_marked() {
        let hall = "name: <b>&\nportals: [attic, nook]\nactions:\n\
            - {label: Down, type: navigate, room: cellar}\n";
        let room = |slug: &str, text: &str| (format!("rooms/{slug}.yaml"), text.to_owned());
        let palace = palace_of(&[
            room("hall", hall),
            room("nook", "name: Nook\n"),
            room("cellar", "name: Cellar\n"),
        ]);
        let draw = |view: &MapView<'_>| map_svg(view, &RoomArrivalOrder::new());
        let picture = with_view(&palace, draw);
        assert!(picture.contains("&lt;b&gt;&amp;"), "{picture}");
        assert!(!picture.contains("<b>"), "{picture}");
        assert_eq!(picture.matches("class=\"room unfinished\"").count(), 1, "{picture}");
        assert_eq!(picture.matches("class=\"frame\"").count(), 1, "{picture}");
        // A portal leads both ways, an action only there.
        assert_eq!(picture.matches("marker-end").count(), 1, "{picture}");
        assert!(picture.contains("<title>&lt;b&gt;&amp; → Cellar</title>"), "{picture}");
        assert_eq!(with_view(&palace_of(&[]), draw).matches("<rect").count(), 1);
    }
}
