//! Tests a crash, and an error, at every step of a write.
//!
//! A child process makes one change and is killed at the first point of `failpoint.rs` that it
//! reaches, the next child at the second, and so on until one completes. After each of them the
//! repository must be intact, acknowledged changes must be present, and a new write must be
//! accepted.
//!
//! ```text
//! cargo test --lib write::crash_tests -- --ignored
//! ```

#![expect(clippy::print_stdout, reason = "the child tells its parent what became of the change")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use gix::objs::tree::EntryKind;

use crate::repo::failpoint;
use crate::repo::tree_lookup::{self, BlobEntry};
use crate::test_repository::{TestHome, change_of_files, git_in, try_git};
use crate::write::commit::GitIdentity;
use crate::write::head_move::{self, HeadMove, HeadMoveFile, HeadMoveOutcome, NewCommit, NewHead};
use crate::write::lock_file;
use crate::{CommitOutcome, Error, Store};
use palazzo_core::model::Changeset;

/// The child's arguments: the kind of change, its number, and the home.
const CHILD_ENV: &str = "PALAZZO_CRASH_CHILD";
/// The system errors, used in turn.
const SYSTEM_ERRORS: [&str; 4] = ["EIO", "ENOSPC", "EMFILE", "EACCES"];
/// A real write has more steps than this.
const MIN_STEPS: usize = 35;

type FileTexts = BTreeMap<String, String>;

#[derive(Clone, Copy, Debug)]
enum TestRepositoryKind {
    Fresh,
    Packed,
    Cloned,
    Linked,
}

const REPOSITORY_KINDS: [TestRepositoryKind; 4] = [
    TestRepositoryKind::Fresh,
    TestRepositoryKind::Packed,
    TestRepositoryKind::Cloned,
    TestRepositoryKind::Linked,
];
static CHANGE_KINDS: [&str; 5] = ["scroll", "room", "entities", "deletion", "undo"];
/// A merge instead of a change.
const MERGE_KIND: &str = "merge";

/// A palace in a repository of one kind.
struct CrashTestPalace {
    _scene: TestHome,
    home: PathBuf,
    repository: TestRepositoryKind,
}

impl CrashTestPalace {
    fn new(repository: TestRepositoryKind) -> Self {
        let scene = TestHome::with_repository();
        let mut home = scene.home.clone();
        match repository {
            TestRepositoryKind::Fresh | TestRepositoryKind::Packed => {}
            TestRepositoryKind::Cloned => {
                home = scene.home.with_file_name("cloned");
                git_in(&scene.home, &["clone", "-q", ".", "../cloned"]);
            }
            TestRepositoryKind::Linked => {
                home = scene.home.with_file_name("linked");
                scene.git(&["worktree", "add", "-q", "-b", "side", "../linked"]);
            }
        }
        let palace = Self { _scene: scene, home, repository };
        palace.commit_ok(&initial_change());
        palace
    }

    fn open_store(&self) -> Store {
        open_store(&self.home)
    }

    /// Makes a change that must succeed.
    fn commit_ok(&self, change: &Changeset) {
        match self.open_store().commit(change) {
            Ok(CommitOutcome::Done(done)) => assert!(done.commit.is_some()),
            other => panic!("{:?}: {other:?}", self.repository),
        }
    }

    fn read_all(&self) -> FileTexts {
        let store = self.open_store();
        let (stamps, _) = store.list_files("").unwrap();
        let read = |path: String| {
            let text = store.read_file(&path).unwrap().unwrap();
            (path, text)
        };
        stamps.into_keys().map(read).collect()
    }

    fn pack_refs(&self) {
        if matches!(self.repository, TestRepositoryKind::Packed) {
            git_in(&self.home, &["pack-refs", "--all"]);
        }
    }

