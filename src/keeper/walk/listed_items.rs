//! Opening an item of the last search or list.

use crate::keeper::{Caller, Keeper, Refusal};
use crate::model::ItemId;
use crate::render;
use crate::session::Location;

impl Keeper {
    /// Opens an item of the last search or list, by its place there; `None` if no item has that
    /// place.
    pub(crate) fn open_search_result(
        &mut self,
        caller: &Caller,
        at: &Location,
        place: usize,
    ) -> Result<Option<String>, Refusal> {
        let page = match self.visit(caller).listed_items.get(place).cloned() {
            None => return Ok(None),
            Some(ItemId::Room(room)) => {
                let workspace = at.workspace.clone();
                self.visit(caller).go_to(Location::in_room(&workspace, room));
                return self.render_here(caller).map(Some);
            }
            Some(ItemId::Scroll(which)) => self.read_scroll(caller, &at.workspace, &which)?,
            Some(ItemId::Drawer(file)) => self.read_drawer_part(caller, at, place, &file)?,
            Some(ItemId::Diary(file)) => self.read_diary_entry(caller, &at.workspace, &file)?,
            Some(which @ (ItemId::Task(_) | ItemId::Process(_))) => {
                self.read_work_item(caller, &at.workspace, &which)?
            }
            Some(ItemId::Genus(name)) => self.list_genera(caller, Some(&name))?,
            Some(ItemId::Entity(name)) => self.get_entity(caller, &name, 1)?,
        };
        self.with_menu(caller, &page).map(Some)
    }

    fn read_diary_entry(
        &mut self,
        caller: &Caller,
        key: &str,
        file: &str,
    ) -> Result<String, Refusal> {
        let diaries = &self.open_palace(key)?.palace.diaries;
        Ok(match (diaries.get(file), diaries.agent_of(file)) {
            (Some(entry), Some(agent)) => render::diary_entry(entry, agent, caller.now),
            _ => "That page has been torn out since.".to_owned(),
        })
    }
}
