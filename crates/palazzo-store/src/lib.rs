//! Stores palaces: each is a folder of text files inside a git repository.
//!
//! This is the only module that accesses the disk or git. It moves text and never interprets it. A
//! change is atomic: under a lock, the files are compared with the contents that the change
//! expects, and when [`Store::commit`] returns, the new contents are on disk and in git. Reads take
//! no lock and never wait.

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used))]

mod error;
mod head;
mod history;
mod host_memories;
mod identities;
mod proposal;
mod read;
mod remote;
mod repo;
mod sync;
#[cfg(test)]
mod test_repository;
mod trust;
mod user_state;
pub mod watch;
mod write;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use palazzo_core::model::{Changeset, CommitSummary, NoteFolders, SigningMode};

pub use crate::history::file_history_cache::FileHistoryCache;
pub use crate::history::folder_diff::FolderDiff;
pub use crate::history::log::CommitRange;
pub use crate::history::resolve_as_of::{is_far_ahead, parse_start_time};
pub use crate::history::text_search::find_text_in_folder;
pub use crate::host_memories::{
    HostMemoryFile, find_host_memory, find_working_directory, list_host_memories, memory_consent,
    read_host_memory,
};
pub use crate::proposal::branches::{BranchDistance, parse_branch_name};
pub use crate::proposal::old_worktree::OLD_PROPOSALS_FOLDER;
pub use crate::proposal::open::{ServedProposal, open_proposal};
pub use crate::remote::git_process::{GitProcessError, git_version};
pub use crate::remote::shallow_clone::ShallowClone;
pub use crate::repo::consent_store::ConsentStore;
pub use crate::repo::git_lock::{GitLock, LockOwner};
pub use crate::repo::home::{
    HomeEntryKind, is_bare_repository, is_palace, list_home_entries, list_palaces,
};
pub use crate::repo::ignore_rules::IgnoreRules;
pub use crate::repo::note_folders::path_in_repository;
pub use crate::repo::operation::BlockingGitOperation;
pub use crate::repo::palace_files::{
    FileStamp, FileStamps, ReadResult, read_file_bytes, read_text_file,
};
pub use crate::repo::paths::check_path;
pub use crate::repo::processes::max_open_files;
pub use crate::repo::proposal_error::ProposalError;
pub use crate::repo::rename::rename as rename_file;
pub use crate::repo::repository_state::RepositoryState;
pub use crate::repo::unmerged::UnfinishedMerge;
pub use crate::sync::commit_checks::DatedCommit;
pub use crate::sync::error::SyncError;
pub use crate::sync::failure_kind::SyncFailureKind;
pub use crate::sync::mass_deletion::EmptiedPalace;
pub use crate::sync::planned_move::PlannedMove;
pub use crate::sync::record::{SyncFailure, SyncRecord};
pub use crate::sync::session::{FetchReport, HistoryComparison, SyncSession};
pub use crate::sync::side_commits::FileChange;
pub use crate::sync::tree_merge::{
    FileContents, IsWantedChange, MergePalace, MergedPalace, PalaceVersions,
};
pub use crate::sync::upstream::{SyncStatus, Upstream};
pub use crate::trust::needed_repository_consent;
pub use crate::user_state::http_access::{
    ListedServer, add_server, create_page_link, list_servers, read_or_create_token, remove_server,
    use_page_link,
};
pub use crate::user_state::shown_memories::claim_memory_to_show;
pub use crate::user_state::{
    add_client_setup, forget_last_home_if, read_client_setups, read_last_home, remove_client_setup,
    remove_empty_client_setups, write_last_home,
};
pub use crate::write::git_drivers::{DriverFileChange, DriverSection, GitDrivers};
pub use crate::write::head_move::{EditedFile, MergeEdit};
pub use crate::write::outcome::{CommitOutcome, CommitReport, CommitWarning};
pub use crate::write::palazzo_lock::PalazzoLock;
pub use crate::write::progress::{Progress, ProgressListener};
pub use error::Error;

use crate::repo::palace_repository::PalaceRepository;
use crate::repo::proposal_branch::ProposalBranch;
use crate::repo::repository::Repository;
use crate::write::writer::Writer;

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
    repository: PalaceRepository,
    source: Source,
    /// The texts of the files that are open in an editor, which stand for those on disk.
    open_buffers: BTreeMap<String, String>,
    /// Whether nothing may be changed.
    read_only: bool,
    writer: Writer,
    /// The number of commits made through this store.
    commit_count: usize,
    /// Whether the last attempt to read `HEAD` failed.
    is_head_unreadable: AtomicBool,
}

impl Store {
    /// Creates a store for the palace at `palace`. If no repository contains the palace, one is
    /// created at `home` when needed.
    pub fn new(palace: PathBuf, home: PathBuf) -> Self {
        Self::with_repository(PalaceRepository::new(palace, home))
    }

