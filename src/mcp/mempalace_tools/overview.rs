//! The six tools that give an overview of a palace.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::mcp::arguments::{CheckDuplicate, ListRooms, NoArguments};
use crate::mcp::mempalace_tools::excerpts::{hit_excerpt, max_bytes_per_text};
use crate::mcp::mempalace_tools::reply::{
    add_hint, format_drawer_id, keep_highest_counts, read_palace_or_default, refusal_to_text,
    reply_with_palace_hint, report_left_out,
};
use crate::mcp::toolbox::{EffectHint, RegisteredTool, ToolSet, Toolbox};
use palazzo_core::aaak;
use palazzo_core::model::{did_you_mean, quoted};
use palazzo_keeper::{self as keeper, Caller, DrawerStats, Keeper, SimilarDrawer};

/// How an agent should use these tools.
const PROTOCOL: &str = "\
1. When a conversation begins, call mempalace_status: it reports what is stored and where.\n\
2. Before you answer about a person, a project or a past event, look it up: mempalace_kg_query \
for facts, mempalace_search for texts. Do not guess what you have not looked up.\n\
3. When you are not sure, say so and look it up. A wrong answer costs more than a slow one.\n\
4. When a conversation ends, write in your diary what happened and what you learned: \
mempalace_diary_write. File texts that must be kept word for word with mempalace_add_drawer.\n\
5. When a fact changes, end the old one with mempalace_kg_invalidate and add the new one with \
mempalace_kg_add. Nothing is lost: the old fact is kept with its dates.";

pub(crate) fn overview_tools() -> [RegisteredTool; 6] {
    [status(), list_wings(), list_rooms(), get_taxonomy(), check_duplicate(), get_aaak_spec()]
}

fn status() -> RegisteredTool {
    let about = (
        "Palace status",
        "Report what is stored: drawers by wing and room, how to use them, and the AAAK \
         shorthand. Call this first in every conversation.",
    );
    let run = |_: &Toolbox, keeper: &mut Keeper, caller: &Caller, NoArguments {}| {
        let stats = read_palace_or_default(keeper, caller, keeper::drawer_stats)?;
        let (wings, more_wings) = keep_highest_counts(count_by_wing(&stats));
        let (rooms, more_rooms) = keep_highest_counts(count_by_room(&stats, None));
        let root = refusal_to_text(keeper.palace_root(caller))?.map(|it| it.display().to_string());
        let mut value = json!({
            "total_drawers": stats.total_drawers(),
            "wings": wings,
            "rooms": rooms,
            "palace_path": root,
            "protocol": PROTOCOL,
            "aaak_dialect": aaak::GUIDE,
        });
        if !stats.file_errors.is_empty() {
            add_hint(
                &mut value,
                &format!("Files that cannot be read: {}", stats.file_errors.join("; ")),
            );
        }
        if !stats.entries_by_agent.is_empty() {
            value["diaries"] = keep_highest_counts(stats.entries_by_agent).0.into();
        }
        report_left_out(
            &mut value,
            more_wings + more_rooms,
            "mempalace_list_rooms with a wing lists its rooms",
        );
        reply_with_palace_hint(keeper, caller, value)
    };
    RegisteredTool::new(ToolSet::Mempalace, "mempalace_status", about, EffectHint::Reads, run)
}

fn list_wings() -> RegisteredTool {
    let about = ("List wings", "List all wings, with the number of drawers in each.");
    let run = |_: &Toolbox, keeper: &mut Keeper, caller: &Caller, NoArguments {}| {
        let (wings, left_out) = keep_highest_counts(count_by_wing(&read_palace_or_default(
            keeper,
            caller,
            keeper::drawer_stats,
        )?));
        let mut value = json!({ "wings": wings });
        report_left_out(&mut value, left_out, "the wings with the fewest drawers");
        reply_with_palace_hint(keeper, caller, value)
    };
    RegisteredTool::new(ToolSet::Mempalace, "mempalace_list_wings", about, EffectHint::Reads, run)
}

fn list_rooms() -> RegisteredTool {
    let about =
        ("List rooms", "List the rooms of one wing or of all, with the number of drawers in each.");
    let run = |_: &Toolbox, keeper: &mut Keeper, caller: &Caller, it: ListRooms| {
        let (stats, wing) =
            (read_palace_or_default(keeper, caller, keeper::drawer_stats)?, it.wing());
        let (rooms, left_out) = keep_highest_counts(count_by_room(&stats, wing.as_deref()));
        let mut value = json!({ "wing": wing.as_deref().unwrap_or("all"), "rooms": rooms });
        report_left_out(&mut value, left_out, "give a wing, or search");
        if let Some(hint) = wing.and_then(|it| unknown_wing_hint(&stats, &it)) {
            value["hint"] = hint.into();
        }
        reply_with_palace_hint(keeper, caller, value)
    };
    RegisteredTool::new(ToolSet::Mempalace, "mempalace_list_rooms", about, EffectHint::Reads, run)
}

