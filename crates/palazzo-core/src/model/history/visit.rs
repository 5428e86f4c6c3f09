//! Visits, and the changes that each has made. A visit is one conversation of an MCP client.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use ulid::Ulid;

use crate::model::{CommitDetails, CommitId, ItemDiff, ItemElement, ItemOrFile};

/// The commits of one visit: one conversation of an MCP client.
#[derive(Clone, Debug)]
pub struct RecordedVisit {
    /// The id.
    pub id: Ulid,
    /// The name of the client.
    pub client: String,
    /// The commits that changed the palace, newest first.
    pub commits: Vec<CommitDetails>,
    /// How many of them can be undone and are not: the one that created the palace cannot.
    pub undoable: usize,
    /// Those of them that are undone.
    pub undone: BTreeSet<CommitId>,
    /// The files that are left of those that are undone in part.
    pub files_left: BTreeMap<CommitId, Vec<String>>,
    /// Only in the record of an undo: what it undid, such as `visit 7yf03t`.
    pub undoes: Option<String>,
}

/// How much of a commit or visit is undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UndoneAmount {
    /// Nothing.
    Nothing,
    /// Some of its commits or files.
    Part,
    /// All of it.
    Whole,
}

impl UndoneAmount {
    /// Returns the word for lists; `None` if nothing is undone.
    pub fn word(self) -> Option<&'static str> {
        match self {
            Self::Nothing => None,
            Self::Part => Some("partly undone"),
            Self::Whole => Some("undone"),
        }
    }
}

/// A visit, and what it changed.
#[derive(Clone, Debug)]
pub struct VisitDetails {
    /// The visit.
    pub visit: RecordedVisit,
    /// What it changed in each item.
    pub items: Vec<ItemDiff>,
    /// The fields that it changed more than once; empty if the caller did not ask for them.
    pub repeated: Vec<RepeatedChanges>,
    /// The last hand-over that it wrote.
    pub hand_over: Option<HandOver>,
}

/// The fields of one item that a visit changed more than once, with each step; a diff shows only the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepeatedChanges {
    /// The item.
    pub item: ItemOrFile,
    /// The changes, each with its steps.
    pub changes: Vec<ChangeSteps>,
}

/// The steps of one change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeSteps {
    /// Whether the item was there, after each change.
    Presence(Vec<bool>),
    /// A value: before the visit, and after each change.
    Value {
        /// The name of the value: `status`.
        of: String,
        /// The values.
        states: Vec<Option<String>>,
    },
    /// A part: before the visit, and after each change; `None` where it was missing.
    Part(Vec<Option<ItemElement>>),
    /// A text.
    Text {
        /// The name of the text: `description`; empty for the whole text.
        of: String,
        /// The number of versions that the visit wrote.
        versions: usize,
    },
}

/// What a visit left for the next one: a scroll of that time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandOver {
    /// The title.
    pub title: String,
    /// The text, in Markdown.
    pub text: String,
}

impl RecordedVisit {
    /// The length of a short id: the last characters of the id. They are random, while the first
    /// ones are the time.
    pub const SHORT_ID_LENGTH: usize = 6;

    /// Returns the id by which commands and lists name the visit, in lower case.
    pub fn short_id(&self) -> String {
        Self::shorten_id(self.id)
    }

    /// Returns the short form of the id of a visit.
    pub fn shorten_id(id: Ulid) -> String {
        let id = id.to_string().to_lowercase();
        id[id.len() - Self::SHORT_ID_LENGTH..].to_owned()
    }

    /// Returns whether it was undone.
    pub fn is_undone(&self) -> bool {
        self.undoable == 0 && !self.undone.is_empty()
    }

    /// Returns whether it was undone in part.
    pub fn is_partly_undone(&self) -> bool {
        self.undoable > 0 && !(self.undone.is_empty() && self.files_left.is_empty())
    }

    /// Returns how much of it is undone.
    pub fn undone_amount(&self) -> UndoneAmount {
        match (self.is_undone(), self.is_partly_undone()) {
            (true, _) => UndoneAmount::Whole,
            (_, true) => UndoneAmount::Part,
            _ => UndoneAmount::Nothing,
        }
    }

    /// Returns the commits that say what the visit changed: those that are not undone, with the
    /// files that are not, or all if the whole visit is undone.
    pub fn commits_to_describe(&self) -> Vec<CommitDetails> {
        if self.is_undone() {
            return self.commits.clone();
        }
        let left = self.commits.iter().filter(|it| !self.undone.contains(&it.summary.id));
        let mut left: Vec<_> = left.cloned().collect();
        for commit in &mut left {
            if let Some(files) = self.files_left.get(&commit.summary.id) {
                commit.changed_files.clone_from(files);
            }
        }
        left
    }

    /// Returns the time of the first change.
    pub fn began(&self) -> DateTime<Utc> {
        self.commits.iter().map(|it| it.summary.at).min().unwrap_or_default()
    }

    /// Returns the time of the last change.
    pub fn ended(&self) -> DateTime<Utc> {
        self.commits.iter().map(|it| it.summary.at).max().unwrap_or_default()
    }
}

impl HandOver {
    /// Returns the first line of the text that says something, without the marks of a heading.
    pub fn first_line(&self) -> &str {
        let mut lines = self.text.lines().map(|it| it.trim_start_matches('#').trim());
        lines.find(|it| it.contains(char::is_alphanumeric)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_id_is_the_random_end_of_the_id() {
        let id = "01KJMM4N00F2JXHH4DQ7YF03TN".parse().unwrap();
        assert_eq!(RecordedVisit::shorten_id(id), "yf03tn");
    }

    #[test]
    fn the_first_line_of_a_hand_over_is_no_rule_and_has_no_marks() {
        let first = |text: &str| {
            let it = HandOver { title: String::new(), text: text.to_owned() };
            it.first_line().to_owned()
        };
        assert_eq!(
            first("\n---\n## Where we stopped\n\nThe parser is done.\n"),
            "Where we stopped"
        );
        assert_eq!(first("Green."), "Green.");
        assert_eq!(first("\n"), "");
    }
}
