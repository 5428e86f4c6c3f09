//! Schema of `entities/<genus>/<name>.yaml`.

use schemars::JsonSchema;
use serde_json::{Map, Value, json};

use crate::format::schema::scalars::{ReferenceSchema, TextSchema, UlidSchema};

/// An entity of the knowledge graph, with its observations and its outgoing relations.
#[derive(JsonSchema)]
#[schemars(
    title = "Entity",
    deny_unknown_fields,
    // A loose end has nothing but relations.
    extend("if" = json!({
        "required": ["relations"],
        "properties": {
            "relations": { "minItems": 1 },
            "status": { "type": "null" },
            "attributes": { "maxProperties": 0 },
            "observations": { "maxItems": 0 },
            "former_names": { "maxItems": 0 }
        }
    })),
    extend("else" = json!({ "required": ["genus"] }))
)]
pub(super) struct EntitySchema {
    /// The entity's id, a ULID; optional.
    #[schemars(example = &"01KGSRV28ADXPQGT6T6QX25YS8")]
    id: Option<UlidSchema>,
    /// The name; relations refer to it.
    #[schemars(example = &"Stasis is data")]
    name: TextSchema,
    /// The names that the entity had before it was renamed, and those of entities merged into it;
    /// links in scrolls may use them.
    #[schemars(example = json!(["Punctuated stasis"]), extend("default" = []))]
    former_names: Option<Vec<TextSchema>>,
    /// The genus, the type of the entity. Only a name that has nothing but relations may omit it.
    genus: Option<ReferenceSchema>,
    /// The status; any text, unless the genus lists statuses.
    #[schemars(example = &"contested")]
    status: Option<TextSchema>,
    /// Further attributes, by name. Only a number in JSON notation is a number: `1.10` and `00123`
    /// are texts.
    #[schemars(example = json!({ "confidence": "medium" }), extend("default" = {}))]
    attributes: Option<Map<String, Value>>,
    /// The observations, one sentence each.
    #[schemars(
        example = json!(["Species appear fully formed and persist unchanged."]),
        extend("default" = [])
    )]
    observations: Option<Vec<TextSchema>>,
    /// The outgoing relations.
    #[schemars(extend("default" = []))]
    relations: Option<Vec<RelationSchema>>,
}

/// A relation from this entity to another.
#[derive(JsonSchema)]
#[schemars(title = "Relation", deny_unknown_fields)]
struct RelationSchema {
    /// The type of the relation, in the active voice.
    r#type: ReferenceSchema,
    /// The name of the target entity.
    to: ReferenceSchema,
    /// The date from which it holds: a day, a month or a year.
    #[schemars(example = &"1972-01-01", example = &"1972")]
    since: Option<TextSchema>,
    /// The date from which it no longer holds.
    #[schemars(example = &"2001-06")]
    until: Option<TextSchema>,
    /// The source of the statement.
    source: Option<TextSchema>,
}
