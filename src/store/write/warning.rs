//! What is not as it should be although a change is made.

/// A fault after which a change stands all the same: it is on disk and in git.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Warning {
    /// `HEAD` names a commit and no branch.
    #[error(
        "`HEAD` is detached: what is written now is on no branch, and git may drop it when another commit is checked out; `git switch -c NAME` makes a branch of it"
    )]
    DetachedHead,
    /// Git's index could not be replaced.
    #[error("it is done, but git's index could not be updated ({0}); the next write repairs that")]
    IndexNotUpdated(String),
    /// Objects that git deleted could not be written again.
    #[error(
        "it is done, but git has deleted objects of it that could not be written again ({0}); run `git fsck`"
    )]
    ObjectsNotRestored(String),
    /// The system did not confirm that it is on disk.
    #[error("it is done, but the system does not confirm that it survives a power cut ({0})")]
    NotDurable(String),
}
