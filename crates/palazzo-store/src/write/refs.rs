//! Moves a reference from one commit to another, as `git update-ref` does.
//!
//! The reference and every symbolic reference that leads to it (`HEAD`) are locked with lock files,
//! the old value is compared under the locks, and the new value is written into the lock file, made
//! durable, and renamed. gix's own transaction also takes `packed-refs.lock` whenever there is a
//! `packed-refs` file, and a killed process would leave that lock, which blocks everything. An
//! update does not need it: a loose reference takes precedence over the packed one.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Instant;

use gix::ObjectId;
use gix::fs::dir::remove;
use gix::refs::{FullName, Target};

use crate::Error;
use crate::repo::failpoint;
use crate::repo::git_files::MAX_SYMREF_DEPTH;
use crate::repo::palazzo_file;
use crate::repo::references::{self, git_dir_of_ref};
use crate::repo::repository::Repository;
use crate::repo::shared_mode::SharedMode;
use crate::write::lock_file::LockFile;
use crate::write::write_guard::WriteGuard;

/// References with a reflog unless `core.logAllRefUpdates` disables it (git-config(1)).
const REFLOG_PREFIXES: [&str; 3] = ["refs/heads/", "refs/remotes/", "refs/notes/"];

/// The outcome of an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RefUpdateOutcome {
    /// The reference points to the new commit.
    Updated,
    /// The reference did not point to the old commit; nothing was changed.
    Conflict,
}

/// An update of one reference.
pub(crate) struct RefUpdate<'a> {
    pub(crate) repository: &'a Repository,
    /// The write lock, under which no other Palazzo moves a reference.
    pub(crate) guard: &'a WriteGuard,
    /// `HEAD` or a full name; symbolic references are followed.
    pub(crate) name: &'a str,
    /// The expected current commit; `None`: the reference must not exist.
    pub(crate) old: Option<ObjectId>,
    pub(crate) new: ObjectId,
    /// The reflog entry: author, time and reason; `None`: no reflog is written.
    pub(crate) log: Option<String>,
}

/// A locked reference.
struct LockedRef {
    name: String,
    git_dir: PathBuf,
    lock: LockFile,
}

/// A line appended to a reflog, which can be removed again.
pub(crate) struct ReflogLine {
    file: PathBuf,
    /// The size of the file before it; `None`: there was no file.
    before: Option<u64>,
}

