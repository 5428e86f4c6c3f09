//! Ranks documents for a query: BM25 over passages, with the neighbours of a passage as a
//! field of their own.
//!
//! The score of a passage depends on its words, on its neighbours' words, which count less the
//! longer the passage is, and on the document's title, place and date. The score of a document is
//! that of its best passage, so that a text gains nothing by repeating itself, plus a small share
//! of the score of its room, so that among equal passages the one in the likelier place is first.
//! If the query asks for the present state, later documents of a room score higher.

use crate::search::score::{
    CONTEXT_LENGTH_NORMALIZATION, PASSAGE_LENGTH_NORMALIZATION, ScoreAccumulator, ScoredDoc,
    length_norm, neighbour_weight,
};
use std::cmp::{Ordering, Reverse};
use std::collections::HashSet;
use std::ops::Range;

use chrono::{DateTime, Utc};

use crate::model::{EmbeddingVector, ItemId, ItemKind, VectorsByTextHash};
use crate::search::index_data::{Index, IndexedDocument, Posting};
use crate::search::lexicon::TermId;
use crate::search::query_parser::{QueryWord, QueryWords};
use crate::search::words::{byte_prefix, for_each_word};

/// The weight of the score of the whole room, which is added to that of the best passage.
const ROOM_WEIGHT: f32 = 0.2;

/// The factor for the similarity of a document that contains none of the words itself, but
/// whose neighbours do.
const NEIGHBOUR_ONLY_FACTOR: f32 = 0.5;

/// Maximum similarity of a hit for a query that has only stop words.
const STOP_WORDS_SIMILARITY: f32 = 0.2;

/// The weight of the text around a long query's question, as a share of the question's
/// weight, and the limit for its words; the rarest are used.
const CONTEXT_SHARE: f32 = 0.05;
const MAX_CONTEXT_TERMS: usize = 24;

/// Minimum corpus size for IDF; smaller corpora count as this large.
const MIN_CORPUS_SIZE: usize = 100;

/// Limit for the terms that replace one misspelt or unfinished word.
const MAX_SIMILAR_TERMS: usize = 20;

/// Number of rarest words of each half of a text by which near-duplicate candidates are found.
const RAREST_TERMS: usize = 16;

/// The items with a word are named if they are at most so many.
const MAX_NAMED_ITEMS: usize = 3;

/// Limit for the near-duplicate candidates of a text.
const MAX_CANDIDATES: usize = 8;

/// The items that contain a word of a query.
#[derive(Clone, Debug, PartialEq)]
pub struct ItemsWithWord {
    /// The word, normalized.
    pub word: String,
    /// Their number.
    pub count: usize,
    /// The items, if they are few.
    pub items: Vec<ItemId>,
}

/// A search query with its filters.
#[derive(Clone, Copy, Debug, Default)]
pub struct Query<'a> {
    /// The text of the query.
    pub text: &'a str,
    /// The maximum number of hits.
    pub limit: usize,
    /// Only items of these kinds; empty for all kinds.
    pub kinds: &'a [ItemKind],
    /// Only items in this wing, by slug.
    pub wing: Option<&'a str>,
    /// Only this room and the items in it, by slug.
    pub room: Option<&'a str>,
    /// Only items with an admitted facet; the filter comes from [`Index::facet_filter`].
    pub facets: Option<&'a [bool]>,
    /// Only items written at this time or later.
    pub since: Option<DateTime<Utc>>,
    /// Only items written before this time.
    pub before: Option<DateTime<Utc>>,
    /// The embedding of the query, and those of passages; without them, the ranking is by
    /// words alone.
    pub vectors: Option<(&'a EmbeddingVector, &'a VectorsByTextHash)>,
}

/// The result of a query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hits {
    /// The best hits, best first.
    pub best: Vec<Hit>,
    /// The number of all hits.
    pub total: usize,
}

