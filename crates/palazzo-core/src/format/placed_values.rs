//! The keys and scalar values of a file with their places, for editors.

use std::ops::Range;

use toml_edit::{Document, Item, TableLike, Value};

use crate::format::yaml::{Node, NodeValue, parse_yaml};
use crate::format::{front_matter, positions_of_bytes};
use crate::model::{PathStep, Position, ValuePath, is_markdown_file};

/// A key or a scalar value of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct PlacedValue {
    /// Its path in the file. List items are counted as in the file.
    pub path: ValuePath,
    /// The text, without quotes.
    pub text: String,
    /// The start, with the quotes.
    pub start: Position,
    /// The end: after the last character. For a text in block style, the start of what follows.
    pub end: Position,
}

impl PlacedValue {
    /// Returns whether this is a key.
    pub fn is_key(&self) -> bool {
        matches!(self.path.steps().last(), Some(PathStep::Key(_)))
    }

    /// Returns whether a position is in it, or directly after it.
    pub fn contains(&self, at: Position) -> bool {
        self.start <= at && at <= self.end
    }
}

/// Lists the keys and scalar values of a file in their order; none if it cannot be parsed.
pub fn placed_values(path: &str, text: &str) -> Vec<PlacedValue> {
    let mut values = Vec::new();
    let add_yaml = |text: &str, values: &mut Vec<PlacedValue>| {
        if let Ok(root) = parse_yaml(text) {
            add_node(&root, &ValuePath::ROOT, values);
        }
    };
    match path.rsplit('.').next() {
        Some("toml") => {
            if let Ok(document) = Document::parse(text) {
                let mut spans = Vec::new();
                add_table(text, document.as_table(), &ValuePath::ROOT, &mut spans);
                values = place_spans(text, spans);
            }
        }
        _ if is_markdown_file(path) => {
            if let Some((matter, _)) = front_matter::split_front_matter(text) {
                add_yaml(&front_matter::pad_to_file_line_numbers(matter), &mut values);
            }
        }
        _ => add_yaml(text, &mut values),
    }
    values
}

fn add_node(node: &Node, path: &ValuePath, values: &mut Vec<PlacedValue>) {
    match &node.value {
        NodeValue::Scalar { text, .. } => {
            let (path, text) = (path.clone(), text.clone());
            values.push(PlacedValue { path, text, start: node.at, end: node.end });
        }
        NodeValue::List(items) => {
            for (index, item) in items.iter().enumerate() {
                add_node(item, &path.clone().then_item(index), values);
            }
        }
        NodeValue::Map(pairs) => {
            for (key, value) in pairs {
                let end = Position { column: key.at.column + key.text.chars().count(), ..key.at };
                let (text, start) = (key.text.clone(), key.at);
                values.push(PlacedValue {
                    path: path.clone().then_key(&key.text),
                    text,
                    start,
                    end,
                });
                add_node(value, &path.clone().then_value(&key.text), values);
            }
        }
    }
}

/// A key or a scalar value of a TOML file: its path, its text without quotes, its bytes.
type SpannedValue = (ValuePath, String, Range<usize>);

fn add_table(file: &str, table: &dyn TableLike, path: &ValuePath, values: &mut Vec<SpannedValue>) {
    for (key, item) in table.iter() {
        if let Some(span) = table.key(key).and_then(toml_edit::Key::span) {
            values.push((path.clone().then_key(key), key.to_owned(), span));
        }
        let path = path.clone().then_value(key);
        match item {
            Item::Value(value) => add_toml_value(file, value, &path, values),
            item => {
                if let Some(table) = item.as_table_like() {
                    add_table(file, table, &path, values);
                }
            }
        }
    }
}

fn add_toml_value(file: &str, value: &Value, path: &ValuePath, values: &mut Vec<SpannedValue>) {
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                add_toml_value(file, item, &path.clone().then_item(index), values);
            }
        }
        Value::InlineTable(table) => add_table(file, table, path, values),
        value => {
            let Some(span) = value.span() else { return };
            let text = value.as_str().map_or_else(|| file[span.clone()].to_owned(), str::to_owned);
            values.push((path.clone(), text, span));
        }
    }
}

fn place_spans(file: &str, values: Vec<SpannedValue>) -> Vec<PlacedValue> {
    let bytes: Vec<_> = values.iter().flat_map(|(_, _, it)| [it.start, it.end]).collect();
    let positions = positions_of_bytes(file, &bytes);
    let placed = values.into_iter().zip(positions.chunks(2));
    placed
        .map(|((path, text, _), it)| PlacedValue { path, text, start: it[0], end: it[1] })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(path: &str, text: &str) -> String {
        let line = |it: &PlacedValue| {
            let steps = it.path.steps().iter().map(|it| match it {
                PathStep::Value(key) | PathStep::Text(key) => key.clone(),
                PathStep::Key(key) => format!("{key}:"),
                PathStep::Item(index) => index.to_string(),
            });
            let steps = steps.collect::<Vec<_>>().join(" ");
            let (start, end) = (it.start, it.end);
            format!(
                "{}:{}-{}:{} {steps} = {}\n",
                start.line, start.column, end.line, end.column, it.text
            )
        };
        placed_values(path, text).iter().map(line).collect()
    }

    #[test]
    fn keys_and_values_of_a_room_have_their_places() {
        let room = "name: \"Hall\" # here\nactions:\n  - { label: Go, room: west/crypt }\nportals: [é, b]\n";
        insta::assert_snapshot!(list("rooms/hall.yaml", room), @r"
        1:1-1:5 name: = name
        1:7-1:13 name = Hall
        2:1-2:8 actions: = actions
        3:7-3:12 actions 0 label: = label
        3:14-3:16 actions 0 label = Go
        3:18-3:22 actions 0 room: = room
        3:24-3:34 actions 0 room = west/crypt
        4:1-4:8 portals: = portals
        4:11-4:12 portals 0 = é
        4:14-4:15 portals 1 = b
        ");
    }

    #[test]
    fn settings_and_front_matter_have_places_too() {
        insta::assert_snapshot!(list("palace.toml", "entry = \"hall\"\n[actions]\nallow = [\"a\"]\n"), @r#"
        1:1-1:6 entry: = entry
        1:9-1:15 entry = hall
        2:2-2:9 actions: = actions
        3:1-3:6 actions allow: = allow
        3:10-3:13 actions allow 0 = a
        "#);
        insta::assert_snapshot!(list("scrolls/a/b.md", "---\ntitle: T\n---\n\nx: y\n"), @r"
        2:1-2:6 title: = title
        2:8-2:9 title = T
        ");
        assert_eq!(placed_values("rooms/a.yaml", "a: [\n"), []);
    }
}
