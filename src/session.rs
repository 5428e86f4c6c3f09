//! Where a visitor stands, how they came there, and what their numbers mean.
//!
//! A visit is kept in memory only: losing it costs one walk from the entry (v1
//! section 4.3).

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};

use crate::model::{Action, CommitId, Hall, ItemId, Layout, RoomId, ScrollId};

/// How many steps back a visitor can go.
const MAX_BACK_STEPS: usize = 100;

/// One client's walk.
#[derive(Clone, Debug, Default)]
pub struct Visit {
    /// The palace visited, by the name of its directory.
    pub workspace: Option<String>,
    /// Where the visitor stands; nowhere before there is a room to stand in.
    pub location: Option<Location>,
    /// Whether the tutorial has been given: once a conversation is enough.
    pub has_seen_tutorial: bool,
    /// The page of the menu shown, from 0.
    pub page: usize,
    /// Everything that could be chosen when the menu was last shown: a number
    /// means what it meant then, whoever has rebuilt the room since.
    pub menu: Vec<Action>,
    /// How that menu was numbered.
    pub layout: Layout,
    /// The scrolls last shown, in the order of their numbers.
    pub shown_scrolls: Vec<ScrollId>,
    /// How many of the room's scrolls, from the newest, have been shown.
    pub scrolls_seen: usize,
    /// What the last query or search found, in the order of its numbers.
    pub listed_items: Vec<ItemId>,
    /// How many of the room's drawers, from the newest, have been listed.
    pub drawers_seen: usize,
    /// The drawer that was read last and is not at its end, by its file, and
    /// how many of its bytes were read.
    pub bookmark: Option<(String, usize)>,
    /// What others did before the visitor came, for each palace that was entered
    /// in this conversation, by the name of its directory.
    pub changes_since_visit: BTreeMap<String, ChangesSinceVisit>,
    back_stack: Vec<Location>,
}

/// What others did in a palace since a visitor was last there.
#[derive(Clone, Debug, Default)]
pub struct ChangesSinceVisit {
    /// When that was; `None`: never.
    pub last_visit: Option<DateTime<Utc>>,
    /// Whether it was too much to look at: then this is of the newest commits.
    pub is_truncated: bool,
    /// The names of the entities they made or changed, by genus.
    pub entities: BTreeMap<String, BTreeSet<String>>,
    /// The rooms they built, changed or took away, with who did so last.
    pub rooms: BTreeMap<RoomId, String>,
    /// The scrolls they left that the visitor has not read.
    pub unread_scrolls: BTreeSet<ScrollId>,
    /// Those the visitor has read in this conversation.
    pub read_scrolls: BTreeSet<ScrollId>,
    /// The newest commit when the visitor came in this time, and when that was.
    pub arrival: Option<(CommitId, DateTime<Utc>)>,
}

/// A place a visitor can stand in: a room, built or not, or a hall below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The palace, by the name of its directory.
    pub workspace: String,
    /// The room.
    pub room: RoomId,
    /// What the doorway was called through which it was entered.
    pub door: Option<String>,
    /// The hall of the room's that the visitor is in, which no file holds.
    pub hall: Option<Hall>,
}

impl Location {
    /// Returns the place of somebody who stands in a room and came through no door.
    pub fn in_room(workspace: &str, room: RoomId) -> Self {
        Self { workspace: workspace.to_owned(), room, door: None, hall: None }
    }

    /// Tells whether two places are one, whatever door led there.
    pub fn is_same_place(&self, other: &Self) -> bool {
        self.workspace == other.workspace && self.room == other.room && self.hall == other.hall
    }
}

impl Visit {
    /// How many scrolls a room shows (v1 section 5.4).
    pub const SCROLLS_PER_ROOM: usize = 3;

    /// Goes to a place, and remembers the way back.
    pub fn go_to(&mut self, to: Location) {
        if let Some(from) = self.location.take()
            && !from.is_same_place(&to)
        {
            self.back_stack.push(from);
            if self.back_stack.len() > MAX_BACK_STEPS {
                self.back_stack.remove(0);
            }
        }
        self.set_location(to);
    }

    /// Begins a walk anew: at a place, or in a palace that has none yet.
    pub fn enter_palace(&mut self, workspace: &str, at: Option<Location>) {
        self.back_stack.clear();
        self.location = None;
        self.workspace = Some(workspace.to_owned());
        if let Some(at) = at {
            self.set_location(at);
        }
    }

    /// Goes back to where the visitor came from, if they came from anywhere.
    pub fn go_back(&mut self) -> bool {
        let Some(to) = self.back_stack.pop() else { return false };
        self.set_location(to);
        true
    }

    /// Returns where the way back leads.
    pub fn previous_location(&self) -> Option<&Location> {
        self.back_stack.last()
    }

    /// Turns the menu to its next page; after the last comes the first.
    pub fn next_menu_page(&mut self) {
        let actions = self.menu.len();
        let pages = actions.div_ceil(self.layout.page_size(actions)).max(1);
        self.page = (self.page + 1) % pages;
    }

    /// Moves on to `scrolls` behind those shown, which are the ones after the
    /// first `from`.
    pub fn show_scrolls(&mut self, from: usize, scrolls: Vec<ScrollId>) {
        self.scrolls_seen = from + scrolls.len();
        self.shown_scrolls = scrolls;
    }

    fn set_location(&mut self, at: Location) {
        self.workspace = Some(at.workspace.clone());
        self.location = Some(at);
        self.page = 0;
        self.menu.clear();
        self.shown_scrolls.clear();
        self.scrolls_seen = 0;
        self.listed_items.clear();
        self.drawers_seen = 0;
        self.bookmark = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ActionKind;

    fn location_in(room: &str) -> Location {
        Location::in_room("w", room.parse().unwrap())
    }

    fn current_room(visit: &Visit) -> String {
        visit.location.as_ref().unwrap().room.to_string()
    }

    #[test]
    fn going_back_retraces_the_visited_rooms() {
        let mut visit = Visit::default();
        visit.enter_palace("w", Some(location_in("hall")));
        visit.go_to(location_in("crypt"));
        visit.go_to(location_in("crypt"));
        visit.go_to(location_in("attic"));
        assert!(visit.go_back());
        assert_eq!(current_room(&visit), "crypt");
        assert!(visit.go_back());
        assert_eq!(current_room(&visit), "hall");
        assert!(!visit.go_back());
        assert_eq!(current_room(&visit), "hall");
    }

    #[test]
    fn action_pages_wrap_around() {
        let deed = ActionKind::Text { content: String::new() };
        let lever = Action { label: "Pull".to_owned(), kind: deed };
        let mut visit = Visit { menu: vec![lever; 30], ..Visit::default() };
        for expected in [1, 2, 0] {
            visit.next_menu_page();
            assert_eq!(visit.page, expected);
        }
        visit.menu.truncate(3);
        visit.next_menu_page();
        assert_eq!(visit.page, 0);
    }
}
