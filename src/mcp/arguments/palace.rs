//! The arguments of the palace tools.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::mcp::arguments::{ActionNumber, ParsedText};
use palazzo_core::model::{
    Action, ActionKind, Grouping, NavigationTarget, RoomDestination, RoomRef, Slug,
    normalize_prose, quoted,
};
use palazzo_keeper::Blueprint;

/// The arguments of `set_workspace`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct SetWorkspace {
    /// Its name or directory.
    pub(in crate::mcp) workspace: String,
    /// Create it if it is missing.
    pub(in crate::mcp) create: Option<bool>,
    /// With `create`: a template to begin with, like `codebase`.
    pub(in crate::mcp) template: Option<String>,
    /// Show its past, read-only: a day, a time, an age like `3 weeks`, or a git revision.
    pub(in crate::mcp) as_of: Option<String>,
}

/// The arguments of `palace_action`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct PalaceAction {
    /// A number from the current menu.
    pub(in crate::mcp) action: ActionNumber,
    /// More numbers of the same menu, answered together; a move only as the last.
    pub(in crate::mcp) also: Option<Vec<ActionNumber>>,
    /// Text for actions that need it: a room to go to, words to search for, each
    /// search on its own line (also `kind:drawer`, `wing:`, `room:`, `since:`, `until:`).
    pub(in crate::mcp) params: Option<String>,
}

/// The arguments of `build_room`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct BuildRoom {
    /// Its name in files and doors: a-z, 0-9, - and _, like `hall-of-geology`.
    slug: ParsedText<RoomRef>,
    name: Option<String>,
    /// Vivid prose: what a visitor sees, hears, can touch; `[[Name]]` links an entity.
    description: Option<String>,
    /// Start visits here; default: in the first room.
    entry: Option<bool>,
    /// A wing (a named part of the palace), by slug.
    wing: Option<ParsedText<Slug>>,
    /// The numbered choices, in order.
    actions: Option<Vec<ValidAction>>,
    /// Slugs of rooms linked both ways without an action: all, or with `merge` those to add.
    portals: Option<Vec<ParsedText<RoomRef>>>,
    /// Besides the actions, show doors to the entities of a genus.
    generate: Option<ValidGrouping>,
    /// Change only given fields; actions with the same label are replaced, others added.
    merge: Option<bool>,
    /// Their labels.
    remove_actions: Option<Vec<String>>,
    /// A new slug, or `wing/slug`; doors, scrolls and tasks follow.
    rename: Option<ParsedText<RoomDestination>>,
    /// Delete the room and the doors to it.
    delete: Option<bool>,
    /// With `delete`: the room that gets its scrolls; default: they are deleted.
    scrolls_to: Option<ParsedText<RoomRef>>,
    /// Answer in one line, without going there.
    quiet: Option<bool>,
}

/// What `build_room` is asked to do.
pub(in crate::mcp) enum RoomRequest {
    Build(Blueprint),
    Rename { room: RoomRef, new: RoomDestination, quiet: bool },
    Delete { room: RoomRef, scrolls_to: Option<RoomRef> },
}

impl TryFrom<BuildRoom> for RoomRequest {
    type Error = &'static str;

    fn try_from(mut it: BuildRoom) -> Result<Self, Self::Error> {
        let (is_delete, quiet) = (it.delete.unwrap_or_default(), it.quiet.unwrap_or_default());
        let (rename, scrolls_to) = (it.rename.take(), it.scrolls_to.take());
        let blueprint = Blueprint::from(it);
        let is_alone = blueprint.is_empty();
        match (rename, is_delete) {
            (None, false) if scrolls_to.is_some() => {
                Err("`scrolls_to` needs `delete: true`: it names the room that gets the scrolls")
            }
            (None, false) => Ok(Self::Build(blueprint)),
            (Some(new), false) if is_alone => {
                Ok(Self::Rename { room: blueprint.room, new: new.0, quiet })
            }
            (None, true) if is_alone => {
                Ok(Self::Delete { room: blueprint.room, scrolls_to: scrolls_to.map(|it| it.0) })
            }
            _ => Err("`rename` and `delete` are calls of their own: give only `slug` with them"),
        }
    }
}

