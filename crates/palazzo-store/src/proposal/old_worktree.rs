//! Removes the worktrees in which earlier versions kept the files of proposals.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use gix::ObjectId;
use gix::index::Entry;
use gix::index::entry::{Flags, Mode};

use crate::history::commits::HistoryReader;
use crate::repo::index_file::load_or_rebuild_index;
use crate::repo::line_endings::convert_to_git;
use crate::repo::proposal_branch::{branch_name, folder_name_of_branch};
use crate::repo::proposal_error::ProposalError;
use crate::repo::references::{find_ref, read_reflog};
use crate::repo::regular_file::{self, read_line};
use crate::repo::rename;
use crate::repo::repository::Repository;
use crate::repo::retry::{RETRY_TIMEOUT, retry_until_timeout};
use crate::repo::tree_lookup::{compute_blob_id, tree_of_commit};
use crate::write::commit_steps::is_executable;
use crate::write::recovery;
use crate::{Error, Store};

/// The folder in the state folder with the worktrees.
pub const OLD_PROPOSALS_FOLDER: &str = "proposals";

/// Files in the git directory of a worktree in which a person works.
const FOREIGN_FILES: [&str; 11] = [
    "locked",
    "MERGE_HEAD",
    "MERGE_MSG",
    "SQUASH_MSG",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "BISECT_START",
    "BISECT_LOG",
    "rebase-merge",
    "rebase-apply",
    "sequencer",
];

/// Returns the worktree of a proposal, if an earlier version has made one that is still there.
pub(crate) fn find_old_worktree(
    repository: &Repository,
    branch_ref: &str,
) -> Result<Option<PathBuf>, Error> {
    let place = read_line(&git_dir_of_worktree(repository, branch_ref).join("gitdir"))?;
    let work = place.map(PathBuf::from).and_then(|it| it.parent().map(PathBuf::from));
    Ok(work.filter(|it| it.is_dir()))
}

/// Removes the worktree of a proposal. One that a person has made or moved stays, and so does one in
/// another state than a server leaves it. Fails if a file in it is not committed, or a server writes to
/// it: earlier versions share `use_lock`. `palace` is one of the person's; the caller holds the write
/// lock.
pub(crate) fn remove_old_worktree(
    palace: &Store,
    repository: &Repository,
    branch_ref: &str,
    use_lock: &File,
) -> Result<(), Error> {
    let git_dir = git_dir_of_worktree(repository, branch_ref);
    if regular_file::lstat(&git_dir)?.is_none() {
        return Ok(());
    }
    let branch = branch_name(branch_ref).to_owned();
    if !is_as_left_by_server(&git_dir, branch_ref)?
        || !has_only_commits_of(repository, &git_dir, branch_ref)?
    {
        return Ok(());
    }
    let Some(work) = find_old_worktree(repository, branch_ref)? else {
        return fs::remove_dir_all(&git_dir).map_err(Error::for_file("remove", &git_dir));
    };
    if is_locked_elsewhere(use_lock) {
        return Err(ProposalError::ServedByOlderVersion { branch }.into());
    }
    let store = palace.store_of_work(&work);
    let worktree = store.repository().ok().flatten();
    let files = match worktree.filter(|it| it.git_dir.ends_with(file_name(&git_dir))) {
        Some(worktree) => {
            recovery::recover_and_open_marker(&worktree, &palace.writer.lock_timeouts)?;
            let look = || list_uncommitted_files(&worktree);
            look().map_err(|err| repository.git_error("read the worktree of a proposal", err))?
        }
        // Git finds no worktree there: nothing says what is committed.
        None => list_all_files(&work).into_iter().collect(),
    };
    if !files.is_empty() {
        return Err(ProposalError::UncommittedFiles { branch, worktree: work, files }.into());
    }
    // Without its folder it is a worktree that was deleted, at every step.
    let mut old = work.clone().into_os_string();
    old.push("~");
    let old = PathBuf::from(old);
    let remove = || -> io::Result<()> {
        rename::rename(&work, &old)?;
        fs::remove_dir_all(&git_dir)?;
        fs::remove_dir_all(&old)
    };
    remove().map_err(Error::for_file("remove", &work))
}

/// Returns whether a worktree is where earlier versions made it, on its branch, with no operation of git
/// in progress, not locked and without references of its own.
fn is_as_left_by_server(git_dir: &Path, branch_ref: &str) -> Result<bool, Error> {
    let place = read_line(&git_dir.join("gitdir"))?.unwrap_or_default();
    let mut above = Path::new(&place).ancestors().skip(2).map(file_name);
    let is_own_place = above.next() == Some(file_name(git_dir))
        && above.nth(1) == Some(Path::new(OLD_PROPOSALS_FOLDER));
    let is_on_branch = read_line(&git_dir.join("HEAD"))?
        .is_some_and(|it| it.strip_prefix("ref: ").map(str::trim) == Some(branch_ref));
    let is_there = |name: &str| fs::symlink_metadata(git_dir.join(name)).is_ok();
    let has_refs = !regular_file::list_folder(&git_dir.join("refs")).is_empty();
    let is_foreign = has_refs || FOREIGN_FILES.into_iter().any(is_there);
    Ok(is_own_place && is_on_branch && !is_foreign)
}

