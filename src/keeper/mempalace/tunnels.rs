//! Finding one's way by what is filed where: which rooms share a wing, and
//! which names stand in several.
//!
//! A room here is a name under which something is filed, in however many wings;
//! two rooms that share a wing are one step apart.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};

use crate::keeper::{Caller, Keeper, Refusal};
use crate::model::{Palace, did_you_mean};

/// How many rooms an answer lists.
const MAX_ROOMS: usize = 50;

/// How many tunnels count as the greatest.
const MAX_TOP_TUNNELS: usize = 10;

/// How far one can walk at once.
const MAX_HOPS: usize = 10;

/// A room, in all the wings it stands in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoomAcrossWings {
    /// Its name.
    pub room: String,
    /// The wings, by name.
    pub wings: BTreeSet<String>,
    /// How many drawers are filed under it in all of them.
    pub count: usize,
    /// When the newest of them was filed, if that is known.
    pub newest: Option<DateTime<Utc>>,
}

/// A room that was reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReachedRoom {
    /// The room.
    pub room: RoomAcrossWings,
    /// How many steps it lies from the start.
    pub hop: usize,
    /// The wings through which it was reached first.
    pub via: BTreeSet<String>,
}

/// How the rooms hang together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TunnelStats {
    /// How many rooms there are.
    pub rooms: usize,
    /// How many of them stand in several wings.
    pub tunnels: usize,
    /// How many pairs of wings the tunnels join, each tunnel counted by itself.
    pub edges: usize,
    /// How many rooms each wing has, those with most first.
    pub wings: Vec<(String, usize)>,
    /// The tunnels with most drawers.
    pub top_tunnels: Vec<RoomAcrossWings>,
}

impl Keeper {
    /// Walks from a room to all that lie at most `hops` steps away: the nearest
    /// first, of those the ones with most drawers. Returns how many there are
    /// besides the first fifty.
    pub fn traverse(
        &mut self,
        by: &Caller,
        start: &str,
        hops: usize,
    ) -> Result<(Vec<ReachedRoom>, usize), Refusal> {
        let crossings = self.rooms_by_name(by)?;
        if !crossings.contains_key(start) {
            let meant = did_you_mean(start, crossings.keys().map(String::as_str));
            let some = crossings.keys().take(5).cloned().collect();
            let (asked, meant) = (start.to_owned(), meant.map(str::to_owned));
            return Err(Refusal::NoSuchRoom { asked, meant, rooms: some });
        }
        Ok(truncate_list(reachable_rooms(&crossings, start, hops.min(MAX_HOPS))))
    }

    /// Finds the rooms that stand in several wings, among them those given;
    /// those with most drawers first. Returns how many there are besides the
    /// first fifty.
    pub fn find_tunnels(
        &mut self,
        by: &Caller,
        wings: &[&str],
    ) -> Result<(Vec<RoomAcrossWings>, usize), Refusal> {
        Ok(truncate_list(rooms_in_wings(&self.rooms_by_name(by)?, wings)))
    }

    /// Says how the rooms hang together.
    pub fn tunnel_stats(&mut self, by: &Caller) -> Result<TunnelStats, Refusal> {
        Ok(count_tunnels(&self.rooms_by_name(by)?))
    }

    fn rooms_by_name(&mut self, by: &Caller) -> Result<RoomsByName, Refusal> {
        let Some(key) = self.current_workspace_if_any(by)? else { return Ok(RoomsByName::new()) };
        let held = self.open_palace(&key)?;
        held.catch_up()?;
        Ok(rooms_by_name(&held.palace))
    }
}

/// Rooms by name.
type RoomsByName = BTreeMap<String, RoomAcrossWings>;

fn rooms_by_name(palace: &Palace) -> RoomsByName {
    let mut crossings = RoomsByName::new();
    for (shelf, room, count) in palace.drawers.wing_rooms() {
        let newest = palace.drawers.in_room(room).next().and_then(|(_, it)| it.filed);
        let it = crossings.entry(shelf.room.clone()).or_default();
        it.room = shelf.room;
        it.wings.insert(shelf.wing);
        it.count += count;
        it.newest = it.newest.max(newest);
    }
    crossings
}

/// Walks breadth first: all rooms of all wings that a room stands in are one
/// step from it.
fn reachable_rooms(crossings: &RoomsByName, start: &str, hops: usize) -> Vec<ReachedRoom> {
    let first = crossings.get(start).cloned();
    let mut reached: Vec<_> =
        first.map(|room| ReachedRoom { room, hop: 0, via: BTreeSet::new() }).into_iter().collect();
    let mut left: BTreeMap<_, _> = crossings.iter().filter(|(name, _)| *name != start).collect();
    for hop in 1..=hops {
        let last = reached.iter().filter(|it| it.hop + 1 == hop);
        let walked: BTreeSet<String> = last.flat_map(|it| it.room.wings.clone()).collect();
        let near =
            |it: &RoomAcrossWings| it.wings.intersection(&walked).cloned().collect::<BTreeSet<_>>();
        let mut step: Vec<_> = left
            .values()
            .map(|it| ReachedRoom { room: (*it).clone(), hop, via: near(it) })
            .filter(|it| !it.via.is_empty())
            .collect();
        left.retain(|name, _| step.iter().all(|it| it.room.room != **name));
        step.sort_by_key(|it| Reverse(it.room.count));
        reached.append(&mut step);
    }
    reached
}

