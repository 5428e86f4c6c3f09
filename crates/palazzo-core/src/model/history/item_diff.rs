//! Differences between two states of a palace, by room, scroll, entity and other items.

use chrono::{DateTime, Utc};

use crate::model::{Action, ItemId, ItemKind, Palace, Relation, RoomId};

/// One item that differs, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemDiff {
    /// The item, as of the later state if it is in both.
    pub item: ItemOrFile,
    /// Its files inside the palace: one, or the earlier and the later one if it was moved.
    pub files: Vec<String>,
    /// The change.
    pub change: ChangeKind,
}

/// An item of a palace, or another of its files, in a list of differences.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ItemOrFile {
    /// `palace.toml`.
    Settings,
    /// An item.
    Item {
        /// Which item.
        id: ItemId,
        /// Its title, if it has one besides its id, and its file can be read.
        title: Option<String>,
    },
    /// Any other file, or one that cannot be parsed, by its path inside the palace.
    File(String),
}

/// The change of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// It was added, with this content.
    Added(Vec<ChangeDetail>),
    /// It was removed, with this content.
    Removed(Vec<ChangeDetail>),
    /// It was changed. Without details only its form changed: comments, blank lines, the order of
    /// keys.
    Changed(Vec<ChangeDetail>),
}

/// One change within an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeDetail {
    /// It was moved to another room or wing.
    Moved {
        /// The previous place.
        from: RoomId,
    },
    /// It was renamed.
    Renamed {
        /// The previous name.
        from: String,
        /// The new name.
        to: String,
    },
    /// A new scroll replaces an older one: the changes below are those since then.
    Replaces {
        /// The title of the older scroll.
        title: String,
        /// When the older scroll was written.
        written: DateTime<Utc>,
    },
    /// Lines of a text were changed.
    TextChanged {
        /// The name of the text: `description`; empty for the whole text.
        of: String,
        /// The number of lines that differ.
        count: usize,
        /// The difference.
        lines: Vec<DiffLine>,
    },
    /// A value was changed.
    ValueChanged {
        /// The name of the value: `status`.
        of: String,
        /// The previous value, if any.
        was: Option<String>,
        /// The new value, if any.
        now: Option<String>,
    },
    /// A part was added.
    PartAdded(ItemElement),
    /// A part was removed.
    PartRemoved(ItemElement),
    /// A part was changed.
    PartChanged {
        /// The previous part.
        was: ItemElement,
        /// The new part.
        now: ItemElement,
    },
    /// The dates or the source of a relation were changed.
    RelationChanged {
        /// The previous relation.
        was: Relation,
        /// The new relation.
        now: Relation,
    },
    /// The parts of one kind were reordered.
    PartsReordered(&'static str),
    /// The item cannot be parsed.
    Unreadable {
        /// Whether this is the earlier state.
        before: bool,
        /// The reason.
        why: String,
    },
}

/// An element of one of the lists of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ItemElement {
    /// An action.
    Action(Action),
    /// A door, by the room it leads to.
    Portal(String),
    /// An observation.
    Observation(String),
    /// A relation.
    Relation(Relation),
    /// A step of a process.
    Step(String),
}

impl ItemOrFile {
    /// Returns an item with the title that it has in a palace.
    pub fn with_title(palace: &Palace, id: ItemId) -> Self {
        let title = palace.title_of_item(&id);
        Self::Item { id, title }
    }

    /// Returns the item, unless it is another file.
    pub fn id(&self) -> Option<&ItemId> {
        match self {
            Self::Item { id, .. } => Some(id),
            Self::Settings | Self::File(_) => None,
        }
    }

    /// Returns what lists of differences are sorted by: the kind, then the name or the file.
    pub fn sort_key(&self) -> (usize, Option<&ItemId>, &str) {
        use ItemKind::{Diary, Drawer, Entity, Genus, Process, Room, Scroll, Task};
        const KINDS: [ItemKind; 8] = [Room, Scroll, Entity, Genus, Task, Process, Drawer, Diary];
        match self {
            Self::Settings => (0, None, ""),
            Self::Item { id, title } => {
                let place = KINDS.iter().position(|it| *it == id.kind()).unwrap_or_default();
                (1 + place, Some(id), title.as_deref().unwrap_or_default())
            }
            Self::File(path) => (1 + KINDS.len(), None, path),
        }
    }
}

/// A part of the difference between two versions of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiffLine {
    /// A line that is in both.
    Kept(String),
    /// A line of the earlier version only.
    Removed(String),
    /// A line of the later version only.
    Added(String),
    /// A line of which some words were changed.
    Changed(Vec<DiffWords>),
    /// Some lines that are in both and are left out.
    Omitted(usize),
}

/// Some words of a changed line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiffWords {
    /// Words that are in both versions.
    Kept(String),
    /// Words of the earlier version only.
    Removed(String),
    /// Words of the later version only.
    Added(String),
}
