//! The diagnostics, completions and formatting of the language server of VS Code and Neovim,
//! for files that Palazzo wrote and a person edits.
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

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use insta::assert_snapshot;
use palazzo_core::format::FmtOutcome;
use palazzo_core::model::Files;
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

    /// Formats a file that contains `text`, as an editor does when it saves the file.
    fn formatted(&mut self, file: &Path, text: &str) -> String {
        self.last_request_id += 1;
        let document = json!({ "uri": file_uri(file), "languageId": "yaml", "version": self.last_request_id, "text": text });
        self.send_notification("textDocument/didOpen", &json!({ "textDocument": document }));
        let options = json!({ "tabSize": 2, "insertSpaces": true });
        let asked = json!({ "textDocument": { "uri": file_uri(file) }, "options": options });
        let said = self.request("textDocument/formatting", &asked);
        self.send_notification(
            "textDocument/didClose",
            &json!({ "textDocument": { "uri": file_uri(file) } }),
        );
        // The server replaces the whole text, or nothing.
        match said["result"].as_array().unwrap_or_else(|| panic!("{said}")).as_slice() {
            [] => text.to_owned(),
            [edit] => edit["newText"].as_str().unwrap().to_owned(),
            edits => panic!("{edits:?}"),
        }
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
    assert_eq!(editor.completions(&file, &begun), ["navigate", "query", "text", "null"]);
    editor.close_file(&file);
    let slipped = format!("{hall}  - label: Leave\n    type: navigat\nportal: [attic]\n");
    assert_snapshot!(editor.diagnostics(&file, &slipped), @r#"
    12: Value is not accepted. Valid values: "navigate", "query", "text", null.
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

/// In an editor with both servers, yaml-language-server reports each file whose findings Palazzo
/// leaves out.
#[test]
fn findings_that_are_left_to_the_schema_are_reported_by_it() {
    let home = Home::new();
    let Some(mut editor) = Editor::start(home.path().parent().unwrap()) else { return };
    let output = home.run_palazzo(&["init", "w"]);
    assert!(output.status.success(), "{output:?}");
    let mut left = 0;
    for place in yaml_files(Path::new("tests/broken-palaces")) {
        let Ok(text) = fs::read_to_string(&place) else { continue };
        let parts: Vec<_> = place.iter().map(|it| it.to_str().unwrap()).collect();
        let path = parts[3..].join("/");
        let files = Files::from([(path.clone(), text.clone())]);
        let (_, findings) = palazzo_core::format::parse_palace("P", &files);
        let findings: Vec<_> =
            findings.into_iter().filter(palazzo_core::format::is_reported_by_schema).collect();
        if findings.is_empty() {
            continue;
        }
        let text = palazzo_core::format::ensure_modeline(&path, &text);
        let file = home.path().join("w").join(&path);
        let reported = editor.diagnostics(&file, &text);
        assert_ne!(reported, "", "{path}: {findings:?}\n{text}");
        editor.close_file(&file);
        left += 1;
    }
    assert!(left > 10, "{left}");
}

fn yaml_files(folder: &Path) -> Vec<PathBuf> {
    let places = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path());
    let files = places.flat_map(|it| if it.is_dir() { yaml_files(&it) } else { vec![it] });
    files.filter(|it| it.extension().is_some_and(|it| it == "yaml")).collect()
}

/// Texts that YAML writes in many ways.
const ODD_TEXTS: [&str; 52] = [
    "x",
    "",
    " lead",
    "trail ",
    "a  b",
    "Grüße, 漢字, 😀",
    "no\u{a0}break",
    "tab\tinside",
    "a\u{2028}b",
    "bell\u{7}",
    "it's",
    "it's: x",
    "say \"x\"",
    "say \"x\": y",
    "\"both\" 'quotes': x",
    "'",
    "\"",
    "back\\slash: x",
    "- a",
    "? a",
    "a #b",
    "a: b",
    "a:",
    ":a",
    "{a}",
    "[a]",
    "a, b",
    "*a",
    "&a",
    "!a",
    "%a",
    "@a",
    "`a`",
    "|",
    ">",
    "~",
    "null",
    "true",
    "1.0",
    "1972-01-01",
    "---",
    "one\ntwo",
    "one\ntwo\n",
    "one\n\n\ntwo\n\n\n",
    " one\ntwo\n",
    "\n\n  one\ntwo",
    "one\n  two\n\tthree  \n",
    "one\n   \ntwo\n",
    "one\n   \n",
    "- a: b\n# c\n",
    "# prettier-ignore\na\n",
    "a name that goes on and on, past the eightieth column, at which a formatter may wish to fold the line",
];

/// A room by hand, with comments and blank lines everywhere.
const COMMENTED_ROOM: &str = "\
# About the hall.


# The name.
name:   'Hall' # beside the name
portals: # beside the portals
- crypt

# between

-   attic # beside it
actions:

    # above the first
    - type: text   # beside the type
      # above the label
      label: Look
      content: |
         It drips.

          # this is text

      # below the first


    - { label: Go, # in braces
        type: navigate,
        # on a line of its own
        room: crypt } # behind the braces
    - label: Ask
      type: query
      tool: list_entities
      tool_params: # beside the parameters

        # above the list
        names: [ # in brackets
          [ a, b ] ]
        # below the list
    # below the actions
# the end
";

/// Returns files with an odd text at every place, and one with each of them.
fn odd_files() -> Vec<(String, String)> {
    let long = ODD_TEXTS[ODD_TEXTS.len() - 1];
    let mut files = Vec::new();
    for (number, odd) in ODD_TEXTS.into_iter().enumerate() {
        let named = if odd.trim().is_empty() { "x" } else { odd };
        let value = json!({ odd: odd, "list": [odd, [odd, [odd], []], { odd: odd }, {}], "none": null, "empty": {}, long: [] });
        let relations = json!([{ "type": odd, "to": odd, "since": odd, "source": odd }, { "type": odd, "to": long }]);
        let entity = json!({ "name": odd, "former_names": [odd, long], "genus": named, "status": named,
            "attributes": value, "observations": [odd, long, format!("{long}\n{long}"), odd], "relations": relations });
        files.push((format!("entities/odd/{number}.yaml"), entity.to_string()));
        let actions = json!([
            { "label": named, "type": "text", "content": odd },
            { "label": named, "type": "query", "tool": "list_entities", "tool_params": value },
            { "label": long, "type": "navigate", "room": "attic", "workspace": named },
        ]);
        let room = json!({ "name": named, "description": odd, "actions": actions,
            "generate": { "genus": named, "by": "status" }, "portals": ["attic", "east/attic"] });
        files.push((format!("rooms/odd-{number}.yaml"), room.to_string()));
        let steps = json!([{ "step": named, "note": odd }, named]);
        let process = json!({ "name": named, "steps": steps, "step": 2, "status": "running" });
        files.push((
            format!("processes/01KHRBW8E6S4R2Q0P9N7M5K3{number:02}.yaml"),
            process.to_string(),
        ));
    }
    files.push(("rooms/commented.yaml".to_owned(), COMMENTED_ROOM.to_owned()));
    files.push((
        "genera/odd.yaml".to_owned(),
        json!({ "name": "Odd", "attributes": { "a": { "type": ODD_TEXTS[1..9], "required": true }, "b": ["c", "d"] },
            "statuses": { "open": ["done"], "done": [], "mooted": null }, "relations": { "held_by": "single", "of": null } })
        .to_string(),
    ));
    files
}

/// Calls `check` with the path in its palace and the text of each YAML file of the example
/// palaces.
fn for_each_example_file(root: &Path, folder: &Path, check: &mut dyn FnMut(&str, &str)) {
    for place in std::fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()) {
        if place.is_dir() {
            for_each_example_file(root, &place, check);
        } else if place.extension().is_some_and(|it| it == "yaml") {
            let text = std::fs::read_to_string(&place).unwrap();
            check(place.strip_prefix(root).unwrap().to_str().unwrap(), &text);
        }
    }
}

