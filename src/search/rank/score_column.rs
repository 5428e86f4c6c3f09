//! Scores while they are added up.

/// BM25's saturation of repeated words.
const K1: f32 = 1.2;

/// Scores of things of one sort, and what the word at hand adds to them.
pub(crate) struct ScoreColumn {
    pub(crate) scores: Vec<f32>,
    term_frequencies: Vec<f32>,
    touched: Vec<u32>,
}

impl ScoreColumn {
    pub(crate) fn with_length(length: usize) -> Self {
        Self { scores: vec![0.0; length], term_frequencies: vec![0.0; length], touched: Vec::new() }
    }

    /// Notes how much of the word at hand something holds.
    pub(crate) fn add_frequency(&mut self, number: u32, much: f32) {
        let word = &mut self.term_frequencies[number as usize];
        if *word == 0.0 {
            self.touched.push(number);
        }
        *word += much;
    }

    /// Ends a word: what was noted is saturated and counts by the word's rarity.
    pub(crate) fn finish_term(&mut self, rarity: f32, norm: impl Fn(u32) -> f32) {
        for number in self.touched.drain(..) {
            let much = std::mem::take(&mut self.term_frequencies[number as usize]) / norm(number);
            self.scores[number as usize] += rarity * much * (K1 + 1.0) / (K1 + much);
        }
    }
}
