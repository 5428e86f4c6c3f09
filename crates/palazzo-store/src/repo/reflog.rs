//! Reads reflogs.

use std::path::Path;

use gix::ObjectId;

use crate::repo::regular_file;

/// Lists the commits in a reference's log, newest first; none if it cannot be read.
pub(crate) fn read_reflog(log: &Path) -> Vec<ObjectId> {
    let text = regular_file::read_regular_file(log).ok().flatten().unwrap_or_default();
    let lines = text.split(|it| *it == b'\n');
    let id = |line: &[u8]| ObjectId::from_hex(line.get(41..81)?).ok();
    let mut ids: Vec<_> = lines.filter_map(id).filter(|it| !it.is_null()).collect();
    ids.reverse();
    ids
}
