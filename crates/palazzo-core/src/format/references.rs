//! Which fields of which files name what: the table that renames, merges and the editor use.

use serde_json::{Map, Value};

use crate::model::{Action, ActionKind, FileKind, Grouping, Room, WorkSubject};

/// The kind of thing that a value in a file names, and how the value names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReferenceKind {
    /// The item of the file itself, by its name.
    OwnName,
    /// The item of the file itself, by its id.
    OwnId,
    /// A room, as it is called in the room of the file.
    RoomFromHere,
    /// A room.
    Room,
    /// The room that has the scroll of the file.
    RoomOfScroll,
    /// An entity, by its name or a name that differs in case.
    Entity,
    /// An entity, by exactly its name.
    RelationTarget,
    /// An entity, if the genus says that this attribute is a link.
    Attribute(Box<str>),
    /// Entities, by links in a text.
    TextWithLinks,
    /// A genus.
    Genus,
    /// A type of relations.
    RelationType,
    /// A tool.
    Tool,
}

/// The path of the parameters of a query in the file of a room.
const QUERY_PARAMS: [&str; 3] = ["actions", "", "tool_params"];

/// Returns what the value at a path names in a file of a kind; `None` if it names nothing. A path
/// consists of keys, and of any word for the place in a list.
pub fn reference_kind(file: FileKind, path: &[&str]) -> Option<ReferenceKind> {
    use FileKind::{Entity, Genus, Palace, Process, Room, Scroll, Task};
    Some(match (file, path) {
        (Room | Entity | Genus, ["name"]) => ReferenceKind::OwnName,
        (Room | Entity, ["id"]) => ReferenceKind::OwnId,
        (Room, ["description"] | ["actions", _, "content"]) => ReferenceKind::TextWithLinks,
        (Room, ["actions", _, "room"] | ["portals", _]) => ReferenceKind::RoomFromHere,
        (Room, ["actions", _, "tool"]) | (Palace, ["actions", "allow", _]) => ReferenceKind::Tool,
        (Room, ["actions", _, "tool_params", path @ ..]) => query_reference_kind(path)?,
        (Room, ["actions", _, "entity"]) | (Task | Process, ["entity"]) => ReferenceKind::Entity,
        (Task | Process, ["room"]) | (Palace, ["entry"]) => ReferenceKind::Room,
        (Room, ["generate", "genus"])
        | (Entity, ["genus"])
        | (Genus, ["attributes", _] | ["attributes", _, "type"]) => ReferenceKind::Genus,
        (Entity, ["relations", _, "to"]) => ReferenceKind::RelationTarget,
        (Entity, ["relations", _, "type"]) | (Genus, ["relations", _]) => {
            ReferenceKind::RelationType
        }
        (Entity, ["attributes", key]) => ReferenceKind::Attribute((*key).into()),
        (Scroll, ["id"]) => ReferenceKind::RoomOfScroll,
        _ => return None,
    })
}

/// Returns what the parameter of a query at a path names.
fn query_reference_kind(path: &[&str]) -> Option<ReferenceKind> {
    Some(match path {
        ["genus"] => ReferenceKind::Genus,
        ["type"] => ReferenceKind::RelationType,
        [Action::ROOM_PARAM] => ReferenceKind::Room,
        [Action::ENTITY_LIST_PARAM, _] => ReferenceKind::Entity,
        [key] if Action::ENTITY_PARAMS.contains(key) => ReferenceKind::Entity,
        ["attributes", key] => ReferenceKind::Attribute((*key).into()),
        _ => return None,
    })
}

/// Returns whether a value is meant, from what it names and its text.
pub type ReferenceTest<'a> = &'a dyn Fn(&ReferenceKind, &str) -> bool;

