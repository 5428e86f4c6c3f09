//! A minimal editor.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// A running language server, and both ends of its pipes.
pub(crate) struct Editor {
    server: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    last_id: u64,
    version: u64,
    is_palazzo: bool,
}

impl Editor {
    pub(crate) fn start(mut command: Command) -> Self {
        let is_palazzo = command.get_program() == env!("CARGO_BIN_EXE_palazzo");
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut server = command.spawn().expect("the server starts");
        let input = server.stdin.take().expect("the input is piped");
        let output = BufReader::new(server.stdout.take().expect("the output is piped"));
        Self { server, input, output, last_id: 0, version: 0, is_palazzo }
    }

    /// Begins the session; returns the time of the response.
    pub(crate) fn initialize(&mut self, root: impl AsRef<Path>) -> Duration {
        let capabilities = json!({
            "workspace": { "workspaceEdit": { "documentChanges": true,
                           "resourceOperations": ["rename", "create", "delete"] } },
            "textDocument": { "publishDiagnostics": { "versionSupport": true } },
        });
        let params = json!({
            "processId": null, "rootUri": uri(root.as_ref()), "capabilities": capabilities,
        });
        let start = Instant::now();
        self.request("initialize", &params);
        let time = start.elapsed();
        self.notify("initialized", &json!({}));
        time
    }

    pub(crate) fn open(&mut self, file: &Path, text: &str) {
        self.version += 1;
        let language = match file.extension().and_then(|it| it.to_str()) {
            Some("py") => "python",
            _ => "yaml",
        };
        let document = json!({
            "uri": uri(file), "languageId": language, "version": self.version, "text": text,
        });
        self.notify("textDocument/didOpen", &json!({ "textDocument": document }));
    }

    pub(crate) fn change(&mut self, file: &Path, change: &Value) {
        self.version += 1;
        let document = json!({ "uri": uri(file), "version": self.version });
        let params = json!({ "textDocument": document, "contentChanges": [change] });
        self.notify("textDocument/didChange", &params);
    }

    /// Waits for the findings about the last opened or changed document.
    pub(crate) fn wait_for_findings(&mut self) {
        loop {
            let message = self.read();
            let is_published = message["method"] == "textDocument/publishDiagnostics";
            if is_published && message["params"]["version"] == self.version {
                return;
            }
            // A server that gives no versions is asked about one document only.
            if is_published && message["params"]["version"].is_null() && !self.is_palazzo {
                return;
            }
        }
    }

    pub(crate) fn request(&mut self, method: &str, params: &Value) -> Value {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let message = self.read();
            if message["id"] == id && message["method"].is_null() {
                assert!(message["error"].is_null(), "{method}: {message}");
                return message;
            }
        }
    }

    fn notify(&mut self, method: &str, params: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{text}", text.len())
            .and_then(|()| self.input.flush())
            .expect("the server reads its input");
    }

    /// Reads a message. Requests of the server are answered with nothing.
    fn read(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            let read = self.output.read_line(&mut line).expect("the server answers");
            assert!(read > 0, "the server has ended");
            match line.trim().split_once(": ") {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = value.parse().expect("the length is a number");
                }
                Some(_) => {}
                None => break,
            }
        }
        let mut text = vec![0; length];
        self.output.read_exact(&mut text).expect("the message is complete");
        let message: Value = serde_json::from_slice(&text).expect("the message is JSON");
        if !message["id"].is_null() && !message["method"].is_null() {
            // `workspace/configuration` wants one answer for each item.
            let items = message["params"]["items"].as_array().map_or(0, Vec::len);
            let result = json!(vec![Value::Null; items]);
            self.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }));
        }
        message
    }

    /// Returns the resident memory of the server, where `/proc` exists (Linux).
    pub(crate) fn memory_in_mb(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.server.id()));
        let status = status.unwrap_or_default();
        let line = status.lines().find_map(|it| it.strip_prefix("VmRSS:")).unwrap_or_default();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or_default() / 1024
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        self.notify("exit", &json!(null));
        drop(self.server.wait());
    }
}

/// Returns the URI of a file whose path has only plain characters.
pub(crate) fn uri(file: &Path) -> String {
    format!("file://{}", file.display())
}
