//! Why a repository cannot be synchronized.

use palazzo_core::model::{GitUrlError, quote_for_shell, quoted, quoted_unless_plain};

/// The reason why a synchronization did not take place. The palace was not changed.
#[derive(Debug, thiserror::Error)]
pub enum SyncError {
    /// `HEAD` is detached.
    #[error(
        "`HEAD` is on no branch, so there is nothing to synchronize; `git switch BRANCH` goes to one"
    )]
    NoBranch,
    /// `HEAD` is detached, because jj keeps the repository.
    #[error(
        "this is a jj repository, whose `HEAD` is on no branch; `jj git fetch` and `jj git push` synchronize it"
    )]
    JjRepository,
    /// Nothing is committed yet.
    #[error("nothing is committed yet, so there is nothing to synchronize")]
    NoCommit,
    /// The branch has no upstream.
    #[error(
        "the branch {} has no upstream; `palazzo sync --setup URL` adds one, or \
         `git branch --set-upstream-to` chooses a known remote",
        quoted(branch)
    )]
    NoUpstream {
        /// The current branch.
        branch: String,
    },
    /// The branch has another upstream already.
    #[error(
        "there is another remote already: {known}; `palazzo sync --setup` without a URL uses the \
         upstream of the branch, `git remote set-url` changes its URL"
    )]
    OtherUpstream {
        /// The known upstream.
        known: String,
    },
    /// The upstream has a name that cannot be used.
    #[error(
        "the upstream {} of the remote {} is not a branch with a plain name",
        quoted(remote_ref),
        quoted(remote)
    )]
    UnusableUpstream {
        /// The remote.
        remote: String,
        /// The reference there.
        remote_ref: String,
    },
    /// The remote has another URL for pushing.
    #[error(
        "the remote {} has a URL of its own for pushing; remove it with `git config unset {}`, because \
         your consent covers one URL",
        quoted(remote),
        quote_for_shell(&format!("remote.{remote}.pushurl"))
    )]
    SeparatePushUrl {
        /// The remote.
        remote: String,
    },
    /// The URL cannot be used.
    #[error(transparent)]
    InvalidUrl(#[from] GitUrlError),
    /// The remote is a path on this machine without a repository.
    #[error(
        "there is no git repository at {}; `git init --bare` makes one. A palace is named \
         before the option: `palazzo sync DIR --setup URL`",
        quoted(path)
    )]
    NoRepositoryAtPath {
        /// The path.
        path: String,
    },
    /// The remote is the repository of the palace itself.
    #[error(
        "{} is the repository of this palace itself, and a remote is another one. A palace is \
         named before the option: `palazzo sync DIR --setup URL`",
        quoted(path)
    )]
    OwnRepository {
        /// The path.
        path: String,
    },
    /// Another process is synchronizing.
    #[error("another palazzo is synchronizing this repository; try again in a moment")]
    Busy,
    /// The two histories have no common commit.
    #[error(
        "the histories are unrelated: {ours} here and {theirs} there have no common commit, so they \
         are not merged; clone the remote into another folder, or choose another remote"
    )]
    NoCommonHistory {
        /// The newest commit here.
        ours: String,
        /// The newest commit there.
        theirs: String,
    },
    /// A shallow clone does not reach the common commit.
    #[error(
        "this is a shallow clone, and its commits do not reach back to a common commit of {ours} \
         here and {theirs} there; `git fetch --unshallow` fetches the others"
    )]
    TooShallow {
        /// The newest commit here.
        ours: String,
        /// The newest commit there.
        theirs: String,
    },
    /// A merge was made by a newer program.
    #[error(
        "the commit {commit} was merged by a newer Palazzo (merge rules {version}); update Palazzo \
         and sync again"
    )]
    NewerRules {
        /// The commit.
        commit: String,
        /// The version of its rules.
        version: u32,
    },
    /// Both sides have changed a note.
    #[error(
        "both sides have changed the note {}, and Palazzo merges no notes: `git pull --no-rebase` does",
        quoted(path)
    )]
    NoteConflict {
        /// The path in the repository.
        path: String,
    },
    /// Commits touch files that do not belong to a palace.
    #[error(
        "the commit {commit} {} changes {}, which is no file of a palace; Palazzo neither \
         merges nor pushes such commits: `git pull` and `git push` do",
        if *is_ours { "here" } else { "of the remote" },
        quoted(path)
    )]
    OtherFiles {
        /// The commit.
        commit: String,
        /// One of the files.
        path: String,
        /// Whether the commit is on this side.
        is_ours: bool,
    },
    /// A file may not be in a palace.
    #[error(
        "{} {}", quoted(path), invalid_file_remedy(*is_ours, why)
    )]
    InvalidFile {
        /// The path in the repository.
        path: String,
        /// The reason.
        why: String,
        /// Whether the file is on this side.
        is_ours: bool,
    },
    /// A merge would make a file that may not be in a palace.
    #[error(
        "{} cannot be merged: {why}; shorten the text here or there, commit, and sync again",
        quoted(path)
    )]
    InvalidMergedFile {
        /// The path in the repository.
        path: String,
        /// The reason.
        why: String,
    },
    /// A commit is not accepted.
    #[error("the commit {commit} {}", invalid_commit_remedy(*is_ours, why))]
    InvalidCommit {
        /// The commit.
        commit: String,
        /// The reason.
        why: String,
        /// Whether the commit is on this side.
        is_ours: bool,
    },
    /// The merge would delete many files.
    #[error(
        "the remote takes away {deleted} of {all} {what}; `git log {tip}` shows its commits, \
         `palazzo sync --accept` accepts the deletion"
    )]
    ManyDeletions {
        /// The number of deleted ones.
        deleted: usize,
        /// The number before.
        all: usize,
        /// What is counted.
        what: String,
        /// The newest commit there.
        tip: String,
    },
    /// A file has an uncommitted edit.
    #[error(
        "waits for your edit of {}: commit it, or undo it, and sync again; the commits of the \
         remote were fetched",
        edited_files(paths)
    )]
    UncommittedEdit {
        /// The files.
        paths: Vec<String>,
    },
    /// A merge by a person is in progress.
    #[error(
        "a git merge is under way in this repository; end it first: `git commit`, or \
         `git merge --abort`"
    )]
    MergeInProgress,
    /// The remote rejected the push.
    #[error("{upstream} rejected the push: {}{}", quoted(why), push_remedy(why))]
    PushRejected {
        /// The upstream.
        upstream: String,
        /// The last line of git's message.
        why: String,
    },
    /// Others pushed before each attempt.
    #[error(
        "others pushed to {upstream} before each of {attempts} attempts; what was written here is \
         merged with theirs, and waits for the next sync"
    )]
    RemoteKeepsMoving {
        /// The upstream.
        upstream: String,
        /// The number of attempts.
        attempts: usize,
    },
    /// The merge that is to be dropped was pushed.
    #[error(
        "the last merge ({merge}) was pushed to {upstream}, and others may have it; it brought these \
         commits: {brought}. `palazzo sync --undo --push-revert` commits and pushes the reverse \
         change: that takes them back for everybody, and later syncs do not bring them again; what \
         was committed since stays"
    )]
    MergeWasPushed {
        /// The merge.
        merge: String,
        /// The upstream.
        upstream: String,
        /// The numbers of commits by author.
        brought: String,
    },
    /// There is no merge that can be undone.
    #[error("there is no merge to undo: {why}")]
    NothingToUndo {
        /// The reason.
        why: String,
    },
}

