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
const PATIENCE: Duration = Duration::from_secs(60);

/// Who waits so long for the end has found a fault. A handler that hung would
/// keep rmcp for five seconds.
const PROMPT: Duration = Duration::from_secs(4);

/// One server process, and its standard input and output.
pub(crate) struct Wire {
    server: Child,
    input: ChildStdin,
    output: Receiver<String>,
    errors: JoinHandle<String>,
    asked: i64,
    news: VecDeque<Value>,
}

/// How a server ended.
pub(crate) struct Ended {
    /// Its exit status; none if a signal ended it.
    pub(crate) code: Option<i32>,
    /// What it still answered.
    pub(crate) said: Vec<Value>,
    /// What it wrote to standard error.
    pub(crate) errors: String,
}

impl Home {
    /// Starts a server for a client that speaks by hand.
    pub(crate) fn wire(&self) -> Wire {
        self.wire_with(&[])
    }

    /// Starts a server with more arguments.
    pub(crate) fn wire_with(&self, arguments: &[&str]) -> Wire {
        let mut command = self.command(MARCH_1);
        command.arg("serve").args(arguments);
        Self::wire_of(command)
    }

    /// Starts the server that a command is of.
    pub(crate) fn wire_of(mut command: std::process::Command) -> Wire {
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
        Wire { server, input, output: heard, errors, asked: 0, news: VecDeque::new() }
    }

    /// Starts a server and shakes hands with it.
    pub(crate) fn greeted(&self) -> Wire {
        self.greeted_with(&[])
    }

    /// Starts a server with more arguments and shakes hands with it.
    pub(crate) fn greeted_with(&self, arguments: &[&str]) -> Wire {
        let mut wire = self.wire_with(arguments);
        wire.ask("initialize", greeting("2025-11-25"));
        wire.tell("notifications/initialized");
        wire
    }
}

impl Wire {
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
    pub(crate) fn post(&mut self, method: &str, params: Value) -> i64 {
        self.asked += 1;
        let id = self.asked;
        let mut request = json!({ "jsonrpc": "2.0", "id": id, "method": method });
        request["params"] = params;
        self.send(&request.to_string());
        id
    }

    /// Sends a notification.
    pub(crate) fn tell(&mut self, method: &str) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method }).to_string());
    }

    /// Sends a request, and returns the answer to it.
    #[track_caller]
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.post(method, params);
        let answer = self.hear();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Calls a tool, and returns the text it answers with; a refusal begins
    /// with `refused: `, a fault of the protocol with its code.
    #[track_caller]
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> String {
        let mut call = json!({ "name": tool });
        call["arguments"] = arguments;
        said(&self.ask("tools/call", call))
    }

    /// Waits for the next answer; what is told unasked is kept for later.
    #[track_caller]
    pub(crate) fn hear(&mut self) -> Value {
        loop {
            let message = self.hear_line();
            match message.get("method") {
                None => return message,
                Some(_) => self.news.push_back(message),
            }
        }
    }

    /// Waits for the next that is told unasked.
    #[track_caller]
    pub(crate) fn hear_news(&mut self) -> Value {
        self.news.pop_front().unwrap_or_else(|| {
            let message = self.hear_line();
            assert!(message.get("method").is_some(), "{message}");
            message
        })
    }

    /// Waits for the next line, which is JSON or a fault.
    #[track_caller]
    pub(crate) fn hear_line(&mut self) -> Value {
        parsed(&self.output.recv_timeout(PATIENCE).unwrap())
    }

    /// Ends the input, and sees the server end at once.
    #[track_caller]
    pub(crate) fn end(mut self) -> Ended {
        drop(self.input);
        let mut said = Vec::new();
        loop {
            match self.output.recv_timeout(PROMPT) {
                Ok(line) => {
                    said.extend(Some(parsed(&line)).filter(|it| it.get("method").is_none()));
                }
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    self.server.kill().unwrap();
                    panic!("the server outlives its input");
                }
            }
        }
        let code = self.server.wait().unwrap().code();
        Ended { code, said, errors: self.errors.join().unwrap() }
    }
}

/// What a client says who shakes hands.
pub(crate) fn greeting(version: &str) -> Value {
    let about = json!({ "name": "claude", "version": "1.0" });
    json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": about })
}

/// Returns the text of an answer to a call.
#[track_caller]
pub(crate) fn said(answer: &Value) -> String {
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
fn parsed(line: &str) -> Value {
    let message: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("no MCP: {line}"));
    assert_eq!(message["jsonrpc"], "2.0", "{line}");
    message
}
