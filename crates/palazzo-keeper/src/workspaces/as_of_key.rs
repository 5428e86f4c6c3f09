//! The keys of palaces as of a commit: the directory, a separator and the commit.

use palazzo_core::model::CommitId;

/// Separates the directory of a palace from the commit: no directory name contains it.
const KEY_SEPARATOR: char = '/';

/// Returns the key of the palace in the directory `directory` as of a commit.
pub(crate) fn as_of_key(directory: &str, commit: &CommitId) -> String {
    format!("{directory}{KEY_SEPARATOR}{commit}")
}

/// Splits the key of a palace as of a commit into its directory and the commit; `None` for the key
/// of a present palace.
pub(crate) fn split_as_of_key(key: &str) -> Option<(&str, CommitId)> {
    let (directory, commit) = key.split_once(KEY_SEPARATOR)?;
    Some((directory, CommitId(commit.to_owned())))
}

/// Returns the directory of a palace, for the key of any revision.
pub(crate) fn present_key(key: &str) -> &str {
    key.split_once(KEY_SEPARATOR).map_or(key, |(directory, _)| directory)
}

/// Returns true for the key of a palace as of a commit.
pub(crate) fn is_as_of_key(key: &str) -> bool {
    key.contains(KEY_SEPARATOR)
}
