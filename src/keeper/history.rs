//! History: log, diff, blame, undo and restore.

pub(crate) mod item_diffs;
pub(crate) mod log;
pub(crate) mod resolve_item;
pub(crate) mod restore;
pub(crate) mod revert;
pub(crate) mod undo;
pub(crate) mod undo_visit;