/// Returns whether a room has a value that names something and is meant. Its own name and its
/// doors, [`Room::linked_rooms`], are left out.
pub fn room_has_reference(room: &Room, is_meant: ReferenceTest<'_>) -> bool {
    let Room { id: _, name: _, description, actions, portals: _, generate } = room;
    let in_action = |it: &Action| match &it.kind {
        ActionKind::Navigate(_) | ActionKind::EnterHall(_) => false,
        ActionKind::Query { tool, params } => {
            is_meant(&ReferenceKind::Tool, tool)
                || params.iter().any(|(key, it)| param_has_reference(&[key], it, is_meant))
        }
        ActionKind::ShowEntity { entity } => is_meant(&ReferenceKind::Entity, entity),
        ActionKind::Text { content } => is_meant(&ReferenceKind::TextWithLinks, content),
    };
    let in_hall = match generate {
        Some(Grouping::Genus { genus, .. }) => is_meant(&ReferenceKind::Genus, genus),
        Some(Grouping::Everything) | None => false,
    };
    in_hall || is_meant(&ReferenceKind::TextWithLinks, description) || actions.iter().any(in_action)
}

fn param_has_reference(path: &[&str], value: &Value, is_meant: ReferenceTest<'_>) -> bool {
    let below = |key, it| param_has_reference(&[path, &[key]].concat(), it, is_meant);
    let is_meant = |text: &str| query_reference_kind(path).is_some_and(|it| is_meant(&it, text));
    match value {
        Value::Object(fields) => fields.iter().any(|(key, it)| below(key, it)),
        Value::Array(items) => items.iter().any(|it| below("", it)),
        Value::String(text) => is_meant(text),
        Value::Number(_) | Value::Bool(_) => is_meant(&value.to_string()),
        Value::Null => false,
    }
}

/// Returns whether a task or a process names something that is meant.
pub fn work_has_reference(subject: &WorkSubject, is_meant: ReferenceTest<'_>) -> bool {
    let WorkSubject { entity, room } = subject;
    entity.as_ref().is_some_and(|it| is_meant(&ReferenceKind::Entity, it))
        || room.as_ref().is_some_and(|it| is_meant(&ReferenceKind::Room, &it.to_string()))
}

/// Calls `change` with each value in the fields of a file that names something, as a text, and with
/// what it names. The room of an action that leads to another palace names nothing here.
pub fn change_references(
    file: FileKind,
    fields: &mut Map<String, Value>,
    change: &mut dyn FnMut(&ReferenceKind, &mut String),
) {
    change_in_fields(file, &mut Vec::new(), fields, change);
}

/// Calls `change` as [`change_references`] does, with the parameters of one query.
pub fn change_query_references(
    params: &mut Map<String, Value>,
    change: &mut dyn FnMut(&ReferenceKind, &mut String),
) {
    change_in_fields(FileKind::Room, &mut QUERY_PARAMS.to_vec(), params, change);
}

fn change_in_fields<'a>(
    file: FileKind,
    path: &mut Vec<&'a str>,
    fields: &'a mut Map<String, Value>,
    change: &mut dyn FnMut(&ReferenceKind, &mut String),
) {
    let is_elsewhere =
        file == FileKind::Room && path[..] == QUERY_PARAMS[..2] && fields.contains_key("workspace");
    for (key, value) in fields.iter_mut().filter(|(key, _)| !is_elsewhere || *key != "room") {
        path.push(key);
        change_in_value(file, path, value, change);
        path.pop();
    }
}

