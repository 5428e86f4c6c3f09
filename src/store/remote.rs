//! Repositories on other machines, through the `git` command.

pub(crate) mod git_process;
pub(crate) mod shallow_clone;
