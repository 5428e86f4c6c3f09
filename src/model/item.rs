//! Things a visitor can open by number.

use std::fmt;
use std::str::FromStr;

use crate::model::{RoomId, ScrollId, did_you_mean};

/// One thing that a search or a query found: it can be opened by its number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Opening {
    /// A room, to go to.
    Room(RoomId),
    /// A scroll, to read.
    Scroll(ScrollId),
    /// A drawer, to open; by its file.
    Drawer(String),
    /// An entry of a diary, to read; by its file.
    Diary(String),
    /// A task, to look at; by its file.
    Task(String),
    /// A process, to look at; by its file.
    Process(String),
    /// What is laid down for a genus, to look up; by name.
    Genus(String),
    /// An entity, to examine; by name.
    Entity(String),
}

/// What sort of thing an [`BackgroundOpen`] opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sort {
    /// A room.
    Room,
    /// A scroll.
    Scroll,
    /// A drawer.
    Drawer,
    /// An entry of a diary.
    Diary,
    /// A task.
    Task,
    /// A process.
    Process,
    /// What is laid down for a genus.
    Genus,
    /// An entity.
    Entity,
}

impl Sort {
    /// All sorts.
    pub const ALL: [Self; 8] = [
        Self::Room,
        Self::Scroll,
        Self::Drawer,
        Self::Diary,
        Self::Task,
        Self::Process,
        Self::Genus,
        Self::Entity,
    ];

    /// Returns the word it goes by.
    fn name(self) -> &'static str {
        match self {
            Self::Room => "room",
            Self::Scroll => "scroll",
            Self::Drawer => "drawer",
            Self::Diary => "diary",
            Self::Task => "task",
            Self::Process => "process",
            Self::Genus => "genus",
            Self::Entity => "entity",
        }
    }
}

impl fmt::Display for Sort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Sort {
    type Err = SortError;

    fn from_str(text: &str) -> Result<Self, SortError> {
        let found = Self::ALL.into_iter().find(|it| it.name() == text);
        found.ok_or_else(|| SortError { text: text.to_owned() })
    }
}

/// Why a text names no sort of things.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no kind `{}`{}", text.escape_debug(), known(text))]
pub struct SortError {
    text: String,
}

/// Says what there is instead.
fn known(text: &str) -> String {
    let names = Sort::ALL.map(Sort::name);
    match did_you_mean(text, names) {
        Some(meant) => format!("; did you mean `{meant}`?"),
        None => format!("; there are {}", names.join(", ")),
    }
}

impl Opening {
    /// Returns what sort of thing it opens.
    pub fn sort(&self) -> Sort {
        match self {
            Self::Room(_) => Sort::Room,
            Self::Scroll(_) => Sort::Scroll,
            Self::Drawer(_) => Sort::Drawer,
            Self::Diary(_) => Sort::Diary,
            Self::Task(_) => Sort::Task,
            Self::Process(_) => Sort::Process,
            Self::Genus(_) => Sort::Genus,
            Self::Entity(_) => Sort::Entity,
        }
    }
}
