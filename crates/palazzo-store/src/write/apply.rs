//! Applies a change in an order of steps after which a crash at any point loses nothing.
//!
//! Take Palazzo's lock and git's index lock, compare, write the files and the objects under temporary
//! names, make them durable; give the objects their names, put the files in place, write the new
//! index and the new `HEAD` into their lock files, make all that durable; move `HEAD`, make that
//! durable; put the index in place. Until `HEAD` has moved, every failure undoes the files.
//!
//! Of eight power cuts (`benches/durability`), five damaged the repository without the first sync, and
//! four lost a confirmed write without the last. The second is for file systems that do not keep the
//! order of names, as without a journal.

use crate::repo::retry::{GC_RETRY_TIMEOUT, RETRY_PAUSE, RETRY_TIMEOUT};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

use gix::ObjectId;

use palazzo_core::model::{Changeset, CommitId, FileEdit, max_file_bytes};

use crate::repo::fsync;
use crate::repo::palace_repository::PalaceRepository;
use crate::repo::proposal_branch::{ProposalBranch, branch_name, reject_checked_out_branch};
use crate::repo::proposal_error::ProposalError;
use crate::repo::repository::Repository;
use crate::repo::tree_lookup::BlobEntry;
use crate::repo::{damage, palace_files, paths};
use crate::write::branch_commit::BranchCommitOutcome;
use crate::write::commit_steps::{CommitSteps, MovedHead};
use crate::write::file_transaction::FileTransaction;
use crate::write::index::LockedIndex;
use crate::write::objects::{LastTrees, ObjectWriter, WrittenObject};
use crate::write::signing::Signer;
use crate::write::write_guard::WriteGuard;
use crate::write::writer::{Writer, is_gc_running};
use crate::write::{index, memory_secrets, overwritten_files};
use crate::{CommitOutcome, CommitReport, CommitWarning, Error};

/// The progress steps of a file: its object, its temporary file, putting it in place.
const STEPS_PER_FILE: usize = 3;
const OBJECT_CACHE_BYTES: usize = 1024 * 1024;
/// How often a commit is made again because another program moved the branch meanwhile.
const MAX_BRANCH_ATTEMPTS: usize = 20;

impl Writer {
    /// Applies `change` to the files on disk, or to `branch`, or reports the files that do not have
    /// the expected content.
    pub(crate) fn apply_change(
        &mut self,
        palace: &PalaceRepository,
        branch: Option<&ProposalBranch>,
        change: &Changeset,
    ) -> Result<CommitOutcome, Error> {
        for edit in &change.edits {
            check_edit(edit)?;
        }
        let edits: Vec<&FileEdit> = change.edits.iter().filter(|it| it.was != it.now).collect();
        match edits.as_slice() {
            [] => Ok(CommitOutcome::Done(CommitReport::default())),
            edits if change.commit || branch.is_some() => {
                let edits = Edits { edits, by_author: false };
                commit_with_retry(self, palace, branch, change, edits)
            }
            edits => write_without_commit(self, palace, change, edits),
        }
    }

    /// Commits the files of `change` as they are, without writing them, as hand edits.
    pub(crate) fn commit_without_writing(
        &mut self,
        palace: &PalaceRepository,
        change: &Changeset,
    ) -> Result<CommitOutcome, Error> {
        let edits: Vec<_> = change.edits.iter().collect();
        commit_with_retry(self, palace, None, change, Edits { edits: &edits, by_author: false })
    }

    /// Commits the files of `change` as they are, because its author has written them.
    pub(crate) fn commit_written_files(
        &mut self,
        palace: &PalaceRepository,
        change: &Changeset,
    ) -> Result<CommitOutcome, Error> {
        let edits: Vec<_> = change.edits.iter().collect();
        commit_with_retry(self, palace, None, change, Edits { edits: &edits, by_author: true })
    }
}

/// The edits of a commit.
#[derive(Clone, Copy)]
struct Edits<'e> {
    edits: &'e [&'e FileEdit],
    /// Whether the author of the change has made the files what they are on disk.
    by_author: bool,
}

/// Checks that a written file can be read again.
fn check_edit(edit: &FileEdit) -> Result<(), Error> {
    paths::check_path(&edit.path)?;
    if edit.path.matches('/').count() > palace_files::max_depth(&edit.path) {
        return Err(Error::invalid_path(&edit.path, "its folders are nested too deep"));
    }
    if edit.now.as_ref().is_some_and(|it| it.len() > max_file_bytes(&edit.path)) {
        return Err(Error::invalid_path(&edit.path, "it would be larger than 1 MiB"));
    }
    Ok(())
}

