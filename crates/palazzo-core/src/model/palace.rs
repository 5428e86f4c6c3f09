//! The palace: rooms, the doors between them, the scrolls in them, and the knowledge graph.

mod items;
mod scrolls;

use std::collections::{BTreeMap, BTreeSet};

use ulid::Ulid;

use crate::model::room::room_id::RoomRenames;
use crate::model::{
    AmbiguousRoomError, Conflict, Diaries, Drawers, Graph, Process, Room, RoomId, RoomRef, Scroll,
    ScrollId, Settings, Slug, Task, WorkSubject,
};

/// One palace, with everything that could be parsed from its files.
#[derive(Clone, Debug, PartialEq)]
pub struct Palace {
    /// The settings from `palace.toml`.
    pub settings: Settings,
    /// The knowledge graph.
    pub graph: Graph,
    /// The drawers.
    pub drawers: Drawers,
    /// The diaries of all agents.
    pub diaries: Diaries,
    /// The tasks, by file.
    pub tasks: BTreeMap<String, Task>,
    /// The processes, by file.
    pub processes: BTreeMap<String, Process>,
    /// The conflicts, by file; also those that are settled.
    pub conflicts: BTreeMap<String, Conflict>,
    rooms: BTreeMap<RoomId, Room>,
    scrolls: BTreeMap<RoomId, BTreeMap<Ulid, Scroll>>,
    rooms_by_slug: BTreeMap<Slug, BTreeSet<RoomId>>,
    rooms_linking_to_slug: BTreeMap<Slug, BTreeSet<RoomId>>,
    scroll_files: BTreeMap<String, ScrollId>,
    files_by_scroll: BTreeMap<ScrollId, String>,
    /// The scrolls that replace others, by the ids of those.
    replacing_scrolls: BTreeMap<Ulid, BTreeSet<ScrollId>>,
    room_renames: RoomRenames,
    /// The rooms that do not exist but have scrolls.
    missing_rooms_with_scrolls: BTreeSet<RoomId>,
}

/// A way out of a room that is not one of its actions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Door {
    /// The target room, built or not.
    pub to: RoomId,
    /// The name of the target room, or the one it would have.
    pub name: String,
}

