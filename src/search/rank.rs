//! Which documents answer a question best: BM25 over passages, with the words
//! around a passage as a field of their own.
//!
//! A passage is judged by what it says, by its neighbours' words, which count
//! less, and by the document's title, place and date. A document is as good as
//! its best passage; the rest of it and the room it is in add a little, so that
//! among equals the one in the likely place is first.

pub(crate) mod score_column;
use std::cmp::{Ordering, Reverse};
use std::ops::Range;

use chrono::{DateTime, Utc};

use crate::model::{ItemId, ItemKind, Vector, VectorsByTextHash};
use crate::search::index::{Index, IndexedDocument, Posting};
use crate::search::lexicon::Term;
use crate::search::query_words::{QueryWord, QueryWords};
use crate::search::rank::score_column::ScoreColumn;
use crate::search::words::{Script, byte_prefix, for_each_word};

/// BM25's share of length normalisation.
const LENGTH_NORMALIZATION: f32 = 0.4;

/// What a word counts that a neighbouring passage says.
const NEIGHBOUR_WEIGHT: f32 = 0.3;

/// What the score of the whole document, and of the whole room, adds to that of
/// the best passage.
const DOCUMENT_WEIGHT: f32 = 0.2;
const ROOM_WEIGHT: f32 = 0.2;

/// How much less similar to a question it makes a document to say none of the words
/// itself: they stand in those around it.
const NEIGHBOUR_ONLY_FACTOR: f32 = 0.5;

/// How similar to a question something can be at most that has its words, where they
/// are such as stand in any text.
const STOP_WORDS_SIMILARITY: f32 = 0.2;

/// What stands before and behind a long question has this share of the question's
/// say, and only so many of its words, the rarest, are looked at.
const CONTEXT_SHARE: f32 = 0.05;
const MAX_CONTEXT_TERMS: usize = 24;

/// Among fewer passages nothing is told by how many hold a word: they are taken for
/// so many.
const MIN_CORPUS_SIZE: usize = 100;

/// How many words one misspelt or unfinished word may stand for.
const MAX_SIMILAR_TERMS: usize = 20;

/// By how many words of either half, the rarest, a text's lookalikes are found.
const RAREST_TERMS: usize = 16;

/// With how many lookalikes a text is compared.
const MAX_CANDIDATES: usize = 8;

/// What is looked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Query<'a> {
    /// The question.
    pub text: &'a str,
    /// How many hits are wanted.
    pub limit: usize,
    /// Only things of these sorts; of all, if none is named.
    pub kinds: &'a [ItemKind],
    /// Only what stands in this wing, by slug.
    pub wing: Option<&'a str>,
    /// Only this room and what hangs or is filed in it, by slug.
    pub room: Option<&'a str>,
    /// Only what has a facet that is wanted, of those [`LazyNameIndex::facet_filter`] tells of.
    pub facets: Option<&'a [bool]>,
    /// Only what was written then or later.
    pub since: Option<DateTime<Utc>>,
    /// Only what was written before.
    pub before: Option<DateTime<Utc>>,
    /// What the question means, and what passages do, as far as that is known;
    /// without it words alone decide.
    pub vectors: Option<(&'a Vector, &'a VectorsByTextHash)>,
}

/// What was found, and how much more there is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hits {
    /// The best, best first.
    pub best: Vec<Hit>,
    /// How many things fit.
    pub total: usize,
}

/// One thing that fits a question.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// What it is.
    pub item: ItemId,
    /// How well it fits, from 0 to 1: rises with the score, and is half of that where
    /// none of the words is its own, but stands beside it. About 0.7 has what says each
    /// word of the question once, in a passage of usual length; words alone never reach
    /// 1, and such as stand in any text not 0.2. By words and meaning: how like the best
    /// is to what is asked by the one or the other, and the others after it.
    pub similarity: f32,
    /// Where its best passage stands in the document's text, in bytes.
    pub passage: Range<usize>,
}

/// Scores while they are added up, by the number of what is judged.
struct Scores {
    passages: ScoreColumn,
    documents: ScoreColumn,
    rooms: ScoreColumn,
    /// Which entries say one of the words themselves.
    has_own_match: Vec<bool>,
    /// What the question weighs in all.
    total_weight: f32,
    /// How similar to it something can be at most.
    max_similarity: f32,
}

/// A word of the question: what it stands for, and how rare that is.
struct QueryTerm {
    terms: Vec<Term>,
    idf: f32,
}