fn write_without_commit(
    writer: &Writer,
    palace: &PalaceRepository,
    change: &Changeset,
    edits: &[&FileEdit],
) -> Result<CommitOutcome, Error> {
    palace.reject_moved_palace()?;
    // Nothing is committed here, so an unusable repository is no obstacle.
    let repository = palace.find().ok().flatten();
    let begin = |it: &Repository| WriteGuard::lock(it, &edit_paths(edits), &writer.lock_timeouts);
    let guard = repository.as_deref().map(begin).transpose()?;
    palace.reject_moved_palace()?;
    // The caller may have cancelled while this waited for the lock.
    writer.reject_if_cancelled()?;
    let transaction = match FileTransaction::begin_if_unchanged(&palace.palace, edits)? {
        Ok(transaction) => transaction
            .with_modes(&change.executable.iter().map(|(path, is)| (path.as_str(), *is)).collect())
            .with_moved_file_permissions(edits)
            .with_shared_mode(repository.as_ref().map(|it| it.shared_mode).unwrap_or_default()),
        Err(stale) => return Ok(CommitOutcome::Stale(stale)),
    };
    if let (Some(repository), Some(guard)) = (&repository, &guard) {
        memory_secrets::reject_secrets_of_memory(repository, repository.head()?, edits)?;
        overwritten_files::save_overwritten(repository, change, edits, guard)?;
    }
    let sync = |folders| fsync::sync_file_systems_or_files(&[&palace.palace], || folders);
    let written = keep_or_undo(transaction, guard.as_ref(), |transaction| {
        let stale = transaction.sync_and_put_in_place()?;
        if !stale.is_empty() {
            return Ok(Err(stale));
        }
        sync(transaction.touched_folders()).map(|()| Ok(transaction.touched_folders()))
    })?;
    let folders = match written {
        Ok(folders) => folders,
        Err(stale) => return Ok(CommitOutcome::Stale(stale)),
    };
    // The removal of the backups must be durable, because without a commit recovery would restore
    // them.
    sync(folders)?;
    Ok(CommitOutcome::Done(CommitReport::default()))
}

