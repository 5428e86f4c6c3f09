//! Merges the trees of two commits, palace by palace.
//!
//! The result does not depend on which commit is named first. How two versions of a palace are
//! merged is the caller's matter.

use std::collections::{BTreeMap, BTreeSet};

use gix::ObjectId;
use gix::objs::tree::EntryKind;

use crate::Error;
use crate::history::commits::HistoryReader;
use crate::history::palaces_in_trees::PalacesInTrees;
use crate::repo::tree_diff::{self, TreeEntry};
use crate::repo::tree_lookup::find_folder;
use crate::sync::error::SyncError;
use crate::sync::side_commits::{FileChange, SideCommits};
use palazzo_core::model::LastChange;

/// The contents of files by path.
pub type FileContents = BTreeMap<String, Vec<u8>>;

/// Two versions of a palace and their common base. Paths begin at the palace.
pub struct PalaceVersions<'a> {
    /// The files of the base that a side has changed or deleted.
    pub base: FileContents,
    /// The same files of both sides, and those that they have added.
    pub sides: [FileContents; 2],
    /// The paths of the files that no side has changed.
    pub unchanged: BTreeSet<String>,
    /// Reads a file that no side has changed.
    pub read_unchanged: &'a dyn Fn(&str) -> Option<Vec<u8>>,
    /// Returns the last change of a side (0 or 1) to a file that is wanted; if there is none, the
    /// last one.
    pub last_change: &'a dyn Fn(usize, &str, Option<&IsWantedChange<'_>>) -> LastChange,
}

/// Returns whether a commit has changed what is wanted.
pub type IsWantedChange<'a> = dyn Fn(&FileChange) -> bool + 'a;

/// A merged palace.
#[derive(Clone, Debug, Default)]
pub struct MergedPalace {
    /// All files, except those that no side has changed.
    pub files: FileContents,
    /// The number of conflicts.
    pub conflicts: usize,
}

/// Merges two versions of a palace.
pub type MergePalace<'a> = dyn Fn(&PalaceVersions<'_>) -> MergedPalace + 'a;

/// A merged tree.
#[derive(Clone, Debug)]
pub(crate) struct MergedTree {
    /// The root tree. Its objects are in the memory of the merger's handle.
    pub(crate) tree: ObjectId,
    /// The number of conflicts.
    pub(crate) conflicts: usize,
    /// The first note that both sides have changed differently.
    note_conflict: Option<String>,
}

impl MergedTree {
    /// Returns the tree, or an error if both sides have changed a note.
    pub(crate) fn without_note_conflict(self) -> Result<Self, Error> {
        match self.note_conflict {
            Some(path) => Err(SyncError::NoteConflict { path }.into()),
            None => Ok(self),
        }
    }
}

/// Merges trees. New objects stay in the memory of `history.git`.
pub(crate) struct TreeMerger<'a> {
    pub(crate) history: &'a HistoryReader<'a>,
    pub(crate) merge_palace: &'a MergePalace<'a>,
}

/// A file in three versions.
#[derive(Clone, Copy, Default)]
struct FileVersions {
    base: Option<TreeEntry>,
    sides: [Option<TreeEntry>; 2],
}

/// The changed files of one palace, by path in the palace.
type ChangedFiles = BTreeMap<String, FileVersions>;

/// The files that a side has changed.
#[derive(Default)]
struct Changes {
    palaces: BTreeMap<String, ChangedFiles>,
    /// The notes, by path in the repository.
    notes: ChangedFiles,
}

