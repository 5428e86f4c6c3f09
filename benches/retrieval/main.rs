//! Measures search quality: the recall of Palazzo's index and of plain BM25.
//!
//! `cargo bench --bench retrieval` indexes the notes of `dataset/notes`, searches for the
//! questions of `dataset/questions`, and prints the recall in the first 1, 5, 10 and 20 results.
//! The dataset is older than the ranking, and its split is fixed: the ranking may be tuned on
//! `tuning.yaml`; the results for `test.yaml` are only reported. The same is measured for short
//! notes beside long conversations (`dataset/mixed_lengths`), in two halves, and for three public
//! datasets, each if its variable is set: LoCoMo (`PALAZZO_LOCOMO`), `LongMemEval`
//! (`PALAZZO_LONGMEMEVAL`) and BEAM (`PALAZZO_BEAM`).
//!
//! Without arguments the benchmark measures all parts. `-- tuning`, `-- test`, `-- mixed-tuning`,
//! `-- mixed-reporting`, `-- locomo`, `-- longmemeval`, `-- beam`, `-- near-duplicates` and
//! `-- speed` measure one part. `-- --smoke` measures a few questions of the tuning sets, and the
//! speed with few notes.
//!
//! If `PALAZZO_MODEL` is the folder of an embedding model, the benchmark also measures semantic
//! search.
//!
//! A YAML file below `dataset/notes` is a wing and contains notes. A question lists the notes that
//! answer it. To extend the dataset, add notes and questions.

#![expect(clippy::print_stdout, reason = "a benchmark prints its tables")]

mod agent_search;
#[path = "../common/arguments.rs"]
mod arguments;
mod beam;
mod bm25_baseline;
mod comparison;
mod conversation;
mod corpus;
mod index_speed;
mod locomo;
mod long_mem_eval;
mod metrics;
mod mixed_lengths;
mod near_duplicates;
mod note_embeddings;
mod palazzo_index;
mod search_tool;

use bm25_baseline::Bm25Baseline;
use corpus::Corpus;
use metrics::{RetrievalMetrics, evaluate_search};
use mixed_lengths::{QuestionHalf, measure_mixed_lengths};
use note_embeddings::NoteEmbeddings;
use palazzo_index::PalazzoIndex;

/// The number of questions in a smoke run.
const SMOKE_QUESTIONS: usize = 10;

fn main() {
    let Some(mut parts) = arguments::positional_arguments() else { return };
    if arguments::is_smoke_run() {
        parts = ["tuning", "mixed-tuning", "speed"].map(str::to_owned).to_vec();
    }
    let is_selected = |part: &str| parts.is_empty() || parts.iter().any(|it| it == part);
    let mut embeddings = NoteEmbeddings::from_env();
    for question_set in ["tuning", "test"] {
        if is_selected(question_set) {
            measure_dataset(question_set, embeddings.as_mut());
        }
    }
    for (part, half) in
        [("mixed-tuning", QuestionHalf::Tuning), ("mixed-reporting", QuestionHalf::Reporting)]
    {
        if is_selected(part) {
            measure_mixed_lengths(half, embeddings.as_mut());
        }
    }
    if is_selected("locomo") {
        locomo::measure_locomo(embeddings.as_mut());
    }
    if is_selected("longmemeval") {
        long_mem_eval::measure_long_mem_eval(embeddings.as_mut());
    }
    if is_selected("beam") {
        beam::measure_beam(embeddings.as_mut());
    }
    if is_selected("near-duplicates") {
        near_duplicates::measure_near_duplicates();
    }
    if is_selected("speed") {
        index_speed::measure_index_speed();
    }
}

/// Prints the recall for one question set, alone and with pasted prompts.
#[expect(clippy::too_many_lines, reason = "its steps follow each other")]
fn measure_dataset(question_set: &str, mut embeddings: Option<&mut NoteEmbeddings>) {
    let mut corpus = Corpus::load(question_set);
    if arguments::is_smoke_run() {
        corpus.questions.truncate(SMOKE_QUESTIONS);
    }
    let (bm25, palazzo) = (Bm25Baseline::new(&corpus.notes), PalazzoIndex::new(&corpus.notes));
    if let Some(embeddings) = &mut embeddings {
        embeddings.embed_notes(&corpus.notes);
    }
    let title = format!("\n{question_set}: {} questions", corpus.questions.len());
    println!("{}", RetrievalMetrics::header_row(&title));
    for (scope, in_wing) in [("in the wing", true), ("in all wings", false)] {
        let metrics =
            evaluate_search(&corpus, in_wing, |query, wing, limit| bm25.search(query, wing, limit));
        println!("{}", metrics.total_row(&format!("plain BM25, {scope}")));
        let metrics = evaluate_search(&corpus, in_wing, |query, wing, limit| {
            palazzo.search(query, wing, limit)
        });
        println!("{}", metrics.total_row(&format!("Palazzo, {scope}")));
        println!("{}", metrics.rows_by_kind());
        if let Some(embeddings) = &embeddings {
            let metrics = evaluate_search(&corpus, in_wing, |query, wing, limit| {
                palazzo.search_semantically(embeddings, query, wing, limit)
            });
            println!("{}", metrics.total_row(&format!("semantic search, {scope}")));
            println!("{}", metrics.rows_by_kind());
        }
    }
    agent_search::measure_agent_search(&corpus);
    for (name, prompt) in corpus::load_pasted_prompts() {
        let prompt = prompt.trim_end();
        let pastes = [
            ("before it", format!("{prompt}\n\n"), ""),
            ("on its line", format!("{prompt} "), ""),
            ("around it", format!("{prompt}\n\n"), "\n\nAnswer in one sentence."),
        ];
        for (position, before, after) in pastes {
            let pasted = corpus.with_pasted_text(&before, after);
            let metrics = evaluate_search(&pasted, false, |query, wing, limit| {
                bm25.search(query, wing, limit)
            });
            println!("{}", metrics.total_row(&format!("plain BM25, {name} prompt {position}")));
            let metrics = evaluate_search(&pasted, false, |query, wing, limit| {
                palazzo.search(query, wing, limit)
            });
            println!("{}", metrics.total_row(&format!("Palazzo, {name} prompt {position}")));
            if let Some(embeddings) = &embeddings {
                let metrics = evaluate_search(&pasted, false, |query, wing, limit| {
                    palazzo.search_semantically(embeddings, query, wing, limit)
                });
                let row = format!("semantic search, {name} prompt {position}");
                println!("{}", metrics.total_row(&row));
            }
        }
    }
}
