//! Differences between two states of a palace, by room, scroll, entity and other items.

use chrono::{DateTime, Utc};

use crate::model::{Action, DiffLine, Palace, Relation, RoomId, ScrollId};

/// One item that differs, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemDiff {
    /// The item, as of the later state if it is in both.
    pub item: PalaceItem,
    /// Its files inside the palace: one, or the earlier and the later one if it was moved.
    pub files: Vec<String>,
    /// The change.
    pub change: ChangeKind,
}

/// An item of a palace that has a file of its own.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PalaceItem {
    /// `palace.toml`.
    Settings,
    /// A room.
    Room(RoomId),
    /// A scroll.
    Scroll {
        /// Its room and its id.
        which: ScrollId,
        /// Its title.
        title: String,
    },
    /// An entity, by name.
    Entity(String),
    /// An item that is identified by its file.
    ByFile {
        /// The kind of the item.
        what: FileItemKind,
        /// The path of its file, inside the palace.
        path: String,
        /// Its title or name, if its file can be read.
        title: Option<String>,
    },
    /// Any other file, or one that cannot be parsed, by its path inside the palace.
    File(String),
}

/// The kind of an item that is identified by its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileItemKind {
    /// A genus definition.
    Genus,
    /// A task.
    Task,
    /// A process.
    Process,
    /// A drawer.
    Drawer,
    /// A diary entry.
    DiaryEntry,
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
        text: String,
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

impl FileItemKind {
    /// All kinds.
    pub const ALL: [Self; 5] =
        [Self::Genus, Self::Task, Self::Process, Self::Drawer, Self::DiaryEntry];
}

impl PalaceItem {
    /// Returns the item of a kind in the file at `path`, with its title; `None` if the palace has
    /// none there.
    pub fn in_file(palace: &Palace, what: FileItemKind, path: &str) -> Option<Self> {
        let title = match what {
            FileItemKind::Genus => palace.graph.genus_definition_in_file(path)?.name.clone(),
            FileItemKind::Task => palace.tasks.get(path)?.title.clone(),
            FileItemKind::Process => palace.processes.get(path)?.name.clone(),
            FileItemKind::Drawer => {
                let lines = palace.drawers.drawer_in_file(path)?.text.lines();
                let mut titles = lines.filter(|it| it.chars().any(char::is_alphanumeric));
                titles.next().unwrap_or_default().to_owned()
            }
            FileItemKind::DiaryEntry => palace.diaries.entry_in_file(path)?.topic.clone(),
        };
        Some(Self::ByFile { what, path: path.to_owned(), title: Some(title) })
    }
}
