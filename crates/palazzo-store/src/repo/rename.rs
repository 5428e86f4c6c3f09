//! Renames files: over another file, or without replacing a file that was not compared. Removes
//! files that may be gone.
//!
//! On Windows, a file cannot be renamed or replaced while another program has it open without
//! allowing that: an editor, an indexer, a virus scanner. Such programs close it soon, so these
//! functions try again for a moment.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use crate::repo::retry::retry_until_timeout;

/// How long a rename is repeated on Windows.
const OPEN_FILE_TIMEOUT: Duration = Duration::from_secs(1);

/// Moves the file or folder at `from` to `to`, replacing a file there.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    retry_while_open(|| fs::rename(from, to))
}

/// Moves the file at `from` to `to`; fails with [`io::ErrorKind::AlreadyExists`] if a file is
/// there.
pub(crate) fn rename_noreplace(from: &Path, to: &Path) -> io::Result<()> {
    if let Some(moved) = renameat2(from, to, RenameFlag::NoReplace) {
        return moved;
    }
    match fs::hard_link(from, to) {
        Ok(()) => retry_while_open(|| fs::remove_file(from)),
        Err(err) if err.kind() == io::ErrorKind::AlreadyExists => Err(err),
        // Some file systems have no hard links.
        Err(_) if !to.exists() => rename(from, to),
        Err(err) => Err(err),
    }
}

/// Removes a file, if it exists.
pub(crate) fn remove_if_exists(path: impl AsRef<Path>) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Exchanges two files atomically; `None`: the system does not support it.
pub(crate) fn exchange_files(one: &Path, other: &Path) -> Option<io::Result<()>> {
    renameat2(one, other, RenameFlag::Exchange)
}

#[derive(Clone, Copy)]
enum RenameFlag {
    NoReplace,
    Exchange,
}

/// Calls `renameat2(2)` of Linux or `renameatx_np(2)` of macOS; `None`: not supported.
#[cfg(any(target_os = "linux", target_os = "macos"))]
fn renameat2(from: &Path, to: &Path, flag: RenameFlag) -> Option<io::Result<()>> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;

    let flag = match flag {
        RenameFlag::NoReplace => RenameFlags::NOREPLACE,
        RenameFlag::Exchange => RenameFlags::EXCHANGE,
    };
    match renameat_with(CWD, from, CWD, to, flag) {
        // The file system or the kernel does not support it.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => None,
        moved => Some(moved.map_err(io::Error::from)),
    }
}

/// Returns `None`: other systems have no such call.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn renameat2(_: &Path, _: &Path, _: RenameFlag) -> Option<io::Result<()>> {
    None
}

fn retry_while_open<T>(attempt: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    retry_until_timeout(OPEN_FILE_TIMEOUT, is_open_elsewhere, attempt)
}

/// Returns true for the errors by which Windows reports that another program has the file open.
/// A file that the user may not change causes one of them too.
fn is_open_elsewhere(err: &io::Error) -> bool {
    const ERROR_ACCESS_DENIED: i32 = 5;
    const ERROR_SHARING_VIOLATION: i32 = 32;
    cfg!(windows)
        && matches!(err.raw_os_error(), Some(ERROR_ACCESS_DENIED | ERROR_SHARING_VIOLATION))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder_with(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in files {
            fs::write(folder.path().join(name), name).unwrap();
        }
        folder
    }

    #[test]
    fn a_rename_replaces_a_file_only_if_it_is_meant_to() {
        let folder = folder_with(&["new", "old"]);
        let [new, old] = ["new", "old"].map(|it| folder.path().join(it));
        let refused = rename_noreplace(&new, &old).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&old).unwrap(), b"old");
        rename(&new, &old).unwrap();
        assert_eq!(fs::read(&old).unwrap(), b"new");
        rename_noreplace(&old, &new).unwrap();
        assert!(new.exists() && !old.exists());
    }

    #[cfg(any(target_os = "linux", target_os = "macos"))]
    #[test]
    fn two_files_are_exchanged() {
        let folder = folder_with(&["a", "b"]);
        let [a, b] = ["a", "b"].map(|it| folder.path().join(it));
        // Some file systems do not support it.
        if let Some(exchanged) = exchange_files(&a, &b) {
            exchanged.unwrap();
            assert_eq!((fs::read(&a).unwrap(), fs::read(&b).unwrap()), (b"b".into(), b"a".into()));
        }
    }

    #[cfg(windows)]
    #[test]
    fn a_rename_waits_until_another_program_closes_the_file() {
        use std::os::windows::fs::OpenOptionsExt as _;

        let folder = folder_with(&["new", "old"]);
        let [new, old] = ["new", "old"].map(|it| folder.path().join(it));
        let scanner = fs::OpenOptions::new().read(true).share_mode(0).open(&old).unwrap();
        let mut attempts = 0;
        let mut scanner = Some(scanner);
        retry_while_open(|| {
            attempts += 1;
            if attempts == 3 {
                scanner = None;
            }
            fs::rename(&new, &old)
        })
        .unwrap();
        assert_eq!((attempts, fs::read(&old).unwrap()), (3, b"new".into()));
    }
}
