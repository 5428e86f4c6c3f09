//! The branches of a repository, as far as proposals need them, and the list of proposals.

use std::fs::{DirEntry, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use gix::ObjectId;

use crate::history::log::CommitRange;
use crate::proposal::old_worktree::find_old_worktree;
use crate::repo::proposal_branch::{PROPOSAL_MARKER_FOLDER, branch_name, folder_name_of_branch};
use crate::repo::proposal_error::ProposalError;
use crate::repo::references::find_ref;
use crate::repo::regular_file::read_line;
use crate::repo::repository::Repository;
use crate::repo::{palazzo_file, regular_file};
use crate::write::commit::GitIdentity;
use crate::write::refs::{RefUpdate, RefUpdateOutcome};
use crate::write::write_guard::WriteGuard;
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
    pub fn old_proposal_worktrees(&self) -> Result<Vec<PathBuf>, Error> {
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

/// Returns the full name of a branch; fails if git would not accept the name.
pub fn parse_branch_name(name: &str) -> Result<String, ProposalError> {
    let invalid = |why: &str| {
        let name = name.escape_debug().to_string();
        Err(ProposalError::InvalidBranchName { name, why: why.to_owned() })
    };
    if name.starts_with('-') || name == "HEAD" {
        return invalid("git reserves it");
    }
    // Git takes these for something else than a branch, in `git merge NAME` too.
    let is_pseudo_ref = name.ends_with("_HEAD") && !name.contains('/');
    let is_commit_id = name.len() == 40 && name.bytes().all(|it| it.is_ascii_hexdigit());
    if name == "@" || name == "AUTO_MERGE" || is_pseudo_ref || is_commit_id {
        return invalid("git takes it for something else than a branch");
    }
    if name.starts_with("refs/") {
        return invalid("leave out `refs/heads/`");
    }
    let full = format!("refs/heads/{name}");
    match gix::refs::FullName::try_from(full.as_str()) {
        Ok(_) => Ok(full),
        Err(err) => invalid(&err.to_string().to_lowercase()),
    }
}

/// Points a branch to a commit, if it points to `old` now.
pub(crate) fn update_branch(
    repository: &Repository,
    guard: &WriteGuard,
    branch_ref: &str,
    (old, new): (Option<ObjectId>, ObjectId),
    reason: &str,
) -> Result<(), Error> {
    let log = Some(reflog_entry(repository, reason));
    let update = RefUpdate { repository, guard, name: branch_ref, old, new, log };
    match update.apply()? {
        RefUpdateOutcome::Updated => Ok(()),
        RefUpdateOutcome::Conflict => {
            let branch = branch_name(branch_ref).to_owned();
            Err(ProposalError::BranchMoves { branch }.into())
        }
    }
}

/// Returns an entry for a reflog: the user of this machine, the time, and the reason.
pub(crate) fn reflog_entry(repository: &Repository, reason: &str) -> String {
    let seconds = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let seconds = seconds.map(|it| it.as_secs()).unwrap_or_default();
    let who = GitIdentity::for_committer(&repository.git()).description();
    format!("{who} {seconds} +0000\t{reason}")
}

/// Returns the shortest name by which git commands find the branch: a tag or another reference of
/// the same name would be found before it.
fn unambiguous_name(repository: &Repository, branch_ref: &str) -> String {
    let (name, git) = (branch_name(branch_ref), repository.git());
    let exists = |other: String| {
        let found = git.try_find_reference(other.as_str());
        found.is_ok_and(|it| it.is_some_and(|it| it.name().as_bstr() == other.as_str()))
    };
    let other_refs = ["refs", "refs/tags", "refs/remotes"].map(|it| format!("{it}/{name}"));
    let folders = [&repository.git_dir, &repository.common_dir];
    let is_file = folders.into_iter().any(|it| it.join(name).is_file());
    match is_file || other_refs.into_iter().any(exists) {
        true => branch_ref.to_owned(),
        false => name.to_owned(),
    }
}

/// Returns the checked-out branch, or the commit if `HEAD` is on no branch.
pub(crate) fn base_revision(repository: &Repository, head: ObjectId) -> String {
    let name = repository.git().head_name().ok().flatten();
    name.map_or_else(|| head.to_string(), |it| it.as_bstr().to_string())
}

/// Fails if a branch only stands for another one, which a write would change.
pub(crate) fn reject_symbolic_branch(
    repository: &Repository,
    branch_ref: &str,
) -> Result<(), Error> {
    let git = repository.git();
    let found = git.refs.try_find(branch_ref);
    let found = found.map_err(|err| repository.git_error("read a reference", err))?;
    match found.map(|it| it.target) {
        Some(gix::refs::Target::Symbolic(other)) => Err(ProposalError::InvalidBranchName {
            name: branch_name(branch_ref).to_owned(),
            why: format!("it is a symbolic reference to `{}`", other.as_bstr()),
        }
        .into()),
        _ => Ok(()),
    }
}

/// Fails if a branch exists whose name is a folder of the other, which git cannot store.
pub(crate) fn reject_conflicting_branch(
    repository: &Repository,
    branch_ref: &str,
) -> Result<(), Error> {
    let conflict = |other: &str| {
        let why = format!("there is a branch `{}`, and git cannot have both", branch_name(other));
        let name = branch_name(branch_ref).to_owned();
        Err(ProposalError::InvalidBranchName { name, why }.into())
    };
    let git = repository.git();
    let above = branch_ref.match_indices('/').map(|(at, _)| &branch_ref[..at]).skip(2);
    for above in above {
        let found = git.try_find_reference(above);
        if found.is_ok_and(|it| it.is_some_and(|it| it.name().as_bstr() == above)) {
            return conflict(above);
        }
    }
    let below = format!("{branch_ref}/");
    let references = git.references();
    let found = references.as_ref().ok().and_then(|it| {
        let mut all = it.prefixed(below.as_str()).ok()?;
        all.find_map(Result::ok).map(|it| it.name().as_bstr().to_string())
    });
    found.map_or(Ok(()), |it| conflict(&it))
}

/// Returns the markers of proposals, each with the reference of its branch.
fn list_markers(repository: &Repository) -> Vec<(PathBuf, String)> {
    let markers = palazzo_file::palazzo_file_path(&repository.common_dir, PROPOSAL_MARKER_FOLDER);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_repository::TestHome;

    #[test]
    fn names_that_git_takes_for_something_else_are_refused() {
        let id = "0123456789abcdef0123456789abcdef01234567";
        for name in ["@", "FETCH_HEAD", "ORIG_HEAD", "MERGE_HEAD", "AUTO_MERGE", id, "HEAD", "-x"] {
            assert!(parse_branch_name(name).is_err(), "{name}");
        }
        for name in ["ideas", "a/FETCH_HEAD", "HEADS", "01234567"] {
            assert!(parse_branch_name(name).is_ok(), "{name}");
        }
    }

    #[test]
    fn a_branch_with_the_name_of_a_tag_has_a_longer_name() {
        let scene = TestHome::with_repository();
        let repository = scene.palace("keep").require_repository().unwrap();
        let name = |branch: &str| unambiguous_name(&repository, &format!("refs/heads/{branch}"));
        assert_eq!(name("ideas"), "ideas");
        scene.git(&["tag", "ideas"]);
        scene.git(&["update-ref", "refs/stash", "HEAD"]);
        scene.git(&["branch", "heads/main"]);
        for longer in ["ideas", "stash", "heads/main", "config"] {
            assert_eq!(name(longer), format!("refs/heads/{longer}"));
        }
    }
}
