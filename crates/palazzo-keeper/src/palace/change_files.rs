//! Makes a change of the files of a palace: plans and commits it, again if another writer was
//! faster, and applies it in memory.

use std::collections::HashSet;
use std::sync::Arc;

use crate::palace::change_plan::{ChangeMode, ChangeOptions, ChangePlan, PlanOutcome};
use crate::palace::open_palace::OpenPalace;
use crate::{Caller, Refusal};
use palazzo_core::format::{self, PalacePath};
use palazzo_core::model::{Changeset, CommitMode, FileEdit, SigningMode, max_file_bytes};
use palazzo_store::{CommitOutcome, CommitReport, PalazzoLock};

/// How often a change is planned again because another writer was faster.
const MAX_ATTEMPTS: usize = 8;

impl OpenPalace {
    /// Makes a change. `plan` returns the edits for the files as they are, and is called again if
    /// another writer was faster or a commit had to be signed. Returns the edits, without those that
    /// change nothing.
    pub(crate) fn change_files(
        &mut self,
        by: &Caller,
        options: &ChangeOptions<'_>,
        mut plan: impl FnMut(&mut Self) -> Result<ChangePlan, Refusal>,
    ) -> Result<Vec<FileEdit>, Refusal> {
        if let Some(moment) = self.store.as_of_commit() {
            return Err(Refusal::ReadOnlyPast(moment.clone()));
        }
        self.check_writable(by)?;
        if options.mode != ChangeMode::DryRun {
            self.recover_from_crash()?;
        }
        self.loaded.store.begin_write();
        let mut attempts = 0;
        while attempts < MAX_ATTEMPTS {
            let alone = self.acquire_filing_lock(options.is_exclusive)?;
            let has_waited = alone.as_ref().is_some_and(PalazzoLock::had_to_wait);
            if has_waited {
                self.store.begin_call();
            }
            self.apply_changes_of_others(has_waited || attempts > 0)?;
            self.check_format_version()?;
            // Unreadable settings may have switched commits off.
            if let Some(finding) = self.file_error(PalacePath::SETTINGS_FILE) {
                return Err(Refusal::BrokenFile(finding.clone().into()));
            }
            let mut plan = plan(self)?;
            plan.edits.retain(|it| it.was != it.now);
            if plan.edits.is_empty() || options.mode == ChangeMode::DryRun {
                return Ok(plan.edits);
            }
            self.add_accompanying_edits(&mut plan.edits);
            match self.try_commit_plan(by, plan, options)? {
                PlanOutcome::Done(edits) => return Ok(edits),
                PlanOutcome::Stale => attempts += 1,
                PlanOutcome::SignatureMissing => {
                    drop(alone);
                    self.sign_missing_commit()?;
                }
            }
            // Meanwhile anything may have happened to the repository.
            self.store.begin_call();
        }
        Err(Refusal::Contended)
    }

    /// Waits for the lock for filing, if the change needs it. It is not held while a commit is signed.
    fn acquire_filing_lock(&mut self, is_needed: bool) -> Result<Option<PalazzoLock>, Refusal> {
        if !is_needed {
            return Ok(None);
        }
        let _wait = self.publish_while_waiting();
        Ok(self.store.acquire_drawer_filing_lock()?)
    }

    /// Signs the commit for which a change has released its locks.
    fn sign_missing_commit(&mut self) -> Result<(), Refusal> {
        let _wait = self.publish_while_waiting();
        Ok(self.loaded.store.sign_missing_commit()?)
    }

