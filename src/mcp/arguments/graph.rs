//! The arguments of the knowledge graph tools.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::mcp::arguments::{
    LenientDate, NonBlankText, PageNumber, deserialize_non_blank, non_blank_date,
};
use palazzo_core::model::{Entity, Relation};
use palazzo_keeper::{Direction, EntityChange, RelationQuery, RelationRemoval, TimelineQuery};

/// The arguments of `describe_workspace`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct DescribeWorkspace {
    /// Instead list what is wrong, and genera that no room shows.
    pub(in crate::mcp) findings: Option<bool>,
}

/// The arguments of `list_entities`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct ListEntities {
    pub(in crate::mcp) genus: Option<String>,
    #[serde(default, deserialize_with = "deserialize_non_blank")]
    pub(in crate::mcp) status: Option<String>,
    /// Like `{ "confidence": "low" }`.
    pub(in crate::mcp) attributes: Option<Map<String, Value>>,
    pub(in crate::mcp) page: Option<PageNumber>,
}

/// The arguments of `list_genera`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct ListGenera {
    pub(in crate::mcp) genus: Option<String>,
}

/// The arguments of `search_entities`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct SearchEntities {
    pub(in crate::mcp) query: String,
    pub(in crate::mcp) genus: Option<String>,
    #[serde(default, deserialize_with = "deserialize_non_blank")]
    pub(in crate::mcp) status: Option<String>,
    /// Like `{ "confidence": "low" }`.
    pub(in crate::mcp) attributes: Option<Map<String, Value>>,
    pub(in crate::mcp) page: Option<PageNumber>,
}

/// The arguments of `get_entity`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct GetEntity {
    pub(in crate::mcp) name: Option<String>,
    /// Several, up to 50, in one answer.
    pub(in crate::mcp) names: Option<Vec<String>>,
    pub(in crate::mcp) page: Option<PageNumber>,
}

/// The arguments of `get_relationships`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct GetRelationships {
    name: String,
    r#type: Option<String>,
    direction: Option<DirectionInput>,
    /// Only those valid then: today, 1972-05-01, 44 BC.
    as_of: Option<LenientDate>,
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
    entity: Option<String>,
    genus: Option<String>,
    /// On or after this date.
    since: Option<LenientDate>,
    /// Before this date.
    until: Option<LenientDate>,
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

/// From it, to it, or both.
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
    pub(in crate::mcp) entities: Vec<EntityInput>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an entity: an object with `name` and `genus`")]
pub(in crate::mcp) struct EntityInput {
    /// Any text, unique in the workspace.
    name: NonBlankText,
    /// Like `Claim`.
    genus: NonBlankText,
    /// Like `contested`.
    status: Option<String>,
    attributes: Option<Map<String, Value>>,
    /// Facts, one sentence each.
    #[serde(alias = "add_observations")]
    observations: Option<Vec<String>>,
    #[serde(alias = "add_relations")]
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
            former_names: Vec::new(),
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a relation: an object with `type` and `to`")]
struct RelationInput {
    /// Like `disputed_by`.
    r#type: NonBlankText,
    /// The other entity; it need not exist yet.
    to: NonBlankText,
    /// From this date on: 1972-05-01, 1788, 44 BC.
    since: Option<LenientDate>,
    /// Not from this date on.
    until: Option<LenientDate>,
    source: Option<String>,
}

/// Returns the schema of a list of relations, without the descriptions of their parts.
fn undescribed_relations(generator: &mut SchemaGenerator) -> Schema {
    let mut schema = RelationInput::json_schema(generator);
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for property in properties.into_iter().flat_map(Map::values_mut) {
        property.as_object_mut().map(|it| it.shift_remove("description"));
    }
    json_schema!({ "type": "array", "items": schema })
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
    pub(in crate::mcp) names: Vec<String>,
}

/// The arguments of `update_entity`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct UpdateEntity {
    name: String,
    /// References follow.
    new_name: Option<String>,
    /// Entities to merge into it.
    merge: Option<Vec<String>>,
    genus: Option<NonBlankText>,
    /// "" for none.
    status: Option<String>,
    /// Those to set; null removes one.
    attributes: Option<Map<String, Value>>,
    #[serde(alias = "observations")]
    add_observations: Option<Vec<String>>,
    /// Word for word.
    remove_observations: Option<Vec<String>>,
    /// As in `create_entities`; an overlapping one is updated.
    #[serde(default, alias = "relations")]
    #[schemars(schema_with = "undescribed_relations")]
    add_relations: Option<Vec<RelationInput>>,
    remove_relations: Option<Vec<RelationRemovalInput>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a relation: an object with `type` and `to`")]
struct RelationRemovalInput {
    r#type: String,
    to: String,
    /// Only the one with this start.
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
