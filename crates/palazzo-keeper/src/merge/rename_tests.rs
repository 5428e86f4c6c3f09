//! Renames, and what follows them; files without ids; names that differ only in case.

use crate::merge::conflict::MergeConflict;
use crate::merge::fixture::merge;
use palazzo_core::model::Files;

const ADA: &str = "entities/person/ada.yaml";
const ADA_TEXT: &str = "id: 01KR0000000000000000000002\nname: Ada\ngenus: Person\n";
const BOOK_GENUS: &str = "name: Book\nattributes: { by: link to Person, title: text }\n";
const HALL_TEXT: &str = "id: 01KR0000000000000000000001\nname: Hall\ndescription: Stone.\n";
const OTHER: (&str, &str) = ("entities/person/bob.yaml", "name: Bob\ngenus: Person\n");

fn files(files: &[(&str, &str)]) -> Files {
    files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
}

/// Merges two changes; the first is made by hand if `by_hand`.
fn merge_files(
    base: &[(&str, &str)],
    a: &[(&str, &str)],
    b: &[(&str, &str)],
    by_hand: bool,
) -> (Files, Vec<MergeConflict>) {
    let [base, a, b] = [base, a, b].map(files);
    let (merged, outcome) = merge(&base, [&a, &b], [by_hand, false]);
    (merged, outcome.conflicts)
}

