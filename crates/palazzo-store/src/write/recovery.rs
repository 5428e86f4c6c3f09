//! Recovers from a crashed writer: reads its marker and completes or undoes its write.
//!
//! The crashed write was never acknowledged, so files written without a commit are undone: replaced
//! files are restored, added files are removed. Files changed by others since are kept, and are
//! committed as a hand edit by the next write.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

use gix::bstr::BStr;

use crate::Error;
use crate::repo::failpoint;
use crate::repo::index_file::stat_file;
use crate::repo::line_endings::convert_to_git;
use crate::repo::repository;
use crate::repo::repository::Repository;
use crate::repo::tree_lookup;
use crate::repo::{palazzo_file, paths, processes, regular_file};
use crate::write::index::LockedIndex;
use crate::write::palazzo_lock;
use crate::write::palazzo_lock::{LockTimeouts, WRITE_LOCK};
use crate::write::{file_transaction, lock_file, objects};

/// The maximum size of a marker in bytes; a change of 100,000 files has 20 MB.
const MAX_MARKER_BYTES: u64 = 256 * 1024 * 1024;

/// The files and locks that a write in progress may touch.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct WriteMarker {
    /// The id of the process that writes.
    process: Option<u32>,
    paths: Vec<String>,
    /// Files that did not exist before, with the fingerprints of the new files.
    new_files: Vec<(String, String)>,
    /// Lock files by their path in the common git directory, with their inodes, for file systems
    /// without hard links.
    locks: Vec<(String, u64)>,
}

/// Returns the path of a write's marker.
pub(crate) fn marker_path(repository: &Repository) -> PathBuf {
    palazzo_file::palazzo_file_path(&repository.git_dir, palazzo_file::WRITE_MARKER_FILE)
}

/// Recovers from a crashed writer, if it left a marker; waits for a running one.
pub(crate) fn recover_if_needed(
    repository: &Repository,
    timeouts: &LockTimeouts,
) -> Result<(), Error> {
    if !is_recovery_needed(repository) {
        return Ok(());
    }
    let _lock = palazzo_lock::acquire_palazzo_lock(repository, WRITE_LOCK, timeouts.palazzo)?;
    recover_and_open_marker(repository, timeouts).map(drop)
}

/// Removes temporary files that no process is writing; a power failure can lose the marker and
/// leave them. They are harmless, so if it fails now, a later call removes them.
pub(crate) fn remove_stale_temporaries(repository: &Repository, temporaries: &[PathBuf]) {
    let lock = palazzo_lock::acquire_palazzo_lock(repository, WRITE_LOCK, Duration::ZERO);
    // While there is a marker, recovery may need them.
    if lock.is_err() || is_recovery_needed(repository) {
        return;
    }
    for temporary in temporaries {
        drop(fs::remove_file(temporary));
    }
}

/// Recovers from the crashed writer with the marker `text`, which may be empty, and empties the
/// marker.
fn recover_by_marker(
    repository: &Repository,
    mut file: &File,
    text: &[u8],
    timeouts: &LockTimeouts,
) -> Result<(), Error> {
    let place = marker_path(repository);
    let marker = WriteMarker::parse(&String::from_utf8_lossy(text));
    // After a power failure there may be locks without a marker.
    if !text.is_empty() || repository.may_have_dead_locks.load(Ordering::Relaxed) {
        remove_dead_locks(repository, &marker)
            .map_err(Error::for_file("remove the locks listed in", &place))?;
    }
    if text.is_empty() {
        return Ok(());
    }
    repair_files_and_index(repository, &marker, timeouts)?;
    if let Some(process) = marker.process {
        objects::remove_temporaries_of_process(&repository.common_dir, process);
    }
    for path in &marker.paths {
        file_transaction::remove_temporaries(&repository.work, path);
    }
    let emptied = file.set_len(0).and_then(|()| file.rewind());
    emptied.map_err(Error::for_file("empty", &place))
}

/// Opens the marker for a write, after recovery from a crashed writer; it is empty then. The caller
/// holds the write lock, so the writer of any marker is dead.
pub(crate) fn recover_and_open_marker(
    repository: &Repository,
    timeouts: &LockTimeouts,
) -> Result<File, Error> {
    let place = marker_path(repository);
    let (file, size) =
        open_or_create_marker(repository, &place).map_err(Error::for_file("open", &place))?;
    let mut text = Vec::new();
    if size > 0 {
        let read = (&file).take(MAX_MARKER_BYTES).read_to_end(&mut text);
        read.map_err(Error::for_file("read", &place))?;
    }
    recover_by_marker(repository, &file, &text, timeouts)?;
    Ok(file)
}