impl Palace {
    /// Returns a palace without rooms.
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            graph: Graph::default(),
            drawers: Drawers::default(),
            diaries: Diaries::default(),
            tasks: BTreeMap::new(),
            processes: BTreeMap::new(),
            conflicts: BTreeMap::new(),
            rooms: BTreeMap::new(),
            scrolls: BTreeMap::new(),
            rooms_by_slug: BTreeMap::new(),
            rooms_linking_to_slug: BTreeMap::new(),
            scroll_files: BTreeMap::new(),
            files_by_scroll: BTreeMap::new(),
            replacing_scrolls: BTreeMap::new(),
            room_renames: RoomRenames::default(),
            missing_rooms_with_scrolls: BTreeSet::new(),
        }
    }

    /// Yields the rooms by wing and slug, those without a wing first.
    pub fn rooms(&self) -> impl ExactSizeIterator<Item = (&RoomId, &Room)> {
        self.rooms.iter()
    }

    /// Returns the room with this full name.
    pub fn room(&self, id: &RoomId) -> Option<&Room> {
        self.rooms.get(id)
    }

    /// Returns the room in which every visit starts: the one in the settings if it exists, else the
    /// first.
    pub fn entry_room(&self) -> Option<&RoomId> {
        let entry = self.settings.entry.as_ref();
        let named = entry.and_then(|it| self.resolve_present_room(it, None).ok());
        let named = named.and_then(|it| self.rooms.get_key_value(&it));
        named.or_else(|| self.rooms.first_key_value()).map(|(id, _)| id)
    }

    /// Resolves a reference to a room from the room `from`: to the room of that slug in the same
    /// wing, else to the room without a wing, else to the only one in any wing. If no room has that
    /// slug, the reference is taken literally.
    pub fn resolve_room(
        &self,
        reference: &RoomRef,
        from: Option<&RoomId>,
    ) -> Result<RoomId, AmbiguousRoomError> {
        let literal = reference.as_literal_id();
        let wing = from.and_then(|it| it.wing.clone());
        let Some(candidates) = self.rooms_by_slug.get(&literal.slug) else {
            return Ok(literal.clone());
        };
        if literal.wing.is_some() {
            return Ok(literal.clone());
        }
        let neighbour = RoomId { wing, slug: literal.slug.clone() };
        if candidates.contains(&neighbour) {
            return Ok(neighbour);
        }
        match candidates.first() {
            Some(only) if candidates.len() == 1 => Ok(only.clone()),
            _ if candidates.contains(literal) => Ok(literal.clone()),
            _ => Err(AmbiguousRoomError {
                called: reference.clone(),
                candidates: candidates.iter().cloned().collect(),
            }),
        }
    }

    /// Resolves a reference as [`Self::resolve_room`] does. If it is the old name of a room that was
    /// renamed by hand, returns the present name, as far as [`Self::set_room_renames`] was given it.
    pub fn resolve_present_room(
        &self,
        reference: &RoomRef,
        from: Option<&RoomId>,
    ) -> Result<RoomId, AmbiguousRoomError> {
        Ok(self.room_renames.present_name(self.resolve_room(reference, from)?))
    }

    /// Returns whether the renamed rooms were searched since a room or the settings last changed.
    pub fn knows_room_renames(&self) -> bool {
        self.room_renames.is_known()
    }

    /// Sets the present names of the missing rooms that were renamed by hand, until a room or
    /// the settings change.
    pub fn set_room_renames(&self, renames: BTreeMap<RoomId, RoomId>) {
        self.room_renames.set(renames);
    }

    /// Returns the display name of a room: its name, else the name in its drawers, else a title
    /// made from its slug.
    pub fn room_name(&self, id: &RoomId) -> String {
        let named = self.room(id).map(|it| it.name.as_str());
        let named = named.or_else(|| self.drawers.room_name(id));
        named.map_or_else(|| title_from_slug(&id.slug), str::to_owned)
    }

    /// Returns the doors of `id`, built or not, that are not among its actions: its portals, then
    /// those that other rooms have to it. A door has two sides, whichever room declares it (v1
    /// section 4.1).
    pub fn doors_without_action(&self, id: &RoomId) -> Vec<Door> {
        let room = self.room(id);
        let actions = room.map(|it| it.actions.as_slice()).unwrap_or_default();
        let mut seen: BTreeSet<RoomId> = actions
            .iter()
            .filter_map(|action| self.resolve_present_room(action.target_room()?, Some(id)).ok())
            .collect();
        seen.insert(id.clone());
        let portals = room.map(|it| it.portals.as_slice()).unwrap_or_default();
        let declared = portals.iter().filter_map(|it| self.resolve_present_room(it, Some(id)).ok());
        let doors = declared.chain(self.rooms_linking_to(id).cloned());
        let doors = doors.map(|to| Door { name: self.room_name(&to), to });
        let doors: Vec<_> = doors.chain(self.tunnel_doors_from(id)).collect();
        doors.into_iter().filter(|it| seen.insert(it.to.clone())).collect()
    }

    /// Yields the rooms whose files link to `id`.
    pub fn rooms_linking_to(&self, id: &RoomId) -> impl Iterator<Item = &RoomId> {
        let slugs = self.slugs_of_room(id);
        let sources = slugs.iter().filter_map(|it| self.rooms_linking_to_slug.get(it));
        let sources: BTreeSet<_> = sources.flatten().collect();
        sources.into_iter().filter(move |source| {
            let ways = self.room(source).into_iter().flat_map(Room::linked_rooms);
            let mut ways = ways.filter(|it| slugs.contains(&it.as_literal_id().slug));
            ways.any(|way| self.resolve_present_room(way, Some(source)).as_ref() == Ok(id))
        })
    }

    /// Returns the slugs by which references may call a room: its own, and its old ones if it was
    /// renamed by hand.
    pub fn slugs_of_room(&self, id: &RoomId) -> BTreeSet<Slug> {
        self.room_renames.old_names(id).chain([id]).map(|it| it.slug.clone()).collect()
    }

    /// Returns whether the files of rooms have a door to this slug, whichever room it means.
    pub fn has_door_to_slug(&self, slug: &Slug) -> bool {
        self.rooms_linking_to_slug.contains_key(slug)
    }

    /// Returns every room, built or not, to which a door leads from `id`.
    pub fn neighbouring_rooms(&self, id: &RoomId) -> BTreeSet<RoomId> {
        let ways = self.room(id).into_iter().flat_map(Room::linked_rooms);
        let out = ways.filter_map(|way| self.resolve_present_room(way, Some(id)).ok());
        let tunnels = self.tunnel_doors_from(id).map(|it| it.to);
        out.chain(self.rooms_linking_to(id).cloned()).chain(tunnels).filter(|it| it != id).collect()
    }

    /// Returns the rooms to which doors lead but which cannot be entered yet.
    pub fn unfinished_rooms(&self) -> BTreeSet<RoomId> {
        let ways =
            self.rooms.iter().flat_map(|(id, room)| room.linked_rooms().map(move |it| (id, it)));
        let meant = ways.filter_map(|(id, way)| self.resolve_present_room(way, Some(id)).ok());
        meant.filter(|it| !self.is_enterable_room(it)).collect()
    }

    /// Yields the files of all tasks and processes, with their subjects.
    pub fn work_subjects(&self) -> impl Iterator<Item = (&str, &WorkSubject)> {
        let tasks = self.tasks.iter().map(|(file, it)| (file.as_str(), &it.subject));
        tasks.chain(self.processes.iter().map(|(file, it)| (file.as_str(), &it.subject)))
    }

    /// Replaces the settings.
    pub fn set_settings(&mut self, settings: Settings) {
        self.room_renames = RoomRenames::default();
        self.settings = settings;
    }

    /// Sets the room with this id, or removes it if `None`.
    pub fn set_room(&mut self, id: &RoomId, room: Option<Room>) {
        self.room_renames = RoomRenames::default();
        if let Some(old) = self.rooms.remove(id) {
            for way in old.linked_rooms() {
                remove_room_from_slug_index(
                    &mut self.rooms_linking_to_slug,
                    &way.as_literal_id().slug,
                    id,
                );
            }
            remove_room_from_slug_index(&mut self.rooms_by_slug, &id.slug, id);
        }
        self.missing_rooms_with_scrolls.remove(id);
        let Some(room) = room else {
            if self.scrolls.contains_key(id) {
                self.missing_rooms_with_scrolls.insert(id.clone());
            }
            return;
        };
        for way in room.linked_rooms() {
            self.rooms_linking_to_slug
                .entry(way.as_literal_id().slug.clone())
                .or_default()
                .insert(id.clone());
        }
        self.rooms_by_slug.entry(id.slug.clone()).or_default().insert(id.clone());
        self.rooms.insert(id.clone(), room);
    }
}

