//! Dates as tools are told them: as files have them, or by how they lie to today.

use chrono::{DateTime, TimeDelta, Utc};

use crate::keeper::Refusal;
use crate::model::{Date, DateError};

/// Reads a date that is told as `what`.
pub(crate) fn parse_date_argument(
    what: &str,
    text: &str,
    now: DateTime<Utc>,
) -> Result<Date, Refusal> {
    let said: Result<Date, DateError> = resolve_relative_date(text, now).parse();
    said.map_err(|err| Refusal::Invalid(format!("`{what}`: {err}")))
}

/// Says how a date is to be written that is told: `today`, `now` and their like by
/// the calendar, all else as it is told. `now` is a day too: what began now and is
/// asked for today holds.
pub(crate) fn resolve_relative_date(text: &str, now: DateTime<Utc>) -> String {
    let day = |it: DateTime<Utc>| it.format("%Y-%m-%d").to_string();
    let said = text.trim();
    match said.to_lowercase().as_str() {
        "now" | "today" => day(now),
        "yesterday" => day(now - TimeDelta::days(1)),
        "tomorrow" => day(now + TimeDelta::days(1)),
        _ => said.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_dates_become_calendar_dates() {
        let now = "2026-03-01T12:00:00Z".parse().unwrap();
        for (said, is_written) in [
            ("today", "2026-03-01"),
            (" Yesterday ", "2026-02-28"),
            ("NOW", "2026-03-01"),
            ("44 BC", "44 BC"),
            ("tomorrow", "2026-03-02"),
            ("some day", "some day"),
        ] {
            assert_eq!(resolve_relative_date(said, now), is_written);
        }
        assert!(parse_date_argument("as_of", "today", now).is_ok());
        let refusal = parse_date_argument("as_of", "some day", now).unwrap_err().to_string();
        assert!(refusal.starts_with("`as_of`: `some day` is no date: "), "{refusal}");
    }
}
