//! Compares search methods on one corpus.

use crate::bm25_baseline::Bm25Baseline;
use crate::corpus::Corpus;
use crate::metrics::{RetrievalMetrics, evaluate_search};
use crate::note_embeddings::NoteEmbeddings;
use crate::palazzo_index::PalazzoIndex;

/// Prints the metrics of plain BM25, of Palazzo and, if there are embeddings, of semantic search,
/// for each scope: its name, and whether only the wing of the answer is searched.
pub(crate) fn compare_methods(
    title: &str,
    corpus: &Corpus,
    scopes: &[(&str, bool)],
    mut embeddings: Option<&mut NoteEmbeddings>,
) {
    let (bm25, palazzo) = (Bm25Baseline::new(&corpus.notes), PalazzoIndex::new(&corpus.notes));
    if let Some(embeddings) = &mut embeddings {
        embeddings.embed_notes(&corpus.notes);
    }
    let (notes, questions) = (corpus.notes.len(), corpus.questions.len());
    println!("\n{title}: {notes} notes, {questions} questions");
    println!("{}", RetrievalMetrics::header_row(""));
    for (scope, in_wing) in scopes.iter().copied() {
        let print = |method: &str, metrics: &RetrievalMetrics| {
            println!("{}", metrics.total_row(&format!("{method}, {scope}")));
            println!("{}", metrics.rows_by_kind());
        };
        let metrics =
            evaluate_search(corpus, in_wing, |query, wing, limit| bm25.search(query, wing, limit));
        print("plain BM25", &metrics);
        let metrics = evaluate_search(corpus, in_wing, |query, wing, limit| {
            palazzo.search(query, wing, limit)
        });
        print("Palazzo", &metrics);
        let Some(embeddings) = &embeddings else { continue };
        let metrics = evaluate_search(corpus, in_wing, |query, wing, limit| {
            palazzo.search_semantically(embeddings, query, wing, limit)
        });
        print("semantic search", &metrics);
    }
}
