//! An editor over an in-memory connection, for tests.

use std::collections::BTreeMap;
use std::fs;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use lsp_server::{Connection, Message, Notification, Request, RequestId};
use serde_json::{Value, json};

use crate::lsp::uri::uri_of_path;
use crate::lsp::{LspSettings, serve};
use palazzo_core::model::{Tool, ToolEffect, ToolParameter};

/// The time after which a missing message counts as a failure.
const TIMEOUT: Duration = Duration::from_secs(60);

pub(super) const HALL: &str = "id: 01KR0000000000000000000001\nname: Hall\ndescription: See [[Ada]].\nactions:\n  - label: Climb\n    type: navigate\n    room: west/attic\n  - label: Dig\n    type: navigate\n    room: cellar\n";
pub(super) const ATTIC: &str =
    "id: 01KR0000000000000000000002\nname: Attic\ndescription: Dust.\nportals: [hall]\n";
pub(super) const ADA: &str = "id: 01KR0000000000000000000003\nname: Ada\ngenus: Person\nrelations:\n  - type: knows\n    to: Bob\n";
pub(super) const BOB: &str = "id: 01KR0000000000000000000004\nname: Bob\ngenus: Person\n";

/// An editor with a palace.
pub(super) struct Editor {
    pub(super) folder: tempfile::TempDir,
    connection: Connection,
    server: Option<JoinHandle<()>>,
    pub(super) last_id: i32,
    /// The last published findings, by URI.
    pub(super) findings: BTreeMap<String, Value>,
}

impl Editor {
    pub(super) fn start(files: &[(&str, &str)]) -> Self {
        Self::start_with(files, &json!({ "capabilities": file_operations() }))
    }

    /// Starts an editor with more parameters of `initialize`.
    pub(super) fn start_with(files: &[(&str, &str)], more: &Value) -> Self {
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
    pub(super) fn with_palace() -> Self {
        Self::start(&[
            ("rooms/hall.yaml", HALL),
            ("rooms/west/attic.yaml", ATTIC),
            ("entities/person/ada.yaml", ADA),
            ("entities/person/bob.yaml", BOB),
        ])
    }

    pub(super) fn uri(&self, path: &str) -> String {
        uri_of_path(&self.folder.path().join(path)).0.trim_end_matches('/').to_owned()
    }

    pub(super) fn notify(&self, method: &str, params: Value) {
        let notification = Notification::new(method.to_owned(), params);
        self.connection.sender.send(notification.into()).unwrap();
    }

    pub(super) fn request(&mut self, method: &str, params: Value) -> Value {
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

    pub(super) fn receive(&mut self) -> Message {
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
    pub(super) fn open(&mut self, path: &str, text: &str) -> String {
        let document =
            json!({ "uri": self.uri(path), "languageId": "yaml", "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
        self.findings_of_version(path, 1)
    }

    /// Replaces the text of an open file; returns its findings.
    pub(super) fn change(&mut self, path: &str, version: i32, text: &str) -> String {
        self.notify(
            "textDocument/didChange",
            json!({
                "textDocument": { "uri": self.uri(path), "version": version },
                "contentChanges": [{ "text": text }],
            }),
        );
        self.findings_of_version(path, version)
    }

    pub(super) fn findings_of_version(&mut self, path: &str, version: i32) -> String {
        let uri = self.uri(path);
        while self.findings.get(&uri).is_none_or(|it| it["version"] != version) {
            self.receive();
        }
        self.shown_findings(path)
    }

    /// Opens a file, and lists the completions after the first occurrence of `before`.
    pub(super) fn labels_after(&mut self, path: &str, text: &str, before: &str) -> Vec<String> {
        let items = self.completions_after(path, text, before);
        items.iter().map(|it| it["label"].as_str().unwrap().to_owned()).collect()
    }

    pub(super) fn completions_after(&mut self, path: &str, text: &str, before: &str) -> Vec<Value> {
        self.open(path, text);
        let place = (path, text, before);
        let found = self.ask_at_end("textDocument/completion", place);
        found["result"]["items"].as_array().unwrap().clone()
    }

    /// Lists the findings of a file that were published last.
    pub(super) fn shown_findings(&self, path: &str) -> String {
        let line = |it: &Value| {
            let (code, message) = (text(&it["code"]), text(&it["message"]));
            format!("{} {code}: {message}\n", range(&it["range"]))
        };
        let found = self.findings.get(&self.uri(path)).and_then(|it| it["diagnostics"].as_array());
        found.into_iter().flatten().map(line).collect()
    }

    /// Lists the code actions for the whole of an open file.
    pub(super) fn shown_actions(&mut self, path: &str) -> String {
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
    pub(super) fn ask_at(
        &mut self,
        method: &str,
        (path, file, word): (&str, &str, &str),
        more: &Value,
    ) -> Value {
        self.ask_at_byte(method, (path, file, file.find(word).unwrap()), more)
    }

    /// Sends a request about the place after the first occurrence of `word` in an open file.
    pub(super) fn ask_at_end(
        &mut self,
        method: &str,
        (path, file, word): (&str, &str, &str),
    ) -> Value {
        let byte = file.find(word).unwrap() + word.len();
        self.ask_at_byte(method, (path, file, byte), &json!({}))
    }

    pub(super) fn ask_at_byte(
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

    pub(super) fn shown_location(&self, location: &Value) -> String {
        let file = text(&location["uri"]).replace(&(self.uri("") + "/"), "");
        format!("{file} {}", range(&location["range"]))
    }

    /// Describes a workspace edit: the files that it changes, and how.
    pub(super) fn shown_edit(&self, response: &Value) -> String {
        let changes = response["result"]["documentChanges"].as_array().unwrap();
        changes.iter().map(|it| self.shown_change(it)).collect()
    }

    pub(super) fn shown_change(&self, change: &Value) -> String {
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
pub(super) fn file_operations() -> Value {
    json!({ "workspace": { "workspaceEdit": {
        "documentChanges": true, "resourceOperations": ["create", "rename", "delete"],
    } } })
}

pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Writes a range, counted from one.
pub(super) fn range(range: &Value) -> String {
    let at = |it: &Value| {
        format!("{}:{}", it["line"].as_u64().unwrap() + 1, it["character"].as_u64().unwrap() + 1)
    };
    format!("{}-{}", at(&range["start"]), at(&range["end"]))
}