    /// Makes a planned change, if the files are as they were when it was planned.
    fn try_commit_plan(
        &mut self,
        by: &Caller,
        plan: ChangePlan,
        options: &ChangeOptions<'_>,
    ) -> Result<PlanOutcome, Refusal> {
        reject_large_files(&plan.edits)?;
        let trailers = by.trailers().into_iter().chain(options.more_trailers.iter().cloned());
        let change = Changeset {
            edits: plan.edits,
            executable: options.executable.clone(),
            subject: plan.subject,
            body: plan.body,
            trailers: trailers.collect(),
            author: by.author.clone(),
            at: by.now,
            commit: options.mode == ChangeMode::Commit
                && self.palace.settings.commit == CommitMode::Auto,
        };
        if by.is_cancelled() {
            return Err(Refusal::Cancelled);
        }
        let wait = self.publish_while_waiting();
        let signing_mode = self.signing_mode_after(&change.edits);
        self.loaded.store.set_signing_mode(signing_mode);
        self.loaded.store.set_progress_listener(by.progress.clone());
        self.loaded.store.set_cancel_flag(by.cancelled.clone());
        let made = self.loaded.store.try_commit(&change);
        self.stop_progress();
        self.loaded.store.set_cancel_flag(Arc::default());
        drop(wait);
        match made? {
            CommitOutcome::Stale(paths) => {
                for path in paths {
                    self.reread_file(&path);
                }
                Ok(PlanOutcome::Stale)
            }
            CommitOutcome::SignatureMissing => Ok(PlanOutcome::SignatureMissing),
            CommitOutcome::Done(done) => {
                self.update_memory_after_change(by, done, &change.edits)?;
                Ok(PlanOutcome::Done(change.edits))
            }
        }
    }

    /// Returns the signing mode of the settings, as the edits leave them.
    fn signing_mode_after(&self, edits: &[FileEdit]) -> SigningMode {
        let settings = edits.iter().find(|it| it.path == PalacePath::SETTINGS_FILE);
        let settings = settings.and_then(|it| format::parse_settings(it.now.as_deref()?));
        settings.map_or(self.palace.settings.sign, |it| it.sign)
    }

    /// Applies a finished change to the palace in memory.
    fn update_memory_after_change(
        &mut self,
        by: &Caller,
        done: CommitReport,
        edits: &[FileEdit],
    ) -> Result<(), Refusal> {
        // A snapshot would share what is changed now, so that it were copied.
        self.withdraw_snapshot();
        let mut changes = std::mem::take(&mut self.loaded.visit_changes);
        let recorded = Arc::make_mut(&mut changes);
        recorded.begin_change(by.visit_id);
        for edit in edits {
            recorded.record_file(by.visit_id, &self.palace, &edit.path);
            self.apply_own_write(&edit.path, edit.now.as_deref());
            recorded.record_file(by.visit_id, &self.palace, &edit.path);
        }
        self.loaded.visit_changes = changes;
        self.retry_name_conflicts();
        done.warnings.iter().for_each(|it| (self.warn)(&it.to_string()));
        let advanced = self.advance_head(&done, edits);
        // The commit is made, also if what others committed before it cannot be read.
        self.commit_reports.push(done);
        advanced
    }

    /// Sets the last seen commit to our own commit, and applies what others committed before it.
    fn advance_head(&mut self, done: &CommitReport, own_edits: &[FileEdit]) -> Result<(), Refusal> {
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

    /// Recovers from a crashed writer; before a write, because readers change nothing.
    fn recover_from_crash(&mut self) -> Result<(), Refusal> {
        if self.store.needs_recovery()? {
            let wait = self.publish_while_waiting();
            let recovered = self.loaded.store.recover_from_crash();
            drop(wait);
            recovered?;
        }
        let temporary_files = std::mem::take(&mut self.temporary_files);
        Ok(self.store.remove_stale_temporaries(&temporary_files)?)
    }
}

/// Refuses a change that would write a file which cannot be read again.
fn reject_large_files(edits: &[FileEdit]) -> Result<(), Refusal> {
    for edit in edits {
        let limit = max_file_bytes(&edit.path);
        if let Some(size) = edit.now.as_ref().map(String::len).filter(|it| *it > limit) {
            return Err(Refusal::FileTooLarge { file: edit.path.clone(), size });
        }
    }
    Ok(())
}