    /// Runs the child with the action `failpoint`.
    fn run_child(&self, kind: &str, failpoint: &str, number: usize) -> Output {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "write::crash_tests::child", "--nocapture"]);
        child.env("PALAZZO_FAILPOINT", failpoint);
        child.env(CHILD_ENV, format!("{kind}\n{number}\n{}", self.home.display()));
        child.env_remove("PALAZZO_FAILPOINT_LOG");
        child.output().unwrap()
    }

    #[track_caller]
    fn assert_repository_clean(&self, about: &str) {
        let found = try_git(&self.home, &["fsck", "--strict", "--no-dangling", "--no-progress"]);
        assert!(found.status.success() && found.stdout.is_empty(), "{about}: {found:?}");
        assert_eq!(git_in(&self.home, &["status", "--porcelain", "-uall"]), "", "{about}");
        let git_dir = self.home.join(git_in(&self.home, &["rev-parse", "--git-dir"]).trim());
        let common = self.home.join(git_in(&self.home, &["rev-parse", "--git-common-dir"]).trim());
        for folder in [git_dir, common] {
            assert!(!lock_file::has_lock_file_proofs(&folder), "{about}");
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

fn open_store(home: &Path) -> Store {
    let mut store = Store::new(home.join("keep"), home.to_owned());
    store.repository.isolated = true;
    store
}

/// Creates the initial files of every palace.
fn initial_change() -> Changeset {
    let names: Vec<_> = (0..3).map(|it| format!("entities/claim/{it}.yaml")).collect();
    let mut edits: Vec<_> = names.iter().map(|it| (it.as_str(), None, Some("name: x\n"))).collect();
    edits.push(("rooms/hall.yaml", None, Some("name: 0\n")));
    edits.push(("rooms/w/attic.yaml", None, Some("name: 0\n")));
    change_of_files(&edits)
}

/// Builds the change of this kind and number from the current files.
fn build_change(store: &Store, kind: &str, number: usize) -> Changeset {
    let text = |path: &str| store.read_file(path).unwrap();
    let now = format!("name: {number}\n");
    let mut edits: Vec<(String, Option<String>)> = Vec::new();
    match kind {
        "scroll" => edits.push((format!("scrolls/hall/{number}.md"), Some(now))),
        "room" => edits.push(("rooms/hall.yaml".to_owned(), Some(now))),
        "entities" => {
            let path = |it| format!("entities/person/{number}-{it}.yaml");
            edits.extend((0..12).map(|it| (path(it), Some(now.clone()))));
        }
        // A folder is removed with its last file, and created again by the next change.
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
    change_of_files(&edits)
}

/// Makes a change as a merge of `HEAD` with its first parent, as a synchronization does.
fn merge_change(home: &Path, change: &Changeset) -> Result<HeadMoveOutcome, Error> {
    let mut store = open_store(home).for_whole_repository()?.unwrap();
    let repository = store.require_repository()?;
    let git = repository.git();
    let old = repository.head()?.unwrap();
    let before = tree_lookup::tree_of_commit(&git, Some(old)).unwrap();
    let root = git.find_tree(before).unwrap().decode().unwrap().into_owned();
    let mut tree = gix::objs::tree::Editor::new(root, &git.objects, git.object_hash());
    let mut files = Vec::new();
    for edit in &change.edits {
        let path = format!("keep/{}", edit.path);
        let was = tree_lookup::find_blob_entry(&git, before, &path).unwrap();
        let now = edit.now.clone().map(|text| {
            let id = git.write_blob(&text).unwrap().detach();
            (BlobEntry { kind: EntryKind::Blob, id }, text)
        });
        match &now {
            Some((entry, _)) => tree.upsert(path.split('/'), entry.kind, entry.id).unwrap(),
            None => tree.remove_leaf(path.split('/')).unwrap(),
        };
        files.push(HeadMoveFile { path, was, now });
    }
    let tree = tree.write(|it| git.write_object(it).map(gix::Id::detach)).unwrap();
    let parent = git.find_commit(old).unwrap().parent_ids().next().unwrap().detach();
    let (seconds, message) = (1_900_000_000, "sync: merge\n".to_owned());
    let (parents, identity) = (vec![old, parent], GitIdentity::for_sync());
    let new = NewHead::Commit(NewCommit { parents, tree, identity, seconds, message });
    let planned = HeadMove { old, new, files, reason: "sync: merge" };
    let Store { writer, repository, .. } = &mut store;
    head_move::move_head(writer, repository, &planned, &|_| None)
}

fn apply_change(mut contents: FileTexts, change: &Changeset) -> FileTexts {
    for edit in &change.edits {
        match &edit.now {
            Some(text) => contents.insert(edit.path.clone(), text.clone()),
            None => contents.remove(&edit.path),
        };
    }
    contents
}

/// The child process of the tests below: makes one change, and then another.
#[test]
fn child() {
    let Ok(args) = std::env::var(CHILD_ENV) else { return };
    let args: Vec<_> = args.splitn(3, '\n').collect();
    let mut store = open_store(Path::new(args[2]));
    let change = build_change(&store, args[0], args[1].parse().unwrap());
    if args[0] == MERGE_KIND {
        match merge_change(Path::new(args[2]), &change) {
            Ok(HeadMoveOutcome::Done(done)) => println!("DONE {:?}", done.warnings),
            Ok(other) => println!("REFUSED {other:?}"),
            Err(err) => println!("REFUSED {}", err.message_with_causes()),
        }
    } else {
        match store.commit(&change) {
            Ok(CommitOutcome::Done(done)) => println!("DONE {:?}", done.warnings),
            Ok(CommitOutcome::Stale(paths)) => println!("REFUSED stale {paths:?}"),
            Ok(CommitOutcome::SignatureMissing) => println!("REFUSED without a signature"),
            Err(err) => println!("REFUSED {}", err.message_with_causes()),
        }
    }
    println!("STEPS {}", failpoint::reached_count());
    let next = self::build_change(&store, "scroll", 1_000_000);
    let next = store.commit(&next).map(|it| matches!(it, CommitOutcome::Done(_)));
    println!("NEXT {}", next.is_ok_and(|it| it));
}

/// Returns the number of steps of a child's change, if it completed.
fn parse_step_count(child: &Output) -> Option<usize> {
    let output = String::from_utf8_lossy(&child.stdout);
    output.lines().find_map(|it| it.strip_prefix("STEPS ")).and_then(|it| it.parse().ok())
}

/// Kills a write of `kind` at every step.
fn kill_at_every_step(repository: TestRepositoryKind, kind: &str) {
    let palace = CrashTestPalace::new(repository);
    for step in 1.. {
        let about = format!("{repository:?}, {kind}, killed at step {step}");
        palace.pack_refs();
        let before = palace.read_all();
        let change = build_change(&palace.open_store(), kind, step);
        let output = palace.run_child(kind, &format!("kill:{step}"), step);
        if parse_step_count(&output).is_some() {
            // The write completed before that step.
            return assert!(step > MIN_STEPS, "{about}: too few steps");
        }
        assert!(output.status.signal().is_some(), "{about}: {output:?}");
        palace.commit_ok(&change_of_files(&[("rooms/next.yaml", None, Some("name: next\n"))]));
        let mut now = palace.read_all();
        assert!(now.remove("rooms/next.yaml").is_some(), "{about}");
        assert!(now == before || now == apply_change(before, &change), "{about}");
        palace.assert_repository_clean(&about);
        palace.commit_ok(&change_of_files(&[("rooms/next.yaml", Some("name: next\n"), None)]));
    }
}

/// Makes every step of a write of `kind` fail once.
fn fail_at_every_step(repository: TestRepositoryKind, kind: &str) {
    let palace = CrashTestPalace::new(repository);
    for step in 1.. {
        let error = SYSTEM_ERRORS[step % SYSTEM_ERRORS.len()];
        let about = format!("{repository:?}, {kind}, {error} at step {step}");
        palace.pack_refs();
        let before = palace.read_all();
        let change = build_change(&palace.open_store(), kind, step);
        let output = palace.run_child(kind, &format!("{error}:{step}"), step);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        if parse_step_count(&output).is_some_and(|it| it < step) {
            return assert!(step > MIN_STEPS, "{about}: too few steps");
        }
        assert!(output.status.success() && text.contains("NEXT true"), "{about}: {text}");
        let mut now = palace.read_all();
        let next = now.remove("scrolls/hall/1000000.md");
        let expected = if text.contains("DONE") { apply_change(before, &change) } else { before };
        assert!(now == expected, "{about}: {text}");
        palace.assert_repository_clean(&about);
        palace.commit_ok(&change_of_files(&[("scrolls/hall/1000000.md", next.as_deref(), None)]));
    }
}

fn for_each_case(kinds: &'static [&str], test: fn(TestRepositoryKind, &str)) {
    std::thread::scope(|scope| {
        for repository in REPOSITORY_KINDS {
            scope.spawn(move || kinds.iter().for_each(|kind| test(repository, kind)));
        }
    });
}

#[test]
#[ignore = "it takes minutes"]
fn a_merge_killed_at_any_step_loses_nothing_and_leaves_no_lock() {
    for_each_case(&[MERGE_KIND], kill_at_every_step);
}

#[test]
#[ignore = "it takes minutes"]
fn a_merge_that_fails_at_any_step_reports_it_and_leaves_no_lock() {
    for_each_case(&[MERGE_KIND], fail_at_every_step);
}

#[test]
#[ignore = "it takes minutes"]
fn a_write_killed_at_any_step_loses_nothing_and_leaves_no_lock() {
    for_each_case(&CHANGE_KINDS, kill_at_every_step);
}

#[test]
#[ignore = "it takes minutes"]
fn a_write_that_fails_at_any_step_reports_it_and_leaves_no_lock() {
    for_each_case(&CHANGE_KINDS, fail_at_every_step);
}

#[test]
#[ignore = "it takes minutes"]
fn the_order_check_detects_a_lock_left_behind() {
    let palace = CrashTestPalace::new(TestRepositoryKind::Fresh);
    fs::write(palace.home.join(".git/packed-refs.lock"), "").unwrap();
    let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        palace.assert_repository_clean("");
    }));
    assert!(found.is_err());
}
