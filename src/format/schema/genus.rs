//! `genera/<name>.yaml`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::json;

use crate::format::schema::scalars::{NonEmptyTextSchema, TextSchema};

/// What is laid down for the entities of one genus.
#[derive(JsonSchema)]
#[schemars(title = "Genus", deny_unknown_fields)]
pub(super) struct GenusSchema {
    /// What the genus is called, as entities name it.
    #[schemars(example = &"Claim")]
    name: NonEmptyTextSchema,
    /// What several of them are called.
    #[schemars(example = &"Claims")]
    plural: Option<TextSchema>,
    /// What an entity of this genus is.
    description: Option<TextSchema>,
    /// How a sentence speaks of one of them; `{name}` stands for its name.
    #[schemars(example = &"the claim {name}", extend("pattern" = r"\{name\}"))]
    sentence: Option<TextSchema>,
    /// What its entities may say of themselves, and what each attribute holds.
    #[schemars(
        example = json!({ "born": "date", "confidence": ["low", "high"] }),
        extend("default" = {})
    )]
    attributes: Option<BTreeMap<String, AttributeDefSchema>>,
    /// The statuses an entity may have; as a mapping, what may follow each.
    #[schemars(example = ["open", "contested"])]
    statuses: Option<StatusDefsSchema>,
    /// The relations that may start from its entities.
    #[schemars(example = json!({ "lives_in": "single" }), extend("default" = {}))]
    relations: Option<BTreeMap<String, Option<RelationDefSchema>>>,
}

#[derive(JsonSchema)]
#[schemars(untagged)]
enum AttributeDefSchema {
    /// What it holds.
    Kind(AttributeKindSchema),
    /// What it holds, and more of it.
    Whole(FullAttributeDefSchema),
}

/// An attribute, with more than what it holds.
#[derive(JsonSchema)]
#[schemars(title = "Attribute", deny_unknown_fields)]
struct FullAttributeDefSchema {
    /// What it holds.
    r#type: AttributeKindSchema,
    /// Whether each entity of the genus has it.
    #[schemars(extend("default" = false))]
    required: Option<bool>,
}

/// What an attribute holds.
struct AttributeKindSchema;

impl JsonSchema for AttributeKindSchema {
    fn schema_name() -> Cow<'static, str> {
        "Kind".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                { "enum": ["text", "number", "date", "yes/no", "link"] },
                {
                    "description": "The name of an entity of one genus: `link to Person`.",
                    "type": "string",
                    "pattern": r"^link to\s+\S"
                },
                {
                    "description": "One of these words.",
                    "type": "array",
                    "items": { "type": ["string", "number", "boolean"] },
                    "minItems": 1
                }
            ]
        })
    }
}

#[derive(JsonSchema)]
#[schemars(untagged)]
enum StatusDefsSchema {
    /// The statuses.
    List(Vec<TextSchema>),
    /// The statuses, and what may follow each of them.
    Ways(BTreeMap<String, Option<NextStatusesSchema>>),
}

#[derive(JsonSchema)]
#[schemars(untagged)]
enum NextStatusesSchema {
    /// The only status that may follow.
    One(TextSchema),
    /// The statuses that may follow.
    Some(Vec<TextSchema>),
}

#[derive(JsonSchema)]
#[schemars(untagged)]
enum RelationDefSchema {
    /// An entity has one at a time.
    Word(SingleWordSchema),
    /// What else is laid down for it.
    Whole(FullRelationDefSchema),
}

#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
enum SingleWordSchema {
    Single,
}

/// What is laid down for a relation.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct FullRelationDefSchema {
    /// Whether an entity has one at a time.
    #[schemars(extend("default" = false))]
    single: Option<bool>,
}
