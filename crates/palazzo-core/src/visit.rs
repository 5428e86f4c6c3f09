//! The state of a visit: location, way back, and the meanings of the menu numbers.
//!
//! A visit is kept in memory only: losing it costs one walk from the entry (v1 section 4.3).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use ulid::Ulid;

use crate::model::{Action, CommitId, Hall, ItemId, Layout, RoomId, ScrollId, Slot, WorkSubject};

/// Maximum number of steps back.
const MAX_BACK_STEPS: usize = 100;

/// Which visit a call acts on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum VisitKey {
    /// The visit of the client with this name: one process serves one conversation.
    Client(String),
    /// The visit with this handle: one process serves many conversations.
    Handle(VisitHandle),
}

/// A random text that names a visit, given back by the client in its next calls.
///
/// Invariant: 26 characters of Crockford's base32, which are 128 random bits. Whoever knows it can
/// act on the visit, so it is never listed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VisitHandle(String);

impl VisitHandle {
    /// Makes a handle of 128 random bits.
    pub fn from_random(bits: u128) -> Self {
        Self(Ulid(bits).to_string().to_lowercase())
    }
}

impl FromStr for VisitHandle {
    type Err = InvalidHandle;

    fn from_str(text: &str) -> Result<Self, InvalidHandle> {
        let bits = Ulid::from_string(text.trim()).map_err(|_| InvalidHandle)?;
        Ok(Self::from_random(bits.0))
    }
}

impl fmt::Display for VisitHandle {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// A text that is not the handle of a visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a visit is named by the 26 letters and digits that `set_workspace` returned")]
pub struct InvalidHandle;

/// The visit of one client.
#[derive(Clone, Debug, Default)]
pub struct Visit {
    /// The current palace, by the name of its directory.
    pub workspace: Option<String>,
    /// The current location; `None` while the palace has no room.
    pub location: Option<Location>,
    /// Whether the tutorial has been shown in this conversation.
    pub has_seen_tutorial: bool,
    /// Whether a menu with the parameters of the actions of every room has been shown.
    pub has_seen_menu: bool,
    /// The page of the menu shown, from 0.
    pub page: usize,
    /// The choices of the menu that was shown last: a number keeps its meaning even if the room has
    /// changed since.
    pub menu: Vec<Action>,
    /// The numbering of that menu.
    pub layout: Layout,
    /// The scrolls that were shown last, in the order of their numbers.
    pub shown_scrolls: Vec<ScrollId>,
    /// The number of the room's scrolls, from the newest, that have been shown.
    pub scrolls_seen: usize,
    /// The results of the last query or search, in the order of their numbers.
    pub listed_items: Vec<ItemId>,
    /// The scrolls and entities that this visit was shown in full, with digests of what they said.
    pub shown_items: BTreeMap<ItemId, u64>,
    /// Those of them that the answer in the making shows; what is cut of it was not shown.
    pub shown_in_answer: Vec<ItemId>,
    /// The hand-over, if only its beginning was shown at the door.
    pub begun_hand_over: Option<ScrollId>,
    /// The subject of the last answer.
    pub answer_subject: AnswerSubject,
    /// The number of the room's drawers, from the newest, that have been listed.
    pub drawers_seen: usize,
    /// The end of an answer that was too long to be sent whole, until it is read or another one is.
    pub unread_answer: Option<Arc<str>>,
    /// Whether that was the last answer.
    pub is_last_answer_cut: bool,
    /// How many of the listed items the last answer has shown; a search shows its best results.
    pub shown_results: usize,
    /// The results of the last search that were not shown.
    pub weaker_results: Option<Arc<str>>,
    /// The changes by others since the last visit, for each palace entered in this conversation, by
    /// the name of its directory.
    pub changes_since_visit: BTreeMap<String, ChangesSinceVisit>,
    /// The rooms that have suggested to revise them, with the names of their palaces' directories.
    pub revision_suggestions: BTreeSet<(String, RoomId)>,
    /// The unreachable remotes that a notice has named, as the names of the palaces' directories.
    pub sync_notices_seen: BTreeSet<String>,
    /// The palaces of which a notice has named a commit that is dated far ahead.
    pub clock_notices_seen: BTreeSet<String>,
    back_stack: Vec<Location>,
}

/// The subject of an answer, whose contents number 20 shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AnswerSubject {
    /// The room or the hall.
    #[default]
    Place,
    /// The items of a search or a list.
    List,
    /// The palace.
    Map,
}

