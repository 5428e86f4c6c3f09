//! After a writer that died: its marker is read, and what it left half way is put right.
//!
//! It has not answered, so what it had written without committing is undone:
//! files it had replaced are put back, files it had added are taken away. What
//! somebody has changed since stays, and is adopted as a hand edit when it is
//! next written.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use gix::bstr::BStr;

use super::conversion::to_git;
use super::disk::Stamp;
use super::index::{Staging, stat};
use super::lock::{self, Patience};
use super::repository::{self, Repository};
use super::{Error, commit, objects, paths, writing};

/// What a write under way is about to touch.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Marker {
    branch: Option<String>,
    paths: Vec<String>,
    /// Files that were not there before, and how they look.
    fresh: Vec<(String, String)>,
    index_lock: Option<u64>,
}

/// Puts right what a dead writer left, if there is its marker; waits for a living one.
pub(super) fn mend_if_needed(repository: &Repository, patience: &Patience) -> Result<(), Error> {
    if !has_marker(repository) {
        return Ok(());
    }
    let _lock = lock::acquire(&repository.common_dir.join("palazzo"), patience.ours)?;
    mend(repository, patience)
}

/// Removes `temporaries` that nobody is writing any more: a power cut takes the marker, and may
/// leave them. They are in nobody's way, so whoever cannot do it now leaves it to the next.
pub(super) fn clear_away(repository: &Repository, temporaries: &[PathBuf]) {
    let lock = lock::acquire(&repository.common_dir.join("palazzo"), Duration::ZERO);
    // While there is a marker, some may still be needed.
    if lock.is_err() || has_marker(repository) {
        return;
    }
    for temporary in temporaries {
        drop(fs::remove_file(temporary));
    }
}

/// Puts right what a dead writer left. Our lock must be held: then whoever left a marker is dead.
pub(super) fn mend(repository: &Repository, patience: &Patience) -> Result<(), Error> {
    let place = lock::marker(repository);
    let text = match fs::read(&place) {
        Ok(text) if text.is_empty() => return Ok(()),
        Ok(text) => text,
        Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(err) => return Err(Error::file("read", &place)(err)),
    };
    let begun = fs::metadata(&place).and_then(|it| it.modified());
    let begun = begun.map_err(Error::file("read", &place))?;
    objects::remove_torn(&repository.git(), &repository.common_dir, begun)?;
    let marker = Marker::parse(&String::from_utf8_lossy(&text));
    remove_locks(repository, &marker).map_err(Error::file("clear what was left beside", &place))?;
    catch_up(repository, &marker, patience)?;
    for path in &marker.paths {
        writing::remove_temporaries(&repository.work, path);
    }
    fs::write(&place, "").map_err(Error::file("empty", &place))
}

fn has_marker(repository: &Repository) -> bool {
    fs::metadata(lock::marker(repository)).is_ok_and(|it| it.len() > 0)
}

impl Marker {
    /// Returns the marker of a write to `paths`, which are inside the palace.
    pub(super) fn new(repository: &Repository, paths: &[String]) -> Self {
        let head = repository.git().head_name().ok().flatten();
        let paths = paths.iter().map(|path| format!("{}{path}", repository.prefix)).collect();
        Self { branch: head.map(|it| it.to_string()), paths, ..Self::default() }
    }

    /// Writes it to `place`, and returns the file, to write on.
    pub(super) fn write(&self, place: &Path) -> io::Result<File> {
        let mut lines = vec![format!("pid {}\n", std::process::id())];
        lines.extend(self.branch.iter().map(|it| format!("branch {it}\n")));
        lines.extend(self.paths.iter().map(|it| format!("path {it}\n")));
        if let Some(folder) = place.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut file = File::create(place)?;
        file.write_all(lines.concat().as_bytes())?;
        Ok(file)
    }

    /// Reads one, of which the end may be missing; what could lead astray is left out.
    fn parse(text: &str) -> Self {
        let mut marker = Self::default();
        for line in text.lines() {
            match line.split_once(' ') {
                Some(("path", path)) if paths::check(path).is_ok() => {
                    marker.paths.push(path.to_owned());
                }
                Some(("fresh", file)) => marker.fresh.extend(fresh(file)),
                Some(("branch", name)) if is_branch(name) => marker.branch = Some(name.to_owned()),
                Some(("lock", inode)) => marker.index_lock = inode.parse().ok(),
                _ => {}
            }
        }
        marker
    }
}

/// Reads how a file looks, and its path.
fn fresh(line: &str) -> Option<(String, String)> {
    let (looks, path) = line.split_once(' ')?;
    paths::check(path).is_ok().then(|| (path.to_owned(), looks.to_owned()))
}

fn is_branch(name: &str) -> bool {
    name.starts_with("refs/") && paths::check(name).is_ok()
}

