//! Follows one path through many commits, also where the file was renamed.

use std::collections::HashMap;

use gix::ObjectId;
use gix::bstr::BString;
use gix::objs::FindExt as _;

use crate::history::commits::{CommitNode, HistoryReader};
use palazzo_core::model::MAX_FILE_BYTES;

/// Looks up one path in many trees. The trees share most folders, so the last result is cached per
/// depth.
pub(crate) struct PathLookup<'p> {
    history: &'p HistoryReader<'p>,
    names: Vec<BString>,
    /// By depth, the tree looked up last and the result.
    last_results: Vec<Option<(ObjectId, Option<ObjectId>)>>,
    is_folder: bool,
    buffer: Vec<u8>,
}

impl<'p> PathLookup<'p> {
    /// Looks up the folder of the palace, and the folders of notes outside it.
    pub(crate) fn for_palace(past: &'p HistoryReader<'p>) -> Vec<Self> {
        let palace = past.repository.prefix.trim_end_matches('/');
        let notes = past.note_folders.outside_palace().map(|it| it.path_in_repository.as_str());
        [palace].into_iter().chain(notes).map(|it| Self::new(past, it, true)).collect()
    }

    /// Looks up the file at `path` in the palace; with a slash at the end, the folder.
    pub(crate) fn for_file(past: &'p HistoryReader<'p>, path: &str) -> Self {
        let is_folder = path.ends_with('/');
        Self::new(past, &past.repository.path_in_repository(path), is_folder)
    }

    /// Returns the id of the object at the path in `root`, the root tree of a commit.
    pub(crate) fn find_in_tree(&mut self, root: ObjectId) -> gix::Result<Option<ObjectId>> {
        self.find_below(root, 0)
    }

    fn new(past: &'p HistoryReader<'p>, path: &str, is_folder: bool) -> Self {
        let names: Vec<_> = path.split('/').filter(|it| !it.is_empty()).map(Into::into).collect();
        let last = vec![None; names.len()];
        Self { history: past, names, last_results: last, is_folder, buffer: Vec::new() }
    }

    fn find_below(&mut self, tree: ObjectId, depth: usize) -> gix::Result<Option<ObjectId>> {
        let Some(name) = self.names.get(depth) else { return Ok(Some(tree)) };
        if let Some((_, found)) = self.last_results[depth].filter(|(seen, _)| *seen == tree) {
            return Ok(found);
        }
        let mut here = None;
        for entry in self.history.git.objects.find_tree_iter(&tree, &mut self.buffer)? {
            let entry = entry?;
            if entry.filename == name {
                here = Some((entry.mode.is_tree(), entry.oid.to_owned()));
                break;
            }
        }
        let is_last = depth + 1 == self.names.len();
        let found = match here {
            Some((is_tree, id)) if is_last => (is_tree == self.is_folder).then_some(id),
            Some((true, id)) => self.find_below(id, depth + 1)?,
            _ => None,
        };
        self.last_results[depth] = Some((tree, found));
        Ok(found)
    }
}

/// The maximum number of disappeared files that are compared with an appeared one.
const MAX_CANDIDATES: usize = 100;

/// Returns the path that the file at `path` had in `parent` before `step` renamed it; `None`:
/// `step` did not rename it, or the parent has the file.
pub(crate) fn path_before_rename(
    past: &HistoryReader<'_>,
    step: &CommitNode,
    parent: ObjectId,
    path: &str,
) -> gix::Result<Option<String>> {
    let (was, now) = (past.palace_trees(parent)?, past.palace_trees(step.id)?);
    let changes = past.compare_palace_trees(&was, &now)?;
    let appeared = changes.iter().find(|it| it.path == path && it.was.is_none());
    let Some(new) = appeared.and_then(|it| it.now) else { return Ok(None) };
    let gone = || changes.iter().filter(|it| it.now.is_none());
    if let Some(same) = gone().find(|it| it.was == Some(new)) {
        return Ok(Some(same.path.clone()));
    }
    let Some(new) = read_if_small(past, new.id)? else { return Ok(None) };
    let mut best = None;
    for (old, path) in gone().take(MAX_CANDIDATES).filter_map(|it| Some((it.was?, &it.path))) {
        let Some(old) = read_if_small(past, old.id)? else { continue };
        let (common, longer) = (common_line_bytes(&old, &new), old.len().max(new.len()));
        // At least half must be equal, as in git.
        if common * 2 >= longer && best.is_none_or(|(most, _)| common > most) {
            best = Some((common, path));
        }
    }
    Ok(best.map(|(_, path)| path.clone()))
}

/// Reads a blob, unless it is too large to compare.
fn read_if_small(past: &HistoryReader<'_>, id: ObjectId) -> gix::Result<Option<Vec<u8>>> {
    match past.git.find_header(id)?.size() {
        size if size > MAX_FILE_BYTES as u64 => Ok(None),
        _ => Ok(Some(past.git.find_blob(id)?.take_data())),
    }
}

/// Counts the bytes of the lines that both texts have, in any order.
fn common_line_bytes(old: &[u8], new: &[u8]) -> usize {
    let mut lines: HashMap<&[u8], usize> = HashMap::new();
    for line in old.split_inclusive(|it| *it == b'\n') {
        *lines.entry(line).or_default() += 1;
    }
    let mut common = 0;
    for line in new.split_inclusive(|it| *it == b'\n') {
        if let Some(left) = lines.get_mut(line).filter(|it| **it > 0) {
            *left -= 1;
            common += line.len();
        }
    }
    common
}
