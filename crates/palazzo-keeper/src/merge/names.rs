//! Decides where each merged item is, and how rooms and entities are called in the end. No two
//! files may have one path, or paths that differ only in case or in Unicode form, which many file
//! systems cannot hold.

use std::collections::{BTreeSet, HashMap};

use serde_json::Value;
use unicode_normalization::UnicodeNormalization as _;

use crate::merge::items::{Item, entity_name, id_of_file, room_of_path};
use crate::merge::last_changes::OrderedSides;
use crate::merge::renames::{LinkAttributes, NameChanges};
use crate::merge::{MergeInput, RawFiles, Version};
use palazzo_core::format::{PalacePath, drawer_path_in_room, file_kind, room_path};
use palazzo_core::merge::{FieldConflict, Fields, merge_fields};
use palazzo_core::model::{FileKind, Palace, Room, RoomId, Settings};

/// The names of all merged items.
pub(super) struct MergedNames {
    /// The path of each item.
    pub(super) paths: Vec<String>,
    /// The name of each entity that is new or renamed.
    pub(super) entities: Vec<Option<String>>,
    /// The name changes for references in the base.
    pub(super) base_changes: NameChanges,
    /// The name changes for references in both sides.
    pub(super) side_changes: [NameChanges; 2],
    /// The names that people have changed, without regard to what refers to them: for references in
    /// the files that no side has changed.
    pub(super) changes_by_hand: NameChanges,
}

/// The paths that were chosen so far.
struct ChosenPaths<'a> {
    input: &'a MergeInput<'a>,
    paths: BTreeSet<String>,
    /// The spellings of each folder and each path, in the order of choice, by its folded form.
    spellings: HashMap<String, Vec<String>>,
}

impl<'a> ChosenPaths<'a> {
    fn new(input: &'a MergeInput<'a>) -> Self {
        Self { input, paths: BTreeSet::new(), spellings: HashMap::new() }
    }

    /// Returns `path`, if it is free; else with a number, or in a folder of another spelling.
    fn choose(&mut self, path: &str) -> String {
        let may_differ = has_meaningless_name(path);
        let path = if may_differ { self.with_known_folders(path) } else { path.to_owned() };
        let is_taken = |it: &str| {
            self.paths.contains(it)
                || self.input.unchanged.paths.contains(it)
                || may_differ && self.twin(it).is_some()
        };
        let free = first_free_path(&path, is_taken);
        for end in folder_ends(&free).chain([free.len()]) {
            let part = &free[..end];
            let spellings = self.spellings.entry(fold_path(part)).or_default();
            if !spellings.iter().any(|it| it == part) {
                spellings.push(part.to_owned());
            }
        }
        self.paths.insert(free.clone());
        free
    }

    /// Returns the path with each folder as it was spelt first.
    fn with_known_folders(&self, path: &str) -> String {
        let mut spelt = String::new();
        for part in path.split_inclusive('/') {
            spelt.push_str(part);
            if let Some(known) = self.twin(&spelt).filter(|_| part.ends_with('/')) {
                spelt = known.clone();
            }
        }
        spelt
    }

    /// Returns the first spelling of a known file or folder that differs only in form, without those
    /// that a side has beside this one: they are no result of the merge.
    fn twin(&self, path: &str) -> Option<&String> {
        let is_beside = |known: &&String| {
            let mut sides = self.input.sides.iter();
            sides.any(|it| has_path(it, path) && has_path(it, known))
        };
        let mut known = self.spellings.get(&fold_path(path))?.iter();
        known.find(|it| *it != path && !is_beside(it))
    }
}

