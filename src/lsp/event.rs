//! The events of the server.

use std::collections::BTreeMap;
use std::path::PathBuf;

use lsp_server::Message;

use palazzo_keeper::{EditorFinding, EditorPalace, Refusal};

/// A palace that was opened, with its findings by file.
pub(super) struct OpenedPalace {
    pub(super) palace: EditorPalace,
    pub(super) findings: BTreeMap<String, Vec<EditorFinding>>,
}

/// An event that the loop of the server handles.
pub(super) enum Event {
    /// A message of the client.
    Message(Message),
    /// The client has closed the connection.
    Disconnected,
    /// A palace was opened, or could not be.
    PalaceOpened(PathBuf, Result<Box<OpenedPalace>, Refusal>),
    /// Files of a palace may have changed.
    FilesChanged,
}
