//! Access to the repository of an open palace.
//!
//! If the repository cannot be read, the files are read without their history, and one finding
//! reports the reason.

use std::collections::HashSet;
use std::sync::Arc;

use crate::Refusal;
use crate::error::format_error_chain;
use crate::palace::open_palace::OpenPalace;
use palazzo_core::model::{Code, CommitId, CommitMode, CommitSummary, Diagnostic, FileEdit};
use palazzo_store::{self as store, CommitReport};

impl OpenPalace {
    /// Recovers from a crashed writer; before a write, because readers change nothing.
    pub(crate) fn recover_from_crash(&mut self) -> Result<(), Refusal> {
        if self.store.needs_recovery()? {
            let wait = self.publish_while_waiting();
            let recovered = self.loaded.store.recover_from_crash();
            drop(wait);
            recovered?;
        }
        let temporary_files = std::mem::take(&mut self.temporary_files);
        Ok(self.store.remove_stale_temporaries(&temporary_files)?)
    }

    /// Updates the file history cache to `HEAD`.
    pub(crate) fn update_file_history_cache(&mut self) -> Result<(), Refusal> {
        self.update_file_history_cache_within(usize::MAX)
    }

    /// Updates the file history cache to `HEAD`, unless more than `limit` commits are new.
    pub(crate) fn update_file_history_cache_within(&mut self, limit: usize) -> Result<(), Refusal> {
        if self.is_snapshot() && self.history_cache.head.is_some() {
            return Ok(());
        }
        self.withdraw_snapshot();
        let history_cache = Arc::make_mut(&mut self.loaded.history_cache);
        let updated = self.loaded.store.update_file_history_cache_within(history_cache, limit);
        match updated {
            // A repository fault is reported once, and the files are read without their history.
            Err(err) if self.repository_fault.is_some() || err.is_repository_error() => {
                let err = self.store.check_last_commit().err().unwrap_or(err);
                self.report_repository_fault(repository_diagnostic(&err));
                Ok(())
            }
            updated => Ok(updated?),
        }
    }

    /// Returns the newest commits of the palace; none if the history cannot be read.
    pub(crate) fn recent_commits(&self, limit: usize) -> Result<Vec<CommitSummary>, Refusal> {
        match self.store.recent_commits(limit) {
            Err(err) if err.is_repository_error() => Ok(Vec::new()),
            recent => Ok(recent?),
        }
    }

    /// Checks that the last commit can be read completely.
    pub(crate) fn check_last_commit(&mut self) -> Result<(), Refusal> {
        match self.store.check_last_commit() {
            Err(err) if err.is_repository_error() => {
                self.loaded.repository_fault = Some(repository_diagnostic(&err));
            }
            checked => checked?,
        }
        Ok(())
    }

    /// Stores a repository fault, and warns of it the first time.
    fn report_repository_fault(&mut self, fault: Diagnostic) {
        if self.repository_fault.is_none() {
            (self.warn)(&fault.message);
            self.loaded.repository_fault = Some(fault);
        }
    }

    /// Checks that the palace has not lost its history.
    pub(crate) fn check_lost_history(&mut self) {
        if self.palace.settings.commit == CommitMode::Auto
            && let Some(err) = self.store.error_if_history_lost()
        {
            self.report_repository_fault(repository_diagnostic(&err));
        }
    }

    /// Returns the last commit; `None`: there is none, or it cannot be read.
    pub(crate) fn read_head(&mut self) -> Result<Option<CommitId>, Refusal> {
        match self.store.head() {
            Ok(head) => {
                self.loaded.repository_fault = None;
                Ok(head)
            }
            Err(err) if err.is_repository_error() => {
                self.report_repository_fault(repository_diagnostic(&err));
                Ok(None)
            }
            Err(err) => Err(err.into()),
        }
    }

    /// Lists the files that differ between the commit last seen and `head`; all if one of the two
    /// cannot be read.
    pub(crate) fn files_changed_since_last_head(&self, head: Option<&CommitId>) -> Vec<String> {
        let changed = self.store.changed_paths_between(self.head.as_ref(), head);
        changed.unwrap_or_else(|_| vec![String::new()])
    }

    /// Sets the last seen commit to our own commit, and applies what others committed before it.
    pub(crate) fn advance_head(
        &mut self,
        done: &CommitReport,
        own_edits: &[FileEdit],
    ) -> Result<(), Refusal> {
        let CommitReport { commit: Some(commit), previous, .. } = done else { return Ok(()) };
        if *previous != self.head {
            let own_paths: HashSet<&str> = own_edits.iter().map(|it| it.path.as_str()).collect();
            let mut paths = self.files_changed_since_last_head(Some(commit));
            paths.retain(|path| !own_paths.contains(path.as_str()));
            self.apply_committed_changes(paths)?;
        }
        self.loaded.head = Some(commit.clone());
        Ok(())
    }
}

/// Converts an error of the repository to a finding.
fn repository_diagnostic(err: &store::Error) -> Diagnostic {
    Diagnostic::for_file(Code::Repository, ".git", format_error_chain(err))
}
