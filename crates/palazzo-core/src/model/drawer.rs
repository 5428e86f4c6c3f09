//! Drawers: verbatim texts, filed by wing and room.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use ulid::Ulid;

use crate::model::graph::folder_of_file;
use crate::model::{RoomId, Slug};

/// A verbatim text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drawer {
    /// The id; ids are in the order of filing.
    pub id: Ulid,
    /// The names of the wing and the room, as its file gives them.
    pub filed_under: FrontMatterWingRoom,
    /// Its title, if its file gives one beside the text.
    pub title: Option<String>,
    /// The tags and aliases in its front matter.
    pub labels: Vec<String>,
    /// The source of the text: `meeting-2026-03-12.md`.
    pub source: Option<String>,
    /// The client that filed it, if known.
    pub by: Option<String>,
    /// The time of filing, to the second, if known.
    pub filed: Option<DateTime<Utc>>,
    /// The text, byte for byte.
    pub text: String,
}

/// The names of wing and room in a drawer's own file; `None` if only the folders name them.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FrontMatterWingRoom {
    /// The wing.
    pub wing: Option<String>,
    /// The room.
    pub room: Option<String>,
}

/// The wing and the room of a drawer, by their display names. Names are exact (a hyphen is not an
/// underscore) and may be any single line.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DisplayWingRoom {
    /// The wing: a person, a project.
    pub wing: String,
    /// The room in the wing: a topic.
    pub room: String,
}

/// All drawers of a palace, indexed by file, by id and by room, in the order of filing.
///
/// A room's folder is named with a slug; the display name comes from the drawers in it. Where they
/// disagree, as after a merge of two branches, each drawer is filed under its own name.
#[derive(Clone, Debug, Default)]
pub struct Drawers {
    by_file: HashMap<Arc<str>, (RoomId, Drawer)>,
    wings: BTreeMap<Slug, BTreeMap<RoomId, RoomDrawerIndex>>,
    files_by_id: HashMap<Ulid, BTreeSet<Arc<str>>>,
    counts_by_folder: HashMap<String, usize>,
}

/// The drawers of one room's folder, sorted, and how many give each name.
#[derive(Clone, Debug, Default)]
struct RoomDrawerIndex {
    sorted_drawers: BTreeSet<DrawerSortKey>,
    name_counts: BTreeMap<FrontMatterWingRoom, usize>,
    /// The counts of the drawers whose files begin with their ids, as Palazzo names them.
    filed_name_counts: BTreeMap<FrontMatterWingRoom, usize>,
}

/// The sort key of a drawer within its room.
type DrawerSortKey = (Option<DateTime<Utc>>, Ulid, Arc<str>);

/// Parses the id of a drawer: alone, or at the end of the name that clients receive,
/// `drawer_code_auth_01KJ…`.
pub fn parse_drawer_id(name: &str) -> Option<Ulid> {
    let start = name.char_indices().rev().nth(25).map_or(0, |(at, _)| at);
    let (before, id) = name.split_at(start);
    let is_name = before.is_empty() || before.starts_with("drawer_");
    id.parse().ok().filter(|_| is_name)
}

/// Returns true if a file has one of the endings of Markdown, as drawers may have.
pub fn is_markdown_file(path: &str) -> bool {
    let ending = path.rsplit_once('.').map(|(_, it)| it);
    let is = |it: &str| ending.is_some_and(|ending| ending.eq_ignore_ascii_case(it));
    is("md") || is("markdown")
}

impl Drawers {
    /// Returns the number of drawers.
    pub fn len(&self) -> usize {
        self.by_file.len()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.by_file.is_empty()
    }

    /// Returns the path of `file` as it is stored here, if it has a drawer.
    pub fn known_file(&self, file: &str) -> Option<&str> {
        self.by_file.get_key_value(file).map(|(file, _)| &**file)
    }

    /// Returns the drawer in `file`.
    pub fn drawer_in_file(&self, file: &str) -> Option<&Drawer> {
        self.by_file.get(file).map(|(_, drawer)| drawer)
    }

