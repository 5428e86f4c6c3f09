//! Writes the files in the state folder: under a lock, durably, and readable only by their owner.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use crate::store::Error;
use crate::store::repo::regular_file;
use crate::store::repo::rename;
use crate::store::write::fsync;

/// Replaces the file `name` in `folder` with the bytes that `new_content` returns. A lock excludes
/// other processes meanwhile, so that `new_content` can read the old file.
pub(crate) fn change_file(
    folder: &Path,
    name: &str,
    new_content: impl FnOnce() -> Result<Vec<u8>, Error>,
) -> Result<(), Error> {
    create_private_folder(folder).map_err(Error::for_file("create the folder", folder))?;
    let file = folder.join(name);
    let lock = file.with_extension("lock");
    regular_file::check_regular_file(&lock, regular_file::SizeLimit::Bounded)?;
    let lock_file = private_open_options().create(true).truncate(false).open(&lock);
    let lock_file = lock_file.and_then(|it| it.lock().map(|()| it));
    let _lock = lock_file.map_err(Error::for_file("lock", &lock))?;
    let (content, temporary) = (new_content()?, folder.join(format!("{name}.tmp")));
    let replace = || -> io::Result<()> {
        // A previous process crashed and left it; this process has the lock.
        match fs::remove_file(&temporary) {
            Err(err) if err.kind() != io::ErrorKind::NotFound => return Err(err),
            _ => {}
        }
        let mut new: File = private_open_options().create_new(true).open(&temporary)?;
        new.write_all(&content)?;
        new.sync_all()?;
        rename::rename(&temporary, &file)
    };
    replace().map_err(Error::for_file("write", &file))?;
    fsync::sync_files_and_folders(&[file])
}

#[cfg(unix)]
fn private_open_options() -> OpenOptions {
    use std::os::unix::fs::OpenOptionsExt as _;
    let mut options = OpenOptions::new();
    options.write(true).mode(0o600);
    options
}

/// Sets nothing: a file in the profile of a user has the permissions of the profile, which others
/// cannot read.
#[cfg(windows)]
fn private_open_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    options
}

#[cfg(unix)]
fn create_private_folder(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Sets no permissions, as [`private_open_options`] does.
#[cfg(windows)]
fn create_private_folder(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}
