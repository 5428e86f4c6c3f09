//! Decides how much of each text the MemPalace tools show, so that all fit in one answer.

use crate::mcp::mempalace_tools::reply::MAX_ANSWER_BYTES;
use serde_json::{Value, json};

/// The bytes reserved in an answer for the other fields of a text.
const METADATA_BYTES: usize = 360;

/// The maximum size of a hit that is shown whole, in bytes.
const WHOLE_TEXT_BYTES: usize = 2_400;

/// The size of the excerpt that is shown of a longer hit, in bytes.
const EXCERPT_BYTES: usize = 1_600;

/// The hint that explains how to read the rest of a text.
pub(super) const READ_ON_HINT: &str = "\
`bytes` is the range of the text that is shown: mempalace_search with the `drawer_id` as the query \
reads the whole text, with `drawer_id@BYTE` from that byte on";

/// Returns the maximum size of each text, in bytes, so that all fit in one answer. Long texts use
/// the space that short ones leave.
pub(super) fn max_bytes_per_text<'a>(texts: impl Iterator<Item = &'a str>) -> usize {
    let mut lengths: Vec<_> = texts.map(|it| it.len() + METADATA_BYTES).collect();
    lengths.sort_unstable();
    let mut left = MAX_ANSWER_BYTES;
    for (place, length) in lengths.iter().enumerate() {
        let share = left / (lengths.len() - place);
        if *length > share {
            return share.saturating_sub(METADATA_BYTES);
        }
        left -= length;
    }
    MAX_ANSWER_BYTES
}

/// Returns the excerpt of a hit: the whole text if it is short and has at most `most` bytes;
/// else a part around the byte `around`, with its range.
pub(super) fn hit_excerpt(text: &str, around: usize, most: usize) -> (String, Option<Value>) {
    excerpt_around(
        text,
        around,
        if text.len() <= WHOLE_TEXT_BYTES { most } else { most.min(EXCERPT_BYTES) },
    )
}

/// Returns a whole text if it has at most `most` bytes; else a part around the byte `around`,
/// with its range.
pub(super) fn excerpt_around(text: &str, around: usize, most: usize) -> (String, Option<Value>) {
    if text.len() <= most {
        return (text.to_owned(), None);
    }
    let border = |mut at: usize| {
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let from = border(around.saturating_sub(most / 4).min(text.len() - most));
    let to = border(from + most);
    let part = json!({ "from": from, "to": to, "of": text.len() });
    (text[from..to].to_owned(), Some(part))
}
