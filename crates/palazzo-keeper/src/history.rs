//! History: log, diff, blame, undo and restore.

pub(crate) mod broken_links;
pub(crate) mod diff;
pub(crate) mod file_diff;
pub(crate) mod item_diffs;
pub(crate) mod log;
pub(crate) mod log_filter;
pub(crate) mod path_argument;
pub(crate) mod repeated_changes;
pub(crate) mod resolve_item;
pub(crate) mod restore;
pub(crate) mod revert;
pub(crate) mod revert_file;
pub(crate) mod revisions;
pub(crate) mod undo;
pub(crate) mod undo_visit;
pub(crate) mod visits;
pub(crate) mod wing_folders;
