//! A change that an operation plans: its edits and its commit message.

use crate::format;
use crate::model::Edit;
use crate::store::Store;
use std::collections::BTreeSet;

/// What a tool wants done to the files, and what to say of it in history.
#[derive(Default)]
pub(crate) struct ChangePlan {
    pub(crate) edits: Vec<Edit>,
    pub(crate) subject: String,
    pub(crate) body: String,
}

/// Returns the schemas that files, as (path, text), lead to and that nobody has put
/// there.
pub(crate) fn missing_schema_edits<'a>(
    store: &Store,
    files: impl Iterator<Item = (&'a str, &'a str)>,
) -> Vec<Edit> {
    let kinds: BTreeSet<_> =
        files.filter_map(|(path, text)| format::modeline_kind(path, text)).collect();
    let files = kinds.into_iter().map(|kind| (kind, format::schema_path(kind)));
    let missing = files.filter(|(_, path)| matches!(store.read_file(path), Ok(None)));
    let edit = |(kind, path)| Edit { path, was: None, now: Some(format::schema_for_kind(kind)) };
    missing.map(edit).collect()
}
