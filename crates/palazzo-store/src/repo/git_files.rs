//! Checks the files of a repository with `lstat` before gix opens them, and reads `HEAD`.
//!
//! [`check_all_git_files`] checks all files once, when a repository is opened,
//! [`check_files_of_open_repository`] some when a call begins, and [`look_before_change`] those that
//! may have changed meanwhile, under the lock.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirEntry, FileType};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use gix::ObjectId;
use gix::bstr::ByteSlice as _;
use gix::refs::{FullName, Target};

use crate::Error;
use crate::repo::operation::BlockingGitOperation;
use crate::repo::palace_files::FileStamp;
use crate::repo::palazzo_file;
use crate::repo::regular_file;
use crate::repo::regular_file::SizeLimit;

/// The fixed files of each worktree, besides `HEAD`.
const WORKTREE_FILES: [&str; 3] = ["config.worktree", "commondir", "gitdir"];
/// The fixed files shared by all worktrees.
const SHARED_FILES: [&str; 8] = [
    "config",
    "info/attributes",
    "info/exclude",
    "objects/info/alternates",
    "objects/info/commit-graph",
    "objects/info/commit-graphs/commit-graph-chain",
    "packed-refs",
    "shallow",
];
/// Folders below `.git` in which files are opened, each after the one that it is in.
const GIT_FOLDERS: [&str; 8] =
    ["info", "logs", "objects", "objects/info", "objects/pack", "palazzo", "refs", "refs/heads"];
/// The maximum length of a chain of symbolic references (git's `SYMREF_MAXDEPTH`).
pub(crate) const MAX_SYMREF_DEPTH: usize = 5;
/// The maximum length of a chain of alternate object folders; git allows five.
const MAX_ALTERNATES: usize = 16;

/// The contents of `HEAD` and of the branch that it points to, without `packed-refs`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LooseHead {
    /// The reference that `HEAD` points to, such as `refs/heads/main`; `None`: none.
    pub(crate) branch: Option<FullName>,
    /// The commit; `None`: the branch has no commit yet, or is in `packed-refs`.
    pub(crate) commit: Option<ObjectId>,
}

/// The files of `HEAD` and the branches as they were last read, for as long as their stamps are the
/// same.
#[derive(Debug, Default)]
pub(crate) struct RefFiles(Mutex<BTreeMap<PathBuf, (FileStamp, Vec<u8>)>>);

/// Checks every file of a repository that may be opened later; called once, when it is opened.
pub(crate) fn check_all_git_files(git_dir: &Path, common_dir: &Path) -> Result<(), Error> {
    look_before_change(git_dir, common_dir, &RefFiles::default(), true)?;
    for folder in BTreeSet::from([git_dir, common_dir]) {
        regular_file::reject_irregular_files_below(&folder.join("refs"), SizeLimit::Bounded)?;
        // Logs are only appended to, and may grow large.
        regular_file::reject_irregular_files_below(&folder.join("logs"), SizeLimit::Any)?;
        regular_file::reject_irregular_files_below(&folder.join("palazzo"), SizeLimit::Any)?;
    }
    check_object_folders(common_dir.join("objects"))
}

/// Checks the few files that every use of an open repository opens; this costs a few `lstat` calls.
/// Those in `unchanged` were checked before, and are the same. Returns what `HEAD` says; `None`:
/// there is none.
pub(crate) fn check_files_of_open_repository(
    git_dir: &Path,
    common_dir: &Path,
    refs: &RefFiles,
    unchanged: &[(PathBuf, Option<FileStamp>)],
) -> Result<Option<LooseHead>, Error> {
    let entries = |git_dir| GitDirEntries { git_dir, types: None, unchanged };
    check_fixed_files(&entries(git_dir), &entries(common_dir))?;
    LooseHead::read_and_check(git_dir, common_dir, refs)
}

