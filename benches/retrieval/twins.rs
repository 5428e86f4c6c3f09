//! Near-duplicates: how many copies of a note are known as such, and how many
//! other texts are taken for copies.
//!
//! `set/twins.yaml` holds texts written for this: notes edited, notes in which
//! one fact is another, and paraphrases. Beside them every note is filed again
//! in ways that need no author: in capitals, cut short, with more behind it, its
//! sentences in another order; and every note is judged as if the others were
//! there first.

use std::collections::BTreeMap;

use palazzo::model::Opening;
use palazzo::search::{TWINS, differences};
use serde::Deserialize;

use crate::corpus::{self, Note, Numbers};
use crate::ours::{Ours, number};

#[derive(Deserialize)]
struct TwinsFile {
    edited: Vec<Pair>,
    fact: Vec<Pair>,
    paraphrase: Vec<Pair>,
}

#[derive(Deserialize)]
struct Pair {
    note: String,
    #[serde(default)]
    change: BTreeMap<String, String>,
    #[serde(default)]
    text: String,
    /// What the differences have to name.
    #[serde(default)]
    told: Vec<String>,
}

/// A text that somebody files, and the note it may be a copy of.
struct Filed<'a> {
    text: String,
    note: usize,
    told: &'a [String],
}

/// What became of the texts of one kind.
#[derive(Clone, Copy, Default)]
struct Tally {
    filed: usize,
    compared: usize,
    taken: usize,
    told: usize,
}

/// Measures and prints.
pub(crate) fn measure() {
    let (notes, numbers) = corpus::notes();
    let ours = Ours::new(&notes);
    let file: TwinsFile = corpus::read(&corpus::place("twins.yaml"));
    println!("\n{:<28}{:>8}{:>12}{:>12}", "near-duplicates", "texts", "compared", "refused");
    let judged = |kind: &str, texts: &[Filed<'_>], itself: bool| {
        let tally = judge(&ours, &notes, texts, itself);
        let [compared, taken] = [tally.compared, tally.taken].map(|it| tally.percent(it));
        println!("{kind:<28}{:>8}{compared:>12}{taken:>12}", tally.filed);
        if tally.told > 0 {
            println!("    what differs is told{:>36}", tally.percent(tally.told));
        }
        tally
    };
    let written = |pairs| written(pairs, &notes, &numbers);
    let copies = [
        judged("edited", &written(&file.edited), true),
        judged("one fact is another", &written(&file.fact), true),
        judged("in capitals", &made(&notes, |_, it| Some(it.to_uppercase())), true),
        judged("the first seven tenths", &made(&notes, |_, it| Some(most_of(it))), true),
        judged("four tenths more", &made(&notes, |at, it| Some(with_more(it, at, &notes))), true),
        judged("sentences in reverse", &made(&notes, |_, it| reversed(it)), true),
    ];
    let others = [
        judged("paraphrased", &written(&file.paraphrase), true),
        judged("another note", &made(&notes, |_, it| Some(it.to_owned())), false),
    ];
    let taken = |tallies: &[Tally]| tallies.iter().map(|it| it.taken).sum::<usize>();
    let refused = Tally { filed: taken(&copies) + taken(&others), ..Tally::default() };
    let filed = copies.iter().map(|it| it.filed).sum();
    let there = Tally { filed, ..Tally::default() };
    let (precision, recall) = (refused.percent(taken(&copies)), there.percent(taken(&copies)));
    println!("precision {precision}, recall {recall}");
}

/// Judges texts against all notes; against all others, unless the note `itself`
/// counts.
fn judge(ours: &Ours, notes: &[Note], texts: &[Filed<'_>], itself: bool) -> Tally {
    let mut tally = Tally::default();
    for it in texts {
        let counts = |opening: &Opening| itself || number(opening) != it.note;
        let text_of = |it: &Opening| counts(it).then(|| notes[number(it)].text.as_str());
        let known = ours.index.lookalikes(&it.text, counts);
        let known: Vec<usize> = known.iter().map(number).collect();
        let taken = !ours.index.twins(&it.text, TWINS, text_of).is_empty();
        let differ = differences(&notes[it.note].text, &it.text);
        let names =
            |word: &String| differ.iter().any(|it| it.was.contains(word) || it.now.contains(word));
        tally.filed += 1;
        tally.compared += usize::from(known.contains(&it.note));
        tally.taken += usize::from(taken);
        tally.told += usize::from(!it.told.is_empty() && it.told.iter().all(names));
    }
    tally
}

fn written<'a>(pairs: &'a [Pair], notes: &[Note], numbers: &Numbers) -> Vec<Filed<'a>> {
    let filed = |pair: &'a Pair| {
        let note = numbers[&pair.note];
        let mut text = pair.text.clone();
        if text.is_empty() {
            text = notes[note].text.split_whitespace().collect::<Vec<_>>().join(" ");
        }
        for (was, now) in &pair.change {
            assert!(text.contains(was), "`{}` does not say `{was}`", pair.note);
            text = text.replace(was, now);
        }
        Filed { text, note, told: &pair.told }
    };
    pairs.iter().map(filed).collect()
}

fn made(notes: &[Note], make: impl Fn(usize, &str) -> Option<String>) -> Vec<Filed<'static>> {
    let made =
        notes.iter().enumerate().filter_map(|(note, it)| Some((note, make(note, &it.text)?)));
    made.map(|(note, text)| Filed { text, note, told: &[] }).collect()
}

fn most_of(text: &str) -> String {
    text.chars().take(text.chars().count() * 7 / 10).collect()
}

fn with_more(text: &str, at: usize, notes: &[Note]) -> String {
    let more = notes[(at + 50) % notes.len()].text.chars().cycle();
    format!("{text} {}", more.take(text.chars().count() * 4 / 10).collect::<String>())
}

fn reversed(text: &str) -> Option<String> {
    let mut sentences: Vec<&str> = text.split_inclusive(['.', '。']).map(str::trim).collect();
    sentences.reverse();
    (sentences.len() > 2).then(|| sentences.join(" "))
}

impl Tally {
    #[expect(clippy::cast_precision_loss, reason = "these are small counts")]
    fn percent(self, part: usize) -> String {
        format!("{:.1} %", 100.0 * part as f64 / self.filed as f64)
    }
}