    /// Yields every drawer with its file and the room of its folder, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &RoomId, &Drawer)> {
        self.by_file.iter().map(|(file, (room, drawer))| (file.as_ref(), room, drawer))
    }

    /// Yields the files with a drawer of this id: one, unless the user has copied a file.
    pub fn files_with_id(&self, id: Ulid) -> impl Iterator<Item = &str> {
        self.files_by_id.get(&id).into_iter().flatten().map(AsRef::as_ref)
    }

    /// Returns when Palazzo filed the drawer in `file`: the time of the id that the file is named by.
    /// `filed` may be the date of a document.
    pub fn filing_time_from_id(&self, file: &str) -> Option<DateTime<Utc>> {
        let id = self.drawer_in_file(file)?.id;
        is_named_by_id(file, id).then(|| id.datetime().into())
    }

    /// Returns the room whose folder contains `file`.
    pub fn room_of_file(&self, file: &str) -> Option<&RoomId> {
        self.by_file.get(file).map(|(room, _)| room)
    }

    /// Returns the wing and the room of the drawer in `file`.
    pub fn wing_room_of_file(&self, file: &str) -> Option<DisplayWingRoom> {
        self.by_file
            .get(file)
            .map(|(room, drawer)| self.resolve_wing_room(room, &drawer.filed_under))
    }

    /// Yields the rooms that contain drawers, by wing and slug.
    pub fn rooms(&self) -> impl Iterator<Item = &RoomId> {
        self.wings.values().flat_map(BTreeMap::keys)
    }

    /// Returns the number of drawers in a room.
    pub fn count_in_room(&self, room: &RoomId) -> usize {
        self.room_drawer_index(room).map_or(0, |it| it.sorted_drawers.len())
    }

    /// Yields the drawers of a room with their files, newest first; those without a known time
    /// last.
    pub fn drawers_in_room(&self, room: &RoomId) -> impl Iterator<Item = (&str, &Drawer)> {
        let sort_keys =
            self.room_drawer_index(room).into_iter().flat_map(|it| it.sorted_drawers.iter().rev());
        sort_keys.filter_map(|(_, _, file)| Some((file.as_ref(), self.drawer_in_file(file)?)))
    }

    /// Returns the display name of a wing: the most frequent name in the drawers that Palazzo has
    /// filed, or in all drawers if each has a name, else the folder name; `None` if it contains no
    /// drawers. So the keys of a note do not rename its neighbours.
    pub fn wing_name<'a>(&'a self, wing: &'a Slug) -> Option<&'a str> {
        let rooms = self.wings.get(wing)?.values();
        let name = most_frequent_name(rooms, |it| it.wing.as_deref());
        Some(name.unwrap_or(wing.as_str()))
    }

    /// Returns the display name of a room, as [`wing_name`](Self::wing_name) does; `None` if it
    /// contains no drawers.
    pub fn room_name<'a>(&'a self, room: &'a RoomId) -> Option<&'a str> {
        let folder = std::iter::once(self.room_drawer_index(room)?);
        let name = most_frequent_name(folder, |it| it.room.as_deref());
        Some(name.unwrap_or(room.slug.as_str()))
    }

    /// Yields every wing and room that contains drawers, with the room of the folder and the number
    /// of drawers there.
    pub fn wing_room_counts(&self) -> impl Iterator<Item = (DisplayWingRoom, &RoomId, usize)> {
        let folders = self.wings.values().flatten();
        folders.flat_map(move |(room, folder)| {
            let counts = folder.name_counts.iter();
            counts.map(move |(said, count)| (self.resolve_wing_room(room, said), room, *count))
        })
    }

    /// Returns the rooms and names of the drawers whose wing and room match `wanted`.
    pub fn find_matching_wing_rooms(
        &self,
        is_match: impl Fn(&DisplayWingRoom) -> bool,
    ) -> HashSet<(&RoomId, &FrontMatterWingRoom)> {
        let folders = self.wings.values().flatten();
        let places =
            folders.flat_map(|(room, it)| it.name_counts.keys().map(move |said| (room, said)));
        places.filter(|(room, said)| is_match(&self.resolve_wing_room(room, said))).collect()
    }

    /// Returns the number of drawers directly in `folder`.
    pub fn count_in_folder(&self, folder: &str) -> usize {
        self.counts_by_folder.get(folder).copied().unwrap_or_default()
    }

    /// Inserts the drawer in `file` of the folder of `room`, replacing the previous one. A room
    /// without a wing contains no drawers.
    pub fn insert(&mut self, file: &str, room: &RoomId, drawer: Drawer) {
        self.remove(file);
        let Some(wing) = &room.wing else { return };
        let file: Arc<str> = file.into();
        let folder = self.wings.entry(wing.clone()).or_default().entry(room.clone()).or_default();
        folder.sorted_drawers.insert((drawer.filed, drawer.id, file.clone()));
        *folder.name_counts.entry(drawer.filed_under.clone()).or_default() += 1;
        if is_named_by_id(&file, drawer.id) {
            *folder.filed_name_counts.entry(drawer.filed_under.clone()).or_default() += 1;
        }
        *self.counts_by_folder.entry(folder_of_file(&file)).or_default() += 1;
        self.files_by_id.entry(drawer.id).or_default().insert(file.clone());
        self.by_file.insert(file, (room.clone(), drawer));
    }

    /// Removes the drawer in `file`.
    pub fn remove(&mut self, file: &str) {
        let Some((file, (room, drawer))) = self.by_file.remove_entry(file) else { return };
        if let Some(count) = self.counts_by_folder.get_mut(&folder_of_file(&file)) {
            *count -= 1;
        }
        let same_id = self.files_by_id.get_mut(&drawer.id);
        if same_id.is_some_and(|it| it.remove(&file) && it.is_empty()) {
            self.files_by_id.remove(&drawer.id);
        }
        let Some(rooms) = room.wing.as_ref().and_then(|it| self.wings.get_mut(it)) else { return };
        if let Some(folder) = rooms.get_mut(&room) {
            folder.remove_drawer(&(drawer.filed, drawer.id, file), &drawer.filed_under);
        }
        rooms.retain(|_, folder| !folder.sorted_drawers.is_empty());
        self.wings.retain(|_, rooms| !rooms.is_empty());
    }

    fn room_drawer_index(&self, room: &RoomId) -> Option<&RoomDrawerIndex> {
        self.wings.get(room.wing.as_ref()?)?.get(room)
    }

    /// Returns the given names of wing and room; a missing name is taken from the folder.
    fn resolve_wing_room(
        &self,
        folder: &RoomId,
        FrontMatterWingRoom { wing, room }: &FrontMatterWingRoom,
    ) -> DisplayWingRoom {
        let wing = wing.as_deref().or_else(|| self.wing_name(folder.wing.as_ref()?));
        let room = room.as_deref().or_else(|| self.room_name(folder));
        let [wing, room] = [wing, room].map(|it| it.unwrap_or_default().to_owned());
        DisplayWingRoom { wing, room }
    }
}