/// Looks again at what a change will open; the caller has the write lock. What was checked when the
/// call began is checked again if the caller `has_waited` for the lock: another program may have put
/// a link or a FIFO there meanwhile.
pub(crate) fn look_before_change(
    git_dir: &Path,
    common_dir: &Path,
    refs: &RefFiles,
    has_waited: bool,
) -> Result<LockedLook, Error> {
    let worktree_entries = GitDirEntries::list(git_dir);
    let shared_entries = match git_dir == common_dir {
        true => worktree_entries.clone(),
        false => GitDirEntries::list(common_dir),
    };
    worktree_entries.check_folders(has_waited)?;
    if git_dir != common_dir {
        shared_entries.check_folders(has_waited)?;
    }
    worktree_entries.check_file("index", SizeLimit::Any)?;
    worktree_entries.check_shared_indexes()?;
    check_palazzo_files(common_dir, has_waited)?;
    let head = match has_waited {
        true => {
            check_fixed_files(&worktree_entries, &shared_entries)?;
            LooseHead::read_and_check(git_dir, common_dir, refs)?.unwrap_or_default()
        }
        false => LooseHead::read(git_dir, common_dir, refs)?,
    };
    let operation = BlockingGitOperation::find(|name| {
        worktree_entries.may_have(name) && git_dir.join(name).exists()
    });
    Ok(LockedLook { head, operation })
}

/// The state of a repository, read under the write lock.
#[derive(Debug)]
pub(crate) struct LockedLook {
    pub(crate) head: LooseHead,
    /// The operation of git that is in progress.
    pub(crate) operation: Option<BlockingGitOperation>,
}

/// The entries of a git directory, listed at once: what is not among them need not be looked at.
#[derive(Clone)]
struct GitDirEntries<'a> {
    git_dir: &'a Path,
    /// The entries by name; `None`: they are not listed.
    types: Option<BTreeMap<OsString, FileType>>,
    /// Files that need not be looked at.
    unchanged: &'a [(PathBuf, Option<FileStamp>)],
}

impl<'a> GitDirEntries<'a> {
    fn list(git_dir: &'a Path) -> Self {
        let entries = fs::read_dir(git_dir).into_iter().flatten();
        let typed = |it: DirEntry| Ok((it.file_name(), it.file_type()?));
        // If it cannot be listed, each file is looked at.
        let types = entries.map(|it| it.and_then(typed)).collect::<io::Result<BTreeMap<_, _>>>();
        Self { git_dir, types: types.ok().filter(|it| !it.is_empty()), unchanged: &[] }
    }

    /// Returns false if there is nothing at the path `name`.
    fn may_have(&self, name: &str) -> bool {
        let top = name.split('/').next().unwrap_or(name);
        self.types.as_ref().is_none_or(|it| it.contains_key(OsStr::new(top)))
    }

    fn type_of(&self, name: &str) -> Option<FileType> {
        self.types.as_ref()?.get(OsStr::new(name)).copied()
    }

    /// Checks that the file `name` is a regular one, or missing.
    fn check_file(&self, name: &str, size: SizeLimit) -> Result<(), Error> {
        let is_plain = size == SizeLimit::Any && self.type_of(name).is_some_and(|it| it.is_file());
        if is_plain || !self.may_have(name) {
            return Ok(());
        }
        let file = self.git_dir.join(name);
        match self.unchanged.iter().any(|(it, _)| *it == file) {
            true => Ok(()),
            false => regular_file::check_regular_file(&file, size).map(drop),
        }
    }

    /// Checks the folders in which files are opened, with those below them if `are_nested`.
    fn check_folders(&self, are_nested: bool) -> Result<(), Error> {
        for name in GIT_FOLDERS.iter().filter(|it| are_nested || !it.contains('/')) {
            let is_folder = self.type_of(name).is_some_and(|it| it.is_dir());
            if !is_folder && self.may_have(name) {
                regular_file::reject_linked_folder(&self.git_dir.join(name))?;
            }
        }
        Ok(())
    }

    /// Checks the parts of a split index.
    fn check_shared_indexes(&self) -> Result<(), Error> {
        let names = self.types.iter().flat_map(BTreeMap::keys).filter_map(|it| it.to_str());
        let mut indexes = names.filter(|it| it.starts_with("sharedindex."));
        indexes.try_for_each(|it| self.check_file(it, SizeLimit::Any))
    }
}

