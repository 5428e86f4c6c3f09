//! The plugin for Claude Code and for clients of Agent Plugins, in `packaging/plugin`.
//!
//! One test needs node. Two need Claude Code itself, which validates the manifests and starts the server without an
//! account:
//!
//! ```sh
//! npm install --prefix target/tmp/claude-code --ignore-scripts @anthropic-ai/claude-code@2.1.332
//! ```
//!
//! Without them, the tests print a notice and pass; with the variable `CI`, they fail.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use agent_plugins::{McpOutcome, load_dir};

use crate::harness::{Home, MARCH_1};

const PLUGIN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/packaging/plugin");

/// An empty home of a user, in which the program may be installed.
struct UserHome {
    dir: tempfile::TempDir,
}

impl UserHome {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    /// Installs the program under test in a folder that is not on `PATH`.
    fn install_palazzo(&self) {
        let folder = self.dir.path().join(".local/bin");
        fs::create_dir_all(&folder).unwrap();
        let program = env!("CARGO_BIN_EXE_palazzo");
        std::os::unix::fs::symlink(program, folder.join("palazzo")).unwrap();
    }

    /// Returns the command of the plugin's launcher.
    fn launcher(&self) -> Command {
        let mut command = Command::new("sh");
        command.arg(Path::new(PLUGIN).join("launch.sh"));
        self.isolate(&mut command);
        command
    }

    fn isolate(&self, command: &mut Command) {
        command.env_clear().env("HOME", self.dir.path()).env("PATH", "/usr/bin:/bin");
        command.env("USER", "ada").env("PALAZZO_NOW", MARCH_1).current_dir(self.dir.path());
    }

    /// Runs Claude Code; `None` if it is not there.
    fn claude(&self, arguments: &[&str]) -> Option<Output> {
        let mut command = Command::new(find_claude()?);
        self.isolate(&mut command);
        command.args(arguments).stdin(Stdio::null());
        command
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            .env("DISABLE_AUTOUPDATER", "1");
        Some(command.output().unwrap())
    }
}

#[test]
fn manifests_and_pages_repeat_the_version_and_repository_of_cargo_toml() {
    let mut command = Command::new("node");
    match command.args(["packaging/manifests.mjs", "--check"]).output() {
        Err(_) => skip("node is not there"),
        Ok(output) => {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
    }
}

#[test]
fn the_manifest_for_agent_plugins_is_valid() {
    let plugin = load_dir(PLUGIN).unwrap();
    assert_eq!(plugin.diagnostics.len(), 0, "{:?}", plugin.diagnostics);
    assert_eq!(plugin.manifest.version.as_deref(), Some(env!("CARGO_PKG_VERSION")));
    let McpOutcome::Configured(mcp) = &plugin.mcp else { panic!("{:?}", plugin.mcp) };
    assert!(mcp.server("palazzo").is_some());
    let names: Vec<_> = plugin.skills.iter().map(|it| it.meta.name.clone()).collect();
    assert_eq!(names, ["palace-keeping"]);
}

#[test]
fn claude_code_accepts_the_plugin_and_its_marketplace() {
    let user = UserHome::new();
    for path in [PLUGIN, env!("CARGO_MANIFEST_DIR")] {
        let Some(output) = user.claude(&["plugin", "validate", "--strict", path]) else { return };
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
}

#[test]
fn claude_code_connects_to_the_server_of_the_installed_plugin() {
    let user = UserHome::new();
    user.install_palazzo();
    let marketplace = env!("CARGO_MANIFEST_DIR");
    let Some(added) = user.claude(&["plugin", "marketplace", "add", marketplace]) else { return };
    assert!(added.status.success(), "{added:?}");
    let installed = user.claude(&["plugin", "install", "palazzo@palazzo"]).unwrap();
    assert!(installed.status.success(), "{installed:?}");
    let servers = user.claude(&["mcp", "list"]).unwrap();
    let servers = String::from_utf8(servers.stdout).unwrap();
    let line = servers.lines().find(|it| it.starts_with("plugin:palazzo:palazzo:")).unwrap();
    assert!(line.ends_with("Connected"), "{servers}");
}

#[test]
fn the_launcher_finds_the_program_outside_path() {
    let user = UserHome::new();
    user.install_palazzo();
    let output = user.launcher().arg("--version").output().unwrap();
    assert!(output.status.success() && output.stdout.starts_with(b"palazzo "), "{output:?}");
}

#[test]
fn without_the_program_the_launcher_fails_and_says_how_to_install_it() {
    let output = UserHome::new().launcher().arg("serve").output().unwrap();
    assert_eq!(output.status.code(), Some(127));
    assert!(output.stdout.is_empty(), "standard output belongs to MCP");
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.contains("npm install --global palazzo"), "{errors}");
}

#[test]
fn the_plugin_keeps_a_conversation_only_if_its_option_is_set() {
    let user = UserHome::new();
    user.install_palazzo();
    let home = Home::new();
    home.write("survey/palace.toml", "name = \"Survey\"\n");
    home.write("survey/rooms/hall.yaml", "name: Hall\n");
    let end = |option: Option<&str>| {
        let mut command = user.launcher();
        command.args(["hook", "session-end"]).env("PALAZZO_HOME", home.path());
        command.envs(option.map(|it| ("CLAUDE_PLUGIN_OPTION_KEEP_CONVERSATIONS", it)));
        command.stdin(Stdio::null()).output().unwrap()
    };
    for output in [end(None), end(Some("false"))] {
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    }
    // The program itself asks for the conversation, which is not named here.
    let kept = String::from_utf8(end(Some("true")).stderr).unwrap();
    assert!(kept.contains("nothing is kept"), "{kept}");
}

#[test]
fn the_hook_at_the_start_prints_a_summary_of_the_palace() {
    let user = UserHome::new();
    user.install_palazzo();
    let home = Home::new();
    home.write("survey/palace.toml", "name = \"Survey\"\n");
    home.write("survey/rooms/hall.yaml", "name: Hall\n");
    let hooks = fs::read_to_string(Path::new(PLUGIN).join("hooks/hooks.json")).unwrap();
    let hooks: serde_json::Value = serde_json::from_str(&hooks).unwrap();
    let command = hooks["hooks"]["SessionStart"][0]["hooks"][0]["command"].as_str().unwrap();
    let mut shell = Command::new("sh");
    user.isolate(&mut shell);
    shell.args(["-c", command]).env("CLAUDE_PLUGIN_ROOT", PLUGIN).env("PALAZZO_HOME", home.path());
    let output = shell.output().unwrap();
    let summary = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && summary.contains("Hall (hall)"), "{summary}");
}

/// Returns the path of Claude Code; in CI it must be there.
fn find_claude() -> Option<PathBuf> {
    let packages = Path::new(env!("CARGO_TARGET_TMPDIR")).join("claude-code/node_modules");
    let program = fs::read_dir(packages.join("@anthropic-ai")).ok().and_then(|folders| {
        let folders = folders.map(|it| it.unwrap().path().join("claude"));
        folders.into_iter().find(|it| it.is_file())
    });
    if program.is_none() {
        skip("Claude Code is not there");
    }
    program
}

fn skip(why: &str) {
    assert!(std::env::var_os("CI").is_none(), "{why}");
    let notice = format!("skipped: {why}; see tests/stories/plugin.rs\n");
    // Written directly to stderr, because the test harness captures prints.
    std::io::stderr().write_all(notice.as_bytes()).unwrap();
}
