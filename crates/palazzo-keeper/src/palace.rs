//! One open palace in memory, kept up to date with its files and its repository.

pub(crate) mod accompanying_edits;
mod change_files;
pub(crate) mod change_plan;
pub(crate) mod entity_cache;
pub(crate) mod faulty_entities;
pub(crate) mod file_states;
pub(crate) mod findings;
pub(crate) mod loaded_palace;
pub(crate) mod open_conflicts;
pub(crate) mod open_palace;
pub(crate) mod provenance;
pub(crate) mod read_history;
pub(crate) mod reference_edits;
pub(crate) mod reload;
pub(crate) mod rename_lookup;
pub(crate) mod resolve;
pub(crate) mod room_scope;
pub(crate) mod search_documents;
pub(crate) mod semantic_index;
pub(crate) mod stale_items;
pub(crate) mod text_warnings;
pub(crate) mod visit_changes;

use std::sync::Arc;

use crate::Refusal;
use crate::error::format_error_chain;
use crate::palace::loaded_palace::LoadedPalace;
use crate::palace::open_palace::WatchConfig;
use palazzo_core::format::PalacePath;
use palazzo_core::model::{Code, CommitId, CommitMode, CommitSummary, Diagnostic};
use palazzo_store::{self as store, CommitReport, Store};

pub(crate) use open_palace::OpenPalace;

impl OpenPalace {
    /// Opens a palace: reads all files, and begins to watch for changes by others.
    pub(crate) fn open(store: Store, name: &str, config: &WatchConfig) -> Result<Self, Refusal> {
        let mut palace = Self::open_without_writing(store, name, config)?;
        palace.finish_open();
        Ok(palace)
    }

    /// Opens a palace as [`OpenPalace::open`] does, but writes nothing;
    /// [`OpenPalace::finish_open`] must be called before it is used.
    pub(crate) fn open_without_writing(
        store: Store,
        name: &str,
        config: &WatchConfig,
    ) -> Result<Self, Refusal> {
        let mut palace = Self::from_loaded(LoadedPalace::empty(store, name), config.warn);
        palace.loaded.head = palace.read_head()?;
        palace.start_watching(config);
        palace.read_all()?;
        palace.check_lost_history();
        Ok(palace)
    }

    /// Ends the report of the progress, and saves the entity cache, so that the next start is
    /// quicker.
    pub(crate) fn finish_open(&mut self) {
        self.stop_progress();
        self.write_entity_cache();
    }

    /// Applies what others have saved and committed since the last call. An uncommitted change to
    /// a file that is not watched is noticed when that file is read.
    pub(crate) fn catch_up(&mut self) -> Result<(), Refusal> {
        if self.is_snapshot() {
            return Ok(());
        }
        self.store.begin_call();
        self.apply_changes_of_others(true)
    }

    /// Applies the changes of others. Soon after the call has begun, their commits suffice: another
    /// Palazzo commits what it writes, and what a person saves is found when the files of the change
    /// are compared with those on disk.
    fn apply_changes_of_others(&mut self, is_late: bool) -> Result<(), Refusal> {
        if is_late || self.palace.settings.commit != CommitMode::Auto {
            self.apply_saved_changes()?;
        }
        self.apply_commits_of_others()?;
        self.refresh_file(PalacePath::SETTINGS_FILE);
        Ok(())
    }

    /// Applies what other programs have committed since the last look.
    fn apply_commits_of_others(&mut self) -> Result<(), Refusal> {
        let head = self.read_head()?;
        if head != self.head && self.repository_fault.is_none() {
            let paths = self.files_changed_since_last_head(head.as_ref());
            self.apply_committed_changes(paths)?;
            self.loaded.head = head;
        }
        Ok(())
    }

