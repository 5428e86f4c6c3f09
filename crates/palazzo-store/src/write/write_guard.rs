//! The write lock together with the marker of a write in progress.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::Error;
use crate::repo::failpoint;
use crate::repo::git_files::{self, LockedLook};
use crate::repo::repository::Repository;
use crate::write::palazzo_lock::{LockTimeouts, PalazzoLock, WRITE_LOCK, acquire_palazzo_lock};
use crate::write::recovery;

/// The write lock and the marker of a write in progress.
#[derive(Debug)]
pub(crate) struct WriteGuard {
    marker: File,
    marker_path: PathBuf,
    common_dir: PathBuf,
    prefix: String,
    look: LockedLook,
    timeouts: LockTimeouts,
    needs_recovery: Cell<bool>,
    /// Whether a lock file of git could not be removed.
    has_left_lock: Arc<AtomicBool>,
    // Dropped after the marker is emptied.
    lock: PalazzoLock,
}

impl WriteGuard {
    /// Waits for the lock, recovers from a crashed writer, and writes a marker for `paths`.
    pub(crate) fn lock(
        repository: &Repository,
        paths: &[String],
        timeouts: &LockTimeouts,
    ) -> Result<Self, Error> {
        repository.reject_unknown_extensions()?;
        let lock = acquire_palazzo_lock(repository, WRITE_LOCK, timeouts.palazzo)?;
        let (git_dir, common_dir) = (&repository.git_dir, &repository.common_dir);
        let (refs, has_waited) = (&repository.ref_files, lock.had_to_wait());
        let look = git_files::look_before_change(git_dir, common_dir, refs, has_waited)?;
        let place = recovery::marker_path(repository);
        let marker = recovery::recover_and_open_marker(repository, timeouts)?;
        let content = recovery::WriteMarker::new(repository, paths);
        content.write_into(&marker).map_err(Error::for_file("write", &place))?;
        let (prefix, common_dir) = (repository.prefix.clone(), repository.common_dir.clone());
        Ok(Self {
            marker,
            marker_path: place,
            common_dir,
            prefix,
            look,
            timeouts: *timeouts,
            needs_recovery: Cell::new(false),
            has_left_lock: repository.may_have_dead_locks.clone(),
            lock,
        })
    }

    /// Returns whether another process held the lock first.
    pub(crate) fn had_to_wait(&self) -> bool {
        self.lock.had_to_wait()
    }

    /// Returns what the look under the lock found.
    pub(crate) fn look(&self) -> &LockedLook {
        &self.look
    }

    /// Returns how long to wait for the locks of other processes.
    pub(crate) fn timeouts(&self) -> &LockTimeouts {
        &self.timeouts
    }

    /// Records that the lock file at `path` is Palazzo's, on a file system without hard links.
    pub(crate) fn record_lock_file(&self, path: &Path, inode: u64) -> io::Result<()> {
        (&self.marker).write_all(
            recovery::marker_line_for_lock_file(&self.common_dir, path, inode).as_bytes(),
        )
    }

    /// Records the files that did not exist before, with their fingerprints, so that recovery can
    /// distinguish them from a user's files.
    pub(crate) fn record_new_files<'a>(
        &self,
        files: impl Iterator<Item = (&'a str, String)>,
    ) -> Result<(), Error> {
        let prefix = &self.prefix;
        let lines = files.map(|(path, looks)| format!("fresh {looks} {prefix}{path}\n"));
        self.append_to_marker(&lines.collect::<String>())
    }

    /// Keeps the marker, because the write is incomplete and the next writer must recover it.
    pub(crate) fn keep_marker_for_recovery(&self) {
        self.needs_recovery.set(true);
    }

    fn append_to_marker(&self, lines: &str) -> Result<(), Error> {
        let written = failpoint::fail_point("note in marker")
            .and_then(|()| (&self.marker).write_all(lines.as_bytes()));
        written.map_err(Error::for_file("write", &self.marker_path))
    }
}

impl Drop for WriteGuard {
    fn drop(&mut self) {
        if self.needs_recovery.get() || self.has_left_lock.load(Ordering::Relaxed) {
            return;
        }
        // It is truncated instead of removed because that is cheaper. If that fails, the next
        // writer finds nothing to recover and truncates it.
        drop(failpoint::fail_point("empty marker").and_then(|()| self.marker.set_len(0)));
        failpoint::kill_point("marker is empty");
    }
}