fn edited_files(paths: &[String]) -> String {
    const MAX_SHOWN: usize = 3;
    let shown = paths.iter().take(MAX_SHOWN).map(|it| quoted_unless_plain(it));
    let shown = shown.collect::<Vec<_>>().join(", ");
    match paths.len().checked_sub(MAX_SHOWN) {
        Some(more @ 1..) => format!("{shown} and {more} more files"),
        _ => shown,
    }
}

fn invalid_file_remedy(is_ours: bool, why: &str) -> String {
    match is_ours {
        true => format!(
            "was not pushed, because other machines refuse it: {why}; remove or rename it, commit, \
             and sync again"
        ),
        false => format!(
            "of the remote is not accepted: {why}; remove or rename it there, commit, and sync \
             there and then here"
        ),
    }
}

fn invalid_commit_remedy(is_ours: bool, why: &str) -> String {
    match is_ours {
        true => format!(
            "was not pushed, because other machines refuse it: {why}; change it with \
             `git commit --amend` or `git rebase`, and sync again"
        ),
        false => format!(
            "of the remote is not accepted: {why}; the branch there needs a history without it, \
             which `git rebase` and a forced push by its owner make"
        ),
    }
}

fn push_remedy(why: &str) -> &'static str {
    let is_about = |words: &[&str]| words.iter().any(|it| why.to_lowercase().contains(it));
    if is_about(&["protected branch", "gh006", "not allowed to push"]) {
        "; the branch is protected: make a branch with `git switch -c NAME`, push it with \
         `git push -u`, and open a pull request"
    } else if is_about(&["hook declined"]) {
        "; a hook of the remote refuses these commits"
    } else {
        ""
    }
}
