//! Lists the proposals of a repository.

use std::fs::{DirEntry, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use gix::ObjectId;

use crate::history::log::CommitRange;
use crate::proposal::branches::unambiguous_name;
use crate::proposal::old_worktree::find_old_worktree;
use crate::repo::palazzo_file;
use crate::repo::proposal_branch::{MARKER_FOLDER, branch_name, folder_name_of_branch};
use crate::repo::ref_folder::find_ref;
use crate::repo::regular_file;
use crate::repo::regular_file::read_line;
use crate::repo::repository::Repository;
use crate::{Error, Store};
use palazzo_core::model::{CommitDetails, CommitId, Proposal};

/// The maximum number of proposals, and of commits of each, that are listed.
const MAX_PROPOSALS: usize = 100;
const MAX_COMMITS: usize = 1_000;

/// How many commits that change the palace two branches have, which the other lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BranchDistance {
    /// Those that only the branch has.
    pub ahead: usize,
    /// Those that only the other has.
    pub behind: usize,
}

impl Store {
    /// Lists the proposals with commits that change the palace and that `HEAD` lacks, the one that
    /// changed last first.
    pub fn list_proposals(&self) -> Result<Vec<Proposal>, Error> {
        let Some(repository) = self.repository()? else { return Ok(Vec::new()) };
        let Some(head) = self.history_tip(&repository)? else { return Ok(Vec::new()) };
        let mut proposals = Vec::new();
        for (marker, branch_ref) in list_markers(&repository) {
            let Some(tip) = find_ref(&repository, &branch_ref)? else { continue };
            let commits = self.commits_between(head, tip)?;
            if commits.is_empty() {
                continue;
            }
            let worktree = find_old_worktree(&repository, &branch_ref)?;
            let branch = branch_name(&branch_ref).to_owned();
            let revision = unambiguous_name(&repository, &branch_ref);
            let is_served = is_use_lock_held(&marker);
            proposals.push(Proposal { branch, commits, worktree, revision, is_served });
        }
        let newest = |it: &Proposal| it.commits.first().map(|it| it.summary.at);
        proposals.sort_by(|a, b| newest(b).cmp(&newest(a)).then_with(|| a.branch.cmp(&b.branch)));
        Ok(proposals)
    }

    /// Returns the folders in which earlier versions kept the files of proposals.
    pub fn proposal_worktrees(&self) -> Result<Vec<PathBuf>, Error> {
        let Some(repository) = self.repository()? else { return Ok(Vec::new()) };
        let mut worktrees = Vec::new();
        for (_, branch_ref) in list_markers(&repository) {
            worktrees.extend(find_old_worktree(&repository, &branch_ref)?);
        }
        Ok(worktrees)
    }

    /// Counts the commits that change the palace and that only one of two revisions has; `None`:
    /// there is no such revision.
    pub fn branch_distance(
        &self,
        branch: &str,
        base_revision: &str,
    ) -> Result<Option<BranchDistance>, Error> {
        let Some(repository) = self.repository()? else { return Ok(None) };
        let branch = find_ref(&repository, &format!("refs/heads/{branch}"))?;
        let base = match ObjectId::from_hex(base_revision.as_bytes()) {
            Ok(id) => Some(id),
            Err(_) => find_ref(&repository, base_revision)?,
        };
        let (Some(branch), Some(base)) = (branch, base) else { return Ok(None) };
        let ahead = self.commits_between(base, branch)?.len();
        let behind = self.commits_between(branch, base)?.len();
        Ok(Some(BranchDistance { ahead, behind }))
    }

    /// Lists the commits that change the palace, of `tip` and not of `hidden`.
    fn commits_between(
        &self,
        hidden: ObjectId,
        tip: ObjectId,
    ) -> Result<Vec<CommitDetails>, Error> {
        let id = |it: ObjectId| vec![CommitId(it.to_string())];
        let range = CommitRange { tips: id(tip), hidden: id(hidden) };
        self.newest_of_range(&range, MAX_COMMITS)
    }
}

/// Returns the markers of proposals, each with the reference of its branch.
fn list_markers(repository: &Repository) -> Vec<(PathBuf, String)> {
    let markers = palazzo_file::palazzo_file_path(&repository.common_dir, MARKER_FOLDER);
    let markers = regular_file::list_folder(&markers);
    let mut markers: Vec<_> = markers.iter().map(DirEntry::path).collect();
    markers.retain(|it| it.extension().is_none());
    let with_branch = |marker: PathBuf| {
        // A stranger's repository may have anything there; it is no proposal then.
        let branch_ref = read_line(&marker).ok().flatten()?;
        let is_marker_of = folder_name_of_branch(&branch_ref);
        let is_own = marker.file_name().is_some_and(|it| it == is_marker_of.as_str());
        let is_branch = is_own && gix::refs::FullName::try_from(branch_ref.as_str()).is_ok();
        (is_branch && branch_ref.starts_with("refs/heads/")).then_some((marker, branch_ref))
    };
    markers.into_iter().take(MAX_PROPOSALS).filter_map(with_branch).collect()
}

/// Returns whether a server has the lock that the servers of a proposal share.
fn is_use_lock_held(marker: &Path) -> bool {
    let file = marker.with_extension("lock");
    let opened = palazzo_file::open_regular_file(&file, OpenOptions::new().read(true));
    opened.is_ok_and(|(it, _)| matches!(it.try_lock(), Err(TryLockError::WouldBlock)))
}
