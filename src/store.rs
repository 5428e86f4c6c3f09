//! Stores palaces: each is a folder of text files inside a git repository.
//!
//! This is the only module that accesses the disk or git. It moves text and never interprets it. A
//! change is atomic: under a lock, the files are compared with the contents that the change
//! expects, and when [`Store::commit`] returns, the new contents are on disk and in git. Reads take
//! no lock and never wait.

mod error;
mod head;
mod history;
mod identities;
mod proposal;
mod remote;
mod repo;
mod sync;
#[cfg(test)]
mod test_repository;
mod trust;
mod user_state;
mod write;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use gix::odb::memory::Storage;
use rayon::prelude::*;

use crate::model::{Changeset, CommitId, CommitSummary, Diagnostic, Files, SigningMode};

pub use crate::store::history::commits::MERGE_RULES_TRAILER;
pub use crate::store::history::file_history_cache::FileHistoryCache;
pub use crate::store::history::log::CommitRange;
pub use crate::store::history::resolve_as_of::{is_far_ahead, parse_start_time};
pub use crate::store::history::text_search::find_text_in_folder;
pub(crate) use crate::store::proposal::branches::parse_branch_name;
pub use crate::store::proposal::list::BranchDistance;
pub use crate::store::proposal::old_worktree::PROPOSALS_FOLDER;
pub use crate::store::proposal::open::{ServedProposal, open_proposal};
pub use crate::store::remote::git_process::{GitProcessError, git_version};
pub use crate::store::remote::shallow_clone::ShallowClone;
pub use crate::store::repo::consents::ConsentStore;
pub use crate::store::repo::git_lock::{GitLock, LockOwner};
pub use crate::store::repo::home::{
    HomeEntryKind, is_bare_repository, is_palace, list_home_entries, list_palaces,
};
pub use crate::store::repo::ignore_rules::IgnoreRules;
pub use crate::store::repo::operation::BlockingGitOperation;
pub use crate::store::repo::palace_files::{
    FileStamp, FileStamps, ReadResult, read_file_bytes, read_text_file,
};
pub(crate) use crate::store::repo::paths::check_path;
pub use crate::store::repo::proposal_error::ProposalError;
pub use crate::store::repo::rename::rename as rename_file;
pub use crate::store::repo::state::{RepositoryState, max_open_files, max_watched_folders};
pub use crate::store::repo::unmerged::UnfinishedMerge;
pub use crate::store::sync::commit_range::{FileChange, LastChange};
pub use crate::store::sync::error::SyncError;
pub use crate::store::sync::incoming_commits::DatedCommit;
pub use crate::store::sync::planned_move::{EmptiedPalace, PlannedMove};
pub use crate::store::sync::record::{SyncFailure, SyncFailureKind, SyncRecord};
pub use crate::store::sync::session::{
    ApplyOutcome, FetchReport, HistoryComparison, HistoryRelation, SyncSession,
};
pub use crate::store::sync::status::SyncStatus;
pub use crate::store::sync::tree_merge::{
    FileContents, IsWantedChange, MergePalace, MergedPalace, PalaceVersions,
};
pub use crate::store::sync::upstream::Upstream;
pub use crate::store::trust::needed_repository_consent;
pub use crate::store::user_state::client_setups::{
    add_client_setup, read_client_setups, remove_client_setup, remove_empty_client_setups,
};
pub use crate::store::user_state::http_access::{
    ListedServer, create_page_link, list_server, listed_servers, read_or_create_token,
    remove_server, use_page_link,
};
pub use crate::store::user_state::last_home::{
    forget_last_home_if, read_last_home, write_last_home,
};
pub use crate::store::write::git_drivers::{DriverFileChange, DriverSection, GitDrivers};
pub use crate::store::write::head_move::{EditedFile, MergeEdit};
pub use crate::store::write::palazzo_lock::PalazzoLock;
use crate::store::write::progress::Progress;
pub use crate::store::write::progress::ProgressListener;
pub use crate::store::write::warning::CommitWarning;
pub use error::Error;

