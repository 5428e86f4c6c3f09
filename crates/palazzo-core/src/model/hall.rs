//! Halls: generated rooms without a file that show entities of the graph (v2 sections 4.1 and 4.2).

use std::fmt;

/// One heading of an entity: a genus, a status, a year; `None` sorts last.
pub type GroupHeading = Option<String>;

/// A boundary between two entities of a grouping.
///
/// It consists of some headings and, if it has all of them, the beginning of a name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct HallBoundary {
    /// The first headings of the entities after it.
    pub headings: Vec<GroupHeading>,
    /// The beginning of the first name after it.
    pub name_prefix: String,
}

/// A grouping of entities that a room can show in addition to its own content.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Grouping {
    /// All entities by genus, then by status, then by name.
    Everything,
    /// The entities of one genus.
    Genus {
        /// The genus.
        genus: String,
        /// The sort key.
        by: GroupBy,
    },
}

/// The sort key of the entities of a genus; equal entities are sorted by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GroupBy {
    /// Their status.
    #[default]
    Status,
    /// Their name.
    Name,
    /// The day of their creation, if their id contains it.
    Date,
    /// An attribute.
    Attribute(String),
}

/// A section of a grouping that a visitor can enter. It stores boundaries, not entities: each visit
/// shows the current ones.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Hall {
    /// The grouping that it is a section of.
    pub grouping: Grouping,
    /// The start; `None`: the first entity.
    pub from: Option<HallBoundary>,
    /// The end, exclusive; `None`: after the last entity.
    pub until: Option<HallBoundary>,
    /// The number of choices from the room to this hall.
    pub depth: usize,
    /// The title: `Claim · contested · A to Bel`.
    pub title: String,
}

impl Grouping {
    /// The word for [`Grouping::Everything`] in place of a [`GroupBy`].
    pub const BY_GENUS: &'static str = "genus";

    /// Parses a grouping, or returns an error message.
    pub fn parse(genus: Option<String>, by: Option<&str>) -> Result<Self, &'static str> {
        match (genus, by) {
            (_, Some(by)) if by.trim().is_empty() => {
                Err("the `by` is empty: write status, name, date or an attribute, or leave it out")
            }
            (None, Some(Self::BY_GENUS)) => Ok(Self::Everything),
            (None, _) => Err("`generate` needs a `genus`; `by: genus` alone shows all entities"),
            (Some(_), Some(Self::BY_GENUS)) => Err("entities of one genus are sorted by \
                status, name, date or an attribute; without a `genus`, `by: genus` shows all"),
            (Some(genus), by) => {
                Ok(Self::Genus { genus, by: by.map(GroupBy::from).unwrap_or_default() })
            }
        }
    }

    /// Returns whether it includes the entities of a genus.
    pub fn includes_genus(&self, asked: &str) -> bool {
        match self {
            Self::Everything => true,
            Self::Genus { genus, .. } => genus == asked,
        }
    }
}

impl Hall {
    /// The title of the hall of all entities.
    pub const TITLE_OF_ALL: &'static str = "All that is known";

    /// Returns the hall of a whole grouping.
    pub fn for_grouping(grouping: Grouping) -> Self {
        let title = match &grouping {
            Grouping::Everything => Self::TITLE_OF_ALL.to_owned(),
            Grouping::Genus { genus, .. } => genus.clone(),
        };
        Self { grouping, from: None, until: None, depth: 0, title }
    }
}

impl From<&str> for GroupBy {
    fn from(word: &str) -> Self {
        match word {
            "status" => Self::Status,
            "name" => Self::Name,
            "date" => Self::Date,
            attribute => Self::Attribute(attribute.to_owned()),
        }
    }
}

/// Formats briefly: `Claim by status`.
impl fmt::Display for Grouping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Everything => write!(f, "all by {}", Self::BY_GENUS),
            Self::Genus { genus, by } => write!(f, "{genus} by {by}"),
        }
    }
}

impl fmt::Display for GroupBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Status => "status",
            Self::Name => "name",
            Self::Date => "date",
            Self::Attribute(attribute) => attribute,
        })
    }
}
