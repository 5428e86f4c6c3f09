//! Merges two versions of a palace with their common base.
//!
//! A pure function over the files that differ. Items are known by their ids, so that a moved or
//! renamed item is merged with its edited version, and what one side wrote with an old name follows
//! the rename. Of two values for one field, a rule that does not depend on the machine lets one
//! stand; the other is returned as a conflict. Both machines get the same bytes. Files of conflicts
//! are known by their paths alone, and are never the subject of a conflict.

pub(crate) mod conflict;
pub(crate) mod file;
pub(crate) mod items;
pub(crate) mod last_changes;
pub(crate) mod names;
pub(crate) mod palaces;
pub(crate) mod renames;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use palazzo_core::merge::{FieldPlace, Fields, LastChange};

/// The contents of files by path.
pub type RawFiles = BTreeMap<String, Vec<u8>>;

/// Two versions of a palace and their common base.
#[derive(Clone, Copy)]
pub struct MergeInput<'a> {
    /// The files of the base that one side has changed or deleted.
    pub base: &'a RawFiles,
    /// The same files of both sides, and those that they have added.
    pub sides: [&'a RawFiles; 2],
    /// The files that no side has changed.
    pub unchanged: UnchangedFiles<'a>,
    /// Returns the last change of a side (0 or 1) to a part of a file. It is costly for all parts
    /// but [`FilePart::Any`], and called only for those in conflict.
    pub last_change: &'a dyn Fn(usize, &str, FilePart<'_>) -> LastChange,
}

/// A part of a file, as one side has it.
#[derive(Clone, Copy, Debug)]
pub enum FilePart<'a> {
    /// All of it.
    Any,
    /// Its path.
    Path,
    /// Its body, the text after the front matter.
    Body(Option<&'a str>),
    /// A field.
    Field {
        /// A version of the file in which the field has a place.
        fields: &'a Fields,
        /// The place.
        place: &'a FieldPlace,
        /// The value that the side has; `None` if it has deleted the field.
        value: Option<&'a Value>,
    },
}

/// The files that are the same in the base and in both sides. They are read only if a reference may
/// lead to or from them.
#[derive(Clone, Copy)]
pub struct UnchangedFiles<'a> {
    /// Their paths.
    pub paths: &'a BTreeSet<String>,
    /// Reads one of them.
    pub read: &'a dyn Fn(&str) -> Option<Vec<u8>>,
}

/// A file in one of the three versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Version {
    /// The path in this version.
    pub(super) path: String,
    pub(super) bytes: Vec<u8>,
}

impl Version {
    /// Returns the content as text, if it is one.
    pub(super) fn text(&self) -> Option<&str> {
        std::str::from_utf8(&self.bytes).ok()
    }

    /// Returns the content as text for a conflict.
    pub(super) fn lossy_text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

/// The version of the rules of merging. Machines merge only with machines that have the same rules;
/// an older program waits. The form of what a merge writes is a part of the rules.
pub const MERGE_RULES_VERSION: u32 = 3;

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod pair_tests;
#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod rename_tests;