impl RoomDrawerIndex {
    fn remove_drawer(&mut self, sort_key: &DrawerSortKey, filed_under: &FrontMatterWingRoom) {
        self.sorted_drawers.remove(sort_key);
        subtract_one(&mut self.name_counts, filed_under);
        let (_, id, file) = sort_key;
        if is_named_by_id(file, *id) {
            subtract_one(&mut self.filed_name_counts, filed_under);
        }
    }
}

/// Compares drawers by file.
impl PartialEq for Drawers {
    fn eq(&self, other: &Self) -> bool {
        self.by_file == other.by_file
    }
}

/// Returns the most frequent name of some folders; of equally frequent ones the alphabetically
/// first. Counts only drawers that Palazzo has filed, if one of the others has no name.
fn most_frequent_name<'a>(
    folders: impl Iterator<Item = &'a RoomDrawerIndex> + Clone,
    name: impl Fn(&'a FrontMatterWingRoom) -> Option<&'a str>,
) -> Option<&'a str> {
    let all = folders.clone().flat_map(|it| &it.name_counts);
    let is_each_named = all.clone().all(|(it, _)| name(it).is_some());
    let filed = folders.flat_map(|it| &it.filed_name_counts);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (it, count) in all.filter(|_| is_each_named).chain(filed.filter(|_| !is_each_named)) {
        if let Some(name) = name(it) {
            *counts.entry(name).or_default() += count;
        }
    }
    counts.into_iter().rev().max_by_key(|(_, count)| *count).map(|(name, _)| name)
}

/// Returns true if the name of a file begins with the id of its drawer.
fn is_named_by_id(file: &str, id: Ulid) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file);
    name.get(..ulid::ULID_LEN).and_then(|it| it.parse::<Ulid>().ok()) == Some(id)
}

