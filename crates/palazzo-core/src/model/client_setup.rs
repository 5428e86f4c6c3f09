//! What `palazzo setup` has written into the configuration of a client, so that it can be removed
//! again exactly.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// An entry, or a piece of text, that `palazzo setup` has added to a file of a client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientSetup {
    /// The name of the client: `claude-code`.
    pub client: String,
    /// The file, with symbolic links resolved.
    pub file: PathBuf,
    /// The name of the server in it, or of the piece of text.
    pub name: String,
    /// The words that start the server, up to `serve`; for a hook, its command.
    // Records of version 0.1 before its release lack it.
    #[serde(default)]
    pub start: Vec<String>,
    /// The text around the entry.
    #[serde(flatten)]
    pub trace: InsertionTrace,
    /// The change of the text; `None` for an entry of a server, which `trace` describes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<TextChange>,
    /// Whether the file was created.
    pub created_file: bool,
    /// The folders that were created for the file, the outermost first.
    pub created_folders: Vec<PathBuf>,
}

/// What was inserted beside an entry, and what it replaced.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InsertionTrace {
    /// How many of the mappings around the entry were created: none, that of the servers, or also
    /// that of the whole file.
    #[serde(rename = "created_mappings")]
    pub created: usize,
    /// Line ends that were inserted before the entry.
    #[serde(rename = "inserted_before")]
    pub before: String,
    /// White space that was inserted after the entry.
    #[serde(rename = "inserted_after")]
    pub after: String,
    /// The empty value that the mapping of the servers had.
    pub replaced: String,
}

/// One contiguous change of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextChange {
    /// The inserted text.
    pub inserted: String,
    /// The text that it replaced.
    pub replaced: String,
}