/// One hit of a query.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// The item.
    pub item: ItemId,
    /// The similarity to the query, from 0 to 1. It rises with the score; it is halved if the
    /// item contains none of the words itself, but its neighbours do. A passage of average
    /// length that contains each word of the query once has about 0.7; words alone never reach
    /// 1, and stop words alone never 0.2. With embeddings, the best hit has the higher of its
    /// two similarities, and the others are scaled by their scores.
    pub similarity: f32,
    /// The range of its best passage in the document's text, in bytes.
    pub passage: Range<usize>,
}

/// The scores of a query, by the numbers of passages and rooms.
struct QueryScores {
    passages: ScoreAccumulator,
    rooms: ScoreAccumulator,
    /// True for each document that contains one of the words itself.
    has_own_match: Vec<bool>,
    /// The sum of the query's IDF weights.
    total_weight: f32,
    /// The maximum similarity of a hit.
    max_similarity: f32,
    /// True if later documents score higher.
    prefers_latest: bool,
}

/// A word of the query: its terms, and their IDF.
struct QueryWordTerms {
    terms: Vec<TermId>,
    idf: f32,
}

impl Index {
    /// Returns the best hits of a query among the items that `admits` accepts. Ties are sorted
    /// by date, newest first, and then by name.
    pub fn find(&self, query: &Query<'_>, admits: impl Fn(&ItemId) -> bool) -> Hits {
        let scores = self.score_query(&QueryWords::parse(query.text));
        let mut fits = self.scored_docs(&scores);
        let is_admitted =
            |it: &IndexedDocument| self.matches_filters(query, it) && admits(&it.item);
        fits.retain(|it| is_admitted(it.document));
        if let Some((vector, vectors)) = query.vectors {
            let similarities = self.passage_similarities(vector, vectors);
            fits = self.merge_scores(&fits, &similarities, scores.prefers_latest, is_admitted);
        }
        let total = fits.len();
        // Sorts only the hits to return, because there may be thousands.
        if query.limit < total {
            fits.select_nth_unstable_by(query.limit, |a, b| self.ranking_order(a, b));
            fits.truncate(query.limit);
        }
        fits.sort_unstable_by(|a, b| self.ranking_order(a, b));
        // The best hit keeps its similarity; the others are scaled by their scores.
        let first = fits.first().filter(|it| it.score > 0.0);
        let scale = first.map_or(0.0, |it| it.similarity / it.score);
        let best = fits.into_iter().map(|fit| {
            let passage = &self.passages[fit.passage as usize];
            let joined = query.vectors.map(|_| fit.score * scale);
            Hit {
                item: fit.document.item.clone(),
                similarity: joined.unwrap_or(fit.similarity),
                passage: passage.start as usize..passage.end as usize,
            }
        });
        Hits { best: best.collect(), total }
    }

    /// Counts the items that match the filters of a query and contain each of its words, in the order of
    /// the query.
    pub fn count_items_by_word(
        &self,
        query: &Query<'_>,
        admits: impl Fn(&ItemId) -> bool,
    ) -> Vec<ItemsWithWord> {
        let words = QueryWords::parse(query.text).words.into_iter();
        let count = |it: QueryWord| {
            let terms = self.lexicon.find_terms_in_all_languages(&it.text, it.script);
            let postings = terms.iter().flat_map(|it| self.live_postings(*it));
            let numbers = postings.map(|it| self.passages[it.passage as usize].document);
            let numbers: HashSet<u32> = numbers.collect();
            let documents =
                numbers.iter().filter_map(|it| self.documents.get(*it as usize)?.as_ref());
            let found = documents.filter(|it| self.matches_filters(query, it) && admits(&it.item));
            let found: Vec<_> = found.collect();
            let few = if found.len() <= MAX_NAMED_ITEMS { found.as_slice() } else { &[] };
            let mut items: Vec<_> = few.iter().map(|it| it.item.clone()).collect();
            items.sort_unstable();
            ItemsWithWord { word: it.text, count: found.len(), items }
        };
        words.map(count).collect()
    }

