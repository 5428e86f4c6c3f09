//! Runs `git maintenance`, because many commits leave thousands of small files.
//!
//! Git runs it after each `git commit`, but not after commits by Palazzo. Git decides by its own
//! settings whether and what to clean up.

use std::process::{Command, Stdio};
use std::thread::{self, JoinHandle};

use crate::remote::{child_process, git_process};
use crate::repo::config;
use crate::repo::repository::Repository;

/// The number of writes of one process between two runs; the first write also triggers one.
const WRITES_PER_RUN: usize = 256;
/// Overrides of settings by which a repository could run programs. `gc.recentObjectsHook` is
/// missing because an empty value does not undo earlier ones.
const SAFE_SETTINGS: [&str; 6] = [
    "core.alternateRefsCommand=",
    "core.askPass=",
    "core.fsmonitor=false",
    "core.sshCommand=false",
    "credential.helper=",
    "maintenance.prefetch.enabled=false",
];

/// Returns true if maintenance is due after `writes` writes.
pub(crate) fn is_due(writes: usize) -> bool {
    writes % WRITES_PER_RUN == 1
}

/// Returns true if the repository's current configuration may run programs that no option disables.
fn may_run_programs(repository: &Repository) -> bool {
    config::scan_config(&repository.git_dir, &repository.common_dir).unwrap_or(true)
}

/// Starts `git maintenance run --auto` without waiting for it. Does nothing without git, if
/// `maintenance.auto` is off, or if the repository configures hooks that cannot be disabled,
/// because they may come from a stranger. The caller may drop the returned handle.
pub(crate) fn start_maintenance(repository: &Repository) -> Option<JoinHandle<()>> {
    let config = repository.git();
    let config = config.config_snapshot();
    if config.boolean("maintenance.auto") == Some(false) || may_run_programs(repository) {
        return None;
    }
    let mut git = Command::new("git");
    git.arg("-C").arg(&repository.work);
    // Only the user's own hooks remain in this configuration.
    let hooks = config.string("core.hooksPath").map_or("/dev/null".to_owned(), |it| it.to_string());
    git.arg("-c").arg(format!("core.hooksPath={hooks}"));
    for setting in SAFE_SETTINGS {
        git.args(["-c", setting]);
    }
    // A partial clone would fetch missing objects with whatever program its remote names.
    git.env("GIT_NO_LAZY_FETCH", "1").env("GIT_ALLOW_PROTOCOL", "none");
    git.args(["maintenance", "run", "--auto", "--quiet"]);
    // The parent process, for example a git hook, may have set these for another repository.
    git_process::remove_local_variables(&mut git);
    // Git may outlive this process, and must not keep open the streams whose end a client waits
    // for.
    git.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    child_process::put_in_own_session(&mut git);
    let mut git = git.spawn().ok()?;
    let wait = move || drop(git.wait());
    thread::Builder::new().name("maintenance".to_owned()).spawn(wait).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_repository::{TestHome, change_of_one_file, commit_ok};

    #[test]
    fn maintenance_follows_the_settings_of_git() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        commit_ok(&mut store, &change_of_one_file("rooms/hall.yaml", None, Some("1\n")));
        scene.git(&["config", "maintenance.autoDetach", "false"]);
        scene.git(&["config", "maintenance.commit-graph.enabled", "true"]);
        scene.git(&["config", "maintenance.commit-graph.auto", "1"]);
        let graph = scene.home.join(".git/objects/info/commit-graphs");
        scene.git(&["config", "maintenance.auto", "false"]);
        let start = || start_maintenance(&scene.palace("keep").repository().unwrap().unwrap());
        assert!(start().is_none());
        scene.git(&["config", "maintenance.auto", "true"]);
        start().unwrap().join().unwrap();
        assert!(graph.is_dir());
        scene.assert_fsck_clean();
    }

    #[test]
    fn maintenance_does_not_run_if_the_repository_configures_hooks() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        commit_ok(&mut store, &change_of_one_file("rooms/hall.yaml", None, Some("1\n")));
        scene.git(&["config", "maintenance.autoDetach", "false"]);
        let start = || start_maintenance(&scene.palace("keep").repository().unwrap().unwrap());
        start().unwrap().join().unwrap();
        let config = scene.read_file(".git/config");
        scene.write_file(".git/hidden", "[gc]\n\trecentObjectsHook = touch ran\n");
        for hook in [
            "[gc]\n\trecentObjectsHook = touch ran\n",
            "[GC]\n\tRECENTOBJECTSHOOK = touch ran\n",
            "[hook \"x\"]\n\tevent = pre-auto-gc\n\tcommand = touch ran\n",
            "[include]\n\tpath = hidden\n",
            "[includeIf \"unknown:condition\"]\n\tpath = hidden\n",
        ] {
            scene.write_file(".git/config", &(config.clone() + hook));
            assert!(start().is_none(), "{hook}");
        }
        scene.write_file(".git/config", &config);
        start().unwrap().join().unwrap();
    }

    #[test]
    fn maintenance_is_due_at_the_first_write_and_then_rarely() {
        let due: Vec<_> = (1..=1_000).filter(|it| is_due(*it)).collect();
        assert_eq!(due, [1, 257, 513, 769]);
    }
}
