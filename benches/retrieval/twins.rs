//! Near-duplicates: how many copies of a note are detected, and how many other texts
//! are mistaken for copies.
//!
//! `set/twins.yaml` contains texts written for this: edited notes, notes with one fact
//! changed, and paraphrases. In addition every note is filed again in generated
//! variants: in capitals, truncated, with an appended text, with its sentences
//! reordered; and every note is compared with all other notes.

use std::collections::BTreeMap;

use palazzo::model::ItemId;
use palazzo::search::{DUPLICATE_THRESHOLD, word_changes};
use serde::Deserialize;

use crate::corpus::{self, Note, NoteNumbers};
use crate::ours::{PalazzoIndex, note_number};

#[derive(Deserialize)]
struct NearDuplicatesFile {
    edited: Vec<NoteVariant>,
    fact: Vec<NoteVariant>,
    paraphrase: Vec<NoteVariant>,
}

#[derive(Deserialize)]
struct NoteVariant {
    note: String,
    #[serde(default)]
    change: BTreeMap<String, String>,
    #[serde(default)]
    text: String,
    /// What the reported differences must name.
    #[serde(default)]
    told: Vec<String>,
}

/// A text to file, and the note it may be a copy of.
struct FiledText<'a> {
    text: String,
    note: usize,
    expected_words: &'a [String],
}

/// The results for the texts of one kind.
#[derive(Clone, Copy, Default)]
struct DuplicateTally {
    filed: usize,
    compared: usize,
    refused: usize,
    explained: usize,
}

/// Measures and prints.
#[expect(clippy::too_many_lines, reason = "its steps follow each other")]
pub(crate) fn measure_near_duplicates() {
    let (notes, numbers) = corpus::load_notes();
    let ours = PalazzoIndex::new(&notes);
    let file: NearDuplicatesFile = corpus::read_yaml(&corpus::set_path("twins.yaml"));
    println!("\n{:<28}{:>8}{:>12}{:>12}", "near-duplicates", "texts", "compared", "refused");
    let judged = |kind: &str, texts: &[FiledText<'_>], itself: bool| {
        let tally = tally_texts(&ours, &notes, texts, itself);
        let [compared, taken] = [tally.compared, tally.refused].map(|it| tally.percent(it));
        println!("{kind:<28}{:>8}{compared:>12}{taken:>12}", tally.filed);
        if tally.explained > 0 {
            println!("    difference explained{:>36}", tally.percent(tally.explained));
        }
        tally
    };
    let written = |pairs| authored_texts(pairs, &notes, &numbers);
    let copies = [
        judged("edited", &written(&file.edited), true),
        judged("one fact is another", &written(&file.fact), true),
        judged("in capitals", &generated_texts(&notes, |_, it| Some(it.to_uppercase())), true),
        judged(
            "the first seven tenths",
            &generated_texts(&notes, |_, it| Some(truncate_text(it))),
            true,
        ),
        judged(
            "four tenths more",
            &generated_texts(&notes, |at, it| Some(append_text(it, at, &notes))),
            true,
        ),
        judged(
            "sentences in reverse",
            &generated_texts(&notes, |_, it| reverse_sentences(it)),
            true,
        ),
    ];
    let others = [
        judged("paraphrased", &written(&file.paraphrase), true),
        judged("another note", &generated_texts(&notes, |_, it| Some(it.to_owned())), false),
    ];
    let taken = |tallies: &[DuplicateTally]| tallies.iter().map(|it| it.refused).sum::<usize>();
    let refused =
        DuplicateTally { filed: taken(&copies) + taken(&others), ..DuplicateTally::default() };
    let filed = copies.iter().map(|it| it.filed).sum();
    let there = DuplicateTally { filed, ..DuplicateTally::default() };
    let (precision, recall) = (refused.percent(taken(&copies)), there.percent(taken(&copies)));
    println!("precision {precision}, recall {recall}");
}

/// Compares texts with all notes; with all but the note itself, unless `itself`.
fn tally_texts(
    ours: &PalazzoIndex,
    notes: &[Note],
    texts: &[FiledText<'_>],
    itself: bool,
) -> DuplicateTally {
    let mut tally = DuplicateTally::default();
    for it in texts {
        let counts = |opening: &ItemId| itself || note_number(opening) != it.note;
        let text_of = |it: &ItemId| counts(it).then(|| notes[note_number(it)].text.as_str());
        let known = ours.index.near_duplicate_candidates(&it.text, counts);
        let known: Vec<usize> = known.iter().map(note_number).collect();
        let taken = !ours.index.near_duplicates(&it.text, DUPLICATE_THRESHOLD, text_of).is_empty();
        let differ = word_changes(&notes[it.note].text, &it.text);
        let names =
            |word: &String| differ.iter().any(|it| it.was.contains(word) || it.now.contains(word));
        tally.filed += 1;
        tally.compared += usize::from(known.contains(&it.note));
        tally.refused += usize::from(taken);
        tally.explained +=
            usize::from(!it.expected_words.is_empty() && it.expected_words.iter().all(names));
    }
    tally
}

fn authored_texts<'a>(
    pairs: &'a [NoteVariant],
    notes: &[Note],
    numbers: &NoteNumbers,
) -> Vec<FiledText<'a>> {
    let filed = |pair: &'a NoteVariant| {
        let note = numbers[&pair.note];
        let mut text = pair.text.clone();
        if text.is_empty() {
            text = notes[note].text.split_whitespace().collect::<Vec<_>>().join(" ");
        }
        for (was, now) in &pair.change {
            assert!(text.contains(was), "`{}` does not say `{was}`", pair.note);
            text = text.replace(was, now);
        }
        FiledText { text, note, expected_words: &pair.told }
    };
    pairs.iter().map(filed).collect()
}

fn generated_texts(
    notes: &[Note],
    make: impl Fn(usize, &str) -> Option<String>,
) -> Vec<FiledText<'static>> {
    let made =
        notes.iter().enumerate().filter_map(|(note, it)| Some((note, make(note, &it.text)?)));
    made.map(|(note, text)| FiledText { text, note, expected_words: &[] }).collect()
}

fn truncate_text(text: &str) -> String {
    text.chars().take(text.chars().count() * 7 / 10).collect()
}

fn append_text(text: &str, at: usize, notes: &[Note]) -> String {
    let more = notes[(at + 50) % notes.len()].text.chars().cycle();
    format!("{text} {}", more.take(text.chars().count() * 4 / 10).collect::<String>())
}

fn reverse_sentences(text: &str) -> Option<String> {
    let mut sentences: Vec<&str> = text.split_inclusive(['.', '。']).map(str::trim).collect();
    sentences.reverse();
    (sentences.len() > 2).then(|| sentences.join(" "))
}

impl DuplicateTally {
    #[expect(clippy::cast_precision_loss, reason = "these are small counts")]
    fn percent(self, part: usize) -> String {
        format!("{:.1} %", 100.0 * part as f64 / self.filed as f64)
    }
}
