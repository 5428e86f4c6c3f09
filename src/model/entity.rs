//! Entities: the typed nodes of the knowledge graph, and what is known of them.

pub(crate) mod genus;
pub(crate) mod relation;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ulid::Ulid;

use crate::model::Relation;

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
    pub fn new_loose_end(name: &str) -> Self {
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
