//! Texts taken from files of any kind, to be filed word for word.

use chrono::{DateTime, Utc};

use crate::exchange::{exports, transcripts};

/// Documents of more bytes are cut at their headings.
const LONG: usize = 6_000;

/// A text to be filed, and where its source would have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mined {
    /// The wing, if the source knows one: the project a conversation was about.
    pub wing: Option<String>,
    /// The room.
    pub room: String,
    /// The text.
    pub text: String,
    /// When it was said or written, if the source knows.
    pub at: Option<DateTime<Utc>>,
}

/// What a file may be, by the end of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lode {
    /// Markdown or plain text.
    Document,
    /// A transcript of a coding agent.
    Transcript,
    /// An export of a web client.
    Export,
}

impl Lode {
    /// Returns what a file of that name may be; `None`: nothing to be mined.
    pub fn of(file: &str) -> Option<Self> {
        match file.rsplit_once('.')?.1.to_lowercase().as_str() {
            "md" | "markdown" | "txt" => Some(Self::Document),
            "jsonl" => Some(Self::Transcript),
            "json" => Some(Self::Export),
            _ => None,
        }
    }

    /// Takes out of a file what is to be filed: of a document for `room`, of a
    /// conversation for where it belongs. `None`: the file is of another kind.
    pub fn mine(self, text: &str, room: &str) -> Option<Vec<Mined>> {
        match self {
            Self::Document => Some(document(text, room)),
            Self::Transcript => transcripts::read(text),
            Self::Export => exports::read(text),
        }
    }
}

fn document(text: &str, room: &str) -> Vec<Mined> {
    let sections = if text.len() > LONG { sections(text) } else { vec![text] };
    let told = sections.into_iter().filter(|it| !it.trim().is_empty());
    let mined =
        |it: &str| Mined { wing: None, room: room.to_owned(), text: it.to_owned(), at: None };
    told.map(mined).collect()
}

/// Cuts a document before each heading of the first two ranks that is not in a
/// block of code. Together the sections are the document, byte for byte.
fn sections(text: &str) -> Vec<&str> {
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
    fn a_long_document_is_cut_at_its_headings_and_loses_nothing() {
        let body = "Words.\n".repeat(400);
        let text = format!(
            "\n# One\n{body}## Two\n```\n# no heading\n```\n{body}### deeper\n{body}# Three\nEnd."
        );
        let starts: Vec<_> = sections(&text).iter().map(|it| it.trim().lines().next()).collect();
        assert_eq!(starts, [Some("# One"), Some("## Two"), Some("# Three")]);
        assert_eq!(sections(&text).concat(), text);
        assert_eq!(document("# One\n## Two\n", "r").len(), 1, "a short one is left whole");
        assert_eq!(document(" \n", "r"), []);
    }

    #[test]
    fn files_are_known_by_their_names_and_their_content() {
        assert_eq!(Lode::of("a/b.MD"), Some(Lode::Document));
        assert_eq!((Lode::of("a.png"), Lode::of("README")), (None, None));
        assert_eq!(Lode::Transcript.mine("{\"level\":\"info\"}\n", "r"), None);
        assert_eq!(Lode::Export.mine("{\"name\":\"left-pad\"}", "r"), None);
        assert_eq!(Lode::Export.mine("[{\"id\":1}]", "r"), None);
    }
}
