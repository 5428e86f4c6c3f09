//! A crash, and an error, at every step of a write.
//!
//! A child process makes one change and is killed at the first place of
//! `failpoint.rs` that it reaches, the next child at the second, and so on until
//! one comes to its end. After each of them the repository must be in order,
//! what was acknowledged must be there, and a new write must be accepted.
//!
//! ```text
//! cargo test --features failpoints --lib store::write::crash_tests
//! ```

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::model::Change;
use crate::store::test_repository::{Scene, changes, git_in, try_git};
use crate::store::write::{failpoint, lock_file};
use crate::store::{Outcome, Store};

/// What the child is told: the kind of change, its number, the palace and its home.
const TOLD: &str = "PALAZZO_CRASH_CHILD";
/// The errors that the system gives at one step after the other.
const ERRORS: [&str; 4] = ["EIO", "ENOSPC", "EMFILE", "EACCES"];
/// Fewer steps than these are no write.
const FEWEST: usize = 35;

type Contents = BTreeMap<String, String>;

#[derive(Clone, Copy, Debug)]
enum Repository {
    Fresh,
    Packed,
    Cloned,
    Linked,
}

const REPOSITORIES: [Repository; 4] =
    [Repository::Fresh, Repository::Packed, Repository::Cloned, Repository::Linked];
const KINDS: [&str; 5] = ["scroll", "room", "entities", "deletion", "undo"];

/// A palace in a repository of one kind.
struct Palace {
    _scene: Scene,
    home: PathBuf,
    repository: Repository,
}

impl Palace {
    fn new(repository: Repository) -> Self {
        let scene = Scene::of_a_person();
        let mut home = scene.home.clone();
        match repository {
            Repository::Fresh | Repository::Packed => {}
            Repository::Cloned => {
                home = scene.home.with_file_name("cloned");
                git_in(&scene.home, &["clone", "-q", ".", "../cloned"]);
            }
            Repository::Linked => {
                home = scene.home.with_file_name("linked");
                scene.git(&["worktree", "add", "-q", "-b", "side", "../linked"]);
            }
        }
        let palace = Self { _scene: scene, home, repository };
        palace.write(&base());
        palace
    }

    fn store(&self) -> Store {
        store(&self.home)
    }

    /// Makes a change that must succeed.
    fn write(&self, change: &Change) {
        match self.store().make(change) {
            Ok(Outcome::Done(done)) => assert!(done.commit.is_some()),
            other => panic!("{:?}: {other:?}", self.repository),
        }
    }

    fn contents(&self) -> Contents {
        let store = self.store();
        let (stamps, _) = store.look("").unwrap();
        let read = |path: String| {
            let text = store.read(&path).unwrap().unwrap();
            (path, text)
        };
        stamps.into_keys().map(read).collect()
    }

    fn pack(&self) {
        if matches!(self.repository, Repository::Packed) {
            git_in(&self.home, &["pack-refs", "--all"]);
        }
    }

    /// Runs the child, in which `failpoint` says what is to happen.
    fn run_child(&self, kind: &str, failpoint: &str, number: usize) -> Output {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "store::write::crash_tests::child", "--nocapture"]);
        child.env("PALAZZO_FAILPOINT", failpoint);
        child.env(TOLD, format!("{kind}\n{number}\n{}", self.home.display()));
        child.env_remove("PALAZZO_FAILPOINT_LOG");
        child.output().unwrap()
    }

    #[track_caller]
    fn assert_in_order(&self, about: &str) {
        let found = try_git(&self.home, &["fsck", "--strict", "--no-dangling", "--no-progress"]);
        assert!(found.status.success() && found.stdout.is_empty(), "{about}: {found:?}");
        assert_eq!(git_in(&self.home, &["status", "--porcelain", "-uall"]), "", "{about}");
        let git_dir = self.home.join(git_in(&self.home, &["rev-parse", "--git-dir"]).trim());
        let common = self.home.join(git_in(&self.home, &["rev-parse", "--git-common-dir"]).trim());
        for folder in [git_dir, common] {
            assert!(!lock_file::has_proofs(&folder), "{about}");
            let files = walkdir::WalkDir::new(folder).into_iter().flatten();
            let lock = files.into_iter().find(|it| {
                let name = it.file_name().to_string_lossy();
                name.ends_with(".lock") && name != "maintenance.lock"
            });
            assert!(lock.is_none(), "{about}: {lock:?}");
        }
        let log = git_in(&self.home, &["reflog", "show", "--format=%H"]);
        let commits = git_in(&self.home, &["rev-list", "HEAD"]);
        assert!(log.lines().next() == commits.lines().next(), "{about}: the reflog");
    }
}

fn store(home: &Path) -> Store {
    let mut store = Store::new(home.join("keep"), home.to_owned());
    store.isolated = true;
    store
}

/// The files that every palace begins with.
fn base() -> Change {
    let names: Vec<_> = (0..3).map(|it| format!("entities/claim/{it}.yaml")).collect();
    let mut edits: Vec<_> = names.iter().map(|it| (it.as_str(), None, Some("name: x\n"))).collect();
    edits.push(("rooms/hall.yaml", None, Some("name: 0\n")));
    edits.push(("rooms/w/attic.yaml", None, Some("name: 0\n")));
    changes(&edits)
}

