//! The lexicon: all words of the palace, each with the number of its term.

use std::collections::HashMap;

use crate::search::language::Language;
use crate::search::words::{Script, Word, byte_prefix};

/// The number of a word in the index, the same for all its forms.
pub(super) type TermId = u32;

/// Minimum lengths of a word whose spelling is corrected, of its stem, and of a word that is
/// completed.
const MIN_CORRECTED_WORD: usize = 4;
const MIN_CORRECTED_STEM: usize = 5;
const MIN_COMPLETED_WORD: usize = 3;

/// The terms, and all spellings of words. Words are never removed: an unused word costs only
/// the memory of its letters.
#[derive(Clone, Debug)]
pub(super) struct Lexicon {
    terms: HashMap<Box<str>, TermId>,
    /// The stems of the terms by first letter, for the search of similar stems.
    stems: HashMap<char, WordList>,
    /// The spellings by language; a cache that saves stemming a word again.
    spellings: Vec<Spellings>,
}

/// The spellings of one language.
#[derive(Clone, Debug, Default)]
struct Spellings {
    terms: HashMap<Box<str>, TermId>,
    /// All spellings, for the search of similar words.
    words: WordList,
}

/// Words, one per line, and their terms.
#[derive(Clone, Debug, Default)]
struct WordList {
    words: String,
    terms: Vec<TermId>,
}

impl Default for Lexicon {
    fn default() -> Self {
        let spellings = Language::all().map(|_| Spellings::default()).collect();
        Self { terms: HashMap::new(), stems: HashMap::new(), spellings }
    }
}

impl Lexicon {
    /// Returns the number of terms; they are numbered from 0.
    pub(super) fn len(&self) -> usize {
        self.terms.len()
    }

    /// Returns the term of a word in a text of `language`; adds it if it is new.
    pub(super) fn intern_word(&mut self, word: &Word<'_>, language: Language) -> TermId {
        let language = language.for_script(word.script);
        if let Some(term) = self.spellings[language.index()].terms.get(word.text) {
            return *term;
        }
        let term = self.intern_stem(language.stem(word.text).into());
        self.spellings[language.index()].add(word.text, term);
        term
    }

    /// Returns the term of a word of `language`, if the lexicon has one.
    pub(super) fn find_term(&self, word: &str, language: Language) -> Option<TermId> {
        let term = self.spellings[language.index()].terms.get(word);
        term.or_else(|| self.terms.get(language.stem(word).as_str())).copied()
    }

    /// Returns the terms of a word in all languages in use.
    pub(super) fn find_terms_in_all_languages(&self, word: &str, script: Script) -> Vec<TermId> {
        self.languages_in_use(script).filter_map(|it| self.find_term(word, it)).collect()
    }

    /// Returns the terms of similar words: words one edit (insertion, deletion, substitution,
    /// transposition) away from `word`; words that begin with it; and, for a single character
    /// of a script without spaces, pairs that contain it. If there are none, stems are compared
    /// instead of words: `replce` is one letter from the stem of `replaced` and `replacing`.
    pub(super) fn similar_terms(&self, word: &str, script: Script) -> Vec<TermId> {
        let letters = word.chars().count();
        let (may_begin, may_err) =
            (letters >= MIN_COMPLETED_WORD, letters >= MIN_CORRECTED_WORD && !has_digits(word));
        let alone = script == Script::Unspaced && letters == 1;
        let is_meant = |spelling: &str| {
            may_begin && spelling.starts_with(word)
                || may_err && is_within_one_edit(word, spelling) && !has_digits(spelling)
                || alone && spelling.contains(word)
        };
        let all =
            self.languages_in_use(script).flat_map(|it| self.spellings[it.index()].words.iter());
        let meant = all.filter(|(spelling, _)| is_meant(spelling)).map(|(_, term)| term);
        let meant: Vec<TermId> = meant.collect();
        match meant.is_empty() && may_err {
            true => self
                .languages_in_use(script)
                .flat_map(|it| self.terms_with_similar_stem(word, it))
                .collect(),
            false => meant,
        }
    }