    /// Returns the documents that may be near-duplicates of `text`, the likeliest first: those
    /// that share its rarest words, among the items that `admits` accepts.
    pub fn near_duplicate_candidates(
        &self,
        text: &str,
        admits: impl Fn(&ItemId) -> bool,
    ) -> Vec<ItemId> {
        // Uses the rarest words of each half, because a note is seldom extended at both ends.
        let (first, second) = text.split_at(byte_prefix(text, text.len() / 2).len());
        let mut rarest: Vec<(usize, TermId)> =
            [first, second].iter().flat_map(|half| self.rarest_terms(half)).collect();
        rarest.sort_unstable_by_key(|(_, term)| *term);
        rarest.dedup();
        let mut scores = self.empty_scores();
        for (frequency, term) in rarest {
            let query_term = QueryWordTerms { terms: vec![term], idf: self.idf(frequency) };
            self.add_word_scores(&query_term, 1.0, &mut scores);
        }
        let mut fits = self.scored_docs(&scores);
        fits.retain(|it| admits(&it.document.item));
        if MAX_CANDIDATES < fits.len() {
            fits.select_nth_unstable_by(MAX_CANDIDATES, |a, b| self.ranking_order(a, b));
            fits.truncate(MAX_CANDIDATES);
        }
        fits.sort_unstable_by(|a, b| self.ranking_order(a, b));
        fits.into_iter().map(|it| it.document.item.clone()).collect()
    }

    /// Returns the rarest words of a text, each with the number of passages that contain it.
    fn rarest_terms(&self, text: &str) -> impl Iterator<Item = (usize, TermId)> {
        let mut terms = Vec::new();
        for_each_word(text, |word| {
            terms.extend(self.lexicon.find_terms_in_all_languages(word.text, word.script));
        });
        self.passage_frequencies(terms).into_iter().rev().take(RAREST_TERMS)
    }

    /// Orders by score, best first, then by date, newest first, then by name.
    fn ranking_order(&self, a: &ScoredDoc<'_>, b: &ScoredDoc<'_>) -> Ordering {
        let newer = || b.document.written.cmp(&a.document.written);
        b.score
            .total_cmp(&a.score)
            .then_with(newer)
            .then_with(|| self.compare_item_ids(a.document, b.document))
    }

    fn matches_filters(&self, query: &Query<'_>, entry: &IndexedDocument) -> bool {
        let place = &self.rooms[entry.room as usize];
        let same = |filter: Option<&str>, value: &Option<String>| {
            filter.is_none_or(|it| value.as_deref() == Some(it))
        };
        (query.kinds.is_empty() || query.kinds.contains(&entry.item.kind()))
            && query.facets.is_none_or(|it| it.get(entry.facet as usize) == Some(&true))
            && same(query.wing, &place.wing)
            && same(query.room, &place.room)
            && query.since.is_none_or(|since| entry.written.is_some_and(|it| it >= since))
            && query.before.is_none_or(|before| entry.written.is_some_and(|it| it < before))
    }

    fn empty_scores(&self) -> QueryScores {
        QueryScores {
            passages: ScoreAccumulator::with_length(self.passages.len()),
            rooms: ScoreAccumulator::with_length(self.rooms.len()),
            has_own_match: vec![false; self.documents.len()],
            total_weight: 0.0,
            max_similarity: 1.0,
            prefers_latest: false,
        }
    }

