//! Loads git's index, and reads what its entries say of files.

use std::fs;
use std::path::Path;

use gix::index::entry::{Flags, Stage};
use sha1::{Digest as _, Sha1};

use crate::repo::repository;
use crate::repo::tree_lookup::tree_of_commit;

/// The file metadata in an index entry, which shows without reading that a file is unchanged.
pub(crate) use gix::index::entry::Stat;

/// Loads the index; if it is missing, or a power failure left it empty or damaged, builds it from
/// `HEAD`.
pub(crate) fn load_or_rebuild_index(git: &gix::Repository) -> gix::Result<gix::index::File> {
    let path = git.index_path();
    let found = if path.exists() { git.open_index().map(Some) } else { Ok(None) };
    match found {
        Ok(Some(index)) => Ok(index),
        // An intact index of an unknown kind must not be replaced.
        Err(err) if !is_index_damaged(&path) => Err(err),
        _ => {
            let head = repository::read_head(git)?;
            git.index_from_tree(&tree_of_commit(git, head)?)
        }
    }
}

/// Returns true if the index does not match the checksum at its end.
fn is_index_damaged(path: &Path) -> bool {
    let Ok(bytes) = fs::read(path) else { return false };
    let Some((content, digest)) = bytes.split_last_chunk::<20>() else { return true };
    let is_intact = Sha1::digest(content).as_slice() == digest;
    let has_no_checksum = digest.iter().all(|it| *it == 0) && content.starts_with(b"DIRC");
    !is_intact && !has_no_checksum
}

/// Returns true if `index` marks `path` as excluded by a sparse checkout.
pub(crate) fn is_outside_sparse_checkout(index: &gix::index::State, path: &str) -> bool {
    let entry = index.entry_by_path_and_stage(path.into(), Stage::Unconflicted);
    entry.is_some_and(|it| it.flags.contains(Flags::SKIP_WORKTREE))
}

/// Returns the stat of the file at `place` for the index.
pub(crate) fn stat_file(place: &Path) -> Option<Stat> {
    let metadata = gix::index::fs::Metadata::from_path_no_follow(place).ok()?;
    Stat::from_fs(&metadata).ok()
}
