//! Removes what a merge of texts wrote twice: a key with the same value, an item of a list.
//!
//! Only exact repetitions are removed; two lists of one key become one list with the items of both.

use std::collections::HashSet;

use serde_json::Value;

use crate::format::fields_and_body::{FieldsAndBody, edit_fields_and_body, parse_fields_and_body};
use crate::format::fix::FixedFile;
use crate::format::paths::file_kind;
use crate::format::yaml::parse_yaml;
use crate::format::{ValuePositions, has_merge_conflict, parse_file};
use crate::model::{Code, Diagnostic, FileKind, Position, ValuePath, quoted};

/// The lists in which an item that occurs twice means nothing, with the code of the finding.
const LISTS: [(&str, Code); 4] = [
    ("actions", Code::DuplicateLabel),
    ("observations", Code::DuplicateItem),
    ("relations", Code::DuplicateItem),
    ("portals", Code::DuplicateItem),
];

/// Maximum number of keys that are removed from one file.
const MAX_KEYS: usize = 50;

/// Removes what occurs twice in a file; `None` if nothing does.
pub fn remove_repeated_content(path: &str, text: &str) -> Option<FixedFile> {
    let kind = file_kind(path)?;
    let has_front_matter = matches!(kind, FileKind::Scroll | FileKind::Drawer | FileKind::Diary);
    if has_merge_conflict(text) || has_front_matter || kind == FileKind::Palace {
        return None;
    }
    let mut file = FixedFile { text: text.to_owned(), fixed: Vec::new() };
    for _ in 0..MAX_KEYS {
        let findings = parse_file(path, &file.text).findings;
        let repeated = findings.into_iter().find(|it| it.code == Code::DuplicateKey);
        let Some(finding) = repeated else { break };
        let Some(text) = without_repeated_key(&file.text, finding.at) else { break };
        file.text = text;
        file.fixed.push(finding);
    }
    let without_items = remove_repeated_items(path, &file);
    let file = without_items.unwrap_or(file);
    (!file.fixed.is_empty()).then_some(file)
}

fn remove_repeated_items(path: &str, file: &FixedFile) -> Option<FixedFile> {
    let tree = parse_fields_and_body(path, &file.text)?;
    let positions = ValuePositions::parse(path, &file.text);
    let (mut fields, mut fixed) = (tree.fields.clone(), file.fixed.clone());
    for (list, code) in LISTS {
        let Some(items) = fields.get_mut(list).and_then(Value::as_array_mut) else { continue };
        let (mut seen, mut index) = (HashSet::new(), 0);
        items.retain(|item| {
            let is_new = seen.insert(item.to_string());
            if !is_new {
                let at = positions.position_of(&ValuePath::ROOT.then_value(list).then_item(index));
                fixed.push(repeated_item_finding(path, list, (code, at), item));
            }
            index += 1;
            is_new
        });
    }
    if fields == tree.fields {
        return None;
    }
    let text = edit_fields_and_body(path, &file.text, &FieldsAndBody { fields, ..tree })?;
    Some(FixedFile { text, fixed })
}

fn repeated_item_finding(
    path: &str,
    list: &str,
    (code, at): (Code, Position),
    item: &Value,
) -> Diagnostic {
    let name = item.get("label").and_then(Value::as_str).or(item.as_str());
    let name = name.map_or_else(|| item.to_string(), str::to_owned);
    let message = format!("`{list}` has {} twice", quoted(&name));
    Diagnostic { at, ..Diagnostic::for_file(code, path, message) }
}

/// Returns the text without the key at a position, which repeats an earlier one: if both have the
/// same value, or if both have lists, which are joined.
fn without_repeated_key(text: &str, at: Position) -> Option<String> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let second = at.line - 1;
    let indent = at.column - 1;
    let key = key_of_line(lines.get(second)?, indent)?;
    let is_inside = |line: &str| line.trim().is_empty() || indent_of(line) >= indent;
    let mut above = (0..second).rev().take_while(|it| is_inside(lines[*it]));
    let first = above.find(|it| key_of_line(lines[*it], indent) == Some(key))?;
    let end_of = |start: usize| {
        let is_below = |line: &&&str| {
            let is_item = indent_of(line) == indent && line.trim_start().starts_with("- ");
            line.trim().is_empty() || indent_of(line) > indent || is_item
        };
        let end = start + 1 + lines[start + 1..].iter().take_while(is_below).count();
        let blank = lines[start + 1..end].iter().rev().take_while(|it| it.trim().is_empty());
        end - blank.count()
    };
    let blocks = [first, second].map(|start| &lines[start..end_of(start)]);
    let values = blocks.map(|block| value_of_block(block, key));
    let [Some(a), Some(b)] = values else { return None };
    let kept = match (&a, &b) {
        _ if a == b => blocks[0].concat(),
        (Value::Array(_), Value::Array(_)) => join_lists(blocks, &lines[first][..indent])?,
        _ => return None,
    };
    let before = lines[..first].concat();
    let between = lines[end_of(first)..second].concat();
    Some(before + &kept + &between + &lines[end_of(second)..].concat())
}

