//! A memory palace for language models: rooms with vivid descriptions, numbered
//! actions, scrolls and doors, kept as files in git and walked over MCP.
//!
//! # The house
//!
//! Read the modules in this order; each may use only those below it, never its
//! neighbours. `tests/architecture.rs` holds the arrows.
//!
//! ```text
//! roof       main ─── cli        one file for each subcommand
//!                      │
//! doors               mcp        tools: names, schemas, descriptions
//!                      │
//! hall              keeper       enter walk build write ask check
//!    ┌────────┬────────┼────────┬────────┐
//! format    store    search   render   session  …            workrooms
//!    └────────┴────────┼────────┴────────┘
//! ground             model       slug room action scroll entity palace …
//! ```
//!
//! - `model` knows no I/O: plain values.
//! - `format` turns text into values and back; it never meets a disk.
//! - `store` moves text between disk, git and the others; it never meets a room.
//! - `exchange` turns the files of other programs into values and back.
//! - `watch` says which files have changed, and no more.
//! - `search` finds, `compare` tells what differs, `survey` what is wrong with a
//!   palace as a whole, `halls` makes places of what the graph holds, `render`
//!   turns values into pages, `session` knows where a visitor stands, `aaak`
//!   reads a shorthand, `tokens` counts: all pure.
//! - `embedding` turns texts into directions, with a model that is handed to it.
//! - `keeper` alone brings them together. Doors ask the keeper and think nothing.

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used))]

// Ground floor: what things are.
pub mod model;

// Workrooms: each does one thing and knows nothing of its neighbours.
pub mod aaak;
pub mod check;
pub mod diff;
pub mod embedding;
pub mod exchange;
pub mod format;
pub mod halls;
pub mod render;
pub mod search;
pub mod session;
pub mod store;
pub mod tokens;
pub mod watch;

// The hall: everything one can ask.
pub mod keeper;

// Doors and roof.
pub mod cli;
pub mod mcp;
