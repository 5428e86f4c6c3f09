//! Who made one side's version of a file, and when.

use std::cmp::Ordering;

use chrono::{DateTime, Utc};

/// The last change of one side to a file. It decides which side stands in a conflict, and is kept
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
}
