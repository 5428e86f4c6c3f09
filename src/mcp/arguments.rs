//! What tools are told, as it is spelled in JSON. Whatever can be wrong with a
//! word is found out while reading it, so that the answer can name its place.

mod graph;
pub(crate) mod memory_server;
mod mempalace;
mod palace;
mod work;

use std::borrow::Cow;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::{Number, Value};

pub(super) use graph::{
    CreateEntities, DeleteGraphEntities, GetEntity, GetRelationships, GetTimeline, ListEntities,
    ListGenera, SearchEntities, UpdateEntity,
};
pub(super) use memory_server::{
    AddObservations, AddObservationsOutput, DeleteEntities, DeleteObservations, DeletionOutput,
    GraphOutput, MemoryEntities, MemoryEntity, MemoryRelation, MemoryRelations, OpenNodes,
    ReadGraph, SearchNodes,
};
pub(super) use mempalace::{
    AddDrawer, CheckDuplicate, DeleteDrawer, DiaryRead, DiaryWrite, FindTunnels, KgAdd,
    KgInvalidate, KgQuery, KgTimeline, ListRooms, MempalaceSearch, Traverse,
};
pub(super) use palace::{BuildRoom, PalaceAction, SetWorkspace, WriteScroll};
pub(super) use work::{AdvanceProcess, CompleteTask, CreateTask, ListTasks, StartProcess};

/// Nothing.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NoArguments {}

/// A text that is read as a `T`.
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

/// A number, also one that a careless client has put in quotes.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "Value")]
pub(super) struct LenientNumber(pub(super) f32);

impl TryFrom<Value> for LenientNumber {
    type Error = String;

    fn try_from(value: Value) -> Result<Self, String> {
        let amount = parse_number(&value).and_then(|it| f32::deserialize(it).ok());
        amount.map(Self).ok_or_else(|| format!("this is a number, not {value}"))
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

/// A whole number, however it is spelled: `1`, `1.0`, `"1"`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "Value")]
pub(super) struct LenientInteger(pub(super) i64);

impl TryFrom<Value> for LenientInteger {
    type Error = String;

    fn try_from(value: Value) -> Result<Self, String> {
        // The largest whole numbers that a float tells apart.
        const LARGEST_EXACT_INTEGER: f64 = 9_007_199_254_740_992.0;
        let number = parse_number(&value);
        let said = number.as_ref().and_then(Number::as_f64);
        let float = said.filter(|it| it.fract() == 0.0 && it.abs() <= LARGEST_EXACT_INTEGER);
        #[expect(clippy::cast_possible_truncation, reason = "it is whole and not too large")]
        let whole = number.and_then(|it| it.as_i64()).or(float.map(|it| it as i64));
        whole.map(Self).ok_or_else(|| match said {
            Some(it) if it.abs() > LARGEST_EXACT_INTEGER => {
                format!("this is a smaller number than {value}")
            }
            _ => format!("this is a whole number, not {value}"),
        })
    }
}

/// Returns the number that is meant.
fn parse_number(value: &Value) -> Option<Number> {
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

/// A date as it is written; a year may be a number.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Value")]
struct DateArgument(String);

impl TryFrom<Value> for DateArgument {
    type Error = String;

    fn try_from(value: Value) -> Result<Self, String> {
        match value {
            Value::String(text) => Ok(Self(text)),
            Value::Number(year) => Ok(Self(year.to_string())),
            _ => Err(format!("this is a date, not {value}")),
        }
    }
}

impl JsonSchema for DateArgument {
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

/// Returns a date that is given.
fn date_text(date: Option<DateArgument>) -> Option<String> {
    non_blank(date.map(|it| it.0))
}

/// Takes what is blank for not given.
fn non_blank(text: Option<String>) -> Option<String> {
    text.map(|it| it.trim().to_owned()).filter(|it| !it.is_empty())
}

/// A text that says something.
#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct NonBlankText(pub(super) String);

impl TryFrom<String> for NonBlankText {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        if text.trim().is_empty() { Err("it is empty") } else { Ok(Self(text)) }
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

/// A page of a list.
#[derive(Debug, Deserialize)]
#[serde(try_from = "LenientInteger")]
pub(super) struct PageNumber(pub(super) usize);

impl TryFrom<LenientInteger> for PageNumber {
    type Error = &'static str;

    fn try_from(LenientInteger(number): LenientInteger) -> Result<Self, Self::Error> {
        match usize::try_from(number) {
            Ok(page @ 1..) => Ok(Self(page)),
            _ => Err("this counts from 1"),
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
