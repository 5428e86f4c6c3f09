//! Words and meaning together.
//!
//! What a passage means is known, or not yet, by a number that stands for what it
//! says; who makes it known is nothing to the index. Both rankers judge all that is
//! looked among, and each has a say from nought, its worst, to one, its best: added
//! as they are, the two are no measure of each other, and by places the surer one
//! is outvoted by chance.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use crate::model::{Vector, Vectors};
use crate::search::Document;
use crate::search::index::{Entry, Index};
use crate::search::passage::passages;
use crate::search::rank::Fit;

/// What meaning counts, where words count one.
const MEANING: f32 = 0.7;

/// What the meaning of the next passage on either side counts, and of the one after.
const NEAR: [f32; 2] = [0.3, 0.2];

/// What says none of the words fits if it is so like what is asked: texts that have
/// nothing to do with each other seldom are.
const LEAST: f32 = 0.3;

/// Yields what is to be read of a document so that its meaning is known: each
/// passage, below what it is called, and the number that stands for it.
pub fn to_read(document: &Document<'_>) -> impl Iterator<Item = (u64, String)> {
    let (title, text) = (&document.title, &document.text);
    let passages = passages(text).into_iter().map(|at| &text[at]);
    let said = passages.map(move |it| (key(title, it), format!("{title}\n{it}")));
    said.filter(|(_, said)| !said.trim().is_empty())
}

/// Returns the number that stands for what a passage says.
pub(crate) fn key(title: &str, passage: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (title, passage).hash(&mut hasher);
    hasher.finish()
}

/// Where a ranker's judgements begin and end.
struct Scale {
    least: f32,
    most: f32,
}

impl Index {
    /// Tells of every passage how like it is to what is asked, as far as is known.
    pub(crate) fn likenesses(&self, asked: &Vector, known: &Vectors) -> Vec<Option<f32>> {
        let likeness = |key: &u64| known.get(key).map(|it| it.likeness(asked));
        self.passages.iter().map(|it| likeness(&it.meaning_key)).collect()
    }

    /// Judges all that is wanted anew, by words, as `fits` tells, and by meaning.
    /// Of what is not known yet the words speak for both.
    pub(super) fn joined<'a>(
        &'a self,
        fits: &[Fit<'a>],
        likenesses: &[Option<f32>],
        is_wanted: impl Fn(&Entry) -> bool,
    ) -> Vec<Fit<'a>> {
        let mut by_words: Vec<Option<&Fit<'_>>> = vec![None; self.entries.len()];
        for fit in fits {
            by_words[self.passages[fit.passage as usize].entry as usize] = Some(fit);
        }
        let entries = self.entries.iter().zip(by_words);
        let entries = entries.filter_map(|(it, fit)| Some((it.as_ref()?, fit)));
        let judged = entries.filter(|(it, _)| is_wanted(it));
        let judged = judged.map(|(it, fit)| (it, fit, self.nearest(it, likenesses)));
        let judged: Vec<_> = judged.collect();
        let said = Scale::of(judged.iter().map(|(_, fit, _)| fit.map_or(0.0, |it| it.score)));
        let meant = Scale::of(judged.iter().filter_map(|(.., near)| near.map(|(near, _)| near)));
        let joined = judged.into_iter().filter_map(|(entry, fit, near)| {
            let words = said.place(fit.map_or(0.0, |it| it.score));
            let Some((around, passage)) = near else {
                return fit.map(|it| Fit { score: (1.0 + MEANING) * words, ..*it });
            };
            let meaning = MEANING * meant.place(around);
            let alone = likenesses[passage as usize].unwrap_or_default();
            let (similarity, shown) = match fit {
                None if alone < LEAST => return None,
                None => (alone, passage),
                Some(fit) if meaning > words => (fit.similarity.max(alone), passage),
                Some(fit) => (fit.similarity.max(alone), fit.passage),
            };
            let similarity = similarity.clamp(0.0, 1.0);
            Some(Fit { entry, score: words + meaning, similarity, passage: shown })
        });
        joined.collect()
    }

    /// Finds the passage of a document that is most like what is asked, together
    /// with what stands around it; `None`: none is known.
    fn nearest(&self, entry: &Entry, likenesses: &[Option<f32>]) -> Option<(f32, u32)> {
        let around = |passage: u32| {
            let own = likenesses[passage as usize]?;
            let near = self.beside(passage).filter_map(|(distance, it)| {
                Some((NEAR[distance], NEAR[distance] * likenesses[it as usize]?))
            });
            let (weight, sum) =
                near.fold((1.0, own), |(weight, sum), it| (weight + it.0, sum + it.1));
            Some((sum / weight, passage))
        };
        (entry.first..entry.end).filter_map(around).max_by(|a, b| a.0.total_cmp(&b.0))
    }
}

