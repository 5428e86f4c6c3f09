//! Finding one's way from room to room: three tools.

use serde_json::{Value, json};

use crate::keeper::{Caller, DrawerStats, Keeper, ReachedRoom, RoomAcrossWings};
use crate::mcp::arguments::{FindTunnels, Nothing, Traverse};
use crate::mcp::memory_server_tools::spread;
use crate::mcp::mempalace_tools::overview::no_such_wing;
use crate::mcp::mempalace_tools::{counts, fitting, found, mind, moment, told};
use crate::mcp::reply::Reply;
use crate::mcp::toolbox::{Effect, Handle, ToolSet, Toolbox};

pub(crate) fn all() -> [Handle; 3] {
    [traverse(), find_tunnels(), graph_stats()]
}

fn traverse() -> Handle {
    let about = (
        "Walk from a room",
        "Follow a thread: from a room to those that share a wing with it, and on from there. \
         Nearest first.",
    );
    let run = |_: &Toolbox, keeper: &mut Keeper, by: &Caller, it: Traverse| {
        let (reached, left) = told(keeper.traverse(by, &it.start_room, it.hops()))?;
        let steps = reached.iter().map(step).collect();
        Ok(listed(steps, (left, "say fewer max_hops"), None))
    };
    Handle::new(ToolSet::Mempalace, "mempalace_traverse", about, Effect::Reads, run)
}

fn find_tunnels() -> Handle {
    let about = (
        "Find tunnels",
        "Rooms that stand in several wings: where one subject meets another. For one wing, for \
         two, or for all.",
    );
    let run = |_: &Toolbox, keeper: &mut Keeper, by: &Caller, it: FindTunnels| {
        let wings = it.wings();
        let wings: Vec<_> = wings.iter().map(String::as_str).collect();
        let (tunnels, left) = told(keeper.find_tunnels(by, &wings))?;
        let spelled = tunnels.iter().map(|it| {
            let mut value = crossing(it);
            value["recent"] = moment(it.newest);
            value
        });
        let unknown = told(keeper.drawer_stats(by)).map(|stock| no_such_wings(&stock, &wings))?;
        Ok(listed(spelled.collect(), (left, "say a wing"), unknown.as_deref()))
    };
    Handle::new(ToolSet::Mempalace, "mempalace_find_tunnels", about, Effect::Reads, run)
}

fn graph_stats() -> Handle {
    let about = ("Count ways", "How many rooms and tunnels there are, and the greatest of them.");
    let run = |_: &Toolbox, keeper: &mut Keeper, by: &Caller, Nothing {}| {
        let network = told(keeper.tunnel_stats(by))?;
        let (wings, left_out) = counts(network.wings);
        let mut value = json!({
            "total_rooms": network.rooms,
            "tunnel_rooms": network.tunnels,
            "total_edges": network.edges,
            "rooms_per_wing": wings,
            "top_tunnels": network.top_tunnels.iter().map(crossing).collect::<Vec<_>>(),
        });
        mind(&mut value, left_out, "they are wings with fewest rooms");
        found(keeper, by, value)
    };
    Handle::new(ToolSet::Mempalace, "mempalace_graph_stats", about, Effect::Reads, run)
}

/// Answers with a list: as text, as MemPalace does; as a value, which must be an
/// object, under `rooms`. How many are left out, and how to see them, and what else
/// there is to say, stands behind them.
fn listed(items: Vec<Value>, (left, how): (usize, &str), hint: Option<&str>) -> Reply {
    let (mut items, more) = fitting(items);
    let mut structured = json!({ "rooms": items });
    let mut rest = json!({});
    for it in [&mut structured, &mut rest] {
        mind(it, left + more, how);
        if let Some(hint) = hint {
            it["hint"] = hint.into();
        }
    }
    if rest != json!({}) {
        items.push(rest);
    }
    Reply { text: spread(&items.into()), structured: Some(structured) }
}

/// Says which of some wings are not there.
fn no_such_wings(stock: &DrawerStats, wings: &[&str]) -> Option<String> {
    let unknown: Vec<_> = wings.iter().filter_map(|it| no_such_wing(stock, it)).collect();
    (!unknown.is_empty()).then(|| unknown.join(". "))
}

fn step(ReachedRoom { room, hop, via }: &ReachedRoom) -> Value {
    let mut value = crossing(room);
    value["hop"] = (*hop).into();
    if *hop > 0 {
        value["connected_via"] = via.iter().cloned().collect();
    }
    value
}

fn crossing(it: &RoomAcrossWings) -> Value {
    json!({ "room": it.room, "wings": it.wings, "count": it.count })
}
