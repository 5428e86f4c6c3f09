//! Proposals: branches that a server writes to instead of the checked-out branch.
//!
//! A proposal has a linked worktree in the state folder of the user, as `git worktree add` makes
//! one. Palazzo makes it itself, because git would run hooks and filters that the repository names,
//! and would check out every file of the repository. Only the files of palaces are checked out; all
//! others are marked in the index as outside a sparse checkout. The checked-out branch, its index
//! and its files are never touched.
//!
//! A file in `.git/palazzo/proposals` marks each branch that is a proposal.

pub(crate) mod branches;
pub(crate) mod checkout;
#[cfg(all(test, unix, feature = "failpoints"))]
mod crash_tests;
pub(crate) mod list;
pub(crate) mod moved_branch;
pub(crate) mod open;
