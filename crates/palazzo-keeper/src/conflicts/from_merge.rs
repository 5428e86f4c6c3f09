//! Makes the files of the conflicts that a merge has found.

use crate::merge::MergeConflict;
use palazzo_core::format::serialize_conflict;
use palazzo_core::merge::Side;
use palazzo_core::model::{Conflict, ConflictAuthor};

impl From<&MergeConflict> for Conflict {
    fn from(it: &MergeConflict) -> Self {
        let author = |side: &Side| ConflictAuthor {
            author: side.author.clone(),
            at: Some(side.at),
            commit: Some(side.commit.clone()),
        };
        Self {
            id: it.id.as_ref().and_then(|it| it.parse().ok()),
            file: it.path.clone(),
            field: it.field.clone(),
            stands: it.stands.clone(),
            stands_by: Some(author(&it.stands_by)),
            other: it.other.clone(),
            other_by: Some(author(&it.other_by)),
        }
    }
}

/// Returns the file of a conflict, as its path and its text: the same on every machine.
pub fn conflict_file(it: &MergeConflict) -> (String, String) {
    (Conflict::path_of_name(&it.name()), serialize_conflict(&it.into()))
}
