//! Serialises git's index (gitformat-index(5)).
//!
//! gix writes an index a few bytes at a time, and hashes these with collision detection. With ten
//! thousand files that takes as long as a third of a commit, so the entries of version 2, which
//! nearly all indexes have, are written here. As in git itself, the checksum does not protect
//! against forgery.

use gix::ObjectId;
use gix::index::entry::Flags;
use gix::index::extension::end_of_index_entry;
use sha1::{Digest as _, Sha1};

/// The size in bytes of an entry before its path.
const ENTRY_HEAD_SIZE: usize = 62;
/// Entries are padded to a multiple of this, with at least one byte.
const ALIGNMENT: usize = 8;
/// A longer path counts as this long.
const MAX_PATH_LENGTH: usize = 0xfff;
/// The size in bytes of the signature and the size of an extension.
const EXTENSION_HEAD_SIZE: usize = 8;

/// Serialises the index into `bytes`, in place of what they hold, with the checksum at its end.
/// Returns the checksum.
pub(crate) fn serialize_index(
    index: &gix::index::File,
    bytes: &mut Vec<u8>,
) -> gix::Result<ObjectId> {
    bytes.clear();
    match is_version_2(index) {
        true => serialize_version_2(index, bytes)?,
        false => serialize_with_gix(index, bytes)?,
    }
    let digest = Sha1::digest(&bytes);
    bytes.extend_from_slice(&digest);
    Ok(ObjectId::Sha1(digest.into()))
}

/// Returns whether version 2 of the format can express all entries.
fn is_version_2(index: &gix::index::State) -> bool {
    let is_simple = |it: Flags| !it.intersects(Flags::EXTENDED | Flags::REMOVE);
    !index.is_sparse() && index.entries().iter().all(|it| is_simple(it.flags))
}

/// Serialises an index without the checksum.
fn serialize_with_gix(index: &gix::index::File, bytes: &mut Vec<u8>) -> gix::Result<()> {
    let options = gix::index::write::Options { skip_hash: true, ..Default::default() };
    let (_, null_digest) = index.write_to(&mut *bytes, options)?;
    bytes.truncate(bytes.len() - null_digest.as_slice().len());
    Ok(())
}

/// Serialises an index in version 2 of the format, without the checksum.
fn serialize_version_2(index: &gix::index::File, bytes: &mut Vec<u8>) -> gix::Result<()> {
    let count = to_u32(index.entries().len())?;
    bytes.reserve(index.entries().len() * 128);
    bytes.extend_from_slice(b"DIRC");
    bytes.extend_from_slice(&2_u32.to_be_bytes());
    bytes.extend_from_slice(&count.to_be_bytes());
    for entry in index.entries() {
        write_entry(bytes, entry, index);
    }
    let end_of_entries = bytes.len();
    if let Some(tree) = index.tree() {
        tree.write_to(&mut *bytes).map_err(gix::Error::from_error)?;
        if count > 0 {
            let signature = gix::index::extension::tree::SIGNATURE;
            let size = to_u32(bytes.len() - end_of_entries - EXTENSION_HEAD_SIZE)?;
            let (hash, end) = (index.object_hash(), to_u32(end_of_entries)?);
            end_of_index_entry::write_to(&mut *bytes, hash, end, [(signature, size)])?;
        }
    }
    Ok(())
}

fn write_entry(bytes: &mut Vec<u8>, entry: &gix::index::Entry, index: &gix::index::State) {
    let (stat, path) = (&entry.stat, entry.path(index));
    let numbers = [
        stat.ctime.secs,
        stat.ctime.nsecs,
        stat.mtime.secs,
        stat.mtime.nsecs,
        stat.dev,
        stat.ino,
        entry.mode.bits(),
        stat.uid,
        stat.gid,
        stat.size,
    ];
    let mut head = [0; ENTRY_HEAD_SIZE];
    for (place, number) in head.chunks_exact_mut(4).zip(numbers) {
        place.copy_from_slice(&number.to_be_bytes());
    }
    head[40..60].copy_from_slice(entry.id.as_slice());
    let length = u16::try_from(path.len().min(MAX_PATH_LENGTH)).unwrap_or_default();
    head[60..].copy_from_slice(&(entry.flags.to_storage().bits() | length).to_be_bytes());
    bytes.extend_from_slice(&head);
    bytes.extend_from_slice(path);
    let padding = ALIGNMENT - (ENTRY_HEAD_SIZE + path.len()) % ALIGNMENT;
    bytes.extend_from_slice(&[0; ALIGNMENT][..padding]);
}

fn to_u32(size: usize) -> gix::Result<u32> {
    u32::try_from(size).map_err(gix::Error::from_error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_repository::TestHome;

    #[test]
    fn an_index_has_the_bytes_that_gix_would_write() {
        let scene = TestHome::with_repository();
        for length in 1..=9 {
            scene.write_file(&format!("a/{}", "n".repeat(length)), "text\n");
        }
        scene.write_file(&format!("{0}/{0}/{0}", "long".repeat(60)), "long\n");
        scene.git(&["add", "a", "long".repeat(60).as_str()]);
        scene.git(&["commit", "-qm", "files"]);
        scene.git(&["read-tree", "HEAD"]);
        scene.git(&["update-index", "--refresh"]);
        scene.git(&["update-index", "--assume-unchanged", "a/nn"]);
        let open = || gix::open(&scene.home).unwrap().open_index().unwrap();
        let mut index = open();
        assert!(index.tree().is_some());
        let (mut bytes, mut expected) = (Vec::new(), Vec::new());
        serialize_version_2(&index, &mut bytes).unwrap();
        serialize_with_gix(&index, &mut expected).unwrap();
        assert_eq!(bytes, expected);
        // Without cached trees there is no extension.
        index.remove_tree();
        let (mut bytes, mut expected) = (Vec::new(), Vec::new());
        serialize_version_2(&index, &mut bytes).unwrap();
        serialize_with_gix(&index, &mut expected).unwrap();
        assert_eq!(bytes, expected);
        // Git reads what is written in place of other bytes.
        serialize_index(&open(), &mut bytes).unwrap();
        std::fs::write(scene.home.join(".git/index"), bytes).unwrap();
        assert_eq!(scene.status(), "");
        scene.git(&["update-index", "--skip-worktree", "notes.md"]);
        assert!(!is_version_2(&open()));
    }
}
