//! Random changes on two sides: the merge is symmetric and loses nothing.

use std::collections::BTreeSet;

use chrono::DateTime;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::merge::fixture::{merge, merge_changes};
use palazzo_core::format::{
    FieldsAndBody, edit_fields_and_body, file_kind, parse_fields_and_body, parse_palace,
};
use palazzo_core::merge::LastChange;
use palazzo_core::model::{Files, Severity};

const HALL: &str = "rooms/hall.yaml";
const ADA: &str = "entities/person/ada.yaml";
const BOB: &str = "entities/person/bob.yaml";

/// One random change: what, to which of several files or items, and where.
type Change = (u8, u8, u8);

fn base() -> Files {
    let files = [
        (
            "palace.toml",
            "# Ours\nname = \"Keep\"\nentry = \"hall\" # first\n\n[actions]\nallow = [\"x\"]\n",
        ),
        (
            HALL,
            "id: 01KR0000000000000000000001\nname: Hall\ndescription: |\n  A wide hall of grey stone, with\n  a table and a clock that ticks.\n\n  It is cold.\nactions:\n  # the clock\n  - label: Listen\n    type: text\n    content: |\n      Tick.\n  - label: Go up\n    type: navigate\n    room: attic # above\n  - label: See Ada\n    type: query\n    entity: Ada\nportals: [attic]\n",
        ),
        (
            "rooms/attic.yaml",
            "id: 01KR0000000000000000000002\nname: Attic\ndescription: Dust, and [[Ada|her]] letters.\nactions:\n- label: Go down\n  type: navigate\n  room: hall\n- { label: Look, type: text, content: Dust. }\n",
        ),
        (
            ADA,
            "id: 01KR0000000000000000000003\nname: Ada\ngenus: Person\nstatus: known\nattributes: { born: 1815, field: mathematics }\nobservations:\n  - She wrote a program before there was a computer.\n  - Her notes are longer than the paper.\n  - She died in London.\nrelations:\n  - { type: knows, to: Bob, since: 1833 }\n",
        ),
        (
            BOB,
            "id: 01KR0000000000000000000004\nname: Bob\ngenus: Person\n# what he did\nobservations:\n  - He built an engine.\nrelations:\n  - type: knows\n    to: Ada\n",
        ),
        (
            "tasks/01KR0000000000000000000005.yaml",
            "title: Dust\nroom: attic\nentity: Ada\nstatus: open\n",
        ),
        (
            "processes/01KR0000000000000000000006.yaml",
            "name: Move\nsteps:\n  - Pack\n  - step: Carry\n    note: Slowly.\n  - Unpack\nstep: 1\nstatus: running\n",
        ),
        (
            "scrolls/attic/01KR0000000000000000000007-t.md",
            "---\nid: 01KR0000000000000000000007\ntitle: T\nwritten: 2026-03-01T12:00:00Z\nby: ada\n---\n\nWords.\n",
        ),
    ];
    files.into_iter().map(|(path, text)| (path.to_owned(), text.to_owned())).collect()
}

/// Changes the tree of a file, as a tool does.
fn edit(files: &mut Files, path: &str, change: impl FnOnce(&mut FieldsAndBody)) {
    let Some(text) = files.get(path) else { return };
    let mut tree = parse_fields_and_body(path, text).unwrap();
    change(&mut tree);
    if let Some(edited) = edit_fields_and_body(path, text, &tree) {
        files.insert(path.to_owned(), edited);
    }
}

fn list<'a>(tree: &'a mut FieldsAndBody, key: &str) -> &'a mut Vec<Value> {
    tree.fields.entry(key).or_insert_with(|| json!([])).as_array_mut().unwrap()
}

fn path_at(files: &Files, folder: &str, index: u8) -> Option<String> {
    let paths: Vec<_> = files.keys().filter(|it| it.starts_with(folder)).collect();
    paths.get(usize::from(index) % paths.len().max(1)).map(|it| (*it).clone())
}

fn remove_at(items: &mut Vec<Value>, index: u8) -> Option<Value> {
    (!items.is_empty()).then(|| items.remove(usize::from(index) % items.len()))
}

fn insert_at(items: &mut Vec<Value>, index: u8, item: Value) {
    items.insert(usize::from(index) % (items.len() + 1), item);
}

