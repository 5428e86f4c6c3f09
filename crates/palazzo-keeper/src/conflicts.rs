//! Lists and settles conflicts: two values for one field, from a merge.

pub(crate) mod findings;
pub(crate) mod from_merge;
pub(crate) mod resolve;

use crate::{Refusal, Session};
use palazzo_core::model::{Conflict, OpenConflict, quoted};

/// Returns the conflicts that are not settled, by file.
pub fn list_conflicts(session: &Session<'_>) -> Vec<OpenConflict> {
    let mut conflicts = session.palace.open_conflicts();
    conflicts
        .sort_by(|a, b| (&a.item_file, &a.conflict.field).cmp(&(&b.item_file, &b.conflict.field)));
    conflicts
}

/// Returns the only open conflict whose name begins with `id`; `id` may also be its file.
pub(crate) fn find_conflict(open: Vec<OpenConflict>, id: &str) -> Result<OpenConflict, Refusal> {
    let wanted = Conflict::name_from_path(id.trim()).to_lowercase();
    let known: Vec<_> = open.iter().map(|it| quoted(&it.short_id)).collect();
    let is_meant =
        |it: &OpenConflict| Conflict::name_from_path(&it.path).to_lowercase().starts_with(&wanted);
    let mut found = open.into_iter().filter(|it| !wanted.is_empty() && is_meant(it));
    let id = quoted(id);
    let why = match (found.next(), found.next(), known.as_slice()) {
        (Some(only), None, _) => return Ok(only),
        (Some(_), Some(_), _) => format!("several conflicts begin with {id}: give more digits"),
        (None, _, []) => format!("there is no conflict {id}: all are settled"),
        (None, _, known) => {
            let known = known.join(", ");
            format!("there is no open conflict {id}; open are {known}")
        }
    };
    Err(Refusal::Invalid(why))
}
