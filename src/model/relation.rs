//! Relations: the directed edges of the knowledge graph, each with its time.

use serde::{Deserialize, Serialize};

use crate::model::Date;

/// A directed, typed edge, held by the entity it starts from.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Relation {
    /// In the active voice: `disputed_by`.
    pub kind: String,
    /// The entity it leads to, by name; need not be defined.
    pub to: String,
    /// The date from which it holds, as written: `1972-01-01`, `1912`.
    pub since: Option<String>,
    /// The date from which it no longer holds, as written; exclusive.
    pub until: Option<String>,
    /// Where this is known from.
    pub source: Option<String>,
}

impl Relation {
    /// Returns the date from which it holds, if it is written as one.
    pub fn begin(&self) -> Option<Date> {
        self.since.as_ref()?.parse().ok()
    }

    /// Returns the date from which it no longer holds, if it is written as one.
    pub fn end(&self) -> Option<Date> {
        self.until.as_ref()?.parse().ok()
    }

    /// Tells whether it holds at a date. What is not written as a date bounds
    /// nothing: nobody knows when it was.
    pub fn holds_at(&self, at: Date) -> bool {
        self.begin().is_none_or(|it| it.has_begun(at))
            && self.end().is_none_or(|it| !it.has_begun(at))
    }

    /// Tells whether two relations of one entity say the same, at whatever time.
    pub fn is_like(&self, other: &Self) -> bool {
        self.kind == other.kind && self.to == other.to
    }

    /// Tells whether there may be a moment at which both hold. One that ends on
    /// the day the other begins does not touch it: ends are exclusive.
    ///
    /// By this, every tool that adds a relation tells one that is another time of
    /// the same, and stands beside it, from one that says more of what is there.
    pub fn touches(&self, other: &Self) -> bool {
        let is_before = |end: Option<Date>, start: Option<Date>| {
            end.zip(start).is_some_and(|(end, start)| end.has_begun(start))
        };
        !is_before(self.end(), other.begin()) && !is_before(other.end(), self.begin())
    }

    /// Returns when it began, if that is known, and when it ended; `None` if one
    /// of them is written as no date.
    pub fn period(&self) -> Option<(Option<Date>, Option<Date>)> {
        let (begin, end) = (self.begin(), self.end());
        let is_known = begin.is_some() == self.since.is_some();
        (is_known && end.is_some() == self.until.is_some()).then_some((begin, end))
    }
}

/// A relation told by itself: what it says, without dates and source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Triple {
    /// Where it starts, by name; need not be defined.
    pub from: String,
    /// In the active voice: `disputed_by`.
    pub kind: String,
    /// Where it leads, by name; need not be defined.
    pub to: String,
}

impl From<Triple> for Relation {
    fn from(Triple { kind, to, .. }: Triple) -> Self {
        Self { kind, to, since: None, until: None, source: None }
    }
}
