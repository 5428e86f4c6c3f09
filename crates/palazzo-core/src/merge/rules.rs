//! The rule by which each field of a file is merged.

use crate::merge::list::ListKind;
use crate::model::FileKind;

/// How two versions of a field are merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// By the type of the value: maps by key, lists as sets, texts of several lines as prose; of two
    /// other values, one stands.
    ByType,
    /// Prose, merged by lines and words.
    Prose,
    /// A list, merged by item.
    List(ListKind),
    /// A note; two notes are joined.
    Note,
    /// A status: `done` stands.
    DoneStatus,
    /// A time: the earlier one stands.
    EarlierTime,
    /// A number: the greater one stands.
    GreaterNumber,
    /// An id: the older one stands.
    OlderId,
}

/// A mapping whose fields have rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// The top level of a file.
    File(FileKind),
    /// An item of a list.
    Item(ListKind),
    /// Any other mapping.
    Other,
}

impl Scope {
    /// Returns the rule of the field `key`.
    pub(super) fn rule(self, key: &str) -> Rule {
        match (self, key) {
            (Self::File(_), "id") => Rule::OlderId,
            (Self::File(FileKind::Room | FileKind::Genus), "description")
            | (Self::Item(ListKind::Actions), "content") => Rule::Prose,
            (Self::File(FileKind::Room), "actions") => Rule::List(ListKind::Actions),
            (Self::File(FileKind::Entity), "observations") => Rule::List(ListKind::Observations),
            (Self::File(FileKind::Entity), "relations") => Rule::List(ListKind::Relations),
            (Self::File(FileKind::Process), "steps") => Rule::List(ListKind::Steps),
            (Self::File(FileKind::Process), "step") => Rule::GreaterNumber,
            (Self::File(FileKind::Task | FileKind::Process), "status") => Rule::DoneStatus,
            (Self::File(FileKind::Task | FileKind::Process), "done") => Rule::EarlierTime,
            (Self::File(FileKind::Task) | Self::Item(ListKind::Steps), "note") => Rule::Note,
            _ => Rule::ByType,
        }
    }

    /// Returns what identifies the items of the list `key`.
    pub(super) fn list_kind(self, key: &str) -> ListKind {
        match self.rule(key) {
            Rule::List(kind) => kind,
            _ => ListKind::Set,
        }
    }
}

/// Returns what identifies the items of a list at the top level of a file.
pub fn list_kind(file: FileKind, list: &str) -> ListKind {
    Scope::File(file).list_kind(list)
}