    /// Reads a file that is about to be changed; refuses a file with errors, because a change
    /// could lose what was not parsed.
    pub(crate) fn read_file_for_change(&mut self, path: &str) -> Result<Option<String>, Refusal> {
        if let Some(limits) = &self.snapshot_miss_flag {
            return Err(limits.set_and_refuse());
        }
        let text = self.reread_file(path);
        match self.file_error(path) {
            Some(finding) => Err(Refusal::BrokenFile(finding.clone().into())),
            None => Ok(text),
        }
    }

    /// Catches up for a session; refuses a palace that this program does not read.
    pub(crate) fn begin_session(&mut self) -> Result<(), Refusal> {
        self.catch_up()?;
        self.check_format_version()
    }

    /// Refuses a palace with files of another format than this program reads.
    pub(crate) fn check_format_version(&self) -> Result<(), Refusal> {
        let mut findings = self.findings_in(PalacePath::SETTINGS_FILE);
        match findings.find(|it| it.code == Code::FormatVersion) {
            Some(finding) => Err(Refusal::OtherFormat(finding.clone().into())),
            None => Ok(()),
        }
    }

    /// Writes the objects of a planned change of many files, before the locks are taken for it.
    pub(crate) fn write_blobs_before_change<'t>(
        &self,
        texts: impl Iterator<Item = &'t str>,
    ) -> Result<(), Refusal> {
        if self.palace.settings.commit == CommitMode::Auto {
            self.store.write_blobs_before_change(texts)?;
        }
        Ok(())
    }

    /// Takes the finished changes: their commits, and the warnings after them.
    pub(crate) fn take_commit_reports(&mut self) -> Vec<CommitReport> {
        std::mem::take(&mut self.commit_reports)
    }

    /// Reports no more progress: the work that the call waited for is done.
    fn stop_progress(&mut self) {
        self.loaded.store.set_progress_listener(None);
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
                let err = self.store.check_last_commit_readable().err().unwrap_or(err);
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
    pub(crate) fn check_last_commit_readable(&mut self) -> Result<(), Refusal> {
        match self.store.check_last_commit_readable() {
            Err(err) if err.is_repository_error() => {
                self.loaded.repository_fault = Some(repository_diagnostic(&err));
            }
            checked => checked?,
        }
        Ok(())
    }

    /// Stores a repository fault, and warns of it the first time. From now on the files are read without
    /// their history, and one finding reports the reason.
    fn report_repository_fault(&mut self, fault: Diagnostic) {
        if self.repository_fault.is_none() {
            (self.warn)(&fault.message);
            self.loaded.repository_fault = Some(fault);
        }
    }

    /// Checks that the palace has not lost its history.
    fn check_lost_history(&mut self) {
        if self.palace.settings.commit == CommitMode::Auto
            && let Some(err) = self.store.error_if_history_lost()
        {
            self.report_repository_fault(repository_diagnostic(&err));
        }
    }

    /// Returns the last commit; `None`: there is none, or it cannot be read.
    fn read_head(&mut self) -> Result<Option<CommitId>, Refusal> {
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
    fn files_changed_since_last_head(&self, head: Option<&CommitId>) -> Vec<String> {
        let changed = self.store.changed_paths_between(self.head.as_ref(), head);
        changed.unwrap_or_else(|_| vec![String::new()])
    }

    /// Applies the text of a file that is open in an editor. A text that cannot be parsed is
    /// reported, and the last content of the file stays.
    pub(crate) fn set_open_buffer(&mut self, path: &str, text: &str) {
        self.loaded.store.set_open_buffer(path, Some(text.to_owned()));
        self.apply_own_write(path, Some(text));
        self.retry_name_conflicts();
    }

    /// Applies the file on disk again.
    pub(crate) fn close_buffer(&mut self, path: &str) {
        self.loaded.store.set_open_buffer(path, None);
        self.reread_file(path);
    }
}

/// Converts an error of the repository to a finding.
fn repository_diagnostic(err: &store::Error) -> Diagnostic {
    Diagnostic::for_file(Code::Repository, ".git", format_error_chain(err))
}
