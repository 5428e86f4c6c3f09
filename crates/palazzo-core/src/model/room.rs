//! Rooms and references to rooms.

pub(crate) mod action;
pub(crate) mod menu;
pub(crate) mod room_id;
use crate::model::{RoomId, RoomRef};

use ulid::Ulid;

use crate::model::{Action, ActionKind, Grouping};

/// A room (v1 section 4.1): a cluster or theme with a vivid description, actions and doors.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Room {
    /// The id, which survives renames; optional in files written by hand.
    pub id: Option<Ulid>,
    /// The name shown to visitors; need not be unique.
    pub name: String,
    /// The description: prose, without a final line break.
    pub description: String,
    /// The numbered choices, in menu order.
    pub actions: Vec<Action>,
    /// Doors declared in this room's file, in addition to its actions.
    pub portals: Vec<RoomRef>,
    /// The grouping of the graph that the room shows; its entities are looked up at each visit and
    /// are not part of the room (v2 section 4.1).
    pub generate: Option<Grouping>,
}

impl Room {
    /// Yields the texts that may link to entities: the description, and those that actions show.
    pub fn texts_with_links(&self) -> impl Iterator<Item = &str> {
        let contents = self.actions.iter().filter_map(|it| match &it.kind {
            ActionKind::Text { content } => Some(content.as_str()),
            _ => None,
        });
        std::iter::once(self.description.as_str()).chain(contents)
    }

    /// Yields every room of this palace to which the room's own file links, by action or by portal.
    pub fn linked_rooms(&self) -> impl Iterator<Item = &RoomRef> {
        self.actions.iter().filter_map(Action::target_room).chain(&self.portals)
    }
}

/// The error for a bare slug that fits several rooms.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("several rooms are called `{called}`; use one of {}", quote_room_ids(candidates))]
pub struct AmbiguousRoomError {
    /// The reference.
    pub called: RoomRef,
    /// The rooms with this slug.
    pub candidates: Vec<RoomId>,
}

fn quote_room_ids(rooms: &[RoomId]) -> String {
    rooms.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ")
}
