//! Tests over an in-memory connection: what an editor asks, and what it gets.

use std::fs;

use insta::assert_snapshot;
use serde_json::json;

use crate::lsp::test_editor::{ATTIC, Editor, HALL, file_operations, range, text};
use crate::lsp::uri::uri_of_path;

#[test]
fn an_open_file_has_its_findings_and_those_of_the_palace() {
    let mut editor = Editor::with_palace();
    let room = HALL.replace("name: Hall", "nmae: Hall");
    assert_snapshot!(editor.open("rooms/hall.yaml", HALL), @"10:11-10:17 unfinished-room: the room `cellar` is not built yet");
    let found = editor.change("rooms/hall.yaml", 2, &room);
    assert_snapshot!(found, @"
    1:1-1:3 missing-key: a room needs a `name`
    2:1-2:5 unknown-key: a room has no key `nmae`
    did you mean `name`?
    ");
    assert_snapshot!(editor.change("rooms/hall.yaml", 3, "name: [\n"), @"
    1:7-1:8 syntax: this is not YAML: unclosed bracket '['
    close the bracket, or quote the text
    ");
}

#[test]
fn definitions_and_references_of_rooms_and_entities_are_found() {
    let mut editor = Editor::with_palace();
    editor.open("rooms/hall.yaml", HALL);
    let attic = ("rooms/hall.yaml", HALL, "west/attic");
    let found = editor.ask_at("textDocument/definition", attic, &json!({}));
    assert_snapshot!(editor.shown_location(&found["result"]), @"rooms/west/attic.yaml 2:7-2:12");
    let all = json!({ "context": { "includeDeclaration": true } });
    let found = editor.ask_at("textDocument/references", attic, &all);
    assert_eq!(found["result"].as_array().unwrap().len(), 2, "{found}");
    let found = editor.ask_at("textDocument/references", ("rooms/hall.yaml", HALL, "[[Ada"), &all);
    assert_eq!(found["result"].as_array().unwrap().len(), 2, "{found}");
}

#[test]
fn completion_offers_rooms_as_whole_words() {
    let mut editor = Editor::with_palace();
    editor.open("rooms/hall.yaml", HALL);
    let place = ("rooms/hall.yaml", HALL, "attic");
    let found = editor.ask_at("textDocument/completion", place, &json!({}));
    let items = found["result"]["items"].as_array().unwrap().iter();
    let items: Vec<_> = items
        .map(|it| {
            let edit = &it["textEdit"];
            format!("{} {} {}", text(&it["label"]), range(&edit["range"]), text(&edit["newText"]))
        })
        .collect();
    assert_snapshot!(items.join("\n"), @"west/attic 7:11-7:21 west/attic");
}

#[test]
fn completion_knows_the_tool_of_an_action_and_the_genus_of_an_entity() {
    let genus = "name: Person\nattributes:\n  born: date\n  rank: [low, high]\n";
    let mut editor = Editor::start(&[("rooms/hall.yaml", HALL), ("genera/person.yaml", genus)]);
    let mut offered =
        |path: &str, text: &str, before: &str| editor.labels_after(path, text, before);
    let query = |tool: &str| {
        format!("{HALL}  - label: Ask\n    type: query\n    tool: {tool}\n    tool_params:\n      ")
    };
    assert_eq!(offered("rooms/hall.yaml", &query("list_entities"), "params:\n      "), ["genus"]);
    assert_eq!(offered("rooms/hall.yaml", &query("get_entity"), "params:\n      "), ["name"]);
    let ada = "name: Ada\ngenus: Person\nattributes:\n  ";
    assert_eq!(offered("entities/person/ada.yaml", ada, "attributes:\n  "), ["born", "rank"]);
    let ada = "name: Ada\ngenus: Person\nattributes:\n  rank: ";
    assert_eq!(offered("entities/person/ada.yaml", ada, "rank: "), ["high", "low"]);
}

#[test]
fn completion_works_within_quotes_and_in_the_settings() {
    let mut editor = Editor::with_palace();
    let hall = HALL.replace("room: cellar", "room: \"at\"");
    let items = editor.completions_after("rooms/hall.yaml", &hall, "room: \"at");
    let [item] = items.as_slice() else { panic!("{items:?}") };
    assert_eq!(text(&item["filterText"]), "\"attic");
    assert_eq!(range(&item["textEdit"]["range"]), "10:11-10:15");
    let settings = "format = 1\nname = \"P\"\nentry = \"ha\"\n[check]\nsilence = [\"empty-\"]\n";
    let items = editor.completions_after("palace.toml", settings, "entry = \"ha");
    assert_eq!(text(&items[0]["textEdit"]["newText"]), "\"hall\"");
    let labels = editor.labels_after("palace.toml", settings, "silence = [\"empty-");
    assert_eq!(labels, ["empty-period", "empty-room"]);
}

#[test]
fn findings_of_a_closed_file_follow_what_others_save() {
    let mut editor = Editor::with_palace();
    editor.open("rooms/hall.yaml", HALL);
    let attic = editor.folder.path().join("rooms/west/attic.yaml");
    fs::write(&attic, ATTIC.replace("name:", "nmae:")).unwrap();
    while !editor.shown_findings("rooms/west/attic.yaml").contains("unknown-key") {
        editor.receive();
    }
    fs::write(&attic, ATTIC).unwrap();
    while !editor.shown_findings("rooms/west/attic.yaml").is_empty() {
        editor.receive();
    }
}

#[test]
fn a_palace_that_is_made_later_is_served() {
    let mut editor = Editor::with_palace();
    let other = tempfile::tempdir().unwrap();
    fs::create_dir(other.path().join("rooms")).unwrap();
    let uri = |path: &str| uri_of_path(&other.path().join(path)).0;
    let room = uri("rooms/hall.yaml");
    let document = json!({ "uri": room, "languageId": "yaml", "version": 1, "text": "nmae: A\n" });
    editor.notify("textDocument/didOpen", json!({ "textDocument": document }));
    fs::write(other.path().join("palace.toml"), "format = 1\nname = \"Q\"\n").unwrap();
    let saved = json!({ "textDocument": { "uri": uri("palace.toml") } });
    editor.notify("textDocument/didSave", saved);
    while !editor.findings.contains_key(&room) {
        editor.receive();
    }
}

#[test]
fn findings_of_the_schema_can_be_left_to_another_server() {
    let schema = (".palazzo/schema/room.json", "{}");
    let files = [("rooms/hall.yaml", HALL), schema];
    let options = json!({ "schemaFindings": false });
    let params = json!({ "capabilities": file_operations(), "initializationOptions": options });
    let mut editor = Editor::start_with(&files, &params);
    let hall = HALL.replace("name: Hall", "nmae: Hall");
    let named = format!("# yaml-language-server: $schema=../.palazzo/schema/room.json\n{hall}");
    assert_ne!(editor.open("rooms/hall.yaml", &hall), "");
    assert_eq!(editor.change("rooms/hall.yaml", 2, &named), "");
    let actions = editor.shown_actions("rooms/hall.yaml");
    assert!(actions.starts_with("Change to `name` (quickfix, preferred)\n"), "{actions}");
    assert_ne!(editor.change("rooms/hall.yaml", 3, &hall), "");
}

#[test]
fn findings_that_depend_on_other_files_follow_the_text_and_the_files() {
    let loose = "id: 01KR0000000000000000000009\nname: Loose\ndescription: Alone.\n";
    let mut editor = Editor::start(&[("rooms/hall.yaml", HALL), ("rooms/loose.yaml", loose)]);
    let found = editor.open("rooms/loose.yaml", loose);
    assert_snapshot!(found, @"
    1:1-1:31 unreachable: this room cannot be reached from the entry
    add an action or a portal to this room in another room
    ");
    let found = editor.change("rooms/loose.yaml", 2, &format!("# mine\n{loose}"));
    assert_snapshot!(found, @"
    1:1-1:7 unreachable: this room cannot be reached from the entry
    add an action or a portal to this room in another room
    ");
    let hall = HALL.replace("room: cellar", "room: loose");
    fs::write(editor.folder.path().join("rooms/hall.yaml"), hall).unwrap();
    while editor.shown_findings("rooms/loose.yaml").contains("unreachable") {
        editor.receive();
    }
}

#[test]
fn the_doors_of_a_room_are_its_call_hierarchy() {
    let mut editor = Editor::with_palace();
    editor.open("rooms/hall.yaml", HALL);
    let attic = ("rooms/hall.yaml", HALL, "west/attic");
    let items = editor.ask_at("textDocument/prepareCallHierarchy", attic, &json!({}));
    let item = json!({ "item": items["result"][0] });
    let incoming = editor.request("callHierarchy/incomingCalls", item.clone());
    assert_eq!(text(&incoming["result"][0]["from"]["name"]), "Hall");
    let outgoing = editor.request("callHierarchy/outgoingCalls", item);
    assert_eq!(text(&outgoing["result"][0]["to"]["name"]), "Hall");
}

#[test]
fn a_cancelled_request_is_answered_with_an_error() {
    let mut editor = Editor::with_palace();
    editor.open("rooms/hall.yaml", HALL);
    editor.notify("$/cancelRequest", json!({ "id": editor.last_id + 1 }));
    let found = editor.request("palazzo/nothing", json!({}));
    assert!(found["error"]["code"].as_i64().is_some_and(|it| it < 0), "{found}");
}