/// The last list or search: the meanings of the numbers from 31, of 13 and of 20.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    items: Vec<ItemId>,
    shown_results: usize,
    weaker_results: Option<Arc<str>>,
    subject: AnswerSubject,
}

/// The changes by others in a palace since the visitor was last there.
#[derive(Clone, Debug, Default)]
pub struct ChangesSinceVisit {
    /// The time of the last visit; `None`: never.
    pub last_visit: Option<DateTime<Utc>>,
    /// Whether there were too many changes: then only the newest commits are included.
    pub is_truncated: bool,
    /// The names of the entities that were created or changed, by genus.
    pub entities: BTreeMap<String, BTreeSet<String>>,
    /// The rooms that were built or changed, with the author of the last change.
    pub rooms: BTreeMap<RoomId, String>,
    /// The items that were renamed, deleted or completed.
    pub changed_items: Vec<ChangedItem>,
    /// Whether more items were deleted than `changed_items` lists.
    pub has_more_changed_items: bool,
    /// How many of the commits a sync has brought from other machines, by who made them.
    pub received: BTreeMap<String, usize>,
    /// The new scrolls that the visitor has not read.
    pub unread_scrolls: BTreeSet<ScrollId>,
    /// The new scrolls that the visitor has read in this conversation.
    pub read_scrolls: BTreeSet<ScrollId>,
    /// The newest commit when this visit began, and its time.
    pub arrival: Option<(CommitId, DateTime<Utc>)>,
}

/// An item that somebody else renamed, deleted or completed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedItem {
    /// The item, as it was at the last visit.
    pub item: ItemId,
    /// The name of a room, an entity or a process, or the title of a scroll or a task, as it was.
    pub name: String,
    /// The genus of an entity.
    pub genus: Option<String>,
    /// The subject of a task or a process.
    pub subject: WorkSubject,
    /// What happened to it.
    pub change: ItemChange,
    /// The author of the change.
    pub by: String,
}

/// What happened to an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ItemChange {
    /// An entity or a room has this name or slug now.
    Renamed(String),
    /// It was deleted.
    Deleted,
    /// A task or a process was completed.
    Completed,
}

/// A location of a visitor: a room, built or not, or a hall below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The palace, by the name of its directory.
    pub workspace: String,
    /// The room.
    pub room: RoomId,
    /// The label of the door through which it was entered.
    pub door: Option<String>,
    /// The current hall of the room, which has no file.
    pub hall: Option<Hall>,
}

impl Location {
    /// Returns the location in a room, not entered through a door.
    pub fn from_room(workspace: &str, room: RoomId) -> Self {
        Self { workspace: workspace.to_owned(), room, door: None, hall: None }
    }

    /// Returns whether two locations are the same, whichever door led there.
    pub fn is_same_place(&self, other: &Self) -> bool {
        self.workspace == other.workspace && self.room == other.room && self.hall == other.hall
    }
}

impl Visit {
    /// Number of scrolls that a room shows (v1 section 5.4).
    pub const SCROLLS_PER_ROOM: usize = 3;

    /// Goes to a location and stores the way back.
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

    /// Starts over in a palace, at a location if it has one.
    pub fn enter_palace(&mut self, workspace: &str, at: Option<Location>) {
        self.back_stack.clear();
        self.shown_items.clear();
        self.location = None;
        self.workspace = Some(workspace.to_owned());
        if let Some(at) = at {
            self.set_location(at);
        }
    }

    /// Goes back one step; returns false if there is none.
    pub fn go_back(&mut self) -> bool {
        let Some(to) = self.back_stack.pop() else { return false };
        self.set_location(to);
        true
    }

    /// Replaces a room that has another name now.
    pub fn rename_room(&mut self, workspace: &str, from: &RoomId, to: &RoomId) {
        let locations = self.location.iter_mut().chain(&mut self.back_stack);
        for location in locations.filter(|it| it.workspace == workspace && it.room == *from) {
            location.room = to.clone();
        }
        for scroll in self.shown_scrolls.iter_mut().filter(|it| it.room == *from) {
            scroll.room = to.clone();
        }
        let rename = |(item, digest)| match item {
            ItemId::Scroll(which) if which.room == *from => {
                (ItemId::Scroll(ScrollId { room: to.clone(), ..which }), digest)
            }
            item => (item, digest),
        };
        self.shown_items = std::mem::take(&mut self.shown_items).into_iter().map(rename).collect();
    }

