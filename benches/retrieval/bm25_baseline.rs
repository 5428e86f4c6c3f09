//! The baseline: BM25 over whole notes, as in textbooks.
//!
//! Tokens are sequences of letters and digits in lower case. There is no stemming, there are no
//! stop words and no fields; k1 is 1.2 and b is 0.75.

use std::collections::{BTreeMap, HashMap};

use crate::corpus::Note;

const K1: f64 = 1.2;
const B: f64 = 0.75;

/// A BM25 index.
pub(crate) struct Bm25Baseline<'a> {
    notes: &'a [Note],
    token_counts: Vec<HashMap<String, f64>>,
    lengths: Vec<f64>,
    document_frequency: HashMap<String, f64>,
}

impl<'a> Bm25Baseline<'a> {
    /// Indexes title and text of every note.
    pub(crate) fn new(notes: &'a [Note]) -> Self {
        let mut index = Self {
            notes,
            token_counts: Vec::new(),
            lengths: Vec::new(),
            document_frequency: HashMap::new(),
        };
        for note in notes {
            let mut counts: HashMap<String, f64> = HashMap::new();
            for token in tokenize(&format!("{}\n{}", note.title, note.text)) {
                *counts.entry(token).or_default() += 1.0;
            }
            for token in counts.keys() {
                *index.document_frequency.entry(token.clone()).or_default() += 1.0;
            }
            index.lengths.push(counts.values().sum());
            index.token_counts.push(counts);
        }
        index
    }

    /// Returns the numbers of the best notes, in `wing` or in all wings.
    #[expect(clippy::cast_precision_loss, reason = "there are fewer than 2^52 notes")]
    pub(crate) fn search(&self, query: &str, wing: Option<&str>, limit: usize) -> Vec<usize> {
        let note_count = self.notes.len() as f64;
        let mean_length = self.lengths.iter().sum::<f64>() / note_count;
        let mut scores = BTreeMap::new();
        for token in tokenize(query) {
            let Some(frequency) = self.document_frequency.get(&token) else { continue };
            let idf = (1.0 + (note_count - frequency + 0.5) / (frequency + 0.5)).ln();
            for (number, counts) in self.token_counts.iter().enumerate() {
                let Some(count) = counts.get(&token) else { continue };
                if wing.is_none_or(|it| it == self.notes[number].wing) {
                    let norm = K1 * (1.0 - B + B * self.lengths[number] / mean_length);
                    *scores.entry(number).or_insert(0.0) +=
                        idf * count * (K1 + 1.0) / (count + norm);
                }
            }
        }
        let mut hits: Vec<(usize, f64)> = scores.into_iter().collect();
        hits.sort_by(|a, b| b.1.total_cmp(&a.1));
        hits.into_iter().take(limit).map(|(number, _)| number).collect()
    }
}

fn tokenize(text: &str) -> Vec<String> {
    let tokens = text.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty());
    tokens.map(str::to_lowercase).collect()
}
