//! Finding things by their words: an index in memory, ranked by BM25.
//!
//! The index is a picture of the palace, never the source of truth: whoever
//! changes a thing puts it in anew. Nothing here reads a file or asks the time;
//! the same question to the same things has the same answer.

mod date_words;
mod document_terms;
#[cfg(test)]
mod fixture;
mod hybrid_rank;
mod index;
mod language;
mod lexicon;
mod near_duplicates;
mod passage;
mod query_words;
mod rank;
mod snippet;
mod substring;
mod words;

pub use hybrid_rank::to_read;
pub use index::{Document, Index};
pub use near_duplicates::{Difference, TWINS, Twin, differences, in_words, likeness};
pub use query_words::{question_in, words_asked};
pub use rank::{Hit, Hits, Query};
pub use snippet::excerpt;
pub use substring::Needle;
