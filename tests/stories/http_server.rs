//! A server over HTTP, and requests to it.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use reqwest::{Client, RequestBuilder, Response};
use serde_json::{Value, json};

use crate::harness::{Agent, Home, MARCH_1};

/// A running `palazzo serve --http`, killed at the end of the test.
pub(crate) struct HttpServer {
    process: Child,
    /// Its address: `127.0.0.1:PORT`.
    pub(crate) address: String,
    /// Its token, if it needs one.
    pub(crate) token: String,
    pub(crate) client: Client,
}

impl Home {
    /// Starts a server over HTTP on a free port, with more arguments.
    pub(crate) fn http_server(&self, arguments: &[&str]) -> HttpServer {
        let mut command = self.palazzo_command(MARCH_1);
        command.args(["serve", "--http", "--listen", "127.0.0.1:0"]).args(arguments);
        self.http_server_of(command)
    }

    /// Starts a server over HTTP that may have at most `count` open files.
    #[cfg(unix)]
    pub(crate) fn http_server_with_open_files(&self, count: usize) -> HttpServer {
        let palazzo = self.palazzo_command(MARCH_1);
        let mut command = Command::new("sh");
        command.args(["-c", &format!("ulimit -n {count}; exec \"$0\" \"$@\"")]);
        command.arg(palazzo.get_program()).args(palazzo.get_args());
        command.args(["serve", "--http", "--listen", "127.0.0.1:0"]);
        self.isolate_environment(&mut command);
        for (name, value) in palazzo.get_envs().filter_map(|(name, it)| Some((name, it?))) {
            command.env(name, value);
        }
        command.current_dir(palazzo.get_current_dir().unwrap_or(&self.path()));
        self.http_server_of(command)
    }

    fn http_server_of(&self, mut command: Command) -> HttpServer {
        let mut process = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        // One byte at a time, so that the rest remains in the pipe.
        let mut stderr = BufReader::with_capacity(1, process.stderr.take().unwrap());
        let mut line = String::new();
        while !line.contains("http://") {
            line.clear();
            assert_ne!(stderr.read_line(&mut line).unwrap(), 0, "the server ended");
        }
        process.stderr = Some(stderr.into_inner());
        let address = line.split("http://").nth(1).unwrap().split('/').next().unwrap().to_owned();
        let state = self.path().parent().unwrap().join(".local/state/palazzo");
        let token = std::fs::read_to_string(state.join("http-token")).unwrap_or_default();
        let client = Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none());
        let (client, token) = (client.build().unwrap(), token.trim().to_owned());
        HttpServer { process, address, token, client }
    }
}

impl HttpServer {
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Starts a session of a client with this name.
    pub(crate) async fn agent(&self, client: &str) -> Agent {
        Agent::start_over_http(client, &self.url("/mcp"), &self.token).await
    }

    /// Returns a request with the token and the headers of MCP.
    pub(crate) fn mcp_request(&self, message: &Value) -> RequestBuilder {
        let request = self.client.post(self.url("/mcp"));
        let request = request.header(AUTHORIZATION, format!("Bearer {}", self.token));
        let request = request.header(ACCEPT, "application/json, text/event-stream");
        request.header(CONTENT_TYPE, "application/json").body(message.to_string())
    }

    /// Calls a tool without a session, as clients of protocol version 2026-07-28 do; returns the
    /// texts of the answer.
    pub(crate) async fn call_stateless(&self, tool: &str, arguments: Value) -> Vec<String> {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "claude-code", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = json!({ "name": tool, "arguments": arguments, "_meta": meta });
        let message =
            json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let request = self.mcp_request(&message).header("MCP-Protocol-Version", "2026-07-28");
        let request = request.header("Mcp-Method", "tools/call").header("Mcp-Name", tool);
        let response: Value = request.send().await.unwrap().json().await.unwrap();
        let content = response["result"]["content"].as_array();
        let content = content.unwrap_or_else(|| panic!("{response}"));
        content.iter().map(|it| it["text"].as_str().unwrap().to_owned()).collect()
    }

    /// Sends the signal that asks the server to end; returns its exit code, and the rest of what
    /// it prints on standard error.
    #[cfg(unix)]
    pub(crate) fn terminate(mut self) -> (Option<i32>, String) {
        use std::io::Read as _;

        let id = rustix::process::Pid::from_child(&self.process);
        rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
        let mut said = String::new();
        self.process.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (self.process.wait().unwrap().code(), said)
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// Returns the status of a response and its text.
pub(crate) async fn status_and_text(response: Response) -> (u16, String) {
    (response.status().as_u16(), response.text().await.unwrap())
}
