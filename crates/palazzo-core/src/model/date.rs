//! Dates in the notations that people use: a year, a month, a day or a point in time.

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, Datelike, NaiveDate, TimeDelta, Timelike, Utc};

use crate::model::{TimeZone, quoted};

/// A date of the knowledge graph, with the precision in which it was written: a year, a month, a
/// day or a second, in UTC and in the proleptic Gregorian calendar.
///
/// # Notations
///
/// | written | means |
/// | --- | --- |
/// | `1972`, `1972-05`, `1972-01-31` | a year, a month, a day (ISO 8601) |
/// | `2026-03-01T12:00:00Z` | a point in time (RFC 3339, with any offset) |
/// | `-0043`, `-0043-03-15`, `-43` | 44 BC: ISO 8601 has a year 0, which is 1 BC |
/// | `44 BC`, `44 BCE`, `79 AD`, `79 CE` | a year, without astronomical numbering |
/// | `15 March 44 BC`, `March 1972` | a day, a month, in words |
/// | `-66000000`, `+12000` | years of more than four digits need their sign (ISO 8601) |
///
/// Everything else is rejected: `79` could mean 1979, and `20260301` a day or a year. A text that
/// is not a date is still allowed wherever a date is; its time is then unknown.
///
/// # Meaning of a date that is not exact
///
/// As a start and as an end it means its first second, and ends are exclusive: a relation with
/// `until: 1972` held in 1971 and no longer in 1972. So a fact that ended in a year and its
/// successor that began in that year are never both true.
///
/// Dates are ordered by their first second; of two with the same first second the less exact comes
/// first, so a year sorts before its first day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date {
    year: i32,
    month: Option<u8>,
    day: Option<u8>,
    second: Option<u32>,
}

/// A point in time, with which dates are compared: dates that have a second with its second in
/// UTC, and days, months and years with its day in a time zone.
#[derive(Clone, Copy, Debug)]
pub struct PointInTime {
    second: Date,
    day: Date,
}

/// The first second of a date: year, month, day, second of the day.
type StartMoment = (i32, u8, u8, u32);

/// The error for a text that is not a [`Date`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", date_error_message(.0))]
pub struct DateError(String);

/// Returns the message of a [`DateError`], with the notation to use instead.
fn date_error_message(text: &str) -> String {
    let quoted = quoted(text);
    match parse_digits(text.trim()).filter(|it| (1..1000).contains(it)) {
        Some(year) => format!("{quoted} is no date: for the year {year} write {year:04}"),
        None => format!(
            "{quoted} is no date: write 1972, 1972-05, 1972-01-31, 44 BC or 2026-03-01T12:00:00Z"
        ),
    }
}

/// The names of the months.
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

impl Date {
    /// A date before all others.
    pub const FIRST: Self = Self { year: i32::MIN, month: None, day: None, second: None };

    /// Returns the least exact date with the same first second.
    #[must_use]
    pub fn coarsest_with_same_start(self) -> Self {
        match self.start_moment() {
            (year, 1, 1, 0) => Self::from_year(year),
            (year, month, 1, 0) => Self { month: Some(month), ..Self::from_year(year) },
            (year, month, day, 0) => {
                Self { month: Some(month), day: Some(day), ..Self::from_year(year) }
            }
            _ => self,
        }
    }

    /// Returns whether the precision is exactly a day.
    pub fn has_day_precision(self) -> bool {
        self.day.is_some() && self.second.is_none()
    }

    /// Returns whether the first second of this date is not after that of `at`.
    pub fn has_begun_by(self, at: impl Into<PointInTime>) -> bool {
        let PointInTime { second, day } = at.into();
        let at = if self.second.is_some() { second } else { day };
        self.start_moment() <= at.start_moment()
    }

    /// Returns the year as ISO 8601 counts: 0 is 1 BC, -43 is 44 BC.
    pub fn year(self) -> i32 {
        self.year
    }

    /// Returns the date in words if its year is BC, because the ISO notation of such years is
    /// easily misread: `44 BC`, `15 March 44 BC`.
    pub fn format_if_bc(self) -> Option<String> {
        let year = format!("{} BC", 1 - i64::from(self.year));
        let month = self.month.and_then(|it| MONTHS.get(usize::from(it) - 1));
        (self.year < 1).then(|| match (month, self.day) {
            (Some(month), Some(day)) => format!("{day} {month} {year}"),
            (Some(month), None) => format!("{month} {year}"),
            (None, _) => year,
        })
    }

