//! What git knows of a palace's past.

pub(crate) mod item_diff;
use std::collections::BTreeMap;
use std::fmt;

use chrono::{DateTime, Utc};

/// A commit's name: the hexadecimal digits of its hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitId(pub String);

/// The past of each file of a palace that git has seen, by path inside the palace.
pub type FileHistories = BTreeMap<String, FileHistory>;

/// The past of one file (v2 section 3.9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileHistory {
    /// How many commits changed it; 1 is the first.
    pub count: u32,
    /// When the first of them was made.
    pub created: DateTime<Utc>,
    /// When the last of them was made.
    pub updated: DateTime<Utc>,
}

/// One commit, in a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitSummary {
    /// Its whole name.
    pub id: CommitId,
    /// The beginning of its name, as long as it must be to tell it from all others.
    pub short: String,
    /// The first line of its message.
    pub subject: String,
    /// Who made it.
    pub by: String,
    /// When.
    pub at: DateTime<Utc>,
}

/// One commit, and what it did to the palace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitDetails {
    /// The commit.
    pub summary: CommitSummary,
    /// The commit it was made upon, the first if it merges several; `None`: it has none.
    pub parent: Option<CommitId>,
    /// Its message below the first line.
    pub body: String,
    /// The `Key: value` lines at the end of its message.
    pub trailers: Vec<(String, String)>,
    /// The files of the palace it changed, as paths inside the palace.
    pub changed_files: Vec<String>,
    /// What the file was called then whose past was asked for, if it was one alone.
    pub path_at_commit: Option<String>,
}

/// A line of a file, and the commit it came with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlamedLine {
    /// The line, without its end.
    pub text: String,
    /// The commit; `None`: nobody has committed the line yet.
    pub commit: Option<CommitSummary>,
}

/// A file that two states of a palace do not hold alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileDiff {
    /// Its path inside the palace.
    pub path: String,
    /// What it held in the earlier state.
    pub was: FileContent,
    /// What it holds in the later.
    pub now: FileContent,
}

/// What a file holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileContent {
    /// Nothing: it is not there.
    Missing,
    /// A text.
    Text(String),
    /// Something that is no text, too large, or no file: why it cannot be read.
    Unreadable(String),
}

impl CommitDetails {
    /// Returns the value of the last trailer of that key.
    pub fn trailer(&self, key: &str) -> Option<&str> {
        let same = |it: &&(String, String)| it.0.eq_ignore_ascii_case(key);
        self.trailers.iter().rev().find(same).map(|it| it.1.as_str())
    }
}

impl FileContent {
    /// Returns the text, if it is one.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Missing | Self::Unreadable(_) => None,
        }
    }
}

impl fmt::Display for CommitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