/// Returns whether the commits that `HEAD` of a worktree ever had are those of its branch, now or
/// earlier: others would be lost with its log.
fn has_only_commits_of(
    repository: &Repository,
    git_dir: &Path,
    branch_ref: &str,
) -> Result<bool, Error> {
    let known = read_reflog(&repository.common_dir.join("logs").join(branch_ref));
    let (history, tip) = (HistoryReader::new(repository), find_ref(repository, branch_ref)?);
    let is_known = |it: &ObjectId| {
        known.contains(it) || tip.is_some_and(|tip| *it == tip || history.is_ancestor(*it, tip))
    };
    Ok(read_reflog(&git_dir.join("logs/HEAD")).iter().all(is_known))
}

/// Returns whether another process has a lock. One that is being started by the same program has the
/// locks of its parent for a moment.
fn is_locked_elsewhere(lock: &File) -> bool {
    retry_until_timeout(RETRY_TIMEOUT, |_| true, || lock.try_lock()).is_err()
}

fn git_dir_of_worktree(repository: &Repository, branch_ref: &str) -> PathBuf {
    repository.common_dir.join("worktrees").join(folder_name_of_branch(branch_ref))
}

fn file_name(path: &Path) -> &Path {
    path.file_name().map_or(path, Path::new)
}

/// Lists the files of a worktree that differ, on disk or in the index, from the commit that `HEAD` was
/// last moved to in it. If the branch was moved elsewhere, they are those of an earlier commit.
fn list_uncommitted_files(worktree: &Repository) -> gix::Result<Vec<String>> {
    let git = worktree.git();
    let last = read_reflog(&worktree.git_dir.join("logs/HEAD")).first().copied();
    let last = last.filter(|it| git.find_commit(*it).is_ok());
    let head = worktree.head().ok().flatten();
    let committed = git.index_from_tree(&tree_of_commit(&git, last.or(head))?)?;
    let entries = committed.entries().iter();
    let mut left: BTreeMap<String, _> =
        entries.map(|it| (it.path(&committed).to_string(), (it.id, it.mode))).collect();
    let index = load_or_rebuild_index(&git)?;
    let mut on_disk = list_all_files(&worktree.work);
    let mut uncommitted = BTreeSet::new();
    for entry in index.entries() {
        let path = entry.path(&index).to_string();
        let is_committed = left.remove(&path) == Some((entry.id, entry.mode));
        let is_same = match on_disk.remove(&path) {
            true => is_unchanged_file(worktree, &git, &index, entry)?,
            false => entry.flags.contains(Flags::SKIP_WORKTREE),
        };
        if !is_committed || !is_same {
            uncommitted.insert(path);
        }
    }
    uncommitted.extend(left.into_keys());
    uncommitted.extend(on_disk);
    Ok(uncommitted.into_iter().collect())
}

/// Returns whether a file is as in the index, with the line endings that git would store.
fn is_unchanged_file(
    worktree: &Repository,
    git: &gix::Repository,
    index: &gix::index::State,
    entry: &Entry,
) -> gix::Result<bool> {
    let path = entry.path(index).to_string();
    let place = worktree.work.join(&path);
    let has_modes = git.config_snapshot().boolean("core.fileMode").unwrap_or(true);
    let is_regular = fs::symlink_metadata(&place).is_ok_and(|it| it.is_file());
    if !is_regular || has_modes && is_executable(&place) != (entry.mode == Mode::FILE_EXECUTABLE) {
        return Ok(false);
    }
    let Ok(bytes) = fs::read(place) else { return Ok(false) };
    if compute_blob_id(git, &bytes)? == entry.id {
        return Ok(true);
    }
    let Ok(text) = String::from_utf8(bytes) else { return Ok(false) };
    Ok(compute_blob_id(git, &convert_to_git(git, index, &path, &text)?)? == entry.id)
}

/// Lists everything in a worktree that is not a folder, by path with slashes.
fn list_all_files(work: &Path) -> BTreeSet<String> {
    let (mut folders, mut files) = (vec![work.to_owned()], BTreeSet::new());
    while let Some(folder) = folders.pop() {
        for entry in regular_file::list_folder(&folder) {
            let path = entry.path();
            if entry.file_type().is_ok_and(|it| it.is_dir()) {
                folders.push(path);
            } else if path != work.join(".git") {
                let inside = path.strip_prefix(work).unwrap_or(&path);
                files.insert(inside.to_string_lossy().replace('\\', "/"));
            }
        }
    }
    files
}
