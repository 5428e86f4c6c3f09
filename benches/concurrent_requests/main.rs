//! Measures the response time of other requests while a write waits for the lock of the palace.
//!
//! ```text
//! cargo bench --bench concurrent_requests              50 rounds
//! cargo bench --bench concurrent_requests -- 200       200 rounds
//! cargo bench --bench concurrent_requests -- --smoke   3 rounds
//! ```
//!
//! Another process holds the lock. One client writes, and another client reads. The benchmark
//! measures `ping` and `palace_action 0` from request line to response line; the claim is at most
//! 50 ms.

#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

#[path = "../common/arguments.rs"]
mod arguments;

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// The claimed maximum response time.
const MAX_RESPONSE_TIME: Duration = Duration::from_millis(50);

/// The pipes of a running server.
struct ServerConnection {
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    last_id: u64,
}

fn main() {
    let Some(arguments) = arguments::positional_arguments() else { return };
    let default_rounds = if arguments::is_smoke_run() { 3 } else { 50 };
    let rounds = arguments.iter().find_map(|it| it.parse().ok()).unwrap_or(default_rounds);
    let home = tempfile::tempdir().expect("a temporary directory");
    let palazzo = |argument: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_palazzo"));
        command.arg(argument).env("HOME", home.path()).env("PALAZZO_HOME", home.path());
        command
    };
    let init = palazzo("init").args(["Survey", "--template", "paradigm-survey"]).output();
    assert!(init.expect("the program starts").status.success());
    let mut serve = palazzo("serve");
    let server = serve.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut server = server.expect("the program starts");
    let input = server.stdin.take().expect("the input is piped");
    let output = BufReader::new(server.stdout.take().expect("the output is piped"));
    let mut client = ServerConnection { input, output, last_id: 0 };
    client.initialize();
    let lock = home.path().join(".git/palazzo/lock");
    let lock = File::options().read(true).write(true).open(lock).expect("the lock file exists");
    let (mut pings, mut maps) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        lock.lock().expect("no other process holds the lock");
        let write = client.send_request("claude", "tools/call", tool_call("write_scroll", SCROLL));
        pings.push(client.time_request("", "ping", json!({})));
        maps.push(client.time_request(
            "codex",
            "tools/call",
            tool_call("palace_action", r#"{"action":0}"#),
        ));
        lock.unlock().expect("this process holds the lock");
        assert_eq!(client.read_response()["id"], write, "the server responds to the write last");
    }
    drop(client);
    server.wait().expect("the server ends");
    print_times("ping", pings);
    print_times("palace_action 0", maps);
}

const SCROLL: &str = r#"{"title":"Noted","body":"While other clients read."}"#;

fn tool_call(tool: &str, arguments: &str) -> Value {
    let arguments: Value = serde_json::from_str(arguments).expect("the arguments are JSON");
    json!({ "name": tool, "arguments": arguments })
}

fn print_times(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let (median, longest) = (times[times.len() / 2], times[times.len() - 1]);
    let verdict = if longest <= MAX_RESPONSE_TIME { "" } else { ", more than 50 ms" };
    println!("{what}, {} times: median {median:.1?}, longest {longest:.1?}{verdict}", times.len());
}

impl ServerConnection {
    /// Initializes a session, enters the palace as both clients, and writes once.
    fn initialize(&mut self) {
        let client_info = json!({ "name": "claude", "version": "1.0" });
        let params = json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client_info,
        });
        self.time_request("", "initialize", params);
        for client in ["claude", "codex"] {
            let enter = tool_call("set_workspace", r#"{"workspace":"survey"}"#);
            self.time_request(client, "tools/call", enter);
        }
        self.time_request("claude", "tools/call", tool_call("write_scroll", SCROLL));
    }

    /// Sends a request and returns its id. A request with a client name uses the stateless protocol
    /// version.
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
        writeln!(self.input, "{request}").expect("the server reads its input");
        self.last_id
    }

    /// Sends a request and returns the response time.
    fn time_request(&mut self, client: &str, method: &str, params: Value) -> Duration {
        let start = Instant::now();
        let id = self.send_request(client, method, params);
        let response = self.read_response();
        assert_eq!(response["id"], id, "{response}");
        assert!(response["error"].is_null() && response["result"]["isError"] != true, "{response}");
        start.elapsed()
    }

    fn read_response(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("the server responds");
        serde_json::from_str(&line).expect("the response is JSON")
    }
}
