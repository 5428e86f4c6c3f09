//! Proposals: branches that a server writes to instead of the checked-out branch.
//!
//! A proposal has no files: the palace is read from the newest commit of the branch, and a change is
//! a commit and a move of the branch (`write/branch_commit.rs`). The checked-out branch, its index
//! and its files are never touched.
//!
//! A file in `.git/palazzo/proposals` marks each branch that is a proposal.

pub(crate) mod branches;
#[cfg(all(test, unix))]
mod crash_tests;
pub(crate) mod old_worktree;
pub(crate) mod open;
