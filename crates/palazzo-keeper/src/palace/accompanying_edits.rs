//! The edits that a change brings along: it settles conflicts, and adds the schemas of its files and
//! the folder `.palazzo`.

use std::collections::BTreeSet;

use crate::palace::open_palace::OpenPalace;
use palazzo_core::format;
use palazzo_core::model::FileEdit;
use palazzo_store::Store;

impl OpenPalace {
    /// Adds the edits that a change brings along: settled conflicts, schemas, the folder `.palazzo`.
    pub(in crate::palace) fn add_accompanying_edits(&mut self, edits: &mut Vec<FileEdit>) {
        edits.extend(self.settled_conflict_edits(edits));
        let new = edits.iter().filter(|it| it.was.is_none());
        let new = new.filter_map(|it| Some((it.path.as_str(), it.now.as_deref()?)));
        let schemas = missing_schema_edits(&self.store, new);
        edits.extend(schemas);
        edits.extend(palazzo_folder_creation(&self.store, edits));
    }
}

/// Returns the schemas that files, as (path, text), lead to and that nobody has put
/// there.
pub(crate) fn missing_schema_edits<'a>(
    store: &Store,
    files: impl Iterator<Item = (&'a str, &'a str)>,
) -> Vec<FileEdit> {
    let kinds: BTreeSet<_> =
        files.filter_map(|(path, text)| format::kind_of_file_with_modeline(path, text)).collect();
    let files = kinds.into_iter().map(|kind| (kind, format::schema_path(kind)));
    let missing = files.filter(|(_, path)| matches!(store.read_file(path), Ok(None)));
    let edit = |(kind, path)| FileEdit {
        path,
        was: None,
        now: Some(format::json_schema_of_file_kind(kind).to_owned()),
    };
    missing.map(edit).collect()
}

/// Returns the file that creates the folder `.palazzo`, unless it exists or `edits` create it. The
/// folder shows later that Palazzo has written to the palace, so that a lost repository is noticed.
fn palazzo_folder_creation(store: &Store, edits: &[FileEdit]) -> Option<FileEdit> {
    let has_folder = store.has_palazzo_folder()
        || edits.iter().any(|it| format::is_schema_or_readme_path(&it.path));
    (!has_folder).then(|| FileEdit {
        path: format::README_PATH.to_owned(),
        was: None,
        now: Some(format::README.to_owned()),
    })
}