    /// Returns the first second, or `None` if `chrono` cannot represent it. A day, a month and a
    /// year begin when they do in `zone`.
    pub fn start_time(self, zone: &TimeZone) -> Option<DateTime<Utc>> {
        let (year, month, day, second) = self.start_moment();
        let day = NaiveDate::from_ymd_opt(year, month.into(), day.into())?;
        let time = day.and_hms_opt(second / 3600, second / 60 % 60, second % 60)?;
        Some(if self.second.is_some() { time.and_utc() } else { zone.to_utc(time) })
    }

    /// Returns the first second after this date, as [`start_time`](Self::start_time) does.
    pub fn end_time(self, zone: &TimeZone) -> Option<DateTime<Utc>> {
        let Self { year, month, day, second } = self;
        if second.is_some() {
            return Some(self.start_time(zone)? + TimeDelta::seconds(1));
        }
        let next = match (month, day) {
            (Some(month), Some(day)) => {
                let day = NaiveDate::from_ymd_opt(year, month.into(), day.into())?;
                Self::from(day.succ_opt()?)
            }
            (Some(month), None) if month < 12 => Self { month: Some(month + 1), ..self },
            (Some(_), None) => Self { month: Some(1), ..Self::from_year(year.checked_add(1)?) },
            (None, _) => Self::from_year(year.checked_add(1)?),
        };
        next.start_time(zone)
    }

    /// Returns the number of years from this date to `now`, or `None` if the date is more exact
    /// than a year.
    pub fn years_before(self, now: DateTime<Utc>) -> Option<i64> {
        self.month.is_none().then(|| i64::from(now.year()) - i64::from(self.year))
    }

    fn start_moment(self) -> StartMoment {
        let Self { year, month, day, second } = self;
        (year, month.unwrap_or(1), day.unwrap_or(1), second.unwrap_or_default())
    }

    fn from_year(year: i32) -> Self {
        Self { year, month: None, day: None, second: None }
    }
}

/// Formats in ISO 8601; years BC in words, as historians write them.
impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(words) = self.format_if_bc() {
            return f.write_str(&words);
        }
        let sign = if self.year > 9999 { "+" } else { "" };
        write!(f, "{sign}{:04}", self.year)?;
        for part in [self.month, self.day].into_iter().flatten() {
            write!(f, "-{part:02}")?;
        }
        match self.second {
            None => Ok(()),
            Some(it) => write!(f, "T{:02}:{:02}:{:02}Z", it / 3600, it / 60 % 60, it % 60),
        }
    }
}

impl PointInTime {
    /// Returns the point in time `time`, with its day in `zone`.
    pub fn new(time: DateTime<Utc>, zone: &TimeZone) -> Self {
        Self { second: time.into(), day: zone.day_at(time).into() }
    }
}

impl From<Date> for PointInTime {
    fn from(date: Date) -> Self {
        Self { second: date, day: date }
    }
}

impl From<NaiveDate> for Date {
    fn from(day: NaiveDate) -> Self {
        let part = |it: u32| u8::try_from(it).ok();
        Self { year: day.year(), month: part(day.month()), day: part(day.day()), second: None }
    }
}

impl From<DateTime<Utc>> for Date {
    fn from(at: DateTime<Utc>) -> Self {
        let second = Some(at.time().num_seconds_from_midnight());
        Self { second, ..at.date_naive().into() }
    }
}

impl FromStr for Date {
    type Err = DateError;

    fn from_str(text: &str) -> Result<Self, DateError> {
        let trimmed = text.trim();
        let timestamp = || Some(DateTime::parse_from_rfc3339(trimmed).ok()?.to_utc().into());
        let date =
            parse_iso_date(trimmed).or_else(|| parse_date_in_words(trimmed)).or_else(timestamp);
        date.ok_or_else(|| DateError(text.to_owned()))
    }
}

