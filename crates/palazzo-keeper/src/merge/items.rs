//! Finds the versions of each item: by its id, else by its path, else by its content, git-like, by
//! the lines that they have in common; of items that both sides have made, by name.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value;

use crate::merge::{MergeInput, RawFiles, Version};
use palazzo_core::format::{FieldsAndBody, PalacePath, file_kind, parse_fields_and_body};
use palazzo_core::model::{FileKind, RoomId};

/// Number of characters of an id.
const ID_CHARS: usize = 26;

/// Maximum number of pairs of files whose lines are compared.
const MAX_COMPARED_PAIRS: usize = 1_000;

/// Minimum number of common lines: short files are alike by their form.
const MIN_COMMON_LINES: usize = 3;

/// The divisor of the size of a file that gives the minimum size of a file like it.
const MAX_SIZE_RATIO: usize = 2;

/// The three versions of one item; `None` where it does not exist.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) base: Option<Version>,
    pub(super) sides: [Option<Version>; 2],
}

impl Item {
    /// Returns the path of the base, else that of a side.
    pub(super) fn any_path(&self) -> &str {
        let versions = self.base.iter().chain(self.sides.iter().flatten());
        versions.map(|it| it.path.as_str()).min().unwrap_or_default()
    }
}

/// A file as its path and its content.
type FileRef<'a> = (&'a String, &'a Vec<u8>);

/// Returns the versions of all items that differ.
pub(super) fn find_items(input: &MergeInput<'_>) -> Vec<Item> {
    let mut items: BTreeMap<&str, Item> = BTreeMap::new();
    for (path, bytes) in input.base {
        let base = Some(Version { path: path.clone(), bytes: bytes.clone() });
        items.insert(path, Item { base, ..Item::default() });
    }
    let mut new = [Vec::new(), Vec::new()];
    for side in [0, 1] {
        let moved = find_moved_files(input.base, input.sides[side]);
        for (path, bytes) in input.sides[side] {
            let version = Version { path: path.clone(), bytes: bytes.clone() };
            let base = moved.get(path.as_str()).copied().unwrap_or(path);
            match items.get_mut(base) {
                Some(item) => item.sides[side] = Some(version),
                None => new[side].push(version),
            }
        }
    }
    let mut items: Vec<_> = items.into_values().collect();
    items.extend(pair_new_items(input, new));
    items
}

/// Returns the path in the base of each file that a side has moved.
fn find_moved_files<'a>(base: &'a RawFiles, side: &'a RawFiles) -> HashMap<&'a str, &'a str> {
    let may_move = |path: &str| !is_conflict_file(path);
    let gone = base.iter().filter(|(path, _)| may_move(path) && !side.contains_key(*path));
    let new = side.iter().filter(|(path, _)| may_move(path) && !base.contains_key(*path));
    let (gone, new): (Vec<_>, Vec<_>) = (gone.collect(), new.collect());
    if gone.is_empty() || new.is_empty() {
        return HashMap::new();
    }
    let identity = |(path, bytes): &(&'a String, &'a Vec<u8>)| {
        Some((file_kind(path)?, id_of_file(path, bytes)?))
    };
    let gone_by_id: BTreeMap<_, _> =
        gone.iter().filter_map(|it| Some((identity(it)?, it.0.as_str()))).collect();
    let gone_by_bytes: BTreeMap<_, _> = gone
        .iter()
        .filter(|it| identity(it).is_none())
        .map(|(path, bytes)| ((file_kind(path), *bytes), path.as_str()))
        .collect();
    let origin = |it: &(&'a String, &'a Vec<u8>)| match identity(it) {
        Some(identity) => gone_by_id.get(&identity).copied(),
        None => gone_by_bytes.get(&(file_kind(it.0), it.1)).copied(),
    };
    let mut moved: HashMap<_, _> =
        new.iter().filter_map(|it| Some((it.0.as_str(), origin(it)?))).collect();
    // A tool may have given an id to an item that had none.
    let known: BTreeSet<_> = moved.values().copied().collect();
    let gone: Vec<_> = gone
        .into_iter()
        .filter(|it| identity(it).is_none() && !known.contains(it.0.as_str()))
        .collect();
    let new: Vec<_> = new.into_iter().filter(|it| !moved.contains_key(it.0.as_str())).collect();
    moved.extend(find_alike_files(&gone, &new));
    moved
}

/// Returns whether a path is that of the file of a conflict.
pub(super) fn is_conflict_file(path: &str) -> bool {
    file_kind(path) == Some(FileKind::Conflict)
}

/// Returns the id of an item: from the name of its file, or a field. Files of conflicts have none.
pub(super) fn id_of_file(path: &str, bytes: &[u8]) -> Option<String> {
    let kind = file_kind(path).filter(|it| *it != FileKind::Conflict)?;
    let is_markdown = matches!(kind, FileKind::Scroll | FileKind::Drawer | FileKind::Diary);
    let name = path.rsplit('/').next().unwrap_or_default();
    let named = name.get(..ID_CHARS).filter(|it| is_markdown && is_id(it));
    if let Some(id) = named {
        return Some(id.to_owned());
    }
    let tree = parse_fields_and_body(path, std::str::from_utf8(bytes).ok()?)?;
    text_field(&tree, "id").filter(|it| is_id(it)).map(str::to_owned)
}

