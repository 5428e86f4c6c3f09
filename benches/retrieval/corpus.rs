//! Notes, and questions with their answers.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use chrono::{DateTime, NaiveDate, NaiveTime, Utc};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// Notes, and questions that some of the notes answer.
#[derive(Default)]
pub(crate) struct Corpus {
    pub(crate) notes: Vec<Note>,
    pub(crate) questions: Vec<Question>,
}

/// A note in a wing and a room.
#[derive(Clone)]
pub(crate) struct Note {
    pub(crate) wing: String,
    pub(crate) room: String,
    pub(crate) title: String,
    pub(crate) written: Option<DateTime<Utc>>,
    pub(crate) text: String,
}

/// A question, and the numbers of the notes that answer it.
#[derive(Clone)]
pub(crate) struct Question {
    pub(crate) text: String,
    pub(crate) kind: String,
    pub(crate) answers: Vec<usize>,
}

/// Maps the id of each note to its number, which is its position in the corpus.
pub(crate) type NoteNumbers = HashMap<String, usize>;

#[derive(Deserialize)]
struct WingFile {
    wing: String,
    rooms: Vec<RoomRecord>,
}

#[derive(Deserialize)]
struct RoomRecord {
    room: String,
    notes: Vec<NoteRecord>,
}

#[derive(Deserialize)]
struct NoteRecord {
    id: String,
    title: String,
    date: String,
    text: String,
}

#[derive(Deserialize)]
struct QuestionRecord {
    question: String,
    kind: String,
    answers: Vec<String>,
}

impl Corpus {
    /// Reads all notes of the dataset, and one of its question sets: `tuning` or `test`.
    pub(crate) fn load(question_set: &str) -> Self {
        let (notes, numbers) = load_notes();
        let file = dataset_path(&format!("questions/{question_set}.yaml"));
        let records: Vec<QuestionRecord> = read_yaml(&file);
        let number = |id: &String| *numbers.get(id).unwrap_or_else(|| panic!("no note `{id}`"));
        let questions = records.into_iter().map(|it| Question {
            answers: it.answers.iter().map(number).collect(),
            text: it.question,
            kind: it.kind,
        });
        Self { questions: questions.collect(), notes }
    }

    /// Returns a copy with only the questions for which `predicate` returns true.
    pub(crate) fn filter_questions(&self, predicate: impl Fn(&Question) -> bool) -> Self {
        let questions = self.questions.iter().filter(|it| predicate(it)).cloned().collect();
        Self { notes: self.notes.clone(), questions }
    }

    /// Returns a copy with a text before and after every question.
    pub(crate) fn with_pasted_text(&self, before: &str, after: &str) -> Self {
        let mut corpus = Self { notes: self.notes.clone(), questions: self.questions.clone() };
        for question in &mut corpus.questions {
            question.text = format!("{before}{}{after}", question.text);
        }
        corpus
    }
}

/// Reads all notes of the dataset.
pub(crate) fn load_notes() -> (Vec<Note>, NoteNumbers) {
    let (mut notes, mut numbers) = (Vec::new(), NoteNumbers::new());
    for file in list_files(&dataset_path("notes")) {
        let file: WingFile = read_yaml(&file);
        for room in file.rooms {
            for note in room.notes {
                assert!(numbers.insert(note.id.clone(), notes.len()).is_none(), "{}", note.id);
                let date: NaiveDate = note.date.parse().expect("the date is like 2025-03-01");
                notes.push(Note {
                    wing: file.wing.clone(),
                    room: room.room.clone(),
                    title: note.title,
                    written: Some(date.and_time(NaiveTime::MIN).and_utc()),
                    text: note.text.trim_end().to_owned(),
                });
            }
        }
    }
    (notes, numbers)
}

/// Reads the system prompts that a client may paste before a question. Returns their names and
/// texts, the shortest first.
pub(crate) fn load_pasted_prompts() -> Vec<(String, String)> {
    let read_prompt = |file: PathBuf| {
        let name = file.file_stem().expect("the file has a name").to_string_lossy().into_owned();
        (name, fs::read_to_string(file).expect("the file is UTF-8"))
    };
    let files = list_files(&dataset_path("pasted_prompts"));
    let mut prompts: Vec<_> = files.into_iter().map(read_prompt).collect();
    prompts.sort_by_key(|(_, text)| text.len());
    prompts
}

/// Reads a YAML file.
pub(crate) fn read_yaml<T: DeserializeOwned>(file: &Path) -> T {
    let text = fs::read_to_string(file).unwrap_or_else(|err| panic!("{}: {err}", file.display()));
    serde_saphyr::from_str(&text).unwrap_or_else(|err| panic!("{}: {err}", file.display()))
}

/// Returns the path of a file or folder in the dataset.
pub(crate) fn dataset_path(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/retrieval/dataset").join(file)
}

/// Returns the paths of the files and folders in a folder, sorted.
pub(crate) fn list_files(folder: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).expect("the folder exists");
    let mut files: Vec<_> = files.map(|it| it.expect("the folder is readable").path()).collect();
    files.sort();
    files
}