impl RefUpdate<'_> {
    /// Moves the reference.
    pub(crate) fn apply(&self) -> Result<RefUpdateOutcome, Error> {
        let deadline = Instant::now() + self.guard.timeouts().head;
        let mut locked: Vec<LockedRef> = Vec::new();
        let mut name = self.name.to_owned();
        let current = loop {
            locked.push(self.lock_ref(name, deadline)?);
            let last = &locked[locked.len() - 1].name;
            match references::find_reference_target(self.repository, last)? {
                Some(Target::Symbolic(next)) if locked.len() < MAX_SYMREF_DEPTH => {
                    name = next.as_bstr().to_string();
                }
                Some(Target::Symbolic(next)) => return Err(self.too_deep_error(&next)),
                Some(Target::Object(id)) => break Some(id),
                None => break None,
            }
        };
        if current != self.old {
            // What was read before the locks were taken may be of a file with the same stamp.
            self.repository.ref_files.clear();
            return Ok(RefUpdateOutcome::Conflict);
        }
        if self.name == "HEAD" {
            // The operation may have begun while this process waited for locks; it cannot move
            // `HEAD` now.
            self.repository.reject_operation_in_progress()?;
        }
        self.write_locked_ref(locked).map(|()| RefUpdateOutcome::Updated)
    }

    fn lock_ref(&self, name: String, deadline: Instant) -> Result<LockedRef, Error> {
        let git_dir = git_dir_of_ref(self.repository, &name).to_owned();
        let mut record = |path: &Path, inode: u64| self.guard.record_lock_file(path, inode);
        let lock = LockFile::acquire(self.repository, &git_dir, &name, deadline, &mut record)?;
        Ok(LockedRef { name, git_dir, lock })
    }

    fn write_locked_ref(&self, mut locked: Vec<LockedRef>) -> Result<(), Error> {
        let Some(mut last) = locked.pop() else { return Ok(()) };
        let path = last.lock.locked_path().to_owned();
        let id = format!("{}\n", self.new);
        let written = last.lock.write_all(id.as_bytes()).and_then(|()| last.lock.sync());
        written.map_err(Error::for_file("write", last.lock.path()))?;
        let logged = locked.iter().chain([&last]);
        let lines =
            self.append_to_reflogs(logged.map(|it| (it.name.as_str(), it.git_dir.as_path())))?;
        // Git leaves the empty folders of deleted branches.
        let cleared = if path.is_dir() { remove::empty_depth_first(path.clone()) } else { Ok(()) };
        cleared.and_then(|()| last.lock.commit()).or_else(|err| {
            let found = references::find_reference_target(self.repository, &last.name);
            // The renaming failed only after it had taken effect.
            if found.is_ok_and(|it| it == Some(Target::Object(self.new))) {
                return Ok(());
            }
            remove_reflog_lines(&lines);
            Err(Error::for_file("replace", &path)(err))
        })
    }

    fn append_to_reflogs<'n>(
        &self,
        names: impl Iterator<Item = (&'n str, &'n Path)>,
    ) -> Result<Vec<ReflogLine>, Error> {
        let Some(entry) = &self.log else { return Ok(Vec::new()) };
        let old = self.old.unwrap_or_else(|| ObjectId::null(self.new.kind()));
        let line = format!("{old} {} {entry}\n", self.new);
        let mut lines = Vec::new();
        for (name, git_dir) in names {
            let file = git_dir.join("logs").join(name);
            if !self.needs_reflog(name) && !file.is_file() {
                continue;
            }
            match append_reflog_line(&file, &line, self.repository.shared_mode) {
                Ok(appended) => lines.push(appended),
                Err(err) => {
                    remove_reflog_lines(&lines);
                    return Err(Error::for_file("write", &file)(err));
                }
            }
        }
        Ok(lines)
    }

    /// Returns true if a missing reflog of the reference must be created (git-config(1),
    /// `core.logAllRefUpdates`).
    fn needs_reflog(&self, name: &str) -> bool {
        let git = self.repository.git();
        let config = git.config_snapshot();
        let setting = config.string("core.logAllRefUpdates");
        if setting.is_some_and(|it| it.eq_ignore_ascii_case(b"always")) {
            return true;
        }
        let is_on = config.boolean("core.logAllRefUpdates").unwrap_or(true);
        is_on && (name == "HEAD" || REFLOG_PREFIXES.iter().any(|it| name.starts_with(it)))
    }

    fn too_deep_error(&self, next: &FullName) -> Error {
        let why = format!("the chain of symbolic references is too long, at `{}`", next.as_bstr());
        self.repository.git_error("move `HEAD`", why)
    }
}

/// Points a reference to a commit, whatever it was before. The caller holds the write lock.
pub(crate) fn point_ref(
    repository: &Repository,
    guard: &WriteGuard,
    name: &str,
    new: ObjectId,
) -> Result<(), Error> {
    let old = references::find_ref(repository, name)?;
    if old == Some(new) {
        return Ok(());
    }
    let update = RefUpdate { repository, guard, name, old, new, log: None };
    match update.apply()? {
        RefUpdateOutcome::Updated => Ok(()),
        RefUpdateOutcome::Conflict => {
            Err(repository.git_error("move a reference", format!("`{name}` keeps moving")))
        }
    }
}

