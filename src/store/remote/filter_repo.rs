//! Looks for the extension `git filter-repo`, which rewrites histories.

use std::process::Command;

/// Returns whether `git filter-repo` is installed.
pub fn has_git_filter_repo() -> bool {
    let output = Command::new("git").args(["filter-repo", "--version"]).output();
    output.is_ok_and(|it| it.status.success())
}
