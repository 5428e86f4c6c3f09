//! Moves `HEAD` to a commit that was fetched or merged, with the files on disk and the index.
//!
//! The order of the steps and the locks are those of `apply.rs`; a crash at any point loses
//! nothing. The paths begin at the working directory: the store is that of the whole repository.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use gix::ObjectId;
use gix::objs::tree::EntryKind;

use palazzo_core::model::{CommitId, FileEdit};

use crate::history::palaces_in_trees::PalacesInTrees;
use crate::repo::line_endings::convert_to_git;
use crate::repo::palace_files;
use crate::repo::palace_repository::PalaceRepository;
use crate::repo::repository::Repository;
use crate::repo::tree_lookup::{self, BlobEntry};
use crate::write::apply::{
    keep_or_undo, open_locked_index, put_in_place_and_stage, repair_index_if_reloaded,
    replace_index,
};
use crate::write::commit::{CommitDraft, GitIdentity};
use crate::write::commit_steps::CommitSteps;
use crate::write::file_transaction::FileTransaction;
use crate::write::index::LockedIndex;
use crate::write::objects::ObjectWriter;
use crate::write::progress::Progress;
use crate::write::refs::{RefUpdateOutcome, point_ref};
use crate::write::signing::Signer;
use crate::write::write_guard::WriteGuard;
use crate::write::writer::Writer;
use crate::{CommitReport, Error};

/// The reference to the commit before the last move.
pub(crate) const BEFORE_SYNC_REF: &str = "refs/palazzo/before-sync";

/// A move of `HEAD` to another commit.
#[derive(Debug)]
pub(crate) struct HeadMove {
    /// The commit that `HEAD` must point to.
    pub(crate) old: ObjectId,
    pub(crate) new: NewHead,
    /// The files that differ between the two commits.
    pub(crate) files: Vec<HeadMoveFile>,
    /// The reason in the reflog.
    pub(crate) reason: &'static str,
}

/// The commit that `HEAD` is moved to.
#[derive(Debug)]
pub(crate) enum NewHead {
    /// A commit that exists.
    Existing(ObjectId),
    /// A commit that is to be written.
    Commit(NewCommit),
}

/// A commit that is to be written. A merge has the same id on every machine, unless it is signed.
#[derive(Debug)]
pub(crate) struct NewCommit {
    pub(crate) parents: Vec<ObjectId>,
    pub(crate) tree: ObjectId,
    /// The author and committer.
    pub(crate) identity: GitIdentity,
    /// The time in seconds since 1970.
    pub(crate) seconds: i64,
    pub(crate) message: String,
}

/// A file that differs between two commits.
#[derive(Debug)]
pub(crate) struct HeadMoveFile {
    pub(crate) path: String,
    pub(crate) was: Option<BlobEntry>,
    /// The new file and its content.
    pub(crate) now: Option<(BlobEntry, String)>,
}

/// A file with an uncommitted edit that a move would overwrite.
#[derive(Clone, Copy, Debug)]
pub struct EditedFile<'a> {
    /// The path in the palace.
    pub path: &'a str,
    /// The committed content.
    pub base: &'a str,
    /// The content on disk.
    pub on_disk: &'a str,
    /// The content in the new commit.
    pub new: &'a str,
    /// When the file was last modified.
    pub modified: DateTime<Utc>,
}

/// Merges an uncommitted edit with the new content of its file; `None`: the move has to wait.
pub type MergeEdit<'a> = dyn Fn(&EditedFile<'_>) -> Option<String> + 'a;

/// The edits of the files on disk, and the files that remain edited.
#[derive(Default)]
struct PlannedEdits {
    edits: Vec<FileEdit>,
    /// The paths whose content on disk is not that of the new commit.
    still_edited: BTreeSet<String>,
    /// The paths for which the move has to wait.
    waiting: Vec<String>,
}

/// The outcome of a move.
#[derive(Debug)]
pub(crate) enum HeadMoveOutcome {
    /// `HEAD` points to the new commit.
    Done(CommitReport),
    /// `HEAD` pointed to another commit; nothing was changed.
    HeadMoved,
    /// These files have uncommitted edits; nothing was changed.
    UncommittedEdits(Vec<String>),
}

/// Moves `HEAD`, unless it has moved already or a file has an uncommitted edit. `merge_edit` can
/// merge such an edit, which then stays one.
pub(crate) fn move_head(
    writer: &mut Writer,
    palace: &PalaceRepository,
    head_move: &HeadMove,
    merge_edit: &MergeEdit<'_>,
) -> Result<HeadMoveOutcome, Error> {
    loop {
        let signer = writer.take_signer();
        let outcome = move_head_under_lock(writer, palace, head_move, merge_edit, &signer);
        let is_unsigned = outcome.is_err() && signer.is_waiting();
        // If `HEAD` has moved, the caller plans the same write again.
        if is_unsigned || matches!(outcome, Ok(HeadMoveOutcome::HeadMoved)) {
            writer.signer = Some(signer);
        }
        if !is_unsigned {
            return outcome;
        }
        writer.sign_missing_commit(palace)?;
    }
}

