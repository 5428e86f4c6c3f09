//! Finding things by their words: an index in memory, ranked by BM25.
//!
//! The index is a picture of the palace, never the source of truth: whoever
//! changes a thing puts it in anew. Nothing here reads a file or asks the time;
//! the same question to the same things has the same answer.

mod dates;
mod excerpt;
mod index;
mod language;
mod lexicon;
mod meaning;
mod passage;
mod question;
mod rank;
mod reading;
#[cfg(test)]
mod scene;
mod substring;
mod twins;
mod words;

pub use excerpt::excerpt;
pub use index::{Document, Index};
pub use meaning::to_read;
pub use question::{question_in, words_asked};
pub use rank::{Hit, Hits, Query};
pub use substring::Needle;
pub use twins::{Difference, TWINS, Twin, differences, in_words, likeness};
