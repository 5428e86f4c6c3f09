//! How many tokens a text has for a language model, estimated.

use crate::model::token_weight;

/// Returns how many tokens a text has at most, or so: what the public tokenizer `cl100k_base`
/// counts, or a little more. Other models count differently by up to a fifth.
pub fn estimate_token_count(text: &str) -> usize {
    token_weight(text).div_ceil(3)
}
