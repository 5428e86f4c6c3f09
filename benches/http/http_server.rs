//! A server over HTTP without a token.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};

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

    /// Returns host and port.
    pub(crate) fn address(&self) -> &str {
        &self.address
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
