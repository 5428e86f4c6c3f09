//! Decides whether the files of a repository belong to the user.
//!
//! gix takes `SUDO_UID` for the user in every process. git does so only in a process of root: anyone
//! else could set the variable to the id of another user.

use std::path::Path;

/// Returns false if the file or folder at `place` belongs to another user for git, although gix takes
/// it for the user's own.
#[cfg(unix)]
pub(crate) fn is_owned_by_user(place: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;

    // Without the variable gix decides as git does.
    let Ok(sudo_user) = std::env::var("SUDO_UID") else { return true };
    let user = rustix::process::geteuid().as_raw();
    let Ok(metadata) = std::fs::symlink_metadata(place) else { return true };
    is_own(metadata.uid(), user, sudo_user.parse().ok())
}

/// Returns true: Windows has no such variable.
#[cfg(windows)]
pub(crate) fn is_owned_by_user(_: &Path) -> bool {
    true
}

/// Returns whether a file of `owner` belongs to a process of `user`; `sudo_user` is the value of
/// `SUDO_UID`.
#[cfg(unix)]
fn is_own(owner: u32, user: u32, sudo_user: Option<u32>) -> bool {
    owner == user || (user == 0 && sudo_user == Some(owner))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn the_user_of_sudo_counts_only_in_a_process_of_root() {
        assert!(is_own(1000, 1000, None));
        assert!(is_own(1000, 0, Some(1000)));
        assert!(is_own(0, 0, Some(1000)));
        assert!(!is_own(1000, 1001, Some(1000)));
        assert!(!is_own(0, 1001, Some(0)));
        assert!(!is_own(1000, 0, None));
        assert!(!is_own(1000, 0, Some(1001)));
    }
}
