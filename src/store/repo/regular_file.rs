//! Regular files of bounded size: a stranger's file is opened only after `lstat` says it is one.
//!
//! A palace or a repository may come from anyone. Opening a FIFO waits for a writer that never
//! comes, a device may have no end, and a symbolic link can lead to either.

use std::fs::{self, Metadata};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use crate::store::Error;
use crate::store::repo::own_file;

/// How many bytes a file may have.
pub(crate) const LARGEST: u64 = 16 * 1024 * 1024;

/// What is said of a file that is larger.
pub(crate) const TOO_LARGE: &str = "larger than 16 MiB";

/// How large a file may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    /// At most [`LARGEST`].
    Bounded,
    /// Of any size: the file is mapped, read in parts, or only appended to.
    Any,
}

/// Checks that `file` is a regular file, or is missing.
pub(crate) fn check(file: &Path, size: Size) -> Result<(), Error> {
    match lstat(file)? {
        Some(metadata) => judge(file, &metadata, size),
        None => Ok(()),
    }
}

/// Checks a file that the user's own configuration may name: links are followed.
pub(crate) fn check_target(file: &Path) -> Result<(), Error> {
    match fs::metadata(file) {
        Ok(metadata) => judge(file, &metadata, Size::Bounded),
        Err(_) => Ok(()),
    }
}

/// Checks that no folder on the way from `base` down to `folder` is a link or a file.
pub(crate) fn check_folders(base: &Path, folder: &Path) -> Result<(), Error> {
    let mut place = base.to_owned();
    for name in folder {
        place.push(name);
        match lstat(&place)? {
            None => return Ok(()),
            Some(it) if it.is_dir() => {}
            Some(it) => return Err(irregular(&place, kind(&it))),
        }
    }
    Ok(())
}

/// Checks that only folders and regular files are at or below `folder`; a missing one is empty.
pub(crate) fn check_tree(folder: &Path, size: Size) -> Result<(), Error> {
    for entry in WalkDir::new(folder).follow_root_links(false) {
        // What disappears meanwhile, or cannot be listed, is not opened either.
        let Ok(entry) = entry else { continue };
        let kind = entry.file_type();
        let is_plain = kind.is_file() && size == Size::Any;
        if kind.is_dir() || is_plain {
            continue;
        }
        check(entry.path(), size)?;
    }
    Ok(())
}

/// Reads a regular file of bounded size; `None`: it is missing.
pub(crate) fn read(file: &Path) -> Result<Option<Vec<u8>>, Error> {
    read_at_most(file, LARGEST)
}

/// Reads a regular file of at most `most` bytes; `None`: it is missing.
pub(crate) fn read_at_most(file: &Path, most: u64) -> Result<Option<Vec<u8>>, Error> {
    check(file, if most > LARGEST { Size::Any } else { Size::Bounded })?;
    // It may have been replaced since: what is no regular file is not waited for.
    let open = match own_file::open(file, fs::OpenOptions::new().read(true)) {
        Err(err) if is_missing(&err) => return Ok(None),
        other => other.map_err(Error::file("read", file))?,
    };
    let mut bytes = Vec::new();
    open.take(most + 1).read_to_end(&mut bytes).map_err(Error::file("read", file))?;
    let fits = bytes.len() as u64 <= most;
    if fits { Ok(Some(bytes)) } else { Err(irregular(file, "too large")) }
}

/// Lists what is in `folder`; nothing where it is missing or no folder.
pub(crate) fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.flatten().map(|it| it.path()).collect()
}

/// Returns the metadata of `file` itself, not of what a link leads to; `None`: it is missing.
pub(crate) fn lstat(file: &Path) -> Result<Option<Metadata>, Error> {
    match fs::symlink_metadata(file) {
        Err(err) if is_missing(&err) => Ok(None),
        other => other.map(Some).map_err(Error::file("look at", file)),
    }
}

fn is_missing(err: &io::Error) -> bool {
    matches!(err.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn judge(file: &Path, metadata: &Metadata, size: Size) -> Result<(), Error> {
    if !metadata.is_file() {
        return Err(irregular(file, kind(metadata)));
    }
    if size == Size::Bounded && metadata.len() > LARGEST {
        return Err(irregular(file, TOO_LARGE));
    }
    Ok(())
}

fn irregular(file: &Path, what: &'static str) -> Error {
    Error::Irregular { file: file.to_owned(), what }
}

fn kind(metadata: &Metadata) -> &'static str {
    let kind = metadata.file_type();
    match () {
        () if kind.is_symlink() => "a symbolic link",
        () if kind.is_dir() => "a folder",
        () if kind.is_file() => "a file where a folder belongs",
        () => special(kind),
    }
}

#[cfg(unix)]
fn special(kind: fs::FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt as _;
    match () {
        () if kind.is_fifo() => "a FIFO",
        () if kind.is_socket() => "a socket",
        () => "a device",
    }
}

#[cfg(not(unix))]
fn special(_: fs::FileType) -> &'static str {
    "no regular file"
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn refusal(checked: Result<(), Error>) -> String {
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
        fs::File::create(at("large")).unwrap().set_len(LARGEST + 1).unwrap();
        for good in ["good", "missing", "good/below"] {
            check(&at(good), Size::Bounded).unwrap();
        }
        check(&at("large"), Size::Any).unwrap();
        for (name, refused) in [
            ("folder", "folder` is a folder"),
            ("link", "link` is a symbolic link"),
            ("fifo", "fifo` is a FIFO"),
            ("socket", "socket` is a socket"),
            ("large", "large` is larger than 16 MiB"),
        ] {
            assert_eq!(refusal(check(&at(name), Size::Bounded)), refused);
            assert!(read(&at(name)).is_err(), "{name}");
        }
        assert_eq!(refusal(check(Path::new("/dev/zero"), Size::Any)), "zero` is a device");
        assert_eq!(read(&at("good")).unwrap().unwrap(), b"good");
        assert_eq!(read(&at("missing")).unwrap(), None);
    }

    #[test]
    fn a_tree_may_hold_folders_and_files_only() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("a/b")).unwrap();
        fs::write(folder.path().join("a/b/c"), "").unwrap();
        check_tree(folder.path(), Size::Bounded).unwrap();
        check_tree(&folder.path().join("missing"), Size::Bounded).unwrap();
        check_folders(folder.path(), Path::new("a/b/missing/d")).unwrap();
        assert!(check_folders(folder.path(), Path::new("a/b/c")).is_err());
        std::os::unix::fs::symlink("b", folder.path().join("a/link")).unwrap();
        assert_eq!(refusal(check_tree(folder.path(), Size::Any)), "link` is a symbolic link");
        assert!(check_folders(folder.path(), Path::new("a/link")).is_err());
    }
}
