//! History: log, diff, blame, undo and restore.

pub(crate) mod diff;
pub(crate) mod item_diffs;
pub(crate) mod log;
pub(crate) mod restore;
pub(crate) mod revert;
pub(crate) mod revisions;
pub(crate) mod undo;
pub(crate) mod undone_commits;
pub(crate) mod visits;
