//! Takes git's lock files in a way that lets a later process recognise those of Palazzo.
//!
//! Git locks `x` by creating `x.lock`; the process that creates it holds the lock. A killed process
//! leaves its lock files behind. So each lock file of Palazzo is first created under a name in
//! `.git/palazzo/locks`, its proof, and then linked (`link(2)`) to the name that git uses. While
//! the proof exists, a lock file that is the same file is Palazzo's: its inode cannot be reused.
//! Both names are directory entries made in this order, so a power failure does not leave the lock
//! without its proof.
//!
//! Palazzo's own lock (`palazzo_lock.rs`) must be held: then every proof found was left by a dead
//! process.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use walkdir::WalkDir;

use crate::Error;
use crate::repo::failpoint;
use crate::repo::fsync;
use crate::repo::palace_files::FileStamp;
use crate::repo::rename::{self, remove_if_exists};
use crate::repo::repository::Repository;
use crate::repo::retry::retry_until_timeout;
use crate::repo::shared_mode::SharedMode;
use crate::repo::{git_locks, palazzo_file, regular_file};

/// The folder below `.git/palazzo` with the proofs.
const PROOF_FOLDER: &str = "locks";
/// The suffix of git's lock files.
const LOCK_SUFFIX: &str = ".lock";

/// A lock file that this process holds; dropping it releases the lock.
#[derive(Debug)]
pub(crate) struct LockFile {
    /// The file that is locked.
    locked_path: PathBuf,
    /// The lock file.
    path: PathBuf,
    /// Its second name; `None`: the file system has no hard links.
    proof: Option<PathBuf>,
    file: Option<File>,
    /// Set if the lock file cannot be removed.
    is_left: Arc<AtomicBool>,
}

/// Records the path and inode of a lock file on a file system without hard links.
pub(crate) type LockFileRecorder<'n> = dyn FnMut(&Path, u64) -> io::Result<()> + 'n;

impl LockFile {
    /// Locks the file `name` in `git_dir`, waiting until `deadline` for another holder.
    ///
    /// On a file system without hard links, calls `record` with the lock file's inode.
    pub(crate) fn acquire(
        repository: &Repository,
        git_dir: &Path,
        name: &str,
        deadline: Instant,
        record: &mut LockFileRecorder<'_>,
    ) -> Result<Self, Error> {
        let resource = git_dir.join(name);
        let path = git_dir.join(format!("{name}{LOCK_SUFFIX}"));
        let shared_mode = repository.shared_mode;
        let new = NewLock { path: &path, deadline, shared_mode };
        let locked = new.create_with_proof(git_dir, name).or_else(|err| {
            match is_hard_link_unsupported(&err) {
                true => new.create_without_proof(record),
                false => Err(err),
            }
        });
        match locked {
            Ok((file, proof)) => {
                let is_left = repository.may_have_dead_locks.clone();
                Ok(Self { locked_path: resource, path, proof, file: Some(file), is_left })
            }
            Err(err) if err.kind() == io::ErrorKind::AlreadyExists => {
                Err(Error::GitLocked(git_locks::describe_lock(repository, path)))
            }
            Err(err) => Err(Error::for_file("lock", &resource)(err)),
        }
    }

    /// Returns the path of the lock file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path of the file that is locked.
    pub(crate) fn locked_path(&self) -> &Path {
        &self.locked_path
    }

    /// Writes the new content of the locked file.
    pub(crate) fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        failpoint::fail_point("write lock file")?;
        self.file.as_mut().map_or(Ok(()), |it| it.write_all(bytes))
    }

    /// Makes the new content durable, and what it refers to.
    pub(crate) fn sync(&self) -> io::Result<()> {
        failpoint::fail_point("sync lock file")?;
        self.file.as_ref().map_or(Ok(()), fsync::sync_file_and_renames)
    }

    /// Replaces the locked file with the new content, which releases the lock.
    pub(crate) fn commit(mut self) -> io::Result<()> {
        // Windows cannot rename an open file.
        self.file = None;
        failpoint::fail_point("rename lock file")?;
        rename::rename(&self.path, &self.locked_path)?;
        failpoint::kill_point("lock file is renamed");
        if let Some(proof) = self.proof.take() {
            drop(fs::remove_file(proof));
        }
        // There is nothing left to release.
        self.path = PathBuf::new();
        Ok(())
    }
}

/// A lock file that is to be created.
#[derive(Clone, Copy)]
struct NewLock<'a> {
    path: &'a Path,
    deadline: Instant,
    shared_mode: SharedMode,
}

