//! The lexicon: all words of the palace, each with the number of its term.

use std::collections::HashMap;
use std::sync::Arc;

use crate::search::language::Language;
use crate::search::similar_words::{SimilarWords, is_similar_stem};
use crate::search::word_beginnings::WordBeginnings;
use crate::search::words::{Script, Word};

/// The number of a word in the index, the same for all its forms.
pub(super) type TermId = u32;

/// The terms, and all spellings of words. Words are never removed: an unused word costs only
/// the memory of its letters.
#[derive(Clone, Debug)]
pub(super) struct Lexicon {
    terms: HashMap<Box<str>, TermId, foldhash::fast::RandomState>,
    /// The stems of the terms by first letter, for the search of similar stems.
    stems: HashMap<char, WordList>,
    /// The spellings by language; a cache that saves stemming a word again.
    spellings: Vec<Spellings>,
    /// The beginnings of the only words that have terms; `None` if all have.
    beginnings: Option<Arc<WordBeginnings>>,
}

/// The spellings of one language.
#[derive(Clone, Debug, Default)]
struct Spellings {
    /// The term of each spelling.
    terms: HashMap<Box<str>, TermId, foldhash::fast::RandomState>,
    /// All spellings, for the search of similar words.
    words: WordList,
    /// True if any text has a word of the language.
    is_in_use: bool,
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
        Self { terms: HashMap::default(), stems: HashMap::new(), spellings, beginnings: None }
    }
}

impl Lexicon {
    /// Creates an empty lexicon that has terms only for words with these beginnings.
    pub(super) fn for_words(beginnings: WordBeginnings) -> Self {
        Self { beginnings: Some(Arc::new(beginnings)), ..Self::default() }
    }

    /// Returns the number of terms; they are numbered from 0.
    pub(super) fn len(&self) -> usize {
        self.terms.len()
    }

    /// Returns the term of a word in a text of `language`; adds it if it is new. `None` for a
    /// word with another beginning than the lexicon has.
    pub(super) fn intern_word(&mut self, word: &Word<'_>, language: Language) -> Option<TermId> {
        let language = language.for_script(word.script);
        self.spellings[language.index()].is_in_use = true;
        if self.beginnings.as_ref().is_some_and(|it| !it.may_contain(word.text, word.script)) {
            return None;
        }
        if let Some(term) = self.spellings[language.index()].terms.get(word.text) {
            return Some(*term);
        }
        let term = self.intern_stem(language.stem(word.text).into());
        self.spellings[language.index()].add(word.text, term);
        Some(term)
    }

    /// Returns the term of a word of `language`, if the lexicon has one.
    pub(super) fn find_term(&self, word: &str, language: Language) -> Option<TermId> {
        let term = self.spellings[language.index()].terms.get(word).copied();
        term.or_else(|| self.terms.get(language.stem(word).as_str()).copied())
    }

    /// Returns the terms of a word in all languages in use.
    pub(super) fn find_terms_in_all_languages(&self, word: &str, script: Script) -> Vec<TermId> {
        self.languages_in_use(script).filter_map(|it| self.find_term(word, it)).collect()
    }

    /// Returns the terms of the words that are [similar](SimilarWords) to `word`. If there are
    /// none, stems are compared instead of words: `replce` is one letter from the stem of
    /// `replaced` and `replacing`.
    pub(super) fn similar_terms(&self, word: &str, script: Script) -> Vec<TermId> {
        let similar = SimilarWords::new(word, script);
        let all =
            self.languages_in_use(script).flat_map(|it| self.spellings[it.index()].words.iter());
        let meant = all.filter(|(spelling, _)| similar.contains(spelling)).map(|(_, term)| term);
        let meant: Vec<TermId> = meant.collect();
        match meant.is_empty() && similar.may_be_misspelt() {
            true => self
                .languages_in_use(script)
                .flat_map(|it| self.terms_with_similar_stem(word, it))
                .collect(),
            false => meant,
        }
    }

    /// Returns the terms of a language whose stems are similar to that of `word`.
    fn terms_with_similar_stem(&self, word: &str, language: Language) -> Vec<TermId> {
        let stem = language.stem(word);
        let spoken = &self.spellings[language.index()].words.terms;
        let near = stem.chars().next().and_then(|it| self.stems.get(&it));
        let near = near.into_iter().flat_map(WordList::iter);
        let near = near.filter(|(it, _)| is_similar_stem(&stem, it)).map(|(_, term)| term);
        near.filter(|it| spoken.contains(it)).collect()
    }

    /// Adds the words of another lexicon; returns the term here for each of its terms.
    pub(super) fn merge(&mut self, other: Self) -> Vec<TermId> {
        if self.terms.is_empty() {
            let empty = std::mem::replace(self, other);
            for (ours, theirs) in self.spellings.iter_mut().zip(empty.spellings) {
                ours.is_in_use |= theirs.is_in_use;
            }
            return (0..TermId::try_from(self.len()).unwrap_or(TermId::MAX)).collect();
        }
        let mut stems: Vec<(Box<str>, TermId)> = other.terms.into_iter().collect();
        stems.sort_unstable_by_key(|(_, term)| *term);
        let here: Vec<TermId> = stems.into_iter().map(|(stem, _)| self.intern_stem(stem)).collect();
        for (ours, theirs) in self.spellings.iter_mut().zip(other.spellings) {
            ours.is_in_use |= theirs.is_in_use;
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
        Language::all()
            .filter(move |it| it.for_script(script) == *it && self.spellings[it.index()].is_in_use)
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