/// Writes the temporary files and calls `write`; keeps the result if it succeeds. Otherwise undoes
/// it, or leaves that to recovery.
pub(crate) fn keep_or_undo<T>(
    mut transaction: FileTransaction<'_>,
    guard: Option<&WriteGuard>,
    write: impl FnOnce(&mut FileTransaction<'_>) -> Result<Result<T, Vec<String>>, Error>,
) -> Result<Result<T, Vec<String>>, Error> {
    let prepared = transaction.write_temporaries().and_then(|()| match guard {
        Some(guard) => guard.record_new_files(transaction.new_file_fingerprints()),
        None => Ok(()),
    });
    let written = prepared.and_then(|()| write(&mut transaction));
    let refusal = match &written {
        Ok(Ok(_)) => {
            transaction.keep_new_files();
            return written;
        }
        Ok(Err(_)) => "another program changed the same files".to_owned(),
        Err(err) => err.message_with_causes(),
    };
    if let Err(err) = transaction.undo(&refusal) {
        if let Some(guard) = guard {
            guard.keep_marker_for_recovery();
        }
        return Err(err);
    }
    written
}

/// Commits, and retries if git moved objects or references meanwhile.
fn commit_with_retry(
    writer: &mut Writer,
    palace: &PalaceRepository,
    branch: Option<&ProposalBranch>,
    change: &Changeset,
    edits: Edits<'_>,
) -> Result<CommitOutcome, Error> {
    let started = Instant::now();
    let signer = writer.take_signer();
    let commit = |writer: &mut Writer| match branch {
        Some(branch) => commit_on_branch(writer, palace, branch, change, edits.edits, &signer),
        None => commit_files(writer, palace, change, edits, &signer),
    };
    let mut outcome = commit(writer);
    while let Err(Error::Git { .. } | Error::DamagedRepository { .. }) = &outcome {
        if signer.is_waiting() {
            outcome = Ok(CommitOutcome::SignatureMissing);
            break;
        }
        // `git gc` and `git pack-refs` pack what they remove, so it is available a moment later.
        // Deleted objects of another writer are restored by that writer.
        let timeout = if is_gc_running(palace) { GC_RETRY_TIMEOUT } else { RETRY_TIMEOUT };
        if started.elapsed() > timeout {
            break;
        }
        writer.restore_pruned_objects(palace);
        std::thread::sleep(RETRY_PAUSE);
        palace.recheck_on_next_use();
        outcome = commit(writer);
    }
    writer.signer = Some(signer);
    let repository = palace.find().ok().flatten();
    outcome.map_err(|err| match repository {
        // The file may be `HEAD`, which must not be opened then.
        _ if matches!(err, Error::NotRegularFile { .. }) => err,
        Some(repository) if repository.head().is_err() => {
            damage::explain_head_error(&repository, err)
        }
        _ => err,
    })
}

fn commit_files(
    writer: &mut Writer,
    palace: &PalaceRepository,
    change: &Changeset,
    Edits { edits, by_author }: Edits<'_>,
    signer: &Signer,
) -> Result<CommitOutcome, Error> {
    let (repository, guard) = loop {
        let repository = palace.find_or_create()?;
        let guard = WriteGuard::lock(&repository, &edit_paths(edits), &writer.lock_timeouts)?;
        // While this process waited, the palace may have got another repository.
        if !guard.had_to_wait() || repository.is_current() {
            break (repository, guard);
        }
        drop(guard);
        palace.recheck_on_next_use();
    };
    palace.reject_moved_palace()?;
    repository.reject_operation(guard.look().operation)?;
    let mut git = repository.git();
    // The same few trees are read in each step.
    git.object_cache_size_if_unset(OBJECT_CACHE_BYTES);
    // The trees above a changed file were written by the last change, or are read now.
    git.objects.set_object_memory(writer.last_trees.take_unchanged(&repository.common_dir));
    let mut locked_index = open_locked_index(writer, &repository, &git, &guard)?;
    // A commit that another program makes from here on is found when `HEAD` is moved.
    let head = repository.find_head(&guard.look().head)?;
    check_head_unless_checked(&mut writer.checked_head, &repository, head)?;
    repair_index_if_reloaded(&repository, &mut locked_index)?;
    // The caller may have cancelled while this waited for the locks.
    writer.reject_if_cancelled()?;
    let progress = writer.start_progress(edits.len() * STEPS_PER_FILE);
    let steps = CommitSteps {
        palace: &palace.palace,
        repository: &repository,
        git: &git,
        edits,
        by_author,
        write_guard: &guard,
        signer,
        progress,
    };
    steps.reject_blocked_paths(&locked_index)?;
    memory_secrets::reject_secrets_of_memory(&repository, head, edits)?;
    run_commit_steps(writer, &steps, change, locked_index, head)
}

/// Commits `change` on `branch`, or reports the files that do not have the expected content.
fn commit_on_branch(
    writer: &mut Writer,
    palace: &PalaceRepository,
    branch: &ProposalBranch,
    change: &Changeset,
    edits: &[&FileEdit],
    signer: &Signer,
) -> Result<CommitOutcome, Error> {
    let repository = palace.require()?;
    let branch_ref = branch.full_name.as_str();
    let guard = WriteGuard::lock(&repository, &[], &writer.lock_timeouts)?;
    reject_checked_out_branch(&repository, branch_ref)?;
    // The caller may have cancelled while this waited for the lock.
    writer.reject_if_cancelled()?;
    let mut git = repository.git();
    git.object_cache_size_if_unset(OBJECT_CACHE_BYTES);
    let steps = CommitSteps {
        palace: &palace.palace,
        repository: &repository,
        git: &git,
        edits,
        by_author: false,
        write_guard: &guard,
        signer,
        progress: writer.start_progress(edits.len()),
    };
    for _ in 0..MAX_BRANCH_ATTEMPTS {
        let tip = branch.read(&repository)?;
        let mut objects = ObjectWriter::new(&repository, &git);
        let new = match steps.try_commit_on_branch(&mut objects, change, branch, tip)? {
            BranchCommitOutcome::Stale(paths) => return Ok(CommitOutcome::Stale(paths)),
            BranchCommitOutcome::Moved => continue,
            BranchCommitOutcome::Done(None) => {
                return Ok(CommitOutcome::Done(CommitReport::default()));
            }
            BranchCommitOutcome::Done(Some(new)) => new,
        };
        branch.remember_newest_commit(new);
        let mut warnings = Vec::new();
        if let Err(err) = steps.sync_branch(branch_ref) {
            warnings.push(CommitWarning::NotDurable(err.message_with_causes()));
        }
        warnings.extend(writer.signing.report(signer));
        let mut objects = objects.into_objects();
        warnings.extend(writer.deleted_object_restorer.retain_objects(&repository, &mut objects));
        let [commit, previous] = [new, tip].map(|it| Some(CommitId(it.to_string())));
        return Ok(CommitOutcome::Done(CommitReport { commit, previous, warnings }));
    }
    Err(ProposalError::BranchMoves { branch: branch_name(branch_ref).to_owned() }.into())
}

/// Writes the files and the commits, with all locks held.
fn run_commit_steps(
    writer: &mut Writer,
    steps: &CommitSteps<'_>,
    change: &Changeset,
    mut locked_index: LockedIndex<'_>,
    head: Option<ObjectId>,
) -> Result<CommitOutcome, Error> {
    let CommitSteps { palace, repository, git, edits, write_guard: guard, .. } = *steps;
    let transaction = match FileTransaction::begin_if_unchanged(palace, edits)? {
        Ok(it) => set_modes(it, steps, change).with_progress(steps.progress.clone()),
        Err(stale) => {
            writer.cached_index = Some(locked_index.release_lock());
            return Ok(CommitOutcome::Stale(stale));
        }
    };
    let mut objects = ObjectWriter::new(repository, git);
    let drafts = steps.draft_commits(&mut objects, &locked_index, change, head);
    let drafts = drafts.map_err(|err| repository.git_error("prepare the commit", err))?;
    let mut folders = None;
    let result = keep_or_undo(transaction, Some(guard), |transaction| {
        steps.write_commits_and_move_head(&mut objects, &drafts, head, |objects| {
            // One sync for the new files and the objects: files may only replace others, and `HEAD`
            // may only move, when these are durable.
            objects.publish(&repository.palace, transaction.temporaries())?;
            if folders.is_some() {
                return Ok(Vec::new()); // The files are in place since the last attempt.
            }
            let files = drafts.last().map(|it| it.files.as_slice()).unwrap_or_default();
            let stale =
                put_in_place_and_stage(transaction, &mut locked_index, files, &BTreeSet::new());
            folders = Some(transaction.touched_folders());
            stale
        })
    })?;
    let moved = match result {
        Ok(moved) => moved,
        Err(stale) => return Ok(CommitOutcome::Stale(stale)),
    };
    let mut warnings = steps.sync_and_collect_warnings(folders.unwrap_or_default());
    warnings.extend(replace_index(writer, locked_index, guard));
    warnings.extend(writer.signing.report(steps.signer));
    let mut objects = objects.into_objects();
    warnings.extend(writer.deleted_object_restorer.retain_objects(repository, &mut objects));
    keep_for_next_change(writer, repository, moved, objects);
    let commit = moved.map(|it| CommitId(it.to.to_string()));
    let previous = moved.and_then(|it| it.from).map(|it| CommitId(it.to_string()));
    Ok(CommitOutcome::Done(CommitReport { commit, previous, warnings }))
}

/// Keeps what the next change would otherwise read again: where `HEAD` is, and the trees.
fn keep_for_next_change(
    writer: &mut Writer,
    repository: &Repository,
    moved: Option<MovedHead>,
    written: Vec<WrittenObject>,
) {
    if let Some(moved) = moved {
        let commit = written.iter().find(|it| it.id == moved.to);
        repository.remember_head(moved.to, commit.and_then(|it| it.stamp));
        writer.checked_head = Some(moved.to);
    }
    writer.last_trees = LastTrees::new(written);
}

/// Sets the modes of the files that are written.
fn set_modes<'a>(
    files: FileTransaction<'a>,
    steps: &CommitSteps<'_>,
    change: &Changeset,
) -> FileTransaction<'a> {
    let shared_mode = steps.repository.shared_mode;
    let files = files
        .with_modes(&steps.executable_bits_to_set(change))
        .with_moved_file_permissions(steps.edits);
    files.with_shared_mode(shared_mode)
}

