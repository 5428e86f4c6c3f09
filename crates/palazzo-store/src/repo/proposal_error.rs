//! Why a server cannot propose changes.

use std::path::PathBuf;

use palazzo_core::model::{path_text, quote_for_shell, quoted};

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
        "the branch {} is checked out at `{}`, so nothing is written to it as a proposal: check out \
         another branch there (`git switch`), or start the server with another name{}",
        quoted(branch), path_text(place),
        if place.exists() { "" } else { ", or, because that folder is gone, run `git worktree prune`" }
    )]
    CheckedOutElsewhere {
        /// The branch.
        branch: String,
        /// The working directory.
        place: PathBuf,
    },
    /// The branch was deleted while a server writes to it.
    #[error(
        "the branch {} of this proposal is gone: it was merged or dropped. A person can restart this \
         server, which begins the branch again without these changes{}",
        quoted(branch),
        last.as_ref().map(|it| format!(
            ", or run `git -C {} branch {} {it}`, and the server goes on with them",
            quote_for_shell(&work.display().to_string()), quote_for_shell(branch)
        )).unwrap_or_default()
    )]
    BranchDeleted {
        /// The branch.
        branch: String,
        /// The working directory.
        work: PathBuf,
        /// The last known commit.
        last: Option<String>,
    },
    /// An earlier version of Palazzo kept the files of the proposal in a worktree, and there are
    /// changes in it.
    #[error(
        "the files of the proposal {0} were in `{1}` until now, and in commits from now on; there, {2} \
         not committed: commit that first (`git -C {3} add .`, `git -C {3} commit`), or move it away",
        quoted(branch), path_text(worktree), name_files(files, ["is", "are"]),
        quote_for_shell(&worktree.display().to_string())
    )]
    UncommittedFiles {
        /// The branch.
        branch: String,
        /// The worktree.
        worktree: PathBuf,
        /// The paths in the repository.
        files: Vec<String>,
    },
    /// A server of an earlier version writes to the proposal.
    #[error(
        "a server of an earlier version of Palazzo writes to the proposal {}; end it first",
        quoted(branch)
    )]
    ServedByOlderVersion {
        /// The branch.
        branch: String,
    },
    /// Git converts files of the palace by a filter.
    #[error(
        "{} the git attribute `{attribute}`, and Palazzo runs no filters, so the palace cannot be \
         proposed to: remove the attribute for the palace in `.gitattributes` and commit that",
        name_files(files, ["has", "have"])
    )]
    FilteredFiles {
        /// The paths in the repository.
        files: Vec<String>,
        /// The attribute.
        attribute: &'static str,
    },
    /// The branch keeps moving.
    #[error("the branch `{branch}` keeps moving; try again")]
    BranchMoves {
        /// The branch.
        branch: String,
    },
}

/// Names the first files, with the verb for one and for several.
fn name_files(files: &[String], [one, several]: [&str; 2]) -> String {
    const MAX_NAMES: usize = 3;
    let names: Vec<_> =
        files.iter().take(MAX_NAMES).map(|it| format!("`{}`", it.escape_debug())).collect();
    match files.len().saturating_sub(MAX_NAMES) {
        0 if files.len() == 1 => format!("{} {one}", names.join(", ")),
        0 => format!("{} {several}", names.join(", ")),
        more => format!("{} and {more} more files {several}", names.join(", ")),
    }
}
