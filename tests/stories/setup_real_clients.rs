//! `palazzo setup` with the real clients: each lists the server, and its configuration ends byte
//! for byte as it was.
//!
//! The clients are npm packages. The test searches each in a folder of `target/tmp`, where
//!
//! ```sh
//! npm install --prefix target/tmp/claude-code --ignore-scripts @anthropic-ai/claude-code@2.1.332
//! npm install --prefix target/tmp/gemini --ignore-scripts @google/gemini-cli@0.61.0
//! npm install --prefix target/tmp/codex --ignore-scripts @openai/codex@0.169.0
//! npm install --prefix target/tmp/opencode --ignore-scripts opencode-ai@1.18.33
//! ```
//!
//! install them. Claude Code and Gemini CLI are small enough for CI, where the test fails without
//! them; the others are tried if they are there. None needs an account or the network for this.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where the packages are.
const PACKAGES: &str = env!("CARGO_TARGET_TMPDIR");

/// A client and how it lists its servers.
struct RealClient {
    name: &'static str,
    /// The program below its folder in [`PACKAGES`].
    program: &'static str,
    /// The configuration file in the home folder of the user.
    file: &'static str,
    /// The words that it prints for the server.
    listed: &'static str,
    is_in_ci: bool,
}

const CLIENTS: [RealClient; 4] = [
    RealClient {
        name: "claude-code",
        program: "claude-code/node_modules/@anthropic-ai/claude-code-linux-x64/claude",
        file: ".claude.json",
        listed: "✔ Connected",
        is_in_ci: true,
    },
    RealClient {
        name: "gemini",
        program: "gemini/node_modules/.bin/gemini",
        file: ".gemini/settings.json",
        listed: "Connected",
        is_in_ci: true,
    },
    RealClient {
        name: "codex",
        program: "codex/node_modules/.bin/codex",
        file: ".codex/config.toml",
        listed: "enabled",
        is_in_ci: false,
    },
    RealClient {
        name: "opencode",
        program: "opencode/node_modules/opencode-linux-x64/bin/opencode",
        file: ".config/opencode/opencode.json",
        listed: "connected",
        is_in_ci: false,
    },
];

#[test]
fn real_clients_list_the_server_and_their_configuration_ends_as_it_was() {
    for client in CLIENTS {
        let program = Path::new(PACKAGES).join(client.program);
        if program.is_file() {
            try_client(&client, &program);
            continue;
        }
        let name = client.name;
        let why =
            format!("skipped: {name} is not there; see tests/stories/setup_real_clients.rs\n");
        assert!(std::env::var_os("CI").is_none() || !client.is_in_ci, "{why}");
        // Written directly to stderr, because the test harness captures prints.
        std::io::stderr().write_all(why.as_bytes()).unwrap();
    }
}

fn try_client(client: &RealClient, program: &Path) {
    // Some clients refuse folders below /tmp.
    let user = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let file = user.path().join(client.file);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let before = list_servers(user.path(), program);
    assert!(!before.contains("palazzo"), "{}: {before}", client.name);
    // What the client has written at its first start.
    let original = fs::read(&file).ok();

    let home = user.path().join("home-of-rooms").to_str().unwrap().to_owned();
    let added = palazzo(user.path(), &["setup", "--yes", "--client", client.name, "--home", &home]);
    let listed = list_servers(user.path(), program);
    let name = client.name;
    assert!(
        listed.contains("palazzo") && listed.contains(client.listed),
        "{name}: {listed}\n{added}"
    );

    let removed = palazzo(user.path(), &["setup", "--yes", "--remove", "--client", client.name]);
    let after = fs::read(&file).ok();
    let text = |it: &Option<Vec<u8>>| it.as_deref().map(String::from_utf8_lossy).map(String::from);
    assert_eq!(text(&after), text(&original), "{name}: {removed}");
    assert!(after == original, "{name}");
    let again = list_servers(user.path(), program);
    assert!(!again.contains("palazzo"), "{name}: {again}");
}

fn list_servers(user: &Path, program: &Path) -> String {
    run(command(user, program).args(["mcp", "list"]))
}

fn palazzo(user: &Path, arguments: &[&str]) -> String {
    run(command(user, Path::new(env!("CARGO_BIN_EXE_palazzo"))).args(arguments))
}

/// Returns a command in the environment of a user who has nothing else.
fn command(user: &Path, program: &Path) -> Command {
    let work = user.join("work");
    fs::create_dir_all(&work).unwrap();
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let node = std::env::split_paths(&paths).find(|it| it.join("node").is_file());
    let path =
        std::env::join_paths(node.into_iter().chain(["/usr/bin", "/bin"].map(PathBuf::from)));
    let mut command = Command::new(program);
    command.env_clear().env("HOME", user).env("PATH", path.unwrap()).current_dir(work);
    // Gemini starts servers only in folders that its user trusts.
    command.env("GEMINI_CLI_TRUST_WORKSPACE", "true");
    command
}

#[track_caller]
fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{command:?}: {text}");
    text
}
