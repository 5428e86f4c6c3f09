//! Changes to the files of a palace.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

/// The files of a palace: each path inside the palace (`rooms/great-hall.yaml`, always with `/`)
/// and its text.
///
/// The working directory, an old commit, a template and a test all have this form, so one parser
/// serves them all.
pub type Files = BTreeMap<String, String>;

/// Maximum size of a file of a palace; larger files are neither read nor written.
pub const MAX_FILE_BYTES: usize = 1024 * 1024;

/// Returns the maximum size of the file at a path of a palace. The file of a conflict may hold two
/// values, each as long as the file that it comes from, and indented deeper.
pub fn max_file_bytes(path: &str) -> usize {
    if path.starts_with("conflicts/") { 4 * MAX_FILE_BYTES } else { MAX_FILE_BYTES }
}

/// One change to a palace: applied as a whole or not at all, as one commit.
#[derive(Clone, Debug, PartialEq)]
pub struct Changeset {
    /// The edits, at most one for each path.
    pub edits: Vec<FileEdit>,
    /// Whether files are executable after the change, by path. Others keep their mode, also when
    /// they move.
    pub executable: BTreeMap<String, bool>,
    /// The commit's first line: `room hall-of-geology: build`.
    pub subject: String,
    /// One line for human readers; may be empty.
    pub body: String,
    /// `Key: value` lines at the end of the message.
    pub trailers: Vec<(&'static str, String)>,
    /// Who made the change.
    pub author: Author,
    /// The time of the change, for the commit's dates.
    pub at: DateTime<Utc>,
    /// Whether to commit; if false, the files are written and git is not called.
    pub commit: bool,
}

impl Changeset {
    /// Returns a change that is written but not committed; the user commits it.
    pub fn without_commit(
        subject: &str,
        edits: Vec<FileEdit>,
        author: Author,
        at: DateTime<Utc>,
    ) -> Self {
        let (subject, body, trailers) = (subject.to_owned(), String::new(), Vec::new());
        let executable = BTreeMap::new();
        Self { edits, executable, subject, body, trailers, author, at, commit: false }
    }
}

/// The author of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Author {
    /// A client, by the name it gives.
    Client(String),
    /// The user of this machine: by the name in the git configuration, else by this name.
    Person(String),
}

impl Author {
    /// How the email addresses of clients end. The domain is reserved: it belongs to nobody.
    pub const CLIENT_EMAIL_DOMAIN: &str = "@palazzo.invalid";
    /// The email address of the author of merges, which are of no client.
    pub const SYNC_EMAIL: &str = "sync@palazzo.invalid";

    /// Returns whether an email address is one of a client.
    pub fn is_client_email(email: &str) -> bool {
        email.ends_with(Self::CLIENT_EMAIL_DOMAIN) && email != Self::SYNC_EMAIL
    }
}

/// A change to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEdit {
    /// The path inside the palace.
    pub path: String,
    /// The content that the file is expected to have; `None` if it must not exist.
    pub was: Option<String>,
    /// The new content; `None` to delete the file.
    pub now: Option<String>,
}
