//! Notes and questions, from any source.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use chrono::{DateTime, NaiveDate, NaiveTime, Utc};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// Notes, and questions that some of them answer.
#[derive(Default)]
pub(crate) struct Corpus {
    pub(crate) notes: Vec<Note>,
    pub(crate) questions: Vec<Question>,
}

/// A note, filed in a wing and a room.
#[derive(Clone)]
pub(crate) struct Note {
    pub(crate) wing: String,
    pub(crate) room: String,
    pub(crate) title: String,
    pub(crate) written: Option<DateTime<Utc>>,
    pub(crate) text: String,
}

/// A question, with the numbers of the notes that answer it.
#[derive(Clone)]
pub(crate) struct Question {
    pub(crate) ask: String,
    pub(crate) kind: String,
    pub(crate) answers: Vec<usize>,
}

/// Maps each note's id to its position in the corpus.
pub(crate) type NoteNumbers = HashMap<String, usize>;

#[derive(Deserialize)]
struct WingFile {
    wing: String,
    rooms: Vec<RoomInFile>,
}

#[derive(Deserialize)]
struct RoomInFile {
    room: String,
    notes: Vec<NoteInFile>,
}

#[derive(Deserialize)]
struct NoteInFile {
    id: String,
    title: String,
    date: String,
    text: String,
}

#[derive(Deserialize)]
struct QuestionInFile {
    ask: String,
    kind: String,
    answers: Vec<String>,
}

impl Corpus {
    /// Reads the notes of our own set, and the questions of one half of it.
    pub(crate) fn load_half(half: &str) -> Self {
        let (notes, numbers) = load_notes();
        let asked: Vec<QuestionInFile> = read_yaml(&set_path(&format!("questions/{half}.yaml")));
        let number = |id: &String| *numbers.get(id).unwrap_or_else(|| panic!("no note `{id}`"));
        let questions = asked.into_iter().map(|it| Question {
            answers: it.answers.iter().map(number).collect(),
            ask: it.ask,
            kind: it.kind,
        });
        Self { questions: questions.collect(), notes }
    }

    /// Keeps only the first questions.
    pub(crate) fn filter_questions(&self, wanted: impl Fn(&Question) -> bool) -> Self {
        let questions = self.questions.iter().filter(|it| wanted(it)).cloned().collect();
        Self { notes: self.notes.clone(), questions }
    }

    /// Adds a text before and after every question.
    pub(crate) fn with_pasted_text(&self, before: &str, behind: &str) -> Self {
        let mut corpus = Self { notes: self.notes.clone(), questions: self.questions.clone() };
        for question in &mut corpus.questions {
            question.ask = format!("{before}{}{behind}", question.ask);
        }
        corpus
    }
}

/// Reads the notes of our own set.
pub(crate) fn load_notes() -> (Vec<Note>, NoteNumbers) {
    let (mut notes, mut numbers) = (Vec::new(), NoteNumbers::new());
    for file in list_files(&set_path("notes")) {
        let file: WingFile = read_yaml(&file);
        for room in file.rooms {
            for note in room.notes {
                assert!(numbers.insert(note.id.clone(), notes.len()).is_none(), "{}", note.id);
                let date: NaiveDate = note.date.parse().expect("a date as in 2025-03-01");
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

/// Returns the texts that a user may paste before a question, by name.
pub(crate) fn load_prompts() -> Vec<(String, String)> {
    let named = |file: PathBuf| {
        let name = file.file_stem().expect("it has a name").to_string_lossy().into_owned();
        (name, fs::read_to_string(file).expect("it is text"))
    };
    let mut prompts: Vec<_> = list_files(&set_path("pasted")).into_iter().map(named).collect();
    prompts.sort_by_key(|(_, text)| text.len());
    prompts
}

/// Reads a YAML file of the set.
pub(crate) fn read_yaml<T: DeserializeOwned>(file: &Path) -> T {
    let text = fs::read_to_string(file).unwrap_or_else(|err| panic!("{}: {err}", file.display()));
    serde_saphyr::from_str(&text).unwrap_or_else(|err| panic!("{}: {err}", file.display()))
}

/// Returns the path of a file in the set.
pub(crate) fn set_path(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/retrieval/set").join(file)
}

fn list_files(folder: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).expect("the folder is there");
    let mut files: Vec<_> = files.map(|it| it.expect("it can be listed").path()).collect();
    files.sort();
    files
}
