//! The identities of items, wherever one is named: in lists, in search, in the history, in links.

use std::fmt;
use std::str::FromStr;

use crate::model::{RoomId, ScrollId, did_you_mean, quoted};

/// An item of a palace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ItemId {
    /// A room, to go to.
    Room(RoomId),
    /// A scroll, to read.
    Scroll(ScrollId),
    /// A drawer, to open; by its file.
    Drawer(String),
    /// A diary entry, to read; by its file.
    Diary(String),
    /// A task, to look at; by its file.
    Task(String),
    /// A process, to look at; by its file.
    Process(String),
    /// A genus definition, to look up; by name.
    Genus(String),
    /// An entity, to examine; by name.
    Entity(String),
}

/// The kind of an [`ItemId`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ItemKind {
    /// A room.
    Room,
    /// A scroll.
    Scroll,
    /// A drawer.
    Drawer,
    /// A diary entry.
    Diary,
    /// A task.
    Task,
    /// A process.
    Process,
    /// A genus definition.
    Genus,
    /// An entity.
    Entity,
}

impl ItemKind {
    /// All kinds.
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

    /// Returns the name of the kind.
    pub fn name(self) -> &'static str {
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

impl fmt::Display for ItemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for ItemKind {
    type Err = ItemKindError;

    fn from_str(text: &str) -> Result<Self, ItemKindError> {
        let found = Self::ALL.into_iter().find(|it| it.name() == text);
        found.ok_or_else(|| ItemKindError { text: text.to_owned() })
    }
}

/// The error for a text that is not the name of a kind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no kind {}{}", quoted(text), suggest_kinds(text))]
pub struct ItemKindError {
    text: String,
}

/// Returns a hint with the right kind, or with all kinds.
fn suggest_kinds(text: &str) -> String {
    let names = ItemKind::ALL.map(ItemKind::name);
    match did_you_mean(text, names) {
        Some(meant) => format!("; did you mean {}?", quoted(meant)),
        None => format!("; there are {}", names.join(", ")),
    }
}

impl ItemId {
    /// Returns the kind of the item.
    pub fn kind(&self) -> ItemKind {
        match self {
            Self::Room(_) => ItemKind::Room,
            Self::Scroll(_) => ItemKind::Scroll,
            Self::Drawer(_) => ItemKind::Drawer,
            Self::Diary(_) => ItemKind::Diary,
            Self::Task(_) => ItemKind::Task,
            Self::Process(_) => ItemKind::Process,
            Self::Genus(_) => ItemKind::Genus,
            Self::Entity(_) => ItemKind::Entity,
        }
    }
}
