//! Git's lock files, taken so that a later process can tell ours from those of others.
//!
//! Git locks `x` by creating `x.lock`; whoever creates it holds the lock. A
//! process that is killed leaves its lock files behind. So each of ours is
//! created under a name in `.git/palazzo/locks` first and then linked
//! (`link(2)`) to the name that git knows. While that second name exists, a lock
//! file that is the same file is ours and no other: its inode cannot be used
//! again. Both names are directory entries, made in this order, so a power cut
//! does not leave the lock without its proof.
//!
//! Our own lock (`lock.rs`) must be held: then every proof that is found was
//! left by a process that is dead.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use walkdir::WalkDir;

use crate::store::Error;
use crate::store::repo::disk::FileStamp;
use crate::store::repo::repository::Repository;
use crate::store::repo::{git_locks, own_file};
use crate::store::write::failpoint;

/// The folder below `.git/palazzo` with the second names of our lock files.
const PROOF_FOLDER: &str = "locks";
/// The ending of every lock file of git.
const LOCK_SUFFIX: &str = ".lock";
/// How long to wait between two attempts.
const RETRY_PAUSE: Duration = Duration::from_millis(5);

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
}

/// The lock file of a process that had no hard links, as it noted it: `.git` folder, name, inode.
pub(crate) type LockFileRecorder<'n> = dyn FnMut(&Path, u64) -> io::Result<()> + 'n;

