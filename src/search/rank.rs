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

use crate::model::{Opening, Sort, Vector, Vectors};
use crate::search::index::{Entry, Index, Posting};
use crate::search::lexicon::Term;
use crate::search::query_words::{Asked, AskedWord};
use crate::search::rank::score_column::Column;
use crate::search::words::{Script, beginning, words};

/// BM25's share of length normalisation.
const B: f32 = 0.4;

/// What a word counts that a neighbouring passage says.
const NEARBY: f32 = 0.3;

/// What the score of the whole document, and of the whole room, adds to that of
/// the best passage.
const WHOLE: f32 = 0.2;
const ROOM: f32 = 0.2;

/// How much less similar to a question it makes a document to say none of the words
/// itself: they stand in those around it.
const BY_NEIGHBOURS: f32 = 0.5;

/// How similar to a question something can be at most that has its words, where they
/// are such as stand in any text.
const SMALL: f32 = 0.2;

/// What stands before and behind a long question has this share of the question's
/// say, and only so many of its words, the rarest, are looked at.
const BESIDE: f32 = 0.05;
const MOST_BESIDE: usize = 24;

/// Among fewer passages nothing is told by how many hold a word: they are taken for
/// so many.
const FEW: usize = 100;

/// How many words one misspelt or unfinished word may stand for.
const MEANINGS: usize = 20;

/// By how many words of either half, the rarest, a text's lookalikes are found.
const RAREST: usize = 16;

/// With how many lookalikes a text is compared.
const COMPARED: usize = 8;

/// What is looked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Query<'a> {
    /// The question.
    pub words: &'a str,
    /// How many hits are wanted.
    pub most: usize,
    /// Only things of these sorts; of all, if none is named.
    pub sorts: &'a [Sort],
    /// Only what stands in this wing, by slug.
    pub wing: Option<&'a str>,
    /// Only this room and what hangs or is filed in it, by slug.
    pub room: Option<&'a str>,
    /// Only what has a facet that is wanted, of those [`Index::narrowed`] tells of.
    pub facets: Option<&'a [bool]>,
    /// Only what was written then or later.
    pub since: Option<DateTime<Utc>>,
    /// Only what was written before.
    pub before: Option<DateTime<Utc>>,
    /// What the question means, and what passages do, as far as that is known;
    /// without it words alone decide.
    pub meaning: Option<(&'a Vector, &'a Vectors)>,
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
    pub opening: Opening,
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
struct Sheet {
    passages: Column,
    entries: Column,
    places: Column,
    /// Which entries say one of the words themselves.
    own: Vec<bool>,
    /// What the question weighs in all.
    weight: f32,
    /// How similar to it something can be at most.
    most: f32,
}

/// A word of the question: what it stands for, and how rare that is.
struct Meant {
    terms: Vec<Term>,
    rarity: f32,
}

/// A document that fits, with its score and its best passage.
#[derive(Clone, Copy)]
pub(super) struct Fit<'a> {
    pub(super) entry: &'a Entry,
    pub(super) score: f32,
    /// How well it fits for itself, from 0 to 1, whatever else there is.
    pub(super) similarity: f32,
    pub(super) passage: u32,
}

impl Index {
    /// Finds what fits a question, the best of it, among what `admits` lets in.
    /// Of equals the newer is first, then the one whose name is.
    pub fn find(&self, query: &Query<'_>, admits: impl Fn(&Opening) -> bool) -> Hits {
        let sheet = self.judge(&Asked::read(query.words));
        let mut fits = self.fits(&sheet);
        let is_wanted = |it: &Entry| self.is_wanted(query, it) && admits(&it.opening);
        fits.retain(|it| is_wanted(it.entry));
        if let Some((asked, known)) = query.meaning {
            fits = self.joined(&fits, &self.likenesses(asked, known), is_wanted);
        }
        let total = fits.len();
        // Only what is shown is put in order: few ask for the last of thousands.
        if query.most < total {
            fits.select_nth_unstable_by(query.most, |a, b| self.better(a, b));
            fits.truncate(query.most);
        }
        fits.sort_unstable_by(|a, b| self.better(a, b));
        // The best is as similar as it is, and all others in their order.
        let first = fits.first().filter(|it| it.score > 0.0);
        let scale = first.map_or(0.0, |it| it.similarity / it.score);
        let best = fits.into_iter().map(|fit| {
            let passage = &self.passages[fit.passage as usize];
            let joined = query.meaning.map(|_| fit.score * scale);
            Hit {
                opening: fit.entry.opening.clone(),
                similarity: joined.unwrap_or(fit.similarity),
                passage: passage.from as usize..passage.to as usize,
            }
        });
        Hits { best: best.collect(), total }
    }

