//! The arguments of the knowledge graph tools.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::keeper::{Direction, EntityChange, RelationQuery, RelationRemoval, TimelineQuery};
use crate::mcp::arguments::{LenientDate, NonBlankText, PageNumber, non_blank_date};
use crate::model::{Entity, Relation};

/// The arguments of `list_entities`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct ListEntities {
    /// Only entities of this genus.
    pub(in crate::mcp) genus: Option<String>,
    /// Only entities of this status.
    pub(in crate::mcp) status: Option<String>,
    /// Only entities with these values: `{ "confidence": "low" }`.
    pub(in crate::mcp) attributes: Option<Map<String, Value>>,
    /// Page number, 30 per page.
    pub(in crate::mcp) page: Option<PageNumber>,
}

/// The arguments of `list_genera`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct ListGenera {
    /// The genus to describe.
    pub(in crate::mcp) genus: Option<String>,
}

/// The arguments of `search_entities`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct SearchEntities {
    /// Words to search for.
    pub(in crate::mcp) query: String,
    /// Only entities of this genus.
    pub(in crate::mcp) genus: Option<String>,
    /// Only entities of this status.
    pub(in crate::mcp) status: Option<String>,
    /// Only entities with these values: `{ "confidence": "low" }`.
    pub(in crate::mcp) attributes: Option<Map<String, Value>>,
    /// Page number, 30 per page.
    pub(in crate::mcp) page: Option<PageNumber>,
}

/// The arguments of `get_entity`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct GetEntity {
    /// The entity, by name.
    pub(in crate::mcp) name: String,
    /// Page number.
    pub(in crate::mcp) page: Option<PageNumber>,
}

/// The arguments of `get_relationships`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct GetRelationships {
    /// The entity, by name.
    name: String,
    /// Only relations of this type.
    r#type: Option<String>,
    /// Only relations from it, or only to it.
    direction: Option<DirectionInput>,
    /// Only those valid on this date: today, 1972-05-01, 44 BC.
    as_of: Option<LenientDate>,
    /// Page number.
    page: Option<PageNumber>,
}

impl From<GetRelationships> for RelationQuery {
    fn from(it: GetRelationships) -> Self {
        Self {
            name: it.name,
            kind: it.r#type,
            direction: it.direction.map(Into::into).unwrap_or_default(),
            as_of: non_blank_date(it.as_of),
            page: it.page.map_or(1, |it| it.0),
        }
    }
}

/// The arguments of `get_timeline`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct GetTimeline {
    /// Only entries about this entity.
    entity: Option<String>,
    /// Only entries about entities of this genus.
    genus: Option<String>,
    /// Only on or after this date.
    since: Option<LenientDate>,
    /// Only before this date.
    until: Option<LenientDate>,
    /// Page number, 30 per page.
    page: Option<PageNumber>,
}

impl From<GetTimeline> for TimelineQuery {
    fn from(it: GetTimeline) -> Self {
        Self {
            entity: it.entity,
            genus: it.genus,
            since: non_blank_date(it.since),
            until: non_blank_date(it.until),
            page: it.page.map_or(1, |it| it.0),
        }
    }
}

/// The direction of the relations to return.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(in crate::mcp) enum DirectionInput {
    Outgoing,
    Incoming,
    Both,
}

impl From<DirectionInput> for Direction {
    fn from(direction: DirectionInput) -> Self {
        match direction {
            DirectionInput::Outgoing => Self::Outgoing,
            DirectionInput::Incoming => Self::Incoming,
            DirectionInput::Both => Self::Both,
        }
    }
}

/// The arguments of `create_entities`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct CreateEntities {
    /// The entities.
    pub(in crate::mcp) entities: Vec<EntityInput>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an entity: an object with `name` and `genus`")]
pub(in crate::mcp) struct EntityInput {
    /// Its name: any text, unique in the workspace.
    name: NonBlankText,
    /// Its genus, like `Claim`.
    genus: NonBlankText,
    /// Its status, like `contested`.
    status: Option<String>,
    /// Other properties, by name.
    attributes: Option<Map<String, Value>>,
    /// Facts, one sentence each.
    observations: Option<Vec<String>>,
    /// Its relations to others.
    relations: Option<Vec<RelationInput>>,
}

impl From<EntityInput> for Entity {
    fn from(it: EntityInput) -> Self {
        Self {
            id: None,
            name: it.name.0,
            is_defined: true,
            genus: it.genus.0,
            status: it.status.filter(|it| !it.is_empty()),
            attributes: it.attributes.unwrap_or_default(),
            observations: it.observations.unwrap_or_default(),
            relations: to_relations(it.relations),
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a relation: an object with `type` and `to`")]
struct RelationInput {
    /// Its type, like `disputed_by`.
    r#type: NonBlankText,
    /// The other entity, by name.
    to: NonBlankText,
    /// The date from which it holds.
    since: Option<LenientDate>,
    /// The date from which it no longer holds.
    until: Option<LenientDate>,
    /// Its source.
    source: Option<String>,
}

fn to_relations(arguments: Option<Vec<RelationInput>>) -> Vec<Relation> {
    let arguments = arguments.unwrap_or_default().into_iter();
    let relation = |it: RelationInput| Relation {
        kind: it.r#type.0,
        to: it.to.0,
        since: non_blank_date(it.since),
        until: non_blank_date(it.until),
        source: it.source,
    };
    arguments.map(relation).collect()
}

/// The arguments of `delete_entities` in this tool set.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct DeleteGraphEntities {
    /// The entities, by name.
    pub(in crate::mcp) names: Vec<String>,
}

/// The arguments of `update_entity`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct UpdateEntity {
    /// The entity, by name.
    name: String,
    /// Its new name; references are updated.
    new_name: Option<String>,
    /// Entities to merge into it, by name.
    merge: Option<Vec<String>>,
    /// Its new genus.
    genus: Option<NonBlankText>,
    /// Its new status; "" for none.
    status: Option<String>,
    /// Attributes to set; null removes one.
    attributes: Option<Map<String, Value>>,
    /// Facts to add.
    add_observations: Option<Vec<String>>,
    /// Facts to remove, word for word.
    remove_observations: Option<Vec<String>>,
    /// Relations to add; an overlapping one is updated.
    add_relations: Option<Vec<RelationInput>>,
    /// Relations to remove.
    remove_relations: Option<Vec<RelationRemovalInput>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a relation: an object with `type` and `to`")]
struct RelationRemovalInput {
    /// Its type.
    r#type: String,
    /// The other entity, by name.
    to: String,
    /// Only the one with this start date.
    since: Option<LenientDate>,
}

impl From<RelationRemovalInput> for RelationRemoval {
    fn from(RelationRemovalInput { r#type: kind, to, since }: RelationRemovalInput) -> Self {
        Self { kind, to, since: non_blank_date(since) }
    }
}

impl From<UpdateEntity> for EntityChange {
    fn from(it: UpdateEntity) -> Self {
        let removals = it.remove_relations.unwrap_or_default().into_iter();
        Self {
            name: it.name,
            new_name: it.new_name,
            merge: it.merge.unwrap_or_default(),
            genus: it.genus.map(|it| it.0),
            status: it.status,
            attributes: it.attributes.unwrap_or_default(),
            add_observations: it.add_observations.unwrap_or_default(),
            remove_observations: it.remove_observations.unwrap_or_default(),
            add_relations: to_relations(it.add_relations),
            remove_relations: removals.map(RelationRemoval::from).collect(),
        }
    }
}
