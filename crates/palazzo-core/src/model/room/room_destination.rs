//! The new name of a room that is renamed or moved.

use std::str::FromStr;

use crate::model::{RoomId, Slug, SlugError};

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