    fn with_repository(repository: PalaceRepository) -> Self {
        Self {
            repository,
            source: Source::Disk,
            open_buffers: BTreeMap::new(),
            read_only: false,
            writer: Writer::default(),
            commit_count: 0,
            is_head_unreadable: AtomicBool::new(false),
        }
    }

    /// Sets the user's consents.
    #[must_use]
    pub fn with_consents(mut self, consents: ConsentStore) -> Self {
        self.repository.consents = consents;
        self
    }

    /// Creates a store for the whole working directory `work`, with the same consents.
    fn store_of_work(&self, work: &Path) -> Self {
        let mut store = Self::new(work.to_owned(), work.to_owned());
        store.repository.consents = self.repository.consents.clone();
        store.repository.isolated = self.repository.isolated;
        store
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

    /// Returns the commit that the store reads from; `None`: the disk, or a branch.
    pub fn as_of_commit(&self) -> Option<&CommitSummary> {
        match &self.source {
            Source::Commit(summary) => Some(summary),
            Source::Disk | Source::Branch(_) => None,
        }
    }

    /// Returns whether nothing may be changed.
    pub fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// Sets what happens when a commit cannot be signed.
    pub fn set_signing_mode(&mut self, mode: SigningMode) {
        self.writer.signing.mode = mode;
    }

    /// Reports the progress of later changes, and of reading many files, to `listener`.
    pub fn set_progress_listener(&mut self, listener: Option<ProgressListener>) {
        self.writer.listener = listener;
    }

    /// Sets the flag that cancels later changes: a change that has not begun when it is set fails.
    pub fn set_cancel_flag(&mut self, cancelled: Arc<AtomicBool>) {
        self.writer.cancelled = cancelled;
    }

    /// Starts to report the progress of `total` steps.
    pub fn start_progress(&self, total: usize) -> Progress {
        self.writer.start_progress(total)
    }

    /// Creates another store for the same palace, for use in another thread.
    #[must_use]
    pub fn clone_for_thread(&self) -> Self {
        Self::with_repository(self.repository.clone_unopened()).with_branch(self.branch())
    }

    /// Creates another store for the same palace at the same commit, for a reader; the open
    /// repository is shared.
    #[must_use]
    pub fn clone_for_reading(&self) -> Self {
        let (source, open_buffers) = (self.source.clone(), self.open_buffers.clone());
        Self { source, open_buffers, ..Self::with_repository(self.repository.clone_opened()) }
    }

    /// Returns the name of the palace's file system if it may not report changes made on other
    /// machines.
    pub fn network_file_system(&self) -> Option<&'static str> {
        repo::network_fs::network_file_system(&self.repository.palace)
    }

    /// Sets the folders of Markdown files that are listed and read like palace files: notes. They are
    /// never changed. Only the repository of the palace has notes.
    pub fn set_note_folders(&self, folders: &NoteFolders) {
        self.repository.set_note_folders(folders);
    }

    /// Returns whether the file at `path` is a note.
    pub fn is_note(&self, path: &str) -> bool {
        self.repository.note_folders().contains(path)
    }

    /// Returns the palace folder.
    pub fn palace_folder(&self) -> &Path {
        &self.repository.palace
    }

    /// Returns the path in the palace of a file with an absolute path; `None` if it is elsewhere.
    /// The path may lead through links.
    pub fn path_below_palace(&self, path: &Path) -> Option<String> {
        let resolved = || {
            let palace = repo::paths::resolve_links(&self.repository.palace).ok()?;
            let path = repo::paths::resolve_links(path).ok()?;
            path.strip_prefix(palace).ok().map(Path::to_owned)
        };
        let inside = path
            .strip_prefix(&self.repository.palace)
            .ok()
            .map(Path::to_owned)
            .or_else(resolved)?;
        let names = inside.components().map(|it| it.as_os_str().to_str());
        Some(names.collect::<Option<Vec<_>>>()?.join("/"))
    }

    /// Returns the palace's folder inside its repository, with a trailing slash, as in git patches:
    /// `palaces/survey/`. Empty if the palace is the repository's root or has no repository.
    pub fn prefix_in_repository(&self) -> Result<String, Error> {
        Ok(self.repository()?.map_or_else(String::new, |it| it.prefix.clone()))
    }

    /// Removes those of the temporary files that no process is writing.
    pub fn remove_stale_temporaries(&self, temporaries: &[PathBuf]) -> Result<(), Error> {
        if let (Some(repository), false) = (self.repository()?, temporaries.is_empty()) {
            write::recovery::remove_stale_temporaries(&repository, temporaries);
        }
        Ok(())
    }

