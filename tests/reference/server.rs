//! A server that is a child process, and talks over standard input and output.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// A server, and both ends of its pipes.
pub(crate) struct Server {
    process: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    last_request_id: u64,
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

impl Server {
    /// Starts a server, and begins a session.
    pub(crate) fn start(mut command: Command) -> Self {
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

    /// Sends a request, and returns the response.
    #[track_caller]
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> Value {
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
