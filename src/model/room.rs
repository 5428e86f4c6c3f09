//! Rooms and references to rooms.

pub(crate) mod action;
pub(crate) mod menu;
use std::fmt;
use std::str::FromStr;

use ulid::Ulid;

use crate::model::{Action, Grouping, Slug, SlugError};

/// A room (v1 section 4.1): a cluster or theme with a vivid description, actions and doors.
#[derive(Clone, Debug, PartialEq)]
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
    /// Yields every room of this palace to which the room's own file links, by action or by portal.
    pub fn linked_rooms(&self) -> impl Iterator<Item = &RoomRef> {
        self.actions.iter().filter_map(Action::target_room).chain(&self.portals)
    }
}

/// The full name of a room: its slug, and its wing if it has one.
///
/// Written `wing/slug` or `slug`; its file is `rooms/<that>.yaml`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RoomId {
    /// The wing, if any.
    pub wing: Option<Slug>,
    /// The name within the wing, or among the rooms without one.
    pub slug: Slug,
}

/// A reference to a room in a file or a tool call: `slug`, or `wing/slug`.
///
/// A bare slug may mean a room in any wing;
/// [`Palace::resolve_room`](crate::model::Palace::resolve_room) decides which.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RoomRef(RoomId);

/// The error for a bare slug that fits several rooms.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("several rooms are called `{called}`; say which: {}", quote_room_ids(candidates))]
pub struct AmbiguousRoom {
    /// The reference.
    pub called: RoomRef,
    /// The rooms with this slug.
    pub candidates: Vec<RoomId>,
}

impl RoomRef {
    /// Returns the room without the context of a palace: a bare slug means a room without a wing.
    pub fn as_id(&self) -> &RoomId {
        &self.0
    }
}

impl From<RoomId> for RoomRef {
    fn from(id: RoomId) -> Self {
        Self(id)
    }
}

impl FromStr for RoomRef {
    type Err = SlugError;

    fn from_str(text: &str) -> Result<Self, SlugError> {
        text.parse().map(Self)
    }
}

impl fmt::Display for RoomRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for RoomId {
    type Err = SlugError;

    fn from_str(text: &str) -> Result<Self, SlugError> {
        match text.split_once('/') {
            Some((wing, slug)) => Ok(Self { wing: Some(wing.parse()?), slug: slug.parse()? }),
            None => Ok(Self { wing: None, slug: text.parse()? }),
        }
    }
}

impl fmt::Display for RoomId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.wing {
            Some(wing) => write!(f, "{wing}/{}", self.slug),
            None => self.slug.fmt(f),
        }
    }
}

/// Normalizes prose: lines end in a line feed, and the last line has none.
pub fn normalize_prose(text: &str) -> String {
    text.replace("\r\n", "\n").trim_end().to_owned()
}

fn quote_room_ids(rooms: &[RoomId]) -> String {
    rooms.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ")
}
