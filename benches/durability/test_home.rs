//! A home, and checks of its files and of its git repository.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::ops::AddAssign;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::pipelined_writer::PipelinedWriter;

/// A home of palaces in its own folder.
pub(crate) struct TestHome {
    path: PathBuf,
    /// The words of all writes that a server confirmed.
    confirmed: Vec<String>,
    _folder: Option<tempfile::TempDir>,
}

/// The kind of repository around a palace.
#[derive(Clone, Copy)]
pub(crate) enum RepositoryKind {
    /// A new repository.
    New,
    /// A repository with `packed-refs`, as after `git gc`.
    PackedRefs,
    /// A clone of a repository.
    Clone,
    /// A linked worktree.
    LinkedWorktree,
}

/// The result of a check.
#[derive(Default)]
pub(crate) struct DurabilityReport {
    confirmed: usize,
    refused: usize,
    missing_in_git: usize,
    missing_on_disk: usize,
    unexpected_files: Vec<String>,
    corrupt_repositories: usize,
}

impl RepositoryKind {
    pub(crate) const ALL: [Self; 4] =
        [Self::New, Self::PackedRefs, Self::Clone, Self::LinkedWorktree];
}

impl TestHome {
    /// Creates a home below the target directory.
    pub(crate) fn new(kind: RepositoryKind) -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))
            .expect("the target directory is writable");
        let mut home = Self::open_or_create(folder.path());
        let other = folder.path().join("other");
        let other_path = other.to_string_lossy().into_owned();
        match kind {
            RepositoryKind::New => {}
            RepositoryKind::PackedRefs => home.run_git(&["pack-refs", "--all"]),
            RepositoryKind::Clone => {
                home.run_git(&["clone", "-q", ".", &other_path]);
                home.path = other;
                home.run_git(&["config", "maintenance.auto", "false"]);
            }
            RepositoryKind::LinkedWorktree => {
                home.run_git(&["worktree", "add", "-q", "-b", "side", &other_path]);
                home.path = other;
            }
        }
        Self { _folder: Some(folder), ..home }
    }

    /// Opens the home in `folder`. Creates it if it does not exist.
    pub(crate) fn open_or_create(folder: &Path) -> Self {
        let path = folder.join("home");
        let home = Self { path, confirmed: Vec::new(), _folder: None };
        if !home.path.is_dir() {
            fs::create_dir(&home.path).expect("the folder is new");
            home.run_git(&["init", "-q", "-b", "main"]);
            fs::write(home.path.join("notes.md"), "notes\n").expect("the file is writable");
            home.run_git(&["add", "notes.md"]);
            home.run_git(&["commit", "-qm", "begin"]);
            home.run_git(&["config", "maintenance.auto", "false"]);
            drop(Command::new("sync").status());
        }
        home
    }

    /// Returns the command that starts a server with this home.
    pub(crate) fn serve_command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_palazzo"));
        isolate_from_config(&mut command);
        command.arg("serve").arg(&self.path);
        command
    }

    /// Starts a server and sends one write. Returns the number of refused calls.
    pub(crate) fn write_with_new_server(&mut self, round: usize) -> usize {
        let mut writer = PipelinedWriter::start(self.serve_command(), 1_000_000 + round);
        writer.write();
        let (confirmed, refused) = writer.finish();
        self.confirmed.extend(confirmed);
        refused
    }

    /// Runs `git gc` in a loop until `stop` returns true. Returns the number of successful runs.
    pub(crate) fn run_gc_until(&self, stop: impl Fn() -> bool) -> usize {
        let mut runs = 0;
        while !stop() {
            runs += usize::from(self.try_run_git(&["gc", "-q", "--prune=now"]).status.success());
        }
        runs
    }

    /// Checks that all words exist that were confirmed now and before, that no unexpected file
    /// exists, and that the repository is correct.
    pub(crate) fn check_writes(
        &mut self,
        confirmed: Vec<String>,
        refused: usize,
    ) -> DurabilityReport {
        let confirmed_count = confirmed.len();
        self.confirmed.extend(confirmed);
        let grep = ["grep", "-hoE", "word-[0-9]+-[0-9]+-", "HEAD"];
        let in_git = extract_words(&String::from_utf8_lossy(&self.try_run_git(&grep).stdout));
        let on_disk = extract_words(&read_all_text(&self.path.join("keep")));
        let count_missing = |existing: &BTreeSet<String>| {
            self.confirmed.iter().filter(|it| !existing.contains(*it)).count()
        };
        let fsck = self.try_run_git(&["fsck", "--strict", "--no-dangling", "--no-progress"]);
        let output = String::from_utf8_lossy(&fsck.stdout) + String::from_utf8_lossy(&fsck.stderr);
        DurabilityReport {
            confirmed: confirmed_count,
            refused,
            missing_in_git: count_missing(&in_git),
            missing_on_disk: count_missing(&on_disk),
            unexpected_files: self.list_unexpected_files(),
            corrupt_repositories: usize::from(!fsck.status.success() || !output.trim().is_empty()),
        }
    }

    /// Commits another file with git in a loop until `stop` returns true. Returns the number of
    /// successful commits.
    pub(crate) fn commit_with_git_until(&self, stop: impl Fn() -> bool) -> usize {
        let mut commits = 0;
        while !stop() {
            let text = commits.to_string();
            fs::write(self.path.join("notes.md"), text).expect("the file is writable");
            // Git does not wait for its lock, so the next round retries a failed command.
            let succeeds = |args: &[&str]| self.try_run_git(args).status.success();
            if succeeds(&["add", "notes.md"]) && succeeds(&["commit", "-qm", "by a person"]) {
                commits += 1;
            }
        }
        drop(self.try_run_git(&["commit", "-qam", "by a person"]));
        commits
    }

    /// Counts the commits by the person that changed the palace.
    pub(crate) fn count_wrong_commits(&self) -> usize {
        let log = ["log", "--author=Ada", "--format=%h", "--", "keep"];
        String::from_utf8_lossy(&self.try_run_git(&log).stdout).lines().count()
    }

    /// Lists the output of `git status`, and all lock files and temporary files.
    fn list_unexpected_files(&self) -> Vec<String> {
        let status = self.try_run_git(&["status", "--porcelain", "-uall"]).stdout;
        let status = String::from_utf8_lossy(&status).into_owned();
        let is_temporary =
            |it: &PathBuf| it.extension().is_some_and(|it| it == "lock" || it == "tmp");
        let git_dir = self.try_run_git(&["rev-parse", "--git-common-dir"]).stdout;
        let git_dir = self.path.join(String::from_utf8_lossy(&git_dir).trim());
        let files = list_files(&self.path).into_iter().chain(list_files(&git_dir));
        let temporary = files.filter(is_temporary).map(|it| it.display().to_string());
        status.lines().map(str::to_owned).chain(temporary).collect()
    }

    /// Runs git and panics if it fails.
    pub(crate) fn run_git(&self, arguments: &[&str]) {
        let output = self.try_run_git(arguments);
        assert!(output.status.success(), "git {arguments:?}: {output:?}");
    }

    fn try_run_git(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new("git");
        isolate_from_config(&mut command);
        command.env("GIT_AUTHOR_NAME", "Ada").env("GIT_AUTHOR_EMAIL", "ada@example.org");
        command.env("GIT_COMMITTER_NAME", "Ada").env("GIT_COMMITTER_EMAIL", "ada@example.org");
        command.arg("-C").arg(&self.path).args(arguments).output().expect("git is installed")
    }
}

