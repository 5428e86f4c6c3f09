//! Who made one side's version of a field, and when.

use std::cmp::Ordering;

use crate::model::Side;

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
        let at = chrono::DateTime::from_timestamp(seconds, 0).unwrap_or_default();
        Self { author: String::new(), at, is_by_hand: false, commit: String::new() }
    }
}
