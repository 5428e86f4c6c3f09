//! Looks up one path in many commits.

use gix::ObjectId;
use gix::bstr::BString;
use gix::objs::FindExt as _;

use crate::history::commits::HistoryReader;

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
    /// Looks up the folder of the palace.
    pub(crate) fn for_palace(past: &'p HistoryReader<'p>) -> Self {
        Self::new(past, past.repository.prefix.trim_end_matches('/'), true)
    }

    /// Looks up the file at `path` in the palace; with a slash at the end, the folder.
    pub(crate) fn for_file(past: &'p HistoryReader<'p>, path: &str) -> Self {
        let is_folder = path.ends_with('/');
        Self::new(past, &format!("{}{path}", past.repository.prefix), is_folder)
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
