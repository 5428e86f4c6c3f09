//! Why a server cannot propose changes.

use std::path::PathBuf;

use crate::model::{path_text, quote_for_shell, quoted};

/// The reason why a proposal cannot be opened or written to. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum ProposalError {
    /// No branch can have this name.
    #[error("{} cannot be the name of a branch: {why}", quoted(name))]
    InvalidBranchName {
        /// The name.
        name: String,
        /// The reason.
        why: String,
    },
    /// There is no palace in the home.
    #[error("there is no palace in {}; `palazzo init` makes one", path_text(home))]
    NoPalace {
        /// The home.
        home: PathBuf,
    },
    /// A palace is in no repository.
    #[error(
        "`{}` is in no git repository yet, so there is no branch to propose changes to: \
         `palazzo init --repository {}` makes one",
        path_text(palace), quote_for_shell(&palace.display().to_string())
    )]
    NoRepository {
        /// The palace.
        palace: PathBuf,
    },
    /// Palaces of the home are in several repositories.
    #[error(
        "the palaces of this home are in several git repositories, `{}` and `{}`, and a proposal is \
         a branch of one: name one palace instead of the home",
        path_text(&works[0]), path_text(&works[1])
    )]
    SeveralRepositories {
        /// Two of the working directories.
        works: [PathBuf; 2],
    },
    /// Nothing is committed yet.
    #[error(
        "nothing is committed in the repository at `{}` yet, so there is nothing to propose changes \
         to: commit the palace first (`git add`, `git commit`)",
        path_text(work)
    )]
    NoCommit {
        /// The working directory.
        work: PathBuf,
    },
    /// The commit has no palace of the home.
    #[error(
        "no palace of this home is committed in {place}: commit it first (`git add`, `git commit`)"
    )]
    NoCommittedPalace {
        /// The branch, or `HEAD`.
        place: String,
    },
    /// The branch is checked out elsewhere.
    #[error(
        "the branch {} is checked out at `{}`, and a proposal needs a branch of its own: \
         choose another name{}",
        quoted(branch), path_text(place),
        if place.exists() { "" } else { ", or, because that folder is gone, run `git worktree prune`" }
    )]
    CheckedOutElsewhere {
        /// The branch.
        branch: String,
        /// The working directory.
        place: PathBuf,
    },
    /// The state folder is not known.
    #[error("no folder for the files of a proposal is known: set XDG_STATE_HOME or HOME")]
    NoStateFolder,
    /// The files of the proposal would be in the working directory.
    #[error(
        "the files of a proposal belong into `{}`, which is inside the repository at `{}`: set \
         XDG_STATE_HOME to a folder outside",
        path_text(folder),
        path_text(work)
    )]
    StateFolderInside {
        /// The folder.
        folder: PathBuf,
        /// The working directory.
        work: PathBuf,
    },
    /// Another folder is in place of the worktree.
    #[error(
        "`{}` is in place of the files of this proposal and is not its worktree; move it away",
        path_text(place)
    )]
    PlaceTaken {
        /// The folder.
        place: PathBuf,
    },
    /// Another branch is checked out in the worktree.
    #[error(
        "the files of the proposal {4} in `{0}` are on {1}, so nothing was written: run `git -C \
         {2} checkout {3}` first",
        path_text(worktree),
        found.as_ref().map_or("no branch".to_owned(), |it| format!("the branch {}", quoted(it))),
        quote_for_shell(&worktree.display().to_string()), quote_for_shell(branch), quoted(branch)
    )]
    OtherBranch {
        /// The branch of the proposal.
        branch: String,
        /// The working directory.
        worktree: PathBuf,
        /// The branch that is checked out; `None`: a commit.
        found: Option<String>,
    },
    /// The branch was deleted while its worktree is there.
    #[error(
        "the branch {} of this proposal was deleted, so nothing was written: restart the server, \
         which restores it{}; to drop the proposal instead, end its servers and run `git worktree \
         remove --force {}`",
        quoted(branch), commit.as_ref().map(|it| format!(" at its last commit {it}")).unwrap_or_default(),
        quote_for_shell(&worktree.display().to_string())
    )]
    BranchDeleted {
        /// The branch.
        branch: String,
        /// The working directory.
        worktree: PathBuf,
        /// The last known commit.
        commit: Option<String>,
    },
    /// Git converts files of the palace by a filter.
    #[error(
        "{} the git attribute `{attribute}`, and Palazzo runs no filters, so the palace cannot be \
         proposed to: remove the attribute for the palace in `.gitattributes` and commit that",
        name_files(files)
    )]
    FilteredFiles {
        /// The paths in the repository.
        files: Vec<String>,
        /// The attribute.
        attribute: &'static str,
    },
    /// The files of the proposal are gone while a server runs.
    #[error(
        "the files of the proposal `{branch}` are no longer at `{}`: it was merged or dropped, or they \
         were moved; restart the server, which continues the branch or begins it again",
        path_text(palace)
    )]
    FilesGone {
        /// The branch.
        branch: String,
        /// The former path of the palace.
        palace: PathBuf,
    },
    /// The worktree of the proposal has lost its repository while a server runs.
    #[error(
        "the files of the proposal `{branch}` in `{}` are in no git repository any more, so nothing was \
         written: restart the server, which repairs that",
        path_text(place)
    )]
    RepositoryGone {
        /// The branch.
        branch: String,
        /// The working directory.
        place: PathBuf,
    },
    /// The branch keeps moving.
    #[error("the branch `{branch}` keeps moving; try again")]
    BranchMoves {
        /// The branch.
        branch: String,
    },
    /// The worktree could not be opened.
    #[error(
        "git does not accept `{}` as a worktree of this repository; a proposal of a submodule, or in \
         a repository that is elsewhere, is not possible",
        path_text(place)
    )]
    NotAWorktree {
        /// The folder.
        place: PathBuf,
    },
}

/// Names the first files, with the verb.
fn name_files(files: &[String]) -> String {
    const MAX_NAMES: usize = 3;
    let names: Vec<_> =
        files.iter().take(MAX_NAMES).map(|it| format!("`{}`", it.escape_debug())).collect();
    match files.len().saturating_sub(MAX_NAMES) {
        0 if files.len() == 1 => format!("{} has", names.join(", ")),
        0 => format!("{} have", names.join(", ")),
        more => format!("{} and {more} more files have", names.join(", ")),
    }
}
