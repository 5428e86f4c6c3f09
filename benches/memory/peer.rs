//! A measured server: Palazzo or the reference.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::ground::BenchDir;

/// A running server and both ends of its pipes.
pub(crate) struct MeasuredServer {
    server: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    last_id: u64,
}

/// The cost of a call.
#[derive(Clone, Copy)]
pub(crate) struct CallCost {
    /// The time from request to response.
    pub(crate) wall: Duration,
    /// The CPU time of the server meanwhile.
    pub(crate) cpu: Duration,
}

impl MeasuredServer {
    /// Starts Palazzo on the home in `ground`, with these tools.
    pub(crate) fn start_palazzo(ground: &BenchDir, tools: &str) -> Self {
        let mut command = ground.isolated_command(env!("CARGO_BIN_EXE_palazzo"));
        command.arg("serve").arg(ground.path().join("home")).args(["--tools", tools]);
        Self::start(command)
    }

    /// Calls a tool.
    pub(crate) fn call_tool(&mut self, tool: &str, arguments: &Value) -> CallCost {
        self.send_request("tools/call", &json!({ "name": tool, "arguments": arguments }))
    }

    /// Returns the memory of the server.
    pub(crate) fn memory_in_mb(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.server.id()));
        let status = status.unwrap_or_default();
        let line = status.lines().find_map(|it| it.strip_prefix("VmRSS:")).unwrap_or_default();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or_default() / 1024
    }

    /// Starts a server and initializes a session.
    pub(crate) fn start(mut command: Command) -> Self {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut server = command.spawn().expect("the program starts");
        let ask = server.stdin.take();
        let hear = BufReader::new(server.stdout.take().expect("it has an output"));
        let mut peer = Self { server, input: ask, output: hear, last_id: 0 };
        let about = json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": { "name": "bench", "version": "1" },
        });
        peer.send_request("initialize", &about);
        peer.send_line(&format!(
            "{}\n",
            json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })
        ));
        peer
    }

    fn send_request(&mut self, method: &str, params: &Value) -> CallCost {
        self.last_id += 1;
        let id = self.last_id;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let (mut answer, line) = (String::new(), format!("{request}\n"));
        let (worked, begun) = (self.cpu_time(), Instant::now());
        self.send_line(&line);
        self.output.read_line(&mut answer).expect("the server answers");
        let wall = begun.elapsed();
        let cost = CallCost { wall, cpu: self.cpu_time().saturating_sub(worked) };
        let said: Value = serde_json::from_str(&answer).expect("the answer is JSON");
        let refused = said["result"].is_null() || said["result"]["isError"] == true;
        assert!(said["id"] == id && !refused, "{request}\n{answer}");
        cost
    }

    /// Returns the CPU time of all its threads since the start, where the system
    /// reports it (Linux).
    fn cpu_time(&self) -> Duration {
        let threads = fs::read_dir(format!("/proc/{}/task", self.server.id()));
        let threads = threads.into_iter().flatten().flatten();
        let stats = threads.filter_map(|it| fs::read_to_string(it.path().join("schedstat")).ok());
        let nanos = stats.filter_map(|it| it.split(' ').next()?.parse::<u64>().ok());
        Duration::from_nanos(nanos.sum())
    }

    fn send_line(&mut self, line: &str) {
        let ask = self.input.as_mut().expect("the pipe is open while we live");
        ask.write_all(line.as_bytes()).expect("the server listens");
    }
}

impl Drop for MeasuredServer {
    fn drop(&mut self) {
        // A server exits when its input ends.
        self.input = None;
        drop(self.server.wait());
    }
}
