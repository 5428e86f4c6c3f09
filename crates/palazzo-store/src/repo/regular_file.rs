//! Opens only regular files of bounded size: a file from an untrusted source is checked with
//! `lstat` first.
//!
//! A palace or repository may come from anyone. Opening a FIFO waits for a writer that may never
//! come, a device may be endless, and a symbolic link can point to either.

use std::fs::{self, DirEntry, Metadata};
use std::io::{self, Read as _};
use std::path::Path;

use walkdir::WalkDir;

use crate::Error;
use crate::error::TOO_LARGE_REASON;
use crate::repo::palazzo_file;

/// The maximum size of a file in bytes.
pub(crate) const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// With less room than this in its buffer, `read_to_end` reads a small piece first.
const READ_RESERVE: usize = 64;

/// The size limit of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SizeLimit {
    /// At most [`MAX_BYTES`].
    Bounded,
    /// No limit: the file is mapped, read in parts, or only appended to.
    Any,
}

/// Checks that `file` is a regular file or does not exist; returns whether it exists.
pub(crate) fn check_regular_file(file: &Path, size: SizeLimit) -> Result<bool, Error> {
    match lstat(file)? {
        Some(metadata) => check_metadata(file, &metadata, size).map(|()| true),
        None => Ok(false),
    }
}

/// Checks a file that the user's own configuration may name; links are followed. Returns whether it
/// exists.
pub(crate) fn check_link_target(file: &Path) -> Result<bool, Error> {
    match fs::metadata(file) {
        Ok(metadata) => check_metadata(file, &metadata, SizeLimit::Bounded).map(|()| true),
        Err(_) => Ok(false),
    }
}

/// Checks that no part of the path from `base` down to `folder` is a link or a file.
pub(crate) fn reject_linked_folders(base: &Path, folder: &Path) -> Result<(), Error> {
    let mut place = base.to_owned();
    for name in folder {
        place.push(name);
        if !reject_linked_folder(&place)? {
            return Ok(());
        }
    }
    Ok(())
}

/// Checks that `folder` is a folder or does not exist; returns whether it exists.
pub(crate) fn reject_linked_folder(folder: &Path) -> Result<bool, Error> {
    match lstat(folder)? {
        None => Ok(false),
        Some(it) if it.is_dir() => Ok(true),
        Some(it) => Err(not_regular_error(folder, file_type_name(&it))),
    }
}

/// Checks that only folders and regular files are at or below `folder`, which may be missing.
pub(crate) fn reject_irregular_files_below(folder: &Path, size: SizeLimit) -> Result<(), Error> {
    for entry in WalkDir::new(folder).follow_root_links(false) {
        // An entry that disappears meanwhile, or cannot be listed, is not opened either.
        let Ok(entry) = entry else { continue };
        let kind = entry.file_type();
        let is_plain = kind.is_file() && size == SizeLimit::Any;
        if kind.is_dir() || is_plain {
            continue;
        }
        check_regular_file(entry.path(), size)?;
    }
    Ok(())
}

/// Reads a regular file of bounded size; `None`: it does not exist.
pub(crate) fn read_regular_file(file: &Path) -> Result<Option<Vec<u8>>, Error> {
    read_regular_file_at_most(file, MAX_BYTES)
}

/// Reads a regular file of at most `limit` bytes; `None`: it does not exist.
pub(crate) fn read_regular_file_at_most(file: &Path, limit: u64) -> Result<Option<Vec<u8>>, Error> {
    let size = if limit > MAX_BYTES { SizeLimit::Any } else { SizeLimit::Bounded };
    if !check_regular_file(file, size)? {
        return Ok(None);
    }
    read_checked_file(file, limit)
}

/// Reads a file of at most `limit` bytes that was a regular file a moment ago; `None`: it does not
/// exist.
pub(crate) fn read_checked_file(file: &Path, limit: u64) -> Result<Option<Vec<u8>>, Error> {
    // It may have been replaced since the check; opening it must not block.
    let mut options = fs::OpenOptions::new();
    let (open, size) = match palazzo_file::open_checked_file(file, options.read(true)) {
        Err(err) if is_missing_file_error(&err) => return Ok(None),
        other => other.map_err(Error::for_file("read", file))?,
    };
    if size > limit {
        return Err(not_regular_error(file, "too large"));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default() + READ_RESERVE);
    // Some file systems know no sizes.
    let most = if size == 0 { limit } else { size };
    open.take(most).read_to_end(&mut bytes).map_err(Error::for_file("read", file))?;
    Ok(Some(bytes))
}

/// Reads the only line of a small file of git; `None`: there is no such file.
pub(crate) fn read_line(file: &Path) -> Result<Option<String>, Error> {
    let bytes = read_regular_file(file)?;
    Ok(bytes.map(|it| String::from_utf8_lossy(&it).trim_end().to_owned()))
}

