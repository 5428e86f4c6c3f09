//! Tests over an in-memory connection: what an editor sends, and what it gets.

use std::collections::BTreeMap;
use std::fs;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use insta::assert_snapshot;
use lsp_server::{Connection, Message, Notification, Request, RequestId};
use serde_json::{Value, json};

use crate::format;
use crate::lsp::{LspSettings, serve};
use crate::model::{Tool, ToolEffect, ToolParameter};

/// The time after which a missing message counts as a failure.
const TIMEOUT: Duration = Duration::from_secs(60);

const HALL: &str = "id: 01KR0000000000000000000001\nname: Hall\ndescription: See [[Ada]].\nactions:\n  - label: Climb\n    type: navigate\n    room: west/attic\n  - label: Dig\n    type: navigate\n    room: cellar\n";
const ATTIC: &str =
    "id: 01KR0000000000000000000002\nname: Attic\ndescription: Dust.\nportals: [hall]\n";
const ADA: &str = "id: 01KR0000000000000000000003\nname: Ada\ngenus: Person\nrelations:\n  - type: knows\n    to: Bob\n";
const BOB: &str = "id: 01KR0000000000000000000004\nname: Bob\ngenus: Person\n";

/// An editor with a palace.
struct Editor {
    folder: tempfile::TempDir,
    connection: Connection,
    server: Option<JoinHandle<()>>,
    last_id: i32,
    /// The last published findings, by URI.
    findings: BTreeMap<String, Value>,
}

impl Editor {
    fn start(files: &[(&str, &str)]) -> Self {
        Self::start_with(files, &json!({ "capabilities": file_operations() }))
    }

