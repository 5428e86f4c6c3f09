//! The three tools for tunnels and connections between rooms.

use serde_json::{Value, json};

use crate::mcp::arguments::{FindTunnels, NoArguments, Traverse};
use crate::mcp::mempalace_tools::overview::unknown_wing_hint;
use crate::mcp::mempalace_tools::reply::{
    keep_highest_counts, read_palace_or_default, refusal_to_text, reply_with_palace_hint,
    report_left_out, timestamp_json, truncate_items,
};
use crate::mcp::reply::{ToolReply, format_json_item_per_line};
use crate::mcp::toolbox::{EffectHint, RegisteredTool, ToolSet, Toolbox};
use palazzo_keeper::{self as keeper, Caller, DrawerStats, Keeper, ReachedRoom, RoomAcrossWings};

pub(crate) fn tunnel_tools() -> [RegisteredTool; 3] {
    [traverse(), find_tunnels(), graph_stats()]
}

fn traverse() -> RegisteredTool {
    let about = (
        "Traverse rooms",
        "List the rooms up to max_hops steps from a room, nearest first. Rooms that share a wing \
         are one step apart.",
    );
    let run = |_: &Toolbox, keeper: &mut Keeper, caller: &Caller, it: Traverse| {
        let rooms = read_palace_or_default(keeper, caller, keeper::drawer_rooms_by_name)?;
        let (reached, left) =
            refusal_to_text(keeper::traverse_rooms(&rooms, &it.start_room, it.hop_limit()))?;
        let steps = reached.iter().map(traversal_step_json).collect();
        Ok(room_list_reply(steps, (left, "give a smaller `max_hops`"), None))
    };
    RegisteredTool::new(ToolSet::Mempalace, "mempalace_traverse", about, EffectHint::Reads, run)
}

fn find_tunnels() -> RegisteredTool {
    let about = (
        "Find tunnels",
        "List tunnels: rooms that occur in several wings and so connect subjects. Give one wing, \
         two, or none for all.",
    );
    let run = |_: &Toolbox, keeper: &mut Keeper, caller: &Caller, it: FindTunnels| {
        let wings = it.wings();
        let wings: Vec<_> = wings.iter().map(String::as_str).collect();
        let (rooms, stats) = read_palace_or_default(keeper, caller, |it| {
            (keeper::drawer_rooms_by_name(it), keeper::drawer_stats(it))
        })?;
        let (tunnels, left) = keeper::find_tunnels(&rooms, &wings);
        let rooms = tunnels.iter().map(|it| {
            let mut value = room_json(it);
            value["recent"] = timestamp_json(it.newest);
            value
        });
        let unknown = unknown_wings_hint(&stats, &wings);
        Ok(room_list_reply(rooms.collect(), (left, "give a wing"), unknown.as_deref()))
    };
    RegisteredTool::new(ToolSet::Mempalace, "mempalace_find_tunnels", about, EffectHint::Reads, run)
}

fn graph_stats() -> RegisteredTool {
    let about = (
        "Count rooms and tunnels",
        "Count rooms, tunnels and rooms per wing; list the largest tunnels.",
    );
    let run = |_: &Toolbox, keeper: &mut Keeper, caller: &Caller, NoArguments {}| {
        let stats = keeper::tunnel_stats(&read_palace_or_default(
            keeper,
            caller,
            keeper::drawer_rooms_by_name,
        )?);
        let (wings, left_out) = keep_highest_counts(stats.wings);
        let mut value = json!({
            "total_rooms": stats.rooms,
            "tunnel_rooms": stats.tunnels,
            "total_edges": stats.edges,
            "rooms_per_wing": wings,
            "top_tunnels": stats.top_tunnels.iter().map(room_json).collect::<Vec<_>>(),
        });
        report_left_out(&mut value, left_out, "the wings with the fewest rooms");
        reply_with_palace_hint(keeper, caller, value)
    };
    RegisteredTool::new(ToolSet::Mempalace, "mempalace_graph_stats", about, EffectHint::Reads, run)
}

/// Returns a list as the answer: the text is the list alone, as in MemPalace; the structured value
/// must be an object, so it has the list under `rooms`. The last item of the text reports how many
/// items are left out, how to see them, and the hint.
fn room_list_reply(items: Vec<Value>, (left, how): (usize, &str), hint: Option<&str>) -> ToolReply {
    let (mut items, more) = truncate_items(items);
    let mut structured = json!({ "rooms": items });
    let mut rest = json!({});
    for it in [&mut structured, &mut rest] {
        report_left_out(it, left + more, how);
        if let Some(hint) = hint {
            it["hint"] = hint.into();
        }
    }
    if rest != json!({}) {
        items.push(rest);
    }
    ToolReply { text: format_json_item_per_line(&items.into()), structured: Some(structured) }
}

/// Returns a hint that names those of the wings that do not exist.
fn unknown_wings_hint(stats: &DrawerStats, wings: &[&str]) -> Option<String> {
    let unknown: Vec<_> = wings.iter().filter_map(|it| unknown_wing_hint(stats, it)).collect();
    (!unknown.is_empty()).then(|| unknown.join(". "))
}

fn traversal_step_json(ReachedRoom { room, hop, via }: &ReachedRoom) -> Value {
    let mut value = room_json(room);
    value["hop"] = (*hop).into();
    if *hop > 0 {
        value["connected_via"] = via.iter().cloned().collect();
    }
    value
}

fn room_json(it: &RoomAcrossWings) -> Value {
    json!({ "room": it.room, "wings": it.wings, "count": it.count })
}
