//! Opens the proposal that a server writes to.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gix::ObjectId;

use crate::store::history::commits::HistoryReader;
use crate::store::history::palace_trees::{find_folder, find_palaces};
use crate::store::proposal::branches::{
    base_revision, find_checkout, parse_branch_name, reject_conflicting_branch, update_branch,
};
use crate::store::proposal::checkout::{
    check_out_palace, create_worktree, has_worktree, remove_worktree,
};
use crate::store::proposal::error::ProposalError;
use crate::store::proposal::place::{ProposalPlace, branch_name};
use crate::store::repo::palazzo_file;
use crate::store::repo::paths;
use crate::store::repo::repository::Repository;
use crate::store::write::head_move::find_ref;
use crate::store::write::recovery;
use crate::store::write::write_guard::WriteGuard;
use crate::store::{Error, Store};

/// A proposal that a server writes to. As long as this value exists, no other process replaces the
/// worktree.
#[derive(Debug)]
pub struct ProposalCheckout {
    /// The home in the worktree.
    pub home: PathBuf,
    /// The branch.
    pub branch: String,
    /// The full name of the branch that is checked out in the home, or its commit.
    pub base_revision: String,
    /// The names of the palaces with changes that are not committed, which the proposal lacks.
    pub palaces_with_uncommitted_changes: Vec<String>,
    _use_lock: File,
}

/// The repository of a home, and what is proposed to it.
struct Opening<'a> {
    repository: Arc<Repository>,
    /// A palace of the home.
    palace: &'a Store,
    home: PathBuf,
    head: ObjectId,
    place: ProposalPlace,
    guard: WriteGuard,
    use_lock: File,
    /// Whether no other process serves this proposal.
    is_alone: bool,
}

/// Opens the proposal `branch` for the palaces of `home`: creates the branch at `HEAD` if there is
/// none, and its worktree in `state_folder`. A proposal that was merged is brought up to date.
pub fn open_proposal(
    palaces: &[Store],
    home: &Path,
    state_folder: Option<&Path>,
    branch: &str,
) -> Result<ProposalCheckout, Error> {
    let state_folder = state_folder.ok_or(ProposalError::NoStateFolder)?;
    let branch_ref = parse_branch_name(branch)?;
    let (palace, repository) = require_one_repository(palaces, home)?;
    let no_commit = || ProposalError::NoCommit { work: repository.work.clone() };
    let head = repository.head()?.ok_or_else(no_commit)?;
    let place = ProposalPlace::new(&repository, state_folder, &branch_ref)?;
    // A worktree of the proposal that is elsewhere was made with another state folder.
    if let Some((work, git_dir)) = find_checkout(&repository, &place.common_dir, &branch_ref)?
        && (git_dir != place.git_dir || (work != place.worktree && work.exists()))
    {
        let branch = branch_name(&branch_ref).to_owned();
        return Err(ProposalError::CheckedOutElsewhere { branch, place: work }.into());
    }
    let guard = WriteGuard::lock(&repository, &[], &palace.lock_timeouts)?;
    let (use_lock, is_alone) = open_use_lock(&place)?;
    let home = paths::resolve_links(home)?;
    let opening = Opening { repository, palace, home, head, place, guard, use_lock, is_alone };
    let tip = opening.prepare_branch()?;
    opening.check_out(tip)?;
    opening.write_marker()?;
    opening.finish(palaces)
}

