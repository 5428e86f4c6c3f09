//! Moving through rooms and halls, and the pages that are shown outside of a visit. The position of
//! a caller, and what the visit was shown.

pub(crate) mod changed_items;
pub(crate) mod changes_since_visit;
pub(crate) mod choices;
pub(crate) mod choose_number;
pub(crate) mod contents;
pub(crate) mod current_room;
pub(crate) mod drawers;
pub(crate) mod enter_palace;
pub(crate) mod everything;
pub(crate) mod halls;
pub(crate) mod hand_over;
pub(crate) mod item_names;
pub(crate) mod long_answers;
pub(crate) mod note_links;
mod notices;
pub(crate) mod resources;
mod revision_notice;
pub(crate) mod scrolls;
pub(crate) mod show;
pub(crate) mod show_item;
pub(crate) mod unbuilt_rooms;
pub(crate) mod wake_up;

use crate::palace::file_states::text_digest;
use crate::workspaces::as_of_key::{is_as_of_key, present_key};
use crate::{Caller, Keeper, Refusal, Session};
use palazzo_core::model::{Grouping, Hall, ItemId, Palace};
use palazzo_core::render;
use palazzo_core::visit::Location;

/// The slug of the hall that replaces the entry room in a palace without rooms.
const ENTRANCE_HALL_SLUG: &str = "entrance-hall";

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
    let room = session.palace.present_room_id(at.room.clone())?;
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

/// Returns whether this visit was shown the whole item, and it has not changed since.
pub(crate) fn was_shown(session: &Session<'_>, item: &ItemId) -> bool {
    let digest = content_digest(&session.palace.palace, item);
    digest.is_some() && session.visit.shown_items.get(item).copied() == digest
}

/// Remembers that this visit was shown the whole item.
pub(crate) fn mark_shown(session: &mut Session<'_>, item: &ItemId) {
    if let Some(digest) = content_digest(&session.palace.palace, item) {
        session.visit.shown_items.insert(item.clone(), digest);
        session.visit.shown_in_answer.push(item.clone());
    }
}

/// Returns a digest of what an item says; `None` if it is of another kind, or does not
/// exist.
fn content_digest(palace: &Palace, item: &ItemId) -> Option<u64> {
    let text = match item {
        ItemId::Scroll(which) => {
            let scroll = palace.scroll(which)?;
            format!("{}\n{}", scroll.title, scroll.body)
        }
        ItemId::Entity(name) => format!("{:?}", palace.graph.get(name)?),
        ItemId::Drawer(file) => palace.drawers.drawer_in_file(file)?.text.clone(),
        ItemId::Task(file) => format!("{:?}", palace.tasks.get(file)?),
        ItemId::Process(file) => format!("{:?}", palace.processes.get(file)?),
        ItemId::Room(_) | ItemId::Diary(_) | ItemId::Genus(_) => return None,
    };
    Some(text_digest(&text))
}
