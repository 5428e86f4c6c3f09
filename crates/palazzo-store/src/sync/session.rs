//! One synchronization: fetch, compare, merge, apply, push.
//!
//! The caller decides the order of the steps; each can be repeated.

use std::hash::{BuildHasher as _, Hasher as _};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use gix::ObjectId;

use palazzo_core::model::CommitId;

use crate::history::commits::{HistoryReader, short_id};
use crate::history::palaces_in_trees::PalacesInTrees;
use crate::repo::references;
use crate::repo::repository::Repository;
use crate::sync::commit_checks::{self, DatedCommit, InvalidFile};
use crate::sync::error::SyncError;
use crate::sync::mass_deletion::find_mass_deletion;
use crate::sync::planned_move::PlannedMove;
use crate::sync::record::SyncRecord;
use crate::sync::side_commits::SideCommits;
use crate::sync::transport::Transport;
use crate::sync::tree_merge::{self, MergePalace, TreeMerger};
use crate::sync::upstream::Upstream;
use crate::write::head_move::{self, HeadMoveOutcome, MergeEdit, NewHead};
use crate::write::palazzo_lock::{self, PalazzoLock};
use crate::write::refs;
use crate::write::write_guard::WriteGuard;
use crate::{CommitWarning, Error, Store};

/// The lock that lets one process synchronize at a time.
const SYNC_LOCK: &str = "sync";
/// How often a process that waits for the lock looks whether it is cancelled.
const CANCEL_CHECK_INTERVAL: Duration = Duration::from_millis(200);
/// How often a push is attempted while others push too.
const MAX_ATTEMPTS: usize = 5;
/// How long a push is attempted.
const RETRY_TIMEOUT: Duration = Duration::from_secs(15);
/// The longest pause between two attempts.
const MAX_PAUSE_MILLIS: u64 = 1_000;

/// A synchronization under way. Only one process has one.
#[derive(Debug)]
pub struct SyncSession {
    store: Store,
    repository: Arc<Repository>,
    upstream: Upstream,
    transport: Transport,
    /// The newest commit of the remote; `None`: it has no such branch, or was not fetched yet.
    theirs: Option<ObjectId>,
    started: Instant,
    attempts: usize,
    // Released after the transport is removed.
    _lock: PalazzoLock,
}

/// The result of a fetch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FetchReport {
    /// Whether the remote no longer has the commit that it had when it was last reached.
    pub is_rewritten: bool,
    /// The commit with the latest date among those that are missing here.
    pub latest_commit: Option<DatedCommit>,
}

/// The two histories, compared.
#[derive(Debug)]
pub struct HistoryComparison {
    /// The number of commits that the remote lacks.
    pub ahead: usize,
    /// The number of commits of the remote that are missing here.
    pub behind: usize,
    pub(crate) ours: ObjectId,
    pub(crate) theirs: Option<ObjectId>,
    /// The commits that only this side has, and those that only the remote has.
    pub(crate) ranges: [SideCommits; 2],
}

/// Waits for the lock, also until the store's cancel flag is set.
fn acquire_sync_lock(store: &Store, timeout: Duration) -> Result<PalazzoLock, Error> {
    let repository = store.require_repository()?;
    let end = Instant::now() + timeout;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let step = left.min(CANCEL_CHECK_INTERVAL);
        match palazzo_lock::acquire_palazzo_lock(&repository, SYNC_LOCK, step) {
            Err(Error::WriteLocked { .. }) if left.is_zero() => return Err(SyncError::Busy.into()),
            Err(Error::WriteLocked { .. }) => store.writer.reject_if_cancelled()?,
            lock => return lock,
        }
    }
}

