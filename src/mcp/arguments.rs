//! What tools are told, as it is spelled in JSON. Whatever can be wrong with a
//! word is found out while reading it, so that the answer can name its place.

use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::keeper::{Blueprint, Direction, EntityChange, NewEntity};
use crate::model::{Action, Deed, Doorway, Relation, RoomRef, Slug};

/// A text that is read as a `T`.
#[derive(Debug)]
pub(super) struct Parsed<T>(pub(super) T);

impl<'de, T: FromStr<Err: ToString>> Deserialize<'de> for Parsed<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map(Self).map_err(|err: T::Err| D::Error::custom(err.to_string()))
    }
}

impl<T> JsonSchema for Parsed<T> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Text".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}

/// Nothing.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Nothing {}

/// What `set_workspace` is told.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SetWorkspace {
    /// The workspace, by its name or directory.
    pub(super) workspace: String,
    /// Make the workspace if there is none of that name.
    pub(super) create: Option<bool>,
}

/// What `palace_action` is told.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PalaceAction {
    /// A number from the current menu.
    pub(super) action: i64,
    /// Words for actions that ask for them: a room to go to, what to search.
    pub(super) params: Option<String>,
}

/// What `write_scroll` is told.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WriteScroll {
    /// A short title.
    pub(super) title: String,
    /// The text, Markdown, kept as it is.
    pub(super) body: String,
    /// Another room than the current one, by slug.
    pub(super) room: Option<Parsed<RoomRef>>,
}

/// What `build_room` is told.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct BuildRoom {
    /// The room's name in files and doors: a-z, 0-9, - and _, like `hall-of-geology`.
    slug: Parsed<RoomRef>,
    /// The name shown.
    name: Option<String>,
    /// Vivid prose: what one sees, hears, could touch.
    description: Option<String>,
    /// Start visits here. The first room does so by itself.
    entry: Option<bool>,
    /// A named part of the palace for the room to stand in, as a slug.
    wing: Option<Parsed<Slug>>,
    /// The numbered choices, in order.
    actions: Option<Vec<NewAction>>,
    /// Slugs of rooms joined both ways without an action; the complete set, unless merging.
    portals: Option<Vec<Parsed<RoomRef>>>,
    /// Change only what is given: actions with the same label in place, others added.
    merge: Option<bool>,
    /// Answer in one line instead of showing the room.
    quiet: Option<bool>,
}

impl From<BuildRoom> for Blueprint {
    fn from(it: BuildRoom) -> Self {
        Self {
            room: it.slug.0,
            wing: it.wing.map(|it| it.0),
            name: it.name,
            description: it.description,
            entry: it.entry,
            actions: it.actions.map(|it| it.into_iter().map(|it| it.0).collect()),
            portals: it.portals.map(|it| it.into_iter().map(|it| it.0).collect()),
            merge: it.merge.unwrap_or_default(),
            quiet: it.quiet.unwrap_or_default(),
        }
    }
}

/// An action, once it is known to make sense.
#[derive(Debug, Deserialize)]
#[serde(try_from = "ActionWords")]
struct NewAction(Action);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an action: an object with `label` and `type`")]
struct ActionWords {
    /// What the menu says, an imperative: "Examine the fossil cabinet".
    label: String,
    /// What choosing it does.
    r#type: Kind,
    /// navigate: the room behind the door, by slug; it need not exist yet.
    room: Option<Parsed<RoomRef>>,
    /// navigate: the workspace, if the room is in another.
    workspace: Option<String>,
    /// query: the tool to run, like `list_entities`.
    tool: Option<String>,
    /// query: its arguments; `{params}` in a text stands for the visitor's words.
    tool_params: Option<Map<String, Value>>,
    /// text: what to show.
    content: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Navigate,
    Query,
    Text,
}

impl JsonSchema for NewAction {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        ActionWords::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        ActionWords::json_schema(generator)
    }
}

impl TryFrom<ActionWords> for NewAction {
    type Error = String;

    fn try_from(words: ActionWords) -> Result<Self, String> {
        let label = words.label.split_whitespace().collect::<Vec<_>>().join(" ");
        if label.is_empty() {
            return Err("an action needs a `label`".to_owned());
        }
        let needs = |what: &str| format!("the action \"{label}\" needs `{what}`");
        let deed = match words.r#type {
            Kind::Navigate => {
                let room = words.room.ok_or_else(|| needs("room"))?.0;
                Deed::Navigate(Doorway { room, workspace: words.workspace })
            }
            Kind::Query => Deed::Query {
                tool: words.tool.ok_or_else(|| needs("tool"))?,
                params: words.tool_params.unwrap_or_default(),
            },
            Kind::Text => {
                let content = words.content.ok_or_else(|| needs("content"))?;
                Deed::Text { content: crate::model::prose(&content) }
            }
        };
        Ok(Self(Action { label, deed }))
    }
}

