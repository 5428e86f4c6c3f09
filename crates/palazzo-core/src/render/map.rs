//! Renders the map of a palace (v1 section 7; v2 section 3.9).

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use crate::model::{
    ActionKind, Audience, FileHistories, NavigationTarget, Palace, Room, RoomId, Slug,
};
use crate::render::conflict::conflict_count_line;
use crate::render::item_json::file_history_json;
use crate::render::text::{count_with_noun, name_in_list, name_in_sentence, truncate};
use crate::render::{ago, mark_imitations};

/// Above this number of rooms the map lists wings, and only the rooms nearby.
const MAX_ROOMS: usize = 60;

/// Limit for the doors of a room on the map.
const MAX_DOORS: usize = 20;

/// The inputs of a map.
#[derive(Clone, Copy, Debug)]
pub struct MapView<'a> {
    /// The palace.
    pub palace: &'a Palace,
    /// The room of the visitor.
    pub here: Option<&'a RoomId>,
    /// The hall of that room that the visitor is in.
    pub hall: Option<&'a str>,
    /// The number of open conflicts.
    pub conflicts: usize,
    /// The histories of the palace's files.
    pub history: &'a FileHistories,
    /// Returns the path of a room's file.
    pub room_file: fn(&RoomId) -> String,
    /// Who reads the map.
    pub audience: Audience,
    /// The current time.
    pub now: DateTime<Utc>,
}

/// Renders the map.
pub fn map(view: &MapView<'_>) -> String {
    let palace = view.palace;
    let (rooms, scrolls) = (palace.rooms().len(), palace.scrolls().count());
    let drawers = match palace.drawers.len() {
        0 => String::new(),
        drawers => format!(", {}", count_with_noun(drawers, "drawer")),
    };
    let mut page = format!(
        "── Map of {} ──\n{}, {}{drawers}\n",
        name_in_sentence(&palace.settings.name),
        count_with_noun(rooms, "room"),
        count_with_noun(scrolls, "scroll")
    );
    if view.conflicts > 0 {
        page.push_str(&format!("{}\n", conflict_count_line(view.conflicts, view.audience)));
    }
    if palace.enterable_rooms().len() > MAX_ROOMS {
        large_map(view, &mut page);
    } else {
        small_map(view, &mut page);
    }
    page
}

fn small_map(view: &MapView<'_>, page: &mut String) {
    let mut wing = None;
    for id in view.palace.enterable_rooms() {
        if id.wing != wing {
            wing.clone_from(&id.wing);
            if let Some(wing) = &wing {
                page.push_str(&format!("\nWing {}:\n", wing_name(view.palace, wing)));
            }
        }
        page.push_str(&room_lines(view, id));
    }
    let unfinished = view.palace.unfinished_rooms();
    let is_drawn = |it| view.palace.is_enterable_room(it) || unfinished.contains(it);
    if let Some(here) = view.here.filter(|it| !is_drawn(it)) {
        page.push_str(&format!(
            "\n{}{}\n",
            mark_imitations(&room_label(view.palace, here)),
            you_are_here_mark(view, here)
        ));
    }
    let names: Vec<_> = unfinished
        .iter()
        .map(|it| room_label(view.palace, it) + &you_are_here_mark(view, it))
        .collect();
    if !names.is_empty() {
        page.push_str(&format!("\nUnfinished doorways: {}\n", names.join(", ")));
    }
}

fn large_map(view: &MapView<'_>, page: &mut String) {
    let palace = view.palace;
    let mut wings: BTreeMap<_, usize> = BTreeMap::new();
    for id in palace.enterable_rooms() {
        *wings.entry(&id.wing).or_default() += 1;
    }
    for (wing, rooms) in wings.iter().take(MAX_ROOMS) {
        let name = wing.as_ref().map(|it| format!("Wing {}", wing_name(palace, it)));
        let name = name.unwrap_or_else(|| "Rooms without a wing".to_owned());
        page.push_str(&format!("  {name}: {}\n", count_with_noun(*rooms, "room")));
    }
    if wings.len() > MAX_ROOMS {
        page.push_str(&format!(
            "  and {} more\n",
            count_with_noun(wings.len() - MAX_ROOMS, "wing")
        ));
    }
    if let Some(here) = view.here.or_else(|| palace.entry_room()) {
        page.push_str("\nNearby:\n");
        page.push_str(&room_lines(view, here));
        for id in palace
            .neighbouring_rooms(here)
            .iter()
            .filter(|it| palace.is_enterable_room(it))
            .take(12)
        {
            page.push_str(&room_lines(view, id));
        }
    }
    page.push_str("\nThe palace is too large to show whole: ");
    page.push_str(view.audience.choose(
        "17 with params searches it, 16 with params goes to any room.\n",
        "`search WORDS` searches it, `go ROOM` goes to any room.\n",
    ));
}

