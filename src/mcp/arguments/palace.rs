//! What the tools of the palace are told.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::keeper::Blueprint;
use crate::mcp::arguments::{LenientInteger, ParsedText};
use crate::model::{
    Action, ActionKind, Grouping, NavigationTarget, RoomRef, Slug, normalize_prose,
};

/// What `set_workspace` is told.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct SetWorkspace {
    /// The workspace, by its name or directory.
    pub(in crate::mcp) workspace: String,
    /// Make the workspace if there is none of that name.
    pub(in crate::mcp) create: Option<bool>,
    /// See it as it was, read-only: a day, a time, an age like `3 weeks`, or a revision of git.
    pub(in crate::mcp) as_of: Option<String>,
}

/// What `palace_action` is told.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct PalaceAction {
    /// A number from the current menu.
    pub(in crate::mcp) action: LenientInteger,
    /// Words for actions that ask for them: a room to go to, what to search (also
    /// `kind:drawer`, `wing:`, `room:`, `since:`, `until:`).
    pub(in crate::mcp) params: Option<String>,
}

/// What `build_room` is told.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct BuildRoom {
    /// The room's name in files and doors: a-z, 0-9, - and _, like `hall-of-geology`.
    slug: ParsedText<RoomRef>,
    /// The name shown.
    name: Option<String>,
    /// Vivid prose: what one sees, hears, could touch.
    description: Option<String>,
    /// Start visits here. The first room does so by itself.
    entry: Option<bool>,
    /// A named part of the palace for the room to stand in, as a slug.
    wing: Option<ParsedText<Slug>>,
    /// The numbered choices, in order.
    actions: Option<Vec<ValidAction>>,
    /// Slugs of rooms joined both ways without an action; the complete set, unless merging.
    portals: Option<Vec<ParsedText<RoomRef>>>,
    /// Besides the actions, doors to the entities of a genus, made from the graph as it then is.
    generate: Option<ValidArrangement>,
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
            generate: it.generate.map(|it| it.0),
            merge: it.merge.unwrap_or_default(),
            quiet: it.quiet.unwrap_or_default(),
        }
    }
}

/// What is shown of the graph, once it is known to make sense.
#[derive(Debug, Deserialize)]
#[serde(try_from = "ArrangementArgument")]
struct ValidArrangement(Grouping);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an object with `genus` and `by`")]
struct ArrangementArgument {
    /// Like `Claim`.
    genus: Option<String>,
    /// status, name, date or an attribute; `genus` without a genus: all there are.
    by: Option<String>,
}

impl JsonSchema for ValidArrangement {
    fn schema_name() -> Cow<'static, str> {
        ArrangementArgument::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        ArrangementArgument::json_schema(generator)
    }
}

impl TryFrom<ArrangementArgument> for ValidArrangement {
    type Error = &'static str;

    fn try_from(words: ArrangementArgument) -> Result<Self, Self::Error> {
        Grouping::parse(words.genus, words.by.as_deref()).map(Self)
    }
}

/// An action, once it is known to make sense.
#[derive(Debug, Deserialize)]
#[serde(try_from = "ActionArgument")]
struct ValidAction(Action);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an action: an object with `label` and `type`")]
struct ActionArgument {
    /// What the menu says, an imperative: "Examine the fossil cabinet".
    label: String,
    /// What choosing it does.
    r#type: ActionKindArgument,
    /// navigate: the room behind the door, by slug; it need not exist yet.
    room: Option<ParsedText<RoomRef>>,
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
enum ActionKindArgument {
    Navigate,
    Query,
    Text,
}

impl JsonSchema for ValidAction {
    fn schema_name() -> Cow<'static, str> {
        ActionArgument::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        ActionArgument::json_schema(generator)
    }
}

impl TryFrom<ActionArgument> for ValidAction {
    type Error = String;

    fn try_from(words: ActionArgument) -> Result<Self, String> {
        let label = words.label.split_whitespace().collect::<Vec<_>>().join(" ");
        if label.is_empty() {
            return Err("an action needs a `label`".to_owned());
        }
        let needs = |what: &str| format!("the action \"{label}\" needs `{what}`");
        let deed = match words.r#type {
            ActionKindArgument::Navigate => {
                let room = words.room.ok_or_else(|| needs("room"))?.0;
                ActionKind::Navigate(NavigationTarget { room, workspace: words.workspace })
            }
            ActionKindArgument::Query => ActionKind::Query {
                tool: words.tool.ok_or_else(|| needs("tool"))?,
                params: words.tool_params.unwrap_or_default(),
            },
            ActionKindArgument::Text => {
                let content = words.content.ok_or_else(|| needs("content"))?;
                ActionKind::Text { content: normalize_prose(&content) }
            }
        };
        Ok(Self(Action { label, kind: deed }))
    }
}

/// What `write_scroll` is told.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct WriteScroll {
    /// A short title.
    pub(in crate::mcp) title: String,
    /// The text, Markdown, kept as it is.
    pub(in crate::mcp) body: String,
    /// Another room than the current one, by slug.
    pub(in crate::mcp) room: Option<ParsedText<RoomRef>>,
}
