//! What is known about the upstream without reaching it.

use palazzo_core::model::Consent;

use crate::history::commits::HistoryReader;
use crate::repo::ref_folder;
use crate::sync::error::SyncError;
use crate::sync::record::SyncRecord;
use crate::sync::upstream::Upstream;
use crate::{Error, Store};

/// The folder with the conflicts of a palace.
pub(crate) const CONFLICTS_FOLDER: &str = "conflicts";

/// The state of the current branch compared with its upstream, as last fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyncStatus {
    /// The upstream.
    pub upstream: Upstream,
    /// The number of commits that the remote lacks; `None`: it was never reached.
    pub ahead: Option<usize>,
    /// The number of commits of the remote that are missing here; `None`: it was never reached.
    pub behind: Option<usize>,
    /// What is known of the last synchronizations.
    pub record: SyncRecord,
}

impl Store {
    /// Returns the state of the current branch as last fetched.
    pub fn sync_status(&self) -> Result<SyncStatus, Error> {
        let upstream = self.upstream()?;
        let repository = self.require_repository()?;
        let ours = repository.head()?.ok_or(SyncError::NoCommit)?;
        let theirs = ref_folder::find_ref(&repository, &upstream.tracking_ref())?;
        let history = HistoryReader::new(&repository);
        let count = |tip, hidden| -> gix::Result<usize> {
            history.walk_commits([tip], [hidden])?.try_fold(0, |sum, it| it.map(|_| sum + 1))
        };
        let failed = |err| repository.git_error("count commits", err);
        let ahead = theirs.map(|it| count(ours, it)).transpose().map_err(failed)?;
        let behind = theirs.map(|it| count(it, ours)).transpose().map_err(failed)?;
        Ok(SyncStatus { upstream, ahead, behind, record: self.sync_record() })
    }

    /// Returns whether the user allows to synchronize with the upstream.
    pub fn is_sync_allowed(&self, upstream: &Upstream) -> Result<bool, Error> {
        self.repository.consents.is_allowed(&Consent::for_sync(&upstream.work, &upstream.url))
    }

    /// Counts the conflicts that are recorded in the palace.
    pub fn count_conflicts(&self) -> usize {
        let Ok(entries) = std::fs::read_dir(self.palace_folder().join(CONFLICTS_FOLDER)) else {
            return 0;
        };
        let is_conflict = |it: &std::fs::DirEntry| {
            let is_yaml = it.path().extension().is_some_and(|it| it == "yaml");
            is_yaml && it.file_type().is_ok_and(|it| it.is_file())
        };
        entries.flatten().filter(is_conflict).count()
    }
}
