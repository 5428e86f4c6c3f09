//! Halls: places that no file holds, made from the graph while one looks (v2
//! sections 4.1 and 4.2).

use std::fmt;

use crate::model::GroupBoundary;

/// Entities in some order: what a room may show besides what its author wrote.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Grouping {
    /// All there are, by genus, then by status, then by name.
    Everything,
    /// Those of one genus.
    Genus {
        /// The genus.
        genus: String,
        /// What they are put in order by.
        by: GroupBy,
    },
}

/// What the entities of a genus are put in order by; where that does not part
/// them, the name does.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GroupBy {
    /// Their status.
    #[default]
    Status,
    /// Their name.
    Name,
    /// The day on which they came into the graph, as far as their id tells it.
    Date,
    /// An attribute.
    Attribute(String),
}

/// Part of an arrangement, and a place to stand in. It says which entities
/// belong in it, never which they are: whoever looks sees those of that moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hall {
    /// The arrangement it is part of.
    pub grouping: Grouping,
    /// Where it begins; if it does not say, with the first.
    pub from: Option<GroupBoundary>,
    /// Before what it ends; if it does not say, with the last.
    pub until: Option<GroupBoundary>,
    /// How many choices led to it from the room above.
    pub depth: usize,
    /// What it is called: `Claim · contested · A to Bel`.
    pub title: String,
}

impl Grouping {
    /// The word that puts everything in order, where a [`GroupBy`] would stand.
    pub const BY_GENUS: &'static str = "genus";

    /// Makes of what somebody said the arrangement they meant, or says why it is
    /// none.
    pub fn parse(genus: Option<String>, by: Option<&str>) -> Result<Self, &'static str> {
        match (genus, by) {
            (_, Some(by)) if by.trim().is_empty() => {
                Err("the `by` is empty: say status, name, date or an attribute, or leave it out")
            }
            (None, Some(Self::BY_GENUS)) => Ok(Self::Everything),
            (None, _) => Err("`generate` needs a `genus`; `by: genus` alone shows all there are"),
            (Some(_), Some(Self::BY_GENUS)) => Err("entities of one genus are put in order by \
                status, name, date or an attribute; without a `genus`, `by: genus` shows all"),
            (Some(genus), by) => {
                Ok(Self::Genus { genus, by: by.map(GroupBy::from).unwrap_or_default() })
            }
        }
    }

    /// Tells whether entities of a genus belong to it.
    pub fn includes_genus(&self, asked: &str) -> bool {
        match self {
            Self::Everything => true,
            Self::Genus { genus, .. } => genus == asked,
        }
    }
}

impl Hall {
    /// Returns the hall that has a whole arrangement in it.
    pub fn for_grouping(arrangement: Grouping) -> Self {
        let title = match &arrangement {
            Grouping::Everything => "All that is known".to_owned(),
            Grouping::Genus { genus, .. } => genus.clone(),
        };
        Self { grouping: arrangement, from: None, until: None, depth: 0, title }
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

/// Says it in few words: `Claim by status`.
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