/// Parses notations in words: `44 BC`, `15 March 44 BC`, `March 1972`.
fn parse_date_in_words(input: &str) -> Option<Date> {
    let words: Vec<_> = input.split_whitespace().collect();
    let is_before = |era: &str| match era.to_ascii_uppercase().as_str() {
        "BC" | "BCE" => Some(true),
        "AD" | "CE" => Some(false),
        _ => None,
    };
    let (last, rest) = words.split_last()?;
    let (era, rest) = match is_before(last) {
        Some(era) => (Some(era), rest),
        None => (None, words.as_slice()),
    };
    let (text, rest) = rest.split_last()?;
    let year = parse_digits(text).filter(|it| *it > 0 && (era.is_some() || text.len() == 4))?;
    let year = if era == Some(true) { 1 - year } else { year };
    let month = |name: &str| {
        let index = MONTHS.iter().position(|it| it.eq_ignore_ascii_case(name))?;
        u8::try_from(index + 1).ok()
    };
    let (month, day) = match rest {
        [] => (era.map(|_| None)?, None),
        [it] => (Some(month(it)?), None),
        [day, it] => (Some(month(it)?), Some(u8::try_from(parse_digits(day)?).ok()?)),
        _ => return None,
    };
    date_if_valid(year, month, day)
}

/// Parses a year, a month or a day in ISO 8601.
fn parse_iso_date(input: &str) -> Option<Date> {
    let (sign, rest) = match input.strip_prefix(['-', '+']) {
        Some(rest) => (&input[..1], rest),
        None => ("", input),
    };
    let mut parts = rest.split('-');
    let text = parts.next()?;
    let (month, day) = (parts.next(), parts.next());
    // A year alone may omit leading zeros only if it has a sign; without one it could be any
    // number.
    let is_year = match (sign, month) {
        ("", _) => text.len() == 4,
        ("-", None) => true,
        _ => text.len() >= 4,
    };
    let year = parse_digits(text).filter(|_| is_year && parts.next().is_none())?;
    let year = if sign == "-" { Some(-year).filter(|it| *it < 0)? } else { year };
    let (month, day) = match (month, day) {
        (None, _) => (None, None),
        (Some(month), None) => (Some(parse_two_digits(month)?), None),
        (Some(month), Some(day)) => (Some(parse_two_digits(month)?), Some(parse_two_digits(day)?)),
    };
    date_if_valid(year, month, day)
}

/// Returns the date if the calendar contains it.
fn date_if_valid(year: i32, month: Option<u8>, day: Option<u8>) -> Option<Date> {
    // The calendar repeats every 400 years, and `chrono` knows the years around 2000.
    let twin = 2000 + year.rem_euclid(400);
    NaiveDate::from_ymd_opt(twin, month.unwrap_or(1).into(), day.unwrap_or(1).into())?;
    Some(Date { year, month, day, second: None })
}

fn parse_two_digits(text: &str) -> Option<u8> {
    parse_digits(text).filter(|_| text.len() == 2).and_then(|it| it.try_into().ok())
}