fn get_taxonomy() -> RegisteredTool {
    let about =
        ("Get taxonomy", "List every wing with its rooms and the number of drawers in each.");
    let run = |_: &Toolbox, keeper: &mut Keeper, caller: &Caller, NoArguments {}| {
        let stats = read_palace_or_default(keeper, caller, keeper::drawer_stats)?;
        let shelves = stats.drawers_by_shelf.iter();
        let all = shelves.map(|(it, n)| (format!("{}\0{}", it.wing, it.room), *n));
        let (shelves, left_out) = keep_highest_counts(all);
        let mut taxonomy: Map<String, Value> = Map::new();
        for (shelf, count) in shelves {
            let (wing, room) = shelf.split_once('\0').unwrap_or((&shelf, ""));
            taxonomy.entry(wing).or_insert_with(|| json!({}))[room] = count;
        }
        let mut value = json!({ "taxonomy": taxonomy });
        report_left_out(&mut value, left_out, "mempalace_list_rooms with a wing lists its rooms");
        reply_with_palace_hint(keeper, caller, value)
    };
    RegisteredTool::new(ToolSet::Mempalace, "mempalace_get_taxonomy", about, EffectHint::Reads, run)
}

fn check_duplicate() -> RegisteredTool {
    let about = (
        "Check for duplicates",
        "Check whether a text or a similar one is filed already, and where. mempalace_add_drawer \
         does this itself.",
    );
    let run = |_: &Toolbox, keeper: &mut Keeper, caller: &Caller, it: CheckDuplicate| {
        let similar = keeper::drawers_similar_to(keeper, caller, &it.content, it.threshold());
        let similar = refusal_to_text(similar)?;
        let matches = similar_drawers_json(&similar);
        let value = json!({ "is_duplicate": !similar.is_empty(), "matches": matches });
        reply_with_palace_hint(keeper, caller, value)
    };
    RegisteredTool::new(
        ToolSet::Mempalace,
        "mempalace_check_duplicate",
        about,
        EffectHint::Reads,
        run,
    )
}

/// Returns similar drawers as JSON.
pub(crate) fn similar_drawers_json(similar: &[SimilarDrawer]) -> Value {
    let most = max_bytes_per_text(similar.iter().map(|it| it.text.as_str()));
    let matches = similar.iter().map(|it| {
        let (content, part) = hit_excerpt(&it.text, 0, most);
        let mut value = json!({
            "id": format_drawer_id(&it.location),
            "wing": it.location.shelf.wing,
            "room": it.location.shelf.room,
            "similarity": round_similarity(it.similarity),
            "content": content,
            "differs": it.difference,
        });
        if let Some(part) = part {
            value["bytes"] = part;
        }
        value
    });
    matches.collect()
}

fn get_aaak_spec() -> RegisteredTool {
    let about =
        ("Get the AAAK spec", "Explain the AAAK shorthand: how to write and read it, its grammar.");
    let run = |_: &Toolbox, keeper: &mut Keeper, caller: &Caller, NoArguments {}| {
        let spec = format!("{}\n\nThe grammar:\n{}", aaak::GUIDE, aaak::GRAMMAR);
        reply_with_palace_hint(keeper, caller, json!({ "aaak_spec": spec }))
    };
    RegisteredTool::new(
        ToolSet::Mempalace,
        "mempalace_get_aaak_spec",
        about,
        EffectHint::Reads,
        run,
    )
}

fn count_by_wing(stats: &DrawerStats) -> BTreeMap<String, usize> {
    let mut wings = BTreeMap::new();
    for (shelf, count) in &stats.drawers_by_shelf {
        *wings.entry(shelf.wing.clone()).or_default() += count;
    }
    wings
}

pub(crate) fn count_by_room(stats: &DrawerStats, wing: Option<&str>) -> BTreeMap<String, usize> {
    let mut rooms = BTreeMap::new();
    let shelves =
        stats.drawers_by_shelf.iter().filter(|(it, _)| wing.is_none_or(|wing| wing == it.wing));
    for (shelf, count) in shelves {
        *rooms.entry(shelf.room.clone()).or_default() += count;
    }
    rooms
}

/// Returns a hint if no wing has that name.
pub(crate) fn unknown_wing_hint(stats: &DrawerStats, wing: &str) -> Option<String> {
    let wings = count_by_wing(stats);
    (!wings.contains_key(wing)).then(|| unknown_name_hint("wing", wing, "", wings.keys()))
}

/// Reports that no wing or room has that name, and suggests the most similar name.
pub(crate) fn unknown_name_hint<'a>(
    what: &str,
    name: &str,
    place: &str,
    names: impl Iterator<Item = &'a String>,
) -> String {
    let suggestion = did_you_mean(name, names.map(String::as_str));
    let suggestion =
        suggestion.map(|it| format!("; did you mean {}?", quoted(it))).unwrap_or_default();
    format!("There is no {what} {}{place}{suggestion}", quoted(name))
}

/// Rounds to three digits.
pub(crate) fn round_similarity(similarity: f64) -> f64 {
    (similarity * 1000.0).round() / 1000.0
}
