//! What differs between two states of a palace, in the palace's own terms.

use crate::model::{Relation, RoomId, ScrollId};

/// One thing that differs, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemDiff {
    /// What differs: in the later state, where it is in both.
    pub item: PalaceItem,
    /// What became of it.
    pub change: ChangeKind,
}

/// One thing of a palace that has a file of its own.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PalaceItem {
    /// What `palace.toml` says.
    Settings,
    /// A room.
    Room(RoomId),
    /// A scroll.
    Scroll {
        /// Where it hangs, and which it is.
        which: ScrollId,
        /// Its title.
        title: String,
    },
    /// An entity, by name.
    Entity(String),
    /// What is known by its file, and told of by it.
    ByFile {
        /// What it is.
        what: FileItemKind,
        /// Its file, inside the palace.
        path: String,
    },
    /// A file that is none of these, or cannot be understood, by its path inside the palace.
    File(String),
}

/// What is known by its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileItemKind {
    /// What is laid down for a genus.
    Genus,
    /// A task.
    Task,
    /// A process.
    Process,
    /// A drawer.
    Drawer,
    /// An entry of a diary.
    DiaryEntry,
}

/// What became of a thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// It is there now.
    Added,
    /// It is there no more.
    Removed,
    /// It is not what it was. Without details it says the same in other words: comments, blank
    /// lines, the order of keys.
    Changed(Vec<ChangeDetail>),
}

/// One way in which a thing is not what it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeDetail {
    /// It stands or hangs somewhere else.
    Moved {
        /// Where it was.
        from: RoomId,
    },
    /// It is called something else.
    Renamed {
        /// What it was called.
        from: String,
        /// What it is called.
        to: String,
    },
    /// A text of it has other lines.
    TextChanged {
        /// Which text: `description`; nothing: the whole of it.
        text: &'static str,
        /// How many lines differ.
        count: usize,
    },
    /// One of its values is another.
    ValueChanged {
        /// Which: `status`.
        of: String,
        /// What it was, if it had one.
        was: Option<String>,
        /// What it is, if it has one.
        now: Option<String>,
    },
    /// It has one more part.
    PartAdded(ItemPart),
    /// It has one part less.
    PartRemoved(ItemPart),
    /// One of its parts is not what it was.
    PartChanged(ItemPart),
    /// A relation has other dates or another source.
    RelationChanged {
        /// What was said.
        was: Relation,
        /// What is said.
        now: Relation,
    },
    /// Its parts of one kind are the same in another order.
    PartsReordered(&'static str),
    /// It cannot be understood: in which state, and why.
    Unreadable {
        /// Whether that was so in the earlier state.
        before: bool,
        /// Why.
        why: String,
    },
}

/// Something of which a thing may have several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ItemPart {
    /// An action, by label.
    Action(String),
    /// A door, by the room it leads to.
    Portal(String),
    /// An observation.
    Observation(String),
    /// A relation.
    Relation(Relation),
}
