//! Maintenance of palaces: init, check, fix, fmt, doctor and trust.

pub(crate) mod check;
mod dead_note_links;
pub(crate) mod doctor;
pub(crate) mod fix;
pub(crate) mod fix_renames_and_copies;
pub(crate) mod fmt;
pub(crate) mod git_setup;
pub(crate) mod init;
pub(crate) mod locate;
pub(crate) mod memory_consents;
pub(crate) mod split_conflicts;
pub(crate) mod trust;