impl SyncSession {
    /// Begins to synchronize the repository of `store`, the store of the whole repository. Each
    /// run of git has the time limit, and ends when the store's cancel flag is set. If another
    /// process synchronizes it, waits for `lock_timeout`.
    pub fn begin(
        store: Store,
        time_limit: Duration,
        lock_timeout: Duration,
    ) -> Result<Self, Error> {
        let lock = acquire_sync_lock(&store, lock_timeout)?;
        let repository = store.require_repository()?;
        let upstream = store.upstream()?;
        let ours = repository.head()?.ok_or(SyncError::NoCommit)?;
        let known = references::find_ref(&repository, &upstream.tracking_ref())?;
        let tips: Vec<_> = known.into_iter().chain([ours]).collect();
        let cancelled = store.writer.cancelled.clone();
        let transport = Transport::create(&repository, &tips, time_limit, cancelled)?;
        Ok(Self {
            store,
            repository,
            upstream,
            transport,
            theirs: None,
            started: Instant::now(),
            attempts: 0,
            _lock: lock,
        })
    }

    /// Returns the upstream.
    pub fn upstream(&self) -> &Upstream {
        &self.upstream
    }

    /// Fetches the branch of the upstream. Its commits and files are checked before any object
    /// reaches the repository of the palace.
    pub fn fetch(&mut self) -> Result<FetchReport, Error> {
        self.attempts += 1;
        let tracking = self.upstream.tracking_ref();
        let known = references::find_ref(&self.repository, &tracking)?;
        let ours = self.head()?;
        self.theirs = self.transport.fetch(&self.upstream, false)?;
        let Some(mut theirs) = self.theirs else {
            let is_rewritten = known.is_some();
            return Ok(FetchReport { is_rewritten, ..FetchReport::default() });
        };
        let mut latest_commit = self.check_incoming_commits(ours, theirs)?;
        if self.is_too_shallow(ours, theirs)? {
            theirs = self.transport.fetch(&self.upstream, true)?.unwrap_or(theirs);
            self.theirs = Some(theirs);
            latest_commit = self.check_incoming_commits(ours, theirs)?;
        }
        // What is in our history was accepted, or made here; a later commit may have mended it.
        if !HistoryReader::new(&self.repository).is_ancestor(theirs, ours) {
            self.check_incoming(ours, theirs)?;
        }
        self.transport.adopt_objects()?;
        self.point_tracking_ref(theirs)?;
        let history = HistoryReader::new(&self.repository);
        let is_rewritten = known.is_some_and(|it| it != theirs && !history.is_ancestor(it, theirs));
        Ok(FetchReport { is_rewritten, latest_commit })
    }

    /// Compares the two histories. Fails if a commit changes a file of no palace that is no note, or was
    /// merged by rules newer than `rules_version`.
    pub fn compare(&self, rules_version: u32) -> Result<HistoryComparison, Error> {
        let ours = self.head()?;
        let history = HistoryReader::new(&self.repository);
        let failed = |err| self.repository.git_error("compare two histories", err);
        let ranges = SideCommits::of_both_sides(&history, ours, self.theirs).map_err(failed)?;
        for (range, is_ours) in ranges.iter().zip([true, false]) {
            if let Some((commit, version)) = range.newest_rules.filter(|it| it.1 > rules_version) {
                return Err(SyncError::NewerRules { commit: short_id(commit), version }.into());
            }
            if let Some((commit, path)) = range.other_file.clone() {
                let commit = short_id(commit);
                return Err(SyncError::OtherFiles { commit, path, is_ours }.into());
            }
        }
        let [ahead, behind] = ranges.each_ref().map(|it| it.count);
        Ok(HistoryComparison { ahead, behind, ours, theirs: self.theirs, ranges })
    }

    /// Plans the fast-forward or the merge of two histories; `None`: nothing is missing here.
    pub fn plan(
        &self,
        histories: &HistoryComparison,
        merge_palace: &MergePalace<'_>,
        rules_version: u32,
    ) -> Result<Option<PlannedMove>, Error> {
        let (ours, Some(theirs)) = (histories.ours, histories.theirs) else { return Ok(None) };
        let history = HistoryReader::new(&self.repository);
        let failed = |err| self.repository.git_error("merge two commits", err);
        match (histories.ahead, histories.behind) {
            (_, 0) => Ok(None),
            (0, _) => {
                PlannedMove::new(&history, ours, NewHead::Existing(theirs), "sync: fast-forward")
                    .map(Some)
                    .map_err(failed)
            }
            _ => {
                let merger = TreeMerger { history: &history, merge_palace };
                let merged = merger.merge_commits([ours, theirs], &histories.ranges);
                let merged = merged.map_err(failed)?;
                let merged = merged.ok_or_else(|| self.no_common_history(ours, theirs))?;
                let merged = merged.without_note_conflict()?;
                let planned =
                    PlannedMove::for_merge(&history, [ours, theirs], &merged, rules_version)
                        .map_err(failed)?;
                let paths: Vec<_> = planned.paths().map(str::to_owned).collect();
                let twin_in = |tree| commit_checks::find_case_twin(&history.git, tree, &paths);
                if let Some(twin) = twin_in(merged.tree).map_err(failed)? {
                    let here = history.root_tree(ours).and_then(twin_in).map_err(failed)?;
                    return Err(twin.into_error(here.is_some()));
                }
                if let Some(found) =
                    find_invalid_merged_file(&history, ours, &planned).map_err(failed)?
                {
                    return Err(found.into_merge_error());
                }
                Ok(Some(planned))
            }
        }
    }

