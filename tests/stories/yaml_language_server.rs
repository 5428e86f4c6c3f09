//! The diagnostics and completions of the language server of VS Code and Neovim, for
//! files that Palazzo wrote and a person edits.
//!
//! It is the npm package `yaml-language-server`, 1.25.0. The test searches it at
//! `$PALAZZO_LANGUAGE_SERVER`, the path of its `bin/yaml-language-server`, and in
//! `target/tmp/editor`, where
//!
//! ```sh
//! npm install --prefix target/tmp/editor yaml-language-server@1.25.0
//! ```
//!
//! Without it or node, the test prints a notice and passes.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::harness::{Home, MARCH_1};

/// The default path of the language server.
const DEFAULT_SERVER_PATH: &str = concat!(
    env!("CARGO_TARGET_TMPDIR"),
    "/editor/node_modules/yaml-language-server/bin/yaml-language-server"
);

/// An editor with one open file, and both ends of the server's pipes.
struct Editor {
    server: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    last_request_id: u64,
}

impl Editor {
    /// Opens an editor in a folder; `None` if the server or node is missing.
    fn start(folder: &Path) -> Option<Self> {
        let program = std::env::var_os("PALAZZO_LANGUAGE_SERVER");
        let program = program.map_or_else(|| PathBuf::from(DEFAULT_SERVER_PATH), PathBuf::from);
        if !program.is_file() || Command::new("node").arg("--version").output().is_err() {
            let why = "skipped: node or yaml-language-server is not there; see tests/stories/yaml_language_server.rs\n";
            assert!(std::env::var_os("CI").is_none(), "{why}");
            // Written directly to stderr, because the test harness captures prints.
            std::io::stderr().write_all(why.as_bytes()).unwrap();
            return None;
        }
        let mut command = Command::new("node");
        command.arg(program).arg("--stdio").current_dir(folder);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut server = command.spawn().unwrap();
        let ask = server.stdin.take().unwrap();
        let hear = BufReader::new(server.stdout.take().unwrap());
        let mut editor = Self { server, stdin: ask, stdout: hear, last_request_id: 0 };
        let can = json!({ "workspace": { "configuration": true }, "textDocument": {} });
        let about = json!({ "processId": null, "rootUri": file_uri(folder), "capabilities": can });
        editor.request("initialize", &about);
        editor.send_notification("initialized", &json!({}));
        // The server requests its settings before it checks any file.
        editor.read_until(|it| it["method"] == "workspace/configuration");
        Some(editor)
    }

    /// Opens a file that contains `text`, and returns its diagnostics.
    fn diagnostics(&mut self, file: &Path, text: &str) -> String {
        // The server caches files by name and version.
        self.last_request_id += 1;
        let document = json!({ "uri": file_uri(file), "languageId": "yaml", "version": self.last_request_id, "text": text });
        self.send_notification("textDocument/didOpen", &json!({ "textDocument": document }));
        let said = self.read_until(|it| it["method"] == "textDocument/publishDiagnostics");
        let line = |it: &Value| {
            let at = &it["range"]["start"];
            let line = at["line"].as_u64().unwrap() + 1;
            format!("{line}: {}\n", it["message"].as_str().unwrap())
        };
        said["params"]["diagnostics"].as_array().unwrap().iter().map(line).collect()
    }

    /// Returns the completions at the end of the last line of an open file.
    fn completions(&mut self, file: &Path, text: &str) -> Vec<String> {
        let last = text.lines().last().unwrap();
        let at = json!({ "line": text.lines().count() - 1, "character": last.chars().count() });
        let asked = json!({ "textDocument": { "uri": file_uri(file) }, "position": at });
        let said = self.request("textDocument/completion", &asked);
        let items = said["result"]["items"].as_array().unwrap().iter();
        items.map(|it| it["label"].as_str().unwrap().to_owned()).collect()
    }

    fn close_file(&mut self, file: &Path) {
        self.send_notification(
            "textDocument/didClose",
            &json!({ "textDocument": { "uri": file_uri(file) } }),
        );
        self.read_until(|it| it["method"] == "textDocument/publishDiagnostics");
    }

