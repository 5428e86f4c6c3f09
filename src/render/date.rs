//! Dates of the graph as people say them, with their age (v1 constraint C8).

use chrono::{DateTime, Utc};

use crate::model::Date;
use crate::render::{ago, one_line, pluralize};

/// Says a date as it is written, with how long before `now` it was: `1972, 54
/// years ago`. Years before our era are said in words; a text that is no date
/// stands as it is.
pub fn date_with_age(written: &str, now: DateTime<Utc>) -> String {
    match written.parse() {
        Err(_) => one_line(written),
        Ok(date) => {
            let said = date_text(date, written);
            date_age(date, now).map_or(said.clone(), |age| format!("{said}, {age}"))
        }
    }
}

/// Says a date that is written in some way: before our era in words.
pub(super) fn date_text(date: Date, written: &str) -> String {
    date.format_if_bc().unwrap_or_else(|| one_line(written))
}

/// Says how long before `now` a date was, as exactly as it is known; nothing of
/// one that is still to come.
pub(super) fn date_age(date: Date, now: DateTime<Utc>) -> Option<String> {
    match date.years_before(now) {
        Some(0) => Some("this year".to_owned()),
        Some(years) => {
            let years = usize::try_from(years).ok()?;
            Some(format!("{} ago", pluralize(years, "year")))
        }
        None => date.start_time().filter(|it| *it <= now).map(|it| ago(it, now)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_shown_with_its_age() {
        let now = "2026-03-01T12:00:00Z".parse().unwrap();
        for (written, said) in [
            ("1972", "1972, 54 years ago"),
            ("2026", "2026, this year"),
            ("2025", "2025, 1 year ago"),
            ("2030", "2030"),
            ("2026-02-28", "2026-02-28, 1 day ago"),
            ("2026-03-02", "2026-03-02"),
            ("1972-01-01", "1972-01-01, 54 years ago"),
            ("-0215-08-02", "2 August 216 BC, 2240 years ago"),
            ("-0246", "247 BC, 2272 years ago"),
            ("last\nspring", "last spring"),
        ] {
            assert_eq!(date_with_age(written, now), said);
        }
    }
}
