//! The inverted index: which passages hold which words.
//!
//! A document is cut into passages, and a passage knows its neighbours: what
//! stands beside it in the same document, and in what was written in the same
//! room within the hour. Terms and passages are numbers; a document that is
//! taken out leaves a gap, and the gaps are closed when they are many.

pub(crate) mod compaction;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::HashMap;

use chrono::{DateTime, Utc};
use rayon::prelude::*;

use crate::model::Opening;
use crate::search::document_terms::Reading;
use crate::search::lexicon::Lexicon;

/// How many seconds apart notes of one room are one conversation.
const TOGETHER: i64 = 3600;

/// How far apart passages are still neighbours.
const NEIGHBOURS: usize = 2;

/// Where there are many documents, so many are read in one go, and so many goes
/// are under way at once.
const SHARE: usize = 1024;
const SHARES: usize = 16;

/// No passage.
const NONE: u32 = u32::MAX;

/// What an index is told of a thing that can be found.
#[derive(Clone, Debug)]
pub struct Document<'a> {
    /// What it is; an index knows a thing by this.
    pub opening: Opening,
    /// The wing it stands in, by slug.
    pub wing: Option<Cow<'a, str>>,
    /// The room it is, or hangs or is filed in, by slug.
    pub room: Option<Cow<'a, str>>,
    /// What that place is called.
    pub place: Cow<'a, str>,
    /// What a search may be narrowed down to: one text for all things that are
    /// wanted or not by the same.
    pub facet: Cow<'a, str>,
    /// When it was written.
    pub written: Option<DateTime<Utc>>,
    /// What it is called.
    pub title: Cow<'a, str>,
    /// What it says; a hit points into this.
    pub text: Cow<'a, str>,
    /// What else it is found by, each with the weight of a word in it, where a
    /// word of the text has 1.
    pub asides: Vec<(f32, Cow<'a, str>)>,
}

/// An index of everything in one palace that can be found and opened.
#[derive(Clone, Debug, Default)]
pub struct Index {
    pub(super) lexicon: Lexicon,
    /// By term.
    pub(super) postings: Vec<Vec<Posting>>,
    pub(super) passages: Vec<Passage>,
    pub(super) entries: Vec<Option<Entry>>,
    pub(super) places: Vec<Place>,
    /// Of the lengths of passages, and of what is near them.
    pub(super) lengths: Average,
    pub(super) surroundings: Average,
    numbers: HashMap<Opening, u32>,
    place_numbers: HashMap<(Option<String>, Option<String>), u32>,
    facets: HashMap<String, u32>,
    /// Passages below this number stand as their documents are ordered.
    ordered: u32,
    gaps: usize,
}

/// That a passage holds a term.
#[derive(Clone, Copy, Debug)]
pub(super) struct Posting {
    pub(super) passage: u32,
    /// How often the passage itself says it.
    pub(super) said: u16,
    /// What title, place, date and the like add, in parts of [`Posting::ASIDE`].
    pub(super) aside: u16,
}

/// Some sentences of a document.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passage {
    /// Whose it is; none's, if the document was taken out.
    pub(super) entry: u32,
    /// How many words it has.
    pub(super) length: u32,
    /// How many words its neighbours have.
    pub(super) surroundings: u32,
    before: u32,
    after: u32,
    pub(super) meaning_key: u64,
    /// Where it stands in the text, in bytes.
    pub(super) from: u32,
    pub(super) to: u32,
}

/// A document, as far as it is remembered.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) opening: Opening,
    pub(super) place: u32,
    pub(super) facet: u32,
    pub(super) written: Option<DateTime<Utc>>,
    /// How many words it has.
    pub(super) length: u32,
    pub(super) first: u32,
    pub(super) end: u32,
}

/// A room, or what is in none.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) wing: Option<String>,
    pub(super) room: Option<String>,
    /// How many words all it holds has.
    pub(super) length: u32,
    /// Its dated documents, oldest first; none of what is in no room, for that
    /// is about anything.
    dated: Vec<u32>,
}

/// An average over those that have something to average.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Average {
    total: u64,
    number: u64,
}

impl Posting {
    /// An aside of this much counts as one word of the text.
    pub(super) const ASIDE: f32 = 64.0;
}

