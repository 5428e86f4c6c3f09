//! The branches of a repository, as far as proposals need them.

use std::time::SystemTime;

use gix::ObjectId;

use crate::Error;
use crate::repo::proposal_branch::branch_name;
use crate::repo::proposal_error::ProposalError;
use crate::repo::repository::Repository;
use crate::write::commit::GitIdentity;
use crate::write::refs::{RefUpdate, RefUpdateOutcome};
use crate::write::write_guard::WriteGuard;

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
pub(crate) fn unambiguous_name(repository: &Repository, branch_ref: &str) -> String {
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
