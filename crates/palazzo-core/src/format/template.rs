//! Makes the files of a new palace from those of a template: replaces variables, ids and times.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use serde_json::Value;
use ulid::Ulid;

use crate::format::fmt::TIME_KEYS;
use crate::format::front_matter::{split_front_matter, time_to_text};
use crate::format::parsed_file::ParsedItem;
use crate::format::yaml::{Node, NodeValue, one_line_scalar, parse_yaml};
use crate::format::{PalacePath, parse_file, parse_palace, settings};
use crate::model::{Code, Diagnostic, Files, Position, Slug};

/// The number of characters of a ULID.
const ULID_CHARS: usize = 26;

/// Replaces the variables in the files of a template and in their paths, `{{name}}` by the value
/// and `{{name.slug}}` by its slug, and removes the settings that only the template has. Returns a
/// finding for a file in which a variable cannot be replaced.
pub fn fill_template(
    files: &Files,
    values: &BTreeMap<String, String>,
) -> Result<Files, Diagnostic> {
    let mut filled = Files::new();
    for (path, text) in &with_entry_room(files) {
        let slug =
            |name: &str| Some(slug_of(values.get(name.strip_suffix(".slug").unwrap_or(name))?));
        let new_path = fill_text(path, &slug);
        let new_text = fill_file(path, text, values)?;
        if filled.insert(new_path.clone(), new_text).is_some() {
            let message = format!("another file of the template is also called `{new_path}`");
            return Err(Diagnostic::for_file(Code::FileName, path, message));
        }
    }
    Ok(filled)
}

/// Replaces the id of every item, in its file, in the file's name and wherever another file
/// mentions it. `new_id` is called once for each, in the order of the old ids.
pub fn renew_ids(files: &Files, mut new_id: impl FnMut() -> Ulid) -> Files {
    let ids: BTreeSet<_> =
        files.iter().flat_map(|(path, text)| ids_of_file(path, text)).flatten().collect();
    let ids: BTreeMap<_, _> = ids.into_iter().map(|it| (it, new_id())).collect();
    let renew = |text: &String| replace_ids(text, &ids);
    files.iter().map(|(path, text)| (renew(path), renew(text))).collect()
}

/// Sets the times at which scrolls, drawers and diary entries were written, and tasks and
/// processes were done, to `now`.
pub fn renew_times(files: &Files, now: DateTime<Utc>) -> Files {
    let now = time_to_text(now);
    let renew = |path: &String, text: &String| {
        let head = dated_yaml(path, text)?;
        let node = parse_yaml(head).ok()?;
        let NodeValue::Map(pairs) = &node.value else { return None };
        let times = pairs.iter().filter(|(key, it)| {
            TIME_KEYS.contains(&key.text.as_str()) && matches!(it.value, NodeValue::Scalar { .. })
        });
        let edits = times.map(|(_, it)| (it.at, it.end, now.clone())).collect();
        Some(text.replacen(head, &replace_spans(head, edits)?, 1))
    };
    let renewed = files
        .iter()
        .map(|(path, text)| (path.clone(), renew(path, text).unwrap_or_else(|| text.clone())));
    renewed.collect()
}

/// Returns the files with the entry room in the settings. A template that names none begins in its
/// first room, and the rooms that variables name must not change that.
fn with_entry_room(files: &Files) -> Files {
    let mut files = files.clone();
    let (palace, _) = parse_palace("template", &files);
    if let (Some(settings), Some(entry)) =
        (files.get_mut(PalacePath::SETTINGS_FILE), palace.entry_room())
        && let Some(named) = settings::with_entry_if_none(settings, &entry.to_string())
    {
        *settings = named;
    }
    files
}

fn fill_file(
    path: &str,
    text: &str,
    values: &BTreeMap<String, String>,
) -> Result<String, Diagnostic> {
    let value_of = |name: &str| match name.strip_suffix(".slug") {
        Some(name) => values.get(name).map(|it| slug_of(it)),
        None => values.get(name).cloned(),
    };
    if path == PalacePath::SETTINGS_FILE {
        let entry = |entry: &str| fill_text(entry, &value_of);
        return settings::settings_from_template(text, entry)
            .ok_or_else(|| Diagnostic::for_file(Code::Syntax, path, "this is not TOML"));
    }
    if fill_text(text, &value_of) == text {
        return Ok(text.to_owned());
    }
    match (path.strip_suffix(".yaml"), split_front_matter(text)) {
        (Some(_), _) => fill_yaml(path, text, &value_of),
        (None, None) => Ok(fill_text(text, &value_of)),
        (None, Some((head, body))) => {
            let head = fill_yaml(path, head, &value_of)?;
            Ok(format!("---\n{head}---\n\n{}", fill_text(body, &value_of)))
        }
    }
}