impl Index {
    /// Indexes many documents at once, on all processors.
    pub fn of(mut documents: Vec<Document<'_>>) -> Self {
        // In this order each room grows at its end, and neighbours lie together.
        documents.par_sort_by(|a, b| order(a).cmp(&order(b)));
        let mut index = Self::default();
        for batch in documents.chunks(SHARE * SHARES) {
            let read: Vec<_> = batch.par_chunks(SHARE).map(read_alone).collect();
            let mut documents = batch.iter();
            for (lexicon, readings) in read {
                let terms = index.lexicon.absorb(lexicon);
                for (mut reading, document) in readings.into_iter().zip(&mut documents) {
                    reading.rename(&terms);
                    index.admit(document, &reading);
                }
            }
        }
        index.postings.iter_mut().for_each(Vec::shrink_to_fit);
        index.ordered = count(index.passages.len());
        index
    }

    /// Puts in a document, in place of what was known of it.
    pub fn put(&mut self, document: &Document<'_>) {
        self.take(&document.opening);
        let reading = Reading::of(document, &mut self.lexicon);
        self.admit(document, &reading);
    }

    /// Forgets a document.
    pub fn take(&mut self, opening: &Opening) {
        let Some(number) = self.numbers.remove(opening) else { return };
        let Some(entry) = self.entries[number as usize].take() else { return };
        let place = &mut self.places[entry.place as usize];
        place.length -= entry.length;
        let at = place.dated.iter().position(|it| *it == number);
        if let Some(at) = at {
            place.dated.remove(at);
        }
        for passage in entry.first..entry.end {
            let gone = &mut self.passages[passage as usize];
            gone.entry = NONE;
            self.lengths.drop(gone.length);
            self.surroundings.drop(std::mem::take(&mut gone.surroundings));
        }
        if let Some(at) = at {
            self.join(entry.place, at);
        }
        self.gaps += (entry.end - entry.first) as usize;
        if self.has_many_gaps() {
            self.close_gaps();
        }
    }

    /// Returns how many documents there are.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Tells whether there are none.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Tells of each facet whether it is wanted, as a query is told.
    pub fn narrowed(&self, is_wanted: impl Fn(&str) -> bool) -> Vec<bool> {
        let mut narrowed = vec![false; self.facets.len()];
        for (facet, number) in &self.facets {
            narrowed[*number as usize] = is_wanted(facet);
        }
        narrowed
    }

    /// Returns how many passages there are.
    pub(super) fn alive(&self) -> usize {
        self.passages.len() - self.gaps
    }

    /// Tells whether the document of a passage is still there.
    pub(super) fn is_alive(&self, passage: u32) -> bool {
        self.gaps == 0 || self.passages[passage as usize].entry != NONE
    }

    /// Compares two documents of the same time by what they are, without looking at
    /// their names if they were put in order once: thousands may fit a question
    /// equally well.
    pub(super) fn by_name(&self, a: &Entry, b: &Entry) -> Ordering {
        if a.place == b.place && a.first.max(b.first) < self.ordered {
            return a.first.cmp(&b.first);
        }
        a.opening.cmp(&b.opening)
    }

    /// Yields the neighbours of a passage.
    pub(super) fn neighbours(&self, passage: u32) -> impl Iterator<Item = u32> {
        self.beside(passage).map(|(_, near)| near)
    }

    /// Yields the neighbours of a passage, each with how many stand between.
    pub(super) fn beside(&self, passage: u32) -> impl Iterator<Item = (usize, u32)> {
        let walk = |to: fn(&Passage) -> u32| {
            let next =
                move |at: &u32| Some(to(&self.passages[*at as usize])).filter(|it| *it != NONE);
            std::iter::successors(next(&passage), next).take(NEIGHBOURS).enumerate()
        };
        walk(|it| it.before).chain(walk(|it| it.after))
    }

