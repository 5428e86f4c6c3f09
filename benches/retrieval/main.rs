//! Search quality: recall on our own notes and questions.
//!
//! `cargo bench --bench retrieval` indexes the notes of `set/notes`, asks the questions
//! of `set/questions`, and prints the recall among the first 1, 5, 10 and 20 results,
//! next to plain BM25. The set is older than the ranking, and its split is fixed: the
//! ranking may be tuned on the half in `choosing.yaml`; the half in `reporting.yaml` is
//! only reported. Without arguments everything is measured; `-- choosing`, `--
//! reporting`, `-- locomo`, `-- twins` and `-- speed` measure only that; `-- --smoke`
//! measures a few questions of the choosing half, and the speed with few notes.
//!
//! If `PALAZZO_MODEL` names the folder of an embedding model, semantic search is
//! measured too.
//!
//! A note is one entry of a YAML file below `set/notes`, which is a wing; a question
//! names the notes that answer it. To extend the set, add both.

#![expect(clippy::print_stdout, reason = "a benchmark prints its tables")]

#[path = "../ground/asked.rs"]
mod asked;
mod corpus;
mod locomo;
mod meaning;
mod measure;
mod ours;
mod plain;
mod speed;
mod tool;
mod twins;

use corpus::Corpus;
use meaning::NoteEmbeddings;
use measure::{RetrievalScore, score_corpus};
use ours::PalazzoIndex;
use plain::PlainBm25;

/// How many questions a smoke run asks.
const SMOKE_QUESTIONS: usize = 10;

fn main() {
    let Some(mut asked) = asked::requested_parts() else { return };
    if asked::is_smoke_run() {
        asked = ["choosing", "speed"].map(str::to_owned).to_vec();
    }
    let is_asked = |part: &str| asked.is_empty() || asked.iter().any(|it| it == part);
    let mut meaning = NoteEmbeddings::from_env();
    for half in ["choosing", "reporting"] {
        if is_asked(half) {
            measure_own_set(half, meaning.as_mut());
        }
    }
    if is_asked("locomo") {
        locomo::measure_locomo(meaning.as_mut());
    }
    if is_asked("twins") {
        twins::measure_near_duplicates();
    }
    if is_asked("speed") {
        speed::measure_speed();
    }
}

#[expect(clippy::too_many_lines, reason = "its steps follow each other")]
fn measure_own_set(half: &str, mut meaning: Option<&mut NoteEmbeddings>) {
    let mut corpus = Corpus::load_half(half);
    if asked::is_smoke_run() {
        corpus.questions.truncate(SMOKE_QUESTIONS);
    }
    let (plain, ours) = (PlainBm25::new(&corpus.notes), PalazzoIndex::new(&corpus.notes));
    if let Some(meaning) = &mut meaning {
        meaning.embed_notes(&corpus.notes);
    }
    let title = format!("\n{half}: {} questions", corpus.questions.len());
    println!("{}", RetrievalScore::header_row(&title));
    for (scope, in_wing) in [("in the wing", true), ("in all", false)] {
        let score = score_corpus(&corpus, in_wing, |ask, wing, most| plain.search(ask, wing, most));
        println!("{}", score.total_row(&format!("plain BM25, {scope}")));
        let score = score_corpus(&corpus, in_wing, |ask, wing, most| ours.search(ask, wing, most));
        println!("{}\n{}", score.total_row(&format!("Palazzo, {scope}")), score.rows_by_kind());
        if let Some(it) = &meaning {
            let score = score_corpus(&corpus, in_wing, |ask, wing, most| {
                ours.search_semantically(it, ask, wing, most)
            });
            println!(
                "{}\n{}",
                score.total_row(&format!("with meaning, {scope}")),
                score.rows_by_kind()
            );
        }
    }
    for (name, prompt) in corpus::load_prompts() {
        let prompt = prompt.trim_end();
        let pastes = [
            ("before it", format!("{prompt}\n\n"), ""),
            ("on its line", format!("{prompt} "), ""),
            ("around it", format!("{prompt}\n\n"), "\n\nAnswer in one sentence."),
        ];
        for (how, before, behind) in pastes {
            let pasted = corpus.with_pasted_text(&before, behind);
            let score =
                score_corpus(&pasted, false, |ask, wing, most| plain.search(ask, wing, most));
            println!("{}", score.total_row(&format!("plain BM25, {name} prompt {how}")));
            let score =
                score_corpus(&pasted, false, |ask, wing, most| ours.search(ask, wing, most));
            println!("{}", score.total_row(&format!("Palazzo, {name} prompt {how}")));
            if let Some(it) = &meaning {
                let score = score_corpus(&pasted, false, |ask, wing, most| {
                    ours.search_semantically(it, ask, wing, most)
                });
                println!("{}", score.total_row(&format!("with meaning, {name} prompt {how}")));
            }
        }
    }
}
