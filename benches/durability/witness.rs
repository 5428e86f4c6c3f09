//! A home, and the checks of its content by git and the file system.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::ops::AddAssign;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::writer::PipelinedWriter;

/// A home of palaces in its own folder.
pub(crate) struct CheckedHome {
    place: PathBuf,
    answered: Vec<String>,
    _folder: Option<tempfile::TempDir>,
}

/// The kind of repository around a palace.
#[derive(Clone, Copy)]
pub(crate) enum RepositoryKind {
    Fresh,
    /// With `packed-refs`, as after `git gc`.
    Packed,
    Cloned,
    /// A linked worktree.
    Linked,
}

/// The result of a check.
#[derive(Default)]
pub(crate) struct DurabilityReport {
    answered: usize,
    refused: usize,
    not_in_git: usize,
    not_on_disk: usize,
    strays: Vec<String>,
    unsound: usize,
}

impl RepositoryKind {
    pub(crate) const ALL: [Self; 4] = [Self::Fresh, Self::Packed, Self::Cloned, Self::Linked];
}

impl CheckedHome {
    /// Creates a home below the target directory.
    pub(crate) fn new(kind: RepositoryKind) -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("there is room");
        let mut home = Self::open_or_create(folder.path());
        let other = folder.path().join("other");
        let place = other.to_string_lossy().into_owned();
        match kind {
            RepositoryKind::Fresh => {}
            RepositoryKind::Packed => home.run_git(&["pack-refs", "--all"]),
            RepositoryKind::Cloned => {
                home.run_git(&["clone", "-q", ".", &place]);
                home.place = other;
                home.run_git(&["config", "maintenance.auto", "false"]);
            }
            RepositoryKind::Linked => {
                home.run_git(&["worktree", "add", "-q", "-b", "side", &place]);
                home.place = other;
            }
        }
        Self { _folder: Some(folder), ..home }
    }

    /// Opens the home in `folder`; creates it if it does not exist.
    pub(crate) fn open_or_create(folder: &Path) -> Self {
        let place = folder.join("home");
        let home = Self { place, answered: Vec::new(), _folder: None };
        if !home.place.is_dir() {
            fs::create_dir(&home.place).expect("it is new");
            home.run_git(&["init", "-q", "-b", "main"]);
            fs::write(home.place.join("notes.md"), "notes\n").expect("it can be written");
            home.run_git(&["add", "notes.md"]);
            home.run_git(&["commit", "-qm", "begin"]);
            home.run_git(&["config", "maintenance.auto", "false"]);
            drop(Command::new("sync").status());
        }
        home
    }

    /// Returns the command of a server that uses only this home.
    pub(crate) fn serve_command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_palazzo"));
        isolate_from_config(&mut command);
        command.arg("serve").arg(&self.place);
        command
    }

    /// Starts a normal server and writes; returns how many writes were refused.
    pub(crate) fn write_with_new_server(&mut self, round: usize) -> usize {
        let mut writer = PipelinedWriter::start(self.serve_command(), 1_000_000 + round);
        writer.write();
        let (answered, refused) = writer.finish();
        self.answered.extend(answered);
        refused
    }

    /// Runs `git gc` until told to stop, and returns how often it ran.
    pub(crate) fn run_gc_until(&self, stop: impl Fn() -> bool) -> usize {
        let mut collections = 0;
        while !stop() {
            collections +=
                usize::from(self.try_run_git(&["gc", "-q", "--prune=now"]).status.success());
        }
        collections
    }

    /// Checks that all words answered now and earlier exist, and that nothing
    /// unexpected does.
    pub(crate) fn check_writes(
        &mut self,
        answered: Vec<String>,
        refused: usize,
    ) -> DurabilityReport {
        let now = answered.len();
        self.answered.extend(answered);
        let grep = ["grep", "-hoE", "word-[0-9]+-[0-9]+-", "HEAD"];
        let in_git = extract_words(&String::from_utf8_lossy(&self.try_run_git(&grep).stdout));
        let on_disk = extract_words(&read_all_text(&self.place.join("keep")));
        let lost = |there: &BTreeSet<String>| {
            self.answered.iter().filter(|it| !there.contains(*it)).count()
        };
        let fsck = self.try_run_git(&["fsck", "--strict", "--no-dangling", "--no-progress"]);
        let said = String::from_utf8_lossy(&fsck.stdout) + String::from_utf8_lossy(&fsck.stderr);
        DurabilityReport {
            answered: now,
            refused,
            not_in_git: lost(&in_git),
            not_on_disk: lost(&on_disk),
            strays: self.list_stray_files(),
            unsound: usize::from(!fsck.status.success() || !said.trim().is_empty()),
        }
    }

    /// Commits another file until told to stop, and returns how many commits succeeded.
    pub(crate) fn commit_by_hand_until(&self, stop: impl Fn() -> bool) -> usize {
        let mut commits = 0;
        while !stop() {
            fs::write(self.place.join("notes.md"), commits.to_string()).expect("it can be written");
            // Git does not wait for its lock: failed commands are retried.
            let ok = |args: &[&str]| self.try_run_git(args).status.success();
            if ok(&["add", "notes.md"]) && ok(&["commit", "-qm", "by hand"]) {
                commits += 1;
            }
        }
        drop(self.try_run_git(&["commit", "-qam", "by hand"]));
        commits
    }

    /// Counts the person's commits that touched the palace.
    pub(crate) fn count_reverting_commits(&self) -> usize {
        let log = ["log", "--author=Ada", "--format=%h", "--", "keep"];
        String::from_utf8_lossy(&self.try_run_git(&log).stdout).lines().count()
    }

    /// Lists what `git status` and `git fsck` report, and lock and temporary files.
    fn list_stray_files(&self) -> Vec<String> {
        let status = self.try_run_git(&["status", "--porcelain", "-uall"]).stdout;
        let status = String::from_utf8_lossy(&status).into_owned();
        let is_left = |it: &PathBuf| it.extension().is_some_and(|it| it == "lock" || it == "tmp");
        let git_dir = self.try_run_git(&["rev-parse", "--git-common-dir"]).stdout;
        let git_dir = self.place.join(String::from_utf8_lossy(&git_dir).trim());
        let all = list_files(&self.place).into_iter().chain(list_files(&git_dir));
        let left = all.filter(is_left);
        let left = left.map(|it| it.display().to_string());
        status.lines().map(str::to_owned).chain(left).collect()
    }

    pub(crate) fn run_git(&self, arguments: &[&str]) {
        let output = self.try_run_git(arguments);
        assert!(output.status.success(), "git {arguments:?}: {output:?}");
    }

    fn try_run_git(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new("git");
        isolate_from_config(&mut command);
        command.env("GIT_AUTHOR_NAME", "Ada").env("GIT_AUTHOR_EMAIL", "ada@example.org");
        command.env("GIT_COMMITTER_NAME", "Ada").env("GIT_COMMITTER_EMAIL", "ada@example.org");
        command.arg("-C").arg(&self.place).args(arguments).output().expect("git is installed")
    }
}

impl DurabilityReport {
    /// Returns true if any count is not as required.
    pub(crate) fn has_errors(&self) -> bool {
        self.refused + self.not_in_git + self.not_on_disk + self.strays.len() + self.unsound > 0
    }
}

impl AddAssign for DurabilityReport {
    fn add_assign(&mut self, other: Self) {
        self.answered += other.answered;
        self.refused += other.refused;
        self.not_in_git += other.not_in_git;
        self.not_on_disk += other.not_on_disk;
        self.strays.extend(other.strays);
        self.unsound += other.unsound;
    }
}

impl fmt::Display for DurabilityReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { answered, refused, not_in_git, not_on_disk, strays, unsound } = self;
        let (number, some) = (strays.len(), &strays[..strays.len().min(3)]);
        write!(
            f,
            "{answered} answered, {refused} refused, {not_in_git} lost from git, {not_on_disk} from the disk, \
             {number} strays {some:?}, {unsound} unsound repositories"
        )
    }
}

/// Isolates a command from the configuration of the machine.
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
    let below = |entry: fs::DirEntry| match entry.file_type() {
        Ok(it) if it.is_dir() => list_files(&entry.path()),
        _ => vec![entry.path()],
    };
    entries.flat_map(below).collect()
}
