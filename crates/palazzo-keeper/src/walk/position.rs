//! The position of a caller in any palace, and its name.

use crate::rooms::position::{current_position, is_entrance_hall};
use crate::workspaces::as_of_key::{is_as_of_key, present_key};
use crate::{Caller, Keeper, Refusal};
use palazzo_core::render;
use palazzo_core::visit::Location;

/// Returns the position of a caller as [`current_position`] does. Brings the palace up to date only
/// if the caller has no room yet; refuses a caller who entered no palace.
pub(crate) fn position_of_caller(
    keeper: &mut Keeper,
    caller: &Caller,
) -> Result<Location, Refusal> {
    let visit = keeper.visit_of_caller(caller);
    if let Some(position) = visit.location.clone().filter(|it| !is_entrance_hall(it)) {
        let open = keeper.open_palaces.get(&position.workspace);
        if open.is_none_or(|it| it.palace.is_enterable_room(&position.room)) {
            return Ok(position);
        }
        let key = position.workspace.clone();
        return current_position(&mut keeper.session_without_refresh(&key, caller)?);
    }
    let Some(key) = visit.workspace.clone() else {
        let names = keeper.workspaces()?.into_iter().map(|it| it.name).collect();
        return Err(keeper.no_workspace_refusal(names));
    };
    current_position(&mut keeper.session_in(&key, caller)?)
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
        return render::name_in_list(&name);
    }
    let past = if is_as_of_key(&position.workspace) { " as it was" } else { "" };
    let [name, palace] = [&name, &palace.settings.name].map(|it| render::name_in_list(it));
    format!("{name} in {palace}{past}")
}
