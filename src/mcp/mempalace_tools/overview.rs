//! Looking at what there is: six tools.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::aaak;
use crate::keeper::{Caller, DrawerStats, Keeper, SimilarDrawer};
use crate::mcp::arguments::{CheckDuplicate, ListRooms, NoArguments};
use crate::mcp::mempalace_tools::{
    add_hint, bytes_per_text, drawer_id, hit_excerpt, refusal_to_text, reply_or_palace_hint,
    report_left_out, truncate_counts,
};
use crate::mcp::toolbox::{EffectHint, RegisteredTool, ToolSet, Toolbox};
use crate::model::did_you_mean;

/// How an agent should use what it has here.
const PROTOCOL: &str = "\
1. When a conversation begins, call mempalace_status: it says what is remembered and where.\n\
2. Before you answer about a person, a project or anything that was, look it up: \
mempalace_kg_query for facts, mempalace_search for words. What you have not looked up you do not \
know.\n\
3. When you are not sure, say so and look it up. A wrong answer costs more than a slow one.\n\
4. When a conversation ends, write down in your diary what happened and what you learned: \
mempalace_diary_write. File what should be kept word for word with mempalace_add_drawer.\n\
5. When a fact changes, end the old one with mempalace_kg_invalidate and state the new one with \
mempalace_kg_add. Nothing is lost: what held stays true of its time.";

pub(crate) fn overview_tools() -> [RegisteredTool; 6] {
    [status(), list_wings(), list_rooms(), get_taxonomy(), check_duplicate(), get_aaak_spec()]
}

fn status() -> RegisteredTool {
    let about = (
        "Palace status",
        "What is remembered: drawers by wing and room, how to use them, and the AAAK shorthand. \
         Call this first in every conversation.",
    );
    let run = |_: &Toolbox, keeper: &mut Keeper, by: &Caller, NoArguments {}| {
        let stock = refusal_to_text(keeper.drawer_stats(by))?;
        let (wings, more_wings) = truncate_counts(count_by_wing(&stock));
        let (rooms, more_rooms) = truncate_counts(count_by_room(&stock, None));
        let root = refusal_to_text(keeper.palace_root(by))?.map(|it| it.display().to_string());
        let mut value = json!({
            "total_drawers": stock.total_drawers(),
            "wings": wings,
            "rooms": rooms,
            "palace_path": root,
            "protocol": PROTOCOL,
            "aaak_dialect": aaak::GUIDE,
        });
        if !stock.file_errors.is_empty() {
            add_hint(
                &mut value,
                &format!("Files that cannot be read: {}", stock.file_errors.join("; ")),
            );
        }
        if !stock.entries_by_agent.is_empty() {
            value["diaries"] = truncate_counts(stock.entries_by_agent).0.into();
        }
        report_left_out(
            &mut value,
            more_wings + more_rooms,
            "mempalace_list_rooms with a wing lists its rooms",
        );
        reply_or_palace_hint(keeper, by, value)
    };
    RegisteredTool::new(ToolSet::Mempalace, "mempalace_status", about, EffectHint::Reads, run)
}

fn list_wings() -> RegisteredTool {
    let about = ("List wings", "All wings, with how many drawers each has.");
    let run = |_: &Toolbox, keeper: &mut Keeper, by: &Caller, NoArguments {}| {
        let (wings, left_out) =
            truncate_counts(count_by_wing(&refusal_to_text(keeper.drawer_stats(by))?));
        let mut value = json!({ "wings": wings });
        report_left_out(&mut value, left_out, "they are those with fewest drawers");
        reply_or_palace_hint(keeper, by, value)
    };
    RegisteredTool::new(ToolSet::Mempalace, "mempalace_list_wings", about, EffectHint::Reads, run)
}

fn list_rooms() -> RegisteredTool {
    let about = ("List rooms", "The rooms of a wing or of all, with how many drawers each has.");
    let run = |_: &Toolbox, keeper: &mut Keeper, by: &Caller, it: ListRooms| {
        let (stock, wing) = (refusal_to_text(keeper.drawer_stats(by))?, it.wing());
        let (rooms, left_out) = truncate_counts(count_by_room(&stock, wing.as_deref()));
        let mut value = json!({ "wing": wing.as_deref().unwrap_or("all"), "rooms": rooms });
        report_left_out(&mut value, left_out, "say a wing, or search");
        if let Some(hint) = wing.and_then(|it| unknown_wing_hint(&stock, &it)) {
            value["hint"] = hint.into();
        }
        reply_or_palace_hint(keeper, by, value)
    };
    RegisteredTool::new(ToolSet::Mempalace, "mempalace_list_rooms", about, EffectHint::Reads, run)
}

