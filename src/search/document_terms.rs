//! A document, read: its passages as terms.

use crate::search::Document;
use crate::search::date_words;
use crate::search::hybrid_rank::embedding_key;
use crate::search::index::Posting;
use crate::search::language::Language;
use crate::search::lexicon::{Lexicon, Term};
use crate::search::passage::split_passages;
use crate::search::words::for_each_word;

/// What a word counts in a title, in the name of a place and in a date, where a
/// word of the text has 1.
const TITLE_WEIGHT: f32 = 3.0;
const PLACE_WEIGHT: f32 = 1.0;
const DATE_WEIGHT: f32 = 0.5;

/// The passages of a document.
pub(crate) struct DocumentTerms {
    pub(crate) passages: Vec<PassageTerms>,
}

/// One passage: where it stands, how many words it has, and which.
pub(crate) struct PassageTerms {
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) length: u32,
    /// What its meaning is known by.
    pub(crate) embedding_key: u64,
    /// Each term once: how often it is said, and what title, place, date and
    /// the like add to it.
    pub(crate) terms: Vec<(Term, u16, u16)>,
}

impl DocumentTerms {
    /// Reads a document; words that `lexicon` does not have are put in.
    pub(crate) fn from_document(document: &Document<'_>, lexicon: &mut Lexicon) -> Self {
        let text = &document.text;
        let language = match text.is_empty() {
            true => Language::detect(&document.title),
            false => Language::detect(text),
        };
        let asides = field_terms(document, lexicon, language);
        let passages = split_passages(text).into_iter().map(|at| {
            let (mut length, mut said) = (0, Vec::new());
            for_each_word(&text[at.clone()], |word| {
                length += u32::from(!word.is_compound);
                said.push(lexicon.intern_word(&word, language));
            });
            said.sort_unstable();
            let [from, to] = [at.start, at.end].map(|it| u32::try_from(it).unwrap_or(u32::MAX));
            let key = embedding_key(&document.title, &text[at]);
            PassageTerms {
                start: from,
                end: to,
                length,
                embedding_key: key,
                terms: merge_terms(&said, &asides),
            }
        });
        Self { passages: passages.collect() }
    }

    /// Gives the terms other numbers: each the one in its place in `terms`.
    pub(crate) fn renumber_terms(&mut self, terms: &[Term]) {
        for (term, ..) in self.passages.iter_mut().flat_map(|it| &mut it.terms) {
            *term = terms[*term as usize];
        }
    }
}

/// Returns what counts for every passage of a document, by term.
fn field_terms(
    document: &Document<'_>,
    lexicon: &mut Lexicon,
    language: Language,
) -> Vec<(Term, f32)> {
    let mut asides: Vec<(Term, f32)> = Vec::new();
    let mut add = |weight: f32, text: &str, language: Language| {
        let mut terms = Vec::new();
        for_each_word(text, |word| terms.push(lexicon.intern_word(&word, language)));
        // Said twice is not said better: names of places repeat themselves.
        terms.sort_unstable();
        terms.dedup();
        asides.extend(terms.into_iter().map(|it| (it, weight)));
    };
    add(TITLE_WEIGHT, &document.title, language);
    add(PLACE_WEIGHT, &document.place_name, language);
    if let Some(written) = document.written {
        add(DATE_WEIGHT, &date_words::date_words(written), Language::ENGLISH);
    }
    for (weight, text) in &document.weighted_fields {
        add(*weight, text, language);
    }
    asides.sort_unstable_by_key(|(term, _)| *term);
    asides.dedup_by(|next, first| {
        let same = next.0 == first.0;
        first.1 += if same { next.1 } else { 0.0 };
        same
    });
    asides
}

/// Brings both lists together, which are in order.
fn merge_terms(said: &[Term], asides: &[(Term, f32)]) -> Vec<(Term, u16, u16)> {
    let mut terms: Vec<(Term, u16, u16)> = Vec::with_capacity(said.len() + asides.len());
    for run in said.chunk_by(|a, b| a == b) {
        terms.push((run[0], u16::try_from(run.len()).unwrap_or(u16::MAX), 0));
    }
    let own = terms.len();
    for (term, weight) in asides {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "casts of floats stop at the ends, which is what is wanted"
        )]
        let aside = (weight * Posting::FIELD_WEIGHT_SCALE) as u16;
        match terms[..own].binary_search_by_key(term, |(it, ..)| *it) {
            Ok(at) => terms[at].2 = aside,
            Err(_) => terms.push((*term, 0, aside)),
        }
    }
    terms
}