    /// Scores all passages, documents and rooms by the words of a query.
    fn score_query(&self, query: &QueryWords) -> QueryScores {
        let mut scores = self.empty_scores();
        let words: Vec<QueryWordTerms> =
            query.words.iter().filter_map(|it| self.query_word_terms(it, true)).collect();
        for word in &words {
            self.add_word_scores(word, 1.0, &mut scores);
        }
        let mut context: Vec<QueryWordTerms> =
            query.context.iter().filter_map(|it| self.query_word_terms(it, false)).collect();
        context.sort_by(|a, b| b.idf.total_cmp(&a.idf));
        context.truncate(MAX_CONTEXT_TERMS);
        let sum = |words: &[QueryWordTerms]| words.iter().map(|it| it.idf).sum::<f32>();
        let share = (CONTEXT_SHARE * sum(&words) / sum(&context).max(1.0)).min(CONTEXT_SHARE);
        for word in &context {
            self.add_word_scores(word, share, &mut scores);
        }
        scores.total_weight = sum(&words);
        scores.prefers_latest = query.asks_for_present;
        scores.max_similarity = if query.has_content_words { 1.0 } else { STOP_WORDS_SIMILARITY };
        scores
    }

    /// Returns the terms of a query word. If no passage contains it and `correct` is true,
    /// returns the terms of similar words. An unknown compound has no terms, because its parts
    /// are query words of their own.
    fn query_word_terms(&self, word: &QueryWord, correct: bool) -> Option<QueryWordTerms> {
        let terms = word.spellings();
        let terms =
            terms.flat_map(|(it, script)| self.lexicon.find_terms_in_all_languages(&it, script));
        let mut found = self.passage_frequencies(terms.collect());
        if found.is_empty() && (word.is_compound || !correct) {
            return None;
        }
        if found.is_empty() {
            found = self.passage_frequencies(self.lexicon.similar_terms(&word.text, word.script));
            found.truncate(MAX_SIMILAR_TERMS);
        }
        let idf = self.idf(found.iter().map(|(frequency, _)| frequency).sum());
        Some(QueryWordTerms { idf, terms: found.into_iter().map(|(_, term)| term).collect() })
    }

    /// Returns the terms that passages contain, each once with its number of passages, the
    /// most common first.
    fn passage_frequencies(&self, mut terms: Vec<TermId>) -> Vec<(usize, TermId)> {
        terms.sort_unstable();
        terms.dedup();
        let counted = terms.into_iter().map(|it| (self.live_postings(it).count(), it));
        let mut found: Vec<(usize, TermId)> =
            counted.filter(|(frequency, _)| *frequency > 0).collect();
        found.sort_unstable_by_key(|(frequency, term)| (Reverse(*frequency), *term));
        found
    }

    /// Yields the postings of a term, without those of removed documents.
    pub(super) fn live_postings(&self, term: TermId) -> impl Iterator<Item = &Posting> {
        let postings = self.postings.get(term as usize).into_iter().flatten();
        postings.filter(|it| self.is_live_passage(it.passage))
    }

    #[expect(clippy::cast_precision_loss, reason = "no palace has 2^23 passages")]
    fn idf(&self, frequency: usize) -> f32 {
        let (all, frequency) =
            (self.live_passage_count().max(MIN_CORPUS_SIZE) as f32, frequency as f32);
        (1.0 + (all - frequency + 0.5).max(0.0) / (frequency + 0.5)).ln()
    }