fn change_in_value<'a>(
    file: FileKind,
    path: &mut Vec<&'a str>,
    value: &'a mut Value,
    change: &mut dyn FnMut(&ReferenceKind, &mut String),
) {
    match value {
        Value::String(text) => {
            if let Some(kind) = reference_kind(file, path) {
                change(&kind, text);
            }
        }
        // A room `7` and an entity `true`, without quotes. What a query passes to a tool has a type.
        Value::Number(_) | Value::Bool(_) if !path.contains(&QUERY_PARAMS[2]) => {
            let (was, mut text) = (value.to_string(), value.to_string());
            if let Some(kind) = reference_kind(file, path) {
                change(&kind, &mut text);
            }
            if text != was {
                *value = text.into();
            }
        }
        Value::Object(fields) => change_in_fields(file, path, fields, change),
        Value::Array(items) => {
            for item in items {
                path.push("");
                change_in_value(file, path, item, change);
                path.pop();
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use serde_json::json;

    use super::*;
    use crate::format::{parse_fields_and_body, parse_palace};

    /// Lists what the fields of a room name.
    fn references(mut room: Value) -> Vec<String> {
        let mut found = Vec::new();
        let mut add =
            |kind: &ReferenceKind, text: &mut String| found.push(format!("{kind:?} {text}"));
        change_references(FileKind::Room, room.as_object_mut().unwrap(), &mut add);
        found
    }

    #[test]
    fn the_actions_of_a_room_name_rooms_entities_and_tools() {
        let room = json!({
            "label": "x",
            "actions": [
                { "label": "a", "room": "hall", "content": "See [[Moss]]" },
                { "tool": "search", "tool_params": {
                    "room": "attic", "name": "Moss", "names": ["Fern", 1], "limit": 3,
                    "attributes": { "by": "Ada" }
                } },
            ],
            "portals": ["cellar", 7],
        });
        assert_eq!(
            references(room),
            [
                "RoomFromHere hall",
                "TextWithLinks See [[Moss]]",
                "Tool search",
                "Room attic",
                "Entity Moss",
                "Entity Fern",
                "Attribute(\"by\") Ada",
                "RoomFromHere cellar",
                "RoomFromHere 7",
            ]
        );
    }

    #[test]
    fn a_room_has_the_references_that_are_in_its_file() {
        let text = "id: 01KR0000000000000000000001\nname: Hall\ndescription: See [[Moss]].\n\
            actions:\n\
            - { label: a, room: attic }\n\
            - { label: b, room: attic, workspace: other }\n\
            - { label: c, entity: Moss }\n\
            - { label: d, content: \"See [[Fern]].\" }\n\
            - { label: e, tool: search, tool_params: { room: attic, name: Moss, genus: Plant,\n  \
            names: [Fern, 7], type: near, attributes: { by: Ada }, query: x } }\n\
            portals: [cellar]\ngenerate: { genus: Plant }\n";
        let files = [("rooms/hall.yaml".to_owned(), text.to_owned())];
        let (palace, findings) = parse_palace("Keep", &files.into());
        assert_eq!(findings, []);
        let room = palace.room(&"hall".parse().unwrap()).unwrap();
        let found = RefCell::new(Vec::new());
        let add = |kind: &ReferenceKind, text: &str| {
            found.borrow_mut().push(format!("{kind:?} {text}"));
            false
        };
        room_has_reference(room, &add);
        for door in room.linked_rooms() {
            add(&ReferenceKind::RoomFromHere, &door.to_string());
        }
        let mut found = found.into_inner();
        assert!(found.contains(&"Entity 7".to_owned()), "{found:?}");
        let mut in_file =
            references(parse_fields_and_body("rooms/hall.yaml", text).unwrap().fields.into());
        in_file.retain(|it| !it.starts_with("Own"));
        in_file.push("Entity 7".to_owned());
        in_file.sort();
        found.sort();
        assert_eq!(found, in_file);
    }

    #[test]
    fn a_number_that_is_renamed_becomes_a_text() {
        let mut task = json!({ "title": "Ask", "room": 7, "entity": true });
        let fields = task.as_object_mut().unwrap();
        let mut rename = |kind: &ReferenceKind, text: &mut String| {
            if *kind == ReferenceKind::Room {
                *text = "eight".to_owned();
            }
        };
        change_references(FileKind::Task, fields, &mut rename);
        assert_eq!(task, json!({ "title": "Ask", "room": "eight", "entity": true }));
    }

    #[test]
    fn the_room_of_an_action_that_leads_to_another_palace_is_no_reference() {
        assert_eq!(
            references(json!({ "actions": [{ "workspace": "w", "room": "hall" }] })),
            [""; 0]
        );
    }
}