impl From<BuildRoom> for Blueprint {
    fn from(it: BuildRoom) -> Self {
        let remove_actions = it.remove_actions.unwrap_or_default();
        Self {
            merge: it.merge.unwrap_or_default() || !remove_actions.is_empty(),
            remove_actions,
            room: it.slug.0,
            wing: it.wing.map(|it| it.0),
            name: it.name,
            description: it.description,
            entry: it.entry,
            actions: it.actions.map(|it| it.into_iter().map(|it| it.0).collect()),
            portals: it.portals.map(|it| it.into_iter().map(|it| it.0).collect()),
            generate: it.generate.map(|it| it.0),
            quiet: it.quiet.unwrap_or_default(),
        }
    }
}

/// The grouping of `generate`, checked.
#[derive(Debug, Deserialize)]
#[serde(try_from = "GroupingInput")]
struct ValidGrouping(Grouping);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an object with `genus` and `by`")]
struct GroupingInput {
    genus: Option<String>,
    /// status, name, date or an attribute; without a genus, `genus` shows all genera.
    by: Option<String>,
}

impl JsonSchema for ValidGrouping {
    fn schema_name() -> Cow<'static, str> {
        GroupingInput::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        GroupingInput::json_schema(generator)
    }
}

impl TryFrom<GroupingInput> for ValidGrouping {
    type Error = &'static str;

    fn try_from(it: GroupingInput) -> Result<Self, Self::Error> {
        Grouping::parse(it.genus, it.by.as_deref()).map(Self)
    }
}

/// An action, checked.
#[derive(Debug, Deserialize)]
#[serde(try_from = "ActionInput")]
struct ValidAction(Action);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an action: an object with `label` and `type`")]
struct ActionInput {
    /// An imperative: "Examine the fossil cabinet".
    label: String,
    r#type: ActionKindInput,
    /// navigate: the target, by slug; it need not exist yet.
    room: Option<ParsedText<RoomRef>>,
    /// navigate: the target's workspace, if another.
    workspace: Option<String>,
    /// query: the tool to run, like `list_entities`.
    tool: Option<String>,
    /// query: an entity to show, instead of `tool`.
    entity: Option<String>,
    /// query: its arguments; `{params}` in a string becomes the visitor's text.
    tool_params: Option<Map<String, Value>>,
    /// text: the text to show.
    content: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ActionKindInput {
    Navigate,
    Query,
    Text,
}

impl JsonSchema for ValidAction {
    fn schema_name() -> Cow<'static, str> {
        ActionInput::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        ActionInput::json_schema(generator)
    }
}

impl TryFrom<ActionInput> for ValidAction {
    type Error = String;

    fn try_from(words: ActionInput) -> Result<Self, String> {
        let label = words.label.split_whitespace().collect::<Vec<_>>().join(" ");
        if label.is_empty() {
            return Err("an action needs a `label`".to_owned());
        }
        let needs = |what: &str| format!("the action {} needs `{what}`", quoted(&label));
        let kind = match words.r#type {
            ActionKindInput::Navigate => {
                let room = words.room.ok_or_else(|| needs("room"))?.0;
                ActionKind::Navigate(NavigationTarget { room, workspace: words.workspace })
            }
            ActionKindInput::Query => match (words.entity, words.tool, words.tool_params) {
                (Some(entity), None, None) if !entity.trim().is_empty() => {
                    ActionKind::ShowEntity { entity }
                }
                (Some(_), _, _) => {
                    return Err(format!(
                        "the action {} shows an `entity`: give its name, and no `tool` or \
                         `tool_params`",
                        quoted(&label)
                    ));
                }
                (None, tool, params) => ActionKind::Query {
                    tool: tool.ok_or_else(|| needs("tool"))?,
                    params: params.unwrap_or_default(),
                },
            },
            ActionKindInput::Text => {
                let content = words.content.ok_or_else(|| needs("content"))?;
                ActionKind::Text { content: normalize_prose(&content) }
            }
        };
        Ok(Self(Action { label, kind }))
    }
}

/// The arguments of `write_scroll`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct WriteScroll {
    pub(in crate::mcp) title: String,
    /// Markdown.
    pub(in crate::mcp) body: String,
    /// By slug or name; `entry`: the entry room; default: the current one.
    pub(in crate::mcp) room: Option<String>,
}
