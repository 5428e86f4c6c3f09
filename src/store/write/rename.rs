//! Moves files without replacing a file that was not compared.

use std::fs;
use std::io;
use std::path::Path;

/// Moves the file at `from` to `to`; fails with [`io::ErrorKind::AlreadyExists`] if a file is
/// there.
pub(crate) fn rename_noreplace(from: &Path, to: &Path) -> io::Result<()> {
    if let Some(moved) = renameat2(from, to, RenameFlag::NoReplace) {
        return moved;
    }
    match fs::hard_link(from, to) {
        Ok(()) => fs::remove_file(from),
        Err(err) if err.kind() == io::ErrorKind::AlreadyExists => Err(err),
        // Some file systems have no hard links.
        Err(_) if !to.exists() => fs::rename(from, to),
        Err(err) => Err(err),
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

#[cfg(target_os = "linux")]
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

#[cfg(not(target_os = "linux"))]
fn renameat2(_: &Path, _: &Path, _: RenameFlag) -> Option<io::Result<()>> {
    None
}