/// What `create_entities` is told.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CreateEntities {
    /// The entities.
    pub(super) entities: Vec<EntityWords>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an entity: an object with `name` and `genus`")]
pub(super) struct EntityWords {
    /// Its name: any text, unique in the workspace.
    name: String,
    /// What kind of thing it is, like `Claim`.
    genus: String,
    /// Where it stands, like `contested`.
    status: Option<String>,
    /// What else is known, by name.
    attributes: Option<Map<String, Value>>,
    /// Facts, a sentence each.
    observations: Option<Vec<String>>,
    /// What it has to do with others.
    relations: Option<Vec<RelationWords>>,
}

impl From<EntityWords> for NewEntity {
    fn from(it: EntityWords) -> Self {
        Self {
            id: None,
            name: it.name,
            genus: it.genus,
            status: it.status.filter(|it| !it.is_empty()),
            attributes: it.attributes.unwrap_or_default(),
            observations: it.observations.unwrap_or_default(),
            relations: relations(it.relations),
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a relation: an object with `type` and `to`")]
struct RelationWords {
    /// In the active voice, like `disputed_by`.
    r#type: String,
    /// The other entity, by name.
    to: String,
    /// The date from which it holds.
    since: Option<String>,
    /// The date from which it no longer holds.
    until: Option<String>,
    /// Where this is known from.
    source: Option<String>,
}

fn relations(words: Option<Vec<RelationWords>>) -> Vec<Relation> {
    let words = words.unwrap_or_default().into_iter();
    let relation = |it: RelationWords| Relation {
        kind: it.r#type,
        to: it.to,
        since: it.since,
        until: it.until,
        source: it.source,
    };
    words.map(relation).collect()
}

/// What `update_entity` is told.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct UpdateEntity {
    /// The entity, by name.
    name: String,
    /// Its new genus.
    genus: Option<String>,
    /// Its new status; "" for none.
    status: Option<String>,
    /// Attributes to set; null takes one away.
    attributes: Option<Map<String, Value>>,
    /// Facts to add.
    add_observations: Option<Vec<String>>,
    /// Facts to take away, word for word.
    remove_observations: Option<Vec<String>>,
    /// Relations to add; the same type to the same entity is replaced.
    add_relations: Option<Vec<RelationWords>>,
    /// Relations to take away.
    remove_relations: Option<Vec<RelationName>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a relation: an object with `type` and `to`")]
struct RelationName {
    /// Its type.
    r#type: String,
    /// The other entity, by name.
    to: String,
}

impl From<UpdateEntity> for EntityChange {
    fn from(it: UpdateEntity) -> Self {
        let gone = it.remove_relations.unwrap_or_default().into_iter();
        Self {
            name: it.name,
            genus: it.genus,
            status: it.status,
            attributes: it.attributes.unwrap_or_default(),
            add_observations: it.add_observations.unwrap_or_default(),
            remove_observations: it.remove_observations.unwrap_or_default(),
            add_relations: relations(it.add_relations),
            remove_relations: gone.map(|it| (it.r#type, it.to)).collect(),
        }
    }
}

/// What `list_entities` is told.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListEntities {
    /// Only those of this genus.
    pub(super) genus: Option<String>,
    /// Only those of this status.
    pub(super) status: Option<String>,
    /// The page, from 1, of thirty.
    pub(super) page: Option<Page>,
}

/// What `search_entities` is told.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchEntities {
    /// What they are about.
    pub(super) query: String,
    /// Only those of this genus.
    pub(super) genus: Option<String>,
    /// Only those of this status.
    pub(super) status: Option<String>,
    /// The page, from 1, of thirty.
    pub(super) page: Option<Page>,
}

/// A page of a list.
#[derive(Debug, Deserialize)]
#[serde(try_from = "i64")]
pub(super) struct Page(pub(super) usize);

impl TryFrom<i64> for Page {
    type Error = &'static str;

    fn try_from(number: i64) -> Result<Self, Self::Error> {
        match usize::try_from(number) {
            Ok(page @ 1..) => Ok(Self(page)),
            _ => Err("pages count from 1"),
        }
    }
}

impl JsonSchema for Page {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Page".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({ "type": "integer", "minimum": 1 })
    }
}

/// What `get_entity` is told.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GetEntity {
    /// The entity, by name.
    pub(super) name: String,
}

/// What `get_relationships` is told.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GetRelationships {
    /// The entity, by name.
    pub(super) name: String,
    /// Only relations of this type.
    pub(super) r#type: Option<String>,
    /// Only those from it, or only those to it.
    pub(super) direction: Option<Way>,
}

/// Which relations are asked for.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Way {
    Outgoing,
    Incoming,
    Both,
}

impl From<Way> for Direction {
    fn from(way: Way) -> Self {
        match way {
            Way::Outgoing => Self::Outgoing,
            Way::Incoming => Self::Incoming,
            Way::Both => Self::Both,
        }
    }
}
