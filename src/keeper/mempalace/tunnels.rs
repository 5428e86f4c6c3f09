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
const LISTED: usize = 50;

/// How many tunnels count as the greatest.
const GREATEST: usize = 10;

/// How far one can walk at once.
const FARTHEST: usize = 10;

/// A room, in all the wings it stands in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Crossing {
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
pub struct Reached {
    /// The room.
    pub room: Crossing,
    /// How many steps it lies from the start.
    pub hop: usize,
    /// The wings through which it was reached first.
    pub via: BTreeSet<String>,
}

/// How the rooms hang together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Network {
    /// How many rooms there are.
    pub rooms: usize,
    /// How many of them stand in several wings.
    pub tunnels: usize,
    /// How many pairs of wings the tunnels join, each tunnel counted by itself.
    pub edges: usize,
    /// How many rooms each wing has, those with most first.
    pub wings: Vec<(String, usize)>,
    /// The tunnels with most drawers.
    pub greatest: Vec<Crossing>,
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
    ) -> Result<(Vec<Reached>, usize), Refusal> {
        let crossings = self.crossings(by)?;
        if !crossings.contains_key(start) {
            let meant = did_you_mean(start, crossings.keys().map(String::as_str));
            let some = crossings.keys().take(5).cloned().collect();
            let (asked, meant) = (start.to_owned(), meant.map(str::to_owned));
            return Err(Refusal::NoSuchRoom { asked, meant, rooms: some });
        }
        Ok(listed(walk(&crossings, start, hops.min(FARTHEST))))
    }

    /// Finds the rooms that stand in several wings, among them those given;
    /// those with most drawers first. Returns how many there are besides the
    /// first fifty.
    pub fn tunnels(
        &mut self,
        by: &Caller,
        wings: &[&str],
    ) -> Result<(Vec<Crossing>, usize), Refusal> {
        Ok(listed(tunnels(&self.crossings(by)?, wings)))
    }

    /// Says how the rooms hang together.
    pub fn network(&mut self, by: &Caller) -> Result<Network, Refusal> {
        Ok(network(&self.crossings(by)?))
    }

    fn crossings(&mut self, by: &Caller) -> Result<Crossings, Refusal> {
        let Some(key) = self.current_if_any(by)? else { return Ok(Crossings::new()) };
        let held = self.at(&key)?;
        held.catch_up()?;
        Ok(crossings(&held.palace))
    }
}

/// Rooms by name.
type Crossings = BTreeMap<String, Crossing>;

fn crossings(palace: &Palace) -> Crossings {
    let mut crossings = Crossings::new();
    for (shelf, room, count) in palace.drawers.shelves() {
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
fn walk(crossings: &Crossings, start: &str, hops: usize) -> Vec<Reached> {
    let first = crossings.get(start).cloned();
    let mut reached: Vec<_> =
        first.map(|room| Reached { room, hop: 0, via: BTreeSet::new() }).into_iter().collect();
    let mut left: BTreeMap<_, _> = crossings.iter().filter(|(name, _)| *name != start).collect();
    for hop in 1..=hops {
        let last = reached.iter().filter(|it| it.hop + 1 == hop);
        let walked: BTreeSet<String> = last.flat_map(|it| it.room.wings.clone()).collect();
        let near = |it: &Crossing| it.wings.intersection(&walked).cloned().collect::<BTreeSet<_>>();
        let mut step: Vec<_> = left
            .values()
            .map(|it| Reached { room: (*it).clone(), hop, via: near(it) })
            .filter(|it| !it.via.is_empty())
            .collect();
        left.retain(|name, _| step.iter().all(|it| it.room.room != **name));
        step.sort_by_key(|it| Reverse(it.room.count));
        reached.append(&mut step);
    }
    reached
}

/// Yields the rooms that stand in several wings, and in all of `wings`.
fn tunnels(crossings: &Crossings, wings: &[&str]) -> Vec<Crossing> {
    let joins =
        |it: &&Crossing| it.wings.len() > 1 && wings.iter().all(|wing| it.wings.contains(*wing));
    let mut tunnels: Vec<_> = crossings.values().filter(joins).cloned().collect();
    tunnels.sort_by_key(|it| Reverse(it.count));
    tunnels
}

fn network(crossings: &Crossings) -> Network {
    let mut tunnels = tunnels(crossings, &[]);
    let mut wings: BTreeMap<&String, usize> = BTreeMap::new();
    for wing in crossings.values().flat_map(|it| &it.wings) {
        *wings.entry(wing).or_default() += 1;
    }
    let mut wings: Vec<_> = wings.into_iter().map(|(it, n)| (it.clone(), n)).collect();
    wings.sort_by_key(|(_, rooms)| Reverse(*rooms));
    let edges = tunnels.iter().map(|it| it.wings.len() * (it.wings.len() - 1) / 2).sum();
    let joined = tunnels.len();
    tunnels.truncate(GREATEST);
    Network { rooms: crossings.len(), tunnels: joined, edges, wings, greatest: tunnels }
}

/// Cuts a list to what an answer lists, and counts the rest.
fn listed<T>(mut all: Vec<T>) -> (Vec<T>, usize) {
    let left = all.len().saturating_sub(LISTED);
    all.truncate(LISTED);
    (all, left)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Crossings of shelves given as `wing/room`, as many drawers as given.
    fn crossings(shelves: &[(&str, usize)]) -> Crossings {
        let mut crossings = Crossings::new();
        for (shelf, count) in shelves {
            let (wing, room) = shelf.split_once('/').unwrap();
            let it = crossings.entry(room.to_owned()).or_default();
            it.room = room.to_owned();
            it.wings.insert(wing.to_owned());
            it.count += count;
        }
        crossings
    }

    fn told(reached: &[Reached]) -> Vec<String> {
        let via = |it: &Reached| it.via.iter().cloned().collect::<Vec<_>>().join("+");
        reached.iter().map(|it| format!("{} {} {}", it.hop, it.room.room, via(it))).collect()
    }

    #[test]
    fn rooms_that_share_a_wing_are_a_step_apart() {
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
        assert_eq!(told(&walk(&crossings, "auth", 0)), ["0 auth "]);
        let all = ["0 auth ", "1 api code", "1 plans team", "1 db code", "2 garden life"];
        assert_eq!(told(&walk(&crossings, "auth", 5)), all);
        assert_eq!(told(&walk(&crossings, "garden", 1)), ["0 garden ", "1 plans life"]);
    }

    #[test]
    fn a_tunnel_stands_in_several_wings_and_a_hyphen_is_not_an_underscore() {
        let crossings = crossings(&[
            ("my-app/auth", 1),
            ("my_app/auth", 2),
            ("team/auth", 4),
            ("my-app/db", 1),
            ("my-app/plans", 5),
            ("team/plans", 5),
        ]);
        let rooms = |wings: &[&str]| -> Vec<String> {
            tunnels(&crossings, wings).into_iter().map(|it| it.room).collect()
        };
        assert_eq!(rooms(&[]), ["plans", "auth"]);
        assert_eq!(rooms(&["my_app"]), ["auth"]);
        assert_eq!(rooms(&["my_app", "my-app"]), ["auth"]);
        assert_eq!(rooms(&["nowhere"]), [""; 0]);
        let network = network(&crossings);
        assert_eq!((network.rooms, network.tunnels, network.edges), (3, 2, 4));
        let wings: Vec<_> = network.wings.iter().map(|(it, n)| (it.as_str(), *n)).collect();
        assert_eq!(wings, [("my-app", 3), ("team", 2), ("my_app", 1)]);
    }
}
