//! Detects git operations in progress, which decide whether a write is accepted.
//!
//! | state | write | why |
//! | --- | --- | --- |
//! | rebase | refused | `git rebase --abort` moves the branch back and drops the commit |
//! | bisect | refused | `git bisect reset` leaves the commit on no branch, with old files |
//! | merge, cherry-pick, revert, `git am` | accepted | their `--abort` keeps later commits |
//! | detached `HEAD` | accepted with a warning | the commit is on no branch |
//!
//! An unmerged path is refused in any state (`apply.rs`).

use std::path::Path;

/// A git operation that would drop commits made while it is in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockingGitOperation {
    /// `git rebase`.
    Rebase,
    /// `git bisect`.
    Bisect,
}

impl BlockingGitOperation {
    /// Returns the operation in progress in the worktree of `git_dir` that would drop a commit, if
    /// any.
    pub(crate) fn in_progress(git_dir: &Path) -> Option<Self> {
        Self::find(|name| git_dir.join(name).exists())
    }

    /// Returns the operation that has left one of its files; `is_there` looks for one in the git
    /// directory.
    pub(crate) fn find(is_there: impl Fn(&str) -> bool) -> Option<Self> {
        // `git am` shares its folder with the older rebase backend.
        let is_apply = || is_there("rebase-apply") && !is_there("rebase-apply/applying");
        if is_there("rebase-merge") || is_apply() {
            return Some(Self::Rebase);
        }
        (is_there("BISECT_START") || is_there("BISECT_LOG")).then_some(Self::Bisect)
    }

    /// Returns the operation's git command.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rebase => "rebase",
            Self::Bisect => "bisect",
        }
    }

    /// Returns the action that would drop a commit made meanwhile.
    pub fn commit_dropping_action(self) -> &'static str {
        match self {
            Self::Rebase => "aborting it",
            Self::Bisect => "ending it",
        }
    }

    /// Returns the commands that end the operation.
    pub fn remedy(self) -> &'static str {
        match self {
            Self::Rebase => {
                "`git rebase --continue` or `git rebase --abort`; if a killed git left it behind, \
                 remove the folder `.git/rebase-merge` or `.git/rebase-apply`"
            }
            Self::Bisect => "`git bisect reset`",
        }
    }
}
