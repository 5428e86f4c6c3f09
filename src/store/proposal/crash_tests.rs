//! Tests a crash at every step of a server of a proposal: opening it, and one write.
//!
//! A child process is killed at the first point of `failpoint.rs` that it reaches, the next child at
//! the second, and so on until one completes. After each of them the next start must be accepted,
//! and a new write; git must find no fault.
//!
//! ```text
//! cargo test --features failpoints --lib store::proposal::crash_tests
//! ```

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Output};

use crate::store::proposal::open::{ProposalCheckout, open_proposal};
use crate::store::test_repository::{TestHome, change_of_files, git_in, try_git};
use crate::store::{CommitOutcome, Error, Store};

/// The child's arguments: the branch, the new text, and the home.
const CHILD_ENV: &str = "PALAZZO_PROPOSAL_CRASH_CHILD";
/// Opening a proposal and a write have more steps than this.
const MIN_STEPS: usize = 40;
const HALL: &str = "rooms/hall.yaml";

fn scene_with_palace() -> TestHome {
    let scene = TestHome::with_repository();
    scene.write_file("keep/palace.toml", "name = \"K\"\n");
    scene.write_file("keep/rooms/hall.yaml", "name: 0\n");
    scene.write_file("keep/rooms/attic.yaml", "name: 0\n");
    scene.git(&["add", "."]);
    scene.git(&["commit", "-qm", "palace"]);
    scene
}

fn open(home: &Path, branch: &str) -> Result<ProposalCheckout, Error> {
    let mut palace = Store::new(home.join("keep"), home.to_owned());
    palace.isolated = true;
    open_proposal(&[palace], home, Some(&home.with_file_name("state")), branch)
}

/// Writes `text` to the hall, and a new file, as a server of the proposal does.
fn write(proposal: &ProposalCheckout, text: &str) -> Result<(), Error> {
    let mut store = Store::new(proposal.home.join("keep"), proposal.home.clone());
    store.isolated = true;
    let (.., temporaries) = store.list_files_with_temporaries()?;
    store.recover_from_crash()?;
    store.remove_stale_temporaries(&temporaries)?;
    store.follow_moved_branch()?;
    let was = store.read_file(HALL).unwrap();
    let new = format!("rooms/{}.yaml", text.trim().replace([':', ' '], "-"));
    let edits = [(HALL, was.as_deref(), Some(text)), (new.as_str(), None, Some(text))];
    match store.commit(&change_of_files(&edits))? {
        CommitOutcome::Done(_) => Ok(()),
        CommitOutcome::Stale(paths) => panic!("stale: {paths:?}"),
        CommitOutcome::SignatureMissing => panic!("nothing is signed here"),
    }
}

/// The child process of the tests below.
#[test]
fn child() {
    let Ok(args) = std::env::var(CHILD_ENV) else { return };
    let args: Vec<_> = args.splitn(3, '\n').collect();
    let proposal = open(Path::new(args[2]), args[0]).unwrap();
    write(&proposal, args[1]).unwrap();
    println!("COMPLETED");
}

fn run_child(scene: &TestHome, branch: &str, text: &str, step: usize) -> Output {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "store::proposal::crash_tests::child", "--nocapture"]);
    child.env("PALAZZO_FAILPOINT", format!("kill:{step}"));
    child.env(CHILD_ENV, format!("{branch}\n{text}\n{}", scene.home.display()));
    child.env_remove("PALAZZO_FAILPOINT_LOG");
    child.output().unwrap()
}

/// Kills a server at every step. `prepare` is called before each, with the number of the step, and
/// returns the branch.
fn kill_at_every_step(prepare: impl Fn(&TestHome, usize) -> String) {
    let scene = scene_with_palace();
    for step in 1.. {
        let branch = prepare(&scene, step);
        let killed = run_child(&scene, &branch, &format!("killed: {step}"), step);
        if String::from_utf8_lossy(&killed.stdout).contains("COMPLETED") {
            return assert!(step > MIN_STEPS, "{step}: too few steps");
        }
        let about = format!("killed at step {step}");
        assert!(killed.status.signal().is_some(), "{about}: {killed:?}");
        let proposal = open(&scene.home, &branch).unwrap_or_else(|err| panic!("{about}: {err}"));
        let next = format!("next: {step}");
        write(&proposal, &next).unwrap_or_else(|err| panic!("{about}: {err}"));
        let worktree = &proposal.home;
        assert_eq!(git_in(worktree, &["show", "HEAD:keep/rooms/hall.yaml"]), next, "{about}");
        assert_eq!(git_in(worktree, &["status", "--porcelain", "-uall"]), "", "{about}");
        assert_eq!(scene.status(), "", "{about}");
        let log = git_in(worktree, &["log", "--format=%s", "main..HEAD"]);
        assert!(!log.contains("hand edit"), "{about}: {log}");
        let fsck = try_git(&scene.home, &["fsck", "--strict", "--no-dangling", "--no-progress"]);
        assert!(fsck.status.success() && fsck.stdout.is_empty(), "{about}: {fsck:?}");
    }
}

#[test]
fn a_server_killed_at_any_step_of_its_first_start_can_be_started_again() {
    kill_at_every_step(|_, step| format!("ideas-{step}"));
}

#[test]
fn a_server_killed_at_any_step_of_a_later_start_can_be_started_again() {
    kill_at_every_step(|scene, step| {
        if step == 1 {
            write(&open(&scene.home, "ideas").unwrap(), "first").unwrap();
        }
        "ideas".to_owned()
    });
}

#[test]
fn a_server_killed_while_it_follows_a_moved_branch_can_be_started_again() {
    kill_at_every_step(|scene, step| {
        drop(open(&scene.home, "ideas").unwrap());
        let other = scene.home.with_file_name("other");
        let place = other.to_str().unwrap();
        scene.git(&["worktree", "add", "-q", "--detach", place, "ideas"]);
        fs::write(other.join("keep/rooms/hall.yaml"), format!("moved: {step}")).unwrap();
        fs::write(other.join("keep/rooms/attic.yaml"), format!("moved: {step}")).unwrap();
        fs::write(other.join(format!("keep/rooms/moved-{step}.yaml")), "new").unwrap();
        git_in(&other, &["add", "."]);
        git_in(&other, &["commit", "-qm", "by a person"]);
        let new = git_in(&other, &["rev-parse", "HEAD"]);
        scene.git(&["update-ref", "refs/heads/ideas", new.trim()]);
        scene.git(&["worktree", "remove", place]);
        "ideas".to_owned()
    });
}
