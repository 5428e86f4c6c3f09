//! Names temporary files, which are renamed when they are complete, and backups of files.

use std::fmt::Write as _;
use std::path::Path;

use sha1::{Digest as _, Sha1};

/// The suffix of temporary and backup files.
pub(crate) const TEMPORARY_SUFFIX: &str = ".tmp";

/// The part of a backup's name before the fingerprint of the file that replaced the original.
pub(crate) const BACKUP_INFIX: &str = "-was-";

/// The length in bytes up to which a temporary name holds the whole name of its file. A file system
/// takes 255 bytes, and what is added has at most 70.
const MAX_WHOLE_NAME: usize = 180;

/// The number of characters of a longer name that a temporary one begins with.
const MAX_BEGIN_CHARS: usize = 30;

/// Returns what the names of all temporary and backup files beside the file at `place` begin with.
/// A long name is shortened, and its hash tells it from others with the same begin.
pub(crate) fn temporary_name_begin(place: &Path) -> String {
    let name = place.file_name().unwrap_or_default().to_string_lossy();
    if name.len() <= MAX_WHOLE_NAME {
        return format!(".{name}.palazzo-");
    }
    let mut hash = String::new();
    for byte in Sha1::digest(name.as_bytes()) {
        // Writing to a string cannot fail.
        let _ = write!(hash, "{byte:02x}");
    }
    let begin: String = name.chars().take(MAX_BEGIN_CHARS).collect();
    format!(".{begin}~{hash}.palazzo-")
}

/// Returns true if `name` is that of a temporary or backup file of Palazzo.
pub(crate) fn is_temporary(name: &str) -> bool {
    name.starts_with('.') && name.contains(".palazzo-") && name.ends_with(TEMPORARY_SUFFIX)
}
