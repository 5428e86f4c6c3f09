//! An open palace: what is in memory of it, and how that is kept up to date and published.

use std::ops::Deref;
use std::path::PathBuf;
use std::sync::Arc;

use chrono::{DateTime, Datelike as _, Utc};

use crate::caller::Caller;
use crate::error::Refusal;
use crate::palace::loaded_palace::LoadedPalace;
use crate::palace::published_snapshots::{SnapshotMissFlag, SnapshotSlot, WaitGuard};
use crate::semantic::vector_store::{EmbeddedQuery, VectorStore};
use palazzo_core::model::Grouping;
use palazzo_store::CommitReport;
use palazzo_store::watch::PalaceWatcher;

/// An open palace. It is read as a [`LoadedPalace`]; only the modules of this folder change it.
pub(crate) struct OpenPalace {
    pub(in crate::palace) loaded: LoadedPalace,
    pub(crate) watch: Option<PalaceWatcher>,
    /// Whether a file has freed a name that another file may claim.
    pub(crate) name_freed: bool,
    /// The temporary files that were there when the palace was read.
    pub(crate) temporary_files: Vec<PathBuf>,
    /// Whether many entities were parsed that the cache could have supplied.
    pub(crate) should_write_entity_cache: bool,
    /// Where it is published for readers while a call waits.
    pub(crate) publication: Option<SnapshotSlot>,
    /// The limits of a snapshot; `None`: this is not a snapshot.
    pub(crate) snapshot_miss_flag: Option<SnapshotMissFlag>,
    /// The changes that were not taken yet.
    pub(crate) commit_reports: Vec<CommitReport>,
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
            snapshot_miss_flag: None,
            commit_reports: Vec::new(),
            warn,
        }
    }

    /// Embeds a query; others can read while the model is loaded.
    pub(crate) fn embed_query<'a>(
        &self,
        vectors: &'a VectorStore,
        question: &str,
    ) -> EmbeddedQuery<'a> {
        let _wait = vectors.is_loading_model().then(|| self.publish_while_waiting());
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
    pub(crate) fn from_snapshot(snapshot: &LoadedPalace, limits: SnapshotMissFlag) -> Self {
        Self {
            snapshot_miss_flag: Some(limits),
            ..Self::from_loaded(snapshot.clone_for_reading(), |_| {})
        }
    }

    /// Returns whether this is a snapshot, which never changes.
    pub(crate) fn is_snapshot(&self) -> bool {
        self.snapshot_miss_flag.is_some()
    }

    /// Publishes the palace for readers while this call waits.
    pub(crate) fn publish_while_waiting(&self) -> WaitGuard {
        match &self.publication {
            Some(publication) => publication.publish_while_waiting(self.loaded.clone_for_reading()),
            None => WaitGuard::without_callback(),
        }
    }

    /// Withdraws the snapshot before the palace changes in memory.
    pub(crate) fn withdraw_snapshot(&self) {
        if let Some(publication) = &self.publication {
            publication.withdraw();
        }
    }

    /// Refuses a change of a snapshot, where nothing may be changed, or at a time that files and
    /// git cannot hold.
    pub(crate) fn check_writable(&self, by: &Caller) -> Result<(), Refusal> {
        match &self.snapshot_miss_flag {
            Some(limits) => Err(limits.set_and_refuse()),
            None if self.store().is_read_only() => Err(Refusal::ReadOnly),
            None => reject_unstorable_time(by.now),
        }
    }
}

/// Refuses to write at a time whose dates files and git cannot hold.
fn reject_unstorable_time(now: DateTime<Utc>) -> Result<(), Refusal> {
    match now.year() {
        1970..=9999 => Ok(()),
        _ => Err(Refusal::InvalidClock(now)),
    }
}
