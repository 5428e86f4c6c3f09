//! Looking at palaces from outside: for the command line.

use crate::format::room_path;
use crate::keeper::palace::OpenPalace;
use crate::keeper::walk::drawers::render_drawer_only_room;
use crate::keeper::walk::enter::room_notices;
use crate::keeper::walk::halls;
use crate::keeper::walk::halls::{available_actions, hall_view};
use crate::keeper::workspaces::as_of::open_as_of;
use crate::keeper::{Caller, Keeper, Refusal};
use crate::model::{Palace, RoomId, RoomRef, did_you_mean};
use crate::render::{self, MapView, RoomView};
use crate::session::{Location, Visit};

impl Keeper {
    /// Returns a palace as it stands in memory, opened if need be.
    pub fn palace_by_name(&mut self, workspace: &str) -> Result<&Palace, Refusal> {
        let workspace = self.find_workspace(workspace)?;
        self.open_workspace(&workspace).map(|held| &*held.palace)
    }

    /// Renders a room, or the entry, as a visitor would first see it, or would
    /// have seen it at the moment `at` names; below it its version and age.
    pub fn show(
        &mut self,
        by: &Caller,
        room: Option<&RoomRef>,
        at: Option<&str>,
    ) -> Result<String, Refusal> {
        let mut key = self.current_workspace(by)?;
        if let Some(said) = at {
            key = open_as_of(self, by, &key, said)?;
        }
        let held = self.open_palace(&key)?;
        held.load_history()?;
        let id = resolve_room_or_entry(held, room)?;
        let palace = &held.palace;
        let at = Location::in_room(&key, id.clone());
        let seen = halls::visible_hall(palace, &at);
        let contents = seen.as_ref().map(|it| halls::hall_contents(palace, &at, it));
        let total = palace.scrolls_in_room(&id).count();
        let view = RoomView {
            id: &id,
            room: palace.room(&id),
            layout: palace.settings.layout,
            scrolls: palace.scrolls_in_room(&id).take(Visit::SCROLLS_PER_ROOM).collect(),
            older_scroll_count: total.saturating_sub(Visit::SCROLLS_PER_ROOM),
            drawer_count: palace.drawer_count_in(&id),
            actions: available_actions(palace, &at, contents.as_ref(), None),
            listed_item_count: contents.as_ref().map_or(0, |it| it.entity_names.len()),
            entity_listing: seen.zip(contents).map(|(hall, it)| hall_view(palace, &hall, &it)),
            page: 0,
            back: None,
            notices: room_notices(held, &id, None, by.now),
            now: by.now,
        };
        let page = render_drawer_only_room(held, &view).unwrap_or_else(|| render::room(&view));
        let versions = held.history().get(&room_path(&id)).copied();
        Ok(page + &render::version_summary(versions, held.store().as_of_commit(), by.now))
    }

    /// Renders the map of the palace.
    pub fn show_map(&mut self, by: &Caller) -> Result<String, Refusal> {
        let key = self.current_workspace(by)?;
        let held = self.open_palace(&key)?;
        held.load_history()?;
        let (palace, history) = (&held.palace, held.history());
        let view =
            MapView { palace, here: None, hall: None, history, room_file: room_path, now: by.now };
        Ok(render::map(&view))
    }
}

/// Finds the room that is to be shown; without one, the entry.
fn resolve_room_or_entry(held: &OpenPalace, room: Option<&RoomRef>) -> Result<RoomId, Refusal> {
    let palace = &held.palace;
    let id = match room {
        Some(called) => palace.resolve_room(called, None)?,
        None => palace.entry_room().cloned().ok_or(Refusal::NoRooms)?,
    };
    match palace.is_enterable(&id) {
        true => Ok(id),
        false => Err(no_such_room(held, &id)),
    }
}

/// Says why there is no room of that name to look at.
pub(crate) fn no_such_room(held: &OpenPalace, id: &RoomId) -> Refusal {
    if let Some(finding) = held.file_error(&room_path(id)) {
        return Refusal::UnreadableFile(finding.clone().into());
    }
    let rooms = || held.palace.rooms().map(|(id, _)| id);
    let meant = did_you_mean(id.slug.as_str(), rooms().map(|it| it.slug.as_str()));
    let meant = meant.map(str::to_owned);
    let rooms = rooms().take(5).map(ToString::to_string).collect();
    Refusal::NoSuchRoom { asked: id.to_string(), meant, rooms }
}
