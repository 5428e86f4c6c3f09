//! A server whose time and memory are measured: Palazzo or the reference memory server.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::BenchDir;

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
    /// The CPU time that the server uses for the call.
    pub(crate) cpu: Duration,
}

impl MeasuredServer {
    /// Starts Palazzo with the home in `bench_dir` and one tool set.
    pub(crate) fn start_palazzo(bench_dir: &BenchDir, tool_set: &str) -> Self {
        let mut command = bench_dir.isolated_command(env!("CARGO_BIN_EXE_palazzo"));
        command.arg("serve").arg(bench_dir.path().join("home")).args(["--tools", tool_set]);
        Self::start(command)
    }

    /// Calls a tool and returns the cost.
    pub(crate) fn call_tool(&mut self, tool: &str, arguments: &Value) -> CallCost {
        self.send_request("tools/call", &json!({ "name": tool, "arguments": arguments }))
    }

    /// Returns the resident memory of the server, where `/proc` exists (Linux).
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
        let input = server.stdin.take();
        let output = BufReader::new(server.stdout.take().expect("the output is piped"));
        let mut server = Self { server, input, output, last_id: 0 };
        let params = json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": { "name": "bench", "version": "1" },
        });
        server.send_request("initialize", &params);
        server.send_line(&format!(
            "{}\n",
            json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })
        ));
        server
    }

    fn send_request(&mut self, method: &str, params: &Value) -> CallCost {
        self.last_id += 1;
        let id = self.last_id;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let (mut response, line) = (String::new(), format!("{request}\n"));
        let (cpu_before, start) = (self.cpu_time(), Instant::now());
        self.send_line(&line);
        self.output.read_line(&mut response).expect("the server responds");
        let wall = start.elapsed();
        let cost = CallCost { wall, cpu: self.cpu_time().saturating_sub(cpu_before) };
        let message: Value = serde_json::from_str(&response).expect("the response is JSON");
        let is_error = message["result"].is_null() || message["result"]["isError"] == true;
        assert!(message["id"] == id && !is_error, "{request}\n{response}");
        cost
    }

    /// Returns the CPU time of all threads since the start, where the system reports it (Linux).
    fn cpu_time(&self) -> Duration {
        let threads = fs::read_dir(format!("/proc/{}/task", self.server.id()));
        let threads = threads.into_iter().flatten().flatten();
        let stats = threads.filter_map(|it| fs::read_to_string(it.path().join("schedstat")).ok());
        let nanos = stats.filter_map(|it| it.split(' ').next()?.parse::<u64>().ok());
        Duration::from_nanos(nanos.sum())
    }

    fn send_line(&mut self, line: &str) {
        let input = self.input.as_mut().expect("the pipe is open until the server is dropped");
        input.write_all(line.as_bytes()).expect("the server reads its input");
    }
}

impl Drop for MeasuredServer {
    fn drop(&mut self) {
        // A server exits when its input ends.
        self.input = None;
        drop(self.server.wait());
    }
}
