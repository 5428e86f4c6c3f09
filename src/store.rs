//! Where palaces are kept: a folder of text files inside a git repository.
//!
//! This is the only module that touches the disk or speaks to git. It moves
//! text and never asks what a text means. A change is made whole: what it
//! believed is compared again under a lock, and when [`Store::make`] returns,
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

use crate::model::{Change, CommitId, Diagnostic, Files, Moment};

pub use crate::store::history::change_counts::Known;
pub use crate::store::repo::consents::Consents;
pub use crate::store::repo::disk::{Read, Stamp, Stamps, bytes_of, text_of};
pub use crate::store::repo::git_locks::{GitLock, Owner};
pub use crate::store::repo::home::{Taken, palaces, taken_names};
pub use crate::store::repo::operation::Operation;
pub use crate::store::repo::state::{RepositoryState, git_version};
pub use crate::store::repo::trust::repository_consent;
pub use crate::store::write::lock::Lock;
pub use crate::store::write::progress::Listener;
pub use crate::store::write::warning::Warning;
pub use error::Error;

use crate::store::repo::disk::Sight;
use crate::store::repo::repository::Repository;
use crate::store::write::index::Kept;
use crate::store::write::lock::Patience;
use crate::store::write::prune_guard::PruneGuard;

/// The files and the history of one palace.
#[derive(Debug)]
pub struct Store {
    palace: PathBuf,
    home: PathBuf,
    repository: Mutex<Option<Arc<Repository>>>,
    index: Option<Kept>,
    patience: Patience,
    isolated: bool,
    /// The consents of the user.
    consents: Consents,
    /// How many commits were made.
    writes: usize,
    /// The moment the palace is seen at; `None`: as it is now.
    moment: Option<Moment>,
    listener: Option<Listener>,
    prune_guard: PruneGuard,
    /// The last commit that was found whole.
    whole: Option<gix::ObjectId>,
    /// Whether the palace was there when it was looked at.
    is_seen: AtomicBool,
    /// Whether it had a repository.
    had_repository: AtomicBool,
    /// Whether `HEAD` could not be read when it was read last.
    is_unreadable: AtomicBool,
}

/// What became of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is made.
    Done(Done),
    /// These files no longer hold what the change believed; nothing was written.
    Stale(Vec<String>),
}

/// A change that is made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// The commit; `None`: there was nothing to commit.
    pub commit: Option<CommitId>,
    /// What went wrong after it was made.
    pub warnings: Vec<Warning>,
}

impl Store {
    /// Takes charge of the palace at `palace`, whose repository is made at `home` if none is around.
    pub fn new(palace: PathBuf, home: PathBuf) -> Self {
        let repository = Mutex::new(None);
        let patience = Patience::default();
        Self {
            palace,
            home,
            repository,
            index: None,
            patience,
            isolated: false,
            consents: Consents::default(),
            writes: 0,
            moment: None,
            listener: None,
            prune_guard: PruneGuard::default(),
            whole: None,
            is_seen: AtomicBool::new(false),
            had_repository: AtomicBool::new(false),
            is_unreadable: AtomicBool::new(false),
        }
    }

    /// Looks up in `consents` what the user has allowed.
    #[must_use]
    pub fn trusting(self, consents: Consents) -> Self {
        Self { consents, ..self }
    }

    /// Tells `listener` from now on how far each change has come.
    pub fn tell(&mut self, listener: Listener) {
        self.listener = Some(listener);
    }

    /// Takes charge of the same palace once more, for another thread.
    #[must_use]
    pub fn once_more(&self) -> Self {
        let store = Self::new(self.palace.clone(), self.home.clone());
        Self { isolated: self.isolated, consents: self.consents.clone(), ..store }
    }

    /// Takes charge of the same palace, or past of it, once more, for a reader that shares
    /// what is open.
    #[must_use]
    pub fn for_reading(&self) -> Self {
        let open = self.repository.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let store = self.once_more();
        Self { repository: Mutex::new(open), moment: self.moment.clone(), ..store }
    }

