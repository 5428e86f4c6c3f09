//! The arguments of tools, as JSON. Every check runs while an argument is parsed, so
//! that the error can name its path.

mod graph;
mod lenient;
pub(crate) mod memory_server;
mod mempalace;
mod palace;
mod sync;
mod work;

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
pub(super) use lenient::{Blanks, normalize_arguments};
pub(super) use memory_server::{
    AddObservations, AddObservationsOutput, DeleteEntities, DeleteObservations, DeletionOutput,
    GraphOutput, MemoryEntities, MemoryEntity, MemoryRelation, MemoryRelations, OpenNodes,
    ReadGraph, SearchNodes,
};
pub(super) use mempalace::{
    AddDrawer, CheckDuplicate, DeleteDrawer, DiaryRead, DiaryWrite, FindTunnels, KgAdd,
    KgInvalidate, KgQuery, KgTimeline, ListRooms, MempalaceSearch, Traverse,
};
pub(super) use palace::{BuildRoom, PalaceAction, RoomRequest, SetWorkspace, WriteScroll};
pub(super) use sync::Resolve;
pub(super) use work::{AdvanceProcess, CompleteTask, CreateTask, ListTasks, StartProcess};

/// The parameters that sibling tools call differently. Each such tool accepts both names,
/// and only its own is in its schema.
const SYNONYMS: [(&str, &str); 4] = [
    ("title", "task"),
    ("name", "process"),
    ("relations", "add_relations"),
    ("observations", "add_observations"),
];

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
struct LenientDate(String);

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
fn non_blank_date(date: Option<LenientDate>) -> Option<String> {
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

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
}