use crate::store::repo::git_files::LooseHead;
use crate::store::repo::palace_files::PalaceListing;
use crate::store::repo::proposal_branch::ProposalBranch;
use crate::store::repo::repository::Repository;
use crate::store::write::index::CachedIndex;
use crate::store::write::palazzo_lock::LockTimeouts;
use crate::store::write::prune_guard::PruneGuard;
use crate::store::write::signing::{Signer, SigningState};

/// The open repository is checked before each use.
const CHECK_ALWAYS: u8 = 0;
/// It is checked before the next use, and then trusted until the next call begins.
const CHECK_ONCE: u8 = 1;
/// It was checked in this call, and so were the folders of the palace.
const CHECKED: u8 = 2;

/// A palace's repository, and what `HEAD` says if that has just been read.
type RepositoryLook = (Option<Arc<Repository>>, Option<LooseHead>);

/// Where a store reads from, and where its changes go.
#[derive(Clone, Debug)]
enum Source {
    /// The files on disk, which are committed on top of `HEAD`.
    Disk,
    /// A commit; nothing can be changed.
    Commit(CommitSummary),
    /// The branch of a proposal. It has no files on disk.
    Branch(Arc<ProposalBranch>),
}

/// The files and the history of one palace.
#[derive(Debug)]
pub struct Store {
    palace: PathBuf,
    home: PathBuf,
    repository: Mutex<Option<Arc<Repository>>>,
    /// How often the open repository is checked.
    repository_checks: AtomicU8,
    cached_index: Option<CachedIndex>,
    lock_timeouts: LockTimeouts,
    isolated: bool,
    signing: SigningState,
    /// The signatures of the write that has begun.
    signer: Option<Signer>,
    /// The user's consents.
    consents: ConsentStore,
    /// Whether nothing may be changed.
    read_only: bool,
    /// The number of commits made through this store.
    commit_count: usize,
    /// The texts of the files that are open in an editor, which stand for those on disk.
    open_buffers: BTreeMap<String, String>,
    source: Source,
    listener: Option<ProgressListener>,
    /// Whether the caller no longer wants the change that it asked for.
    cancelled: Arc<AtomicBool>,
    prune_guard: PruneGuard,
    /// The trees and the commits that the last change wrote.
    last_trees: Storage,
    /// The last commit whose objects were all found.
    checked_head: Option<gix::ObjectId>,
    /// Whether the palace folder existed when it was last listed.
    palace_existed: AtomicBool,
    /// Whether the palace ever had a repository while this store was open.
    had_repository: AtomicBool,
    /// Whether the last attempt to read `HEAD` failed.
    is_head_unreadable: AtomicBool,
}

/// The outcome of [`Store::commit`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommitOutcome {
    /// The change was made.
    Done(CommitReport),
    /// These files no longer hold the expected contents; nothing was written.
    Stale(Vec<String>),
    /// A commit has to be signed first, see [`Store::sign_missing_commit`]; nothing was written.
    SignatureMissing,
}

/// The result of a change that was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommitReport {
    /// The commit; `None`: there was nothing to commit.
    pub commit: Option<CommitId>,
    /// The commit that `HEAD` pointed to before the change; `None`: none, or nothing was committed.
    pub previous: Option<CommitId>,
    /// Problems that occurred after the change was made.
    pub warnings: Vec<CommitWarning>,
}

impl Store {
    /// Creates a store for the palace at `palace`. If no repository contains the palace, one is
    /// created at `home` when needed.
    pub fn new(palace: PathBuf, home: PathBuf) -> Self {
        let repository = Mutex::new(None);
        let lock_timeouts = LockTimeouts::default();
        Self {
            palace,
            home,
            repository,
            repository_checks: AtomicU8::new(CHECK_ALWAYS),
            cached_index: None,
            lock_timeouts,
            isolated: false,
            signing: SigningState::default(),
            signer: None,
            consents: ConsentStore::default(),
            read_only: false,
            commit_count: 0,
            open_buffers: BTreeMap::new(),
            source: Source::Disk,
            listener: None,
            cancelled: Arc::default(),
            prune_guard: PruneGuard::default(),
            last_trees: Storage::default(),
            checked_head: None,
            palace_existed: AtomicBool::new(false),
            had_repository: AtomicBool::new(false),
            is_head_unreadable: AtomicBool::new(false),
        }
    }

