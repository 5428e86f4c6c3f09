//! Schema of `rooms/<slug>.yaml`.

use schemars::JsonSchema;
use serde_json::{Map, Value, json};

use crate::format::schema::scalars::{
    NonEmptyTextSchema, ReferenceSchema, RoomNameSchema, TextSchema, UlidSchema,
};

/// A room of a palace: its description, its actions and its doors.
#[derive(JsonSchema)]
#[schemars(title = "Room", deny_unknown_fields)]
pub(super) struct RoomSchema {
    /// The room's id, a ULID; optional.
    #[schemars(example = &"01KGSRV28ADXPQGT6T6QX25YS8")]
    id: Option<UlidSchema>,
    /// The name, shown above the description.
    #[schemars(example = &"Hall of Geology")]
    name: NonEmptyTextSchema,
    /// The description that a visitor sees: vivid, concrete, a few sentences.
    #[schemars(example = &"Mind the step. Grey beds stand on end here like books.")]
    description: Option<TextSchema>,
    /// The numbered choices, in their order.
    #[schemars(extend("default" = []))]
    actions: Option<Vec<ActionSchema>>,
    /// The part of the graph that the room shows after its own actions.
    #[schemars(example = json!({ "genus": "Claim", "by": "status" }))]
    generate: Option<GeneratedHallsSchema>,
    /// Rooms to which a door leads but no action; a door works both ways.
    #[schemars(extend("default" = []))]
    portals: Option<Vec<RoomNameSchema>>,
}

/// Generated halls that show entities of the graph.
#[derive(JsonSchema)]
#[schemars(title = "Generate", deny_unknown_fields, extend("anyOf" = [
    { "required": ["genus"], "properties": { "by": { "not": { "const": "genus" } } } },
    { "required": ["by"], "properties": { "by": { "const": "genus" }, "genus": false } },
]))]
struct GeneratedHallsSchema {
    /// The genus of the entities; omitted with `by: genus`.
    genus: Option<ReferenceSchema>,
    /// The sort key: status, name, date or an attribute; `genus` for all entities.
    #[schemars(example = &"status", extend("default" = "status"))]
    by: Option<NonEmptyTextSchema>,
}

/// One numbered choice.
#[derive(JsonSchema)]
#[schemars(title = "Action", deny_unknown_fields, extend("allOf" = required_keys_by_type()))]
struct ActionSchema {
    /// The text in the menu; an imperative reads best.
    #[schemars(example = &"Examine the drawers of the fossil cabinet")]
    label: NonEmptyTextSchema,
    /// The type of the action; without it, `room`, `tool`, `entity` or `content` tells the type.
    r#type: Option<ActionTypeSchema>,
    /// The tool that a query calls.
    tool: Option<ReferenceSchema>,
    /// The parameters of the tool; `{params}` stands for what the visitor passes.
    #[schemars(example = json!({ "genus": "Claim" }), extend("default" = {}))]
    tool_params: Option<Map<String, Value>>,
    /// The entity that a query shows: a short form of the tool `get_entity` with this name.
    entity: Option<ReferenceSchema>,
    /// The room to which a navigate action leads; it need not exist yet.
    room: Option<RoomNameSchema>,
    /// The workspace of the room, if it is in another palace.
    workspace: Option<ReferenceSchema>,
    /// The text that a text action shows.
    content: Option<TextSchema>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase", extend("enumDescriptions" = [
    "leads into a room",
    "calls a tool and shows its result",
    "shows a text",
]))]
enum ActionTypeSchema {
    Navigate,
    Query,
    Text,
}

/// Returns the keys that each type of action requires: a query needs one of two.
fn required_keys_by_type() -> Value {
    let has = |key: &str| json!({ "properties": { key: { "not": { "type": "null" } } }, "required": [key] });
    let needs = |kind: &str, then: Value| {
        json!({
            "if": { "properties": { "type": { "const": kind } }, "required": ["type"] },
            "then": then,
        })
    };
    let query = json!({ "anyOf": [has("tool"), has("entity")] });
    let inferred = json!({ "oneOf": [has("room"), query, has("content")] });
    json!([
        needs("navigate", has("room")),
        needs("query", query),
        { "anyOf": [has("type"), inferred] },
    ])
}
