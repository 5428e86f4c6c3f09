//! Scrolls: dated notes for later visitors.

use chrono::{DateTime, Utc};
use ulid::Ulid;

use crate::model::RoomId;

/// A dated note in a room. Scrolls are never edited: a correction is a new scroll.
#[derive(Clone, Debug, PartialEq)]
pub struct Scroll {
    /// The id; ids are in the order of writing.
    pub id: Ulid,
    /// A short title, one line.
    pub title: String,
    /// The time of writing, to the second.
    pub written: DateTime<Utc>,
    /// The author: over MCP, the name of the client.
    pub by: String,
    /// The older scrolls that it replaces. They stay as they are.
    pub replaces: Vec<Ulid>,
    /// The text, verbatim.
    pub body: String,
}

/// The room and the id of a scroll.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ScrollId {
    /// The room.
    pub room: RoomId,
    /// The scroll.
    pub id: Ulid,
}
