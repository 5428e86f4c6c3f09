//! A memory palace for language models: rooms with vivid descriptions, numbered
//! actions, scrolls and doors, stored as files in git and visited over MCP.
//!
//! # The layers
//!
//! Each may use only those below it, never its neighbours. Between crates the compiler checks this,
//! within a crate `tests/architecture`.
//!
//! ```text
//! palazzo            entry          main ─── cli       one file per subcommand
//!                                             │
//!                    interface               web       MCP and pages over HTTP
//!                                             │
//!                                            mcp       tools, resources and prompts over MCP
//!                                             │
//! palazzo-keeper     application           keeper      the operations on a palace
//!                                ┌────────────┤
//! palazzo-store      storage   store          │        files, git history and commits; watch
//!                                └────────────┤
//! palazzo-core       components    format  search  render  …   no I/O
//!                                             │
//!                    model                  model      room, action, scroll, entity, palace, …
//! ```
//!
//! - `palazzo_core`: the model, the formats of files, and what is computed from them.
//! - `palazzo_store`: files and git; it handles text only, no rooms or entities.
//! - `palazzo_keeper`: all operations on palaces; the only crate that combines the components. `mcp`,
//!   `lsp` and `cli` call it and contain no rules of their own.
//! - `config_edit`: edits the configuration files of other programs.

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used))]

pub mod config_edit;

// The interfaces.
pub mod cli;
#[cfg(feature = "language-server")]
pub mod lsp;
pub mod mcp;
#[cfg(feature = "http")]
pub mod web;