fn open_or_create_marker(repository: &Repository, place: &Path) -> io::Result<(File, u64)> {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    let open = |options: &mut _| palazzo_file::open_regular_file(place, options);
    match open(&mut options) {
        Err(err) if err.kind() == io::ErrorKind::NotFound => {
            let (git_dir, name) = (&repository.git_dir, palazzo_file::WRITE_MARKER_FILE);
            palazzo_file::create_parent_folders(git_dir, name, repository.shared_mode)?;
            let (file, size) = open(options.create(true))?;
            repository.shared_mode.adjust_file(&file)?;
            Ok((file, size))
        }
        opened => opened,
    }
}

/// Returns true if a crashed writer left files that are not as in the last commit. What a power
/// failure may leave without a marker are locks only, which the next writer removes under its own.
pub(crate) fn is_recovery_needed(repository: &Repository) -> bool {
    fs::symlink_metadata(marker_path(repository)).is_ok_and(|it| it.len() > 0)
}

/// Returns the marker line that records a lock file by its inode.
pub(crate) fn marker_line_for_lock_file(common_dir: &Path, path: &Path, inode: u64) -> String {
    match path.strip_prefix(common_dir).ok().and_then(Path::to_str) {
        Some(inside) => format!("held {inode} {}\n", inside.replace('\\', "/")),
        None => String::new(),
    }
}

impl WriteMarker {
    /// Creates the marker of a write to `paths`, which are inside the palace.
    pub(crate) fn new(repository: &Repository, paths: &[String]) -> Self {
        let paths = paths.iter().map(|path| format!("{}{path}", repository.prefix)).collect();
        Self { process: Some(processes::own_process_id()), paths, ..Self::default() }
    }

    /// Writes the marker into `file`, which is empty.
    pub(crate) fn write_into(&self, mut file: &File) -> io::Result<()> {
        let mut lines: Vec<_> = self.process.iter().map(|it| format!("pid {it}\n")).collect();
        lines.extend(self.paths.iter().map(|it| format!("path {it}\n")));
        failpoint::fail_point("write marker")?;
        file.write_all(lines.concat().as_bytes())?;
        failpoint::kill_point("marker is written");
        Ok(())
    }

    /// Parses a marker, whose end may be missing; unsafe lines are ignored.
    fn parse(text: &str) -> Self {
        let mut marker = Self::default();
        for line in text.lines() {
            match line.split_once(' ') {
                Some(("pid", it)) => marker.process = it.parse().ok(),
                Some(("path", path)) if paths::check_path(path).is_ok() => {
                    marker.paths.push(path.to_owned());
                }
                Some(("fresh", file)) => marker.new_files.extend(parse_new_file_line(file)),
                Some(("held", file)) => marker.locks.extend(parse_lock_file_line(file)),
                _ => {}
            }
        }
        marker
    }
}

/// Parses an inode and the path of a lock file.
fn parse_lock_file_line(line: &str) -> Option<(String, u64)> {
    let (inode, path) = line.split_once(' ')?;
    let is_lock = Path::new(path).extension().is_some_and(|it| it == "lock");
    (is_lock && paths::check_path(path).is_ok()).then_some((path.to_owned(), inode.parse().ok()?))
}

/// Parses the fingerprint and path of a new file.
fn parse_new_file_line(line: &str) -> Option<(String, String)> {
    let (fingerprint, path) = line.split_once(' ')?;
    paths::check_path(path).is_ok().then(|| (path.to_owned(), fingerprint.to_owned()))
}

/// Removes the lock files of a crashed writer that are proved to be Palazzo's, and no others.
fn remove_dead_locks(repository: &Repository, marker: &WriteMarker) -> io::Result<()> {
    lock_file::remove_own_dead_locks(&repository.git_dir)?;
    if repository.common_dir != repository.git_dir {
        lock_file::remove_own_dead_locks(&repository.common_dir)?;
    }
    for (path, inode) in &marker.locks {
        lock_file::remove_lock_if_inode_matches(&repository.common_dir.join(path), *inode)?;
    }
    repository.may_have_dead_locks.store(false, Ordering::Relaxed);
    Ok(())
}

