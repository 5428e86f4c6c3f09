//! Shows a room to the caller that built it.

use crate::keeper::rooms::build::BuiltRoom;
use crate::keeper::rooms::position::is_entrance_hall;
use crate::keeper::walk::current_room::{render_current_room, render_menu, with_menu};
use crate::keeper::walk::position::{place_name, position_of_caller};
use crate::keeper::{Caller, Keeper, Refusal};
use crate::render;
use crate::visit::Location;

/// Shows a room that was just built. A caller without a position, or in the unfinished room, enters
/// it; others stay in their room.
pub fn show_built_room(
    keeper: &mut Keeper,
    caller: &Caller,
    built: &BuiltRoom,
) -> Result<String, Refusal> {
    let note = keeper.with_workspace_note(caller, String::new());
    let BuiltRoom { workspace_key: key, room, .. } = built;
    let new_room = Location::from_room(key, room.clone());
    let visit = keeper.visit_of_caller(caller);
    match &visit.location {
        // A caller without a position gets one in the first room.
        None => visit.enter_palace(key, Some(new_room)),
        Some(at) if is_entrance_hall(at) => visit.enter_palace(key, Some(new_room)),
        Some(at) if at.is_same_place(&new_room) => visit.page = 0,
        Some(at) if at.room == *room && at.workspace == *key => visit.go_to(new_room),
        Some(_) => {
            let palace = &keeper.open_palace(key)?.palace;
            let Some(it) = palace.room(room) else { return Err(Refusal::NoRooms) };
            let page = render::room_built_elsewhere(it, room);
            let position = position_of_caller(keeper, caller)?;
            let here = place_name(keeper, &position, key);
            let page = with_menu(keeper, caller, &format!("{page}\nYou are still in {here}."))?;
            return Ok(note + &page);
        }
    }
    Ok(note + &render_current_room(keeper, caller)?)
}

/// Updates the menu of a caller in the room that was just built, so that the numbers of the new
/// actions work before the room is shown again.
pub fn update_menu_in_built_room(
    keeper: &mut Keeper,
    caller: &Caller,
    built: &BuiltRoom,
) -> Result<(), Refusal> {
    let is_here = |it: Location| it.room == built.room && it.workspace == built.workspace_key;
    if position_of_caller(keeper, caller).is_ok_and(is_here) {
        render_menu(keeper, caller)?;
    }
    Ok(())
}
