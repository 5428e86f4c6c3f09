//! Why the store could not do as asked.

use std::io;
use std::path::{Path, PathBuf};

use crate::model::{Code, Diagnostic, quote_for_shell};

use crate::store::repo::git_locks::GitLock;
use crate::store::repo::operation::GitOperation;
use crate::store::repo::regular_file;

/// Why the store could not do as asked. Each names the place it happened.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or folder could not be read or written.
    #[error("cannot {deed} `{}`", path.display())]
    File {
        /// What was attempted.
        deed: &'static str,
        /// Where.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Git could not do something.
    #[error("cannot {deed} in the repository at `{}`", place.display())]
    Git {
        /// What was attempted.
        deed: &'static str,
        /// Where.
        place: PathBuf,
        /// What git said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A path that leads out of the palace, or may not be written.
    #[error("`{path}` cannot be a file of this palace: {why}")]
    InvalidPath {
        /// The path as it was given.
        path: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A link stands where the palace, or a folder above it, should.
    #[error("`{}` is a symbolic link, and none is followed below the home", place.display())]
    SymbolicLink {
        /// The link.
        place: PathBuf,
    },
    /// A link, FIFO, device or oversized file is where a regular file belongs.
    #[error(
        "`{}` is {what}, and Palazzo opens only regular files of at most 16 MiB; {}",
        file.display(),
        if *what == regular_file::TOO_LARGE_REASON { "do not delete it if git needs it" } else { "put a regular file there, or remove it" }
    )]
    NotRegularFile {
        /// The file.
        file: PathBuf,
        /// What it is instead.
        what: &'static str,
    },
    /// The repository is outside its folder, and the user has not allowed that.
    #[error(
        "the repository of `{0}` is elsewhere, in `{1}`, and is not used without your consent: run `{2}` in a terminal{why}",
        folder.display(), elsewhere.join("`, `"), trust_command(folder)
    )]
    RepositoryElsewhere {
        /// The folder with the `.git`.
        folder: PathBuf,
        /// Where the repository is.
        elsewhere: Vec<String>,
        /// Why a consent that was given does not count; mostly empty.
        why: String,
    },
    /// The palace lets actions call tools that change things, and the user has not allowed that.
    #[error(
        "`[actions] allow` in palace.toml counts on this machine only after your consent: run `{}` in a terminal{why}",
        trust_command(palace)
    )]
    ToolsNotAllowed {
        /// The palace.
        palace: PathBuf,
        /// Why a consent that was given does not count; mostly empty.
        why: String,
    },
    /// The file of consents cannot be used.
    #[error("consents cannot be read or written: {why}")]
    ConsentsUnusable {
        /// What is wrong with it.
        why: String,
    },
    /// The repository has no working directory.
    #[error("`{}` is a bare repository; a palace needs one with a working directory", place.display())]
    BareRepository {
        /// The repository.
        place: PathBuf,
    },
    /// The palace lies among git's own files.
    #[error("`{}` lies inside git's own folder; move the palace out of it", palace.display())]
    InsideGitFolder {
        /// The palace.
        palace: PathBuf,
    },
    /// The repository belongs to someone else.
    #[error(
        "the repository at `{0}` belongs to someone else; if you trust it, run `git config --global --add safe.directory '{0}'`",
        place.display()
    )]
    UntrustedOwner {
        /// The repository's working directory.
        place: PathBuf,
        /// What git said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The repository keeps its index in a form that cannot be written back.
    #[error(
        "the repository at `{}` uses a sparse index; run `git sparse-checkout reapply --no-sparse-index` first",
        place.display()
    )]
    SparseIndex {
        /// The repository.
        place: PathBuf,
    },
    /// A file is in git, but not in the working directory.
    #[error("`{path}` is outside the sparse checkout; add it with `git sparse-checkout add` first")]
    OutsideSparseCheckout {
        /// The file.
        path: String,
    },
    /// There is no repository that could hold the palace, and none could be made.
    #[error("no git repository can be used for `{}`", palace.display())]
    NoRepository {
        /// The palace.
        palace: PathBuf,
    },
    /// Another program holds a lock file of git.
    #[error(
        "another program has locked the repository by `{}` ({}); {}",
        .0.path.display(), .0.description(), .0.advice()
    )]
    GitLocked(GitLock),
    /// The repository is gone, and with it the history.
    #[error(
        "what is in `{0}` had a history, and there is no git repository around it any more; bring the `.git` back, or begin a new history with `palazzo init --repository {0}`",
        place.display()
    )]
    HistoryLost {
        /// The palace, or its home.
        place: PathBuf,
    },
    /// The palace is no longer where it was.
    #[error("the palace is no longer at `{}`: it was moved or removed", palace.display())]
    PalaceMoved {
        /// Where it was.
        palace: PathBuf,
    },
    /// A lock file that a living process holds is not removed.
    #[error("`{}` was not removed: {why}; end that process first", lock.display())]
    GitLockInUse {
        /// The lock file.
        lock: PathBuf,
        /// Its age and its owner.
        why: String,
    },
    /// An operation of git is under way that would drop what is committed meanwhile.
    #[error(
        "a git {} is under way in `{}`, and {} would drop what is written now, so nothing was written. End it first: {}",
        operation.name(), place.display(), operation.dropping_command(), operation.remedy()
    )]
    OperationInProgress {
        /// The operation.
        operation: GitOperation,
        /// The working directory.
        place: PathBuf,
    },
    /// Another Palazzo holds the palace.
    #[error("another palazzo (process {holder}) is writing and holds `{}`; try again", lock.display())]
    WriteLocked {
        /// The lock file.
        lock: PathBuf,
        /// The process that holds it.
        holder: String,
    },
    /// A file is in the middle of a merge.
    #[error("`{path}` is in the middle of a merge; resolve it and `git add` it first")]
    UnmergedFile {
        /// The file.
        path: String,
    },
    /// Git keeps a file in another form, by a filter or the like.
    #[error(
        "`{path}` has the git attribute `{attribute}`, and Palazzo runs no filters; remove the attribute for the palace, or set `commit = \"manual\"` under `[git]` in `palace.toml`"
    )]
    FilteredFile {
        /// The file.
        path: String,
        /// The attribute.
        attribute: &'static str,
    },
    /// A change failed, and could not be undone either.
    #[error(
        "the change failed ({refusal}), and `{}` could not be put back as it was; that is tried again when the palace is next used",
        path.display()
    )]
    UndoFailed {
        /// The file that may hold the new text.
        path: PathBuf,
        /// Why the change failed.
        refusal: String,
        /// What the system said when the file was to be put back.
        source: io::Error,
    },
    /// The last commit cannot be read.
    #[error(
        "the git repository at `{}` is damaged: {what}. Palazzo reads what can be read and writes nothing. To repair it: {remedy}",
        place.display()
    )]
    DamagedRepository {
        /// The repository's working directory.
        place: PathBuf,
        /// What cannot be read.
        what: String,
        /// What a person can do about it.
        remedy: String,
    },
    /// The repository is in a format that cannot be read.
    #[error(
        "the git repository at `{}` uses {format}, which Palazzo cannot read; {remedy}",
        place.display()
    )]
    UnsupportedFormat {
        /// The repository's working directory.
        place: PathBuf,
        /// The format.
        format: &'static str,
        /// What a person can do about it.
        remedy: &'static str,
    },
    /// What was said names no moment of the palace's past.
    #[error("`{said}` {why}")]
    InvalidRevision {
        /// What was said.
        said: String,
        /// Why it names none.
        why: String,
    },
    /// The palace is younger than the moment asked for.
    #[error("there was no palace here at {short}, of {at}{}", first_commit_note(first.as_deref()))]
    PalaceNotYetCreated {
        /// The commit without the palace.
        short: String,
        /// When it was made.
        at: String,
        /// The first commit with it, and when that was made.
        first: Option<String>,
    },
    /// A commit holds more than could be meant for a palace.
    #[error("the palace at {short} is too large to be read")]
    CommitTooLarge {
        /// The commit.
        short: String,
    },
    /// The past cannot be changed.
    #[error("this is the palace as it was at {short}, and the past cannot be changed")]
    ReadOnlyAsOf {
        /// The commit it is seen at.
        short: String,
    },
    /// Others moved `HEAD` each time we were about to.
    #[error("`HEAD` of the repository at `{}` kept moving; try again", place.display())]
    HeadKeepsMoving {
        /// The repository.
        place: PathBuf,
    },
}