    /// Leaves a room that does not exist any more: a visitor there starts over at the entry.
    pub fn leave_deleted_room(&mut self, workspace: &str, room: &RoomId) {
        let is_there = |it: &Location| it.workspace == workspace && it.room == *room;
        self.back_stack.retain(|it| !is_there(it));
        if self.location.as_ref().is_some_and(is_there) {
            self.location = None;
        }
    }

    /// Returns the location to which the way back leads.
    pub fn previous_location(&self) -> Option<&Location> {
        self.back_stack.last()
    }

    /// Goes to the next page of the menu, or from the last to the first.
    pub fn go_to_next_menu_page(&mut self) {
        let actions = self.menu.len();
        let pages = actions.div_ceil(self.layout.page_size(actions)).max(1);
        self.page = (self.page + 1) % pages;
    }

    /// Shows `scrolls`, the ones after the first `from`.
    pub fn record_shown_scrolls(&mut self, from: usize, scrolls: Vec<ScrollId>) {
        self.scrolls_seen = from + scrolls.len();
        self.shown_scrolls = scrolls;
        self.answer_subject = AnswerSubject::Place;
    }

    /// Gives numbers to the items of a search or a list.
    pub fn record_listed_items(&mut self, items: Vec<ItemId>) {
        self.shown_results = items.len();
        self.listed_items = items;
        self.weaker_results = None;
        self.answer_subject = AnswerSubject::List;
    }

    /// Gives an item the number behind the listed ones, unless it has one; `None`: there is no number left.
    pub fn number_listed_item(&mut self, item: ItemId) -> Option<usize> {
        let known = self.listed_items.iter().position(|it| *it == item);
        let place = match known {
            None if self.listed_items.len() < Layout::MAX_RESULTS => {
                self.listed_items.push(item);
                self.listed_items.len() - 1
            }
            known => known?,
        };
        Some(Layout::Wide.number_of_slot(Slot::Result(place)))
    }

    /// Removes the listing, so that queries do not change it.
    pub fn take_listing(&mut self) -> Listing {
        Listing {
            items: std::mem::take(&mut self.listed_items),
            shown_results: self.shown_results,
            weaker_results: self.weaker_results.take(),
            subject: self.answer_subject,
        }
    }

    /// Puts a listing back.
    pub fn restore_listing(&mut self, listing: Listing) {
        self.listed_items = listing.items;
        self.shown_results = listing.shown_results;
        self.weaker_results = listing.weaker_results;
        self.answer_subject = listing.subject;
    }

    fn set_location(&mut self, at: Location) {
        if self.workspace.as_ref() != Some(&at.workspace) {
            self.shown_items.clear();
        }
        self.workspace = Some(at.workspace.clone());
        self.location = Some(at);
        self.page = 0;
        self.menu.clear();
        self.shown_scrolls.clear();
        self.scrolls_seen = 0;
        self.listed_items.clear();
        self.weaker_results = None;
        self.answer_subject = AnswerSubject::Place;
        self.drawers_seen = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ActionKind;

    fn location_in(room: &str) -> Location {
        Location::from_room("w", room.parse().unwrap())
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
    fn a_handle_is_read_in_any_case() {
        let handle = VisitHandle::from_random(u128::MAX - 7);
        let shown = handle.to_string();
        assert_eq!(shown.len(), 26);
        assert_eq!(format!(" {} ", shown.to_uppercase()).parse(), Ok(handle));
        for wrong in ["", "hall", "../../etc", &shown[1..]] {
            assert_eq!(wrong.parse::<VisitHandle>(), Err(InvalidHandle), "{wrong}");
        }
    }

    #[test]
    fn action_pages_wrap_around() {
        let kind = ActionKind::Text { content: String::new() };
        let lever = Action { label: "Pull".to_owned(), kind };
        let mut visit = Visit { menu: vec![lever; 30], ..Visit::default() };
        for expected in [1, 2, 0] {
            visit.go_to_next_menu_page();
            assert_eq!(visit.page, expected);
        }
        visit.menu.truncate(3);
        visit.go_to_next_menu_page();
        assert_eq!(visit.page, 0);
    }
}