    fn admit(&mut self, document: &Document<'_>, reading: &Reading) {
        let number = count(self.entries.len());
        let (first, end) =
            (count(self.passages.len()), count(self.passages.len() + reading.passages.len()));
        self.postings.resize_with(self.lexicon.len(), Vec::new);
        for (passage, read) in (first..end).zip(&reading.passages) {
            for (term, said, aside) in &read.terms {
                let posting = Posting { passage, said: *said, aside: *aside };
                self.postings[*term as usize].push(posting);
            }
            self.lengths.add(read.length);
            self.passages.push(Passage {
                entry: number,
                length: read.length,
                surroundings: 0,
                before: if passage > first { passage - 1 } else { NONE },
                after: if passage + 1 < end { passage + 1 } else { NONE },
                meaning_key: read.key,
                from: read.from,
                to: read.to,
            });
        }
        let length = reading.passages.iter().map(|it| it.length).sum();
        let place = self.place(document.wing.as_deref(), document.room.as_deref());
        self.places[place as usize].length += length;
        let (opening, written) = (document.opening.clone(), document.written);
        let facet = self.facet(&document.facet);
        self.numbers.insert(opening.clone(), number);
        self.entries.push(Some(Entry { opening, place, facet, written, length, first, end }));
        for passage in first..end {
            self.look_around(passage);
        }
        if written.is_some() && document.room.is_some() {
            self.hang(place, number);
        }
    }

    /// Finds a dated document its place among those of its room.
    fn hang(&mut self, place: u32, number: u32) {
        let age = |it: &u32| self.entries[*it as usize].as_ref().map(Entry::age);
        let dated = &self.places[place as usize].dated;
        let at = dated.partition_point(|it| age(it) < age(&number));
        self.places[place as usize].dated.insert(at, number);
        self.join(place, at);
        self.join(place, at + 1);
    }

    /// Makes neighbours of the document at `at` in its room and the one before
    /// it, if they belong together.
    fn join(&mut self, place: u32, at: usize) {
        let dated = &self.places[place as usize].dated;
        let entry = |at: Option<usize>| self.entries[*dated.get(at?)? as usize].as_ref();
        let (older, newer) = (entry(at.checked_sub(1)), entry(Some(at)));
        let together = match (older.and_then(|it| it.written), newer.and_then(|it| it.written)) {
            (Some(older), Some(newer)) => (newer - older).num_seconds() <= TOGETHER,
            _ => false,
        };
        let (last, first) = (older.map(|it| it.end - 1), newer.map(|it| it.first));
        let link = |it: Option<u32>| it.filter(|_| together).unwrap_or(NONE);
        if let Some(last) = last {
            self.passages[last as usize].after = link(first);
        }
        if let Some(first) = first {
            self.passages[first as usize].before = link(last);
        }
        for border in [last, first].into_iter().flatten() {
            let near: Vec<u32> = self.neighbours(border).chain([border]).collect();
            for passage in near {
                self.look_around(passage);
            }
        }
    }

    /// Counts anew what is near a passage.
    fn look_around(&mut self, passage: u32) {
        let near = self.neighbours(passage).map(|it| self.passages[it as usize].length).sum();
        let was = std::mem::replace(&mut self.passages[passage as usize].surroundings, near);
        self.surroundings.drop(was);
        self.surroundings.add(near);
    }

    fn facet(&mut self, facet: &str) -> u32 {
        if let Some(number) = self.facets.get(facet) {
            return *number;
        }
        let number = count(self.facets.len());
        self.facets.insert(facet.to_owned(), number);
        number
    }

    fn place(&mut self, wing: Option<&str>, room: Option<&str>) -> u32 {
        let name = (wing.map(str::to_owned), room.map(str::to_owned));
        if let Some(place) = self.place_numbers.get(&name) {
            return *place;
        }
        let number = count(self.places.len());
        let (wing, room) = name.clone();
        self.places.push(Place { wing, room, length: 0, dated: Vec::new() });
        self.place_numbers.insert(name, number);
        number
    }
}

impl Entry {
    fn age(&self) -> (Option<DateTime<Utc>>, &Opening) {
        (self.written, &self.opening)
    }
}

impl Average {
    /// Returns the average, never less than one.
    #[expect(clippy::cast_precision_loss, reason = "no palace has 2^23 words in a passage")]
    pub(super) fn value(self) -> f32 {
        (self.total as f32 / self.number.max(1) as f32).max(1.0)
    }

    fn add(&mut self, value: u32) {
        self.total += u64::from(value);
        self.number += u64::from(value > 0);
    }

    fn drop(&mut self, value: u32) {
        self.total -= u64::from(value);
        self.number -= u64::from(value > 0);
    }
}

