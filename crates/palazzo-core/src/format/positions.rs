//! Positions of values in a file, and for editors its keys and scalar values with their places. They
//! are computed only for files with findings, so that none need be stored for all other files.

use std::ops::Range;

use toml_edit::{Document, Item, TableLike, Value};

use crate::format::file_parser;
use crate::format::file_parser::FileParser;
use crate::format::yaml::{Node, NodeValue, parse_yaml};
use crate::format::{entity, front_matter, room};
use crate::model::{PathStep, Position, ValuePath, is_markdown_file, split_lines};

/// The positions of the values of a file.
pub struct ValuePositions<'a> {
    text: &'a str,
    tree: ParsedTree<'a>,
}

enum ParsedTree<'a> {
    Yaml(Node),
    Toml(Document<&'a str>),
    Unreadable,
}

impl<'a> ValuePositions<'a> {
    /// Parses a file for the positions of its values.
    pub fn parse(path: &'a str, text: &'a str) -> Self {
        let yaml = |text: &str| match parse_yaml(text) {
            Ok(root) => ParsedTree::Yaml(drop_unreadable_items(path, root)),
            Err(_) => ParsedTree::Unreadable,
        };
        let tree = match path.rsplit('.').next() {
            Some("toml") => Document::parse(text).map_or(ParsedTree::Unreadable, ParsedTree::Toml),
            _ if is_markdown_file(path) => {
                let matter = front_matter::split_front_matter(text)
                    .map(|(matter, _)| front_matter::pad_to_file_line_numbers(matter));
                matter.map_or(ParsedTree::Unreadable, |it| yaml(&it))
            }
            _ => yaml(text),
        };
        Self { text, tree }
    }

    /// Returns the position of a path, or of the last step that exists.
    pub fn position_of(&self, path: &ValuePath) -> Position {
        match path.steps() {
            [value @ .., PathStep::Text(text)] => self.position_of_text(value, text),
            steps => self.position_of_steps(steps),
        }
    }

    /// Returns the first position of `wanted` in a value or, without steps, in the text after front
    /// matter; the position of the value if it is written differently there.
    fn position_of_text(&self, value: &[PathStep], wanted: &str) -> Position {
        let value_start = self.position_of_steps(value);
        let body = front_matter::split_front_matter(self.text).filter(|_| value.is_empty());
        let from = match body {
            Some((_, body)) => self.text.len() - body.len(),
            None => byte_at_position(self.text, value_start),
        };
        let found = self.text[from..].find(wanted);
        found.map_or(value_start, |it| position_of_byte(self.text, from + it))
    }

    fn position_of_steps(&self, steps: &[PathStep]) -> Position {
        match &self.tree {
            _ if steps.is_empty() => Position::START,
            ParsedTree::Yaml(root) => find_yaml_position(root, steps),
            ParsedTree::Toml(document) => {
                let span = find_toml_span(document.as_table(), steps);
                span.map_or(Position::START, |it| position_of_byte(self.text, it.start))
            }
            ParsedTree::Unreadable => Position::START,
        }
    }
}

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

/// A key or a scalar value of a TOML file: its path, its text without quotes, its bytes.
type SpannedValue = (ValuePath, String, Range<usize>);

/// Returns the positions of bytes of a text, in one pass over the text. A byte order mark is no
/// column.
pub fn positions_of_bytes(text: &str, bytes: &[usize]) -> Vec<Position> {
    let mut order: Vec<_> = (0..bytes.len()).collect();
    order.sort_unstable_by_key(|it| bytes[*it]);
    let mut positions = vec![Position::START; bytes.len()];
    let mut next = order.into_iter().peekable();
    for (line, number) in split_lines(text).zip(1..) {
        let start = line.as_ptr() as usize - text.as_ptr() as usize;
        // The line that follows starts after one more byte, at least.
        let (mut column, mut counted) = (1, start);
        while let Some(index) = next.next_if(|it| bytes[*it] <= start + line.len()) {
            let before = text.get(counted..bytes[index]).unwrap_or_default();
            column += before.trim_start_matches('\u{feff}').chars().count();
            counted = counted.max(bytes[index]);
            positions[index] = Position { line: number, column };
        }
    }
    positions
}

/// Returns the position of a byte in a text.
pub(super) fn position_of_byte(text: &str, byte: usize) -> Position {
    let before = text.get(..byte).unwrap_or(text).trim_start_matches('\u{feff}');
    let lines = split_lines(before.strip_suffix('\r').unwrap_or(before)).zip(1..);
    let (last, line) = lines.last().unwrap_or(("", 1));
    Position { line, column: last.chars().count() + 1 }
}

/// Returns the byte at a position.
fn byte_at_position(text: &str, at: Position) -> usize {
    let line_start: usize = text.split_inclusive('\n').take(at.line - 1).map(str::len).sum();
    let column = text[line_start..].char_indices().nth(at.column - 1);
    line_start + column.map_or(0, |(byte, _)| byte)
}

/// Removes list items that the palace does not have, because paths do not count them.
fn drop_unreadable_items(path: &str, mut root: Node) -> Node {
    let NodeValue::Map(pairs) = &mut root.value else { return root };
    for (key, value) in pairs {
        if let NodeValue::List(items) = &mut value.value {
            items.retain(|it| is_readable_item(path, &key.text, it));
        }
    }
    root
}