impl LooseHead {
    /// Reads `HEAD` and the branch that it points to, which were checked when the call began; empty
    /// if there is no `HEAD`.
    pub(crate) fn read(git_dir: &Path, common_dir: &Path, refs: &RefFiles) -> Result<Self, Error> {
        let read = |file: &Path| match regular_file::lstat(file)? {
            Some(it) => refs.read(file, FileStamp::from_metadata(&it)),
            None => Ok(Vec::new()),
        };
        Self::follow(read(&git_dir.join("HEAD"))?, |branch| read(&common_dir.join(branch)))
    }

    /// Reads `HEAD` and the branch that it points to, and checks the folders and the log of the
    /// branch; `None`: there is no `HEAD`.
    fn read_and_check(
        git_dir: &Path,
        common_dir: &Path,
        refs: &RefFiles,
    ) -> Result<Option<Self>, Error> {
        let file = git_dir.join("HEAD");
        let Some(metadata) = regular_file::lstat(&file)? else { return Ok(None) };
        regular_file::check_metadata(&file, &metadata, SizeLimit::Bounded)?;
        let head = refs.read(&file, FileStamp::from_metadata(&metadata))?;
        Self::follow(head, |branch| read_branch(common_dir, branch, refs)).map(Some)
    }

    /// Parses `HEAD` and reads the references that follow. A branch can point to another one.
    fn follow(
        mut text: Vec<u8>,
        read_branch: impl Fn(&Path) -> Result<Vec<u8>, Error>,
    ) -> Result<Self, Error> {
        let mut found = Self::default();
        for _ in 0..=MAX_SYMREF_DEPTH {
            match parse_ref(&text) {
                Some(Target::Symbolic(next)) => {
                    let Ok(path) = gix::path::from_bstr(next.as_bstr()) else { break };
                    text = read_branch(&path)?;
                    found.branch.get_or_insert(next);
                }
                Some(Target::Object(commit)) => {
                    found.commit = Some(commit);
                    break;
                }
                None => break,
            }
        }
        Ok(found)
    }
}

impl RefFiles {
    /// Forgets all files, so that they are read again.
    pub(crate) fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Reads the file of a reference, which had this stamp a moment ago.
    fn read(&self, file: &Path, stamp: FileStamp) -> Result<Vec<u8>, Error> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, text)) = known.get(file).filter(|(it, _)| *it == stamp) {
            return Ok(text.clone());
        }
        known.remove(file);
        let text = read_ref_file(file)?;
        if !stamp.is_too_recent_to_trust() {
            known.insert(file.to_owned(), (stamp, text.clone()));
        }
        Ok(text)
    }
}

/// Checks the file of a branch and its log before gix, which follows links, opens them. Returns the
/// content of the file; empty if there is none.
pub(crate) fn read_branch(
    common_dir: &Path,
    branch: &Path,
    refs: &RefFiles,
) -> Result<Vec<u8>, Error> {
    let logs = common_dir.join("logs");
    for base in [common_dir, &logs] {
        regular_file::reject_linked_folders(base, branch.parent().unwrap_or(Path::new("")))?;
    }
    let (file, log) = (common_dir.join(branch), logs.join(branch));
    // Git leaves empty folders of deleted branches; a branch with a log still exists.
    let log_metadata = regular_file::lstat(&log)?.filter(|it| !it.is_dir());
    if let Some(it) = &log_metadata {
        regular_file::check_metadata(&log, it, SizeLimit::Any)?;
    }
    match regular_file::lstat(&file)? {
        Some(it) if !it.is_dir() || log_metadata.is_some() => {
            regular_file::check_metadata(&file, &it, SizeLimit::Bounded)?;
            refs.read(&file, FileStamp::from_metadata(&it))
        }
        _ => Ok(Vec::new()),
    }
}

/// Reads the file of a reference that was a regular file, or missing, a moment ago; empty if there is
/// none, or only a folder.
pub(crate) fn read_ref_file(file: &Path) -> Result<Vec<u8>, Error> {
    match regular_file::read_checked_file(file, regular_file::MAX_BYTES) {
        Err(_) if palazzo_file::is_real_folder(file) => Ok(Vec::new()),
        read => Ok(read?.unwrap_or_default()),
    }
}