    /// Sets the user's consents.
    #[must_use]
    pub fn with_consents(self, consents: ConsentStore) -> Self {
        Self { consents, ..self }
    }

    /// Sets whether nothing may be changed.
    #[must_use]
    pub fn with_read_only(self, read_only: bool) -> Self {
        Self { read_only, ..self }
    }

    /// Reads from and writes to a branch, if one is given, instead of the files on disk.
    #[must_use]
    pub(crate) fn with_branch(self, branch: Option<Arc<ProposalBranch>>) -> Self {
        Self { source: branch.map_or(Source::Disk, Source::Branch), ..self }
    }

    /// Returns whether the palace is read from the files on disk.
    pub fn reads_disk(&self) -> bool {
        matches!(self.source, Source::Disk)
    }

    /// Returns the branch of the proposal that is read and written; `None`: none is.
    pub(crate) fn branch(&self) -> Option<Arc<ProposalBranch>> {
        match &self.source {
            Source::Branch(branch) => Some(branch.clone()),
            Source::Disk | Source::Commit(_) => None,
        }
    }

    /// Returns whether nothing may be changed.
    pub fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// Sets what happens when a commit cannot be signed.
    pub fn set_signing_mode(&mut self, mode: SigningMode) {
        self.signing.mode = mode;
    }

    /// Reports the progress of later changes, and of reading many files, to `listener`.
    pub fn set_progress_listener(&mut self, listener: Option<ProgressListener>) {
        self.listener = listener;
    }

    /// Sets the flag that cancels later changes: a change that has not begun when it is set fails.
    pub fn set_cancel_flag(&mut self, cancelled: Arc<AtomicBool>) {
        self.cancelled = cancelled;
    }

    /// Starts to report the progress of `total` steps.
    pub(crate) fn start_progress(&self, total: usize) -> Progress {
        Progress::start(self.listener.as_ref(), total)
    }

    /// Creates another store for the same palace, for use in another thread.
    #[must_use]
    pub fn clone_for_thread(&self) -> Self {
        let store = Self::new(self.palace.clone(), self.home.clone());
        let (isolated, consents) = (self.isolated, self.consents.clone());
        Self { isolated, consents, ..store }.with_branch(self.branch())
    }

    /// Creates another store for the same palace at the same commit, for a reader; the open
    /// repository is shared.
    #[must_use]
    pub fn clone_for_reading(&self) -> Self {
        let open = self.repository.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let store = self.clone_for_thread();
        Self {
            repository: Mutex::new(open),
            open_buffers: self.open_buffers.clone(),
            source: self.source.clone(),
            ..store
        }
    }

