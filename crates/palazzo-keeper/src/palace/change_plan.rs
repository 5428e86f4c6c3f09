//! A change that an operation plans: its edits and its commit message.

use palazzo_core::format;
use palazzo_core::model::FileEdit;
use palazzo_store::Store;
use std::collections::{BTreeMap, BTreeSet};

/// What a tool wants done to the files, and what to say of it in history.
#[derive(Default)]
pub(crate) struct ChangePlan {
    pub(crate) edits: Vec<FileEdit>,
    pub(crate) subject: String,
    pub(crate) body: String,
}

/// Whether a change is committed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChangeMode {
    /// It is committed, unless the palace leaves commits to the user.
    #[default]
    Commit,
    /// Its files are written, and the user commits them.
    WithoutCommit,
    /// It is only planned.
    DryRun,
}

impl ChangeMode {
    /// Returns whether the change is only planned.
    pub fn is_dry_run(self) -> bool {
        self == Self::DryRun
    }

    /// Returns the mode of a change that is committed, unless it is a dry run.
    pub fn commit_unless_dry_run(is_dry_run: bool) -> Self {
        if is_dry_run { Self::DryRun } else { Self::Commit }
    }
}

/// How a change is made.
#[derive(Default)]
pub(crate) struct ChangeOptions<'a> {
    pub(crate) mode: ChangeMode,
    /// Whether it excludes other changes that depend on something being absent.
    pub(crate) is_exclusive: bool,
    /// The trailers of the commit after those of the caller.
    pub(crate) more_trailers: &'a [(&'static str, String)],
    /// Whether files are executable after the change, by path; others keep their mode.
    pub(crate) executable: BTreeMap<String, bool>,
}

impl ChangeOptions<'_> {
    /// Returns the options of a change that depends on something being absent.
    pub(crate) fn exclusive() -> Self {
        Self::exclusive_in_mode(ChangeMode::Commit)
    }

    /// Returns the options of a change in a mode; it is exclusive, unless it is only planned.
    pub(crate) fn exclusive_in_mode(mode: ChangeMode) -> Self {
        Self { mode, is_exclusive: !mode.is_dry_run(), ..Self::default() }
    }
}

/// The outcome of a planned change.
pub(crate) enum PlanOutcome {
    /// It was made, with these edits.
    Done(Vec<FileEdit>),
    /// The files are not as they were when it was planned.
    Stale,
    /// A commit has to be signed first.
    SignatureMissing,
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
pub(crate) fn palazzo_folder_creation(store: &Store, edits: &[FileEdit]) -> Option<FileEdit> {
    let has_folder = store.has_palazzo_folder()
        || edits.iter().any(|it| format::is_schema_or_readme_path(&it.path));
    (!has_folder).then(|| FileEdit {
        path: format::README_PATH.to_owned(),
        was: None,
        now: Some(format::README.to_owned()),
    })
}
