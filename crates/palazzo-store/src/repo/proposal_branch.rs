//! The branch of a proposal: its names, the files in `.git/palazzo` that belong to it, and its newest
//! commit.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use gix::ObjectId;
use gix::refs::Target;
use sha1::{Digest as _, Sha1};

use crate::Error;
use crate::repo::git_files;
use crate::repo::proposal_error::ProposalError;
use crate::repo::references::{self, read_reflog};
use crate::repo::regular_file;
use crate::repo::regular_file::read_line;
use crate::repo::repository::Repository;

/// The folder in `.git/palazzo` with a file for each proposal.
pub(crate) const PROPOSAL_MARKER_FOLDER: &str = "proposals";
/// The locks that git holds while it checks out another branch, one after the other.
const CHECKOUT_LOCKS: [&str; 2] = ["index.lock", "HEAD.lock"];
/// How long a checkout is waited for, with which pauses, and the age from which on a lock is left over.
const CHECKOUT_TIMEOUT: Duration = Duration::from_secs(2);
const CHECKOUT_PAUSE: Duration = Duration::from_millis(100);
const MAX_CHECKOUT_LOCK_AGE: Duration = Duration::from_secs(60);
/// How many digits of a hash tell names apart that are alike as names of folders.
const HASH_DIGITS: usize = 8;

/// Returns a branch's name without `refs/heads/`.
pub(crate) fn branch_name(branch_ref: &str) -> &str {
    branch_ref.strip_prefix("refs/heads/").unwrap_or(branch_ref)
}

/// Returns the name of a branch as that of a file or folder: readable, and different for each.
pub(crate) fn folder_name_of_branch(branch_ref: &str) -> String {
    let readable = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let name: String = branch_name(branch_ref).chars().take(40).map(readable).collect();
    format!("proposal-{}-{}", name.trim_matches('-'), short_hash(branch_ref))
}

/// Returns the file that marks the branch as a proposal, as a name in `.git/palazzo`.
pub(crate) fn proposal_marker_name(branch_ref: &str) -> String {
    format!("{PROPOSAL_MARKER_FOLDER}/{}", folder_name_of_branch(branch_ref))
}

/// The branch of a proposal that is read and written.
#[derive(Debug)]
pub(crate) struct ProposalBranch {
    /// The full name: `refs/heads/ideas`.
    pub(crate) full_name: String,
    /// The newest commit when it was last read or moved.
    last: Mutex<Option<ObjectId>>,
}

impl ProposalBranch {
    pub(crate) fn new(full_name: String) -> Self {
        Self { full_name, last: Mutex::new(None) }
    }

    /// Remembers the newest commit, to which this process has moved the branch.
    pub(crate) fn remember_newest_commit(&self, commit: ObjectId) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(commit);
    }

    /// Returns the newest commit; fails if the branch was deleted.
    pub(crate) fn read(&self, repository: &Repository) -> Result<ObjectId, Error> {
        // Another program may have put a link or a FIFO in its place.
        git_files::read_branch(
            &repository.common_dir,
            Path::new(&self.full_name),
            &repository.ref_files,
        )?;
        let target = references::find_reference_target(repository, &self.full_name)?;
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match target {
            Some(Target::Object(id)) => {
                *last = Some(id);
                Ok(id)
            }
            Some(Target::Symbolic(_)) | None => Err(ProposalError::BranchDeleted {
                branch: branch_name(&self.full_name).to_owned(),
                work: repository.work.clone(),
                last: last.map(|it| it.to_hex_with_len(10).to_string()),
            }
            .into()),
        }
    }
}

/// A working directory in which a branch is checked out, or which an operation of git will leave on it.
pub(crate) struct Checkout {
    /// The working directory.
    work: PathBuf,
    /// The commit to which `HEAD` was last moved there.
    pub(crate) commit: Option<ObjectId>,
}

/// Fails if a branch is checked out: a move of the branch would then leave the files of that working
/// directory behind.
pub(crate) fn reject_checked_out_branch(
    repository: &Repository,
    branch_ref: &str,
) -> Result<(), Error> {
    let found = find_checkout(repository, branch_ref)?;
    found.map_or(Ok(()), |it| Err(it.error(branch_ref)))
}

