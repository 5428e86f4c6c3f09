//! Tests a crash at every step of a synchronization.
//!
//! A child process synchronizes two diverged histories and is killed at the first point of
//! `failpoint.rs` that it reaches, the next child at the second, and so on until one completes.
//! After each of them a new write must be accepted, git must find no fault, and the next
//! synchronization must complete.
//!
//! ```text
//! cargo test --lib sync::crash_tests -- --ignored
//! ```

#![expect(clippy::print_stdout, reason = "the child tells its parent what became of the change")]

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use chrono::DateTime;

use crate::repo::failpoint;
use crate::sync::failure_kind::SyncFailureKind;
use crate::sync::session::SyncSession;
use crate::test_repository::{TestHome, change_of_one_file, commit_ok, git_in, try_git};
use crate::{Error, MergedPalace, PalaceVersions, Store};

/// The child's argument: the home.
const CHILD_ENV: &str = "PALAZZO_SYNC_CRASH_CHILD";
/// A synchronization with a merge has more steps than this.
const MIN_STEPS: usize = 50;
const HALL: &str = "rooms/hall.yaml";
const LOFT: &str = "rooms/loft.yaml";

/// A palace on this machine, and the same on another one.
struct TwoMachines {
    scene: TestHome,
    other: PathBuf,
    remote: PathBuf,
}

impl TwoMachines {
    fn new() -> Self {
        let scene = TestHome::with_repository();
        let [remote, other] = ["remote.git", "other"].map(|it| scene.home.with_file_name(it));
        scene.write_file("keep/palace.toml", "name = \"T\"\n");
        scene.git(&["add", "."]);
        scene.git(&["commit", "-qm", "palace"]);
        git_in(&scene.home, &["clone", "-q", "--bare", ".", "../remote.git"]);
        let url = format!("file://{}", remote.display());
        scene.git(&["remote", "add", "origin", &url]);
        scene.git(&["push", "-q", "-u", "origin", "main"]);
        git_in(&scene.home, &["clone", "-q", &url, "../other"]);
        for (key, value) in [("user.name", "Ben"), ("user.email", "ben@example.org")] {
            git_in(&other, &["config", key, value]);
        }
        Self { scene, other, remote }
    }

    /// Commits on both machines; the other one pushes.
    fn diverge(&self, step: usize) {
        git_in(&self.other, &["pull", "-q"]);
        let loft = self.other.join("keep").join(LOFT);
        fs::create_dir_all(loft.parent().unwrap()).unwrap();
        fs::write(loft, format!("name: {step:04}\n")).unwrap();
        git_in(&self.other, &["add", "."]);
        git_in(&self.other, &["commit", "-qm", "loft"]);
        git_in(&self.other, &["push", "-q"]);
        self.write_hall(&format!("name: {step:04}\n"));
    }

    fn write_hall(&self, text: &str) {
        let mut store = self.scene.palace("keep");
        let was = store.read_file(HALL).unwrap();
        commit_ok(&mut store, &change_of_one_file(HALL, was.as_deref(), Some(text)));
    }

    /// Runs the child, which is killed at the step.
    fn run_child(&self, step: usize) -> Output {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "sync::crash_tests::child", "--nocapture"]);
        child.env("PALAZZO_FAILPOINT", format!("kill:{step}")).env(CHILD_ENV, &self.scene.home);
        child.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        child.env_remove("PALAZZO_FAILPOINT_LOG").output().unwrap()
    }

    #[track_caller]
    fn assert_intact(&self, about: &str) {
        for folder in [&self.scene.home, &self.remote] {
            let found = try_git(folder, &["fsck", "--strict", "--no-dangling", "--no-progress"]);
            assert!(found.status.success() && found.stdout.is_empty(), "{about}: {found:?}");
        }
        assert_eq!(self.scene.status(), "", "{about}");
    }
}

/// Merges by taking the greater content of each file.
fn take_greater(versions: &PalaceVersions<'_>) -> MergedPalace {
    let [mut files, other] = versions.sides.clone();
    for (path, content) in other {
        let file = files.entry(path).or_default();
        *file = content.max(std::mem::take(file));
    }
    MergedPalace { files, conflicts: 0 }
}

/// Synchronizes as the keeper does.
fn run_sync(home: &Path) -> Result<(), Error> {
    let mut store = Store::new(home.join("keep"), home.to_owned());
    store.repository.isolated = true;
    let store = store.for_whole_repository()?.unwrap();
    let mut session = SyncSession::begin(store, Duration::from_secs(60), Duration::ZERO)?;
    let now = DateTime::UNIX_EPOCH;
    session.update_record(|it| it.set_failure(SyncFailureKind::Blocked, "not yet".to_owned(), now));
    loop {
        session.fetch()?;
        session.update_record(|it| it.last_reached = Some(now));
        let mut histories = session.compare(1)?;
        if let Some(planned) = session.plan(&histories, &take_greater, 1)? {
            session.apply(&planned, &|_| None)?;
            histories = session.compare(1)?;
        }
        if histories.ahead == 0 || session.push(&histories)? {
            break;
        }
        session.wait_for_next_attempt()?;
    }
    session.update_record(|it| it.last_push = Some(now));
    session.update_record(|it| it.failure = None);
    Ok(())
}

/// The child process of the test below.
#[test]
fn child() {
    let Some(home) = std::env::var_os(CHILD_ENV) else { return };
    run_sync(Path::new(&home)).unwrap();
    println!("STEPS {}", failpoint::reached_count());
}

#[test]
#[ignore = "it takes minutes"]
fn a_sync_killed_at_any_step_is_completed_by_the_next_one() {
    let machines = TwoMachines::new();
    let home = &machines.scene.home;
    for step in 1.. {
        let about = format!("killed at step {step}");
        machines.diverge(step);
        let output = machines.run_child(step);
        if output.status.success() {
            // The synchronization completed before that step.
            return assert!(step > MIN_STEPS, "{about}: too few steps");
        }
        assert!(output.status.signal().is_some(), "{about}: {output:?}");
        machines.write_hall(&format!("name: {step:04}\nlook: Grey.\n"));
        machines.assert_intact(&about);
        run_sync(home).unwrap();
        machines.assert_intact(&about);
        let tips = [home, &machines.remote].map(|it| git_in(it, &["rev-parse", "main"]));
        assert_eq!(tips[0], tips[1], "{about}");
        let read = |path: &str| fs::read_to_string(home.join("keep").join(path)).unwrap();
        assert_eq!(read(LOFT), format!("name: {step:04}\n"), "{about}");
        assert_eq!(read(HALL), format!("name: {step:04}\nlook: Grey.\n"), "{about}");
    }
}
