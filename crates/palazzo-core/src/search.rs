//! Full-text search: an inverted index in memory, ranked by BM25.
//!
//! The index is derived from the palace, which is the source of truth; a changed item must be
//! put in again. Nothing here reads a file or asks for the time: the same query on the same
//! items has the same result.

mod date_words;
mod document_terms;
#[cfg(test)]
mod fixture;
mod hybrid_rank;
mod index;
mod index_data;
mod language;
mod lexicon;
mod near_duplicates;
mod query_parser;
mod rank;
mod related_texts;
mod score;
mod similar_words;
mod snippet;
mod substring;
mod word_beginnings;
mod words;

pub use hybrid_rank::texts_to_embed;
pub use index_data::{Document, Index};
pub use near_duplicates::{
    DUPLICATE_THRESHOLD, NearDuplicate, WordChange, describe_changes, text_similarity, word_changes,
};
pub use query_parser::{extract_question, query_content_words};
pub use rank::{Hit, Hits, ItemsWithWord, Query};
pub use snippet::{most_matching_text, snippet};
pub use substring::CaseInsensitiveNeedle;
