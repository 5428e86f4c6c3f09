//! Allows one writer at a time, with a lock that is held for one write and a marker that survives a
//! crash.
//!
//! The lock is the kernel's (`flock`), so it is released when its holder dies. The marker remains,
//! and tells the next writer what a crashed one may have left: git's lock files, temporary files,
//! an index older than its commit.

use std::cell::Cell;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::time::Duration;

use crate::Error;
use crate::repo::failpoint;
use crate::repo::palazzo_file;
use crate::repo::processes;
use crate::repo::repository::Repository;
use crate::repo::retry::retry_until_timeout;
use palazzo_core::model::quoted_unless_plain;

/// The lock for writing to a repository.
pub(crate) const WRITE_LOCK: &str = "lock";
/// The lock for filing drawers, which must be filed only once.
pub(crate) const FILING_LOCK: &str = "filing/lock";

/// The length of the process id in a lock, which spaces fill up.
const HOLDER_LENGTH: usize = 10;

/// How long a writer waits for each kind of lock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LockTimeouts {
    /// For another Palazzo process.
    pub(crate) palazzo: Duration,
    /// For git's index.
    pub(crate) index: Duration,
    /// For git's references.
    pub(crate) head: Duration,
}

/// A lock of Palazzo; dropping it releases the lock.
#[derive(Debug)]
pub struct PalazzoLock {
    file: File,
    had_to_wait: bool,
}

impl PalazzoLock {
    /// Returns whether another process held the lock first.
    pub fn had_to_wait(&self) -> bool {
        self.had_to_wait
    }
}

impl Default for LockTimeouts {
    fn default() -> Self {
        let (ours, index) = (Duration::from_secs(10), Duration::from_secs(5));
        Self { palazzo: ours, index, head: Duration::from_secs(2) }
    }
}

impl Drop for PalazzoLock {
    fn drop(&mut self) {
        // Closing the file is not sufficient, because a child process that is being started may
        // have it open for a moment.
        drop(self.file.unlock());
    }
}

/// Waits for Palazzo's lock `name` in a repository.
pub(crate) fn acquire_palazzo_lock(
    repository: &Repository,
    name: &str,
    timeout: Duration,
) -> Result<PalazzoLock, Error> {
    let (git_dir, shared_mode) = (repository.common_dir.as_path(), repository.shared_mode);
    let path = palazzo_file::palazzo_file_path(git_dir, name);
    failpoint::fail_point("open own lock").map_err(Error::for_file("open", &path))?;
    let folders = palazzo_file::create_parent_folders(git_dir, name, shared_mode);
    folders.map_err(Error::for_file("create the folder of", &path))?;
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    forbid_deletion(&mut options);
    let opened = palazzo_file::open_regular_file(&path, &mut options);
    let (mut file, size) = opened.map_err(Error::for_file("open", &path))?;
    shared_mode.adjust_file(&file).map_err(Error::for_file("share", &path))?;
    let had_to_wait = Cell::new(false);
    let is_held = |err: &TryLockError| {
        had_to_wait.set(true);
        matches!(err, TryLockError::WouldBlock)
    };
    match retry_until_timeout(timeout, is_held, || file.try_lock()) {
        Ok(()) => {}
        Err(TryLockError::Error(err)) => return Err(Error::for_file("lock", &path)(err)),
        Err(TryLockError::WouldBlock) => {
            return Err(Error::WriteLocked { holder: read_holder(&mut file), lock: path });
        }
    }
    // Only used in the error of a waiting process; the lock works without it.
    drop(write_holder(&mut file, size));
    Ok(PalazzoLock { file, had_to_wait: had_to_wait.get() })
}

/// Does nothing: a file that is open can be deleted, and then another writer locks a new one.
#[cfg(unix)]
fn forbid_deletion(_: &mut OpenOptions) {}

/// Forbids others to delete or rename the file while it is open.
#[cfg(windows)]
fn forbid_deletion(options: &mut OpenOptions) {
    use std::os::windows::fs::OpenOptionsExt as _;

    const FILE_SHARE_READ: u32 = 1;
    const FILE_SHARE_WRITE: u32 = 2;
    options.share_mode(FILE_SHARE_READ | FILE_SHARE_WRITE);
}

/// Writes the process id of the holder into a file of `size` bytes. All have one length, because
/// emptying the file first would give its block back to the disk.
fn write_holder(file: &mut File, size: u64) -> io::Result<()> {
    let line = format!("{:<HOLDER_LENGTH$}\n", processes::own_process_id());
    file.write_all(line.as_bytes())?;
    match size > line.len() as u64 {
        true => file.set_len(line.len() as u64),
        false => Ok(()),
    }
}

