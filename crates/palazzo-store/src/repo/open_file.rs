//! Opens palace files for reading, through no symbolic link.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use crate::repo::paths;
use crate::repo::regular_file::is_missing_file_error;

/// The result of opening a file.
pub(crate) enum OpenedFile {
    /// The entry at the path, which may also be a folder or a device.
    Opened(File),
    /// There is nothing at the path.
    Missing,
    /// A part of the path below the palace is a symbolic link.
    BehindLink,
    /// The entry cannot be read as a file: a pipe, a socket or a device.
    NotRegular,
}

/// Opens the file at `path` below `root` for reading. The path must be [checked](paths::check_path).
pub(crate) fn open_through_no_link(root: &Path, path: &str) -> io::Result<OpenedFile> {
    #[cfg(target_os = "linux")]
    if let Some(opened) = open_in_one_call(root, path) {
        return opened;
    }
    open_after_looking(root, path)
}

/// Has the kernel refuse links; `None`: it does not know how (Linux before 5.6, some containers), or
/// the entry needs a closer look.
#[cfg(target_os = "linux")]
fn open_in_one_call(root: &Path, path: &str) -> Option<io::Result<OpenedFile>> {
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat, openat2};
    use rustix::io::Errno;

    // Opening a pipe would wait for a writer.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let folder_flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = openat(CWD, root, folder_flags, Mode::empty())
        .and_then(|folder| openat2(folder, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS));
    match opened {
        Ok(file) => Some(Ok(OpenedFile::Opened(file.into()))),
        Err(Errno::NOENT | Errno::NOTDIR) => Some(Ok(OpenedFile::Missing)),
        Err(Errno::LOOP) => Some(Ok(OpenedFile::BehindLink)),
        Err(Errno::NOSYS | Errno::PERM | Errno::NXIO) => None,
        Err(err) => Some(Err(err.into())),
    }
}

/// Looks for links at each part of the path before it opens the file.
fn open_after_looking(root: &Path, path: &str) -> io::Result<OpenedFile> {
    if paths::reject_symbolic_links(root, path).is_err() {
        return Ok(OpenedFile::BehindLink);
    }
    let place = root.join(path);
    let opened = fs::symlink_metadata(&place).and_then(|it| match it.is_file() {
        true => File::open(&place).map(OpenedFile::Opened),
        false => Ok(OpenedFile::NotRegular),
    });
    match opened {
        Err(err) if is_missing_file_error(&err) => Ok(OpenedFile::Missing),
        opened => opened,
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use super::*;

    type Open = fn(&Path, &str) -> io::Result<OpenedFile>;

    /// Describes what is found at a path: a file, a folder, nothing, a link, or something else.
    fn describe(open: Open, root: &Path, path: &str) -> &'static str {
        match open(root, path).unwrap() {
            OpenedFile::Opened(file) if file.metadata().unwrap().is_file() => "file",
            OpenedFile::Opened(_) | OpenedFile::NotRegular => "no file",
            OpenedFile::Missing => "missing",
            OpenedFile::BehindLink => "link",
        }
    }

    #[test]
    fn both_ways_find_the_same() {
        let dir = tempfile::tempdir().unwrap();
        let (root, outside) = (dir.path().join("palace"), dir.path().join("outside"));
        fs::create_dir_all(root.join("rooms/north")).unwrap();
        fs::create_dir_all(&outside).unwrap();
        fs::write(outside.join("hall.yaml"), "secret").unwrap();
        fs::write(root.join("rooms/hall.yaml"), "name: Hall\n").unwrap();
        symlink(outside.join("hall.yaml"), root.join("rooms/out.yaml")).unwrap();
        symlink("hall.yaml", root.join("rooms/in.yaml")).unwrap();
        symlink(&outside, root.join("scrolls")).unwrap();
        symlink("nowhere", root.join("rooms/broken.yaml")).unwrap();
        let _socket = UnixListener::bind(root.join("rooms/socket.yaml")).unwrap();
        // The folder of the palace itself may be behind a link.
        symlink(&root, dir.path().join("linked")).unwrap();
        for (path, expected) in [
            ("rooms/hall.yaml", "file"),
            ("rooms/north", "no file"),
            ("rooms/socket.yaml", "no file"),
            ("rooms/none.yaml", "missing"),
            ("rooms/hall.yaml/x.yaml", "missing"),
            ("none/x.yaml", "missing"),
            ("rooms/out.yaml", "link"),
            ("rooms/in.yaml", "link"),
            ("rooms/broken.yaml", "link"),
            ("scrolls/hall.yaml", "link"),
        ] {
            for root in [&root, &dir.path().join("linked")] {
                assert_eq!(describe(open_through_no_link, root, path), expected, "{path}");
                assert_eq!(describe(open_after_looking, root, path), expected, "{path}");
            }
        }
        assert_eq!(describe(open_through_no_link, &dir.path().join("none"), "x"), "missing");
    }
}
