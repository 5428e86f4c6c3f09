//! The position of a caller in a palace.

use crate::{Refusal, Session};
use palazzo_core::model::{Grouping, Hall, Palace};
use palazzo_core::visit::Location;

/// The slug of the hall that replaces the entry room in a palace without rooms.
const ENTRANCE_HALL_SLUG: &str = "entrance-hall";

/// Returns the position of the caller. A caller that entered a palace without rooms moves to the
/// entry room as soon as there is one, and one whose room was renamed stays in it.
pub(crate) fn current_position(session: &mut Session<'_>) -> Result<Location, Refusal> {
    let before = session.visit.location.clone();
    if let Some(location) = before.clone().filter(|it| !is_entrance_hall(it)) {
        return follow_renamed_room(session, location);
    }
    let (palace, key) = (&session.palace.palace, &session.key);
    // In a palace without rooms and entities, a room with drawers is shown.
    let drawer_room = palace.drawers.rooms().next().cloned();
    let drawer_room = drawer_room.map(|it| Location::from_room(key, it));
    let location = start_position(palace, key).or(drawer_room).ok_or(Refusal::NoRooms)?;
    if before.as_ref() != Some(&location) {
        // The caller did not move: the numbers of the listed items stay valid.
        let listed_items = std::mem::take(&mut session.visit.listed_items);
        session.visit.enter_palace(key, Some(location.clone()));
        session.visit.listed_items = listed_items;
    }
    Ok(location)
}

/// Returns the location with the present name of its room, if somebody has renamed the room.
fn follow_renamed_room(session: &mut Session<'_>, at: Location) -> Result<Location, Refusal> {
    let room = session.palace.present_room_name(at.room.clone())?;
    if room != at.room {
        session.visit.rename_room(&session.key, &at.room, &room);
    }
    Ok(Location { room, ..at })
}

/// Returns the position at which visits begin: the entry room or, in a palace without rooms, a hall
/// with all entities.
pub(crate) fn start_position(palace: &Palace, workspace: &str) -> Option<Location> {
    if let Some(entry) = palace.entry_room() {
        return Some(Location::from_room(workspace, entry.clone()));
    }
    let room = ENTRANCE_HALL_SLUG.parse().ok().filter(|_| !palace.graph.is_empty())?;
    let hall = Some(Hall::for_grouping(Grouping::Everything));
    Some(Location { hall, ..Location::from_room(workspace, room) })
}

/// Returns true for the hall in which visits begin in a palace without rooms.
pub(crate) fn is_entrance_hall(location: &Location) -> bool {
    location.hall.as_ref().is_some_and(|it| it.grouping == Grouping::Everything && it.depth == 0)
}