fn move_head_under_lock(
    writer: &mut Writer,
    palace: &PalaceRepository,
    head_move: &HeadMove,
    merge_edit: &MergeEdit<'_>,
    signer: &Signer,
) -> Result<HeadMoveOutcome, Error> {
    palace.recheck_on_next_use();
    let repository = palace.require()?;
    let paths: Vec<_> = head_move.files.iter().map(|it| it.path.clone()).collect();
    let guard = WriteGuard::lock(&repository, &paths, &writer.lock_timeouts)?;
    repository.reject_operation_in_progress()?;
    if repository.head()? != Some(head_move.old) {
        return Ok(HeadMoveOutcome::HeadMoved);
    }
    let git = repository.git();
    let mut locked_index = open_locked_index(writer, &repository, &git, &guard)?;
    repair_index_if_reloaded(&repository, &mut locked_index)?;
    let failed = |err| repository.git_error("compare", err);
    let planned =
        plan_edits(&git, &repository, &locked_index, head_move, merge_edit).map_err(failed)?;
    let PlannedEdits { edits, still_edited, waiting } = planned;
    if !waiting.is_empty() {
        return Ok(HeadMoveOutcome::UncommittedEdits(waiting));
    }
    let edits: Vec<_> = edits.iter().collect();
    let steps = CommitSteps {
        palace: &repository.work,
        repository: &repository,
        git: &git,
        edits: &edits,
        by_author: false,
        write_guard: &guard,
        signer,
        progress: Progress::default(),
    };
    steps.reject_blocked_paths(&locked_index)?;
    run_steps(writer, &steps, locked_index, head_move, &still_edited)
}

/// Writes the objects and the files, and moves `HEAD`, with all locks held.
fn run_steps(
    writer: &mut Writer,
    steps: &CommitSteps<'_>,
    mut locked_index: LockedIndex<'_>,
    head_move: &HeadMove,
    still_edited: &BTreeSet<String>,
) -> Result<HeadMoveOutcome, Error> {
    let CommitSteps { palace: work, repository, git, edits, write_guard: guard, .. } = *steps;
    let transaction = match FileTransaction::begin_if_unchanged(work, edits)? {
        Ok(transaction) => transaction
            .with_modes(&head_move.executable_bits_to_set(git))
            .with_shared_mode(repository.shared_mode),
        Err(stale) => return Ok(HeadMoveOutcome::UncommittedEdits(stale)),
    };
    let mut objects = ObjectWriter::new(repository, git);
    let failed = |err| repository.git_error("commit", err);
    let new = write_objects(&mut objects, steps.signer, head_move).map_err(failed)?;
    point_ref(repository, guard, BEFORE_SYNC_REF, head_move.old)?;
    let files: Vec<_> = head_move.files.iter().map(HeadMoveFile::new_entry).collect();
    let log = reflog_entry(head_move, &repository.git());
    let mut folders = Vec::new();
    let moved = keep_or_undo(transaction, Some(guard), |transaction| {
        objects.publish(&repository.palace, transaction.temporaries())?;
        let stale = put_in_place_and_stage(transaction, &mut locked_index, &files, still_edited)?;
        if !stale.is_empty() {
            return Ok(Err(stale));
        }
        folders = transaction.touched_folders();
        match steps.move_ref("HEAD", (Some(head_move.old), new), log)? {
            RefUpdateOutcome::Updated => Ok(Ok(())),
            RefUpdateOutcome::Conflict => Ok(Err(Vec::new())),
        }
    })?;
    match moved {
        Ok(()) => {}
        Err(stale) if stale.is_empty() => return Ok(HeadMoveOutcome::HeadMoved),
        Err(stale) => return Ok(HeadMoveOutcome::UncommittedEdits(stale)),
    }
    writer.checked_head = Some(new);
    let mut warnings = steps.sync_and_collect_warnings(folders);
    warnings.extend(replace_index(writer, locked_index, guard));
    warnings.extend(writer.signing.report(steps.signer));
    let commit = Some(CommitId(new.to_string()));
    let previous = Some(CommitId(head_move.old.to_string()));
    Ok(HeadMoveOutcome::Done(CommitReport { commit, previous, warnings }))
}

