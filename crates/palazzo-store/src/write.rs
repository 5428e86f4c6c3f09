//! Writes a change to several files as one commit that survives a crash at every step.

pub(crate) mod apply;
pub(crate) mod branch_commit;
pub(crate) mod commit;
pub(crate) mod commit_steps;
#[cfg(all(test, unix))]
pub(crate) mod crash_tests;
pub(crate) mod deleted_object_restorer;
pub(crate) mod file_transaction;
pub(crate) mod git_drivers;
pub(crate) mod head_move;
pub(crate) mod index;
pub(crate) mod lock_file;
pub(crate) mod maintenance;
pub(crate) mod memory_secrets;
pub(crate) mod moved_files;
pub(crate) mod objects;
pub(crate) mod outcome;
pub(crate) mod overwritten_files;
pub(crate) mod palazzo_lock;
pub(crate) mod progress;
pub(crate) mod recovery;
pub(crate) mod refs;
pub(crate) mod signing;
pub(crate) mod write_guard;
pub(crate) mod writer;
