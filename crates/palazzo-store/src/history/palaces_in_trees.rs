//! Finds the palace to which a path in a tree of git belongs, and lists the paths outside of palaces.

use std::cell::RefCell;
use std::collections::HashMap;

use gix::ObjectId;
use gix::bstr::ByteSlice as _;
use gix::objs::TreeRefIter;

use palazzo_core::model::PALACE_FOLDERS;

use crate::repo::palace_files::{GENERATED_FOLDER, SETTINGS_FILE, is_palace_file};
use crate::repo::tree_diff;
use crate::repo::tree_lookup::is_palace;
use crate::{Error, Store};

/// The maximum number of entries of a folder that are looked at.
const MAX_ENTRIES: usize = 1_000;

/// The folders of the palaces that are in any of some trees.
pub(crate) struct PalacesInTrees<'g> {
    git: &'g gix::Repository,
    trees: Vec<ObjectId>,
    known: RefCell<HashMap<String, bool>>,
}

impl<'g> PalacesInTrees<'g> {
    /// Looks for palaces in these root trees.
    pub(crate) fn new(git: &'g gix::Repository, trees: &[ObjectId]) -> Self {
        Self { git, trees: trees.to_vec(), known: RefCell::default() }
    }

    /// Returns the folder of the palace to which the file at `path` belongs, empty or ending in
    /// `/`; `None`: it is no file of a palace.
    pub(crate) fn palace_of(&self, path: &str) -> gix::Result<Option<String>> {
        let ends = path.match_indices('/').map(|(at, _)| at + 1);
        let mut folders: Vec<_> = std::iter::once(0).chain(ends).collect();
        while let Some(end) = folders.pop() {
            if self.is_palace(&path[..end])? {
                let is_file = is_palace_file(&path[end..]);
                return Ok(is_file.then(|| path[..end].to_owned()));
            }
        }
        Ok(None)
    }

    /// Returns the palace that has a settings file in one of its own folders, such as `rooms`: no palace
    /// can be there.
    pub(crate) fn palace_around_settings(&self, path: &str) -> gix::Result<Option<String>> {
        let Some(folder) = path.strip_suffix(SETTINGS_FILE) else { return Ok(None) };
        let ends = folder.match_indices('/').map(|(at, _)| at + 1);
        for end in std::iter::once(0).chain(ends) {
            let below = folder[end..].split('/').next().unwrap_or_default();
            let is_own = PALACE_FOLDERS.contains(&below) || below == GENERATED_FOLDER;
            if is_own && self.is_palace(&folder[..end])? {
                return Ok(Some(folder[..end].to_owned()));
            }
        }
        Ok(None)
    }

    fn is_palace(&self, folder: &str) -> gix::Result<bool> {
        if let Some(known) = self.known.borrow().get(folder) {
            return Ok(*known);
        }
        let mut is_palace = false;
        for tree in &self.trees {
            let names = folder.split('/').filter(|it| !it.is_empty()).chain([SETTINGS_FILE]);
            let found = self.git.find_tree(*tree)?.lookup_entry(names)?;
            is_palace |= found.is_some_and(|it| it.mode().is_blob());
        }
        self.known.borrow_mut().insert(folder.to_owned(), is_palace);
        Ok(is_palace)
    }
}

impl Store {
    /// Returns whether the newest commit has files that belong to no palace. The store is that of
    /// the whole repository.
    pub fn has_files_of_no_palace(&self) -> Result<bool, Error> {
        let repository = self.require_repository()?;
        let Some(head) = repository.head()? else { return Ok(false) };
        repository.read_history("list the files of the last commit", |history| {
            let tree = history.root_tree(head)?;
            let folders = PalacesInTrees::new(&history.git, &[tree]);
            for file in tree_diff::compare(&history.git, None, Some(tree))? {
                if folders.palace_of(&file.path)?.is_none() {
                    return Ok(true);
                }
            }
            Ok(false)
        })
    }

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_repository::TestHome;

    #[test]
    fn a_file_belongs_to_the_nearest_palace_above_it() {
        let scene = TestHome::with_repository();
        for folder in ["", "a/b/"] {
            scene.write_file(&format!("{folder}palace.toml"), "name = \"T\"\n");
        }
        scene.git(&["add", "."]);
        scene.git(&["commit", "-qm", "palaces"]);
        let store = scene.palace("");
        let repository = store.require_repository().unwrap();
        let git = repository.git();
        let tree = git.head_tree_id().unwrap().detach();
        let folders = PalacesInTrees::new(&git, &[tree]);
        let palace_of = |path: &str| folders.palace_of(path).unwrap();
        assert_eq!(palace_of("rooms/hall.yaml").as_deref(), Some(""));
        assert_eq!(palace_of("a/b/rooms/x/hall.yaml").as_deref(), Some("a/b/"));
        assert_eq!(palace_of("a/b/conflicts/0.yaml").as_deref(), Some("a/b/"));
        assert_eq!(palace_of("a/b/.palazzo/schema/room.json").as_deref(), Some("a/b/"));
        assert_eq!(palace_of("a/b/.gitattributes").as_deref(), Some("a/b/"));
        for other in ["notes.md", "a/rooms/hall.yaml", "a/b/notes.md", "a/b/src/rooms/x.yaml"] {
            assert_eq!(palace_of(other), None, "{other}");
        }
    }
}
