//! Both servers, with one interface.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// The default path of the reference server.
const DEFAULT_REFERENCE_PATH: &str = concat!(
    env!("CARGO_TARGET_TMPDIR"),
    "/reference/node_modules/@modelcontextprotocol/server-memory/dist/index.js"
);

/// A server, and both ends of its pipes.
pub(crate) struct Server {
    process: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    last_request_id: u64,
}

/// The reference server, and its data file.
pub(crate) struct ReferenceServer {
    pub(crate) server: Server,
    graph_file: PathBuf,
    _home: TempHome,
}

/// A temporary folder, in memory if possible, so that thousands of calls do not wait
/// for a disk.
pub(crate) struct TempHome(tempfile::TempDir);

impl TempHome {
    pub(crate) fn new() -> Self {
        let memory = Path::new("/dev/shm");
        let made = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
        Self(made.unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
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

impl Server {
    /// Starts Palazzo in its own home, without a limit on answers.
    pub(crate) fn start_palazzo(home: &TempHome) -> Self {
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
        Self::start(command)
    }

    /// Calls a tool, and returns the result.
    #[track_caller]
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let answer = self.request("tools/call", &json!({ "name": tool, "arguments": arguments }));
        let result = answer["result"].clone();
        assert!(result["content"][0]["text"].is_string(), "{tool} {arguments}: {answer}");
        result
    }

    /// Returns the list of resources, and the content of the only one.
    #[track_caller]
    pub(crate) fn list_and_read_resource(&mut self) -> (Value, Value) {
        let list = self.request("resources/list", &json!({}))["result"].clone();
        let uri = json!({ "uri": list["resources"][0]["uri"] });
        (list, self.request("resources/read", &uri)["result"]["contents"].clone())
    }

    fn start(mut command: Command) -> Self {
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let ask = process.stdin.take();
        let hear = BufReader::new(process.stdout.take().unwrap());
        let mut server = Self { process, stdin: ask, stdout: hear, last_request_id: 0 };
        let about = json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        });
        server.request("initialize", &about);
        server.send_message(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        server
    }

    fn request(&mut self, method: &str, params: &Value) -> Value {
        self.last_request_id += 1;
        let id = self.last_request_id;
        self.send_message(
            &json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }),
        );
        let answer = self.read_response();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Reads the next response; a server may send notifications in between.
    fn read_response(&mut self) -> Value {
        loop {
            let mut line = String::new();
            assert_ne!(self.stdout.read_line(&mut line).unwrap(), 0, "the server has exited");
            let message: Value = serde_json::from_str(&line).unwrap();
            if message.get("id").is_some() {
                return message;
            }
        }
    }

    fn send_message(&mut self, message: &Value) {
        let ask = self.stdin.as_mut().unwrap();
        ask.write_all(format!("{message}\n").as_bytes()).unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A server exits when its input ends.
        self.stdin = None;
        drop(self.process.wait());
    }
}
