//! Who made one side's version of a field, and when.

use std::cmp::Ordering;

use chrono::{DateTime, Utc};

/// The last change of one side to a file or a field. It decides which side stands in a conflict, and is kept
/// with the value that does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    /// The name of the author.
    pub author: String,
    /// The author time of the commit.
    pub at: DateTime<Utc>,
    /// Whether a person made the change by hand: the commit has no `Palazzo-Tool` trailer.
    pub is_by_hand: bool,
    /// The id of the commit.
    pub commit: String,
}

impl Side {
    /// Compares two sides: a hand edit precedes the change of a tool, and a later change an earlier
    /// one. The greater side stands in a conflict; between equal sides, the greater value does.
    pub fn precedence(&self, other: &Self) -> Ordering {
        (self.is_by_hand, self.at).cmp(&(other.is_by_hand, other.at))
    }

    /// Returns which of two sides stands: 0 for this one and for equal sides, 1 for the other.
    pub fn preceding_side(&self, other: &Self) -> usize {
        usize::from(self.precedence(other) == Ordering::Less)
    }

    /// Returns a change at a time in seconds, for tests.
    #[cfg(test)]
    pub(crate) fn at_second(seconds: i64) -> Self {
        let at = DateTime::from_timestamp(seconds, 0).unwrap_or_default();
        Self { author: String::new(), at, is_by_hand: false, commit: String::new() }
    }
}
