//! YAML, the part of it that palaces are written in: no anchors, aliases or
//! tags, one document, each key once.
//!
//! Reading goes through the parser's events rather than serde, so that every
//! value knows its line and column, one file can have several findings, and a
//! wrong key costs that key and not the room. Writing is ours in layout and the
//! library's in quoting. Editing changes only what differs, and what it gives
//! back is read again before it is believed.

mod edit;
mod fault;
mod marks;
mod notes;
mod read;
mod write;

pub(super) use edit::edit;
pub(super) use fault::Fault;
pub(super) use marks::Marks;
pub(super) use notes::Notes;
pub(super) use read::{Body, Key, Node, parse};
pub(super) use write::{Out, one_line, write, write_noted};
