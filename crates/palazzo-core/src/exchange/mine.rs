//! Extracts texts from documents, transcripts and exports, to be filed word for word.

use chrono::{DateTime, NaiveDate, NaiveTime, Utc};

use crate::exchange::extraction_result::ExtractedText;
use crate::exchange::extraction_result::ExtractionResult;

use crate::exchange::conversation::TITLE_SEPARATOR;
use crate::exchange::{agent_transcripts, chat_exports};
use crate::model::{
    DocumentProperties, Headings, MAX_FILE_BYTES, TimeZone, document_date, document_title,
    parse_written_time, time_in_file_name, title_from_file_name,
};

/// The size above which documents are split at their headings.
const MAX_UNCUT_BYTES: usize = 6_000;

/// The kind of a file to mine, by its extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceKind {
    /// Markdown or plain text.
    Document,
    /// A transcript of a coding agent.
    Transcript,
    /// An export of a web client.
    Export,
}

impl SourceKind {
    /// Returns the kind of a file with this name; `None` if it cannot be mined.
    pub fn from_file_name(file: &str) -> Option<Self> {
        match file.rsplit_once('.')?.1.to_lowercase().as_str() {
            "md" | "markdown" | "txt" => Some(Self::Document),
            "jsonl" => Some(Self::Transcript),
            "json" => Some(Self::Export),
            _ => None,
        }
    }

    /// Extracts the texts of the file that is called `name`. Texts of documents are for `room`, those of
    /// conversations for rooms of their own. Returns `None` if the file is of another kind.
    pub fn extract_texts_of_file(
        self,
        text: &str,
        name: &str,
        room: &str,
    ) -> Option<ExtractionResult> {
        if text.trim().is_empty() {
            return Some(ExtractionResult::default());
        }
        let json = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut extracted = match self {
            Self::Document => {
                let mut texts = split_document(text, room);
                title_pieces(&mut texts, text, name);
                date_pieces(&mut texts, text, name);
                ExtractionResult { texts, ..ExtractionResult::default() }
            }
            Self::Transcript => agent_transcripts::parse_transcript(json)?,
            Self::Export => chat_exports::parse_export(json)?,
        };
        let named = time_in_file_name(name, &TimeZone::UTC);
        if let Some(time) = named.filter(|_| self == Self::Transcript) {
            extracted.texts.iter_mut().for_each(|it| it.conversation_at = Some(time));
        }
        extracted.texts = extracted.texts.into_iter().flat_map(cut_large_text).collect();
        Some(extracted)
    }
}

fn split_document(text: &str, room: &str) -> Vec<ExtractedText> {
    let sections = if text.len() > MAX_UNCUT_BYTES { split_sections(text) } else { vec![text] };
    let mut next_line = 1;
    let extract = |it: &str| {
        let first_line = Some(next_line);
        next_line += it.matches('\n').count();
        let (room, text) = (room.to_owned(), it.to_owned());
        ExtractedText { room, text, first_line, ..ExtractedText::default() }
    };
    let texts = sections.into_iter().map(extract);
    texts.filter(|it| !it.text.trim().is_empty()).collect()
}

/// Splits a document before each heading of the first two levels. Together the sections are the
/// document, byte for byte.
fn split_sections(text: &str) -> Vec<&str> {
    let (mut sections, mut start) = (Vec::new(), 0);
    let body_start = text.len() - DocumentProperties::parse(text).body.len();
    for heading in Headings::of(text).filter(|it| it.level <= 2) {
        // Front matter belongs to the first section.
        if !text[start.max(body_start)..heading.at].trim().is_empty() {
            sections.push(&text[start..heading.at]);
            start = heading.at;
        }
    }
    sections.push(&text[start..]);
    sections
}

