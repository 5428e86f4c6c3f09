//! Stores the home that the user named last.

use std::path::{Path, PathBuf};

use crate::Error;
use crate::repo::regular_file;
use crate::repo::state_file;

/// The name of the file: it contains one path.
const FILE: &str = "last-home";

/// Returns the path stored in `folder`; `None`: there is none, or it cannot be read.
pub fn read_last_home(folder: &Path) -> Option<PathBuf> {
    let bytes = regular_file::read_regular_file(&folder.join(FILE)).ok()??;
    let path = PathBuf::from(String::from_utf8(bytes).ok()?.strip_suffix('\n')?);
    path.is_absolute().then_some(path)
}

/// Stores `home` in `folder`. A path that is not Unicode is not stored.
pub fn write_last_home(folder: &Path, home: &Path) -> Result<(), Error> {
    match home.to_str() {
        Some(path) if read_last_home(folder).as_deref() != Some(home) => {
            state_file::change_file(folder, FILE, || Ok(format!("{path}\n").into_bytes()))
        }
        _ => Ok(()),
    }
}

/// Forgets the stored home if it `is_unused`.
pub fn forget_last_home_if(
    folder: &Path,
    is_unused: impl FnOnce(&Path) -> bool,
) -> Result<(), Error> {
    state_file::remove_file_if(folder, FILE, || {
        read_last_home(folder).is_some_and(|home| is_unused(&home))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_stored_home_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state/palazzo");
        assert_eq!(read_last_home(&state), None);
        for home in ["/a", "/b c/d"] {
            // On Windows, an absolute path begins with a drive.
            let home = std::path::absolute(home).unwrap();
            write_last_home(&state, &home).unwrap();
            assert_eq!(read_last_home(&state), Some(home));
        }
        for damaged in ["", "relative\n", "/half written"] {
            std::fs::write(state.join(FILE), damaged).unwrap();
            assert_eq!(read_last_home(&state), None, "{damaged}");
        }
    }
}
