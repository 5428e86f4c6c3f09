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

/// The hint if there is no palace yet.
pub(super) const NO_PALACE_HINT: &str = "\
Nothing is stored yet. The first call that writes creates a palace: mempalace_add_drawer, \
mempalace_kg_add or mempalace_diary_write.";

/// The approximate maximum size of an answer, in bytes.
pub(super) const MAX_ANSWER_BYTES: usize = 60_000;

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
