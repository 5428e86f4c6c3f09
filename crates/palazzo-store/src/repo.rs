//! The palace's repository, below history and writing: where it is, how it is configured, who may use
//! it, its locks and damage, its trees and its index file.

pub(crate) mod cache;
pub(crate) mod config;
pub(crate) mod consents;
pub(crate) mod damage;
pub(crate) mod failpoint;
pub(crate) mod fsync;
pub(crate) mod git_files;
pub(crate) mod git_lock;
pub(crate) mod git_locks;
pub(crate) mod home;
pub(crate) mod ignore_rules;
pub(crate) mod index_file;
pub(crate) mod line_endings;
pub(crate) mod network_fs;
pub(crate) mod operation;
pub(crate) mod palace_files;
pub(crate) mod palace_repository;
pub(crate) mod palazzo_file;
pub(crate) mod paths;
pub(crate) mod processes;
pub(crate) mod proposal_branch;
pub(crate) mod proposal_error;
pub(crate) mod references;
pub(crate) mod regular_file;
pub(crate) mod rename;
pub(crate) mod repository;
pub(crate) mod repository_location;
pub(crate) mod repository_state;
pub(crate) mod retry;
pub(crate) mod shared_mode;
pub(crate) mod state_file;
pub(crate) mod temporary_names;
pub(crate) mod tree_diff;
pub(crate) mod tree_lookup;
pub(crate) mod unmerged;
