//! The dates in arguments: also `today`, `yesterday` and `tomorrow`.

use chrono::{Days, NaiveDate};

use crate::Refusal;
use palazzo_core::model::{Date, DateError};

/// Parses a date; `key` is the name of the argument, and `today` the day of the caller.
pub fn parse_date_argument(key: &str, text: &str, today: NaiveDate) -> Result<Date, Refusal> {
    let date: Result<Date, DateError> = resolve_relative_date(text, today).parse();
    date.map_err(|why| Refusal::InvalidDate { argument: key.to_owned(), why })
}

/// Replaces `today`, `now`, `yesterday` and `tomorrow` by calendar dates. `now` becomes a day, so
/// that a relation which begins now holds today.
pub(crate) fn resolve_relative_date(text: &str, today: NaiveDate) -> String {
    let text = text.trim();
    let day = match text.to_lowercase().as_str() {
        "now" | "today" => Some(today),
        "yesterday" => today.checked_sub_days(Days::new(1)),
        "tomorrow" => today.checked_add_days(Days::new(1)),
        _ => None,
    };
    day.map_or_else(|| text.to_owned(), |it| Date::from(it).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_dates_become_calendar_dates() {
        let today = "2026-03-01".parse().unwrap();
        for (text, date) in [
            ("today", "2026-03-01"),
            (" Yesterday ", "2026-02-28"),
            ("NOW", "2026-03-01"),
            ("44 BC", "44 BC"),
            ("tomorrow", "2026-03-02"),
            ("some day", "some day"),
        ] {
            assert_eq!(resolve_relative_date(text, today), date);
        }
        assert!(parse_date_argument("as_of", "today", today).is_ok());
        let refusal = parse_date_argument("as_of", "some day", today).unwrap_err().to_string();
        assert!(refusal.starts_with("`as_of`: `some day` is no date: "), "{refusal}");
    }
}
