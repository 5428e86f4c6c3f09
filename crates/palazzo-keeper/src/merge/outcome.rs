//! Merges all items of two palaces.

use std::collections::{BTreeSet, HashMap};

use crate::merge::changes::{FilePart, MergeInput, RawFiles, Version};
use crate::merge::conflict::MergeConflict;
use crate::merge::conflict_file::is_settled_on_a_side;
use crate::merge::deletions::{
    DanglingReference, deleted_item, find_dangling_references, rooms_with_new_scrolls,
};
use crate::merge::file::{ChangedFile, FileChanges, MergedFile, merge_file};
use crate::merge::items::{Item, entity_name, find_items, id_of_file, room_of_path};
use crate::merge::last_changes::OrderedSides;
use crate::merge::merged_item::merge_item;
use crate::merge::names::decide_names;
use crate::merge::unchanged_files::rename_in_unchanged_files;
use palazzo_core::merge::FieldConflict;
use palazzo_core::model::RoomId;

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
    let authors = [known.sides.of_existing_file(), item.sides.of_existing_file()];
    let file = merge_file(ChangedFile {
        path: &known.path,
        base: None,
        sides: [&sides[0], &sides[1]],
        changes: FileChanges::Authors(&authors),
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;
    use unicode_normalization::UnicodeNormalization as _;

    use crate::merge::fixture::merge;
    use crate::merge::{MergeConflict, MergeOutcome};
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
