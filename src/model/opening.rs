//! Things a visitor can open by number.

use crate::model::{RoomId, ScrollId};

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

/// What sort of thing an [`Opening`] opens.
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