/// Updates the index to a commit made just before the crash, and undoes what was not committed.
fn repair_files_and_index(
    repository: &Repository,
    marker: &WriteMarker,
    timeouts: &LockTimeouts,
) -> Result<(), Error> {
    if marker.paths.is_empty() {
        return Ok(());
    }
    let git = repository.git();
    let place = marker_path(repository);
    let mut record = |path: &Path, inode: u64| {
        let (mut file, _) =
            palazzo_file::open_regular_file(&place, OpenOptions::new().append(true))?;
        file.write_all(marker_line_for_lock_file(&repository.common_dir, path, inode).as_bytes())
    };
    let mut locked_index = LockedIndex::open(repository, &git, None, timeouts, &mut record)?;
    let failed = |err: gix::Error| repository.git_error("read the last commit", err);
    let head = repository::read_head(&git).map_err(failed)?;
    let tree = tree_lookup::tree_of_commit(&git, head).map_err(failed)?;
    let mut outdated = Vec::new();
    for path in &marker.paths {
        let committed = tree_lookup::find_blob_entry(&git, tree, path).map_err(failed)?;
        let place = repository.work.join(path);
        let id = |text: String| {
            tree_lookup::compute_blob_id(
                &git,
                &convert_to_git(&git, locked_index.index(), path, &text)?,
            )
        };
        let text = read_regular_text(repository, path);
        let on_disk = text.map(id).transpose().map_err(failed)?;
        if on_disk != committed.map(|it| it.id) {
            // The commit was not made.
            undo_file(repository, marker, path).map_err(Error::for_file("restore", &place))?;
        } else if locked_index.staged_id(path.as_str()) != on_disk {
            outdated.push((BStr::new(path), committed, committed.and_then(|_| stat_file(&place))));
        }
    }
    if !outdated.is_empty() {
        locked_index.stage_files(outdated);
        locked_index.write_to_lock_file()?;
        locked_index.replace_index()?;
    }
    Ok(())
}

/// Reads the file at `path` if it is a regular file that is not behind a link, because the marker
/// may come from a stranger.
fn read_regular_text(repository: &Repository, path: &str) -> Option<String> {
    paths::reject_symbolic_links(&repository.work, path).ok()?;
    let bytes = regular_file::read_regular_file(&repository.work.join(path)).ok().flatten()?;
    String::from_utf8(bytes).ok()
}

