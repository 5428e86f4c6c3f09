//! A client that writes without waiting, and records which calls were answered.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::{JoinHandle, spawn};
use std::time::Duration;

use serde_json::{Value, json};

/// How many calls are open at once.
const MAX_IN_FLIGHT: usize = 8;
/// How many rooms and entities are changed repeatedly.
const ROOM_COUNT: usize = 20;

/// A server with its client.
pub(crate) struct PipelinedWriter {
    server: Child,
    input: ChildStdin,
    answers: Receiver<(usize, bool)>,
    listener: JoinHandle<()>,
    name: usize,
    last_id: usize,
    waiting: HashMap<usize, String>,
    answered: Vec<String>,
    refused: usize,
}

impl PipelinedWriter {
    /// Starts a server, enters its palace, and creates the rooms and entities to
    /// change.
    pub(crate) fn start(mut command: Command, name: usize) -> Self {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut server = command.spawn().expect("the program starts");
        let ask = server.stdin.take().expect("it has an input");
        let hear = server.stdout.take().expect("it has an output");
        let (say, answers) = channel();
        let listener = spawn(move || {
            for line in BufReader::new(hear).lines().map_while(Result::ok) {
                let Ok(answer) = serde_json::from_str::<Value>(&line) else { return };
                let Some(id) = answer["id"].as_u64().and_then(|it| usize::try_from(it).ok()) else {
                    continue;
                };
                let refused = answer["result"].is_null() || answer["result"]["isError"] == true;
                if say.send((id, !refused)).is_err() {
                    return;
                }
            }
        });
        let (waiting, answered) = (HashMap::new(), Vec::new());
        let mut writer = Self {
            server,
            input: ask,
            answers,
            listener,
            name,
            last_id: 0,
            waiting,
            answered,
            refused: 0,
        };
        writer.set_up();
        writer
    }

    /// Writes a unique word; waits only while too many calls are open.
    pub(crate) fn write(&mut self) {
        while self.waiting.len() >= MAX_IN_FLIGHT && self.receive_answer() {}
        let word = format!("word-{}-{}-", self.name, self.last_id);
        let (tool, arguments) = self.next_write(&word);
        let id = self.call_tool(tool, &arguments);
        self.waiting.insert(id, word);
    }

    /// Waits for all answers.
    pub(crate) fn wait_for_answers(&mut self) {
        while !self.waiting.is_empty() && self.receive_answer() {}
    }

    /// Waits for all answers; returns the answered words, and how many calls were
    /// refused.
    pub(crate) fn finish(mut self) -> (Vec<String>, usize) {
        self.wait_for_answers();
        let refused = self.refused;
        (self.close(), refused)
    }

    /// Kills the server, and returns the words that were answered by then.
    pub(crate) fn kill(mut self) -> Vec<String> {
        self.server.kill().expect("it can be killed");
        while self.receive_answer() {}
        self.close()
    }

    /// Returns the process id of the server.
    pub(crate) fn process_id(&self) -> u32 {
        self.server.id()
    }

    /// Waits until `strace` is attached to the server.
    pub(crate) fn wait_until_traced(&self) {
        let status = format!("/proc/{}/status", self.server.id());
        let is_traced = || {
            let text = std::fs::read_to_string(&status).unwrap_or_default();
            text.lines().any(|it| it.starts_with("TracerPid:") && !it.ends_with("\t0"))
        };
        while !is_traced() {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Returns whether the server has ended; waits up to 0.1 s for it.
    pub(crate) fn has_server_ended(&mut self) -> bool {
        (0..20).any(|_| {
            std::thread::sleep(Duration::from_millis(5));
            self.server.try_wait().is_ok_and(|it| it.is_some())
        })
    }

    fn close(self) -> Vec<String> {
        let Self { mut server, input: ask, listener, answered, .. } = self;
        drop(ask);
        drop(server.wait());
        listener.join().expect("it ends with the server");
        answered
    }

    fn set_up(&mut self) {
        let about = json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": { "name": format!("writer {}", self.name), "version": "1" },
        });
        self.send_request("initialize", &about);
        self.receive_answer();
        self.send_message(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        self.call_tool("set_workspace", &json!({ "workspace": "keep", "create": true }));
        self.receive_answer();
        let rooms = (0..ROOM_COUNT).map(|it| {
            let slug = format!("room-{it}");
            json!({ "slug": slug, "name": slug, "description": "Stone.", "merge": true, "quiet": true })
        });
        let entities =
            (0..ROOM_COUNT).map(|it| json!({ "name": format!("Thing {it}"), "genus": "Thing" }));
        let entities = json!({ "entities": entities.collect::<Vec<_>>() });
        let rooms: Vec<_> = rooms.collect();
        for room in &rooms {
            self.call_tool("build_room", room);
            self.receive_answer();
        }
        self.call_tool("create_entities", &entities);
        self.receive_answer();
        self.refused = 0;
    }

    fn next_write(&self, word: &str) -> (&'static str, Value) {
        let (room, thing) = (
            format!("room-{}", self.last_id % ROOM_COUNT),
            format!("Thing {}", self.last_id % ROOM_COUNT),
        );
        match self.last_id % 4 {
            0 => ("write_scroll", json!({ "title": "On words", "body": word, "room": room })),
            1 => {
                let action = json!({ "label": word, "type": "text", "content": "Said." });
                let actions = json!([action]);
                let merge =
                    json!({ "slug": room, "actions": actions, "merge": true, "quiet": true });
                ("build_room", merge)
            }
            2 => ("create_entities", json!({ "entities": [{ "name": word, "genus": "Word" }] })),
            _ => ("update_entity", json!({ "name": thing, "add_observations": [word] })),
        }
    }

    fn call_tool(&mut self, tool: &str, arguments: &Value) -> usize {
        self.send_request("tools/call", &json!({ "name": tool, "arguments": arguments }))
    }

    fn send_request(&mut self, method: &str, params: &Value) -> usize {
        self.last_id += 1;
        let id = self.last_id;
        self.send_message(
            &json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }),
        );
        id
    }

    /// Sends a message; ignores a server that has ended.
    fn send_message(&mut self, message: &Value) {
        drop(self.input.write_all(format!("{message}\n").as_bytes()));
    }

    /// Receives one answer; returns `false` if there will be no more.
    fn receive_answer(&mut self) -> bool {
        let Ok((id, done)) = self.answers.recv() else { return false };
        let word = self.waiting.remove(&id);
        if done {
            self.answered.extend(word);
        } else {
            self.refused += 1;
        }
        true
    }
}
