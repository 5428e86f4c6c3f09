//! Making sure that what was written survives a power cut.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use gix::ObjectId;

use super::Error;

/// Makes durable what was written below `places`, or else each of `files` with its folder.
pub(super) fn settle(places: &[&Path], files: impl FnOnce() -> Vec<PathBuf>) -> Result<(), Error> {
    let mut seen = BTreeSet::new();
    for place in places {
        if !seen.insert(device(place)) {
            continue;
        }
        if !sync_file_system(place).map_err(Error::file("make durable", place))? {
            return sync_files(&files());
        }
    }
    Ok(())
}

/// Makes each of `files` that exists durable, and its entry in its folder.
pub(super) fn sync_files(files: &[PathBuf]) -> Result<(), Error> {
    let folders: BTreeSet<&Path> = files.iter().filter_map(|it| it.parent()).collect();
    for file in files {
        sync(file).map_err(Error::file("make durable", file))?;
    }
    for folder in folders {
        sync_folder(folder)?;
    }
    Ok(())
}

/// Makes the entries of `folder` durable.
pub(super) fn sync_folder(folder: &Path) -> Result<(), Error> {
    // Windows has no such thing; there the rename itself is journaled.
    if cfg!(windows) { Ok(()) } else { sync(folder).map_err(Error::file("make durable", folder)) }
}

/// Returns where a loose object is kept.
pub(super) fn object_file(common_dir: &Path, id: ObjectId) -> PathBuf {
    let name = id.to_string();
    let (folder, file) = name.split_at(2);
    common_dir.join("objects").join(folder).join(file)
}

fn sync(place: &Path) -> io::Result<()> {
    match File::open(place) {
        Ok(file) => file.sync_all(),
        // Packed away, or never there.
        Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(err) => Err(err),
    }
}

/// Makes everything in the file system of `place` durable; `false`: that cannot be asked for here.
#[cfg(target_os = "linux")]
fn sync_file_system(place: &Path) -> io::Result<bool> {
    rustix::fs::syncfs(File::open(place)?)?;
    Ok(true)
}

#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "it can fail on Linux")]
fn sync_file_system(_: &Path) -> io::Result<bool> {
    Ok(false)
}

#[cfg(unix)]
fn device(place: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata(place).map(|it| it.dev()).unwrap_or_default()
}

#[cfg(not(unix))]
fn device(_: &Path) -> u64 {
    0
}
