//! The outcomes of a change.

use crate::CommitWarning;
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
