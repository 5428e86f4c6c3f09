//! Detects renames: a file that appeared in the commit in which a similar one disappeared.

use std::collections::HashMap;

use gix::ObjectId;

use palazzo_core::model::MAX_FILE_BYTES;

use crate::history::commits::{CommitNode, HistoryReader};
use crate::repo::tree_diff;

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
    let (was, now) = (past.palace_tree(parent)?, past.palace_tree(step.id)?);
    let changes = tree_diff::compare(&past.git, was, now)?;
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
