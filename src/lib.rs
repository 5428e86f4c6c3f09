//! A memory palace for language models: rooms with vivid descriptions, numbered
//! actions, scrolls and doors, stored as files in git and visited over MCP.
//!
//! # The layers
//!
//! Each module may use only the modules below it, never its neighbours;
//! `tests/architecture` checks this. `cli` and `mcp` also use some components.
//!
//! ```text
//! entry          main ─── cli       one file per subcommand
//!                          │
//! interface               web       MCP and pages over HTTP
//!                          │
//!                         mcp       tools, resources and prompts over MCP
//!                          │
//! application            keeper     the operations on a palace
//!       ┌────────┬─────────┼────────┬────────┐
//!     format   store    search   render   visit  …        components
//!       └────────┴─────────┼────────┴────────┘
//! model                  model      room, action, scroll, entity, palace, …
//! ```
//!
//! - `model`: plain values. No I/O.
//! - `format`: parses and writes the text of files. No I/O.
//! - `store`: files, git history and commits. It handles text only, no rooms or entities.
//! - `watch`: reports which files have changed.
//! - `search`: the full-text index. `embedding`: embeddings of texts, from the bytes of a model.
//! - `diff`: the differences between two palaces. `check`: the faults of a palace as a whole.
//! - `halls`: the rooms that are generated from the graph. `merge`: merges two versions of a file.
//! - `render`: values to text. `view`: values to pictures and pages for browsers. `visit`: the state of each visit.
//! - `exchange`: converts the files of other programs to values and back.
//! - `config_edit`: edits the configuration files of other programs.
//! - `aaak`: the guide to the shorthand AAAK. `token_estimate`: estimates token counts.
//! - `keeper`: the only module that combines the components. `mcp`, `lsp` and `cli` call it and
//!   contain no rules of their own.

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used))]

// The model.
pub mod model;

// Components: each uses only the model, none uses another.
pub mod aaak;
pub mod check;
pub mod config_edit;
pub mod diff;
pub mod embedding;
pub mod exchange;
pub mod format;
pub mod halls;
pub mod merge;
pub mod render;
pub mod search;
pub mod store;
pub mod token_estimate;
pub mod view;
pub mod visit;
pub mod watch;

// The application: all operations on a palace.
pub mod keeper;

// The interfaces.
pub mod cli;
#[cfg(feature = "language-server")]
pub mod lsp;
pub mod mcp;
#[cfg(feature = "http")]
pub mod web;