/// Renders one room: its name, version, age and doors.
fn room_lines(view: &MapView<'_>, id: &RoomId) -> String {
    let palace = view.palace;
    let mut notes = Vec::new();
    match palace.scrolls_in_room(id).count() {
        0 => {}
        scrolls => notes.push(count_with_noun(scrolls, "scroll")),
    }
    match palace.count_drawers_shown_in(id) {
        0 => {}
        drawers => notes.push(count_with_noun(drawers, "drawer")),
    }
    if let Some(versions) = view.history.get(&(view.room_file)(id)) {
        notes.push(format!("v{}, {}", versions.count, ago(versions.updated, view.now)));
    }
    let name = name_in_list(&truncate(&palace.room_name(id), 80));
    let mut text = format!("  {} ({id})", mark_imitations(&name));
    if !notes.is_empty() {
        text.push_str(&format!(" [{}]", notes.join(", ")));
    }
    if palace.entry_room() == Some(id) {
        text.push_str(" entry");
    }
    text.push_str(&you_are_here_mark(view, id));
    text.push('\n');
    let door = |it: &RoomId| match &it.wing {
        Some(wing) if it.slug == id.slug => {
            format!("{} in {}", room_label(palace, it), wing_name(palace, wing))
        }
        _ => room_label(palace, it),
    };
    let mut doors: Vec<_> = palace.neighbouring_rooms(id).iter().map(door).collect();
    doors.extend(palace.room(id).into_iter().flat_map(doors_to_other_palaces));
    let shown: Vec<_> = doors.iter().take(MAX_DOORS).map(String::as_str).collect();
    if !shown.is_empty() {
        let left = doors.len() - shown.len();
        let more = if left > 0 { format!(" and {left} more") } else { String::new() };
        text.push_str(&format!("      ↔ {}{more}\n", shown.join(", ")));
    } else if palace.room(id).is_some() && palace.rooms().len() > 1 {
        text.push_str("      no doors: no room leads here\n");
    }
    text
}

/// Renders the mark of the room that the visitor is in.
fn you_are_here_mark(view: &MapView<'_>, id: &RoomId) -> String {
    match view.hall {
        _ if view.here != Some(id) => String::new(),
        Some(hall) => format!(" ← You are here, in {}", name_in_list(&truncate(hall, 80))),
        None => " ← You are here".to_owned(),
    }
}

/// Yields labels for the rooms of other palaces that a room's actions lead to.
fn doors_to_other_palaces(room: &Room) -> impl Iterator<Item = String> {
    room.actions.iter().filter_map(|action| match &action.kind {
        ActionKind::Navigate(NavigationTarget { room, workspace: Some(workspace) }) => {
            Some(format!("{room} in {}", name_in_list(&truncate(workspace, 80))))
        }
        _ => None,
    })
}

/// Returns the name of a room on the map; an unbuilt room is in brackets.
fn room_label(palace: &Palace, id: &RoomId) -> String {
    let name = name_in_list(&truncate(&palace.room_name(id), 80));
    if palace.is_enterable_room(id) { name } else { format!("[{name}]") }
}

/// Returns the name of a wing from its drawers, or its slug.
fn wing_name(palace: &Palace, wing: &Slug) -> String {
    name_in_list(&truncate(palace.drawers.wing_name(wing).unwrap_or(wing.as_str()), 80))
}

/// Renders the whole map.
pub fn map_json(view: &MapView<'_>) -> Value {
    let palace = view.palace;
    let rooms = palace.enterable_rooms().into_iter().map(|it| map_room_json(view, it));
    let rooms: Vec<_> = rooms.collect();
    let unfinished: Vec<_> = palace.unfinished_rooms().iter().map(ToString::to_string).collect();
    json!({
        "name": palace.settings.name,
        "entry": palace.entry_room().map(ToString::to_string),
        "rooms": rooms,
        "unfinished": unfinished,
        "conflicts": view.conflicts,
    })
}

fn map_room_json(view: &MapView<'_>, id: &RoomId) -> Value {
    let palace = view.palace;
    let doors = palace.neighbouring_rooms(id).into_iter();
    let mut doors: Vec<_> = doors.map(|it| json!({ "room": it.to_string() })).collect();
    let actions = palace.room(id).into_iter().flat_map(|it| &it.actions);
    doors.extend(actions.filter_map(|it| match &it.kind {
        ActionKind::Navigate(NavigationTarget { room, workspace: Some(workspace) }) => {
            Some(json!({ "room": room.to_string(), "workspace": workspace }))
        }
        _ => None,
    }));
    json!({
        "room": id.to_string(),
        "name": palace.room_name(id),
        "wing": id.wing.as_ref().map(ToString::to_string),
        "doors": doors,
        "scrolls": palace.scrolls_in_room(id).count(),
        "drawers": palace.count_drawers_shown_in(id),
        "versions": file_history_json(view.history.get(&(view.room_file)(id)).copied()),
    })
}
