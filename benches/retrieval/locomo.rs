//! Measures search quality on LoCoMo: ten long conversations, and questions about them.
//!
//! `PALAZZO_LOCOMO` is the path of `data/locomo10.json` from snap-research/LoCoMo. Its licence (CC
//! BY-NC) does not permit a copy in this repository. Each conversation is a wing. The benchmark
//! runs twice: with one note for each session, and with one note for each turn, in the room of its
//! session. A turn is the line `Speaker: text`, followed by the caption of a picture in brackets. A
//! note has the date of its session. The benchmark measures the index, and `mempalace_search` in a
//! palace with one drawer for each note. It skips questions whose evidence names no turn.

use std::collections::BTreeMap;
use std::fs;

use chrono::{DateTime, NaiveDateTime, Utc};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::bm25_baseline::Bm25Baseline;
use crate::corpus::{Corpus, Note, Question};
use crate::metrics::{RetrievalMetrics, evaluate_search};
use crate::note_embeddings::NoteEmbeddings;
use crate::palazzo_index::PalazzoIndex;
use crate::search_tool::SearchTool;

#[derive(Deserialize)]
struct ConversationSample {
    conversation: Map<String, Value>,
    qa: Vec<LocomoQuestion>,
}

#[derive(Deserialize)]
struct LocomoQuestion {
    question: String,
    /// A list of texts, or one text.
    #[serde(default)]
    evidence: Value,
    category: u8,
}

#[derive(Deserialize)]
struct DialogTurn {
    speaker: String,
    dia_id: String,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    blip_caption: Option<String>,
}

/// The numbers of a session and of a turn in it. Evidence contains them as `D3:12`.
type TurnId = (usize, usize);

/// Prints the recall, if `PALAZZO_LOCOMO` is set.
#[expect(clippy::too_many_lines, reason = "its steps follow each other")]
pub(crate) fn measure_locomo(mut embeddings: Option<&mut NoteEmbeddings>) {
    let Some(file) = std::env::var_os("PALAZZO_LOCOMO") else {
        println!("\nLoCoMo is skipped: set PALAZZO_LOCOMO to the path of locomo10.json");
        return;
    };
    let text = fs::read_to_string(&file).expect("PALAZZO_LOCOMO is a file");
    let samples: Vec<ConversationSample> =
        serde_json::from_str(&text).expect("PALAZZO_LOCOMO is locomo10.json");
    for (unit, by_turn) in [("session", false), ("turn", true)] {
        let corpus = build_corpus(&samples, by_turn);
        let (notes, questions) = (corpus.notes.len(), corpus.questions.len());
        let skipped = samples.iter().map(|it| it.qa.len()).sum::<usize>() - questions;
        println!(
            "\nLoCoMo, a note for each {unit}: {notes} notes, {questions} questions, \
             {skipped} skipped without evidence",
        );
        if let Some(embeddings) = &mut embeddings {
            embeddings.embed_notes(&corpus.notes);
        }
        println!("{}", RetrievalMetrics::header_row(""));
        let (bm25, palazzo) = (Bm25Baseline::new(&corpus.notes), PalazzoIndex::new(&corpus.notes));
        let tool = SearchTool::new(&corpus.notes);
        let answerable = corpus.filter_questions(|it| !it.kind.starts_with('5'));
        for (scope, in_wing) in [("in the wing", true), ("in all wings", false)] {
            let metrics = evaluate_search(&corpus, in_wing, |query, wing, limit| {
                bm25.search(query, wing, limit)
            });
            println!("{}", metrics.total_row(&format!("plain BM25, {scope}")));
            let metrics = evaluate_search(&corpus, in_wing, |query, wing, limit| {
                palazzo.search(query, wing, limit)
            });
            println!("{}", metrics.total_row(&format!("Palazzo, {scope}")));
            println!("{}", metrics.rows_by_kind());
            let metrics = evaluate_search(&answerable, in_wing, |query, wing, limit| {
                palazzo.search(query, wing, limit)
            });
            println!("{}", metrics.total_row(&format!("Palazzo, {scope}, categories 1 to 4")));
            let metrics = evaluate_search(&corpus, in_wing, |query, wing, limit| {
                tool.search(query, wing, limit)
            });
            println!("{}", metrics.total_row(&format!("mempalace_search, {scope}")));
            println!("{}", metrics.rows_by_kind());
            let metrics = evaluate_search(&answerable, in_wing, |query, wing, limit| {
                tool.search(query, wing, limit)
            });
            println!("{}", metrics.total_row(&format!("mempalace_search, {scope}, 1 to 4")));
            let Some(embeddings) = &embeddings else { continue };
            let metrics = evaluate_search(&corpus, in_wing, |query, wing, limit| {
                palazzo.search_semantically(embeddings, query, wing, limit)
            });
            println!("{}", metrics.total_row(&format!("semantic search, {scope}")));
            println!("{}", metrics.rows_by_kind());
        }
    }
}