impl DurabilityReport {
    /// Returns true if a write was refused or is missing, or if a check failed.
    pub(crate) fn has_errors(&self) -> bool {
        let missing = self.missing_in_git + self.missing_on_disk;
        self.refused + missing + self.unexpected_files.len() + self.corrupt_repositories > 0
    }
}

impl AddAssign for DurabilityReport {
    fn add_assign(&mut self, other: Self) {
        self.confirmed += other.confirmed;
        self.refused += other.refused;
        self.missing_in_git += other.missing_in_git;
        self.missing_on_disk += other.missing_on_disk;
        self.unexpected_files.extend(other.unexpected_files);
        self.corrupt_repositories += other.corrupt_repositories;
    }
}

impl fmt::Display for DurabilityReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { confirmed, refused, missing_in_git, missing_on_disk, .. } = self;
        let (files, corrupt) = (&self.unexpected_files, self.corrupt_repositories);
        let first_files = &files[..files.len().min(3)];
        write!(
            f,
            "{confirmed} writes confirmed, {refused} refused, {missing_in_git} missing in git, \
             {missing_on_disk} missing on disk, {} unexpected files {first_files:?}, \
             {corrupt} corrupt repositories",
            files.len()
        )
    }
}

/// Makes a command ignore the git configuration of the machine.
fn isolate_from_config(command: &mut Command) {
    command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
    command.env("GIT_TERMINAL_PROMPT", "0");
}

fn extract_words(text: &str) -> BTreeSet<String> {
    let words = text.split(|it: char| !it.is_ascii_alphanumeric() && it != '-');
    words.filter(|it| it.starts_with("word-")).map(str::to_owned).collect()
}

fn read_all_text(folder: &Path) -> String {
    let texts = list_files(folder).into_iter().filter_map(|it| fs::read_to_string(it).ok());
    texts.collect::<Vec<_>>().join("\n")
}

fn list_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let files_of = |entry: fs::DirEntry| match entry.file_type() {
        Ok(it) if it.is_dir() => list_files(&entry.path()),
        _ => vec![entry.path()],
    };
    entries.flat_map(files_of).collect()
}