    /// Fails if a plan deletes many files, or most items of a palace, whoever has deleted them.
    pub fn reject_mass_deletion(&self, planned: &PlannedMove) -> Result<(), Error> {
        let (deleted, files_before) = (planned.deleted, planned.files_before);
        let found = find_mass_deletion(deleted, files_before, planned.emptied.as_ref());
        let Some((deleted, all, what)) = found else { return Ok(()) };
        let tip = self.theirs.map(short_id).unwrap_or_default();
        Err(SyncError::ManyDeletions { deleted, all, what, tip }.into())
    }

    /// Applies a plan to the files, the index and `HEAD`. `merge_edit` can merge uncommitted edits.
    /// `None`: another program has committed meanwhile, and nothing was changed.
    pub fn apply(
        &mut self,
        planned: &PlannedMove,
        merge_edit: &MergeEdit<'_>,
    ) -> Result<Option<Vec<CommitWarning>>, Error> {
        reject_merge_in_progress(&self.repository)?;
        let Store { writer, repository, .. } = &mut self.store;
        match head_move::move_head(writer, repository, &planned.head_move, merge_edit)? {
            HeadMoveOutcome::Done(report) => {
                self.store.run_maintenance();
                Ok(Some(report.warnings))
            }
            HeadMoveOutcome::HeadMoved => Ok(None),
            HeadMoveOutcome::UncommittedEdits(paths) => {
                Err(SyncError::UncommittedEdit { paths }.into())
            }
        }
    }

    /// Pushes the newest commit; `false`: the remote has other commits meanwhile.
    pub fn push(&self, histories: &HistoryComparison) -> Result<bool, Error> {
        self.check_outgoing(histories)?;
        let tip = histories.ours;
        let is_pushed = self.transport.push(&self.upstream, tip)?;
        if is_pushed {
            self.point_tracking_ref(tip)?;
        }
        Ok(is_pushed)
    }

    /// Waits a moment before another attempt; fails after the last one.
    pub fn wait_for_next_attempt(&self) -> Result<(), Error> {
        if self.attempts >= MAX_ATTEMPTS || self.started.elapsed() > RETRY_TIMEOUT {
            let upstream = self.upstream.description();
            return Err(SyncError::RemoteKeepsMoving { upstream, attempts: self.attempts }.into());
        }
        // Processes that were rejected together must not try again together.
        let random = std::hash::RandomState::new().build_hasher().finish();
        thread::sleep(Duration::from_millis(random % MAX_PAUSE_MILLIS));
        Ok(())
    }

    /// Changes what is known of the last synchronizations. A full disk must not prevent this one.
    pub fn update_record(&self, change: impl FnOnce(&mut SyncRecord)) {
        drop(self.store.update_sync_record(change));
    }

    /// Returns the newest commit here.
    pub fn newest_commit(&self) -> Result<CommitId, Error> {
        Ok(CommitId(self.head()?.to_string()))
    }

    fn head(&self) -> Result<ObjectId, Error> {
        Ok(self.repository.head()?.ok_or(SyncError::NoCommit)?)
    }

    fn point_tracking_ref(&self, tip: ObjectId) -> Result<(), Error> {
        let guard = WriteGuard::lock(&self.repository, &[], &self.store.writer.lock_timeouts)?;
        refs::point_ref(&self.repository, &guard, &self.upstream.tracking_ref(), tip)
    }