    /// Names the file system the palace lies on, if changes made elsewhere can go untold there.
    pub fn silent_file_system(&self) -> Option<&'static str> {
        repo::network_fs::file_system(&self.palace)
    }

    /// Returns where the palace lies.
    pub fn root(&self) -> &Path {
        &self.palace
    }

    /// Returns where the palace lies in its repository, as git's own patches begin with it:
    /// `palaces/survey/`; nothing if it lies at its root, or in none.
    pub fn place_in_repository(&self) -> Result<String, Error> {
        Ok(self.repository()?.map_or_else(String::new, |it| it.prefix.clone()))
    }

    /// Of a palace that is seen as it was, reads every file at once; what cannot be taken is left
    /// out and told. `None`: it is seen as it is.
    pub fn read_past(&self) -> Result<Option<(Files, Vec<Diagnostic>)>, Error> {
        self.check_place()?;
        self.moment.as_ref().map(|moment| self.read_all_at(moment)).transpose()
    }

    /// Looks at everything, as [`Store::look`] does, and lists the temporary files too that a power
    /// cut may have left.
    pub fn survey(&self) -> Result<(Stamps, Vec<Diagnostic>, Vec<PathBuf>), Error> {
        self.check_place()?;
        self.is_seen.fetch_or(self.palace.is_dir(), Ordering::Relaxed);
        let Sight { stamps, findings, temporaries } = repo::disk::look(&self.palace, "")?;
        Ok((stamps, findings, temporaries))
    }

    /// Clears away temporary files that nobody is writing any more.
    pub fn clear_away(&self, temporaries: &[PathBuf]) -> Result<(), Error> {
        if let (Some(repository), false) = (self.repository()?, temporaries.is_empty()) {
            write::recovery::clear_away(&repository, temporaries);
        }
        Ok(())
    }

    /// Lists the files at or below `path` as they stand, all where it is empty, and what stands in
    /// the way of others. A palace that is seen as it was cannot change, and has none.
    pub fn look(&self, path: &str) -> Result<(Stamps, Vec<Diagnostic>), Error> {
        if self.moment.is_some() {
            return Ok((Stamps::new(), Vec::new()));
        }
        self.check_place()?;
        let Sight { stamps, findings, .. } = repo::disk::look(&self.palace, path)?;
        Ok((stamps, findings))
    }

    /// Reads files, many at a time: cold disks answer many at once faster than one after the other.
    pub fn read_each(&self, paths: Vec<String>) -> Vec<(String, Read)> {
        let read = |path: String| {
            let read = self.read(&path);
            (path, read)
        };
        paths.into_par_iter().map(read).collect()
    }

    /// Returns those of the palace's folders that are there.
    pub fn folders(&self) -> impl Iterator<Item = &'static str> {
        repo::disk::folders(&self.palace)
    }

    /// Returns what tells the palace's own folder apart from another that takes its place; `None`:
    /// there is none.
    pub fn ground(&self) -> Option<u64> {
        Stamp::of(&self.palace).map(|it| it.inode())
    }

    /// Reads one file; `None`: it is not there.
    pub fn read(&self, path: &str) -> Read {
        self.check_place().map_err(|err| err.about(path))?;
        match &self.moment {
            Some(moment) => self.read_at(&moment.commit, path).map_err(|err| err.about(path))?,
            None => repo::disk::read(&self.palace, path),
        }
    }

    /// Returns what tells a file's state apart from its former state; `None`: it is not there, or
    /// it cannot change, being seen as it was.
    pub fn stamp(&self, path: &str) -> Option<Stamp> {
        if self.moment.is_some() {
            return None;
        }
        self.check_place().and_then(|()| repo::paths::check(path)).ok()?;
        Stamp::of(&self.palace.join(path))
    }

    /// Makes a change: durable and committed when it returns.
    pub fn make(&mut self, change: &Change) -> Result<Outcome, Error> {
        self.check_place()?;
        match &self.moment {
            Some(moment) => Err(Error::Past { short: moment.short.clone() }),
            None => {
                self.check_before_change(change)?;
                let outcome = write::apply::make(self, change)?;
                self.tidy_up(&outcome);
                Ok(outcome)
            }
        }
    }

    /// Waits until nobody else files: who files what is to be there but once lets no other in from
    /// the look whether it is there until it is. Without a repository nobody is waited for.
    pub fn alone(&self) -> Result<Option<Lock>, Error> {
        let repository = self.repository()?;
        let acquire = |it: Arc<Repository>| {
            write::lock::acquire(&it.common_dir, write::lock::FILING, self.patience.ours)
        };
        repository.map(acquire).transpose()
    }

    /// Returns what was set aside under `name`: a note of ours that no commit holds; `None`:
    /// nothing was, or it was lost, as it may be.
    pub fn aside(&self, name: &str) -> Option<Vec<u8>> {
        let repository = self.repository().ok().flatten()?;
        repo::cache::get(&repository, name)
    }

    /// Sets `content` aside under `name`, a plain file name, in place of what was there. Without
    /// a repository there is nowhere to set it, and nothing is done.
    pub fn set_aside(&self, name: &str, content: &[u8]) -> Result<(), Error> {
        let Some(repository) = self.repository()? else { return Ok(()) };
        repo::cache::put(&repository, name, content)
    }

    /// Now and then after a commit, lets git tidy up.
    fn tidy_up(&mut self, outcome: &Outcome) {
        if self.isolated || !matches!(outcome, Outcome::Done(Done { commit: Some(_), .. })) {
            return;
        }
        self.writes += 1;
        if repo::maintenance::is_due(self.writes)
            && let Ok(Some(repository)) = self.repository()
        {
            write::objects::remove_old_temporaries(&repository.common_dir);
            drop(repo::maintenance::begin(&repository));
        }
    }

    /// Checks that the palace has not become a link that leads out of the home; the home may be one.
    fn check_place(&self) -> Result<(), Error> {
        let Ok(inside) = self.palace.strip_prefix(&self.home) else { return Ok(()) };
        let mut place = self.home.clone();
        for name in inside {
            place.push(name);
            if place.is_symlink() {
                return Err(Error::Linked { place });
            }
        }
        Ok(())
    }

    /// Returns the repository around the palace; `None`: there is none, or the user has not allowed
    /// its use, so that there is no history to read.
    fn repository(&self) -> Result<Option<Arc<Repository>>, Error> {
        match self.allowed_repository() {
            Err(Error::Elsewhere { .. }) => Ok(None),
            found => found,
        }
    }

    /// Returns the repository around the palace, opening it only if it is not the one already open.
    fn allowed_repository(&self) -> Result<Option<Arc<Repository>>, Error> {
        self.check_place()?;
        let mut open = self.repository.lock().unwrap_or_else(PoisonError::into_inner);
        match open.as_ref().filter(|it| it.still_stands()) {
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
    fn check_still_there(&self) -> Result<(), Error> {
        if self.is_seen.load(Ordering::Relaxed) && !self.palace.is_dir() {
            return Err(Error::Moved { palace: self.palace.clone() });
        }
        Ok(())
    }

    /// Tells whether a repository is around the palace.
    pub fn has_repository(&self) -> Result<bool, Error> {
        Ok(self.repository()?.is_some())
    }

    /// Begins a new history for a palace that has lost its own: makes a repository where there is
    /// none, and commits the files of `change`, which it leaves as they are, for their author.
    pub fn begin_history(&mut self, change: &Change) -> Result<Outcome, Error> {
        self.check_place()?;
        Repository::make(&self.palace, &self.home, &self.consents, self.isolated)?;
        write::apply::commit_as_they_are(self, change)
    }

    /// Returns the repository around the palace, making one if there is none.
    fn repository_or_new(&self) -> Result<Arc<Repository>, Error> {
        let had_repository = self.had_repository.load(Ordering::Relaxed);
        if let Some(found) = self.allowed_repository()? {
            return Ok(found);
        }
        if had_repository || repo::home::has_lost_history(&self.palace, &self.home)? {
            return Err(self.history_lost());
        }
        Repository::make(&self.palace, &self.home, &self.consents, self.isolated)?;
        self.allowed_repository()?
            .ok_or_else(|| Error::NoRepository { palace: self.palace.clone() })
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::store::test_repository::{Scene, change, done};

    const HALL: &str = "rooms/hall.yaml";

    #[test]
    fn a_link_that_takes_the_place_of_a_palace_is_not_followed() {
        let scene = Scene::of_a_person();
        let mut store = scene.palace("sub/keep");
        done(&mut store, &change(HALL, None, Some("1\n")));
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
                let change = Change { commit, ..change(HALL, Some("1\n"), Some("2\n")) };
                assert_eq!(store.make(&change).unwrap_err().to_string(), refused);
            }
            assert_eq!(store.look("").unwrap_err().to_string(), refused);
            assert_eq!(store.read(HALL).unwrap_err().message, refused);
            assert_eq!(store.stamp(HALL), None);
            assert!(store.history(&mut Known::default()).is_err());
            std::fs::remove_file(&place).unwrap();
            std::fs::rename(&elsewhere, &place).unwrap();
        }
        done(&mut store, &change(HALL, Some("1\n"), Some("2\n")));
    }
}
