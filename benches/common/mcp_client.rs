//! A minimal MCP client. It does little work itself, so that it does not distort the times.

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
    pub(crate) last_response: String,
}

#[allow(dead_code, reason = "not every benchmark uses every method")]
impl McpClient {
    /// Starts a server and initializes a session.
    pub(crate) fn start(mut command: Command) -> Self {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut server = command.spawn().expect("the program starts");
        let input = server.stdin.take();
        let output = BufReader::new(server.stdout.take().expect("the output is piped"));
        let mut client = Self { server, input, output, last_id: 0, last_response: String::new() };
        let params = json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": { "name": "bench", "version": "1" },
        });
        drop(client.send_request("initialize", &params));
        client.send_message(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    /// Sends a ping and returns the response time.
    pub(crate) fn ping(&mut self) -> Duration {
        self.send_request("ping", &json!({})).1
    }

    /// Enters the palace and returns the response time.
    pub(crate) fn enter_palace(&mut self) -> Duration {
        self.call_tool("set_workspace", &json!({ "workspace": "museum" }))
    }

    /// Chooses an action by its number and returns the response time.
    pub(crate) fn choose_action(&mut self, number: usize) -> Duration {
        self.call_tool("palace_action", &json!({ "action": number }))
    }

    /// Calls a tool and returns the response time.
    pub(crate) fn call_tool(&mut self, tool: &str, arguments: &Value) -> Duration {
        self.call_for_text(tool, arguments).1
    }

    /// Calls a tool and returns its text and the response time.
    pub(crate) fn call_for_text(&mut self, tool: &str, arguments: &Value) -> (String, Duration) {
        let call = json!({ "name": tool, "arguments": arguments });
        let (result, time) = self.send_request("tools/call", &call);
        let text = result["content"][0]["text"].as_str().expect("every tool returns a text");
        (text.to_owned(), time)
    }

    /// Returns the result, and the time from request to response.
    fn send_request(&mut self, method: &str, params: &Value) -> (Value, Duration) {
        self.last_id += 1;
        let id = self.last_id;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let line = format!("{request}\n");
        let start = Instant::now();
        self.write_line(&line);
        let (mut response, time) = loop {
            self.last_response.clear();
            self.output.read_line(&mut self.last_response).expect("the server responds");
            let time = start.elapsed();
            let message: Value =
                serde_json::from_str(&self.last_response).expect("the response is JSON");
            // A notification is not a response.
            if message["method"].is_null() {
                break (message, time);
            }
        };
        let is_error = response["result"].is_null() || response["result"]["isError"] == true;
        assert!(response["id"] == id && !is_error, "{request}\n{}", self.last_response);
        (response["result"].take(), time)
    }

    fn send_message(&mut self, message: &Value) {
        self.write_line(&format!("{message}\n"));
    }

    fn write_line(&mut self, line: &str) {
        let input = self.input.as_mut().expect("the pipe is open until the client is dropped");
        input.write_all(line.as_bytes()).expect("the server reads its input");
    }
}

impl Drop for McpClient {
    fn drop(&mut self) {
        // A server exits when its input ends.
        self.input = None;
        drop(self.server.wait());
    }
}
