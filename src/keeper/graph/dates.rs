//! Parses the dates in arguments: calendar dates, and relative ones such as `yesterday`.

use chrono::{DateTime, TimeDelta, Utc};

use crate::keeper::Refusal;
use crate::model::{Date, DateError};

/// Parses a date; `key` is the name of the argument.
pub(crate) fn parse_date_argument(
    key: &str,
    text: &str,
    now: DateTime<Utc>,
) -> Result<Date, Refusal> {
    let date: Result<Date, DateError> = resolve_relative_date(text, now).parse();
    date.map_err(|err| Refusal::Invalid(format!("`{key}`: {err}")))
}

/// Replaces `today`, `now`, `yesterday` and `tomorrow` by calendar dates. `now` becomes a day, so
/// that a relation which begins now holds today.
pub(crate) fn resolve_relative_date(text: &str, now: DateTime<Utc>) -> String {
    let day = |it: DateTime<Utc>| it.format("%Y-%m-%d").to_string();
    let text = text.trim();
    match text.to_lowercase().as_str() {
        "now" | "today" => day(now),
        "yesterday" => day(now - TimeDelta::days(1)),
        "tomorrow" => day(now + TimeDelta::days(1)),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_dates_become_calendar_dates() {
        let now = "2026-03-01T12:00:00Z".parse().unwrap();
        for (text, date) in [
            ("today", "2026-03-01"),
            (" Yesterday ", "2026-02-28"),
            ("NOW", "2026-03-01"),
            ("44 BC", "44 BC"),
            ("tomorrow", "2026-03-02"),
            ("some day", "some day"),
        ] {
            assert_eq!(resolve_relative_date(text, now), date);
        }
        assert!(parse_date_argument("as_of", "today", now).is_ok());
        let refusal = parse_date_argument("as_of", "some day", now).unwrap_err().to_string();
        assert!(refusal.starts_with("`as_of`: `some day` is no date: "), "{refusal}");
    }
}