/// Replaces the variables in a text; what is not the name of a variable stays.
fn fill_text(text: &str, value_of: &dyn Fn(&str) -> Option<String>) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        filled.push_str(before);
        let variable = after.split_once("}}");
        match variable.and_then(|(name, after)| Some((value_of(name.trim())?, after))) {
            Some((value, after)) => {
                filled.push_str(&value);
                rest = after;
            }
            None => {
                filled.push_str("{{");
                rest = after;
            }
        }
    }
    filled + rest
}

/// Replaces the variables in YAML, with quotes where the values need them.
fn fill_yaml(
    path: &str,
    text: &str,
    value_of: &dyn Fn(&str) -> Option<String>,
) -> Result<String, Diagnostic> {
    let finding =
        |at, message| Diagnostic { at, ..Diagnostic::for_file(Code::Syntax, path, message) };
    let node = parse_yaml(text).map_err(|err| {
        let message = format!("{}; write values with `{{{{` in quotes", err.message);
        finding(err.at, message)
    })?;
    let mut edits = Vec::new();
    collect_scalar_edits(&node, value_of, &mut edits);
    // The text outside of these scalars is block text and comments, which need no quotes.
    let filled = replace_spans(text, edits).map(|it| fill_text(&it, value_of));
    let expected = fill_json(node.to_json(), value_of);
    let is_expected = |it: &String| parse_yaml(it).is_ok_and(|it| it.to_json() == expected);
    filled.filter(is_expected).ok_or_else(|| {
        let message =
            "a variable cannot be replaced in this file: write it in quotes, and not in a key";
        finding(Position::START, message.to_owned())
    })
}

/// Collects the scalars on one line that contain a variable, with their new text.
fn collect_scalar_edits(
    node: &Node,
    value_of: &dyn Fn(&str) -> Option<String>,
    edits: &mut Vec<(Position, Position, String)>,
) {
    match &node.value {
        NodeValue::Scalar { text, .. } => {
            let filled = fill_text(text, value_of);
            if node.is_flow && filled != *text {
                edits.push((node.at, node.end, one_line_scalar(&filled)));
            }
        }
        NodeValue::List(items) => {
            for item in items {
                collect_scalar_edits(item, value_of, edits);
            }
        }
        NodeValue::Map(pairs) => {
            for (_, value) in pairs {
                collect_scalar_edits(value, value_of, edits);
            }
        }
    }
}

fn fill_json(value: Value, value_of: &dyn Fn(&str) -> Option<String>) -> Value {
    match value {
        Value::String(text) => Value::String(fill_text(&text, value_of)),
        Value::Array(items) => items.into_iter().map(|it| fill_json(it, value_of)).collect(),
        Value::Object(pairs) => {
            pairs.into_iter().map(|(key, it)| (key, fill_json(it, value_of))).collect()
        }
        value => value,
    }
}

/// Replaces spans of a text, which are in order; `None` if a span is not in the text.
fn replace_spans(text: &str, spans: Vec<(Position, Position, String)>) -> Option<String> {
    let lines: Vec<_> =
        std::iter::once(0).chain(text.match_indices('\n').map(|(byte, _)| byte + 1)).collect();
    let byte_of = |at: Position| {
        let start = *lines.get(at.line.checked_sub(1)?)?;
        let rest = text.get(start..)?;
        let column = rest.char_indices().map(|it| it.0).chain([rest.len()]).nth(at.column - 1)?;
        Some(start + column)
    };
    let (mut replaced, mut end) = (String::new(), 0);
    for (from, to, new) in spans {
        replaced.push_str(text.get(end..byte_of(from)?)?);
        replaced.push_str(&new);
        end = byte_of(to)?;
    }
    replaced.push_str(text.get(end..)?);
    Some(replaced)
}

