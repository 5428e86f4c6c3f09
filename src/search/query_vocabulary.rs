//! The words that a query can match: an index for this query alone needs no others.

use std::collections::BTreeSet;

use crate::search::language::Language;
use crate::search::query_parser::{QueryWord, QueryWords};
use crate::search::similar_words::{SimilarWords, is_similar_stem};
use crate::search::words::Script;

/// The words of a query, and the stems by which it finds words.
#[derive(Clone, Debug)]
pub(super) struct QueryVocabulary {
    similar_words: Vec<SimilarWords>,
    stems: BTreeSet<String>,
    /// The first bytes of the stems.
    initials: BTreeSet<u8>,
}

/// How a query relates to a word of a text.
pub(super) enum QueryRelation {
    /// The query finds the word, which has this stem.
    Finds(String),
    /// The query finds words of this stem if it has a word that no text contains.
    MayMean(String),
    /// The query does not find the word.
    None,
}

impl QueryVocabulary {
    /// Returns the words of a query, and their stems in all languages.
    pub(super) fn of_query(question: &str) -> Self {
        let query = QueryWords::parse(question);
        let all: Vec<QueryWord> = query.words.into_iter().chain(query.context).collect();
        let words: BTreeSet<(String, Script)> = all
            .iter()
            .flat_map(QueryWord::spellings)
            .map(|(word, script)| (word.into_owned(), script))
            .collect();
        let stems = words.iter().flat_map(|(word, _)| Language::all().map(|it| it.stem(word)));
        let similar_words = words.iter().map(|(word, script)| SimilarWords::new(word, *script));
        let none = Self {
            similar_words: similar_words.collect(),
            stems: BTreeSet::new(),
            initials: BTreeSet::new(),
        };
        none.with_stems(stems.collect())
    }

    /// Returns the same with more stems.
    pub(super) fn with_stems(&self, more: BTreeSet<String>) -> Self {
        let mut extended = self.clone();
        extended.initials.extend(more.iter().filter_map(|it| it.bytes().next()));
        extended.stems.extend(more);
        extended
    }

    /// Returns how the query relates to a word of a text of `language`.
    pub(super) fn relation_to(&self, word: &str, language: Language) -> QueryRelation {
        if self.may_have_stem(word) {
            let stem = language.stem(word);
            if self.stems.contains(&stem) {
                return QueryRelation::Finds(stem);
            }
            if self.stems.iter().any(|it| is_similar_stem(it, &stem)) {
                return QueryRelation::MayMean(stem);
            }
        }
        match self.similar_words.iter().any(|it| it.contains(word)) {
            true => QueryRelation::MayMean(language.stem(word)),
            false => QueryRelation::None,
        }
    }

    /// Returns true unless a word cannot have one of the stems, or a similar one, because it begins
    /// otherwise: stemming keeps the first letter, unless it has an accent.
    fn may_have_stem(&self, word: &str) -> bool {
        word.bytes().next().is_some_and(|it| !it.is_ascii() || self.initials.contains(&it))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn stemming_keeps_the_first_letter(word in "[a-z][a-zäéñøß]{0,12}") {
            for language in Language::all() {
                let stem = language.stem(&word);
                prop_assert_eq!(stem.chars().next(), word.chars().next(), "{} {:?}", word, language);
            }
        }
    }
}
