//! Reads the title and the time of a document from the name of its file.

use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, Utc};

use crate::model::TimeZone;

/// The least number of letters for which the name of a file is a title.
const MIN_TITLE_LETTERS: usize = 2;
/// The least number of hexadecimal digits that are the id of a program.
const MIN_ID_DIGITS: usize = 16;
/// The characters between a day and the words behind it.
const SEPARATORS: &[char] = &['-', '_', '.', ' '];

/// A day, or a time, in the name of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct NamedTime {
    /// The byte at which it begins.
    start: usize,
    /// The byte at which it ends.
    end: usize,
    at: NaiveDateTime,
}

/// Returns the title that the name of a file gives to its document: its words without the day before
/// them. A day alone and the id of a program are no title: the first words of the text say more.
pub fn title_from_file_name(name: &str) -> Option<String> {
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem).trim_matches(['.', ' ']);
    let words = match NamedTime::find(stem).filter(|it| it.start == 0) {
        Some(time) => stem[time.end..].trim_start_matches(SEPARATORS),
        None => stem,
    };
    // Logseq writes a slash as three underscores.
    let words = without_id(words).replace("___", "/");
    let words = if words.contains(' ') { words } else { words.replace(['-', '_'], " ") };
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    let letters = words.chars().filter(|it| it.is_alphabetic());
    let has_letters =
        letters.clone().count() >= MIN_TITLE_LETTERS || letters.clone().any(|it| !it.is_ascii());
    let is_untitled = words.to_lowercase().strip_prefix("untitled").is_some_and(is_number);
    (has_letters && !is_untitled).then_some(words)
}

/// Returns the first time or day in the name of a file, the year first; it is one of `zone`.
pub fn time_in_file_name(name: &str, zone: &TimeZone) -> Option<DateTime<Utc>> {
    NamedTime::find(name).map(|it| zone.to_utc(it.at))
}

impl NamedTime {
    fn find(name: &str) -> Option<Self> {
        let starts = name.char_indices().filter(|(_, it)| it.is_ascii_digit());
        starts.map(|(start, _)| start).find_map(|it| Self::at(name, it))
    }

    /// Returns the time that begins at the byte `start`.
    fn at(name: &str, start: usize) -> Option<Self> {
        let (before, text) = (name[..start].chars().next_back(), &name[start..]);
        if before.is_some_and(|it| it.is_ascii_digit()) {
            return None;
        }
        let digits = leading_digits(text);
        // In figures without separators, only a whole word is clear.
        if digits.len() > 4 {
            let is_after_word = before.is_some_and(char::is_alphanumeric);
            let time = if is_after_word { None } else { parse_compact(text, digits) };
            return time.map(|(at, len)| Self { start, end: start + len, at });
        }
        let day = text.get(.."2026-03-01".len())?;
        let separator = day.chars().nth(4).filter(|it| matches!(it, '-' | '_' | '.'))?;
        let is_digit_or_separator = |(place, it): (usize, char)| match place {
            4 | 7 => it == separator,
            _ => it.is_ascii_digit(),
        };
        let is_cut = text[day.len()..].starts_with(|it: char| it.is_ascii_digit());
        let figures = day.replace(separator, "");
        let date = NaiveDate::parse_from_str(&figures, "%Y%m%d").ok()?;
        let (time, len) = parse_time_after(&text[day.len()..]).unwrap_or_default();
        let is_day = day.char_indices().all(is_digit_or_separator) && !is_cut;
        is_day.then_some(Self { start, end: start + day.len() + len, at: date.and_time(time) })
    }
}

/// Parses a day without separators, `20260301`, maybe with a time: `202603011030`, `20260301T1030`.
/// Returns it with its length.
fn parse_compact(text: &str, digits: &str) -> Option<(NaiveDateTime, usize)> {
    let date = NaiveDate::parse_from_str(digits.get(..8)?, "%Y%m%d").ok()?;
    let is_likely = (1900..2200).contains(&chrono::Datelike::year(&date));
    let rest = &text[digits.len()..];
    let (time, len) = match digits.len() {
        8 => parse_time_after(rest).unwrap_or_default(),
        12 | 14 => (parse_time(&digits[8..])?, 0),
        _ => return None,
    };
    let end = digits.len() + len;
    let is_cut = text[end..].starts_with(char::is_alphanumeric);
    (is_likely && !is_cut).then_some((date.and_time(time), end))
}

/// Parses the time after a day: `T1030`, `T10-30-00`, `_103000`. Returns it with its length.
fn parse_time_after(text: &str) -> Option<(NaiveTime, usize)> {
    let mark = text.chars().next().filter(|it| matches!(it, 'T' | 't' | '_' | '-' | ' '))?;
    let rest = &text[1..];
    let end = rest.find(|it: char| !it.is_ascii_digit() && !matches!(it, '-' | '.' | ':'));
    let written = rest[..end.unwrap_or(rest.len())].trim_end_matches(['-', '.', ':']);
    let is_whole = written.len() == 6 && leading_digits(written).len() == 6;
    let time = parse_time(&written.replace(['-', '.', ':'], ""));
    let is_clear = matches!(mark, 'T' | 't') || is_whole;
    Some((time.filter(|_| is_clear)?, 1 + written.len()))
}