/// Checks that the last commit can be read, unless it was checked before.
fn check_head_unless_checked(
    checked: &mut Option<ObjectId>,
    repository: &Repository,
    head: Option<ObjectId>,
) -> Result<(), Error> {
    if head.is_none() || head != *checked {
        damage::check_head_commit(repository, head)?;
        *checked = head;
    }
    Ok(())
}

/// Opens the index, and locks it.
pub(crate) fn open_locked_index<'a>(
    writer: &mut Writer,
    repository: &'a Repository,
    git: &gix::Repository,
    guard: &WriteGuard,
) -> Result<LockedIndex<'a>, Error> {
    let mut record = |path: &Path, inode: u64| guard.record_lock_file(path, inode);
    let cached = writer.cached_index.take();
    LockedIndex::open(repository, git, cached, &writer.lock_timeouts, &mut record)
}

/// Repairs the index if another program may have written it.
pub(crate) fn repair_index_if_reloaded(
    repository: &Repository,
    locked_index: &mut LockedIndex<'_>,
) -> Result<(), Error> {
    match locked_index.is_reloaded() {
        true => index::repair_stale_index(repository, locked_index),
        false => Ok(()),
    }
}

/// Replaces the index; if that fails, the next writer repairs it.
pub(crate) fn replace_index(
    writer: &mut Writer,
    locked_index: LockedIndex<'_>,
    guard: &WriteGuard,
) -> Option<CommitWarning> {
    match locked_index.replace_index() {
        Ok(cached) => {
            writer.cached_index = Some(cached);
            None
        }
        Err(err) => {
            guard.keep_marker_for_recovery();
            Some(CommitWarning::IndexNotUpdated(err.message_with_causes()))
        }
    }
}

