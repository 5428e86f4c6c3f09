//! `entities/<genus>/<name>.yaml`.

use schemars::JsonSchema;
use serde_json::{Map, Value, json};

use crate::format::schema::scalars::{TextSchema, UlidSchema};

/// An entity of the knowledge graph, with its observations and the relations
/// that start from it.
#[derive(JsonSchema)]
#[schemars(
    title = "Entity",
    deny_unknown_fields,
    extend("if" = json!({ "required": ["relations"] })),
    extend("else" = json!({ "required": ["genus"] }))
)]
pub(super) struct EntitySchema {
    /// The entity's id, a ULID; may be left out.
    #[schemars(example = &"01KGSRV28ADXPQGT6T6QX25YS8")]
    id: Option<UlidSchema>,
    /// What it is called, which is what relations name it by.
    #[schemars(example = &"Stasis is data")]
    name: TextSchema,
    /// What kind of thing it is. Only what relations start from, and nothing
    /// else is known of, has none.
    #[schemars(example = &"Claim")]
    genus: Option<TextSchema>,
    /// How it stands with it: free, unless the genus lists statuses.
    #[schemars(example = &"contested")]
    status: Option<TextSchema>,
    /// What else is known of it, by name. Only what is spelled as JSON spells it is a
    /// number: `1.10` and `00123` are texts.
    #[schemars(example = json!({ "confidence": "medium" }), extend("default" = {}))]
    attributes: Option<Map<String, Value>>,
    /// What was observed of it, a sentence each.
    #[schemars(
        example = ["Species appear fully formed and persist unchanged."],
        extend("default" = [])
    )]
    observations: Option<Vec<TextSchema>>,
    /// The relations that start from it.
    #[schemars(extend("default" = []))]
    relations: Option<Vec<RelationSchema>>,
}

/// A relation from the entity to another.
#[derive(JsonSchema)]
#[schemars(title = "Relation", deny_unknown_fields)]
struct RelationSchema {
    /// What the one is to the other.
    #[schemars(example = &"disputed_by")]
    r#type: TextSchema,
    /// The name of the entity it leads to.
    #[schemars(example = &"Gradualism")]
    to: TextSchema,
    /// The first day it holds: a day, a month, a year.
    #[schemars(example = &"1972-01-01", example = &"1972")]
    since: Option<TextSchema>,
    /// The day from which it holds no more.
    #[schemars(example = &"2001-06")]
    until: Option<TextSchema>,
    /// Where that is known from.
    source: Option<TextSchema>,
}
