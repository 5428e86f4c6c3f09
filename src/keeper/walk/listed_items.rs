//! Opening an item of the last search or list.

use crate::keeper::graph::describe::{describe_genus, get_entity};
use crate::keeper::walk::choice::ChoiceOutcome;
use crate::keeper::walk::current_room::render_current_room;
use crate::keeper::walk::drawers::read_drawer;
use crate::keeper::walk::scrolls::read_scroll;
use crate::keeper::walk::show_item::read_diary_entry;
use crate::keeper::walk::shown_items::mark_shown;
use crate::keeper::work::work_items::render_work_item;
use crate::keeper::{Caller, Keeper, Refusal};
use crate::model::ItemId;
use crate::render;
use crate::visit::Location;

/// Returns the items that the numbers from 31 open, in their order.
pub fn listed_items(keeper: &mut Keeper, caller: &Caller) -> Vec<ItemId> {
    keeper.visit_of_caller(caller).listed_items.clone()
}

/// Gives the numbers from 31 to these items.
pub fn renumber_items(keeper: &mut Keeper, caller: &Caller, items: Vec<ItemId>) {
    keeper.visit_of_caller(caller).listed_items = items;
}

/// Opens an item: goes to a room, and shows anything else whole.
pub(crate) fn open_item(
    keeper: &mut Keeper,
    caller: &Caller,
    position: &Location,
    item: &ItemId,
) -> Result<ChoiceOutcome, Refusal> {
    let mut session = keeper.session_without_refresh(&position.workspace, caller)?;
    mark_shown(&mut session, item);
    let page = match item {
        ItemId::Room(room) => {
            session.visit.go_to(Location::from_room(&position.workspace, room.clone()));
            return render_current_room(keeper, caller).map(ChoiceOutcome::Page);
        }
        ItemId::Scroll(scroll) => read_scroll(&mut session, scroll)?,
        ItemId::Drawer(file) => read_drawer(&mut session, file)?,
        ItemId::Diary(file) => read_diary_entry(&session, file),
        ItemId::Task(_) | ItemId::Process(_) => render_work_item(session.palace, item, caller.now)?,
        ItemId::Genus(name) => {
            let genus = describe_genus(&session, name)?;
            render::genus(genus.definition, &genus.count)
        }
        ItemId::Entity(name) => render::entity(&get_entity(&mut session, name)?, 1, caller.now),
    };
    Ok(ChoiceOutcome::Text(page))
}
