//! The git history of a palace.

pub(crate) mod item_diff;
pub(crate) mod visit;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::num::NonZeroU32;

use chrono::serde::ts_seconds;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use ulid::Ulid;

/// A commit id: the hexadecimal digits of its hash.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CommitId(pub String);

/// The history of each file of a palace in git, by path inside the palace.
pub type FileHistories = BTreeMap<String, FileHistory>;

/// When each room came into the palace, by the room's id: a room with a higher number came later.
/// A room of another machine, which may be older, comes when it is synchronized.
pub type RoomArrivalOrder = HashMap<Ulid, usize>;

/// The history of one file (v2 section 3.9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileHistory {
    /// The number of commits that changed it; 1 after the first.
    pub count: u32,
    /// The time of the first commit.
    #[serde(with = "ts_seconds")]
    pub created: DateTime<Utc>,
    /// The time of the last commit.
    #[serde(with = "ts_seconds")]
    pub updated: DateTime<Utc>,
    /// The number of the first commit, in the cache of file histories.
    pub first_commit: u32,
    /// The number of the last commit there.
    pub last_commit: u32,
    /// The numbers of the last commits there, the newest first.
    pub recent: RecentCommits,
}

/// The numbers of the last few commits that changed a file, the newest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<u32>", into = "Vec<u32>")]
pub struct RecentCommits([Option<NonZeroU32>; 12]);

impl RecentCommits {
    /// Takes the first of these numbers, as many as are kept.
    pub fn from_newest(numbers: impl IntoIterator<Item = u32>) -> Self {
        let mut recent = Self::default();
        // Each place has the number plus one: then an empty one takes no more memory.
        for (place, number) in recent.0.iter_mut().zip(numbers) {
            *place = NonZeroU32::new(number.saturating_add(1));
        }
        recent
    }

    /// Yields the numbers, the newest first.
    pub fn numbers(self) -> impl Iterator<Item = u32> {
        self.0.into_iter().flatten().map(|it| it.get() - 1)
    }
}

impl From<Vec<u32>> for RecentCommits {
    fn from(numbers: Vec<u32>) -> Self {
        Self::from_newest(numbers)
    }
}

impl From<RecentCommits> for Vec<u32> {
    fn from(recent: RecentCommits) -> Self {
        recent.numbers().collect()
    }
}

/// Why what was written about a file may be out of date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StaleReason {
    /// The file does not exist any more.
    Gone,
    /// At least half of its lines are gone or changed.
    ChangedMuch,
}

/// The commit in which a file first appeared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileCommit {
    /// The commit.
    pub commit: CommitId,
    /// Its author.
    pub by: String,
    /// The tool or command that made it; `None`: git or another program.
    pub tool: Option<String>,
    /// Whether it is a merge, and says that a synchronization made it.
    pub is_merge_by_sync: bool,
}

/// A one-line summary of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitSummary {
    /// The full id.
    pub id: CommitId,
    /// The shortest unique prefix of the id.
    pub short: String,
    /// The first line of its message.
    pub subject: String,
    /// The author.
    pub by: String,
    /// The time.
    pub at: DateTime<Utc>,
}

/// A commit with its message and changed files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitDetails {
    /// The commit.
    pub summary: CommitSummary,
    /// The parent commit, the first one for a merge; `None` for a root commit.
    pub parent: Option<CommitId>,
    /// Whether it has several parents.
    pub is_merge: bool,
    /// The message without its first line.
    pub body: String,
    /// The `Key: value` lines at the end of the message.
    pub trailers: Vec<(String, String)>,
    /// The files of the palace that it changed, as paths inside the palace.
    pub changed_files: Vec<String>,
    /// Whether its author is an MCP client.
    pub is_by_client: bool,
    /// The path of the file at this commit, if the history of a single file was requested.
    pub path_at_commit: Option<String>,
}

/// A line of a file with the commit that introduced it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlamedLine {
    /// The line, without its line break.
    pub text: String,
    /// The commit; `None` for an uncommitted line.
    pub commit: Option<CommitSummary>,
}

/// A file that differs between two states of a palace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileDiff {
    /// The path inside the palace.
    pub path: String,
    /// The content in the earlier state.
    pub was: FileContent,
    /// The content in the later state.
    pub now: FileContent,
}

/// The content of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileContent {
    /// The file does not exist.
    Missing,
    /// A text.
    Text(String),
    /// Not a text, too large, or not a file; with the reason.
    Unreadable(String),
}

impl CommitDetails {
    /// Returns the value of the last trailer with this key.
    pub fn trailer(&self, key: &str) -> Option<&str> {
        self.trailers_with_key(key).next_back()
    }

    /// Yields the values of all trailers with this key.
    pub fn trailers_with_key(&self, key: &str) -> impl DoubleEndedIterator<Item = &str> {
        let same = move |it: &&(String, String)| it.0.eq_ignore_ascii_case(key);
        self.trailers.iter().filter(same).map(|it| it.1.as_str())
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