/// Returns whether the palace has this list item.
fn is_readable_item(path: &str, list: &str, item: &Node) -> bool {
    let (mut scratch_parser, item) = (FileParser::new(path), item.clone());
    match list {
        "actions" => room::parse_action(&mut scratch_parser, item).is_some(),
        "portals" => file_parser::parse_item_room_ref(&mut scratch_parser, item, list).is_some(),
        "relations" => entity::parse_relation(&mut scratch_parser, item).is_some(),
        _ => true,
    }
}

fn find_yaml_position(root: &Node, steps: &[PathStep]) -> Position {
    let mut node = root;
    for step in steps {
        let next = match (step, &node.value) {
            (PathStep::Item(index), NodeValue::List(items)) => items.get(*index),
            (PathStep::Value(name) | PathStep::Key(name), NodeValue::Map(pairs)) => {
                let pair = pairs.iter().find(|(key, _)| key.text == *name);
                if let (PathStep::Key(_), Some((key, _))) = (step, pair) {
                    return key.at;
                }
                pair.map(|(_, value)| value)
            }
            _ => None,
        };
        match next {
            Some(next) => node = next,
            None => return node.at,
        }
    }
    node.at
}

fn find_toml_span(table: &dyn TableLike, steps: &[PathStep]) -> Option<Range<usize>> {
    let (PathStep::Value(name) | PathStep::Key(name), rest) = steps.split_first()? else {
        return None;
    };
    let item = table.get(name)?;
    let here = item.span();
    match (item, rest) {
        (_, []) => here,
        (Item::Value(value), [PathStep::Item(index)]) => {
            value.as_array().and_then(|it| it.get(*index)?.span()).or(here)
        }
        (item, rest) => item.as_table_like().and_then(|it| find_toml_span(it, rest)).or(here),
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

    /// Returns the text from the position of a path to the end of its line.
    fn text_at(path: &str, text: &str, trail: &ValuePath) -> String {
        let spot = ValuePositions::parse(path, text).position_of(trail);
        let line = text.lines().nth(spot.line - 1).unwrap();
        line.chars().skip(spot.column - 1).collect()
    }

    #[test]
    fn item_positions_skip_invalid_items() {
        let text = "name: Hall\nactions:\n  - no action\n  - { label: Go, type: navigate, room: crypt }\nportals: [No Slug, attic]\n";
        let room = ValuePath::ROOT.then_value("actions").then_item(0).then_value("room");
        assert_eq!(text_at("rooms/hall.yaml", text, &room), "crypt }");
        let portal = ValuePath::ROOT.then_value("portals").then_item(0);
        assert_eq!(text_at("rooms/hall.yaml", text, &portal), "attic]");
    }

    #[test]
    fn a_text_is_found_within_its_value() {
        let room = "name: '[[a]]'\ndescription: |\n  One.\n  Two [[a]].\n";
        let link = ValuePath::ROOT.then_value("description").then_text("[[a]]");
        assert_eq!(text_at("rooms/hall.yaml", room, &link), "[[a]].");
        let other = ValuePath::ROOT.then_value("description").then_text("[[b]]");
        assert_eq!(text_at("rooms/hall.yaml", room, &other), "One.");
        let scroll = "---\ntitle: '[[a]]'\n---\n\nÄ [[a]] b";
        let link = ValuePath::ROOT.then_text("[[a]]");
        assert_eq!(text_at("scrolls/hall/a.md", scroll, &link), "[[a]] b");
    }

    #[test]
    fn a_missing_path_resolves_to_its_nearest_parent() {
        let text = "name: Hall\nactions:\n  - label: Ask\n    type: query\n    tool: t\n";
        let action = ValuePath::ROOT.then_value("actions").then_item(0);
        let genus = action.clone().then_value("tool_params").then_key("genus");
        assert_eq!(text_at("rooms/hall.yaml", text, &genus), "label: Ask");
        assert_eq!(text_at("rooms/hall.yaml", text, &action.then_value("tool")), "t");
        assert_eq!(
            text_at("rooms/hall.yaml", "name: [", &ValuePath::ROOT.then_value("name")),
            "name: ["
        );
    }

    #[test]
    fn keys_are_found_in_front_matter_and_in_settings() {
        let scroll = "---\ntitle: T\nid: x\n---\n\nbody";
        assert_eq!(text_at("scrolls/hall/a.md", scroll, &ValuePath::ROOT.then_value("id")), "x");
        let toml = "name = \"P\"\n\n[actions]\nallow = [\"a\", \"b\"]\n";
        let allow = ValuePath::ROOT.then_value("actions").then_value("allow");
        assert_eq!(text_at("palace.toml", toml, &allow.clone().then_item(1)), "\"b\"]");
        assert_eq!(text_at("palace.toml", toml, &allow.then_item(7)), "[\"a\", \"b\"]");
        assert_eq!(
            text_at("palace.toml", toml, &ValuePath::ROOT.then_value("entry")),
            "name = \"P\""
        );
    }

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
