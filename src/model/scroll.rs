//! Dated notes, left for whoever comes next.

use chrono::{DateTime, Utc};
use ulid::Ulid;

use crate::model::RoomId;

/// A dated note in a room. Never edited: to change your mind, write another.
#[derive(Clone, Debug, PartialEq)]
pub struct Scroll {
    /// Its identity; the order of ids is the order of writing.
    pub id: Ulid,
    /// A short title, one line.
    pub title: String,
    /// When it was written, to the second.
    pub written: DateTime<Utc>,
    /// Who wrote it: the client's name over MCP.
    pub by: String,
    /// The text, verbatim.
    pub body: String,
}

/// Where a scroll hangs, and which it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ScrollId {
    /// The room.
    pub room: RoomId,
    /// The scroll.
    pub id: Ulid,
}