/// Lists the entries of `folder`; empty if it does not exist or is no folder.
pub(crate) fn list_folder(folder: &Path) -> Vec<DirEntry> {
    fs::read_dir(folder).into_iter().flatten().flatten().collect()
}

/// Returns the metadata of `file` without following a link; `None`: it does not exist.
pub(crate) fn lstat(file: &Path) -> Result<Option<Metadata>, Error> {
    match fs::symlink_metadata(file) {
        Err(err) if is_missing_file_error(&err) => Ok(None),
        other => other.map(Some).map_err(Error::for_file("read the metadata of", file)),
    }
}

/// Returns true if the file does not exist, including when a file is in place of its folder.
pub(crate) fn is_missing_file_error(err: &io::Error) -> bool {
    matches!(err.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Checks that a file with this metadata is a regular file.
pub(crate) fn check_metadata(
    file: &Path,
    metadata: &Metadata,
    size: SizeLimit,
) -> Result<(), Error> {
    if !metadata.is_file() {
        return Err(not_regular_error(file, file_type_name(metadata)));
    }
    if size == SizeLimit::Bounded && metadata.len() > MAX_BYTES {
        return Err(not_regular_error(file, TOO_LARGE_REASON));
    }
    Ok(())
}

fn not_regular_error(file: &Path, what: &'static str) -> Error {
    Error::NotRegularFile { file: file.to_owned(), what }
}

fn file_type_name(metadata: &Metadata) -> &'static str {
    let kind = metadata.file_type();
    match () {
        () if kind.is_symlink() => "a symbolic link",
        () if kind.is_dir() => "a folder",
        () if kind.is_file() => "a file where a folder belongs",
        () => special_file_name(kind),
    }
}

#[cfg(unix)]
fn special_file_name(kind: fs::FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt as _;
    match () {
        () if kind.is_fifo() => "a FIFO",
        () if kind.is_socket() => "a socket",
        () => "a device",
    }
}

#[cfg(windows)]
fn special_file_name(_: fs::FileType) -> &'static str {
    "not a regular file"
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn error_summary<T: std::fmt::Debug>(checked: Result<T, Error>) -> String {
        let text = checked.unwrap_err().to_string();
        text.split(", and").next().unwrap().rsplit('/').next().unwrap().to_owned()
    }

    #[test]
    fn only_regular_files_of_bounded_size_pass() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("good"), "good").unwrap();
        fs::create_dir(at("folder")).unwrap();
        std::os::unix::fs::symlink("good", at("link")).unwrap();
        let fifo = std::process::Command::new("mkfifo").arg(at("fifo")).status().unwrap();
        assert!(fifo.success());
        drop(std::os::unix::net::UnixListener::bind(at("socket")).unwrap());
        fs::File::create(at("large")).unwrap().set_len(MAX_BYTES + 1).unwrap();
        for good in ["good", "missing", "good/below"] {
            check_regular_file(&at(good), SizeLimit::Bounded).unwrap();
        }
        check_regular_file(&at("large"), SizeLimit::Any).unwrap();
        for (name, refused) in [
            ("folder", "folder` is a folder"),
            ("link", "link` is a symbolic link"),
            ("fifo", "fifo` is a FIFO"),
            ("socket", "socket` is a socket"),
            ("large", "large` is larger than 16 MiB"),
        ] {
            assert_eq!(error_summary(check_regular_file(&at(name), SizeLimit::Bounded)), refused);
            assert!(read_regular_file(&at(name)).is_err(), "{name}");
        }
        assert_eq!(
            error_summary(check_regular_file(Path::new("/dev/zero"), SizeLimit::Any)),
            "zero` is a device"
        );
        assert_eq!(read_regular_file(&at("good")).unwrap().unwrap(), b"good");
        assert_eq!(read_regular_file(&at("missing")).unwrap(), None);
    }

    #[test]
    fn only_folders_and_regular_files_pass_in_a_tree() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("a/b")).unwrap();
        fs::write(folder.path().join("a/b/c"), "").unwrap();
        reject_irregular_files_below(folder.path(), SizeLimit::Bounded).unwrap();
        reject_irregular_files_below(&folder.path().join("missing"), SizeLimit::Bounded).unwrap();
        reject_linked_folders(folder.path(), Path::new("a/b/missing/d")).unwrap();
        assert!(reject_linked_folders(folder.path(), Path::new("a/b/c")).is_err());
        std::os::unix::fs::symlink("b", folder.path().join("a/link")).unwrap();
        assert_eq!(
            error_summary(reject_irregular_files_below(folder.path(), SizeLimit::Any)),
            "link` is a symbolic link"
        );
        assert!(reject_linked_folders(folder.path(), Path::new("a/link")).is_err());
    }
}
