//! The kinds of files of a palace.

use std::fmt;
use std::str::FromStr;

use crate::model::{did_you_mean, quoted};

/// The folders whose files belong to a palace.
pub const PALACE_FOLDERS: [&str; 9] = [
    "rooms",
    "scrolls",
    "entities",
    "genera",
    "drawers",
    "diary",
    "tasks",
    "processes",
    "conflicts",
];

/// The kind of a file of a palace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileKind {
    /// `palace.toml`.
    Palace,
    /// A room.
    Room,
    /// An entity.
    Entity,
    /// A genus definition.
    Genus,
    /// A task.
    Task,
    /// A process.
    Process,
    /// A conflict: two values for one field.
    Conflict,
    /// The front matter of a scroll.
    Scroll,
    /// The front matter of a drawer.
    Drawer,
    /// The front matter of a diary entry.
    Diary,
}

impl FileKind {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Palace,
        Self::Room,
        Self::Entity,
        Self::Genus,
        Self::Task,
        Self::Process,
        Self::Conflict,
        Self::Scroll,
        Self::Drawer,
        Self::Diary,
    ];

    /// Returns the name of the kind: `room`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Palace => "palace",
            Self::Room => "room",
            Self::Entity => "entity",
            Self::Genus => "genus",
            Self::Task => "task",
            Self::Process => "process",
            Self::Conflict => "conflict",
            Self::Scroll => "scroll",
            Self::Drawer => "drawer",
            Self::Diary => "diary",
        }
    }

    /// Returns where such files are in a palace, for display: `rooms/SLUG.yaml`.
    pub fn path_pattern(self) -> &'static str {
        match self {
            Self::Palace => "palace.toml",
            Self::Room => "rooms/SLUG.yaml, rooms/WING/SLUG.yaml",
            Self::Entity => "entities/GENUS/NAME.yaml",
            Self::Genus => "genera/NAME.yaml",
            Self::Task => "tasks/ID.yaml",
            Self::Process => "processes/ID.yaml",
            Self::Conflict => "conflicts/HASH.yaml",
            Self::Scroll => "scrolls/ROOM/ID-TITLE.md (front matter)",
            Self::Drawer => "drawers/WING/ROOM/ID-WORDS.md (front matter)",
            Self::Diary => "diary/AGENT/ID-TOPIC.md (front matter)",
        }
    }
}

impl FromStr for FileKind {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        if let Some(kind) = Self::ALL.into_iter().find(|it| it.name() == word) {
            return Ok(kind);
        }
        let words = Self::ALL.map(Self::name);
        let hint = match did_you_mean(word, words) {
            Some(meant) => format!("did you mean {}?", quoted(meant)),
            None => format!("there are {}", words.join(", ")),
        };
        Err(format!("no kind of file is called {}; {hint}", quoted(word)))
    }
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