    /// Fails if a fetched commit is not accepted; returns the one with the latest date.
    fn check_incoming_commits(
        &self,
        ours: ObjectId,
        theirs: ObjectId,
    ) -> Result<Option<DatedCommit>, Error> {
        let check = || commit_checks::check_new_commits(&self.transport.open()?, ours, theirs);
        let new =
            check().map_err(|it| self.repository.git_error("read the fetched commits", it))?;
        let history = HistoryReader::new(&self.repository);
        let invalid = new.invalid.into_iter().find(|it| !history.is_ancestor(it.id, ours));
        invalid.map_or(Ok(new.latest), |it| Err(it.into_error(false)))
    }

    fn check_incoming(&self, ours: ObjectId, theirs: ObjectId) -> Result<(), Error> {
        let find = || -> gix::Result<_> {
            let git = self.transport.open()?;
            let tree = |id| -> gix::Result<_> { Ok(git.find_commit(id)?.tree_id()?.detach()) };
            let notes = self.repository.synced_notes();
            commit_checks::find_invalid_file(&git, Some(tree(ours)?), tree(theirs)?, &notes)
        };
        let found =
            find().map_err(|it| self.repository.git_error("read the fetched commits", it))?;
        found.map_or(Ok(()), |it| Err(it.into_error(false)))
    }

    /// Fails if a commit or a file that is to be pushed would be refused by other machines.
    fn check_outgoing(&self, histories: &HistoryComparison) -> Result<(), Error> {
        let history = HistoryReader::new(&self.repository);
        // A machine without any of the commits clones them, and then has them.
        if let Some(theirs) = histories.theirs {
            let new = commit_checks::check_new_commits(&history.git, theirs, histories.ours);
            let new = new.map_err(|it| self.repository.git_error("read the new commits", it))?;
            let mut invalid = new.invalid.into_iter();
            if let Some(found) = invalid.find(|it| !history.is_ancestor(it.id, theirs)) {
                return Err(found.into_error(true));
            }
        }
        let find = || -> gix::Result<_> {
            let old = histories.theirs.map(|it| history.root_tree(it)).transpose()?;
            let (new, notes) = (history.root_tree(histories.ours)?, self.repository.synced_notes());
            commit_checks::find_invalid_file(&history.git, old, new, &notes)
        };
        let found = find().map_err(|it| self.repository.git_error("read the newest commit", it))?;
        found.map_or(Ok(()), |it| Err(it.into_error(true)))
    }

    /// Returns whether this is a shallow clone without a common commit.
    fn is_too_shallow(&self, ours: ObjectId, theirs: ObjectId) -> Result<bool, Error> {
        let open = self.transport.open();
        let git = open.map_err(|it| self.repository.git_error("read the fetched commits", it))?;
        let bases = tree_merge::merge_bases(&git, ours, theirs);
        Ok(git.is_shallow().unwrap_or(true) && !bases.is_ok_and(|it| !it.is_empty()))
    }

    fn no_common_history(&self, ours: ObjectId, theirs: ObjectId) -> Error {
        let (ours, theirs) = (short_id(ours), short_id(theirs));
        match self.repository.git().is_shallow().unwrap_or(true) {
            true => SyncError::TooShallow { ours, theirs }.into(),
            false => SyncError::NoCommonHistory { ours, theirs }.into(),
        }
    }
}

/// Returns a file that a merge would make too large, or give a name that is none.
fn find_invalid_merged_file(
    history: &HistoryReader<'_>,
    ours: ObjectId,
    planned: &PlannedMove,
) -> gix::Result<Option<InvalidFile>> {
    let folders = PalacesInTrees::new(&history.git, &[history.root_tree(ours)?]);
    let mut found = planned.new_texts().map(|it| commit_checks::invalid_merged_file(&folders, it));
    found.find_map(Result::transpose).transpose()
}

fn reject_merge_in_progress(repository: &Repository) -> Result<(), Error> {
    match repository.git_dir.join("MERGE_HEAD").exists() {
        true => Err(SyncError::MergeInProgress.into()),
        false => Ok(()),
    }
}
