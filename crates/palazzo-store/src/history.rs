//! Reads history: log, blame, diff, and the palace as of a commit.

pub(crate) mod blame;
pub(crate) mod change_counts;
pub(crate) mod commits;
pub(crate) mod diff;
pub(crate) mod file_history_cache;
pub(crate) mod file_versions;
pub(crate) mod folder_diff;
pub(crate) mod log;
pub(crate) mod palaces_in_trees;
pub(crate) mod past_files;
pub(crate) mod path_history;
pub(crate) mod received_commits;
pub(crate) mod resolve_as_of;
pub(crate) mod stale_files;
pub(crate) mod text_search;
