//! The arguments of tools, as JSON. Every check runs while an argument is parsed, so
//! that the error can name its path.

mod graph;
mod mempalace;

use std::borrow::Cow;
use std::str::FromStr;

use rmcp::model::JsonObject;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use serde_json::{Number, Value};

use palazzo_core::model::{Layout, Slot, quoted};

pub(super) use graph::{
    CreateEntities, DeleteGraphEntities, DescribeWorkspace, GetEntity, GetRelationships,
    GetTimeline, ListEntities, ListGenera, SearchEntities, UpdateEntity,
};
pub(super) use mempalace::{
    AddDrawer, CheckDuplicate, DeleteDrawer, DiaryRead, DiaryWrite, FindTunnels, KgAdd,
    KgInvalidate, KgQuery, KgTimeline, ListRooms, MempalaceSearch, Traverse,
};

/// The parameters that sibling tools call differently. Each such tool accepts both names,
/// and only its own is in its schema.
const SYNONYMS: [(&str, &str); 4] = [
    ("title", "task"),
    ("name", "process"),
    ("relations", "add_relations"),
    ("observations", "add_observations"),
];

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

/// The optional texts for which a blank means that they are left out: filters and slugs. Elsewhere it may mean
/// something, as for the `status` of `update_entity`, which it clears. Of dates, see [`non_blank_date`].
const LEFT_OUT_IF_BLANK: [&str; 11] = [
    "as_of",
    "direction",
    "entity",
    "genus",
    "rename",
    "room",
    "scrolls_to",
    "template",
    "type",
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

/// Parses the arguments of a tool; an error includes the path to the wrong one.
pub(super) fn parse_arguments<A: DeserializeOwned>(
    tool: &str,
    arguments: JsonObject,
) -> Result<A, String> {
    let arguments = Value::Object(arguments);
    serde_path_to_error::deserialize(&arguments).map_err(|err| {
        let path = err.path().to_string();
        let place = if path == "." { String::new() } else { format!(" at {}", quoted(&path)) };
        let why = quote_names_in_error(err.into_inner().to_string(), &arguments);
        let why = explain_synonyms(&why).unwrap_or(why);
        format!("wrong arguments for {tool}{place}: {why}")
    })
}

/// Quotes the names that serde repeats in an error, `` unknown field `NAME` ``: an action of a
/// palace may have written them.
fn quote_names_in_error(error: String, arguments: &Value) -> String {
    match arguments {
        Value::String(name) => quote_name_in_error(error, name),
        Value::Array(items) => items.iter().fold(error, quote_names_in_error),
        Value::Object(fields) => fields.iter().fold(error, |error, (name, it)| {
            quote_names_in_error(quote_name_in_error(error, name), it)
        }),
        _ => error,
    }
}

fn quote_name_in_error(error: String, name: &str) -> String {
    match quoted(name) {
        plain if plain[1..plain.len() - 1] == *name => error,
        quoted => error.replace(&format!("`{name}`"), &quoted),
    }
}

/// Explains an error about a parameter that was given twice, under two names: one object
/// never has the same name twice.
fn explain_synonyms(error: &str) -> Option<String> {
    let name = error.strip_prefix("duplicate field `")?.strip_suffix('`')?;
    let (one, other) = SYNONYMS.iter().find(|(one, other)| *one == name || *other == name)?;
    Some(format!("`{one}` and `{other}` mean the same: give only one of them"))
}

/// No arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NoArguments {}

/// A text that parses as a `T`.
#[derive(Debug)]
pub(super) struct ParsedText<T>(pub(super) T);

impl<'de, T: FromStr<Err: ToString>> Deserialize<'de> for ParsedText<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map(Self).map_err(|err: T::Err| D::Error::custom(err.to_string()))
    }
}

impl<T> JsonSchema for ParsedText<T> {
    fn schema_name() -> Cow<'static, str> {
        "Text".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}

/// A number of a menu.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "Value")]
pub(super) struct ActionNumber(pub(super) i64);

impl TryFrom<Value> for ActionNumber {
    type Error = String;