/// Converts the conversations to notes, one for each turn if `by_turn`, else one for each session.
fn build_corpus(samples: &[ConversationSample], by_turn: bool) -> Corpus {
    let mut corpus = Corpus::default();
    for (number, sample) in samples.iter().enumerate() {
        let wing = format!("conversation-{}", number + 1);
        let mut notes: BTreeMap<TurnId, usize> = BTreeMap::new();
        for (session, turns) in parse_sessions(&sample.conversation) {
            let date_key = format!("session_{session}_date_time");
            let written = sample
                .conversation
                .get(&date_key)
                .and_then(Value::as_str)
                .and_then(parse_session_time);
            let room = format!("session-{session}");
            let mut lines = Vec::new();
            for turn in &turns {
                let note = corpus.notes.len() + if by_turn { lines.len() } else { 0 };
                notes.extend(parse_turn_ids(&turn.dia_id).map(|it| (it, note)));
                lines.push(format_turn(turn));
            }
            let texts = if by_turn { lines } else { vec![lines.join("\n")] };
            corpus.notes.extend(texts.into_iter().map(|text| Note {
                wing: wing.clone(),
                room: room.clone(),
                title: String::new(),
                written,
                text,
            }));
        }
        corpus.questions.extend(sample.qa.iter().filter_map(|it| to_question(it, &notes)));
    }
    corpus
}

/// Parses the sessions of a conversation. Returns the turns of each session by its number.
fn parse_sessions(conversation: &Map<String, Value>) -> BTreeMap<usize, Vec<DialogTurn>> {
    let parse_entry = |(key, value): (&String, &Value)| {
        let number = key.strip_prefix("session_")?.parse().ok().filter(|_| value.is_array())?;
        Some((number, Vec::deserialize(value).expect("a session is a list of turns")))
    };
    conversation.iter().filter_map(parse_entry).collect()
}

fn format_turn(turn: &DialogTurn) -> String {
    let caption = turn.blip_caption.as_ref().map(|it| format!(" [{it}]")).unwrap_or_default();
    format!("{}: {}{caption}", turn.speaker, turn.text.as_deref().unwrap_or_default())
}

fn to_question(record: &LocomoQuestion, notes: &BTreeMap<TurnId, usize>) -> Option<Question> {
    let texts = record.evidence.as_array().into_iter().flatten().chain([&record.evidence]);
    let turns = texts.filter_map(Value::as_str).flat_map(parse_turn_ids);
    let mut answers: Vec<usize> = turns.filter_map(|it| notes.get(&it).copied()).collect();
    answers.sort_unstable();
    answers.dedup();
    let kind = match record.category {
        1 => "1 multi-hop".to_owned(),
        2 => "2 temporal".to_owned(),
        3 => "3 open-domain".to_owned(),
        4 => "4 single-hop".to_owned(),
        5 => "5 adversarial".to_owned(),
        other => other.to_string(),
    };
    (!answers.is_empty()).then(|| Question { text: record.question.clone(), kind, answers })
}

/// Parses all turn ids in a text. Some texts contain two (`D8:6; D9:17`), some have leading zeros
/// (`D30:05`), and some contain none (`D`).
fn parse_turn_ids(text: &str) -> impl Iterator<Item = TurnId> {
    let number = |text: &str| -> Option<usize> {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        text[..digits].parse().ok()
    };
    text.split('D').filter_map(move |it| {
        let (session, turn) = it.split_once(':')?;
        Some((number(session)?, number(turn)?))
    })
}

/// Parses `1:56 pm on 8 May, 2023`.
fn parse_session_time(text: &str) -> Option<DateTime<Utc>> {
    NaiveDateTime::parse_from_str(text, "%I:%M %p on %d %B, %Y").ok().map(|it| it.and_utc())
}
