//! Merges all items of two palaces: decides which of the versions of each count. What one side has
//! deleted and the other still uses is found, and files that no side has changed follow renames.

use std::collections::{BTreeSet, HashMap};

use serde_json::Value;

use crate::merge::conflict::{MergeConflict, is_settled_on_a_side, merge_conflict_item};
use crate::merge::file::{ChangedFile, LastFileChanges, MergedFile, merge_file};
use crate::merge::items::{
    Item, entity_name, find_items, id_of_file, is_conflict_file, room_of_path,
};
use crate::merge::last_changes::OrderedSides;
use crate::merge::names::{MergedNames, decide_names, move_to_renamed_rooms, path_conflict};
use crate::merge::renames::NameChanges;
use crate::merge::{FilePart, MergeInput, RawFiles, Version};
use palazzo_core::format::{
    PalacePath, ReferenceKind, add_missing_comments, file_kind, parse_fields_and_body,
    reference_kind, retarget_modeline,
};
use palazzo_core::merge::{FieldConflict, field_of_item, list_kind};
use palazzo_core::model::{FileKind, RoomId};

/// Maximum number of files that are read to find references.
const MAX_SEARCHED_FILES: usize = 5_000;

/// The result of a merge.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MergeOutcome {
    /// All files of the merged palace, except those that neither a side nor the merge has changed.
    pub files: RawFiles,
    /// The values that do not stand, sorted.
    pub conflicts: Vec<MergeConflict>,
}

/// A merged item.
struct MergedItem<'a> {
    item: &'a Item,
    path: String,
    file: MergedFile,
    sides: OrderedSides<'a>,
    /// Its name, if it is an entity that is new or renamed.
    entity: Option<String>,
}

/// A reference to a deleted item, which stays.
struct DanglingReference {
    field: String,
    /// The name of the deleted item.
    name: String,
    /// The side that wrote it.
    side: usize,
    /// The path of the deleted item in the base.
    deleted_path: String,
}

/// A deleted room or entity, by what refers to it.
struct DeletedItem {
    path: String,
    entity: Option<String>,
    room: Option<RoomId>,
    /// The sides that still have it.
    is_on_side: [bool; 2],
}

impl DeletedItem {
    fn may_be_named_in(&self, text: &str) -> bool {
        let room = self.room.as_ref().map(|it| it.slug.as_str());
        self.entity.as_deref().into_iter().chain(room).any(|it| text.contains(it))
    }

    fn is_called(&self, text: &str) -> bool {
        let room = self.room.as_ref();
        self.entity.as_deref() == Some(text)
            || room.is_some_and(|it| it.to_string() == text || it.slug.as_str() == text)
    }
}

/// Merges two versions of a palace. The result is the same if the sides are swapped.
pub fn merge_palaces(input: &MergeInput<'_>) -> MergeOutcome {
    let items = find_items(input);
    let sides: Vec<_> = items.iter().map(|it| OrderedSides::new(input, it)).collect();
    let used = [0, 1].map(|side| rooms_with_new_scrolls(input, side));
    let is_kept: Vec<_> = items.iter().map(|it| !is_deleted(it, &used)).collect();
    let names = decide_names(input, &items, &sides, &is_kept);
    let (mut merged, mut deleted) = (Vec::new(), Vec::new());
    for (index, (item, sides)) in items.iter().zip(sides).enumerate() {
        let path = &names.paths[index];
        let file = if is_kept[index] { merge_item(item, path, &sides, &names) } else { None };
        match file {
            Some(file) => {
                let (path, entity) = (path.clone(), names.entities[index].clone());
                merged.push(MergedItem { item, path, file, sides, entity });
            }
            None => deleted.extend(deleted_item(item)),
        }
    }
    let mut outcome = MergeOutcome::default();
    for (item, path) in items.iter().zip(&names.paths) {
        for found in find_dangling_references(item, &deleted) {
            outcome.conflicts.extend(dangling_conflict(input, item, path, &found));
        }
    }
    outcome.files = rename_in_unchanged_files(input, &names.changes_by_hand);
    for item in join_namesakes(merged) {
        outcome.add_item(item);
    }
    outcome.conflicts.sort_by_cached_key(MergeConflict::name);
    outcome.conflicts.dedup_by(|a, b| a.name() == b.name());
    outcome.conflicts.sort_by(|a, b| (&a.path, &a.field).cmp(&(&b.path, &b.field)));
    outcome
}

