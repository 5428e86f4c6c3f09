//! Room files: `rooms/<slug>.yaml`, `rooms/<wing>/<slug>.yaml` (DESIGN of the files: keys of
//! `build_room`, in the order id, name, description, actions, generate, portals).

use serde_json::Map;

use crate::format::file_parser;
use crate::format::file_parser::{FileParser, MappingFields};
use crate::format::yaml::{Node, NodeValue, OutputNode};
use crate::model::{
    Action, ActionKind, Code, Grouping, NavigationTarget, Room, did_you_mean, normalize_prose,
    quoted, typo_correction,
};

const ROOM_KEYS: &[&str] = &["id", "name", "description", "actions", "generate", "portals"];
const GENERATE_KEYS: &[&str] = &["genus", "by"];
const ACTION_KEYS: &[&str] =
    &["label", "type", "tool", "tool_params", "entity", "room", "workspace", "content"];

pub(super) fn parse_room(reader: &mut FileParser<'_>, text: &str) -> Option<Room> {
    let mut file = reader.parse_file_as_mapping(text, "a room", ROOM_KEYS)?;
    let id = file.take_ulid(reader, "id");
    let name = file.take_required_text(reader, "name");
    let description = file.take_text(reader, "description").unwrap_or_default();
    let actions = file.take_list(reader, "actions");
    let actions = actions.into_iter().filter_map(|it| parse_action(reader, it)).collect();
    let generate = file.take_value("generate").and_then(|it| parse_generate(reader, it));
    let portals = file.take_list(reader, "portals");
    let portals = portals
        .into_iter()
        .filter_map(|it| file_parser::parse_item_room_ref(reader, it, "portals"))
        .collect();
    Some(Room {
        id,
        name: name?,
        description: normalize_prose(&description),
        actions,
        portals,
        generate,
    })
}

fn parse_generate(reader: &mut FileParser<'_>, node: Node) -> Option<Grouping> {
    let at = node.at;
    let mut fields = reader.parse_mapping(node, "`generate`", GENERATE_KEYS)?;
    let mut word = |key: &str| match fields.take_value(key) {
        Some(node) => file_parser::parse_text(reader, node, key).map(Some),
        None => Some(None),
    };
    let (genus, by) = (word("genus"), word("by"));
    // A value that is not a text has already been reported.
    match Grouping::parse(genus?, by?.as_deref()) {
        Ok(grouping) => Some(grouping),
        Err(why) => {
            reader.report(Code::BadValue, at, why);
            None
        }
    }
}

pub(super) fn parse_action(reader: &mut FileParser<'_>, node: Node) -> Option<Action> {
    let mut fields = reader.parse_mapping(node, "an action", ACTION_KEYS)?;
    let label = fields.take_required_text(reader, "label");
    let at = fields.value_position("type");
    let kind = match fields.has_value("type") {
        true => fields.take_required_text(reader, "type"),
        false => infer_action_type(reader, &fields).map(str::to_owned),
    };
    let action_kind = match kind?.as_str() {
        "navigate" => parse_navigate_action(reader, &mut fields),
        "query" => parse_query_action(reader, &mut fields),
        "text" => {
            let content = fields.take_text(reader, "content").unwrap_or_default();
            Some(ActionKind::Text { content: normalize_prose(&content) })
        }
        other => {
            let known = ["navigate", "query", "text"];
            let message =
                format!("an action's `type` is navigate, query or text, not {}", quoted(other));
            let finding = reader.report(Code::BadValue, at, message);
            finding.suggest(did_you_mean(other, known));
            finding.set_certain_word(typo_correction(other, known));
            return None;
        }
    };
    let place = match &action_kind {
        Some(ActionKind::ShowEntity { .. }) => "beside `entity`",
        _ => "in an action of this type",
    };
    for key in fields.unused_keys() {
        let message = format!("{} has no effect {place}", quoted(&key.text));
        reader.report(Code::UnusedKey, key.at, message);
    }
    Some(Action { label: label?, kind: action_kind? })
}

