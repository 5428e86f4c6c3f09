//! Shows a room to the caller that built it.

use crate::rooms::build::BuiltRoom;
use crate::rooms::position::is_entrance_hall;
use crate::walk::current_room::{render_current_room, render_menu};
use crate::walk::position::position_of_caller;
use crate::{Caller, Keeper, Refusal};
use palazzo_core::model::RoomId;
use palazzo_core::visit::Location;

/// Takes the caller into a room that was just built, and shows it (v1 section 5.3).
pub fn show_built_room(
    keeper: &mut Keeper,
    caller: &Caller,
    workspace_key: &str,
    room: &RoomId,
) -> Result<String, Refusal> {
    let note = keeper.with_workspace_note(caller, String::new());
    let new_room = Location::from_room(workspace_key, room.clone());
    leave_doorway(keeper, caller, &new_room)?;
    let visit = keeper.visit_of_caller(caller);
    match &visit.location {
        // A caller without a position gets one in the first room.
        None => visit.enter_palace(workspace_key, Some(new_room)),
        Some(at) if is_entrance_hall(at) => visit.enter_palace(workspace_key, Some(new_room)),
        Some(at) if at.is_same_place(&new_room) => visit.page = 0,
        Some(_) => visit.go_to(new_room),
    }
    Ok(note + &render_current_room(keeper, caller)?)
}

/// Moves a caller in the doorway of an unbuilt room into the room with the same slug that was just
/// built in a wing, so that no way leads back to the doorway.
fn leave_doorway(keeper: &mut Keeper, caller: &Caller, built: &Location) -> Result<(), Refusal> {
    let Some(here) = keeper.visit_of_caller(caller).location.clone() else { return Ok(()) };
    let is_same_slug = here.workspace == built.workspace && here.room.slug == built.room.slug;
    let palace = &keeper.open_palace(&built.workspace)?.palace;
    if is_same_slug && here.hall.is_none() && !palace.is_enterable_room(&here.room) {
        let visit = keeper.visit_of_caller(caller);
        visit.rename_room(&built.workspace, &here.room, &built.room);
    }
    Ok(())
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
