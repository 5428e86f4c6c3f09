//! Reads `HEAD`, the locks and the state of the repository, with retries while git changes it.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Instant;

use palazzo_core::model::CommitId;

use crate::history::commits;
use crate::repo::git_lock::GitLock;
use crate::repo::proposal_branch::ProposalBranch;
use crate::repo::repository::Repository;
use crate::repo::retry::{GC_RETRY_TIMEOUT, RETRY_PAUSE, RETRY_TIMEOUT};
use crate::repo::{damage, git_locks, home};
use crate::write::recovery;
use crate::write::writer::is_gc_running;
use crate::{CommitWarning, Error, Source, Store};

impl Store {
    /// Returns the commit that `HEAD` points to; `None`: there is no commit or no repository. A
    /// store that reads from a commit or a branch returns that commit, or the newest of the branch.
    pub fn head(&self) -> Result<Option<CommitId>, Error> {
        match &self.source {
            Source::Disk => {}
            Source::Commit(commit) => return Ok(Some(commit.id.clone())),
            Source::Branch(branch) => return self.retry_branch_read(|| self.read_branch(branch)),
        }
        let (repository, looked) = self.repository.find_and_look()?;
        let Some(repository) = repository else { return Ok(None) };
        let mut head = match looked {
            Some(looked) => repository.find_head(&looked),
            None => repository.head(),
        };
        if matches!(head, Err(Error::Git { .. }))
            && !self.is_head_unreadable.load(Ordering::Relaxed)
        {
            head = self.retry_while(|_| repository.is_current(), || repository.head());
        }
        self.is_head_unreadable.store(head.is_err(), Ordering::Relaxed);
        match head {
            Ok(Some(head)) => Ok(Some(CommitId(head.to_string()))),
            Ok(None) => damage::check_unborn_branch(&repository).map(|()| None),
            // The repository is being removed.
            Err(_) if !repository.is_current() && !self.has_repository()? => Ok(None),
            Err(err) => Err(damage::explain_head_error(&repository, err)),
        }
    }

    /// Returns the newest commit of the history: `HEAD`, the commit that the store reads from, or the
    /// newest one of its branch; `None`: there is no commit yet.
    pub(crate) fn history_tip(
        &self,
        repository: &Repository,
    ) -> Result<Option<gix::ObjectId>, Error> {
        match &self.source {
            Source::Disk => repository.head(),
            Source::Commit(summary) => commits::parse_commit_id(&summary.id)
                .map(Some)
                .map_err(|err| repository.git_error("read an old commit", err)),
            Source::Branch(branch) => branch.read(repository).map(Some),
        }
    }

    /// Returns the newest commit of the branch of a proposal, which must exist.
    fn read_branch(&self, branch: &ProposalBranch) -> Result<Option<CommitId>, Error> {
        let repository = self.require_repository()?;
        let tip = branch.read(&repository)?;
        let found = repository.git().find_header(tip).map(drop);
        found.map_err(|err| repository.git_error("read the newest commit of a proposal", err))?;
        Ok(Some(CommitId(tip.to_string())))
    }

    /// Reads from a branch, again for a while if git fails.
    pub(crate) fn retry_branch_read<T>(
        &self,
        read: impl Fn() -> Result<T, Error>,
    ) -> Result<T, Error> {
        let is_from_branch = self.branch().is_some();
        let may_retry = |it: &Error| is_from_branch && matches!(it, Error::Git { .. });
        self.retry_while(may_retry, read)
    }

    /// Repeats `read` for a while if it fails, because a writer restores the objects that `git gc`
    /// deletes.
    fn retry_while<T>(
        &self,
        may_retry: impl Fn(&Error) -> bool,
        read: impl Fn() -> Result<T, Error>,
    ) -> Result<T, Error> {
        let started = Instant::now();
        loop {
            let outcome = read();
            if !outcome.as_ref().is_err_and(&may_retry) {
                return outcome;
            }
            let is_collecting = is_gc_running(&self.repository);
            let timeout = if is_collecting { GC_RETRY_TIMEOUT } else { RETRY_TIMEOUT };
            if started.elapsed() > timeout {
                return outcome;
            }
            if !self.writer.restore_pruned_objects(&self.repository) {
                std::thread::sleep(RETRY_PAUSE);
            }
        }
    }

    /// Returns a warning for a client that is about to write: `HEAD` is detached, or a git
    /// operation is in progress.
    pub fn warning_before_write(&self) -> Option<String> {
        let repository = if self.reads_disk() { self.repository().ok()? } else { None };
        let repository = repository?;
        if let Err(err) = repository.reject_operation_in_progress() {
            return Some(err.to_string());
        }
        let is_detached = repository.git().head().is_ok_and(|it| it.is_detached());
        let is_lost = is_detached && !repository.is_kept_by_jj();
        is_lost.then(|| CommitWarning::DetachedHead.to_string())
    }

    /// Returns the warning that a file of the user's home is left out, because it cannot be read.
    pub fn unreadable_user_file_warning(&self) -> Option<String> {
        self.repository().ok()??.unreadable_user_file_warning.clone()
    }

    /// Checks that the last commit can be read with everything that it changed.
    pub fn check_last_commit_readable(&self) -> Result<(), Error> {
        let Some(repository) = self.repository()? else { return Ok(()) };
        let head = self.history_tip(&repository);
        let head = head.map_err(|err| damage::explain_head_error(&repository, err))?;
        damage::check_head_commit(&repository, head)
    }

    /// Returns true if a Palazzo process crashed while writing.
    pub fn needs_recovery(&self) -> Result<bool, Error> {
        let repository = if self.reads_disk() { self.repository()? } else { None };
        Ok(repository.is_some_and(|it| recovery::is_recovery_needed(&it)))
    }

    /// Undoes or completes the write of a crashed process; cheap if there is none. Only a caller
    /// that is about to write may call this.
    pub fn recover_from_crash(&mut self) -> Result<(), Error> {
        if !self.reads_disk() {
            return Ok(());
        }
        let Some(repository) = self.repository()? else { return Ok(()) };
        recovery::recover_if_needed(&repository, &self.writer.lock_timeouts)
    }

    /// Returns true if Palazzo has written to the palace.
    pub fn has_palazzo_folder(&self) -> bool {
        home::has_palazzo_folder(&self.repository.palace)
    }

    /// Returns the error if Palazzo has written to the palace before but no repository contains it
    /// any more.
    pub fn error_if_history_lost(&self) -> Option<Error> {
        let is_gone = matches!(self.repository.find_or_reject_forbidden(), Ok(None))
            && self.as_of_commit().is_none();
        let is_lost = is_gone && self.has_palazzo_folder();
        is_lost.then(|| self.repository.history_lost_error())
    }

    /// Lists git's lock files in the palace's repository, by path.
    pub fn list_git_locks(&self) -> Result<Vec<GitLock>, Error> {
        Ok(self.repository()?.map(|it| git_locks::list_locks(&it)).unwrap_or_default())
    }

    /// Returns the lock file at `path`; `None`: it is not a git lock of that repository.
    pub fn find_git_lock(&self, path: &Path) -> Result<Option<GitLock>, Error> {
        Ok(self.repository()?.and_then(|it| git_locks::find_lock(&it, path)))
    }

    /// Removes the lock file at `path`, unless a running process holds it or an interrupted
    /// write of Palazzo needs it; `false`: it is not a git lock of that repository.
    pub fn remove_git_lock(&self, path: &Path) -> Result<bool, Error> {
        self.repository()?.map_or(Ok(false), |it| git_locks::remove_lock(&it, path))
    }
}
