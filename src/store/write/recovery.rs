//! After a writer that died: its marker is read, and what it left half way is put right.
//!
//! It has not answered, so what it had written without committing is undone:
//! files it had replaced are put back, files it had added are taken away. What
//! somebody has changed since stays, and is adopted as a hand edit when it is
//! next written.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use gix::bstr::BStr;

use crate::store::Error;
use crate::store::repo::line_endings::to_git;
use crate::store::repo::repository;
use crate::store::repo::repository::Repository;
use crate::store::repo::{own_file, paths, regular_file};
use crate::store::write::index::{Staging, stat};
use crate::store::write::lock;
use crate::store::write::lock::{Patience, WRITING};
use crate::store::write::{commit, failpoint, lock_file, write_files};

/// The marker of a write; without one it is empty or missing.
pub(crate) const MARKER: &str = "writing";
/// How many bytes of a marker are read at most: a change of 100,000 files has 20 MB.
const LARGEST: u64 = 256 * 1024 * 1024;

/// What a write under way is about to touch.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Marker {
    branch: Option<String>,
    paths: Vec<String>,
    /// Files that were not there before, and how they look.
    fresh: Vec<(String, String)>,
    index_lock: Option<u64>,
    /// Whether its lock files are proved by hard links.
    has_proofs: bool,
    /// Lock files by their path in the common git directory, and their inodes, where the file
    /// system has no hard links.
    locks: Vec<(String, u64)>,
}

/// Returns where the marker of a write lies.
pub(crate) fn marker(repository: &Repository) -> PathBuf {
    own_file::path(&repository.git_dir, MARKER)
}

/// Puts right what a dead writer left, if there is its marker; waits for a living one.
pub(crate) fn mend_if_needed(repository: &Repository, patience: &Patience) -> Result<(), Error> {
    if !is_needed(repository) {
        return Ok(());
    }
    let _lock = lock::acquire(&repository.common_dir, WRITING, patience.ours)?;
    mend(repository, patience)
}

/// Removes `temporaries` that nobody is writing any more: a power cut takes the marker, and may
/// leave them. They are in nobody's way, so whoever cannot do it now leaves it to the next.
pub(crate) fn clear_away(repository: &Repository, temporaries: &[PathBuf]) {
    let lock = lock::acquire(&repository.common_dir, WRITING, Duration::ZERO);
    // While there is a marker, some may still be needed.
    if lock.is_err() || has_marker(repository) {
        return;
    }
    for temporary in temporaries {
        drop(fs::remove_file(temporary));
    }
}

/// Puts right what a dead writer left. Our lock must be held: then whoever left a marker is dead.
pub(crate) fn mend(repository: &Repository, patience: &Patience) -> Result<(), Error> {
    let place = marker(repository);
    let text = read_marker(&place).map_err(Error::file("read", &place))?;
    let left = Marker::parse(&String::from_utf8_lossy(&text));
    remove_locks(repository, &left).map_err(Error::file("clear what was left beside", &place))?;
    if text.is_empty() {
        return Ok(());
    }
    catch_up(repository, &left, patience)?;
    for path in &left.paths {
        write_files::remove_temporaries(&repository.work, path);
    }
    let emptied = own_file::open(&place, OpenOptions::new().write(true).truncate(true));
    emptied.map(drop).map_err(Error::file("empty", &place))
}

fn read_marker(place: &Path) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    match own_file::open(place, OpenOptions::new().read(true)) {
        Ok(file) => file.take(LARGEST).read_to_end(&mut text).map(|_| text),
        Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(text),
        Err(err) => Err(err),
    }
}

/// Tells whether a writer left anything that died.
pub(crate) fn is_needed(repository: &Repository) -> bool {
    has_marker(repository) || has_locks(repository)
}

fn has_marker(repository: &Repository) -> bool {
    fs::symlink_metadata(marker(repository)).is_ok_and(|it| it.len() > 0)
}

fn has_locks(repository: &Repository) -> bool {
    [&repository.git_dir, &repository.common_dir].iter().any(|it| lock_file::has_proofs(it))
}

/// Returns the line of a marker that notes a lock file by its inode.
pub(crate) fn noted(common_dir: &Path, path: &Path, inode: u64) -> String {
    match path.strip_prefix(common_dir).ok().and_then(Path::to_str) {
        Some(inside) => format!("held {inode} {}\n", inside.replace('\\', "/")),
        None => String::new(),
    }
}