    fn try_from(value: Value) -> Result<Self, String> {
        match (LenientInteger::deserialize(&value), &value) {
            (Ok(number), _) => Ok(Self(number.0)),
            (Err(_), Value::String(text)) if global_number(text).is_some() => Err(format!(
                "an action is a number; {} is {}",
                quoted(text),
                global_number(text).unwrap_or_default()
            )),
            (Err(_), Value::String(text)) => Err(format!(
                "an action is a number; to go to {}, give `action: 16` and the name of the room in \
                 `params`",
                quoted(text)
            )),
            (Err(why), _) => Err(why.to_string()),
        }
    }
}

/// Returns the number of an action that every room has, by its word in the menu.
fn global_number(word: &str) -> Option<usize> {
    let slot = match word.trim().to_lowercase().as_str() {
        "map" => Slot::Map,
        "back" => Slot::Back,
        "search" => Slot::Search,
        "inventory" => Slot::Inventory,
        "everything" | "everything here" => Slot::Everything,
        _ => return None,
    };
    Some(Layout::Wide.number_of_slot(slot))
}

impl JsonSchema for ActionNumber {
    fn schema_name() -> Cow<'static, str> {
        LenientInteger::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        LenientInteger::json_schema(generator)
    }
}

/// A number; also accepts one in quotes, which careless clients send.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "Value")]
pub(super) struct LenientNumber(pub(super) f32);

impl TryFrom<Value> for LenientNumber {
    type Error = String;

    fn try_from(value: Value) -> Result<Self, String> {
        let amount = parse_lenient_number(&value).and_then(|it| f32::deserialize(it).ok());
        amount.map(Self).ok_or_else(|| format!("must be a number, not {value}"))
    }
}

impl JsonSchema for LenientNumber {
    fn schema_name() -> Cow<'static, str> {
        "Amount".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        f32::json_schema(generator)
    }
}

/// An integer, in any spelling: `1`, `1.0`, `"1"`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "Value")]
pub(super) struct LenientInteger(pub(super) i64);

impl TryFrom<Value> for LenientInteger {
    type Error = String;

    fn try_from(value: Value) -> Result<Self, String> {
        // The largest integers that a float represents exactly.
        const LARGEST_EXACT_INTEGER: f64 = 9_007_199_254_740_992.0;
        let number = parse_lenient_number(&value);
        let as_float = number.as_ref().and_then(Number::as_f64);
        let float = as_float.filter(|it| it.fract() == 0.0 && it.abs() <= LARGEST_EXACT_INTEGER);
        #[expect(clippy::cast_possible_truncation, reason = "it is whole and not too large")]
        let whole = number.and_then(|it| it.as_i64()).or(float.map(|it| it as i64));
        whole.map(Self).ok_or_else(|| match as_float {
            Some(it) if it.abs() > LARGEST_EXACT_INTEGER => {
                format!("must be a smaller number than {value}")
            }
            _ => format!("must be a whole number, not {value}"),
        })
    }
}

/// Returns a JSON number, also from a text that contains one.
fn parse_lenient_number(value: &Value) -> Option<Number> {
    match value {
        Value::Number(number) => Some(number.clone()),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

impl JsonSchema for LenientInteger {
    fn schema_name() -> Cow<'static, str> {
        "Whole".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer" })
    }
}

/// A date as text; a year may be a JSON number.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Value")]
pub(super) struct LenientDate(String);

impl TryFrom<Value> for LenientDate {
    type Error = String;

    fn try_from(value: Value) -> Result<Self, String> {
        match value {
            Value::String(text) => Ok(Self(text)),
            Value::Number(year) => Ok(Self(year.to_string())),
            _ => Err(format!("must be a date, not {value}")),
        }
    }
}

impl JsonSchema for LenientDate {
    fn schema_name() -> Cow<'static, str> {
        "Written".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}

/// Returns the text of a date that is not blank.
pub(super) fn non_blank_date(date: Option<LenientDate>) -> Option<String> {
    trimmed_non_blank(date.map(|it| it.0))
}

/// Trims a text; returns `None` if it is blank.
fn trimmed_non_blank(text: Option<String>) -> Option<String> {
    text.map(|it| it.trim().to_owned()).filter(|it| !it.is_empty())
}

/// Reads an optional text, of which a blank means that it is left out.
fn deserialize_non_blank<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<String>, D::Error> {
    Option::<String>::deserialize(deserializer).map(trimmed_non_blank)
}

/// A text that is not blank.
#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct NonBlankText(pub(super) String);

impl TryFrom<String> for NonBlankText {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        if text.trim().is_empty() { Err("must not be empty") } else { Ok(Self(text)) }
    }
}