impl Error {
    /// Makes the error of a file that could not be dealt with.
    pub(super) fn for_file(deed: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { deed, path, source }
    }

    /// Tells whether the repository cannot be read, so that the files can be read without it.
    pub fn is_repository_error(&self) -> bool {
        matches!(
            self,
            Self::DamagedRepository { .. } | Self::NotRegularFile { .. } | Self::Git { .. }
        )
    }

    /// Tells it with all its causes.
    pub(super) fn message_with_causes(&self) -> String {
        let causes = std::iter::successors(Some(self as &dyn std::error::Error), |it| it.source());
        causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
    }

    /// Makes it a finding about the file at `path`, which it kept from being read.
    pub(super) fn to_diagnostic(&self, path: &str) -> Diagnostic {
        let is_link = matches!(self, Self::SymbolicLink { .. });
        let code = if is_link { Code::Link } else { Code::Unreadable };
        Diagnostic::for_file(code, path, self.to_string())
    }

    /// Makes the error of a path that may not be written.
    pub(super) fn for_path(path: &str, why: &'static str) -> Self {
        Self::InvalidPath { path: path.to_owned(), why }
    }
}

/// Returns the command that asks the user for consent.
fn trust_command(folder: &Path) -> String {
    format!("palazzo trust {}", quote_for_shell(&folder.display().to_string()))
}

fn first_commit_note(first: Option<&str>) -> String {
    first.map(|it| format!("; it begins with {it}")).unwrap_or_default()
}
