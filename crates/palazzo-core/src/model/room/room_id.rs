//! The id of a room, a reference to a room as files and tools write it, and the new ids of rooms that
//! are renamed.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

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

/// The new name of a room: `slug` in the same wing, `wing/slug`, `wing/` with the same slug, and
/// `/slug` or `/` for a room without a wing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoomDestination {
    wing: WingChange,
    /// `None` keeps the slug.
    slug: Option<Slug>,
}

/// What a destination says of the wing.
#[derive(Clone, Debug, PartialEq, Eq)]
enum WingChange {
    /// The room stays in its wing.
    Keep,
    /// The room moves to this wing, or out of its wing.
    Set(Option<Slug>),
}

impl RoomDestination {
    /// Returns the new name of `room`.
    pub fn of_room(&self, room: &RoomId) -> RoomId {
        RoomId {
            wing: match &self.wing {
                WingChange::Keep => room.wing.clone(),
                WingChange::Set(wing) => wing.clone(),
            },
            slug: self.slug.clone().unwrap_or_else(|| room.slug.clone()),
        }
    }
}

impl FromStr for RoomDestination {
    type Err = SlugError;

    fn from_str(text: &str) -> Result<Self, SlugError> {
        let parse_unless_empty =
            |it: &str| if it.is_empty() { Ok(None) } else { it.parse().map(Some) };
        match text.split_once('/') {
            Some((wing, slug)) => {
                let (wing, slug) = (parse_unless_empty(wing)?, parse_unless_empty(slug)?);
                Ok(Self { wing: WingChange::Set(wing), slug })
            }
            None => Ok(Self { wing: WingChange::Keep, slug: Some(text.parse()?) }),
        }
    }
}

/// The present names of missing rooms that were renamed by hand; unknown until they are searched in
/// the history. A cache, which is not compared.
#[derive(Clone, Debug, Default)]
pub(crate) struct RoomRenames(OnceLock<BTreeMap<RoomId, RoomId>>);

impl RoomRenames {
    /// Returns whether the renamed rooms were searched.
    pub(crate) fn is_known(&self) -> bool {
        self.0.get().is_some()
    }

    /// Stores the present name of each renamed room, unless it is stored already.
    pub(crate) fn set(&self, renames: BTreeMap<RoomId, RoomId>) {
        let _ = self.0.set(renames);
    }

    /// Returns the present name of a room: its own, unless it is known to be renamed.
    pub(crate) fn present_name(&self, room: RoomId) -> RoomId {
        self.0.get().and_then(|it| it.get(&room)).cloned().unwrap_or(room)
    }

    /// Yields the old names of a room.
    pub(crate) fn old_names<'a>(&'a self, room: &'a RoomId) -> impl Iterator<Item = &'a RoomId> {
        let renames = self.0.get().into_iter().flatten();
        renames.filter(move |(_, new)| *new == room).map(|(old, _)| old)
    }
}

impl PartialEq for RoomRenames {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_destination_names_a_slug_a_wing_or_both() {
        let to = |text: &str| {
            let room = "west/attic".parse().unwrap();
            text.parse::<RoomDestination>().unwrap().of_room(&room).to_string()
        };
        assert_eq!(to("loft"), "west/loft");
        assert_eq!(to("east/loft"), "east/loft");
        assert_eq!(to("east/"), "east/attic");
        assert_eq!(to("/loft"), "loft");
        assert_eq!(to("/"), "attic");
        assert!("".parse::<RoomDestination>().is_err());
        assert!("a/b/c".parse::<RoomDestination>().is_err());
    }
}