impl Opening<'_> {
    /// Returns the commit of the branch, which is created or brought up to date.
    fn prepare_branch(&self) -> Result<ObjectId, Error> {
        let Self { repository, head, place, .. } = self;
        let branch_ref = &place.branch_ref;
        let Some(tip) = find_ref(repository, branch_ref)? else {
            reject_conflicting_branch(repository, branch_ref)?;
            self.palace_folders(*head, "`HEAD`")?;
            update_branch(repository, &self.guard, branch_ref, (None, *head))?;
            return Ok(*head);
        };
        let is_merged = tip != *head && HistoryReader::new(repository).is_ancestor(tip, *head);
        if !is_merged || !self.is_known_proposal() || !self.is_replaceable()? {
            return Ok(tip);
        }
        self.palace_folders(*head, "`HEAD`")?;
        if has_worktree(place)? {
            remove_worktree(place)?;
        }
        update_branch(repository, &self.guard, branch_ref, (Some(tip), *head))?;
        Ok(*head)
    }

    /// Makes the worktree unless it is there, and checks out the palaces of the home.
    fn check_out(&self, tip: ObjectId) -> Result<(), Error> {
        let Self { repository, place, .. } = self;
        let folders = self.palace_folders(tip, &format!("`{}`", place.branch()))?;
        if !has_worktree(place)? {
            create_worktree(repository, place, tip)?;
        }
        for folder in folders {
            let store = self.store_in_worktree(&folder);
            let found = store.require_repository();
            let git_dir = found.and_then(|it| paths::resolve_links(&it.git_dir));
            let is_worktree = git_dir.is_ok_and(|it| it == place.git_dir);
            if !is_worktree {
                return Err(ProposalError::NotAWorktree { place: place.worktree.clone() }.into());
            }
            check_out_palace(&store, tip, &self.guard)?;
        }
        Ok(())
    }

    /// Lists the palaces of the home in a commit, by folder; fails if there is none.
    fn palace_folders(&self, commit: ObjectId, place: &str) -> Result<Vec<String>, Error> {
        let history = HistoryReader::new(&self.repository);
        let inside = self.home.strip_prefix(&self.repository.work).unwrap_or(Path::new(""));
        let folder = inside.to_string_lossy().replace('\\', "/");
        let list = || -> gix::Result<_> {
            let root = history.root_tree(commit)?;
            let tree = match folder.as_str() {
                "" => Some(root),
                folder => find_folder(&history.git, root, folder)?,
            };
            tree.map_or(Ok(Vec::new()), |it| find_palaces(&history.git, it, &folder))
        };
        let found = list().map_err(|err| self.repository.git_error("look for palaces", err))?;
        match found.is_empty() {
            true => Err(ProposalError::NoCommittedPalace { place: place.to_owned() }.into()),
            false => Ok(found),
        }
    }

    /// Returns whether the branch was proposed before: other branches are never moved.
    fn is_known_proposal(&self) -> bool {
        self.place.palazzo_file(&self.place.marker).is_file()
    }

    /// Returns whether nobody uses the worktree, and nothing in it is uncommitted.
    fn is_replaceable(&self) -> Result<bool, Error> {
        if !has_worktree(&self.place)? {
            return Ok(true);
        }
        let worktree = Store::new(self.place.worktree.clone(), self.place.worktree.clone());
        let repository = worktree.require_repository()?;
        if !self.is_alone || recovery::is_recovery_needed(&repository) {
            return Ok(false);
        }
        let Some(head) = worktree.head()? else { return Ok(false) };
        let tip = ObjectId::from_hex(head.0.as_bytes());
        let tip = tip.map_err(|err| repository.git_error("read `HEAD`", err))?;
        for folder in self.palace_folders(tip, "the proposal")? {
            if !self.store_in_worktree(&folder).diff_since(Some(&head))?.is_empty() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn store_in_worktree(&self, folder: &str) -> Store {
        let worktree = self.place.worktree.clone();
        let store = Store::new(worktree.join(folder), worktree);
        store.with_consents(self.palace.consents.clone())
    }

    /// Marks the branch as a proposal.
    fn write_marker(&self) -> Result<(), Error> {
        let file = self.place.palazzo_file(&self.place.marker);
        let mut options = OpenOptions::new();
        let options = options.write(true).create(true).truncate(true);
        let written = palazzo_file::open_regular_file(&file, options)
            .and_then(|mut it| writeln!(it, "{}", self.place.branch_ref));
        written.map_err(Error::for_file("write", &file))
    }

    fn finish(self, palaces: &[Store]) -> Result<ProposalCheckout, Error> {
        let Self { repository, home, head, place, use_lock, guard, .. } = self;
        // Others wait for the write lock before they look at this one.
        let locked = use_lock.unlock().and_then(|()| use_lock.lock_shared());
        locked.map_err(Error::for_file("lock", &place.worktree))?;
        drop(guard);
        let uncommitted = palaces.iter().filter(|it| has_uncommitted_changes(it));
        let names = uncommitted.filter_map(|it| it.palace_folder().file_name());
        Ok(ProposalCheckout {
            home: place.folder_in_worktree(&repository, &home),
            branch: place.branch().to_owned(),
            base_revision: base_revision(&repository, head),
            palaces_with_uncommitted_changes: names
                .map(|it| it.to_string_lossy().into_owned())
                .collect(),
            _use_lock: use_lock,
        })
    }
}

/// Opens the lock that the servers of a proposal share; returns whether no other one has it.
fn open_use_lock(place: &ProposalPlace) -> Result<(File, bool), Error> {
    let path = place.palazzo_file(&place.use_lock);
    let open = || {
        palazzo_file::create_parent_folders(&place.common_dir, &place.use_lock)?;
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        palazzo_file::open_regular_file(&path, options)
    };
    let file = open().map_err(Error::for_file("open", &path))?;
    match file.try_lock() {
        Ok(()) => Ok((file, true)),
        Err(TryLockError::WouldBlock) => Ok((file, false)),
        Err(TryLockError::Error(err)) => Err(Error::for_file("lock", &path)(err)),
    }
}

/// Returns the repository that has all palaces of the home, and one of the palaces.
fn require_one_repository<'s>(
    palaces: &'s [Store],
    home: &Path,
) -> Result<(&'s Store, Arc<Repository>), Error> {
    let mut found: Option<(&Store, Arc<Repository>)> = None;
    for palace in palaces {
        let folder = palace.palace_folder().to_owned();
        let repository = palace.open_allowed_repository()?;
        let repository = repository.ok_or(ProposalError::NoRepository { palace: folder })?;
        match &found {
            None => found = Some((palace, repository)),
            Some((_, known)) if known.work != repository.work => {
                let works = [known.work.clone(), repository.work.clone()];
                return Err(ProposalError::SeveralRepositories { works }.into());
            }
            Some(_) => {}
        }
    }
    Ok(found.ok_or_else(|| ProposalError::NoPalace { home: home.to_owned() })?)
}

/// Returns whether a palace has changes that `HEAD` lacks.
fn has_uncommitted_changes(palace: &Store) -> bool {
    let head = palace.head().ok().flatten();
    palace.diff_since(head.as_ref()).is_ok_and(|it| !it.is_empty())
}
