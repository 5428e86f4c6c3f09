//! Parses times as people write them in their notes.

use chrono::{DateTime, FixedOffset, NaiveDate, NaiveDateTime, NaiveTime, Utc};

use crate::model::TimeZone;

/// Days in figures. Those with day and month in front are only clear with dots.
const DAY_FORMATS: &[&str] =
    &["%Y-%m-%d", "%Y/%m/%d", "%Y_%m_%d", "%Y.%m.%d", "%d.%m.%Y", "%Y%m%d"];
/// Days with the name of the month, without commas and the endings of ordinal numbers.
const WORD_FORMATS: &[&str] = &["%B %d %Y", "%d %B %Y"];
const TIME_FORMATS: &[&str] = &["%H:%M:%S%.f", "%H:%M", "%I:%M %p", "%I:%M:%S %p", "%I:%M%p"];

/// Parses a time, or the start of a day. Without an offset it is one of `zone`.
pub fn parse_written_time(text: &str, zone: &TimeZone) -> Option<DateTime<Utc>> {
    let text = text.trim().trim_start_matches("[[").trim_end_matches("]]").trim();
    if let Ok(time) =
        DateTime::parse_from_rfc3339(text).or_else(|_| DateTime::parse_from_rfc2822(text))
    {
        return Some(time.to_utc());
    }
    let (day, time) = split_day(text)?;
    let (time, offset) = parse_time(time.trim())?;
    let time = NaiveDateTime::new(day, time);
    match offset {
        Some(offset) => Some(time.and_local_timezone(offset).single()?.to_utc()),
        None => Some(zone.to_utc(time)),
    }
}

/// Parses the day at the start of a text, and returns the rest.
fn split_day(text: &str) -> Option<(NaiveDate, &str)> {
    let text = text.trim_end_matches(['>', ')']).trim_start_matches('<');
    let end = text.find([' ', 'T', 't', ',']).unwrap_or(text.len());
    let parse = |it: &str, format: &&str| NaiveDate::parse_from_str(it, format).ok();
    if let Some(day) = DAY_FORMATS.iter().find_map(|format| parse(&text[..end], format)) {
        // A year of two digits would be one of the first century.
        let is_clear = (1000..10_000).contains(&chrono::Datelike::year(&day));
        let rest = text[end..].trim_start_matches(['T', 't', ',', ' ']);
        return is_clear.then_some((day, rest));
    }
    let is_weekday = |it: &str| it.parse::<chrono::Weekday>().is_ok();
    let text = match text.split_once([' ', ',']) {
        Some((first, rest)) if is_weekday(first) => rest.trim_start_matches([' ', ',']),
        _ => text,
    };
    let mut words = text.splitn(4, ' ');
    let day: Vec<_> = words.by_ref().take(3).map(day_word).collect();
    let day = WORD_FORMATS.iter().find_map(|format| parse(&day.join(" "), format))?;
    Some((day, words.next().unwrap_or_default()))
}

/// Returns a word of a day without comma, and without the ending of an ordinal number.
fn day_word(word: &str) -> &str {
    let word = word.trim_end_matches([',', '.']);
    let number = word.trim_end_matches(|it: char| it.is_ascii_alphabetic());
    match &word[number.len()..] {
        "st" | "nd" | "rd" | "th" if !number.is_empty() => number,
        _ => word,
    }
}

/// Parses the time after a day: midnight, if there is none.
fn parse_time(text: &str) -> Option<(NaiveTime, Option<FixedOffset>)> {
    if text.is_empty() || !text.starts_with(|it: char| it.is_ascii_digit()) {
        return Some((NaiveTime::MIN, None));
    }
    let is_zone = |it: char| matches!(it, '+' | '-' | 'Z' | 'z');
    let words_end = text.find(is_zone).or_else(|| text.find(" UTC").or_else(|| text.find(" GMT")));
    let (time, zone) = text.split_at(words_end.unwrap_or(text.len()));
    let time = time.trim().to_uppercase();
    let parse = |format: &&str| NaiveTime::parse_from_str(&time, format).ok();
    let time = TIME_FORMATS.iter().find_map(parse)?;
    let is_utc = zone.contains(['Z', 'z', 'U', 'G']);
    let utc = FixedOffset::east_opt(0).filter(|_| is_utc);
    Some((time, parse_offset(zone.trim()).or(utc)))
}

/// Parses an offset: `+01:00`, `+0100`, `+01`.
fn parse_offset(zone: &str) -> Option<FixedOffset> {
    let zone = match zone.len() {
        3 => format!("{zone}:00"),
        _ => zone.to_owned(),
    };
    zone.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_days_are_read_as_people_write_them() {
        let day = "2026-03-01 00:00:00 UTC";
        let hour = "2026-03-01 09:30:00 UTC";
        for (text, expected) in [
            ("2026-03-01", day),
            ("2026/03/01", day),
            ("2026/3/1", day),
            ("2026_03_01", day),
            ("2026.03.01", day),
            ("20260301", day),
            ("01.03.2026", day),
            ("March 1, 2026", day),
            ("Mar 1st, 2026", day),
            ("1 March 2026", day),
            ("Sunday, March 1, 2026", day),
            ("[[2026-03-01]]", day),
            ("2026-03-01 Sun", day),
            ("<2026-03-01 Sun>", day),
            ("2026-03-01T09:30:00Z", hour),
            ("2026-03-01 09:30:00", hour),
            ("2026-03-01 09:30", hour),
            ("2026-03-01T09:30", hour),
            ("2026/03/01 09:30:00", hour),
            ("2026-03-01 10:30:00 +0100", hour),
            ("2026-03-01 10:30:00 +01:00", hour),
            ("2026-03-01T10:30:00.000+01:00", hour),
            ("2026-03-01 04:30 -05", hour),
            ("2026-03-01 9:30 AM", hour),
            ("March 1, 2026 9:30 am", hour),
            ("2026-03-01 09:30:00 UTC", hour),
            ("Sun, 01 Mar 2026 10:30:00 +0100", hour),
        ] {
            let time = parse_written_time(text, &TimeZone::UTC).map(|it| it.to_string());
            assert_eq!(time.as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_unclear_is_no_time() {
        for text in [
            "",
            "March",
            "03/04/2026",
            "3/4/26",
            "26-03-01",
            "2026-13-01",
            "2026",
            "soon",
            "2026-03-01 at 25:00x",
        ] {
            let time = parse_written_time(text, &TimeZone::UTC).map(|it| it.to_string());
            let allowed =
                text.starts_with("2026-03-01").then_some("2026-03-01 00:00:00 UTC".to_owned());
            assert_eq!(time, allowed, "{text}");
        }
        assert_eq!(parse_written_time("2026-03-01 25:00", &TimeZone::UTC), None);
    }
}
