//! Words and meaning together.
//!
//! What a passage means is known, or not yet, by a number that stands for what it
//! says; who makes it known is nothing to the index. Both rankers judge all that is
//! looked among, and each has a say from nought, its worst, to one, its best: added
//! as they are, the two are no measure of each other, and by places the surer one
//! is outvoted by chance.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use crate::model::{Vector, VectorsByTextHash};
use crate::search::Document;
use crate::search::index::{Index, IndexedDocument};
use crate::search::passage::split_passages;
use crate::search::rank::ScoredDoc;

/// What meaning counts, where words count one.
const SEMANTIC_WEIGHT: f32 = 0.7;

/// What the meaning of the next passage on either side counts, and of the one after.
const NEIGHBOUR_WEIGHTS: [f32; 2] = [0.3, 0.2];

/// What says none of the words fits if it is so like what is asked: texts that have
/// nothing to do with each other seldom are.
const MIN_SEMANTIC_SIMILARITY: f32 = 0.3;

/// Yields what is to be read of a document so that its meaning is known: each
/// passage, below what it is called, and the number that stands for it.
pub fn texts_to_embed(document: &Document<'_>) -> impl Iterator<Item = (u64, String)> {
    let (title, text) = (&document.title, &document.text);
    let passages = split_passages(text).into_iter().map(|at| &text[at]);
    let said = passages.map(move |it| (embedding_key(title, it), format!("{title}\n{it}")));
    said.filter(|(_, said)| !said.trim().is_empty())
}

/// Returns the number that stands for what a passage says.
pub(crate) fn embedding_key(title: &str, passage: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (title, passage).hash(&mut hasher);
    hasher.finish()
}

/// Where a ranker's judgements begin and end.
struct ScoreRange {
    min: f32,
    max: f32,
}

impl Index {
    /// Tells of every passage how like it is to what is asked, as far as is known.
    pub(crate) fn passage_similarities(
        &self,
        asked: &Vector,
        known: &VectorsByTextHash,
    ) -> Vec<Option<f32>> {
        let likeness = |key: &u64| known.get(key).map(|it| it.cosine_similarity(asked));
        self.passages.iter().map(|it| likeness(&it.embedding_key)).collect()
    }

    /// Judges all that is wanted anew, by words, as `fits` tells, and by meaning.
    /// Of what is not known yet the words speak for both.
    pub(super) fn merge_scores<'a>(
        &'a self,
        fits: &[ScoredDoc<'a>],
        likenesses: &[Option<f32>],
        is_wanted: impl Fn(&IndexedDocument) -> bool,
    ) -> Vec<ScoredDoc<'a>> {
        let mut by_words: Vec<Option<&ScoredDoc<'_>>> = vec![None; self.documents.len()];
        for fit in fits {
            by_words[self.passages[fit.passage as usize].document as usize] = Some(fit);
        }
        let entries = self.documents.iter().zip(by_words);
        let entries = entries.filter_map(|(it, fit)| Some((it.as_ref()?, fit)));
        let judged = entries.filter(|(it, _)| is_wanted(it));
        let judged = judged.map(|(it, fit)| (it, fit, self.most_similar_passage(it, likenesses)));
        let judged: Vec<_> = judged.collect();
        let said = ScoreRange::from_scores(
            judged.iter().map(|(_, fit, _)| fit.map_or(0.0, |it| it.score)),
        );
        let meant = ScoreRange::from_scores(
            judged.iter().filter_map(|(.., near)| near.map(|(near, _)| near)),
        );
        let joined = judged.into_iter().filter_map(|(entry, fit, near)| {
            let words = said.normalize(fit.map_or(0.0, |it| it.score));
            let Some((around, passage)) = near else {
                return fit.map(|it| ScoredDoc { score: (1.0 + SEMANTIC_WEIGHT) * words, ..*it });
            };
            let meaning = SEMANTIC_WEIGHT * meant.normalize(around);
            let alone = likenesses[passage as usize].unwrap_or_default();
            let (similarity, shown) = match fit {
                None if alone < MIN_SEMANTIC_SIMILARITY => return None,
                None => (alone, passage),
                Some(fit) if meaning > words => (fit.similarity.max(alone), passage),
                Some(fit) => (fit.similarity.max(alone), fit.passage),
            };
            let similarity = similarity.clamp(0.0, 1.0);
            Some(ScoredDoc { document: entry, score: words + meaning, similarity, passage: shown })
        });
        joined.collect()
    }

    /// Finds the passage of a document that is most like what is asked, together
    /// with what stands around it; `None`: none is known.
    fn most_similar_passage(
        &self,
        entry: &IndexedDocument,
        likenesses: &[Option<f32>],
    ) -> Option<(f32, u32)> {
        let around = |passage: u32| {
            let own = likenesses[passage as usize]?;
            let near = self.neighbours_with_distance(passage).filter_map(|(distance, it)| {
                Some((
                    NEIGHBOUR_WEIGHTS[distance],
                    NEIGHBOUR_WEIGHTS[distance] * likenesses[it as usize]?,
                ))
            });
            let (weight, sum) =
                near.fold((1.0, own), |(weight, sum), it| (weight + it.0, sum + it.1));
            Some((sum / weight, passage))
        };
        (entry.first_passage..entry.end_passage)
            .filter_map(around)
            .max_by(|a, b| a.0.total_cmp(&b.0))
    }
}

