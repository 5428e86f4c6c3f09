//! Measures search among short notes beside long conversations.
//!
//! A YAML file below `dataset/mixed_lengths/notes` is a wing. Its rooms contain short notes, most
//! of a few sentences, and conversations with an assistant. Its questions are in the file of the
//! same name below `questions`; an answer is the id of a note, or `CONVERSATION.N` for the Nth
//! message. Of the questions of one kind in one wing, the 1st, 3rd, 5th are for tuning, the others
//! are only reported.
//!
//! The short notes and the conversations are measured alone and together. Alone, only the
//! questions are asked that they answer.

use std::collections::HashMap;

use chrono::{DateTime, NaiveDate, NaiveTime, Utc};
use serde::Deserialize;

use crate::arguments;
use crate::comparison::compare_methods;
use crate::conversation::{Conversation, Filing, Message};
use crate::corpus::{Corpus, Note, NoteNumbers, Question, dataset_path, list_files, read_yaml};
use crate::note_embeddings::NoteEmbeddings;

/// A half of the questions.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum QuestionHalf {
    Tuning,
    Reporting,
}

#[derive(Deserialize)]
struct WingFile {
    wing: String,
    rooms: Vec<RoomRecord>,
}

#[derive(Deserialize)]
struct RoomRecord {
    room: String,
    #[serde(default)]
    notes: Vec<NoteRecord>,
    #[serde(default)]
    transcripts: Vec<TranscriptRecord>,
}

#[derive(Deserialize)]
struct NoteRecord {
    id: String,
    #[serde(default)]
    title: String,
    date: Option<NaiveDate>,
    text: String,
}

#[derive(Deserialize)]
struct TranscriptRecord {
    id: String,
    #[serde(default)]
    title: String,
    date: Option<NaiveDate>,
    messages: Vec<MessageRecord>,
}

#[derive(Deserialize)]
struct MessageRecord {
    role: String,
    text: String,
}

#[derive(Deserialize)]
struct QuestionRecord {
    question: String,
    kind: String,
    answers: Vec<String>,
}

/// Prints the recall for one half of the questions.
pub(crate) fn measure_mixed_lengths(
    half: QuestionHalf,
    mut embeddings: Option<&mut NoteEmbeddings>,
) {
    let half_name = match half {
        QuestionHalf::Tuning => "tuning",
        QuestionHalf::Reporting => "reporting",
    };
    let filings: &[(&str, bool, Option<Filing>)] = &[
        ("short notes", true, None),
        ("exchanges", false, Some(Filing::Exchanges)),
        ("messages", false, Some(Filing::Messages)),
        ("short notes and exchanges", true, Some(Filing::Exchanges)),
        ("short notes and messages", true, Some(Filing::Messages)),
    ];
    let filings = if arguments::is_smoke_run() { &filings[..1] } else { filings };
    for (name, with_notes, filing) in filings {
        let corpus = load_corpus(half, *with_notes, *filing);
        let title = format!("mixed lengths, {half_name}, {name}");
        let scopes = [("in the wing", true), ("in all wings", false)];
        compare_methods(&title, &corpus, &scopes, embeddings.as_deref_mut());
    }
}

/// Reads the notes if `with_notes`, the conversations if there is a `filing`, and the questions
/// that they answer completely.
fn load_corpus(half: QuestionHalf, with_notes: bool, filing: Option<Filing>) -> Corpus {
    let (mut corpus, mut numbers) = (Corpus::default(), NoteNumbers::new());
    for file in list_files(&dataset_path("mixed_lengths/notes")) {
        let file: WingFile = read_yaml(&file);
        for room in file.rooms {
            for note in room.notes.into_iter().filter(|_| with_notes) {
                numbers.insert(note.id, corpus.notes.len());
                corpus.notes.push(Note {
                    wing: file.wing.clone(),
                    room: room.room.clone(),
                    title: note.title,
                    written: start_of_day(note.date),
                    text: note.text.trim_end().to_owned(),
                });
            }
            for transcript in room.transcripts {
                let Some(filing) = filing else { continue };
                let id = transcript.id.clone();
                let conversation = to_conversation(&file.wing, &room.room, transcript);
                let message_notes = conversation.add_notes(&mut corpus, filing);
                let messages = message_notes.into_iter().enumerate();
                numbers.extend(messages.map(|(at, note)| (format!("{id}.{}", at + 1), note)));
            }
        }
    }
    for file in list_files(&dataset_path("mixed_lengths/questions")) {
        corpus.questions.extend(load_questions(&read_yaml::<Vec<_>>(&file), half, &numbers));
    }
    corpus
}

fn to_conversation(wing: &str, room: &str, transcript: TranscriptRecord) -> Conversation {
    let messages = transcript
        .messages
        .into_iter()
        .map(|it| Message { is_from_user: it.role == "user", text: it.text.trim_end().to_owned() });
    Conversation {
        wing: wing.to_owned(),
        room: room.to_owned(),
        title: transcript.title,
        written: start_of_day(transcript.date),
        messages: messages.collect(),
    }
}

/// Converts the questions of one wing that belong to `half` and have all their answers among the
/// notes.
fn load_questions(
    records: &[QuestionRecord],
    half: QuestionHalf,
    numbers: &NoteNumbers,
) -> Vec<Question> {
    let mut kind_counts: HashMap<&str, usize> = HashMap::new();
    let mut questions = Vec::new();
    for record in records {
        let count = kind_counts.entry(&record.kind).or_default();
        *count += 1;
        let is_tuning = *count % 2 == 1;
        if is_tuning != (half == QuestionHalf::Tuning) {
            continue;
        }
        let answers = record.answers.iter().map(|it| numbers.get(it).copied());
        let Some(mut answers) = answers.collect::<Option<Vec<usize>>>() else { continue };
        answers.sort_unstable();
        answers.dedup();
        let (text, kind) = (record.question.clone(), record.kind.clone());
        questions.push(Question { text, kind, answers });
    }
    questions
}

fn start_of_day(date: Option<NaiveDate>) -> Option<DateTime<Utc>> {
    date.map(|it| it.and_time(NaiveTime::MIN).and_utc())
}