/// Returns the id in the name of a file, and the one in the file.
fn ids_of_file(path: &str, text: &str) -> [Option<Ulid>; 2] {
    let name = path.rsplit('/').next().unwrap_or_default();
    let inside = match parse_file(path, text).item {
        Some(ParsedItem::Room(_, it)) => it.id,
        Some(ParsedItem::Entity(it)) => it.id,
        Some(ParsedItem::Scroll(_, it)) => Some(it.id),
        Some(ParsedItem::Drawer(_, it)) => Some(it.id),
        Some(ParsedItem::DiaryEntry(_, it)) => Some(it.id),
        _ => None,
    };
    [name.get(..ULID_CHARS).and_then(|it| it.parse().ok()), inside]
}

/// Replaces the ids that stand alone in a text: not as a part of a longer word.
fn replace_ids(text: &str, ids: &BTreeMap<Ulid, Ulid>) -> String {
    let mut replaced = String::with_capacity(text.len());
    let words = text.split_inclusive(|it: char| !it.is_ascii_alphanumeric());
    for part in words {
        let word = part.trim_end_matches(|it: char| !it.is_ascii_alphanumeric());
        let id = Some(word).filter(|it| it.len() == ULID_CHARS).and_then(|it| it.parse().ok());
        match id.and_then(|it: Ulid| ids.get(&it)) {
            Some(new) => replaced.push_str(&format!("{new}{}", &part[word.len()..])),
            None => replaced.push_str(part),
        }
    }
    replaced
}

/// Returns the YAML of a file that may contain the time at which it was written.
fn dated_yaml<'t>(path: &str, text: &'t str) -> Option<&'t str> {
    match PalacePath::parse(path).ok()? {
        PalacePath::Scroll(_) | PalacePath::Drawer(_) | PalacePath::Diary(_) => {
            split_front_matter(text).map(|it| it.0)
        }
        PalacePath::Task | PalacePath::Process => Some(text),
        _ => None,
    }
}