/// Makes one change; `word` is new and marks what it adds.
fn apply(files: &mut Files, (what, which, place): Change, word: &str) {
    let room = path_at(files, "rooms/", which).unwrap_or_default();
    let entity = path_at(files, "entities/", which).unwrap_or_default();
    match what % 15 {
        0..=2 => change_room(files, &room, (what, which, place), word),
        3..=5 => change_entity(files, &entity, (what, which, place), word),
        6 => rename_something(files, which, &room, &entity, word),
        7 => {
            let path = if which % 2 == 0 { room } else { entity };
            if place % 4 == 0 {
                files.remove(&path);
            }
        }
        8 => add_something(files, which, place, word),
        9 => add_comment(files, which, place, word),
        10 => change_work(files, which, word),
        11 => rename_by_hand(files, which, &room, &entity, word),
        12 => add_case_twin(files, which, place, word),
        13 => move_work(files, which, place, word),
        _ => change_settings(files, which, word),
    }
}

fn change_room(files: &mut Files, room: &str, (what, which, place): Change, word: &str) {
    edit(files, room, |tree| match (what % 3, which / 3 % 4) {
        (0, 0) => {
            let action = json!({ "label": word, "type": "text", "content": "New.\n" });
            insert_at(list(tree, "actions"), place, action);
        }
        (0, 1) => drop(remove_at(list(tree, "actions"), place)),
        (0, 2) => {
            if let Some(action) = remove_at(list(tree, "actions"), place) {
                insert_at(list(tree, "actions"), which, action);
            }
        }
        (0, _) => insert_at(list(tree, "portals"), place, json!(word)),
        (1, 0..=1) => {
            let count = list(tree, "actions").len().max(1);
            let item = list(tree, "actions").get_mut(usize::from(place) % count);
            let key = if which % 2 == 0 { "label" } else { "content" };
            if let Some(Value::String(text)) = item.and_then(|it| it.get_mut(key)) {
                *text = change_word(text, place, word);
            }
        }
        _ => {
            if let Some(Value::String(text)) = tree.fields.get_mut("description") {
                *text = change_word(text, place, word);
            }
        }
    });
}

fn change_entity(files: &mut Files, entity: &str, (what, which, place): Change, word: &str) {
    edit(files, entity, |tree| match (what % 3, which / 3 % 4) {
        (0, 0..=1) => {
            let text = format!("They saw the {word} there.");
            insert_at(list(tree, "observations"), place, json!(text));
        }
        (0, 2) => drop(remove_at(list(tree, "observations"), place)),
        (0, _) => {
            if let Some(Value::String(text)) = remove_at(list(tree, "observations"), place) {
                let text = change_word(&text, which, word);
                insert_at(list(tree, "observations"), place, json!(text));
            }
        }
        (1, 0..=1) => {
            let to = if place % 2 == 0 { "Ada" } else { "Bob" };
            let relation = json!({ "type": "saw", "to": to, "source": word });
            insert_at(list(tree, "relations"), place, relation);
        }
        (1, 2) => drop(remove_at(list(tree, "relations"), place)),
        (1, _) => drop(tree.fields.insert("status".to_owned(), json!(word))),
        _ => {
            let key = ["born", "field", "other"][usize::from(place) % 3];
            let attributes = tree.fields.entry("attributes").or_insert_with(|| json!({}));
            attributes.as_object_mut().unwrap().insert(key.to_owned(), json!(word));
        }
    });
}

fn change_word(text: &str, place: u8, word: &str) -> String {
    let words: Vec<_> = text.split(' ').collect();
    let old = words[usize::from(place) % words.len()];
    let kept = old.trim_start_matches(|it: char| it.is_alphanumeric());
    text.replacen(old, &format!("{word}{kept}"), 1)
}

fn rename_something(files: &mut Files, which: u8, room: &str, entity: &str, word: &str) {
    if which.is_multiple_of(2) {
        let Some(text) = files.remove(room) else { return };
        let new = if which.is_multiple_of(4) { word.to_owned() } else { format!("wing/{word}") };
        files.insert(format!("rooms/{new}.yaml"), text);
        let old = room.trim_start_matches("rooms/").trim_end_matches(".yaml").to_owned();
        let scrolls = format!("scrolls/{old}/");
        let in_room: Vec<_> = files.keys().filter(|it| it.starts_with(&scrolls)).cloned().collect();
        for path in in_room {
            let text = files.remove(&path).unwrap();
            files.insert(path.replace(&scrolls, &format!("scrolls/{new}/")), text);
        }
        for text in files.values_mut() {
            *text = text.replace(&format!("room: {old}"), &format!("room: {new}"));
            *text = text.replace(&format!("entry = \"{old}\""), &format!("entry = \"{new}\""));
        }
    } else {
        let Some(tree) = files.get(entity).and_then(|it| parse_fields_and_body(entity, it)) else {
            return;
        };
        let Some(old) = tree.fields["name"].as_str() else { return };
        edit(files, entity, |tree| drop(tree.fields.insert("name".to_owned(), json!(word))));
        for text in files.values_mut() {
            *text = text.replace(&format!("to: {old}"), &format!("to: {word}"));
            *text = text.replace(&format!("entity: {old}"), &format!("entity: {word}"));
        }
    }
}

