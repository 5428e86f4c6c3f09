//! Protects new objects from a concurrent `git gc`.
//!
//! `git gc --prune=now` lists what the references reach, and later deletes everything else. A
//! commit made between the two loses its objects after they were checked. So while `gc.pid` is
//! held, the objects of each write stay in memory, and those that disappear are written again. A
//! manual `git prune` has no such file, and cannot be detected.

use crate::repo::processes;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime};

use crate::CommitWarning;
use crate::repo::repository::Repository;
use crate::write::objects::{WrittenObject, restore_missing};

/// How often to check for missing objects and for the end of the garbage collection.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);
/// The maximum total size of the retained objects in bytes.
const MAX_RETAINED_BYTES: usize = 64 * 1024 * 1024;
/// How long a process waits for a garbage collection before it exits.
const EXIT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long `gc.pid` may be empty.
const EMPTY_PID_FILE_TIMEOUT: Duration = Duration::from_secs(5);
/// The age after which git itself treats a `gc.pid` as abandoned (`lock_repo_for_gc` in git's
/// `gc.c`).
const PID_FILE_LIFETIME: Duration = Duration::from_secs(12 * 60 * 60);

/// The objects that git may still delete, and that are then written again.
#[derive(Debug, Default)]
pub(crate) struct DeletedObjectRestorer(Arc<DeletedObjectRestorerState>);

#[derive(Debug, Default)]
struct DeletedObjectRestorerState {
    retained: Mutex<RetainedObjects>,
    emptied: Condvar,
}

#[derive(Debug, Default)]
struct RetainedObjects {
    objects: Vec<WrittenObject>,
    size: usize,
    has_watch_thread: bool,
}

impl DeletedObjectRestorer {
    /// Returns a restorer of the same objects, for another store of the repository.
    pub(crate) fn share(&self) -> Self {
        Self(self.0.clone())
    }

    /// Retains `objects`, which a reference reaches by now, while a garbage collection is running.
    /// Returns a warning if it has deleted some that cannot be written again.
    pub(crate) fn retain_objects(
        &self,
        repository: &Arc<Repository>,
        objects: &mut [WrittenObject],
    ) -> Option<CommitWarning> {
        let mut retained = self.0.lock_retained();
        if !is_gc_running(&repository.common_dir) {
            // A collection that overlapped the write has ended and deletes nothing any more. One
            // that begins now sees the reference.
            let restored = restore_missing(repository, objects);
            let failed = |err| repository.git_error("restore deleted objects", err);
            let err = restored.map_err(failed).err()?;
            return Some(CommitWarning::ObjectsNotRestored(err.message_with_causes()));
        }
        retained.size += objects.iter().map(WrittenObject::size).sum::<usize>();
        retained.objects.extend_from_slice(objects);
        while retained.size > MAX_RETAINED_BYTES && !retained.objects.is_empty() {
            retained.size -= retained.objects.remove(0).size();
        }
        if !retained.has_watch_thread {
            let (shared, repository) = (self.0.clone(), repository.clone());
            let watch = move || shared.run_watch_thread(&repository);
            let thread = thread::Builder::new().name("object restorer".to_owned()).spawn(watch);
            retained.has_watch_thread = thread.is_ok();
        }
        None
    }

    /// Restores the objects that git deleted; returns true if there were any.
    pub(crate) fn restore_deleted_objects(&self, repository: &Repository) -> bool {
        let mut retained = self.0.lock_retained();
        let restored = restore_missing(repository, &mut retained.objects);
        restored.is_ok_and(|it| it > 0)
    }
}

impl DeletedObjectRestorerState {
    fn run_watch_thread(&self, repository: &Repository) {
        loop {
            thread::sleep(CHECK_INTERVAL);
            // A thread that adds objects also holds this lock while it checks for a collection.
            let mut retained = self.lock_retained();
            let is_over = !is_gc_running(&repository.common_dir);
            let restored = restore_missing(repository, &mut retained.objects);
            if is_over && restored.is_ok() {
                *retained = RetainedObjects::default();
                self.emptied.notify_all();
                return;
            }
        }
    }

    fn lock_retained(&self) -> MutexGuard<'_, RetainedObjects> {
        self.retained.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for DeletedObjectRestorer {
    /// Waits for a garbage collection that may still delete written objects.
    fn drop(&mut self) {
        let retained = self.0.lock_retained();
        drop(self.0.emptied.wait_timeout_while(retained, EXIT_TIMEOUT, |it| it.has_watch_thread));
    }
}

/// Returns true if a running `git gc` holds the repository.
pub(crate) fn is_gc_running(common_dir: &Path) -> bool {
    let path = common_dir.join("gc.pid");
    let Ok(metadata) = fs::symlink_metadata(&path) else { return false };
    let age = metadata.modified().ok().and_then(|it| SystemTime::now().duration_since(it).ok());
    if !metadata.is_file() || metadata.len() > 4096 || age.is_some_and(|it| it > PID_FILE_LIFETIME)
    {
        return false;
    }
    let text = fs::read_to_string(&path).unwrap_or_default();
    let mut words = text.split_whitespace();
    let process = words.next().and_then(|it| it.parse().ok());
    match process {
        Some(process) => {
            words.next() != Some(processes::host_name().as_str()) || is_process_alive(process)
        }
        // The file exists for a moment before its content is written.
        None => age.is_none_or(|it| it < EMPTY_PID_FILE_TIMEOUT),
    }
}

#[cfg(unix)]
fn is_process_alive(process: i32) -> bool {
    use rustix::process::{Pid, test_kill_process};
    let Some(pid) = Pid::from_raw(process) else { return false };
    !matches!(test_kill_process(pid), Err(rustix::io::Errno::SRCH))
}

/// Returns true, so that a `gc.pid` that git left is respected until it is too old.
#[cfg(windows)]
fn is_process_alive(_: i32) -> bool {
    true
}
