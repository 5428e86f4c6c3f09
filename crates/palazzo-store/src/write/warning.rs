//! Problems that do not prevent a change from being made.

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
