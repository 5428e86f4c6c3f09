//! Short JSON Schemas of arguments and answers: clients put the list of tools into every
//! conversation.

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

/// Makes the JSON Schema of arguments as short as possible, without what breaks clients
/// (integer formats) or costs tokens: titles, nulls, and the rules that are checked
/// when the arguments are parsed.
pub(super) fn compact_schema<A: JsonSchema>() -> JsonObject {
    let settings = SchemaSettings::draft2020_12().with(|it| {
        it.inline_subschemas = true;
        it.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<A>().to_value();
    trim_schema(&mut schema);
    match schema {
        Value::Object(mut map) => {
            // The tool has its own description.
            map.shift_remove("description");
            // Some clients reject an object schema without `properties`.
            map.entry("properties").or_insert_with(|| JsonObject::new().into());
            map
        }
        _ => JsonObject::new(),
    }
}

fn trim_schema(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            for key in ["title", "format", "default", "minimum", "additionalProperties"] {
                if map.get(key).is_some_and(|it| !it.is_object()) {
                    map.shift_remove(key);
                }
            }
            if let Some(Value::Array(types)) = map.get_mut("type") {
                types.retain(|it| it != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    map.insert("type".to_owned(), only);
                }
            }
            if let Some(Value::Array(choices)) = map.get_mut("enum") {
                choices.retain(|it| !it.is_null());
            }
            map.values_mut().for_each(trim_schema);
        }
        Value::Array(items) => items.iter_mut().for_each(trim_schema),
        _ => {}
    }
}
