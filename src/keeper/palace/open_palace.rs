//! An open palace: what is in memory of it, and how that is kept up to date and published.

use std::ops::Deref;
use std::path::PathBuf;
use std::sync::Arc;

use chrono::{DateTime, Datelike as _, Utc};

use crate::keeper::caller::Caller;
use crate::keeper::error::Refusal;
use crate::keeper::palace::loaded::LoadedPalace;
use crate::keeper::palace::published::{SnapshotLimits, SnapshotSlot, WaitGuard};
use crate::keeper::semantic::vectors::{EmbeddedQuery, VectorStore};
use crate::model::Grouping;
use crate::store::CommitReport;
use crate::watch::Watch;

/// An open palace. It is read as a [`LoadedPalace`]; only the modules of this folder change it.
pub(crate) struct OpenPalace {
    pub(in crate::keeper::palace) loaded: LoadedPalace,
    pub(crate) watch: Option<Watch>,
    /// Whether a file has freed a name that another file may claim.
    pub(crate) name_freed: bool,
    /// The temporary files that were there when the palace was read.
    pub(crate) temporary_files: Vec<PathBuf>,
    /// Whether many entities were parsed that the cache could have supplied.
    pub(crate) should_write_entity_cache: bool,
    /// Where it is published for readers while a call waits.
    pub(crate) publication: Option<SnapshotSlot>,
    /// The limits of a snapshot; `None`: this is not a snapshot.
    pub(crate) snapshot_limits: Option<SnapshotLimits>,
    /// The changes that were not taken yet.
    pub(crate) finished_changes: Vec<CommitReport>,
    /// Reports what went wrong after a change was made.
    pub(crate) warn: fn(&str),
}

impl Deref for OpenPalace {
    type Target = LoadedPalace;

    fn deref(&self) -> &LoadedPalace {
        &self.loaded
    }
}

impl OpenPalace {
    /// Makes an open palace of what is in memory; it is neither watched nor published.
    pub(crate) fn from_loaded(loaded: LoadedPalace, warn: fn(&str)) -> Self {
        Self {
            loaded,
            watch: None,
            name_freed: false,
            temporary_files: Vec::new(),
            should_write_entity_cache: false,
            publication: None,
            snapshot_limits: None,
            finished_changes: Vec::new(),
            warn,
        }
    }

    /// Embeds a query; others can read while the model is loaded.
    pub(crate) fn embed_query<'a>(
        &self,
        vectors: &'a VectorStore,
        question: &str,
    ) -> EmbeddedQuery<'a> {
        let _wait = vectors.is_loading_model().then(|| self.begin_wait());
        vectors.embed_query(question)
    }

    /// Keeps a grouping sorted from now on.
    pub(crate) fn keep_grouping_sorted(&mut self, grouping: &Grouping) {
        if !self.is_snapshot() && !self.palace.graph.has_cached_grouping(grouping) {
            self.withdraw_snapshot();
            Arc::make_mut(&mut self.loaded.palace).graph.cache_grouping(grouping);
        }
    }

    /// Returns an open palace that reads from a snapshot.
    pub(crate) fn from_snapshot(snapshot: &LoadedPalace, limits: SnapshotLimits) -> Self {
        Self { snapshot_limits: Some(limits), ..Self::from_loaded(snapshot.share(), |_| {}) }
    }

    /// Tells whether this is a snapshot, which never changes.
    pub(crate) fn is_snapshot(&self) -> bool {
        self.snapshot_limits.is_some()
    }

    /// Publishes the palace for readers while this call waits.
    pub(crate) fn begin_wait(&self) -> WaitGuard {
        match &self.publication {
            Some(publication) => publication.begin_wait(self.loaded.share()),
            None => WaitGuard::without_notice(),
        }
    }

    /// Withdraws the snapshot before the palace changes in memory.
    pub(crate) fn withdraw_snapshot(&self) {
        if let Some(publication) = &self.publication {
            publication.withdraw();
        }
    }

    /// Refuses a change of a snapshot, or at a time that files and git cannot hold.
    pub(crate) fn check_writable(&self, by: &Caller) -> Result<(), Refusal> {
        match &self.snapshot_limits {
            Some(limits) => Err(limits.refuse()),
            None => check_clock(by.now),
        }
    }
}

/// Refuses to write at a time whose dates files and git cannot hold.
fn check_clock(now: DateTime<Utc>) -> Result<(), Refusal> {
    match now.year() {
        1970..=9999 => Ok(()),
        _ => Err(Refusal::InvalidClock(now)),
    }
}