fn remove_room_from_slug_index(
    index: &mut BTreeMap<Slug, BTreeSet<RoomId>>,
    slug: &Slug,
    id: &RoomId,
) {
    if let Some(left) = index.get_mut(slug) {
        left.remove(id);
        if left.is_empty() {
            index.remove(slug);
        }
    }
}

/// Turns `hall-of-geology` into `Hall of Geology`.
fn title_from_slug(slug: &Slug) -> String {
    let words = slug.as_str().split(['-', '_']).filter(|it| !it.is_empty()).enumerate();
    let small = ["of", "the", "and", "in", "to", "for", "a", "an", "on", "at"];
    let titled = words.map(|(index, word)| match word.chars().next() {
        Some(first) if index == 0 || !small.contains(&word) => {
            first.to_uppercase().chain(word.chars().skip(1)).collect()
        }
        _ => word.to_owned(),
    });
    titled.collect::<Vec<String>>().join(" ")
}

impl Palace {
    /// Returns every room that can be entered: built, or with drawers.
    pub fn enterable_rooms(&self) -> BTreeSet<&RoomId> {
        self.rooms().map(|(id, _)| id).chain(self.drawers.rooms()).collect()
    }

    /// Returns whether `id` can be entered.
    pub fn is_enterable_room(&self, id: &RoomId) -> bool {
        self.room(id).is_some() || self.drawers.count_in_room(id) > 0
    }

    /// Yields the rooms whose drawers are shown in `id`: its own; for a room without a wing, those
    /// of its slug in every wing that has no built room of that slug.
    pub fn rooms_with_drawers_shown_in(&self, id: &RoomId) -> impl Iterator<Item = &RoomId> {
        self.drawers.rooms().filter(move |it| match &id.wing {
            Some(_) => *it == id,
            None => it.slug == id.slug && self.room(it).is_none(),
        })
    }

    /// Returns the number of drawers that are shown in `id`.
    pub fn count_drawers_shown_in(&self, id: &RoomId) -> usize {
        self.rooms_with_drawers_shown_in(id).map(|it| self.drawers.count_in_room(it)).sum()
    }