    /// Returns the name of the palace's file system if it may not report changes made on other
    /// machines.
    pub fn network_file_system(&self) -> Option<&'static str> {
        repo::network_fs::network_file_system(&self.palace)
    }

    /// Returns the palace folder.
    pub fn palace_folder(&self) -> &Path {
        &self.palace
    }

    /// Returns the path in the palace of a file with an absolute path; `None` if it is elsewhere.
    /// The path may lead through links.
    pub fn path_below_palace(&self, path: &Path) -> Option<String> {
        let resolved = || {
            let palace = repo::paths::resolve_links(&self.palace).ok()?;
            let path = repo::paths::resolve_links(path).ok()?;
            path.strip_prefix(palace).ok().map(Path::to_owned)
        };
        let inside = path.strip_prefix(&self.palace).ok().map(Path::to_owned).or_else(resolved)?;
        let names = inside.components().map(|it| it.as_os_str().to_str());
        Some(names.collect::<Option<Vec<_>>>()?.join("/"))
    }

    /// Returns the palace's folder inside its repository, with a trailing slash, as in git patches:
    /// `palaces/survey/`. Empty if the palace is the repository's root or has no repository.
    pub fn prefix_in_repository(&self) -> Result<String, Error> {
        Ok(self.repository()?.map_or_else(String::new, |it| it.prefix.clone()))
    }

    /// Reads all files of a store that reads from a commit or a branch; unreadable files are left
    /// out and reported as findings. `None`: the store reads from the disk.
    pub fn read_all_committed_files(&self) -> Result<Option<(Files, Vec<Diagnostic>)>, Error> {
        self.reject_symlinked_palace()?;
        match self.reads_disk() {
            true => Ok(None),
            false => self.retry_during_gc(|| {
                self.head()?.map(|commit| self.read_all_files_at(&commit)).transpose()
            }),
        }
    }

    /// Lists all files as [`Store::list_files`] does, and also the temporary files that a power
    /// failure may have left.
    pub fn list_files_with_temporaries(
        &self,
    ) -> Result<(FileStamps, Vec<Diagnostic>, Vec<PathBuf>), Error> {
        self.reject_symlinked_palace()?;
        self.palace_existed.fetch_or(self.palace.is_dir(), Ordering::Relaxed);
        let PalaceListing { stamps, findings, temporaries } =
            repo::palace_files::list_files(&self.palace, "")?;
        Ok((stamps, findings, temporaries))
    }

    /// Removes those of the temporary files that no process is writing.
    pub fn remove_stale_temporaries(&self, temporaries: &[PathBuf]) -> Result<(), Error> {
        if let (Some(repository), false) = (self.repository()?, temporaries.is_empty()) {
            write::recovery::remove_stale_temporaries(&repository, temporaries);
        }
        Ok(())
    }

    /// Lists the files at or below `path`, all files if it is empty, and reports entries that
    /// cannot be used. A store that reads from a commit lists none, because its files cannot
    /// change.
    pub fn list_files(&self, path: &str) -> Result<(FileStamps, Vec<Diagnostic>), Error> {
        match &self.source {
            Source::Disk => {
                self.reject_symlinked_palace()?;
                let PalaceListing { stamps, findings, .. } =
                    repo::palace_files::list_files(&self.palace, path)?;
                Ok((stamps, findings))
            }
            Source::Commit(_) => Ok((FileStamps::new(), Vec::new())),
            Source::Branch(_) => self.list_files_at_head(path),
        }
    }

    /// Reads files in parallel, because a cold disk answers parallel reads faster than sequential
    /// ones.
    pub fn read_files(&self, paths: Vec<String>) -> Vec<(String, ReadResult)> {
        let read = |path: String| {
            let read = self.read_file(&path);
            (path, read)
        };
        paths.into_par_iter().map(read).collect()
    }

    /// Returns the names of those palace folders that exist.
    pub fn existing_folders(&self) -> impl Iterator<Item = &'static str> {
        repo::palace_files::existing_folders(&self.palace)
    }

    /// Returns the palace folder's inode, which changes when another folder replaces it; `None`:
    /// the folder does not exist.
    pub fn palace_folder_inode(&self) -> Option<u64> {
        FileStamp::from_path(&self.palace).map(|it| it.inode())
    }

    /// Sets the text that is read for a file which is open in an editor; `None`: the one on disk.
    /// Changes nothing on disk.
    pub fn set_open_buffer(&mut self, path: &str, text: Option<String>) {
        match text {
            Some(text) => drop(self.open_buffers.insert(path.to_owned(), text)),
            None => drop(self.open_buffers.remove(path)),
        }
    }

    /// Reads one file; `None`: it does not exist.
    pub fn read_file(&self, path: &str) -> ReadResult {
        if let Some(text) = self.open_buffers.get(path) {
            return Ok(Some(text.clone()));
        }
        self.reject_symlinked_palace().map_err(|err| err.to_diagnostic(path))?;
        match self.reads_disk() {
            true => repo::palace_files::read_file(&self.palace, path),
            false => self.read_committed_file(path).map_err(|err| err.to_diagnostic(path))?,
        }
    }

    /// Returns a file's stamp, which changes when the file does; `None`: the file does not exist,
    /// it is open in an editor, or the store does not read from the disk.
    pub fn file_stamp(&self, path: &str) -> Option<FileStamp> {
        if !self.reads_disk() || self.open_buffers.contains_key(path) {
            return None;
        }
        self.reject_symlinked_palace().and_then(|()| repo::paths::check_path(path)).ok()?;
        FileStamp::from_path(&self.palace.join(path))
    }

    /// Makes a change. When this returns, the change is durable and committed.
    pub fn commit(&mut self, change: &Changeset) -> Result<CommitOutcome, Error> {
        self.sign_and_retry(|store| store.try_commit(change))
    }

    /// Makes a change as [`Store::commit`] does, but signs nothing: the caller may hold a lock, and
    /// tries again after [`Store::sign_missing_commit`]. Before the first attempt it calls
    /// [`Store::begin_write`].
    pub fn try_commit(&mut self, change: &Changeset) -> Result<CommitOutcome, Error> {
        self.reject_symlinked_palace()?;
        match &self.source {
            Source::Commit(commit) => Err(Error::ReadOnlyAsOf { short: commit.short.clone() }),
            Source::Disk | Source::Branch(_) => {
                self.reject_forbidden_repository()?;
                let outcome = write::apply::apply_change(self, change);
                // What follows in this call may read what was not fit to be written.
                let outcome = outcome.inspect_err(|_| self.recheck_repository())?;
                self.run_maintenance_if_due(&outcome);
                Ok(outcome)
            }
        }
    }

    /// Waits for the lock for filing drawers and takes it, so that no other process can file the
    /// same drawer between the check whether it exists and the write. Without a repository there is
    /// no lock.
    pub fn acquire_drawer_filing_lock(&self) -> Result<Option<PalazzoLock>, Error> {
        let repository = self.repository()?;
        let acquire = |it: Arc<Repository>| {
            write::palazzo_lock::acquire_palazzo_lock(
                &it,
                write::palazzo_lock::FILING_LOCK,
                self.lock_timeouts.palazzo,
            )
        };
        repository.map(acquire).transpose()
    }

    /// Writes the blobs of a change that is planned, so that the change itself, which excludes other
    /// writers, takes less time. Does nothing without a repository.
    pub fn write_blobs_before_change<'t>(
        &self,
        texts: impl Iterator<Item = &'t str>,
    ) -> Result<(), Error> {
        let Some(repository) = self.repository()? else { return Ok(()) };
        write::objects::write_durable_blobs(&repository, texts)
    }

    /// Returns the cached content under `name`, which is in no commit; `None`: it was never
    /// written, or was lost, which is allowed.
    pub fn read_cache(&self, name: &str) -> Option<Vec<u8>> {
        let repository = self.repository().ok().flatten()?;
        repo::cache::read_cache_file(&repository, name)
    }

    /// Writes `content` to the cache under `name`, a plain file name, replacing the previous
    /// content. Does nothing without a repository.
    pub fn write_cache(&self, name: &str, content: &[u8]) -> Result<(), Error> {
        let Some(repository) = self.repository()? else { return Ok(()) };
        repo::cache::write_cache_file(&repository, name, content)
    }

    /// Begins a write: forgets the signatures of the last one, and starts the time limit for signing
    /// again.
    pub fn begin_write(&mut self) {
        self.signer = None;
    }

    /// Signs the commit for which [`Store::try_commit`] returned
    /// [`CommitOutcome::SignatureMissing`]. The caller holds no lock.
    pub fn sign_missing_commit(&mut self) -> Result<(), Error> {
        let repository = self.require_repository()?;
        let Some(mut signer) = self.signer.take() else { return Ok(()) };
        let signed = signer.sign_waiting_commit(&repository, &mut self.signing);
        self.signer = Some(signer);
        signed
    }

    /// Takes the signer of the write that has begun. The caller puts it back if the write is tried
    /// again.
    fn take_signer(&mut self) -> Signer {
        self.signing.signer(self.signer.take())
    }

    /// Makes a write, and signs each commit for which it has to be tried again.
    fn sign_and_retry(
        &mut self,
        mut write: impl FnMut(&mut Self) -> Result<CommitOutcome, Error>,
    ) -> Result<CommitOutcome, Error> {
        self.begin_write();
        loop {
            match write(self)? {
                CommitOutcome::SignatureMissing => self.sign_missing_commit()?,
                outcome => return Ok(outcome),
            }
        }
    }

    /// Starts git's maintenance after some commits.
    fn run_maintenance_if_due(&mut self, outcome: &CommitOutcome) {
        if matches!(outcome, CommitOutcome::Done(CommitReport { commit: Some(_), .. })) {
            self.run_maintenance();
        }
    }

    /// Starts git's maintenance if it is due after one more commit.
    fn run_maintenance(&mut self) {
        if self.isolated {
            return;
        }
        self.commit_count += 1;
        if remote::maintenance::is_due(self.commit_count)
            && let Ok(Some(repository)) = self.repository()
        {
            write::objects::remove_old_temporaries(&repository.common_dir);
            drop(remote::maintenance::start_maintenance(&repository));
        }
    }

    /// Fails if the caller cancelled the change.
    fn reject_if_cancelled(&self) -> Result<(), Error> {
        match self.cancelled.load(Ordering::Relaxed) {
            true => Err(Error::Cancelled),
            false => Ok(()),
        }
    }

    /// Fails if the palace, or a folder between it and the home, has become a symbolic link. The
    /// home itself may be one. Looks once in a call.
    fn reject_symlinked_palace(&self) -> Result<(), Error> {
        match self.repository_checks.load(Ordering::Relaxed) {
            CHECKED => Ok(()),
            _ => self.look_for_symlinked_palace(),
        }
    }

    fn look_for_symlinked_palace(&self) -> Result<(), Error> {
        let Ok(inside) = self.palace.strip_prefix(&self.home) else { return Ok(()) };
        let mut place = self.home.clone();
        for name in inside {
            place.push(name);
            if place.is_symlink() {
                return Err(Error::SymbolicLink { place });
            }
        }
        Ok(())
    }

    /// Returns the repository that contains the palace; `None`: there is none, or the user has not
    /// allowed its use, so there is no history.
    fn repository(&self) -> Result<Option<Arc<Repository>>, Error> {
        match self.open_allowed_repository() {
            Err(Error::RepositoryElsewhere { .. }) => Ok(None),
            found => found,
        }
    }

    /// Begins a call: its first use of the repository checks whether the repository is still the
    /// same, and whether its files can be opened; later uses do not. A store without calls checks
    /// at each use.
    pub fn begin_call(&self) {
        self.repository_checks.store(CHECK_ONCE, Ordering::Relaxed);
    }

    /// Lets the next use of the repository in this call check it again.
    fn recheck_repository(&self) {
        if self.repository_checks.load(Ordering::Relaxed) == CHECKED {
            self.begin_call();
        }
    }

    /// Returns the repository that contains the palace; opens it only if the open one is out of
    /// date.
    fn open_allowed_repository(&self) -> Result<Option<Arc<Repository>>, Error> {
        self.open_repository_and_look().map(|(repository, _)| repository)
    }

    /// Returns the repository as [`Store::open_allowed_repository`] does, and what `HEAD` says if
    /// this was the first look at the repository in this call.
    fn open_repository_and_look(&self) -> Result<RepositoryLook, Error> {
        let mut open = self.repository.lock().unwrap_or_else(PoisonError::into_inner);
        if open.is_some() && self.repository_checks.load(Ordering::Relaxed) == CHECKED {
            return Ok((open.clone(), None));
        }
        self.reject_symlinked_palace()?;
        let head = open.as_ref().map(|it| it.begin_call()).transpose()?.flatten();
        if head.is_none() {
            let found =
                repo::discover::find_repository(&self.palace, &self.consents, self.isolated)?;
            *open = found.map(Arc::new);
        }
        self.had_repository.fetch_or(open.is_some(), Ordering::Relaxed);
        if self.repository_checks.load(Ordering::Relaxed) == CHECK_ONCE {
            self.repository_checks.store(CHECKED, Ordering::Relaxed);
        }
        Ok((open.clone(), head))
    }

    /// Fails if the palace has become a symbolic link, or was moved or removed since it was last
    /// listed, because a write would create another palace at the old path.
    fn reject_moved_palace(&self) -> Result<(), Error> {
        self.look_for_symlinked_palace()?;
        if self.palace_existed.load(Ordering::Relaxed) && !self.palace.is_dir() {
            return Err(Error::PalaceMoved { palace: self.palace.clone() });
        }
        Ok(())
    }

    /// Returns true if a repository contains the palace.
    pub fn has_repository(&self) -> Result<bool, Error> {
        Ok(self.repository()?.is_some())
    }

    /// Starts a new history for a palace that lost its repository: creates one if there is none,
    /// and commits the files of `change` as they are, with the author of `change`.
    pub fn start_new_history(&mut self, change: &Changeset) -> Result<CommitOutcome, Error> {
        self.reject_symlinked_palace()?;
        repo::discover::create_repository(&self.palace, &self.home, &self.consents, self.isolated)?;
        self.sign_and_retry(|store| write::apply::commit_unchanged_files(store, change))
    }

    /// Returns the repository that contains the palace; creates one if there is none.
    fn open_or_create_repository(&self) -> Result<Arc<Repository>, Error> {
        let had_repository = self.had_repository.load(Ordering::Relaxed);
        if let Some(found) = self.open_allowed_repository()? {
            return Ok(found);
        }
        self.reject_moved_palace()?;
        if had_repository || repo::home::has_lost_history(&self.palace, &self.home)? {
            return Err(self.history_lost_error());
        }
        repo::discover::create_repository(&self.palace, &self.home, &self.consents, self.isolated)?;
        self.open_allowed_repository()?
            .ok_or_else(|| Error::NoRepository { palace: self.palace.clone() })
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::store::test_repository::{TestHome, change_of_one_file, commit_ok};

    const HALL: &str = "rooms/hall.yaml";

    #[test]
    fn a_symbolic_link_in_place_of_a_palace_is_not_followed() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("sub/keep");
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
        let elsewhere = scene.home.with_file_name("elsewhere");
        for moved in ["sub/keep", "sub"] {
            let place = scene.home.join(moved);
            std::fs::rename(&place, &elsewhere).unwrap();
            std::os::unix::fs::symlink(&elsewhere, &place).unwrap();
            let refused = format!(
                "`{}` is a symbolic link; Palazzo follows none below the home",
                place.display()
            );
            for commit in [true, false] {
                let change =
                    Changeset { commit, ..change_of_one_file(HALL, Some("1\n"), Some("2\n")) };
                assert_eq!(store.commit(&change).unwrap_err().to_string(), refused);
            }
            assert_eq!(store.list_files("").unwrap_err().to_string(), refused);
            assert_eq!(store.read_file(HALL).unwrap_err().message, refused);
            assert_eq!(store.file_stamp(HALL), None);
            assert!(store.update_file_history_cache(&mut FileHistoryCache::default()).is_err());
            std::fs::remove_file(&place).unwrap();
            std::fs::rename(&elsewhere, &place).unwrap();
        }
        commit_ok(&mut store, &change_of_one_file(HALL, Some("1\n"), Some("2\n")));
    }
}