/// Returns a field of a file, if it is a text.
fn text_field<'a>(tree: &'a FieldsAndBody, key: &str) -> Option<&'a str> {
    tree.fields.get(key).and_then(Value::as_str)
}

/// Returns the name of the entity in a file.
pub(super) fn entity_name(version: &Version) -> Option<String> {
    if file_kind(&version.path) != Some(FileKind::Entity) {
        return None;
    }
    Some(text_field(&parse_fields_and_body(&version.path, version.text()?)?, "name")?.to_owned())
}

fn is_id(text: &str) -> bool {
    text.len() == ID_CHARS && text.parse::<ulid::Ulid>().is_ok()
}

/// Pairs the items that both sides have made: those of one path, id or name.
fn pair_new_items(input: &MergeInput<'_>, [new_a, new_b]: [Vec<Version>; 2]) -> Vec<Item> {
    if new_a.is_empty() || new_b.is_empty() {
        let sides = new_a.into_iter().map(|it| [Some(it), None]);
        let sides = sides.chain(new_b.into_iter().map(|it| [None, Some(it)]));
        return sides.map(|sides| Item { base: None, sides }).collect();
    }
    let keys_b: Vec<_> = new_b.iter().map(NewItemKeys::of_version).collect();
    let mut by_key: HashMap<String, Vec<usize>> = HashMap::new();
    for (index, keys) in keys_b.iter().enumerate() {
        for key in keys.candidates() {
            by_key.entry(key).or_default().push(index);
        }
    }
    let mut open: Vec<Option<Version>> = new_b.into_iter().map(Some).collect();
    let mut items = Vec::new();
    for version in new_a {
        let keys = NewItemKeys::of_version(&version);
        let candidates: BTreeSet<_> =
            keys.candidates().filter_map(|it| by_key.get(&it)).flatten().copied().collect();
        let is_same = |it: &usize| open[*it].is_some() && keys.is_same_item(&keys_b[*it], input);
        let found = candidates.into_iter().find(is_same);
        let other = found.and_then(|it| open[it].take());
        items.push(Item { base: None, sides: [Some(version), other] });
    }
    let rest = open.into_iter().flatten();
    items.extend(rest.map(|it| Item { base: None, sides: [None, Some(it)] }));
    items
}

/// The values by which two new items are recognized as the same.
#[derive(Default)]
struct NewItemKeys {
    kind: Option<FileKind>,
    path: String,
    id: Option<String>,
    /// The name of an entity or a genus.
    name: Option<String>,
    room: Option<RoomId>,
}

impl NewItemKeys {
    fn of_version(version: &Version) -> Self {
        let path = &version.path;
        let kind = file_kind(path);
        let is_named = matches!(kind, Some(FileKind::Entity | FileKind::Genus));
        let name =
            || Some(text_field(&parse_fields_and_body(path, version.text()?)?, "name")?.to_owned());
        Self {
            kind,
            path: path.clone(),
            id: id_of_file(path, &version.bytes),
            name: is_named.then(name).flatten(),
            room: room_of_path(path),
        }
    }

    /// Yields keys of which two versions of one item share at least one.
    fn candidates(&self) -> impl Iterator<Item = String> {
        let room = self.room.as_ref().map(|it| it.slug.to_string());
        let keys = [
            ("path", Some(&self.path)),
            ("id", self.id.as_ref()),
            ("name", self.name.as_ref()),
            ("room", room.as_ref()),
        ];
        let keys = keys.map(|(key, it)| it.map(|it| format!("{key} {it}")));
        keys.into_iter().flatten()
    }

    fn is_same_item(&self, other: &Self, input: &MergeInput<'_>) -> bool {
        if self.kind != other.kind {
            return false;
        }
        if let (Some(name), Some(other)) = (&self.name, &other.name) {
            return name == other;
        }
        if let (Some(room), Some(other)) = (&self.room, &other.room) {
            let is_slug = room.slug == other.slug;
            return room == other || is_slug && has_unfinished_door(input, &room.slug.to_string());
        }
        self.path == other.path || self.id.is_some() && self.id == other.id
    }
}

/// Returns the room whose file is at `path`.
pub(super) fn room_of_path(path: &str) -> Option<RoomId> {
    match PalacePath::parse(path) {
        Ok(PalacePath::Room(id)) => Some(id),
        _ => None,
    }
}

