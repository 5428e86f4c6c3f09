//! Opening an item of the last search or list.

use crate::keeper::graph::describe::{describe_genus, get_entity};
use crate::keeper::walk::current_room::{render_current_room, with_menu};
use crate::keeper::walk::drawers::read_drawer;
use crate::keeper::walk::scrolls::read_scroll;
use crate::keeper::work::work_items::render_work_item;
use crate::keeper::{Caller, Keeper, Refusal, Session};
use crate::model::ItemId;
use crate::render;
use crate::visit::Location;

/// Opens an item of the last search or list, by its place there; `None` if no item has that place.
pub(crate) fn open_listed_item(
    keeper: &mut Keeper,
    caller: &Caller,
    position: &Location,
    place: usize,
) -> Result<Option<String>, Refusal> {
    let mut session = keeper.session_without_refresh(&position.workspace, caller)?;
    let page = match session.visit.listed_items.get(place).cloned() {
        None => return Ok(None),
        Some(ItemId::Room(room)) => {
            session.visit.go_to(Location::from_room(&position.workspace, room));
            return render_current_room(keeper, caller).map(Some);
        }
        Some(ItemId::Scroll(scroll)) => read_scroll(&mut session, &scroll)?,
        Some(ItemId::Drawer(file)) => read_drawer(&mut session, &file)?,
        Some(ItemId::Diary(file)) => read_diary_entry(&session, &file),
        Some(item @ (ItemId::Task(_) | ItemId::Process(_))) => {
            render_work_item(session.palace, &item, caller.now)?
        }
        Some(ItemId::Genus(name)) => {
            let genus = describe_genus(&session, &name)?;
            render::genus(genus.definition, &genus.count)
        }
        Some(ItemId::Entity(name)) => {
            render::entity(&get_entity(&mut session, &name)?, 1, caller.now)
        }
    };
    with_menu(keeper, caller, &page).map(Some)
}

/// Renders a diary entry, by its file.
pub(crate) fn read_diary_entry(session: &Session<'_>, file: &str) -> String {
    let diaries = &session.palace.palace.diaries;
    match (diaries.entry_in_file(file), diaries.agent_of_file(file)) {
        (Some(entry), Some(agent)) => render::diary_entry(entry, agent, session.caller.now),
        _ => "That diary entry has been deleted since.".to_owned(),
    }
}