#[test]
fn references_in_unchanged_files_follow_an_entity_that_a_person_renames() {
    let (task, room) = ("title: Ask\nentity: Ada\n", "name: Den\ndescription: Of [[Ada]].\n");
    let friend = "name: Eve\ngenus: Person\nrelations:\n  - type: knows\n    to: Ada\n";
    let unchanged =
        [("tasks/a.yaml", task), ("rooms/den.yaml", room), ("entities/person/eve.yaml", friend)];
    let with = |own: &[(&'static str, &str)]| files(&[own, &unchanged].concat());
    let renamed = ADA_TEXT.replace("Ada", "Ada Byron");
    let base = with(&[(ADA, ADA_TEXT)]);
    let (a, b) = (with(&[(ADA, &renamed)]), with(&[(ADA, ADA_TEXT), OTHER]));
    let (merged, outcome) = merge(&base, [&a, &b], [true, false]);
    assert_eq!(merged["tasks/a.yaml"], task.replace("Ada", "Ada Byron"));
    assert_eq!(merged["rooms/den.yaml"], room.replace("Ada", "Ada Byron"));
    assert_eq!(merged["entities/person/eve.yaml"], friend.replace("Ada", "Ada Byron"));
    assert_eq!(outcome.conflicts, []);
    // A tool has changed all references that it was to change.
    let (merged, _) = merge(&base, [&a, &b], [false, false]);
    assert_eq!(merged["tasks/a.yaml"], task);
}

#[test]
fn a_comment_within_a_relation_stays_if_the_target_is_renamed() {
    let (eve, text) = (
        "entities/person/eve.yaml",
        "name: Eve\ngenus: Person\nrelations:\n- type: knows\n  to: Ada\n",
    );
    let renamed = ADA_TEXT.replace("Ada", "Ada Byron");
    let commented = text.replace("  to:", "  # since school\n  to:");
    let base = [(ADA, ADA_TEXT), (eve, text)];
    let a = [(ADA, renamed.as_str()), (eve, text)];
    let (merged, _) = merge_files(&base, &a, &[(ADA, ADA_TEXT), (eve, &commented)], true);
    assert_eq!(merged[eve], commented.replace("Ada", "Ada Byron"));
}

#[test]
fn doors_in_unchanged_files_follow_a_room_that_a_person_renames_if_they_lead_nowhere() {
    let settings = "name = \"T\"\nentry = \"hall\"\n";
    let den = "name: Den\ndescription: Small.\nportals: [hall, west/hall]\n";
    let base = [("palace.toml", settings), ("rooms/den.yaml", den), ("rooms/hall.yaml", HALL_TEXT)];
    let moved = |path: &'static str| [base[0], base[1], (path, HALL_TEXT)];
    let with_other = [base[0], base[1], base[2], OTHER];
    let (merged, _) = merge_files(&base, &moved("rooms/nave.yaml"), &with_other, true);
    assert_eq!(merged["palace.toml"], settings.replace("hall", "nave"));
    assert_eq!(merged["rooms/den.yaml"], den.replace("[hall,", "[nave,"));
    // The name alone still leads to the room in the wing.
    let (merged, _) = merge_files(&base, &moved("rooms/west/hall.yaml"), &with_other, true);
    assert_eq!((&*merged["palace.toml"], &*merged["rooms/den.yaml"]), (settings, den));
    let new_hall = "id: 01KR0000000000000000000009\nname: New\ndescription: Wood.\n";
    let replaced =
        [base[0], base[1], ("rooms/hall.yaml", new_hall), ("rooms/nave.yaml", HALL_TEXT)];
    let (merged, _) = merge_files(&base, &replaced, &with_other, true);
    assert_eq!((&*merged["palace.toml"], &*merged["rooms/den.yaml"]), (settings, den));
}

#[test]
fn drawers_follow_a_room_that_the_other_side_renames() {
    let room = "id: 01KR0000000000000000000001\nname: Hall\ndescription: Stone.\n";
    let drawer = "---\nid: 01KR0000000000000000000003\nwing: Code\nroom: The Hall\n---\n\nWords.\n";
    let path = |folder: &str| format!("drawers/{folder}/01KR0000000000000000000003-words.md");
    let merged_at = |from: &str, to: &str, old: &str| {
        let [from, to] = [from, to].map(|it| format!("rooms/{it}.yaml"));
        let with_drawer = [(from.as_str(), room), (&path(old), drawer)];
        let (merged, conflicts) =
            merge_files(&[(&from, room)], &[(&to, room)], &with_drawer, false);
        assert_eq!(conflicts, []);
        let found = merged.into_iter().find(|(path, _)| path.starts_with("drawers/"));
        found.unwrap()
    };
    let renamed = drawer.replace("The Hall", "nave");
    assert_eq!(merged_at("code/hall", "code/nave", "code/hall"), (path("code/nave"), renamed));
    let in_wing = drawer.replace("Code", "west");
    assert_eq!(merged_at("code/hall", "west/hall", "code/hall"), (path("west/hall"), in_wing));
    let stays = (path("code/hall"), drawer.to_owned());
    assert_eq!(merged_at("code/hall", "hall", "code/hall"), stays);
    assert_eq!(merged_at("hall", "west/nave", "code/hall"), stays);
    let renamed = drawer.replace("The Hall", "nave");
    assert_eq!(merged_at("hall", "nave", "code/hall"), (path("code/nave"), renamed));
}

#[test]
fn attributes_that_link_to_an_entity_follow_its_rename() {
    let genus = ("genera/book.yaml", BOOK_GENUS);
    let book = "name: Notes\ngenus: Book\nattributes: { by: Ada, title: Ada }\n";
    let query = "name: Den\ndescription: x\nactions:\n- label: Find\n  type: query\n  tool: find_entities\n  tool_params: { attributes: { by: Ada } }\n";
    let renamed = ADA_TEXT.replace("Ada", "Eve");
    let (merged, conflicts) = merge_files(
        &[genus, (ADA, ADA_TEXT)],
        &[genus, (ADA, &renamed)],
        &[genus, (ADA, ADA_TEXT), ("entities/book/notes.yaml", book), ("rooms/den.yaml", query)],
        false,
    );
    assert_eq!(merged["entities/book/notes.yaml"], book.replace("by: Ada", "by: Eve"));
    assert_eq!(merged["rooms/den.yaml"], query.replace("by: Ada", "by: Eve"));
    assert_eq!(conflicts, []);
}

#[test]
fn a_file_without_an_id_that_one_side_moves_and_edits_is_merged_with_its_edited_version() {
    let base = "name: Hall\ndescription: |\n  Stone.\n  A clock.\nportals: [den]\n";
    let moved = base.replace("A clock.", "A clock that ticks.");
    let edited = base.replace("[den]", "[den, well]");
    let (merged, conflicts) = merge_files(
        &[("rooms/hall.yaml", base)],
        &[("rooms/nave.yaml", &moved)],
        &[("rooms/hall.yaml", &edited)],
        false,
    );
    let both = moved.replace("[den]", "[den, well]");
    assert_eq!(merged, files(&[("rooms/nave.yaml", &both)]));
    assert_eq!(conflicts, []);
}

#[test]
fn new_files_whose_paths_differ_only_in_case_get_two_names() {
    let entity = |name: &str| format!("name: {name}\ngenus: Claim\n");
    let (a, b) = (entity("Foo"), entity("Foo bar"));
    let (merged, conflicts) = merge_files(
        &[],
        &[("entities/claim/Foo.yaml", &a)],
        &[("entities/claim/foo.yaml", &b)],
        false,
    );
    let paths: Vec<_> = merged.keys().map(String::as_str).collect();
    assert_eq!(paths, ["entities/claim/Foo.yaml", "entities/claim/foo-2.yaml"]);
    assert_eq!(conflicts, []);
    let (merged, conflicts) = merge_files(
        &[],
        &[("tasks/Old/a.yaml", "title: A\n")],
        &[("tasks/old/a.yaml", "title: B\n"), ("tasks/old/b.yaml", "title: C\n")],
        false,
    );
    let folders: Vec<_> = merged.keys().map(|it| &it[.."tasks/old/".len()]).collect();
    assert!(folders.len() == 3 && folders.iter().all(|it| it == &folders[0]), "{folders:?}");
    assert_eq!(conflicts, []);
}

#[test]
fn files_of_one_side_whose_paths_differ_only_in_case_stay() {
    let a = [("tasks/A.yaml", "title: A\n"), ("tasks/a.yaml", "title: B\n")];
    let (merged, _) = merge_files(&[], &a, &[("tasks/b.yaml", "title: C\n")], false);
    assert_eq!(merged.keys().collect::<Vec<_>>(), ["tasks/A.yaml", "tasks/a.yaml", "tasks/b.yaml"]);
}