fn get_taxonomy() -> RegisteredTool {
    let about = ("Get taxonomy", "The whole tree: every wing, its rooms, their drawers counted.");
    let run = |_: &Toolbox, keeper: &mut Keeper, by: &Caller, NoArguments {}| {
        let stock = refusal_to_text(keeper.drawer_stats(by))?;
        let shelves = stock.drawers_by_shelf.iter();
        let all = shelves.map(|(it, n)| (format!("{}\0{}", it.wing, it.room), *n));
        let (shelves, left_out) = truncate_counts(all);
        let mut taxonomy: Map<String, Value> = Map::new();
        for (shelf, count) in shelves {
            let (wing, room) = shelf.split_once('\0').unwrap_or((&shelf, ""));
            taxonomy.entry(wing).or_insert_with(|| json!({}))[room] = count;
        }
        let mut value = json!({ "taxonomy": taxonomy });
        report_left_out(&mut value, left_out, "mempalace_list_rooms with a wing lists its rooms");
        reply_or_palace_hint(keeper, by, value)
    };
    RegisteredTool::new(ToolSet::Mempalace, "mempalace_get_taxonomy", about, EffectHint::Reads, run)
}

fn check_duplicate() -> RegisteredTool {
    let about = (
        "Check for duplicates",
        "Whether a text is filed already, and where. mempalace_add_drawer checks by itself.",
    );
    let run = |_: &Toolbox, keeper: &mut Keeper, by: &Caller, it: CheckDuplicate| {
        let alike = refusal_to_text(keeper.drawers_similar_to(by, &it.content, it.threshold()))?;
        let value = json!({ "is_duplicate": !alike.is_empty(), "matches": matches_json(&alike) });
        reply_or_palace_hint(keeper, by, value)
    };
    RegisteredTool::new(
        ToolSet::Mempalace,
        "mempalace_check_duplicate",
        about,
        EffectHint::Reads,
        run,
    )
}

/// Spells what is like a text.
pub(crate) fn matches_json(alike: &[SimilarDrawer]) -> Value {
    let most = bytes_per_text(alike.iter().map(|it| it.text.as_str()));
    let spelled = alike.iter().map(|it| {
        let (content, part) = hit_excerpt(&it.text, 0, most);
        let mut value = json!({
            "id": drawer_id(&it.location),
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
    spelled.collect()
}

fn get_aaak_spec() -> RegisteredTool {
    let about =
        ("Get the AAAK spec", "The AAAK shorthand: how to write and read it, and its grammar.");
    let run = |_: &Toolbox, keeper: &mut Keeper, by: &Caller, NoArguments {}| {
        let spec = format!("{}\n\nThe grammar:\n{}", aaak::GUIDE, aaak::GRAMMAR);
        reply_or_palace_hint(keeper, by, json!({ "aaak_spec": spec }))
    };
    RegisteredTool::new(
        ToolSet::Mempalace,
        "mempalace_get_aaak_spec",
        about,
        EffectHint::Reads,
        run,
    )
}

fn count_by_wing(stock: &DrawerStats) -> BTreeMap<String, usize> {
    let mut wings = BTreeMap::new();
    for (shelf, count) in &stock.drawers_by_shelf {
        *wings.entry(shelf.wing.clone()).or_default() += count;
    }
    wings
}

pub(crate) fn count_by_room(stock: &DrawerStats, wing: Option<&str>) -> BTreeMap<String, usize> {
    let mut rooms = BTreeMap::new();
    let wanted =
        stock.drawers_by_shelf.iter().filter(|(it, _)| wing.is_none_or(|wing| wing == it.wing));
    for (shelf, count) in wanted {
        *rooms.entry(shelf.room.clone()).or_default() += count;
    }
    rooms
}

/// Says that there is no wing of that name, if there is none.
pub(crate) fn unknown_wing_hint(stock: &DrawerStats, wing: &str) -> Option<String> {
    let wings = count_by_wing(stock);
    (!wings.contains_key(wing)).then(|| unknown_name_hint("wing", wing, "", wings.keys()))
}

/// Says that there is no such thing, and which was probably meant.
pub(crate) fn unknown_name_hint<'a>(
    what: &str,
    asked: &str,
    place: &str,
    known: impl Iterator<Item = &'a String>,
) -> String {
    let meant = did_you_mean(asked, known.map(String::as_str));
    let meant = meant.map(|it| format!("; did you mean `{it}`?")).unwrap_or_default();
    format!("There is no {what} `{asked}`{place}{meant}")
}

/// Rounds to what can be told apart.
pub(crate) fn round_similarity(similarity: f64) -> f64 {
    (similarity * 1000.0).round() / 1000.0
}
