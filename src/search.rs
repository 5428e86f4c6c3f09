//! Finding things by their words: an inverted index in memory, ranked by BM25.
//!
//! The index is a picture of the palace, never the source of truth: whoever
//! changes a thing puts it in anew. Terms are words in lower case; a word of
//! the question that nothing holds stands for the words it begins.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::model::Opening;

/// BM25's saturation of repeated words and its share of length normalisation,
/// as is usual for short notes.
const K1: f64 = 1.2;
const B: f64 = 0.4;

/// How many words one unfinished word of a question may stand for.
const EXPANSIONS: usize = 20;

/// Words that say nothing about what is asked for; dropped from questions only.
const STOP_WORDS: &[&str] = &[
    "a", "about", "an", "and", "are", "as", "at", "be", "by", "did", "do", "does", "for", "from",
    "had", "has", "have", "how", "i", "in", "is", "it", "its", "of", "on", "or", "that", "the",
    "their", "there", "these", "this", "to", "was", "we", "were", "what", "when", "where", "which",
    "who", "why", "with",
];

/// An index of everything in one palace that can be found and opened.
#[derive(Clone, Debug, Default)]
pub struct Index {
    numbers: HashMap<Opening, u32>,
    documents: HashMap<u32, Document>,
    postings: BTreeMap<String, BTreeMap<u32, f64>>,
    next: u32,
    length: f64,
}

#[derive(Clone, Debug)]
struct Document {
    opening: Opening,
    terms: BTreeSet<String>,
    length: f64,
}

/// One thing found, with how well it fits.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// What was found.
    pub opening: Opening,
    /// Higher fits better; comparable within one answer only.
    pub score: f64,
}

impl Index {
    /// Puts in `opening` by the words of its `fields`, each with the weight a
    /// word has in it, in place of what was known of it.
    pub fn put(&mut self, opening: Opening, fields: &[(f64, &str)]) {
        self.take(&opening);
        let number = self.next;
        self.next += 1;
        let mut weights: BTreeMap<String, f64> = BTreeMap::new();
        let mut length = 0.0;
        for (weight, text) in fields {
            for term in terms(text) {
                length += 1.0;
                *weights.entry(term).or_default() += weight;
            }
        }
        for (term, weight) in &weights {
            self.postings.entry(term.clone()).or_default().insert(number, *weight);
        }
        self.length += length;
        self.numbers.insert(opening.clone(), number);
        let terms = weights.into_keys().collect();
        self.documents.insert(number, Document { opening, terms, length });
    }

    /// Forgets `opening`.
    pub fn take(&mut self, opening: &Opening) {
        let known = self.numbers.remove(opening);
        let Some((number, document)) = known.and_then(|it| self.documents.remove_entry(&it)) else {
            return;
        };
        self.length -= document.length;
        for term in document.terms {
            if let Some(posting) = self.postings.get_mut(&term) {
                posting.remove(&number);
                if posting.is_empty() {
                    self.postings.remove(&term);
                }
            }
        }
    }

    /// Finds what the words of `question` fit, best first, among the openings
    /// that `wanted` admits. Equals are told apart by their names, so that the
    /// same question has the same answer.
    pub fn find(&self, question: &str, wanted: impl Fn(&Opening) -> bool) -> Vec<Hit> {
        let mut scores: HashMap<u32, f64> = HashMap::new();
        for word in words_asked(question) {
            for (number, score) in self.score(&word) {
                *scores.entry(number).or_default() += score;
            }
        }
        let known = scores.into_iter().filter_map(|(number, score)| {
            let opening = &self.documents.get(&number)?.opening;
            wanted(opening).then(|| Hit { opening: opening.clone(), score })
        });
        let mut hits: Vec<_> = known.collect();
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.opening.cmp(&b.opening)));
        hits
    }

    fn score(&self, word: &str) -> BTreeMap<u32, f64> {
        let mut weights: BTreeMap<u32, f64> = BTreeMap::new();
        for posting in self.meant_by(word) {
            for (number, weight) in posting {
                *weights.entry(*number).or_default() += weight;
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "no palace has 2^52 things")]
        let (all, holding) = (self.documents.len() as f64, weights.len() as f64);
        let rarity = (1.0 + (all - holding + 0.5) / (holding + 0.5)).ln();
        let average = (self.length / all).max(1.0);
        for (number, weight) in &mut weights {
            let length = self.documents.get(number).map_or(average, |it| it.length);
            let norm = K1 * (1.0 - B + B * length / average);
            *weight = rarity * *weight * (K1 + 1.0) / (*weight + norm);
        }
        weights
    }

    /// Yields the postings of a word; of a word nobody used, those of the words
    /// it begins, and of its singular.
    fn meant_by(&self, word: &str) -> Vec<&BTreeMap<u32, f64>> {
        if let Some(posting) = self.postings.get(word) {
            return vec![posting];
        }
        let stem = word.strip_suffix('s').filter(|it| it.len() > 2).unwrap_or(word);
        let range = self.postings.range(stem.to_owned()..);
        let begun = range.take_while(|(term, _)| term.starts_with(stem)).take(EXPANSIONS);
        begun.map(|(_, posting)| posting).collect()
    }
}

