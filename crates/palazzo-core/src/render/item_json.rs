//! Renders items and the map of a palace as JSON.

use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Map, Value, json};

use crate::model::{
    ActionKind, ChangeDetail, DiffLine, FileHistory, ItemElement, NavigationTarget, RoomId,
};
use crate::render::MapView;
use crate::render::diff_json::{action_json, relation_json};

/// Renders the content of an item: its values and texts by name, its parts in lists. `added` are
/// the details of the item as one that was added.
pub fn item_content_json(added: &[ChangeDetail]) -> Value {
    let mut content = Map::new();
    for detail in added {
        match detail {
            ChangeDetail::ValueChanged { of, now, .. } => {
                content.insert(of.clone(), json!(now));
            }
            ChangeDetail::TextChanged { text, lines, .. } => {
                let added = lines.iter().filter_map(|it| match it {
                    DiffLine::Added(line) => Some(line.as_str()),
                    _ => None,
                });
                let name = if text.is_empty() { "text" } else { text.as_str() };
                content.insert(name.to_owned(), json!(added.collect::<Vec<_>>().join("\n")));
            }
            ChangeDetail::PartAdded(part) => {
                let (list, value) = part_json(part);
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

/// Renders the whole map.
pub fn map_json(view: &MapView<'_>) -> Value {
    let palace = view.palace;
    let rooms = palace.enterable_rooms().into_iter().map(|it| map_room_json(view, it));
    let rooms: Vec<_> = rooms.collect();
    let unfinished: Vec<_> = palace.unfinished_rooms().iter().map(ToString::to_string).collect();
    json!({
        "name": palace.settings.name,
        "entry": palace.entry_room().map(ToString::to_string),
        "rooms": rooms,
        "unfinished": unfinished,
        "conflicts": view.conflicts,
    })
}

fn map_room_json(view: &MapView<'_>, id: &RoomId) -> Value {
    let palace = view.palace;
    let doors = palace.neighbouring_rooms(id).into_iter();
    let mut doors: Vec<_> = doors.map(|it| json!({ "room": it.to_string() })).collect();
    let actions = palace.room(id).into_iter().flat_map(|it| &it.actions);
    doors.extend(actions.filter_map(|it| match &it.kind {
        ActionKind::Navigate(NavigationTarget { room, workspace: Some(workspace) }) => {
            Some(json!({ "room": room.to_string(), "workspace": workspace }))
        }
        _ => None,
    }));
    json!({
        "room": id.to_string(),
        "name": palace.room_name(id),
        "wing": id.wing.as_ref().map(ToString::to_string),
        "doors": doors,
        "scrolls": palace.scrolls_in_room(id).count(),
        "drawers": palace.count_drawers_shown_in(id),
        "versions": file_history_json(view.history.get(&(view.room_file)(id)).copied()),
    })
}

fn part_json(part: &ItemElement) -> (&'static str, Value) {
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
