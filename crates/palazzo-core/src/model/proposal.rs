//! A branch with changes that a person has not merged yet.

use std::path::PathBuf;

use crate::model::CommitDetails;

/// A branch with changes of a palace that the checked-out branch lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// The branch.
    pub branch: String,
    /// The commits that change the palace and that `HEAD` lacks, newest first; not all if there are
    /// very many.
    pub commits: Vec<CommitDetails>,
    /// The folder in which an earlier version kept the files of the proposal, if it is still there.
    pub worktree: Option<PathBuf>,
    /// The name by which `git merge` finds the branch, and not a tag of the same name.
    pub revision: String,
    /// Whether a server is running that writes to the proposal.
    pub is_served: bool,
}

impl Proposal {
    /// Returns the authors of the commits, each once, the one of the newest commit first.
    pub fn authors(&self) -> Vec<&str> {
        let mut authors = Vec::new();
        for it in &self.commits {
            if !authors.contains(&it.summary.by.as_str()) {
                authors.push(it.summary.by.as_str());
            }
        }
        authors
    }
}