impl NewLock<'_> {
    fn create_with_proof(self, git_dir: &Path, name: &str) -> io::Result<(File, Option<PathBuf>)> {
        let below = format!("{PROOF_FOLDER}/{name}{LOCK_SUFFIX}");
        let proof = palazzo_file::palazzo_file_path(git_dir, &below);
        failpoint::fail_point("create lock file")?;
        let proofs = palazzo_file::palazzo_file_path(git_dir, PROOF_FOLDER);
        let inside = Path::new(name).parent().unwrap_or(Path::new(""));
        regular_file::reject_linked_folders(&proofs, inside).map_err(|err| match err {
            Error::File { source, .. } => source,
            err => io::Error::other(err),
        })?;
        let create = || OpenOptions::new().write(true).create_new(true).open(&proof);
        let created = match create() {
            Err(err) if err.kind() == io::ErrorKind::NotFound => {
                palazzo_file::create_parent_folders(git_dir, &below, self.shared_mode)?;
                create()
            }
            created => created,
        };
        let file = match created {
            // It was left by an earlier write, perhaps with its lock.
            Err(err) if err.kind() == io::ErrorKind::AlreadyExists => {
                remove_dead_lock(&proof, self.path)?;
                create()
            }
            created => created,
        }?;
        self.shared_mode.adjust_file(&file)?;
        failpoint::fail_point("link lock file")?;
        let linked = self.retry_while_locked(|| fs::hard_link(&proof, self.path));
        failpoint::kill_point("lock file is linked");
        if let Err(err) = linked {
            drop(fs::remove_file(&proof));
            return Err(err);
        }
        Ok((file, Some(proof)))
    }

    fn create_without_proof(
        self,
        record: &mut LockFileRecorder<'_>,
    ) -> io::Result<(File, Option<PathBuf>)> {
        let create = || OpenOptions::new().write(true).create_new(true).open(self.path);
        let file = self.retry_while_locked(create)?;
        let inode = FileStamp::from_path(self.path).map(|it| it.inode());
        let adjusted = self.shared_mode.adjust_file(&file);
        let recorded = adjusted.and_then(|()| inode.map_or(Ok(()), |it| record(self.path, it)));
        if let Err(err) = recorded {
            drop(fs::remove_file(self.path));
            return Err(err);
        }
        Ok((file, None))
    }

    /// Repeats `attempt` while another process holds the lock, until the deadline; creates missing
    /// folders.
    fn retry_while_locked<T>(self, attempt: impl Fn() -> io::Result<T>) -> io::Result<T> {
        use io::ErrorKind::{AlreadyExists, NotFound};
        let time_left = self.deadline.saturating_duration_since(Instant::now());
        let is_temporary = |err: &io::Error| matches!(err.kind(), AlreadyExists | NotFound);
        retry_until_timeout(time_left, is_temporary, || match attempt() {
            // Git removes empty reference folders.
            Err(err) if err.kind() == NotFound => {
                let folder = self.path.parent().ok_or(err)?;
                self.shared_mode.create_dir_all(folder)?;
                attempt()
            }
            done => done,
        })
    }
}

impl Drop for LockFile {
    fn drop(&mut self) {
        self.file = None;
        if self.path.as_os_str().is_empty() {
            return;
        }
        let removed =
            failpoint::fail_point("remove lock file").and_then(|()| remove_if_exists(&self.path));
        failpoint::kill_point("lock file is removed");
        // The proof must exist as long as the lock file; the next writer removes both.
        match (removed, &self.proof) {
            (Ok(()), Some(proof)) => drop(fs::remove_file(proof)),
            (Ok(()), None) => {}
            (Err(_), _) => self.is_left.store(true, Ordering::Relaxed),
        }
    }
}

/// Removes the lock files in `git_dir` that a crashed Palazzo process left.
pub(crate) fn remove_own_dead_locks(git_dir: &Path) -> io::Result<()> {
    let folder = palazzo_file::palazzo_file_path(git_dir, PROOF_FOLDER);
    if !folder.parent().is_some_and(palazzo_file::is_real_folder) {
        return Ok(());
    }
    let entries = WalkDir::new(&folder).follow_links(false).follow_root_links(false);
    for entry in entries.into_iter().flatten() {
        let Ok(name) = entry.path().strip_prefix(&folder) else { continue };
        let is_lock = name.extension().is_some_and(|it| it == "lock");
        if !entry.file_type().is_file() || !is_lock {
            continue;
        }
        remove_dead_lock(entry.path(), &git_dir.join(name))?;
    }
    Ok(())
}

/// Removes a proof, with the lock file that it proves to be Palazzo's.
fn remove_dead_lock(proof: &Path, lock: &Path) -> io::Result<()> {
    if palazzo_file::is_same_file(proof, lock) {
        remove_if_exists(lock)?;
    }
    remove_if_exists(proof)
}

/// Returns true if a Palazzo process may have left lock files in `git_dir`.
#[cfg(test)]
pub(crate) fn has_lock_file_proofs(git_dir: &Path) -> bool {
    let folder = palazzo_file::palazzo_file_path(git_dir, PROOF_FOLDER);
    let files = WalkDir::new(folder).follow_root_links(false).into_iter().flatten();
    files.into_iter().any(|it| it.file_type().is_file())
}

/// Removes the lock file at `path` if it has this `inode`.
pub(crate) fn remove_lock_if_inode_matches(path: &Path, inode: u64) -> io::Result<()> {
    match FileStamp::from_path(path) {
        Some(it) if it.inode() == inode && inode != 0 => remove_if_exists(path),
        _ => Ok(()),
    }
}

/// Returns true if the error of link(2) means that hard links are not supported: EPERM, EMLINK,
/// EXDEV or unsupported.
fn is_hard_link_unsupported(err: &io::Error) -> bool {
    use io::ErrorKind::{CrossesDevices, PermissionDenied, TooManyLinks, Unsupported};
    matches!(err.kind(), PermissionDenied | TooManyLinks | CrossesDevices | Unsupported)
}
