//! A document with its score for one query.

use crate::search::index_data::IndexedDocument;

/// A document with its score and its best passage.
#[derive(Clone, Copy)]
pub(super) struct ScoredDoc<'a> {
    pub(super) document: &'a IndexedDocument,
    pub(super) score: f32,
    /// The similarity to the query, from 0 to 1, independent of other hits.
    pub(super) similarity: f32,
    pub(super) passage: u32,
}
