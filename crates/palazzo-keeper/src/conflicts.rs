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
    let not_found = |what, hint| Refusal::NotFound { what, name: id.to_owned(), hint };
    Err(match (found.next(), found.next(), known.as_slice()) {
        (Some(only), None, _) => return Ok(only),
        (Some(_), Some(_), _) => {
            let id = quoted(id);
            Refusal::Invalid(format!("several conflicts begin with {id}: give more digits"))
        }
        (None, _, []) => not_found("conflict", ": all are settled".to_owned()),
        (None, _, known) => not_found("open conflict", format!("; open are {}", known.join(", "))),
    })
}
