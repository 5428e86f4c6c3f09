//! How changes made by others are noticed.

use std::sync::Arc;

use palazzo_core::model::WatchMode;
use palazzo_store::watch::WakeCallback;

/// How changes made by others are noticed.
#[derive(Clone)]
pub(crate) struct WatchConfig {
    pub(crate) mode: WatchMode,
    pub(crate) wake: WakeCallback,
    pub(crate) warn: fn(&str),
}

/// Nothing is noticed.
impl Default for WatchConfig {
    fn default() -> Self {
        Self { mode: WatchMode::Off, wake: Arc::new(|| {}), warn: |_| {} }
    }
}