impl Marker {
    /// Returns the marker of a write to `paths`, which are inside the palace.
    pub(crate) fn new(repository: &Repository, paths: &[String]) -> Self {
        let head = repository.git().head_name().ok().flatten();
        let paths = paths.iter().map(|path| format!("{}{path}", repository.prefix)).collect();
        Self { branch: head.map(|it| it.to_string()), paths, ..Self::default() }
    }

    /// Writes it to its place in `repository`, and returns the file, to write on.
    pub(crate) fn write(&self, repository: &Repository) -> io::Result<File> {
        let mut lines = vec![format!("pid {}\nproofs\n", std::process::id())];
        lines.extend(self.branch.iter().map(|it| format!("branch {it}\n")));
        lines.extend(self.paths.iter().map(|it| format!("path {it}\n")));
        failpoint::reach("write marker")?;
        let mut options = OpenOptions::new();
        own_file::create_folders(&repository.git_dir, MARKER)?;
        let place = own_file::path(&repository.git_dir, MARKER);
        let mut file = own_file::open(&place, options.write(true).create(true).truncate(true))?;
        file.write_all(lines.concat().as_bytes())?;
        failpoint::pass("marker is written");
        Ok(file)
    }

    /// Reads one, of which the end may be missing; what could lead astray is left out.
    fn parse(text: &str) -> Self {
        let mut marker = Self::default();
        for line in text.lines() {
            marker.has_proofs |= line == "proofs";
            match line.split_once(' ') {
                Some(("path", path)) if paths::check(path).is_ok() => {
                    marker.paths.push(path.to_owned());
                }
                Some(("fresh", file)) => marker.fresh.extend(fresh(file)),
                Some(("branch", name)) if is_branch(name) => marker.branch = Some(name.to_owned()),
                Some(("lock", inode)) => marker.index_lock = inode.parse().ok(),
                Some(("held", file)) => marker.locks.extend(held(file)),
                _ => {}
            }
        }
        marker
    }
}

/// Reads the inode of a lock file, and its path.
fn held(line: &str) -> Option<(String, u64)> {
    let (inode, path) = line.split_once(' ')?;
    let is_lock = Path::new(path).extension().is_some_and(|it| it == "lock");
    (is_lock && paths::check(path).is_ok()).then_some((path.to_owned(), inode.parse().ok()?))
}

/// Reads how a file looks, and its path.
fn fresh(line: &str) -> Option<(String, String)> {
    let (looks, path) = line.split_once(' ')?;
    paths::check(path).is_ok().then(|| (path.to_owned(), looks.to_owned()))
}

fn is_branch(name: &str) -> bool {
    name.starts_with("refs/") && paths::check(name).is_ok()
}

/// Removes the lock files of a dead writer: those that are proved to be ours, and no others.
fn remove_locks(repository: &Repository, marker: &Marker) -> io::Result<()> {
    lock_file::remove_abandoned(&repository.git_dir)?;
    if repository.common_dir != repository.git_dir {
        lock_file::remove_abandoned(&repository.common_dir)?;
    }
    for (path, inode) in &marker.locks {
        lock_file::remove_noted(&repository.common_dir.join(path), *inode)?;
    }
    // What an older Palazzo has noted. Ours has its proof, for an inode may be used again.
    let index = repository.git_dir.join("index.lock");
    match marker.index_lock {
        Some(inode) if !marker.has_proofs => lock_file::remove_noted(&index, inode),
        _ => Ok(()),
    }
}

/// Brings the index up to a commit that was made just before its writer died, and undoes what was
/// not committed.
fn catch_up(repository: &Repository, left: &Marker, patience: &Patience) -> Result<(), Error> {
    if left.paths.is_empty() {
        return Ok(());
    }
    let git = repository.git();
    let place = marker(repository);
    let mut note = |path: &Path, inode: u64| {
        let mut marker = own_file::open(&place, OpenOptions::new().append(true))?;
        marker.write_all(noted(&repository.common_dir, path, inode).as_bytes())
    };
    let mut staging = Staging::open(repository, &git, None, patience, &mut note)?;
    let failed = |err: gix::Error| repository.error("read the last commit", err);
    let head = repository::head(&git).map_err(failed)?;
    let tree = commit::tree_of(&git, head).map_err(failed)?;
    let mut behind = Vec::new();
    for path in &left.paths {
        let there = commit::entry(&git, tree, path).map_err(failed)?;
        let place = repository.work.join(path);
        let id = |text: String| commit::blob_id(&git, &to_git(&git, staging.index(), path, &text)?);
        let text = text_of(repository, path);
        let on_disk = text.map(id).transpose().map_err(failed)?;
        if on_disk != there.map(|it| it.id) {
            // The commit was not reached.
            undo(repository, left, path).map_err(Error::file("put back", &place))?;
        } else if staging.staged(path.as_str()) != on_disk {
            behind.push((BStr::new(path), there, there.and_then(|_| stat(&place))));
        }
    }
    if !behind.is_empty() {
        staging.put_all(behind);
        staging.write()?;
        staging.commit()?;
    }
    Ok(())
}