/// Reads the process id of the holder. On Windows nobody else can read a file that is locked, so the
/// holder is unknown.
fn read_holder(file: &mut File) -> String {
    let mut text = String::new();
    match file.read_to_string(&mut text) {
        Ok(_) if !text.trim().is_empty() => quoted_unless_plain(text.trim()),
        _ => "unknown".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use crate::test_repository::{TestHome, change_of_one_file, commit_ok, try_git};
    use crate::{CommitOutcome, Store};

    const WRITES_PER_WRITER: usize = 50;

    /// Returns a path: five files are written by both writers, five by each alone.
    fn writer_path(writer: usize, write: usize) -> String {
        match write % 10 {
            shared @ 0..5 => format!("rooms/{shared}.yaml"),
            own => format!("rooms/w{writer}/{own}.yaml"),
        }
    }

    /// Appends a line to a file, retrying while the file changes meanwhile.
    fn append_line(store: &mut Store, path: &str, line: &str) {
        loop {
            let was = store.read_file(path).unwrap();
            let now = was.clone().unwrap_or_default() + line + "\n";
            match store.commit(&change_of_one_file(path, was.as_deref(), Some(&now))).unwrap() {
                CommitOutcome::Done(done) => return assert!(done.commit.is_some()),
                CommitOutcome::Stale(_) | CommitOutcome::SignatureMissing => {}
            }
        }
    }

    fn run_writer(scene: &TestHome, writer: usize) {
        let mut store = scene.palace("keep");
        for write in 0..WRITES_PER_WRITER {
            append_line(&mut store, &writer_path(writer, write), &format!("{writer} {write}"));
        }
    }

    /// Commits another file until `stop` is set, and returns the number of commits.
    fn commit_until_stopped(scene: &TestHome, stop: &AtomicBool) -> usize {
        let mut commits = 0;
        while !stop.load(Ordering::Relaxed) {
            scene.write_file("notes.md", &format!("{commits}\n"));
            // Git does not wait for its lock, so failed commands are repeated.
            let ok = |args: &[&str]| try_git(&scene.home, args).status.success();
            if ok(&["add", "notes.md"]) && ok(&["commit", "-qm", "by hand"]) {
                commits += 1;
            }
        }
        commits
    }

    fn assert_all_lines_present(scene: &TestHome) {
        for (writer, write) in
            (0..2).flat_map(|it| (0..WRITES_PER_WRITER).map(move |write| (it, write)))
        {
            let path = format!("keep/{}", writer_path(writer, write));
            let text = scene.read_file(&path);
            let line = format!("{writer} {write}");
            assert_eq!(text.lines().filter(|it| **it == line).count(), 1, "{line} in {path}");
            assert_eq!(scene.git(&["show", &format!("HEAD:{path}")]), text);
        }
    }

    #[test]
    fn two_writers_and_a_concurrent_git_lose_nothing() {
        let scene = TestHome::with_repository();
        let stop = AtomicBool::new(false);
        let by_hand = std::thread::scope(|scope| {
            let writers = [0, 1].map(|writer| {
                scope.spawn({
                    let scene = &scene;
                    move || run_writer(scene, writer)
                })
            });
            let person = scope.spawn(|| commit_until_stopped(&scene, &stop));
            let ended = writers.map(std::thread::ScopedJoinHandle::join);
            stop.store(true, Ordering::Relaxed);
            let by_hand = person.join().unwrap();
            assert!(ended.iter().all(Result::is_ok));
            by_hand
        });
        // Git reads `HEAD` and the index before it takes its lock. A `git commit` that begins between the
        // two steps of a write commits the index of before, and the file is untracked until it is added.
        scene.git(&["add", "keep"]);
        scene.git(&["commit", "-q", "--allow-empty", "-m", "last"]);
        assert_all_lines_present(&scene);
        let authored = |by: &str| scene.git(&["rev-list", "--count", "HEAD", "--author", by]);
        assert_eq!(authored("Claude").trim(), (2 * WRITES_PER_WRITER).to_string());
        // Git may fail after the commit, when it writes the index.
        assert!(authored("Ada").trim().parse::<usize>().unwrap() > by_hand);
        scene.git(&["commit", "-q", "--allow-empty", "-am", "last"]);
        assert_eq!(scene.status(), "");
        assert_eq!(scene.git(&["write-tree"]), scene.git(&["rev-parse", "HEAD^{tree}"]));
        scene.git(&["fsck", "--strict", "--no-dangling"]);
    }

    #[test]
    fn concurrent_first_changes_create_one_repository() {
        let scene = TestHome::new();
        std::thread::scope(|scope| {
            for name in ["a", "b", "c", "d"] {
                let mut store = scene.palace(name);
                scope.spawn(move || {
                    commit_ok(&mut store, &change_of_one_file("palace.toml", None, Some("x\n")))
                });
            }
        });
        assert_eq!(scene.log().lines().count(), 4);
        assert_eq!(scene.status(), "");
        scene.assert_fsck_clean();
    }
}