    /// Adds the contribution of one word to all scores.
    fn add_word_scores(&self, word: &QueryWordTerms, share: f32, scores: &mut QueryScores) {
        let (mean, mean_around) = (self.passage_lengths.mean(), self.neighbour_lengths.mean());
        for posting in word.terms.iter().flat_map(|it| self.live_postings(*it)) {
            let passage = &self.passages[posting.passage as usize];
            let frequency = f32::from(posting.term_frequency);
            let own = frequency / length_norm(PASSAGE_LENGTH_NORMALIZATION, passage.length, mean);
            scores.passages.add_frequency(
                posting.passage,
                own + f32::from(posting.field_weight) / Posting::FIELD_WEIGHT_SCALE,
            );
            scores.has_own_match[passage.document as usize] = true;
            if posting.term_frequency == 0 {
                continue;
            }
            for near in self.neighbouring_passages(posting.passage) {
                let receiver = &self.passages[near as usize];
                let norm = length_norm(
                    CONTEXT_LENGTH_NORMALIZATION,
                    receiver.neighbour_length,
                    mean_around,
                );
                let weight = neighbour_weight(receiver.length);
                scores.passages.add_frequency(near, weight * frequency / norm);
            }
            if let Some(entry) = &self.documents[passage.document as usize] {
                scores.rooms.add_frequency(entry.room, frequency);
            }
        }
        let weight = share * word.idf;
        scores.passages.finish_term(weight, |_| 1.0);
        let mean = self.mean_room_length();
        scores.rooms.finish_term(weight, |it| {
            length_norm(CONTEXT_LENGTH_NORMALIZATION, self.rooms[it as usize].length, mean)
        });
    }

    #[expect(clippy::cast_precision_loss, reason = "no palace has 2^23 words in a room")]
    fn mean_room_length(&self) -> f32 {
        let lengths = self.rooms.iter().map(|it| u64::from(it.length)).filter(|it| *it > 0);
        (lengths.clone().sum::<u64>() as f32 / lengths.count().max(1) as f32).max(1.0)
    }

    /// Returns every document that has a score, with its best passage.
    fn scored_docs(&self, scores: &QueryScores) -> Vec<ScoredDoc<'_>> {
        let mut fits: Vec<ScoredDoc<'_>> = Vec::new();
        let scored = scores.passages.scores.iter().enumerate().filter(|(_, it)| **it > 0.0);
        for (number, score) in scored {
            let passage = u32::try_from(number).unwrap_or(u32::MAX);
            let entry_number = self.passages[number].document as usize;
            let Some(entry) = self.documents.get(entry_number).and_then(Option::as_ref) else {
                continue;
            };
            let score = self.recency_factor(scores.prefers_latest, entry)
                * (score + ROOM_WEIGHT * scores.rooms.scores[entry.room as usize]);
            let factor = scores.max_similarity
                * if scores.has_own_match[entry_number] { 1.0 } else { NEIGHBOUR_ONLY_FACTOR };
            let similarity = factor * score_to_similarity(score, scores.total_weight);
            let fit = ScoredDoc { document: entry, score, similarity, passage };
            match fits.last_mut() {
                // The passages of a document are adjacent.
                Some(last) if std::ptr::eq(last.document, entry) => {
                    if fit.score > last.score {
                        *last = fit;
                    }
                }
                _ => fits.push(fit),
            }
        }
        fits
    }
}

