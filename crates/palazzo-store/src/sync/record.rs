//! What is known of the last synchronizations of a repository on this machine: when the remote was
//! reached, and why the last one failed. It is in `.git/palazzo`, for all processes.
//!
//! Only who holds the lock for synchronizing writes it. It can be lost without harm.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::repo::cache;
use crate::sync::commit_checks::DatedCommit;
use crate::sync::failure_kind::SyncFailureKind;
use crate::{Error, Store};

/// The name of the file in the cache of the repository.
const FILE: &str = "sync-record";

/// What is known of the last synchronizations on this machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SyncRecord {
    /// When the remote was last reached.
    pub last_reached: Option<DateTime<Utc>>,
    /// When commits were last pushed.
    pub last_push: Option<DateTime<Utc>>,
    /// Why the last synchronization failed; `None`: it succeeded.
    pub failure: Option<SyncFailure>,
    /// A commit among those last received that is dated far ahead.
    pub future_commit: Option<DatedCommit>,
}

/// Why synchronizations fail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SyncFailure {
    /// Since when.
    pub since: DateTime<Utc>,
    /// What can end it.
    pub kind: SyncFailureKind,
    /// The reason and what can be done.
    pub message: String,
}

impl Store {
    /// Returns what is known of the last synchronizations; nothing if the file cannot be read.
    pub fn sync_record(&self) -> SyncRecord {
        let repository = self.repository().ok().flatten();
        let bytes = repository.and_then(|it| cache::read_cache_file(&it, "", FILE));
        bytes.and_then(|it| serde_json::from_slice(&it).ok()).unwrap_or_default()
    }

    /// Forgets what is known: a repository that came as an archive may have brought a record.
    pub fn clear_sync_record(&self) -> Result<(), Error> {
        self.update_sync_record(|it| *it = SyncRecord::default())
    }

    /// Changes what is known. The caller holds the lock for synchronizing.
    pub(crate) fn update_sync_record(
        &self,
        change: impl FnOnce(&mut SyncRecord),
    ) -> Result<(), Error> {
        let repository = self.require_repository()?;
        let before = self.sync_record();
        let mut record = before.clone();
        change(&mut record);
        if record == before {
            return Ok(());
        }
        let bytes = serde_json::to_vec(&record).unwrap_or_default();
        cache::write_cache_file(&repository, "", FILE, &bytes)
    }
}

impl SyncRecord {
    /// Records a failure; one of the same kind keeps its begin.
    pub fn set_failure(&mut self, kind: SyncFailureKind, message: String, now: DateTime<Utc>) {
        let before = self.failure.take().filter(|it| it.kind == kind);
        let since = before.map_or(now, |it| it.since);
        self.failure = Some(SyncFailure { since, kind, message });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_repository::TestHome;

    fn time(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    #[test]
    fn a_record_is_read_back_and_a_damaged_one_is_empty() {
        let scene = TestHome::with_repository();
        let store = scene.palace("keep");
        assert_eq!(store.sync_record(), SyncRecord::default());
        let noon = time("2026-03-01T12:00:00Z");
        let change = |it: &mut SyncRecord| {
            (it.last_reached, it.last_push) = (Some(noon), Some(noon));
            it.set_failure(SyncFailureKind::Blocked, "closed".to_owned(), noon);
        };
        store.update_sync_record(change).unwrap();
        let record = store.sync_record();
        assert_eq!((record.last_reached, record.last_push), (Some(noon), Some(noon)));
        assert_eq!(record.failure.unwrap().message, "closed");
        let file = scene.home.join(".git/palazzo/cache/sync-record");
        let whole = std::fs::read(&file).unwrap();
        std::fs::write(&file, &whole[..whole.len() / 2]).unwrap();
        assert_eq!(store.sync_record(), SyncRecord::default());
        let parse = |it| serde_json::from_str::<SyncRecord>(it).ok();
        assert_eq!(parse("[]"), None);
        assert_eq!(parse("{\"new\":1}"), Some(SyncRecord::default()));
    }

    #[test]
    fn a_failure_keeps_its_begin_until_its_kind_changes() {
        let mut record = SyncRecord::default();
        let [first, second, third] = [1, 2, 3].map(|it| time(&format!("2026-03-0{it}T12:00:00Z")));
        record.set_failure(SyncFailureKind::Unreachable, "a".to_owned(), first);
        record.set_failure(SyncFailureKind::Unreachable, "b".to_owned(), second);
        let failure = record.failure.clone().unwrap();
        assert_eq!((failure.since, failure.message.as_str()), (first, "b"));
        record.set_failure(SyncFailureKind::Blocked, "c".to_owned(), third);
        assert_eq!(record.failure.unwrap().since, third);
    }
}
