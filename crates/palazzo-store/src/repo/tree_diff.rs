//! Compares two trees, file by file.
//!
//! Equal subtrees are skipped, so the cost depends on the differences only. A tree may be hostile:
//! it can contain another a thousand times, and that one a third, at no cost to its author. So a
//! comparison fails when it exceeds the size of any real palace.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::io;
use std::iter::Peekable;

use gix::ObjectId;
use gix::bstr::{BStr, ByteSlice as _};
use gix::objs::tree::{EntryMode, EntryRef};
use gix::objs::{FindExt as _, TreeRefIter};

/// Limits of ten times the files of a palace of 100,000 entities.
const DEFAULT_LIMITS: CompareLimits =
    CompareLimits { entries: 1_000_000, bytes: 128 * 1024 * 1024, depth: 64 };

/// The limits of a comparison.
#[derive(Clone, Copy, Debug)]
struct CompareLimits {
    /// Tree entries.
    entries: usize,
    /// Total bytes of the paths of all files that differ.
    bytes: usize,
    /// The maximum folder depth of a file.
    depth: usize,
}

/// A file that differs between two trees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TreeChange {
    /// The path in the trees.
    pub(crate) path: String,
    /// The name in the path that is not UTF-8, with escapes. `path` has a replacement for it.
    pub(crate) name_not_utf8: Option<String>,
    pub(crate) was: Option<TreeEntry>,
    pub(crate) now: Option<TreeEntry>,
}

/// A tree entry that is not itself a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TreeEntry {
    pub(crate) mode: EntryMode,
    pub(crate) id: ObjectId,
}

/// Lists the files of a tree; `None` stands for an empty tree.
pub(crate) fn list_files(
    git: &gix::Repository,
    tree: Option<ObjectId>,
) -> gix::Result<BTreeMap<String, TreeEntry>> {
    let files = compare(git, None, tree)?.into_iter();
    Ok(files.filter_map(|it| Some((it.path, it.now?))).collect())
}

/// Lists the files that differ between two trees; `None` stands for an empty tree.
pub(crate) fn compare(
    git: &gix::Repository,
    old: Option<ObjectId>,
    new: Option<ObjectId>,
) -> gix::Result<Vec<TreeChange>> {
    compare_with_limits(git, old, new, DEFAULT_LIMITS)
}

fn compare_with_limits(
    git: &gix::Repository,
    old: Option<ObjectId>,
    new: Option<ObjectId>,
    limits: CompareLimits,
) -> gix::Result<Vec<TreeChange>> {
    let mut comparison =
        TreeComparison { git, changes: Vec::new(), limits, remaining: limits, trees: (old, new) };
    comparison.compare_trees(old, new, &ChangePath::default(), 0)?;
    Ok(comparison.changes)
}

struct TreeComparison<'g> {
    git: &'g gix::Repository,
    changes: Vec<TreeChange>,
    limits: CompareLimits,
    /// What remains of the limits.
    remaining: CompareLimits,
    /// The compared trees.
    trees: (Option<ObjectId>, Option<ObjectId>),
}

/// The path of a folder or a file.
#[derive(Clone, Default)]
struct ChangePath {
    /// Empty for the root.
    text: String,
    name_not_utf8: Option<String>,
}

impl ChangePath {
    fn join(&self, name: &BStr) -> Self {
        let text = match self.text.as_str() {
            "" => name.to_str_lossy().into_owned(),
            folder => format!("{folder}/{}", name.to_str_lossy()),
        };
        let escaped = || name.to_str().is_err().then(|| name.escape_bytes().to_string());
        Self { text, name_not_utf8: self.name_not_utf8.clone().or_else(escaped) }
    }
}

