//! Opens the files that Palazzo keeps in `.git/palazzo`.
//!
//! The repository may come from a stranger, so links are not followed, opening a FIFO does not wait,
//! and only regular files in real folders are used.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use crate::repo::shared_mode::SharedMode;

/// The marker of a write; empty or missing if there is none.
pub(crate) const WRITE_MARKER_FILE: &str = "writing";

/// Palazzo's folder in a git directory.
const PALAZZO_FOLDER: &str = "palazzo";

/// Returns the path of Palazzo's file `name` in `git_dir`.
pub(crate) fn palazzo_file_path(git_dir: &Path, name: &str) -> PathBuf {
    git_dir.join(PALAZZO_FOLDER).join(name)
}

/// Creates the folders of `name` in `git_dir`; fails if one of them is a link or a file.
pub(crate) fn create_parent_folders(
    git_dir: &Path,
    name: &str,
    shared_mode: SharedMode,
) -> io::Result<()> {
    let mut folder = git_dir.join(PALAZZO_FOLDER);
    let inside = Path::new(name).parent().unwrap_or(Path::new(""));
    create_folder(&folder, shared_mode)?;
    for part in inside {
        folder.push(part);
        create_folder(&folder, shared_mode)?;
    }
    Ok(())
}

/// Returns true if `folder` is a folder and not a link to one.
pub(crate) fn is_real_folder(folder: &Path) -> bool {
    fs::symlink_metadata(folder).is_ok_and(|it| it.is_dir())
}

/// Returns true if two paths are names of one file.
#[cfg(unix)]
pub(crate) fn is_same_file(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let number = |path: &Path| fs::symlink_metadata(path).map(|it| (it.dev(), it.ino())).ok();
    number(one).is_some() && number(one) == number(other)
}

/// Returns true if two paths are names of one file.
#[cfg(windows)]
pub(crate) fn is_same_file(one: &Path, other: &Path) -> bool {
    same_file::is_same_file(one, other).unwrap_or(false)
}

/// Opens the file at `path` with `options`, and returns its size in bytes; fails if it is not a
/// regular file.
pub(crate) fn open_regular_file(path: &Path, options: &mut OpenOptions) -> io::Result<(File, u64)> {
    open_checked_file(path, options).map_err(|err| match fs::symlink_metadata(path) {
        Ok(it) if !it.is_file() => not_regular_error(),
        _ => err,
    })
}

/// Opens a file as [`open_regular_file`] does that was a regular file, or missing, a moment ago.
pub(crate) fn open_checked_file(path: &Path, options: &mut OpenOptions) -> io::Result<(File, u64)> {
    set_no_follow(options);
    let file = options.open(path)?;
    let metadata = file.metadata()?;
    // It may have been replaced between the check and the opening.
    if metadata.is_file() { Ok((file, metadata.len())) } else { Err(not_regular_error()) }
}

fn create_folder(folder: &Path, shared_mode: SharedMode) -> io::Result<()> {
    if is_real_folder(folder) {
        return Ok(());
    }
    match shared_mode.create_dir(folder) {
        // Another process may have made it meanwhile.
        Err(err) if err.kind() == io::ErrorKind::AlreadyExists && is_real_folder(folder) => Ok(()),
        Err(err) if err.kind() == io::ErrorKind::AlreadyExists => Err(not_regular_error()),
        created => created,
    }
}

fn not_regular_error() -> io::Error {
    let why = "a link or a device is in place of a file of Palazzo; remove it";
    io::Error::new(io::ErrorKind::InvalidData, why)
}

#[cfg(unix)]
fn set_no_follow(options: &mut OpenOptions) {
    use std::os::unix::fs::OpenOptionsExt as _;

    use rustix::fs::OFlags;

    // Without `NONBLOCK`, opening a FIFO would wait for its other end.
    options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed());
}

#[cfg(windows)]
fn set_no_follow(options: &mut OpenOptions) {
    use std::os::windows::fs::OpenOptionsExt as _;

    // Opens a link itself, which is no regular file, instead of its target.
    const FILE_FLAG_OPEN_REPARSE_POINT: u32 = 0x0020_0000;
    options.custom_flags(FILE_FLAG_OPEN_REPARSE_POINT);
}
