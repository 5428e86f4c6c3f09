//! Reading `HEAD` and the state of the repository, and what a moment of git's can hide.

use std::sync::atomic::Ordering;
use std::time::Instant;

use crate::model::CommitId;

use crate::store::repo::repository::Repository;
use crate::store::repo::{damage, home, operation};
use crate::store::write::objects::WrittenObject;
use crate::store::write::{apply, prune_guard, recovery};
use crate::store::{Error, Store, Warning};

impl Store {
    /// Returns the commit `HEAD` names; `None`: there is no commit yet, or no repository. Of a
    /// palace seen as it was, returns the commit it is seen at.
    pub fn head(&self) -> Result<Option<CommitId>, Error> {
        if let Some(moment) = &self.as_of_commit {
            return Ok(Some(moment.id.clone()));
        }
        let Some(repository) = self.repository()? else { return Ok(None) };
        let mut head = repository.head();
        if matches!(head, Err(Error::Git { .. }))
            && !self.is_head_unreadable.load(Ordering::Relaxed)
        {
            head = self.retry_head(&repository);
        }
        self.is_head_unreadable.store(head.is_err(), Ordering::Relaxed);
        match head {
            Ok(Some(head)) => Ok(Some(CommitId(head.to_string()))),
            Ok(None) => damage::check_unborn_branch(&repository).map(|()| None),
            // It is being removed.
            Err(_) if !repository.is_current() && !self.has_repository()? => Ok(None),
            Err(err) => Err(damage::explain_head_error(&repository, err)),
        }
    }

    /// Reads `HEAD` again for a while: what `git gc` deletes of a write, its writer writes again.
    fn retry_head(&self, repository: &Repository) -> Result<Option<gix::ObjectId>, Error> {
        let begun = Instant::now();
        loop {
            if !self.prune_guard.restore_deleted_objects(repository) {
                std::thread::sleep(apply::RETRY_PAUSE);
            }
            let head = repository.head();
            let patience =
                if self.is_gc_running() { apply::GC_RETRY_TIMEOUT } else { apply::RETRY_TIMEOUT };
            if head.is_ok() || begun.elapsed() > patience || !repository.is_current() {
                return head;
            }
        }
    }

    /// Returns what a visitor should know who is about to write: that `HEAD` is detached, or that
    /// an operation of git is under way.
    pub fn write_warning(&self) -> Option<String> {
        let repository = if self.as_of_commit.is_some() { None } else { self.repository().ok()? };
        let repository = repository?;
        if let Err(err) = operation::reject_if_in_progress(&repository.git_dir, &repository.work) {
            return Some(err.to_string());
        }
        let is_detached = repository.git().head().is_ok_and(|it| it.is_detached());
        is_detached.then(|| Warning::DetachedHead.to_string())
    }

    /// Checks that the last commit can be read with all that it has changed.
    pub fn check_last_commit(&self) -> Result<(), Error> {
        let Some(repository) = self.repository()? else { return Ok(()) };
        let head = repository.head().map_err(|err| damage::explain_head_error(&repository, err))?;
        damage::check_head_commit(&repository, head)
    }

    /// Tells whether a process of ours died while writing.
    pub fn needs_recovery(&self) -> Result<bool, Error> {
        let repository = if self.as_of_commit.is_some() { None } else { self.repository()? };
        Ok(repository.is_some_and(|it| recovery::is_recovery_needed(&it)))
    }

    /// Clears what a process of ours left that died while writing; costs one look when there is
    /// nothing. Only who is about to write may ask for it.
    pub fn recover(&mut self) -> Result<(), Error> {
        if self.as_of_commit.is_some() {
            return Ok(());
        }
        let Some(repository) = self.repository()? else { return Ok(()) };
        recovery::recover_if_needed(&repository, &self.lock_timeouts)
    }

    /// Keeps the objects of a change for as long as `git gc` may delete them.
    pub(crate) fn protect_from_gc(&self, objects: Vec<WrittenObject>) -> Result<(), Error> {
        let Some(repository) = self.repository()? else { return Ok(()) };
        let kept = self.prune_guard.retain_objects(&repository, objects);
        kept.map_err(|err| repository.git_error("write again what git has deleted", err))
    }

    /// Tells whether `git gc` runs in the repository.
    pub(crate) fn is_gc_running(&self) -> bool {
        let repository = self.repository().ok().flatten();
        repository.is_some_and(|it| prune_guard::is_gc_running(&it.common_dir))
    }

    /// Writes again what `git gc` has deleted of the last changes; tells whether there was any.
    pub(crate) fn restore_pruned_objects(&self) -> bool {
        let repository = self.repository().ok().flatten();
        repository.is_some_and(|it| self.prune_guard.restore_deleted_objects(&it))
    }

    /// Returns why nothing is written: Palazzo has written to the palace before, and there is no
    /// repository around it any more.
    pub fn find_lost_history(&self) -> Option<Error> {
        let is_gone =
            matches!(self.open_allowed_repository(), Ok(None)) && self.as_of_commit.is_none();
        let is_lost = is_gone && home::has_palazzo_folder(&self.palace);
        is_lost.then(|| self.history_lost_error())
    }

    /// Makes the error of a history that is gone; the whole home begins a new one together.
    pub(crate) fn history_lost_error(&self) -> Error {
        let is_inside = self.palace.starts_with(&self.home) && self.home.is_dir();
        let place = if is_inside { &self.home } else { &self.palace };
        Error::HistoryLost { place: place.clone() }
    }
}
