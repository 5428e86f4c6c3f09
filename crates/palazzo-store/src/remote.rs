//! Runs the `git` command: for repositories on other machines, and for maintenance.

pub(crate) mod child_process;
pub(crate) mod git_process;
pub(crate) mod shallow_clone;
