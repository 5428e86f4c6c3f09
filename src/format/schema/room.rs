//! `rooms/<slug>.yaml`.

use schemars::JsonSchema;
use serde_json::{Map, Value, json};

use crate::format::schema::scalars::{NonEmptyTextSchema, RoomNameSchema, TextSchema, UlidSchema};

/// A room of a palace: what a visitor sees, and what can be done there.
#[derive(JsonSchema)]
#[schemars(title = "Room", deny_unknown_fields)]
pub(super) struct RoomSchema {
    /// The room's id, a ULID; may be left out.
    #[schemars(example = &"01KGSRV28ADXPQGT6T6QX25YS8")]
    id: Option<UlidSchema>,
    /// What the room is called above its description.
    #[schemars(example = &"Hall of Geology")]
    name: NonEmptyTextSchema,
    /// What a visitor sees: vivid, concrete, a few sentences.
    #[schemars(example = &"Mind the step. Grey beds stand on end here like books.")]
    description: Option<TextSchema>,
    /// The numbered choices, in their order.
    #[schemars(extend("default" = []))]
    actions: Option<Vec<ActionSchema>>,
    /// What the room shows of the graph, behind its own actions.
    #[schemars(example = json!({ "genus": "Claim", "by": "status" }))]
    generate: Option<GenerateSchema>,
    /// Rooms that a door leads to and no action does; a door works both ways.
    #[schemars(example = ["hall-of-biology"], extend("default" = []))]
    portals: Option<Vec<RoomNameSchema>>,
}

/// Halls that are made from the graph, of which nothing is written.
#[derive(JsonSchema)]
#[schemars(title = "Generate", deny_unknown_fields, extend("anyOf" = [
    { "required": ["genus"], "properties": { "by": { "not": { "const": "genus" } } } },
    { "required": ["by"], "properties": { "by": { "const": "genus" }, "genus": false } },
]))]
struct GenerateSchema {
    /// The genus whose entities are shown; left out with `by: genus`.
    #[schemars(example = &"Claim")]
    genus: Option<NonEmptyTextSchema>,
    /// How they are grouped: status, name, date, an attribute; genus for all there is.
    #[schemars(example = &"status", extend("default" = "status"))]
    by: Option<NonEmptyTextSchema>,
}

/// One numbered choice.
#[derive(JsonSchema)]
#[schemars(title = "Action", deny_unknown_fields, extend("allOf" = required_keys_by_type()))]
struct ActionSchema {
    /// What the menu says; an imperative reads best.
    #[schemars(example = &"Examine the drawers of the fossil cabinet")]
    label: NonEmptyTextSchema,
    /// What choosing it does.
    r#type: ActionTypeSchema,
    /// The tool that a query runs.
    #[schemars(example = &"list_entities")]
    tool: Option<NonEmptyTextSchema>,
    /// What a query tells its tool; "{params}" stands for what the visitor says.
    #[schemars(example = json!({ "genus": "Claim" }), extend("default" = {}))]
    tool_params: Option<Map<String, Value>>,
    /// Where a navigate action leads; the room need not exist yet.
    #[schemars(example = &"catastrophism-alcove")]
    room: Option<RoomNameSchema>,
    /// The palace the room is in, if it is another.
    workspace: Option<TextSchema>,
    /// What a text action shows.
    content: Option<TextSchema>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase", extend("enumDescriptions" = [
    "leads into a room",
    "runs a tool and shows what it finds",
    "shows a text",
]))]
enum ActionTypeSchema {
    Navigate,
    Query,
    Text,
}

/// What an action of one type cannot do without.
fn required_keys_by_type() -> Value {
    let needs = |kind: &str, key: &str| {
        json!({
            "if": { "properties": { "type": { "const": kind } }, "required": ["type"] },
            "then": { "properties": { key: { "not": { "type": "null" } } }, "required": [key] },
        })
    };
    json!([needs("navigate", "room"), needs("query", "tool")])
}
