//! A home in a temporary directory, and MCP clients that use it.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Command;

use rmcp::model::{CallToolRequestParams, ClientCapabilities, ClientConfig, Implementation};
use rmcp::service::RunningService;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{RoleClient, ServiceExt};
use serde_json::Value;

/// The time at which tests begin.
pub(crate) const MARCH_1: &str = "2026-03-01T12:00:00Z";

/// A home of palaces, deleted at the end of the test.
pub(crate) struct Home {
    dir: tempfile::TempDir,
    git_config_dir: tempfile::TempDir,
}

/// A session: one server process, one client, and a log of their messages.
pub(crate) struct Agent {
    client: RunningService<RoleClient, ClientConfig>,
    transcript: String,
}

impl Home {
    pub(crate) fn new() -> Self {
        let [dir, settings] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let home = Self { dir, git_config_dir: settings };
        // Automatic maintenance would still run at the end of the test.
        home.write_git_config("[maintenance]\nauto = false\n");
        home
    }

    /// Writes the git configuration used in this home.
    pub(crate) fn write_git_config(&self, text: &str) {
        std::fs::write(self.git_config_dir.path().join("gitconfig"), text).unwrap();
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    /// Runs the program with `arguments` in this home.
    pub(crate) fn run_palazzo(&self, arguments: &[&str]) -> std::process::Output {
        self.palazzo_command(MARCH_1).args(arguments).output().unwrap()
    }

    /// Returns a command of the program that uses only this home and no settings of the
    /// machine.
    pub(crate) fn palazzo_command(&self, now: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_palazzo"));
        self.isolate_environment(&mut command);
        command.env("PALAZZO_HOME", self.path()).env("PALAZZO_NOW", now).env("USER", "ada");
        command
    }

    /// Starts a session at time `now`.
    pub(crate) async fn agent(&self, now: &str) -> Agent {
        self.agent_with(now, &[]).await
    }

    /// Starts a session with a server that has more arguments.
    pub(crate) async fn agent_with(&self, now: &str, arguments: &[&str]) -> Agent {
        self.agent_of_client("claude", now, arguments).await
    }

    /// Starts a session of a client with this name.
    pub(crate) async fn agent_of_client(
        &self,
        client: &str,
        now: &str,
        arguments: &[&str],
    ) -> Agent {
        let mut command = self.palazzo_command(now);
        command.arg("serve").args(arguments);
        Agent::start(client, command).await
    }

    /// Starts a session of `claude` with a server whose clock shows the real time.
    #[cfg(unix)]
    pub(crate) async fn agent_now(&self, arguments: &[&str]) -> Agent {
        let mut command = self.palazzo_command(MARCH_1);
        command.env_remove("PALAZZO_NOW").arg("serve").args(arguments);
        Agent::start("claude", command).await
    }

    /// Runs git in the home as a person.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        self.run_git(&mut Command::new("git"), arguments)
    }

    /// Runs git in the home at time `now`.
    pub(crate) fn git_at(&self, now: &str, arguments: &[&str]) -> String {
        let mut command = Command::new("git");
        command.env("GIT_AUTHOR_DATE", now).env("GIT_COMMITTER_DATE", now);
        self.run_git(&mut command, arguments)
    }

    /// Imports a history on `main`, in the format of `git fast-import`.
    pub(crate) fn git_fast_import(&self, past: &str) {
        let file = self.dir.path().join("past");
        std::fs::write(&file, past).unwrap();
        let mut command = Command::new("git");
        command.stdin(std::fs::File::open(file).unwrap());
        self.run_git(&mut command, &["fast-import", "--quiet"]);
        self.git(&["reset", "-q", "--hard"]);
    }

    /// Runs git in the home as a person; returns its exit code and what it prints on standard error.
    pub(crate) fn git_code_and_errors(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let mut command = Command::new("git");
        self.isolate_environment(&mut command);
        command.arg("-C").arg(self.path()).args(arguments);
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    }

