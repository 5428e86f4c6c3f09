//! Tests a kill at every step of a server of a proposal: opening it, and one write.
//!
//! A child process is killed at the first point of `failpoint.rs` that it reaches, the next child at
//! the second, and so on until one completes. After each of them the next start must be accepted,
//! and a new write; git must find no fault.
//!
//! ```text
//! cargo test --lib proposal::crash_tests -- --ignored
//! ```

#![expect(clippy::print_stdout, reason = "the child tells its parent what became of the change")]

use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Output};

use crate::proposal::open::open_proposal;
use crate::test_repository::{TestHome, change_of_files, try_git};
use crate::{CommitOutcome, Error, Store};

/// The child's arguments: the branch, the new text, and the home.
const CHILD_ENV: &str = "PALAZZO_PROPOSAL_CRASH_CHILD";
/// Opening a proposal and a write have more steps than this.
const MIN_STEPS: usize = 8;
const HALL: &str = "rooms/hall.yaml";

/// Opens the proposal, and writes `text` to the hall and to a new file, as a server does.
fn open_and_write(home: &Path, branch: &str, text: &str) -> Result<(), Error> {
    let palace = || {
        let mut palace = Store::new(home.join("keep"), home.to_owned());
        palace.repository.isolated = true;
        palace
    };
    let proposal = open_proposal(&[palace()], home, branch)?;
    let mut store = proposal.store_on_branch(palace());
    let was = store.read_file(HALL).unwrap();
    let new = format!("rooms/{}.yaml", text.trim().replace([':', ' '], "-"));
    let edits = [(HALL, was.as_deref(), Some(text)), (new.as_str(), None, Some(text))];
    match store.commit(&change_of_files(&edits))? {
        CommitOutcome::Done(_) => Ok(()),
        CommitOutcome::Stale(paths) => panic!("stale: {paths:?}"),
        CommitOutcome::SignatureMissing => panic!("nothing is signed here"),
    }
}

/// The child process of the test below.
#[test]
fn child() {
    let Ok(args) = std::env::var(CHILD_ENV) else { return };
    let args: Vec<_> = args.splitn(3, '\n').collect();
    open_and_write(Path::new(args[2]), args[0], args[1]).unwrap();
    println!("COMPLETED");
}

fn run_child(scene: &TestHome, branch: &str, text: &str, step: usize) -> Output {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "proposal::crash_tests::child", "--nocapture"]);
    child.env("PALAZZO_FAILPOINT", format!("kill:{step}"));
    child.env(CHILD_ENV, format!("{branch}\n{text}\n{}", scene.home.display()));
    child.env_remove("PALAZZO_FAILPOINT_LOG");
    child.output().unwrap()
}

#[test]
#[ignore = "it takes minutes"]
fn a_server_killed_at_any_step_of_its_first_or_a_later_start_can_be_started_again() {
    let scene = TestHome::with_repository();
    scene.write_file("keep/palace.toml", "name = \"K\"\n");
    scene.write_file("keep/rooms/hall.yaml", "name: 0\n");
    scene.git(&["add", "."]);
    scene.git(&["commit", "-qm", "palace"]);
    for is_first in [true, false] {
        for step in 1.. {
            let branch = if is_first { format!("ideas-{step}") } else { "ideas".to_owned() };
            let killed = run_child(&scene, &branch, &format!("killed: {step}"), step);
            if String::from_utf8_lossy(&killed.stdout).contains("COMPLETED") {
                assert!(step > MIN_STEPS, "{step}: too few steps");
                break;
            }
            let about = format!("killed at step {step}");
            assert!(killed.status.signal().is_some(), "{about}: {killed:?}");
            let next = format!("next: {step}");
            let written = open_and_write(&scene.home, &branch, &next);
            written.unwrap_or_else(|err| panic!("{about}: {err}"));
            let hall = scene.git(&["show", &format!("{branch}:keep/rooms/hall.yaml")]);
            assert_eq!(hall, next, "{about}");
            assert_eq!(scene.status(), "", "{about}");
            let fsck =
                try_git(&scene.home, &["fsck", "--strict", "--no-dangling", "--no-progress"]);
            assert!(fsck.status.success() && fsck.stdout.is_empty(), "{about}: {fsck:?}");
        }
    }
}
