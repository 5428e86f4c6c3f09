//! What is kept aside: results that spare work and may be lost, beside git's own files and in no
//! commit. Deleting them at any time costs time and nothing else.

use std::fs;
use std::io;
use std::path::PathBuf;

use super::Error;
use super::repository::Repository;

/// Returns what was kept under `name`; `None`: nothing was, or a power cut has torn it.
pub(super) fn get(repository: &Repository, name: &str) -> Option<Vec<u8>> {
    let place = place(repository, name);
    // Opening a pipe would wait for whoever writes to it.
    let mut bytes = place.symlink_metadata().ok()?.is_file().then(|| fs::read(place).ok())??;
    let (content, checksum) = bytes.split_last_chunk()?;
    let is_whole = crc32fast::hash(content) == u32::from_be_bytes(*checksum);
    bytes.truncate(bytes.len() - checksum.len());
    is_whole.then_some(bytes)
}

/// Keeps `content` under `name`, in place of what was kept. It is not made durable.
pub(super) fn put(repository: &Repository, name: &str, content: &[u8]) -> Result<(), Error> {
    let place = place(repository, name);
    let temporary = place.with_extension(format!("{}.tmp", std::process::id()));
    let write = || -> io::Result<()> {
        if let Some(folder) = place.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(&temporary, [content, &crc32fast::hash(content).to_be_bytes()].concat())?;
        fs::rename(&temporary, &place)
    };
    let written = write();
    if written.is_err() {
        drop(fs::remove_file(&temporary));
    }
    written.map_err(Error::file("keep something aside at", &place))
}

fn place(repository: &Repository, name: &str) -> PathBuf {
    repository.git_dir.join("palazzo/aside").join(&repository.prefix).join(name)
}

#[cfg(test)]
mod tests {
    use super::super::scene::{Scene, change, done};
    use super::*;

    #[test]
    fn what_is_kept_aside_is_had_back_until_it_is_torn() {
        let scene = Scene::of_a_person();
        let mut store = scene.palace("keep");
        done(&mut store, &change("rooms/hall.yaml", None, Some("1\n")));
        assert_eq!(store.aside("visits"), None);
        for content in [&b"first"[..], b"", b"second"] {
            store.set_aside("visits", content).unwrap();
            assert_eq!(store.aside("visits").as_deref(), Some(content));
        }
        assert_eq!(scene.status(), "");
        let place = scene.home.join(".git/palazzo/aside/keep/visits");
        let whole = fs::read(&place).unwrap();
        for torn in [&whole[..whole.len() - 1], &whole[..5], b""] {
            fs::write(&place, torn).unwrap();
            assert_eq!(store.aside("visits"), None);
        }
        fs::remove_dir_all(scene.home.join(".git/palazzo/aside")).unwrap();
        assert_eq!(store.aside("visits"), None);
    }
}