fn subtract_one(counts: &mut BTreeMap<FrontMatterWingRoom, usize>, name: &FrontMatterWingRoom) {
    if let Some(count) = counts.get_mut(name) {
        *count -= 1;
        if *count == 0 {
            counts.remove(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawer(id: u128, said: (Option<&str>, Option<&str>)) -> Drawer {
        let filed = "2026-03-01T12:00:00Z".parse().ok();
        let said = FrontMatterWingRoom {
            wing: said.0.map(str::to_owned),
            room: said.1.map(str::to_owned),
        };
        let (source, by, text) = (None, None, String::new());
        let (title, labels) = (None, Vec::new());
        Drawer { id: Ulid(id), filed_under: said, title, labels, source, by, filed, text }
    }

    fn room(text: &str) -> RoomId {
        text.parse().unwrap()
    }

    /// Returns the path of a drawer that Palazzo has filed.
    fn filed_file(folder: &str, id: u128) -> String {
        format!("drawers/{folder}/{}-x.md", Ulid(id))
    }

    fn list_wing_rooms(drawers: &Drawers) -> Vec<String> {
        let shelves = drawers.wing_room_counts();
        shelves.map(|(it, folder, n)| format!("{}/{} in {folder}: {n}", it.wing, it.room)).collect()
    }

    #[test]
    fn a_folder_takes_the_name_most_of_its_drawers_give() {
        let mut drawers = Drawers::default();
        let kitchen = (Some("Haus"), Some("Große Küche"));
        let first = filed_file("haus/kueche", 1);
        drawers.insert(&first, &room("haus/kueche"), drawer(1, kitchen));
        drawers.insert("drawers/haus/kueche/2.md", &room("haus/kueche"), drawer(2, (None, None)));
        drawers.insert("drawers/haus/keller/3.md", &room("haus/keller"), drawer(3, (None, None)));
        assert_eq!(
            list_wing_rooms(&drawers),
            [
                "Haus/keller in haus/keller: 1",
                "Haus/Große Küche in haus/kueche: 1",
                "Haus/Große Küche in haus/kueche: 1"
            ]
        );
        drawers.remove(&first);
        assert_eq!(
            list_wing_rooms(&drawers),
            ["haus/keller in haus/keller: 1", "haus/kueche in haus/kueche: 1"]
        );
    }

    #[test]
    fn the_names_in_a_note_are_those_of_its_neighbours_only_if_each_has_one() {
        let mut drawers = Drawers::default();
        let named = (Some("Other"), Some("Elsewhere"));
        drawers.insert("drawers/vault/ideas/a.md", &room("vault/ideas"), drawer(1, named));
        assert_eq!(list_wing_rooms(&drawers), ["Other/Elsewhere in vault/ideas: 1"]);
        assert_eq!(drawers.wing_name(&"vault".parse().unwrap()), Some("Other"));
        drawers.insert("drawers/vault/log/b.md", &room("vault/log"), drawer(2, (None, None)));
        drawers.insert("drawers/vault/ideas/c.md", &room("vault/ideas"), drawer(3, (None, None)));
        assert_eq!(
            list_wing_rooms(&drawers),
            [
                "vault/ideas in vault/ideas: 1",
                "Other/Elsewhere in vault/ideas: 1",
                "vault/log in vault/log: 1"
            ]
        );
    }

    #[test]
    fn drawers_are_sorted_newest_first_and_undated_last() {
        let mut drawers = Drawers::default();
        for (id, filed) in [
            (1, None),
            (2, Some("2026-03-01T12:00:00Z")),
            (3, None),
            (4, Some("2026-02-01T12:00:00Z")),
        ] {
            let filed = filed.and_then(|it| it.parse().ok());
            let file = format!("drawers/a/b/{id}.md");
            drawers.insert(&file, &room("a/b"), Drawer { filed, ..drawer(id, (None, None)) });
        }
        let ids: Vec<_> = drawers.drawers_in_room(&room("a/b")).map(|(_, it)| it.id.0).collect();
        assert_eq!(ids, [2, 4, 3, 1]);
    }

    #[test]
    fn drawers_are_found_by_front_matter_and_by_folder_name() {
        let mut drawers = Drawers::default();
        for (id, said) in [(1, (Some("A B"), None)), (2, (None, None)), (3, (Some("C"), None))] {
            drawers.insert(&filed_file("a-b/x", id), &room("a-b/x"), drawer(id, said));
        }
        let of = |wing: &str| {
            let shelves = drawers.find_matching_wing_rooms(|it| it.wing == wing);
            let held = drawers
                .by_file
                .values()
                .filter(|(room, it)| shelves.contains(&(room, &it.filed_under)));
            let mut ids: Vec<_> = held.map(|(_, it)| it.id.0).collect();
            ids.sort_unstable();
            ids
        };
        assert_eq!([of("A B"), of("C"), of("a-b")], [vec![1, 2], vec![3], vec![]]);
    }

    #[test]
    fn a_removed_drawer_leaves_nothing_in_the_indexes() {
        let mut drawers = Drawers::default();
        drawers.insert("drawers/a/b/1.md", &room("a/b"), drawer(1, (None, None)));
        drawers.insert("drawers/a/b/1.md", &room("a/b"), drawer(2, (Some("A"), None)));
        assert_eq!((drawers.len(), drawers.count_in_room(&room("a/b"))), (1, 1));
        assert_eq!(drawers.files_with_id(Ulid(1)).count(), 0);
        drawers.remove("drawers/a/b/1.md");
        assert_eq!((drawers.rooms().count(), drawers.count_in_folder("drawers/a/b")), (0, 0));
        assert_eq!((drawers.files_by_id.len(), drawers.wings.len()), (0, 0));
    }
}
