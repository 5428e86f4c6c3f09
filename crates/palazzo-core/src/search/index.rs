//! The inverted index: maps terms to the passages that contain them.
//!
//! A document is split into passages. Each passage is linked to its neighbours: the passages
//! beside it in the same document, and in documents written in the same room within an hour.
//! Documents without a date follow each other in the order of their ids, which are file names.
//! Terms and passages are numbers. A removed document leaves a gap; when there are many gaps,
//! the index is compacted.

use crate::search::index_data::Document;
use crate::search::index_data::Index;
use crate::search::index_data::IndexedDocument;
use crate::search::index_data::IndexedRoom;
use crate::search::index_data::NO_NUMBER;
use crate::search::index_data::Passage;
use crate::search::index_data::Posting;
use crate::search::index_data::to_u32_number;
use std::cmp::Ordering;

use rayon::prelude::*;

use crate::model::{ItemId, ItemKind};
use crate::search::document_terms::DocumentTerms;
use crate::search::lexicon::Lexicon;
use crate::search::word_beginnings::WordBeginnings;

/// Maximum distance of neighbouring passages.
const NEIGHBOUR_DISTANCE: usize = 2;

/// Minimum number of documents of a task, and number of documents of a batch, whose tasks run in
/// parallel.
const MIN_TASK_DOCUMENTS: usize = 256;
const BATCH_DOCUMENTS: usize = 16_384;

/// Minimum number of removed passages before the index is compacted.
const MIN_DELETED_PASSAGES: usize = 256;

impl Index {
    /// Indexes many documents at once, on all processors.
    pub fn from_documents(documents: Vec<Document<'_>>) -> Self {
        Self::from_documents_with_lexicon(documents, &Lexicon::default())
    }

    /// Indexes many documents with a copy of an empty lexicon.
    fn from_documents_with_lexicon(mut documents: Vec<Document<'_>>, empty: &Lexicon) -> Self {
        // In this order each room grows at its end, and neighbours are adjacent.
        documents.par_sort_by(|a, b| sort_key(a).cmp(&sort_key(b)));
        let mut index = Self { lexicon: empty.clone(), ..Self::default() };
        for batch in documents.chunks(BATCH_DOCUMENTS) {
            // A lexicon for each task, so that tasks can run in parallel.
            let tasks = batch.par_iter().with_min_len(MIN_TASK_DOCUMENTS);
            let analyze = |(mut lexicon, mut all_terms): (Lexicon, Vec<_>), document| {
                all_terms.push(DocumentTerms::from_document(document, &mut lexicon));
                (lexicon, all_terms)
            };
            let analyzed: Vec<_> = tasks.fold(|| (empty.clone(), Vec::new()), analyze).collect();
            let mut all_terms = Vec::with_capacity(batch.len());
            for (lexicon, mut task_terms) in analyzed {
                let numbers = index.lexicon.merge(lexicon);
                task_terms.par_iter_mut().for_each(|it| it.renumber_terms(&numbers));
                all_terms.append(&mut task_terms);
            }
            index.reserve_postings(&all_terms);
            for (document, terms) in batch.iter().zip(&all_terms) {
                index.add_document(document, terms);
            }
        }
        index.postings.iter_mut().for_each(Vec::shrink_to_fit);
        index.sorted_until = to_u32_number(index.passages.len());
        index
    }

    /// Adds a document, or replaces the one with the same id.
    pub fn put(&mut self, document: &Document<'_>) {
        self.remove(&document.item);
        let terms = DocumentTerms::from_document(document, &mut self.lexicon);
        self.add_document(document, &terms);
    }

