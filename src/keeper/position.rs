//! The position of a caller in a palace, and what can be seen from it.

use crate::keeper::workspaces::as_of_key::{is_as_of_key, present_key};
use crate::keeper::{Caller, Keeper, Refusal};
use crate::model::{Grouping, Hall, Palace, RoomId, ScrollId};
use crate::session::Location;

/// The slug of the hall in which visits begin where no room is built: that of the room it stands for.
const ENTRANCE_HALL_SLUG: &str = "entrance-hall";

/// Returns the position of the caller. A caller who entered a palace before it had a room moves to
/// the entry as soon as there is one.
pub(crate) fn current_position(keeper: &mut Keeper, caller: &Caller) -> Result<Location, Refusal> {
    let visit = keeper.visit(caller);
    let current = visit.location.clone();
    if let Some(position) = current.clone().filter(|it| !is_entrance_hall(it)) {
        return Ok(position);
    }
    let Some(key) = visit.workspace.clone() else {
        let names = keeper.workspaces()?.into_iter().map(|it| it.name).collect();
        return Err(keeper.no_workspace_refusal(names));
    };
    let session = keeper.session_in(key.clone(), caller)?;
    let palace = &session.palace.palace;
    // A palace without rooms and entities may still have drawers.
    let drawer_room = palace.drawers.rooms().next().cloned();
    let drawer_room = drawer_room.map(|it| Location::in_room(&key, it));
    let position = start_position(palace, &key).or(drawer_room).ok_or(Refusal::NoRooms)?;
    if current.as_ref() != Some(&position) {
        // The caller chose no door: the items listed last can still be opened.
        let listed_items = std::mem::take(&mut session.visit.listed_items);
        session.visit.enter_palace(&key, Some(position.clone()));
        session.visit.listed_items = listed_items;
    }
    Ok(position)
}

/// Returns where visits begin in a palace: in its entry, or, where no room is built, in a hall of
/// all entities; `None` in an empty palace.
pub(crate) fn start_position(palace: &Palace, workspace: &str) -> Option<Location> {
    if let Some(entry) = palace.entry_room() {
        return Some(Location::in_room(workspace, entry.clone()));
    }
    let room = ENTRANCE_HALL_SLUG.parse().ok().filter(|_| !palace.graph.is_empty())?;
    let hall = Some(Hall::for_grouping(Grouping::Everything));
    Some(Location { hall, ..Location::in_room(workspace, room) })
}

/// Returns whether a position is the hall in which visits begin where no room is built.
pub(crate) fn is_entrance_hall(position: &Location) -> bool {
    position.hall.as_ref().is_some_and(|it| it.grouping == Grouping::Everything && it.depth == 0)
}

/// Returns the name of a position for a caller in the workspace `from`.
pub(crate) fn place_name(keeper: &Keeper, position: &Location, from: &str) -> String {
    let Some(palace) = keeper.open_palaces.get(&position.workspace) else {
        return present_key(&position.workspace).to_owned();
    };
    let palace = &palace.palace;
    let name = match &position.hall {
        Some(hall) if hall.depth > 0 => hall.title.clone(),
        _ => palace.room_name(&position.room),
    };
    if position.workspace == from {
        return name;
    }
    let past = if is_as_of_key(&position.workspace) { " as it was" } else { "" };
    format!("{name} in {}{past}", palace.settings.name)
}

/// Returns the scrolls of a room after the first `from`, newest first, at most `limit`.
pub(crate) fn newest_scroll_ids(
    palace: &Palace,
    room: &RoomId,
    from: usize,
    limit: usize,
) -> Vec<ScrollId> {
    let scrolls = palace.scrolls_in_room(room).skip(from).take(limit);
    scrolls.map(|it| ScrollId { room: room.clone(), id: it.id }).collect()
}