/// Parses a time of four or six figures.
fn parse_time(figures: &str) -> Option<NaiveTime> {
    let number = |at: usize| figures.get(at..at + 2).map_or(Some(0), |it| it.parse().ok());
    let is_time = matches!(figures.len(), 4 | 6);
    NaiveTime::from_hms_opt(number(0)?, number(2)?, number(4)?).filter(|_| is_time)
}

fn leading_digits(text: &str) -> &str {
    let end = text.find(|it: char| !it.is_ascii_digit()).unwrap_or(text.len());
    &text[..end]
}

/// Returns the words in a name without the id that a program wrote: a hash or a number that is all
/// of it, or its last word.
fn without_id(words: &str) -> &str {
    let is_id = |it: &str| {
        let digits = it.chars().filter(|it| *it != '-').count();
        let is_hexadecimal = it.chars().all(|it| it.is_ascii_hexdigit() || it == '-');
        it.parse::<ulid::Ulid>().is_ok()
            || digits >= MIN_ID_DIGITS
                && is_hexadecimal
                && it.contains(|it: char| it.is_ascii_digit())
    };
    match words.rsplit_once(' ') {
        _ if is_id(words) => "",
        Some((before, last)) if is_id(last) => before,
        _ => words,
    }
}

fn is_number(text: &str) -> bool {
    text.chars().all(|it| it.is_ascii_digit() || it == ' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_name_are_a_title() {
        for (name, title) in [
            ("Coal seams.md", Some("Coal seams")),
            ("coal-seams.md", Some("coal seams")),
            ("coal_seams.txt", Some("coal seams")),
            ("sub-seam of coal.md", Some("sub-seam of coal")),
            ("2026-03-01-coal-mine.markdown", Some("coal mine")),
            ("2026-03-01 coal.md", Some("coal")),
            ("2026-03-01T1200 coal.md", Some("coal")),
            ("20260301_coal.md", Some("coal")),
            ("202603011030 Coal.md", Some("Coal")),
            ("2001 A Space Odyssey.md", Some("2001 A Space Odyssey")),
            ("geology___coal.md", Some("geology/coal")),
            ("Coal 1a2b3c4d5e6f7a8b9c0d1a2b3c4d5e6f.md", Some("Coal")),
            (".aider.notes.md", Some("aider.notes")),
            ("石.md", Some("石")),
            ("AI.md", Some("AI")),
            ("2025-06-01.md", None),
            ("20250601T1030.md", None),
            ("202603011030.md", None),
            ("a.md", None),
            ("0042.md", None),
            ("Untitled 1.md", None),
            ("1a2b3c4d5e6f7a8b9c0d.md", None),
            ("0f8fad5b-d9cb-469f-a165-70867728950e.md", None),
            ("01KJMM4N00F2JXHH4DQ7YF03TN.md", None),
        ] {
            assert_eq!(title_from_file_name(name).as_deref(), title, "{name}");
        }
    }

    #[test]
    fn the_time_in_a_name_has_the_year_first() {
        let (day, noon) = ("2026-03-01 00:00:00 UTC", "2026-03-01 12:30:00 UTC");
        for (name, time) in [
            ("2026-03-01.md", Some(day)),
            ("2026_03_01.md", Some(day)),
            ("2026.03.01.md", Some(day)),
            ("20260301.md", Some(day)),
            ("2026-03-01 words.md", Some(day)),
            ("2026-03-01-1984 again.md", Some(day)),
            ("20260301-words.md", Some(day)),
            ("Über 2026-03-01-plan.md", Some(day)),
            ("x-2026_03_01_b.txt", Some(day)),
            ("2026-03-01T1230.md", Some(noon)),
            ("2026-03-01T12-30-00 words.md", Some(noon)),
            ("2026-03-01T12:30Z.md", Some(noon)),
            ("20260301T1230.md", Some(noon)),
            ("20260301_123000.md", Some(noon)),
            ("202603011230 Words.md", Some(noon)),
            ("01-03-2026.md", None),
            ("2026-13-01.md", None),
            ("12026-03-01.md", None),
            ("2026-03-011.md", None),
            ("2026-3-1-a-b.md", None),
            ("2026-03_01.md", None),
            ("3f20260301ab.md", None),
            ("12345678.md", None),
            ("é.md", None),
        ] {
            let found = time_in_file_name(name, &TimeZone::UTC).map(|it| it.to_string());
            assert_eq!(found.as_deref(), time, "{name}");
        }
    }
}
