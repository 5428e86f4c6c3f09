//! Writes the files in the state folder: under a lock, durably, and readable only by their owner.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use sha2::{Digest as _, Sha256};

use crate::Error;
use crate::repo::fsync;
use crate::repo::regular_file;
use crate::repo::rename;

/// Replaces the file `name` in `folder` with the bytes that `new_content` returns. A lock excludes
/// other processes meanwhile, so that `new_content` can read the old file.
pub(crate) fn change_file(
    folder: &Path,
    name: &str,
    new_content: impl FnOnce() -> Result<Vec<u8>, Error>,
) -> Result<(), Error> {
    create_private_folder(folder).map_err(Error::for_file("create the folder", folder))?;
    let file = folder.join(name);
    let _lock = lock_file(&file.with_extension("lock"))?;
    let (content, temporary) = (new_content()?, folder.join(format!("{name}.tmp")));
    let replace = || -> io::Result<()> {
        // A previous process crashed and left it; this process has the lock.
        rename::remove_if_exists(&temporary)?;
        let mut new: File = private_open_options().create_new(true).open(&temporary)?;
        new.write_all(&content)?;
        new.sync_all()?;
        rename::rename(&temporary, &file)
    };
    replace().map_err(Error::for_file("write", &file))?;
    fsync::sync_files_and_folders(&[file])
}

/// Removes the file `name` in `folder` with its lock file if `is_unused`, which is called under the
/// lock. Both stay if another process has the lock.
pub(crate) fn remove_file_if(
    folder: &Path,
    name: &str,
    is_unused: impl FnOnce() -> bool,
) -> Result<(), Error> {
    let file = folder.join(name);
    let lock = file.with_extension("lock");
    regular_file::check_regular_file(&lock, regular_file::SizeLimit::Bounded)?;
    let Ok(lock_file) = File::options().write(true).open(&lock) else { return Ok(()) };
    if lock_file.try_lock().is_err() || !is_unused() {
        return Ok(());
    }
    fs::remove_file(&file).map_err(Error::for_file("remove", &file))?;
    // Only where a process that waits for it notices that.
    if cfg!(unix) {
        fs::remove_file(&lock).map_err(Error::for_file("remove", &lock))?;
    }
    Ok(())
}

/// Hashes a text as the name of a file: nobody finds another text with the same hash.
pub(crate) fn hash(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().fold(String::new(), |hex, it| hex + &format!("{it:02x}"))
}

/// Opens and locks the lock file at `lock`. If another process has removed it meanwhile, a third one
/// may have created it again, so it is opened again.
fn lock_file(lock: &Path) -> Result<File, Error> {
    regular_file::check_regular_file(lock, regular_file::SizeLimit::Bounded)?;
    loop {
        let opened = private_open_options().create(true).truncate(false).open(lock);
        let locked = opened.and_then(|it| it.lock().map(|()| it));
        let locked = locked.map_err(Error::for_file("lock", lock))?;
        if !is_removed(&locked).map_err(Error::for_file("lock", lock))? {
            return Ok(locked);
        }
    }
}

#[cfg(unix)]
fn is_removed(file: &File) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;
    Ok(file.metadata()?.nlink() == 0)
}

/// Returns false: on Windows, lock files stay.
#[cfg(windows)]
#[expect(clippy::unnecessary_wraps, reason = "it fails elsewhere")]
fn is_removed(_: &File) -> io::Result<bool> {
    Ok(false)
}

/// Returns options to write a file that only the user can read.
#[cfg(unix)]
pub(crate) fn private_open_options() -> OpenOptions {
    use std::os::unix::fs::OpenOptionsExt as _;
    let mut options = OpenOptions::new();
    options.write(true).mode(0o600);
    options
}

/// Sets nothing: a file in the profile of a user has the permissions of the profile, which others
/// cannot read.
#[cfg(windows)]
pub(crate) fn private_open_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    options
}

/// Creates a folder that only the user can read, and those above it.
#[cfg(unix)]
pub(crate) fn create_private_folder(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Sets no permissions, as [`private_open_options`] does.
#[cfg(windows)]
pub(crate) fn create_private_folder(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}

#[cfg(all(test, unix))]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn a_change_that_waits_for_a_lock_file_which_is_removed_locks_the_new_one() {
        let folder = tempfile::tempdir().unwrap();
        let lock = folder.path().join("a.lock");
        let removed = lock_file(&lock).unwrap();
        let (sender, receiver) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(|| sender.send(lock_file(&lock).unwrap()).unwrap());
            fs::remove_file(&lock).unwrap();
            drop(removed);
            let locked = receiver.recv().unwrap();
            assert!(!is_removed(&locked).unwrap());
        });
    }

    #[test]
    fn a_file_that_is_used_or_locked_stays() {
        let folder = tempfile::tempdir().unwrap();
        let names = || fs::read_dir(folder.path()).unwrap().count();
        change_file(folder.path(), "a", || Ok(Vec::new())).unwrap();
        remove_file_if(folder.path(), "a", || false).unwrap();
        assert_eq!(names(), 2);
        let locked = lock_file(&folder.path().join("a.lock")).unwrap();
        remove_file_if(folder.path(), "a", || true).unwrap();
        assert_eq!(names(), 2);
        drop(locked);
        // A process that another test is starting has the open lock file, too, for a moment.
        let deadline = Instant::now() + Duration::from_secs(60);
        while names() > 0 {
            assert!(Instant::now() < deadline, "the file and its lock file stay");
            remove_file_if(folder.path(), "a", || true).unwrap();
        }
        remove_file_if(folder.path(), "a", || true).unwrap();
    }
}
