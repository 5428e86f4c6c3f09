//! Normalizes arguments as clients really send them, before they are parsed: blanks for what is left out, lists
//! and objects as JSON text, one item for a list, and keys that a host adds. Schemas say nothing of it.

use rmcp::model::JsonObject;
use serde_json::Value;

/// The keys that hosts add to the arguments of every tool.
const HOST_KEYS: [&str; 14] = [
    "_meta",
    "chatId",
    "chat_id",
    "explanation",
    "random_string",
    "sessionId",
    "session_id",
    "task_progress",
    "thought",
    "toolAction",
    "toolCallId",
    "toolSummary",
    "tool_call_id",
    "waitForPreviousTools",
];

/// The optional texts for which a blank means that they are left out: filters, slugs and dates. Elsewhere it may
/// mean something, as for the `status` of `update_entity`, which it clears.
const FILTERS: [&str; 13] = [
    "as_of",
    "direction",
    "entity",
    "genus",
    "rename",
    "room",
    "scrolls_to",
    "since",
    "template",
    "type",
    "until",
    "who",
    "wing",
];

/// Whether blanks mean that an optional argument is left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::mcp) enum Blanks {
    /// They do, for filters, lists and everything else that is no text.
    LeftOut,
    /// They do not: the tool decides.
    Kept,
}

/// Changes the arguments of a tool to what its schema asks for, where it is plain what is meant.
pub(in crate::mcp) fn normalize_arguments(
    schema: &JsonObject,
    mut arguments: JsonObject,
    blanks: Blanks,
) -> JsonObject {
    let properties = schema.get("properties").and_then(Value::as_object);
    let is_own = |name: &str| properties.is_some_and(|it| it.contains_key(name));
    arguments.retain(|name, _| is_own(name) || !HOST_KEYS.contains(&name.as_str()));
    normalize_fields(schema, arguments, blanks)
}

/// Changes the fields of an object. Unknown ones stay, so that they are refused.
fn normalize_fields(schema: &JsonObject, fields: JsonObject, blanks: Blanks) -> JsonObject {
    let properties = schema.get("properties").and_then(Value::as_object);
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|it| it == name));
    let normalize = |(name, value): (String, Value)| {
        let Some(about) = properties.and_then(|it| it.get(&name)) else {
            return Some((name, value));
        };
        let is_blank = value.as_str().is_some_and(|it| it.trim().is_empty());
        let is_text =
            allows_type(about, "string") && !about.get("enum").is_some_and(Value::is_array);
        let may_be_left_out = blanks == Blanks::LeftOut && !is_required(&name);
        if is_blank && may_be_left_out && (!is_text || FILTERS.contains(&name.as_str())) {
            return None;
        }
        let value = normalize_value(about, value, blanks);
        Some((name, value))
    };
    fields.into_iter().filter_map(normalize).collect()
}

/// Changes one value to what its schema asks for.
fn normalize_value(schema: &Value, value: Value, blanks: Blanks) -> Value {
    let items = schema.get("items").filter(|_| allows_type(schema, "array"));
    match value {
        Value::String(text) if !allows_type(schema, "string") => match parsed_text(schema, &text) {
            Some(parsed) => normalize_value(schema, parsed, blanks),
            None => one_item(items, Value::String(text)),
        },
        Value::Number(number)
            if !allows_type(schema, "number") && !allows_type(schema, "integer") =>
        {
            one_item(items, Value::Number(number))
        }
        Value::Array(all) => match items {
            Some(items) => all.into_iter().map(|it| normalize_value(items, it, blanks)).collect(),
            None => Value::Array(all),
        },
        Value::Object(fields) => {
            match schema.as_object().filter(|it| it.contains_key("properties")) {
                Some(schema) => Value::Object(normalize_fields(schema, fields, blanks)),
                None => Value::Object(fields),
            }
        }
        value => value,
    }
}

/// Returns the list or the object that a text is as a whole, if the schema asks for one.
fn parsed_text(schema: &Value, text: &str) -> Option<Value> {
    let parsed: Value = serde_json::from_str(text).ok()?;
    let is_wanted = match &parsed {
        Value::Array(_) => allows_type(schema, "array"),
        Value::Object(_) => allows_type(schema, "object"),
        _ => false,
    };
    is_wanted.then_some(parsed)
}

/// Makes a list of one item, if the items are texts or numbers.
fn one_item(items: Option<&Value>, value: Value) -> Value {
    let is_simple =
        |it: &Value| ["string", "integer", "number"].iter().any(|kind| allows_type(it, kind));
    if items.is_some_and(is_simple) { Value::Array(vec![value]) } else { value }
}

/// Returns whether a schema allows a type; one without types allows all.
fn allows_type(schema: &Value, kind: &str) -> bool {
    match (schema.get("type"), schema.get("anyOf").and_then(Value::as_array)) {
        (Some(Value::String(only)), _) => only == kind,
        (Some(Value::Array(types)), _) => types.iter().any(|it| it == kind),
        (_, Some(choices)) => choices.iter().any(|it| allows_type(it, kind)),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn normalized(arguments: Value) -> Value {
        let schema = json!({
            "properties": {
                "name": { "type": "string" },
                "genus": { "type": "string" },
                "direction": { "type": "string", "enum": ["outgoing"] },
                "note": { "type": "string" },
                "names": { "type": "array", "items": { "type": "string" } },
                "also": { "type": "array", "items": { "type": "integer" } },
                "attributes": { "type": "object" },
                "entities": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": { "facts": { "type": "array", "items": { "type": "string" } } }
                    }
                }
            },
            "required": ["name"]
        });
        let (Value::Object(schema), Value::Object(arguments)) = (schema, arguments) else {
            panic!("not objects")
        };
        normalize_arguments(&schema, arguments, Blanks::LeftOut).into()
    }

    #[test]
    fn a_blank_is_left_out_unless_it_is_a_text_or_required() {
        let blank = json!({ "name": "", "genus": " ", "direction": "", "names": "", "note": "" });
        assert_eq!(normalized(blank), json!({ "name": "", "note": "" }));
    }

    #[test]
    fn lists_and_objects_are_read_from_text() {
        let sent = json!({
            "names": "[\"Ada\", \"Bob\"]",
            "also": "[22]",
            "attributes": "{\"confidence\": \"low\"}",
            "entities": "[{\"facts\": \"one\"}]",
            "note": "[1]"
        });
        assert_eq!(
            normalized(sent),
            json!({
                "names": ["Ada", "Bob"],
                "also": [22],
                "attributes": { "confidence": "low" },
                "entities": [{ "facts": ["one"] }],
                "note": "[1]"
            })
        );
    }

    #[test]
    fn one_item_is_a_list_and_what_is_no_json_stays_a_text() {
        let sent = json!({ "names": "[Ada", "also": 22, "attributes": "low", "entities": "Ada" });
        assert_eq!(
            normalized(sent),
            json!({ "names": ["[Ada"], "also": [22], "attributes": "low", "entities": "Ada" })
        );
    }

    #[test]
    fn keys_of_hosts_are_left_out_and_other_unknown_ones_stay() {
        let sent = json!({ "toolCallId": "x", "explanation": "y", "nmae": "z" });
        assert_eq!(normalized(sent), json!({ "nmae": "z" }));
        let within = json!({ "entities": [{ "explanation": "y" }] });
        assert_eq!(normalized(within.clone()), within);
    }
}