#[test]
fn an_editor_that_formats_files_leaves_the_canonical_form_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut editor) = Editor::start(folder.path()) else { return };
    let messy = "relations: [ { type: a } ]\n";
    assert_ne!(editor.formatted(&folder.path().join("messy.yaml"), messy), messy);
    let mut count = 0;
    let mut check = |path: &str, text: &str| {
        let canonical = match palazzo_core::format::fmt_file(path, text) {
            Some(FmtOutcome::Unchanged) => text.to_owned(),
            Some(FmtOutcome::Formatted(canonical)) => canonical,
            other => panic!("{path}: {other:?}\n{text}"),
        };
        assert_eq!(editor.formatted(&folder.path().join(path), &canonical), canonical, "{path}");
        count += 1;
    };
    for palace in std::fs::read_dir("example-palaces").unwrap().map(|it| it.unwrap().path()) {
        for_each_example_file(&palace, &palace, &mut |path, text| {
            let is_canonical =
                palazzo_core::format::fmt_file(path, text) == Some(FmtOutcome::Unchanged);
            assert!(is_canonical, "{}: run `palazzo fmt`", palace.join(path).display());
            check(path, text);
        });
    }
    for (path, text) in odd_files() {
        check(&path, &text);
    }
    assert!(count > 250, "only {count} files");
}
