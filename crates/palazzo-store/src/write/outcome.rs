//! The outcomes of a change, and problems that do not prevent it.

use palazzo_core::model::CommitId;

/// The outcome of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommitOutcome {
    /// The change was made.
    Done(CommitReport),
    /// These files no longer hold the expected contents; nothing was written.
    Stale(Vec<String>),
    /// A commit has to be signed first, see `Store::sign_missing_commit`; nothing was written.
    SignatureMissing,
}

/// The result of a change that was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommitReport {
    /// The commit; `None`: there was nothing to commit.
    pub commit: Option<CommitId>,
    /// The commit that `HEAD` pointed to before the change; `None`: none, or nothing was committed.
    pub previous: Option<CommitId>,
    /// Problems that occurred after the change was made.
    pub warnings: Vec<CommitWarning>,
}

/// A problem with a change that was made: it is on disk and in git.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommitWarning {
    /// `HEAD` points to a commit instead of a branch.
    #[error(
        "`HEAD` is detached: commits made now are on no branch, and git may delete them after another commit is checked out; `git switch -c NAME` puts them on a branch"
    )]
    DetachedHead,
    /// Git's index could not be replaced.
    #[error(
        "the change was made, but git's index could not be updated ({0}); the next write repairs it"
    )]
    IndexNotUpdated(String),
    /// Objects that git deleted could not be restored.
    #[error(
        "the change was made, but git deleted some of its objects and they could not be restored ({0}); run `git fsck`"
    )]
    ObjectsNotRestored(String),
    /// A commit was made without the signature that the configuration asks for.
    #[error(
        "commits are made without a signature, although `commit.gpgSign` asks for one: {0}; unlock the key (`ssh-add`, or sign once with `gpg`), or set `sign = false` below `[git]` in palace.toml"
    )]
    NotSigned(String),
    /// The system did not confirm that the change is on disk.
    #[error("the change was made, but may not survive a power failure ({0})")]
    NotDurable(String),
}
