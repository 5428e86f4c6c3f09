//! Looks for the extension `git filter-repo`, which rewrites histories.

use std::env;

/// The names of its program.
const PROGRAM_NAMES: [&str; 2] = ["git-filter-repo", "git-filter-repo.exe"];

/// Returns whether `git filter-repo` is on the search path. It is not started: without the
/// extension, git would run an alias of this name from the settings of the current repository.
pub fn has_git_filter_repo() -> bool {
    let search_path = env::var_os("PATH").unwrap_or_default();
    let mut folders = env::split_paths(&search_path);
    folders.any(|folder| PROGRAM_NAMES.iter().any(|it| folder.join(it).is_file()))
}
