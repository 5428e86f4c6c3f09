//! History: the log, what changed between two commits, undo and restore.

pub(crate) mod committed;
pub(crate) mod log;
pub(crate) mod palace_diff;
pub(crate) mod restore;
pub(crate) mod undo;