/// Reads the file at `path`, if it is a regular file that no link leads to: the marker may be a
/// stranger's.
fn text_of(repository: &Repository, path: &str) -> Option<String> {
    paths::check_links(&repository.work, path).ok()?;
    let bytes = regular_file::read(&repository.work.join(path)).ok().flatten()?;
    String::from_utf8(bytes).ok()
}

/// Undoes what was done to the file at `path`.
fn undo(repository: &Repository, marker: &Marker, path: &str) -> io::Result<()> {
    match marker.fresh.iter().find(|(fresh, _)| fresh == path) {
        Some((_, looks)) => write_files::take_back(&repository.work, path, looks),
        None => write_files::put_back(&repository.work, path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::test_repository::{Scene, change, done, impatient, try_git};

    const HALL: &str = "rooms/hall.yaml";

    /// What a write locks.
    const LOCKS: [&str; 3] = ["index.lock", "HEAD.lock", "refs/heads/main.lock"];

    /// A palace in which a writer died that held all the locks.
    fn crashed(scene: &Scene) -> crate::store::Store {
        let mut store = scene.palace("keep");
        done(&mut store, &change(HALL, None, Some("1\n")));
        let git = scene.home.join(".git");
        for lock in LOCKS {
            let proof = git.join("palazzo/locks").join(lock);
            fs::create_dir_all(proof.parent().unwrap()).unwrap();
            fs::write(&proof, "half").unwrap();
            fs::hard_link(proof, git.join(lock)).unwrap();
        }
        let marker = "pid 1\nbranch refs/heads/main\npath keep/rooms/hall.yaml\n";
        fs::write(git.join("palazzo/writing"), marker).unwrap();
        scene.put("keep/rooms/.hall.yaml.palazzo-1-0.tmp", "half");
        scene.put("keep/rooms/.hall.yaml.tmp", "somebody else's");
        store
    }

    #[test]
    fn what_a_killed_writer_left_is_cleared_by_the_next() {
        let scene = Scene::of_a_person();
        let mut store = crashed(&scene);
        impatient(&mut store);
        done(&mut store, &change(HALL, Some("1\n"), Some("2\n")));
        assert_eq!(scene.status(), "?? keep/rooms/.hall.yaml.tmp\n");
        assert_eq!(scene.text(".git/palazzo/writing"), "");
        scene.assert_sound();
    }

    #[test]
    fn temporary_files_without_a_marker_are_found_and_cleared_away() {
        let scene = Scene::of_a_person();
        let mut store = scene.palace("keep");
        done(&mut store, &change(HALL, None, Some("1\n")));
        scene.put("keep/rooms/.hall.yaml.palazzo-1-0.tmp", "ha");
        scene.put("keep/.palace.toml.palazzo-1-0.tmp", "");
        let (.., temporaries) = store.survey().unwrap();
        store.clear_away(&temporaries).unwrap();
        assert_eq!(scene.status(), "");
    }

    #[test]
    fn mending_can_be_asked_for() {
        let scene = Scene::of_a_person();
        let mut store = crashed(&scene);
        store.recover().unwrap();
        for gone in LOCKS {
            assert!(!scene.home.join(".git").join(gone).exists(), "{gone}");
        }
        assert!(!lock_file::has_proofs(&scene.home.join(".git")));
        assert!(!scene.home.join("keep/rooms/.hall.yaml.palazzo-1-0.tmp").exists());
        store.recover().unwrap();
    }

    #[test]
    fn a_file_that_was_replaced_before_the_crash_is_adopted_as_a_hand_edit() {
        let scene = Scene::of_a_person();
        let mut store = crashed(&scene);
        scene.put("keep/rooms/hall.yaml", "2\n");
        done(&mut store, &change(HALL, Some("2\n"), Some("3\n")));
        assert!(scene.log().contains("Ada: hand edit: rooms/hall.yaml"));
    }

    #[test]
    fn an_index_that_stayed_behind_its_commit_catches_up() {
        let scene = Scene::of_a_person();
        let mut store = crashed(&scene);
        fs::copy(scene.home.join(".git/index"), scene.home.join("index")).unwrap();
        done(&mut store, &change(HALL, Some("1\n"), Some("2\n")));
        fs::rename(scene.home.join("index"), scene.home.join(".git/index")).unwrap();
        fs::remove_file(scene.home.join("keep/rooms/.hall.yaml.tmp")).unwrap();
        assert_eq!(scene.status(), "MM keep/rooms/hall.yaml\n");
        fs::write(scene.home.join(".git/palazzo/writing"), "pid 1\npath keep/rooms/hall.yaml\n")
            .unwrap();
        store.recover().unwrap();
        assert_eq!(scene.status(), "");
        done(&mut store, &change(HALL, Some("2\n"), Some("3\n")));
        assert!(!scene.log().contains("hand edit"));
        assert_eq!(scene.status(), "");
    }

    #[test]
    fn a_lock_of_another_git_is_waited_for_and_then_reported() {
        let scene = Scene::of_a_person();
        let mut store = scene.palace("keep");
        impatient(&mut store);
        done(&mut store, &change(HALL, None, Some("1\n")));
        let lock = scene.home.join(".git/index.lock");
        fs::write(&lock, "").unwrap();
        let refused = store.make(&change(HALL, Some("1\n"), Some("2\n"))).unwrap_err();
        let told = refused.to_string();
        let begin = format!("another program has locked the repository by `{}` (", lock.display());
        assert!(told.starts_with(&begin), "{told}");
        let remedy = format!("`palazzo doctor --remove-lock {}`", lock.display());
        assert!(told.ends_with(&remedy), "{told}");
        assert!(lock.exists());
        assert_eq!(scene.text("keep/rooms/hall.yaml"), "1\n");
        // Nor is it taken for ours because some Palazzo died here once.
        fs::write(scene.home.join(".git/palazzo/writing"), "pid 1\nlock 1\n").unwrap();
        assert!(matches!(store.make(&change(HALL, Some("1\n"), Some("2\n"))), Err(Error::Busy(_))));
        assert!(lock.exists());
    }

    #[test]
    fn a_lock_of_another_program_stays_whatever_a_dead_writer_left() {
        let scene = Scene::of_a_person();
        for lock in LOCKS {
            let mut store = crashed(&scene);
            impatient(&mut store);
            let lock = scene.home.join(".git").join(lock);
            fs::remove_file(&lock).unwrap();
            fs::write(&lock, "").unwrap();
            let was = store.read(HALL).unwrap();
            let refused = store.make(&change(HALL, was.as_deref(), Some("2\n"))).unwrap_err();
            assert!(matches!(&refused, Error::Busy(held) if held.path == lock), "{refused}");
            assert!(lock.exists());
            fs::remove_file(&lock).unwrap();
            done(&mut store, &change(HALL, was.as_deref(), None));
        }
        assert_eq!(scene.status(), "?? keep/rooms/.hall.yaml.tmp\n");
    }

    #[test]
    #[cfg(unix)]
    fn a_marker_that_names_a_fifo_keeps_nobody_waiting() {
        let scene = Scene::of_a_person();
        let mut store = scene.palace("keep");
        done(&mut store, &change(HALL, None, Some("1\n")));
        let fifo = scene.home.join("keep/pipe.yaml");
        assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        fs::write(scene.home.join(".git/palazzo/writing"), "pid 1\npath keep/pipe.yaml\n").unwrap();
        done(&mut store, &change(HALL, Some("1\n"), Some("2\n")));
        assert!(fifo.exists());
    }

    #[test]
    fn a_lock_of_another_program_that_has_the_inode_of_ours_stays() {
        let scene = Scene::of_a_person();
        let mut store = scene.palace("keep");
        impatient(&mut store);
        done(&mut store, &change(HALL, None, Some("1\n")));
        let lock = scene.home.join(".git/index.lock");
        fs::write(&lock, "").unwrap();
        let inode = crate::store::repo::disk::Stamp::of(&lock).unwrap().inode();
        let marker = format!("pid 1\nproofs\nlock {inode}\n");
        fs::write(scene.home.join(".git/palazzo/writing"), marker).unwrap();
        assert!(store.make(&change(HALL, Some("1\n"), Some("2\n"))).is_err());
        assert!(lock.exists());
    }

    #[test]
    #[cfg(unix)]
    fn a_folder_of_locks_that_leads_elsewhere_is_left_alone() {
        let scene = Scene::of_a_person();
        let mut store = scene.palace("keep");
        done(&mut store, &change(HALL, None, Some("1\n")));
        let (elsewhere, locks) =
            (scene.home.with_file_name("elsewhere"), scene.home.join(".git/palazzo/locks"));
        fs::create_dir(&elsewhere).unwrap();
        fs::write(elsewhere.join("HEAD.lock"), "mine").unwrap();
        fs::remove_dir_all(&locks).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &locks).unwrap();
        assert!(store.make(&change(HALL, Some("1\n"), Some("2\n"))).is_err());
        let left: Vec<_> = fs::read_dir(&elsewhere).unwrap().flatten().collect();
        assert_eq!(left.len(), 1);
        assert_eq!(fs::read_to_string(elsewhere.join("HEAD.lock")).unwrap(), "mine");
        fs::remove_file(&locks).unwrap();
        done(&mut store, &change(HALL, Some("1\n"), Some("2\n")));
    }

    #[test]
    fn without_hard_links_a_lock_is_known_by_its_inode() {
        let scene = Scene::of_a_person();
        let mut store = scene.palace("keep");
        done(&mut store, &change(HALL, None, Some("1\n")));
        let git = scene.home.join(".git");
        let lock = git.join("refs/heads/main.lock");
        fs::write(&lock, "").unwrap();
        let inode = crate::store::repo::disk::Stamp::of(&lock).unwrap().inode();
        let line = noted(&git, &lock, inode);
        assert_eq!(line, format!("held {inode} refs/heads/main.lock\n"));
        fs::write(git.join("palazzo/writing"), format!("pid 1\n{line}held 1 HEAD.lock\n")).unwrap();
        fs::write(git.join("HEAD.lock"), "").unwrap();
        store.recover().unwrap();
        assert!(!lock.exists());
        assert!(git.join("HEAD.lock").exists());
    }

    #[test]
    fn a_held_branch_is_waited_for_and_then_nothing_has_changed() {
        let scene = Scene::of_a_person();
        let mut store = scene.palace("keep");
        impatient(&mut store);
        done(&mut store, &change(HALL, None, Some("1\n")));
        fs::write(scene.home.join(".git/refs/heads/main.lock"), "").unwrap();
        assert!(store.make(&change(HALL, Some("1\n"), Some("2\n"))).is_err());
        assert_eq!(scene.text("keep/rooms/hall.yaml"), "1\n");
        fs::remove_file(scene.home.join(".git/refs/heads/main.lock")).unwrap();
        assert_eq!(scene.status(), "");
        done(&mut store, &change(HALL, Some("1\n"), Some("2\n")));
    }

    #[test]
    fn a_marker_cannot_lead_astray() {
        let text = "pid 1\nbranch ../../x\nbranch main\npath ../x\npath .git/config\npath a/b\n\
            lock x\nheld 1 ../x.lock\nheld 1 config\npa";
        let marker = Marker::parse(text);
        assert_eq!(marker, Marker { paths: vec!["a/b".to_owned()], ..Marker::default() });
    }

    #[test]
    #[cfg(unix)]
    fn another_palazzo_is_waited_for_and_then_named() {
        let scene = Scene::of_a_person();
        let mut store = scene.palace("keep");
        impatient(&mut store);
        done(&mut store, &change(HALL, None, Some("1\n")));
        let _held =
            lock::acquire(&scene.home.join(".git"), WRITING, std::time::Duration::ZERO).unwrap();
        let refused = store.make(&change(HALL, Some("1\n"), Some("2\n"))).unwrap_err();
        let expected = format!("another palazzo (process {}) is writing", std::process::id());
        assert!(refused.to_string().starts_with(&expected), "{refused}");
        assert!(try_git(&scene.home, &["status"]).status.success());
    }
}