/// Appends a line with one `write`, on a new line if the last one is incomplete.
pub(crate) fn append_reflog_line(
    path: &Path,
    line: &str,
    shared_mode: SharedMode,
) -> io::Result<ReflogLine> {
    failpoint::fail_point("append to reflog")?;
    let (file, before) = open_reflog(path, shared_mode)?;
    let appended = ReflogLine { file: path.to_owned(), before };
    let is_incomplete = match before {
        None | Some(0) => false,
        Some(size) => read_byte(&file, size - 1)? != b'\n',
    };
    let text = if is_incomplete { format!("\n{line}") } else { line.to_owned() };
    let written = (&file).write(text.as_bytes()).and_then(|size| match size == text.len() {
        true => Ok(()),
        false => Err(io::ErrorKind::StorageFull.into()),
    });
    match written {
        Ok(()) => Ok(appended),
        Err(err) => {
            remove_reflog_lines(&[appended]);
            Err(err)
        }
    }
}

/// Opens a reflog for appending, and returns its size; `None`: it was created.
fn open_reflog(path: &Path, shared_mode: SharedMode) -> io::Result<(fs::File, Option<u64>)> {
    let mut options = OpenOptions::new();
    options.read(true).append(true);
    match palazzo_file::open_checked_file(path, &mut options) {
        Ok((file, size)) => return Ok((file, Some(size))),
        Err(err) if err.kind() == io::ErrorKind::NotFound => {
            path.parent().map_or(Ok(()), |it| shared_mode.create_dir_all(it))?;
        }
        // Git leaves the empty folders of deleted branches.
        Err(_) if palazzo_file::is_real_folder(path) => remove::empty_depth_first(path.to_owned())?,
        Err(err) => return Err(err),
    }
    let (file, _) = palazzo_file::open_checked_file(path, options.create(true))?;
    shared_mode.adjust_file(&file)?;
    Ok((file, None))
}

/// Removes appended lines; no other process appends while the reference is locked.
fn remove_reflog_lines(lines: &[ReflogLine]) {
    for ReflogLine { file, before } in lines {
        let removed = match before {
            Some(size) => {
                OpenOptions::new().write(true).open(file).and_then(|it| it.set_len(*size))
            }
            None => fs::remove_file(file),
        };
        drop(removed);
    }
}

#[cfg(unix)]
fn read_byte(file: &fs::File, at: u64) -> io::Result<u8> {
    use std::os::unix::fs::FileExt as _;
    let mut byte = [0];
    file.read_exact_at(&mut byte, at).map(|()| byte[0])
}

#[cfg(windows)]
fn read_byte(file: &fs::File, at: u64) -> io::Result<u8> {
    use std::os::windows::fs::FileExt as _;
    let mut byte = [0];
    file.seek_read(&mut byte, at).map(|_| byte[0])
}

#[cfg(test)]
mod tests {
    use crate::test_repository::{TestHome, change_of_one_file, commit_ok, git_in};

    const HALL: &str = "rooms/hall.yaml";

    #[test]
    fn reflog_entries_look_like_those_of_git() {
        let scene = TestHome::with_repository();
        commit_ok(&mut scene.palace("keep"), &change_of_one_file(HALL, None, Some("1\n")));
        let shown = scene.git(&["reflog", "show", "--format=%H %gs", "main"]);
        let head = scene.git(&["rev-parse", "HEAD"]);
        let expected = format!("{} commit: room hall: build\n", head.trim());
        assert!(shown.starts_with(&expected), "{shown}");
        assert_eq!(shown.lines().count(), 2);
        assert_eq!(scene.git(&["rev-parse", "main@{1}"]), scene.git(&["rev-parse", "HEAD~1"]));
        assert_eq!(scene.git(&["rev-parse", "HEAD@{1}"]), scene.git(&["rev-parse", "HEAD~1"]));
    }

    #[test]
    fn a_reflog_is_created_if_the_configuration_asks_for_it() {
        for (setting, expected) in [("false", false), ("true", true), ("always", true)] {
            let scene = TestHome::new();
            scene.init_repository();
            scene.git(&["config", "core.logAllRefUpdates", setting]);
            commit_ok(&mut scene.palace("keep"), &change_of_one_file(HALL, None, Some("1\n")));
            for log in ["logs/HEAD", "logs/refs/heads/main"] {
                let is_there = scene.home.join(".git").join(log).exists();
                assert_eq!(is_there, expected, "{setting}: {log}");
            }
            scene.assert_fsck_clean();
        }
    }

