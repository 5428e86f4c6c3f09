//! Extracts texts from documents, transcripts and exports, to be filed word for word.

use crate::exchange::extraction_result::ExtractedText;
use crate::exchange::extraction_result::ExtractionResult;
use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, Utc};

use crate::exchange::conversation::parse_timestamp;
use crate::exchange::large_texts::cut_large_text;
use crate::exchange::{agent_transcripts, chat_exports};

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
                let at = document_date(text).or_else(|| date_in_name(name));
                let texts = split_document(text, at, room);
                ExtractionResult { texts, ..ExtractionResult::default() }
            }
            Self::Transcript => agent_transcripts::parse_transcript(json)?,
            Self::Export => chat_exports::parse_export(json)?,
        };
        extracted.texts = extracted.texts.into_iter().flat_map(cut_large_text).collect();
        Some(extracted)
    }
}

fn split_document(text: &str, at: Option<DateTime<Utc>>, room: &str) -> Vec<ExtractedText> {
    let sections = if text.len() > MAX_UNCUT_BYTES { split_sections(text) } else { vec![text] };
    let mut next_line = 1;
    let extract = |it: &str| {
        let first_line = Some(next_line);
        next_line += it.matches('\n').count();
        let (room, text) = (room.to_owned(), it.to_owned());
        ExtractedText { room, text, at, first_line, ..ExtractedText::default() }
    };
    let texts = sections.into_iter().map(extract);
    texts.filter(|it| !it.text.trim().is_empty()).collect()
}

/// Parses the `date` in a document's front matter: a time, or the start of a day, in UTC
/// unless it has an offset.
fn document_date(text: &str) -> Option<DateTime<Utc>> {
    let mut lines = text.strip_prefix('\u{feff}').unwrap_or(text).lines();
    lines.next().filter(|it| it.trim_end() == "---")?;
    let mut matter = lines.take_while(|it| it.trim_end() != "---");
    let value = matter.find_map(|it| it.strip_prefix("date:"))?;
    let value = value.split(" #").next()?.trim().trim_matches(['"', '\'']);
    let without_offset = || value.replacen(' ', "T", 1).parse::<NaiveDateTime>().ok();
    let day = || Some(value.parse::<NaiveDate>().ok()?.and_time(NaiveTime::MIN));
    parse_timestamp(value).or_else(|| Some(without_offset().or_else(day)?.and_utc()))
}

/// Returns the day that the name of a file contains, `2026-03-01` or `2026_03_01`, as its start in UTC.
fn date_in_name(name: &str) -> Option<DateTime<Utc>> {
    let is_digit = |at: usize| name.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
    let day_at = |start: usize| {
        let day = name.get(start..start + "2026-03-01".len())?;
        let is_cut = start.checked_sub(1).is_some_and(is_digit) || is_digit(start + day.len());
        let format = if day.contains('_') { "%Y_%m_%d" } else { "%Y-%m-%d" };
        let day = NaiveDate::parse_from_str(day, format).ok().filter(|_| !is_cut)?;
        Some(day.and_time(NaiveTime::MIN).and_utc())
    };
    (0..name.len()).find_map(day_at)
}

/// Splits a document before each heading of the first two levels that is not in a code
/// block. Together the sections are the document, byte for byte.
fn split_sections(text: &str) -> Vec<&str> {
    let (mut sections, mut start, mut at, mut fenced) = (Vec::new(), 0, 0, false);
    for line in text.split_inclusive('\n') {
        fenced ^= line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
        let is_heading = line.starts_with("# ") || line.starts_with("## ");
        if is_heading && !fenced && !text[start..at].trim().is_empty() {
            sections.push(&text[start..at]);
            start = at;
        }
        at += line.len();
    }
    sections.push(&text[start..]);
    sections
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_without_a_date_has_that_of_its_name() {
        let date_of = |text: &str, name: &str| {
            let extracted = SourceKind::Document.extract_texts_of_file(text, name, "r").unwrap();
            extracted.texts[0].at.map(|it| it.date_naive().to_string())
        };
        let day = Some("2026-03-01".to_owned());
        for name in ["2026-03-01.md", "Über 2026-03-01-plan.md", "x-2026_03_01_b.txt"] {
            assert_eq!(date_of("Text.", name), day, "{name}");
        }
        for name in ["2026-13-01.md", "12026-03-01.md", "2026-03-011.md", "2026-3-1-a-b.md", "é.md"]
        {
            assert_eq!(date_of("Text.", name), None, "{name}");
        }
        assert_eq!(date_of("---\ndate: 2026-03-01\n---\nText.", "2020-01-01.md"), day);
    }

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
        assert_eq!(
            split_document("# One\n## Two\n", None, "r").len(),
            1,
            "a short one is left whole"
        );
        assert_eq!(split_document(" \n", None, "r"), []);
    }

    #[test]
    fn the_date_of_a_document_is_read_from_its_front_matter() {
        let date_of = |it: &str| document_date(&format!("---\ntitle: T\n{it}\n---\nText.\n"));
        let shown = |it| date_of(it).map(|it| it.to_string());
        let day = Some("2026-03-01 00:00:00 UTC".to_owned());
        assert_eq!(shown("date: 2026-03-01"), day);
        assert_eq!(shown("date: '2026-03-01' # of the draft"), day);
        let hour = Some("2026-03-01 09:30:00 UTC".to_owned());
        assert_eq!(shown("date: 2026-03-01T10:30:00+01:00"), hour);
        assert_eq!(shown("date: 2026-03-01 09:30:00"), hour);
        assert_eq!((shown("date: March"), shown("update: 2026-03-01")), (None, None));
        assert_eq!(document_date("date: 2026-03-01\n"), None, "that is the text itself");
        assert_eq!(document_date("---\nText.\n---\ndate: 2026-03-01\n"), None);
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
}
