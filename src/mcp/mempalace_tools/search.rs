//! The tool that searches drawers, or reads one of them.

use serde_json::{Value, json};
use ulid::Ulid;

use crate::mcp::arguments::MempalaceSearch;
use crate::mcp::mempalace_tools::excerpts::{READ_ON_HINT, hit_excerpt, max_bytes_per_text};
use crate::mcp::mempalace_tools::overview::{
    count_by_room, round_similarity, unknown_name_hint, unknown_wing_hint,
};
use crate::mcp::mempalace_tools::reply::{
    add_hint, format_drawer_id, read_palace_or_default, refusal_to_text, reply_with_palace_hint,
    report_left_out, timestamp_json,
};
use crate::mcp::reply::ToolResult;
use crate::mcp::toolbox::{EffectHint, RegisteredTool, ToolSet, Toolbox};
use palazzo_core::model::{Provenance, parse_drawer_id, quoted};
use palazzo_keeper::{self as keeper, Caller, DrawerHit, DrawerHits, DrawerQuery, Keeper};

/// The maximum length of the query that an answer repeats, in characters.
const MAX_QUERY_CHARS: usize = 250;

/// The maximum size of a drawer's text in one answer, in bytes: some thousand tokens.
const MAX_READ_BYTES: usize = 24_000;

pub(crate) fn search() -> RegisteredTool {
    let about = (
        "Search drawers",
        "Search texts by topic, best match first. Returns each text word for word (of a long \
         one, the matching part), with wing, room, date and source. Give the wing or room if you \
         know it. A drawer_id as the query reads that text.",
    );
    let run = |_: &Toolbox, keeper: &mut Keeper, caller: &Caller, it: MempalaceSearch| {
        run_search(keeper, caller, &it)
    };
    RegisteredTool::new(ToolSet::Mempalace, "mempalace_search", about, EffectHint::Reads, run)
}

fn run_search(keeper: &mut Keeper, caller: &Caller, it: &MempalaceSearch) -> ToolResult {
    if let Some((id, from)) = parse_drawer_query(&it.query)
        && let Some(drawer) =
            read_palace_or_default(keeper, caller, |it| keeper::drawer_by_id(it, id, from))?
    {
        return reply_with_palace_hint(keeper, caller, drawer_text_json(&it.query, &drawer));
    }
    let ((wing, room), (since, before)) = (it.wing_and_room(), it.since_and_before());
    let filters = json!({ "wing": wing, "room": room });
    let query = DrawerQuery { words: it.query.clone(), wing, room, since, before };
    let DrawerHits { best: results, total, question, ranker } =
        refusal_to_text(keeper::search_drawers(keeper, caller, &query, it.limit()))?;
    let number = results.len();
    let mut value = json!({ "query": it.query, "filters": filters });
    replace_long_query(&mut value, &it.query, &question);
    for (key, date) in [("since", &query.since), ("before", &query.before)] {
        if let Some(date) = date {
            value["filters"][key] = date.as_str().into();
        }
    }
    let most = max_bytes_per_text(results.iter().map(|it| it.text.as_str()));
    value["results"] = results.iter().map(|it| hit_json(it, most)).collect();
    if let Some(ranker) = ranker {
        value["ranker"] = ranker.name().into();
        if let Some(remark) = ranker.error_or_pending_text() {
            value["remark"] = remark.into();
        }
    }
    report_left_out(&mut value, total - number, "raise the limit, or search with more words");
    if value["results"].as_array().is_some_and(|it| it.iter().any(|it| it["bytes"].is_object())) {
        add_hint(&mut value, READ_ON_HINT);
    }
    if let Some(remark) = it.limit_warning() {
        add_hint(&mut value, &remark);
    }
    if number == 0 {
        let why = explain_no_hits(keeper, caller, &query)?;
        add_hint(&mut value, &why);
    }
    reply_with_palace_hint(keeper, caller, value)
}

/// Returns the drawer that a query names, and the byte from which to read it.
fn parse_drawer_query(query: &str) -> Option<(Ulid, usize)> {
    let query = query.trim();
    let (name, from) = query.rsplit_once('@').unwrap_or((query, "0"));
    let id = parse_drawer_id(name).filter(|_| !name.contains(char::is_whitespace));
    Some((id?, from.parse().ok()?))
}