/// Gives each piece of a document the title `document › heading`, unless the piece begins with the
/// title of the document. A document in one piece has its own title, or that of its file's name.
fn title_pieces(pieces: &mut [ExtractedText], text: &str, file_name: &str) {
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
fn date_pieces(pieces: &mut [ExtractedText], text: &str, file_name: &str) {
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

/// Limit for the size of a text, so that its front matter also fits into a file.
const MAX_TEXT_BYTES: usize = MAX_FILE_BYTES / 8 * 7;

/// The deepest level of headings.
const DEEPEST_HEADING: usize = 6;

/// Cuts a text that is too large into texts which together are the whole, byte for byte, but for
/// blank ones. A smaller text stays whole.
fn cut_large_text(mut text: ExtractedText) -> Vec<ExtractedText> {
    if text.text.len() <= MAX_TEXT_BYTES {
        return vec![text];
    }
    let whole = std::mem::take(&mut text.text);
    // Older versions filed no text that is too large.
    text.older.clear();
    let pieces = cut(&whole, MAX_TEXT_BYTES).into_iter().map(|piece| {
        let cut = ExtractedText { text: piece.to_owned(), ..text.clone() };
        text.first_line = text.first_line.map(|it| it + piece.matches('\n').count());
        cut
    });
    pieces.filter(|it| !it.text.trim().is_empty()).collect()
}

/// Cuts a text into pieces of at most `limit` bytes: before the headings of the first level at which
/// it has some, then those of the next one; a piece without headings after a paragraph, else after a
/// line, else between two characters.
fn cut(text: &str, limit: usize) -> Vec<&str> {
    let mut pieces = vec![text];
    for level in 1..=DEEPEST_HEADING {
        let cut = |piece| {
            if is_larger(piece, limit) { split_at_headings(piece, level) } else { vec![piece] }
        };
        pieces = pieces.into_iter().flat_map(cut).collect();
    }
    pieces.into_iter().flat_map(|it| cut_at_paragraphs(it, limit)).collect()
}

fn is_larger(text: &str, limit: usize) -> bool {
    text.len() > limit
}

/// Splits a text before each heading of a level that is not in a code block. Headings above it that
/// have no text of their own stay with it.
fn split_at_headings(text: &str, level: usize) -> Vec<&str> {
    let has_text = |it: &str| it.lines().any(|it| !it.starts_with('#') && !it.trim().is_empty());
    let (mut pieces, mut start) = (Vec::new(), 0);
    for heading in Headings::of(text).filter(|it| it.level == level) {
        if has_text(&text[start..heading.at]) {
            pieces.push(&text[start..heading.at]);
            start = heading.at;
        }
    }
    pieces.push(&text[start..]);
    pieces
}

fn cut_at_paragraphs(mut text: &str, limit: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    while is_larger(text, limit) {
        let end = (0..=limit).rev().find(|it| text.is_char_boundary(*it)).unwrap_or(text.len());
        let start = &text[..end];
        let after = |end: &str| start.rfind(end).map(|it| it + end.len());
        let paragraph = after("\n\n").max(after("\n\r\n"));
        let end = paragraph.or_else(|| after("\n")).filter(|it| !start[..*it].trim().is_empty());
        let (piece, rest) = text.split_at(end.unwrap_or(start.len()));
        pieces.push(piece);
        text = rest;
    }
    pieces.push(text);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_document_is_split_at_its_headings_without_loss() {
        let body = "Words.\n".repeat(400);
        let text = format!(
            "\n# One\n{body}## Two\n```\n# no heading\n```\n{body}### deeper\n{body}# Three\nEnd."
        );
        let starts: Vec<_> =
            split_sections(&text).iter().map(|it| it.trim().lines().next()).collect();
        assert_eq!(starts, [Some("# One"), Some("## Two"), Some("# Three")]);
        assert_eq!(split_sections(&text).concat(), text);
        assert_eq!(split_document("# One\n## Two\n", "r").len(), 1, "a short one is left whole");
        assert_eq!(split_document(" \n", "r"), []);
    }

    #[test]
    fn source_kinds_are_detected_by_file_name_and_content() {
        assert_eq!(SourceKind::from_file_name("a/b.MD"), Some(SourceKind::Document));
        assert_eq!(
            (SourceKind::from_file_name("a.png"), SourceKind::from_file_name("README")),
            (None, None)
        );
        assert_eq!(
            SourceKind::Transcript.extract_texts_of_file("{\"level\":\"info\"}\n", "a", "r"),
            None
        );
        assert_eq!(
            SourceKind::Export.extract_texts_of_file("{\"name\":\"left-pad\"}", "a", "r"),
            None
        );
        assert_eq!(SourceKind::Export.extract_texts_of_file("[{\"id\":1}]", "a", "r"), None);
    }

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

    #[test]
    fn the_pieces_of_a_large_text_are_the_whole() {
        let words = "Grey coal. ".repeat(5);
        let texts = [
            ("headings", format!("# A\n{words}\n### B\n{words}\n### C\n{words}\n#### D\n{words}")),
            ("paragraphs", format!("{words}\n\n").repeat(9)),
            ("windows", format!("{words}\r\n\r\n").repeat(9)),
            ("lines", format!("{words}\n").repeat(9)),
            ("words", words.repeat(9)),
            ("letters", "ü€".repeat(99)),
            ("blanks", "\n".repeat(300)),
            ("code", format!("{words}\n\n```\n### no heading\n```\n\n{words}\n\n{words}")),
        ];
        let mut shown = String::new();
        for (name, text) in texts {
            let pieces = cut(&text, 100);
            assert_eq!(pieces.concat(), text, "{name}");
            assert!(pieces.iter().all(|it| it.len() <= 100 && !it.is_empty()), "{name}");
            let starts = pieces.iter().map(|it| it.chars().take(6).collect::<String>());
            let starts = starts.collect::<Vec<_>>().join("|").replace('\n', "¶");
            shown.push_str(&format!("{name}: {starts}\n"));
        }
        insta::assert_snapshot!(shown, @"
        headings: # A¶Gr|### B¶|### C¶|#### D
        paragraphs: Grey c|Grey c|Grey c|Grey c|Grey c|Grey c|Grey c|Grey c|Grey c
        windows: Grey c|Grey c|Grey c|Grey c|Grey c|Grey c|Grey c|Grey c|Grey c
        lines: Grey c|Grey c|Grey c|Grey c|Grey c|Grey c|Grey c|Grey c|Grey c
        words: Grey c|rey co|ey coa|y coal| coal.
        letters: ü€ü€ü€|ü€ü€ü€|ü€ü€ü€|ü€ü€ü€|ü€ü€ü€
        blanks: ¶¶¶¶¶¶|¶¶¶¶¶¶|¶¶¶¶¶¶
        code: Grey c|Grey c|Grey c
        ");
    }

    #[test]
    fn a_large_text_keeps_its_place_and_lines() {
        let text = ExtractedText {
            wing: Some("w".to_owned()),
            room: "r".to_owned(),
            text: "Coal.\n\n".repeat(MAX_TEXT_BYTES / 6),
            first_line: Some(5),
            ..ExtractedText::default()
        };
        let small = ExtractedText { text: "Coal.".to_owned(), ..text.clone() };
        assert_eq!(cut_large_text(small.clone()), [small]);
        let whole = text.text.clone();
        let pieces = cut_large_text(text);
        assert_eq!(pieces.iter().map(|it| it.text.as_str()).collect::<String>(), whole);
        let (first, second) = (&pieces[0], &pieces[1]);
        assert_eq!(pieces.len(), 2);
        assert_eq!(second.first_line, Some(5 + first.text.matches('\n').count()));
        assert_eq!((first.room.as_str(), first.wing.as_deref()), ("r", Some("w")));
        let grown = whole + "More.";
        let same = cut(&grown, MAX_TEXT_BYTES)[0] == first.text;
        assert!(same, "the first piece stays when a text grows");
    }
}
