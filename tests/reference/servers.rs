//! Both servers, with one interface.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::server::{Server, TempHome};

/// The default path of the reference server.
const DEFAULT_REFERENCE_PATH: &str = concat!(
    env!("CARGO_TARGET_TMPDIR"),
    "/reference/node_modules/@modelcontextprotocol/server-memory/dist/index.js"
);

/// The reference server, and its data file.
pub(crate) struct ReferenceServer {
    pub(crate) server: Server,
    graph_file: PathBuf,
    _home: TempHome,
}

impl ReferenceServer {
    /// Starts the reference server; `None` if it or node is missing.
    pub(crate) fn start() -> Option<Self> {
        let program = std::env::var_os("PALAZZO_REFERENCE");
        let program = program.map_or_else(|| PathBuf::from(DEFAULT_REFERENCE_PATH), PathBuf::from);
        if !program.is_file() || Command::new("node").arg("--version").output().is_err() {
            return None;
        }
        let home = TempHome::new();
        let file = home.path().join("memory.jsonl");
        let mut command = Command::new("node");
        command.arg(program).env("MEMORY_FILE_PATH", &file).stderr(Stdio::null());
        Some(Self { server: Server::start(command), graph_file: file, _home: home })
    }

    /// Empties the graph: the reference reads its file at each call.
    pub(crate) fn clear_graph(&mut self) {
        drop(std::fs::remove_file(&self.graph_file));
    }
}

/// Starts Palazzo in its own home, without a limit on answers.
pub(crate) fn start_palazzo(home: &TempHome) -> Server {
    let mut command = Command::new(env!("CARGO_BIN_EXE_palazzo"));
    for name in ["GIT_DIR", "GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "XDG_CONFIG_HOME"] {
        command.env_remove(name);
    }
    command
        .env("HOME", home.path())
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", home.path().join("gitconfig"))
        .arg("serve")
        .arg(home.path().join("home"))
        .args(["--tools", "memory", "--unbounded"]);
    Server::start(command)
}

/// Calls a tool, and returns the result.
#[track_caller]
pub(crate) fn call(server: &mut Server, tool: &str, arguments: &Value) -> Value {
    let answer = server.request("tools/call", &json!({ "name": tool, "arguments": arguments }));
    let result = answer["result"].clone();
    assert!(result["content"][0]["text"].is_string(), "{tool} {arguments}: {answer}");
    result
}

/// Returns the list of resources, and the content of the only one.
#[track_caller]
pub(crate) fn list_and_read_resource(server: &mut Server) -> (Value, Value) {
    let list = server.request("resources/list", &json!({}))["result"].clone();
    let uri = json!({ "uri": list["resources"][0]["uri"] });
    (list, server.request("resources/read", &uri)["result"]["contents"].clone())
}
