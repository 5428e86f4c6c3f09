//! Where palaces are kept: a folder of text files inside a git repository.
//!
//! This is the only module that touches the disk or speaks to git. It moves
//! text and never asks what a text means. A change is made whole: what it
//! believed is compared again under a lock, and when [`Store::commit`] returns,
//! the files are on disk and in git. Reading takes no lock and never waits.

mod error;
mod history;
mod repo;
#[cfg(test)]
mod test_repository;
mod write;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;

use crate::model::{Change, CommitId, CommitSummary, Diagnostic, Files};

pub use crate::store::history::change_counts::HistoryCache;
pub use crate::store::repo::consents::Consents;
pub use crate::store::repo::disk::{
    FileStamp, FileStamps, ReadResult, read_file_bytes, read_text_file,
};
pub use crate::store::repo::git_locks::{GitLock, LockOwner};
pub use crate::store::repo::home::{HomeEntryKind, list_home_entries, list_palaces};
pub use crate::store::repo::operation::GitOperation;
pub use crate::store::repo::state::{RepositoryState, git_version};
pub use crate::store::repo::trust::repository_consent;
pub use crate::store::write::lock::PalazzoLock;
pub use crate::store::write::progress::Listener;
pub use crate::store::write::warning::Warning;
pub use error::Error;

use crate::store::repo::disk::PalaceListing;
use crate::store::repo::repository::Repository;
use crate::store::write::index::CachedIndex;
use crate::store::write::lock::LockTimeouts;
use crate::store::write::prune_guard::PruneGuard;

/// The files and the history of one palace.
#[derive(Debug)]
pub struct Store {
    palace: PathBuf,
    home: PathBuf,
    repository: Mutex<Option<Arc<Repository>>>,
    cached_index: Option<CachedIndex>,
    lock_timeouts: LockTimeouts,
    isolated: bool,
    /// The consents of the user.
    consents: Consents,
    /// How many commits were made.
    commit_count: usize,
    /// The moment the palace is seen at; `None`: as it is now.
    as_of_commit: Option<CommitSummary>,
    listener: Option<Listener>,
    prune_guard: PruneGuard,
    /// The last commit that was found whole.
    checked_head: Option<gix::ObjectId>,
    /// Whether the palace was there when it was looked at.
    palace_existed: AtomicBool,
    /// Whether it had a repository.
    had_repository: AtomicBool,
    /// Whether `HEAD` could not be read when it was read last.
    is_head_unreadable: AtomicBool,
}

/// What became of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommitOutcome {
    /// It is made.
    Done(CommitReport),
    /// These files no longer hold what the change believed; nothing was written.
    Stale(Vec<String>),
}

/// A change that is made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommitReport {
    /// The commit; `None`: there was nothing to commit.
    pub commit: Option<CommitId>,
    /// What went wrong after it was made.
    pub warnings: Vec<Warning>,
}

impl Store {
    /// Takes charge of the palace at `palace`, whose repository is made at `home` if none is around.
    pub fn new(palace: PathBuf, home: PathBuf) -> Self {
        let repository = Mutex::new(None);
        let patience = LockTimeouts::default();
        Self {
            palace,
            home,
            repository,
            cached_index: None,
            lock_timeouts: patience,
            isolated: false,
            consents: Consents::default(),
            commit_count: 0,
            as_of_commit: None,
            listener: None,
            prune_guard: PruneGuard::default(),
            checked_head: None,
            palace_existed: AtomicBool::new(false),
            had_repository: AtomicBool::new(false),
            is_head_unreadable: AtomicBool::new(false),
        }
    }

    /// Looks up in `consents` what the user has allowed.
    #[must_use]
    pub fn with_consents(self, consents: Consents) -> Self {
        Self { consents, ..self }
    }

    /// Tells `listener` from now on how far each change has come.
    pub fn set_progress_listener(&mut self, listener: Listener) {
        self.listener = Some(listener);
    }

    /// Takes charge of the same palace once more, for another thread.
    #[must_use]
    pub fn clone_for_thread(&self) -> Self {
        let store = Self::new(self.palace.clone(), self.home.clone());
        Self { isolated: self.isolated, consents: self.consents.clone(), ..store }
    }

    /// Takes charge of the same palace, or past of it, once more, for a reader that shares
    /// what is open.
    #[must_use]
    pub fn clone_for_reading(&self) -> Self {
        let open = self.repository.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let store = self.clone_for_thread();
        Self { repository: Mutex::new(open), as_of_commit: self.as_of_commit.clone(), ..store }
    }