impl JsonSchema for NonBlankText {
    fn schema_name() -> Cow<'static, str> {
        "Filled".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}

/// The number of a page in a list, from 1.
#[derive(Debug, Deserialize)]
#[serde(try_from = "LenientInteger")]
pub(super) struct PageNumber(pub(super) usize);

impl TryFrom<LenientInteger> for PageNumber {
    type Error = &'static str;

    fn try_from(LenientInteger(number): LenientInteger) -> Result<Self, Self::Error> {
        match usize::try_from(number) {
            Ok(page @ 1..) => Ok(Self(page)),
            _ => Err("must be 1 or more"),
        }
    }
}

impl JsonSchema for PageNumber {
    fn schema_name() -> Cow<'static, str> {
        "Page".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": 1 })
    }
}

/// Changes the arguments of a tool to what its schema asks for, where it is plain what is meant.
///
/// Normalizes arguments as clients really send them, before they are parsed: blanks for what is left out, lists
/// and objects as JSON text, one item for a list, and keys that a host adds. Schemas say nothing of it.
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
        if is_blank && may_be_left_out && (!is_text || LEFT_OUT_IF_BLANK.contains(&name.as_str())) {
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
    use crate::mcp::work_tools::{AdvanceProcess, CompleteTask, CreateTask, StartProcess};

    fn parse_error<A: DeserializeOwned>(arguments: Value) -> Option<String> {
        let Value::Object(arguments) = arguments else { panic!("not an object: {arguments}") };
        parse_arguments::<A>("tool", arguments).err()
    }

    #[test]
    fn a_parameter_has_the_names_that_sibling_tools_use() {
        let [task, process] = [("title", "task"), ("name", "process")];
        for (one, other) in [task, (task.1, task.0)] {
            assert_eq!(parse_error::<CreateTask>(json!({ one: "A" })), None);
            assert_eq!(parse_error::<CompleteTask>(json!({ other: "A" })), None);
        }
        for (one, other) in [process, (process.1, process.0)] {
            assert_eq!(parse_error::<StartProcess>(json!({ one: "A", "steps": ["B"] })), None);
            assert_eq!(parse_error::<AdvanceProcess>(json!({ other: "A" })), None);
        }
        for added in ["", "add_"] {
            let (facts, relations) = (format!("{added}observations"), format!("{added}relations"));
            let mut entity = json!({ "name": "A", facts: ["b"] });
            entity[relations] = json!([{ "type": "b", "to": "C" }]);
            assert_eq!(parse_error::<UpdateEntity>(entity.clone()), None);
            entity["genus"] = json!("D");
            assert_eq!(parse_error::<CreateEntities>(json!({ "entities": [entity] })), None);
        }
    }

    #[test]
    fn a_parameter_given_under_two_names_is_refused() {
        let why = |names: &str| format!("{names} mean the same: give only one of them");
        let task = json!({ "title": "A", "task": "A" });
        let expected = why("wrong arguments for tool: `title` and `task`");
        assert_eq!(parse_error::<CreateTask>(task.clone()), Some(expected.clone()));
        assert_eq!(parse_error::<CompleteTask>(task), Some(expected));
        let process = json!({ "name": "A", "process": "A", "steps": ["B"] });
        let expected = why("wrong arguments for tool: `name` and `process`");
        assert_eq!(parse_error::<StartProcess>(process), Some(expected));
        let entity = json!({ "name": "A", "genus": "B", "relations": [], "add_relations": [] });
        let place = "wrong arguments for tool at `entities[0]`";
        let expected = why(&format!("{place}: `relations` and `add_relations`"));
        let entities = json!({ "entities": [entity] });
        assert_eq!(parse_error::<CreateEntities>(entities), Some(expected));
    }

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