impl TreeComparison<'_> {
    fn compare_trees(
        &mut self,
        old: Option<ObjectId>,
        new: Option<ObjectId>,
        folder: &ChangePath,
        depth: usize,
    ) -> gix::Result<()> {
        if old == new {
            return Ok(());
        }
        if depth > self.limits.depth {
            return Err(
                self.too_large_error(&format!("a file in more than {} folders", self.limits.depth))
            );
        }
        let (mut before, mut after) = (Vec::new(), Vec::new());
        let mut old = self.tree_entries(old, &mut before)?.peekable();
        let mut new = self.tree_entries(new, &mut after)?.peekable();
        while let Some((was, now)) = next_pair(&mut old, &mut new)? {
            let Some(left) = self.remaining.entries.checked_sub(1) else {
                return Err(
                    self.too_large_error(&format!("more than {} entries", self.limits.entries))
                );
            };
            self.remaining.entries = left;
            let is_same = |(was, now): (EntryRef<'_>, EntryRef<'_>)| {
                was.oid == now.oid && was.mode == now.mode
            };
            if !was.zip(now).is_some_and(is_same) {
                self.add_difference(was, now, folder, depth)?;
            }
        }
        Ok(())
    }

    /// Adds the difference of two entries with the same name; one of them may be missing.
    fn add_difference(
        &mut self,
        was: Option<EntryRef<'_>>,
        now: Option<EntryRef<'_>>,
        folder: &ChangePath,
        depth: usize,
    ) -> gix::Result<()> {
        let Some(either) = was.or(now) else { return Ok(()) };
        let path = folder.join(either.filename);
        if either.mode.is_tree() {
            let id = |it: Option<EntryRef<'_>>| it.map(|it| it.oid.to_owned());
            return self.compare_trees(id(was), id(now), &path, depth + 1);
        }
        let Some(left) = self.remaining.bytes.checked_sub(path.text.len()) else {
            return Err(
                self.too_large_error(&format!("more than {} bytes of paths", self.limits.bytes))
            );
        };
        self.remaining.bytes = left;
        let entry = |it: EntryRef<'_>| TreeEntry { mode: it.mode, id: it.oid.to_owned() };
        let ChangePath { text: path, name_not_utf8 } = path;
        let (was, now) = (was.map(entry), now.map(entry));
        self.changes.push(TreeChange { path, name_not_utf8, was, now });
        Ok(())
    }

    fn too_large_error(&self, what: &str) -> gix::Error {
        let (old, new) = self.trees;
        gix::Error::from_error(io::Error::other(format!(
            "trees {} and {} are too large to be compared: {what}",
            tree_label(old),
            tree_label(new)
        )))
    }

    fn tree_entries<'b>(
        &self,
        tree: Option<ObjectId>,
        buffer: &'b mut Vec<u8>,
    ) -> gix::Result<TreeRefIter<'b>> {
        match tree {
            Some(id) => self.git.objects.find_tree_iter(&id, buffer),
            None => Ok(TreeRefIter::from_bytes(b"", self.git.object_hash())),
        }
    }
}

type EntryPair<'a, 'b> = (Option<EntryRef<'a>>, Option<EntryRef<'b>>);

/// Returns the next entries of two trees, as a pair if they have the same name. A file and a folder
/// never match. `None`: both trees are exhausted.
fn next_pair<'a, 'b>(
    old: &mut Peekable<TreeRefIter<'a>>,
    new: &mut Peekable<TreeRefIter<'b>>,
) -> gix::Result<Option<EntryPair<'a, 'b>>> {
    let order = match (old.peek(), new.peek()) {
        (None, None) => return Ok(None),
        (Some(Ok(was)), Some(Ok(now))) => was.cmp(now),
        (Some(Err(_)), Some(_)) | (_, None) => Ordering::Less,
        (None, Some(_)) | (Some(_), Some(Err(_))) => Ordering::Greater,
    };
    let was = if order.is_le() { old.next().transpose()? } else { None };
    let now = if order.is_ge() { new.next().transpose()? } else { None };
    Ok(Some((was, now)))
}

/// Formats a tree id for an error.
fn tree_label(tree: Option<ObjectId>) -> String {
    tree.map_or_else(|| "(none)".to_owned(), |it| it.to_hex_with_len(12).to_string())
}

#[cfg(test)]
mod tests {
    use gix::objs::tree::EntryKind;

    use super::*;
    use crate::test_repository::TestHome;

    fn resolve_tree(git: &gix::Repository, revision: &str) -> ObjectId {
        git.rev_parse_single(revision).unwrap().detach()
    }