fn parse_digits(text: &str) -> Option<i32> {
    let is_number = (1..=9).contains(&text.len()) && text.bytes().all(|it| it.is_ascii_digit());
    if is_number { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(text: &str) -> Date {
        text.parse().unwrap()
    }

    #[test]
    fn days_are_compared_with_the_local_day_and_seconds_in_utc() {
        let time = "2026-02-28T15:30:00Z".parse().unwrap();
        let now = PointInTime::new(time, &"Asia/Tokyo".parse().unwrap());
        let has_begun = |text: &str| text.parse::<Date>().unwrap().has_begun_by(now);
        assert!(has_begun("2026-03-01") && has_begun("2026-03"), "it is March in Tokyo");
        assert!(!has_begun("2026-03-02"));
        assert!(has_begun("2026-02-28T15:30:00Z") && !has_begun("2026-02-28T15:30:01Z"));
    }

    #[test]
    fn a_date_ends_where_the_next_one_of_its_precision_begins() {
        for (text, end) in [
            ("2025", "2026-01-01T00:00:00Z"),
            ("2025-12", "2026-01-01T00:00:00Z"),
            ("2026-02", "2026-03-01T00:00:00Z"),
            ("2026-02-28", "2026-03-01T00:00:00Z"),
            ("2026-02-28T23:59:59Z", "2026-03-01T00:00:00Z"),
        ] {
            let end = end.parse::<DateTime<Utc>>().unwrap();
            assert_eq!(date(text).end_time(&TimeZone::UTC), Some(end), "{text}");
        }
    }

    #[test]
    fn dates_are_parsed_in_many_notations() {
        for (text, same) in [
            (" 1972 ", "1972"),
            ("-43", "-0043"),
            ("44 BC", "-0043"),
            ("44 bce", "-0043"),
            ("1 BC", "0000"),
            ("79 AD", "0079"),
            ("79 CE", "0079"),
            ("+1972", "1972"),
            ("15 March 44 BC", "-0043-03-15"),
            ("march 44 bce", "-0043-03"),
            ("5  May 1972", "1972-05-05"),
            ("May 1972", "1972-05"),
            ("24 August 79 AD", "0079-08-24"),
            ("2026-03-01T12:00:00+01:00", "2026-03-01T11:00:00Z"),
        ] {
            assert_eq!(date(text), date(same), "{text}");
        }
    }

    #[test]
    fn ambiguous_and_invalid_dates_are_refused() {
        for text in [
            "",
            "79",
            "1972-5",
            "20260301",
            "12000",
            "-0",
            "-0000",
            "-44-03-15",
            "1972-13",
            "1971-02-29",
            "1900-02-29",
            "0 BC",
            "1972-01-01-01",
            "Jan 1972",
            "May 79",
            "31 June 1972",
            "44-03-15 BC",
            "BC",
            "March BC",
            "last spring",
            "1972-",
            "2026-03-01T25:00:00Z",
            "2026-03-01 12:00",
            "１９７２",
            "+-43",
            "--43",
        ] {
            assert_eq!(text.parse::<Date>(), Err(DateError(text.to_owned())), "{text}");
        }
        assert!("2000-02-29".parse::<Date>().is_ok());
        assert!("-0004-02-29".parse::<Date>().is_ok(), "5 BC was a leap year");
    }

    #[test]
    fn a_displayed_date_parses_to_the_same_date() {
        for text in ["-0043-03-15", "-0043-03", "-0043", "0000", "0079", "1972-01", "+12000"] {
            assert_eq!(date(&date(text).to_string()), date(text), "{text}");
        }
    }

    #[test]
    fn a_year_without_leading_zeros_is_refused_with_a_hint() {
        let refusal = "768".parse::<Date>().unwrap_err().to_string();
        assert_eq!(refusal, "`768` is no date: for the year 768 write 0768");
        assert!("0".parse::<Date>().unwrap_err().to_string().contains("write 1972"));
    }

    #[test]
    fn dates_sort_by_their_beginning() {
        let order = [
            "-66000000",
            "247 BC",
            "-0215-08-02",
            "-0100",
            "-99",
            "0000",
            "0079-08-24",
            "1972",
            "1972-01",
            "1972-01-01",
            "1972-01-01T00:00:00Z",
            "1972-01-02",
            "1972-02",
            "1973",
            "+12000",
        ];
        assert!(order.map(date).is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn a_year_begins_with_its_first_moment() {
        assert!(date("1972").has_begun_by(date("1972-01-01")));
        assert!(date("1972-01-01T00:00:00Z").has_begun_by(date("1972")));
        assert!(!date("1972-01-01T00:00:01Z").has_begun_by(date("1972")));
        assert!(!date("1972").has_begun_by(date("1971-12-31T23:59:59Z")));
    }

    #[test]
    fn years_bc_are_displayed_without_a_year_zero() {
        let said = |text| date(text).format_if_bc();
        assert_eq!(said("-0215-08-02").as_deref(), Some("2 August 216 BC"));
        assert_eq!(said("-0043-03").as_deref(), Some("March 44 BC"));
        assert_eq!(said("0000").as_deref(), Some("1 BC"));
        assert_eq!(said("0001"), None);
    }

    #[test]
    fn a_date_is_displayed_as_precisely_as_it_was_written() {
        for text in ["0079", "1972", "1972-05", "1972-01-01", "2026-03-01T12:00:07Z", "+12000-02"] {
            assert_eq!(date(text).to_string(), text);
        }
        assert_eq!(date("-0043-03-15").to_string(), "15 March 44 BC");
    }
}
