//! Relations: the directed edges of the knowledge graph, each with its time.

use serde::{Deserialize, Serialize};

use crate::model::{Code, Date};

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
    pub fn since_date(&self) -> Option<Date> {
        self.since.as_ref()?.parse().ok()
    }

    /// Returns the date from which it no longer holds, if it is written as one.
    pub fn until_date(&self) -> Option<Date> {
        self.until.as_ref()?.parse().ok()
    }

    /// Tells whether it holds at a date; `None` if that hangs on what is not
    /// written as a date: nobody knows when that was.
    pub fn holds_at(&self, at: Date) -> Option<bool> {
        let has_come = |written: &Option<String>, if_unsaid| match written {
            None => Some(if_unsaid),
            Some(text) => text.parse().ok().map(|it: Date| it.has_begun_by(at)),
        };
        match (has_come(&self.since, true), has_come(&self.until, false)) {
            (Some(false), _) | (_, Some(true)) => Some(false),
            (begun, ended) => begun.zip(ended).map(|_| true),
        }
    }

    /// Tells whether it holds today. What is said to have begun, nobody knows when, and
    /// not to have ended, does.
    pub fn is_current(&self, today: Date) -> bool {
        self.holds_at(today).unwrap_or(self.until.is_none())
    }

    /// Says what is wrong with its dates: which, of what kind, and why. What was stated
    /// and taken back on one day is nothing wrong, though it holds at no date.
    pub fn date_errors(&self) -> Vec<(&'static str, Code, String)> {
        let (mut wrong, mut dates) = (Vec::new(), Vec::new());
        for (key, written) in [("since", &self.since), ("until", &self.until)] {
            match written.as_ref().map(|it| it.parse::<Date>()) {
                Some(Err(err)) => wrong.push((key, Code::NoDate, err.to_string())),
                Some(Ok(date)) => dates.push((date, written.as_deref().unwrap_or_default())),
                None => {}
            }
        }
        if let [(since, begin), (until, end)] = dates.as_slice()
            && until.has_begun_by(*since)
            && !(since == until && since.is_day())
        {
            let [begin, end] = [begin, end].map(|it| it.escape_debug());
            let why = format!("`{end}` is not later than `{begin}`: that holds at no time");
            wrong.push(("until", Code::EmptyPeriod, why));
        }
        wrong
    }

    /// Tells whether two relations of one entity say the same, at whatever time.
    pub fn has_same_kind_and_target(&self, other: &Self) -> bool {
        self.kind == other.kind && self.to == other.to
    }

    /// Tells whether there may be a moment at which both hold. One that ends on
    /// the day the other begins does not touch it: ends are exclusive.
    ///
    /// By this, every tool that adds a relation tells one that is another time of
    /// the same, and stands beside it, from one that says more of what is there.
    pub fn overlaps_in_time(&self, other: &Self) -> bool {
        let is_before = |end: Option<Date>, start: Option<Date>| {
            end.zip(start).is_some_and(|(end, start)| end.has_begun_by(start))
        };
        !is_before(self.until_date(), other.since_date())
            && !is_before(other.until_date(), self.since_date())
    }

    /// Returns when it began, if that is known, and when it ended; `None` if one
    /// of them is written as no date.
    pub fn parsed_dates(&self) -> Option<(Option<Date>, Option<Date>)> {
        let (begin, end) = (self.since_date(), self.until_date());
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
