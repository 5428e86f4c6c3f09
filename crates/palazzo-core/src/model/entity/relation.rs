//! Relations: the directed edges of the knowledge graph, each with its period.

use serde::{Deserialize, Serialize};

use crate::model::{Code, Date, PointInTime, escape_unprintable};

/// A directed, typed edge, stored with the entity it starts from.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Relation {
    /// In the active voice: `disputed_by`.
    pub kind: String,
    /// The name of the target; the entity need not be defined.
    pub to: String,
    /// The start date, as written: `1972-01-01`, `1912`.
    pub since: Option<String>,
    /// The end date, as written; exclusive.
    pub until: Option<String>,
    /// The source of the statement.
    pub source: Option<String>,
}

impl Relation {
    /// Returns the start date, if it parses.
    pub fn since_date(&self) -> Option<Date> {
        self.since.as_ref()?.parse().ok()
    }

    /// Returns the end date, if it parses.
    pub fn until_date(&self) -> Option<Date> {
        self.until.as_ref()?.parse().ok()
    }

    /// Returns whether the relation holds at a date; `None` if the answer depends on a date that
    /// does not parse.
    pub fn holds_at(&self, at: impl Into<PointInTime>) -> Option<bool> {
        let at = at.into();
        let has_begun = |written: &Option<String>, default| match written {
            None => Some(default),
            Some(text) => text.parse().ok().map(|it: Date| it.has_begun_by(at)),
        };
        match (has_begun(&self.since, true), has_begun(&self.until, false)) {
            (Some(false), _) | (_, Some(true)) => Some(false),
            (begun, ended) => begun.zip(ended).map(|_| true),
        }
    }

    /// Returns whether the relation holds now. If a date does not parse, it holds unless it has
    /// an end.
    pub fn is_current(&self, now: PointInTime) -> bool {
        self.holds_at(now).unwrap_or(self.until.is_none())
    }

    /// Returns the errors in its dates, each with its key, code and message. A relation that begins
    /// and ends on the same day is valid, although it holds at no date: it was added and withdrawn.
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
            && !(since == until && since.has_day_precision())
        {
            let [begin, end] = [begin, end].map(|it| escape_unprintable(it));
            let why = format!("`{end}` is not later than `{begin}`: that holds at no time");
            wrong.push(("until", Code::EmptyPeriod, why));
        }
        wrong
    }

    /// Returns whether two relations of one entity have the same type and target, whatever their
    /// periods.
    pub fn has_same_kind_and_target(&self, other: &Self) -> bool {
        self.kind == other.kind && self.to == other.to
    }

    /// Returns whether there may be a time at which both hold. Ends are exclusive, so one that ends
    /// on the day the other begins does not overlap it.
    ///
    /// Every tool that adds a relation uses this to decide between adding a separate period and
    /// updating the existing one.
    pub fn overlaps_in_time(&self, other: &Self) -> bool {
        let is_before = |end: Option<Date>, start: Option<Date>| {
            end.zip(start).is_some_and(|(end, start)| end.has_begun_by(start))
        };
        !is_before(self.until_date(), other.since_date())
            && !is_before(other.until_date(), self.since_date())
    }

    /// Returns the start and the end, where given; `None` if one of them does not parse.
    pub fn parsed_dates(&self) -> Option<(Option<Date>, Option<Date>)> {
        let (begin, end) = (self.since_date(), self.until_date());
        let is_known = begin.is_some() == self.since.is_some();
        (is_known && end.is_some() == self.until.is_some()).then_some((begin, end))
    }
}

/// A relation without dates and source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Triple {
    /// The name of the origin; the entity need not be defined.
    pub from: String,
    /// In the active voice: `disputed_by`.
    pub kind: String,
    /// The name of the target; the entity need not be defined.
    pub to: String,
}

impl From<Triple> for Relation {
    fn from(Triple { kind, to, .. }: Triple) -> Self {
        Self { kind, to, since: None, until: None, source: None }
    }
}