/// Renames a room or an entity, and leaves all references.
fn rename_by_hand(files: &mut Files, which: u8, room: &str, entity: &str, word: &str) {
    if which.is_multiple_of(2) {
        let Some(text) = files.remove(room) else { return };
        let wing = if which.is_multiple_of(4) { "" } else { "west/" };
        files.insert(format!("rooms/{wing}{word}.yaml"), text);
    } else {
        edit(files, entity, |tree| drop(tree.fields.insert("name".to_owned(), json!(word))));
    }
}

/// Adds a file whose path another one of the same generator has but for the case.
fn add_case_twin(files: &mut Files, which: u8, place: u8, word: &str) {
    let folder = ["person", "Person"][usize::from(which) % 2];
    let name = ["twin", "Twin", "TWIN"][usize::from(place) % 3];
    let text = format!("name: {word}\ngenus: Person\n");
    files.entry(format!("entities/{folder}/{name}.yaml")).or_insert(text);
}

/// Moves a task or a process, which have no ids, and adds a field.
fn move_work(files: &mut Files, which: u8, place: u8, word: &str) {
    let folder = ["tasks/", "processes/"][usize::from(which) % 2];
    let Some(path) = path_at(files, folder, place) else { return };
    let Some(text) = files.remove(&path) else { return };
    let path = format!("{folder}{word}.yaml");
    files.insert(path.clone(), text);
    if place.is_multiple_of(2) {
        edit(files, &path, |tree| drop(tree.fields.insert("entity".to_owned(), json!(word))));
    }
}

fn add_something(files: &mut Files, which: u8, place: u8, word: &str) {
    let name = ["Eve", "Carl"][usize::from(place) % 2];
    let (path, text) = match which % 3 {
        0 => (
            format!("scrolls/attic/01KR00000000000000000001{:02}-t.md", which % 100),
            format!("---\ntitle: {word}\nwritten: 2026-03-01T12:00:00Z\nby: x\n---\n\n{word}\n"),
        ),
        1 => (
            format!("entities/person/{}.yaml", name.to_lowercase()),
            format!("name: {name}\ngenus: Person\nobservations:\n  - They saw the {word}.\n"),
        ),
        _ => (
            format!("rooms/{}.yaml", ["cellar", "tower"][usize::from(place) % 2]),
            format!(
                "name: New\ndescription: |\n  A {word}.\nactions:\n  - label: {word}\n    type: text\n    content: x\n"
            ),
        ),
    };
    files.entry(path).or_insert(text);
}

/// Adds a comment above a line, if the file then still has the same content.
fn add_comment(files: &mut Files, which: u8, place: u8, word: &str) {
    let Some(path) = path_at(files, "", which) else { return };
    let text = files[&path].clone();
    let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
    let index = usize::from(place) % lines.len();
    let line = lines[index].clone();
    let indent = &line[..line.len() - line.trim_start().len()];
    lines.insert(index, format!("{indent}# {word}"));
    let new = lines.join("\n") + "\n";
    if parse_fields_and_body(&path, &new) == parse_fields_and_body(&path, &text) {
        files.insert(path, new);
    }
}

fn change_work(files: &mut Files, which: u8, word: &str) {
    let folder = ["tasks/", "processes/"][usize::from(which) % 2];
    let Some(path) = path_at(files, folder, 0) else { return };
    edit(files, &path, |tree| {
        let fields = &mut tree.fields;
        match which / 2 % 3 {
            0 if folder == "tasks/" => {
                fields.insert("status".to_owned(), json!("done"));
                fields.insert("note".to_owned(), json!(word));
            }
            0 => drop(fields.insert("step".to_owned(), json!(2))),
            1 => drop(fields.insert("room".to_owned(), json!("hall"))),
            _ if folder == "processes/" => insert_at(list(tree, "steps"), which, json!(word)),
            _ => drop(fields.insert("who".to_owned(), json!(word))),
        }
    });
}