impl ScoreRange {
    fn from_scores(judgements: impl Iterator<Item = f32>) -> Self {
        let scale = Self { min: f32::INFINITY, max: f32::NEG_INFINITY };
        judgements.fold(scale, |scale, it| Self { min: scale.min.min(it), max: scale.max.max(it) })
    }

    /// Returns where between the least and the most something is, from 0 to 1;
    /// among equals all are the best, if they are anything at all.
    fn normalize(&self, judgement: f32) -> f32 {
        match self.max > self.min {
            true => (judgement - self.min) / (self.max - self.min),
            false => f32::from(u8::from(judgement > 0.0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ItemId;
    use crate::search::fixture::test_document;
    use crate::search::{Hits, Query};

    const EAST: [f32; 2] = [1.0, 0.0];
    const NORTH: [f32; 2] = [0.0, 1.0];

    fn notes() -> Vec<Document<'static>> {
        vec![
            test_document("wader", "It stood on one leg."),
            test_document("boiler", "It hissed."),
            test_document("heron", "A heron was seen by the boiler."),
        ]
    }

    /// Returns what is known of those notes that have these names.
    fn vectors_of(meanings: &[(&str, [f32; 2])]) -> VectorsByTextHash {
        let of = |(name, numbers): &(&str, [f32; 2])| {
            let note = notes().into_iter().find(|it| it.title == *name).unwrap();
            let vector = Vector::from_floats(numbers).unwrap();
            texts_to_embed(&note).map(|(key, _)| (key, vector.clone())).collect::<Vec<_>>()
        };
        meanings.iter().flat_map(of).collect()
    }

    fn find(words: &str, known: &VectorsByTextHash, admits: impl Fn(&ItemId) -> bool) -> Hits {
        let east = Vector::from_floats(&EAST).unwrap();
        let meaning = Some((&east, known));
        Index::from_documents(notes())
            .find(&Query { text: words, limit: 10, vectors: meaning, ..Query::default() }, admits)
    }

    fn hit_names(hits: &Hits) -> Vec<&str> {
        let named = hits.best.iter().map(|it| match &it.item {
            ItemId::Entity(name) => name.as_str(),
            other => panic!("{other:?}"),
        });
        named.collect()
    }

    #[test]
    fn semantic_matches_are_found_beside_word_matches() {
        let known = vectors_of(&[("wader", EAST), ("boiler", NORTH), ("heron", EAST)]);
        let hits = find("heron", &known, |_| true);
        assert_eq!(hit_names(&hits), ["heron", "wader"]);
        assert_eq!(hits.total, 2);
        let similar: Vec<f32> = hits.best.iter().map(|it| it.similarity).collect();
        assert!(similar[0] > similar[1] && similar[1] > 0.3, "{similar:?}");
        assert_eq!(hit_names(&find("gravel", &known, |_| true)), ["heron", "wader"]);
    }

    #[test]
    fn passages_without_an_embedding_are_ranked_by_words() {
        assert_eq!(
            hit_names(&find("heron", &vectors_of(&[("boiler", NORTH)]), |_| true)),
            ["heron"]
        );
        let hits = find("heron", &vectors_of(&[("wader", EAST), ("boiler", NORTH)]), |_| true);
        assert_eq!(hit_names(&hits), ["heron", "wader"]);
    }

    #[test]
    fn only_admitted_documents_are_ranked() {
        let known = vectors_of(&[("wader", EAST), ("boiler", NORTH), ("heron", EAST)]);
        let is_meant = |it: &ItemId| *it != ItemId::Entity("heron".to_owned());
        assert_eq!(hit_names(&find("heron", &known, is_meant)), ["wader"]);
    }
}
