//! A client that sends raw protocol lines, valid or invalid.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::{JoinHandle, spawn};
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{Home, MARCH_1};

/// A missing answer is an error after this time.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(60);

/// A server that still runs after this time has a bug: rmcp waits five seconds for a
/// handler that hangs.
const EXIT_TIMEOUT: Duration = Duration::from_secs(4);

/// A server process, and its standard input and output.
pub(crate) struct RawClient {
    server: Child,
    input: ChildStdin,
    output: Receiver<String>,
    stderr_reader: JoinHandle<String>,
    last_request_id: i64,
    notifications: VecDeque<Value>,
}

/// The end of a server.
pub(crate) struct ServerExit {
    /// Its exit status; none if a signal killed it.
    pub(crate) code: Option<i32>,
    /// The remaining answers.
    pub(crate) responses: Vec<Value>,
    /// Its standard error.
    pub(crate) stderr: String,
}

impl Home {
    /// Starts a server, without a handshake.
    pub(crate) fn raw_client(&self) -> RawClient {
        self.raw_client_with(&[])
    }

    /// Starts a server with more arguments.
    pub(crate) fn raw_client_with(&self, arguments: &[&str]) -> RawClient {
        let mut command = self.palazzo_command(MARCH_1);
        command.arg("serve").args(arguments);
        Self::raw_client_for_command(command)
    }

    /// Starts the server of a command.
    pub(crate) fn raw_client_for_command(mut command: std::process::Command) -> RawClient {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut server = command.spawn().unwrap();
        let (input, output) = (server.stdin.take().unwrap(), server.stdout.take().unwrap());
        let mut errors = server.stderr.take().unwrap();
        let (say, heard) = channel();
        spawn(move || {
            BufReader::new(output).lines().map_while(Result::ok).all(|it| say.send(it).is_ok())
        });
        let errors = spawn(move || {
            let mut text = String::new();
            errors.read_to_string(&mut text).unwrap();
            text
        });
        RawClient {
            server,
            input,
            output: heard,
            stderr_reader: errors,
            last_request_id: 0,
            notifications: VecDeque::new(),
        }
    }

    /// Starts a server and completes the handshake.
    pub(crate) fn initialized_client(&self) -> RawClient {
        self.initialized_client_with(&[])
    }

    /// Starts a server with more arguments and completes the handshake.
    pub(crate) fn initialized_client_with(&self, arguments: &[&str]) -> RawClient {
        let mut wire = self.raw_client_with(arguments);
        wire.request("initialize", initialize_params("2025-11-25"));
        wire.send_notification("notifications/initialized");
        wire
    }
}

impl RawClient {
    /// Sends a line unchanged.
    pub(crate) fn send(&mut self, line: &str) {
        self.input.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// Sends a line that need not be UTF-8.
    pub(crate) fn send_bytes(&mut self, line: &[u8]) {
        self.input.write_all(&[line, b"\n"].concat()).unwrap();
    }

    /// Sends SIGTERM to the server.
    #[cfg(unix)]
    pub(crate) fn terminate(&self) {
        let id = self.server.id().to_string();
        assert!(std::process::Command::new("kill").arg(id).status().unwrap().success());
    }

    /// Sends a request, and returns its id without waiting for the answer.
    pub(crate) fn send_request(&mut self, method: &str, params: Value) -> i64 {
        self.last_request_id += 1;
        let id = self.last_request_id;
        let mut request = json!({ "jsonrpc": "2.0", "id": id, "method": method });
        request["params"] = params;
        self.send(&request.to_string());
        id
    }

    /// Sends a notification.
    pub(crate) fn send_notification(&mut self, method: &str) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method }).to_string());
    }

    /// Sends a request, and returns the answer to it.
    #[track_caller]
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.send_request(method, params);
        let answer = self.next_response();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Calls a tool, and returns its text; a refusal begins with `refused: `, a
    /// protocol error with its code.
    #[track_caller]
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> String {
        let mut call = json!({ "name": tool });
        call["arguments"] = arguments;
        answer_text(&self.request("tools/call", call))
    }

    /// Waits for the next answer; notifications are kept for later.
    #[track_caller]
    pub(crate) fn next_response(&mut self) -> Value {
        loop {
            let message = self.next_message();
            match message.get("method") {
                None => return message,
                Some(_) => self.notifications.push_back(message),
            }
        }
    }

    /// Waits for the next notification.
    #[track_caller]
    pub(crate) fn next_notification(&mut self) -> Value {
        self.notifications.pop_front().unwrap_or_else(|| {
            let message = self.next_message();
            assert!(message.get("method").is_some(), "{message}");
            message
        })
    }

    /// Waits for the next line, which must be JSON.
    #[track_caller]
    pub(crate) fn next_message(&mut self) -> Value {
        parse_message(&self.output.recv_timeout(RESPONSE_TIMEOUT).unwrap())
    }

    /// Closes the input, and waits until the server exits.
    #[track_caller]
    pub(crate) fn close(self) -> ServerExit {
        self.close_within(EXIT_TIMEOUT)
    }

    /// Closes the input, and waits until the server exits; each answer may take `timeout`.
    #[track_caller]
    pub(crate) fn close_within(mut self, timeout: Duration) -> ServerExit {
        drop(self.input);
        let mut said = Vec::new();
        loop {
            match self.output.recv_timeout(timeout) {
                Ok(line) => {
                    said.extend(Some(parse_message(&line)).filter(|it| it.get("method").is_none()));
                }
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    self.server.kill().unwrap();
                    panic!("the server still runs after its input ended");
                }
            }
        }
        let code = self.server.wait().unwrap().code();
        ServerExit { code, responses: said, stderr: self.stderr_reader.join().unwrap() }
    }
}

/// Returns the parameters of `initialize`.
pub(crate) fn initialize_params(version: &str) -> Value {
    let about = json!({ "name": "claude", "version": "1.0" });
    json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": about })
}

/// Returns the text of a tool's answer.
#[track_caller]
pub(crate) fn answer_text(answer: &Value) -> String {
    if let Some(fault) = answer.get("error") {
        return format!("{}: {}", fault["code"], fault["message"].as_str().unwrap());
    }
    let result = &answer["result"];
    let content = result["content"].as_array().unwrap();
    assert_eq!(content.len(), 1, "{answer}");
    assert_eq!(content[0]["type"], "text", "{answer}");
    let text = content[0]["text"].as_str().unwrap();
    match result["isError"] == true {
        true => format!("refused: {text}"),
        false => text.to_owned(),
    }
}

#[track_caller]
fn parse_message(line: &str) -> Value {
    let message: Value =
        serde_json::from_str(line).unwrap_or_else(|_| panic!("not an MCP message: {line}"));
    assert_eq!(message["jsonrpc"], "2.0", "{line}");
    message
}
