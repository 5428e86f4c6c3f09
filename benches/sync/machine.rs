//! A machine with a clone, a server, and a client that writes.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::mcp_client::McpClient;
use crate::remote::{Remote, SHARED_ENTITY};
use crate::report::Pushes;

/// A `git` that records the exit status of each push.
const RECORDING_GIT: &str = "#!/bin/sh\n\
                             PATH=\"$BENCH_PATH\" git \"$@\"\n\
                             status=$?\n\
                             for argument; do\n\
                             [ \"$argument\" = push ] && echo $status >> \"$BENCH_PUSHES\"\n\
                             done\n\
                             exit $status\n";

/// A machine of one user.
pub(crate) struct Machine {
    number: usize,
    repository: PathBuf,
    pushes: PathBuf,
    client: Mutex<Option<McpClient>>,
}

impl Machine {
    /// Clones the palace, allows to sync it, and starts a server.
    pub(crate) fn clone_from(remote: &Remote, number: usize) -> Self {
        let folder = remote.clone_for_machine(number);
        let palazzo = env!("CARGO_BIN_EXE_palazzo");
        remote.run(palazzo, &folder, &["sync", "home", "--setup"]);
        let (programs, pushes) = (folder.join("bin"), folder.join("pushes"));
        fs::create_dir(&programs).expect("the folder is new");
        let git = programs.join("git");
        fs::write(&git, RECORDING_GIT).expect("the folder is writable");
        make_executable(&git);
        let path = env::var_os("PATH").unwrap_or_default();
        let paths = [programs].into_iter().chain(env::split_paths(&path));
        let mut serve = remote.command(palazzo, &folder);
        serve
            .args(["serve", "home"])
            .env("PATH", env::join_paths(paths).expect("the paths have no separator"))
            .env("BENCH_PATH", path)
            .env("BENCH_PUSHES", &pushes);
        let mut client = McpClient::start(serve);
        client.call_tool("set_workspace", &json!({ "workspace": "survey" }));
        let repository = folder.join("home");
        Self { number, repository, pushes, client: Mutex::new(Some(client)) }
    }

    /// Returns the work tree of the clone.
    pub(crate) fn repository(&self) -> &Path {
        &self.repository
    }

    /// Writes once a second.
    pub(crate) fn write_until(&self, end: Instant) {
        let mut client = self.client.lock().expect("no other thread panics");
        let client = client.as_mut().expect("the server runs");
        // The machines begin at different moments of a second.
        let mut next = Instant::now() + Duration::from_millis(self.number as u64 * 61 % 1000);
        for count in 0.. {
            if next >= end {
                break;
            }
            thread::sleep(next.saturating_duration_since(Instant::now()));
            let text = format!("Note {count} of machine {}.", self.number);
            if count % 4 == 3 {
                let change = json!({ "name": SHARED_ENTITY, "add_observations": [text] });
                client.call_tool("update_entity", &change);
            } else {
                client.call_tool("write_scroll", &json!({ "title": text, "body": "Rain." }));
            }
            next += Duration::from_secs(1);
        }
    }

    /// Ends the server.
    pub(crate) fn stop_server(&self) {
        drop(self.client.lock().expect("no other thread panics").take());
    }

    /// Counts the pushes of the server.
    pub(crate) fn pushes(&self) -> Pushes {
        let log = fs::read_to_string(&self.pushes).unwrap_or_default();
        let accepted = log.lines().filter(|it| *it == "0").count();
        Pushes { accepted, rejected: log.lines().count() - accepted }
    }
}

#[cfg(unix)]
fn make_executable(script: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    let executable = fs::Permissions::from_mode(0o755);
    fs::set_permissions(script, executable).expect("the file is writable");
}

/// Does nothing. Windows runs no script in place of `git.exe`, so no pushes are counted there.
#[cfg(windows)]
fn make_executable(_: &Path) {}
