//! Entities: the typed nodes of the knowledge graph.

pub(crate) mod genus;
pub(crate) mod relation;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ulid::Ulid;

use crate::model::{Relation, fold_name};

/// One entity, with its observations and its outgoing relations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entity {
    /// The id, which survives renames; optional in files written by hand.
    pub id: Option<Ulid>,
    /// The name: any text, exact and case-sensitive, unique in the palace.
    pub name: String,
    /// False for a loose end: a name with outgoing relations that no file defines, without genus
    /// and observations.
    pub is_defined: bool,
    /// The genus, the type of the entity: `Claim`.
    pub genus: String,
    /// The status: `contested`; free text.
    pub status: Option<String>,
    /// The other attributes, by name.
    #[serde(with = "as_json")]
    pub attributes: Map<String, Value>,
    /// Facts about it, one sentence each, oldest first.
    pub observations: Vec<String>,
    /// The outgoing relations.
    pub relations: Vec<Relation>,
    /// The names that it had before renames, and those of entities merged into it, oldest first.
    pub former_names: Vec<String>,
}

impl Entity {
    /// Returns a loose end: an undefined entity with nothing but its name.
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
            former_names: Vec::new(),
        }
    }

    /// Adds the names of the entities `before` that became this one by a rename or a merge to the
    /// former names, with those that they had before.
    pub fn record_former_names(&mut self, before: &[Self]) {
        if before.iter().all(|it| it.name == self.name) {
            return;
        }
        let mut names: Vec<String> = Vec::new();
        for name in before.iter().flat_map(|it| it.former_names.iter().chain([&it.name])) {
            if fold_name(name) != fold_name(&self.name) && !names.contains(name) {
                names.push(name.clone());
            }
        }
        self.former_names = names;
    }
}

/// (De)serializes values of any type as one JSON text, because formats that are not self-describing
/// could not read them back.
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