impl Scale {
    fn of(judgements: impl Iterator<Item = f32>) -> Self {
        let scale = Self { least: f32::INFINITY, most: f32::NEG_INFINITY };
        judgements
            .fold(scale, |scale, it| Self { least: scale.least.min(it), most: scale.most.max(it) })
    }

    /// Returns where between the least and the most something is, from 0 to 1;
    /// among equals all are the best, if they are anything at all.
    fn place(&self, judgement: f32) -> f32 {
        match self.most > self.least {
            true => (judgement - self.least) / (self.most - self.least),
            false => f32::from(u8::from(judgement > 0.0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Opening;
    use crate::search::fixture::note;
    use crate::search::{Hits, Query};

    const EAST: [f32; 2] = [1.0, 0.0];
    const NORTH: [f32; 2] = [0.0, 1.0];

    fn notes() -> Vec<Document<'static>> {
        vec![
            note("wader", "It stood on one leg."),
            note("boiler", "It hissed."),
            note("heron", "A heron was seen by the boiler."),
        ]
    }

    /// Returns what is known of those notes that have these names.
    fn known(meanings: &[(&str, [f32; 2])]) -> Vectors {
        let of = |(name, numbers): &(&str, [f32; 2])| {
            let note = notes().into_iter().find(|it| it.title == *name).unwrap();
            let vector = Vector::of(numbers).unwrap();
            to_read(&note).map(|(key, _)| (key, vector.clone())).collect::<Vec<_>>()
        };
        meanings.iter().flat_map(of).collect()
    }

    fn find(words: &str, known: &Vectors, admits: impl Fn(&Opening) -> bool) -> Hits {
        let east = Vector::of(&EAST).unwrap();
        let meaning = Some((&east, known));
        Index::of(notes()).find(&Query { words, most: 10, meaning, ..Query::default() }, admits)
    }

    fn names(hits: &Hits) -> Vec<&str> {
        let named = hits.best.iter().map(|it| match &it.opening {
            Opening::Entity(name) => name.as_str(),
            other => panic!("{other:?}"),
        });
        named.collect()
    }

    #[test]
    fn what_means_the_same_is_found_beside_what_says_it() {
        let known = known(&[("wader", EAST), ("boiler", NORTH), ("heron", EAST)]);
        let hits = find("heron", &known, |_| true);
        assert_eq!(names(&hits), ["heron", "wader"]);
        assert_eq!(hits.total, 2);
        let similar: Vec<f32> = hits.best.iter().map(|it| it.similarity).collect();
        assert!(similar[0] > similar[1] && similar[1] > 0.3, "{similar:?}");
        assert_eq!(names(&find("gravel", &known, |_| true)), ["heron", "wader"]);
    }

    #[test]
    fn of_what_was_not_read_yet_the_words_decide() {
        assert_eq!(names(&find("heron", &known(&[("boiler", NORTH)]), |_| true)), ["heron"]);
        let hits = find("heron", &known(&[("wader", EAST), ("boiler", NORTH)]), |_| true);
        assert_eq!(names(&hits), ["heron", "wader"]);
    }

    #[test]
    fn only_what_is_looked_among_is_judged() {
        let known = known(&[("wader", EAST), ("boiler", NORTH), ("heron", EAST)]);
        let is_meant = |it: &Opening| *it != Opening::Entity("heron".to_owned());
        assert_eq!(names(&find("heron", &known, is_meant)), ["wader"]);
    }
}
