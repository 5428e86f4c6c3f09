//! Titles and dates of a document's pieces.

use chrono::{DateTime, NaiveDate, NaiveTime, Utc};

use crate::exchange::ExtractedText;
use crate::exchange::conversation::TITLE_SEPARATOR;
use crate::model::{
    Headings, TimeZone, document_date, document_title, parse_written_time, time_in_file_name,
    title_from_file_name,
};

/// Gives each piece of a document the title `document › heading`, unless the piece begins with the
/// title of the document. A document in one piece has its own title, or that of its file's name.
pub(super) fn title_pieces(pieces: &mut [ExtractedText], text: &str, file_name: &str) {
    let own_title = document_title(text);
    let named = title_from_file_name(file_name);
    if let [piece] = pieces {
        piece.title = named.filter(|_| own_title.is_none());
        return;
    }
    let stem = file_name.rsplit_once('.').map_or(file_name, |(stem, _)| stem);
    let title = own_title.or(named).unwrap_or_else(|| stem.to_owned());
    let mut heading = String::new();
    for (number, piece) in pieces.iter_mut().enumerate() {
        let own = Headings::of(&piece.text).next().map(|it| it.text.to_owned());
        let has_title = document_title(&piece.text).is_some_and(|it| it == title);
        heading = own.unwrap_or(heading);
        piece.title = match heading == title || heading.is_empty() {
            _ if number == 0 && has_title => None,
            true => Some(title.clone()),
            false => Some(format!("{title}{TITLE_SEPARATOR}{heading}")),
        };
    }
}

/// Gives each piece of a document its date: that of its properties, or of its name, or of the
/// heading of the piece, or the first one in a heading of the document.
pub(super) fn date_pieces(pieces: &mut [ExtractedText], text: &str, file_name: &str) {
    let zone = &TimeZone::UTC;
    let date = document_date(text, zone).or_else(|| time_in_file_name(file_name, zone));
    let first = date.or_else(|| date_in_headings(text));
    for piece in pieces {
        piece.at = date.or_else(|| date_in_headings(&piece.text)).or(first);
    }
}

/// Returns the first time or day in a heading, or in a bold line, as above a message.
fn date_in_headings(text: &str) -> Option<DateTime<Utc>> {
    let bold = text.lines().map(str::trim_start).filter(|it| it.starts_with(['*', '_']));
    let bold = bold.filter(|it| it.trim_start_matches(['*', '_']).len() + 2 <= it.len());
    let mut lines = Headings::of(text).map(|it| it.text).chain(bold);
    lines.find_map(|line| {
        let (at, day) = find_day(line)?;
        let rest = line[at..].trim_end_matches(['*', '_', ')', ':', ']', ' ']);
        parse_written_time(rest, &TimeZone::UTC).or(Some(day))
    })
}

/// Returns the first day in a line, as its start in UTC, and where it is.
fn find_day(line: &str) -> Option<(usize, DateTime<Utc>)> {
    let is_digit = |at: usize| line.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
    let day_at = |start: usize| {
        let day = line.get(start..start + "2026-03-01".len())?;
        let is_cut = start.checked_sub(1).is_some_and(is_digit) || is_digit(start + day.len());
        let format = if day.contains('_') { "%Y_%m_%d" } else { "%Y-%m-%d" };
        let day = NaiveDate::parse_from_str(day, format).ok().filter(|_| !is_cut)?;
        Some((start, day.and_time(NaiveTime::MIN).and_utc()))
    };
    (0..line.len()).find_map(day_at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(texts: &[&str]) -> Vec<ExtractedText> {
        let piece =
            |it: &&str| ExtractedText { text: (*it).to_owned(), ..ExtractedText::default() };
        texts.iter().map(piece).collect()
    }

    fn titles(texts: &[&str], file_name: &str) -> Vec<Option<String>> {
        let mut pieces = pieces(texts);
        title_pieces(&mut pieces, &texts.concat(), file_name);
        pieces.into_iter().map(|it| it.title).collect()
    }

    fn dates(texts: &[&str], file_name: &str) -> Vec<Option<String>> {
        let mut pieces = pieces(texts);
        date_pieces(&mut pieces, &texts.concat(), file_name);
        pieces.into_iter().map(|it| it.at.map(|it| it.format("%F %R").to_string())).collect()
    }

    #[test]
    fn a_piece_has_the_title_of_the_document_and_its_heading() {
        let some = |it: &str| Some(it.to_owned());
        assert_eq!(
            titles(&["# Coal\nBlack.\n", "## Seams\nGrey.\n", "More.\n"], "a.md"),
            [None, some("Coal › Seams"), some("Coal › Seams")]
        );
        assert_eq!(
            titles(&["---\ntitle: Coal\n---\n# One\n", "# Two\n"], "a.md"),
            [None, some("Coal › Two")]
        );
        assert_eq!(titles(&["Black.\n"], "coal-seams.md"), [some("coal seams")]);
        assert_eq!(titles(&["Black.\n"], "a.md"), [None]);
        assert_eq!(titles(&["Black.\n", "Grey.\n"], "coal.md"), [some("coal"), some("coal")]);
        assert_eq!(titles(&["# Coal\n"], "a.md"), [None]);
    }

    #[test]
    fn a_document_without_a_date_has_that_of_its_name() {
        let day = Some("2026-03-01 00:00".to_owned());
        assert_eq!(dates(&["Text."], "20260301 plan.md")[0], day);
        assert_eq!(dates(&["Text."], "01-03-2026.md")[0], None);
        assert_eq!(dates(&["---\ndate: 2026-03-01\n---\nText."], "2020-01-01.md")[0], day);
        assert_eq!(dates(&["date:: [[2026-03-01]]\n"], "a.md")[0], day);
    }

    #[test]
    fn the_messages_of_a_written_conversation_have_their_dates() {
        let some = |it: &str| Some(it.to_owned());
        assert_eq!(
            dates(
                &[
                    "Intro.\n",
                    "# chat started at 2026-03-01 10:30:00\nHi.\n",
                    "# chat started at 2026-03-02 11:00:00\nHi.\n"
                ],
                "history.md"
            ),
            [some("2026-03-01 10:30"), some("2026-03-01 10:30"), some("2026-03-02 11:00")]
        );
        assert_eq!(
            dates(&["_**User (2026-03-01 10:30Z)**_\n\nHi.\n"], "a.md"),
            [some("2026-03-01 10:30")]
        );
        assert_eq!(dates(&["## Plan for 2026-03-01: coal\n"], "a.md"), [some("2026-03-01 00:00")]);
        assert_eq!(dates(&["It was on 2026-03-01.\n* 2026-03-01\n"], "a.md"), [None]);
    }
}