fn change_settings(files: &mut Files, which: u8, word: &str) {
    edit(files, "palace.toml", |tree| {
        let fields = &mut tree.fields;
        match which % 3 {
            0 => drop(fields.insert("name".to_owned(), json!(word))),
            1 => fields["actions"]["allow"].as_array_mut().unwrap().push(json!(word)),
            _ => drop(fields.insert("menu".to_owned(), json!({ "layout": "classic" }))),
        }
    });
}

fn changed(base: &Files, changes: &[Change], side: &str) -> Files {
    let mut files = base.clone();
    for (index, change) in changes.iter().enumerate() {
        apply(&mut files, *change, &format!("zq{side}{index}"));
    }
    files
}

/// Returns the new words of a side.
fn words(files: &Files) -> BTreeSet<String> {
    let texts = files.iter().map(|(path, text)| format!("{path} {text} "));
    let texts = texts.collect::<Vec<_>>().concat();
    let words = texts.split(|it: char| !it.is_ascii_alphanumeric());
    words.filter(|it| it.starts_with("zq")).map(str::to_owned).collect()
}

/// Returns the errors of a palace, without the words that the sides have added.
fn errors(files: &Files) -> BTreeSet<String> {
    let (_, findings) = parse_palace("test", files);
    let errors = findings.into_iter().filter(|it| it.severity() == Severity::Error);
    errors.map(|it| format!("{}: {} {}", it.file, it.code, it.message)).collect()
}

/// Returns the files and folders whose paths differ only in case from one before.
fn case_twins(files: &Files) -> BTreeSet<(String, String)> {
    let parts = files.keys().flat_map(|path| {
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        ends.map(|end| path[..end].to_owned()).collect::<Vec<_>>()
    });
    let parts: BTreeSet<_> = parts.collect();
    let same = |a: &String, b: &String| a != b && a.to_lowercase() == b.to_lowercase();
    let pairs = parts.iter().flat_map(|a| parts.iter().map(move |b| (a, b)));
    pairs.filter(|(a, b)| same(a, b)).map(|(a, b)| (a.clone(), b.clone())).collect()
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    proptest::collection::vec(any::<Change>(), 1..6)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_merge_of_random_changes_is_symmetric_and_loses_nothing(
        a in changes(),
        b in changes(),
        by_hand: [bool; 2],
        is_later: bool,
    ) {
        let base = base();
        let [a, b] = [changed(&base, &a, "a"), changed(&base, &b, "b")];
        let side = |index: usize| LastChange {
            author: String::new(),
            at: DateTime::from_timestamp(i64::from(is_later && index == 1), 0).unwrap(),
            is_by_hand: by_hand[index],
            commit: String::new(),
        };
        let (merged, outcome) = merge_changes(&base, [&a, &b], &[side(0), side(1)]);
        let others = outcome.conflicts.iter().map(|it| format!("{:?} {}", it.other, it.path));
        let kept = words(&merged);
        let recorded = words(&others.enumerate().map(|(at, it)| (at.to_string(), it)).collect());
        for word in words(&a).union(&words(&b)) {
            prop_assert!(kept.contains(word) || recorded.contains(word), "{word} is lost");
        }
        let own: BTreeSet<_> = case_twins(&a).union(&case_twins(&b)).cloned().collect();
        let twins: Vec<_> = case_twins(&merged).difference(&own).cloned().collect();
        prop_assert!(twins.is_empty(), "{twins:?}");
        let known: BTreeSet<_> = errors(&a).union(&errors(&b)).cloned().collect();
        let new: Vec<_> = errors(&merged).difference(&known).cloned().collect();
        prop_assert!(new.is_empty(), "{new:?}");
        for (path, text) in &merged {
            prop_assert!(file_kind(path).is_none() || parse_fields_and_body(path, text).is_some(), "{path}");
        }
    }

    #[test]
    fn one_changed_side_or_two_equal_ones_are_taken_as_they_are(a in changes()) {
        let base = base();
        let a = changed(&base, &a, "a");
        for sides in [[&a, &a], [&base, &a]] {
            let (merged, outcome) = merge(&base, sides, [false; 2]);
            prop_assert_eq!(&merged, &a);
            prop_assert_eq!(outcome.conflicts, []);
        }
    }
}
