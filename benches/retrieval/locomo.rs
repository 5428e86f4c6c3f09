//! LoCoMo: ten long conversations, and questions about them.
//!
//! The file is `data/locomo10.json` of snap-research/LoCoMo. Its licence (CC BY-NC)
//! forbids shipping it: `PALAZZO_LOCOMO` is its path. Each conversation is a wing. It
//! is measured twice: with one note for each session, and with one for each turn in the
//! room of its session. A turn is the line `Speaker: text`, followed by the caption of
//! a picture in brackets; a note has the date of its session. Measured are the index,
//! and `mempalace_search` over a palace with each note in a drawer. Questions whose
//! evidence names no turn are left out.

use std::collections::BTreeMap;
use std::fs;

use chrono::{DateTime, NaiveDateTime, Utc};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::corpus::{Corpus, Note, Question};
use crate::meaning::NoteEmbeddings;
use crate::measure::{RetrievalScore, score_corpus};
use crate::ours::PalazzoIndex;
use crate::plain::PlainBm25;
use crate::tool::SearchTool;

#[derive(Deserialize)]
struct ConversationSample {
    conversation: Map<String, Value>,
    qa: Vec<QuestionRecord>,
}

#[derive(Deserialize)]
struct QuestionRecord {
    question: String,
    /// A list of texts, or another value.
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

/// A session and a turn in it, as evidence names them: `D3:12`.
type TurnId = (usize, usize);

/// Measures and prints, if the file exists.
#[expect(clippy::too_many_lines, reason = "its steps follow each other")]
pub(crate) fn measure_locomo(mut meaning: Option<&mut NoteEmbeddings>) {
    let Some(file) = std::env::var_os("PALAZZO_LOCOMO") else {
        println!("\nLoCoMo is skipped: set PALAZZO_LOCOMO to the path of locomo10.json");
        return;
    };
    let text = fs::read_to_string(&file).expect("PALAZZO_LOCOMO names a file");
    let samples: Vec<ConversationSample> = serde_json::from_str(&text).expect("it is LoCoMo's");
    for (unit, by_turn) in [("session", false), ("turn", true)] {
        let corpus = build_corpus(&samples, by_turn);
        let asked = corpus.questions.len();
        let left = samples.iter().map(|it| it.qa.len()).sum::<usize>() - asked;
        println!(
            "\nLoCoMo, a note for each {unit}: {} notes, {asked} questions, {left} without evidence",
            corpus.notes.len()
        );
        if let Some(meaning) = &mut meaning {
            meaning.embed_notes(&corpus.notes);
        }
        println!("{}", RetrievalScore::header_row(""));
        let (plain, ours) = (PlainBm25::new(&corpus.notes), PalazzoIndex::new(&corpus.notes));
        let tool = SearchTool::new(&corpus.notes);
        let answerable = corpus.filter_questions(|it| !it.kind.starts_with('5'));
        for (scope, in_wing) in [("in the wing", true), ("in all", false)] {
            let score =
                score_corpus(&corpus, in_wing, |ask, wing, most| plain.search(ask, wing, most));
            println!("{}", score.total_row(&format!("plain BM25, {scope}")));
            let score =
                score_corpus(&corpus, in_wing, |ask, wing, most| ours.search(ask, wing, most));
            println!("{}\n{}", score.total_row(&format!("Palazzo, {scope}")), score.rows_by_kind());
            let score =
                score_corpus(&answerable, in_wing, |ask, wing, most| ours.search(ask, wing, most));
            println!("{}", score.total_row(&format!("Palazzo, {scope}, categories 1 to 4")));
            let score =
                score_corpus(&corpus, in_wing, |ask, wing, most| tool.search(ask, wing, most));
            println!(
                "{}\n{}",
                score.total_row(&format!("mempalace_search, {scope}")),
                score.rows_by_kind()
            );
            let score =
                score_corpus(&answerable, in_wing, |ask, wing, most| tool.search(ask, wing, most));
            println!("{}", score.total_row(&format!("mempalace_search, {scope}, 1 to 4")));
            let Some(it) = &meaning else { continue };
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
}

fn build_corpus(samples: &[ConversationSample], by_turn: bool) -> Corpus {
    let mut corpus = Corpus::default();
    for (number, sample) in samples.iter().enumerate() {
        let wing = format!("conversation-{}", number + 1);
        let mut spots: BTreeMap<TurnId, usize> = BTreeMap::new();
        for (session, turns) in parse_sessions(&sample.conversation) {
            let when = format!("session_{session}_date_time");
            let written =
                sample.conversation.get(&when).and_then(Value::as_str).and_then(parse_session_time);
            let room = format!("session-{session}");
            let mut lines = Vec::new();
            for turn in &turns {
                let note = corpus.notes.len() + if by_turn { lines.len() } else { 0 };
                spots.extend(parse_turn_ids(&turn.dia_id).map(|it| (it, note)));
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
        corpus.questions.extend(sample.qa.iter().filter_map(|it| to_question(it, &spots)));
    }
    corpus
}

/// Yields the sessions of a conversation in order.
fn parse_sessions(conversation: &Map<String, Value>) -> BTreeMap<usize, Vec<DialogTurn>> {
    let session = |(key, value): (&String, &Value)| {
        let number = key.strip_prefix("session_")?.parse().ok().filter(|_| value.is_array())?;
        Some((number, Vec::deserialize(value).expect("a session is a list of turns")))
    };
    conversation.iter().filter_map(session).collect()
}

fn format_turn(turn: &DialogTurn) -> String {
    let caption = turn.blip_caption.as_ref().map(|it| format!(" [{it}]")).unwrap_or_default();
    format!("{}: {}{caption}", turn.speaker, turn.text.as_deref().unwrap_or_default())
}

fn to_question(asked: &QuestionRecord, spots: &BTreeMap<TurnId, usize>) -> Option<Question> {
    let texts = asked.evidence.as_array().into_iter().flatten().chain([&asked.evidence]);
    let named = texts.filter_map(Value::as_str).flat_map(parse_turn_ids);
    let mut answers: Vec<usize> = named.filter_map(|it| spots.get(&it).copied()).collect();
    answers.sort_unstable();
    answers.dedup();
    let kind = match asked.category {
        1 => "1 multi-hop".to_owned(),
        2 => "2 temporal".to_owned(),
        3 => "3 open-domain".to_owned(),
        4 => "4 single-hop".to_owned(),
        5 => "5 adversarial".to_owned(),
        other => other.to_string(),
    };
    (!answers.is_empty()).then(|| Question { ask: asked.question.clone(), kind, answers })
}

/// Yields all turns that a text names: some texts name two (`D8:6; D9:17`), some have
/// leading zeros (`D30:05`), some name none (`D`).
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
