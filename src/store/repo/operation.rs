//! What somebody is in the middle of, which decides whether a write may be made.
//!
//! | state | a write | why |
//! | --- | --- | --- |
//! | rebase | refused | `git rebase --abort` moves the branch back and drops the commit |
//! | bisect | refused | `git bisect reset` leaves the commit on no branch, and the files are old ones |
//! | merge, cherry-pick, revert, `git am` | accepted | their `--abort` keeps commits that were made meanwhile |
//! | detached `HEAD` | accepted with a warning | the commit is on no branch |
//!
//! An unmerged path is refused in any state (`make.rs`).

use std::path::Path;

use crate::store::Error;

/// An operation of git that would drop what is committed meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GitOperation {
    /// `git rebase`.
    Rebase,
    /// `git bisect`.
    Bisect,
}

impl GitOperation {
    /// Returns the operation under way in the worktree of `git_dir`, if it would drop a commit.
    pub(crate) fn in_progress(git_dir: &Path) -> Option<Self> {
        let is_there = |name: &str| git_dir.join(name).exists();
        // `git am` shares its folder with the older kind of rebase.
        let is_am = is_there("rebase-apply/applying");
        if is_there("rebase-merge") || (is_there("rebase-apply") && !is_am) {
            return Some(Self::Rebase);
        }
        (is_there("BISECT_START") || is_there("BISECT_LOG")).then_some(Self::Bisect)
    }

    /// Returns the command that is under way, as git names it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rebase => "rebase",
            Self::Bisect => "bisect",
        }
    }

    /// Returns what would drop a commit that is made meanwhile.
    pub fn dropping_command(self) -> &'static str {
        match self {
            Self::Rebase => "aborting it",
            Self::Bisect => "ending it",
        }
    }

    /// Returns the commands that end it.
    pub fn remedy(self) -> &'static str {
        match self {
            Self::Rebase => {
                "`git rebase --continue` or `git rebase --abort`; one that a killed git left behind ends \
                 when the folder `.git/rebase-merge` or `.git/rebase-apply` is removed"
            }
            Self::Bisect => "`git bisect reset`",
        }
    }
}

/// Refuses a write that would be dropped when the operation under way ends.
pub(crate) fn reject_if_in_progress(git_dir: &Path, work: &Path) -> Result<(), Error> {
    match GitOperation::in_progress(git_dir) {
        Some(operation) => Err(Error::OperationInProgress { operation, place: work.to_owned() }),
        None => Ok(()),
    }
}