impl Checkout {
    /// Returns the error that the branch is checked out.
    pub(crate) fn error(self, branch_ref: &str) -> Error {
        let branch = branch_name(branch_ref).to_owned();
        ProposalError::CheckedOutElsewhere { branch, place: self.work }.into()
    }
}

/// Returns the working directory in which a branch is checked out. Waits for a checkout that is under
/// way.
pub(crate) fn find_checkout(
    repository: &Repository,
    branch_ref: &str,
) -> Result<Option<Checkout>, Error> {
    let common_dir = &repository.common_dir;
    let is_bare = repository.git().config_snapshot().boolean("core.bare").unwrap_or(false);
    let main = if is_bare { None } else { Some(common_dir.clone()) };
    let linked = regular_file::list_folder(&common_dir.join("worktrees")).into_iter();
    for git_dir in main.into_iter().chain(linked.map(|it| it.path())) {
        wait_for_checkout(&git_dir);
        if has_branch(&git_dir, branch_ref)? {
            let work = work_of_git_dir(repository, &git_dir)?;
            let commit = read_reflog(&git_dir.join("logs/HEAD")).first().copied();
            return Ok(Some(Checkout { work, commit }));
        }
    }
    Ok(None)
}

/// Returns the working directory that belongs to a git directory.
fn work_of_git_dir(repository: &Repository, git_dir: &Path) -> Result<PathBuf, Error> {
    let Repository { common_dir, work, .. } = repository;
    if git_dir != common_dir {
        let place = read_line(&git_dir.join("gitdir"))?.map(PathBuf::from);
        let above = place.and_then(|it| it.parent().map(Path::to_owned));
        return Ok(above.unwrap_or_else(|| git_dir.to_owned()));
    }
    if repository.git_dir == *common_dir {
        return Ok(work.clone());
    }
    let above = if common_dir.ends_with(".git") { common_dir.parent() } else { None };
    Ok(above.unwrap_or(common_dir).to_owned())
}

/// Waits for a moment while git changes the index or `HEAD`: it moves `HEAD` to a branch after it has
/// written the files. A lock that a killed git has left is not waited for.
fn wait_for_checkout(git_dir: &Path) {
    let is_locked = || {
        CHECKOUT_LOCKS.iter().any(|name| {
            let locked = fs::symlink_metadata(git_dir.join(name)).and_then(|it| it.modified());
            locked.is_ok_and(|it| it.elapsed().is_ok_and(|age| age < MAX_CHECKOUT_LOCK_AGE))
        })
    };
    let started = Instant::now();
    while is_locked() && started.elapsed() < CHECKOUT_TIMEOUT {
        // Git takes the second lock a moment after it has released the first.
        std::thread::sleep(CHECKOUT_PAUSE);
    }
}

/// Returns whether a branch is checked out in the working directory of `git_dir`, or is when a rebase or
/// a bisect there ends.
fn has_branch(git_dir: &Path, branch_ref: &str) -> Result<bool, Error> {
    let is = |file: &str, expected: &str| {
        let line = read_line(&git_dir.join(file))?;
        Ok::<_, Error>(line.is_some_and(|it| it.trim() == expected))
    };
    let head = read_line(&git_dir.join("HEAD"))?;
    Ok(head.is_some_and(|it| it.strip_prefix("ref: ").map(str::trim) == Some(branch_ref))
        || is("rebase-merge/head-name", branch_ref)?
        || is("rebase-apply/head-name", branch_ref)?
        || is("BISECT_START", branch_name(branch_ref))?)
}

fn short_hash(text: &str) -> String {
    let digest = ObjectId::Sha1(Sha1::digest(text).into());
    digest.to_hex_with_len(HASH_DIGITS).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_with_similar_names_have_different_folders() {
        let names = ["a/b", "a-b", "A-B", "a.b"].map(|it| {
            let name = folder_name_of_branch(&format!("refs/heads/{it}"));
            assert!(name.starts_with("proposal-a-b-"), "{name}");
            name
        });
        let different: std::collections::BTreeSet<_> = names.iter().collect();
        assert_eq!(different.len(), names.len());
        assert_eq!(branch_name("refs/heads/a/b"), "a/b");
    }
}
