//! Renders items, and the differences between two states of a palace, as JSON.

use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Map, Value, json};

use crate::model::{
    Action, ActionKind, ChangeDetail, ChangeKind, DiffLine, DiffWords, FileHistory, ItemDiff,
    ItemElement, ItemId, ItemOrFile, NavigationTarget, Relation,
};
use crate::render::palace_diff::change_summary;

/// Renders one item that differs.
pub fn item_diff_json(diff: &ItemDiff) -> Value {
    let (change, details) = match &diff.change {
        ChangeKind::Added(details) => ("added", details),
        ChangeKind::Removed(details) => ("removed", details),
        ChangeKind::Changed(details) => ("changed", details),
    };
    let (kind, name) = item_kind_and_name(&diff.item);
    json!({
        "kind": kind,
        "name": name,
        "files": diff.files,
        "change": change,
        "summary": change_summary(&diff.change),
        "details": details.iter().map(detail_json).collect::<Vec<_>>(),
    })
}

/// Returns the kind of an item, and its name: that of a room is its wing and slug, that of a file
/// its path.
pub fn item_kind_and_name(item: &ItemOrFile) -> (&'static str, String) {
    match item {
        ItemOrFile::Settings => ("settings", "palace.toml".to_owned()),
        ItemOrFile::File(path) => ("file", path.clone()),
        ItemOrFile::Item { id, title } => {
            let name = match id {
                ItemId::Room(id) => id.to_string(),
                ItemId::Entity(name) | ItemId::Genus(name) => name.clone(),
                ItemId::Scroll(which) => title.clone().unwrap_or_else(|| which.id.to_string()),
                ItemId::Task(path)
                | ItemId::Process(path)
                | ItemId::Drawer(path)
                | ItemId::Diary(path) => title.as_ref().unwrap_or(path).clone(),
            };
            (id.kind().name(), name)
        }
    }
}

/// Renders an action with the keys of a room file.
pub fn action_json(action: &Action) -> Value {
    let label = &action.label;
    match &action.kind {
        ActionKind::Navigate(NavigationTarget { room, workspace: None }) => {
            json!({ "label": label, "type": "navigate", "room": room.to_string() })
        }
        ActionKind::Navigate(NavigationTarget { room, workspace: Some(workspace) }) => {
            let room = room.to_string();
            json!({ "label": label, "type": "navigate", "room": room, "workspace": workspace })
        }
        ActionKind::Query { tool, params } => {
            json!({ "label": label, "type": "query", "tool": tool, "tool_params": params })
        }
        ActionKind::ShowEntity { entity } => {
            json!({ "label": label, "type": "query", "entity": entity })
        }
        ActionKind::Text { content } => {
            json!({ "label": label, "type": "text", "content": content })
        }
        // No file contains one.
        ActionKind::EnterHall(_) => json!({ "label": label }),
    }
}

/// Renders a relation with the keys of an entity file.
pub fn relation_json(relation: &Relation) -> Value {
    let Relation { kind, to, since, until, source, .. } = relation;
    json!({ "type": kind, "to": to, "since": since, "until": until, "source": source })
}

fn detail_json(detail: &ChangeDetail) -> Value {
    match detail {
        ChangeDetail::Moved { from } => json!({ "type": "moved", "from": from.to_string() }),
        ChangeDetail::Renamed { from, to } => json!({ "type": "renamed", "from": from, "to": to }),
        ChangeDetail::Replaces { title, written } => {
            let written = written.to_rfc3339_opts(SecondsFormat::Secs, true);
            json!({ "type": "replaces", "title": title, "written": written })
        }
        ChangeDetail::TextChanged { of, count, lines } => {
            let lines: Vec<_> = lines.iter().flat_map(diff_line_json).collect();
            json!({ "type": "text", "of": of, "changed_lines": count, "lines": lines })
        }
        ChangeDetail::ValueChanged { of, was, now } => {
            json!({ "type": "value", "of": of, "was": was, "now": now })
        }
        ChangeDetail::PartAdded(it) => part_change_json(None, Some(it)),
        ChangeDetail::PartRemoved(it) => part_change_json(Some(it), None),
        ChangeDetail::PartChanged { was, now } => part_change_json(Some(was), Some(now)),
        ChangeDetail::RelationChanged { was, now } => {
            let (was, now) = (relation_json(was), relation_json(now));
            json!({ "type": "part", "of": "relation", "was": was, "now": now })
        }
        ChangeDetail::PartsReordered(all) => json!({ "type": "order", "of": all }),
        ChangeDetail::Unreadable { before, why } => {
            json!({ "type": "unreadable", "before": before, "why": why })
        }
    }
}