/// Returns the type of an action that a person wrote without one, by the keys that it has.
fn infer_action_type(reader: &mut FileParser<'_>, fields: &MappingFields) -> Option<&'static str> {
    let types = [("room", "navigate"), ("tool", "query"), ("entity", "query"), ("content", "text")];
    let mut given: Vec<_> = types.into_iter().filter(|(key, _)| fields.has_value(key)).collect();
    given.dedup_by_key(|(_, kind)| *kind);
    let message = match given.as_slice() {
        [(_, only)] => return Some(only),
        [] => "an action needs a `room`, a `tool`, an `entity` or a `content`".to_owned(),
        [(first, _), (other, _), ..] => {
            format!("an action with `{first}` and `{other}` needs a `type`")
        }
    };
    reader.report(Code::MissingKey, fields.mapping_start(), message);
    None
}

fn parse_navigate_action(
    reader: &mut FileParser<'_>,
    fields: &mut MappingFields,
) -> Option<ActionKind> {
    let at = fields.mapping_start();
    let workspace = fields.take_text(reader, "workspace");
    match fields.take_value("room") {
        Some(room) => {
            let room = match &workspace {
                None => file_parser::parse_room_ref(reader, room, "room")?,
                Some(_) => file_parser::parse_foreign_room_ref(reader, room, "room")?,
            };
            Some(ActionKind::Navigate(NavigationTarget { room, workspace }))
        }
        None => {
            reader.report(Code::MissingKey, at, "a navigate action needs a `room`");
            None
        }
    }
}

fn parse_query_action(
    reader: &mut FileParser<'_>,
    fields: &mut MappingFields,
) -> Option<ActionKind> {
    let at = fields.mapping_start();
    if fields.has_value("entity") {
        let entity = fields.take_required_text(reader, "entity");
        return entity.map(|entity| ActionKind::ShowEntity { entity });
    }
    if !fields.has_value("tool") {
        reader.report(Code::MissingKey, at, "a query action needs a `tool` or an `entity`");
        return None;
    }
    let tool = fields.take_required_text(reader, "tool");
    let params = match fields.take_value("tool_params") {
        None => Map::new(),
        Some(node) => match (&node.value, node.to_json()) {
            (NodeValue::Map(_), serde_json::Value::Object(map)) => map,
            _ => {
                let message =
                    format!("`tool_params` is a mapping, and this is {}", node.describe_kind());
                reader.report(Code::WrongType, node.at, message);
                return None;
            }
        },
    };
    Some(ActionKind::Query { tool: tool?, params })
}

pub(super) fn room_to_yaml(room: &Room) -> OutputNode {
    let mut pairs = Vec::new();
    if let Some(id) = room.id {
        pairs.push(("id", OutputNode::Plain(id.to_string())));
    }
    pairs.push(("name", OutputNode::Text(room.name.clone())));
    if !room.description.is_empty() {
        pairs.push(("description", OutputNode::BlockText(room.description.clone())));
    }
    let actions: Vec<_> = room.actions.iter().filter_map(action_to_yaml).collect();
    if !actions.is_empty() {
        pairs.push(("actions", OutputNode::List(actions)));
    }
    if let Some(generate) = &room.generate {
        pairs.push(("generate", generate_to_yaml(generate)));
    }
    if !room.portals.is_empty() {
        let portals = room.portals.iter().map(|it| slug_to_yaml(&it.to_string())).collect();
        pairs.push(("portals", OutputNode::List(portals)));
    }
    OutputNode::Map(pairs)
}

fn generate_to_yaml(grouping: &Grouping) -> OutputNode {
    OutputNode::Map(match grouping {
        Grouping::Everything => vec![("by", OutputNode::Text(Grouping::BY_GENUS.to_owned()))],
        Grouping::Genus { genus, by } => {
            vec![
                ("genus", OutputNode::Text(genus.clone())),
                ("by", OutputNode::Text(by.to_string())),
            ]
        }
    })
}

/// Writes a slug: quoted if it looks like a number, `007`, or is a word with another meaning in
/// YAML.
fn slug_to_yaml(slug: &str) -> OutputNode {
    OutputNode::Text(slug.to_owned())
}

/// Writes an action; generated actions are not written.
fn action_to_yaml(action: &Action) -> Option<OutputNode> {
    let kind = |kind: &str| ("type", OutputNode::Plain(kind.to_owned()));
    let mut pairs = vec![("label", OutputNode::Text(action.label.clone()))];
    match &action.kind {
        ActionKind::Navigate(NavigationTarget { room, workspace }) => {
            pairs.extend([kind("navigate"), ("room", slug_to_yaml(&room.to_string()))]);
            if let Some(workspace) = workspace {
                pairs.push(("workspace", OutputNode::Text(workspace.clone())));
            }
        }
        ActionKind::Query { tool, params } => {
            pairs.extend([kind("query"), ("tool", OutputNode::Text(tool.clone()))]);
            if !params.is_empty() {
                pairs.push(("tool_params", OutputNode::from_json_map(params)));
            }
        }
        ActionKind::ShowEntity { entity } => {
            pairs.extend([kind("query"), ("entity", OutputNode::Text(entity.clone()))]);
        }
        ActionKind::Text { content } => {
            pairs.push(kind("text"));
            if !content.is_empty() {
                pairs.push(("content", OutputNode::BlockText(content.clone())));
            }
        }
        ActionKind::EnterHall(_) => return None,
    }
    Some(OutputNode::Map(pairs))
}

#[cfg(test)]
mod tests {
    use crate::format::{FmtOutcome, fmt_file, parse_file};

    fn room_with_action(action: &str) -> String {
        format!("name: Hall\nactions:\n  - label: Look\n{action}")
    }

    #[test]
    fn a_type_that_is_left_out_is_inferred_and_written() {
        for (written, kind) in [
            ("    room: attic\n", "navigate"),
            ("    tool: list_genera\n", "query"),
            ("    entity: Moss\n", "query"),
            ("    content: Green.\n", "text"),
            ("    type:\n    content: Green.\n", "text"),
        ] {
            let text = room_with_action(written);
            let found = parse_file("rooms/hall.yaml", &text);
            assert!(!found.has_errors(), "{text}");
            let Some(FmtOutcome::Formatted(canonical)) = fmt_file("rooms/hall.yaml", &text) else {
                panic!("{text}")
            };
            assert!(canonical.contains(&format!("    type: {kind}\n")), "{canonical}");
        }
    }
}