/// Yields the words of a question that say something; all of them if none does.
pub fn words_asked(question: &str) -> Vec<String> {
    let all: Vec<_> = terms(question).collect();
    let telling: Vec<_> =
        all.iter().filter(|it| !STOP_WORDS.contains(&it.as_str())).cloned().collect();
    if telling.is_empty() { all } else { telling }
}

/// Returns the words of `text` around the first that was asked for, about
/// `most` characters of them.
pub fn excerpt(text: &str, question: &str, most: usize) -> String {
    let asked = words_asked(question);
    let words: Vec<&str> = text.split_whitespace().collect();
    let told = |word: &&str| {
        terms(word).any(|it| asked.iter().any(|asked| it.starts_with(asked.trim_end_matches('s'))))
    };
    let at = words.iter().position(told).unwrap_or_default();
    let mut room = most / 3;
    let before = words[..at].iter().rev().take_while(|it| take(&mut room, it)).count();
    let mut room = most - most / 3;
    let after = words[at..].iter().take_while(|it| take(&mut room, it)).count();
    let shown = words[at - before..at + after].join(" ");
    let from = if before < at { "…" } else { "" };
    let to = if at + after < words.len() { "…" } else { "" };
    format!("{from}{shown}{to}")
}

fn take(room: &mut usize, word: &str) -> bool {
    let length = word.chars().count() + 1;
    let fits = length <= *room;
    *room = room.saturating_sub(length);
    fits
}

fn terms(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty());
    words.map(str::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(entities: &[(&str, &str)]) -> Index {
        let mut index = Index::default();
        for (name, text) in entities {
            index.put(Opening::Entity((*name).to_owned()), &[(3.0, name), (1.0, text)]);
        }
        index
    }

    fn found(index: &Index, question: &str) -> Vec<String> {
        let hits = index.find(question, |_| true).into_iter();
        hits.map(|it| match it.opening {
            Opening::Entity(name) => name,
            _ => unreachable!(),
        })
        .collect()
    }

    #[test]
    fn a_name_counts_for_more_than_a_mention() {
        let index = index(&[("Geology", "rocks"), ("Biology", "unlike geology, alive")]);
        assert_eq!(found(&index, "what about geology?"), ["Geology", "Biology"]);
    }

    #[test]
    fn a_word_nobody_used_stands_for_the_words_it_begins() {
        let index = index(&[("Geology", "rocks"), ("Biology", "cells")]);
        assert_eq!(found(&index, "geol"), ["Geology"]);
        assert_eq!(found(&index, "cell"), ["Biology"]);
        assert_eq!(found(&index, "zebra"), [""; 0]);
    }

    #[test]
    fn what_was_taken_out_is_not_found_again() {
        let mut index = index(&[("Geology", "rocks")]);
        index.put(Opening::Entity("Geology".to_owned()), &[(1.0, "stones")]);
        assert_eq!(found(&index, "rocks"), [""; 0]);
        assert_eq!(found(&index, "stones"), ["Geology"]);
        index.take(&Opening::Entity("Geology".to_owned()));
        assert!(index.postings.is_empty() && index.documents.is_empty());
    }

    #[test]
    fn an_excerpt_shows_the_words_that_were_asked_for() {
        let text = format!("{} İstanbul keeps the fossils {}", "x ".repeat(100), "y ".repeat(100));
        assert!(excerpt(&text, "the fossil", 60).contains("fossils"));
        assert_eq!(excerpt("short", "nothing", 60), "short");
    }
}
