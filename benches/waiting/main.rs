//! How long other clients wait while a write waits for the lock of the palace.
//!
//! ```text
//! cargo bench --bench waiting           50 rounds
//! cargo bench --bench waiting -- 200    that many; `-- --smoke` runs three
//! ```
//!
//! Another process holds the lock; one client writes, and another one reads. The times
//! of `ping` and of `palace_action 0` are measured at the client, and should be at most
//! 50 ms.

#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

#[path = "../ground/asked.rs"]
mod asked;

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// The claimed maximum wait.
const MAX_WAIT: Duration = Duration::from_millis(50);

struct ServerConnection {
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    last_id: u64,
}

fn main() {
    let Some(asked) = asked::requested_parts() else { return };
    let usual = if asked::is_smoke_run() { 3 } else { 50 };
    let rounds = asked.iter().find_map(|it| it.parse().ok()).unwrap_or(usual);
    let home = tempfile::tempdir().expect("a temporary directory");
    let palazzo = |argument: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_palazzo"));
        command.arg(argument).env("HOME", home.path()).env("PALAZZO_HOME", home.path());
        command
    };
    let made = palazzo("init").args(["Survey", "--template", "paradigm-survey"]).output();
    assert!(made.expect("the program starts").status.success());
    let mut serve = palazzo("serve");
    let mut server = serve.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a server");
    let input = server.stdin.take().expect("it has an input");
    let output = BufReader::new(server.stdout.take().expect("it has an output"));
    let mut client = ServerConnection { input, output, last_id: 0 };
    client.initialize();
    let lock = home.path().join(".git/palazzo/lock");
    let lock = File::options().read(true).write(true).open(lock).expect("a lock");
    let (mut pings, mut maps) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        lock.lock().expect("no other process writes");
        let write = client.send_request("claude", "tools/call", tool_call("write_scroll", SCROLL));
        pings.push(client.time_request("", "ping", json!({})));
        maps.push(client.time_request(
            "codex",
            "tools/call",
            tool_call("palace_action", r#"{"action":0}"#),
        ));
        lock.unlock().expect("it was held");
        assert_eq!(client.read_response()["id"], write, "the write is answered last");
    }
    drop(client);
    server.wait().expect("the server ends");
    print_times("ping", pings);
    print_times("palace_action 0", maps);
}

const SCROLL: &str = r#"{"title":"Noted","body":"While others ask."}"#;

fn tool_call(tool: &str, arguments: &str) -> Value {
    let arguments: Value = serde_json::from_str(arguments).expect("it is JSON");
    json!({ "name": tool, "arguments": arguments })
}

fn print_times(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let (median, longest) = (times[times.len() / 2], times[times.len() - 1]);
    let verdict = if longest <= MAX_WAIT { "" } else { ", more than 50 ms" };
    println!("{what}, {} times: median {median:.1?}, longest {longest:.1?}{verdict}", times.len());
}

impl ServerConnection {
    /// Initializes the sessions, enters the palace as both clients, and writes once.
    fn initialize(&mut self) {
        let about = json!({ "name": "claude", "version": "1.0" });
        let greeting =
            json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": about });
        self.time_request("", "initialize", greeting);
        for client in ["claude", "codex"] {
            let enter = tool_call("set_workspace", r#"{"workspace":"survey"}"#);
            self.time_request(client, "tools/call", enter);
        }
        self.time_request("claude", "tools/call", tool_call("write_scroll", SCROLL));
    }

    /// Sends a request, in the stateless protocol version if a client is named, and
    /// returns its id.
    fn send_request(&mut self, client: &str, method: &str, mut params: Value) -> u64 {
        self.last_id += 1;
        if !client.is_empty() {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": { "name": client, "version": "1.0" },
            });
        }
        let request =
            json!({ "jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params });
        writeln!(self.input, "{request}").expect("the server reads");
        self.last_id
    }

    /// Sends a request, and returns the time until the answer.
    fn time_request(&mut self, client: &str, method: &str, params: Value) -> Duration {
        let begun = Instant::now();
        let id = self.send_request(client, method, params);
        let answer = self.read_response();
        assert_eq!(answer["id"], id, "{answer}");
        assert!(answer["error"].is_null() && answer["result"]["isError"] != true, "{answer}");
        begun.elapsed()
    }

    fn read_response(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("the server answers");
        serde_json::from_str(&line).expect("it is JSON")
    }
}
