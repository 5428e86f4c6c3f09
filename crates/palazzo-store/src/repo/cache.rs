//! Caches: files in `.git/palazzo/cache` that only save work, are in no commit, and may be deleted
//! at any time.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::Error;
use crate::repo::failpoint;
use crate::repo::regular_file;
use crate::repo::rename;
use crate::repo::repository::Repository;

/// The maximum size of a cache file in bytes, larger than any that Palazzo writes.
const MAX_BYTES: u64 = 1024 * 1024 * 1024;

/// Reads the cache file `name` of the palace at `prefix` in the repository, or of the whole
/// repository if that is empty; `None`: it does not exist, or is damaged, for example by a power
/// failure.
pub(crate) fn read_cache_file(
    repository: &Repository,
    prefix: &str,
    name: &str,
) -> Option<Vec<u8>> {
    let place = cache_path(repository, prefix, name).ok()?;
    let mut bytes = regular_file::read_regular_file_at_most(&place, MAX_BYTES).ok()??;
    let (content, checksum) = bytes.split_last_chunk()?;
    let is_intact = crc32fast::hash(content) == u32::from_be_bytes(*checksum);
    bytes.truncate(bytes.len() - checksum.len());
    is_intact.then_some(bytes)
}

/// Writes `content` to a cache file as [`read_cache_file`] finds it, replacing it. The write is not
/// durable.
pub(crate) fn write_cache_file(
    repository: &Repository,
    prefix: &str,
    name: &str,
    content: &[u8],
) -> Result<(), Error> {
    let place = cache_path(repository, prefix, name)?;
    let temporary = place.with_extension(format!("{}.tmp", std::process::id()));
    let write = || -> io::Result<()> {
        if let Some(folder) = place.parent() {
            repository.shared_mode.create_dir_all(folder)?;
        }
        // Create a new file, because an existing one could be a link to elsewhere.
        rename::remove_if_exists(&temporary)?;
        let mut file = fs::File::create_new(&temporary)?;
        repository.shared_mode.adjust_file(&file)?;
        failpoint::fail_point("write cache file")?;
        file.write_all(&[content, &crc32fast::hash(content).to_be_bytes()].concat())?;
        failpoint::fail_point("replace cache file")?;
        rename::rename(&temporary, &place)?;
        failpoint::kill_point("cache file is replaced");
        Ok(())
    };
    let written = write();
    if written.is_err() {
        drop(fs::remove_file(&temporary));
    }
    written.map_err(Error::for_file("write the cache file", &place))
}

/// Returns the path of the cache file `name`; fails if part of it is a link.
fn cache_path(repository: &Repository, prefix: &str, name: &str) -> Result<PathBuf, Error> {
    let folder = Path::new("palazzo/cache").join(prefix);
    regular_file::reject_linked_folders(&repository.git_dir, &folder)?;
    Ok(repository.git_dir.join(folder).join(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_repository::{TestHome, change_of_one_file, commit_ok};

    #[test]
    fn a_cache_file_is_returned_until_it_is_damaged() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        commit_ok(&mut store, &change_of_one_file("rooms/hall.yaml", None, Some("1\n")));
        assert_eq!(store.read_cache("visits"), None);
        for content in [&b"first"[..], b"", b"second"] {
            store.write_cache("visits", content).unwrap();
            assert_eq!(store.read_cache("visits").as_deref(), Some(content));
        }
        assert_eq!(scene.status(), "");
        let place = scene.home.join(".git/palazzo/cache/keep/visits");
        let whole = fs::read(&place).unwrap();
        for torn in [&whole[..whole.len() - 1], &whole[..5], b""] {
            fs::write(&place, torn).unwrap();
            assert_eq!(store.read_cache("visits"), None);
        }
        fs::remove_dir_all(scene.home.join(".git/palazzo/cache")).unwrap();
        assert_eq!(store.read_cache("visits"), None);
    }

    #[test]
    #[cfg(unix)]
    fn cache_files_are_never_written_through_links() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        commit_ok(&mut store, &change_of_one_file("rooms/hall.yaml", None, Some("1\n")));
        store.write_cache("visits", b"first").unwrap();
        let folder = scene.home.join(".git/palazzo/cache/keep");
        let outside = scene.home.with_file_name("outside");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("victim"), "mine").unwrap();
        let temporary = folder.join(format!("visits.{}.tmp", std::process::id()));
        std::os::unix::fs::symlink(outside.join("victim"), temporary).unwrap();
        store.write_cache("visits", b"second").unwrap();
        assert_eq!(fs::read_to_string(outside.join("victim")).unwrap(), "mine");
        fs::remove_dir_all(&folder).unwrap();
        std::os::unix::fs::symlink(&outside, &folder).unwrap();
        assert!(store.write_cache("visits", b"third").is_err());
        assert_eq!(store.read_cache("visits"), None);
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
    }
}