fn remove_locks(repository: &Repository, marker: &Marker) -> io::Result<()> {
    let index = repository.git_dir.join("index.lock");
    // A lock that is not the one we noted belongs to a git that runs now. If we died before we
    // could note it, ours is still empty.
    let ours = Stamp::of(&index).is_some_and(|it| match marker.index_lock {
        Some(inode) => it.inode() == inode,
        None => it.size() == 0,
    });
    let mut locks = vec![repository.git_dir.join("HEAD.lock")];
    locks.extend(marker.branch.iter().map(|it| repository.common_dir.join(format!("{it}.lock"))));
    locks.extend(ours.then_some(index));
    for lock in locks {
        match fs::remove_file(lock) {
            Err(err) if err.kind() != io::ErrorKind::NotFound => return Err(err),
            _ => {}
        }
    }
    Ok(())
}

/// Brings the index up to a commit that was made just before its writer died, and undoes what was
/// not committed.
fn catch_up(repository: &Repository, marker: &Marker, patience: &Patience) -> Result<(), Error> {
    if marker.paths.is_empty() {
        return Ok(());
    }
    let git = repository.git();
    let mut staging = Staging::open(repository, &git, None, patience)?;
    let failed = |err: gix::Error| repository.error("read the last commit", err);
    let head = repository::head(&git).map_err(failed)?;
    let tree = commit::tree_of(&git, head).map_err(failed)?;
    let mut behind = Vec::new();
    for path in &marker.paths {
        let there = commit::entry(&git, tree, path).map_err(failed)?;
        let place = repository.work.join(path);
        let id = |text: String| commit::blob_id(&git, &to_git(&git, staging.index(), path, &text)?);
        let text = fs::read_to_string(&place).ok();
        let on_disk = text.map(id).transpose().map_err(failed)?;
        if on_disk != there.map(|it| it.id) {
            // The commit was not reached.
            undo(repository, marker, path).map_err(Error::file("put back", &place))?;
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

/// Undoes what was done to the file at `path`.
fn undo(repository: &Repository, marker: &Marker, path: &str) -> io::Result<()> {
    match marker.fresh.iter().find(|(fresh, _)| fresh == path) {
        Some((_, looks)) => writing::take_back(&repository.work, path, looks),
        None => writing::put_back(&repository.work, path),
    }
}

#[cfg(test)]
mod tests {
    use super::super::scene::{Scene, change, done, impatient, try_git};
    use super::*;

    const HALL: &str = "rooms/hall.yaml";

    /// A palace in which a writer died that held all the locks.
    fn crashed(scene: &Scene) -> super::super::Store {
        let mut store = scene.palace("keep");
        done(&mut store, &change(HALL, None, Some("1\n")));
        let git = scene.home.join(".git");
        for lock in ["index.lock", "HEAD.lock", "refs/heads/main.lock"] {
            fs::write(git.join(lock), "half").unwrap();
        }
        let inode = Stamp::of(&git.join("index.lock")).unwrap().inode();
        let marker = "pid 1\nbranch refs/heads/main\npath keep/rooms/hall.yaml\n";
        fs::write(git.join("palazzo/writing"), format!("{marker}lock {inode}\n")).unwrap();
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
        store.mend().unwrap();
        for gone in [".git/index.lock", ".git/HEAD.lock", ".git/refs/heads/main.lock"] {
            assert!(!scene.home.join(gone).exists(), "{gone}");
        }
        assert!(!scene.home.join("keep/rooms/.hall.yaml.palazzo-1-0.tmp").exists());
        store.mend().unwrap();
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
        store.mend().unwrap();
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
        let (before, after) = told.split_once(" s by now; ").unwrap();
        let held = format!("another git process holds `{}`, for ", lock.display());
        // On a busy disk seconds may have passed.
        assert!(before.strip_prefix(&held).unwrap().parse::<u64>().is_ok(), "{told}");
        assert_eq!(after, "wait for it to end, or if no git is running here, delete that file");
        assert!(lock.exists());
        assert_eq!(scene.text("keep/rooms/hall.yaml"), "1\n");
        // Nor is it taken for ours because some Palazzo died here once.
        fs::write(scene.home.join(".git/palazzo/writing"), "pid 1\nlock 1\n").unwrap();
        assert!(matches!(
            store.make(&change(HALL, Some("1\n"), Some("2\n"))),
            Err(Error::Busy { .. })
        ));
        assert!(lock.exists());
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
        let text =
            "pid 1\nbranch ../../x\nbranch main\npath ../x\npath .git/config\npath a/b\nlock x\npa";
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
            lock::acquire(&scene.home.join(".git/palazzo"), std::time::Duration::ZERO).unwrap();
        let refused = store.make(&change(HALL, Some("1\n"), Some("2\n"))).unwrap_err();
        let expected = format!("another palazzo (process {}) is writing", std::process::id());
        assert!(refused.to_string().starts_with(&expected), "{refused}");
        assert!(try_git(&scene.home, &["status"]).status.success());
    }
}
