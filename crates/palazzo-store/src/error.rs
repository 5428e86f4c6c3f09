//! The store's error type.

use std::io;
use std::path::{Path, PathBuf};

use palazzo_core::model::{Code, Diagnostic, foreign_message, path_text, quote_for_shell, quoted};

use crate::remote::git_process::GitProcessError;
use crate::repo::git_lock::GitLock;
use crate::repo::operation::BlockingGitOperation;
use crate::repo::proposal_error::ProposalError;
use crate::sync::error::SyncError;

/// The reason of [`Error::NotRegularFile`] for a file that is larger than Palazzo reads of git.
pub(crate) const TOO_LARGE_REASON: &str = "larger than 16 MiB";

/// An error of the store. Each message names the file or folder that failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or folder could not be read or written.
    #[error("cannot {operation} `{}`", path_text(path))]
    File {
        /// The attempted operation.
        operation: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A git operation failed.
    #[error("cannot {operation} in the repository at `{}`", path_text(place))]
    Git {
        /// The attempted operation.
        operation: &'static str,
        /// The repository.
        place: PathBuf,
        /// Git's error.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A run of the `git` command failed.
    #[error(transparent)]
    GitProcess(#[from] GitProcessError),
    /// The repository cannot be synchronized.
    #[error(transparent)]
    Sync(#[from] SyncError),
    /// A server cannot propose changes.
    #[error(transparent)]
    Proposal(#[from] ProposalError),
    /// The palace wants signed commits, and this one cannot be signed.
    #[error(
        "nothing was changed: palace.toml has `sign = true`, and the commit cannot be signed: {why}; unlock the key (`ssh-add`, or sign once with `gpg`) and try again"
    )]
    NotSigned {
        /// The reason.
        why: String,
    },
    /// The caller cancelled the change before it began.
    #[error("the call was cancelled, and nothing was changed")]
    Cancelled,
    /// A path points outside the palace, or is not a permitted file.
    #[error("{} cannot be a file of this palace: {why}", quoted(path))]
    InvalidPath {
        /// The path as given.
        path: String,
        /// The reason.
        why: &'static str,
    },
    /// A note would be changed.
    #[error(
        "{} is read in place, and Palazzo changes no notes: change the file itself",
        quoted(path)
    )]
    ReadInPlace {
        /// The path from the palace.
        path: String,
    },
    /// The palace, or a folder above it, is a symbolic link.
    #[error("`{}` is a symbolic link; Palazzo follows none below the home", path_text(place))]
    SymbolicLink {
        /// The link.
        place: PathBuf,
    },
    /// A link, FIFO, device or oversized file was found instead of a regular file.
    #[error(
        "`{}` is {what}, and Palazzo opens only regular files of at most 16 MiB; {}",
        path_text(file),
        if *what == TOO_LARGE_REASON { "do not delete it if git needs it" } else { "put a regular file there, or remove it" }
    )]
    NotRegularFile {
        /// The file.
        file: PathBuf,
        /// What it is instead of a regular file.
        what: &'static str,
    },
    /// The repository is outside the palace's folder, and the user has not allowed that.
    #[error(
        "the repository of `{0}` is elsewhere, in `{1}`, and is not used without your consent: run `{2}` in a terminal{why}",
        path_text(folder), elsewhere.join("`, `"), trust_command(folder)
    )]
    RepositoryElsewhere {
        /// The folder with the `.git`.
        folder: PathBuf,
        /// The repository's folders.
        elsewhere: Vec<String>,
        /// Why an existing consent does not apply; usually empty.
        why: String,
    },
    /// The palace lets actions call tools that write, and the user has not allowed that.
    #[error(
        "`[actions] allow` in palace.toml counts on this machine only after your consent: run `{}` in a terminal{why}",
        trust_command(palace)
    )]
    ToolsNotAllowed {
        /// The palace.
        palace: PathBuf,
        /// Why an existing consent does not apply; usually empty.
        why: String,
    },
    /// The consents file cannot be used.
    #[error("consents cannot be read or written: {why}")]
    ConsentsUnusable {
        /// The reason.
        why: String,
    },
    /// A file in the folder for the state of this program cannot be used.
    #[error("the state of Palazzo cannot be read or written: {why}")]
    StateUnusable {
        /// The reason.
        why: String,
    },
    /// The repository has no working directory.
    #[error(
        "`{}` is a bare repository; a palace needs one with a working directory",
        path_text(place)
    )]
    BareRepository {
        /// The repository.
        place: PathBuf,
    },
    /// The palace is inside a `.git` folder.
    #[error("`{}` is inside git's own folder; move the palace out of it", path_text(palace))]
    InsideGitFolder {
        /// The palace.
        palace: PathBuf,
    },
    /// The repository belongs to another user.
    #[error(
        "the repository at `{}` belongs to someone else; if you trust it, run `git config --global --add safe.directory {}`",
        path_text(place), quote_for_shell(&place.display().to_string())
    )]
    UntrustedOwner {
        /// The repository's working directory.
        place: PathBuf,
        /// Git's error.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The repository has a sparse index, which cannot be written back.
    #[error(
        "the repository at `{}` uses a sparse index; run `git sparse-checkout reapply --no-sparse-index` first",
        path_text(place)
    )]
    SparseIndex {
        /// The repository.
        place: PathBuf,
    },
    /// A file is in git but excluded from the working directory by a sparse checkout.
    #[error("{} is outside the sparse checkout; run `{command}` first", quoted(path))]
    OutsideSparseCheckout {
        /// The file.
        path: String,
        /// The command that checks the palace out.
        command: String,
    },
    /// The objects are not in a partial clone.
    #[error(
        "cannot {operation} in the repository at `{}`: it is a partial clone, which has not fetched this part of the history; `{command}` fetches all of it",
        path_text(place)
    )]
    PartialClone {
        /// The attempted operation.
        operation: &'static str,
        /// The repository.
        place: PathBuf,
        /// The command that fetches the objects.
        command: String,
    },
    /// The repository has an extension that this version does not know.
    #[error(
        "the repository at `{}` uses the extension {}, which this version of Palazzo does not know: it is only read; `{command}` shows what it is, and the program that set it can write",
        path_text(place),
        quoted(name)
    )]
    UnknownExtension {
        /// The repository.
        place: PathBuf,
        /// The extension.
        name: String,
        /// The command that shows the extensions.
        command: String,
    },
    /// No repository contains the palace, and none could be created.
    #[error("no git repository can be used for `{}`", path_text(palace))]
    NoRepository {
        /// The palace.
        palace: PathBuf,
    },
    /// Another program holds one of git's lock files.
    #[error(
        "another program has locked the repository by `{}` ({}); {}",
        path_text(&.0.path), .0.description(), .0.advice()
    )]
    GitLocked(GitLock),
    /// The palace's repository, and with it the history, is missing.
    #[error(
        "`{0}` had a history, but its git repository is missing; restore the `.git` folder, or start a new history with `palazzo init --repository {1}`",
        path_text(place), quote_for_shell(&place.display().to_string())
    )]
    HistoryLost {
        /// The palace, or its home.
        place: PathBuf,
    },
    /// The palace folder was moved or removed.
    #[error("the palace is no longer at `{}`: it was moved or removed", path_text(palace))]
    PalaceMoved {
        /// Its former path.
        palace: PathBuf,
    },
    /// A lock file was not removed, because a running process holds it or an interrupted write of
    /// Palazzo needs it.
    #[error("`{}` was not removed: {}; {}", path_text(&.0.path), .0.description(), .0.advice())]
    GitLockInUse(GitLock),
    /// A git operation is in progress that would discard commits made now.
    #[error(
        "a git {} is under way in `{}`, and {} would drop what is written now, so nothing was written. End it first: {}",
        operation.name(), path_text(place), operation.commit_dropping_action(), operation.remedy()
    )]
    OperationInProgress {
        /// The operation.
        operation: BlockingGitOperation,
        /// The working directory.
        place: PathBuf,
    },
    /// Another Palazzo process holds the write lock.
    #[error(
        "another palazzo (process {holder}) is writing and holds `{}`; try again",
        path_text(lock)
    )]
    WriteLocked {
        /// The lock file.
        lock: PathBuf,
        /// The process that holds the lock.
        holder: String,
    },
    /// A file has merge conflicts.
    #[error("{} is in the middle of a merge; make it right and `git add` it first", quoted(path))]
    UnmergedFile {
        /// The file.
        path: String,
    },
    /// Git stores a file in converted form, for example through a filter.
    #[error(
        "{} has the git attribute `{attribute}`, and Palazzo runs no filters; remove the attribute for the palace, or set `commit = \"manual\"` under `[git]` in `palace.toml`",
        quoted(path)
    )]
    FilteredFile {
        /// The file.
        path: String,
        /// The attribute.
        attribute: &'static str,
    },
    /// A file of the host's memory contains a secret.
    #[error(
        "{} contains a secret, or would, and the memory of a host is committed without any; remove the secret by hand",
        quoted(path)
    )]
    SecretInMemory {
        /// The file.
        path: String,
    },
    /// A change failed, and undoing it failed too.
    #[error(
        "the change failed ({refusal}), and `{}` could not be restored; Palazzo tries again when the palace is next used",
        path_text(path)
    )]
    UndoFailed {
        /// The file that may still hold the new text.
        path: PathBuf,
        /// Why the change failed.
        refusal: String,
        /// The system's error from restoring the file.
        source: io::Error,
    },
    /// The last commit cannot be read.
    #[error(
        "the git repository at `{}` is damaged: {what}. Palazzo reads what can be read and writes nothing. To repair it: {remedy}",
        path_text(place)
    )]
    DamagedRepository {
        /// The repository's working directory.
        place: PathBuf,
        /// What cannot be read.
        what: String,
        /// How the user can repair it.
        remedy: String,
    },
    /// The repository's format is not supported.
    #[error(
        "the git repository at `{}` uses {format}, which Palazzo cannot read; {remedy}",
        path_text(place)
    )]
    UnsupportedFormat {
        /// The repository's working directory.
        place: PathBuf,
        /// The format.
        format: &'static str,
        /// What the user can do.
        remedy: &'static str,
    },
    /// A text names no commit of the palace's history.
    #[error("{} {why}", quoted(said))]
    InvalidRevision {
        /// The text.
        said: String,
        /// The reason.
        why: String,
    },
    /// The palace did not exist yet at the commit.
    #[error("the palace did not exist at {short} ({at}){}", first_commit_note(first.as_deref()))]
    PalaceNotYetCreated {
        /// The commit without the palace.
        short: String,
        /// The commit's time.
        at: String,
        /// The first commit with the palace, and its time.
        first: Option<String>,
    },
    /// A commit's palace exceeds the size limits.
    #[error("the palace at {short} is too large to be read")]
    CommitTooLarge {
        /// The commit.
        short: String,
    },
    /// A write to a store that reads from a commit.
    #[error("this is the palace as it was at {short}, and the past cannot be changed")]
    ReadOnlyAsOf {
        /// The commit.
        short: String,
    },
    /// Other programs moved `HEAD` before each attempt to update it.
    #[error("`HEAD` of the repository at `{}` kept moving; try again", path_text(place))]
    HeadKeepsMoving {
        /// The repository.
        place: PathBuf,
    },
}