fn slug_of(value: &str) -> String {
    Slug::from_text_or_kind(value, "unnamed").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD_ID: &str = "01KH1B52XCWPR7HNREBYABVDT7";

    fn files(all: &[(&str, &str)]) -> Files {
        all.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
    }

    fn fill(all: &[(&str, &str)], value: &str) -> Result<Files, String> {
        let values = BTreeMap::from([("project".to_owned(), value.to_owned())]);
        fill_template(&files(all), &values).map_err(|it| it.to_string())
    }

    #[test]
    fn variables_are_replaced_in_texts_names_and_paths() {
        let filled = fill(
            &[
                (
                    "rooms/{{project}}.yaml",
                    "name: Hall of {{project}}\ndescription: |\n  {{ project }} {{other}} {{\n",
                ),
                (
                    "scrolls/{{project.slug}}/a.md",
                    "---\ntitle: \"{{project}}\"\n---\n\nIn {{project}}.\n",
                ),
                ("rooms/hall.yaml", "portals: [\"{{project.slug}}\"]\n"),
            ],
            "Große Küche",
        );
        let expected = files(&[
            (
                "rooms/grosse-kuche.yaml",
                "name: Hall of Große Küche\ndescription: |\n  Große Küche {{other}} {{\n",
            ),
            ("scrolls/grosse-kuche/a.md", "---\ntitle: Große Küche\n---\n\nIn Große Küche.\n"),
            ("rooms/hall.yaml", "portals: [grosse-kuche]\n"),
        ]);
        assert_eq!(filled, Ok(expected));
    }

    #[test]
    fn the_first_room_of_a_template_stays_the_entry() {
        let rooms = [("rooms/kitchen.yaml", "name: K\n"), ("rooms/{{project}}.yaml", "name: P\n")];
        let fill_settings = |settings: &str| {
            let files = [&rooms[..], &[("palace.toml", settings)]].concat();
            fill(&files, "Atlas").unwrap()["palace.toml"].clone()
        };
        let without = "# Ours\nname = \"T\"\n\n[menu]\nlayout = \"wide\"\n";
        let with = without.replace("\"T\"\n", "\"T\"\nentry = \"kitchen\"\n");
        assert_eq!(fill_settings(without), with);
        let named = "name = \"T\"\nentry = \"{{project.slug}}\"\n";
        assert_eq!(fill_settings(named), "name = \"T\"\nentry = \"atlas\"\n");
    }

    #[test]
    fn a_value_with_yaml_syntax_is_quoted() {
        let text = "name: The {{project}}\nactions: [{ label: \"Ask {{project}}\", type: text }]\n# {{project}}\n";
        for value in ["a: b", "# c", "\"x\" 'y'", "]", "12", "true, \\n", "- a"] {
            let filled = fill(&[("rooms/a.yaml", text)], value).unwrap();
            let node = parse_yaml(&filled["rooms/a.yaml"]).unwrap().to_json();
            assert_eq!(node["name"], format!("The {value}"));
            assert_eq!(node["actions"][0]["label"], format!("Ask {value}"));
        }
        let filled = fill(&[("rooms/a.yaml", "name: \"{{project}}\"\n")], "12").unwrap();
        assert_eq!(parse_yaml(&filled["rooms/a.yaml"]).unwrap().to_json()["name"], "12");
    }

    #[test]
    fn a_variable_where_none_can_be_replaced_is_refused_with_its_place() {
        let refused = fill(&[("rooms/a.yaml", "name: {{project}}\n")], "A").unwrap_err();
        assert!(refused.starts_with("rooms/a.yaml:1:"), "{refused}");
        assert!(refused.contains("in quotes"), "{refused}");
        let refused = fill(&[("entities/a.yaml", "attributes:\n  \"{{project}}\": 1\n")], "A");
        assert!(refused.unwrap_err().contains("not in a key"));
        let refused = fill(&[("rooms/{{project}}.yaml", ""), ("rooms/a.yaml", "")], "A");
        assert!(refused.unwrap_err().contains("also called `rooms/a.yaml`"));
    }

    #[test]
    fn every_id_is_replaced_with_what_refers_to_it() {
        let old = files(&[
            ("rooms/a.yaml", &format!("id: {OLD_ID}\nname: A\n")),
            ("tasks/01KH2ZA5SY7T07HWG7Z5K1TM7M.yaml", "title: T\n"),
            (
                "scrolls/a/01KBBBBBBBBBBBBBBBBBBBBBBB-x.md",
                &format!(
                    "---\nid: 01KBBBBBBBBBBBBBBBBBBBBBBB\n---\n\nIn {OLD_ID}, {OLD_ID}0, 01KH2ZA5SY7T07HWG7Z5K1TM70\n"
                ),
            ),
        ]);
        let mut count = 0;
        let renewed = renew_ids(&old, || {
            count += 1;
            Ulid::from(count)
        });
        let [first, second, third] = [1_u128, 2, 3].map(|it| Ulid::from(it).to_string());
        let expected = files(&[
            ("rooms/a.yaml", &format!("id: {second}\nname: A\n")),
            (&format!("tasks/{third}.yaml"), "title: T\n"),
            (
                &format!("scrolls/a/{first}-x.md"),
                &format!(
                    "---\nid: {first}\n---\n\nIn {second}, {OLD_ID}0, 01KH2ZA5SY7T07HWG7Z5K1TM70\n"
                ),
            ),
        ]);
        assert_eq!(renewed, expected);
    }

    #[test]
    fn times_of_writing_become_the_present() {
        let old = files(&[
            (
                "scrolls/a/b.md",
                "---\ntitle: T\nwritten: 2020-01-01 # then\n---\n\nwritten: 2020-01-01\n",
            ),
            ("entities/a.yaml", "attributes:\n  written: 2020-01-01\n"),
            ("tasks/a.yaml", "title: T\ndone: 2020-01-01T00:00:00Z\n"),
        ]);
        let renewed = renew_times(&old, "2026-03-01T12:00:00Z".parse().unwrap());
        let expected = files(&[
            (
                "scrolls/a/b.md",
                "---\ntitle: T\nwritten: 2026-03-01T12:00:00Z # then\n---\n\nwritten: 2020-01-01\n",
            ),
            ("entities/a.yaml", "attributes:\n  written: 2020-01-01\n"),
            ("tasks/a.yaml", "title: T\ndone: 2026-03-01T12:00:00Z\n"),
        ]);
        assert_eq!(renewed, expected);
    }
}
