//! Moving files without taking the place of one that nobody has looked at.

use std::fs;
use std::io;
use std::path::Path;

/// Moves the file at `from` to `to`, where none may stand; one that does is an error of the kind
/// [`io::ErrorKind::AlreadyExists`].
pub(crate) fn to_free(from: &Path, to: &Path) -> io::Result<()> {
    if let Some(moved) = asked(from, to, Flag::Free) {
        return moved;
    }
    match fs::hard_link(from, to) {
        Ok(()) => fs::remove_file(from),
        Err(err) if err.kind() == io::ErrorKind::AlreadyExists => Err(err),
        // Not every file system has links.
        Err(_) if !to.exists() => fs::rename(from, to),
        Err(err) => Err(err),
    }
}

/// Lets two files change places at once; `None`: that cannot be asked for here.
pub(crate) fn exchange(one: &Path, other: &Path) -> Option<io::Result<()>> {
    asked(one, other, Flag::Exchange)
}

#[derive(Clone, Copy)]
enum Flag {
    Free,
    Exchange,
}

#[cfg(target_os = "linux")]
fn asked(from: &Path, to: &Path, flag: Flag) -> Option<io::Result<()>> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;

    let flag = match flag {
        Flag::Free => RenameFlags::NOREPLACE,
        Flag::Exchange => RenameFlags::EXCHANGE,
    };
    match renameat_with(CWD, from, CWD, to, flag) {
        // The file system, or the kernel, cannot.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => None,
        moved => Some(moved.map_err(io::Error::from)),
    }
}

#[cfg(not(target_os = "linux"))]
fn asked(_: &Path, _: &Path, _: Flag) -> Option<io::Result<()>> {
    None
}