    /// Returns the documents that may say the same as `text`, the likeliest first:
    /// those that share its rarest words, a few of them, among what `admits` lets in.
    pub fn lookalikes(&self, text: &str, admits: impl Fn(&Opening) -> bool) -> Vec<Opening> {
        // Whoever adds to a note seldom adds at both ends.
        let (first, second) = text.split_at(beginning(text, text.len() / 2).len());
        let mut rarest: Vec<(usize, Term)> =
            [first, second].iter().flat_map(|half| self.rarest(half)).collect();
        rarest.sort_unstable_by_key(|(_, term)| *term);
        rarest.dedup();
        let mut sheet = self.sheet();
        for (holders, term) in rarest {
            let meant = Meant { terms: vec![term], rarity: self.rarity(holders) };
            self.weigh(&meant, 1.0, &mut sheet);
        }
        let mut fits = self.fits(&sheet);
        fits.retain(|it| admits(&it.entry.opening));
        if COMPARED < fits.len() {
            fits.select_nth_unstable_by(COMPARED, |a, b| self.better(a, b));
            fits.truncate(COMPARED);
        }
        fits.sort_unstable_by(|a, b| self.better(a, b));
        fits.into_iter().map(|it| it.entry.opening.clone()).collect()
    }

    /// Returns the rarest words of a text, with how many passages hold them.
    fn rarest(&self, text: &str) -> impl Iterator<Item = (usize, Term)> {
        let mut terms = Vec::new();
        words(text, |word| terms.extend(self.lexicon.meanings(word.text, word.script)));
        self.held(terms).into_iter().rev().take(RAREST)
    }

    /// Puts the better first, of equals the newer, and then the one whose name is.
    fn better(&self, a: &Fit<'_>, b: &Fit<'_>) -> Ordering {
        let newer = || b.entry.written.cmp(&a.entry.written);
        b.score.total_cmp(&a.score).then_with(newer).then_with(|| self.by_name(a.entry, b.entry))
    }

    fn is_wanted(&self, query: &Query<'_>, entry: &Entry) -> bool {
        let place = &self.places[entry.place as usize];
        let same = |asked: Option<&str>, found: &Option<String>| {
            asked.is_none_or(|it| found.as_deref() == Some(it))
        };
        (query.sorts.is_empty() || query.sorts.contains(&entry.opening.sort()))
            && query.facets.is_none_or(|it| it.get(entry.facet as usize) == Some(&true))
            && same(query.wing, &place.wing)
            && same(query.room, &place.room)
            && query.since.is_none_or(|since| entry.written.is_some_and(|it| it >= since))
            && query.before.is_none_or(|before| entry.written.is_some_and(|it| it < before))
    }

    fn sheet(&self) -> Sheet {
        Sheet {
            passages: Column::of(self.passages.len()),
            entries: Column::of(self.entries.len()),
            places: Column::of(self.places.len()),
            own: vec![false; self.entries.len()],
            weight: 0.0,
            most: 1.0,
        }
    }

    /// Judges everything by the words of a question.
    fn judge(&self, asked: &Asked) -> Sheet {
        let mut sheet = self.sheet();
        let words: Vec<Meant> = asked.words.iter().filter_map(|it| self.meant(it, true)).collect();
        for word in &words {
            self.weigh(word, 1.0, &mut sheet);
        }
        let mut beside: Vec<Meant> =
            asked.beside.iter().filter_map(|it| self.meant(it, false)).collect();
        beside.sort_by(|a, b| b.rarity.total_cmp(&a.rarity));
        beside.truncate(MOST_BESIDE);
        let sum = |words: &[Meant]| words.iter().map(|it| it.rarity).sum::<f32>();
        let share = (BESIDE * sum(&words) / sum(&beside).max(1.0)).min(BESIDE);
        for word in &beside {
            self.weigh(word, share, &mut sheet);
        }
        sheet.weight = sum(&words);
        sheet.most = if asked.is_telling { 1.0 } else { SMALL };
        sheet
    }

