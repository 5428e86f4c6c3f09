//! The bare repository that the machines share.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::common::BenchDir;
use crate::mcp_client::McpClient;

/// The entity that all machines write to.
pub(crate) const SHARED_ENTITY: &str = "Weather";

/// A temporary folder with the bare repository `hub.git` and the folders of the machines.
pub(crate) struct Remote {
    dir: BenchDir,
}

impl Remote {
    /// Creates the repository with a palace of one room and one entity. `push_interval` becomes the
    /// setting of that name.
    pub(crate) fn create_with_palace(push_interval: Option<usize>) -> Self {
        let remote = Self { dir: BenchDir::new() };
        let first = remote.dir.path().join("first");
        fs::create_dir(&first).expect("the folder is new");
        remote.run("git", &first, &["init", "-q", "--bare", "-b", "main", "../hub.git"]);
        let palazzo = env!("CARGO_BIN_EXE_palazzo");
        remote.run(palazzo, &first, &["init", "survey", "--home", "."]);
        if let Some(seconds) = push_interval {
            let path = first.join("survey/palace.toml");
            let settings = fs::read_to_string(&path).expect("`init` writes the file");
            let settings = format!("{settings}\n[sync]\npush_interval = {seconds}\n");
            fs::write(path, settings).expect("the file is writable");
            remote.run("git", &first, &["commit", "-q", "-a", "-m", "set the push interval"]);
        }
        let mut serve = remote.dir.isolated_command(palazzo);
        serve.args(["serve", "."]).current_dir(&first);
        let mut client = McpClient::start(serve);
        client.call_tool("set_workspace", &json!({ "workspace": "survey" }));
        let room = json!({
            "slug": "hall", "name": "Hall", "description": "Stone.", "actions": [], "quiet": true,
        });
        client.call_tool("build_room", &room);
        let entity = json!({ "name": SHARED_ENTITY, "genus": "Topic" });
        client.call_tool("create_entities", &json!({ "entities": [entity] }));
        drop(client);
        remote.run("git", &first, &["push", "-q", "../hub.git", "HEAD:main"]);
        remote
    }

    /// Clones the repository into the folder `home` of a new folder of the machine `number`;
    /// returns that folder.
    pub(crate) fn clone_for_machine(&self, number: usize) -> PathBuf {
        let folder = self.dir.path().join(format!("machine-{number}"));
        fs::create_dir(&folder).expect("the folder is new");
        self.run("git", &folder, &["clone", "-q", "../hub.git", "home"]);
        folder
    }

    /// Returns a command that runs in `folder` and takes it for the folder of the user.
    pub(crate) fn command(&self, program: &str, folder: &Path) -> Command {
        let mut command = self.dir.isolated_command(program);
        let state = folder.join("state");
        command.current_dir(folder).env("HOME", folder).env("XDG_STATE_HOME", state);
        command
    }

    /// Runs a command that must succeed.
    pub(crate) fn run(&self, program: &str, folder: &Path, arguments: &[&str]) {
        let output = self.command(program, folder).args(arguments).output();
        let output = output.expect("the program starts");
        let messages = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{program} {arguments:?}: {messages}");
    }
}
