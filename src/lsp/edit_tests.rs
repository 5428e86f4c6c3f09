//! Tests over an in-memory connection: the changes that an editor gets.

use insta::assert_snapshot;
use serde_json::json;

use crate::lsp::test_editor::{ADA, ATTIC, BOB, Editor, HALL, text};

#[test]
fn a_renamed_room_moves_its_file_and_all_doors_follow() {
    let mut editor = Editor::with_palace();
    editor.open("rooms/hall.yaml", HALL);
    let attic = ("rooms/hall.yaml", HALL, "west/attic");
    let new = json!({ "newName": "west/loft" });
    let renamed = editor.ask_at("textDocument/rename", attic, &new);
    assert_snapshot!(editor.shown_edit(&renamed), @r#"
    edit rooms/hall.yaml
      7:1-8:1 "    room: west/loft\n"
    rename rooms/west/attic.yaml to rooms/west/loft.yaml
    "#);
    let hall = ("rooms/hall.yaml", HALL, "Hall");
    let renamed = editor.ask_at("textDocument/rename", hall, &json!({ "newName": "west/attic" }));
    assert_snapshot!(text(&renamed["error"]["message"]), @"there is a room `west/attic` already: choose another slug, or delete that room first");
}

#[test]
fn a_renamed_entity_moves_its_file_and_all_mentions_follow() {
    let mut editor = Editor::with_palace();
    editor.open("entities/person/ada.yaml", ADA);
    let bob = ("entities/person/ada.yaml", ADA, "Bob");
    let renamed = editor.ask_at("textDocument/rename", bob, &json!({ "newName": "Eve" }));
    assert_snapshot!(editor.shown_edit(&renamed), @r#"
    edit entities/person/bob.yaml
      2:1-3:1 "name: Eve\n"
    edit entities/person/ada.yaml
      6:1-7:1 "    to: Eve\n"
    rename entities/person/bob.yaml to entities/person/eve.yaml
    "#);
}

#[test]
fn a_renamed_folder_is_a_renamed_wing() {
    let mut editor = Editor::with_palace();
    editor.open("rooms/hall.yaml", HALL);
    let file = json!({ "oldUri": editor.uri("rooms/west"), "newUri": editor.uri("rooms/east") });
    let renamed = editor.request("workspace/willRenameFiles", json!({ "files": [file] }));
    assert_snapshot!(editor.shown_edit(&renamed), @r#"
    edit rooms/hall.yaml
      7:1-8:1 "    room: east/attic\n"
    "#);
}

#[test]
fn several_rooms_are_moved_at_once() {
    let hall = HALL.replace("room: cellar", "room: west/loft");
    let loft = ATTIC.replace("Attic", "Loft").replace("000002", "000009");
    let files = [
        ("rooms/hall.yaml", hall.as_str()),
        ("rooms/west/attic.yaml", ATTIC),
        ("rooms/west/loft.yaml", &loft),
    ];
    let mut editor = Editor::start(&files);
    editor.open("rooms/hall.yaml", &hall);
    let file = |editor: &Editor, from: &str, to: &str| json!({ "oldUri": editor.uri(from), "newUri": editor.uri(to) });
    let files = json!([
        file(&editor, "rooms/west/attic.yaml", "rooms/attic.yaml"),
        file(&editor, "rooms/west/loft.yaml", "rooms/loft.yaml"),
        file(&editor, "rooms/west/none.yaml", "rooms/.yaml"),
    ]);
    let renamed = editor.request("workspace/willRenameFiles", json!({ "files": files }));
    assert_snapshot!(editor.shown_edit(&renamed), @r#"
    edit rooms/hall.yaml
      7:1-8:1 "    room: attic\n"
      10:1-11:1 "    room: loft\n"
    "#);
}

#[test]
fn a_file_has_one_uri_however_the_editor_encodes_it() {
    let mut editor = Editor::with_palace();
    let odd = editor.uri("rooms/hall.yaml").replace("hall", "h%61ll");
    let document = json!({ "uri": odd, "languageId": "yaml", "version": 1, "text": HALL });
    editor.notify("textDocument/didOpen", json!({ "textDocument": document }));
    let position = json!({ "line": 1, "character": 7 });
    let params =
        json!({ "textDocument": { "uri": odd }, "position": position, "newName": "foyer" });
    let renamed = editor.request("textDocument/rename", params);
    let edits = renamed["result"]["documentChanges"].as_array().unwrap();
    let move_of_file = edits.iter().find(|it| it["kind"] == "rename").unwrap();
    assert_eq!(move_of_file["oldUri"], odd);
}

#[test]
fn ids_and_titles_of_scrolls_are_not_renamed() {
    let scroll = "---\nid: 01KR0000000000000000000005\ntitle: Rain\n---\n\nSee [[Ada]].\n";
    let path = "scrolls/hall/01KR0000000000000000000005-rain.md";
    let mut editor = Editor::start(&[("rooms/hall.yaml", HALL), (path, scroll)]);
    editor.open(path, scroll);
    for word in ["01KR", "Rain"] {
        let place = (path, scroll, word);
        let answer = editor.ask_at("textDocument/prepareRename", place, &json!({}));
        assert_eq!(answer["result"], json!(null), "{word}");
        let renamed = editor.ask_at("textDocument/rename", place, &json!({ "newName": "x" }));
        assert_eq!(renamed["result"], json!(null), "{word}");
    }
    let found = editor.ask_at("textDocument/definition", (path, scroll, "01KR"), &json!({}));
    assert_eq!(editor.shown_location(&found["result"]), "rooms/hall.yaml 2:7-2:11");
}

#[test]
fn types_of_relations_are_not_merged() {
    let bob = format!("{BOB}relations:\n  - type: likes\n    to: Ada\n");
    let genus = "name: Person\nrelations:\n  knows: single\n";
    let files = [
        ("entities/person/ada.yaml", ADA),
        ("entities/person/bob.yaml", bob.as_str()),
        ("genera/person.yaml", genus),
    ];
    let mut editor = Editor::start(&files);
    editor.open("entities/person/ada.yaml", ADA);
    let knows = ("entities/person/ada.yaml", ADA, "knows");
    let renamed = editor.ask_at("textDocument/rename", knows, &json!({ "newName": "likes" }));
    assert_eq!(
        text(&renamed["error"]["message"]),
        "there are relations of the type `likes` already"
    );
    let renamed = editor.ask_at("textDocument/rename", knows, &json!({ "newName": "admires" }));
    assert_snapshot!(editor.shown_edit(&renamed), @r#"
    edit entities/person/ada.yaml
      5:1-6:1 "  - type: admires\n"
    edit genera/person.yaml
      3:1-4:1 "  admires: single\n"
    "#);
}

#[test]
fn the_missing_room_can_be_built_and_the_way_back_added() {
    let mut editor = Editor::with_palace();
    editor.open("rooms/hall.yaml", HALL);
    let actions = editor.shown_actions("rooms/hall.yaml");
    // Ids have a random part.
    let id = actions.find("id: ").unwrap() + 4;
    let actions = actions.replace(&actions[id..id + 26], "…");
    assert_snapshot!(actions, @r#"
    Build the room `cellar` (quickfix)
    create rooms/cellar.yaml
    edit rooms/cellar.yaml
      1:1-2:1 "id: …\nname: Cellar\nportals:\n  - hall\n"
    "#);
}

#[test]
fn a_word_is_replaced_in_the_notation_of_its_place() {
    let hall = "id: 01KR0000000000000000000001\nname: Hall\ndescription: Stone.\n\
        portals: [The Attic, \"west:north\"]\n";
    let attic = ATTIC.replace("Attic", "The Attic");
    let mut editor = Editor::start(&[("rooms/hall.yaml", hall), ("rooms/west/attic.yaml", &attic)]);
    editor.open("rooms/hall.yaml", hall);
    // Only the first word is the name of a room.
    assert_snapshot!(editor.shown_actions("rooms/hall.yaml"), @r#"
    Change to `west/attic` (quickfix, preferred)
    edit rooms/hall.yaml
      4:1-5:1 "portals: [west/attic, \"west:north\"]\n"
    Change to `west-north` (quickfix)
    edit rooms/hall.yaml
      4:1-5:1 "portals: [The Attic, west-north]\n"
    Fix everything that has only one possible fix (source.fixAll.palazzo)
    edit rooms/hall.yaml
      4:1-5:1 "portals: [west/attic, \"west:north\"]\n"
    "#);
}

#[test]
fn a_renamed_genus_is_renamed_in_entities_and_in_types_of_attributes() {
    let person = "name: Person\n";
    let book = "name: Book\nattributes:\n  author: link to Person\n";
    let mut editor = Editor::start(&[
        ("genera/person.yaml", person),
        ("genera/book.yaml", book),
        ("entities/person/bob.yaml", BOB),
    ]);
    editor.open("genera/book.yaml", book);
    let link = ("genera/book.yaml", book, "link to");
    let renamed = editor.ask_at("textDocument/rename", link, &json!({ "newName": "Human" }));
    assert_snapshot!(editor.shown_edit(&renamed), @r#"
    edit entities/person/bob.yaml
      3:1-4:1 "genus: Human\n"
    edit genera/book.yaml
      3:1-4:1 "  author: link to Human\n"
    edit genera/person.yaml
      1:1-2:1 "name: Human\n"
    "#);
    let refused = editor.ask_at("textDocument/rename", link, &json!({ "newName": "Book" }));
    assert_snapshot!(text(&refused["error"]["message"]), @"there is a genus `Book` already");
}

#[test]
fn a_client_without_file_operations_gets_edits_of_texts_only() {
    let files = [("rooms/hall.yaml", HALL), ("rooms/west/attic.yaml", ATTIC)];
    let mut editor = Editor::start_with(&files, &json!({}));
    editor.open("rooms/hall.yaml", HALL);
    let attic = ("rooms/hall.yaml", HALL, "west/attic");
    let renamed = editor.ask_at("textDocument/rename", attic, &json!({ "newName": "west/loft" }));
    let changes = renamed["result"]["changes"].as_object().unwrap();
    assert_eq!(changes.keys().collect::<Vec<_>>(), [&editor.uri("rooms/hall.yaml")]);
}
