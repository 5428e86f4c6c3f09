//! How drawers belong to the rooms of the palace.

use std::collections::BTreeSet;

use crate::model::{Door, Palace, RoomId};

impl Palace {
    /// Yields every room one can walk into: built, or holding drawers.
    pub fn places(&self) -> BTreeSet<&RoomId> {
        self.rooms().map(|(id, _)| id).chain(self.drawers.rooms()).collect()
    }

    /// Tells whether one can walk into `id`.
    pub fn is_place(&self, id: &RoomId) -> bool {
        self.room(id).is_some() || self.drawers.count_in(id) > 0
    }

    /// Yields the rooms whose drawers are opened in `id`: its own; in a room
    /// without a wing, those of its slug in every wing where nobody has built
    /// that room.
    pub fn cabinets(&self, id: &RoomId) -> impl Iterator<Item = &RoomId> {
        self.drawers.rooms().filter(move |it| match &id.wing {
            Some(_) => *it == id,
            None => it.slug == id.slug && self.room(it).is_none(),
        })
    }

    /// Returns how many drawers are opened in `id`.
    pub fn drawers_at(&self, id: &RoomId) -> usize {
        self.cabinets(id).map(|it| self.drawers.count_in(it)).sum()
    }

    /// Yields the doors that nobody has made: to the rooms of the same name in
    /// other wings, where this room or that one holds drawers.
    pub(crate) fn tunnels<'a>(&'a self, id: &'a RoomId) -> impl Iterator<Item = Door> + 'a {
        let holds = self.drawers.count_in(id) > 0;
        let places = if holds { self.places() } else { self.drawers.rooms().collect() };
        let name = self.filed_as(id);
        let same = places.into_iter().filter(move |it| *it != id && self.filed_as(it) == name);
        same.map(|it| Door { name: self.full_name_of(it), to: it.clone() })
    }

    /// Returns what a room is called, and the wing it stands in.
    pub fn full_name_of(&self, id: &RoomId) -> String {
        let name = self.name_of(id);
        let Some(wing) = &id.wing else { return name };
        format!("{name} in {}", self.drawers.wing_name(wing).unwrap_or(wing.as_str()))
    }

    /// Returns the name under which drawers are, or would be, filed in a room.
    fn filed_as<'a>(&'a self, id: &'a RoomId) -> &'a str {
        self.drawers.room_name(id).unwrap_or(id.slug.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Drawer, Room, Said, Settings};

    fn palace(rooms: &[&str], drawers: &[(&str, &str)]) -> Palace {
        let mut palace = Palace::new(Settings::named("Test"));
        for slug in rooms {
            let (name, description) = ((*slug).to_owned(), String::new());
            let (id, actions, portals, generate) = (None, vec![], vec![], None);
            let room = Room { id, name, description, actions, portals, generate };
            palace.put_room(&slug.parse().unwrap(), Some(room));
        }
        for (folder, room) in drawers {
            let said = Said { wing: None, room: Some((*room).to_owned()) };
            let (source, by, filed, text) = (None, None, None, String::new());
            let drawer = Drawer { id: ulid::Ulid(1), said, source, by, filed, text };
            palace.drawers.put(&format!("drawers/{folder}/1.md"), &folder.parse().unwrap(), drawer);
        }
        palace
    }

    fn doors(palace: &Palace, id: &str) -> Vec<String> {
        palace.doors(&id.parse().unwrap()).into_iter().map(|it| it.name).collect()
    }

    #[test]
    fn rooms_of_one_name_are_joined_where_drawers_lie() {
        let palace = palace(
            &["code/auth", "life/hall", "code/hall"],
            &[("team/auth", "auth"), ("life/auth-2", "auth"), ("life/au_th", "au_th")],
        );
        assert_eq!(doors(&palace, "team/auth"), ["code/auth in code", "auth in life"]);
        assert_eq!(doors(&palace, "code/auth"), ["auth in life", "auth in team"]);
        assert_eq!(doors(&palace, "code/hall"), [""; 0], "no drawers, no tunnel");
        assert_eq!(doors(&palace, "life/au_th"), [""; 0], "a hyphen is not an underscore");
    }

    #[test]
    fn a_room_without_a_wing_opens_the_drawers_of_its_name_in_all_wings() {
        let palace = palace(
            &["auth", "code/auth"],
            &[("team/auth", "auth"), ("life/auth", "auth"), ("code/auth", "auth")],
        );
        let at = |id: &str| palace.drawers_at(&id.parse().unwrap());
        assert_eq!((at("auth"), at("code/auth"), at("team/auth"), at("hall")), (2, 1, 1, 0));
    }
}
