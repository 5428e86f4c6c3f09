//! The palace's repository: its location, configuration, permissions, locks and damage.

pub(crate) mod cache;
pub(crate) mod config;
pub(crate) mod damage;
pub(crate) mod discover;
pub(crate) mod git_files;
pub(crate) mod git_lock;
pub(crate) mod git_locks;
pub(crate) mod head;
pub(crate) mod home;
pub(crate) mod line_endings;
pub(crate) mod maintenance;
pub(crate) mod network_fs;
pub(crate) mod operation;
pub(crate) mod palace_files;
pub(crate) mod palace_folders;
pub(crate) mod palazzo_file;
pub(crate) mod paths;
pub(crate) mod processes;
pub(crate) mod regular_file;
pub(crate) mod repository;
pub(crate) mod repository_location;
pub(crate) mod state;
pub(crate) mod temporary_names;
pub(crate) mod trust;
pub(crate) mod unmerged;
pub(crate) mod unreadable_repository;
