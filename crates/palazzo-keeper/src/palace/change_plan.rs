//! A change that an operation plans: its edits and its commit message.

use palazzo_core::model::FileEdit;
use std::collections::BTreeMap;

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
