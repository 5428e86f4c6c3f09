//! The language server: what editors ask about the files of palaces, over the Language Server
//! Protocol 3.18.
//!
//! One thread handles all messages in their order; palaces are opened in threads of their own. The
//! server never writes a file: every change is an edit that the editor applies.

mod answers;
mod capabilities;
mod code_actions;
mod diagnostics;
mod dispatch;
mod documents;
mod event;
mod event_loop;
mod lists;
mod navigation;
mod notifications;
mod opening;
mod palaces;
mod server;
mod text_positions;
#[cfg(test)]
mod transcript_tests;
mod uri;
mod workspace_edits;

pub use event_loop::{LspError, serve};
pub use lsp_server::Connection;
