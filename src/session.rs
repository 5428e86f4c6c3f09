//! Where a visitor stands, how they came there, and what their numbers mean.
//!
//! A visit is kept in memory only: losing it costs one walk from the entry (v1
//! section 4.3).

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};

use crate::model::{Action, CommitId, Hall, Layout, Opening, RoomId, ScrollId};

/// How many steps back a visitor can go.
const LONGEST_TRAIL: usize = 100;

/// One client's walk.
#[derive(Clone, Debug, Default)]
pub struct Visit {
    /// The palace visited, by the name of its directory.
    pub workspace: Option<String>,
    /// Where the visitor stands; nowhere before there is a room to stand in.
    pub standing: Option<Standing>,
    /// Whether the tutorial has been given: once a conversation is enough.
    pub tutored: bool,
    /// The page of the menu shown, from 0.
    pub page: usize,
    /// Everything that could be chosen when the menu was last shown: a number
    /// means what it meant then, whoever has rebuilt the room since.
    pub menu: Vec<Action>,
    /// How that menu was numbered.
    pub layout: Layout,
    /// The scrolls last shown, in the order of their numbers.
    pub scrolls: Vec<ScrollId>,
    /// How many of the room's scrolls, from the newest, have been shown.
    pub scrolls_seen: usize,
    /// What the last query or search found, in the order of its numbers.
    pub openings: Vec<Opening>,
    /// How many of the room's drawers, from the newest, have been listed.
    pub drawers_seen: usize,
    /// The drawer that was read last and is not at its end, by its file, and
    /// how many of its bytes were read.
    pub bookmark: Option<(String, usize)>,
    /// What others did before the visitor came, for each palace that was entered
    /// in this conversation, by the name of its directory.
    pub since: BTreeMap<String, Since>,
    trail: Vec<Standing>,
}

/// What others did in a palace since a visitor was last there.
#[derive(Clone, Debug, Default)]
pub struct Since {
    /// When that was; `None`: never.
    pub at: Option<DateTime<Utc>>,
    /// Whether it was too much to look at: then this is of the newest commits.
    pub is_cut: bool,
    /// The names of the entities they made or changed, by genus.
    pub entities: BTreeMap<String, BTreeSet<String>>,
    /// The rooms they built, changed or took away, with who did so last.
    pub rooms: BTreeMap<RoomId, String>,
    /// The scrolls they left that the visitor has not read.
    pub unread: BTreeSet<ScrollId>,
    /// Those the visitor has read in this conversation.
    pub read: BTreeSet<ScrollId>,
    /// The newest commit when the visitor came in this time, and when that was.
    pub came: Option<(CommitId, DateTime<Utc>)>,
}

/// A place a visitor can stand in: a room, built or not, or a hall below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The palace, by the name of its directory.
    pub workspace: String,
    /// The room.
    pub room: RoomId,
    /// What the doorway was called through which it was entered.
    pub door: Option<String>,
    /// The hall of the room's that the visitor is in, which no file holds.
    pub hall: Option<Hall>,
}

impl Standing {
    /// Returns the place of somebody who stands in a room and came through no door.
    pub fn in_room(workspace: &str, room: RoomId) -> Self {
        Self { workspace: workspace.to_owned(), room, door: None, hall: None }
    }

    /// Tells whether two places are one, whatever door led there.
    pub fn is_at(&self, other: &Self) -> bool {
        self.workspace == other.workspace && self.room == other.room && self.hall == other.hall
    }
}

impl Visit {
    /// How many scrolls a room shows (v1 section 5.4).
    pub const SCROLLS: usize = 3;

    /// Goes to a place, and remembers the way back.
    pub fn go(&mut self, to: Standing) {
        if let Some(from) = self.standing.take()
            && !from.is_at(&to)
        {
            self.trail.push(from);
            if self.trail.len() > LONGEST_TRAIL {
                self.trail.remove(0);
            }
        }
        self.arrive(to);
    }

    /// Begins a walk anew: at a place, or in a palace that has none yet.
    pub fn begin(&mut self, workspace: &str, at: Option<Standing>) {
        self.trail.clear();
        self.standing = None;
        self.workspace = Some(workspace.to_owned());
        if let Some(at) = at {
            self.arrive(at);
        }
    }

    /// Goes back to where the visitor came from, if they came from anywhere.
    pub fn back(&mut self) -> bool {
        let Some(to) = self.trail.pop() else { return false };
        self.arrive(to);
        true
    }

    /// Returns where the way back leads.
    pub fn way_back(&self) -> Option<&Standing> {
        self.trail.last()
    }

    /// Turns the menu to its next page; after the last comes the first.
    pub fn turn_page(&mut self) {
        let actions = self.menu.len();
        let pages = actions.div_ceil(self.layout.page(actions)).max(1);
        self.page = (self.page + 1) % pages;
    }

    /// Moves on to `scrolls` behind those shown, which are the ones after the
    /// first `from`.
    pub fn unroll(&mut self, from: usize, scrolls: Vec<ScrollId>) {
        self.scrolls_seen = from + scrolls.len();
        self.scrolls = scrolls;
    }

    fn arrive(&mut self, at: Standing) {
        self.workspace = Some(at.workspace.clone());
        self.standing = Some(at);
        self.page = 0;
        self.menu.clear();
        self.scrolls.clear();
        self.scrolls_seen = 0;
        self.openings.clear();
        self.drawers_seen = 0;
        self.bookmark = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Deed;

    fn at(room: &str) -> Standing {
        Standing::in_room("w", room.parse().unwrap())
    }

    fn room(visit: &Visit) -> String {
        visit.standing.as_ref().unwrap().room.to_string()
    }

    #[test]
    fn the_way_back_is_the_way_one_came() {
        let mut visit = Visit::default();
        visit.begin("w", Some(at("hall")));
        visit.go(at("crypt"));
        visit.go(at("crypt"));
        visit.go(at("attic"));
        assert!(visit.back());
        assert_eq!(room(&visit), "crypt");
        assert!(visit.back());
        assert_eq!(room(&visit), "hall");
        assert!(!visit.back());
        assert_eq!(room(&visit), "hall");
    }

    #[test]
    fn pages_come_round() {
        let deed = Deed::Text { content: String::new() };
        let lever = Action { label: "Pull".to_owned(), deed };
        let mut visit = Visit { menu: vec![lever; 30], ..Visit::default() };
        for expected in [1, 2, 0] {
            visit.turn_page();
            assert_eq!(visit.page, expected);
        }
        visit.menu.truncate(3);
        visit.turn_page();
        assert_eq!(visit.page, 0);
    }
}
