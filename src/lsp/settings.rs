//! The settings of the language server.

use std::path::PathBuf;

use chrono::{DateTime, Utc};

use palazzo_core::model::Tool;

/// The settings of a language server.
#[derive(Clone, Debug)]
pub struct LspSettings {
    /// The tools that actions can call.
    pub tools: Vec<Tool>,
    /// The folder with the consents of the user; without one, nothing is allowed.
    pub consent_folder: Option<PathBuf>,
    /// Returns the current time.
    pub clock: fn() -> DateTime<Utc>,
}
