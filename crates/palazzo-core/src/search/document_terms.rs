//! Analyzes a document: splits it into passages, and converts these to terms.

use crate::search::Document;
use crate::search::date_words;
use crate::search::index_data::Posting;
use crate::search::language::Language;
use crate::search::lexicon::{Lexicon, TermId};
use crate::search::words::{byte_prefix, for_each_word};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ops::Range;

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

/// Target length of a passage: some sentences.
const PASSAGE_BYTES: usize = 600;

/// Splits a text at line breaks and between sentences into passages of about the same length;
/// returns their ranges. A short text is one passage.
pub(super) fn split_passages(text: &str) -> Vec<Range<usize>> {
    if text.len() <= PASSAGE_BYTES + PASSAGE_BYTES / 2 {
        return std::iter::once(0..text.len()).collect();
    }
    let mut passages: Vec<Range<usize>> = Vec::new();
    for piece in split_sentences(text) {
        match passages.last_mut() {
            Some(last) if piece.end - last.start <= PASSAGE_BYTES => last.end = piece.end,
            _ => passages.push(piece),
        }
    }
    passages
}

/// Yields the sentences and lines of a text, none longer than a passage.
fn split_sentences(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let rest = &text[from..];
        if rest.is_empty() {
            return None;
        }
        let piece = from..from + sentence_end(rest);
        from = piece.end;
        Some(piece)
    })
}

/// Returns true if a character that ends a sentence may begin with a byte: those outside ASCII are
/// `؟`, `۔`, `…`, `。`, `！` and `？`.
fn may_end_sentence(byte: u8) -> bool {
    matches!(byte, b'\n' | b'.' | b'!' | b'?' | 0xd8 | 0xdb | 0xe2 | 0xe3 | 0xef)
}

fn sentence_end(rest: &str) -> usize {
    let near = byte_prefix(rest, PASSAGE_BYTES);
    let mut at = 0;
    while let Some(skipped) = near.as_bytes()[at..].iter().position(|it| may_end_sentence(*it)) {
        let mut signs = near[at + skipped..].chars();
        let (sign, next) = (signs.next(), signs.next());
        at += skipped + sign.map_or(0, char::len_utf8);
        match (sign, next.filter(|it| it.is_whitespace())) {
            (Some('\n' | '。' | '！' | '？' | '۔'), _) => return at,
            (Some('.' | '!' | '?' | '…' | '؟'), Some(space)) => return at + space.len_utf8(),
            _ => {}
        }
    }
    if near.len() == rest.len() {
        return rest.len();
    }
    // A sentence longer than a passage is split between words if possible.
    let last = near.rmatch_indices(char::is_whitespace).next();
    last.map_or(near.len(), |(at, blank)| at + blank.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn passage_texts(text: &str) -> Vec<&str> {
        split_passages(text).into_iter().map(|it| &text[it]).collect()
    }

    #[test]
    fn a_short_text_is_one_passage() {
        assert_eq!(passage_texts("One. Two.\nThree."), ["One. Two.\nThree."]);
        assert_eq!(passage_texts(""), [""]);
    }

    #[test]
    fn a_long_text_is_cut_between_sentences_and_nothing_is_lost() {
        let sentence = "Here is a sentence of nearly sixty letters to read slowly. ";
        let text = sentence.repeat(25);
        let cut = passage_texts(&text);
        assert_eq!(cut.concat(), text);
        assert_eq!(cut[0], sentence.repeat(10));
    }

    proptest! {
        #[test]
        fn any_text_is_cut_without_loss(
            text in "([a-d]{0,9}|[é漢.。])([ \u{a0}\u{2028}\u{3000}]?|\n)".prop_map(|it| it.repeat(400))
        ) {
            let cut = passage_texts(&text);
            prop_assert_eq!(cut.concat(), text);
        }
    }

    #[test]
    fn texts_without_sentences_or_words_are_cut_too() {
        for text in [
            "x".repeat(2_000),
            "é ".repeat(900),
            "漢".repeat(500),
            "\n".repeat(999),
            "漢\u{3000}".repeat(400),
        ] {
            let cut = passage_texts(&text);
            assert_eq!(cut.concat(), text);
            assert!(cut.iter().all(|it| it.len() <= PASSAGE_BYTES && !it.is_empty()), "{cut:?}");
        }
    }
}