/// Reads documents by themselves: their terms are those of a lexicon of their own.
fn read_alone(documents: &[Document<'_>]) -> (Lexicon, Vec<Reading>) {
    let mut lexicon = Lexicon::default();
    let readings = documents.iter().map(|it| Reading::of(it, &mut lexicon)).collect();
    (lexicon, readings)
}

fn order<'a>(it: &'a Document<'_>) -> impl Ord + 'a {
    (it.wing.as_deref(), it.room.as_deref(), it.written, &it.opening)
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(NONE)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use chrono::TimeDelta;
    use proptest::prelude::*;

    use super::*;
    use crate::search::fixture::{day, note};
    use crate::search::{Hits, Query};

    /// The `number`th document, as the `edition`th edition has it.
    fn edition(number: usize, edition: usize) -> Document<'static> {
        const WORDS: [&str; 6] = ["stone", "bridge", "river", "mill", "old", "moss"];
        let text: Vec<&str> = (0..(number + edition) % 5 * 40)
            .map(|it| WORDS[(it * (edition + 2) + number) % WORDS.len()])
            .collect();
        let minutes = i64::try_from(number * 25).unwrap();
        Document {
            opening: Opening::Entity(format!("{number:02}")),
            room: Some(format!("room-{}", edition % 2).into()),
            written: (!number.is_multiple_of(3)).then(|| day(3, 1) + TimeDelta::minutes(minutes)),
            title: WORDS[edition % WORDS.len()].into(),
            text: text.join(" ").into(),
            ..note("", "")
        }
    }

    #[track_caller]
    fn assert_same(changed: &Index, made: &Index) {
        for words in ["stone", "old mill", "moss river bridge", "march", "room 1"] {
            let query = Query { words, most: usize::MAX, ..Query::default() };
            let (changed, made) = (changed.find(&query, |_| true), made.find(&query, |_| true));
            assert_eq!(changed.total, made.total, "{words}");
            for (a, b) in changed.best.iter().zip(&made.best) {
                assert!((a.similarity - b.similarity).abs() < 1e-5, "{words}: {a:?} {b:?}");
            }
            // Sums of floats depend on their order: hits that are equal but for that may swap.
            let found = |hits: &Hits| -> BTreeSet<_> {
                hits.best.iter().map(|it| format!("{:?} {:?}", it.opening, it.passage)).collect()
            };
            assert_eq!(found(&changed), found(&made), "{words}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn an_index_that_was_kept_up_is_like_one_made_anew(
            first in 0_usize..20,
            changes in proptest::collection::vec((0_usize..20, 0_usize..8), 0..120),
        ) {
            let mut editions: BTreeMap<_, _> = (0..first).map(|it| (it, it % 7)).collect();
            let mut index = Index::of(editions.iter().map(|(it, which)| edition(*it, *which)).collect());
            for (number, which) in changes {
                match which {
                    7 => {
                        index.take(&edition(number, 0).opening);
                        editions.remove(&number);
                    }
                    _ => {
                        index.put(&edition(number, which));
                        editions.insert(number, which);
                    }
                }
            }
            prop_assert_eq!(index.len(), editions.len());
            let made = editions.iter().map(|(number, which)| edition(*number, *which));
            assert_same(&index, &Index::of(made.collect()));
            index.close_gaps();
            assert_same(&index, &Index::of(
                editions.iter().map(|(number, which)| edition(*number, *which)).collect(),
            ));
        }
    }

    #[test]
    fn gaps_are_closed_when_they_are_many() {
        let mut index = Index::default();
        for round in 0..3_000 {
            index.put(&edition(round % 10, round % 7));
        }
        assert!(index.passages.len() < 600, "{}", index.passages.len());
        assert_eq!((index.len(), index.entries.len() < 600), (10, true));
        let postings: usize = index.postings.iter().map(Vec::len).sum();
        assert!(postings < 600 * 20, "{postings}");
    }

    #[test]
    fn what_was_taken_out_leaves_nothing() {
        let mut index = Index::of((0..20).map(|it| edition(it, it)).collect());
        for number in 0..20 {
            index.take(&edition(number, 0).opening);
        }
        index.close_gaps();
        assert!(index.is_empty() && index.passages.is_empty() && index.entries.is_empty());
        assert_eq!(index.postings.iter().map(Vec::len).sum::<usize>(), 0);
        assert!(index.places.iter().all(|it| it.length == 0 && it.dated.is_empty()));
        assert_eq!((index.lengths.total, index.surroundings.total), (0, 0));
    }
}