    /// Returns the names of those palace folders that exist.
    pub fn existing_folders(&self) -> impl Iterator<Item = &'static str> {
        repo::palace_files::existing_folders(&self.repository.palace)
    }

    /// Returns the palace folder's inode, which changes when another folder replaces it; `None`:
    /// the folder does not exist.
    pub fn palace_folder_inode(&self) -> Option<u64> {
        FileStamp::from_path(&self.repository.palace).map(|it| it.inode())
    }

    /// Makes a change. When this returns, the change is durable and committed.
    pub fn commit(&mut self, change: &Changeset) -> Result<CommitOutcome, Error> {
        self.sign_and_retry(|store| store.try_commit(change))
    }

    /// Makes a change as [`Store::commit`] does, but signs nothing: the caller may hold a lock, and
    /// tries again after [`Store::sign_missing_commit`]. Before the first attempt it calls
    /// [`Store::begin_write`].
    pub fn try_commit(&mut self, change: &Changeset) -> Result<CommitOutcome, Error> {
        self.repository.reject_symlinked_palace()?;
        let branch = match &self.source {
            Source::Commit(commit) => {
                return Err(Error::ReadOnlyAsOf { short: commit.short.clone() });
            }
            Source::Disk => None,
            Source::Branch(branch) => Some(branch.as_ref()),
        };
        if let Some(edit) = change.edits.iter().find(|it| self.is_note(&it.path)) {
            return Err(Error::ReadInPlace { path: edit.path.clone() });
        }
        self.repository.reject_forbidden()?;
        let outcome = self.writer.apply_change(&self.repository, branch, change);
        // What follows in this call may read what was not fit to be written.
        let outcome = outcome.inspect_err(|_| self.repository.recheck_on_next_use())?;
        self.run_maintenance_if_due(&outcome);
        Ok(outcome)
    }

    /// Commits files as they are on disk, because the author of `change` has written them: the texts
    /// of each edit are both what is on disk. Writes no file.
    pub fn commit_written_files(&mut self, change: &Changeset) -> Result<CommitOutcome, Error> {
        self.repository.reject_symlinked_palace()?;
        self.repository.reject_forbidden()?;
        let outcome =
            self.sign_and_retry(|it| it.writer.commit_written_files(&it.repository, change));
        let outcome = outcome.inspect_err(|_| self.repository.recheck_on_next_use())?;
        self.run_maintenance_if_due(&outcome);
        Ok(outcome)
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
                self.writer.lock_timeouts.palazzo,
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
        repo::cache::read_cache_file(&repository, &repository.prefix, name)
    }

    /// Writes `content` to the cache under `name`, a plain file name, replacing the previous
    /// content. Does nothing without a repository.
    pub fn write_cache(&self, name: &str, content: &[u8]) -> Result<(), Error> {
        let Some(repository) = self.repository()? else { return Ok(()) };
        repo::cache::write_cache_file(&repository, &repository.prefix, name, content)
    }

    /// Begins a write: forgets the signatures of the last one, and starts the time limit for signing
    /// again.
    pub fn begin_write(&mut self) {
        self.writer.signer = None;
    }

    /// Signs the commit for which [`Store::try_commit`] returned
    /// [`CommitOutcome::SignatureMissing`]. The caller holds no lock.
    pub fn sign_missing_commit(&mut self) -> Result<(), Error> {
        self.writer.sign_missing_commit(&self.repository)
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
        if self.repository.isolated {
            return;
        }
        self.commit_count += 1;
        if write::maintenance::is_due(self.commit_count)
            && let Ok(Some(repository)) = self.repository()
        {
            write::objects::remove_old_temporaries(&repository.common_dir);
            drop(write::maintenance::start_maintenance(&repository));
        }
    }

    /// Returns the repository that contains the palace; `None`: there is none, or the user has not
    /// allowed its use, so there is no history.
    fn repository(&self) -> Result<Option<Arc<Repository>>, Error> {
        self.repository.find()
    }

    /// Returns the repository, or an error if there is none.
    fn require_repository(&self) -> Result<Arc<Repository>, Error> {
        self.repository.require()
    }

    /// Begins a call: its first use of the repository checks whether the repository is still the
    /// same, and whether its files can be opened; later uses do not. A store without calls checks
    /// at each use.
    pub fn begin_call(&self) {
        self.repository.begin_call();
    }

    /// Returns true if a repository contains the palace.
    pub fn has_repository(&self) -> Result<bool, Error> {
        Ok(self.repository()?.is_some())
    }

    /// Starts a new history for a palace that lost its repository: creates one if there is none,
    /// and commits the files of `change` as they are, with the author of `change`.
    pub fn start_new_history(&mut self, change: &Changeset) -> Result<CommitOutcome, Error> {
        self.repository.reject_symlinked_palace()?;
        self.repository.create()?;
        self.sign_and_retry(|it| it.writer.commit_without_writing(&it.repository, change))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::test_repository::{TestHome, change_of_one_file, commit_ok};

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
