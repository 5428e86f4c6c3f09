//! Finds files, folders and palaces in the tree of a commit.

use gix::ObjectId;
use gix::bstr::ByteSlice as _;
use gix::objs::TreeRefIter;
use gix::objs::tree::EntryKind;

use crate::repo::palace_files::SETTINGS_FILE;
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

/// The maximum number of folders in which palaces are looked for.
const MAX_FOLDERS: usize = 1_000;

/// Finds the tree of a folder, a path in the root tree, which may be empty or end in `/`; `None`:
/// there is no such folder.
pub(crate) fn find_folder(
    git: &gix::Repository,
    root: ObjectId,
    folder: &str,
) -> gix::Result<Option<ObjectId>> {
    let folder = folder.trim_end_matches('/');
    if folder.is_empty() {
        return Ok(Some(root));
    }
    let found = git.find_tree(root)?.lookup_entry(folder.split('/'))?;
    Ok(found.filter(|it| it.mode().is_tree()).map(|it| it.object_id()))
}

/// Lists the palaces that a commit has in `folder`, a path in the repository: the folder itself, or
/// the folders in it.
pub(crate) fn palaces_in_commit(
    git: &gix::Repository,
    commit: ObjectId,
    folder: &str,
) -> gix::Result<Vec<String>> {
    let folder = folder.trim_end_matches('/');
    let root = tree_of_commit(git, Some(commit))?;
    let Some(tree) = find_folder(git, root, folder)? else { return Ok(Vec::new()) };
    if is_palace(git, tree)? {
        return Ok(vec![folder.to_owned()]);
    }
    let (tree, mut palaces) = (git.find_tree(tree)?, Vec::new());
    for entry in TreeRefIter::from_bytes(&tree.data, tree.id.kind()).take(MAX_FOLDERS) {
        let entry = entry?;
        let Ok(name) = entry.filename.to_str() else { continue };
        if entry.mode.is_tree() && !name.starts_with('.') && is_palace(git, entry.oid.to_owned())? {
            let parent = if folder.is_empty() { String::new() } else { format!("{folder}/") };
            palaces.push(parent + name);
        }
    }
    Ok(palaces)
}

/// Returns whether the tree is that of a palace.
pub(crate) fn is_palace(git: &gix::Repository, tree: ObjectId) -> gix::Result<bool> {
    let found = git.find_tree(tree)?.lookup_entry([SETTINGS_FILE])?;
    // A link is a finding later, and then it is named.
    Ok(found.is_some_and(|it| it.mode().is_blob_or_symlink()))
}
