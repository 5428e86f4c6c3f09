//! How long a text is for a language model: counted, not guessed.
//!
//! The makers of most models keep their tokenizers to themselves. This counts
//! with `cl100k_base`, which is public: what another model counts differs by a
//! fifth at times, so a number of tokens is a measure and not a promise.

use tiktoken_rs::cl100k_base_singleton;

/// The tokenizer that counts.
pub const TOKENIZER: &str = "cl100k_base";

/// Counts the tokens of a text. The first count of a process takes a tenth of a
/// second longer than others.
pub fn count_tokens(text: &str) -> usize {
    cl100k_base_singleton().encode_ordinary(text).len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_counts_match_the_tokenizer() {
        assert_eq!(count_tokens(""), 0);
        assert_eq!(count_tokens("hello world"), 2);
        assert_eq!(count_tokens("<|endoftext|>"), 7, "what looks like a command is text");
        assert_eq!(count_tokens(&" ".repeat(100_000)), 782);
    }
}