/// Writes the commit with its trees and files; returns its id.
fn write_objects(
    writer: &mut ObjectWriter<'_>,
    signer: &Signer,
    head_move: &HeadMove,
) -> gix::Result<ObjectId> {
    let new = match &head_move.new {
        NewHead::Existing(id) => return Ok(*id),
        NewHead::Commit(new) => new,
    };
    for (_, text) in head_move.files.iter().filter_map(|it| it.now.as_ref()) {
        writer.write_blob(text.as_bytes())?;
    }
    let draft = CommitDraft {
        files: head_move.files.iter().map(HeadMoveFile::new_entry).collect(),
        author: new.identity.clone(),
        committer: new.identity.clone(),
        seconds: new.seconds,
        message: new.message.clone(),
    };
    let before = tree_lookup::tree_of_commit(writer.git(), Some(head_move.old))?;
    let tree = draft.write_trees(writer, before)?;
    if tree != new.tree {
        return Err(gix::Error::from_error(std::io::Error::other("the planned tree differs")));
    }
    draft.write_commit(writer, Some(signer), tree, &new.parents)
}

/// Plans the edit of each file on disk.
fn plan_edits(
    git: &gix::Repository,
    repository: &Repository,
    locked_index: &LockedIndex<'_>,
    head_move: &HeadMove,
    merge_edit: &MergeEdit<'_>,
) -> gix::Result<PlannedEdits> {
    let mut planned = PlannedEdits::default();
    for file in &head_move.files {
        let path = &file.path;
        let committed = file.was.map(|it| it.id);
        let Ok(on_disk) = palace_files::read_file(&repository.work, path) else {
            planned.waiting.push(path.clone());
            continue;
        };
        let id = |text: &str| {
            tree_lookup::compute_blob_id(
                git,
                &convert_to_git(git, locked_index.index(), path, text)?,
            )
        };
        let id_on_disk = on_disk.as_deref().map(id).transpose()?;
        let mut now = file.now.as_ref().map(|(_, text)| text.clone());
        let is_staged = locked_index.staged_id(path) != committed;
        if is_staged || id_on_disk != committed {
            let edit = on_disk.as_deref().filter(|_| !is_staged);
            let moved = (head_move.old, file);
            let Some(merged) = merge_with_edit(git, repository, moved, edit, merge_edit)? else {
                planned.waiting.push(path.clone());
                continue;
            };
            planned.still_edited.insert(path.clone());
            now = Some(merged);
        }
        planned.edits.push(FileEdit { path: path.clone(), was: on_disk, now });
    }
    Ok(planned)
}

/// Merges an uncommitted edit of a file that both commits have.
fn merge_with_edit(
    git: &gix::Repository,
    repository: &Repository,
    (old, file): (ObjectId, &HeadMoveFile),
    on_disk: Option<&str>,
    merge_edit: &MergeEdit<'_>,
) -> gix::Result<Option<String>> {
    let (Some(was), Some((entry, new)), Some(on_disk)) = (file.was, &file.now, on_disk) else {
        return Ok(None);
    };
    let place = repository.work.join(&file.path);
    let modified = std::fs::symlink_metadata(place).and_then(|it| it.modified()).ok();
    let base = String::from_utf8(git.find_blob(was.id)?.take_data()).ok();
    let tree = tree_lookup::tree_of_commit(git, Some(old))?;
    let folder = PalacesInTrees::new(git, &[tree]).palace_of(&file.path)?;
    let (Some(modified), Some(base), Some(folder)) = (modified, base, folder) else {
        return Ok(None);
    };
    if entry.kind != was.kind {
        return Ok(None);
    }
    let path = &file.path[folder.len()..];
    Ok(merge_edit(&EditedFile { path, base: &base, on_disk, new, modified: modified.into() }))
}

/// Returns the reflog entry: the user of this machine, the time of the commit, the reason.
fn reflog_entry(head_move: &HeadMove, git: &gix::Repository) -> String {
    let seconds = match &head_move.new {
        NewHead::Commit(new) => Some(new.seconds),
        NewHead::Existing(id) => {
            git.find_commit(*id).ok().and_then(|it| Some(it.time().ok()?.seconds))
        }
    };
    let who = GitIdentity::for_committer(git).description();
    format!("{who} {} +0000\t{}", seconds.unwrap_or_default().max(0), head_move.reason)
}

impl HeadMove {
    /// Returns whether each file is executable in the new commit; nothing if git is not to look at
    /// modes here.
    fn executable_bits_to_set(&self, git: &gix::Repository) -> BTreeMap<&str, bool> {
        if !git.config_snapshot().boolean("core.fileMode").unwrap_or(true) {
            return BTreeMap::new();
        }
        let mode = |it: &BlobEntry| it.kind == EntryKind::BlobExecutable;
        let new = self.files.iter().filter_map(|it| Some((it.path.as_str(), it.now.as_ref()?)));
        new.map(|(path, (entry, _))| (path, mode(entry))).collect()
    }
}

impl HeadMoveFile {
    fn new_entry(&self) -> (String, Option<BlobEntry>) {
        (self.path.clone(), self.now.as_ref().map(|(entry, _)| *entry))
    }
}
