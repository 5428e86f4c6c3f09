//! Accumulates BM25 scores, one term at a time.

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