/// The change of that kind and number, upon the files as they are.
fn change(store: &Store, kind: &str, number: usize) -> Change {
    let text = |path: &str| store.read(path).unwrap();
    let now = format!("name: {number}\n");
    let mut edits: Vec<(String, Option<String>)> = Vec::new();
    match kind {
        "scroll" => edits.push((format!("scrolls/hall/{number}.md"), Some(now))),
        "room" => edits.push(("rooms/hall.yaml".to_owned(), Some(now))),
        "entities" => {
            let path = |it| format!("entities/person/{number}-{it}.yaml");
            edits.extend((0..12).map(|it| (path(it), Some(now.clone()))));
        }
        // A folder goes with its last file, and comes again with the next undoing.
        "deletion" => {
            let path = |it| format!("entities/claim/{it}.yaml");
            let was = text(&path(0));
            let then = was.is_none().then(|| now.clone());
            edits.extend((0..3).map(|it| (path(it), then.clone())));
        }
        _ => {
            edits.push(("rooms/hall.yaml".to_owned(), Some(now.clone())));
            let attic = text("rooms/w/attic.yaml").is_none();
            edits.push(("rooms/w/attic.yaml".to_owned(), attic.then(|| now.clone())));
            let claim = text("entities/claim/0.yaml").is_none();
            edits.push(("entities/claim/0.yaml".to_owned(), claim.then_some(now)));
        }
    }
    let was: Vec<_> = edits.iter().map(|(path, _)| text(path)).collect();
    let edits = edits.iter().zip(&was);
    let edits: Vec<_> =
        edits.map(|((path, now), was)| (path.as_str(), was.as_deref(), now.as_deref())).collect();
    changes(&edits)
}

fn applied(mut contents: Contents, change: &Change) -> Contents {
    for edit in &change.edits {
        match &edit.now {
            Some(text) => contents.insert(edit.path.clone(), text.clone()),
            None => contents.remove(&edit.path),
        };
    }
    contents
}

/// The other side of the tests below: makes one change, and then another.
#[test]
fn child() {
    let Ok(told) = std::env::var(TOLD) else { return };
    let told: Vec<_> = told.splitn(3, '\n').collect();
    let mut store = store(Path::new(told[2]));
    let change = change(&store, told[0], told[1].parse().unwrap());
    match store.make(&change) {
        Ok(Outcome::Done(done)) => println!("DONE {:?}", done.warnings),
        Ok(Outcome::Stale(paths)) => println!("REFUSED stale {paths:?}"),
        Err(err) => println!("REFUSED {}", err.in_full()),
    }
    println!("STEPS {}", failpoint::reached());
    let next = self::change(&store, "scroll", 1_000_000);
    let next = store.make(&next).map(|it| matches!(it, Outcome::Done(_)));
    println!("NEXT {}", next.is_ok_and(|it| it));
}

/// Returns how many steps the change of a child had, if it came to its end.
fn steps(child: &Output) -> Option<usize> {
    let said = String::from_utf8_lossy(&child.stdout);
    said.lines().find_map(|it| it.strip_prefix("STEPS ")).and_then(|it| it.parse().ok())
}

/// Kills a write of `kind` at every step.
fn crash(repository: Repository, kind: &str) {
    let palace = Palace::new(repository);
    for step in 1.. {
        let about = format!("{repository:?}, {kind}, killed at step {step}");
        palace.pack();
        let before = palace.contents();
        let change = change(&palace.store(), kind, step);
        let output = palace.run_child(kind, &format!("kill:{step}"), step);
        if steps(&output).is_some() {
            // The write came to its end before that step.
            return assert!(step > FEWEST, "{about}: so few");
        }
        assert!(output.status.signal().is_some(), "{about}: {output:?}");
        palace.write(&changes(&[("rooms/next.yaml", None, Some("name: next\n"))]));
        let mut now = palace.contents();
        assert!(now.remove("rooms/next.yaml").is_some(), "{about}");
        assert!(now == before || now == applied(before, &change), "{about}");
        palace.assert_in_order(&about);
        palace.write(&changes(&[("rooms/next.yaml", Some("name: next\n"), None)]));
    }
}

/// Lets every step of a write of `kind` fail once.
fn fail(repository: Repository, kind: &str) {
    let palace = Palace::new(repository);
    for step in 1.. {
        let error = ERRORS[step % ERRORS.len()];
        let about = format!("{repository:?}, {kind}, {error} at step {step}");
        palace.pack();
        let before = palace.contents();
        let change = change(&palace.store(), kind, step);
        let output = palace.run_child(kind, &format!("{error}:{step}"), step);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        if steps(&output).is_some_and(|it| it < step) {
            return assert!(step > FEWEST, "{about}: so few");
        }
        assert!(output.status.success() && said.contains("NEXT true"), "{about}: {said}");
        let mut now = palace.contents();
        let next = now.remove("scrolls/hall/1000000.md");
        let expected = if said.contains("DONE") { applied(before, &change) } else { before };
        assert!(now == expected, "{about}: {said}");
        palace.assert_in_order(&about);
        palace.write(&changes(&[("scrolls/hall/1000000.md", next.as_deref(), None)]));
    }
}

fn each(test: fn(Repository, &str)) {
    std::thread::scope(|scope| {
        for repository in REPOSITORIES {
            scope.spawn(move || KINDS.into_iter().for_each(|kind| test(repository, kind)));
        }
    });
}

#[test]
fn a_write_killed_at_any_step_loses_nothing_and_blocks_nobody() {
    each(crash);
}

#[test]
fn a_write_that_fails_at_any_step_answers_truly_and_blocks_nobody() {
    each(fail);
}

#[test]
fn a_lock_that_is_left_in_a_test_scene_is_found() {
    let palace = Palace::new(Repository::Fresh);
    fs::write(palace.home.join(".git/packed-refs.lock"), "").unwrap();
    let found =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| palace.assert_in_order("")));
    assert!(found.is_err());
}
