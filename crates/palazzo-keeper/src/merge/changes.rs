//! The files that differ between the two sides of a merge and their base.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use palazzo_core::merge::{FieldPlace, Fields, Side};

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
    pub last_change: &'a dyn Fn(usize, &str, FilePart<'_>) -> Side,
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
