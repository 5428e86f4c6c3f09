//! What is known about the upstream without reaching it.

use chrono::{DateTime, Utc};

use crate::store::history::commits::HistoryReader;
use crate::store::sync::error::SyncError;
use crate::store::sync::upstream::Upstream;
use crate::store::write::head_move;
use crate::store::{Error, Store};

/// The name of the cache file with the time at which the remote was last reached.
const LAST_REACHED_FILE: &str = "sync-last-reached";
/// The folder with the conflicts of a palace.
const CONFLICTS_FOLDER: &str = "conflicts";

/// The state of the current branch compared with its upstream, as last fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyncStatus {
    /// The upstream.
    pub upstream: Upstream,
    /// The number of commits that the remote lacks; `None`: it was never reached.
    pub ahead: Option<usize>,
    /// The number of commits of the remote that are missing here; `None`: it was never reached.
    pub behind: Option<usize>,
    /// When the remote was last reached.
    pub last_reached: Option<DateTime<Utc>>,
}

impl Store {
    /// Returns the state of the current branch as last fetched.
    pub fn sync_status(&self) -> Result<SyncStatus, Error> {
        let upstream = self.upstream()?;
        let repository = self.require_repository()?;
        let ours = repository.head()?.ok_or(SyncError::NoCommit)?;
        let theirs = head_move::find_ref(&repository, &upstream.tracking_ref())?;
        let history = HistoryReader::new(&repository);
        let count = |tip, hidden| -> gix::Result<usize> {
            history.walk_commits([tip], [hidden])?.try_fold(0, |sum, it| it.map(|_| sum + 1))
        };
        let failed = |err| repository.git_error("count commits", err);
        let ahead = theirs.map(|it| count(ours, it)).transpose().map_err(failed)?;
        let behind = theirs.map(|it| count(it, ours)).transpose().map_err(failed)?;
        let last_reached = self.read_cache(LAST_REACHED_FILE);
        let last_reached = last_reached.and_then(|it| String::from_utf8(it).ok()?.parse().ok());
        Ok(SyncStatus { upstream, ahead, behind, last_reached })
    }

    /// Stores that the remote was reached at `now`.
    pub fn record_sync_time(&self, now: DateTime<Utc>) -> Result<(), Error> {
        self.write_cache(LAST_REACHED_FILE, now.to_rfc3339().as_bytes())
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
