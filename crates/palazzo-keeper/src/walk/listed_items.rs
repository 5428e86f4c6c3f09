//! Opening an item of the last search or list.

use crate::walk::choice::ChoiceOutcome;
use crate::walk::contents::{render_whole_item, show_entity};
use crate::walk::current_room::render_current_room;
use crate::walk::drawers::{later_texts_note, read_drawer};
use crate::walk::scrolls::read_scroll;
use crate::walk::shown_items::mark_shown;
use crate::{Caller, Keeper, Refusal};
use palazzo_core::model::ItemId;
use palazzo_core::visit::{Listing, Location};

/// Returns the items that the numbers from 31 open, in their order.
pub fn listed_items(keeper: &mut Keeper, caller: &Caller) -> Vec<ItemId> {
    keeper.visit_of_caller(caller).listed_items.clone()
}

/// Removes the last list or search of the visit.
pub fn take_listing(keeper: &mut Keeper, caller: &Caller) -> Listing {
    keeper.visit_of_caller(caller).take_listing()
}

/// Copies what was listed last.
pub fn copy_listing(keeper: &mut Keeper, caller: &Caller) -> Listing {
    let listing = take_listing(keeper, caller);
    restore_listing(keeper, caller, listing.clone());
    listing
}

/// Puts back what [`take_listing`] has removed.
pub fn restore_listing(keeper: &mut Keeper, caller: &Caller, listing: Listing) {
    keeper.visit_of_caller(caller).restore_listing(listing);
}

/// Opens an item: goes to a room, and shows anything else whole.
pub(crate) fn open_item(
    keeper: &mut Keeper,
    caller: &Caller,
    position: &Location,
    item: &ItemId,
) -> Result<ChoiceOutcome, Refusal> {
    let mut session = keeper.session_without_refresh(&position.workspace, caller)?;
    let page = match item {
        ItemId::Room(room) => {
            session.visit.go_to(Location::from_room(&position.workspace, room.clone()));
            return render_current_room(keeper, caller).map(ChoiceOutcome::Page);
        }
        ItemId::Scroll(scroll) => read_scroll(&mut session, scroll)?,
        ItemId::Entity(name) => show_entity(&mut session, name, 1)?,
        ItemId::Drawer(file) => {
            let page = read_drawer(&mut session, file)?;
            mark_shown(&mut session, item);
            page.trim_end().to_owned() + "\n" + &later_texts_note(&mut session, file)
        }
        item => render_whole_item(&mut session, item)?,
    };
    Ok(ChoiceOutcome::Text(page))
}
