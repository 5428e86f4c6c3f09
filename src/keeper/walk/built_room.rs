//! Shows a room to the caller that has built it.

use crate::keeper::rooms::build::BuiltRoom;
use crate::keeper::rooms::position::is_entrance_hall;
use crate::keeper::{Caller, Keeper, Refusal};
use crate::render;
use crate::session::Location;

/// Shows a room that was just built. The caller enters the room if they stood there before it was
/// built, or nowhere; otherwise they stay where they are.
pub fn show_built_room(
    keeper: &mut Keeper,
    caller: &Caller,
    built: &BuiltRoom,
) -> Result<String, Refusal> {
    let note = keeper.with_workspace_note(caller, String::new());
    let BuiltRoom { workspace_key: key, room, .. } = built;
    let there = Location::in_room(key, room.clone());
    let visit = keeper.visit(caller);
    match &visit.location {
        // A caller without a position gets one in the first room.
        None => visit.enter_palace(key, Some(there)),
        Some(at) if is_entrance_hall(at) => visit.enter_palace(key, Some(there)),
        Some(at) if at.is_same_place(&there) => visit.page = 0,
        Some(at) if at.room == *room && at.workspace == *key => visit.go_to(there),
        Some(_) => {
            let palace = &keeper.open_palace(key)?.palace;
            let Some(it) = palace.room(room) else { return Err(Refusal::NoRooms) };
            let page = render::room_built_elsewhere(it, room);
            let position = keeper.current_position(caller)?;
            let here = keeper.place_name(&position, key);
            let page = keeper.with_menu(caller, &format!("{page}\nYou are still in {here}."))?;
            return Ok(note + &page);
        }
    }
    Ok(note + &keeper.render_here(caller)?)
}

/// Updates the caller's menu, if the caller stands in the room that was just built: the caller
/// knows the new numbers without seeing them.
pub fn update_menu_in_built_room(
    keeper: &mut Keeper,
    caller: &Caller,
    built: &BuiltRoom,
) -> Result<(), Refusal> {
    let is_here = |it: Location| it.room == built.room && it.workspace == built.workspace_key;
    if keeper.current_position(caller).is_ok_and(is_here) {
        keeper.render_menu(caller)?;
    }
    Ok(())
}
