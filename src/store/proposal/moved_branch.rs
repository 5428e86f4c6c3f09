//! Brings the files of a proposal's worktree to its branch after the branch was moved elsewhere.
//!
//! A person can move the branch from another working directory: by a fetch, by `git update-ref`.
//! The files of the worktree are then those of the earlier commit, and the next write would commit
//! them over the new one as edits by hand. In a worktree of a person git leaves that to the person,
//! but this one is Palazzo's: files that are as in the earlier commit are replaced by those of the
//! new one. Edited files remain edits.
//!
//! Each file is replaced at once and the index after all of them, so a killed process leaves files
//! that are as in one of the two commits, and the next one continues.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use gix::ObjectId;
use gix::index::entry::Mode;
use gix::objs::tree::{EntryKind, EntryMode};

use crate::store::proposal::branches::reflog_entry;
use crate::store::proposal::checkout::{check_out_palace, set_executable};
use crate::store::repo::blob_entry::{BlobEntry, compute_blob_id, tree_of_commit};
use crate::store::repo::failpoint;
use crate::store::repo::fsync;
use crate::store::repo::index_file::{Stat, stat_file};
use crate::store::repo::line_endings::{convert_to_disk, convert_to_git};
use crate::store::repo::proposal_branch::{BranchMove, find_branch_move};
use crate::store::repo::repository::Repository;
use crate::store::repo::temporary_names::TEMPORARY_SUFFIX;
use crate::store::repo::tree_diff::{TreeChange, TreeEntry, compare};
use crate::store::repo::{palace_files, paths};
use crate::store::write::index::Staging;
use crate::store::write::palazzo_lock::LockTimeouts;
use crate::store::write::refs;
use crate::store::write::write_guard::WriteGuard;
use crate::store::{Error, Store};

/// The file that makes a folder a palace.
const SETTINGS_FILE: &str = "palace.toml";

/// What becomes of a file that differs between the two commits.
enum FileMove {
    /// It is as in the earlier commit, and is replaced.
    Replace,
    /// It is as in the new commit, or was edited; only its entry in the index changes.
    Keep,
    /// It is not checked out.
    Exclude,
    /// The person has staged something else.
    Leave,
}

impl Store {
    /// Returns true if the palace is in the worktree of a proposal whose branch was moved elsewhere.
    pub fn is_behind_moved_branch(&self) -> Result<bool, Error> {
        let repository = if self.as_of_commit.is_some() { None } else { self.repository()? };
        match repository.map_or(Ok(None), |it| find_branch_move(&it)) {
            // The write explains why `HEAD` cannot be read.
            Err(Error::Git { .. }) => Ok(false),
            found => Ok(found?.is_some()),
        }
    }

    /// Brings the files of the worktree of a proposal to its branch, if that was moved elsewhere.
    /// Returns the files of the palace that may have changed.
    pub fn follow_moved_branch(&mut self) -> Result<Vec<String>, Error> {
        if !self.is_behind_moved_branch()? {
            return Ok(Vec::new());
        }
        let repository = self.require_repository()?;
        let guard = WriteGuard::lock(&repository, &[], &self.lock_timeouts)?;
        let palaces = checked_out_palaces(&repository)?;
        let mut paths = bring_files_to_branch(&repository, &guard, &self.lock_timeouts)?;
        let Some(head) = repository.head()? else { return Ok(Vec::new()) };
        for folder in palaces {
            let palace = Self::new(repository.work.join(folder), repository.work.clone());
            let palace = Self { isolated: self.isolated, ..palace };
            check_out_palace(&palace.with_consents(self.consents.clone()), head, &guard)?;
        }
        paths.retain(|it| it.starts_with(&repository.prefix));
        Ok(paths.iter().map(|it| it[repository.prefix.len()..].to_owned()).collect())
    }
}

/// Lists the folders of the palaces whose files are checked out.
fn checked_out_palaces(repository: &Repository) -> Result<Vec<String>, Error> {
    let index = crate::store::repo::index_file::load_or_rebuild_index(&repository.git());
    let index = index.map_err(|err| repository.git_error("read the index", err))?;
    let folder = |path: String| path.strip_suffix(SETTINGS_FILE).map(str::to_owned);
    let paths = index.entries().iter().map(|it| it.path(&index).to_string());
    let folders = paths.filter_map(folder).filter(|it| it.is_empty() || it.ends_with('/'));
    Ok(folders.filter(|it| repository.work.join(it).join(SETTINGS_FILE).is_file()).collect())
}