/// Maps a score to 0..1, given the sum of the query's IDF weights.
fn score_to_similarity(score: f32, weight: f32) -> f32 {
    1.0 - 0.25_f32.powf(score / ((1.0 + ROOM_WEIGHT) * weight.max(f32::MIN_POSITIVE)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::RoomId;
    use crate::search::Document;
    use crate::search::fixture::{day_of_2025, test_document};

    fn build_index(notes: &[Document<'static>]) -> Index {
        Index::from_documents(notes.to_vec())
    }

    fn hit_names(hits: Hits) -> Vec<String> {
        let named = |it: Hit| match it.item {
            ItemId::Entity(name) => name,
            other => panic!("{other:?}"),
        };
        hits.best.into_iter().map(named).collect()
    }

    fn find_names(index: &Index, words: &str) -> Vec<String> {
        hit_names(index.find(&Query { text: words, limit: 10, ..Query::default() }, |_| true))
    }

    #[test]
    fn a_title_match_ranks_above_a_mention() {
        let index = build_index(&[
            test_document("Geology", "rocks"),
            test_document("Biology", "unlike geology, alive"),
        ]);
        assert_eq!(find_names(&index, "what about geology?"), ["Geology", "Biology"]);
    }

    #[test]
    fn inflected_forms_match_in_each_language() {
        let index = build_index(&[
            test_document("a", "Migrations were run by the server."),
            test_document("b", "Die Mieten in den Häusern sind gestiegen, und das ist nicht gut."),
            test_document("c", "Мастер починил шесть старых самоваров"),
            test_document("d", "古树普洱每饼涨到四百八十元"),
        ]);
        assert_eq!(find_names(&index, "migrate"), ["a"]);
        assert_eq!(find_names(&index, "Miete der Hauser"), ["b"]);
        assert_eq!(find_names(&index, "самовар"), ["c"]);
        assert_eq!(find_names(&index, "普洱多少钱"), ["d"]);
        assert_eq!(find_names(&index, "茶"), [""; 0]);
        assert_eq!(find_names(&index, "洱"), ["d"]);
    }

    #[test]
    fn a_misspelled_or_unfinished_word_matches() {
        let index =
            build_index(&[test_document("Geology", "rocks"), test_document("Biology", "cells")]);
        assert_eq!(find_names(&index, "geol"), ["Geology"]);
        assert_eq!(find_names(&index, "boilogy"), ["Biology"]);
        assert_eq!(find_names(&index, "rokcs"), ["Geology"]);
        assert_eq!(find_names(&index, "zebra"), [""; 0]);
    }

    #[test]
    fn a_misspelled_inflected_word_matches() {
        let index = build_index(&[
            test_document("a", "The valve was replaced."),
            test_document("b", "A plate of lace."),
        ]);
        for asked in ["replce", "repplaces", "relpacing"] {
            assert_eq!(find_names(&index, asked), ["a"], "{asked}");
        }
        for other in ["relpca", "reglacing", "replanned"] {
            assert_eq!(find_names(&index, other), [""; 0], "{other}");
        }
    }

    #[test]
    fn a_number_is_found_with_and_without_zeros_before_it() {
        let notes = ["Ticket 042", "Ticket 001", "Ticket 420"].map(|it| test_document(it, "x"));
        let index = build_index(&notes);
        assert_eq!(find_names(&index, "ticket 42")[0], "Ticket 042");
        assert_eq!(find_names(&index, "ticket 0001")[0], "Ticket 001");
        assert_eq!(find_names(&index, "ticket 420")[0], "Ticket 420");
    }

    #[test]
    fn a_note_is_found_by_its_date() {
        let index = build_index(&[
            Document { written: Some(day_of_2025(3, 14)), ..test_document("march", "a meeting") },
            Document { written: Some(day_of_2025(6, 2)), ..test_document("june", "a meeting") },
        ]);
        for asked in ["meeting in June", "meeting 2025-06-02", "Treffen im Juni", "6月"] {
            assert_eq!(find_names(&index, asked)[0], "june", "{asked}");
        }
    }

    #[test]
    fn the_best_passage_of_a_long_text_is_returned() {
        let filler = "Nothing of interest happened on that day either. ".repeat(40);
        let text = format!("{filler}The boiler showed F28. {filler}");
        let note = Document { text: text.clone().into(), ..test_document("long", "") };
        let hits = build_index(&[note])
            .find(&Query { text: "boiler error", limit: 1, ..Query::default() }, |_| true);
        let passage = &text[hits.best[0].passage.clone()];
        assert!(passage.contains("boiler") && passage.len() < 700, "{passage}");
    }

    #[test]
    fn neighbouring_notes_add_a_little_to_the_score() {
        let at = |minute: &str| format!("2025-03-01T12:{minute}:00Z").parse().ok();
        let note = |name: &'static str, minute: &str, text: &'static str| Document {
            written: at(minute),
            room: Some("call".into()),
            ..test_document(name, text)
        };
        let index = build_index(&[
            note("a", "00", "Where will you spend the summer?"),
            note("b", "01", "In the house by the lake."),
            Document { room: Some("other".into()), ..note("c", "01", "In the house by the lake.") },
            Document { room: None, ..note("nowhere", "00", "Where will you hang the curtains?") },
            Document { room: None, ..note("no place", "01", "In the attic.") },
        ]);
        assert_eq!(find_names(&index, "summer house"), ["a", "b", "c"]);
        assert_eq!(find_names(&index, "summer"), ["a", "b"]);
        assert_eq!(find_names(&index, "curtains"), ["nowhere"]);
    }

    #[test]
    fn a_short_text_needs_its_neighbours_more_than_a_long_one() {
        let note = |name: &'static str, minute: &str, text: String| Document {
            written: format!("2025-03-01T12:{minute}:00Z").parse().ok(),
            room: Some("call".into()),
            text: text.into(),
            ..test_document(name, "")
        };
        let index = build_index(&[
            note("long", "00", "It was a quiet day on the farm. ".repeat(10)),
            note("match", "01", "When will the boiler be repaired?".to_owned()),
            note("short", "02", "On Tuesday.".to_owned()),
        ]);
        assert_eq!(find_names(&index, "boiler"), ["match", "short", "long"]);
    }

    #[test]
    fn a_long_text_gains_nothing_by_repeating_itself() {
        let answer = format!("{}\n", "The boiler of the mill was repaired by Seun. ".repeat(13));
        let filler = format!("{}\n", "Nothing of note took place on any other day. ".repeat(13));
        let once = [&answer, &filler, &filler, &filler, &filler, &filler].map(String::as_str);
        let often = [&answer, &filler, &filler, &answer, &filler, &filler].map(String::as_str);
        let document = |name, parts: [&str; 6]| Document {
            text: parts.concat().into(),
            ..test_document(name, "")
        };
        let index = build_index(&[document("once", once), document("often", often)]);
        let query = Query { text: "mill boiler", limit: 9, ..Query::default() };
        let hits = index.find(&query, |_| true).best;
        assert!((hits[0].similarity - hits[1].similarity).abs() < 1e-6, "{hits:?}");
    }

    #[test]
    fn notes_without_a_date_follow_each_other_in_the_order_of_their_names() {
        let note = |name: &'static str, text: &'static str| Document {
            room: Some("call".into()),
            ..test_document(name, text)
        };
        let hall = RoomId { wing: None, slug: "call".parse().unwrap() };
        let index = build_index(&[
            note("part 1", "The boiler is broken."),
            note("part 2", "Seun comes on Tuesday."),
            note("part 3", "Bring a ladder."),
            note("part 4", "Tea is ready."),
            Document { item: ItemId::Room(hall), ..note("call", "A telephone.") },
            Document { written: Some(day_of_2025(3, 1)), ..note("part 0", "It is cold.") },
        ]);
        assert_eq!(find_names(&index, "boiler"), ["part 1", "part 2", "part 3"]);
    }

    #[test]
    fn a_question_for_the_present_prefers_the_latest_of_equal_answers() {
        let note = |name: &'static str, month: u32, text: &'static str| Document {
            room: Some("boats".into()),
            written: Some(day_of_2025(month, 1)),
            ..test_document(name, text)
        };
        let index = build_index(&[
            note("old", 2, "Ottilie is moored on buoy C14 since we moored her there."),
            note("new", 9, "Ottilie is moored on the pontoon since the summer is over."),
        ]);
        assert_eq!(find_names(&index, "Where was Ottilie moored?"), ["old", "new"]);
        assert_eq!(find_names(&index, "Where is Ottilie moored now?"), ["new", "old"]);
    }

    #[test]
    fn a_match_only_through_neighbours_has_low_similarity() {
        let at = |minute: &str| format!("2025-03-01T12:{minute}:00Z").parse().ok();
        let note = |name: &'static str, minute: &str, text: &'static str| Document {
            written: at(minute),
            room: Some("call".into()),
            ..test_document(name, text)
        };
        let notes =
            [note("a", "00", "Ticket AUTH-1432 is done."), note("b", "01", "Tea is ready.")];
        let index = build_index(&notes);
        let find =
            |words| index.find(&Query { text: words, limit: 9, ..Query::default() }, |_| true).best;
        let similar: Vec<f32> = find("AUTH-1432").iter().map(|it| it.similarity).collect();
        assert!(similar[0] > 0.6 && similar[1] < 0.35, "{similar:?}");
        assert!(
            find("is").iter().all(|it| it.similarity < STOP_WORDS_SIMILARITY),
            "{:?}",
            find("is")
        );
    }

    #[test]
    fn filters_limit_the_results() {
        let notes = ["a", "b", "c"].map(|it| test_document(it, "stone"));
        let [a, b, c] = notes;
        let index = build_index(&[
            Document { wing: Some("code".into()), room: Some("hall".into()), ..a },
            Document { wing: Some("life".into()), written: Some(day_of_2025(5, 1)), ..b },
            c,
        ]);
        let query = Query { text: "stone", limit: 9, ..Query::default() };
        let found = |query: Query<'_>| hit_names(index.find(&query, |_| true));
        assert_eq!(found(Query { wing: Some("code"), ..query }), ["a"]);
        assert_eq!(found(Query { room: Some("hall"), ..query }), ["a"]);
        assert_eq!(found(Query { since: Some(day_of_2025(5, 1)), ..query }), ["b"]);
        assert_eq!(found(Query { before: Some(day_of_2025(5, 1)), ..query }), [""; 0]);
        assert_eq!(found(Query { kinds: &[ItemKind::Room], ..query }), [""; 0]);
        let only_c = |it: &ItemId| *it == ItemId::Entity("c".to_owned());
        assert_eq!(hit_names(index.find(&query, only_c)), ["c"]);
    }

    #[test]
    fn ties_are_sorted_by_date_and_then_by_name() {
        let dated = |name, written| Document { written, ..test_document(name, "stone") };
        let index = build_index(&[
            dated("b", None),
            dated("a", None),
            dated("old", Some(day_of_2025(3, 1))),
            dated("new", Some(day_of_2025(4, 1))),
        ]);
        assert_eq!(find_names(&index, "stone"), ["new", "old", "a", "b"]);
    }

    #[test]
    fn a_limit_returns_the_first_of_all_hits() {
        let notes: Vec<_> = (0..50)
            .map(|it| Document {
                item: ItemId::Entity(format!("Rock {it}")),
                text: "rock and stone ".repeat(it % 7).into(),
                ..test_document("", "")
            })
            .chain([test_document("Rock", "stone")])
            .collect();
        let index = build_index(&notes);
        let find =
            |most| index.find(&Query { text: "stone", limit: most, ..Query::default() }, |_| true);
        let (all, few) = (find(usize::MAX), find(5));
        assert_eq!((all.best.len(), all.total, few.total), (43, 43, 43));
        assert_eq!(few.best, all.best[..5]);
        assert!(all.best.is_sorted_by(|a, b| a.similarity >= b.similarity));
    }

    #[test]
    fn similarity_measures_how_much_of_the_query_matches() {
        let index = build_index(&[
            test_document("a", "stone"),
            test_document("b", "stone bridge of old"),
            test_document("c", "x"),
        ]);
        let hits =
            index.find(&Query { text: "old stone bridge", limit: 9, ..Query::default() }, |_| true);
        let of = |at: usize| hits.best[at].similarity;
        assert!((0.65..0.85).contains(&of(0)), "{hits:?}");
        assert!((0.05..0.5).contains(&of(1)), "{hits:?}");
        let hits = index
            .find(&Query { text: "zebra stone zeppelin", limit: 9, ..Query::default() }, |_| true);
        assert!(hits.best[0].similarity < 0.4, "{hits:?}");
    }
}
