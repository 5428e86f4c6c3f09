//! The scores of documents for one query: BM25, and a factor for recency.

use crate::search::index_data::{Index, IndexedDocument};

/// A document with its score and its best passage.
#[derive(Clone, Copy)]
pub(super) struct ScoredDoc<'a> {
    pub(super) document: &'a IndexedDocument,
    pub(super) score: f32,
    /// The similarity to the query, from 0 to 1, independent of other hits.
    pub(super) similarity: f32,
    pub(super) passage: u32,
}

/// The parameter *k1* of BM25: the saturation of repeated words.
const K1: f32 = 1.2;

/// The scores of all passages, documents or rooms, and the frequencies of the present term.
pub(crate) struct ScoreAccumulator {
    pub(crate) scores: Vec<f32>,
    term_frequencies: Vec<f32>,
    touched: Vec<u32>,
}

impl ScoreAccumulator {
    pub(crate) fn with_length(length: usize) -> Self {
        Self { scores: vec![0.0; length], term_frequencies: vec![0.0; length], touched: Vec::new() }
    }

    /// Adds to the frequency of the present term in an item.
    pub(crate) fn add_frequency(&mut self, number: u32, added: f32) {
        let frequency = &mut self.term_frequencies[number as usize];
        if *frequency == 0.0 {
            self.touched.push(number);
        }
        *frequency += added;
    }

    /// Adds the present term's saturated and weighted frequencies to the scores, and resets
    /// them.
    pub(crate) fn finish_term(&mut self, weight: f32, norm: impl Fn(u32) -> f32) {
        for number in self.touched.drain(..) {
            let frequency =
                std::mem::take(&mut self.term_frequencies[number as usize]) / norm(number);
            self.scores[number as usize] += weight * frequency * (K1 + 1.0) / (K1 + frequency);
        }
    }
}

/// The parameter *b* of BM25, the share of length normalization: for the words of a passage, and
/// for those of its neighbours or of a room.
pub(super) const PASSAGE_LENGTH_NORMALIZATION: f32 = 0.6;
pub(super) const CONTEXT_LENGTH_NORMALIZATION: f32 = 0.4;

/// The weight of a neighbour's word for a passage without words, and the length in words at which
/// a passage gets half of it: a short answer needs its context, a long text contains its own.
const NEIGHBOUR_WEIGHT: f32 = 0.6;
const HALF_NEIGHBOUR_WEIGHT_LENGTH: f32 = 40.0;

/// Returns the factor by which BM25 divides the frequency of a word in a text of this length.
#[expect(clippy::cast_precision_loss, reason = "no palace has 2^23 words in a room")]
pub(super) fn length_norm(normalization: f32, length: u32, mean: f32) -> f32 {
    1.0 - normalization + normalization * length as f32 / mean
}

/// Returns the weight of a neighbour's word for a passage of this length.
#[expect(clippy::cast_precision_loss, reason = "no palace has 2^23 words in a passage")]
pub(super) fn neighbour_weight(length: u32) -> f32 {
    NEIGHBOUR_WEIGHT * HALF_NEIGHBOUR_WEIGHT_LENGTH / (HALF_NEIGHBOUR_WEIGHT_LENGTH + length as f32)
}

/// The difference between the factors of a room's last and first document, for queries that ask
/// for the present state.
const RECENCY_WEIGHT: f32 = 0.3;

impl Index {
    /// Returns the factor for the score of a document. If `prefers_latest`, it rises with the
    /// position of the document among the dated ones of its room; otherwise, and for a document
    /// without a date, it is 1.
    #[expect(clippy::cast_precision_loss, reason = "no palace has 2^23 documents in a room")]
    pub(in crate::search) fn recency_factor(
        &self,
        prefers_latest: bool,
        entry: &IndexedDocument,
    ) -> f32 {
        if !prefers_latest || entry.written.is_none() {
            return 1.0;
        }
        let in_order = &self.rooms[entry.room as usize].documents_in_order;
        let written = |it: &u32| self.documents[*it as usize].as_ref().and_then(|it| it.written);
        let undated = in_order.partition_point(|it| written(it).is_none());
        let older = in_order.partition_point(|it| written(it) < entry.written) - undated;
        let newer = in_order.len() - in_order.partition_point(|it| written(it) <= entry.written);
        let position = match older + newer {
            0 => 0.5,
            others => older as f32 / others as f32,
        };
        1.0 + RECENCY_WEIGHT * (position - 0.5)
    }
}
