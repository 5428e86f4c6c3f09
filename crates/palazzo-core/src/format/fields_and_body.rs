//! The fields and the body of a file, for merging: with all keys, also those that this version does
//! not know, and without regard to layout and comments.

use serde_json::{Map, Value};
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike};

use crate::format::file_edits::edit_yaml_text;
use crate::format::paths::file_kind;
use crate::format::schema::{ensure_modeline, split_modeline};
use crate::format::yaml::{OutputNode, parse_yaml, serialize_yaml};
use crate::format::{FmtOutcome, fmt_file, front_matter};
use crate::model::FileKind;

/// The keys with dates, times and ids as values, which are written without quotes.
const PLAIN_KEYS: [&str; 6] = ["id", "since", "until", "written", "filed", "done"];

/// The keys with any value, in which null is written out.
const FREE_KEYS: [&str; 4] = ["attributes", "tool_params", "stands", "other"];

/// The content of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldsAndBody {
    /// The fields; of a Markdown file, those of its front matter.
    pub fields: Map<String, Value>,
    /// The text after the front matter of a Markdown file.
    pub body: Option<String>,
}

/// Parses a file as a tree; `None` if its syntax is wrong, or its kind unknown.
pub fn parse_fields_and_body(path: &str, text: &str) -> Option<FieldsAndBody> {
    let yaml = |text: &str| match parse_yaml(text).ok()?.to_json() {
        Value::Object(fields) => Some(fields),
        _ => None,
    };
    match file_kind(path)? {
        FileKind::Palace => Some(FieldsAndBody { fields: parse_toml_tree(text)?, body: None }),
        kind @ (FileKind::Scroll | FileKind::Drawer | FileKind::Diary) => {
            match front_matter::split_front_matter(text) {
                Some((matter, body)) => {
                    Some(FieldsAndBody { fields: yaml(matter)?, body: Some(body.to_owned()) })
                }
                None if kind == FileKind::Scroll => None,
                None => Some(FieldsAndBody { fields: Map::new(), body: Some(text.to_owned()) }),
            }
        }
        _ => Some(FieldsAndBody { fields: yaml(text)?, body: None }),
    }
}

/// Changes a file to the content `now`, and keeps the author's formatting and comments; `None` if
/// that is impossible.
pub fn edit_fields_and_body(path: &str, text: &str, now: &FieldsAndBody) -> Option<String> {
    let was = parse_fields_and_body(path, text)?;
    if was == *now {
        return Some(text.to_owned());
    }
    let edited = match file_kind(path)? {
        FileKind::Palace => edit_toml_tree(text, &was.fields, &now.fields)?,
        FileKind::Scroll | FileKind::Drawer | FileKind::Diary => {
            let Some((matter, body)) = front_matter::split_front_matter(text) else {
                return serialize_tree(path, now);
            };
            let start = matter.as_ptr() as usize - text.as_ptr() as usize;
            let middle = &text[start + matter.len()..text.len() - body.len()];
            let matter = edit_fields(matter, &was.fields, &now.fields)?;
            let body = now.body.as_deref().unwrap_or_default();
            format!("{}{matter}{middle}{body}", &text[..start])
        }
        _ => edit_fields(text, &was.fields, &now.fields)?,
    };
    (parse_fields_and_body(path, &edited).as_ref() == Some(now)).then_some(edited)
}

/// Writes a file: in canonical form, if all its keys are known. `None` if the text would not parse
/// to the same content.
pub fn serialize_tree(path: &str, tree: &FieldsAndBody) -> Option<String> {
    let kind = file_kind(path)?;
    let text = match kind {
        FileKind::Palace => edit_toml_tree("", &Map::new(), &tree.fields)?,
        _ => serialize_yaml(&fields_to_yaml(&tree.fields)),
    };
    let text = match &tree.body {
        Some(body) if tree.fields.is_empty() => body.clone(),
        Some(body) => format!("---\n{text}---\n\n{body}"),
        None if kind == FileKind::Palace => text,
        None => ensure_modeline(path, &text),
    };
    let canonical = match fmt_file(path, &text) {
        Some(FmtOutcome::Formatted(canonical)) => canonical,
        _ => text.clone(),
    };
    let is_meant = |it: &String| parse_fields_and_body(path, it).as_ref() == Some(tree);
    [canonical, text].into_iter().find(is_meant)
}