    /// Names the file system the palace lies on, if changes made elsewhere can go untold there.
    pub fn network_file_system(&self) -> Option<&'static str> {
        repo::network_fs::network_file_system(&self.palace)
    }

    /// Returns where the palace lies.
    pub fn root(&self) -> &Path {
        &self.palace
    }

    /// Returns where the palace lies in its repository, as git's own patches begin with it:
    /// `palaces/survey/`; nothing if it lies at its root, or in none.
    pub fn prefix_in_repository(&self) -> Result<String, Error> {
        Ok(self.repository()?.map_or_else(String::new, |it| it.prefix.clone()))
    }

    /// Of a palace that is seen as it was, reads every file at once; what cannot be taken is left
    /// out and told. `None`: it is seen as it is.
    pub fn read_files_as_of(&self) -> Result<Option<(Files, Vec<Diagnostic>)>, Error> {
        self.reject_root_links()?;
        self.as_of_commit.as_ref().map(|moment| self.read_all_files_at(moment)).transpose()
    }

    /// Looks at everything, as [`Store::list_files`] does, and lists the temporary files too that a power
    /// cut may have left.
    pub fn list_with_temporaries(
        &self,
    ) -> Result<(FileStamps, Vec<Diagnostic>, Vec<PathBuf>), Error> {
        self.reject_root_links()?;
        self.palace_existed.fetch_or(self.palace.is_dir(), Ordering::Relaxed);
        let PalaceListing { stamps, findings, temporaries } =
            repo::disk::list_files(&self.palace, "")?;
        Ok((stamps, findings, temporaries))
    }

    /// Clears away temporary files that nobody is writing any more.
    pub fn remove_stale_temporaries(&self, temporaries: &[PathBuf]) -> Result<(), Error> {
        if let (Some(repository), false) = (self.repository()?, temporaries.is_empty()) {
            write::recovery::remove_stale_temporaries(&repository, temporaries);
        }
        Ok(())
    }

    /// Lists the files at or below `path` as they stand, all where it is empty, and what stands in
    /// the way of others. A palace that is seen as it was cannot change, and has none.
    pub fn list_files(&self, path: &str) -> Result<(FileStamps, Vec<Diagnostic>), Error> {
        if self.as_of_commit.is_some() {
            return Ok((FileStamps::new(), Vec::new()));
        }
        self.reject_root_links()?;
        let PalaceListing { stamps, findings, .. } = repo::disk::list_files(&self.palace, path)?;
        Ok((stamps, findings))
    }

    /// Reads files, many at a time: cold disks answer many at once faster than one after the other.
    pub fn read_files(&self, paths: Vec<String>) -> Vec<(String, ReadResult)> {
        let read = |path: String| {
            let read = self.read_file(&path);
            (path, read)
        };
        paths.into_par_iter().map(read).collect()
    }

    /// Returns those of the palace's folders that are there.
    pub fn existing_folders(&self) -> impl Iterator<Item = &'static str> {
        repo::disk::existing_folders(&self.palace)
    }

    /// Returns what tells the palace's own folder apart from another that takes its place; `None`:
    /// there is none.
    pub fn root_inode(&self) -> Option<u64> {
        FileStamp::from_path(&self.palace).map(|it| it.inode())
    }

    /// Reads one file; `None`: it is not there.
    pub fn read_file(&self, path: &str) -> ReadResult {
        self.reject_root_links().map_err(|err| err.to_diagnostic(path))?;
        match &self.as_of_commit {
            Some(moment) => {
                self.read_file_at(&moment.id, path).map_err(|err| err.to_diagnostic(path))?
            }
            None => repo::disk::read_file(&self.palace, path),
        }
    }

    /// Returns what tells a file's state apart from its former state; `None`: it is not there, or
    /// it cannot change, being seen as it was.
    pub fn file_stamp(&self, path: &str) -> Option<FileStamp> {
        if self.as_of_commit.is_some() {
            return None;
        }
        self.reject_root_links().and_then(|()| repo::paths::check_path(path)).ok()?;
        FileStamp::from_path(&self.palace.join(path))
    }

    /// Makes a change: durable and committed when it returns.
    pub fn commit(&mut self, change: &Change) -> Result<CommitOutcome, Error> {
        self.reject_root_links()?;
        match &self.as_of_commit {
            Some(moment) => Err(Error::ReadOnlyAsOf { short: moment.short.clone() }),
            None => {
                self.check_before_change(change)?;
                let outcome = write::apply::apply_change(self, change)?;
                self.run_maintenance_if_due(&outcome);
                Ok(outcome)
            }
        }
    }

    /// Waits until nobody else files: who files what is to be there but once lets no other in from
    /// the look whether it is there until it is. Without a repository nobody is waited for.
    pub fn lock_filing(&self) -> Result<Option<PalazzoLock>, Error> {
        let repository = self.repository()?;
        let acquire = |it: Arc<Repository>| {
            write::lock::acquire_lock(
                &it.common_dir,
                write::lock::FILING_LOCK,
                self.lock_timeouts.palazzo,
            )
        };
        repository.map(acquire).transpose()
    }

    /// Returns what was set aside under `name`: a note of ours that no commit holds; `None`:
    /// nothing was, or it was lost, as it may be.
    pub fn read_cache(&self, name: &str) -> Option<Vec<u8>> {
        let repository = self.repository().ok().flatten()?;
        repo::cache::read_cache_file(&repository, name)
    }

    /// Sets `content` aside under `name`, a plain file name, in place of what was there. Without
    /// a repository there is nowhere to set it, and nothing is done.
    pub fn write_cache(&self, name: &str, content: &[u8]) -> Result<(), Error> {
        let Some(repository) = self.repository()? else { return Ok(()) };
        repo::cache::write_cache_file(&repository, name, content)
    }

    /// Now and then after a commit, lets git tidy up.
    fn run_maintenance_if_due(&mut self, outcome: &CommitOutcome) {
        if self.isolated
            || !matches!(outcome, CommitOutcome::Done(CommitReport { commit: Some(_), .. }))
        {
            return;
        }
        self.commit_count += 1;
        if repo::maintenance::is_due(self.commit_count)
            && let Ok(Some(repository)) = self.repository()
        {
            write::objects::remove_old_temporaries(&repository.common_dir);
            drop(repo::maintenance::start_maintenance(&repository));
        }
    }

    /// Checks that the palace has not become a link that leads out of the home; the home may be one.
    fn reject_root_links(&self) -> Result<(), Error> {
        let Ok(inside) = self.palace.strip_prefix(&self.home) else { return Ok(()) };
        let mut place = self.home.clone();
        for name in inside {
            place.push(name);
            if place.is_symlink() {
                return Err(Error::SymbolicLink { place });
            }
        }
        Ok(())
    }

    /// Returns the repository around the palace; `None`: there is none, or the user has not allowed
    /// its use, so that there is no history to read.
    fn repository(&self) -> Result<Option<Arc<Repository>>, Error> {
        match self.open_allowed_repository() {
            Err(Error::RepositoryElsewhere { .. }) => Ok(None),
            found => found,
        }
    }

    /// Returns the repository around the palace, opening it only if it is not the one already open.
    fn open_allowed_repository(&self) -> Result<Option<Arc<Repository>>, Error> {
        self.reject_root_links()?;
        let mut open = self.repository.lock().unwrap_or_else(PoisonError::into_inner);
        match open.as_ref().filter(|it| it.is_current()) {
            Some(repository) => repo::git_files::check_open_repository(repository)?,
            None => {
                let found = Repository::find(&self.palace, &self.consents, self.isolated)?;
                *open = found.map(Arc::new);
            }
        }
        self.had_repository.fetch_or(open.is_some(), Ordering::Relaxed);
        Ok(open.clone())
    }

    /// Refuses a write to a palace that has been moved or removed since it was looked at: it would
    /// make another at the old place.
    fn reject_moved_palace(&self) -> Result<(), Error> {
        if self.palace_existed.load(Ordering::Relaxed) && !self.palace.is_dir() {
            return Err(Error::PalaceMoved { palace: self.palace.clone() });
        }
        Ok(())
    }

    /// Tells whether a repository is around the palace.
    pub fn has_repository(&self) -> Result<bool, Error> {
        Ok(self.repository()?.is_some())
    }

    /// Begins a new history for a palace that has lost its own: makes a repository where there is
    /// none, and commits the files of `change`, which it leaves as they are, for their author.
    pub fn start_new_history(&mut self, change: &Change) -> Result<CommitOutcome, Error> {
        self.reject_root_links()?;
        Repository::create(&self.palace, &self.home, &self.consents, self.isolated)?;
        write::apply::commit_unchanged_files(self, change)
    }

    /// Returns the repository around the palace, making one if there is none.
    fn open_or_create_repository(&self) -> Result<Arc<Repository>, Error> {
        let had_repository = self.had_repository.load(Ordering::Relaxed);
        if let Some(found) = self.open_allowed_repository()? {
            return Ok(found);
        }
        if had_repository || repo::home::has_lost_history(&self.palace, &self.home)? {
            return Err(self.history_lost_error());
        }
        Repository::create(&self.palace, &self.home, &self.consents, self.isolated)?;
        self.open_allowed_repository()?
            .ok_or_else(|| Error::NoRepository { palace: self.palace.clone() })
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::store::test_repository::{TestHome, change_of_one_file, commit_ok};

    const HALL: &str = "rooms/hall.yaml";

    #[test]
    fn a_symbolic_link_in_place_of_a_palace_is_not_followed() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("sub/keep");
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
        let elsewhere = scene.home.with_file_name("elsewhere");
        for moved in ["sub/keep", "sub"] {
            let place = scene.home.join(moved);
            std::fs::rename(&place, &elsewhere).unwrap();
            std::os::unix::fs::symlink(&elsewhere, &place).unwrap();
            let refused = format!(
                "`{}` is a symbolic link, and none is followed below the home",
                place.display()
            );
            for commit in [true, false] {
                let change =
                    Change { commit, ..change_of_one_file(HALL, Some("1\n"), Some("2\n")) };
                assert_eq!(store.commit(&change).unwrap_err().to_string(), refused);
            }
            assert_eq!(store.list_files("").unwrap_err().to_string(), refused);
            assert_eq!(store.read_file(HALL).unwrap_err().message, refused);
            assert_eq!(store.file_stamp(HALL), None);
            assert!(store.update_history(&mut HistoryCache::default()).is_err());
            std::fs::remove_file(&place).unwrap();
            std::fs::rename(&elsewhere, &place).unwrap();
        }
        commit_ok(&mut store, &change_of_one_file(HALL, Some("1\n"), Some("2\n")));
    }
}