    /// Removes a document.
    pub fn remove(&mut self, item: &ItemId) {
        let Some(number) = self.document_numbers.remove(item) else { return };
        let Some(entry) = self.documents[number as usize].take() else { return };
        let room = &mut self.rooms[entry.room as usize];
        room.length -= entry.length;
        let at = room.documents_in_order.iter().position(|it| *it == number);
        if let Some(at) = at {
            room.documents_in_order.remove(at);
        }
        for passage in entry.first_passage..entry.end_passage {
            let removed = &mut self.passages[passage as usize];
            removed.document = NO_NUMBER;
            self.passage_lengths.remove(removed.length);
            self.neighbour_lengths.remove(std::mem::take(&mut removed.neighbour_length));
        }
        if let Some(at) = at {
            self.update_neighbour_links(entry.room, at);
        }
        self.deleted_passages += (entry.end_passage - entry.first_passage) as usize;
        if self.needs_compaction() {
            self.compact();
        }
    }

    /// Returns the number of documents.
    pub fn len(&self) -> usize {
        self.document_numbers.len()
    }

    /// Returns true if the index has no documents.
    pub fn is_empty(&self) -> bool {
        self.document_numbers.is_empty()
    }

    /// Returns the filter for [`Query::facets`](crate::search::Query::facets): for each facet
    /// number, whether the facet is admitted.
    pub fn facet_filter(&self, is_admitted: impl Fn(&str) -> bool) -> Vec<bool> {
        let mut filter = vec![false; self.facet_numbers.len()];
        for (facet, number) in &self.facet_numbers {
            filter[*number as usize] = is_admitted(facet);
        }
        filter
    }

    /// Returns the number of passages, without those of removed documents.
    pub(super) fn live_passage_count(&self) -> usize {
        self.passages.len() - self.deleted_passages
    }

    /// Returns true if the document of a passage was not removed.
    pub(super) fn is_live_passage(&self, passage: u32) -> bool {
        self.deleted_passages == 0 || self.passages[passage as usize].document != NO_NUMBER
    }

    /// Compares two documents of the same time by their ids. Documents that were sorted when
    /// the index was built are compared by position, without looking at their names, because
    /// thousands may have the same score.
    pub(super) fn compare_item_ids(&self, a: &IndexedDocument, b: &IndexedDocument) -> Ordering {
        if a.room == b.room && a.first_passage.max(b.first_passage) < self.sorted_until {
            return a.first_passage.cmp(&b.first_passage);
        }
        a.item.cmp(&b.item)
    }

    /// Yields the neighbours of a passage.
    pub(super) fn neighbouring_passages(&self, passage: u32) -> impl Iterator<Item = u32> {
        self.neighbours_with_distance(passage).map(|(_, near)| near)
    }

    /// Yields the neighbours of a passage, each with the number of passages between.
    pub(super) fn neighbours_with_distance(
        &self,
        passage: u32,
    ) -> impl Iterator<Item = (usize, u32)> {
        let walk = |to: fn(&Passage) -> u32| {
            let next = move |at: &u32| {
                Some(to(&self.passages[*at as usize])).filter(|it| *it != NO_NUMBER)
            };
            std::iter::successors(next(&passage), next).take(NEIGHBOUR_DISTANCE).enumerate()
        };
        walk(|it| it.previous).chain(walk(|it| it.next))
    }

    fn needs_compaction(&self) -> bool {
        self.deleted_passages > MIN_DELETED_PASSAGES.max(self.passages.len() / 4)
    }

