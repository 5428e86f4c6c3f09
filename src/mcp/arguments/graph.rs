//! What the tools of the knowledge graph are told.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::keeper::{Direction, EntityChange, RelationQuery, RelationRemoval, TimelineQuery};
use crate::mcp::arguments::{DateArgument, NonBlankText, PageNumber, date_text};
use crate::model::{Entity, Relation};

/// What `list_entities` is told.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct ListEntities {
    /// Only those of this genus.
    pub(in crate::mcp) genus: Option<String>,
    /// Only those of this status.
    pub(in crate::mcp) status: Option<String>,
    /// Only those with these: `{ "confidence": "low" }`.
    pub(in crate::mcp) attributes: Option<Map<String, Value>>,
    /// The page, from 1, of thirty.
    pub(in crate::mcp) page: Option<PageNumber>,
}

/// What `list_genera` is told.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct ListGenera {
    /// The genus to tell all about.
    pub(in crate::mcp) genus: Option<String>,
}

/// What `search_entities` is told.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct SearchEntities {
    /// What they are about.
    pub(in crate::mcp) query: String,
    /// Only those of this genus.
    pub(in crate::mcp) genus: Option<String>,
    /// Only those of this status.
    pub(in crate::mcp) status: Option<String>,
    /// Only those with these: `{ "confidence": "low" }`.
    pub(in crate::mcp) attributes: Option<Map<String, Value>>,
    /// The page, from 1, of thirty.
    pub(in crate::mcp) page: Option<PageNumber>,
}

/// What `get_entity` is told.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct GetEntity {
    /// The entity, by name.
    pub(in crate::mcp) name: String,
    /// The page, from 1.
    pub(in crate::mcp) page: Option<PageNumber>,
}

/// What `get_relationships` is told.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct GetRelationships {
    /// The entity, by name.
    name: String,
    /// Only relations of this type.
    r#type: Option<String>,
    /// Only those from it, or only those to it.
    direction: Option<DirectionArgument>,
    /// Only those that hold then: today, 1972-05-01, 44 BC.
    as_of: Option<DateArgument>,
    /// The page, from 1.
    page: Option<PageNumber>,
}

impl From<GetRelationships> for RelationQuery {
    fn from(it: GetRelationships) -> Self {
        Self {
            name: it.name,
            kind: it.r#type,
            direction: it.direction.map(Into::into).unwrap_or_default(),
            as_of: date_text(it.as_of),
            page: it.page.map_or(1, |it| it.0),
        }
    }
}

/// What `get_timeline` is told.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct GetTimeline {
    /// Only what this entity has part in.
    entity: Option<String>,
    /// Only what entities of this genus say.
    genus: Option<String>,
    /// Only from this date on.
    since: Option<DateArgument>,
    /// Only before this date.
    until: Option<DateArgument>,
    /// The page, from 1, of thirty.
    page: Option<PageNumber>,
}

impl From<GetTimeline> for TimelineQuery {
    fn from(it: GetTimeline) -> Self {
        Self {
            entity: it.entity,
            genus: it.genus,
            since: date_text(it.since),
            until: date_text(it.until),
            page: it.page.map_or(1, |it| it.0),
        }
    }
}

/// Which relations are asked for.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(in crate::mcp) enum DirectionArgument {
    Outgoing,
    Incoming,
    Both,
}

impl From<DirectionArgument> for Direction {
    fn from(way: DirectionArgument) -> Self {
        match way {
            DirectionArgument::Outgoing => Self::Outgoing,
            DirectionArgument::Incoming => Self::Incoming,
            DirectionArgument::Both => Self::Both,
        }
    }
}

/// What `create_entities` is told.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct CreateEntities {
    /// The entities.
    pub(in crate::mcp) entities: Vec<EntityArgument>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an entity: an object with `name` and `genus`")]
pub(in crate::mcp) struct EntityArgument {
    /// Its name: any text, unique in the workspace.
    name: NonBlankText,
    /// What kind of thing it is, like `Claim`.
    genus: NonBlankText,
    /// Where it stands, like `contested`.
    status: Option<String>,
    /// What else is known, by name.
    attributes: Option<Map<String, Value>>,
    /// Facts, a sentence each.
    observations: Option<Vec<String>>,
    /// What it has to do with others.
    relations: Option<Vec<RelationArgument>>,
}

impl From<EntityArgument> for Entity {
    fn from(it: EntityArgument) -> Self {
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
struct RelationArgument {
    /// In the active voice, like `disputed_by`.
    r#type: NonBlankText,
    /// The other entity, by name.
    to: NonBlankText,
    /// The date from which it holds.
    since: Option<DateArgument>,
    /// The date from which it no longer holds.
    until: Option<DateArgument>,
    /// Where this is known from.
    source: Option<String>,
}

fn to_relations(words: Option<Vec<RelationArgument>>) -> Vec<Relation> {
    let words = words.unwrap_or_default().into_iter();
    let relation = |it: RelationArgument| Relation {
        kind: it.r#type.0,
        to: it.to.0,
        since: date_text(it.since),
        until: date_text(it.until),
        source: it.source,
    };
    words.map(relation).collect()
}

/// What `delete_entities` of this tool set is told.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct DeleteGraphEntities {
    /// The entities, by name.
    pub(in crate::mcp) names: Vec<String>,
}

/// What `update_entity` is told.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct UpdateEntity {
    /// The entity, by name.
    name: String,
    /// Its new name; whatever names it follows.
    new_name: Option<String>,
    /// Entities that become one with it, by name.
    merge: Option<Vec<String>>,
    /// Its new genus.
    genus: Option<NonBlankText>,
    /// Its new status; "" for none.
    status: Option<String>,
    /// Attributes to set; null takes one away.
    attributes: Option<Map<String, Value>>,
    /// Facts to add.
    add_observations: Option<Vec<String>>,
    /// Facts to take away, word for word.
    remove_observations: Option<Vec<String>>,
    /// Relations to add; one like it whose time it touches is changed.
    add_relations: Option<Vec<RelationArgument>>,
    /// Relations to take away.
    remove_relations: Option<Vec<RelationRemovalArgument>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a relation: an object with `type` and `to`")]
struct RelationRemovalArgument {
    /// Its type.
    r#type: String,
    /// The other entity, by name.
    to: String,
    /// Only the one since then.
    since: Option<DateArgument>,
}

impl From<RelationRemovalArgument> for RelationRemoval {
    fn from(RelationRemovalArgument { r#type: kind, to, since }: RelationRemovalArgument) -> Self {
        Self { kind, to, since: date_text(since) }
    }
}

impl From<UpdateEntity> for EntityChange {
    fn from(it: UpdateEntity) -> Self {
        let gone = it.remove_relations.unwrap_or_default().into_iter();
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
            remove_relations: gone.map(RelationRemoval::from).collect(),
        }
    }
}
