//! Schema of `genera/<name>.yaml`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::json;

use crate::format::schema::scalars::{NonEmptyTextSchema, TextSchema};

/// The definition of a genus.
#[derive(JsonSchema)]
#[schemars(title = "Genus", deny_unknown_fields)]
pub(super) struct GenusSchema {
    /// The name of the genus, as entities give it.
    #[schemars(example = &"Claim")]
    name: NonEmptyTextSchema,
    /// The plural of the name.
    #[schemars(example = &"Claims")]
    plural: Option<TextSchema>,
    /// The description of the genus.
    description: Option<TextSchema>,
    /// The template for naming an entity in a sentence; `{name}` stands for its name.
    #[schemars(example = &"the claim {name}", extend("pattern" = r"\{name\}"))]
    sentence: Option<TextSchema>,
    /// The attributes of its entities, with the type of each.
    #[schemars(
        example = json!({ "born": "date", "confidence": ["low", "high"] }),
        extend("default" = {})
    )]
    attributes: Option<BTreeMap<String, AttributeDefSchema>>,
    /// The statuses of its entities; as a mapping, with the statuses that may follow each.
    #[schemars(example = json!(["open", "contested"]))]
    statuses: Option<StatusDefsSchema>,
    /// The relations of its entities.
    #[schemars(example = json!({ "lives_in": "single" }), extend("default" = {}))]
    relations: Option<BTreeMap<String, Option<RelationDefSchema>>>,
}

#[derive(JsonSchema)]
#[schemars(untagged)]
enum AttributeDefSchema {
    /// The type.
    Kind(AttributeKindSchema),
    /// The type, with further properties.
    Whole(FullAttributeDefSchema),
}

/// An attribute with further properties.
#[derive(JsonSchema)]
#[schemars(title = "Attribute", deny_unknown_fields)]
struct FullAttributeDefSchema {
    /// The type of the value.
    r#type: AttributeKindSchema,
    /// Whether every entity of the genus must have it.
    #[schemars(extend("default" = false))]
    required: Option<bool>,
}

/// The type of an attribute's value.
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
    /// The statuses, with those that may follow each.
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
    /// `single`: an entity has at most one at a time.
    Word(RelationSingleKeywordSchema),
    /// The properties of the relation.
    Whole(FullRelationDefSchema),
}

#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
enum RelationSingleKeywordSchema {
    Single,
}

/// The properties of a relation.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct FullRelationDefSchema {
    /// Whether an entity has at most one at a time.
    #[schemars(extend("default" = false))]
    single: Option<bool>,
}
