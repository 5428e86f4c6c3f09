//! Entities: the typed nodes of the knowledge graph, and what is known of them.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ulid::Ulid;

use crate::model::Date;

/// One entity, with its observations and its outgoing relations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entity {
    /// Identity across renames; an entity written by hand may do without.
    pub id: Option<Ulid>,
    /// Its name: any text, exact and case-sensitive, unique in the palace.
    pub name: String,
    /// Whether anybody has said what it is. What nobody has defined is a loose
    /// end: a name that relations start from, without genus and observations.
    pub is_defined: bool,
    /// What kind of thing it is: `Claim`.
    pub genus: String,
    /// Where it stands: `contested`; free text.
    pub status: Option<String>,
    /// What else is known of it, by name.
    #[serde(with = "as_json")]
    pub attributes: Map<String, Value>,
    /// Facts about it, one sentence each, oldest first.
    pub observations: Vec<String>,
    /// What it has to do with other entities.
    pub relations: Vec<Relation>,
}

impl Entity {
    /// Returns an entity of which nothing is known but its name.
    pub fn loose_end(name: &str) -> Self {
        Self {
            id: None,
            name: name.to_owned(),
            is_defined: false,
            genus: String::new(),
            status: None,
            attributes: Map::new(),
            observations: Vec::new(),
            relations: Vec::new(),
        }
    }
}

/// A directed, typed edge, held by the entity it starts from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Relation {
    /// In the active voice: `disputed_by`.
    pub kind: String,
    /// The entity it leads to, by name; need not be defined.
    pub to: String,
    /// The date from which it holds, as written: `1972-01-01`, `1912`.
    pub since: Option<String>,
    /// The date from which it no longer holds, as written; exclusive.
    pub until: Option<String>,
    /// Where this is known from.
    pub source: Option<String>,
}

impl Relation {
    /// Returns the date from which it holds, if it is written as one.
    pub fn begin(&self) -> Option<Date> {
        self.since.as_ref()?.parse().ok()
    }

    /// Returns the date from which it no longer holds, if it is written as one.
    pub fn end(&self) -> Option<Date> {
        self.until.as_ref()?.parse().ok()
    }

    /// Tells whether it holds at a date. What is not written as a date bounds
    /// nothing: nobody knows when it was.
    pub fn holds_at(&self, at: Date) -> bool {
        self.begin().is_none_or(|it| it.has_begun(at))
            && self.end().is_none_or(|it| !it.has_begun(at))
    }

    /// Returns when it began, if that is known, and when it ended; `None` if one
    /// of them is written as no date.
    pub fn period(&self) -> Option<(Option<Date>, Option<Date>)> {
        let (begin, end) = (self.begin(), self.end());
        let is_known = begin.is_some() == self.since.is_some();
        (is_known && end.is_some() == self.until.is_some()).then_some((begin, end))
    }
}

/// A relation told by itself: what it says, without dates and source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Triple {
    /// Where it starts, by name; need not be defined.
    pub from: String,
    /// In the active voice: `disputed_by`.
    pub kind: String,
    /// Where it leads, by name; need not be defined.
    pub to: String,
}

/// Values of any type as one JSON text: notations that do not say of what type a
/// value is could not read them back.
mod as_json {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};
    use serde_json::{Map, Value};

    pub(super) fn serialize<S: Serializer>(
        values: &Map<String, Value>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&serde_json::json!(values))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Map<String, Value>, D::Error> {
        serde_json::from_str(<&str>::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl From<Triple> for Relation {
    fn from(Triple { kind, to, .. }: Triple) -> Self {
        Self { kind, to, since: None, until: None, source: None }
    }
}
