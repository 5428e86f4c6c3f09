//! Hybrid ranking: combines BM25 scores with embedding similarities.
//!
//! Embeddings are looked up by a hash of the passage's text and may be missing; the index does
//! not know how they are computed. Both rankers score all admitted documents, and each score
//! is normalized to 0..1 before the sum: raw scores have different scales, and in a
//! combination of ranks, noise would outvote the ranker whose scores are clearer.

use crate::search::document_terms::{embedding_key, split_passages};

use crate::model::{EmbeddingVector, VectorsByTextHash};
use crate::search::Document;
use crate::search::index_data::{Index, IndexedDocument};
use crate::search::score::ScoredDoc;

/// The weight of the semantic score; the word score has weight 1.
const SEMANTIC_WEIGHT: f32 = 1.0;

/// The weights of the similarities of the next passage on either side, and of the one after.
const NEIGHBOUR_WEIGHTS: [f32; 2] = [0.3, 0.2];

/// Minimum similarity of a hit that contains none of the words; unrelated texts are seldom so
/// similar.
const MIN_SEMANTIC_SIMILARITY: f32 = 0.3;

/// Yields the texts of a document to embed, each with its key: every passage, below the title.
pub fn texts_to_embed(document: &Document<'_>) -> impl Iterator<Item = (u64, String)> {
    let (title, text) = (&document.title, &document.text);
    let passages = split_passages(text).into_iter().map(|at| &text[at]);
    let texts = passages.map(move |it| (embedding_key(title, it), format!("{title}\n{it}")));
    texts.filter(|(_, text)| !text.trim().is_empty())
}

/// The lowest and the highest score of a ranker.
struct ScoreRange {
    min: f32,
    max: f32,
}

impl Index {
    /// Returns the similarity of every passage to the query; `None` for passages without an
    /// embedding.
    pub(crate) fn passage_similarities(
        &self,
        query: &EmbeddingVector,
        vectors: &VectorsByTextHash,
    ) -> Vec<Option<f32>> {
        let similarity = |key: &u64| vectors.get(key).map(|it| it.cosine_similarity(query));
        self.passages.iter().map(|it| similarity(&it.embedding_key)).collect()
    }

    /// Scores all admitted documents by words, from `fits`, and by similarity; if
    /// `prefers_latest`, later documents are more similar. For documents
    /// without embeddings, the word score replaces the semantic one.
    pub(super) fn merge_scores<'a>(
        &'a self,
        fits: &[ScoredDoc<'a>],
        similarities: &[Option<f32>],
        prefers_latest: bool,
        is_admitted: impl Fn(&IndexedDocument) -> bool,
    ) -> Vec<ScoredDoc<'a>> {
        let mut by_words: Vec<Option<&ScoredDoc<'_>>> = vec![None; self.documents.len()];
        for fit in fits {
            by_words[self.passages[fit.passage as usize].document as usize] = Some(fit);
        }
        let entries = self.documents.iter().zip(by_words);
        let entries = entries.filter_map(|(it, fit)| Some((it.as_ref()?, fit)));
        let admitted = entries.filter(|(it, _)| is_admitted(it));
        let scored =
            admitted.map(|(it, fit)| (it, fit, self.most_similar_passage(it, similarities)));
        let scored: Vec<_> = scored.collect();
        let word_range = ScoreRange::from_scores(
            scored.iter().map(|(_, fit, _)| fit.map_or(0.0, |it| it.score)),
        );
        let semantic_range = ScoreRange::from_scores(
            scored.iter().filter_map(|(.., near)| near.map(|(near, _)| near)),
        );
        let joined = scored.into_iter().filter_map(|(entry, fit, near)| {
            let words = word_range.normalize(fit.map_or(0.0, |it| it.score));
            let Some((around, passage)) = near else {
                return fit.map(|it| ScoredDoc { score: (1.0 + SEMANTIC_WEIGHT) * words, ..*it });
            };
            let recency = self.recency_factor(prefers_latest, entry);
            let meaning = recency * SEMANTIC_WEIGHT * semantic_range.normalize(around);
            let alone = similarities[passage as usize].unwrap_or_default();
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

    /// Returns the passage of a document that is most similar to the query, with its weighted
    /// mean similarity including its neighbours; `None` if no passage has an embedding.
    fn most_similar_passage(
        &self,
        entry: &IndexedDocument,
        similarities: &[Option<f32>],
    ) -> Option<(f32, u32)> {
        let around = |passage: u32| {
            let own = similarities[passage as usize]?;
            let near = self.neighbours_with_distance(passage).filter_map(|(distance, it)| {
                Some((
                    NEIGHBOUR_WEIGHTS[distance],
                    NEIGHBOUR_WEIGHTS[distance] * similarities[it as usize]?,
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
    fn from_scores(scores: impl Iterator<Item = f32>) -> Self {
        let range = Self { min: f32::INFINITY, max: f32::NEG_INFINITY };
        scores.fold(range, |range, it| Self { min: range.min.min(it), max: range.max.max(it) })
    }

    /// Maps a score to 0..1. If all scores are equal, each becomes 1, or 0 if they are not
    /// positive.
    fn normalize(&self, score: f32) -> f32 {
        match self.max > self.min {
            true => (score - self.min) / (self.max - self.min),
            false => f32::from(u8::from(score > 0.0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ItemId;
    use crate::search::fixture::{day_of_2025, test_document};
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

    /// Returns the given embeddings for the notes with these names.
    fn vectors_of(meanings: &[(&str, [f32; 2])]) -> VectorsByTextHash {
        let of = |(name, numbers): &(&str, [f32; 2])| {
            let note = notes().into_iter().find(|it| it.title == *name).unwrap();
            let vector = EmbeddingVector::from_floats(numbers).unwrap();
            texts_to_embed(&note).map(|(key, _)| (key, vector.clone())).collect::<Vec<_>>()
        };
        meanings.iter().flat_map(of).collect()
    }

    fn find(words: &str, known: &VectorsByTextHash, admits: impl Fn(&ItemId) -> bool) -> Hits {
        let east = EmbeddingVector::from_floats(&EAST).unwrap();
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
    fn a_question_for_the_present_prefers_the_latest_of_similar_texts() {
        let note = |name: &'static str, month: u32| Document {
            room: Some("pond".into()),
            written: Some(day_of_2025(month, 1)),
            ..test_document(name, "It stood on one leg.")
        };
        let notes = [note("early", 2), note("other", 5), note("late", 9)];
        let vector = |numbers: [f32; 2]| EmbeddingVector::from_floats(&numbers).unwrap();
        let key = |note: &Document<'_>| texts_to_embed(note).next().unwrap().0;
        let meanings = [EAST, NORTH, [0.99, 0.1]].map(vector);
        let known = notes.iter().map(key).zip(meanings).collect();
        let (east, index) = (vector(EAST), Index::from_documents(notes.to_vec()));
        let find = |text| {
            let vectors = Some((&east, &known));
            index.find(&Query { text, limit: 10, vectors, ..Query::default() }, |_| true)
        };
        assert_eq!(hit_names(&find("Which birds?")), ["early", "late"]);
        assert_eq!(hit_names(&find("Which birds now?")), ["late", "early"]);
    }

    #[test]
    fn only_admitted_documents_are_ranked() {
        let known = vectors_of(&[("wader", EAST), ("boiler", NORTH), ("heron", EAST)]);
        let is_meant = |it: &ItemId| *it != ItemId::Entity("heron".to_owned());
        assert_eq!(hit_names(&find("heron", &known, is_meant)), ["wader"]);
    }
}
