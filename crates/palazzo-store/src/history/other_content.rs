//! Finds what a repository contains beside palaces, before a palace is committed there.

use gix::ObjectId;
use gix::bstr::ByteSlice as _;
use gix::objs::TreeRefIter;

use crate::repo::palace_trees::is_palace;
use crate::{Error, Store};

/// The maximum number of entries of a folder that are looked at.
const MAX_ENTRIES: usize = 1_000;

impl Store {
    /// Lists what is committed beside palaces in the folder around the palace, and in those above it
    /// up to the root of the repository: nothing if a palace is committed there already.
    pub fn content_beside_palaces(&self) -> Result<Vec<String>, Error> {
        let Some(repository) = self.repository()? else { return Ok(Vec::new()) };
        let Some(head) = repository.head()? else { return Ok(Vec::new()) };
        let folders: Vec<_> = repository.prefix.trim_end_matches('/').split('/').collect();
        let above = folders.split_last().map_or(&[][..], |(_, above)| above);
        let git = repository.git();
        let found = list_beside_palaces(&git, head, above);
        found.map_err(|err| repository.git_error("read the newest commit", err))
    }
}

/// Lists the entries that are no palaces, in the root of a commit and along the folders `way`.
fn list_beside_palaces(
    git: &gix::Repository,
    commit: ObjectId,
    way: &[&str],
) -> gix::Result<Vec<String>> {
    let (mut names, mut above) = (Vec::new(), String::new());
    let mut next = Some(git.find_commit(commit)?.tree_id()?.detach());
    let mut way = way.iter();
    while let Some(folder) = next.take() {
        let (tree, step) = (git.find_tree(folder)?, way.next());
        for entry in TreeRefIter::from_bytes(&tree.data, tree.id.kind()).take(MAX_ENTRIES) {
            let entry = entry?;
            let name = entry.filename.to_str_lossy();
            let is_folder = entry.mode.is_tree();
            if is_folder && step.is_some_and(|it| *it == name) {
                next = Some(entry.oid.to_owned());
            } else if is_folder && is_palace(git, entry.oid.to_owned())? {
                if step.is_none() {
                    return Ok(Vec::new());
                }
            } else if !name.starts_with(".git") {
                names.push(format!("{above}{name}{}", if is_folder { "/" } else { "" }));
            }
        }
        above += &step.map(|it| format!("{it}/")).unwrap_or_default();
    }
    Ok(names)
}
