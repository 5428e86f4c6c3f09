//! An index for one query alone.

use crate::search::index_data::{Document, Index};
use crate::search::lexicon::Lexicon;
use crate::search::word_beginnings::WordBeginnings;

impl Index {
    /// Indexes many documents for one query alone, which is faster: words that it
    /// cannot match are only counted. The hits of this query are those of the whole index.
    pub fn for_query(documents: Vec<Document<'_>>, query: &str) -> Self {
        let lexicon = Lexicon::for_words(WordBeginnings::of_query(query));
        Self::from_documents_with_lexicon(documents, &lexicon)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::ItemId;
    use crate::search::Query;
    use crate::search::fixture::test_document;

    fn numbered_document((number, text): (usize, &String)) -> Document<'_> {
        Document {
            item: ItemId::Entity(number.to_string()),
            text: text.as_str().into(),
            ..test_document("", "")
        }
    }

    proptest! {
        #[test]
        fn an_index_for_a_query_has_the_hits_of_the_whole_index(
            texts in proptest::collection::vec("((rivers?|bridg(e|es|ing)|mil(l|led)|ol|stone|7|07|march|mars|東京塔|brûlé|молоко|Γάλα|京都|月|a|ox|gewerkt|der|die|und|le|de) ){1,30}", 1..12),
            query in "(river|brige|bridge|mills|sto|07|7|march|京|月|京都の|brule|the|older|werken|молока|γαλα|a|ol|of ){1,4}",
        ) {
            let documents: Vec<_> = texts.iter().enumerate().map(numbered_document).collect();
            let find = |index: &Index| {
                let query = Query { text: &query, limit: usize::MAX, ..Query::default() };
                (index.find(&query, |_| true), index.count_items_by_word(&query, |_| true))
            };
            let whole = find(&Index::from_documents(documents.clone()));
            prop_assert_eq!(find(&Index::for_query(documents, &query)), whole);
        }
    }
}
