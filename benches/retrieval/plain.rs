//! The baseline: textbook BM25 over whole notes.
//!
//! Words are runs of letters and digits in lower case; no stems, no stop words, no
//! fields, k1 1.2 and b 0.75. Any cleverer method has to beat this.

use std::collections::{BTreeMap, HashMap};

use crate::corpus::Note;

const K1: f64 = 1.2;
const B: f64 = 0.75;

/// A plain BM25 index.
pub(crate) struct PlainBm25<'a> {
    notes: &'a [Note],
    counts: Vec<HashMap<String, f64>>,
    lengths: Vec<f64>,
    document_frequency: HashMap<String, f64>,
}

impl<'a> PlainBm25<'a> {
    /// Indexes title and text of every note.
    pub(crate) fn new(notes: &'a [Note]) -> Self {
        let mut plain = Self {
            notes,
            counts: Vec::new(),
            lengths: Vec::new(),
            document_frequency: HashMap::new(),
        };
        for note in notes {
            let mut counts: HashMap<String, f64> = HashMap::new();
            for word in tokenize(&format!("{}\n{}", note.title, note.text)) {
                *counts.entry(word).or_default() += 1.0;
            }
            for word in counts.keys() {
                *plain.document_frequency.entry(word.clone()).or_default() += 1.0;
            }
            plain.lengths.push(counts.values().sum());
            plain.counts.push(counts);
        }
        plain
    }

    /// Returns the numbers of the best notes, in one wing if it is named.
    #[expect(clippy::cast_precision_loss, reason = "no set has 2^52 notes")]
    pub(crate) fn search(&self, ask: &str, wing: Option<&str>, most: usize) -> Vec<usize> {
        let all = self.notes.len() as f64;
        let average = self.lengths.iter().sum::<f64>() / all;
        let mut scores = BTreeMap::new();
        for word in tokenize(ask) {
            let Some(holding) = self.document_frequency.get(&word) else { continue };
            let rarity = (1.0 + (all - holding + 0.5) / (holding + 0.5)).ln();
            for (number, counts) in self.counts.iter().enumerate() {
                let Some(count) = counts.get(&word) else { continue };
                if wing.is_none_or(|it| it == self.notes[number].wing) {
                    let norm = K1 * (1.0 - B + B * self.lengths[number] / average);
                    *scores.entry(number).or_insert(0.0) +=
                        rarity * count * (K1 + 1.0) / (count + norm);
                }
            }
        }
        let mut found: Vec<(usize, f64)> = scores.into_iter().collect();
        found.sort_by(|a, b| b.1.total_cmp(&a.1));
        found.into_iter().take(most).map(|(number, _)| number).collect()
    }
}

fn tokenize(text: &str) -> Vec<String> {
    let words = text.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty());
    words.map(str::to_lowercase).collect()
}