    /// Renumbers documents and passages without the removed ones.
    fn compact(&mut self) {
        let passage_now = renumber_kept(self.passages.iter().map(|it| it.document != NO_NUMBER));
        let entry_now = renumber_kept(self.documents.iter().map(Option::is_some));
        let moved = |at: u32, now: &[u32]| now.get(at as usize).copied().unwrap_or(NO_NUMBER);
        let in_order = &passage_now[..self.sorted_until as usize];
        self.sorted_until = to_u32_number(in_order.iter().filter(|it| **it != NO_NUMBER).count());
        self.passages.retain(|it| it.document != NO_NUMBER);
        for it in &mut self.passages {
            it.document = moved(it.document, &entry_now);
            it.previous = moved(it.previous, &passage_now);
            it.next = moved(it.next, &passage_now);
        }
        self.documents.retain(Option::is_some);
        for it in self.documents.iter_mut().flatten() {
            let passages = it.end_passage - it.first_passage;
            it.first_passage = moved(it.first_passage, &passage_now);
            it.end_passage = it.first_passage + passages;
        }
        for list in &mut self.postings {
            for it in list.iter_mut() {
                it.passage = moved(it.passage, &passage_now);
            }
            list.retain(|it| it.passage != NO_NUMBER);
            list.shrink_to_fit();
        }
        self.document_numbers.values_mut().for_each(|it| *it = moved(*it, &entry_now));
        let in_order = self.rooms.iter_mut().flat_map(|it| &mut it.documents_in_order);
        in_order.for_each(|it| *it = moved(*it, &entry_now));
        self.deleted_passages = 0;
    }

    /// Indexes many documents for one query alone, which is faster: words that it
    /// cannot match are only counted. The hits of this query are those of the whole index.
    pub fn for_query(documents: Vec<Document<'_>>, query: &str) -> Self {
        let lexicon = Lexicon::for_words(WordBeginnings::of_query(query));
        Self::from_documents_with_lexicon(documents, &lexicon)
    }

    /// Makes room for the postings of more documents. Of the first batch, which is mostly the only one,
    /// the room is exact; later ones double it, so that few lists are moved again and again.
    fn reserve_postings(&mut self, documents: &[DocumentTerms]) {
        let mut counts = vec![0; self.lexicon.len()];
        for passage in documents.iter().flat_map(|it| &it.passages) {
            for (term, ..) in &passage.terms {
                counts[*term as usize] += 1;
            }
        }
        self.postings.resize_with(counts.len(), Vec::new);
        for (postings, count) in self.postings.iter_mut().zip(counts) {
            match postings.is_empty() {
                true => postings.reserve_exact(count),
                false => postings.reserve(count),
            }
        }
    }

    /// Adds the passages of the document `number`, and returns the first and the end of their
    /// numbers.
    fn add_passages(&mut self, number: u32, document_terms: &DocumentTerms) -> (u32, u32) {
        let (first, end) = (
            to_u32_number(self.passages.len()),
            to_u32_number(self.passages.len() + document_terms.passages.len()),
        );
        self.postings.resize_with(self.lexicon.len(), Vec::new);
        for (passage, passage_terms) in (first..end).zip(&document_terms.passages) {
            for (term, frequency, field_weight) in &passage_terms.terms {
                let (term_frequency, field_weight) = (*frequency, *field_weight);
                let posting = Posting { passage, term_frequency, field_weight };
                self.postings[*term as usize].push(posting);
            }
            self.passage_lengths.add(passage_terms.length);
            self.passages.push(Passage {
                document: number,
                length: passage_terms.length,
                neighbour_length: 0,
                previous: if passage > first { passage - 1 } else { NO_NUMBER },
                next: if passage + 1 < end { passage + 1 } else { NO_NUMBER },
                embedding_key: passage_terms.embedding_key,
                start: passage_terms.start,
                end: passage_terms.end,
            });
        }
        (first, end)
    }

    fn add_document(&mut self, document: &Document<'_>, document_terms: &DocumentTerms) {
        let number = to_u32_number(self.documents.len());
        let (first, end) = self.add_passages(number, document_terms);
        let length = document_terms.passages.iter().map(|it| it.length).sum();
        let room = self.intern_room(document.wing.as_deref(), document.room.as_deref());
        self.rooms[room as usize].length += length;
        let (item, written) = (document.item.clone(), document.written);
        let facet = self.intern_facet(&document.facet);
        self.document_numbers.insert(item.clone(), number);
        self.documents.push(Some(IndexedDocument {
            item,
            room,
            facet,
            written,
            length,
            first_passage: first,
            end_passage: end,
        }));
        for passage in first..end {
            self.update_neighbour_length(passage);
        }
        if document.room.is_some() && document.item.kind() != ItemKind::Room {
            self.insert_in_order(room, number);
        }
    }

