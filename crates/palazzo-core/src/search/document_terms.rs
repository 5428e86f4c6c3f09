//! Analyzes a document: converts its passages to terms.

use crate::search::Document;
use crate::search::date_words;
use crate::search::index_data::Posting;
use crate::search::language::Language;
use crate::search::lexicon::{Lexicon, TermId};
use crate::search::passage::split_passages;
use crate::search::words::for_each_word;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// Weights of a word in the title, in the place name and in the date; a word of the text has
/// weight 1.
const TITLE_WEIGHT: f32 = 3.0;
const PLACE_WEIGHT: f32 = 1.0;
const DATE_WEIGHT: f32 = 0.5;

/// The passages of a document.
pub(crate) struct DocumentTerms {
    pub(crate) passages: Vec<PassageTerms>,
}

/// One passage: its range in the text in bytes, its word count and its terms.
pub(crate) struct PassageTerms {
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) length: u32,
    /// The key of its embedding.
    pub(crate) embedding_key: u64,
    /// Each term once, with its frequency and the scaled weight from title, place, date and
    /// other fields.
    pub(crate) terms: Vec<(TermId, u16, u16)>,
}

impl DocumentTerms {
    /// Analyzes a document; adds new words to `lexicon`.
    pub(crate) fn from_document(document: &Document<'_>, lexicon: &mut Lexicon) -> Self {
        let text = &document.text;
        let language = match text.is_empty() {
            true => Language::detect(&document.title),
            false => Language::detect(text),
        };
        let field_terms = field_terms(document, lexicon, language);
        let passages = split_passages(text).into_iter().map(|at| {
            let (mut length, mut text_terms) = (0, Vec::new());
            for_each_word(&text[at.clone()], |word| {
                length += u32::from(!word.is_compound);
                text_terms.extend(lexicon.intern_word(&word, language));
            });
            text_terms.sort_unstable();
            let [from, to] = [at.start, at.end].map(|it| u32::try_from(it).unwrap_or(u32::MAX));
            let key = embedding_key(&document.title, &text[at]);
            PassageTerms {
                start: from,
                end: to,
                length,
                embedding_key: key,
                terms: merge_terms(&text_terms, &field_terms),
            }
        });
        Self { passages: passages.collect() }
    }

    /// Replaces each term by the element of `terms` at its index.
    pub(crate) fn renumber_terms(&mut self, terms: &[TermId]) {
        for (term, ..) in self.passages.iter_mut().flat_map(|it| &mut it.terms) {
            *term = terms[*term as usize];
        }
    }
}

/// Returns the weights of the terms that count for every passage of a document.
fn field_terms(
    document: &Document<'_>,
    lexicon: &mut Lexicon,
    language: Language,
) -> Vec<(TermId, f32)> {
    let mut weights: Vec<(TermId, f32)> = Vec::new();
    let mut add = |weight: f32, text: &str, language: Language| {
        let mut terms = Vec::new();
        for_each_word(text, |word| terms.extend(lexicon.intern_word(&word, language)));
        // Each term counts once per field, because place names repeat words.
        terms.sort_unstable();
        terms.dedup();
        weights.extend(terms.into_iter().map(|it| (it, weight)));
    };
    add(TITLE_WEIGHT, &document.title, language);
    add(PLACE_WEIGHT, &document.place_name, language);
    if let Some(written) = document.written {
        add(DATE_WEIGHT, &date_words::date_words(written), Language::ENGLISH);
    }
    for (weight, text) in &document.weighted_fields {
        add(*weight, text, language);
    }
    weights.sort_unstable_by_key(|(term, _)| *term);
    weights.dedup_by(|next, first| {
        let same = next.0 == first.0;
        first.1 += if same { next.1 } else { 0.0 };
        same
    });
    weights
}

/// Merges the terms of the text and of the fields; both lists are sorted by term.
fn merge_terms(text_terms: &[TermId], field_terms: &[(TermId, f32)]) -> Vec<(TermId, u16, u16)> {
    let mut terms: Vec<(TermId, u16, u16)> =
        Vec::with_capacity(text_terms.len() + field_terms.len());
    for run in text_terms.chunk_by(|a, b| a == b) {
        terms.push((run[0], u16::try_from(run.len()).unwrap_or(u16::MAX), 0));
    }
    let own = terms.len();
    for (term, weight) in field_terms {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the cast saturates, as intended"
        )]
        let field_weight = (weight * Posting::FIELD_WEIGHT_SCALE) as u16;
        match terms[..own].binary_search_by_key(term, |(it, ..)| *it) {
            Ok(at) => terms[at].2 = field_weight,
            Err(_) => terms.push((*term, 0, field_weight)),
        }
    }
    terms
}

/// Returns the key of a passage's embedding: a hash of its title and text.
pub(crate) fn embedding_key(title: &str, passage: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (title, passage).hash(&mut hasher);
    hasher.finish()
}