impl Error {
    /// Returns a function that wraps an I/O error of the file at `path`.
    pub(super) fn for_file(operation: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { operation, path, source }
    }

    /// Returns true if only the repository cannot be read, so that the files can be read without
    /// it.
    pub fn is_repository_error(&self) -> bool {
        matches!(
            self,
            Self::DamagedRepository { .. }
                | Self::NotRegularFile { .. }
                | Self::Git { .. }
                | Self::PartialClone { .. }
        )
    }

    /// Formats the error with all its causes.
    pub(super) fn message_with_causes(&self) -> String {
        let causes = std::iter::successors(std::error::Error::source(self), |it| it.source());
        let causes = causes.map(|it| foreign_message(&it.to_string()));
        std::iter::once(self.to_string()).chain(causes).collect::<Vec<_>>().join(": ")
    }

    /// Converts the error into a finding about the file at `path`, which could not be read.
    pub(super) fn to_diagnostic(&self, path: &str) -> Diagnostic {
        let is_link = matches!(self, Self::SymbolicLink { .. });
        let code = if is_link { Code::Link } else { Code::Unreadable };
        Diagnostic::for_file(code, path, self.to_string())
    }

    /// Creates the error for a path that may not be written.
    pub(super) fn invalid_path(path: &str, why: &'static str) -> Self {
        Self::InvalidPath { path: path.to_owned(), why }
    }
}

/// Returns the command that asks the user for consent.
fn trust_command(folder: &Path) -> String {
    format!("palazzo trust {}", quote_for_shell(&folder.display().to_string()))
}

fn first_commit_note(first: Option<&str>) -> String {
    first.map(|it| format!("; its first commit is {it}")).unwrap_or_default()
}