    /// Inserts a document among those of its room.
    fn insert_in_order(&mut self, room: u32, number: u32) {
        let key =
            |it: &u32| self.documents[*it as usize].as_ref().map(IndexedDocument::date_sort_key);
        let in_order = &self.rooms[room as usize].documents_in_order;
        let at = in_order.partition_point(|it| key(it) < key(&number));
        self.rooms[room as usize].documents_in_order.insert(at, number);
        self.update_neighbour_links(room, at);
        self.update_neighbour_links(room, at + 1);
    }

    /// Links the document at index `at` in its room and the one before it as neighbours if
    /// one follows the other, and unlinks them otherwise.
    fn update_neighbour_links(&mut self, room: u32, at: usize) {
        let in_order = &self.rooms[room as usize].documents_in_order;
        let entry = |at: Option<usize>| self.documents[*in_order.get(at?)? as usize].as_ref();
        let (older, newer) = (entry(at.checked_sub(1)), entry(Some(at)));
        let together = older.zip(newer).is_some_and(|(older, newer)| older.is_continued_by(newer));
        let (last, first) = (older.map(|it| it.end_passage - 1), newer.map(|it| it.first_passage));
        let link = |it: Option<u32>| it.filter(|_| together).unwrap_or(NO_NUMBER);
        if let Some(last) = last {
            self.passages[last as usize].next = link(first);
        }
        if let Some(first) = first {
            self.passages[first as usize].previous = link(last);
        }
        for border in [last, first].into_iter().flatten() {
            let near: Vec<u32> = self.neighbouring_passages(border).chain([border]).collect();
            for passage in near {
                self.update_neighbour_length(passage);
            }
        }
    }

    /// Updates the length of a passage's neighbours.
    fn update_neighbour_length(&mut self, passage: u32) {
        let near =
            self.neighbouring_passages(passage).map(|it| self.passages[it as usize].length).sum();
        let was = std::mem::replace(&mut self.passages[passage as usize].neighbour_length, near);
        self.neighbour_lengths.remove(was);
        self.neighbour_lengths.add(near);
    }

    fn intern_facet(&mut self, facet: &str) -> u32 {
        if let Some(number) = self.facet_numbers.get(facet) {
            return *number;
        }
        let number = to_u32_number(self.facet_numbers.len());
        self.facet_numbers.insert(facet.to_owned(), number);
        number
    }

    fn intern_room(&mut self, wing: Option<&str>, room: Option<&str>) -> u32 {
        let name = (wing.map(str::to_owned), room.map(str::to_owned));
        if let Some(number) = self.room_numbers.get(&name) {
            return *number;
        }
        let number = to_u32_number(self.rooms.len());
        let (wing, room) = name.clone();
        self.rooms.push(IndexedRoom { wing, room, length: 0, documents_in_order: Vec::new() });
        self.room_numbers.insert(name, number);
        number
    }
}

fn sort_key<'a>(it: &'a Document<'_>) -> impl Ord + 'a {
    (it.wing.as_deref(), it.room.as_deref(), it.written, &it.item)
}

