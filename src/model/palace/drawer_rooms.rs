//! The relation between drawers and the rooms of the palace.

use std::collections::BTreeSet;

use crate::model::{Door, Palace, RoomId};

impl Palace {
    /// Returns every room that can be entered: built, or with drawers.
    pub fn enterable_rooms(&self) -> BTreeSet<&RoomId> {
        self.rooms().map(|(id, _)| id).chain(self.drawers.rooms()).collect()
    }

    /// Tells whether `id` can be entered.
    pub fn is_enterable(&self, id: &RoomId) -> bool {
        self.room(id).is_some() || self.drawers.count_in_room(id) > 0
    }

    /// Yields the rooms whose drawers are shown in `id`: its own; for a room without a wing, those
    /// of its slug in every wing that has no built room of that slug.
    pub fn drawer_rooms_for(&self, id: &RoomId) -> impl Iterator<Item = &RoomId> {
        self.drawers.rooms().filter(move |it| match &id.wing {
            Some(_) => *it == id,
            None => it.slug == id.slug && self.room(it).is_none(),
        })
    }

    /// Returns the number of drawers that are shown in `id`.
    pub fn drawer_count_in(&self, id: &RoomId) -> usize {
        self.drawer_rooms_for(id).map(|it| self.drawers.count_in_room(it)).sum()
    }

    /// Yields the automatic doors to the rooms of the same name in other wings, where this room or
    /// the other one contains drawers.
    pub(crate) fn tunnels<'a>(&'a self, id: &'a RoomId) -> impl Iterator<Item = Door> + 'a {
        let has_drawers = self.drawers.count_in_room(id) > 0;
        let rooms =
            if has_drawers { self.enterable_rooms() } else { self.drawers.rooms().collect() };
        let name = self.drawer_room_name(id);
        let same =
            rooms.into_iter().filter(move |it| *it != id && self.drawer_room_name(it) == name);
        same.map(|it| Door { name: self.room_name_with_wing(it), to: it.clone() })
    }

    /// Returns the name of a room with its wing.
    pub fn room_name_with_wing(&self, id: &RoomId) -> String {
        let name = self.room_name(id);
        let Some(wing) = &id.wing else { return name };
        format!("{name} in {}", self.drawers.wing_name(wing).unwrap_or(wing.as_str()))
    }

    /// Returns the name under which drawers of a room are filed, or would be.
    fn drawer_room_name<'a>(&'a self, id: &'a RoomId) -> &'a str {
        self.drawers.room_name(id).unwrap_or(id.slug.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Drawer, FiledUnder, Room, Settings};

    fn palace_with_drawers(rooms: &[&str], drawers: &[(&str, &str)]) -> Palace {
        let mut palace = Palace::new(Settings::with_name("Test"));
        for slug in rooms {
            let (name, description) = ((*slug).to_owned(), String::new());
            let (id, actions, portals, generate) = (None, vec![], vec![], None);
            let room = Room { id, name, description, actions, portals, generate };
            palace.set_room(&slug.parse().unwrap(), Some(room));
        }
        for (folder, room) in drawers {
            let said = FiledUnder { wing: None, room: Some((*room).to_owned()) };
            let (source, by, filed, text) = (None, None, None, String::new());
            let drawer = Drawer { id: ulid::Ulid(1), filed_under: said, source, by, filed, text };
            palace.drawers.insert(
                &format!("drawers/{folder}/1.md"),
                &folder.parse().unwrap(),
                drawer,
            );
        }
        palace
    }

    fn door_names(palace: &Palace, id: &str) -> Vec<String> {
        palace.door_names(&id.parse().unwrap()).into_iter().map(|it| it.name).collect()
    }

    #[test]
    fn rooms_with_drawers_and_the_same_name_are_joined_by_tunnels() {
        let palace = palace_with_drawers(
            &["code/auth", "life/hall", "code/hall"],
            &[("team/auth", "auth"), ("life/auth-2", "auth"), ("life/au_th", "au_th")],
        );
        assert_eq!(door_names(&palace, "team/auth"), ["code/auth in code", "auth in life"]);
        assert_eq!(door_names(&palace, "code/auth"), ["auth in life", "auth in team"]);
        assert_eq!(door_names(&palace, "code/hall"), [""; 0], "no drawers, no tunnel");
        assert_eq!(door_names(&palace, "life/au_th"), [""; 0], "a hyphen is not an underscore");
    }

    #[test]
    fn a_room_without_a_wing_opens_the_drawers_of_its_name_in_all_wings() {
        let palace = palace_with_drawers(
            &["auth", "code/auth"],
            &[("team/auth", "auth"), ("life/auth", "auth"), ("code/auth", "auth")],
        );
        let at = |id: &str| palace.drawer_count_in(&id.parse().unwrap());
        assert_eq!((at("auth"), at("code/auth"), at("team/auth"), at("hall")), (2, 1, 1, 0));
    }
}
