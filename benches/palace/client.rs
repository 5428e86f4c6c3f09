//! A minimal client, so that its own cost is small.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// A running server and both ends of its pipes.
pub(crate) struct McpClient {
    server: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    last_id: u64,
    /// The last response line.
    pub(crate) answer: String,
}

impl McpClient {
    /// Starts a server and initializes a session.
    pub(crate) fn start(mut command: Command) -> Self {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut server = command.spawn().expect("the program starts");
        let ask = server.stdin.take();
        let hear = BufReader::new(server.stdout.take().expect("it has an output"));
        let mut client =
            Self { server, input: ask, output: hear, last_id: 0, answer: String::new() };
        let about = json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": { "name": "bench", "version": "1" },
        });
        drop(client.send_request("initialize", &about));
        client.send_message(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    /// Sends a ping.
    pub(crate) fn ping(&mut self) -> Duration {
        self.send_request("ping", &json!({})).1
    }

    /// Enters the palace.
    pub(crate) fn enter_palace(&mut self) -> Duration {
        self.call_tool("set_workspace", &json!({ "workspace": "museum" }))
    }

    /// Chooses an action by its number.
    pub(crate) fn choose_action(&mut self, number: usize) -> Duration {
        self.call_tool("palace_action", &json!({ "action": number }))
    }

    /// Calls a tool.
    pub(crate) fn call_tool(&mut self, tool: &str, arguments: &Value) -> Duration {
        self.call_for_text(tool, arguments).1
    }

    /// Calls a tool; returns its text and the time it took.
    pub(crate) fn call_for_text(&mut self, tool: &str, arguments: &Value) -> (String, Duration) {
        let call = json!({ "name": tool, "arguments": arguments });
        let (said, time) = self.send_request("tools/call", &call);
        let text = said["content"][0]["text"].as_str().expect("tools answer with a text");
        (text.to_owned(), time)
    }

    /// Returns the response, and the time from request to response.
    fn send_request(&mut self, method: &str, params: &Value) -> (Value, Duration) {
        self.last_id += 1;
        let id = self.last_id;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let line = format!("{request}\n");
        let begun = Instant::now();
        self.write_line(&line);
        let (mut said, time) = loop {
            self.answer.clear();
            self.output.read_line(&mut self.answer).expect("the server answers");
            let time = begun.elapsed();
            let said: Value = serde_json::from_str(&self.answer).expect("the answer is JSON");
            // A notification is not a response.
            if said["method"].is_null() {
                break (said, time);
            }
        };
        let refused = said["result"].is_null() || said["result"]["isError"] == true;
        assert!(said["id"] == id && !refused, "{request}\n{}", self.answer);
        (said["result"].take(), time)
    }

    fn send_message(&mut self, message: &Value) {
        self.write_line(&format!("{message}\n"));
    }

    fn write_line(&mut self, line: &str) {
        let ask = self.input.as_mut().expect("the pipe is open while we live");
        ask.write_all(line.as_bytes()).expect("the server listens");
    }
}

impl Drop for McpClient {
    fn drop(&mut self) {
        // A server exits when its input ends.
        self.input = None;
        drop(self.server.wait());
    }
}