/// Returns the number of columns before the content of a line; the dash of a list item counts.
fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// Returns the key that begins at a column of a line, if only spaces and the dash of a list item
/// precede it.
fn key_of_line(line: &str, column: usize) -> Option<&str> {
    let (before, rest) = line.split_at_checked(column)?;
    let is_start = before.trim_matches(' ').is_empty();
    let (key, _) = rest.split_once(':').filter(|_| is_start)?;
    (!key.is_empty() && !key.starts_with([' ', '-', '#'])).then_some(key)
}

fn value_of_block(block: &[&str], key: &str) -> Option<Value> {
    let text: String = block.concat();
    let tree = parse_yaml(&text).ok()?.to_json();
    tree.get(key.trim_matches(['"', '\''])).cloned()
}

/// Joins two lists of one key: both in one line, or both with one item per line.
fn join_lists([a, b]: [&[&str]; 2], indent: &str) -> Option<String> {
    let inner = |block: &[&str]| {
        let [line] = block else { return None };
        let (_, list) = line.trim_end().split_once('[')?;
        list.strip_suffix(']').map(|it| it.trim().to_owned())
    };
    if let (Some(a_items), Some(b_items)) = (inner(a), inner(b)) {
        let (key, _) = a[0].split_once('[')?;
        return Some(format!("{key}[{a_items}, {b_items}]\n"));
    }
    let first_item = |block: &[&str]| block.get(1).map(|it| indent_of(it));
    let is_block = a[0].trim_end().ends_with(':') && b[0].trim_end().ends_with(':');
    let is_aligned = first_item(a) == first_item(b) && indent.len() <= first_item(a)?;
    (is_block && is_aligned).then(|| a.concat() + &b[1..].concat())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    const ROOM: &str = "rooms/hall.yaml";
    const ENTITY: &str = "entities/claim/stasis.yaml";

    fn fixed(path: &str, text: &str) -> String {
        let Some(file) = remove_repeated_content(path, text) else { return "-".to_owned() };
        let fixed: Vec<_> = file.fixed.iter().map(|it| format!("# {it}\n")).collect();
        file.text + &fixed.concat()
    }

    #[test]
    fn a_key_with_the_same_value_is_removed_once() {
        let text = "name: Hall\ndescription: |\n  Stone.\n\n  Dust.\nname: Hall\nportals: [a]\n";
        assert_snapshot!(fixed(ROOM, text), @"
        name: Hall
        description: |
          Stone.

          Dust.
        portals: [a]
        # rooms/hall.yaml:6:1: error[duplicate-key]: the key `name` occurs twice; the first is on line 1
        ");
        assert_eq!(fixed(ROOM, "name: Hall\nname: Porch\n"), "-");
    }

    #[test]
    fn two_lists_of_one_key_become_one() {
        assert_snapshot!(fixed(ROOM, "name: Hall\nportals: [a, b]\nportals: [a, c]\n"), @"
        name: Hall
        portals: [a, b, c]
        # rooms/hall.yaml:3:1: error[duplicate-key]: the key `portals` occurs twice; the first is on line 2
        # rooms/hall.yaml:2:17: info[duplicate-item]: `portals` has `a` twice
        ");
        let lists = "observations:\n  - One. # Mine.\nobservations:\n  - Two.\n";
        assert_snapshot!(fixed(ENTITY, &format!("name: Stasis\ngenus: Claim\n{lists}")), @"
        name: Stasis
        genus: Claim
        observations:
          - One. # Mine.
          - Two.
        # entities/claim/stasis.yaml:5:1: error[duplicate-key]: the key `observations` occurs twice; the first is on line 3
        ");
    }

    #[test]
    fn an_item_that_occurs_twice_is_removed_once() {
        let items = "observations:\n  # First.\n  - One.\n  - Two.\n  - One.\n";
        assert_snapshot!(fixed(ENTITY, &format!("name: Stasis\ngenus: Claim\n{items}")), @"
        name: Stasis
        genus: Claim
        observations:
          # First.
          - One.
          - Two.
        # entities/claim/stasis.yaml:7:5: info[duplicate-item]: `observations` has `One.` twice
        ");
        let action = "  - label: Listen\n    type: text\n    content: Tick.\n";
        let text = format!("name: Hall\nactions:\n{action}{action}");
        let kept = format!("name: Hall\nactions:\n{action}");
        assert_eq!(remove_repeated_content(ROOM, &text).unwrap().text, kept);
        assert_eq!(fixed(ROOM, &text.replacen("Tick", "Tock", 1)), "-");
    }

    #[test]
    fn a_key_of_an_item_that_occurs_twice_is_removed_once() {
        let action = "  - label: Listen\n    type: text\n    content: Tick.\n    type: text\n";
        let text = format!("name: Hall\nactions:\n{action}");
        let kept = "name: Hall\nactions:\n  - label: Listen\n    type: text\n    content: Tick.\n";
        assert_eq!(remove_repeated_content(ROOM, &text).unwrap().text, kept);
    }
}
