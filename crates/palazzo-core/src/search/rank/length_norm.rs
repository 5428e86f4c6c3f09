//! Length normalization: how much the words of short and of long texts count.

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
