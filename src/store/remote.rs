//! Repositories on other machines, through the `git` command.

pub(crate) mod filter_repo;
pub(crate) mod git_process;
pub(crate) mod output_reader;
pub(crate) mod process_group;
pub(crate) mod shallow_clone;
