//! Positions of values in a file. They are computed only for files with findings, so that none need
//! be stored for all other files.

use std::ops::Range;

use toml_edit::{Document, Item, TableLike};

use crate::format::file_parser;
use crate::format::file_parser::FileParser;
use crate::format::yaml::{Node, NodeValue, parse_yaml};
use crate::format::{entity, front_matter, room, settings};
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
        found.map_or(value_start, |it| settings::position_of_byte(self.text, from + it))
    }

    fn position_of_steps(&self, steps: &[PathStep]) -> Position {
        match &self.tree {
            _ if steps.is_empty() => Position::START,
            ParsedTree::Yaml(root) => find_yaml_position(root, steps),
            ParsedTree::Toml(document) => {
                let span = find_toml_span(document.as_table(), steps);
                span.map_or(Position::START, |it| settings::position_of_byte(self.text, it.start))
            }
            ParsedTree::Unreadable => Position::START,
        }
    }
}

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
}
