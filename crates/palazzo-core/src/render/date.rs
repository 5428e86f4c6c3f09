//! Renders dates of the graph with their age (v1 constraint C8).

use chrono::{DateTime, Utc};

use crate::model::{Date, TimeZone};
use crate::render::ago;
use crate::render::text::{count_with_noun, one_line};

/// Renders a date as written, with its age at `now`: `1972, 54 years`. Dates before
/// year 1 are rendered as BC dates; a text that is not a date is returned unchanged.
pub fn date_with_age(written: &str, now: DateTime<Utc>) -> String {
    match written.parse() {
        Err(_) => one_line(written),
        Ok(date) => {
            let text = date_as_written_or_bc(date, written);
            date_age(date, now).map_or(text.clone(), |age| format!("{text}, {age}"))
        }
    }
}

/// Renders a date as written, or as a BC date.
pub(super) fn date_as_written_or_bc(date: Date, written: &str) -> String {
    date.format_if_bc().unwrap_or_else(|| one_line(written))
}

/// Renders the age of a date at `now`, in the precision of the date; `None` for future dates.
pub(super) fn date_age(date: Date, now: DateTime<Utc>) -> Option<String> {
    match date.years_before(now) {
        Some(0) => Some("this year".to_owned()),
        Some(years) => {
            let years = usize::try_from(years).ok()?;
            Some(count_with_noun(years, "year"))
        }
        None => date
            .start_time(&TimeZone::UTC)
            .filter(|it| *it <= now)
            .map(|it| ago(it, now).trim_end_matches(" ago").to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_shown_with_its_age() {
        let now = "2026-03-01T12:00:00Z".parse().unwrap();
        for (written, expected) in [
            ("1972", "1972, 54 years"),
            ("2026", "2026, this year"),
            ("2025", "2025, 1 year"),
            ("2030", "2030"),
            ("2026-02-28", "2026-02-28, 1 day"),
            ("2026-03-02", "2026-03-02"),
            ("1972-01-01", "1972-01-01, 54 years"),
            ("-0215-08-02", "2 August 216 BC, 2240 years"),
            ("-0246", "247 BC, 2272 years"),
            ("last\nspring", "last spring"),
        ] {
            assert_eq!(date_with_age(written, now), expected);
        }
    }
}