impl LockFile {
    /// Locks the file `name` in `git_dir`, waiting until `deadline` for whoever holds it.
    ///
    /// Where the file system has no hard links, `note` is called with the lock file's inode.
    pub(crate) fn acquire(
        repository: &Repository,
        git_dir: &Path,
        name: &str,
        deadline: Instant,
        note: &mut LockFileRecorder<'_>,
    ) -> Result<Self, Error> {
        let resource = git_dir.join(name);
        let path = git_dir.join(format!("{name}{LOCK_SUFFIX}"));
        let locked = Self::create_with_proof(git_dir, name, &path, deadline).or_else(|err| {
            match is_hard_link_unsupported(&err) {
                true => Self::create_without_proof(&path, deadline, note),
                false => Err(err),
            }
        });
        match locked {
            Ok((file, proof)) => Ok(Self { locked_path: resource, path, proof, file: Some(file) }),
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

    /// Returns the inode of the lock file.
    pub(crate) fn inode(&self) -> Option<u64> {
        FileStamp::from_path(&self.path).map(|it| it.inode())
    }

    /// Writes the content that the locked file is to get.
    pub(crate) fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        failpoint::fail_point("write lock file")?;
        self.file.as_mut().map_or(Ok(()), |it| it.write_all(bytes))
    }

    /// Makes that content durable.
    pub(crate) fn sync(&self) -> io::Result<()> {
        failpoint::fail_point("sync lock file")?;
        self.file.as_ref().map_or(Ok(()), File::sync_all)
    }

    /// Puts that content in place of the locked file, which releases the lock.
    pub(crate) fn commit(mut self) -> io::Result<()> {
        // Windows does not rename a file that is open.
        self.file = None;
        failpoint::fail_point("rename lock file")?;
        fs::rename(&self.path, &self.locked_path)?;
        failpoint::kill_point("lock file is renamed");
        if let Some(proof) = self.proof.take() {
            drop(fs::remove_file(proof));
        }
        // Nothing is left to release.
        self.path = PathBuf::new();
        Ok(())
    }

    fn create_with_proof(
        git_dir: &Path,
        name: &str,
        path: &Path,
        deadline: Instant,
    ) -> io::Result<(File, Option<PathBuf>)> {
        let below = format!("{PROOF_FOLDER}/{name}{LOCK_SUFFIX}");
        own_file::create_folders(git_dir, &below)?;
        let proof = own_file::own_path(git_dir, &below);
        // One that is there was left by an earlier write that could not remove it.
        remove_if_exists(&proof)?;
        failpoint::fail_point("create lock file")?;
        let file = OpenOptions::new().write(true).create_new(true).open(&proof)?;
        failpoint::fail_point("link lock file")?;
        let linked = retry_until(path, deadline, || fs::hard_link(&proof, path));
        failpoint::kill_point("lock file is linked");
        if let Err(err) = linked {
            drop(fs::remove_file(&proof));
            return Err(err);
        }
        Ok((file, Some(proof)))
    }

    fn create_without_proof(
        path: &Path,
        deadline: Instant,
        note: &mut LockFileRecorder<'_>,
    ) -> io::Result<(File, Option<PathBuf>)> {
        let create = || OpenOptions::new().write(true).create_new(true).open(path);
        let file = retry_until(path, deadline, create)?;
        let noted = FileStamp::from_path(path).map_or(Ok(()), |it| note(path, it.inode()));
        if let Err(err) = noted {
            drop(fs::remove_file(path));
            return Err(err);
        }
        Ok((file, None))
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
        // While the lock file is there, its proof must be too: the next writer removes both.
        if let (Ok(()), Some(proof)) = (removed, &self.proof) {
            drop(fs::remove_file(proof));
        }
    }
}

/// Removes the lock files in `git_dir` that a dead process of ours left.
pub(crate) fn remove_abandoned_locks(git_dir: &Path) -> io::Result<()> {
    let folder = own_file::own_path(git_dir, PROOF_FOLDER);
    let above = folder.parent().is_some_and(own_file::is_real_folder);
    if !above || !own_file::is_real_folder(&folder) {
        return Ok(());
    }
    for entry in WalkDir::new(&folder).follow_links(false).into_iter().flatten() {
        let Ok(name) = entry.path().strip_prefix(&folder) else { continue };
        let is_lock = name.extension().is_some_and(|it| it == "lock");
        if !entry.file_type().is_file() || !is_lock {
            continue;
        }
        let lock = git_dir.join(name);
        if is_same_file(entry.path(), &lock) {
            remove_if_exists(&lock)?;
        }
        remove_if_exists(entry.path())?;
    }
    Ok(())
}

/// Tells whether a process of ours may have left lock files in `git_dir`.
pub(crate) fn has_proofs(git_dir: &Path) -> bool {
    let folder = own_file::own_path(git_dir, PROOF_FOLDER);
    let files = WalkDir::new(folder).follow_root_links(false).into_iter().flatten();
    files.into_iter().any(|it| it.file_type().is_file())
}

/// Removes the lock file at `path` if it is the file with that `inode`.
pub(crate) fn remove_if_inode(path: &Path, inode: u64) -> io::Result<()> {
    match FileStamp::from_path(path) {
        Some(it) if it.inode() == inode && inode != 0 => remove_if_exists(path),
        _ => Ok(()),
    }
}

/// Returns how long the lock file at `path` has been there.
pub(crate) fn lock_age(path: &Path) -> Option<Duration> {
    fs::symlink_metadata(path).and_then(|it| it.modified()).ok()?.elapsed().ok()
}

/// Repeats `attempt` while somebody holds the lock, until `deadline`; creates missing folders.
fn retry_until<T>(
    path: &Path,
    deadline: Instant,
    mut attempt: impl FnMut() -> io::Result<T>,
) -> io::Result<T> {
    loop {
        match attempt() {
            Err(err) if err.kind() == io::ErrorKind::AlreadyExists => {
                if Instant::now() >= deadline {
                    return Err(err);
                }
                std::thread::sleep(RETRY_PAUSE);
            }
            // Git removes folders of references when they are empty.
            Err(err) if err.kind() == io::ErrorKind::NotFound && Instant::now() < deadline => {
                let folder = path.parent().ok_or(err)?;
                fs::create_dir_all(folder)?;
            }
            done => return done,
        }
    }
}

/// Tells whether the file system has no hard links: link(2) says EPERM, EMLINK, EXDEV or that it is
/// not supported.
fn is_hard_link_unsupported(err: &io::Error) -> bool {
    use io::ErrorKind::{CrossesDevices, PermissionDenied, TooManyLinks, Unsupported};
    matches!(err.kind(), PermissionDenied | TooManyLinks | CrossesDevices | Unsupported)
}

fn remove_if_exists(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

#[cfg(unix)]
fn is_same_file(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let number = |path: &Path| fs::symlink_metadata(path).map(|it| (it.dev(), it.ino())).ok();
    number(one).is_some() && number(one) == number(other)
}

#[cfg(not(unix))]
fn is_same_file(one: &Path, other: &Path) -> bool {
    same_file::is_same_file(one, other).unwrap_or(false)
}
