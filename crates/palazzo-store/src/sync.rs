//! Synchronizes a repository with its upstream: fetch, merge, push.
//!
//! Fetched files are checked before they reach the palace, and written as every change is. How two
//! versions of a palace are merged is the caller's matter.

pub(crate) mod commit_checks;
#[cfg(all(test, unix))]
mod crash_tests;
pub(crate) mod error;
pub(crate) mod failure_kind;
pub(crate) mod mass_deletion;
pub(crate) mod planned_move;
pub(crate) mod record;
pub(crate) mod session;
pub(crate) mod side_commits;
pub(crate) mod transport;
pub(crate) mod tree_merge;
pub(crate) mod undo;
pub(crate) mod upstream;