    /// Yields the automatic doors to the rooms of the same name in other wings, where this room or
    /// the other one contains drawers.
    pub(crate) fn tunnel_doors_from<'a>(
        &'a self,
        id: &'a RoomId,
    ) -> impl Iterator<Item = Door> + 'a {
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
    use crate::model::{Action, ActionKind, NavigationTarget};

    fn room_with_exits(name: &str, ways: &[&str], portals: &[&str]) -> Room {
        let action = |way: &&str| Action {
            label: format!("Enter {way}"),
            kind: ActionKind::Navigate(NavigationTarget {
                room: way.parse().unwrap(),
                workspace: None,
            }),
        };
        Room {
            id: None,
            name: name.to_owned(),
            description: String::new(),
            actions: ways.iter().map(action).collect(),
            portals: portals.iter().map(|it| it.parse().unwrap()).collect(),
            generate: None,
        }
    }

    fn palace_with_rooms(rooms: &[(&str, Room)]) -> Palace {
        let mut palace = Palace::new(Settings::with_name("Test"));
        for (id, room) in rooms {
            palace.set_room(&id.parse().unwrap(), Some(room.clone()));
        }
        palace
    }

    fn door_names(palace: &Palace, id: &str) -> Vec<String> {
        palace.doors_without_action(&id.parse().unwrap()).into_iter().map(|it| it.name).collect()
    }

    #[test]
    fn a_door_can_be_walked_from_both_sides() {
        let palace =
            palace_with_rooms(&[("hall", room_with_exits("Hall", &["crypt"], &["attic"]))]);
        assert_eq!(door_names(&palace, "hall"), ["Attic"]);
        assert_eq!(door_names(&palace, "crypt"), ["Hall"]);
        assert_eq!(door_names(&palace, "attic"), ["Hall"]);
    }

    #[test]
    fn removing_a_room_removes_its_doors() {
        let mut palace = palace_with_rooms(&[
            ("hall", room_with_exits("Hall", &["crypt"], &[])),
            ("crypt", room_with_exits("Crypt", &[], &[])),
        ]);
        palace.set_room(&"hall".parse().unwrap(), None);
        assert_eq!(door_names(&palace, "crypt"), [""; 0]);
    }

    #[test]
    fn a_bare_slug_resolves_to_the_nearest_room_of_that_name() {
        let palace = palace_with_rooms(&[
            ("code/hall", room_with_exits("Code Hall", &["annex"], &[])),
            ("code/annex", room_with_exits("Code Annex", &[], &[])),
            ("life/annex", room_with_exits("Life Annex", &[], &[])),
        ]);
        let said = |text: &str, from: Option<&str>| {
            let from = from.map(|it| it.parse().unwrap());
            palace.resolve_room(&text.parse().unwrap(), from.as_ref()).map(|it| it.to_string())
        };
        assert_eq!(said("hall", None).as_deref(), Ok("code/hall"));
        assert_eq!(said("annex", Some("code/hall")).as_deref(), Ok("code/annex"));
        assert_eq!(said("nowhere", None).as_deref(), Ok("nowhere"));
        assert_eq!(
            said("annex", None).unwrap_err().to_string(),
            "several rooms are called `annex`; use one of `code/annex`, `life/annex`"
        );
        assert_eq!(door_names(&palace, "code/annex"), ["Code Hall"]);
        assert_eq!(door_names(&palace, "life/annex"), [""; 0]);
    }

    #[test]
    fn an_unbuilt_room_is_named_after_its_slug() {
        let palace = palace_with_rooms(&[]);
        assert_eq!(palace.room_name(&"hall-of-geology".parse().unwrap()), "Hall of Geology");
        assert_eq!(palace.room_name(&"the_attic".parse().unwrap()), "The Attic");
    }
}

#[cfg(test)]
mod drawer_tests {
    use super::*;
    use crate::model::{Drawer, FrontMatterWingRoom, Room, Settings};

    fn palace_with_drawers(rooms: &[&str], drawers: &[(&str, &str)]) -> Palace {
        let mut palace = Palace::new(Settings::with_name("Test"));
        for slug in rooms {
            let (name, description) = ((*slug).to_owned(), String::new());
            let (id, actions, portals, generate) = (None, vec![], vec![], None);
            let room = Room { id, name, description, actions, portals, generate };
            palace.set_room(&slug.parse().unwrap(), Some(room));
        }
        for (folder, room) in drawers {
            let said = FrontMatterWingRoom { wing: None, room: Some((*room).to_owned()) };
            let (source, by, filed, text) = (None, None, None, String::new());
            let (id, title, labels) = (ulid::Ulid(1), None, Vec::new());
            let drawer = Drawer { id, filed_under: said, title, labels, source, by, filed, text };
            palace.drawers.insert(
                &format!("drawers/{folder}/1.md"),
                &folder.parse().unwrap(),
                drawer,
            );
        }
        palace
    }

    fn door_names(palace: &Palace, id: &str) -> Vec<String> {
        palace.doors_without_action(&id.parse().unwrap()).into_iter().map(|it| it.name).collect()
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
        let at = |id: &str| palace.count_drawers_shown_in(&id.parse().unwrap());
        assert_eq!((at("auth"), at("code/auth"), at("team/auth"), at("hall")), (2, 1, 1, 0));
    }
}
