//! Tunnels: room names that occur in several wings, and the rooms that can be reached through them.
//!
//! A room here is a name under which drawers are filed, in any number of wings; two rooms
//! that share a wing are one step apart.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};

use crate::{Refusal, Session};
use palazzo_core::model::did_you_mean;

/// Maximum number of rooms that an answer lists.
const MAX_ROOMS: usize = 50;

/// Maximum number of tunnels that the statistics list.
const MAX_TOP_TUNNELS: usize = 10;

/// Maximum number of steps of a traversal.
const MAX_HOPS: usize = 10;

/// A room name, with all wings that it occurs in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoomAcrossWings {
    /// Its name.
    pub room: String,
    /// The wings, by name.
    pub wings: BTreeSet<String>,
    /// How many drawers it has in all these wings.
    pub count: usize,
    /// When the newest drawer was filed, if that is known.
    pub newest: Option<DateTime<Utc>>,
}

/// A room that a traversal reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReachedRoom {
    /// The room.
    pub room: RoomAcrossWings,
    /// How many steps it is from the start.
    pub hop: usize,
    /// The wings through which the traversal reached it first.
    pub via: BTreeSet<String>,
}

/// The numbers of rooms, tunnels and connections of wings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TunnelStats {
    /// How many rooms there are.
    pub rooms: usize,
    /// How many of them are in several wings.
    pub tunnels: usize,
    /// How many pairs of wings the tunnels join; each tunnel counts by itself.
    pub edges: usize,
    /// How many rooms each wing has; those with the most come first.
    pub wings: Vec<(String, usize)>,
    /// The tunnels with the most drawers.
    pub top_tunnels: Vec<RoomAcrossWings>,
}

/// Rooms by name.
pub type DrawerRoomsByName = BTreeMap<String, RoomAcrossWings>;

/// Returns the rooms that have drawers, by name.
pub fn drawer_rooms_by_name(session: &Session<'_>) -> DrawerRoomsByName {
    let drawers = &session.palace.palace.drawers;
    let mut rooms = DrawerRoomsByName::new();
    for (wing_room, id, count) in drawers.wing_room_counts() {
        let newest = drawers.drawers_in_room(id).next().and_then(|(_, it)| it.filed);
        let it = rooms.entry(wing_room.room.clone()).or_default();
        it.room = wing_room.room;
        it.wings.insert(wing_room.wing);
        it.count += count;
        it.newest = it.newest.max(newest);
    }
    rooms
}

/// Finds all rooms that are at most `hops` steps away from a room, sorted by steps, then by number
/// of drawers. Returns the first fifty and the number of the others.
pub fn traverse_rooms(
    rooms: &DrawerRoomsByName,
    start: &str,
    hops: usize,
) -> Result<(Vec<ReachedRoom>, usize), Refusal> {
    if !rooms.contains_key(start) {
        let meant = did_you_mean(start, rooms.keys().map(String::as_str)).map(str::to_owned);
        let first = rooms.keys().take(5).cloned().collect();
        return Err(Refusal::NoSuchRoom { asked: start.to_owned(), meant, rooms: first });
    }
    Ok(truncate_list(reachable_rooms(rooms, start, hops.min(MAX_HOPS))))
}

/// Finds the rooms that are in several wings, among them all of `wings`; those with the most
/// drawers come first. Returns the first fifty and the number of the others.
pub fn find_tunnels(rooms: &DrawerRoomsByName, wings: &[&str]) -> (Vec<RoomAcrossWings>, usize) {
    truncate_list(tunnels_joining_wings(rooms, wings))
}

/// Counts rooms, tunnels and the pairs of wings that tunnels join.
pub fn tunnel_stats(rooms: &DrawerRoomsByName) -> TunnelStats {
    let mut tunnels = tunnels_joining_wings(rooms, &[]);
    let mut wings: BTreeMap<&String, usize> = BTreeMap::new();
    for wing in rooms.values().flat_map(|it| &it.wings) {
        *wings.entry(wing).or_default() += 1;
    }
    let mut wings: Vec<_> = wings.into_iter().map(|(it, n)| (it.clone(), n)).collect();
    wings.sort_by_key(|(_, rooms)| Reverse(*rooms));
    let edges = tunnels.iter().map(|it| it.wings.len() * (it.wings.len() - 1) / 2).sum();
    let tunnel_count = tunnels.len();
    tunnels.truncate(MAX_TOP_TUNNELS);
    TunnelStats { rooms: rooms.len(), tunnels: tunnel_count, edges, wings, top_tunnels: tunnels }
}

