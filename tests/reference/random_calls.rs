//! Random calls to both servers, with few names, so that they collide often, including
//! the nastiest.

use std::collections::HashSet;
use std::fmt;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

/// A step of a session.
#[derive(Clone)]
pub(crate) enum Step {
    /// A call to both servers.
    Call(&'static str, Value),
    /// Restarts Palazzo.
    Restart,
}

/// The form shown by a failed test.
impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call(tool, arguments) => write!(f, "{tool} {arguments}"),
            Self::Restart => f.write_str("(restart)"),
        }
    }
}

const NAMES: &[&str] = &[
    "Alice",
    "alice",
    "Bob",
    "",
    "a/b",
    "a-b",
    "../../etc",
    "two\nlines",
    "\u{0}",
    "日本",
    "null",
    "İstanbul",
    "ΟΔΥΣΣΕΥΣ",
    "\u{2028}",
    "- x: {y}",
    " ",
    "__proto__",
];
const OBSERVATION_TEXTS: &[&str] = &[
    "likes tea",
    "LIKES TEA",
    "",
    "x",
    "# no comment",
    "two\nlines\n",
    "  indented",
    "\"quoted\"",
    "\u{1b}[31m",
    "Straße",
    "🦀",
    "no",
    "~",
    "true",
    "1e3",
    "tab\there",
    "\r\n",
    "trailing ",
];
const TYPE_NAMES: &[&str] = &["person", "Person", "", "knows", "a b", "con", "genus: x", "日"];
const QUERIES: &[&str] = &[
    "",
    "a",
    "ALICE",
    "tea",
    "likes tea",
    "no such thing",
    "\n",
    "i",
    "İ",
    "σ",
    "STRASSE",
    "straße",
    "日",
    "\u{0}",
    "person",
    "🦀",
    " ",
    "-",
];

/// Generates a step: mostly calls, sometimes a wrong one, sometimes a restart.
pub(crate) fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        30 => valid_call().prop_map(|(tool, arguments)| Step::Call(tool, arguments)),
        3 => invalid_call().prop_map(|(tool, arguments)| Step::Call(tool, arguments)),
        1 => Just(Step::Restart),
    ]
}

fn valid_call() -> impl Strategy<Value = (&'static str, Value)> {
    prop_oneof![
        6 => vec(entity(), 0..5).prop_map(|it| ("create_entities", json!({ "entities": it }))),
        5 => vec(relation(), 0..5).prop_map(|it| ("create_relations", json!({ "relations": it }))),
        5 => vec(observations_of_entity("contents"), 0..3)
            .prop_map(|it| ("add_observations", json!({ "observations": it }))),
        2 => vec(name(), 0..3).prop_map(|it| ("delete_entities", json!({ "entityNames": it }))),
        2 => vec(observations_of_entity("observations"), 0..3)
            .prop_map(|it| ("delete_observations", json!({ "deletions": it }))),
        2 => vec(relation(), 0..5).prop_map(|it| ("delete_relations", json!({ "relations": it }))),
        1 => Just(("read_graph", json!({}))),
        4 => select(QUERIES).prop_map(|it| ("search_nodes", json!({ "query": it }))),
        3 => vec(name(), 0..4).prop_map(|it| ("open_nodes", json!({ "names": it }))),
    ]
}

/// Generates calls with wrong arguments; some of them are harmless.
fn invalid_call() -> impl Strategy<Value = (&'static str, Value)> {
    let entity = json!({ "name": "Alice", "entityType": "person" });
    select(vec![
        ("create_entities", json!({})),
        ("create_entities", json!({ "entities": null })),
        ("create_entities", json!({ "entities": {} })),
        ("create_entities", json!({ "entities": [entity] })),
        ("create_entities", json!({ "entities": [null] })),
        (
            "create_relations",
            json!({ "relations": [{ "from": "a", "to": 5, "relationType": "x" }] }),
        ),
        ("add_observations", json!({ "observations": [{ "entityName": "Alice" }] })),
        (
            "add_observations",
            json!({ "observations": [{ "entityName": "Ghost", "contents": [] }] }),
        ),
        ("delete_entities", json!({ "entityNames": "Alice" })),
        ("delete_observations", json!({ "deletions": [{ "observations": [] }] })),
        ("search_nodes", json!({ "query": null })),
        ("open_nodes", json!({ "names": [1] })),
        ("read_graph", json!({ "depth": 3 })),
        ("search_nodes", json!({ "query": "tea", "limit": 3 })),
    ])
}

fn name() -> impl Strategy<Value = &'static str> {
    select(NAMES)
}

fn observation_texts() -> impl Strategy<Value = Vec<&'static str>> {
    vec(select(OBSERVATION_TEXTS), 0..4)
}

fn entity() -> impl Strategy<Value = Value> {
    (name(), select(TYPE_NAMES), observation_texts()).prop_map(
        |(name, kind, it)| json!({ "name": name, "entityType": kind, "observations": it }),
    )
}

fn relation() -> impl Strategy<Value = Value> {
    (name(), select(TYPE_NAMES), name())
        .prop_map(|(from, kind, to)| json!({ "from": from, "to": to, "relationType": kind }))
}

fn observations_of_entity(key: &'static str) -> impl Strategy<Value = Value> {
    (name(), observation_texts()).prop_map(move |(name, it)| json!({ "entityName": name, key: it }))
}

/// Removes duplicate items from a call that adds.
pub(crate) fn without_duplicates(tool: &str, mut arguments: Value) -> Value {
    match tool {
        "create_entities" => keep_first(&mut arguments["entities"], |it| it["name"].to_string()),
        "create_relations" => keep_first(&mut arguments["relations"], Value::to_string),
        "add_observations" => {
            for addition in arguments["observations"].as_array_mut().into_iter().flatten() {
                keep_first(&mut addition["contents"], Value::to_string);
            }
        }
        _ => {}
    }
    arguments
}

fn keep_first(list: &mut Value, key: impl Fn(&Value) -> String) {
    let mut seen = HashSet::new();
    if let Some(list) = list.as_array_mut() {
        list.retain(|it| seen.insert(key(it)));
    }
}