    #[test]
    fn an_existing_reflog_is_continued_even_if_disabled() {
        let scene = TestHome::with_repository();
        scene.git(&["config", "core.logAllRefUpdates", "false"]);
        commit_ok(&mut scene.palace("keep"), &change_of_one_file(HALL, None, Some("1\n")));
        assert_eq!(scene.git(&["reflog", "show", "--format=%gs", "main"]).lines().count(), 2);
    }

    #[test]
    fn a_reflog_entry_after_a_truncated_one_starts_a_new_line() {
        let scene = TestHome::with_repository();
        let log = scene.home.join(".git/logs/HEAD");
        let whole = std::fs::read_to_string(&log).unwrap();
        std::fs::write(&log, whole + "0123 torn").unwrap();
        commit_ok(&mut scene.palace("keep"), &change_of_one_file(HALL, None, Some("1\n")));
        let text = std::fs::read_to_string(&log).unwrap();
        assert_eq!(text.lines().count(), 3);
        assert!(text.lines().last().unwrap().ends_with("\tcommit: room hall: build"));
    }

    #[test]
    fn a_packed_branch_moves_while_packed_refs_is_locked() {
        let scene = TestHome::with_repository();
        scene.git(&["pack-refs", "--all"]);
        std::fs::write(scene.home.join(".git/packed-refs.lock"), "").unwrap();
        let made =
            commit_ok(&mut scene.palace("keep"), &change_of_one_file(HALL, None, Some("1\n")));
        assert_eq!(scene.git(&["rev-parse", "main"]).trim(), made.unwrap().0);
    }

    #[test]
    fn a_symbolic_branch_is_followed_to_its_target() {
        let scene = TestHome::with_repository();
        scene.git(&["symbolic-ref", "refs/heads/alias", "refs/heads/main"]);
        scene.git(&["symbolic-ref", "HEAD", "refs/heads/alias"]);
        let made =
            commit_ok(&mut scene.palace("keep"), &change_of_one_file(HALL, None, Some("1\n")));
        assert_eq!(scene.git(&["rev-parse", "main"]).trim(), made.unwrap().0);
        assert_eq!(scene.git(&["symbolic-ref", "refs/heads/alias"]), "refs/heads/main\n");
        scene.git(&["symbolic-ref", "refs/heads/main", "refs/heads/alias"]);
        let endless = change_of_one_file(HALL, Some("1\n"), Some("2\n"));
        assert!(scene.palace("keep").commit(&endless).is_err());
    }

    #[test]
    fn a_branch_replaces_empty_folders_of_the_same_name() {
        let scene = TestHome::with_repository();
        for folder in [".git/refs/heads/feature/old", ".git/logs/refs/heads/feature/old"] {
            std::fs::create_dir_all(scene.home.join(folder)).unwrap();
        }
        scene.git(&["symbolic-ref", "HEAD", "refs/heads/feature"]);
        commit_ok(&mut scene.palace("keep"), &change_of_one_file(HALL, None, Some("1\n")));
        assert_eq!(scene.git(&["branch", "--show-current"]), "feature\n");
        assert_eq!(scene.git(&["reflog", "show", "feature"]).lines().count(), 1);
    }

    #[test]
    fn a_branch_of_a_linked_worktree_is_logged_where_git_expects_it() {
        let scene = TestHome::with_repository();
        scene.git(&["worktree", "add", "-q", "-b", "deep/side", "../linked"]);
        let linked = scene.home.with_file_name("linked");
        let mut store = scene.store(&linked.join("keep"));
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
        for name in ["HEAD", "deep/side"] {
            let log = git_in(&linked, &["reflog", "show", "--format=%gs", name]);
            assert!(log.starts_with("commit: room hall: build\n"), "{name}: {log}");
        }
    }
}