/// Returns the text of one drawer, or as much of it as fits in an answer.
fn drawer_text_json(query: &str, drawer: &DrawerHit) -> Value {
    let (text, part) = excerpt_from(&drawer.text, drawer.passage_start, MAX_READ_BYTES);
    let next = part.as_ref().and_then(|it| it["to"].as_u64());
    let mut value = json!({ "query": query, "filters": { "wing": null, "room": null } });
    value["results"] = [drawer_json(drawer, &text, part)].into_iter().collect();
    if let Some(next) =
        next.filter(|it| usize::try_from(*it).is_ok_and(|it| it < drawer.text.len()))
    {
        let name = format_drawer_id(&drawer.location);
        add_hint(&mut value, &format!("The text continues: search for `{name}@{next}`"));
    }
    value
}

/// Returns at most `most` bytes of a text from the byte `from` on, and their range unless they are
/// the whole text.
fn excerpt_from(text: &str, from: usize, most: usize) -> (String, Option<Value>) {
    let border = |at: usize| (0..=at.min(text.len())).rev().find(|it| text.is_char_boundary(*it));
    let from = border(from).unwrap_or_default();
    let to = border(from.saturating_add(most)).unwrap_or_default();
    let is_all = from == 0 && to == text.len();
    let part = json!({ "from": from, "to": to, "of": text.len() });
    (text[from..to].to_owned(), (!is_all).then_some(part))
}

/// Replaces a long query in an answer by the question in it, and reports that as MemPalace does.
fn replace_long_query(value: &mut Value, query: &str, question: &str) {
    let length = query.chars().count();
    if length <= MAX_QUERY_CHARS {
        return;
    }
    let clean: String = question.chars().take(MAX_QUERY_CHARS).collect();
    value["query_sanitized"] = true.into();
    value["sanitizer"] =
        json!({ "original_length": length, "clean_length": clean.chars().count() });
    value["query"] = clean.into();
}

/// Explains why nothing was found: the wing or room does not exist, or a search without some
/// filter would find something.
fn explain_no_hits(
    keeper: &mut Keeper,
    caller: &Caller,
    query: &DrawerQuery,
) -> Result<String, String> {
    let stats = read_palace_or_default(keeper, caller, keeper::drawer_stats)?;
    if let Some(why) = query.wing.as_ref().and_then(|it| unknown_wing_hint(&stats, it)) {
        return Ok(why);
    }
    let rooms = count_by_room(&stats, query.wing.as_deref());
    if let Some(room) = query.room.as_ref().filter(|it| !rooms.contains_key(*it)) {
        let wing = query.wing.as_ref().map(|it| format!(" in {}", quoted(it))).unwrap_or_default();
        return Ok(unknown_name_hint("room", room, &wing, rooms.keys()));
    }
    let always = DrawerQuery { since: None, before: None, ..query.clone() };
    let anywhere = DrawerQuery { wing: None, room: None, ..always.clone() };
    for (less, what) in [(always, "`since` and `before`"), (anywhere, "`wing` and `room`")] {
        let total = refusal_to_text(keeper::search_drawers(keeper, caller, &less, 1))?.total;
        if total > 0 {
            let texts = if total == 1 { "1 text matches" } else { &format!("{total} texts match") };
            return Ok(format!("No text matches there; {texts} without {what}"));
        }
    }
    Ok("No text matches: try other words.".to_owned())
}

fn hit_json(it: &DrawerHit, most: usize) -> Value {
    let (text, part) = hit_excerpt(&it.text, it.passage_start, most);
    drawer_json(it, &text, part)
}

fn drawer_json(it: &DrawerHit, text: &str, part: Option<Value>) -> Value {
    let mut value = json!({
        "text": text,
        "wing": it.location.shelf.wing,
        "room": it.location.shelf.room,
        "source_file": it.source,
        "similarity": round_similarity(it.similarity),
        "drawer_id": format_drawer_id(&it.location),
        "filed_at": timestamp_json(it.filed),
    });
    let Provenance { by, origin, is_synced, .. } = &it.provenance;
    let by = by.as_ref().map(|it| ("added_by", it.as_str().into()));
    let origin = origin.map(|it| ("origin", it.name().into()));
    let synced = is_synced.then(|| ("synced", true.into()));
    let bytes = part.map(|it| ("bytes", it));
    for (key, known) in [by, origin, synced, bytes].into_iter().flatten() {
        value[key] = known;
    }
    value
}