    /// Returns what a word stands for; one that nobody used may be misspelt or
    /// unfinished, if `mend` allows. A name put together of other words means
    /// nothing by itself where it is not known.
    fn meant(&self, word: &AskedWord, mend: bool) -> Option<Meant> {
        let mut terms = self.lexicon.meanings(&word.text, word.script);
        let month = word.month.map(|it| self.lexicon.meanings(it, Script::Latin));
        terms.extend(month.into_iter().flatten());
        let mut held = self.held(terms);
        if held.is_empty() && (word.whole || !mend) {
            return None;
        }
        if held.is_empty() {
            held = self.held(self.lexicon.like(&word.text, word.script));
            held.truncate(MEANINGS);
        }
        let rarity = self.rarity(held.iter().map(|(holders, _)| holders).sum());
        Some(Meant { rarity, terms: held.into_iter().map(|(_, term)| term).collect() })
    }

    /// Returns those of some terms that passages hold, each once and with how
    /// many do, the most common first.
    fn held(&self, mut terms: Vec<Term>) -> Vec<(usize, Term)> {
        terms.sort_unstable();
        terms.dedup();
        let counted = terms.into_iter().map(|it| (self.live(it).count(), it));
        let mut held: Vec<(usize, Term)> = counted.filter(|(holders, _)| *holders > 0).collect();
        held.sort_unstable_by_key(|(holders, term)| (Reverse(*holders), *term));
        held
    }

    /// Yields where a term is held.
    fn live(&self, term: Term) -> impl Iterator<Item = &Posting> {
        let postings = self.postings.get(term as usize).into_iter().flatten();
        postings.filter(|it| self.is_alive(it.passage))
    }

    #[expect(clippy::cast_precision_loss, reason = "no palace has 2^23 passages")]
    fn rarity(&self, holders: usize) -> f32 {
        let (all, holders) = (self.alive().max(FEW) as f32, holders as f32);
        (1.0 + (all - holders + 0.5).max(0.0) / (holders + 0.5)).ln()
    }

    /// Adds to all scores what one word contributes.
    #[expect(clippy::cast_precision_loss, reason = "no palace has 2^23 words in a room")]
    fn weigh(&self, word: &Meant, share: f32, sheet: &mut Sheet) {
        let (usual, usual_around) = (self.lengths.value(), self.surroundings.value());
        let norm = |length: u32, usual: f32| 1.0 - B + B * length as f32 / usual;
        for posting in word.terms.iter().flat_map(|it| self.live(*it)) {
            let passage = &self.passages[posting.passage as usize];
            let said = f32::from(posting.said);
            let own = said / norm(passage.length, usual);
            sheet.passages.note(posting.passage, own + f32::from(posting.aside) / Posting::ASIDE);
            sheet.own[passage.entry as usize] = true;
            if posting.said == 0 {
                continue;
            }
            for near in self.neighbours(posting.passage) {
                let around = self.passages[near as usize].surroundings;
                sheet.passages.note(near, NEARBY * said / norm(around, usual_around));
            }
            sheet.entries.note(passage.entry, said);
            if let Some(entry) = &self.entries[passage.entry as usize] {
                sheet.places.note(entry.place, said);
            }
        }
        let rarity = share * word.rarity;
        sheet.passages.settle(rarity, |_| 1.0);
        let usual = self.usual_entry();
        sheet.entries.settle(rarity, |it| {
            norm(self.entries[it as usize].as_ref().map_or(0, |it| it.length), usual)
        });
        let usual = self.usual_place();
        sheet.places.settle(rarity, |it| norm(self.places[it as usize].length, usual));
    }

    #[expect(clippy::cast_precision_loss, reason = "no palace has 2^23 words in a note")]
    fn usual_entry(&self) -> f32 {
        let total: u64 = self.places.iter().map(|it| u64::from(it.length)).sum();
        (total as f32 / self.len().max(1) as f32).max(1.0)
    }

    #[expect(clippy::cast_precision_loss, reason = "no palace has 2^23 words in a room")]
    fn usual_place(&self) -> f32 {
        let lengths = self.places.iter().map(|it| u64::from(it.length)).filter(|it| *it > 0);
        (lengths.clone().sum::<u64>() as f32 / lengths.count().max(1) as f32).max(1.0)
    }

