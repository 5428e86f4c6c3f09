//! How well Palazzo finds: recall on notes and questions of our own.
//!
//! `cargo bench --bench retrieval` files the notes of `set/notes`, asks the
//! questions of `set/questions`, and prints how much of what answers them comes
//! back among the first 1, 5, 10 and 20 results, beside plain BM25. The set was
//! made before the ranking was, and is split for good: the ranking may be chosen
//! by the half in `choosing.yaml`; the half in `reporting.yaml` is only reported.
//! Without arguments everything is measured; `-- choosing`, `-- reporting`,
//! `-- locomo`, `-- twins` and `-- speed` measure only that; `-- --smoke` measures
//! a few questions of the choosing half, and the speed among few notes.
//!
//! Where `PALAZZO_MODEL` names the folder of an embedding model, everything is asked
//! by words and meaning, too.
//!
//! A note is one entry of a YAML file below `set/notes`, which is a wing; a
//! question names the notes that answer it. To extend the set, add both.

#![expect(clippy::print_stdout, reason = "a benchmark is there to print its tables")]

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
use meaning::Meaning;
use measure::{Score, judge};
use ours::Ours;
use plain::Plain;

/// How many questions are asked in a smoke run.
const SMOKE: usize = 10;

fn main() {
    let Some(mut asked) = asked::asked() else { return };
    if asked::is_smoke() {
        asked = ["choosing", "speed"].map(str::to_owned).to_vec();
    }
    let is_asked = |part: &str| asked.is_empty() || asked.iter().any(|it| it == part);
    let mut meaning = Meaning::of_environment();
    for half in ["choosing", "reporting"] {
        if is_asked(half) {
            of_our_own(half, meaning.as_mut());
        }
    }
    if is_asked("locomo") {
        locomo::measure(meaning.as_mut());
    }
    if is_asked("twins") {
        twins::measure();
    }
    if is_asked("speed") {
        speed::measure();
    }
}

fn of_our_own(half: &str, mut meaning: Option<&mut Meaning>) {
    let mut corpus = Corpus::of_set(half);
    if asked::is_smoke() {
        corpus.questions.truncate(SMOKE);
    }
    let (plain, ours) = (Plain::new(&corpus.notes), Ours::new(&corpus.notes));
    if let Some(meaning) = &mut meaning {
        meaning.read(&corpus.notes);
    }
    let title = format!("\n{half}: {} questions", corpus.questions.len());
    println!("{}", Score::head(&title));
    for (scope, in_wing) in [("in the wing", true), ("in all", false)] {
        let score = judge(&corpus, in_wing, |ask, wing, most| plain.find(ask, wing, most));
        println!("{}", score.row(&format!("plain BM25, {scope}")));
        let score = judge(&corpus, in_wing, |ask, wing, most| ours.find(ask, wing, most));
        println!("{}\n{}", score.row(&format!("Palazzo, {scope}")), score.by_kind());
        if let Some(it) = &meaning {
            let score = judge(&corpus, in_wing, |ask, wing, most| ours.mean(it, ask, wing, most));
            println!("{}\n{}", score.row(&format!("with meaning, {scope}")), score.by_kind());
        }
    }
    for (name, prompt) in corpus::prompts() {
        let prompt = prompt.trim_end();
        let pastes = [
            ("before it", format!("{prompt}\n\n"), ""),
            ("on its line", format!("{prompt} "), ""),
            ("around it", format!("{prompt}\n\n"), "\n\nAnswer in one sentence."),
        ];
        for (how, before, behind) in pastes {
            let pasted = corpus.pasted(&before, behind);
            let score = judge(&pasted, false, |ask, wing, most| plain.find(ask, wing, most));
            println!("{}", score.row(&format!("plain BM25, {name} prompt {how}")));
            let score = judge(&pasted, false, |ask, wing, most| ours.find(ask, wing, most));
            println!("{}", score.row(&format!("Palazzo, {name} prompt {how}")));
            if let Some(it) = &meaning {
                let score = judge(&pasted, false, |ask, wing, most| ours.mean(it, ask, wing, most));
                println!("{}", score.row(&format!("with meaning, {name} prompt {how}")));
            }
        }
    }
}
