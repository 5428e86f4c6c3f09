//! Measures search quality on `LongMemEval`: long histories of chats, and questions about them.
//!
//! `PALAZZO_LONGMEMEVAL` is the path of a JSON file from xiaowu0162/LongMemEval, for example
//! `longmemeval_oracle.json`. The sessions of all questions are filed once, in one wing, each in a
//! room of its own, first as exchanges and then as messages. The answers are the messages that the
//! file marks with `has_answer`; questions without such messages are skipped.

use std::collections::HashMap;
use std::fs;

use chrono::{DateTime, NaiveDateTime, Utc};
use serde::Deserialize;

use crate::comparison::compare_methods;
use crate::conversation::{Conversation, Filing, Message};
use crate::corpus::{Corpus, Question};
use crate::note_embeddings::NoteEmbeddings;

#[derive(Deserialize)]
struct QuestionRecord {
    question: String,
    question_type: String,
    haystack_dates: Vec<String>,
    haystack_session_ids: Vec<String>,
    haystack_sessions: Vec<Vec<MessageRecord>>,
}

#[derive(Deserialize)]
struct MessageRecord {
    role: String,
    content: String,
    #[serde(default)]
    has_answer: bool,
}

/// Prints the recall, if `PALAZZO_LONGMEMEVAL` is set.
pub(crate) fn measure_long_mem_eval(mut embeddings: Option<&mut NoteEmbeddings>) {
    let Some(file) = std::env::var_os("PALAZZO_LONGMEMEVAL") else {
        println!("\nLongMemEval is skipped: set PALAZZO_LONGMEMEVAL to the path of its JSON file");
        return;
    };
    let text = fs::read_to_string(&file).expect("PALAZZO_LONGMEMEVAL is a file");
    let records: Vec<QuestionRecord> =
        serde_json::from_str(&text).expect("PALAZZO_LONGMEMEVAL is a file of LongMemEval");
    for filing in Filing::ALL {
        let corpus = build_corpus(&records, filing);
        let title = format!("LongMemEval, {}", filing.name());
        compare_methods(&title, &corpus, &[("all", false)], embeddings.as_deref_mut());
    }
}

fn build_corpus(records: &[QuestionRecord], filing: Filing) -> Corpus {
    let mut corpus = Corpus::default();
    let mut session_notes: HashMap<&str, Vec<usize>> = HashMap::new();
    for record in records {
        let sessions = record.haystack_session_ids.iter().zip(&record.haystack_dates);
        let mut answers = Vec::new();
        for ((id, date), messages) in sessions.zip(&record.haystack_sessions) {
            let notes = session_notes.entry(id).or_insert_with(|| {
                to_conversation(id, date, messages).add_notes(&mut corpus, filing)
            });
            // A session can be shorter in the history of another question.
            let numbered = messages.iter().zip(notes.iter());
            answers.extend(numbered.filter(|(it, _)| it.has_answer).map(|(_, note)| *note));
        }
        answers.dedup();
        if !answers.is_empty() {
            let (text, kind) = (record.question.clone(), record.question_type.clone());
            corpus.questions.push(Question { text, kind, answers });
        }
    }
    corpus
}

fn to_conversation(id: &str, date: &str, messages: &[MessageRecord]) -> Conversation {
    let messages = messages.iter().map(|it| Message {
        is_from_user: it.role == "user",
        text: it.content.trim_end().to_owned(),
    });
    Conversation {
        wing: "longmemeval".to_owned(),
        room: id.to_owned(),
        title: String::new(),
        written: parse_session_time(date),
        messages: messages.collect(),
    }
}

/// Parses `2023/04/10 (Mon) 17:50`.
fn parse_session_time(text: &str) -> Option<DateTime<Utc>> {
    NaiveDateTime::parse_from_str(text, "%Y/%m/%d (%a) %H:%M").ok().map(|it| it.and_utc())
}