impl TreeMerger<'_> {
    /// Merges two commits; `None`: they have no common ancestor. `ranges` are the commits that only
    /// one of them has.
    pub(crate) fn merge_commits(
        &self,
        sides: [ObjectId; 2],
        ranges: &[SideCommits; 2],
    ) -> Result<Option<MergedTree>, gix::Error> {
        let (mut sides, mut ranges) = (sides, ranges.each_ref());
        if sides[0] > sides[1] {
            sides.reverse();
            ranges.reverse();
        }
        let [one, other] = sides;
        let Some(base) = self.base_tree(one, other)? else { return Ok(None) };
        let trees = [self.history.root_tree(one)?, self.history.root_tree(other)?];
        self.merge_trees(base, trees, ranges).map(Some)
    }

    /// Returns the tree of `head` without what `merge` brought in addition to its parent `before`;
    /// `since` are the commits of `head` that `merge` lacks.
    pub(crate) fn reverse_commit(
        &self,
        merge: ObjectId,
        before: ObjectId,
        head: ObjectId,
        since: &SideCommits,
    ) -> gix::Result<MergedTree> {
        let base = self.history.root_tree(merge)?;
        let trees = [self.history.root_tree(head)?, self.history.root_tree(before)?];
        // What was committed since stands: the other side counts as older than everything.
        self.merge_trees(base, trees, [since, &SideCommits::default()])
    }

    /// Returns the tree of the common ancestor; of several, their merge.
    fn base_tree(&self, one: ObjectId, other: ObjectId) -> gix::Result<Option<ObjectId>> {
        let mut bases = merge_bases(&self.history.git, one, other)?;
        bases.sort_unstable();
        let Some((first, rest)) = bases.split_first() else { return Ok(None) };
        let mut tree = self.history.root_tree(*first)?;
        for next in rest {
            let below = match merge_bases(&self.history.git, *first, *next)?.iter().min() {
                Some(it) => self.history.root_tree(*it)?,
                None => ObjectId::empty_tree(self.history.git.object_hash()),
            };
            let trees = [tree, self.history.root_tree(*next)?];
            let ranges = SideCommits::of_both_sides(self.history, *first, Some(*next))?;
            tree = self.merge_trees(below, trees, ranges.each_ref())?.tree;
        }
        Ok(Some(tree))
    }

    fn merge_trees(
        &self,
        base: ObjectId,
        trees: [ObjectId; 2],
        ranges: [&SideCommits; 2],
    ) -> gix::Result<MergedTree> {
        let git = &self.history.git;
        let Changes { palaces, notes } = changed_files(self.history, base, trees)?;
        let root = git.find_tree(base)?.decode()?.into_owned();
        let mut editor = gix::objs::tree::Editor::new(root, &git.objects, git.object_hash());
        let mut conflicts = 0;
        for (folder, files) in palaces {
            let merged = self.merge_one_palace(base, &folder, &files, ranges)?;
            conflicts += merged.conflicts;
            for path in files.keys().filter(|it| !merged.files.contains_key(*it)) {
                editor.remove_leaf(format!("{folder}{path}").split('/'))?;
            }
            for (path, content) in &merged.files {
                let kind = files.get(path).map_or(EntryKind::Blob, FileVersions::kind);
                let id = git.write_blob(content)?.detach();
                editor.upsert(format!("{folder}{path}").split('/'), kind, id)?;
            }
        }
        for (path, versions) in &notes {
            match versions.changed_entry() {
                Some(note) => drop(editor.upsert(path.split('/'), note.mode.kind(), note.id)?),
                None => drop(editor.remove_leaf(path.split('/'))?),
            }
        }
        let conflict = notes.into_iter().find(|(_, it)| it.is_changed_differently());
        let tree = editor.write(|tree| git.write_object(tree).map(gix::Id::detach))?;
        Ok(MergedTree { tree, conflicts, note_conflict: conflict.map(|(path, _)| path) })
    }

    fn merge_one_palace(
        &self,
        base: ObjectId,
        folder: &str,
        files: &ChangedFiles,
        ranges: [&SideCommits; 2],
    ) -> gix::Result<MergedPalace> {
        let git = &self.history.git;
        let contents = |version: &dyn Fn(&FileVersions) -> Option<TreeEntry>| {
            let entries = files.iter().filter_map(|(path, it)| Some((path, version(it)?)));
            let read = |(path, it): (&String, TreeEntry)| -> gix::Result<_> {
                Ok((path.clone(), git.find_blob(it.id)?.take_data()))
            };
            entries.map(read).collect::<gix::Result<FileContents>>()
        };
        let base_files = tree_diff::list_files(git, find_folder(git, base, folder)?)?;
        let unchanged = base_files.keys().filter(|it| !files.contains_key(*it)).cloned().collect();
        let read_unchanged =
            |path: &str| Some(git.find_blob(base_files.get(path)?.id).ok()?.take_data());
        let last_change = |side: usize, path: &str, is_wanted: Option<&IsWantedChange<'_>>| {
            let (range, path) = (&ranges[side], format!("{folder}{path}"));
            let found = is_wanted.and_then(|it| range.find_last_change(self.history, &path, it));
            found.unwrap_or_else(|| range.last_change(&path)).clone()
        };
        Ok((self.merge_palace)(&PalaceVersions {
            base: contents(&|it| it.base)?,
            sides: [contents(&|it| it.sides[0])?, contents(&|it| it.sides[1])?],
            unchanged,
            read_unchanged: &read_unchanged,
            last_change: &last_change,
        }))
    }
}

