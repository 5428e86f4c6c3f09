//! The id of a room, and a reference to a room as files and tools write it.

use std::fmt;
use std::str::FromStr;

use crate::model::{Slug, SlugError};

/// A reference to a room in a file or a tool call: `slug`, or `wing/slug`.
///
/// A bare slug may mean a room in any wing;
/// [`Palace::resolve_room`](crate::model::Palace::resolve_room) decides which.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RoomRef(RoomId);

impl RoomRef {
    /// Returns the room without the context of a palace: a bare slug means a room without a wing.
    pub fn as_literal_id(&self) -> &RoomId {
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
