//! A server over HTTP without a token.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use crate::common::BenchDir;

/// A running server, and a client with its connections.
pub(crate) struct HttpServer {
    process: Child,
    address: String,
    client: reqwest::Client,
}

impl HttpServer {
    /// Starts Palazzo with the home in `dir`, without a limit of the rate.
    pub(crate) fn start(dir: &BenchDir) -> Self {
        let mut command = dir.isolated_command(env!("CARGO_BIN_EXE_palazzo"));
        command.args(["serve", "--http", "--no-token", "--rate", "0", "--listen", "127.0.0.1:0"]);
        command.arg(dir.path().join("home")).stderr(Stdio::piped());
        let mut process = command.spawn().expect("the program starts");
        let lines = BufReader::new(process.stderr.take().expect("the output is piped")).lines();
        let mut lines = lines.map_while(Result::ok);
        let line = lines.find(|it| it.contains("http://")).expect("the server names its address");
        let address = line.split("http://").nth(1).and_then(|it| it.split('/').next());
        let address = address.expect("an address").to_owned();
        // The server may go on to write.
        std::thread::spawn(move || lines.for_each(drop));
        Self { process, address, client: reqwest::Client::new() }
    }

    /// Returns the text at a path.
    pub(crate) async fn get(&self, path: &str) -> String {
        let answer = self.client.get(format!("http://{}{path}", self.address)).send().await;
        let answer = answer.expect("the server answers");
        assert!(answer.status().is_success(), "{path}: {}", answer.status());
        answer.text().await.expect("the answer is text")
    }

    /// Calls a tool by the stateless protocol version; returns the result, or the error.
    pub(crate) async fn call(&self, tool: &str, arguments: &Value) -> Result<Value, String> {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": { "name": "bench", "version": "1" },
        });
        let params = json!({ "name": tool, "arguments": arguments, "_meta": meta });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let request = self.client.post(format!("http://{}/mcp", self.address));
        let request = request
            .header("Accept", "application/json, text/event-stream")
            .header("MCP-Protocol-Version", "2026-07-28")
            .header("Mcp-Method", "tools/call")
            .header("Mcp-Name", tool)
            .json(&body);
        let answer = request.send().await.map_err(|err| err.to_string())?;
        let answer: Value = answer.json().await.map_err(|err| err.to_string())?;
        match answer["result"]["isError"] == false {
            true => Ok(answer["result"].clone()),
            false => Err(answer.to_string()),
        }
    }

    /// Returns the resident memory of the server, where `/proc` exists (Linux).
    pub(crate) fn memory_in_mb(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id()));
        let status = status.unwrap_or_default();
        let line = status.lines().find_map(|it| it.strip_prefix("VmRSS:")).unwrap_or_default();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or_default() / 1024
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}
