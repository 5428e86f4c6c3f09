//! Both servers, spoken to in the same way.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// Where the reference server lies if nothing else is said.
const REFERENCE: &str = concat!(
    env!("CARGO_TARGET_TMPDIR"),
    "/reference/node_modules/@modelcontextprotocol/server-memory/dist/index.js"
);

/// A server, and both ends of its pipes.
pub(crate) struct Server {
    process: Child,
    ask: Option<ChildStdin>,
    hear: BufReader<ChildStdout>,
    asked: u64,
}

/// The reference server, and the file it remembers in.
pub(crate) struct Reference {
    pub(crate) server: Server,
    file: PathBuf,
    _home: Temporary,
}

/// A folder that goes when nobody needs it any more, in memory where that can
/// be had: thousands of calls need not wait for a disk.
pub(crate) struct Temporary(tempfile::TempDir);

impl Temporary {
    pub(crate) fn new() -> Self {
        let memory = Path::new("/dev/shm");
        let made = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
        Self(made.unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Reference {
    /// Starts the reference server; `None`: it or node is not there.
    pub(crate) fn start() -> Option<Self> {
        let program = std::env::var_os("PALAZZO_REFERENCE");
        let program = program.map_or_else(|| PathBuf::from(REFERENCE), PathBuf::from);
        if !program.is_file() || Command::new("node").arg("--version").output().is_err() {
            return None;
        }
        let home = Temporary::new();
        let file = home.path().join("memory.jsonl");
        let mut command = Command::new("node");
        command.arg(program).env("MEMORY_FILE_PATH", &file).stderr(Stdio::null());
        Some(Self { server: Server::start(command), file, _home: home })
    }

    /// Empties the graph: the reference reads its file at each call.
    pub(crate) fn forget(&mut self) {
        drop(std::fs::remove_file(&self.file));
    }
}

impl Server {
    /// Starts Palazzo in a home of its own, and lets it answer in full.
    pub(crate) fn palazzo(home: &Temporary) -> Self {
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

    /// Returns the list of what can be read, and the only thing on it.
    #[track_caller]
    pub(crate) fn resource(&mut self) -> (Value, Value) {
        let list = self.request("resources/list", &json!({}))["result"].clone();
        let uri = json!({ "uri": list["resources"][0]["uri"] });
        (list, self.request("resources/read", &uri)["result"]["contents"].clone())
    }

    fn start(mut command: Command) -> Self {
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let ask = process.stdin.take();
        let hear = BufReader::new(process.stdout.take().unwrap());
        let mut server = Self { process, ask, hear, asked: 0 };
        let about = json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        });
        server.request("initialize", &about);
        server.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        server
    }

    fn request(&mut self, method: &str, params: &Value) -> Value {
        self.asked += 1;
        let id = self.asked;
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        let answer = self.hear_answer();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// The next message that is an answer: a server may say at any time that something changed.
    fn hear_answer(&mut self) -> Value {
        loop {
            let mut line = String::new();
            assert_ne!(self.hear.read_line(&mut line).unwrap(), 0, "the server is gone");
            let message: Value = serde_json::from_str(&line).unwrap();
            if message.get("id").is_some() {
                return message;
            }
        }
    }

    fn say(&mut self, message: &Value) {
        let ask = self.ask.as_mut().unwrap();
        ask.write_all(format!("{message}\n").as_bytes()).unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A server whose input ends goes by itself.
        self.ask = None;
        drop(self.process.wait());
    }
}
