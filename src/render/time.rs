//! Times as people say them (v1 constraint C8).

use chrono::{DateTime, Utc};

/// Says how long before `now` something happened: `3 days ago`.
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
        _ if seconds < 730 * DAY => (seconds / (30 * DAY), "month"),
        _ => (seconds / (365 * DAY), "year"),
    };
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {unit}{plural} ago")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_said_in_the_largest_unit_that_fits() {
        let now: DateTime<Utc> = "2026-03-01T12:00:00Z".parse().unwrap();
        let said = |then: &str| ago(then.parse().unwrap(), now);
        assert_eq!(said("2026-03-01T11:59:30Z"), "just now");
        assert_eq!(said("2026-03-01T12:00:30Z"), "just now");
        assert_eq!(said("2026-03-01T11:55:00Z"), "5 minutes ago");
        assert_eq!(said("2026-03-01T11:00:00Z"), "1 hour ago");
        assert_eq!(said("2026-02-26T12:00:00Z"), "3 days ago");
        assert_eq!(said("2025-12-28T12:00:00Z"), "2 months ago");
        assert_eq!(said("2022-02-26T12:00:00Z"), "4 years ago");
    }
}
