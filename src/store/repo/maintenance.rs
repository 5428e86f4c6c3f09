//! Letting git tidy up what many commits leave behind: thousands of small files.
//!
//! Git does so itself after each `git commit`; nobody does it after ours. What
//! there is to do, and whether, git decides by its own settings.

use std::process::{Command, Stdio};
use std::thread::{self, JoinHandle};

use crate::store::repo::config;
use crate::store::repo::repository::Repository;

/// After how many writes of one process git is asked again, beside the first.
const WRITES_PER_RUN: usize = 256;
/// Switches off what a repository could name programs for. `gc.recentObjectsHook` is not here: an
/// empty value of it does not take back the others.
const SAFE_SETTINGS: [&str; 6] = [
    "core.alternateRefsCommand=",
    "core.askPass=",
    "core.fsmonitor=false",
    "core.sshCommand=false",
    "credential.helper=",
    "maintenance.prefetch.enabled=false",
];

/// Tells whether after so many writes git is to be asked.
pub(crate) fn is_due(writes: usize) -> bool {
    writes % WRITES_PER_RUN == 1
}

/// Tells whether the configuration of the repository, as it is now, may name programs that no
/// option switches off.
fn may_run_programs(repository: &Repository) -> bool {
    let survey = config::scan_config(&repository.git_dir, &repository.common_dir);
    repository.config_scan.has_hooks || survey.map_or(true, |it| it.has_hooks)
}

/// Asks git to tidy up if it finds that needed, and does not wait for it; without git, or where
/// `maintenance.auto` is off, nothing is done. Nothing is done either where the repository itself
/// names hooks that cannot be switched off: they could be a stranger's. The caller may drop what is
/// returned.
pub(crate) fn start_maintenance(repository: &Repository) -> Option<JoinHandle<()>> {
    let config = repository.git();
    let config = config.config_snapshot();
    if config.boolean("maintenance.auto") == Some(false) || may_run_programs(repository) {
        return None;
    }
    let mut git = Command::new("git");
    git.arg("-C").arg(&repository.work);
    // Only the user's own hooks are left in our configuration.
    let hooks = config.string("core.hooksPath").map_or("/dev/null".to_owned(), |it| it.to_string());
    git.arg("-c").arg(format!("core.hooksPath={hooks}"));
    for setting in SAFE_SETTINGS {
        git.args(["-c", setting]);
    }
    // A partial clone would fetch what it lacks, by whatever program its remote names.
    git.env("GIT_NO_LAZY_FETCH", "1").env("GIT_ALLOW_PROTOCOL", "none");
    git.args(["maintenance", "run", "--auto", "--quiet"]);
    for name in [
        "ALTERNATE_OBJECT_DIRECTORIES",
        "CEILING_DIRECTORIES",
        "COMMON_DIR",
        "DIR",
        "INDEX_FILE",
        "NAMESPACE",
        "OBJECT_DIRECTORY",
        "SHALLOW_FILE",
        "WORK_TREE",
    ] {
        // Whoever started us, a hook for one, may have had another repository in mind.
        git.env_remove(format!("GIT_{name}"));
    }
    // It may outlive us, and must not hold what a client waits for to end.
    git.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    detach_from_terminal(&mut git);
    let mut git = git.spawn().ok()?;
    let wait = move || drop(git.wait());
    thread::Builder::new().name("maintenance".to_owned()).spawn(wait).ok()
}

/// Keeps `Ctrl-C` from what has nothing to do with the terminal.
#[cfg(unix)]
fn detach_from_terminal(git: &mut Command) {
    use std::os::unix::process::CommandExt as _;
    git.process_group(0);
}

#[cfg(not(unix))]
fn detach_from_terminal(_: &mut Command) {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::test_repository::{TestHome, change_of_one_file, commit_ok};

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
        let begin = || start_maintenance(&scene.palace("keep").repository().unwrap().unwrap());
        assert!(begin().is_none());
        scene.git(&["config", "maintenance.auto", "true"]);
        begin().unwrap().join().unwrap();
        assert!(graph.is_dir());
        scene.assert_fsck_clean();
    }

    #[test]
    fn maintenance_does_not_run_if_the_repository_configures_hooks() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        commit_ok(&mut store, &change_of_one_file("rooms/hall.yaml", None, Some("1\n")));
        scene.git(&["config", "maintenance.autoDetach", "false"]);
        let began = || start_maintenance(&scene.palace("keep").repository().unwrap().unwrap());
        began().unwrap().join().unwrap();
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
            assert!(began().is_none(), "{hook}");
        }
        scene.write_file(".git/config", &config);
        began().unwrap().join().unwrap();
    }

    #[test]
    fn maintenance_is_due_at_the_first_write_and_then_rarely() {
        let due: Vec<_> = (1..=1_000).filter(|it| is_due(*it)).collect();
        assert_eq!(due, [1, 257, 513, 769]);
    }
}
