//! The language server: what editors ask about the files of palaces, over the Language Server
//! Protocol 3.18.
//!
//! One thread handles all messages in their order; palaces are opened in threads of their own. The
//! server never writes a file: every change is an edit that the editor applies.

mod annotations;
mod capabilities;
mod code_actions;
mod completion;
mod diagnostics;
mod dispatch;
mod documents;
#[cfg(test)]
mod edit_tests;
mod event_loop;
mod hover;
mod navigation;
mod notifications;
mod palaces;
mod rename;
mod server;
mod symbols;
#[cfg(test)]
mod test_editor;
mod text_positions;
#[cfg(test)]
mod transcript_tests;
mod transport;
mod uri;
mod workspace_edit;

pub use crate::lsp::palaces::LspSettings;
pub use event_loop::{LspError, serve};
pub use lsp_server::Connection;
pub use transport::connect;
