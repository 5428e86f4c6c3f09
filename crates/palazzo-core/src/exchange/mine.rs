//! Extracts texts from documents, transcripts and exports, to be filed word for word.

use crate::exchange::extraction_result::ExtractedText;
use crate::exchange::extraction_result::ExtractionResult;

use crate::exchange::document::{date_pieces, title_pieces};
use crate::exchange::large_texts::cut_large_text;
use crate::exchange::{agent_transcripts, chat_exports};
use crate::model::{DocumentProperties, Headings, TimeZone, time_in_file_name};

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
}
