//! The arguments and answers of the tools of the reference memory server, with its
//! field names. As in the reference, unknown keys are ignored.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Map;

use palazzo_core::model::{self, Triple};
use palazzo_keeper::{EntityObservations, GraphPage};

/// An entity.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(
    rename_all = "camelCase",
    expecting = "an entity: an object with `name`, `entityType` and `observations`"
)]
pub(in crate::mcp) struct MemoryEntity {
    /// The entity's exact name: any text.
    name: String,
    /// Its kind, like `person`.
    entity_type: String,
    /// Facts about it, one each.
    observations: Vec<String>,
}

impl From<MemoryEntity> for model::Entity {
    fn from(it: MemoryEntity) -> Self {
        Self {
            id: None,
            name: it.name,
            is_defined: true,
            genus: it.entity_type,
            status: None,
            attributes: Map::new(),
            observations: it.observations,
            relations: Vec::new(),
            former_names: Vec::new(),
        }
    }
}

impl From<model::Entity> for MemoryEntity {
    fn from(it: model::Entity) -> Self {
        Self { name: it.name, entity_type: it.genus, observations: it.observations }
    }
}

/// A relation between two entities.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(
    rename_all = "camelCase",
    expecting = "a relation: an object with `from`, `to` and `relationType`"
)]
pub(in crate::mcp) struct MemoryRelation {
    /// The name of the source entity.
    from: String,
    /// The name of the target entity.
    to: String,
    /// Its type, in the active voice: `works_at`.
    relation_type: String,
}

impl From<MemoryRelation> for Triple {
    fn from(MemoryRelation { from, to, relation_type: kind }: MemoryRelation) -> Self {
        Self { from, kind, to }
    }
}

impl From<Triple> for MemoryRelation {
    fn from(Triple { from, kind, to }: Triple) -> Self {
        Self { from, to, relation_type: kind }
    }
}

/// Entities to create, or that were created.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub(in crate::mcp) struct MemoryEntities {
    /// The entities.
    pub(in crate::mcp) entities: Vec<MemoryEntity>,
}

/// Relations to create or delete, or that were created.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub(in crate::mcp) struct MemoryRelations {
    /// The relations.
    pub(in crate::mcp) relations: Vec<MemoryRelation>,
}

impl MemoryRelations {
    pub(in crate::mcp) fn into_triples(self) -> Vec<Triple> {
        self.relations.into_iter().map(Triple::from).collect()
    }
}

/// The arguments of `add_observations`.
#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::mcp) struct AddObservations {
    /// The observations to add, by entity.
    observations: Vec<ObservationAddition>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ObservationAddition {
    /// The entity, by its exact name.
    entity_name: String,
    /// The observations to add.
    contents: Vec<String>,
}

impl From<AddObservations> for Vec<EntityObservations> {
    fn from(it: AddObservations) -> Self {
        it.observations.into_iter().map(|it| (it.entity_name, it.contents)).collect()
    }
}

/// The answer of `add_observations`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::mcp) struct AddObservationsOutput {
    /// The added observations, by entity.
    pub(in crate::mcp) results: Vec<AddedObservations>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::mcp) struct AddedObservations {
    /// The entity.
    entity_name: String,
    /// The observations that it did not have before.
    added_observations: Vec<String>,
}

impl From<Vec<EntityObservations>> for AddObservationsOutput {
    fn from(added: Vec<EntityObservations>) -> Self {
        let added = added.into_iter();
        let results = added.map(|(entity_name, added_observations)| AddedObservations {
            entity_name,
            added_observations,
        });
        Self { results: results.collect() }
    }
}

/// The arguments of `delete_entities`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::mcp) struct DeleteEntities {
    /// The entities, by their exact names.
    pub(in crate::mcp) entity_names: Vec<String>,
}

/// The arguments of `delete_observations`.
#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::mcp) struct DeleteObservations {
    /// The observations to delete, by entity.
    deletions: Vec<ObservationDeletion>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ObservationDeletion {
    /// The entity, by its exact name.
    entity_name: String,
    /// The observations to delete, word for word.
    observations: Vec<String>,
}

impl From<DeleteObservations> for Vec<EntityObservations> {
    fn from(it: DeleteObservations) -> Self {
        it.deletions.into_iter().map(|it| (it.entity_name, it.observations)).collect()
    }
}

/// The answer of the tools that delete.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::mcp) struct DeletionOutput {
    /// Always true: deleting something that does not exist is not an error.
    pub(in crate::mcp) success: bool,
    /// How many items were deleted, and which were not found.
    pub(in crate::mcp) message: String,
}

/// The arguments of `read_graph`; clients of the reference send none.
#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::mcp) struct ReadGraph {
    /// Continue after this entity: the exact name of the last one in the previous answer.
    pub(in crate::mcp) after: Option<String>,
}

/// The arguments of `search_nodes`.
#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::mcp) struct SearchNodes {
    /// The text to find in names, types or observations, in any letter case. An empty
    /// text finds all entities.
    pub(in crate::mcp) query: String,
    /// Continue after this entity: the exact name of the last one in the previous answer.
    pub(in crate::mcp) after: Option<String>,
}

/// The arguments of `open_nodes`.
#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::mcp) struct OpenNodes {
    /// The entities, by their exact names.
    pub(in crate::mcp) names: Vec<String>,
    /// The number of observations to skip at the start of each entity.
    pub(in crate::mcp) skip: Option<usize>,
}

/// The answer of the tools that read.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::mcp) struct GraphOutput {
    /// The entities, oldest first.
    entities: Vec<MemoryEntity>,
    /// The relations from or to these entities.
    relations: Vec<MemoryRelation>,
    /// What was left out because of its size, and how to get it.
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

impl From<GraphPage> for GraphOutput {
    fn from(GraphPage { entities, relations, omission_note }: GraphPage) -> Self {
        Self {
            entities: entities.into_iter().map(MemoryEntity::from).collect(),
            relations: relations.into_iter().map(MemoryRelation::from).collect(),
            notice: omission_note,
        }
    }
}
