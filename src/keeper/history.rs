//! History: log, diff, blame, undo and restore.

pub(crate) mod log;
pub(crate) mod palace_diff;
pub(crate) mod restore;
pub(crate) mod undo;
