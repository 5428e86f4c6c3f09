//! The files in the tree of a commit.

use gix::ObjectId;
use gix::objs::tree::EntryKind;

use crate::repo::tree_diff::TreeEntry;

/// A file in a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlobEntry {
    pub(crate) kind: EntryKind,
    pub(crate) id: ObjectId,
}

impl From<TreeEntry> for BlobEntry {
    fn from(entry: TreeEntry) -> Self {
        let is_executable = entry.mode.is_executable();
        let kind = if is_executable { EntryKind::BlobExecutable } else { EntryKind::Blob };
        Self { kind, id: entry.id }
    }
}

/// Returns the tree of `commit`; `None` stands for the empty tree.
pub(crate) fn tree_of_commit(
    git: &gix::Repository,
    commit: Option<ObjectId>,
) -> gix::Result<ObjectId> {
    match commit {
        Some(commit) => Ok(git.find_commit(commit)?.tree_id()?.detach()),
        None => Ok(ObjectId::empty_tree(git.object_hash())),
    }
}

/// Returns the file at `path` in `tree`.
pub(crate) fn find_blob_entry(
    git: &gix::Repository,
    tree: ObjectId,
    path: &str,
) -> gix::Result<Option<BlobEntry>> {
    let found = git.find_tree(tree)?.lookup_entry(path.split('/'))?;
    let found = found.filter(|it| !it.mode().is_tree());
    Ok(found.map(|it| TreeEntry { mode: it.mode(), id: it.object_id() }.into()))
}

/// Returns the id of `content` as a blob, without writing it.
pub(crate) fn compute_blob_id(git: &gix::Repository, content: &[u8]) -> gix::Result<ObjectId> {
    let hashed = gix::objs::compute_hash(git.object_hash(), gix::objs::Kind::Blob, content);
    hashed.map_err(gix::Error::from_error)
}