    fn run_git(&self, command: &mut Command, arguments: &[&str]) -> String {
        self.isolate_environment(command);
        // Maintenance continues after the command, and creates and removes a lock.
        command.args(["-c", "maintenance.auto=false", "-C"]).arg(self.path()).args(arguments);
        let output = command.output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "git {arguments:?}: {said}{:?}", output.stderr);
        // The id of a visit differs between runs.
        let hide_id = |line: &str| match line.split_once("Palazzo-Visit: ") {
            Some((start, _)) => format!("{start}Palazzo-Visit: ID\n"),
            None => line.to_owned(),
        };
        said.split_inclusive('\n').map(hide_id).collect()
    }

    /// Writes a file as a person with an editor.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path().join(path)).unwrap()
    }

    /// Isolates a command from the configuration of the machine.
    pub(crate) fn isolate_environment(&self, command: &mut Command) {
        for name in std::env::vars_os().map(|(name, _)| name).filter(|it| is_personal(it)) {
            let is_chosen = command.get_envs().any(|(it, value)| it == name && value.is_some());
            if !is_chosen {
                command.env_remove(name);
            }
        }
        if !command.get_envs().any(|(name, _)| name == "TZ") {
            command.env("TZ", "UTC");
        }
        command
            .env("HOME", self.dir.path())
            .env("APPDATA", self.dir.path().join(".config"))
            .env("LOCALAPPDATA", self.dir.path().join(".local/state"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", self.git_config_dir.path().join("gitconfig"))
            .current_dir(self.dir.path());
    }

    /// Asserts what must be true after any calls: nothing is uncommitted, and the
    /// repository has no fault.
    #[track_caller]
    pub(crate) fn assert_clean_repository(&self) {
        assert_eq!(self.git(&["status", "--porcelain"]), "");
        assert_eq!(self.git(&["fsck", "--strict", "--no-dangling"]), "");
    }

    pub(crate) fn commit_count(&self) -> usize {
        self.git(&["rev-list", "--count", "HEAD"]).trim().parse().unwrap()
    }
}

/// Returns whether a variable of the environment changes what a program finds or prints here, and is
/// one that a person may have set.
fn is_personal(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    let prefixes = ["GIT_", "XDG_", "CLICOLOR", "PALAZZO_"];
    let names = ["NO_COLOR", "COLUMNS", "EMAIL", "CODEX_HOME", "CLAUDE_CONFIG_DIR"];
    prefixes.iter().any(|it| name.starts_with(it))
        || names.contains(&&*name)
        || ["GEMINI_CLI_HOME", "GOOSE_PATH_ROOT"].contains(&&*name)
}

impl Agent {
    /// Starts a session of a client with this name and the server of a command.
    pub(crate) async fn start(client: &str, command: Command) -> Self {
        let server = TokioChildProcess::new(tokio::process::Command::from(command)).unwrap();
        let client = client_config(client).serve(server).await.unwrap();
        Self { client, transcript: String::new() }
    }

    /// Starts a session over HTTP of a client with this name.
    pub(crate) async fn start_over_http(client: &str, url: &str, token: &str) -> Self {
        let config = StreamableHttpClientTransportConfig::with_uri(url).auth_header(token);
        let transport = StreamableHttpClientTransport::from_config(config);
        let client = client_config(client).serve(transport).await.unwrap();
        Self { client, transcript: String::new() }
    }

    /// Calls a tool, and returns its text; a refusal begins with `refused: `.
    pub(crate) async fn call(&mut self, tool: &'static str, arguments: Value) -> String {
        let said = self.send_tool_call(tool, arguments.clone()).await;
        let arguments =
            if arguments == serde_json::json!({}) { String::new() } else { arguments.to_string() };
        self.transcript.push_str(&format!("> {tool} {arguments}\n{}\n\n", said.trim_end()));
        said
    }

    /// Chooses an action.
    pub(crate) async fn choose(&mut self, action: i64) -> String {
        self.call("palace_action", serde_json::json!({ "action": action })).await
    }

    /// Chooses an action with `params`.
    pub(crate) async fn choose_with(&mut self, action: i64, params: &str) -> String {
        self.call("palace_action", serde_json::json!({ "action": action, "params": params })).await
    }

    /// Enters a workspace.
    pub(crate) async fn enter(&mut self, workspace: &str) -> String {
        self.call("set_workspace", serde_json::json!({ "workspace": workspace })).await
    }

    /// Enters a workspace repeatedly until the page contains a text: a file that looks
    /// half written is read only after it has been unchanged for a moment.
    pub(crate) async fn enter_until(&mut self, workspace: &str, expected: &str) -> String {
        for _ in 0..100_000 {
            let said = self.enter(workspace).await;
            if said.contains(expected) {
                return said;
            }
            self.transcript.clear();
        }
        panic!("no page contains: {expected}");
    }

    /// Returns the log, and starts a new one.
    pub(crate) fn take_transcript(&mut self) -> String {
        std::mem::take(&mut self.transcript)
    }

    /// Ends the session.
    pub(crate) async fn disconnect(self) {
        self.client.cancel().await.unwrap();
    }

    async fn send_tool_call(&mut self, tool: &'static str, arguments: Value) -> String {
        let mut request = CallToolRequestParams::new(tool);
        request.arguments = arguments.as_object().cloned();
        let result = self.client.call_tool(request).await.unwrap();
        let texts = result.content.iter().filter_map(|it| it.as_text());
        let text: String = texts.map(|it| it.text.as_str()).collect();
        match result.is_error {
            Some(true) => format!("refused: {text}"),
            _ => text,
        }
    }
}

fn client_config(name: &str) -> ClientConfig {
    ClientConfig::new(ClientCapabilities::default(), Implementation::new(name, "1.0"))
}
