//! Measures search quality on BEAM: long chats, and probing questions about them.
//!
//! `PALAZZO_BEAM` is the path of the folder `chats/100K` from mohammadtavakoli78/BEAM. Each chat is
//! a wing, each batch of its turns a room. The chats are filed first as exchanges and then as
//! messages. The answers are the messages that `source_chat_ids` names; questions without them are
//! skipped.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use chrono::{DateTime, NaiveDate, NaiveTime, Utc};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::comparison::compare_methods;
use crate::conversation::{Conversation, Filing, Message};
use crate::corpus::{Corpus, Question, list_files};
use crate::note_embeddings::NoteEmbeddings;

#[derive(Deserialize)]
struct BatchRecord {
    turns: Vec<Vec<MessageRecord>>,
}

#[derive(Deserialize)]
struct MessageRecord {
    role: String,
    id: u64,
    content: String,
    /// The day of the message; the messages after it have the same.
    #[serde(default)]
    time_anchor: Option<String>,
}

#[derive(Deserialize)]
struct QuestionRecord {
    question: String,
    /// A list of message ids, or a map of such lists.
    #[serde(default)]
    source_chat_ids: Value,
}

/// Prints the recall, if `PALAZZO_BEAM` is set.
pub(crate) fn measure_beam(mut embeddings: Option<&mut NoteEmbeddings>) {
    let Some(folder) = std::env::var_os("PALAZZO_BEAM") else {
        println!("\nBEAM is skipped: set PALAZZO_BEAM to the path of chats/100K");
        return;
    };
    let chats = list_files(Path::new(&folder));
    for filing in Filing::ALL {
        let mut corpus = Corpus::default();
        for chat in chats.iter().filter(|it| it.is_dir()) {
            add_chat(chat, filing, &mut corpus);
        }
        let title = format!("BEAM, {}", filing.name());
        let scopes = [("in the chat", true), ("in all chats", false)];
        compare_methods(&title, &corpus, &scopes, embeddings.as_deref_mut());
    }
}

/// Adds the notes and the questions of one chat.
fn add_chat(folder: &Path, filing: Filing, corpus: &mut Corpus) {
    let batches: Vec<BatchRecord> = read_json(&folder.join("chat.json"));
    let wing = folder.file_name().expect("a chat is a folder").to_string_lossy().into_owned();
    let mut message_notes: HashMap<u64, usize> = HashMap::new();
    for (number, batch) in batches.iter().enumerate() {
        let messages: Vec<&MessageRecord> = batch.turns.iter().flatten().collect();
        let conversation = Conversation {
            wing: wing.clone(),
            room: format!("batch {}", number + 1),
            title: String::new(),
            written: messages.iter().find_map(|it| parse_day(it.time_anchor.as_deref()?)),
            messages: messages.iter().map(|it| to_message(it)).collect(),
        };
        let notes = conversation.add_notes(corpus, filing);
        message_notes.extend(messages.iter().map(|it| it.id).zip(notes));
    }
    let kinds: BTreeMap<String, Vec<QuestionRecord>> =
        read_json(&folder.join("probing_questions/probing_questions.json"));
    for (kind, records) in kinds {
        for record in records {
            let ids = collect_ids(&record.source_chat_ids);
            let mut answers: Vec<usize> =
                ids.iter().filter_map(|it| message_notes.get(it).copied()).collect();
            answers.sort_unstable();
            answers.dedup();
            if !answers.is_empty() {
                let (text, kind) = (record.question, kind.clone());
                corpus.questions.push(Question { text, kind, answers });
            }
        }
    }
}

/// Converts a message. Removes the number of the question (`->-> 1,2`) at its end, which belongs to
/// the making of the dataset.
fn to_message(record: &MessageRecord) -> Message {
    let text = record.content.rsplit_once("->->").map_or(record.content.as_str(), |it| it.0);
    Message { is_from_user: record.role == "user", text: text.trim_end().to_owned() }
}

/// Returns all numbers in a list, or in the lists of a map.
fn collect_ids(value: &Value) -> Vec<u64> {
    match value {
        Value::Array(values) => values.iter().flat_map(collect_ids).collect(),
        Value::Object(values) => values.values().flat_map(collect_ids).collect(),
        other => other.as_u64().into_iter().collect(),
    }
}

/// Parses `March-15-2024`.
fn parse_day(text: &str) -> Option<DateTime<Utc>> {
    let day = NaiveDate::parse_from_str(text, "%B-%d-%Y").ok()?;
    Some(day.and_time(NaiveTime::MIN).and_utc())
}

fn read_json<T: DeserializeOwned>(file: &Path) -> T {
    let reader = File::open(file).unwrap_or_else(|err| panic!("{}: {err}", file.display()));
    serde_json::from_reader(BufReader::new(reader))
        .unwrap_or_else(|err| panic!("{}: {err}", file.display()))
}