/// Parses the file of a reference; `None`: it is empty or invalid.
pub(crate) fn parse_ref(text: &[u8]) -> Option<Target> {
    match text.strip_prefix(b"ref: ") {
        Some(name) => FullName::try_from(name.trim().as_bstr()).ok().map(Target::Symbolic),
        None => ObjectId::from_hex(text.trim_ascii_end()).ok().map(Target::Object),
    }
}

/// Checks the `.gitattributes` files that may apply to the file at `path` in the worktree, and
/// returns those that exist. Git refuses links here too: it opens them with `O_NOFOLLOW`.
pub(crate) fn check_gitattributes(work: &Path, path: &str) -> Result<Vec<PathBuf>, Error> {
    check_in_folders_above(work, path, ".gitattributes")
}

/// Checks the `.gitignore` files that may apply to the folder at `path` in the worktree.
pub(crate) fn check_gitignores(work: &Path, path: &str) -> Result<(), Error> {
    check_in_folders_above(work, path, ".gitignore").map(drop)
}

fn check_in_folders_above(work: &Path, path: &str, name: &str) -> Result<Vec<PathBuf>, Error> {
    let mut found = Vec::new();
    for folder in Path::new(path).ancestors().skip(1) {
        let file = work.join(folder).join(name);
        if regular_file::check_regular_file(&file, SizeLimit::Bounded)? {
            found.push(file);
        }
    }
    Ok(found)
}

/// Checks the files with fixed names.
fn check_fixed_files(
    git_dir: &GitDirEntries<'_>,
    common_dir: &GitDirEntries<'_>,
) -> Result<(), Error> {
    WORKTREE_FILES.iter().try_for_each(|it| git_dir.check_file(it, SizeLimit::Bounded))?;
    SHARED_FILES.iter().try_for_each(|it| common_dir.check_file(it, SizeLimit::Bounded))?;
    ["index", "logs/HEAD"].iter().try_for_each(|it| git_dir.check_file(it, SizeLimit::Any))
}

/// Checks Palazzo's own files, and their sizes if `has_waited`.
fn check_palazzo_files(common_dir: &Path, has_waited: bool) -> Result<(), Error> {
    for file in regular_file::list_folder(&common_dir.join("palazzo")) {
        // The marker of a write lists all its files, and is read in parts.
        let has_any_size = !has_waited || file.file_name() == palazzo_file::WRITE_MARKER_FILE;
        let size = if has_any_size { SizeLimit::Any } else { SizeLimit::Bounded };
        // Files in folders there are checked when they are read.
        let is_checked = |it: FileType| it.is_dir() || (it.is_file() && size == SizeLimit::Any);
        if !file.file_type().is_ok_and(is_checked) {
            regular_file::check_regular_file(&file.path(), size)?;
        }
    }
    Ok(())
}

/// Checks an objects folder and its alternates.
fn check_object_folders(objects: PathBuf) -> Result<(), Error> {
    let (mut seen, mut left) = (BTreeSet::new(), vec![objects]);
    while let Some(folder) = left.pop() {
        if seen.len() == MAX_ALTERNATES || !seen.insert(folder.clone()) {
            continue;
        }
        regular_file::reject_irregular_files_below(&folder, SizeLimit::Any)?;
        let list =
            regular_file::read_regular_file(&folder.join("info/alternates"))?.unwrap_or_default();
        // If gix cannot parse them, it reads no objects.
        let alternates = gix::odb::alternate::parse(&list).unwrap_or_default();
        left.extend(alternates.into_iter().map(|it| folder.join(it)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_repository::{TestHome, change_of_one_file, commit_ok};

    const HALL: &str = "rooms/hall.yaml";

    #[test]
    fn a_branch_that_was_changed_under_the_same_stamp_is_read_again() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
        let file = scene.home.join(".git/refs/heads/main");
        let known = (FileStamp::from_path(&file).unwrap(), scene.git(&["rev-parse", "HEAD~1"]));
        let repository = store.repository().unwrap().unwrap();
        repository.ref_files.0.lock().unwrap().insert(file, (known.0, known.1.into_bytes()));
        commit_ok(&mut store, &change_of_one_file(HALL, Some("1\n"), Some("2\n")));
        assert_eq!(scene.log().lines().count(), 3);
        assert_eq!(scene.status(), "");
    }
}