impl FileVersions {
    /// Returns the version of the side that has changed the file; of two, the one with the greater id.
    fn changed_entry(&self) -> Option<TreeEntry> {
        let changed = self.sides.into_iter().filter(|it| *it != self.base);
        changed.max_by_key(|it| it.map(|it| it.id)).unwrap_or(self.base)
    }

    fn is_changed_differently(&self) -> bool {
        let [one, other] = self.sides;
        one != other && one != self.base && other != self.base
    }

    /// Returns the mode of the merged file: executable if a side has made it so, or neither has
    /// changed that.
    fn kind(&self) -> EntryKind {
        let is_executable = |it: &TreeEntry| it.mode.is_executable();
        let base = self.base.as_ref().map(is_executable);
        let sides: Vec<_> = self.sides.iter().flatten().map(is_executable).collect();
        let changed = sides.iter().find(|it| Some(**it) != base);
        match changed.copied().or(base) {
            Some(true) => EntryKind::BlobExecutable,
            _ => EntryKind::Blob,
        }
    }
}

/// Lists the best common ancestors of two commits.
pub(crate) fn merge_bases(
    git: &gix::Repository,
    one: ObjectId,
    other: ObjectId,
) -> gix::Result<Vec<ObjectId>> {
    let bases = git.merge_bases_many(one, &[other])?;
    Ok(bases.into_iter().map(gix::Id::detach).collect())
}

