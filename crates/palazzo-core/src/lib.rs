//! The model of a memory palace, the formats of its files, and what is computed from them. No I/O:
//! files, times and random numbers come from the caller.
//!
//! - [`model`]: plain values: room, action, scroll, entity, palace, …
//! - The components. Each uses only the model, none uses another; `tests/architecture` of the
//!   program checks this.
//!   - [`mod@format`]: parses and writes the text of files.
//!   - [`search`]: the full-text index. [`embedding`]: embeddings of texts, from the bytes of a model.
//!   - [`diff`]: the differences between two palaces. [`check`]: the faults of a palace as a whole.
//!   - [`halls`]: the rooms that are generated from the graph. [`merge`]: merges two versions of a file.
//!   - [`render`]: values to text. [`view`]: values to pictures and pages for browsers. [`visit`]: the
//!     state of each visit.
//!   - [`exchange`]: converts the files of other programs to values and back.
//!   - [`aaak`]: the guide to the shorthand AAAK. [`token_estimate`]: estimates token counts.

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used))]

pub mod model;

pub mod aaak;
pub mod check;
pub mod diff;
pub mod embedding;
pub mod exchange;
pub mod format;
pub mod halls;
pub mod merge;
pub mod render;
pub mod search;
pub mod token_estimate;
pub mod view;
pub mod visit;