/// Undoes the write of the file at `path`.
fn undo_file(repository: &Repository, marker: &WriteMarker, path: &str) -> io::Result<()> {
    match marker.new_files.iter().find(|(new, _)| new == path) {
        Some((_, print)) => file_transaction::remove_new_file(&repository.work, path, print),
        None => file_transaction::restore_old_file(&repository.work, path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LockOwner;
    #[cfg(unix)]
    use crate::test_repository;
    use crate::test_repository::{TestHome, change_of_one_file, commit_ok, set_short_timeouts};

    const HALL: &str = "rooms/hall.yaml";

    /// The locks taken by a write.
    const LOCKS: [&str; 3] = ["index.lock", "HEAD.lock", "refs/heads/main.lock"];

    /// Creates a palace whose writer crashed while holding all locks.
    fn scene_with_dead_writer(scene: &TestHome) -> crate::Store {
        let mut store = scene.palace("keep");
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
        let git = scene.home.join(".git");
        for lock in LOCKS {
            let proof = git.join("palazzo/locks").join(lock);
            fs::create_dir_all(proof.parent().unwrap()).unwrap();
            fs::write(&proof, "half").unwrap();
            fs::hard_link(proof, git.join(lock)).unwrap();
        }
        let marker = "pid 1\nbranch refs/heads/main\npath keep/rooms/hall.yaml\n";
        fs::write(git.join("palazzo/writing"), marker).unwrap();
        scene.write_file("keep/rooms/.hall.yaml.palazzo-1-0.tmp", "half");
        scene.write_file("keep/rooms/.hall.yaml.tmp", "another program's");
        store
    }

    #[test]
    fn the_next_write_cleans_up_after_a_killed_writer() {
        let scene = TestHome::with_repository();
        let mut store = scene_with_dead_writer(&scene);
        set_short_timeouts(&mut store);
        let locks = store.list_git_locks().unwrap();
        assert!(locks.iter().all(|it| it.owner == LockOwner::InterruptedWrite), "{locks:?}");
        assert!(store.remove_git_lock(&locks[0].path).is_err());
        commit_ok(&mut store, &change_of_one_file(HALL, Some("1\n"), Some("2\n")));
        assert_eq!(scene.status(), "?? keep/rooms/.hall.yaml.tmp\n");
        assert_eq!(scene.read_file(".git/palazzo/writing"), "");
        scene.assert_fsck_clean();
    }

    #[test]
    fn temporary_files_without_a_marker_are_found_and_removed() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
        scene.write_file("keep/rooms/.hall.yaml.palazzo-1-0.tmp", "ha");
        scene.write_file("keep/.palace.toml.palazzo-1-0.tmp", "");
        let (.., temporaries) = store.list_files_with_temporaries().unwrap();
        store.remove_stale_temporaries(&temporaries).unwrap();
        assert_eq!(scene.status(), "");
    }

    #[test]
    fn recovery_can_be_requested() {
        let scene = TestHome::with_repository();
        let mut store = scene_with_dead_writer(&scene);
        store.recover_from_crash().unwrap();
        for gone in LOCKS {
            assert!(!scene.home.join(".git").join(gone).exists(), "{gone}");
        }
        assert!(!lock_file::has_lock_file_proofs(&scene.home.join(".git")));
        assert!(!scene.home.join("keep/rooms/.hall.yaml.palazzo-1-0.tmp").exists());
        store.recover_from_crash().unwrap();
    }

    #[test]
    fn a_file_replaced_before_a_crash_is_committed_as_a_hand_edit() {
        let scene = TestHome::with_repository();
        let mut store = scene_with_dead_writer(&scene);
        scene.write_file("keep/rooms/hall.yaml", "2\n");
        commit_ok(&mut store, &change_of_one_file(HALL, Some("2\n"), Some("3\n")));
        assert!(scene.log().contains("Ada: hand edit: rooms/hall.yaml"));
    }

    #[test]
    fn an_index_behind_its_commit_is_updated() {
        let scene = TestHome::with_repository();
        let mut store = scene_with_dead_writer(&scene);
        fs::copy(scene.home.join(".git/index"), scene.home.join("index")).unwrap();
        commit_ok(&mut store, &change_of_one_file(HALL, Some("1\n"), Some("2\n")));
        fs::rename(scene.home.join("index"), scene.home.join(".git/index")).unwrap();
        fs::remove_file(scene.home.join("keep/rooms/.hall.yaml.tmp")).unwrap();
        assert_eq!(scene.status(), "MM keep/rooms/hall.yaml\n");
        fs::write(scene.home.join(".git/palazzo/writing"), "pid 1\npath keep/rooms/hall.yaml\n")
            .unwrap();
        store.recover_from_crash().unwrap();
        assert_eq!(scene.status(), "");
        commit_ok(&mut store, &change_of_one_file(HALL, Some("2\n"), Some("3\n")));
        assert!(!scene.log().contains("hand edit"));
        assert_eq!(scene.status(), "");
    }

    #[test]
    fn a_lock_of_another_git_is_reported_after_a_timeout() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        set_short_timeouts(&mut store);
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
        let lock = scene.home.join(".git/index.lock");
        fs::write(&lock, "").unwrap();
        let refused =
            store.commit(&change_of_one_file(HALL, Some("1\n"), Some("2\n"))).unwrap_err();
        let message = refused.to_string();
        let begin = format!("another program has locked the repository by `{}` (", lock.display());
        assert!(message.starts_with(&begin), "{message}");
        let remedy = format!("`palazzo doctor --remove-lock {}`", lock.display());
        assert!(message.ends_with(&remedy), "{message}");
        assert!(lock.exists());
        assert_eq!(scene.read_file("keep/rooms/hall.yaml"), "1\n");
        // It does not count as Palazzo's because of a marker that some process left.
        fs::write(scene.home.join(".git/palazzo/writing"), "pid 1\nlock 1\n").unwrap();
        assert!(matches!(
            store.commit(&change_of_one_file(HALL, Some("1\n"), Some("2\n"))),
            Err(Error::GitLocked(_))
        ));
        assert!(lock.exists());
    }

    #[test]
    fn recovery_keeps_the_locks_of_other_programs() {
        let scene = TestHome::with_repository();
        for lock in LOCKS {
            let mut store = scene_with_dead_writer(&scene);
            set_short_timeouts(&mut store);
            let lock = scene.home.join(".git").join(lock);
            fs::remove_file(&lock).unwrap();
            fs::write(&lock, "").unwrap();
            let was = store.read_file(HALL).unwrap();
            let refused =
                store.commit(&change_of_one_file(HALL, was.as_deref(), Some("2\n"))).unwrap_err();
            assert!(matches!(&refused, Error::GitLocked(held) if held.path == lock), "{refused}");
            assert!(lock.exists());
            fs::remove_file(&lock).unwrap();
            commit_ok(&mut store, &change_of_one_file(HALL, was.as_deref(), None));
        }
        assert_eq!(scene.status(), "?? keep/rooms/.hall.yaml.tmp\n");
    }

    #[test]
    #[cfg(unix)]
    fn a_marker_that_names_a_fifo_does_not_block() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
        let fifo = scene.home.join("keep/pipe.yaml");
        assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        fs::write(scene.home.join(".git/palazzo/writing"), "pid 1\npath keep/pipe.yaml\n").unwrap();
        commit_ok(&mut store, &change_of_one_file(HALL, Some("1\n"), Some("2\n")));
        assert!(fifo.exists());
    }

    #[test]
    fn recovery_keeps_a_foreign_lock_with_a_reused_inode() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        set_short_timeouts(&mut store);
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
        let lock = scene.home.join(".git/index.lock");
        fs::write(&lock, "").unwrap();
        let inode = crate::repo::palace_files::FileStamp::from_path(&lock).unwrap().inode();
        let marker = format!("pid 1\nlock {inode}\n");
        fs::write(scene.home.join(".git/palazzo/writing"), marker).unwrap();
        assert!(store.commit(&change_of_one_file(HALL, Some("1\n"), Some("2\n"))).is_err());
        assert!(lock.exists());
    }

    #[test]
    #[cfg(unix)]
    fn a_lock_folder_that_is_a_symbolic_link_is_not_touched() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
        let (elsewhere, locks) =
            (scene.home.with_file_name("elsewhere"), scene.home.join(".git/palazzo/locks"));
        fs::create_dir(&elsewhere).unwrap();
        fs::write(elsewhere.join("HEAD.lock"), "mine").unwrap();
        fs::remove_dir_all(&locks).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &locks).unwrap();
        assert!(store.commit(&change_of_one_file(HALL, Some("1\n"), Some("2\n"))).is_err());
        let left: Vec<_> = fs::read_dir(&elsewhere).unwrap().flatten().collect();
        assert_eq!(left.len(), 1);
        assert_eq!(fs::read_to_string(elsewhere.join("HEAD.lock")).unwrap(), "mine");
        fs::remove_file(&locks).unwrap();
        commit_ok(&mut store, &change_of_one_file(HALL, Some("1\n"), Some("2\n")));
    }

    #[test]
    fn without_hard_links_a_lock_is_identified_by_its_inode() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
        let git = scene.home.join(".git");
        let lock = git.join("refs/heads/main.lock");
        fs::write(&lock, "").unwrap();
        let inode = crate::repo::palace_files::FileStamp::from_path(&lock).unwrap().inode();
        let line = marker_line_for_lock_file(&git, &lock, inode);
        assert_eq!(line, format!("held {inode} refs/heads/main.lock\n"));
        fs::write(git.join("palazzo/writing"), format!("pid 1\n{line}held 1 HEAD.lock\n")).unwrap();
        fs::write(git.join("HEAD.lock"), "").unwrap();
        store.recover_from_crash().unwrap();
        assert!(!lock.exists());
        assert!(git.join("HEAD.lock").exists());
    }

    #[test]
    fn a_write_to_a_locked_branch_times_out_and_changes_nothing() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        set_short_timeouts(&mut store);
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
        fs::write(scene.home.join(".git/refs/heads/main.lock"), "").unwrap();
        assert!(store.commit(&change_of_one_file(HALL, Some("1\n"), Some("2\n"))).is_err());
        assert_eq!(scene.read_file("keep/rooms/hall.yaml"), "1\n");
        fs::remove_file(scene.home.join(".git/refs/heads/main.lock")).unwrap();
        assert_eq!(scene.status(), "");
        commit_ok(&mut store, &change_of_one_file(HALL, Some("1\n"), Some("2\n")));
    }

    #[test]
    fn unsafe_lines_of_a_marker_are_ignored() {
        let text = "pid 1\nbranch ../../x\nbranch main\npath ../x\npath .git/config\npath a/b\n\
            lock x\nheld 1 ../x.lock\nheld 1 config\npa";
        let marker = WriteMarker::parse(text);
        assert_eq!(
            marker,
            WriteMarker {
                process: Some(1),
                paths: vec!["a/b".to_owned()],
                ..WriteMarker::default()
            }
        );
    }

    #[test]
    #[cfg(unix)]
    fn a_write_lock_of_another_palazzo_is_reported_after_a_timeout() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        set_short_timeouts(&mut store);
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
        let _held = palazzo_lock::acquire_palazzo_lock(
            &store.repository().unwrap().unwrap(),
            WRITE_LOCK,
            std::time::Duration::ZERO,
        )
        .unwrap();
        let refused =
            store.commit(&change_of_one_file(HALL, Some("1\n"), Some("2\n"))).unwrap_err();
        let expected = format!("another palazzo (process {}) is writing", std::process::id());
        assert!(refused.to_string().starts_with(&expected), "{refused}");
        assert!(test_repository::try_git(&scene.home, &["status"]).status.success());
    }
}
