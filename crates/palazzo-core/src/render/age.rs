//! Renders times as ages, and dates of the graph with their age (v1 constraint C8).

use chrono::{DateTime, Datelike, Utc};

use crate::model::{Date, TimeZone};
use crate::render::text::{count_with_noun, one_line};

/// Renders how long before `now` something happened: `3 days ago`.
pub fn ago(then: DateTime<Utc>, now: DateTime<Utc>) -> String {
    const MINUTE: i64 = 60;
    const HOUR: i64 = 60 * MINUTE;
    const DAY: i64 = 24 * HOUR;
    let seconds = (now - then).num_seconds();
    let (count, unit) = match seconds {
        ..MINUTE => return "just now".to_owned(),
        MINUTE..HOUR => (seconds / MINUTE, "minute"),
        HOUR..DAY => (seconds / HOUR, "hour"),
        _ if seconds < 60 * DAY => (seconds / DAY, "day"),
        _ => match months_between(then, now) {
            it @ ..24 => (it, "month"),
            it => (it / 12, "year"),
        },
    };
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {unit}{plural} ago")
}

/// Renders the age of a time in the last seven days, and the day (in UTC) of an earlier one: two texts of
/// one month can be told apart.
pub fn age_or_day(then: DateTime<Utc>, now: DateTime<Utc>) -> String {
    match (now - then).num_days() {
        0..7 => ago(then, now),
        _ => then.format("%Y-%m-%d").to_string(),
    }
}

/// Renders a time of this day as `09:12 UTC`, and another one with its date.
pub fn time_of_day(then: DateTime<Utc>, now: DateTime<Utc>) -> String {
    let is_today = then.date_naive() == now.date_naive();
    then.format(if is_today { "%H:%M UTC" } else { "%Y-%m-%d %H:%M UTC" }).to_string()
}

/// Counts the whole calendar months between two times.
fn months_between(then: DateTime<Utc>, now: DateTime<Utc>) -> i64 {
    let months = |it: DateTime<Utc>| 12 * i64::from(it.year()) + i64::from(it.month0());
    let within = |it: DateTime<Utc>| (it.day(), it.time());
    months(now) - months(then) - i64::from(within(now) < within(then))
}

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
    fn ages_are_shown_in_the_largest_unit_that_fits() {
        let now: DateTime<Utc> = "2026-03-01T12:00:00Z".parse().unwrap();
        let shown = |then: &str| ago(then.parse().unwrap(), now);
        assert_eq!(shown("2026-03-01T11:59:30Z"), "just now");
        assert_eq!(shown("2026-03-01T12:00:30Z"), "just now");
        assert_eq!(shown("2026-03-01T11:55:00Z"), "5 minutes ago");
        assert_eq!(shown("2026-03-01T11:00:00Z"), "1 hour ago");
        assert_eq!(shown("2026-02-26T12:00:00Z"), "3 days ago");
        assert_eq!(shown("2025-12-28T12:00:00Z"), "2 months ago");
        assert_eq!(shown("2022-02-26T12:00:00Z"), "4 years ago");
    }

    #[test]
    fn years_and_months_follow_the_calendar() {
        let now: DateTime<Utc> = "2026-11-22T00:00:00Z".parse().unwrap();
        let shown = |then: &str| ago(then.parse().unwrap(), now);
        for (then, age) in [
            ("1851-12-18T00:00:00Z", "174 years ago"),
            ("1900-11-25T00:00:00Z", "125 years ago"),
            ("1900-11-22T00:00:00Z", "126 years ago"),
            ("0800-12-25T00:00:00Z", "1225 years ago"),
            ("0033-04-03T00:00:00Z", "1993 years ago"),
            // 44 BC: there was no year 0.
            ("-0043-03-15T00:00:00Z", "2069 years ago"),
            ("2024-11-23T00:00:00Z", "23 months ago"),
            ("2026-08-23T00:00:00Z", "2 months ago"),
        ] {
            assert_eq!(shown(then), age, "{then}");
        }
    }

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
