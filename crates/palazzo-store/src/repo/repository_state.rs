//! Describes the state of a palace's repository for the user, and what is special about it: it has
//! not all objects, commits or files, another program keeps its `HEAD`, or it has an extension that
//! this version does not know.
//!
//! Nothing is fetched or checked out here. The user gets the command that does it.

use std::path::PathBuf;

use gix::index::entry::Flags;

use crate::repo::operation::BlockingGitOperation;
use crate::repo::palace_files::SETTINGS_FILE;
use crate::repo::repository::Repository;
use crate::repo::tree_lookup::palaces_in_commit;
use crate::repo::{config, index_file};
use crate::{Error, Store};
use palazzo_core::model::quote_for_shell;

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

    /// Returns the warning that a sparse checkout leaves files of the palace out.
    pub fn sparse_checkout_warning(&self) -> Option<String> {
        let repository = self.repository().ok()??;
        let count = repository.count_files_outside_checkout()?;
        (count > 0).then(|| {
            format!(
                "this is a sparse checkout without {count} of the palace's files, which are not \
                 read; `{}` checks them out",
                repository.sparse_checkout_command()
            )
        })
    }

    /// Lists the palaces in or below the store's folder that the last commit has and a sparse
    /// checkout leaves out, with the command that checks them out.
    pub fn palaces_outside_checkout(&self) -> Option<(Vec<String>, String)> {
        let repository = self.repository().ok()??;
        let (git, head) = (repository.git(), repository.head().ok()??);
        if !repository.is_sparse() {
            return None;
        }
        let mut palaces = palaces_in_commit(&git, head, &repository.prefix).ok()?;
        palaces.retain(|it| !repository.work.join(it).join(SETTINGS_FILE).exists());
        let words: Vec<_> = palaces.iter().map(|it| quote_for_shell(it)).collect();
        let command = repository.git_command(&format!("sparse-checkout add {}", words.join(" ")));
        (!palaces.is_empty()).then_some((palaces, command))
    }
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

impl Repository {
    fn is_sparse(&self) -> bool {
        self.git().config_snapshot().boolean("core.sparseCheckout") == Some(true)
    }

    /// Counts the files of the palace that a sparse checkout leaves out; `None`: it is none.
    fn count_files_outside_checkout(&self) -> Option<usize> {
        if !self.is_sparse() {
            return None;
        }
        let index = index_file::load_or_rebuild_index(&self.git()).ok()?;
        let entries = match self.prefix.as_str() {
            "" => index.entries(),
            prefix => index.prefixed_entries(prefix.into()).unwrap_or_default(),
        };
        let is_missing = |it: &gix::index::Entry| {
            let path = it.path(&index).to_string();
            it.flags.contains(Flags::SKIP_WORKTREE) && !self.work.join(path).exists()
        };
        Some(entries.iter().filter(|it| is_missing(it)).count())
    }

    /// Describes what is special about the repository, each with the command that helps.
    fn peculiarities(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if config::is_partial_clone(&self.git()) {
            lines.push(format!(
                "partial clone: older versions may not be here; {} fetches them",
                self.git_command("fetch --refetch --no-filter")
            ));
        }
        if self.is_shallow() {
            lines.push(format!(
                "shallow clone: the history begins late; {} fetches the rest",
                self.git_command("fetch --unshallow")
            ));
        }
        lines.extend(self.count_files_outside_checkout().map(|count| match count {
            0 => "sparse checkout: with all files of this palace".to_owned(),
            _ => format!(
                "sparse checkout: without {count} of the files of this palace; {} checks them out",
                self.sparse_checkout_command()
            ),
        }));
        if self.is_kept_by_jj() {
            lines.push(
                "jj repository: HEAD is always detached; jj bookmark set NAME -r @- names the \
                 commits, jj git push shares them"
                    .to_owned(),
            );
        }
        lines.extend(self.reject_unknown_extensions().err().map(|it| format!("read-only: {it}")));
        lines
    }
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