/// Yields the rooms that stand in several wings, and in all of `wings`.
fn rooms_in_wings(crossings: &RoomsByName, wings: &[&str]) -> Vec<RoomAcrossWings> {
    let joins = |it: &&RoomAcrossWings| {
        it.wings.len() > 1 && wings.iter().all(|wing| it.wings.contains(*wing))
    };
    let mut tunnels: Vec<_> = crossings.values().filter(joins).cloned().collect();
    tunnels.sort_by_key(|it| Reverse(it.count));
    tunnels
}

fn count_tunnels(crossings: &RoomsByName) -> TunnelStats {
    let mut tunnels = rooms_in_wings(crossings, &[]);
    let mut wings: BTreeMap<&String, usize> = BTreeMap::new();
    for wing in crossings.values().flat_map(|it| &it.wings) {
        *wings.entry(wing).or_default() += 1;
    }
    let mut wings: Vec<_> = wings.into_iter().map(|(it, n)| (it.clone(), n)).collect();
    wings.sort_by_key(|(_, rooms)| Reverse(*rooms));
    let edges = tunnels.iter().map(|it| it.wings.len() * (it.wings.len() - 1) / 2).sum();
    let joined = tunnels.len();
    tunnels.truncate(MAX_TOP_TUNNELS);
    TunnelStats { rooms: crossings.len(), tunnels: joined, edges, wings, top_tunnels: tunnels }
}

/// Cuts a list to what an answer lists, and counts the rest.
fn truncate_list<T>(mut all: Vec<T>) -> (Vec<T>, usize) {
    let left = all.len().saturating_sub(MAX_ROOMS);
    all.truncate(MAX_ROOMS);
    (all, left)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Crossings of shelves given as `wing/room`, as many drawers as given.
    fn crossings(shelves: &[(&str, usize)]) -> RoomsByName {
        let mut crossings = RoomsByName::new();
        for (shelf, count) in shelves {
            let (wing, room) = shelf.split_once('/').unwrap();
            let it = crossings.entry(room.to_owned()).or_default();
            it.room = room.to_owned();
            it.wings.insert(wing.to_owned());
            it.count += count;
        }
        crossings
    }

    fn describe_reached(reached: &[ReachedRoom]) -> Vec<String> {
        let via = |it: &ReachedRoom| it.via.iter().cloned().collect::<Vec<_>>().join("+");
        reached.iter().map(|it| format!("{} {} {}", it.hop, it.room.room, via(it))).collect()
    }

    #[test]
    fn rooms_that_share_a_wing_are_one_hop_apart() {
        let crossings = crossings(&[
            ("code/auth", 2),
            ("team/auth", 1),
            ("code/db", 1),
            ("code/api", 5),
            ("team/plans", 1),
            ("life/plans", 1),
            ("life/garden", 1),
            ("far/away", 9),
        ]);
        assert_eq!(describe_reached(&reachable_rooms(&crossings, "auth", 0)), ["0 auth "]);
        let all = ["0 auth ", "1 api code", "1 plans team", "1 db code", "2 garden life"];
        assert_eq!(describe_reached(&reachable_rooms(&crossings, "auth", 5)), all);
        assert_eq!(
            describe_reached(&reachable_rooms(&crossings, "garden", 1)),
            ["0 garden ", "1 plans life"]
        );
    }

    #[test]
    fn a_tunnel_is_a_room_name_used_in_several_wings() {
        let crossings = crossings(&[
            ("my-app/auth", 1),
            ("my_app/auth", 2),
            ("team/auth", 4),
            ("my-app/db", 1),
            ("my-app/plans", 5),
            ("team/plans", 5),
        ]);
        let rooms = |wings: &[&str]| -> Vec<String> {
            rooms_in_wings(&crossings, wings).into_iter().map(|it| it.room).collect()
        };
        assert_eq!(rooms(&[]), ["plans", "auth"]);
        assert_eq!(rooms(&["my_app"]), ["auth"]);
        assert_eq!(rooms(&["my_app", "my-app"]), ["auth"]);
        assert_eq!(rooms(&["nowhere"]), [""; 0]);
        let network = count_tunnels(&crossings);
        assert_eq!((network.rooms, network.tunnels, network.edges), (3, 2, 4));
        let wings: Vec<_> = network.wings.iter().map(|(it, n)| (it.as_str(), *n)).collect();
        assert_eq!(wings, [("my-app", 3), ("team", 2), ("my_app", 1)]);
    }
}