/// Replaces the files that are as in the commit before the branch was moved, and updates the index.
/// Returns the paths in the repository of all files that differ between the two commits.
pub(crate) fn bring_files_to_branch(
    repository: &Repository,
    guard: &WriteGuard,
    timeouts: &LockTimeouts,
) -> Result<Vec<String>, Error> {
    let Some(BranchMove { old, new }) = find_branch_move(repository)? else {
        return Ok(Vec::new());
    };
    let git = repository.git();
    let mut record = |path: &Path, inode: u64| guard.record_lock_file(path, inode);
    let mut staging = Staging::open(repository, &git, None, timeouts, &mut record)?;
    let failed = |err| repository.git_error("compare the branch with the files", err);
    let trees = [old, new].map(|it| tree_of_commit(&git, Some(it)));
    let [was, now] = trees;
    let changes = compare(&git, Some(was.map_err(failed)?), Some(now.map_err(failed)?));
    let (mut staged, mut excluded, mut replaced) = (Vec::new(), Vec::new(), Vec::new());
    let changes = changes.map_err(failed)?;
    for change in &changes {
        let what = plan_move(&git, repository, &staging, change).map_err(failed)?;
        if matches!(what, FileMove::Leave) {
            continue;
        }
        let mut stat = None;
        if matches!(what, FileMove::Replace) {
            stat = replace_file(&git, repository, &staging, change)?;
            replaced.push(repository.work.join(&change.path));
        }
        if let (FileMove::Exclude, Some(now)) = (&what, change.now) {
            excluded.push((change.path.clone(), index_mode(now.mode)));
        }
        staged.push((change.path.as_str(), change.now.map(to_blob_entry), stat));
    }
    let folders = replaced.iter().filter_map(|it| it.parent()).filter(|it| it.is_dir());
    let folders = folders.map(Path::to_owned).collect();
    fsync::sync_file_systems_or_files(&[&repository.work], || folders)?;
    staging.stage_files(staged.into_iter().map(|(path, entry, stat)| (path.into(), entry, stat)));
    staging.exclude_files(&excluded);
    staging.write_to_lock_file()?;
    staging.replace_index()?;
    failpoint::kill_point("index follows the moved branch");
    record_move(repository, old, new)?;
    Ok(changes.into_iter().map(|it| it.path).collect())
}

fn plan_move(
    git: &gix::Repository,
    repository: &Repository,
    staging: &Staging<'_>,
    change: &TreeChange,
) -> gix::Result<FileMove> {
    let path = change.path.as_str();
    let was = change.was.map(|it| it.id);
    if staging.is_outside_sparse_checkout(path) {
        return Ok(FileMove::Exclude);
    }
    if staging.staged_id(path) != was || staging.is_unmerged(path) {
        return Ok(FileMove::Leave);
    }
    let is_blob = change.now.is_none_or(|it| it.mode.is_blob());
    let Ok(text) = palace_files::read_file(&repository.work, path) else {
        return Ok(FileMove::Leave);
    };
    let bytes = text.as_deref().map(|it| convert_to_git(git, staging.index(), path, it));
    let on_disk = bytes.transpose()?.map(|it| compute_blob_id(git, &it)).transpose()?;
    Ok(match on_disk {
        // It is checked out later if it belongs to a palace.
        None if was.is_none() => FileMove::Exclude,
        on_disk if on_disk == was && is_blob => FileMove::Replace,
        _ => FileMove::Keep,
    })
}

/// Replaces or removes a file; returns its stat for the index.
fn replace_file(
    git: &gix::Repository,
    repository: &Repository,
    staging: &Staging<'_>,
    change: &TreeChange,
) -> Result<Option<Stat>, Error> {
    let path = change.path.as_str();
    let place = repository.work.join(path);
    paths::reject_symbolic_links(&repository.work, path)?;
    let Some(now) = change.now else {
        fs::remove_file(&place).map_err(Error::for_file("remove", &place))?;
        return Ok(None);
    };
    let read = || -> gix::Result<String> {
        let text = String::from_utf8_lossy(&git.find_blob(now.id)?.data).into_owned();
        convert_to_disk(git, staging.index(), path, &text)
    };
    let text = read().map_err(|err| repository.git_error("read a file of the branch", err))?;
    let is_executable = now.mode.kind() == EntryKind::BlobExecutable;
    write_durably(&place, &text, is_executable).map_err(Error::for_file("write", &place))?;
    Ok(stat_file(&place))
}

/// Replaces the file at `place` by a durable one.
fn write_durably(place: &Path, text: &str, is_executable: bool) -> io::Result<()> {
    let name = place.file_name().unwrap_or_default().to_string_lossy();
    let temporary = format!(".{name}.palazzo-{}-0{TEMPORARY_SUFFIX}", std::process::id());
    let temporary = place.with_file_name(temporary);
    let mut file = File::create(&temporary)?;
    file.write_all(text.as_bytes())?;
    set_executable(&temporary, is_executable)?;
    file.sync_all()?;
    drop(file);
    failpoint::kill_point("file of a moved branch is written");
    fs::rename(&temporary, place)?;
    failpoint::kill_point("file of a moved branch is in place");
    Ok(())
}

/// Appends the move to the reflog of the worktree, so that it is not found again.
fn record_move(repository: &Repository, old: ObjectId, new: ObjectId) -> Result<(), Error> {
    let log = repository.git_dir.join("logs/HEAD");
    let entry = reflog_entry(repository, "proposal: follow the branch");
    let line = format!("{old} {new} {entry}\n");
    refs::append_reflog_line(&log, &line, repository.shared_mode)
        .map(drop)
        .map_err(Error::for_file("write", &log))
}

fn to_blob_entry(entry: TreeEntry) -> BlobEntry {
    let is_executable = entry.mode.kind() == EntryKind::BlobExecutable;
    let kind = if is_executable { EntryKind::BlobExecutable } else { EntryKind::Blob };
    BlobEntry { kind, id: entry.id }
}

fn index_mode(mode: EntryMode) -> Mode {
    match mode.kind() {
        EntryKind::BlobExecutable => Mode::FILE_EXECUTABLE,
        EntryKind::Link => Mode::SYMLINK,
        EntryKind::Commit => Mode::COMMIT,
        EntryKind::Blob | EntryKind::Tree => Mode::FILE,
    }
}