    /// Returns the terms of a language whose stems differ from that of `word` by one inserted,
    /// deleted or transposed letter inside. A stem with another first or last letter, or with
    /// a substituted letter (`recover`, `remove`), is usually another word, not a typing error.
    fn terms_with_similar_stem(&self, word: &str, language: Language) -> Vec<TermId> {
        let stem = language.stem(word);
        let stem = stem.as_str();
        let spoken = &self.spellings[language.index()].words.terms;
        let ends = |it: &str| (it.chars().next(), it.chars().next_back());
        let is_long = |it: &str| it.chars().count() >= MIN_CORRECTED_STEM;
        let is_meant = |it: &str| {
            is_within_one_edit(stem, it)
                && ends(stem) == ends(it)
                && (stem.len() != it.len() || sorted_letters(stem) == sorted_letters(it))
                && is_long(it)
                && !has_digits(it)
        };
        let near = stem.chars().next().filter(|_| is_long(stem)).and_then(|it| self.stems.get(&it));
        let near = near.into_iter().flat_map(WordList::iter);
        let near = near.filter(|(it, _)| is_meant(it)).map(|(_, term)| term);
        near.filter(|it| spoken.contains(it)).collect()
    }

    /// Adds the words of another lexicon; returns the term here for each of its terms.
    pub(super) fn merge(&mut self, other: Self) -> Vec<TermId> {
        let mut stems: Vec<(Box<str>, TermId)> = other.terms.into_iter().collect();
        stems.sort_unstable_by_key(|(_, term)| *term);
        let here: Vec<TermId> = stems.into_iter().map(|(stem, _)| self.intern_stem(stem)).collect();
        for (ours, theirs) in self.spellings.iter_mut().zip(other.spellings) {
            for (spelling, term) in theirs.words.iter() {
                if !ours.terms.contains_key(spelling) {
                    ours.add(spelling, here[term as usize]);
                }
            }
        }
        here
    }

    fn intern_stem(&mut self, stem: Box<str>) -> TermId {
        let next = TermId::try_from(self.terms.len()).unwrap_or(TermId::MAX);
        *self.terms.entry(stem).or_insert_with_key(|stem| {
            if let Some(initial) = stem.chars().next() {
                self.stems.entry(initial).or_default().add(stem, next);
            }
            next
        })
    }

    /// Yields the languages of `script` that have spellings.
    fn languages_in_use(&self, script: Script) -> impl Iterator<Item = Language> {
        Language::all().filter(move |it| {
            it.for_script(script) == *it && !self.spellings[it.index()].terms.is_empty()
        })
    }
}

impl Spellings {
    fn add(&mut self, spelling: &str, term: TermId) {
        self.terms.insert(spelling.into(), term);
        self.words.add(spelling, term);
    }
}

impl WordList {
    fn add(&mut self, word: &str, term: TermId) {
        self.words.push_str(word);
        self.words.push('\n');
        self.terms.push(term);
    }

    fn iter(&self) -> impl Iterator<Item = (&str, TermId)> {
        self.words.lines().zip(self.terms.iter().copied())
    }
}

/// Returns true if two words are equal or differ by one letter or one transposition.
fn is_within_one_edit(a: &str, b: &str) -> bool {
    if a.len().abs_diff(b.len()) > 4 {
        return false;
    }
    let same = |a: &str, b: &str| a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let begin = byte_prefix(a, same(a, b)).len();
    let (a, b) = (&a[begin..], &b[begin..]);
    let common = a.chars().rev().zip(b.chars().rev()).take_while(|(a, b)| a == b);
    let end: usize = common.map(|(it, _)| it.len_utf8()).sum();
    let (mut a, mut b) = (a[..a.len() - end].chars(), b[..b.len() - end].chars());
    match [a.next(), a.next(), a.next(), b.next(), b.next(), b.next()] {
        [_, None, None, _, None, None] => true,
        [Some(first), Some(second), None, third, fourth, None] => {
            (third, fourth) == (Some(second), Some(first))
        }
        _ => false,
    }
}

/// Returns the letters of a word, sorted.
fn sorted_letters(word: &str) -> Vec<char> {
    let mut letters: Vec<_> = word.chars().collect();
    letters.sort_unstable();
    letters
}

fn has_digits(word: &str) -> bool {
    word.bytes().any(|it| it.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_one_edit_apart_are_close() {
        for typed in ["fossl", "fossiil", "fosril", "fossli", "fössil", "fossil", "ossil"] {
            assert!(is_within_one_edit(typed, "fossil"), "{typed}");
        }
        for typed in ["fosl", "fossilss", "fsosli", "possul"] {
            assert!(!is_within_one_edit(typed, "fossil"), "{typed}");
        }
    }
}