/// Returns whether one side has deleted an item and the other has not changed it; a room in which
/// the other has written a scroll stays. The file of a conflict is deleted although the other side
/// has changed it.
fn is_deleted(item: &Item, used: &[BTreeSet<RoomId>; 2]) -> bool {
    let is_used = |side: usize, version: &Version| {
        room_of_path(&version.path).is_some_and(|it| used[side].contains(&it))
    };
    if is_settled_on_a_side(item) {
        return true;
    }
    match (&item.base, &item.sides) {
        (Some(base), [Some(it), None]) => it == base && !is_used(0, it),
        (Some(base), [None, Some(it)]) => it == base && !is_used(1, it),
        (_, sides) => sides.iter().all(Option::is_none),
    }
}

/// Merges entities that have got one name by the merge: one side has renamed an entity, and the
/// other has made one of that name, or renamed another.
fn join_namesakes(mut items: Vec<MergedItem<'_>>) -> Vec<MergedItem<'_>> {
    items.sort_by_key(|it| it.item.base.is_none());
    let (mut joined, mut places) = (Vec::<MergedItem<'_>>::new(), HashMap::new());
    for item in items {
        let place = item.entity.as_ref().and_then(|it| places.get(it)).copied();
        match place.and_then(|it: usize| joined.get_mut(it)) {
            Some(known) if are_made_apart(known, &item) => join_items(known, item),
            _ => {
                if let Some(name) = item.entity.clone() {
                    places.entry(name).or_insert(joined.len());
                }
                joined.push(item);
            }
        }
    }
    joined
}

/// Returns whether no side has both entities under their name after the merge.
fn are_made_apart(known: &MergedItem<'_>, new: &MergedItem<'_>) -> bool {
    let sides = known.item.sides.iter().zip(&new.item.sides);
    let mut both = sides.filter_map(|(known, new)| Some((known.as_ref()?, new.as_ref()?)));
    both.all(|(known, new)| entity_name(known) != entity_name(new))
}

/// Merges an entity into another of the same name, which keeps its path.
fn join_items(known: &mut MergedItem<'_>, item: MergedItem<'_>) {
    let version =
        |it: &MergedItem<'_>| Version { path: it.path.clone(), bytes: it.file.bytes.clone() };
    let sides = [version(known), version(&item)];
    let authors =
        [known.sides.last_change_of_existing_file(), item.sides.last_change_of_existing_file()];
    let file = merge_file(ChangedFile {
        path: &known.path,
        base: None,
        sides: [&sides[0], &sides[1]],
        changes: LastFileChanges::Authors(&authors),
        layout: 0,
    });
    known.file.bytes = file.bytes;
    known.file.conflicts.extend(file.conflicts);
    known.file.conflicts.extend(item.file.conflicts);
}

/// Returns the conflict for a reference to a deleted item.
fn dangling_conflict(
    input: &MergeInput<'_>,
    item: &Item,
    path: &str,
    found: &DanglingReference,
) -> Option<MergeConflict> {
    let version = item.sides[found.side].as_ref()?;
    Some(MergeConflict {
        id: id_of_file(&version.path, &version.bytes),
        path: path.to_owned(),
        field: found.field.clone(),
        stands: Some(found.name.as_str().into()),
        other: None,
        stands_by: (input.last_change)(found.side, &version.path, FilePart::Any),
        other_by: (input.last_change)(1 - found.side, &found.deleted_path, FilePart::Any),
    })
}

impl MergeOutcome {
    fn add_item(&mut self, item: MergedItem<'_>) {
        let MergedItem { path, file, .. } = item;
        let id = match file.conflicts.is_empty() {
            true => None,
            false => id_of_file(&path, &file.bytes),
        };
        for FieldConflict { field, stands, other, stands_by, other_by } in file.conflicts {
            let (id, path) = (id.clone(), path.clone());
            self.conflicts.push(MergeConflict {
                id,
                path,
                field,
                stands,
                other,
                stands_by,
                other_by,
            });
        }
        if let Some(second) = file.second {
            self.files.insert(second.path, second.bytes);
        }
        self.files.insert(path, file.bytes);
    }
}

/// Returns the unchanged files with references that lead nowhere after the merge, with the new
/// names. If only one side has changed anything, or both the same, its version is taken as it is.
///
/// Tools change all references to what they rename. A person who renames a room or an entity may
/// leave them; then they lead nowhere after the merge, and follow.
fn rename_in_unchanged_files(input: &MergeInput<'_>, names: &NameChanges) -> RawFiles {
    let (has_rooms, has_entities) = (names.has_renamed_rooms(), names.has_renamed_entities());
    let [one, other] = input.sides;
    if !has_rooms && !has_entities || one == other || one == input.base || other == input.base {
        return RawFiles::new();
    }
    // Few files are no entities, and these can refer only to entities.
    let may_refer = |path: &&String, are_entities: bool| match file_kind(path) {
        Some(FileKind::Entity) => are_entities && has_entities,
        Some(FileKind::Palace | FileKind::Room | FileKind::Task | FileKind::Process) => {
            !are_entities
        }
        _ => false,
    };
    let paths = input.unchanged.paths.iter();
    let entities = paths.clone().filter(|it| may_refer(it, true));
    let searched = paths.filter(|it| may_refer(it, false)).chain(entities);
    let versions = searched.take(MAX_SEARCHED_FILES).filter_map(|path| {
        Some(Version { path: path.clone(), bytes: (input.unchanged.read)(path)? })
    });
    let renamed = versions.filter_map(|was| {
        let now = names.rename_in_version(&was);
        (now != was).then_some((now.path, now.bytes))
    });
    renamed.collect()
}

/// Returns the rooms in whose folders a side has written scrolls.
fn rooms_with_new_scrolls(input: &MergeInput<'_>, side: usize) -> BTreeSet<RoomId> {
    let is_new = |path: &&String| input.base.get(*path) != input.sides[side].get(*path);
    let paths = input.sides[side].keys().filter(is_new);
    let room = |path: &String| match PalacePath::parse(path) {
        Ok(PalacePath::Scroll(room)) => Some(room),
        _ => None,
    };
    paths.filter_map(room).collect()
}

/// Returns the deleted item that references may still name; `None` if nothing can refer to it.
fn deleted_item(item: &Item) -> Option<DeletedItem> {
    let base = item.base.as_ref()?;
    let (entity, room) = (entity_name(base), room_of_path(&base.path));
    (entity.is_some() || room.is_some()).then(|| DeletedItem {
        path: base.path.clone(),
        entity,
        room,
        is_on_side: item.sides.each_ref().map(Option::is_some),
    })
}

/// Returns the references to deleted items that a side which still had them has added to a file.
fn find_dangling_references(item: &Item, deleted: &[DeletedItem]) -> Vec<DanglingReference> {
    let mut found = Vec::new();
    if is_conflict_file(item.any_path()) {
        return found;
    }
    for side in [0, 1] {
        let known: Vec<_> = deleted.iter().filter(|it| it.is_on_side[side]).collect();
        let Some(version) = item.sides[side].as_ref().filter(|_| !known.is_empty()) else {
            continue;
        };
        let text = version.text().unwrap_or_default();
        if !known.iter().any(|it| it.may_be_named_in(text)) {
            continue;
        }
        let old = item.base.as_ref().map(references).unwrap_or_default();
        for (field, text) in references(version) {
            let is_old = old.iter().any(|(_, it)| *it == text);
            if let Some(deleted) = known.iter().find(|it| !is_old && it.is_called(&text)) {
                let deleted_path = deleted.path.clone();
                found.push(DanglingReference { field, name: text, side, deleted_path });
            }
        }
    }
    found
}

/// Returns the rooms and entities that a file names, with the fields. Links and parameters of queries
/// are left out: they lie deeper, or may lead nowhere.
fn references(version: &Version) -> Vec<(String, String)> {
    let tree = version.text().and_then(|it| parse_fields_and_body(&version.path, it));
    let (Some(kind), Some(tree)) = (file_kind(&version.path), tree) else { return Vec::new() };
    let mut found = Vec::new();
    let mut add = |path: &[&str], field: String, value: &Value| {
        use ReferenceKind::{Entity, RelationTarget, Room, RoomFromHere};
        let named = reference_kind(kind, path);
        let is_item = matches!(named, Some(Room | RoomFromHere | Entity | RelationTarget));
        found.extend(value.as_str().filter(|_| is_item).map(|it| (field, it.to_owned())));
    };
    for (key, value) in &tree.fields {
        add(&[key], key.clone(), value);
        for item in value.as_array().into_iter().flatten() {
            let at = field_of_item(key, list_kind(kind, key), item);
            for (part, value) in item.as_object().into_iter().flatten() {
                add(&[key, "", part], format!("{at}.{part}"), value);
            }
            add(&[key, ""], at, item);
        }
    }
    found
}

/// Merges the versions of an item; `None` if it is deleted.
fn merge_item(
    item: &Item,
    path: &str,
    sides: &OrderedSides<'_>,
    names: &MergedNames,
) -> Option<MergedFile> {
    if is_conflict_file(path) {
        return merge_conflict_item(item, path);
    }
    let renamed = renamed_item(item, names);
    let first = sides.first;
    let [own, other] = [first, 1 - first].map(|it| renamed.sides[it].as_ref());
    let raw = [first, 1 - first].map(|it| item.sides[it].as_ref());
    let is_unchanged = |it: usize| raw[it] == item.base.as_ref();
    let has_base_content = |it: usize| {
        raw[it].zip(item.base.as_ref()).is_some_and(|(it, base)| it.bytes == base.bytes)
    };
    let mut file = match (own, other) {
        (Some(own), Some(_)) if is_unchanged(1) => one_side(own, path),
        (Some(own), Some(_)) if has_base_content(1) && !is_unchanged(0) => one_side(own, path),
        (Some(_), Some(other)) if has_base_content(0) => one_side(other, path),
        (Some(own), Some(other)) => {
            let by_hand = sides.last_changes_of_file().map(|it| it.is_by_hand);
            let layout = usize::from(by_hand == [false, true]);
            let (base, changes) = (renamed.base.as_ref(), LastFileChanges::Sides(sides));
            merge_file(ChangedFile { path, base, sides: [own, other], changes, layout })
        }
        (Some(it), None) | (None, Some(it)) if item.base.is_none() => one_side(it, path),
        (Some(it), None) | (None, Some(it)) => kept_file(&renamed, item, it, sides)?,
        (None, None) => return None,
    };
    file.conflicts.extend(path_conflict(&renamed, path, sides));
    Some(file)
}

/// Returns an item with the names after the merge in its paths and references.
fn renamed_item(item: &Item, names: &MergedNames) -> Item {
    let MergedNames { base_changes, side_changes, .. } = names;
    let side =
        |side: usize| item.sides[side].as_ref().map(|it| side_changes[side].rename_in_version(it));
    let renamed = Item {
        base: item.base.as_ref().map(|it| base_changes.rename_in_version(it)),
        sides: [side(0), side(1)],
    };
    move_to_renamed_rooms(&renamed, base_changes, side_changes)
}

/// Takes the version of one side; the first line of a moved file points editors to its schema.
fn one_side(version: &Version, path: &str) -> MergedFile {
    let text = version.text().filter(|_| version.path != path);
    let retargeted = text.map(|it| retarget_modeline(path, it).into_bytes());
    let bytes = retargeted.unwrap_or_else(|| version.bytes.clone());
    MergedFile { bytes, ..MergedFile::default() }
}

/// Returns whether a version has a comment that the base does not have.
fn has_new_comment(base: &Version, version: &Version) -> bool {
    let (Some(old), Some(new)) = (base.text(), version.text()) else { return false };
    add_missing_comments(&base.path, old, old, new) != old
}

/// Keeps a file that one side has changed and the other has deleted; `None` if it has changed only
/// by renames of other items.
fn kept_file(
    renamed: &Item,
    item: &Item,
    version: &Version,
    sides: &OrderedSides<'_>,
) -> Option<MergedFile> {
    let base = renamed.base.as_ref()?;
    let tree = |it: &Version| parse_fields_and_body(&it.path, it.text()?);
    let raw = [item.base.as_ref(), item.sides.iter().flatten().next()].map(|it| it.and_then(tree));
    let is_changed_by_renames = raw[0] != raw[1] && tree(base) == tree(version);
    if is_changed_by_renames && base.path == version.path && !has_new_comment(base, version) {
        return None;
    }
    let kept = usize::from(renamed.sides[sides.first].is_none());
    let mut values = [None, None];
    values[kept] = Some(Value::from(version.lossy_text()));
    let conflict = FieldConflict::new("", values, sides.last_changes_of_file(), kept);
    Some(MergedFile { bytes: version.bytes.clone(), conflicts: vec![conflict], second: None })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;
    use unicode_normalization::UnicodeNormalization as _;

    use crate::merge::conflict::MergeConflict;
    use crate::merge::fixture::merge;
    use crate::merge::palaces::MergeOutcome;
    use palazzo_core::model::Files;

    const HALL: &str = "rooms/hall.yaml";
    const ADA: &str = "entities/person/ada.yaml";
    const ROOM: &str = "id: 01KR0000000000000000000001\nname: Hall\ndescription: Stone.\n";
    const ENTITY: &str = "id: 01KR0000000000000000000002\nname: Ada\ngenus: Person\n";
    const FRIEND: &str = "name: Bob\ngenus: Person\nrelations:\n  - { type: knows, to: Ada }\n";

    fn files(files: &[(&str, &str)]) -> Files {
        files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
    }

    /// Merges two changes by tools.
    fn merge_files(
        base: &[(&str, &str)],
        a: &[(&str, &str)],
        b: &[(&str, &str)],
    ) -> (Files, Vec<MergeConflict>) {
        let [base, a, b] = [base, a, b].map(files);
        let (merged, MergeOutcome { conflicts, .. }) = merge(&base, [&a, &b], [false; 2]);
        (merged, conflicts)
    }

    fn merge_texts(path: &str, [base, a, b]: [&str; 3]) -> (String, Vec<MergeConflict>) {
        let (merged, conflicts) = merge_files(&[(path, base)], &[(path, a)], &[(path, b)]);
        (merged[path].clone(), conflicts)
    }

    fn fields(conflicts: &[MergeConflict]) -> Vec<&str> {
        conflicts.iter().map(|it| it.field.as_str()).collect()
    }

    #[test]
    fn keys_that_this_version_does_not_know_are_merged() {
        let base = format!("{ROOM}light:\n  north: 1\n  south: 2\n");
        let a = base.replace("north: 1", "north: 3");
        let b = base.replace("south: 2", "south: 4\n  west: [a, b]");
        let (merged, conflicts) = merge_texts(HALL, [&base, &a, &b]);
        assert_eq!(merged, b.replace("north: 1", "north: 3"));
        assert_eq!(conflicts, []);
    }

    #[test]
    fn comments_and_layout_of_both_sides_stay() {
        let base = format!("{ROOM}actions:\n- {{ label: Look, type: text, content: Dust. }}\n");
        let a = base.replace("name:", "# by hand\nname:")
            + "- label: Listen # quietly\n  type: text\n  content: Rain.\n";
        let b = base.replace("Stone.", "Grey stone. # cold")
            + "- label: Wait\n  type: text\n  content: Hours.\n";
        let (merged, conflicts) = merge_texts(HALL, [&base, &a, &b]);
        insta::assert_snapshot!(merged, @"
        id: 01KR0000000000000000000001
        # by hand
        name: Hall
        description: Grey stone. # cold
        actions:
        - { label: Look, type: text, content: Dust. }
        - label: Wait
          type: text
          content: Hours.
        - label: Listen # quietly
          type: text
          content: Rain.
        ");
        assert_eq!(conflicts, []);
    }

    #[test]
    fn two_bodies_of_one_scroll_become_two_scrolls() {
        let path = "scrolls/hall/01KR0000000000000000000003-t.md";
        let scroll = "---\nid: 01KR0000000000000000000003\ntitle: T\nwritten: 2026-03-01\n---\n\n";
        let [base, a, b] = ["Old.\n", "From A.\n", "From B.\n"].map(|it| format!("{scroll}{it}"));
        let (merged, conflicts) = merge_files(&[(path, &base)], &[(path, &a)], &[(path, &b)]);
        assert_eq!(merged[path], b);
        let (second, text) = merged.iter().find(|(it, _)| *it != path).unwrap();
        let id = &second["scrolls/hall/".len()..][..26];
        assert!(id.starts_with("01KR000000") && second.ends_with("-t.md"), "{second}");
        assert_eq!(*text, a.replace("01KR0000000000000000000003", id));
        assert_eq!(fields(&conflicts), ["body"]);
        assert_eq!(conflicts[0].other, Some(Value::from("From A.\n")));
    }

    #[test]
    fn a_body_that_one_side_has_changed_is_taken() {
        let path = "drawers/a/b/01KR0000000000000000000003-t.md";
        let base = "---\nwing: a\nroom: b\n---\n\nOld.\n";
        let (a, b) = (base.replace("Old", "New"), base.replace("room: b", "room: b\nby: me"));
        let (merged, conflicts) = merge_texts(path, [base, &a, &b]);
        assert_eq!(merged, b.replace("Old", "New"));
        assert_eq!(conflicts, []);
    }

    #[test]
    fn the_side_that_can_be_parsed_stands() {
        let a = ROOM.replace("Stone", "Grey stone");
        let (merged, conflicts) = merge_texts(HALL, [ROOM, &a, "name: [\n"]);
        assert_eq!(merged, a);
        assert_eq!(conflicts[0].other, Some(Value::from("name: [\n")));
        assert_eq!(conflicts[0].other_by.author, "claude");
    }

    #[test]
    fn references_of_both_sides_follow_an_entity_that_both_rename() {
        let bob = "entities/person/bob.yaml";
        let [a, b] = ["Ada Byron", "Ada Lovelace"]
            .map(|it| (ENTITY.replace("Ada", it), FRIEND.replace("Ada", it)));
        let (merged, conflicts) = merge_files(
            &[(ADA, ENTITY), (bob, FRIEND)],
            &[(ADA, &a.0), (bob, &a.1), ("tasks/a.yaml", "title: Ask\nentity: ada byron\n")],
            &[(ADA, &b.0), (bob, &b.1)],
        );
        assert_eq!((&merged[ADA], &merged[bob]), (&b.0, &b.1));
        assert_eq!(merged["tasks/a.yaml"], "title: Ask\nentity: Ada Lovelace\n");
        assert_eq!(fields(&conflicts), ["name"]);
        assert_eq!(conflicts[0].id.as_deref(), Some("01KR0000000000000000000002"));
        assert_eq!(conflicts[0].name().len(), 16);
    }

    #[test]
    fn an_entity_that_one_side_renames_and_the_other_makes_is_one() {
        let a = ENTITY.replace("Ada", "Eve") + "observations:\n  - From A.\n";
        let eve = "id: 01KR0000000000000000000001\nname: Eve\ngenus: Person\nobservations:\n  - From B.\n";
        let path = "entities/person/eve.yaml";
        let (merged, conflicts) =
            merge_files(&[(ADA, ENTITY)], &[(ADA, &a)], &[(ADA, ENTITY), (path, eve)]);
        let joined = "id: 01KR0000000000000000000001\nname: Eve\ngenus: Person\nobservations:\n  - From A.\n  - From B.\n";
        assert_eq!(merged, files(&[(ADA, joined)]));
        assert_eq!(conflicts, []);
    }

    #[test]
    fn two_entities_that_the_sides_give_one_name_are_one() {
        let (bob, task) = ("entities/person/bob.yaml", "tasks/a.yaml");
        let other = "id: 01KR0000000000000000000009\nname: Bob\ngenus: Person\nstatus: known\n";
        let base = [(ADA, ENTITY), (bob, other), (task, "title: Ask\n")];
        let (a, b) = (ENTITY.replace("Ada", "Eve"), other.replace("Bob", "Eve"));
        let asked = "title: Ask\nentity: Bob\n";
        let (merged, conflicts) = merge_files(
            &base,
            &[(ADA, &a), (bob, other), (task, asked)],
            &[(ADA, ENTITY), (bob, &b), (task, "title: Ask\n")],
        );
        let joined = a + "status: known\n";
        let asked = asked.replace("Bob", "Eve");
        assert_eq!(merged, files(&[(ADA, &joined), (task, &asked)]));
        assert_eq!(conflicts, []);
    }

    #[test]
    fn a_new_room_gets_another_slug_if_the_other_side_gives_its_slug_to_a_known_room() {
        let new = "name: New loft\nportals: [loft]\n";
        let (merged, conflicts) = merge_files(
            &[(HALL, ROOM)],
            &[("rooms/loft.yaml", ROOM)],
            &[(HALL, ROOM), ("rooms/loft.yaml", new)],
        );
        let moved = new.replace("[loft]", "[loft-2]");
        assert_eq!(merged, files(&[("rooms/loft.yaml", ROOM), ("rooms/loft-2.yaml", &moved)]));
        assert_eq!(fields(&conflicts), ["path"]);
    }

    #[test]
    fn a_deletion_stands_if_the_other_side_only_follows_a_rename() {
        let bob = "entities/person/bob.yaml";
        let renamed = ENTITY.replace("Ada", "Eve");
        let (merged, conflicts) = merge_files(
            &[(ADA, ENTITY), (bob, FRIEND)],
            &[(ADA, ENTITY)],
            &[(ADA, &renamed), (bob, &FRIEND.replace("Ada", "Eve"))],
        );
        assert_eq!(merged, files(&[(ADA, &renamed)]));
        assert_eq!(conflicts, []);
    }

    #[test]
    fn references_to_deleted_rooms_and_entities_are_conflicts_in_every_file() {
        let base = [(ADA, ENTITY), (HALL, ROOM), ("rooms/attic.yaml", "name: Attic\n")];
        let actions = "actions:\n- { label: Go, room: attic }\n- { label: See, entity: Ada }\n\
            - { label: Ask, tool: get_entity, tool_params: { name: Ada, room: attic } }\n\
            - { label: Read, content: \"[[Ada]]\" }\nportals: [attic]\n";
        let new = [
            base[0],
            base[2],
            (HALL, &format!("{ROOM}{actions}")),
            ("entities/person/bob.yaml", FRIEND),
            ("palace.toml", "entry = \"attic\"\n"),
            ("tasks/a.yaml", "title: Ask\nentity: Ada\nroom: attic\n"),
        ];
        let (_, conflicts) = merge_files(&base, &[base[1]], &new);
        let shown: Vec<_> =
            conflicts.iter().map(|it| format!("{} {}", it.path, it.field)).collect();
        insta::assert_snapshot!(shown.join("\n"), @r#"
        entities/person/bob.yaml relations["knows Ada"].to
        palace.toml entry
        rooms/hall.yaml actions["Go"].room
        rooms/hall.yaml actions["See"].entity
        rooms/hall.yaml portals["attic"]
        tasks/a.yaml entity
        tasks/a.yaml room
        "#);
    }

    #[test]
    fn the_scrolls_that_a_scroll_replaces_are_merged_as_a_set() {
        let path = "scrolls/hall/01KR0000000000000000000003-t.md";
        let base = "---\nid: 01KR0000000000000000000003\ntitle: T\nwritten: 2026-03-01\n\
            replaces: [01KR0000000000000000000001]\n---\n\nText.\n";
        let [a, b] = ["4", "5"]
            .map(|it| base.replace("0001]", &format!("0001, 01KR000000000000000000000{it}]")));
        let (merged, conflicts) = merge_texts(path, [base, &a, &b]);
        let both =
            "01KR0000000000000000000001, 01KR0000000000000000000005, 01KR0000000000000000000004";
        assert_eq!(merged, base.replace("01KR0000000000000000000001", both));
        assert_eq!(conflicts, []);
    }

    #[test]
    fn two_new_files_whose_names_differ_only_in_unicode_form_get_two_names() {
        let [a, b] = ["caf\u{e9}", "cafe\u{301}"]
            .map(|it| (format!("entities/place/{it}.yaml"), format!("name: {it}\ngenus: Place\n")));
        let (merged, conflicts) = merge_files(&[], &[(&a.0, &a.1)], &[(&b.0, &b.1)]);
        let names: BTreeSet<_> = merged.keys().map(|it| it.nfc().collect::<String>()).collect();
        let [first, second] = ["", "-2"].map(|it| format!("entities/place/caf\u{e9}{it}.yaml"));
        assert_eq!(names, BTreeSet::from([first, second]));
        assert_eq!(conflicts, []);
    }

    #[test]
    fn former_names_are_merged_as_a_set() {
        let base = ENTITY.replace("genus", "former_names: [A]\ngenus");
        let (a, b) = (base.replace("[A]", "[A, B]"), base.replace("[A]", "[A, C]"));
        let (merged, conflicts) = merge_texts(ADA, [&base, &a, &b]);
        assert_eq!(merged, base.replace("[A]", "[A, C, B]"));
        assert_eq!(conflicts, []);
    }

    #[test]
    fn other_files_are_merged_by_lines() {
        let (merged, conflicts) = merge_texts("notes.md", ["a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n"]);
        assert_eq!((merged.as_str(), conflicts.len()), ("A\nb\nC\n", 0));
        let (merged, conflicts) = merge_texts("notes.md", ["a\n", "b\n", "c\n"]);
        assert_eq!((merged.as_str(), fields(&conflicts)), ("c\n", vec![""]));
    }
}
