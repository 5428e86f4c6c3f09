//! Makes written files survive a power failure.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use gix::ObjectId;

use crate::Error;
use crate::repo::failpoint;

/// The maximum number of files that are synced one by one instead of with their file system.
const MAX_SINGLE_SYNCS: usize = 8;

/// Syncs the file systems of `places`; where that is not supported, each of `files` with its
/// folder.
pub(crate) fn sync_file_systems_or_files(
    places: &[&Path],
    files: impl FnOnce() -> Vec<PathBuf>,
) -> Result<(), Error> {
    failpoint::fail_point("sync file system")
        .map_err(Error::for_file("make durable", Path::new(".")))?;
    let mut seen = BTreeSet::new();
    for place in places {
        if !seen.insert(device_id(place)) {
            continue;
        }
        if !sync_file_system(place).map_err(Error::for_file("make durable", place))? {
            return sync_files_and_folders(&files());
        }
    }
    Ok(())
}

/// Makes the names of `files`, which have just got them, durable before a lock file is
/// [synced](sync_file_and_renames).
pub(crate) fn sync_names(files: &[PathBuf]) -> Result<(), Error> {
    // On Linux both become durable at once.
    if cfg!(target_os = "linux") { Ok(()) } else { sync_files_and_folders(files) }
}

/// Syncs an open file, and on Linux everything on its file system: not every file system keeps the
/// order in which files were renamed.
pub(crate) fn sync_file_and_renames(file: &File) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    return Ok(rustix::fs::syncfs(file)?);
    #[cfg(not(target_os = "linux"))]
    file.sync_all()
}

/// Syncs the contents of `files` below `place`, but not their names.
pub(crate) fn sync_contents(place: &Path, files: &[PathBuf]) -> Result<(), Error> {
    if files.len() > MAX_SINGLE_SYNCS {
        return sync_file_systems_or_files(&[place], || files.to_vec());
    }
    files.iter().try_for_each(|it| sync_path(it).map_err(Error::for_file("make durable", it)))
}

/// Syncs each of `files` that exists, and its folder.
pub(crate) fn sync_files_and_folders(files: &[PathBuf]) -> Result<(), Error> {
    let folders: BTreeSet<&Path> = files.iter().filter_map(|it| it.parent()).collect();
    for place in files.iter().map(PathBuf::as_path).chain(folders) {
        sync_path(place).map_err(Error::for_file("make durable", place))?;
    }
    Ok(())
}

/// Returns the path of a loose object.
pub(crate) fn loose_object_path(common_dir: &Path, id: ObjectId) -> PathBuf {
    let name = id.to_string();
    let (folder, file) = name.split_at(2);
    common_dir.join("objects").join(folder).join(file)
}

fn sync_path(place: &Path) -> io::Result<()> {
    // Windows cannot sync a folder, but its file system does so itself; and it only syncs a file
    // that is open for writing.
    if cfg!(windows) && place.is_dir() {
        return Ok(());
    }
    match OpenOptions::new().read(true).write(cfg!(windows)).open(place) {
        Ok(file) => file.sync_all(),
        // It was packed, or never existed.
        Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(()),
        // Git made it read-only, and Windows opens it only for reading.
        Err(_) if cfg!(windows) && place.metadata()?.permissions().readonly() => Ok(()),
        Err(err) => Err(err),
    }
}

/// Syncs the file system of `place`; `false`: the system does not support it.
#[cfg(target_os = "linux")]
fn sync_file_system(place: &Path) -> io::Result<bool> {
    rustix::fs::syncfs(File::open(place)?)?;
    Ok(true)
}

/// Returns `false`: macOS and Windows cannot sync one file system, so each file is synced. On macOS
/// the library uses `F_FULLFSYNC`, which also empties the cache of the disk.
#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "it can fail on Linux")]
fn sync_file_system(_: &Path) -> io::Result<bool> {
    Ok(false)
}

#[cfg(unix)]
fn device_id(place: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata(place).map(|it| it.dev()).unwrap_or_default()
}

/// Returns one number for all places: here no file system is synced as a whole.
#[cfg(windows)]
fn device_id(_: &Path) -> u64 {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_folders_are_synced_and_missing_ones_skipped() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        std::fs::write(&file, "a").unwrap();
        let there = [file, folder.path().to_owned(), folder.path().join("gone")];
        sync_files_and_folders(&there).unwrap();
    }
}
