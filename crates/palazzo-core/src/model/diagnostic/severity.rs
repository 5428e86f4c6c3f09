//! How severe a finding is.

use std::fmt;

/// The severity of a `Diagnostic`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The file, or the affected part of it, was skipped.
    Error,
    /// Everything was read, but something looks wrong.
    Warning,
    /// Nothing is wrong; for information only.
    Info,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Info => "info",
        })
    }
}
