//! Measures precision and recall of the detection of near-duplicates.
//!
//! `dataset/near_duplicates.yaml` contains edited notes, notes with one changed fact, and
//! paraphrases. Other variants of each note are generated: in upper case, truncated, with an
//! appended text, and with its sentences in reverse order. Every note is also compared with all
//! other notes.

use std::collections::BTreeMap;

use palazzo_core::model::ItemId;
use palazzo_core::search::{DUPLICATE_THRESHOLD, word_changes};
use serde::Deserialize;

use crate::corpus::{self, Note, NoteNumbers};
use crate::palazzo_index::{PalazzoIndex, note_number};

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
    /// The words that the reported difference must contain.
    #[serde(default)]
    expected_words: Vec<String>,
}

/// A text to file, and the number of the note of which it may be a copy.
struct NewText<'a> {
    text: String,
    note: usize,
    expected_words: &'a [String],
}

/// The numbers of texts of one kind.
#[derive(Clone, Copy, Default)]
struct DuplicateCounts {
    texts: usize,
    /// Texts for which the index proposes the note as a candidate.
    candidates: usize,
    /// Texts that are refused as near-duplicates.
    refused: usize,
    /// Texts whose reported difference contains the expected words.
    explained: usize,
}

/// Prints the results for each kind of text, and precision and recall.
#[expect(clippy::too_many_lines, reason = "its steps follow each other")]
pub(crate) fn measure_near_duplicates() {
    let (notes, numbers) = corpus::load_notes();
    let palazzo = PalazzoIndex::new(&notes);
    let file: NearDuplicatesFile = corpus::read_yaml(&corpus::dataset_path("near_duplicates.yaml"));
    println!("\n{:<28}{:>8}{:>12}{:>12}", "near-duplicates", "texts", "candidates", "refused");
    let measure = |kind: &str, texts: &[NewText<'_>], includes_note: bool| {
        let counts = count_duplicates(&palazzo, &notes, texts, includes_note);
        let [candidates, refused] =
            [counts.candidates, counts.refused].map(|it| format_percent(it, counts.texts));
        println!("{kind:<28}{:>8}{candidates:>12}{refused:>12}", counts.texts);
        if counts.explained > 0 {
            let explained = format_percent(counts.explained, counts.texts);
            println!("    difference explained{explained:>36}");
        }
        counts
    };
    let authored = |variants| authored_texts(variants, &notes, &numbers);
    let copies = [
        measure("edited", &authored(&file.edited), true),
        measure("one changed fact", &authored(&file.fact), true),
        measure("upper case", &generated_texts(&notes, |_, it| Some(it.to_uppercase())), true),
        measure("first 70 %", &generated_texts(&notes, |_, it| Some(truncate_text(it))), true),
        measure(
            "40 % appended",
            &generated_texts(&notes, |number, it| Some(append_text(it, number, &notes))),
            true,
        ),
        measure(
            "sentences in reverse order",
            &generated_texts(&notes, |_, it| reverse_sentences(it)),
            true,
        ),
    ];
    let others = [
        measure("paraphrase", &authored(&file.paraphrase), true),
        measure("another note", &generated_texts(&notes, |_, it| Some(it.to_owned())), false),
    ];
    let sum_refused =
        |counts: &[DuplicateCounts]| counts.iter().map(|it| it.refused).sum::<usize>();
    let refused_copies = sum_refused(&copies);
    let precision = format_percent(refused_copies, refused_copies + sum_refused(&others));
    let recall = format_percent(refused_copies, copies.iter().map(|it| it.texts).sum());
    println!("precision {precision}, recall {recall}");
}

/// Compares texts with all notes. If not `includes_note`, excludes the note of each text.
fn count_duplicates(
    palazzo: &PalazzoIndex,
    notes: &[Note],
    texts: &[NewText<'_>],
    includes_note: bool,
) -> DuplicateCounts {
    let mut counts = DuplicateCounts::default();
    for it in texts {
        let is_compared = |item: &ItemId| includes_note || note_number(item) != it.note;
        let text_of =
            |item: &ItemId| is_compared(item).then(|| notes[note_number(item)].text.as_str());
        let candidates = palazzo.index.near_duplicate_candidates(&it.text, is_compared);
        let candidates: Vec<usize> = candidates.iter().map(note_number).collect();
        let duplicates = palazzo.index.find_near_duplicates(&it.text, DUPLICATE_THRESHOLD, text_of);
        let changes = word_changes(&notes[it.note].text, &it.text);
        let is_reported =
            |word: &String| changes.iter().any(|it| it.was.contains(word) || it.now.contains(word));
        counts.texts += 1;
        counts.candidates += usize::from(candidates.contains(&it.note));
        counts.refused += usize::from(!duplicates.is_empty());
        counts.explained +=
            usize::from(!it.expected_words.is_empty() && it.expected_words.iter().all(is_reported));
    }
    counts
}

/// Returns the texts of the variants in `dataset/near_duplicates.yaml`.
fn authored_texts<'a>(
    variants: &'a [NoteVariant],
    notes: &[Note],
    numbers: &NoteNumbers,
) -> Vec<NewText<'a>> {
    let to_text = |variant: &'a NoteVariant| {
        let note = numbers[&variant.note];
        let mut text = variant.text.clone();
        if text.is_empty() {
            text = notes[note].text.split_whitespace().collect::<Vec<_>>().join(" ");
        }
        for (old, new) in &variant.change {
            assert!(text.contains(old), "`{}` does not contain `{old}`", variant.note);
            text = text.replace(old, new);
        }
        NewText { text, note, expected_words: &variant.expected_words }
    };
    variants.iter().map(to_text).collect()
}

/// Returns the texts that `generate` returns for the number and the text of each note.
fn generated_texts(
    notes: &[Note],
    generate: impl Fn(usize, &str) -> Option<String>,
) -> Vec<NewText<'static>> {
    let texts =
        notes.iter().enumerate().filter_map(|(note, it)| Some((note, generate(note, &it.text)?)));
    texts.map(|(note, text)| NewText { text, note, expected_words: &[] }).collect()
}

fn truncate_text(text: &str) -> String {
    text.chars().take(text.chars().count() * 7 / 10).collect()
}

/// Appends a part of another note.
fn append_text(text: &str, number: usize, notes: &[Note]) -> String {
    let other = notes[(number + 50) % notes.len()].text.chars().cycle();
    format!("{text} {}", other.take(text.chars().count() * 4 / 10).collect::<String>())
}

fn reverse_sentences(text: &str) -> Option<String> {
    let mut sentences: Vec<&str> = text.split_inclusive(['.', '。']).map(str::trim).collect();
    sentences.reverse();
    (sentences.len() > 2).then(|| sentences.join(" "))
}

#[expect(clippy::cast_precision_loss, reason = "the counts are small")]
fn format_percent(part: usize, whole: usize) -> String {
    format!("{:.1} %", 100.0 * part as f64 / whole as f64)
}