/// Puts the files in place, and writes the new index, in which they are `files`, into its lock
/// file. Those in `still_edited` have another content on disk.
pub(crate) fn put_in_place_and_stage(
    transaction: &mut FileTransaction<'_>,
    locked_index: &mut LockedIndex<'_>,
    files: &[(String, Option<BlobEntry>)],
    still_edited: &BTreeSet<String>,
) -> Result<Vec<String>, Error> {
    let stale = transaction.put_files_in_place()?;
    if stale.is_empty() {
        stage_written_files(locked_index, files, transaction, still_edited);
        locked_index.write_to_lock_file()?;
    }
    Ok(stale)
}

/// Stages the files as they are on disk now.
fn stage_written_files(
    locked_index: &mut LockedIndex<'_>,
    files: &[(String, Option<BlobEntry>)],
    transaction: &FileTransaction<'_>,
    still_edited: &BTreeSet<String>,
) {
    let files = files.iter().zip(transaction.index_stats());
    locked_index.stage_files(files.map(|((path, entry), stat)| {
        let stat = stat.filter(|_| !still_edited.contains(path));
        (path.as_str().into(), *entry, stat)
    }));
}

fn edit_paths(edits: &[&FileEdit]) -> Vec<String> {
    edits.iter().map(|it| it.path.clone()).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::test_repository::{
        TestHome, change_of_files, change_of_one_file, commit_ok, git_in, try_git,
    };

    const HALL: &str = "rooms/hall.yaml";

    #[test]
    fn the_first_change_creates_a_repository_at_the_home_and_commits() {
        let scene = TestHome::new();
        let mut store = scene.palace("keep");
        let made = commit_ok(&mut store, &change_of_one_file(HALL, None, Some("name: Hall\n")));
        assert_eq!(scene.git(&["rev-parse", "HEAD"]).trim(), made.unwrap().0);
        assert_eq!(scene.git(&["show", "HEAD:keep/rooms/hall.yaml"]), "name: Hall\n");
        assert_eq!(scene.git(&["branch", "--show-current"]), "main\n");
        assert_eq!(fs::read_dir(scene.home.join(".git/hooks")).unwrap().count(), 0);
        assert_eq!(scene.status(), "");
        scene.assert_fsck_clean();
    }

    #[test]
    fn a_commit_records_client_committer_and_time() {
        let scene = TestHome::new();
        commit_ok(&mut scene.palace("keep"), &change_of_one_file(HALL, None, Some("x\n")));
        let format = "%an <%ae> %ad%n%cn <%ce> %cd%n%B";
        let shown = scene.git(&["log", "-1", "--date=iso", &format!("--format={format}")]);
        insta::assert_snapshot!(shown.trim(), @"
        Claude Desktop <claude-desktop@palazzo.invalid> 2030-03-17 17:46:40 +0000
        palazzo <palazzo@localhost> 2030-03-17 17:46:40 +0000
        room hall: build

        The hall has two doors now.

        Palazzo-Tool: build_room
        ");
    }

    #[test]
    fn the_committer_is_the_configured_git_user() {
        let scene = TestHome::with_repository();
        commit_ok(&mut scene.palace("keep"), &change_of_one_file(HALL, None, Some("x\n")));
        assert_eq!(
            scene.git(&["log", "-1", "--format=%an / %cn <%ce>"]),
            "Claude Desktop / Ada <ada@example.org>\n"
        );
    }

    #[test]
    fn writing_replacing_and_deleting_leave_git_clean_and_intact() {
        let scene = TestHome::new();
        let mut store = scene.palace("keep");
        let deep = "scrolls/a/b/c/d/one.md";
        commit_ok(
            &mut store,
            &change_of_files(&[(HALL, None, Some("1\n")), (deep, None, Some("one\n"))]),
        );
        commit_ok(&mut store, &change_of_one_file(HALL, Some("1\n"), Some("2\n")));
        commit_ok(&mut store, &change_of_one_file(deep, Some("one\n"), None));
        assert_eq!(scene.status(), "");
        assert!(!scene.home.join("keep/scrolls").exists());
        assert_eq!(scene.git(&["ls-tree", "-r", "--name-only", "HEAD"]), "keep/rooms/hall.yaml\n");
        commit_ok(&mut store, &change_of_one_file(HALL, Some("2\n"), None));
        assert_eq!(scene.status(), "");
        assert!(scene.home.join("keep").is_dir());
        assert_eq!(scene.log().lines().count(), 4);
        scene.assert_fsck_clean();
    }

    #[test]
    fn staged_changed_and_untracked_files_of_the_user_stay_unchanged() {
        let scene = TestHome::with_repository();
        scene.write_file("other/kept.md", "1\n");
        scene.write_file("sub/keep/rooms/old.yaml", "old\n");
        scene.git(&["add", "."]);
        scene.git(&["commit", "-qm", "more"]);
        scene.write_file("staged.md", "staged\n");
        scene.git(&["add", "staged.md"]);
        scene.write_file("notes.md", "changed\n");
        scene.write_file("untracked.md", "untracked\n");
        scene.write_file("sub/keep/rooms/mine.yaml", "mine\n");
        let before = scene.status();
        let mut store = scene.palace("sub/keep");
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
        commit_ok(&mut store, &change_of_one_file(HALL, Some("1\n"), Some("2\n")));
        assert_eq!(scene.status(), before);
        let touched = scene.git(&["log", "-2", "--format=", "--name-only"]);
        assert_eq!(touched, "sub/keep/rooms/hall.yaml\nsub/keep/rooms/hall.yaml\n");
        // Git caches trees in the index; a stale one would restore the old file here.
        scene.git(&["commit", "-qm", "by hand"]);
        assert_eq!(scene.git(&["show", "HEAD:sub/keep/rooms/hall.yaml"]), "2\n");
        assert_eq!(scene.git(&["show", "HEAD:staged.md"]), "staged\n");
        commit_ok(&mut store, &change_of_one_file(HALL, Some("2\n"), Some("3\n")));
        scene.write_file("staged.md", "again\n");
        scene.git(&["commit", "-qam", "by hand again"]);
        assert_eq!(scene.git(&["show", "HEAD:sub/keep/rooms/hall.yaml"]), "3\n");
        assert_eq!(scene.git(&["write-tree"]), scene.git(&["rev-parse", "HEAD^{tree}"]));
        scene.assert_fsck_clean();
    }

    #[test]
    fn an_unborn_branch_gets_its_first_commit() {
        let scene = TestHome::new();
        scene.init_repository();
        scene.write_file("staged.md", "staged\n");
        scene.git(&["add", "staged.md"]);
        commit_ok(&mut scene.palace("keep"), &change_of_one_file(HALL, None, Some("x\n")));
        assert_eq!(scene.status(), "A  staged.md\n");
        assert_eq!(scene.git(&["ls-tree", "-r", "--name-only", "HEAD"]), "keep/rooms/hall.yaml\n");
        scene.assert_fsck_clean();
    }

    #[test]
    fn a_commit_on_a_detached_head_moves_no_branch() {
        let scene = TestHome::with_repository();
        scene.git(&["checkout", "-q", "--detach"]);
        let made =
            commit_ok(&mut scene.palace("keep"), &change_of_one_file(HALL, None, Some("x\n")));
        assert_eq!(scene.git(&["rev-parse", "HEAD"]).trim(), made.unwrap().0);
        assert_eq!(scene.git(&["log", "--format=%s", "main"]), "begin\n");
        assert_eq!(scene.status(), "");
        scene.assert_fsck_clean();
    }

    #[test]
    fn a_linked_worktree_commits_to_its_own_branch() {
        let scene = TestHome::with_repository();
        scene.git(&["worktree", "add", "-q", "-b", "side", "../side"]);
        let side = scene.home.with_file_name("side");
        let mut store = scene.store(&side.join("keep"));
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
        commit_ok(&mut store, &change_of_one_file(HALL, Some("1\n"), Some("2\n")));
        assert_eq!(git_in(&side, &["show", "side:keep/rooms/hall.yaml"]), "2\n");
        assert_eq!(git_in(&side, &["status", "--porcelain"]), "");
        assert_eq!(scene.log(), "Ada: begin\n");
        scene.assert_fsck_clean();
    }

    #[test]
    fn a_stale_change_is_reported_and_nothing_is_written() {
        let scene = TestHome::new();
        let mut store = scene.palace("keep");
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
        let stale = change_of_files(&[
            (HALL, Some("0\n"), Some("2\n")),
            ("rooms/b.yaml", None, Some("b\n")),
        ]);
        assert_eq!(store.commit(&stale).unwrap(), CommitOutcome::Stale(vec![HALL.to_owned()]));
        let there = change_of_one_file(HALL, None, Some("2\n"));
        assert_eq!(store.commit(&there).unwrap(), CommitOutcome::Stale(vec![HALL.to_owned()]));
        let gone = change_of_one_file("rooms/c.yaml", Some("c\n"), None);
        assert_eq!(
            store.commit(&gone).unwrap(),
            CommitOutcome::Stale(vec!["rooms/c.yaml".to_owned()])
        );
        assert_eq!(scene.read_file("keep/rooms/hall.yaml"), "1\n");
        assert!(!scene.home.join("keep/rooms/b.yaml").exists());
        assert_eq!(scene.log().lines().count(), 1);
        assert_eq!(scene.status(), "");
    }

    #[test]
    fn a_hand_edit_is_committed_first_under_the_name_of_the_user() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
        scene.write_file("keep/rooms/hall.yaml", "by hand\n");
        commit_ok(&mut store, &change_of_one_file(HALL, Some("by hand\n"), Some("2\n")));
        assert_eq!(
            scene.log(),
            "Claude Desktop: room hall: build\nAda: hand edit: rooms/hall.yaml\n\
             Claude Desktop: room hall: build\nAda: begin\n"
        );
        assert_eq!(scene.git(&["show", "HEAD~1:keep/rooms/hall.yaml"]), "by hand\n");
        assert_eq!(scene.status(), "");
        scene.assert_fsck_clean();
    }

    #[test]
    fn untracked_files_are_committed_first_in_one_commit() {
        let scene = TestHome::new();
        scene.write_file("keep/rooms/a.yaml", "a\n");
        scene.write_file("keep/rooms/b.yaml", "b\n");
        let both = [
            ("rooms/a.yaml", Some("a\n"), Some("A\n")),
            ("rooms/b.yaml", Some("b\n"), None),
            ("rooms/c.yaml", None, Some("C\n")),
        ];
        commit_ok(&mut scene.palace("keep"), &change_of_files(&both));
        assert_eq!(scene.log(), "Claude Desktop: room hall: build\nsomeone: hand edit: 2 files\n");
        let first = scene.git(&["ls-tree", "-r", "--name-only", "HEAD~1"]);
        assert_eq!(first, "keep/rooms/a.yaml\nkeep/rooms/b.yaml\n");
        assert_eq!(scene.status(), "");
        scene.assert_fsck_clean();
    }

    #[test]
    fn a_deletion_by_hand_is_committed_before_the_file_is_rewritten() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
        fs::remove_file(scene.home.join("keep/rooms/hall.yaml")).unwrap();
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("2\n")));
        let log = scene.log();
        assert!(log.contains("Ada: hand edit: rooms/hall.yaml"), "{log}");
        assert!(!try_git(&scene.home, &["show", "HEAD~1:keep/rooms/hall.yaml"]).status.success());
        assert_eq!(scene.status(), "");
    }

    #[test]
    fn a_staged_version_that_was_edited_again_is_kept_in_history() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
        scene.write_file("keep/rooms/hall.yaml", "staged\n");
        scene.git(&["add", "keep"]);
        scene.write_file("keep/rooms/hall.yaml", "edited\n");
        commit_ok(&mut store, &change_of_one_file(HALL, Some("edited\n"), Some("2\n")));
        let text_at = |at: &str| scene.git(&["show", &format!("{at}:keep/rooms/hall.yaml")]);
        assert_eq!(text_at("HEAD~2"), "staged\n");
        assert_eq!(text_at("HEAD~1"), "edited\n");
        assert_eq!(text_at("HEAD"), "2\n");
        assert!(scene.log().contains("Ada: hand edit, as staged: rooms/hall.yaml"));
        assert_eq!(scene.status(), "");
        scene.assert_fsck_clean();
    }

    #[test]
    fn an_empty_change_commits_nothing() {
        let scene = TestHome::new();
        let mut store = scene.palace("keep");
        assert_eq!(
            commit_ok(&mut store, &change_of_one_file(HALL, Some("1\n"), Some("1\n"))),
            None
        );
        assert_eq!(commit_ok(&mut store, &change_of_files(&[])), None);
        assert!(!scene.home.exists());
    }

    #[test]
    fn with_manual_commits_files_are_written_and_git_is_not_touched() {
        let scene = TestHome::new();
        let mut store = scene.palace("keep");
        let mut first = change_of_one_file(HALL, None, Some("1\n"));
        first.commit = false;
        assert_eq!(commit_ok(&mut store, &first), None);
        assert_eq!(scene.read_file("keep/rooms/hall.yaml"), "1\n");
        assert!(!scene.home.join(".git").exists());
        scene.init_repository();
        let mut second = change_of_one_file(HALL, Some("1\n"), Some("2\n"));
        second.commit = false;
        assert_eq!(commit_ok(&mut store, &second), None);
        assert_eq!(scene.status(), "?? keep/rooms/hall.yaml\n");
        assert_eq!(store.head().unwrap(), None);
        assert_eq!(scene.read_file(".git/palazzo/writing"), "");
    }

    #[test]
    fn writing_a_file_with_a_merge_conflict_is_refused() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
        scene.git(&["checkout", "-qb", "side"]);
        scene.write_file("keep/rooms/hall.yaml", "side\n");
        scene.git(&["commit", "-qam", "side"]);
        scene.git(&["checkout", "-q", "main"]);
        scene.write_file("keep/rooms/hall.yaml", "main\n");
        scene.git(&["commit", "-qam", "main"]);
        assert!(!try_git(&scene.home, &["merge", "-q", "side"]).status.success());
        let before = scene.read_file("keep/rooms/hall.yaml");
        let refused =
            store.commit(&change_of_one_file(HALL, Some(&before), Some("2\n"))).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "`rooms/hall.yaml` is in the middle of a merge; make it right and `git add` it first"
        );
        assert_eq!(scene.read_file("keep/rooms/hall.yaml"), before);
        // Other files can be written meanwhile, and the merge can be finished.
        commit_ok(&mut store, &change_of_one_file("rooms/b.yaml", None, Some("b\n")));
        scene.write_file("keep/rooms/hall.yaml", "merged\n");
        scene.git(&["commit", "-qam", "merged"]);
        assert_eq!(scene.git(&["show", "HEAD:keep/rooms/b.yaml"]), "b\n");
        scene.git(&["fsck", "--strict", "--no-dangling"]);
    }

    #[test]
    fn hostile_paths_and_links_are_refused() {
        let scene = TestHome::new();
        scene.write_file("outside/x.yaml", "x\n");
        scene.write_file("keep/palace.toml", "");
        let mut store = scene.palace("keep");
        for path in ["../x", "/etc/x", "rooms/../../x", ".git/config", "rooms//x", ""] {
            assert!(matches!(
                store.commit(&change_of_one_file(path, None, Some("x"))),
                Err(Error::InvalidPath { .. })
            ));
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("../outside", scene.home.join("keep/rooms")).unwrap();
            let through = change_of_one_file("rooms/x.yaml", Some("x\n"), Some("y\n"));
            assert!(matches!(store.commit(&through), Err(Error::InvalidPath { .. })));
            assert_eq!(scene.read_file("outside/x.yaml"), "x\n");
        }
    }

    #[test]
    #[cfg(unix)]
    fn the_executable_bit_is_kept() {
        use std::os::unix::fs::PermissionsExt as _;
        let scene = TestHome::with_repository();
        scene.write_file("keep/rooms/hall.yaml", "1\n");
        let place = scene.home.join("keep/rooms/hall.yaml");
        fs::set_permissions(&place, fs::Permissions::from_mode(0o755)).unwrap();
        commit_ok(&mut scene.palace("keep"), &change_of_one_file(HALL, Some("1\n"), Some("2\n")));
        assert!(scene.git(&["ls-tree", "-r", "HEAD", "keep"]).starts_with("100755"));
        assert_eq!(fs::metadata(&place).unwrap().permissions().mode() & 0o777, 0o755);
        assert_eq!(scene.status(), "");
    }

    #[test]
    fn a_folder_can_replace_a_file_and_a_file_a_folder() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        commit_ok(&mut store, &change_of_one_file("rooms/a", None, Some("file\n")));
        fs::remove_file(scene.home.join("keep/rooms/a")).unwrap();
        commit_ok(&mut store, &change_of_one_file("rooms/a/b.yaml", None, Some("b\n")));
        assert_eq!(scene.status(), "");
        fs::remove_dir_all(scene.home.join("keep/rooms/a")).unwrap();
        commit_ok(&mut store, &change_of_one_file("rooms/a", None, Some("file\n")));
        assert_eq!(scene.status(), "");
        scene.assert_fsck_clean();
    }
}