fn edit_fields(text: &str, was: &Map<String, Value>, now: &Map<String, Value>) -> Option<String> {
    if was == now && was.keys().eq(now.keys()) {
        return Some(text.to_owned());
    }
    let wanted: Value = now.clone().into();
    edit_yaml_text(text, &fields_to_yaml(was), &fields_to_yaml(now), |it| {
        parse_yaml(split_modeline(it).1).is_ok_and(|it| it.to_json() == wanted)
    })
}

/// Returns the fields of a file in the style in which tools write them.
fn fields_to_yaml(fields: &Map<String, Value>) -> OutputNode {
    let pairs = fields.iter().map(|(key, value)| (key.clone(), field_to_yaml(key, value)));
    OutputNode::DynamicMap(pairs.collect())
}

fn field_to_yaml(key: &str, value: &Value) -> OutputNode {
    let has_any_value = FREE_KEYS.contains(&key);
    match value {
        Value::Object(map) if !has_any_value => fields_to_yaml(map),
        Value::Array(items) if !has_any_value => {
            OutputNode::List(items.iter().map(item_to_yaml).collect())
        }
        Value::Null => OutputNode::Plain(String::new()),
        _ => value_to_yaml(key, value),
    }
}

fn item_to_yaml(item: &Value) -> OutputNode {
    match item {
        Value::Object(map) => fields_to_yaml(map),
        _ => value_to_yaml("", item),
    }
}

fn value_to_yaml(key: &str, value: &Value) -> OutputNode {
    match value {
        Value::String(text) if PLAIN_KEYS.contains(&key) && is_plain_word(text) => {
            OutputNode::Plain(text.clone())
        }
        Value::Array(items) => {
            OutputNode::List(items.iter().map(|it| value_to_yaml("", it)).collect())
        }
        Value::Object(map) => {
            let pairs = map.iter().map(|(key, it)| (key.clone(), value_to_yaml(key, it)));
            OutputNode::DynamicMap(pairs.collect())
        }
        _ => OutputNode::from_json(value),
    }
}

/// Returns whether a date, a time or an id is read as the same text without quotes.
fn is_plain_word(text: &str) -> bool {
    let is_allowed = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | ':' | '+' | '.');
    text.starts_with(|it: char| it.is_ascii_digit())
        && text.chars().all(is_allowed)
        && !text.ends_with(':')
        && parse_yaml(&format!("v: {text}\n")).is_ok_and(|it| it.to_json()["v"] == text)
}

/// Parses a text as a tree; `None` if it is not TOML. A date is a text.
fn parse_toml_tree(text: &str) -> Option<Map<String, Value>> {
    let document: DocumentMut = text.trim_start_matches('\u{feff}').parse().ok()?;
    Some(table_to_json(document.as_table()))
}

