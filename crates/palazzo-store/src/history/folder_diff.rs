//! Compares one folder on disk with the last commit. The cost depends on the folder, not on the
//! palace.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use gix::ObjectId;

use crate::history::commits::HistoryReader;
use crate::history::diff::WorkingCopy;
use crate::repo::tree_diff::TreeEntry;
use crate::repo::tree_lookup::{compute_blob_id, find_folder};
use crate::repo::{palace_files, paths, tree_diff};
use crate::{Error, Store};
use palazzo_core::model::FileContent;

/// The files of a folder that are not as in the last commit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FolderDiff {
    /// The number of files in the last commit.
    pub committed: usize,
    /// The files that are new or changed.
    pub changed: Vec<String>,
    /// The files of the last commit that are gone.
    pub missing: Vec<String>,
    /// The files that cannot be read.
    pub unreadable: Vec<String>,
}

impl Store {
    /// Compares the files below a folder on disk with the last commit. `None`: there is no such
    /// folder on disk, it is behind a link, or there is no repository. Files that git ignores are
    /// left out.
    pub fn diff_folder_with_head(&self, folder: &str) -> Result<Option<FolderDiff>, Error> {
        self.repository.reject_symlinked_palace()?;
        let Some(repository) = self.repository()?.filter(|_| self.reads_disk()) else {
            return Ok(None);
        };
        paths::reject_symbolic_links(&repository.palace, folder)?;
        if !fs::symlink_metadata(repository.palace.join(folder)).is_ok_and(|it| it.is_dir()) {
            return Ok(None);
        }
        let listing = palace_files::list_files(&repository.palace, folder)?;
        let here: BTreeSet<_> = listing.stamps.into_keys().collect();
        let unusable = listing.findings.into_iter().map(|it| it.file).collect();
        let head = repository.head()?;
        let diff = repository.read_history("compare a folder with the last commit", |past| {
            compare(past, &committed_files(past, folder, head)?, here, unusable)
        })?;
        Ok(Some(diff))
    }
}

/// Lists the files of a folder in a commit, by their paths in the palace.
fn committed_files(
    past: &HistoryReader<'_>,
    folder: &str,
    commit: Option<ObjectId>,
) -> gix::Result<BTreeMap<String, TreeEntry>> {
    let root = commit.map(|it| past.palace_tree(it)).transpose()?.flatten();
    let tree = root.map(|it| find_folder(&past.git, it, folder)).transpose()?.flatten();
    let Some(tree) = tree else { return Ok(BTreeMap::new()) };
    let files = tree_diff::list_files(&past.git, Some(tree))?;
    let files = files.into_iter().map(|(path, entry)| (format!("{folder}/{path}"), entry));
    let is_file = |(path, entry): &(String, TreeEntry)| {
        entry.mode.is_blob() && palace_files::is_text_file(path)
    };
    Ok(files.filter(is_file).collect())
}

/// Compares the files `here`, and those that cannot be used, with the committed ones.
fn compare(
    past: &HistoryReader<'_>,
    committed: &BTreeMap<String, TreeEntry>,
    here: BTreeSet<String>,
    unusable: Vec<String>,
) -> gix::Result<FolderDiff> {
    let is_gone = |it: &&String| !here.contains(*it) && !unusable.contains(it);
    let mut diff = FolderDiff {
        committed: committed.len(),
        missing: committed.keys().filter(is_gone).cloned().collect(),
        ..FolderDiff::default()
    };
    let disk = WorkingCopy::new(past)?;
    let (known, new): (Vec<_>, _) = here.into_iter().partition(|it| committed.contains_key(it));
    for path in known.into_iter().chain(disk.without_ignored(new)?) {
        let entry = committed.get(&path).copied();
        if disk.is_unchanged_per_index(&path, entry)? {
            continue;
        }
        match disk.read_with_git_line_endings(&path)? {
            FileContent::Text(text) => {
                let id = compute_blob_id(&past.git, text.as_bytes())?;
                diff.changed.extend(entry.is_none_or(|it| it.id != id).then_some(path));
            }
            // It was removed since.
            FileContent::Missing => diff.missing.extend(entry.map(|_| path)),
            FileContent::Unreadable(_) => diff.unreadable.push(path),
        }
    }
    diff.unreadable.extend(unusable);
    Ok(diff)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_repository::{TestHome, change_of_files, commit_ok};

    const FOLDER: &str = "drawers/claude/memory";

    #[test]
    fn a_folder_is_compared_with_the_last_commit() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        assert_eq!(store.diff_folder_with_head(FOLDER).unwrap(), None);
        let files = ["a.md", "b.md", "c/d.md"].map(|it| format!("{FOLDER}/{it}"));
        let edits: Vec<_> = files.iter().map(|it| (it.as_str(), None, Some("1\n"))).collect();
        commit_ok(&mut store, &change_of_files(&edits));
        let diff = || store.diff_folder_with_head(FOLDER).unwrap().unwrap();
        assert_eq!(diff(), FolderDiff { committed: 3, ..FolderDiff::default() });
        scene.write_file(&format!("keep/{}", files[0]), "2\n");
        scene.write_file(&format!("keep/{FOLDER}/new.md"), "1\n");
        std::fs::write(scene.home.join(format!("keep/{FOLDER}/odd.md")), b"\xff").unwrap();
        std::fs::remove_file(scene.home.join("keep").join(&files[1])).unwrap();
        let found = diff();
        assert_eq!(found.changed, [files[0].clone(), format!("{FOLDER}/new.md")]);
        assert_eq!(found.missing, [files[1].clone()]);
        assert_eq!(found.unreadable, [format!("{FOLDER}/odd.md")]);
        std::fs::remove_dir_all(scene.home.join("keep/drawers")).unwrap();
        assert_eq!(store.diff_folder_with_head(FOLDER).unwrap(), None);
    }
}
