//! Replies of the MemPalace tools: JSON values of bounded size, with hints.

use crate::mcp::reply::{ToolReply, ToolResult, format_json_item_per_line};
use chrono::DateTime;
use chrono::SecondsFormat;
use chrono::Utc;
use palazzo_keeper::Caller;
use palazzo_keeper::DrawerLocation;
use palazzo_keeper::Keeper;
use palazzo_keeper::Refusal;
use palazzo_keeper::Session;
use serde_json::Map;
use serde_json::Value;
use serde_json::json;

/// The hint if there is no palace yet.
pub(super) const NO_PALACE_HINT: &str = "\
Nothing is stored yet. The first call that writes creates a palace: mempalace_add_drawer, \
mempalace_kg_add or mempalace_diary_write.";

/// The approximate maximum size of an answer, in bytes.
pub(super) const MAX_ANSWER_BYTES: usize = 60_000;

/// The bytes reserved in an answer for the other fields of a text.
pub(super) const METADATA_BYTES: usize = 360;

/// The maximum size of a hit that is shown whole, in bytes.
pub(super) const WHOLE_TEXT_BYTES: usize = 2_400;

/// The size of the excerpt that is shown of a longer hit, in bytes.
pub(super) const EXCERPT_BYTES: usize = 1_600;

/// The hint that explains how to read the rest of a text.
pub(super) const READ_ON_HINT: &str = "\
`bytes` is the range of the text that is shown: mempalace_search with the `drawer_id` as the query \
reads the whole text, with `drawer_id@BYTE` from that byte on";

/// Returns a value as the answer, with a hint if there is no palace yet.
pub(super) fn reply_with_palace_hint(
    keeper: &mut Keeper,
    caller: &Caller,
    mut value: Value,
) -> ToolResult {
    if refusal_to_text(keeper.palace_root(caller))?.is_none() {
        value["hint"] = NO_PALACE_HINT.into();
    }
    Ok(json_reply(value))
}

/// Reads from the palace that the caller acts on; returns the default if there is none yet.
pub(super) fn read_palace_or_default<T: Default>(
    keeper: &mut Keeper,
    caller: &Caller,
    read: impl FnOnce(&Session<'_>) -> T,
) -> Result<T, String> {
    let session = refusal_to_text(keeper.session_if_any(caller))?;
    Ok(session.map(|it| read(&it)).unwrap_or_default())
}

/// Returns a value as the answer: as text and as structured JSON.
pub(super) fn json_reply(value: Value) -> ToolReply {
    ToolReply { text: format_json_item_per_line(&value), structured: Some(value) }
}

pub(super) fn refusal_to_text<T>(result: Result<T, Refusal>) -> Result<T, String> {
    result.map_err(|refusal| refusal.to_string())
}

/// Formats the id of a drawer for clients: it contains wing and room, and its last 26 characters
/// are the id itself.
pub(super) fn format_drawer_id(DrawerLocation { id, room, .. }: &DrawerLocation) -> String {
    let wing = room.wing.as_ref().map(|it| format!("{it}_")).unwrap_or_default();
    format!("drawer_{wing}{}_{id}", room.slug)
}

pub(super) fn timestamp_json(at: Option<DateTime<Utc>>) -> Value {
    at.map(|it| it.to_rfc3339_opts(SecondsFormat::Secs, true)).into()
}

/// Returns the highest counts that fit in an answer, by name, and how many are left out.
pub(super) fn keep_highest_counts(
    all: impl IntoIterator<Item = (String, usize)>,
) -> (Map<String, Value>, usize) {
    let mut all: Vec<_> = all.into_iter().collect();
    let total = all.len();
    all.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let mut left = MAX_ANSWER_BYTES / 3;
    all.retain(|(name, _)| {
        let size = name.len() + 10;
        let fits = size <= left;
        left = if fits { left - size } else { 0 };
        fits
    });
    all.sort();
    let counts: Map<_, _> = all.into_iter().map(|(name, count)| (name, count.into())).collect();
    let left_out = total - counts.len();
    (counts, left_out)
}

/// Returns as many items as fit in an answer, and how many are left out.
pub(super) fn truncate_items(items: Vec<Value>) -> (Vec<Value>, usize) {
    let total = items.len();
    let mut left = MAX_ANSWER_BYTES;
    let fits = |it: &Value| {
        let size = it.to_string().len();
        left = left.saturating_sub(size);
        left > 0
    };
    let shown: Vec<_> = items.into_iter().take_while(fits).collect();
    let left_out = total - shown.len();
    (shown, left_out)
}

/// Adds to an answer how many items are left out, if any.
pub(super) fn report_left_out(value: &mut Value, left_out: usize, how: &str) {
    if left_out > 0 {
        value["left_out"] = left_out.into();
        add_hint(value, &format!("{left_out} more left out: {how}"));
    }
}

/// Adds a hint to an answer, after the hints that it has already.
pub(super) fn add_hint(value: &mut Value, hint: &str) {
    value["hint"] = match value["hint"].as_str() {
        Some(before) => format!("{before}. {hint}").into(),
        None => hint.into(),
    };
}

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
