//! How changes made by others are noticed.

use std::sync::Arc;

use crate::model::WatchMode;
use crate::watch::WakeCallback;

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
