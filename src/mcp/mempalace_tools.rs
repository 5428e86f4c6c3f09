//! The nineteen tools of MemPalace, over the same drawers and the same graph as
//! all others: its names, arguments and the fields of its answers.

mod diary;
pub(crate) mod drawers;
mod facts;
pub(crate) mod overview;
pub(crate) mod search;
pub(crate) mod tunnels;

use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Map, Value, json};
use ulid::Ulid;

use crate::keeper::{Caller, DrawerLocation, Keeper, Refusal};
use crate::mcp::memory_server_tools::format_json_lines;
use crate::mcp::reply::{ToolReply, ToolResult};
use crate::mcp::toolbox::RegisteredTool;

/// What is said where nothing is remembered yet.
const NO_PALACE_HINT: &str = "Nothing is remembered yet. The first call that writes makes a palace: \
                         mempalace_add_drawer, mempalace_kg_add or mempalace_diary_write.";

/// How many bytes an answer has at most, or so.
const MAX_ANSWER_BYTES: usize = 60_000;

/// How many bytes an answer spends on what it says about a text, at most.
const METADATA_BYTES: usize = 300;

/// A text that is found is shown whole if it has no more bytes than this; of a longer
/// one so many around what was found.
const WHOLE_TEXT_BYTES: usize = 2_400;
const EXCERPT_BYTES: usize = 1_600;

/// How one reads on.
const READ_ON_HINT: &str = "`bytes` says which part of a text this is: mempalace_search with the \
                       `drawer_id` as its query reads all of it, with `drawer_id@BYTE` what \
                       follows that byte";

pub(crate) fn mempalace_tools() -> impl Iterator<Item = RegisteredTool> {
    let looking = overview::overview_tools()
        .into_iter()
        .chain([search::search()])
        .chain(drawers::drawer_tools());
    looking.chain(facts::fact_tools()).chain(tunnels::tunnel_tools()).chain(diary::diary_tools())
}

/// Answers with a value, and says so where there is no palace to ask.
fn reply_or_palace_hint(keeper: &mut Keeper, by: &Caller, mut value: Value) -> ToolResult {
    if refusal_to_text(keeper.palace_root(by))?.is_none() {
        value["hint"] = NO_PALACE_HINT.into();
    }
    Ok(json_reply(value))
}

/// Answers with a value, as text and as itself.
fn json_reply(value: Value) -> ToolReply {
    ToolReply { text: format_json_lines(&value), structured: Some(value) }
}

fn refusal_to_text<T>(said: Result<T, Refusal>) -> Result<T, String> {
    said.map_err(|refusal| refusal.to_string())
}

/// Spells which drawer: its place can be told from it, and its last 26
/// characters are its id.
fn drawer_id(DrawerLocation { id, room, .. }: &DrawerLocation) -> String {
    let wing = room.wing.as_ref().map(|it| format!("{it}_")).unwrap_or_default();
    format!("drawer_{wing}{}_{id}", room.slug)
}

/// Returns the id that the name of a drawer ends in.
fn parse_drawer_id(name: &str) -> Option<Ulid> {
    let start = name.char_indices().rev().nth(25).map_or(0, |(at, _)| at);
    name[start..].parse().ok()
}

fn timestamp_json(at: Option<DateTime<Utc>>) -> Value {
    at.map(|it| it.to_rfc3339_opts(SecondsFormat::Secs, true)).into()
}

/// Counts by name, as many as an answer takes in; those with most are kept, and
/// how many are left out is told.
fn truncate_counts(all: impl IntoIterator<Item = (String, usize)>) -> (Map<String, Value>, usize) {
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

/// Takes as many items as an answer takes in, and counts the rest.
fn truncate_items(items: Vec<Value>) -> (Vec<Value>, usize) {
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

/// Adds to an answer that not all is in it.
fn report_left_out(value: &mut Value, left_out: usize, how: &str) {
    if left_out > 0 {
        value["left_out"] = left_out.into();
        add_hint(value, &format!("{left_out} more are left out here: {how}"));
    }
}

/// Adds a hint to an answer, behind those that are in it.
fn add_hint(value: &mut Value, said: &str) {
    value["hint"] = match value["hint"].as_str() {
        Some(before) => format!("{before}. {said}").into(),
        None => said.into(),
    };
}

/// Returns how many bytes each text may have in an answer that shows them all:
/// what short ones leave goes to the long ones.
fn bytes_per_text<'a>(texts: impl Iterator<Item = &'a str>) -> usize {
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

/// Shows what was found of a text: all, if it is short and has at most `most` bytes;
/// else the part of it around `around`, and which part that is.
fn hit_excerpt(text: &str, around: usize, most: usize) -> (String, Option<Value>) {
    excerpt_around(
        text,
        around,
        if text.len() <= WHOLE_TEXT_BYTES { most } else { most.min(EXCERPT_BYTES) },
    )
}

/// Shows a text: whole, if it has at most `most` bytes; else the part of it
/// around `around`, and which part that is.
fn excerpt_around(text: &str, around: usize, most: usize) -> (String, Option<Value>) {
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