/// Assigns consecutive numbers to the kept items, and [`NO_NUMBER`] to the others.
fn renumber_kept(are_kept: impl Iterator<Item = bool>) -> Vec<u32> {
    let mut kept = 0;
    let number = |is_kept: bool| {
        let number = if is_kept { kept } else { NO_NUMBER };
        kept += u32::from(is_kept);
        number
    };
    are_kept.map(number).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use chrono::TimeDelta;
    use proptest::prelude::*;

    use super::*;
    use crate::model::ItemId;
    use crate::search::fixture::{day_of_2025, test_document};
    use crate::search::{Hits, Query};

    /// Returns the `number`th document in its `edition`th version.
    fn document_version(number: usize, edition: usize) -> Document<'static> {
        const WORDS: [&str; 6] = ["stone", "bridge", "river", "mill", "old", "moss"];
        let text: Vec<&str> = (0..(number + edition) % 5 * 40)
            .map(|it| WORDS[(it * (edition + 2) + number) % WORDS.len()])
            .collect();
        let minutes = i64::try_from(number * 25).unwrap();
        Document {
            item: ItemId::Entity(format!("{number:02}")),
            room: Some(format!("room-{}", edition % 2).into()),
            written: (!number.is_multiple_of(3))
                .then(|| day_of_2025(3, 1) + TimeDelta::minutes(minutes)),
            title: WORDS[edition % WORDS.len()].into(),
            text: text.join(" ").into(),
            ..test_document("", "")
        }
    }

    #[track_caller]
    fn assert_same_hits(changed: &Index, made: &Index) {
        for words in ["stone", "old mill", "moss river bridge", "march", "room 1"] {
            let query = Query { text: words, limit: usize::MAX, ..Query::default() };
            let (changed, made) = (changed.find(&query, |_| true), made.find(&query, |_| true));
            assert_eq!(changed.total, made.total, "{words}");
            for (a, b) in changed.best.iter().zip(&made.best) {
                assert!((a.similarity - b.similarity).abs() < 1e-5, "{words}: {a:?} {b:?}");
            }
            // Sums of floats depend on their order: hits that are equal but for that may swap.
            let found = |hits: &Hits| -> BTreeSet<_> {
                hits.best.iter().map(|it| format!("{:?} {:?}", it.item, it.passage)).collect()
            };
            assert_eq!(found(&changed), found(&made), "{words}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn an_updated_index_equals_a_rebuilt_one(
            first in 0_usize..20,
            changes in proptest::collection::vec((0_usize..20, 0_usize..8), 0..120),
        ) {
            let mut editions: BTreeMap<_, _> = (0..first).map(|it| (it, it % 7)).collect();
            let mut index = Index::from_documents(editions.iter().map(|(it, which)| document_version(*it, *which)).collect());
            for (number, which) in changes {
                match which {
                    7 => {
                        index.remove(&document_version(number, 0).item);
                        editions.remove(&number);
                    }
                    _ => {
                        index.put(&document_version(number, which));
                        editions.insert(number, which);
                    }
                }
            }
            prop_assert_eq!(index.len(), editions.len());
            let made = editions.iter().map(|(number, which)| document_version(*number, *which));
            assert_same_hits(&index, &Index::from_documents(made.collect()));
            index.compact();
            assert_same_hits(&index, &Index::from_documents(
                editions.iter().map(|(number, which)| document_version(*number, *which)).collect(),
            ));
        }
    }

    #[test]
    fn the_index_is_compacted_when_gaps_are_many() {
        let mut index = Index::default();
        for round in 0..3_000 {
            index.put(&document_version(round % 10, round % 7));
        }
        assert!(index.passages.len() < 600, "{}", index.passages.len());
        assert_eq!((index.len(), index.documents.len() < 600), (10, true));
        let postings: usize = index.postings.iter().map(Vec::len).sum();
        assert!(postings < 600 * 20, "{postings}");
    }

    #[test]
    fn removed_documents_leave_nothing_behind() {
        let mut index = Index::from_documents((0..20).map(|it| document_version(it, it)).collect());
        for number in 0..20 {
            index.remove(&document_version(number, 0).item);
        }
        index.compact();
        assert!(index.is_empty() && index.passages.is_empty() && index.documents.is_empty());
        assert_eq!(index.postings.iter().map(Vec::len).sum::<usize>(), 0);
        assert!(index.rooms.iter().all(|it| it.length == 0 && it.documents_in_order.is_empty()));
        assert_eq!((index.passage_lengths.total, index.neighbour_lengths.total), (0, 0));
    }

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
