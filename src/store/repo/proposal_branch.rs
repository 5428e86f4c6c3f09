//! Checks that the worktree of a proposal is on its branch.
//!
//! A person can check out another branch there, or delete the branch. A write would then change
//! another branch than the one that the server has announced, or begin a history of its own.

use std::path::Path;

use gix::ObjectId;

use crate::store::Error;
use crate::store::repo::operation::BlockingGitOperation;
use crate::store::repo::palazzo_file;
use crate::store::repo::proposal_error::ProposalError;
use crate::store::repo::proposal_place::{MARKER_FOLDER, branch_name, folder_name_of_branch};
use crate::store::repo::reflog::read_reflog;
use crate::store::repo::regular_file::read_line;
use crate::store::repo::repository::Repository;

/// Returns the branch of the proposal whose worktree a repository is; `None`: it is none.
pub(crate) fn find_proposal_branch(repository: &Repository) -> Result<Option<String>, Error> {
    let name = repository.git_dir.file_name().and_then(|it| it.to_str());
    let Some(name) = name.filter(|_| repository.git_dir != repository.common_dir) else {
        return Ok(None);
    };
    let marker = format!("{MARKER_FOLDER}/{name}");
    let marker = palazzo_file::palazzo_file_path(&repository.common_dir, &marker);
    Ok(read_line(&marker)?.filter(|it| folder_name_of_branch(it) == name))
}

/// Fails if a write to this repository would not change the branch of its proposal. A repository
/// without a proposal is accepted.
pub(crate) fn reject_write_beside_proposal(repository: &Repository) -> Result<(), Error> {
    let Some(branch_ref) = find_proposal_branch(repository)? else { return Ok(()) };
    if BlockingGitOperation::in_progress(&repository.git_dir).is_some() {
        return Ok(()); // It is refused with the commands that end the operation.
    }
    reject_other_branch(repository, &branch_ref)?;
    if repository.head()?.is_some() {
        return Ok(());
    }
    let commit = last_commit_of_worktree(&repository.git_dir);
    Err(ProposalError::BranchDeleted {
        branch: branch_name(&branch_ref).to_owned(),
        worktree: repository.work.clone(),
        commit: commit.map(|it| it.to_hex_with_len(10).to_string()),
    }
    .into())
}

/// Fails unless `HEAD` of a worktree points to this branch.
pub(crate) fn reject_other_branch(repository: &Repository, branch_ref: &str) -> Result<(), Error> {
    let head = repository.git().head_name();
    let head = head.map_err(|err| repository.git_error("read `HEAD`", err))?;
    let found = head.map(|it| it.as_bstr().to_string());
    if found.as_deref() == Some(branch_ref) {
        return Ok(());
    }
    Err(ProposalError::OtherBranch {
        branch: branch_name(branch_ref).to_owned(),
        worktree: repository.work.clone(),
        found: found.map(|it| branch_name(&it).to_owned()),
    }
    .into())
}

/// A move of the branch of a proposal that was made outside its worktree.
pub(crate) struct BranchMove {
    /// The commit that the files in the worktree are of.
    pub(crate) old: ObjectId,
    pub(crate) new: ObjectId,
}

/// Returns whether the branch of the proposal in this worktree was moved elsewhere. Moves in the
/// worktree itself are in its reflog.
pub(crate) fn find_branch_move(repository: &Repository) -> Result<Option<BranchMove>, Error> {
    if find_proposal_branch(repository)?.is_none() {
        return Ok(None);
    }
    let old = last_commit_of_worktree(&repository.git_dir);
    let (Some(old), Some(new)) = (old, repository.head()?) else { return Ok(None) };
    // After a reflog was rewritten, the commit may be missing.
    let is_moved = old != new && repository.git().find_commit(old).is_ok();
    Ok(is_moved.then_some(BranchMove { old, new }))
}

/// Returns the commit to which Palazzo, or git in this worktree, has last moved `HEAD`.
pub(crate) fn last_commit_of_worktree(git_dir: &Path) -> Option<ObjectId> {
    read_reflog(&git_dir.join("logs/HEAD")).first().copied()
}
