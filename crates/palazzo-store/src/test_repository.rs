//! Test repositories: temporary folders used with git's command line and without the machine's
//! configuration.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use chrono::DateTime;

use palazzo_core::model::{Author, Changeset, CommitId, Diagnostic, FileEdit, Files};

use crate::write::palazzo_lock::LockTimeouts;
use crate::{CommitOutcome, Store};

/// A temporary folder with a home, which does not exist at first.
pub(crate) struct TestHome {
    _folder: tempfile::TempDir,
    pub(crate) home: PathBuf,
}

impl TestHome {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = dunce::canonicalize(folder.path()).unwrap().join("home");
        Self { _folder: folder, home }
    }

    /// Creates a home that is a user's repository with one commit of `notes.md`.
    pub(crate) fn with_repository() -> Self {
        let scene = Self::new();
        scene.init_repository();
        scene.write_file("notes.md", "notes\n");
        scene.git(&["add", "."]);
        scene.git(&["commit", "-qm", "begin"]);
        scene
    }

    /// Creates a repository in which `main` renamed `keep/rooms/hall.yaml` to `new.yaml` and changed
    /// its first line, `side` changed its last line, and `main` merged `side`.
    pub(crate) fn with_merged_rename() -> Self {
        let scene = Self::with_repository();
        let put = |path: &str, first: &str, last: &str| {
            let text = format!("{first}\n{}{last}\n", "between\n".repeat(9));
            scene.write_file(path, &text);
            scene.git(&["add", "."]);
            scene.git(&["commit", "-qm", first]);
        };
        put("keep/rooms/hall.yaml", "1", "1");
        scene.git(&["checkout", "-qb", "side"]);
        put("keep/rooms/hall.yaml", "1", "side");
        scene.git(&["checkout", "-q", "main"]);
        scene.git(&["mv", "keep/rooms/hall.yaml", "keep/rooms/new.yaml"]);
        put("keep/rooms/new.yaml", "main", "1");
        scene.git(&["merge", "-q", "--no-edit", "side"]);
        scene
    }

    pub(crate) fn init_repository(&self) {
        fs::create_dir_all(&self.home).unwrap();
        self.git(&["init", "-qb", "main"]);
        self.git(&["config", "user.name", "Ada"]);
        self.git(&["config", "user.email", "ada@example.org"]);
    }

    /// Returns a store of the palace `name` in the home.
    pub(crate) fn palace(&self, name: &str) -> Store {
        self.store(&self.home.join(name))
    }

    pub(crate) fn store(&self, palace: &Path) -> Store {
        let mut store = Store::new(palace.to_owned(), self.home.clone());
        store.repository.isolated = true;
        store
    }

    pub(crate) fn write_file(&self, path: &str, text: &str) {
        let place = self.home.join(path);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(place, text).unwrap();
    }

    pub(crate) fn read_file(&self, path: &str) -> String {
        fs::read_to_string(self.home.join(path)).unwrap()
    }

    /// Runs git in the home; it must succeed.
    pub(crate) fn git(&self, args: &[&str]) -> String {
        git_in(&self.home, args)
    }

    /// Imports commits in the format of `git fast-import`.
    pub(crate) fn fast_import(&self, script: &str) {
        self.git_with_input(&["fast-import", "--quiet"], script);
    }

    /// Runs git in the home with `input` on stdin; it must succeed.
    pub(crate) fn git_with_input(&self, args: &[&str], input: &str) -> String {
        let mut git = git_command(&self.home, args);
        let git = git.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut git = git.spawn().unwrap();
        git.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let output = git.wait_with_output().unwrap();
        assert!(output.status.success(), "git {args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Returns the output of `git status`.
    pub(crate) fn status(&self) -> String {
        self.git(&["status", "--porcelain", "-uall"])
    }

    /// Returns authors and subjects, newest first.
    pub(crate) fn log(&self) -> String {
        self.git(&["log", "--format=%an: %s"])
    }

    pub(crate) fn assert_fsck_clean(&self) {
        let found = try_git(&self.home, &["fsck", "--strict", "--no-progress"]);
        assert!(found.status.success(), "{found:?}");
        assert_eq!(String::from_utf8_lossy(&found.stdout), "");
        // Git prints "notice: HEAD points to an unborn branch" and the like on stderr.
        assert!(!String::from_utf8_lossy(&found.stderr).contains("error"), "{found:?}");
    }
}

pub(crate) fn git_in(folder: &Path, args: &[&str]) -> String {
    let output = try_git(folder, args);
    assert!(output.status.success(), "git {args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

pub(crate) fn try_git(folder: &Path, args: &[&str]) -> Output {
    git_command(folder, args).output().unwrap()
}

fn git_command(folder: &Path, args: &[&str]) -> Command {
    let mut git = Command::new("git");
    for name in [
        "DIR",
        "COMMON_DIR",
        "WORK_TREE",
        "INDEX_FILE",
        "OBJECT_DIRECTORY",
        "SHALLOW_FILE",
        "NAMESPACE",
        "CEILING_DIRECTORIES",
    ] {
        // A git hook that runs the tests may have set these.
        git.env_remove(format!("GIT_{name}"));
    }
    git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    git.env("GIT_TERMINAL_PROMPT", "0");
    // Maintenance would continue after the command, creating and removing
    // `objects/maintenance.lock`.
    git.args(["-c", "maintenance.auto=false"]).arg("-C").arg(folder).args(args);
    git
}

/// Creates a change of one file.
pub(crate) fn change_of_one_file(path: &str, was: Option<&str>, now: Option<&str>) -> Changeset {
    change_of_files(&[(path, was, now)])
}

/// Creates a change of several files.
pub(crate) fn change_of_files(edits: &[(&str, Option<&str>, Option<&str>)]) -> Changeset {
    let edit = |&(path, was, now): &(&str, Option<&str>, Option<&str>)| FileEdit {
        path: path.to_owned(),
        was: was.map(str::to_owned),
        now: now.map(str::to_owned),
    };
    Changeset {
        edits: edits.iter().map(edit).collect(),
        executable: BTreeMap::new(),
        subject: "room hall: build".to_owned(),
        body: "The hall has two doors now.".to_owned(),
        trailers: vec![("Palazzo-Tool", "build_room".to_owned())],
        author: Author::Client("Claude Desktop".to_owned()),
        at: DateTime::from_timestamp(1_900_000_000, 0).unwrap(),
        commit: true,
    }
}

/// Commits a change; it must succeed.
pub(crate) fn commit_ok(store: &mut Store, change: &Changeset) -> Option<CommitId> {
    match store.commit(change).unwrap() {
        CommitOutcome::Done(done) => done.commit,
        other => panic!("{other:?}"),
    }
}

/// Sets the shortest possible timeouts.
pub(crate) fn set_short_timeouts(store: &mut Store) {
    let (ours, index, head) = (Duration::ZERO, Duration::from_millis(1), Duration::ZERO);
    store.writer.lock_timeouts = LockTimeouts { palazzo: ours, index, head };
}

/// Lists and reads all files.
pub(crate) fn read_all(store: &Store) -> (Files, Vec<Diagnostic>) {
    let (stamps, mut findings) = store.list_files("").unwrap();
    let read = store.read_files(stamps.into_keys().collect());
    let mut files = Files::new();
    for (path, text) in read {
        match text {
            Ok(text) => drop(files.insert(path, text.unwrap())),
            Err(finding) => findings.push(finding),
        }
    }
    findings.sort_by(|a, b| a.file.cmp(&b.file));
    (files, findings)
}