/// Lists the files that a side has changed, by palace, and the notes. Other files are left as in the
/// base.
fn changed_files(
    history: &HistoryReader<'_>,
    base: ObjectId,
    trees: [ObjectId; 2],
) -> gix::Result<Changes> {
    let git = &history.git;
    let folders = PalacesInTrees::new(git, &[base, trees[0], trees[1]]);
    let synced_notes = history.repository.synced_notes();
    let mut changes = Changes::default();
    let mut by_side = [BTreeMap::new(), BTreeMap::new()];
    for (side, tree) in trees.into_iter().enumerate() {
        for change in tree_diff::compare(git, Some(base), Some(tree))? {
            by_side[side].insert(change.path, (change.was, change.now));
        }
    }
    let paths: BTreeSet<_> = by_side.iter().flat_map(BTreeMap::keys).cloned().collect();
    for path in paths {
        let changed = [by_side[0].get(&path).copied(), by_side[1].get(&path).copied()];
        let base = changed.iter().flatten().find_map(|(was, _)| *was);
        let versions =
            FileVersions { base, sides: changed.map(|it| it.map_or(base, |(_, now)| now)) };
        if let Some(folder) = folders.palace_of(&path)? {
            let path = path[folder.len()..].to_owned();
            changes.palaces.entry(folder).or_default().insert(path, versions);
        } else if synced_notes.contains(&path) {
            changes.notes.insert(path, versions);
        }
    }
    Ok(changes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_repository::TestHome;

    const HALL: &str = "keep/rooms/hall.yaml";

    fn commit(scene: &TestHome, path: &str, text: &str) {
        scene.write_file(path, text);
        scene.git(&["add", "."]);
        scene.git(&["commit", "-qm", path]);
    }

    /// Merges by taking the greater content of each file, and counts the changed files.
    fn take_greater(versions: &PalaceVersions<'_>) -> MergedPalace {
        let [mut files, other] = versions.sides.clone();
        for (path, content) in other {
            let file = files.entry(path).or_default();
            *file = content.max(std::mem::take(file));
        }
        MergedPalace { conflicts: files.len(), files }
    }

    fn merge(scene: &TestHome, one: &str, other: &str) -> Option<(String, usize)> {
        let store = scene.palace("keep").for_whole_repository().unwrap().unwrap();
        let repository = store.require_repository().unwrap();
        let history = HistoryReader::new(&repository);
        let merger = TreeMerger { history: &history, merge_palace: &take_greater };
        let id = |it| ObjectId::from_hex(scene.git(&["rev-parse", it]).trim().as_bytes()).unwrap();
        let sides = [id(one), id(other)];
        let ranges = SideCommits::of_both_sides(&history, sides[0], Some(sides[1])).unwrap();
        let merged = merger.merge_commits(sides, &ranges).unwrap()?;
        let listed = tree_diff::compare(&history.git, None, Some(merged.tree)).unwrap();
        let text = |it: TreeEntry| history.git.find_blob(it.id).unwrap().take_data();
        let line = |path: String, it| format!("{path}: {}", String::from_utf8(text(it)).unwrap());
        let lines = listed.into_iter().filter_map(|it| Some(line(it.path, it.now?)));
        Some((lines.collect(), merged.conflicts))
    }

    fn scene_with_palace() -> TestHome {
        let scene = TestHome::with_repository();
        commit(&scene, "keep/palace.toml", "name = \"T\"\n");
        commit(&scene, HALL, "1\n");
        scene.git(&["branch", "side"]);
        scene
    }

    #[test]
    fn two_branches_are_merged_in_either_order() {
        let scene = scene_with_palace();
        commit(&scene, HALL, "2\n");
        commit(&scene, "keep/rooms/loft.yaml", "loft\n");
        scene.git(&["checkout", "-q", "side"]);
        commit(&scene, HALL, "3\n");
        let merged = merge(&scene, "main", "side").unwrap();
        let expected = "keep/palace.toml: name = \"T\"\nkeep/rooms/hall.yaml: 3\n\
                        keep/rooms/loft.yaml: loft\nnotes.md: notes\n";
        assert_eq!(merged, (expected.to_owned(), 2));
        assert_eq!(merge(&scene, "side", "main"), Some(merged));
        scene.git(&["checkout", "-q", "--orphan", "other"]);
        scene.git(&["commit", "-qm", "other"]);
        assert_eq!(merge(&scene, "other", "main"), None);
    }

    #[test]
    fn two_branches_that_merged_each_other_are_merged_in_either_order() {
        let scene = scene_with_palace();
        commit(&scene, "keep/rooms/a.yaml", "a\n");
        scene.git(&["branch", "one"]);
        scene.git(&["checkout", "-q", "side"]);
        commit(&scene, "keep/rooms/b.yaml", "b\n");
        scene.git(&["branch", "two"]);
        scene.git(&["merge", "-q", "--no-edit", "one"]);
        commit(&scene, HALL, "2\n");
        scene.git(&["checkout", "-q", "main"]);
        scene.git(&["merge", "-q", "--no-edit", "two"]);
        commit(&scene, HALL, "3\n");
        let (text, count) = merge(&scene, "main", "side").unwrap();
        assert!(text.contains("hall.yaml: 3\n") && text.contains("b.yaml: b\n"), "{text}");
        assert_eq!(count, 1, "the files of the merged bases are not changed");
        assert_eq!(merge(&scene, "side", "main"), Some((text, count)));
    }
}
