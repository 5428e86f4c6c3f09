//! The names of temporary and backup files, which a crash may leave beside the files of a palace.

/// The suffix of temporary and backup files.
pub(crate) const TEMPORARY_SUFFIX: &str = ".tmp";

/// The part of a backup's name before the fingerprint of the file that replaced the original.
pub(crate) const BACKUP_INFIX: &str = "-was-";

/// Returns true if `name` is that of a temporary or backup file of Palazzo.
pub(crate) fn is_temporary(name: &str) -> bool {
    name.starts_with('.') && name.contains(".palazzo-") && name.ends_with(TEMPORARY_SUFFIX)
}