/// Changes a text from the content `was` to the content `now`, and keeps all else as written.
fn edit_toml_tree(
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
    use std::fs;
    use std::path::Path;

    use serde_json::json;

    use super::*;

    /// Calls `check` with the path and the text of each file of the example palaces.
    fn for_each_example_file(root: &Path, folder: &Path, check: &mut dyn FnMut(&str, &str)) {
        for place in fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()) {
            if place.is_dir() {
                for_each_example_file(root, &place, check);
            } else if let Ok(text) = fs::read_to_string(&place) {
                let path = place.strip_prefix(root).unwrap().to_str().unwrap();
                check(&path.replace('\\', "/"), &text);
            }
        }
    }

    #[test]
    fn canonical_files_are_written_as_they_were_read() {
        let mut count = 0;
        for palace in fs::read_dir("../../example-palaces").unwrap().map(|it| it.unwrap().path()) {
            for_each_example_file(&palace, &palace, &mut |path, text| {
                let Some(tree) = parse_fields_and_body(path, text) else { return };
                assert_eq!(
                    edit_fields_and_body(path, text, &tree).as_deref(),
                    Some(text),
                    "{path}"
                );
                let is_canonical = fmt_file(path, text) == Some(FmtOutcome::Unchanged);
                if is_canonical && !text.contains('#') {
                    let written = serialize_tree(path, &tree).unwrap();
                    assert_eq!(split_modeline(&written).1, text, "{path}");
                    count += 1;
                }
            });
        }
        assert!(count > 50, "only {count} files");
    }

    #[test]
    fn an_edit_keeps_comments_and_other_keys() {
        let text = "name: Hall # ours\nlight: { north: 1 } # new\nactions:\n- { label: Look, type: text }\n";
        let mut tree = parse_fields_and_body("rooms/hall.yaml", text).unwrap();
        tree.fields["light"]["south"] = json!(2);
        tree.fields["actions"]
            .as_array_mut()
            .unwrap()
            .push(json!({ "label": "Go", "type": "navigate", "room": "attic" }));
        let edited = edit_fields_and_body("rooms/hall.yaml", text, &tree).unwrap();
        insta::assert_snapshot!(edited, @"
        name: Hall # ours
        light: { north: 1, south: 2 } # new
        actions:
        - { label: Look, type: text }
        - label: Go
          type: navigate
          room: attic
        ");
    }

    #[test]
    fn an_edit_keeps_brackets_and_what_is_in_them() {
        let text = "name: Ada\ngenus: Person\nformer_names: ['A', B] # so far\n\
                    attributes: {born:  1815, tags: [x,  y], empty: []}\nrelations:\n\
                    - {type: met,  to: Bob} # in town\n";
        let mut tree = parse_fields_and_body("entities/person/ada.yaml", text).unwrap();
        let fields = &mut tree.fields;
        let add = |list: &mut serde_json::Value, it| list.as_array_mut().unwrap().push(it);
        add(&mut fields["former_names"], json!("C: the third"));
        add(&mut fields["attributes"]["tags"], json!("z"));
        add(&mut fields["attributes"]["empty"], json!({ "k": ["v"] }));
        fields["attributes"]["more"] = json!({ "a": [1, { "b": "two\nlines" }] });
        add(&mut fields["relations"], json!({ "type": "met", "to": "Carol" }));
        fields["relations"][0]["since"] = json!("1833");
        let edited = edit_fields_and_body("entities/person/ada.yaml", text, &tree).unwrap();
        insta::assert_snapshot!(edited, @r#"
        name: Ada
        genus: Person
        former_names: ['A', B, "C: the third"] # so far
        attributes: {born:  1815, tags: [x,  y,  z], empty: [{ k: [v] }], more: { a: [1, { b: "two\nlines" }] }}
        relations:
        - {type: met,  to: Bob,  since: "1833"} # in town
        - type: met
          to: Carol
        "#);
    }

    #[test]
    fn front_matter_is_edited_and_the_body_stays() {
        let text = "---\ntitle: T # ours\nwritten: 2026-03-01\n---\n\nBody.\n---\n";
        let mut tree = parse_fields_and_body("scrolls/a/b.md", text).unwrap();
        assert_eq!(tree.body.as_deref(), Some("Body.\n---\n"));
        tree.fields["title"] = json!("U");
        let edited = edit_fields_and_body("scrolls/a/b.md", text, &tree);
        assert_eq!(edited.as_deref(), Some(text.replace("title: T", "title: U").as_str()));
    }

    #[test]
    fn a_file_that_cannot_be_parsed_has_no_tree() {
        for (path, text) in [
            ("rooms/a.yaml", "name: ["),
            ("scrolls/a/b.md", "no front matter"),
            ("palace.toml", "name = ["),
            ("notes.md", "text"),
        ] {
            assert_eq!(parse_fields_and_body(path, text), None, "{path}");
        }
    }

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