    /// Starts an editor with more parameters of `initialize`.
    fn start_with(files: &[(&str, &str)], more: &Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(
            folder.path().join("palace.toml"),
            "format = 1\nname = \"P\"\nentry = \"hall\"\n",
        )
        .unwrap();
        for (path, text) in files {
            let file = folder.path().join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        let (server_side, connection) = Connection::memory();
        let tool = |name, parameter: &str| {
            let parameter =
                ToolParameter { name: parameter.to_owned(), is_required: false, json_type: None };
            Tool { name, effect: ToolEffect::Reads, parameters: vec![parameter] }
        };
        let tools = vec![tool("list_entities", "genus"), tool("get_entity", "name")];
        let server = thread::spawn(move || {
            let clock = || "2026-03-01T12:00:00Z".parse().unwrap();
            let settings = LspSettings { tools, consent_folder: None, clock };
            serve(&server_side, settings).unwrap();
        });
        let findings = BTreeMap::new();
        let server = Some(server);
        let mut editor = Self { folder, connection, server, last_id: 0, findings };
        let root = editor.uri("");
        let mut params = json!({ "processId": null, "rootUri": root, "capabilities": null });
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        editor.request("initialize", params);
        editor.notify("initialized", json!({}));
        editor
    }

    /// Starts an editor with the palace of most tests.
    fn with_palace() -> Self {
        Self::start(&[
            ("rooms/hall.yaml", HALL),
            ("rooms/west/attic.yaml", ATTIC),
            ("entities/person/ada.yaml", ADA),
            ("entities/person/bob.yaml", BOB),
        ])
    }

    fn uri(&self, path: &str) -> String {
        format!("file://{}/{path}", self.folder.path().display()).trim_end_matches('/').to_owned()
    }

    fn notify(&self, method: &str, params: Value) {
        let notification = Notification::new(method.to_owned(), params);
        self.connection.sender.send(notification.into()).unwrap();
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        self.last_id += 1;
        let id = RequestId::from(self.last_id);
        let request = Request::new(id.clone(), method.to_owned(), params);
        self.connection.sender.send(request.into()).unwrap();
        loop {
            match self.receive() {
                Message::Response(it) if it.id == id => {
                    return serde_json::to_value(it).unwrap();
                }
                _ => {}
            }
        }
    }

    fn receive(&mut self) -> Message {
        let message = self.connection.receiver.recv_timeout(TIMEOUT).unwrap();
        if let Message::Notification(it) = &message
            && it.method == "textDocument/publishDiagnostics"
        {
            let uri = it.params["uri"].as_str().unwrap().to_owned();
            self.findings.insert(uri, it.params.clone());
        }
        message
    }

    /// Opens a file with a text; returns its findings.
    fn open(&mut self, path: &str, text: &str) -> String {
        let document =
            json!({ "uri": self.uri(path), "languageId": "yaml", "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
        self.findings_of_version(path, 1)
    }

    /// Replaces the text of an open file; returns its findings.
    fn change(&mut self, path: &str, version: i32, text: &str) -> String {
        self.notify(
            "textDocument/didChange",
            json!({
                "textDocument": { "uri": self.uri(path), "version": version },
                "contentChanges": [{ "text": text }],
            }),
        );
        self.findings_of_version(path, version)
    }

    fn findings_of_version(&mut self, path: &str, version: i32) -> String {
        let uri = self.uri(path);
        while self.findings.get(&uri).is_none_or(|it| it["version"] != version) {
            self.receive();
        }
        self.shown_findings(path)
    }

    /// Opens a file, and lists the completions after the first occurrence of `before`.
    fn labels_after(&mut self, path: &str, text: &str, before: &str) -> Vec<String> {
        let items = self.completions_after(path, text, before);
        items.iter().map(|it| it["label"].as_str().unwrap().to_owned()).collect()
    }

    fn completions_after(&mut self, path: &str, text: &str, before: &str) -> Vec<Value> {
        self.open(path, text);
        let place = (path, text, before);
        let found = self.ask_at_end("textDocument/completion", place);
        found["result"]["items"].as_array().unwrap().clone()
    }

    /// Lists the findings of a file that were published last.
    fn shown_findings(&self, path: &str) -> String {
        let line = |it: &Value| {
            let (code, message) = (text(&it["code"]), text(&it["message"]));
            format!("{} {code}: {message}\n", range(&it["range"]))
        };
        let found = self.findings.get(&self.uri(path)).and_then(|it| it["diagnostics"].as_array());
        found.into_iter().flatten().map(line).collect()
    }

    /// Lists the code actions for the whole of an open file.
    fn shown_actions(&mut self, path: &str) -> String {
        let whole = json!({
            "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 },
        });
        let params = json!({
            "textDocument": { "uri": self.uri(path) },
            "range": whole,
            "context": { "diagnostics": [] },
        });
        let found = self.request("textDocument/codeAction", params);
        let actions = found["result"].as_array().unwrap().iter().map(|it| {
            let changes = it["edit"]["documentChanges"].as_array().unwrap().iter();
            let changes: String = changes.map(|it| self.shown_change(it)).collect();
            let preferred = if it["isPreferred"] == true { ", preferred" } else { "" };
            format!("{} ({}{preferred})\n{changes}", text(&it["title"]), text(&it["kind"]))
        });
        actions.collect::<Vec<_>>().concat()
    }

    /// Sends a request about the first occurrence of `word` in an open file.
    fn ask_at(
        &mut self,
        method: &str,
        (path, file, word): (&str, &str, &str),
        more: &Value,
    ) -> Value {
        self.ask_at_byte(method, (path, file, file.find(word).unwrap()), more)
    }

    /// Sends a request about the place after the first occurrence of `word` in an open file.
    fn ask_at_end(&mut self, method: &str, (path, file, word): (&str, &str, &str)) -> Value {
        let byte = file.find(word).unwrap() + word.len();
        self.ask_at_byte(method, (path, file, byte), &json!({}))
    }

    fn ask_at_byte(
        &mut self,
        method: &str,
        (path, file, byte): (&str, &str, usize),
        more: &Value,
    ) -> Value {
        let line = file[..byte].matches('\n').count();
        let character = file[..byte].rsplit('\n').next().unwrap().encode_utf16().count();
        let mut params = json!({
            "textDocument": { "uri": self.uri(path) },
            "position": { "line": line, "character": character },
        });
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.request(method, params)
    }

    fn shown_location(&self, location: &Value) -> String {
        let file = text(&location["uri"]).replace(&(self.uri("") + "/"), "");
        format!("{file} {}", range(&location["range"]))
    }

    /// Describes a workspace edit: the files that it changes, and how.
    fn shown_edit(&self, response: &Value) -> String {
        let changes = response["result"]["documentChanges"].as_array().unwrap();
        changes.iter().map(|it| self.shown_change(it)).collect()
    }

    fn shown_change(&self, change: &Value) -> String {
        let short = |uri: &Value| text(uri).replace(&(self.uri("") + "/"), "");
        match change["kind"].as_str() {
            Some("rename") => {
                format!("rename {} to {}\n", short(&change["oldUri"]), short(&change["newUri"]))
            }
            Some(kind) => format!("{kind} {}\n", short(&change["uri"])),
            None => {
                let edits = change["edits"].as_array().unwrap().iter();
                let edits: Vec<String> = edits
                    .map(|it| format!("  {} {:?}\n", range(&it["range"]), text(&it["newText"])))
                    .collect();
                let edits = edits.concat();
                format!("edit {}\n{edits}", short(&change["textDocument"]["uri"]))
            }
        }
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        self.notify("exit", json!(null));
        let ended = self.server.take().map(JoinHandle::join);
        assert!(thread::panicking() || ended.is_some_and(|it| it.is_ok()));
    }
}

/// The capabilities of a client that can create, rename and delete files.
fn file_operations() -> Value {
    json!({ "workspace": { "workspaceEdit": {
        "documentChanges": true, "resourceOperations": ["create", "rename", "delete"],
    } } })
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Writes a range, counted from one.
fn range(range: &Value) -> String {
    let at = |it: &Value| {
        format!("{}:{}", it["line"].as_u64().unwrap() + 1, it["character"].as_u64().unwrap() + 1)
    };
    format!("{}-{}", at(&range["start"]), at(&range["end"]))
}

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
fn findings_of_the_schema_can_be_left_to_another_server() {
    let schema = (".palazzo/schema/room.json", "{}");
    let files = [("rooms/hall.yaml", HALL), schema];
    let options = json!({ "schemaFindings": false });
    let params = json!({ "capabilities": file_operations(), "initializationOptions": options });
    let mut editor = Editor::start_with(&files, &params);
    let hall = HALL.replace("name: Hall", "nmae: Hall");
    let named = format::ensure_modeline("rooms/hall.yaml", &hall);
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
fn a_client_without_file_operations_gets_edits_of_texts_only() {
    let files = [("rooms/hall.yaml", HALL), ("rooms/west/attic.yaml", ATTIC)];
    let mut editor = Editor::start_with(&files, &json!({}));
    editor.open("rooms/hall.yaml", HALL);
    let attic = ("rooms/hall.yaml", HALL, "west/attic");
    let renamed = editor.ask_at("textDocument/rename", attic, &json!({ "newName": "west/loft" }));
    let changes = renamed["result"]["changes"].as_object().unwrap();
    assert_eq!(changes.keys().collect::<Vec<_>>(), [&editor.uri("rooms/hall.yaml")]);
}

#[test]
fn a_cancelled_request_is_answered_with_an_error() {
    let mut editor = Editor::with_palace();
    editor.open("rooms/hall.yaml", HALL);
    editor.notify("$/cancelRequest", json!({ "id": editor.last_id + 1 }));
    let found = editor.request("palazzo/nothing", json!({}));
    assert!(found["error"]["code"].as_i64().is_some_and(|it| it < 0), "{found}");
}