fn part_change_json(was: Option<&ItemElement>, now: Option<&ItemElement>) -> Value {
    let of = match was.or(now) {
        Some(ItemElement::Action(_)) => "action",
        Some(ItemElement::Portal(_)) => "portal",
        Some(ItemElement::Observation(_)) => "observation",
        Some(ItemElement::Relation(_)) => "relation",
        Some(ItemElement::Step(_)) => "step",
        None => "",
    };
    json!({ "type": "part", "of": of, "was": was.map(part_json), "now": now.map(part_json) })
}

fn part_json(part: &ItemElement) -> Value {
    match part {
        ItemElement::Action(it) => action_json(it),
        ItemElement::Relation(it) => relation_json(it),
        ItemElement::Portal(text) | ItemElement::Observation(text) | ItemElement::Step(text) => {
            json!(text)
        }
    }
}

/// Renders a line; one of which some words were changed as two.
fn diff_line_json(line: &DiffLine) -> Vec<Value> {
    let lines = |op: &str, text: &str| vec![json!({ "op": op, "text": text })];
    match line {
        DiffLine::Kept(text) => lines("kept", text),
        DiffLine::Removed(text) => lines("removed", text),
        DiffLine::Added(text) => lines("added", text),
        DiffLine::Changed(words) => {
            let (was, now) = both_versions(words);
            [lines("removed", &was), lines("added", &now)].concat()
        }
        DiffLine::Omitted(count) => vec![json!({ "op": "omitted", "count": count })],
    }
}

/// Returns the earlier and the later version of a line.
fn both_versions(words: &[DiffWords]) -> (String, String) {
    let (mut was, mut now) = (String::new(), String::new());
    for it in words {
        if let DiffWords::Kept(text) | DiffWords::Removed(text) = it {
            was.push_str(text);
        }
        if let DiffWords::Kept(text) | DiffWords::Added(text) = it {
            now.push_str(text);
        }
    }
    (was, now)
}

/// Renders the content of an item: its values and texts by name, its parts in lists. `added` are
/// the details of the item as one that was added.
pub fn item_content_json(added: &[ChangeDetail]) -> Value {
    let mut content = Map::new();
    for detail in added {
        match detail {
            ChangeDetail::ValueChanged { of, now, .. } => {
                content.insert(of.clone(), json!(now));
            }
            ChangeDetail::TextChanged { of, lines, .. } => {
                let added = lines.iter().filter_map(|it| match it {
                    DiffLine::Added(line) => Some(line.as_str()),
                    _ => None,
                });
                let name = if of.is_empty() { "text" } else { of.as_str() };
                content.insert(name.to_owned(), json!(added.collect::<Vec<_>>().join("\n")));
            }
            ChangeDetail::PartAdded(part) => {
                let (list, value) = listed_part_json(part);
                let list = content.entry(list).or_insert_with(|| json!([]));
                list.as_array_mut().into_iter().for_each(|it| it.push(value.clone()));
            }
            _ => {}
        }
    }
    Value::Object(content)
}

/// Renders the versions of a file.
pub fn file_history_json(history: Option<FileHistory>) -> Value {
    history.map_or(Value::Null, |FileHistory { count, created, updated, .. }| {
        json!({ "count": count, "created": time_json(created), "changed": time_json(updated) })
    })
}

fn listed_part_json(part: &ItemElement) -> (&'static str, Value) {
    match part {
        ItemElement::Action(it) => ("actions", action_json(it)),
        ItemElement::Portal(room) => ("portals", json!(room)),
        ItemElement::Observation(text) => ("observations", json!(text)),
        ItemElement::Relation(it) => ("relations", relation_json(it)),
        ItemElement::Step(text) => ("steps", json!(text)),
    }
}

fn time_json(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Secs, true)
}