    fn request(&mut self, method: &str, params: &Value) -> Value {
        self.last_request_id += 1;
        let id = self.last_request_id;
        self.send_message(
            &json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }),
        );
        self.read_until(|it| it["id"] == id && it.get("method").is_none())
    }

    fn send_notification(&mut self, method: &str, params: &Value) {
        self.send_message(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Reads messages until the expected one, and answers the server's requests.
    fn read_until(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        loop {
            let said = self.read_message();
            if said.get("id").is_some() && said.get("method").is_some() {
                let asked = said["params"]["items"].as_array().into_iter().flatten();
                let settings: Vec<_> = asked.map(|it| client_setting(&it["section"])).collect();
                self.send_message(
                    &json!({ "jsonrpc": "2.0", "id": said["id"], "result": settings }),
                );
            }
            if is_it(&said) {
                return said;
            }
        }
    }

    fn send_message(&mut self, message: &Value) {
        let text = message.to_string();
        write!(self.stdin, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
    }

    fn read_message(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert_ne!(
                self.stdout.read_line(&mut line).unwrap(),
                0,
                "the language server has exited"
            );
            if let Some(said) = line.strip_prefix("Content-Length:") {
                length = said.trim().parse().unwrap();
            } else if line.trim().is_empty() {
                break;
            }
        }
        let mut message = vec![0; length];
        self.stdout.read_exact(&mut message).unwrap();
        serde_json::from_slice(&message).unwrap()
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        drop(self.server.kill());
        drop(self.server.wait());
    }
}

/// The default settings, without the schema catalogue that the server would download.
fn client_setting(section: &Value) -> Value {
    match section.as_str() {
        Some("yaml") => {
            json!({ "validate": true, "completion": true, "schemaStore": { "enable": false } })
        }
        _ => json!({}),
    }
}

fn file_uri(place: &Path) -> String {
    format!("file://{}", place.display())
}

#[tokio::test]
async fn an_editor_completes_and_underlines_files_written_by_palazzo() {
    let home = Home::new();
    let Some(mut editor) = Editor::start(home.path().parent().unwrap()) else { return };
    let mut agent = home.agent(MARCH_1).await;
    agent.call("set_workspace", json!({ "workspace": "w", "create": true })).await;
    let action = json!({ "label": "Look", "type": "text", "content": "Moss." });
    let hall = json!({ "slug": "hall", "wing": "east", "name": "Hall", "description": "Ivy.", "actions": [action] });
    agent.call("build_room", hall).await;
    let entities = json!([{ "name": "Basalt", "genus": "Rock" }]);
    agent.call("create_entities", json!({ "entities": entities })).await;
    agent.call("create_task", json!({ "title": "Look" })).await;

    // Files by Palazzo have no diagnostics.
    for file in home.git(&["ls-files", "*.yaml"]).lines() {
        let place = home.path().join(file);
        assert_eq!(editor.diagnostics(&place, &home.read(file)), "", "{file}");
        editor.close_file(&place);
    }

    // A person adds an action with errors.
    let file = home.path().join("w/rooms/east/hall.yaml");
    let hall = home.read("w/rooms/east/hall.yaml");
    let begun = format!("{hall}  - label: Leave\n    type: ");
    editor.diagnostics(&file, &begun);
    assert_eq!(editor.completions(&file, &begun), ["navigate", "query", "text"]);
    editor.close_file(&file);
    let slipped = format!("{hall}  - label: Leave\n    type: navigat\nportal: [attic]\n");
    assert_snapshot!(editor.diagnostics(&file, &slipped), @r#"
    12: Value is not accepted. Valid values: "navigate", "query", "text".
    13: Property portal is not allowed.
    "#);
    editor.close_file(&file);

    // Diagnostics also report missing keys of an entity.
    let file = home.path().join("w/entities/rock/basalt.yaml");
    let basalt = home.read("w/entities/rock/basalt.yaml").replace("genus", "genius");
    assert_snapshot!(editor.diagnostics(&file, &basalt), @r#"
    4: Property genius is not allowed.
    2: Missing property "genus".
    "#);
}
