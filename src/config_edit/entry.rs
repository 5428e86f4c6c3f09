//! The entry that an edit adds, changes or removes, and why an edit fails.

use serde_json::{Map, Value};

/// The place of an entry: a key of the mapping below a key of the file.
#[derive(Clone, Copy, Debug)]
pub struct EntryPlace<'a> {
    /// The key of the file: `mcpServers`.
    pub section: &'a str,
    /// The key of the entry: `palazzo`.
    pub name: &'a str,
}

/// The keys of an entry with their values.
pub type EntryFields = Map<String, Value>;

/// Why a configuration cannot be read or edited.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The text does not have the format.
    #[error("line {line}: {message}")]
    Syntax {
        /// The line, counted from 1.
        line: usize,
        /// The error of the parser.
        message: String,
    },
    /// The text is written in a way that has no safe edit.
    #[error("{0}")]
    NotEditable(&'static str),
}

/// The error for a value with a comment, or with an anchor or a tag of YAML.
pub(super) const WITH_COMMENT: ConfigError = ConfigError::NotEditable(
    "a comment or an anchor in the entry would be lost; change the entry by hand",
);

/// The error for an edit that would change what else the text means.
pub(super) const NO_SAFE_EDIT: ConfigError =
    ConfigError::NotEditable("it is written in a way that has no safe edit");
