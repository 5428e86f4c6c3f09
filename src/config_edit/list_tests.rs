//! Items of lists in JSON.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::config_edit::{ConfigError, insert_list_item as insert_item, remove_list_items};

const PATH: [&str; 2] = ["permissions", "allow"];

fn remove_items(
    text: &str,
    path: &[&str],
    is_removed: impl Fn(&Value) -> bool,
) -> Result<String, ConfigError> {
    remove_list_items(text, path, is_removed, 0)
}

fn insert(text: &str) -> String {
    insert_item(text, &PATH, &json!("mcp__palazzo__*")).unwrap()
}

#[test]
fn an_item_is_added_in_the_layout_of_the_file() {
    let files = [
        "",
        "{}",
        "{\n    \"model\": \"opus\"\n}\n",
        "{ \"permissions\": { \"allow\": [] } }",
        "{\n  \"permissions\": {\n    \"allow\": [\"Bash(ls)\"]\n  }\n}\n",
        "{\n  \"permissions\": {\n    \"allow\": [\n      \"Bash(ls)\", // safe\n    ],\n    \"deny\": []\n  }\n}\n",
    ];
    assert_snapshot!(files.map(insert).join("\n---\n"));
}

#[test]
fn an_item_is_removed_without_its_neighbours() {
    let is_ours = |it: &Value| *it == "mcp__palazzo__*";
    let remove = |text: &str| remove_items(text, &PATH, is_ours).unwrap();
    for text in [
        "{ \"permissions\": { \"allow\": [\"a\"] } }",
        "{\n  \"permissions\": {\n    \"allow\": [\n      \"a\"\n    ]\n  }\n}\n",
        "{\n  \"permissions\": {\n    \"allow\": [\n      \"a\",\n    ]\n  }\n}\n",
    ] {
        assert_eq!(remove(&insert(text)), text);
    }
    let first = r#"{"permissions":{"allow":["mcp__palazzo__*", "b"]}}"#;
    assert_eq!(remove(first), r#"{"permissions":{"allow":[ "b"]}}"#);
    assert_eq!(remove("{\"a\": 1}"), "{\"a\": 1}");
}

#[test]
fn another_value_where_a_list_is_expected_is_refused() {
    for text in [r#"{"permissions": []}"#, r#"{"permissions": {"allow": "all"}}"#, "[]"] {
        assert!(insert_item(text, &PATH, &json!("a")).is_err(), "{text}");
    }
}
