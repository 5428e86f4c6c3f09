//! Finds the texts that share the rare words of another one: they are probably about the same subject.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

use crate::model::ItemId;
use crate::search::index_data::Index;
use crate::search::lexicon::TermId;
use crate::search::words::for_each_word;

/// A word in more documents than this is not rare.
const MAX_DOCUMENTS: usize = 8;

/// Minimum length of a rare word that is named.
const MIN_WORD_CHARS: usize = 4;

/// Minimum share of the rare words that a related text has, weighted by how rare they are.
const MIN_SHARE: f32 = 0.3;

impl Index {
    /// Returns the items that share at least three tenths of the rare words of an item with this text, those
    /// that share most first, among the items that `admits` accepts. A word that no other item has does
    /// not count.
    pub fn related_texts(
        &self,
        item: &ItemId,
        text: &str,
        admits: impl Fn(&ItemId) -> bool,
    ) -> Vec<ItemId> {
        let mut terms: BTreeSet<TermId> = BTreeSet::new();
        for_each_word(text, |word| {
            terms.extend(self.lexicon.find_terms_in_all_languages(word.text, word.script));
        });
        let (mut shared, mut all) = (HashMap::<u32, f32>::new(), 0.0);
        for term in terms {
            let documents = self.documents_with_rare_term(term).unwrap_or_default();
            if documents.len() < 2 {
                continue;
            }
            let weight = self.rarity(documents.len());
            all += weight;
            for document in documents {
                *shared.entry(document).or_default() += weight;
            }
        }
        let enough = shared.into_iter().filter(|(_, weight)| *weight >= MIN_SHARE * all);
        let mut related: Vec<_> = enough
            .filter_map(|(number, weight)| {
                let found = self.documents.get(number as usize)?.as_ref()?;
                Some((weight, found.item.clone())).filter(|it| it.1 != *item && admits(&it.1))
            })
            .collect();
        related.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        related.into_iter().map(|(_, item)| item).collect()
    }

    /// Returns rare words of a text that no item has that `admits` accepts, first those that it has most
    /// often.
    pub fn rare_words_of_no_other(
        &self,
        text: &str,
        admits: impl Fn(&ItemId) -> bool,
    ) -> Vec<String> {
        let mut words: Vec<(String, usize)> = Vec::new();
        // The places of words among `words`; `None` for those that are not rare.
        let mut places: HashMap<String, Option<usize>> = HashMap::new();
        for_each_word(text, |word| {
            let is_long = word.text.chars().nth(MIN_WORD_CHARS - 1).is_some();
            if word.is_compound || !is_long || !word.text.chars().all(char::is_alphabetic) {
                return;
            }
            let place = places.entry(word.text.to_owned()).or_insert_with(|| {
                let terms = self.lexicon.find_terms_in_all_languages(word.text, word.script);
                self.have_only_others(terms, &admits).then(|| {
                    words.push((word.text.to_owned(), 0));
                    words.len() - 1
                })
            });
            if let Some((_, count)) = place.and_then(|it| words.get_mut(it)) {
                *count += 1;
            }
        });
        words.sort_by_key(|(_, count)| Reverse(*count));
        words.into_iter().map(|(word, _)| word).collect()
    }

    /// Returns whether each of these terms is rare, and in no document that `admits` accepts.
    fn have_only_others(&self, terms: Vec<TermId>, admits: impl Fn(&ItemId) -> bool) -> bool {
        let is_other = |it: &u32| {
            let document = self.documents.get(*it as usize).and_then(Option::as_ref);
            document.is_none_or(|it| !admits(&it.item))
        };
        terms.into_iter().all(|term| {
            self.documents_with_rare_term(term).is_some_and(|it| it.iter().all(is_other))
        })
    }

    /// Returns the documents whose text contains a term; `None` if there are too many.
    fn documents_with_rare_term(&self, term: TermId) -> Option<BTreeSet<u32>> {
        let mut documents = BTreeSet::new();
        for posting in self.live_postings(term).filter(|it| it.term_frequency > 0) {
            documents.insert(self.passages[posting.passage as usize].document);
            if documents.len() > MAX_DOCUMENTS {
                return None;
            }
        }
        Some(documents)
    }

    #[expect(clippy::cast_precision_loss, reason = "no palace has 2^23 documents")]
    fn rarity(&self, documents: usize) -> f32 {
        ((self.len() + MAX_DOCUMENTS) as f32 / documents as f32).ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::fixture::test_document;

    #[test]
    fn a_text_on_the_same_subject_is_related_and_others_are_not() {
        // In so small an index, each word that two texts share is rare.
        let rule = "A tombstone from any source removes the label: the inventory decides.";
        let amended = "The tombstone of the inventory removed a label of the register.";
        let texts = [
            ("rule", rule),
            ("amended", amended),
            ("lunch", "Bread was eaten in sunshine."),
            ("weather", "It rained."),
        ];
        let documents = texts.map(|(name, text)| test_document(name, text));
        let items = documents.clone().map(|it| it.item);
        let index = Index::from_documents(documents.to_vec());
        assert_eq!(index.related_texts(&items[0], rule, |_| true), [items[1].clone()]);
        assert_eq!(index.related_texts(&items[0], rule, |it| *it != items[1]), []);
        assert_eq!(index.related_texts(&items[3], "It rained.", |_| true), []);
        let alone = |admits: &dyn Fn(&ItemId) -> bool| index.rare_words_of_no_other(rule, admits);
        assert_eq!(alone(&|it| *it == items[1])[..3], ["from", "source", "decides"]);
        assert!(!alone(&|it| *it == items[1]).contains(&"tombstone".to_owned()));
        assert!(alone(&|_| false).contains(&"tombstone".to_owned()));
        assert_eq!(alone(&|_| true), Vec::<String>::new());
    }
}