/// Returns whether a room of the base has a door to `slug`, without a wing: then two rooms of this
/// slug were built for the same door.
fn has_unfinished_door(input: &MergeInput<'_>, slug: &str) -> bool {
    let has_door = |path: &str, bytes: &[u8]| {
        let tree = std::str::from_utf8(bytes).ok().filter(|it| it.contains(slug));
        let Some(tree) = tree.and_then(|it| parse_fields_and_body(path, it)) else { return false };
        let list = |key: &str| tree.fields.get(key).and_then(Value::as_array).into_iter().flatten();
        list("actions").any(|it| it.get("room").is_some_and(|it| it == slug))
            || list("portals").any(|it| it == slug)
    };
    let is_room = |path: &str| room_of_path(path).is_some();
    input.base.iter().any(|(path, bytes)| is_room(path) && has_door(path, bytes))
        || input
            .unchanged
            .paths
            .iter()
            .filter(|it| is_room(it))
            .any(|path| (input.unchanged.read)(path).is_some_and(|bytes| has_door(path, &bytes)))
}

/// Returns the path in `gone` of each file in `new` that has at least half of its lines in common
/// with it: the most alike pairs first, then by path.
fn find_alike_files<'a>(gone: &[FileRef<'a>], new: &[FileRef<'a>]) -> BTreeMap<&'a str, &'a str> {
    let mut by_size: BTreeMap<FileKind, Vec<FileRef<'a>>> = BTreeMap::new();
    for file in new {
        if let Some(kind) = file_kind(file.0) {
            by_size.entry(kind).or_default().push(*file);
        }
    }
    for files in by_size.values_mut() {
        files.sort_by_key(|(path, bytes)| (bytes.len(), *path));
    }
    let near = |old: FileRef<'a>| {
        let files = file_kind(old.0).and_then(|it| by_size.get(&it)).map(Vec::as_slice);
        let files = files.unwrap_or_default();
        let start = files.partition_point(|it| it.1.len() < old.1.len() / MAX_SIZE_RATIO);
        let end = files.partition_point(|it| it.1.len() <= old.1.len() * MAX_SIZE_RATIO);
        files[start..end].iter().map(move |new| (old, *new))
    };
    let pairs = gone.iter().flat_map(|it| near(*it)).take(MAX_COMPARED_PAIRS);
    let mut alike: Vec<_> = pairs
        .filter_map(|(old, new)| Some((Reverse(likeness(old.1, new.1)?), old.0, new.0)))
        .collect();
    alike.sort();
    let (mut found, mut used) = (BTreeMap::new(), BTreeSet::new());
    for (_, old, new) in alike {
        if !used.contains(old) && !found.contains_key(new.as_str()) {
            used.insert(old);
            found.insert(new.as_str(), old.as_str());
        }
    }
    found
}

/// Returns the share of common lines in thousandths, if it is at least a half.
fn likeness(a: &[u8], b: &[u8]) -> Option<usize> {
    let lines = |it: &[u8]| -> Vec<Vec<u8>> {
        let lines = it.split(|it| *it == b'\n').map(<[u8]>::trim_ascii);
        lines.filter(|it| !it.is_empty()).map(<[u8]>::to_vec).collect()
    };
    let (a, b) = (lines(a), lines(b));
    let mut counts: HashMap<&[u8], usize> = HashMap::new();
    for line in &a {
        *counts.entry(line).or_default() += 1;
    }
    let mut common = 0;
    for line in &b {
        if let Some(count) = counts.get_mut(line.as_slice()).filter(|it| **it > 0) {
            *count -= 1;
            common += 1;
        }
    }
    let longer = a.len().max(b.len());
    (common >= MIN_COMMON_LINES && common * 2 >= longer).then(|| common * 1_000 / longer)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(gone: &[(&str, &str)], new: &[(&str, &str)]) -> Vec<(String, String)> {
        let owned = |files: &[(&str, &str)]| -> Vec<(String, Vec<u8>)> {
            files.iter().map(|(path, it)| ((*path).to_owned(), it.as_bytes().to_vec())).collect()
        };
        let (gone, new) = (owned(gone), owned(new));
        let gone: Vec<_> = gone.iter().map(|(path, it)| (path, it)).collect();
        let new: Vec<_> = new.iter().map(|(path, it)| (path, it)).collect();
        let found = find_alike_files(&gone, &new).into_iter();
        found.map(|(new, old)| (old.to_owned(), new.to_owned())).collect()
    }

    #[test]
    fn the_file_with_the_most_common_lines_is_the_moved_one() {
        let old = ("rooms/a.yaml", "name: A\n1\n2\n3\n4\n");
        let near = ("rooms/y.yaml", "name: Y\n1\n2\n3\n4\n");
        let nearest = ("rooms/z.yaml", "name: A\n1\n2\n3\n4\n5\n");
        let pair = |new: &str| vec![("rooms/a.yaml".to_owned(), new.to_owned())];
        assert_eq!(found(&[old], &[near, nearest]), pair("rooms/z.yaml"));
        assert_eq!(found(&[old], &[near]), pair("rooms/y.yaml"));
    }

    #[test]
    fn other_kinds_and_short_files_are_not_alike() {
        let old = ("tasks/a.yaml", "title: A\nstatus: open\n");
        assert_eq!(found(&[old], &[("tasks/b.yaml", "title: B\nstatus: open\n")]), []);
        let text = "1\n2\n3\n4\n";
        assert_eq!(found(&[("tasks/a.yaml", text)], &[("rooms/a.yaml", text)]), []);
    }
}
