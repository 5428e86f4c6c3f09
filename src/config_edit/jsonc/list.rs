//! Adds an item to a list in JSON, and removes it.

use jsonc_parser::ast::{Array, Value as Node};
use jsonc_parser::common::Ranged as _;
use serde_json::{Value, json};

use crate::config_edit::entry::ConfigError;
use crate::config_edit::jsonc::{
    DEFAULT_INDENTATION, Parsed, as_object, find_property, to_pretty_text, to_value,
};
use crate::config_edit::line::{indentation, line_end, missing_line_end, replace_ranges};

/// Adds an item at the end of the list at `path`; creates what is missing of the path.
pub(in crate::config_edit) fn insert_item(
    text: &str,
    path: &[&str],
    item: &Value,
) -> Result<String, ConfigError> {
    let parsed = Parsed::new(text)?;
    let Some(root) = &parsed.root else {
        let config = to_pretty_text(&nested(path, item), DEFAULT_INDENTATION);
        let end = line_end(text);
        return Ok(format!("{text}{}{}{end}", missing_line_end(text), config.replace('\n', end)));
    };
    let mut node = root;
    for (depth, key) in path.iter().enumerate() {
        let object = as_object(node)?;
        match find_property(object, key)? {
            Some(property) => node = &property.value,
            None => {
                let value = nested(&path[depth + 1..], item);
                return Ok(parsed.insert_property(object, key, &value).0);
            }
        }
    }
    Ok(parsed.append_to_array(as_array(node)?, item))
}

/// Removes the items of the list at `path` for which `is_removed` returns true. A list that becomes
/// empty stays.
pub(in crate::config_edit) fn remove_items(
    text: &str,
    path: &[&str],
    is_removed: impl Fn(&Value) -> bool,
) -> Result<String, ConfigError> {
    let mut text = text.to_owned();
    loop {
        let parsed = Parsed::new(&text)?;
        let Some(array) = parsed.find_array(path)? else { break };
        let Some(at) = array.elements.iter().position(|it| is_removed(&to_value(it))) else {
            break;
        };
        text = parsed.without_element(array, at);
    }
    Ok(text)
}

/// Returns a list with one item below the keys.
fn nested(path: &[&str], item: &Value) -> Value {
    path.iter().rev().fold(json!([item]), |value, key| json!({ *key: value }))
}

fn as_array<'b, 'a>(node: &'b Node<'a>) -> Result<&'b Array<'a>, ConfigError> {
    node.as_array().ok_or(ConfigError::NotEditable("it has another value where a list is expected"))
}

impl<'a> Parsed<'a> {
    fn find_array(&self, path: &[&str]) -> Result<Option<&Array<'a>>, ConfigError> {
        let Some(mut node) = self.root.as_ref() else { return Ok(None) };
        for key in path {
            match find_property(as_object(node)?, key)? {
                Some(property) => node = &property.value,
                None => return Ok(None),
            }
        }
        as_array(node).map(Some)
    }

    fn append_to_array(&self, array: &Array, item: &Value) -> String {
        let (open, close) = (array.range.start, array.range.end - 1);
        let Some(last) = array.elements.last() else {
            let outer = indentation(self.text, self.first_of_line(open)).to_owned();
            let inner = format!("{outer}{}", self.indentation_unit());
            let (end, item) = (line_end(self.text), self.pretty_value(item, &inner));
            let previous = self.token_before(close).map_or(open + 1, |it| it.range.end);
            let before_close = if self.text[previous..close].contains('\n') {
                String::new()
            } else {
                format!("{end}{outer}")
            };
            let piece = format!("{end}{inner}{item}{before_close}");
            return replace_ranges(self.text, vec![(previous..previous, &piece)]);
        };
        let (start, last_end) = (last.range().start, last.range().end);
        let comma = self.comma_after(last_end).filter(|it| it.start < close);
        let mut at = comma.as_ref().map_or(last_end, |it| it.end);
        let mut piece = match self.first_of_line(start) == start {
            true => {
                // A comment after the last item stays with it.
                at = self.token_before(close).map_or(at, |it| it.range.end);
                let indentation = indentation(self.text, start).to_owned();
                let item = self.pretty_value(item, &indentation);
                format!("{}{indentation}{item}", line_end(self.text))
            }
            false => format!(" {item}"),
        };
        let missing_comma = if comma.is_some() { "" } else { "," };
        if comma.is_some() {
            piece.push(',');
        }
        let edits = vec![(last_end..last_end, missing_comma), (at..at, piece.as_str())];
        replace_ranges(self.text, edits)
    }

    /// Deletes an element, its comma, and the white space before it.
    fn without_element(&self, array: &Array, at: usize) -> String {
        let range = array.elements[at].range();
        let from = self.token_before(range.start).map_or(range.start, |it| it.range.end);
        let mut edits = vec![(from..range.end, "")];
        let following = self.comma_after(range.end).filter(|it| it.start < array.range.end);
        match following {
            Some(comma) => edits.push((comma, "")),
            // The comma before ends where the white space begins.
            None => edits.extend(self.comma_before(range.start).map(|it| (it, ""))),
        }
        replace_ranges(self.text, edits)
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    const PATH: [&str; 2] = ["permissions", "allow"];

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
}