    #[test]
    fn comparing_trees_finds_the_same_files_as_git() {
        let scene = TestHome::with_repository();
        for path in ["a/b/c", "a/b-d", "a.b", "a0", "x", "gone/one", "gone/two/three"] {
            scene.write_file(path, path);
        }
        scene.git(&["add", "."]);
        scene.git(&["commit", "-qm", "one"]);
        std::fs::remove_dir_all(scene.home.join("gone")).unwrap();
        std::fs::remove_file(scene.home.join("x")).unwrap();
        for path in ["a/b/c", "gone", "x/now/a/folder", "new"] {
            scene.write_file(path, "2");
        }
        scene.git(&["add", "."]);
        scene.git(&["update-index", "--chmod=+x", "a0"]);
        scene.git(&["commit", "-qm", "two"]);
        let git = gix::open(&scene.home).unwrap();
        for (old, new) in [("HEAD~1", "HEAD"), ("HEAD", "HEAD~1"), ("HEAD", "HEAD")] {
            let spec = |it: &str| format!("{it}^{{tree}}");
            let (was, now) = (resolve_tree(&git, &spec(old)), resolve_tree(&git, &spec(new)));
            let ours = compare(&git, Some(was), Some(now)).unwrap();
            let mut ours: Vec<_> = ours.into_iter().map(|it| it.path).collect();
            ours.sort();
            let gits = scene.git(&["diff", "--no-renames", "--name-only", old, new]);
            assert_eq!(ours, gits.lines().collect::<Vec<_>>());
        }
        let all = compare(&git, None, Some(resolve_tree(&git, "HEAD^{tree}"))).unwrap();
        assert_eq!(all.len(), scene.git(&["ls-files"]).lines().count());
        assert!(all.iter().all(|it| it.was.is_none() && it.now.is_some()));
    }

    /// Writes a tree that is `depth` folders deep; each folder contains the next one `times` times,
    /// and the last one as many files.
    fn write_nested_tree(git: &gix::Repository, times: usize, depth: usize) -> ObjectId {
        let (mut mode, mut oid) = (EntryKind::Blob, ObjectId::empty_blob(git.object_hash()));
        for _ in 0..=depth {
            let entry = |number| gix::objs::tree::Entry {
                mode: mode.into(),
                filename: format!("{number:03}").into(),
                oid,
            };
            let entries = (0..times).map(entry).collect();
            oid = git.write_object(gix::objs::Tree { entries }).unwrap().detach();
            mode = EntryKind::Tree;
        }
        oid
    }

    #[test]
    fn comparing_an_exponentially_nested_tree_is_an_error() {
        let scene = TestHome::with_repository();
        let git = gix::open(&scene.home).unwrap();
        for (times, depth, what) in
            [(1_000, 2, "more than 1000000 entries"), (1, 70, "a file in more than 64 folders")]
        {
            let tree = write_nested_tree(&git, times, depth);
            let refused = compare(&git, None, Some(tree)).unwrap_err().to_string();
            let name = tree.to_hex_with_len(12);
            let expected = format!("trees (none) and {name} are too large to be compared: {what}");
            assert_eq!(refused, expected);
            // Equal trees are not compared.
            assert_eq!(compare(&git, Some(tree), Some(tree)).unwrap(), []);
        }
    }

    #[test]
    fn a_comparison_at_its_limits_is_complete_and_beyond_them_an_error() {
        let scene = TestHome::with_repository();
        let git = gix::open(&scene.home).unwrap();
        // Ten folders, each with ten files with paths of seven bytes.
        let tree = write_nested_tree(&git, 10, 1);
        let limits = |entries, bytes, depth| CompareLimits { entries, bytes, depth };
        let compare = |limits| compare_with_limits(&git, None, Some(tree), limits);
        assert_eq!(compare(limits(110, 700, 1)).unwrap().len(), 100);
        for (limits, what) in [
            (limits(109, 700, 1), "more than 109 entries"),
            (limits(110, 699, 1), "more than 699 bytes of paths"),
            (limits(110, 700, 0), "a file in more than 0 folders"),
        ] {
            let refused = compare(limits).unwrap_err().to_string();
            assert!(refused.ends_with(what), "{refused}");
        }
    }

    #[test]
    fn all_callers_report_trees_too_large_to_compare() {
        let scene = TestHome::with_repository();
        let tree = write_nested_tree(&gix::open(&scene.home).unwrap(), 1, 70).to_string();
        let palace = scene.git_with_input(&["mktree"], &format!("040000 tree {tree}\tkeep\n"));
        let commit = scene.git(&["commit-tree", palace.trim(), "-p", "HEAD", "-m", "too much"]);
        scene.git(&["update-ref", "HEAD", commit.trim()]);
        let store = scene.palace("keep");
        let head = store.head().unwrap();
        for refused in [
            store.update_file_history_cache(&mut crate::FileHistoryCache::default()).unwrap_err(),
            store.diff_since(head.as_ref()).unwrap_err(),
            store.changed_paths_between(None, head.as_ref()).unwrap_err(),
            store.log(&[], |_| true).unwrap_err(),
        ] {
            let refused = refused.message_with_causes();
            assert!(refused.contains("too large to be compared: a file in more"), "{refused}");
        }
    }
}
