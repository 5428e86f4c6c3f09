//! Synchronizes palaces with their upstreams: `palazzo sync`.

pub(crate) mod background;
mod merge_versions;
pub(crate) mod notices;
mod repositories;
mod request;
mod round;
mod schedule;
mod setup;
mod status;

pub use background::{BackgroundSyncSettings, SyncAnswer};
pub use repositories::SyncedRepository;
pub use round::{SyncOptions, SyncReport, revert_last_sync, sync_repository, undo_last_sync};
pub use schedule::SyncTiming;
pub use setup::{SyncSetup, set_up_sync};
pub use status::{SyncState, is_sync_set_up, list_synced_repositories, sync_state};
