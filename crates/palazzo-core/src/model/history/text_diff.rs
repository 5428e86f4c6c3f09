//! Differences between two versions of a text.

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
