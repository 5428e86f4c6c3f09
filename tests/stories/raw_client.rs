//! A client that speaks the protocol by hand: line by line, right or wrong.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::{JoinHandle, spawn};
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{Home, MARCH_1};

/// Who waits so long for an answer has found a fault.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(60);

/// Who waits so long for the end has found a fault. A handler that hung would
/// keep rmcp for five seconds.
const EXIT_TIMEOUT: Duration = Duration::from_secs(4);

/// One server process, and its standard input and output.
pub(crate) struct RawClient {
    server: Child,
    input: ChildStdin,
    output: Receiver<String>,
    stderr_reader: JoinHandle<String>,
    last_request_id: i64,
    notifications: VecDeque<Value>,
}

/// How a server ended.
pub(crate) struct ServerExit {
    /// Its exit status; none if a signal ended it.
    pub(crate) code: Option<i32>,
    /// What it still answered.
    pub(crate) responses: Vec<Value>,
    /// What it wrote to standard error.
    pub(crate) stderr: String,
}

impl Home {
    /// Starts a server for a client that speaks by hand.
    pub(crate) fn raw_client(&self) -> RawClient {
        self.raw_client_with(&[])
    }

    /// Starts a server with more arguments.
    pub(crate) fn raw_client_with(&self, arguments: &[&str]) -> RawClient {
        let mut command = self.palazzo_command(MARCH_1);
        command.arg("serve").args(arguments);
        Self::raw_client_for_command(command)
    }

    /// Starts the server that a command is of.
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

    /// Starts a server and shakes hands with it.
    pub(crate) fn initialized_client(&self) -> RawClient {
        self.initialized_client_with(&[])
    }

    /// Starts a server with more arguments and shakes hands with it.
    pub(crate) fn initialized_client_with(&self, arguments: &[&str]) -> RawClient {
        let mut wire = self.raw_client_with(arguments);
        wire.request("initialize", initialize_params("2025-11-25"));
        wire.send_notification("notifications/initialized");
        wire
    }
}

impl RawClient {
    /// Sends a line as it is.
    pub(crate) fn send(&mut self, line: &str) {
        self.input.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// Sends a line that need not be UTF-8.
    pub(crate) fn send_bytes(&mut self, line: &[u8]) {
        self.input.write_all(&[line, b"\n"].concat()).unwrap();
    }

    /// Asks the server to end, as `kill` does.
    #[cfg(unix)]
    pub(crate) fn terminate(&self) {
        let id = self.server.id().to_string();
        assert!(std::process::Command::new("kill").arg(id).status().unwrap().success());
    }

    /// Sends a request, and returns its id; the answer is not waited for.
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

    /// Calls a tool, and returns the text it answers with; a refusal begins
    /// with `refused: `, a fault of the protocol with its code.
    #[track_caller]
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> String {
        let mut call = json!({ "name": tool });
        call["arguments"] = arguments;
        answer_text(&self.request("tools/call", call))
    }

    /// Waits for the next answer; what is told unasked is kept for later.
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

    /// Waits for the next that is told unasked.
    #[track_caller]
    pub(crate) fn next_notification(&mut self) -> Value {
        self.notifications.pop_front().unwrap_or_else(|| {
            let message = self.next_message();
            assert!(message.get("method").is_some(), "{message}");
            message
        })
    }

    /// Waits for the next line, which is JSON or a fault.
    #[track_caller]
    pub(crate) fn next_message(&mut self) -> Value {
        parse_message(&self.output.recv_timeout(RESPONSE_TIMEOUT).unwrap())
    }

    /// Ends the input, and sees the server end at once.
    #[track_caller]
    pub(crate) fn close(mut self) -> ServerExit {
        drop(self.input);
        let mut said = Vec::new();
        loop {
            match self.output.recv_timeout(EXIT_TIMEOUT) {
                Ok(line) => {
                    said.extend(Some(parse_message(&line)).filter(|it| it.get("method").is_none()));
                }
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    self.server.kill().unwrap();
                    panic!("the server outlives its input");
                }
            }
        }
        let code = self.server.wait().unwrap().code();
        ServerExit { code, responses: said, stderr: self.stderr_reader.join().unwrap() }
    }
}

/// What a client says who shakes hands.
pub(crate) fn initialize_params(version: &str) -> Value {
    let about = json!({ "name": "claude", "version": "1.0" });
    json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": about })
}

/// Returns the text of an answer to a call.
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
    let message: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("no MCP: {line}"));
    assert_eq!(message["jsonrpc"], "2.0", "{line}");
    message
}