    /// Returns every document that has a score, with its best passage.
    fn fits(&self, sheet: &Sheet) -> Vec<Fit<'_>> {
        let mut fits: Vec<Fit<'_>> = Vec::new();
        let scores = sheet.passages.scores.iter().enumerate().filter(|(_, it)| **it > 0.0);
        for (number, score) in scores {
            let passage = u32::try_from(number).unwrap_or(u32::MAX);
            let entry_number = self.passages[number].entry as usize;
            let Some(entry) = self.entries.get(entry_number).and_then(Option::as_ref) else {
                continue;
            };
            let rest = WHOLE * sheet.entries.scores[entry_number]
                + ROOM * sheet.places.scores[entry.place as usize];
            let score = score + rest;
            let most = sheet.most * if sheet.own[entry_number] { 1.0 } else { BY_NEIGHBOURS };
            let similarity = most * similarity(score, sheet.weight);
            let fit = Fit { entry, score, similarity, passage };
            match fits.last_mut() {
                // The passages of a document lie together.
                Some(last) if std::ptr::eq(last.entry, entry) => {
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
fn similarity(score: f32, weight: f32) -> f32 {
    1.0 - 0.25_f32.powf(score / ((1.0 + WHOLE + ROOM) * weight.max(f32::MIN_POSITIVE)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::Document;
    use crate::search::fixture::{day, note};

    fn index(notes: &[Document<'static>]) -> Index {
        Index::of(notes.to_vec())
    }

    fn names(hits: Hits) -> Vec<String> {
        let named = |it: Hit| match it.opening {
            Opening::Entity(name) => name,
            other => panic!("{other:?}"),
        };
        hits.best.into_iter().map(named).collect()
    }

    fn found(index: &Index, words: &str) -> Vec<String> {
        names(index.find(&Query { words, most: 10, ..Query::default() }, |_| true))
    }

    #[test]
    fn a_name_counts_for_more_than_a_mention() {
        let index = index(&[note("Geology", "rocks"), note("Biology", "unlike geology, alive")]);
        assert_eq!(found(&index, "what about geology?"), ["Geology", "Biology"]);
    }

    #[test]
    fn a_word_is_found_in_its_other_forms_in_each_language() {
        let index = index(&[
            note("a", "Migrations were run by the server."),
            note("b", "Die Mieten in den Häusern sind gestiegen, und das ist nicht gut."),
            note("c", "Мастер починил шесть старых самоваров"),
            note("d", "古树普洱每饼涨到四百八十元"),
        ]);
        assert_eq!(found(&index, "migrate"), ["a"]);
        assert_eq!(found(&index, "Miete der Hauser"), ["b"]);
        assert_eq!(found(&index, "самовар"), ["c"]);
        assert_eq!(found(&index, "普洱多少钱"), ["d"]);
        assert_eq!(found(&index, "茶"), [""; 0]);
        assert_eq!(found(&index, "洱"), ["d"]);
    }

    #[test]
    fn a_word_nobody_used_may_be_misspelt_or_unfinished() {
        let index = index(&[note("Geology", "rocks"), note("Biology", "cells")]);
        assert_eq!(found(&index, "geol"), ["Geology"]);
        assert_eq!(found(&index, "boilogy"), ["Biology"]);
        assert_eq!(found(&index, "rokcs"), ["Geology"]);
        assert_eq!(found(&index, "zebra"), [""; 0]);
    }

    #[test]
    fn a_word_may_be_misspelt_and_have_another_ending() {
        let index = index(&[note("a", "The valve was replaced."), note("b", "A plate of lace.")]);
        for asked in ["replce", "repplaces", "relpacing"] {
            assert_eq!(found(&index, asked), ["a"], "{asked}");
        }
        for other in ["relpca", "reglacing", "replanned"] {
            assert_eq!(found(&index, other), [""; 0], "{other}");
        }
    }

    #[test]
    fn a_note_is_found_by_when_it_was_written() {
        let index = index(&[
            Document { written: Some(day(3, 14)), ..note("march", "a meeting") },
            Document { written: Some(day(6, 2)), ..note("june", "a meeting") },
        ]);
        for asked in ["meeting in June", "meeting 2025-06-02", "Treffen im Juni", "6月"] {
            assert_eq!(found(&index, asked)[0], "june", "{asked}");
        }
    }

    #[test]
    fn the_passage_that_answers_is_shown_of_a_long_text() {
        let filler = "Nothing of interest happened on that day either. ".repeat(40);
        let text = format!("{filler}The boiler showed F28. {filler}");
        let note = Document { text: text.clone().into(), ..note("long", "") };
        let hits = index(&[note])
            .find(&Query { words: "boiler error", most: 1, ..Query::default() }, |_| true);
        let passage = &text[hits.best[0].passage.clone()];
        assert!(passage.contains("boiler") && passage.len() < 700, "{passage}");
    }

    #[test]
    fn what_was_said_just_before_and_after_counts_a_little() {
        let at = |minute: &str| format!("2025-03-01T12:{minute}:00Z").parse().ok();
        let said = |name: &'static str, minute: &str, text: &'static str| Document {
            written: at(minute),
            room: Some("call".into()),
            ..note(name, text)
        };
        let index = index(&[
            said("a", "00", "Where will you spend the summer?"),
            said("b", "01", "In the house by the lake."),
            Document { room: Some("other".into()), ..said("c", "01", "In the house by the lake.") },
            Document { room: None, ..said("nowhere", "00", "Where will you hang the curtains?") },
            Document { room: None, ..said("no place", "01", "In the attic.") },
        ]);
        assert_eq!(found(&index, "summer house"), ["a", "b", "c"]);
        assert_eq!(found(&index, "summer"), ["a", "b"]);
        assert_eq!(found(&index, "curtains"), ["nowhere"]);
    }

    #[test]
    fn what_is_found_by_its_neighbours_alone_is_far_less_similar() {
        let at = |minute: &str| format!("2025-03-01T12:{minute}:00Z").parse().ok();
        let said = |name: &'static str, minute: &str, text: &'static str| Document {
            written: at(minute),
            room: Some("call".into()),
            ..note(name, text)
        };
        let notes =
            [said("a", "00", "Ticket AUTH-1432 is done."), said("b", "01", "Tea is ready.")];
        let index = index(&notes);
        let find = |words| index.find(&Query { words, most: 9, ..Query::default() }, |_| true).best;
        let similar: Vec<f32> = find("AUTH-1432").iter().map(|it| it.similarity).collect();
        assert!(similar[0] > 0.6 && similar[1] < 0.3, "{similar:?}");
        assert!(find("is").iter().all(|it| it.similarity < SMALL), "{:?}", find("is"));
    }

    #[test]
    fn only_what_is_wanted_is_found() {
        let notes = ["a", "b", "c"].map(|it| note(it, "stone"));
        let [a, b, c] = notes;
        let index = index(&[
            Document { wing: Some("code".into()), room: Some("hall".into()), ..a },
            Document { wing: Some("life".into()), written: Some(day(5, 1)), ..b },
            c,
        ]);
        let query = Query { words: "stone", most: 9, ..Query::default() };
        let found = |query: Query<'_>| names(index.find(&query, |_| true));
        assert_eq!(found(Query { wing: Some("code"), ..query }), ["a"]);
        assert_eq!(found(Query { room: Some("hall"), ..query }), ["a"]);
        assert_eq!(found(Query { since: Some(day(5, 1)), ..query }), ["b"]);
        assert_eq!(found(Query { before: Some(day(5, 1)), ..query }), [""; 0]);
        assert_eq!(found(Query { sorts: &[Sort::Room], ..query }), [""; 0]);
        let only_c = |it: &Opening| *it == Opening::Entity("c".to_owned());
        assert_eq!(names(index.find(&query, only_c)), ["c"]);
    }

    #[test]
    fn of_equals_the_newer_is_first_and_then_the_name() {
        let dated = |name, written| Document { written, ..note(name, "stone") };
        let index = index(&[
            dated("b", None),
            dated("a", None),
            dated("old", Some(day(3, 1))),
            dated("new", Some(day(4, 1))),
        ]);
        assert_eq!(found(&index, "stone"), ["new", "old", "a", "b"]);
    }

    #[test]
    fn the_best_few_are_the_beginning_of_all() {
        let notes: Vec<_> = (0..50)
            .map(|it| Document {
                opening: Opening::Entity(format!("Rock {it}")),
                text: "rock and stone ".repeat(it % 7).into(),
                ..note("", "")
            })
            .chain([note("Rock", "stone")])
            .collect();
        let index = index(&notes);
        let find = |most| index.find(&Query { words: "stone", most, ..Query::default() }, |_| true);
        let (all, few) = (find(usize::MAX), find(5));
        assert_eq!((all.best.len(), all.total, few.total), (43, 43, 43));
        assert_eq!(few.best, all.best[..5]);
        assert!(all.best.is_sorted_by(|a, b| a.similarity >= b.similarity));
    }

    #[test]
    fn similarity_says_how_much_of_the_question_was_found() {
        let index = index(&[note("a", "stone"), note("b", "stone bridge of old"), note("c", "x")]);
        let hits =
            index.find(&Query { words: "old stone bridge", most: 9, ..Query::default() }, |_| true);
        let of = |at: usize| hits.best[at].similarity;
        assert!((0.65..0.85).contains(&of(0)), "{hits:?}");
        assert!((0.05..0.5).contains(&of(1)), "{hits:?}");
        let hits = index
            .find(&Query { words: "zebra stone zeppelin", most: 9, ..Query::default() }, |_| true);
        assert!(hits.best[0].similarity < 0.4, "{hits:?}");
    }
}
