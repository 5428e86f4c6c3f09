//! The texts that were extracted from one source.

use std::collections::BTreeMap;

use chrono::DateTime;
use chrono::Utc;

/// The texts extracted from a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExtractionResult {
    /// The texts to file.
    pub texts: Vec<ExtractedText>,
    /// Messages about the parts that were left out: position and reason.
    pub faults: Vec<String>,
    /// Messages about what is left out on purpose.
    pub notes: Vec<String>,
    /// How many parts of messages hold no text, like pictures, by kind.
    pub left_out: BTreeMap<String, usize>,
}

/// A text to file, with the wing and room that its source suggests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExtractedText {
    /// The wing, if the source names one: the project of a conversation.
    pub wing: Option<String>,
    /// The room.
    pub room: String,
    /// The title of a piece of a document; other texts begin with their titles.
    pub title: Option<String>,
    /// The text.
    pub text: String,
    /// The time of the text, if the source has one.
    pub at: Option<DateTime<Utc>>,
    /// The time of its conversation, for a text without one of its own.
    pub conversation_at: Option<DateTime<Utc>>,
    /// The line of the source in which the text begins, counted from one; `None` in a conversation.
    pub first_line: Option<usize>,
    /// The texts that older versions of this program filed instead of this one.
    pub older: Vec<OlderText>,
    /// Whether the older texts lack a part of this one.
    pub is_older_incomplete: bool,
}

/// A text as older versions of this program filed it, with words of machines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OlderText {
    /// The text.
    pub text: String,
    /// Its time, if the source has one.
    pub at: Option<DateTime<Utc>>,
}