/// A document that fits, with its score and its best passage.
#[derive(Clone, Copy)]
pub(super) struct ScoredDoc<'a> {
    pub(super) document: &'a IndexedDocument,
    pub(super) score: f32,
    /// How well it fits for itself, from 0 to 1, whatever else there is.
    pub(super) similarity: f32,
    pub(super) passage: u32,
}

impl Index {
    /// Finds what fits a question, the best of it, among what `admits` lets in.
    /// Of equals the newer is first, then the one whose name is.
    pub fn find(&self, query: &Query<'_>, admits: impl Fn(&ItemId) -> bool) -> Hits {
        let sheet = self.score_query(&QueryWords::parse(query.text));
        let mut fits = self.scored_docs(&sheet);
        let is_wanted = |it: &IndexedDocument| self.matches_filters(query, it) && admits(&it.item);
        fits.retain(|it| is_wanted(it.document));
        if let Some((asked, known)) = query.vectors {
            fits = self.merge_scores(&fits, &self.passage_similarities(asked, known), is_wanted);
        }
        let total = fits.len();
        // Only what is shown is put in order: few ask for the last of thousands.
        if query.limit < total {
            fits.select_nth_unstable_by(query.limit, |a, b| self.ranking_order(a, b));
            fits.truncate(query.limit);
        }
        fits.sort_unstable_by(|a, b| self.ranking_order(a, b));
        // The best is as similar as it is, and all others in their order.
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

    /// Returns the documents that may say the same as `text`, the likeliest first:
    /// those that share its rarest words, a few of them, among what `admits` lets in.
    pub fn near_duplicate_candidates(
        &self,
        text: &str,
        admits: impl Fn(&ItemId) -> bool,
    ) -> Vec<ItemId> {
        // Whoever adds to a note seldom adds at both ends.
        let (first, second) = text.split_at(byte_prefix(text, text.len() / 2).len());
        let mut rarest: Vec<(usize, Term)> =
            [first, second].iter().flat_map(|half| self.rarest_terms(half)).collect();
        rarest.sort_unstable_by_key(|(_, term)| *term);
        rarest.dedup();
        let mut sheet = self.empty_scores();
        for (holders, term) in rarest {
            let meant = QueryTerm { terms: vec![term], idf: self.idf(holders) };
            self.add_term(&meant, 1.0, &mut sheet);
        }
        let mut fits = self.scored_docs(&sheet);
        fits.retain(|it| admits(&it.document.item));
        if MAX_CANDIDATES < fits.len() {
            fits.select_nth_unstable_by(MAX_CANDIDATES, |a, b| self.ranking_order(a, b));
            fits.truncate(MAX_CANDIDATES);
        }
        fits.sort_unstable_by(|a, b| self.ranking_order(a, b));
        fits.into_iter().map(|it| it.document.item.clone()).collect()
    }

    /// Returns the rarest words of a text, with how many passages hold them.
    fn rarest_terms(&self, text: &str) -> impl Iterator<Item = (usize, Term)> {
        let mut terms = Vec::new();
        for_each_word(text, |word| terms.extend(self.lexicon.find_terms(word.text, word.script)));
        self.passage_frequencies(terms).into_iter().rev().take(RAREST_TERMS)
    }

    /// Puts the better first, of equals the newer, and then the one whose name is.
    fn ranking_order(&self, a: &ScoredDoc<'_>, b: &ScoredDoc<'_>) -> Ordering {
        let newer = || b.document.written.cmp(&a.document.written);
        b.score
            .total_cmp(&a.score)
            .then_with(newer)
            .then_with(|| self.compare_names(a.document, b.document))
    }

    fn matches_filters(&self, query: &Query<'_>, entry: &IndexedDocument) -> bool {
        let place = &self.rooms[entry.room as usize];
        let same = |asked: Option<&str>, found: &Option<String>| {
            asked.is_none_or(|it| found.as_deref() == Some(it))
        };
        (query.kinds.is_empty() || query.kinds.contains(&entry.item.kind()))
            && query.facets.is_none_or(|it| it.get(entry.facet as usize) == Some(&true))
            && same(query.wing, &place.wing)
            && same(query.room, &place.room)
            && query.since.is_none_or(|since| entry.written.is_some_and(|it| it >= since))
            && query.before.is_none_or(|before| entry.written.is_some_and(|it| it < before))
    }

    fn empty_scores(&self) -> Scores {
        Scores {
            passages: ScoreColumn::with_length(self.passages.len()),
            documents: ScoreColumn::with_length(self.documents.len()),
            rooms: ScoreColumn::with_length(self.rooms.len()),
            has_own_match: vec![false; self.documents.len()],
            total_weight: 0.0,
            max_similarity: 1.0,
        }
    }

    /// Judges everything by the words of a question.
    fn score_query(&self, asked: &QueryWords) -> Scores {
        let mut sheet = self.empty_scores();
        let words: Vec<QueryTerm> =
            asked.words.iter().filter_map(|it| self.query_term(it, true)).collect();
        for word in &words {
            self.add_term(word, 1.0, &mut sheet);
        }
        let mut beside: Vec<QueryTerm> =
            asked.context.iter().filter_map(|it| self.query_term(it, false)).collect();
        beside.sort_by(|a, b| b.idf.total_cmp(&a.idf));
        beside.truncate(MAX_CONTEXT_TERMS);
        let sum = |words: &[QueryTerm]| words.iter().map(|it| it.idf).sum::<f32>();
        let share = (CONTEXT_SHARE * sum(&words) / sum(&beside).max(1.0)).min(CONTEXT_SHARE);
        for word in &beside {
            self.add_term(word, share, &mut sheet);
        }
        sheet.total_weight = sum(&words);
        sheet.max_similarity = if asked.has_content_words { 1.0 } else { STOP_WORDS_SIMILARITY };
        sheet
    }

    /// Returns what a word stands for; one that nobody used may be misspelt or
    /// unfinished, if `mend` allows. A name put together of other words means
    /// nothing by itself where it is not known.
    fn query_term(&self, word: &QueryWord, mend: bool) -> Option<QueryTerm> {
        let mut terms = self.lexicon.find_terms(&word.text, word.script);
        let month = word.month.map(|it| self.lexicon.find_terms(it, Script::Latin));
        terms.extend(month.into_iter().flatten());
        let mut held = self.passage_frequencies(terms);
        if held.is_empty() && (word.is_compound || !mend) {
            return None;
        }
        if held.is_empty() {
            held = self.passage_frequencies(self.lexicon.similar_terms(&word.text, word.script));
            held.truncate(MAX_SIMILAR_TERMS);
        }
        let rarity = self.idf(held.iter().map(|(holders, _)| holders).sum());
        Some(QueryTerm { idf: rarity, terms: held.into_iter().map(|(_, term)| term).collect() })
    }

    /// Returns those of some terms that passages hold, each once and with how
    /// many do, the most common first.
    fn passage_frequencies(&self, mut terms: Vec<Term>) -> Vec<(usize, Term)> {
        terms.sort_unstable();
        terms.dedup();
        let counted = terms.into_iter().map(|it| (self.live_postings(it).count(), it));
        let mut held: Vec<(usize, Term)> = counted.filter(|(holders, _)| *holders > 0).collect();
        held.sort_unstable_by_key(|(holders, term)| (Reverse(*holders), *term));
        held
    }

    /// Yields where a term is held.
    fn live_postings(&self, term: Term) -> impl Iterator<Item = &Posting> {
        let postings = self.postings.get(term as usize).into_iter().flatten();
        postings.filter(|it| self.is_live(it.passage))
    }

    #[expect(clippy::cast_precision_loss, reason = "no palace has 2^23 passages")]
    fn idf(&self, holders: usize) -> f32 {
        let (all, holders) =
            (self.live_passage_count().max(MIN_CORPUS_SIZE) as f32, holders as f32);
        (1.0 + (all - holders + 0.5).max(0.0) / (holders + 0.5)).ln()
    }

    /// Adds to all scores what one word contributes.
    #[expect(clippy::cast_precision_loss, reason = "no palace has 2^23 words in a room")]
    fn add_term(&self, word: &QueryTerm, share: f32, sheet: &mut Scores) {
        let (usual, usual_around) = (self.passage_lengths.mean(), self.neighbour_lengths.mean());
        let norm = |length: u32, usual: f32| {
            1.0 - LENGTH_NORMALIZATION + LENGTH_NORMALIZATION * length as f32 / usual
        };
        for posting in word.terms.iter().flat_map(|it| self.live_postings(*it)) {
            let passage = &self.passages[posting.passage as usize];
            let said = f32::from(posting.term_frequency);
            let own = said / norm(passage.length, usual);
            sheet.passages.add_frequency(
                posting.passage,
                own + f32::from(posting.field_weight) / Posting::FIELD_WEIGHT_SCALE,
            );
            sheet.has_own_match[passage.document as usize] = true;
            if posting.term_frequency == 0 {
                continue;
            }
            for near in self.neighbours(posting.passage) {
                let around = self.passages[near as usize].neighbour_length;
                sheet
                    .passages
                    .add_frequency(near, NEIGHBOUR_WEIGHT * said / norm(around, usual_around));
            }
            sheet.documents.add_frequency(passage.document, said);
            if let Some(entry) = &self.documents[passage.document as usize] {
                sheet.rooms.add_frequency(entry.room, said);
            }
        }
        let rarity = share * word.idf;
        sheet.passages.finish_term(rarity, |_| 1.0);
        let usual = self.mean_document_length();
        sheet.documents.finish_term(rarity, |it| {
            norm(self.documents[it as usize].as_ref().map_or(0, |it| it.length), usual)
        });
        let usual = self.mean_room_length();
        sheet.rooms.finish_term(rarity, |it| norm(self.rooms[it as usize].length, usual));
    }

    #[expect(clippy::cast_precision_loss, reason = "no palace has 2^23 words in a note")]
    fn mean_document_length(&self) -> f32 {
        let total: u64 = self.rooms.iter().map(|it| u64::from(it.length)).sum();
        (total as f32 / self.len().max(1) as f32).max(1.0)
    }

    #[expect(clippy::cast_precision_loss, reason = "no palace has 2^23 words in a room")]
    fn mean_room_length(&self) -> f32 {
        let lengths = self.rooms.iter().map(|it| u64::from(it.length)).filter(|it| *it > 0);
        (lengths.clone().sum::<u64>() as f32 / lengths.count().max(1) as f32).max(1.0)
    }

    /// Returns every document that has a score, with its best passage.
    fn scored_docs(&self, sheet: &Scores) -> Vec<ScoredDoc<'_>> {
        let mut fits: Vec<ScoredDoc<'_>> = Vec::new();
        let scores = sheet.passages.scores.iter().enumerate().filter(|(_, it)| **it > 0.0);
        for (number, score) in scores {
            let passage = u32::try_from(number).unwrap_or(u32::MAX);
            let entry_number = self.passages[number].document as usize;
            let Some(entry) = self.documents.get(entry_number).and_then(Option::as_ref) else {
                continue;
            };
            let rest = DOCUMENT_WEIGHT * sheet.documents.scores[entry_number]
                + ROOM_WEIGHT * sheet.rooms.scores[entry.room as usize];
            let score = score + rest;
            let most = sheet.max_similarity
                * if sheet.has_own_match[entry_number] { 1.0 } else { NEIGHBOUR_ONLY_FACTOR };
            let similarity = most * score_to_similarity(score, sheet.total_weight);
            let fit = ScoredDoc { document: entry, score, similarity, passage };
            match fits.last_mut() {
                // The passages of a document lie together.
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

/// Maps a score to 0..1, given what the question weighs in all.
fn score_to_similarity(score: f32, weight: f32) -> f32 {
    1.0 - 0.25_f32
        .powf(score / ((1.0 + DOCUMENT_WEIGHT + ROOM_WEIGHT) * weight.max(f32::MIN_POSITIVE)))
}

#[cfg(test)]
mod tests {
    use super::*;
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
        let said = |name: &'static str, minute: &str, text: &'static str| Document {
            written: at(minute),
            room: Some("call".into()),
            ..test_document(name, text)
        };
        let index = build_index(&[
            said("a", "00", "Where will you spend the summer?"),
            said("b", "01", "In the house by the lake."),
            Document { room: Some("other".into()), ..said("c", "01", "In the house by the lake.") },
            Document { room: None, ..said("nowhere", "00", "Where will you hang the curtains?") },
            Document { room: None, ..said("no place", "01", "In the attic.") },
        ]);
        assert_eq!(find_names(&index, "summer house"), ["a", "b", "c"]);
        assert_eq!(find_names(&index, "summer"), ["a", "b"]);
        assert_eq!(find_names(&index, "curtains"), ["nowhere"]);
    }

    #[test]
    fn a_match_only_through_neighbours_has_low_similarity() {
        let at = |minute: &str| format!("2025-03-01T12:{minute}:00Z").parse().ok();
        let said = |name: &'static str, minute: &str, text: &'static str| Document {
            written: at(minute),
            room: Some("call".into()),
            ..test_document(name, text)
        };
        let notes =
            [said("a", "00", "Ticket AUTH-1432 is done."), said("b", "01", "Tea is ready.")];
        let index = build_index(&notes);
        let find =
            |words| index.find(&Query { text: words, limit: 9, ..Query::default() }, |_| true).best;
        let similar: Vec<f32> = find("AUTH-1432").iter().map(|it| it.similarity).collect();
        assert!(similar[0] > 0.6 && similar[1] < 0.3, "{similar:?}");
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