/// Searches breadth first: all rooms of all wings that a room is in are one step from it.
fn reachable_rooms(rooms: &DrawerRoomsByName, start: &str, hops: usize) -> Vec<ReachedRoom> {
    let first = rooms.get(start).cloned();
    let mut reached: Vec<_> =
        first.map(|room| ReachedRoom { room, hop: 0, via: BTreeSet::new() }).into_iter().collect();
    let mut left: BTreeMap<_, _> = rooms.iter().filter(|(name, _)| *name != start).collect();
    for hop in 1..=hops {
        let last = reached.iter().filter(|it| it.hop + 1 == hop);
        let wings: BTreeSet<String> = last.flat_map(|it| it.room.wings.clone()).collect();
        let shared =
            |it: &RoomAcrossWings| it.wings.intersection(&wings).cloned().collect::<BTreeSet<_>>();
        let mut step: Vec<_> = left
            .values()
            .map(|it| ReachedRoom { room: (*it).clone(), hop, via: shared(it) })
            .filter(|it| !it.via.is_empty())
            .collect();
        left.retain(|name, _| step.iter().all(|it| it.room.room != **name));
        step.sort_by_key(|it| Reverse(it.room.count));
        reached.append(&mut step);
    }
    reached
}

/// Returns the rooms that are in several wings, and in all of `wings`.
fn tunnels_joining_wings(rooms: &DrawerRoomsByName, wings: &[&str]) -> Vec<RoomAcrossWings> {
    let joins = |it: &&RoomAcrossWings| {
        it.wings.len() > 1 && wings.iter().all(|wing| it.wings.contains(*wing))
    };
    let mut tunnels: Vec<_> = rooms.values().filter(joins).cloned().collect();
    tunnels.sort_by_key(|it| Reverse(it.count));
    tunnels
}

/// Truncates a list to the rooms that an answer lists, and counts the others.
fn truncate_list<T>(mut all: Vec<T>) -> (Vec<T>, usize) {
    let left = all.len().saturating_sub(MAX_ROOMS);
    all.truncate(MAX_ROOMS);
    (all, left)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rooms from shelves given as `wing/room`, as many drawers as given.
    fn rooms_from(shelves: &[(&str, usize)]) -> DrawerRoomsByName {
        let mut rooms = DrawerRoomsByName::new();
        for (shelf, count) in shelves {
            let (wing, room) = shelf.split_once('/').unwrap();
            let it = rooms.entry(room.to_owned()).or_default();
            it.room = room.to_owned();
            it.wings.insert(wing.to_owned());
            it.count += count;
        }
        rooms
    }

    fn describe_reached(reached: &[ReachedRoom]) -> Vec<String> {
        let via = |it: &ReachedRoom| it.via.iter().cloned().collect::<Vec<_>>().join("+");
        reached.iter().map(|it| format!("{} {} {}", it.hop, it.room.room, via(it))).collect()
    }

    #[test]
    fn rooms_that_share_a_wing_are_one_hop_apart() {
        let rooms = rooms_from(&[
            ("code/auth", 2),
            ("team/auth", 1),
            ("code/db", 1),
            ("code/api", 5),
            ("team/plans", 1),
            ("life/plans", 1),
            ("life/garden", 1),
            ("far/away", 9),
        ]);
        assert_eq!(describe_reached(&reachable_rooms(&rooms, "auth", 0)), ["0 auth "]);
        let all = ["0 auth ", "1 api code", "1 plans team", "1 db code", "2 garden life"];
        assert_eq!(describe_reached(&reachable_rooms(&rooms, "auth", 5)), all);
        assert_eq!(
            describe_reached(&reachable_rooms(&rooms, "garden", 1)),
            ["0 garden ", "1 plans life"]
        );
    }

    #[test]
    fn a_tunnel_is_a_room_name_used_in_several_wings() {
        let all = rooms_from(&[
            ("my-app/auth", 1),
            ("my_app/auth", 2),
            ("team/auth", 4),
            ("my-app/db", 1),
            ("my-app/plans", 5),
            ("team/plans", 5),
        ]);
        let rooms = |wings: &[&str]| -> Vec<String> {
            tunnels_joining_wings(&all, wings).into_iter().map(|it| it.room).collect()
        };
        assert_eq!(rooms(&[]), ["plans", "auth"]);
        assert_eq!(rooms(&["my_app"]), ["auth"]);
        assert_eq!(rooms(&["my_app", "my-app"]), ["auth"]);
        assert_eq!(rooms(&["nowhere"]), [""; 0]);
        let stats = tunnel_stats(&all);
        assert_eq!((stats.rooms, stats.tunnels, stats.edges), (3, 2, 4));
        let wings: Vec<_> = stats.wings.iter().map(|(it, n)| (it.as_str(), *n)).collect();
        assert_eq!(wings, [("my-app", 3), ("team", 2), ("my_app", 1)]);
    }
}
