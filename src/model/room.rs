//! Rooms and the names they are called by.

pub(crate) mod action;
pub(crate) mod menu;
use std::fmt;
use std::str::FromStr;

use ulid::Ulid;

use crate::model::{Action, Grouping, Slug, SlugError};

/// A place worth remembering (v1 section 4.1): a cluster or theme, described
/// vividly, with things to do and ways to go on.
#[derive(Clone, Debug, PartialEq)]
pub struct Room {
    /// Identity across renames. A room written by hand may do without.
    pub id: Option<Ulid>,
    /// The name shown to visitors; need not be unique.
    pub name: String,
    /// What a visitor sees: prose, without a final line break.
    pub description: String,
    /// The numbered choices, in menu order.
    pub actions: Vec<Action>,
    /// Doors declared here that no action leads through.
    pub portals: Vec<RoomRef>,
    /// What the room shows of the graph as it is at the moment; none of it is
    /// part of the room (v2 section 4.1).
    pub generate: Option<Grouping>,
}

impl Room {
    /// Yields every room of this palace that the room's own file names, by
    /// action or by portal.
    pub fn linked_rooms(&self) -> impl Iterator<Item = &RoomRef> {
        self.actions.iter().filter_map(Action::target_room).chain(&self.portals)
    }
}

/// What a room is called in full: its slug, and its wing if it stands in one.
///
/// Written `wing/slug` or `slug`; its file is `rooms/<that>.yaml`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RoomId {
    /// The named part of the palace it stands in.
    pub wing: Option<Slug>,
    /// Its name within the wing, or among the rooms without one.
    pub slug: Slug,
}

/// How a file or a visitor speaks of a room: `slug`, or `wing/slug`.
///
/// A bare slug may mean a room in any wing; [`CrashTestPalace::resolve_room`](crate::model::Palace::resolve)
/// says which.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RoomRef(RoomId);

/// A bare slug that several rooms answer to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("several rooms are called `{called}`; say which: {}", quote_room_ids(candidates))]
pub struct AmbiguousRoom {
    /// What was said.
    pub called: RoomRef,
    /// Who answers to it.
    pub candidates: Vec<RoomId>,
}

impl RoomRef {
    /// Returns the room this names if nothing else bears its slug: a bare slug
    /// is then a room without a wing.
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

/// Returns a text as rooms keep prose: lines end in a line feed, and the last
/// line has none.
pub fn normalize_prose(text: &str) -> String {
    text.replace("\r\n", "\n").trim_end().to_owned()
}

fn quote_room_ids(rooms: &[RoomId]) -> String {
    rooms.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ")
}
