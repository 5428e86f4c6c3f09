//! Where the files of a proposal are.

use std::path::{Path, PathBuf};

use sha1::{Digest as _, Sha1};

use crate::store::Error;
use crate::store::repo::palazzo_file;
use crate::store::repo::paths;
use crate::store::repo::proposal_error::ProposalError;
use crate::store::repo::repository::Repository;
use crate::store::repo::shared_mode::SharedMode;

/// The folder in `.git/palazzo` with a file for each proposal.
pub(crate) const MARKER_FOLDER: &str = "proposals";
/// The folder in the state folder with the worktrees.
pub const PROPOSALS_FOLDER: &str = "proposals";
/// How many digits of a hash tell names apart that are alike as names of folders.
const HASH_DIGITS: usize = 8;

/// The files and folders of a proposal.
#[derive(Clone, Debug)]
pub(crate) struct ProposalPlace {
    /// The directory shared by all worktrees, without links.
    pub(crate) common_dir: PathBuf,
    /// The modes of new files in it.
    pub(crate) shared_mode: SharedMode,
    /// The full name of the branch: `refs/heads/ideas`.
    pub(crate) branch_ref: String,
    /// The working directory.
    pub(crate) worktree: PathBuf,
    /// The git directory of the worktree.
    pub(crate) git_dir: PathBuf,
    /// The file that marks the branch as a proposal, as a name in `.git/palazzo`.
    pub(crate) marker: String,
    /// The lock that each server of the proposal shares, as a name in `.git/palazzo`.
    pub(crate) use_lock: String,
}

impl ProposalPlace {
    /// Returns the place of the proposal `branch_ref` in a repository.
    pub(crate) fn new(
        repository: &Repository,
        state_folder: &Path,
        branch_ref: &str,
    ) -> Result<Self, Error> {
        let name = folder_name_of_branch(branch_ref);
        let worktrees = state_folder.join(PROPOSALS_FOLDER);
        let (folder, work) = (paths::resolve_links(&worktrees)?, repository.work.clone());
        if folder.starts_with(&work) {
            return Err(ProposalError::StateFolderInside { folder, work }.into());
        }
        let common_dir = paths::resolve_links(&repository.common_dir)?;
        // A palace keeps the name of its folder, because that is its name for agents.
        let own = if common_dir.ends_with(".git") { common_dir.parent() } else { None };
        let own_name = own.unwrap_or(&common_dir).file_name().unwrap_or("repository".as_ref());
        let repository_name = short_hash(&common_dir.display().to_string());
        Ok(Self {
            shared_mode: repository.shared_mode,
            branch_ref: branch_ref.to_owned(),
            worktree: folder.join(repository_name).join(&name).join(own_name),
            git_dir: common_dir.join("worktrees").join(&name),
            marker: format!("{MARKER_FOLDER}/{name}"),
            use_lock: format!("{MARKER_FOLDER}/{name}.lock"),
            common_dir,
        })
    }

    /// Returns the name of the branch.
    pub(crate) fn branch(&self) -> &str {
        branch_name(&self.branch_ref)
    }

    /// Returns the path of a file in `.git/palazzo`.
    pub(crate) fn palazzo_file(&self, name: &str) -> PathBuf {
        palazzo_file::palazzo_file_path(&self.common_dir, name)
    }

    /// Returns the folder in the worktree for a folder of the working directory.
    pub(crate) fn folder_in_worktree(&self, repository: &Repository, folder: &Path) -> PathBuf {
        match folder.strip_prefix(&repository.work) {
            Ok(inside) if inside.as_os_str().is_empty() => self.worktree.clone(),
            Ok(inside) => self.worktree.join(inside),
            // The home is above the only palace, which is the working directory.
            Err(_) => self.worktree.clone(),
        }
    }
}

/// Returns a branch's name without `refs/heads/`.
pub(crate) fn branch_name(branch_ref: &str) -> &str {
    branch_ref.strip_prefix("refs/heads/").unwrap_or(branch_ref)
}

/// Returns the git directory's name of the worktree of a branch: readable, and different for each.
pub(crate) fn folder_name_of_branch(branch_ref: &str) -> String {
    let readable = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let name: String = branch_name(branch_ref).chars().take(40).map(readable).collect();
    format!("proposal-{}-{}", name.trim_matches('-'), short_hash(branch_ref))
}

fn short_hash(text: &str) -> String {
    let digest = gix::ObjectId::Sha1(Sha1::digest(text).into());
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
