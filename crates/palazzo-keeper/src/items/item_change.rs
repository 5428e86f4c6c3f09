//! The changes that a command made to items, or would make.

use crate::palace::change_plan::ChangeMode;
use palazzo_core::model::FileEdit;

/// The changes that a command made to items, or would make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemChange {
    /// The kind of the change.
    pub verb: ItemChangeVerb,
    /// The items, their new names, and the other items that changed, in one line.
    pub description: String,
    /// Whether the change was made, and committed.
    pub mode: ChangeMode,
    /// The edits of the files.
    pub edits: Vec<FileEdit>,
}

/// The kind of an [`ItemChange`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemChangeVerb {
    /// Items got other names.
    Rename,
    /// Items are in other rooms or wings.
    Move,
    /// Items were deleted.
    Delete,
}
