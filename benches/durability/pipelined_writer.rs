//! A client that sends writes without waiting for responses, and records which writes succeeded.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::{JoinHandle, spawn};
use std::time::Duration;

use serde_json::{Value, json};

/// The maximum number of calls without a response.
const MAX_IN_FLIGHT: usize = 8;
/// The number of rooms, and of entities, that the calls change.
const ROOM_COUNT: usize = 20;

/// A server and its client.
pub(crate) struct PipelinedWriter {
    server: Child,
    input: ChildStdin,
    /// The id of each response, and whether the call succeeded.
    responses: Receiver<(usize, bool)>,
    reader: JoinHandle<()>,
    name: usize,
    last_id: usize,
    /// The word of each write without a response, by the id of the request.
    in_flight: HashMap<usize, String>,
    confirmed: Vec<String>,
    refused: usize,
}

impl PipelinedWriter {
    /// Starts a server, enters its palace, and creates the rooms and entities to change.
    pub(crate) fn start(mut command: Command, name: usize) -> Self {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut server = command.spawn().expect("the program starts");
        let input = server.stdin.take().expect("the input is piped");
        let output = server.stdout.take().expect("the output is piped");
        let (sender, responses) = channel();
        let reader = spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let Ok(response) = serde_json::from_str::<Value>(&line) else { return };
                let id = response["id"].as_u64().and_then(|it| usize::try_from(it).ok());
                let Some(id) = id else { continue };
                let is_error =
                    response["result"].is_null() || response["result"]["isError"] == true;
                // The disk has failed, and the answer says so.
                let is_warned = line.contains("may not survive a power failure");
                if sender.send((id, !is_error && !is_warned)).is_err() {
                    return;
                }
            }
        });
        let mut writer = Self {
            server,
            input,
            responses,
            reader,
            name,
            last_id: 0,
            in_flight: HashMap::new(),
            confirmed: Vec::new(),
            refused: 0,
        };
        writer.set_up();
        writer
    }

    /// Writes a unique word, and returns the tool. Waits only while [`MAX_IN_FLIGHT`] calls have no
    /// response.
    pub(crate) fn write(&mut self) -> &'static str {
        while self.in_flight.len() >= MAX_IN_FLIGHT && self.receive_response() {}
        let word = format!("word-{}-{}-", self.name, self.last_id);
        let (tool, arguments) = self.next_write(&word);
        let id = self.call_tool(tool, &arguments);
        self.in_flight.insert(id, word);
        tool
    }

    /// Waits for all responses.
    pub(crate) fn wait_for_responses(&mut self) {
        while !self.in_flight.is_empty() && self.receive_response() {}
    }

    /// Waits for all responses. Returns the confirmed words and the number of refused calls.
    pub(crate) fn finish(mut self) -> (Vec<String>, usize) {
        self.wait_for_responses();
        let refused = self.refused;
        (self.close(), refused)
    }

    /// Kills the server and returns the words that it confirmed before.
    pub(crate) fn kill(mut self) -> Vec<String> {
        self.server.kill().expect("the process belongs to this user");
        while self.receive_response() {}
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

    /// Returns true if the server ends within 0.1 s.
    pub(crate) fn has_server_ended(&mut self) -> bool {
        (0..20).any(|_| {
            std::thread::sleep(Duration::from_millis(5));
            self.server.try_wait().is_ok_and(|it| it.is_some())
        })
    }

    fn close(self) -> Vec<String> {
        let Self { mut server, input, reader, confirmed, .. } = self;
        drop(input);
        drop(server.wait());
        reader.join().expect("the thread does not panic");
        confirmed
    }

    fn set_up(&mut self) {
        let params = json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": { "name": format!("writer {}", self.name), "version": "1" },
        });
        self.send_request("initialize", &params);
        self.receive_response();
        self.send_message(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        self.call_tool("set_workspace", &json!({ "workspace": "keep", "create": true }));
        self.receive_response();
        let rooms = (0..ROOM_COUNT).map(|it| {
            let slug = format!("room-{it}");
            json!({
                "slug": slug, "name": slug, "description": "Stone.", "merge": true, "quiet": true,
            })
        });
        let entities =
            (0..ROOM_COUNT).map(|it| json!({ "name": format!("Thing {it}"), "genus": "Thing" }));
        let entities = json!({ "entities": entities.collect::<Vec<_>>() });
        let rooms: Vec<_> = rooms.collect();
        for room in &rooms {
            self.call_tool("build_room", room);
            self.receive_response();
        }
        self.call_tool("create_entities", &entities);
        self.receive_response();
        self.refused = 0;
    }

    /// Returns the tool and the arguments of the next write.
    fn next_write(&self, word: &str) -> (&'static str, Value) {
        let number = self.last_id % ROOM_COUNT;
        let (room, entity) = (format!("room-{number}"), format!("Thing {number}"));
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
            _ => ("update_entity", json!({ "name": entity, "add_observations": [word] })),
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

    /// Sends a message. Ignores the error if the server has ended.
    fn send_message(&mut self, message: &Value) {
        drop(self.input.write_all(format!("{message}\n").as_bytes()));
    }

    /// Receives one response. Returns false if the server has ended.
    fn receive_response(&mut self) -> bool {
        let Ok((id, is_success)) = self.responses.recv() else { return false };
        let word = self.in_flight.remove(&id);
        if is_success {
            self.confirmed.extend(word);
        } else {
            self.refused += 1;
        }
        true
    }
}
