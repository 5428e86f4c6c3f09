//! `palace.toml` as a tree of values, so that keys which this version does not know are kept.

use serde_json::{Map, Value};
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike};

/// Parses a text as a tree; `None` if it is not TOML. A date is a text.
pub(super) fn parse_toml_tree(text: &str) -> Option<Map<String, Value>> {
    let document: DocumentMut = text.trim_start_matches('\u{feff}').parse().ok()?;
    Some(table_to_json(document.as_table()))
}

/// Changes a text from the content `was` to the content `now`, and keeps all else as written.
pub(super) fn edit_toml_tree(
    text: &str,
    was: &Map<String, Value>,
    now: &Map<String, Value>,
) -> Option<String> {
    let mut document: DocumentMut = text.parse().ok()?;
    edit_table(document.as_table_mut(), was, now);
    Some(document.to_string())
}

fn edit_table(table: &mut dyn TableLike, was: &Map<String, Value>, now: &Map<String, Value>) {
    for key in was.keys().filter(|it| !now.contains_key(*it)) {
        table.remove(key);
    }
    for (key, value) in now.iter().filter(|(key, value)| was.get(*key) != Some(*value)) {
        match (table.get_mut(key), was.get(key), value) {
            (Some(item), Some(Value::Object(was)), Value::Object(now)) if item.is_table_like() => {
                if let Some(table) = item.as_table_like_mut() {
                    edit_table(table, was, now);
                }
            }
            (Some(Item::Value(old)), _, _) => {
                let decor = old.decor().clone();
                *old = json_to_toml(value);
                *old.decor_mut() = decor;
            }
            _ => drop(table.insert(key, new_item(value))),
        }
    }
}

/// Returns a new value; a mapping becomes a section.
fn new_item(value: &Value) -> Item {
    let Value::Object(map) = value else { return Item::Value(json_to_toml(value)) };
    let mut table = Table::new();
    for (key, value) in map {
        table.insert(key, new_item(value));
    }
    Item::Table(table)
}

fn json_to_toml(value: &Value) -> toml_edit::Value {
    match value {
        Value::Null => "".into(),
        Value::Bool(it) => (*it).into(),
        Value::Number(it) => match it.as_i64() {
            Some(it) => it.into(),
            None => it.as_f64().unwrap_or_default().into(),
        },
        Value::String(it) => it.into(),
        Value::Array(items) => items.iter().map(json_to_toml).collect::<Array>().into(),
        Value::Object(map) => {
            let pairs = map.iter().map(|(key, it)| (key.as_str(), json_to_toml(it)));
            pairs.collect::<InlineTable>().into()
        }
    }
}

fn table_to_json(table: &dyn TableLike) -> Map<String, Value> {
    table.iter().map(|(key, it)| (key.to_owned(), item_to_json(it))).collect()
}

fn item_to_json(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Value(it) => toml_to_json(it),
        Item::Table(it) => table_to_json(it).into(),
        Item::ArrayOfTables(it) => it.iter().map(|it| table_to_json(it)).collect(),
    }
}

fn toml_to_json(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(it) => it.value().as_str().into(),
        toml_edit::Value::Integer(it) => (*it.value()).into(),
        toml_edit::Value::Float(it) => (*it.value()).into(),
        toml_edit::Value::Boolean(it) => (*it.value()).into(),
        toml_edit::Value::Datetime(it) => it.value().to_string().into(),
        toml_edit::Value::Array(it) => it.iter().map(toml_to_json).collect(),
        toml_edit::Value::InlineTable(it) => table_to_json(it).into(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_edit_keeps_comments_and_order() {
        let text = "# Ours\nname = \"P\" # n\nentry = \"a\"\n\n[menu] # m\nlayout = \"wide\"\n";
        let was = parse_toml_tree(text).unwrap();
        assert_eq!(json!(was), json!({ "name": "P", "entry": "a", "menu": { "layout": "wide" } }));
        let mut now = was.clone();
        now["name"] = json!("Q");
        now["menu"]["size"] = json!(3);
        now.remove("entry");
        now.insert("actions".to_owned(), json!({ "allow": ["x", "y"] }));
        let edited = edit_toml_tree(text, &was, &now).unwrap();
        insta::assert_snapshot!(edited, @r#"
        # Ours
        name = "Q" # n

        [menu] # m
        layout = "wide"
        size = 3

        [actions]
        allow = ["x", "y"]
        "#);
        assert_eq!(parse_toml_tree(&edited), Some(now));
    }
}
