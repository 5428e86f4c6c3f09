//! Checks the files of a repository with `lstat` before gix opens them.
//!
//! [`check_all_git_files`] checks all files once, when a repository is opened.
//! `check_files_before_change` (`repository.rs`) checks those that a change will open again, under
//! the lock.

use crate::store::repo::palazzo_file;
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use gix::bstr::ByteSlice as _;

use crate::store::Error;
use crate::store::repo::regular_file;
use crate::store::repo::regular_file::SizeLimit;

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

/// Checks every file of a repository that may be opened later; called once, when it is opened.
pub(crate) fn check_all_git_files(git_dir: &Path, common_dir: &Path) -> Result<(), Error> {
    check_fixed_files(git_dir, common_dir)?;
    check_head_branch(git_dir, common_dir)?;
    check_folders_and_other_files(git_dir, common_dir)?;
    for folder in BTreeSet::from([git_dir, common_dir]) {
        regular_file::reject_irregular_files_below(&folder.join("refs"), SizeLimit::Bounded)?;
        // Logs are only appended to, and may grow large.
        regular_file::reject_irregular_files_below(&folder.join("logs"), SizeLimit::Any)?;
        regular_file::reject_irregular_files_below(&folder.join("palazzo"), SizeLimit::Any)?;
    }
    check_object_folders(common_dir.join("objects"))
}

/// Checks the few files that every use of an open repository opens; this costs a few `lstat` calls.
pub(crate) fn check_files_of_open_repository(
    git_dir: &Path,
    common_dir: &Path,
) -> Result<(), Error> {
    check_fixed_files(git_dir, common_dir)?;
    check_head_branch(git_dir, common_dir)
}

/// Checks `HEAD`, the branch that it points to, and its log. A branch can point to another one.
fn check_head_branch(git_dir: &Path, common_dir: &Path) -> Result<(), Error> {
    let head = regular_file::read_regular_file(&git_dir.join("HEAD"))?;
    let mut next = parse_symbolic_ref(&head.unwrap_or_default());
    for _ in 0..MAX_SYMREF_DEPTH {
        let Some(branch) = next else { return Ok(()) };
        next = parse_symbolic_ref(&read_branch(common_dir, &branch)?);
    }
    Ok(())
}

/// Checks the file of a branch and its log before gix, which follows links, opens them. Returns the
/// content of the file; empty if there is none.
pub(crate) fn read_branch(common_dir: &Path, branch: &Path) -> Result<Vec<u8>, Error> {
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
            let text = regular_file::read_checked_file(&file, regular_file::MAX_BYTES)?;
            Ok(text.unwrap_or_default())
        }
        _ => Ok(Vec::new()),
    }
}

/// Parses the content of a reference that points to another one.
fn parse_symbolic_ref(text: &[u8]) -> Option<PathBuf> {
    let name = text.strip_prefix(b"ref: ")?.trim().to_owned();
    let path = gix::path::from_bstring(name).ok()?;
    path.components().all(|it| matches!(it, Component::Normal(_))).then_some(path)
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
fn check_fixed_files(git_dir: &Path, common_dir: &Path) -> Result<(), Error> {
    for name in WORKTREE_FILES {
        regular_file::check_regular_file(&git_dir.join(name), SizeLimit::Bounded)?;
    }
    for name in SHARED_FILES {
        regular_file::check_regular_file(&common_dir.join(name), SizeLimit::Bounded)?;
    }
    for name in ["index", "logs/HEAD"] {
        regular_file::check_regular_file(&git_dir.join(name), SizeLimit::Any)?;
    }
    Ok(())
}

/// Checks the folders in which files are opened, and the files without fixed names.
pub(crate) fn check_folders_and_other_files(
    git_dir: &Path,
    common_dir: &Path,
) -> Result<(), Error> {
    for base in BTreeSet::from([git_dir, common_dir]) {
        for folder in GIT_FOLDERS {
            regular_file::reject_linked_folder(&base.join(folder))?;
        }
    }
    for file in regular_file::list_folder(git_dir) {
        if file.file_name().to_string_lossy().starts_with("sharedindex.") {
            regular_file::check_regular_file(&file.path(), SizeLimit::Any)?;
        }
    }
    for file in regular_file::list_folder(&common_dir.join("palazzo")) {
        // Files in folders there are checked when they are read.
        if !file.file_type().is_ok_and(|it| it.is_dir()) {
            // The marker of a write lists all its files, and is read in parts.
            let is_marker = file.file_name() == palazzo_file::MARKER_FILE;
            let size = if is_marker { SizeLimit::Any } else { SizeLimit::Bounded };
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
        left.extend(list.lines().filter_map(|it| parse_alternate(&folder, it)));
    }
    Ok(())
}

/// Parses a line of `alternates` and returns the objects folder.
fn parse_alternate(objects: &Path, line: &[u8]) -> Option<PathBuf> {
    let line = line.trim_end().as_bstr();
    if line.is_empty() || line.starts_with(b"#") {
        return None;
    }
    let path = match line.starts_with(b"\"") {
        true => gix::quote::ansi_c::undo(line).ok()?.0.into_owned(),
        false => line.to_owned(),
    };
    Some(objects.join(gix::path::from_bstring(path).ok()?))
}