/// Decides the names of items; `is_kept` says which of them exist after the merge.
pub(super) fn decide_names(
    input: &MergeInput<'_>,
    items: &[Item],
    sides: &[OrderedSides<'_>],
    is_kept: &[bool],
) -> MergedNames {
    let rooms = decide_paths(input, items, sides, is_kept, |it| room_of_path(it).is_some());
    let after = known_rooms(input, rooms.iter().flatten().filter_map(|it| room_of_path(it)));
    let entities: Vec<_> =
        items.iter().zip(sides).map(|(it, by)| changed_entity_name(it, by)).collect();
    let links = match entities.iter().any(Option::is_some) {
        true => LinkAttributes::read(input),
        false => LinkAttributes::default(),
    };
    let changes_of = |version_of: &dyn Fn(&Item) -> Option<&Version>| {
        let existing = items.iter().filter_map(|it| room_of_path(&version_of(it)?.path));
        let before = known_rooms(input, existing);
        let mut changes = NameChanges::new(before, after.clone(), links.clone());
        // A side that has deleted an item may still refer to it by the name in the base.
        let (own, deleted): (Vec<_>, Vec<_>) =
            (0..items.len()).partition(|it| version_of(&items[*it]).is_some());
        for index in own.into_iter().chain(deleted) {
            let own = version_of(&items[index]);
            let Some(old) = own.or(items[index].base.as_ref()) else { continue };
            let new_room = rooms[index].as_deref().and_then(room_of_path);
            if let (Some(old), Some(new)) = (room_of_path(&old.path), new_room) {
                changes.add_room(&old, new, own.is_some());
            }
            if let Some((new, old)) = entities[index].as_ref().zip(entity_name(old)) {
                changes.add_entity(&old, new);
            }
        }
        changes
    };
    let base_changes = changes_of(&|it| it.base.as_ref());
    let side_changes = [0, 1].map(|side| changes_of(&|it: &Item| it.sides[side].as_ref()));
    let moved: Vec<_> =
        items.iter().map(|it| move_to_renamed_rooms(it, &base_changes, &side_changes)).collect();
    let paths = decide_paths(input, &moved, sides, is_kept, |_| true);
    let paths = paths.into_iter().map(Option::unwrap_or_default).collect();
    let in_base = items.iter().filter_map(|it| room_of_path(&it.base.as_ref()?.path));
    let by_hand = NameChanges::new(known_rooms(input, in_base), after, links).only_broken();
    let changes_by_hand = add_changes_by_hand(by_hand, sides, is_kept, (&rooms, &entities));
    MergedNames { paths, entities, base_changes, side_changes, changes_by_hand }
}

/// Adds the names that people have changed; `rooms` and `entities` are the new names of all items.
fn add_changes_by_hand(
    mut changes: NameChanges,
    sides: &[OrderedSides<'_>],
    is_kept: &[bool],
    (rooms, entities): (&[Option<String>], &[Option<String>]),
) -> NameChanges {
    for index in (0..sides.len()).filter(|it| is_kept[*it]) {
        let new_room = rooms[index].as_deref().and_then(room_of_path);
        add_change_by_hand(&mut changes, &sides[index], new_room, (entities, index));
    }
    changes
}

/// Adds the new name of an item that is known by its id, if a person has changed it and nothing
/// else has the old name now.
fn add_change_by_hand(
    changes: &mut NameChanges,
    sides: &OrderedSides<'_>,
    new_room: Option<RoomId>,
    (entities, index): (&[Option<String>], usize),
) {
    let Some(base) = &sides.item.base else { return };
    let has_id = || id_of_file(&base.path, &base.bytes).is_some();
    if let (Some(old), Some(new)) = (room_of_path(&base.path), new_room) {
        if old != new && !changes.has_room_after(&old) && sides.is_moved_by_hand() && has_id() {
            changes.add_room(&old, new, true);
        }
        return;
    }
    let Some((new, old)) = entities[index].as_ref().zip(entity_name(base)) else { return };
    let is_used = || entities.iter().flatten().any(|it| *it == old);
    if *new != old && !is_used() && sides.is_renamed_by_hand(&old) && has_id() {
        changes.add_entity(&old, new);
    }
}

/// Returns an item with the paths that its versions have after renames of rooms: scrolls and drawers
/// are in the folders of their rooms.
pub(super) fn move_to_renamed_rooms(
    item: &Item,
    base: &NameChanges,
    sides: &[NameChanges; 2],
) -> Item {
    let moved = |version: &Option<Version>, changes: &NameChanges| {
        let mut version = version.clone()?;
        match PalacePath::parse(&version.path) {
            Ok(PalacePath::Scroll(room)) => {
                if let Some(new) = changes.renamed_room(&room) {
                    let name = version.path.rsplit('/').next().unwrap_or_default();
                    version.path = format!("scrolls/{new}/{name}");
                }
            }
            Ok(PalacePath::Drawer(folder)) => {
                if let Some(new) = changes.renamed_drawer_folder(&folder) {
                    let rest = drawer_path_in_room(&version.path);
                    version.path = format!("drawers/{new}/{rest}");
                }
            }
            _ => {}
        }
        Some(version)
    };
    Item {
        base: moved(&item.base, base),
        sides: [0, 1].map(|side| moved(&item.sides[side], &sides[side])),
    }
}

/// Decides the path of each item that `is_wanted`: the one that a side has changed. Items that get
/// one path are told apart by a number.
fn decide_paths(
    input: &MergeInput<'_>,
    items: &[Item],
    sides: &[OrderedSides<'_>],
    is_kept: &[bool],
    is_wanted: impl Fn(&str) -> bool,
) -> Vec<Option<String>> {
    let wanted = |index: usize| {
        let path = merged_path(&items[index], &sides[index]);
        Some(path).filter(|it| is_wanted(it))
    };
    let mut paths: Vec<_> = (0..items.len()).map(wanted).collect();
    let mut order: Vec<_> = (0..items.len()).filter(|it| is_kept[*it]).collect();
    // An item of the base keeps its path; new ones are sorted by content.
    let sorted_contents = |index: usize| {
        let sides = items[index].sides.each_ref().map(|it| it.as_ref().map(|it| &it.bytes));
        let [a, b] = sides;
        (items[index].base.is_none(), a.max(b), a.min(b))
    };
    order.sort_by(|a, b| sorted_contents(*a).cmp(&sorted_contents(*b)));
    let mut chosen = ChosenPaths::new(input);
    for index in order {
        paths[index] = paths[index].as_ref().map(|path| chosen.choose(path));
    }
    paths
}

/// Returns the path that a side has changed; if both have, that of the side whose change precedes.
fn merged_path(item: &Item, sides: &OrderedSides<'_>) -> String {
    let path = |it: &Option<Version>| it.as_ref().map(|it| it.path.clone());
    let base = path(&item.base);
    let own_side = first_side_of_path(item, sides);
    let (own, other) = (path(&item.sides[own_side]), path(&item.sides[1 - own_side]));
    let merged = match (own, other) {
        (Some(own), Some(other)) if Some(&own) == base.as_ref() => Some(other),
        (own, other) => own.or(other),
    };
    merged.or(base).unwrap_or_default()
}

/// Returns the side (0 or 1) whose path stands if both have changed it.
fn first_side_of_path(item: &Item, sides: &OrderedSides<'_>) -> usize {
    let base = item.base.as_ref().map(|it| &it.path);
    let [a, b] = item.sides.each_ref().map(|it| it.as_ref().map(|it| &it.path));
    if a.is_none() || b.is_none() || a == b || a == base || b == base {
        return sides.first;
    }
    let [own, other] = sides.last_changes_of_path();
    if own.preceding_side(&other) == 0 { sides.first } else { 1 - sides.first }
}

/// Returns the conflict about the path of an item: both sides have moved it, or another item has got
/// the path. Entities are known by their names, not by their paths, and of other items than rooms
/// the file's name has no meaning.
pub(super) fn path_conflict(
    item: &Item,
    path: &str,
    sides: &OrderedSides<'_>,
) -> Option<FieldConflict> {
    if file_kind(path) == Some(FileKind::Entity) {
        return None;
    }
    let wanted =
        [sides.first, 1 - sides.first].map(|it| item.sides[it].as_ref().map(|it| it.path.as_str()));
    let base = item.base.as_ref().map(|it| it.path.as_str());
    let is_rejected = |it: &&str| *it != path && Some(*it) != base;
    let rejected = wanted.into_iter().flatten().find(is_rejected)?;
    if file_kind(path) != Some(FileKind::Room) && is_numbered(path, rejected) {
        return None;
    }
    let standing_side = usize::from(wanted[0] == Some(rejected) && wanted[1] == Some(path));
    let mut values = [path, rejected].map(|it| Some(Value::from(it)));
    if standing_side == 1 {
        values.reverse();
    }
    Some(FieldConflict::new("path", values, sides.last_changes_of_path(), standing_side))
}

/// Returns a palace with the rooms that no side has changed and `rooms`, without their contents.
fn known_rooms(input: &MergeInput<'_>, rooms: impl Iterator<Item = RoomId>) -> Palace {
    let mut palace = Palace::new(Settings::with_name("merge"));
    let unchanged = input.unchanged.paths.iter().filter_map(|it| room_of_path(it));
    for id in unchanged.chain(rooms) {
        let room = Room {
            id: None,
            name: room_path(&id),
            description: String::new(),
            actions: Vec::new(),
            portals: Vec::new(),
            generate: None,
        };
        palace.set_room(&id, Some(room));
    }
    palace
}

/// Returns the name of an entity after the merge, if it is new or a side has changed the name.
fn changed_entity_name(item: &Item, sides: &OrderedSides<'_>) -> Option<String> {
    if file_kind(item.any_path()) != Some(FileKind::Entity) || has_one_name_line(item) {
        return None;
    }
    let fields = |version: Option<&Version>| {
        let name = entity_name(version?)?;
        Some(Fields::from_iter([("name".to_owned(), Value::from(name))]))
    };
    let base = fields(item.base.as_ref());
    let own = fields(item.sides[sides.first].as_ref());
    let other = fields(item.sides[1 - sides.first].as_ref());
    let merged = match (own, other) {
        (Some(own), Some(other)) => {
            let base = base.unwrap_or_default();
            let last_changes =
                |name: &str| sides.last_changes_of_field(&base, [&own, &other], name);
            merge_fields(FileKind::Entity, &base, [&own, &other], &last_changes).fields
        }
        (own, other) => own.or(other)?,
    };
    merged.get("name").and_then(Value::as_str).map(str::to_owned)
}

/// Returns whether the base and all versions of an entity contain the same line with its name, so
/// that they need not be parsed.
fn has_one_name_line(item: &Item) -> bool {
    let name_line = |version: &Version| {
        let mut lines = version.text()?.lines().filter(|it| it.starts_with("name:"));
        lines.next().filter(|_| lines.next().is_none()).map(str::to_owned)
    };
    let base = item.base.as_ref().and_then(name_line);
    base.is_some() && item.sides.iter().flatten().all(|it| name_line(it) == base)
}

/// Returns whether a path is a numbered form of another one, but for the case of the folders.
fn is_numbered(path: &str, other: &str) -> bool {
    let [(stem, ending), (other_stem, other_ending)] =
        [path, other].map(|it| it.rsplit_once('.').unwrap_or((it, "")));
    let number = stem.rsplit_once('-').filter(|(_, it)| it.bytes().all(|it| it.is_ascii_digit()));
    let stem = number.map_or(stem, |(rest, _)| rest);
    ending == other_ending && fold_path(stem) == fold_path(other_stem)
}

/// Returns what two paths have in common that some file systems take for one.
fn fold_path(path: &str) -> String {
    path.nfc().collect::<String>().to_lowercase()
}

/// Returns whether the name of a file has no meaning: what it contains names the item.
fn has_meaningless_name(path: &str) -> bool {
    use FileKind::{Diary, Drawer, Entity, Genus, Process, Scroll, Task};
    matches!(file_kind(path), Some(Entity | Genus | Task | Process | Scroll | Drawer | Diary))
}

fn folder_ends(path: &str) -> impl Iterator<Item = usize> {
    path.match_indices('/').map(|(at, _)| at + 1).collect::<Vec<_>>().into_iter()
}

/// Returns whether there is a file at `path` or below it.
fn has_path(files: &RawFiles, path: &str) -> bool {
    files.range(path.to_owned()..).next().is_some_and(|(it, _)| it.starts_with(path))
}

fn first_free_path(path: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let (stem, ending) = path.rsplit_once('.').unwrap_or((path, ""));
    let numbered = (2..).map(|it: usize| format!("{stem}-{it}.{ending}"));
    let mut paths = std::iter::once(path.to_owned()).chain(numbered);
    paths.find(|it| !is_taken(it)).unwrap_or_else(|| path.to_owned())
}
