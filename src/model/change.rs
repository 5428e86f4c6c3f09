//! What is to become of a palace's files.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

/// The files of a palace: path inside the palace (`rooms/great-hall.yaml`, always
/// with `/`) and text.
///
/// The working directory, an old commit, a template and a test all look like
/// this, so one reader serves them all.
pub type Files = BTreeMap<String, String>;

/// The most bytes a file of a palace may have: more is neither read nor written.
pub const MAX_FILE_BYTES: usize = 1024 * 1024;

/// One change to a palace: made whole or not at all, and one commit.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// What happens to which file; each path at most once.
    pub edits: Vec<Edit>,
    /// The commit's first line: `room hall-of-geology: build`.
    pub subject: String,
    /// One line a person can read; may be empty.
    pub body: String,
    /// `Key: value` lines at the end of the message.
    pub trailers: Vec<(&'static str, String)>,
    /// Who made the change.
    pub author: Author,
    /// When, for the commit's dates.
    pub at: DateTime<Utc>,
    /// Whether to commit; else the files are written and git is left alone.
    pub commit: bool,
}

impl Change {
    /// Returns a change that is written and left to the person to commit.
    pub fn uncommitted(subject: &str, edits: Vec<Edit>, author: Author, at: DateTime<Utc>) -> Self {
        let (subject, body, trailers) = (subject.to_owned(), String::new(), Vec::new());
        Self { edits, subject, body, trailers, author, at, commit: false }
    }
}

/// Who makes a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Author {
    /// A client, by the name it gives.
    Client(String),
    /// The person whose machine this is: by the name git knows them by, else by
    /// this one.
    Person(String),
}

/// What happens to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The path inside the palace.
    pub path: String,
    /// What the file is believed to hold; `None`: it is believed not to exist.
    pub was: Option<String>,
    /// What it shall hold; `None`: it shall not exist.
    pub now: Option<String>,
}
