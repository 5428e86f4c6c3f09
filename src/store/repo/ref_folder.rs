//! Where git keeps a reference (gitrepository-layout(5)).

use std::path::Path;

use crate::store::repo::repository::Repository;

/// References of a single worktree (gitrepository-layout(5)), besides those like `HEAD`.
const PER_WORKTREE_REFS: [&str; 3] = ["refs/bisect/", "refs/worktree/", "refs/rewritten/"];

/// Returns the git directory that contains the reference `name`.
pub(crate) fn git_dir_of_ref<'r>(repository: &'r Repository, name: &str) -> &'r Path {
    let is_per_worktree =
        !name.contains('/') || PER_WORKTREE_REFS.iter().any(|it| name.starts_with(it));
    if is_per_worktree { &repository.git_dir } else { &repository.common_dir }
}
