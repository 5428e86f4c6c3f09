//! Describes the state of a palace's repository for the user.

use std::path::PathBuf;

use crate::repo::operation::BlockingGitOperation;
use crate::repo::repository::Repository;
use crate::{Error, Store};

/// The state of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepositoryState {
    /// The working directory.
    pub work: PathBuf,
    /// The folder with `HEAD` and the index.
    pub git_dir: PathBuf,
    /// The object format and the reference storage: `sha1, files`.
    pub format: String,
    /// What `HEAD` points to: a branch or a commit.
    pub head: String,
    /// Its peculiarities, such as a partial clone, each with the command that helps.
    pub peculiarities: Vec<String>,
    /// The operation in progress that prevents writes.
    pub operation: Option<BlockingGitOperation>,
}

impl Store {
    /// Returns the state of the repository that contains the palace; `None`: there is none.
    pub fn repository_state(&self) -> Result<Option<RepositoryState>, Error> {
        let Some(repository) = self.repository()? else { return Ok(None) };
        let git = repository.git();
        Ok(Some(RepositoryState {
            work: repository.work.clone(),
            git_dir: repository.git_dir.clone(),
            // A repository with another reference storage is refused when it is opened.
            format: format!("{}, files", git.object_hash()),
            head: describe_head(&repository, &git)?,
            peculiarities: repository.peculiarities(),
            operation: BlockingGitOperation::in_progress(&repository.git_dir),
        }))
    }
}

/// Returns how many folders the system watches for each user at most; `None` if it has no such
/// limit, or none that is known.
pub fn max_watched_folders() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/sys/fs/inotify/max_user_watches").ok()?;
    text.trim().parse().ok()
}

/// Returns how many files this process can have open at a time; `None` if there is no such limit.
#[cfg(unix)]
pub fn max_open_files() -> Option<usize> {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current?;
    usize::try_from(limit).ok()
}

/// Returns nothing: Windows has no such limit.
#[cfg(windows)]
pub fn max_open_files() -> Option<usize> {
    None
}

fn describe_head(repository: &Repository, git: &gix::Repository) -> Result<String, Error> {
    let branch = git.head_name().map_err(|err| repository.git_error("read `HEAD`", err))?;
    let commit = repository.head()?.map(|it| it.to_hex_with_len(12).to_string());
    Ok(match (branch, commit) {
        (Some(branch), Some(commit)) => format!("branch {} at {commit}", branch.shorten()),
        (Some(branch), None) => format!("branch {} without a commit", branch.shorten()),
        (None, commit) => format!("no branch, at {}", commit.unwrap_or_default()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_repository::TestHome;

    #[test]
    fn the_state_names_branch_commit_and_operation() {
        let scene = TestHome::with_repository();
        let head = || scene.palace("keep").repository_state().unwrap().unwrap().head;
        let commit = scene.git(&["rev-parse", "--short=12", "HEAD"]).trim().to_owned();
        assert_eq!(head(), format!("branch main at {commit}"));
        scene.git(&["checkout", "-q", "--detach"]);
        assert_eq!(head(), format!("no branch, at {commit}"));
        scene.git(&["checkout", "-q", "--orphan", "new"]);
        assert_eq!(head(), "branch new without a commit");
        scene.git(&["checkout", "-qf", "main"]);
        scene.git(&["bisect", "start"]);
        let state = scene.palace("keep").repository_state().unwrap().unwrap();
        assert_eq!(state.operation.map(BlockingGitOperation::name), Some("bisect"));
        assert_eq!((state.work, state.format.as_str()), (scene.home.clone(), "sha1, files"));
        assert_eq!(TestHome::new().palace("keep").repository_state().unwrap(), None);
    }
}
