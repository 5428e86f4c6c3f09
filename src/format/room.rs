//! Room files: `rooms/<slug>.yaml`, `rooms/<wing>/<slug>.yaml` (DESIGN of the
//! files: keys of `build_room`, in the order id, name, description, actions,
//! generate, portals).

use serde_json::Map;

use crate::format::file_parser;
use crate::format::file_parser::{Fields, Reader};
use crate::format::yaml::{Body, Node, Out};
use crate::model::{Action, Arrangement, Code, Deed, Doorway, Room, did_you_mean, prose, slip_of};

const ROOM: &[&str] = &["id", "name", "description", "actions", "generate", "portals"];
const GENERATE: &[&str] = &["genus", "by"];
const ACTION: &[&str] = &["label", "type", "tool", "tool_params", "room", "workspace", "content"];

pub(super) fn read(reader: &mut Reader<'_>, text: &str) -> Option<Room> {
    let mut file = reader.file(text, "a room", ROOM)?;
    let id = file.id(reader, "id");
    let name = file.required(reader, "name");
    let description = file.text(reader, "description").unwrap_or_default();
    let actions = file.list(reader, "actions");
    let actions = actions.into_iter().filter_map(|it| action(reader, it)).collect();
    let generate = file.take("generate").and_then(|it| generate(reader, it));
    let portals = file.list(reader, "portals");
    let portals =
        portals.into_iter().filter_map(|it| file_parser::room(reader, it, "portals")).collect();
    Some(Room { id, name: name?, description: prose(&description), actions, portals, generate })
}

fn generate(reader: &mut Reader<'_>, node: Node) -> Option<Arrangement> {
    let at = node.at;
    let mut fields = reader.fields(node, "`generate`", GENERATE)?;
    let mut word = |key: &str| match fields.take(key) {
        Some(node) => file_parser::text(reader, node, key).map(Some),
        None => Some(None),
    };
    let (genus, by) = (word("genus"), word("by"));
    // What is no text has been told of already.
    match Arrangement::said(genus?, by?.as_deref()) {
        Ok(arrangement) => Some(arrangement),
        Err(why) => {
            reader.find(Code::BadValue, at, why);
            None
        }
    }
}

pub(super) fn action(reader: &mut Reader<'_>, node: Node) -> Option<Action> {
    let mut fields = reader.fields(node, "an action", ACTION)?;
    let label = fields.required(reader, "label");
    let at = fields.spot("type");
    let kind = fields.required(reader, "type");
    let deed = match kind?.as_str() {
        "navigate" => navigate(reader, &mut fields),
        "query" => query(reader, &mut fields),
        "text" => {
            let content = fields.text(reader, "content").unwrap_or_default();
            Some(Deed::Text { content: prose(&content) })
        }
        other => {
            let known = ["navigate", "query", "text"];
            let message = format!("an action's `type` is navigate, query or text, not `{other}`");
            let hint = did_you_mean(other, known).map(|it| format!("did you mean `{it}`?"));
            let finding = reader.find(Code::BadValue, at, message);
            finding.hint = hint;
            finding.meant = slip_of(other, known).map(Into::into);
            return None;
        }
    };
    for key in fields.left() {
        let message = format!("`{}` says nothing to an action of this type", key.text);
        reader.find(Code::UnusedKey, key.at, message);
    }
    Some(Action { label: label?, deed: deed? })
}

fn navigate(reader: &mut Reader<'_>, fields: &mut Fields) -> Option<Deed> {
    let at = fields.at();
    let workspace = fields.text(reader, "workspace");
    match fields.take("room") {
        Some(room) => {
            let room = match &workspace {
                None => file_parser::room(reader, room, "room")?,
                Some(_) => file_parser::room_elsewhere(reader, room, "room")?,
            };
            Some(Deed::Navigate(Doorway { room, workspace }))
        }
        None => {
            reader.find(Code::MissingKey, at, "a navigate action needs a `room`");
            None
        }
    }
}

fn query(reader: &mut Reader<'_>, fields: &mut Fields) -> Option<Deed> {
    let tool = fields.required(reader, "tool");
    let params = match fields.take("tool_params") {
        None => Map::new(),
        Some(node) => match (&node.body, node.to_json()) {
            (Body::Map(_), serde_json::Value::Object(map)) => map,
            _ => {
                let message = format!("`tool_params` is a mapping, and this is {}", node.kind());
                reader.find(Code::WrongType, node.at, message);
                return None;
            }
        },
    };
    Some(Deed::Query { tool: tool?, params })
}

pub(super) fn out(room: &Room) -> Out {
    let mut pairs = Vec::new();
    if let Some(id) = room.id {
        pairs.push(("id", Out::Plain(id.to_string())));
    }
    pairs.push(("name", Out::Text(room.name.clone())));
    if !room.description.is_empty() {
        pairs.push(("description", Out::Prose(room.description.clone())));
    }
    let actions: Vec<_> = room.actions.iter().filter_map(action_out).collect();
    if !actions.is_empty() {
        pairs.push(("actions", Out::List(actions)));
    }
    if let Some(generate) = &room.generate {
        pairs.push(("generate", generate_out(generate)));
    }
    if !room.portals.is_empty() {
        let portals = room.portals.iter().map(|it| slug_out(&it.to_string())).collect();
        pairs.push(("portals", Out::FlowList(portals)));
    }
    Out::Map(pairs)
}

fn generate_out(arrangement: &Arrangement) -> Out {
    Out::FlowMap(match arrangement {
        Arrangement::Everything => vec![("by", Out::Text(Arrangement::BY_GENUS.to_owned()))],
        Arrangement::Genus { genus, by } => {
            vec![("genus", Out::Text(genus.clone())), ("by", Out::Text(by.to_string()))]
        }
    })
}

/// Writes a slug: quoted where it looks like a number, `007`, or a word that
/// means something else.
fn slug_out(slug: &str) -> Out {
    Out::Text(slug.to_owned())
}

/// Writes an action; of what is made from the graph nothing is written.
fn action_out(action: &Action) -> Option<Out> {
    let kind = |kind: &str| ("type", Out::Plain(kind.to_owned()));
    let mut pairs = vec![("label", Out::Text(action.label.clone()))];
    match &action.deed {
        Deed::Navigate(Doorway { room, workspace }) => {
            pairs.extend([kind("navigate"), ("room", slug_out(&room.to_string()))]);
            if let Some(workspace) = workspace {
                pairs.push(("workspace", Out::Text(workspace.clone())));
            }
        }
        Deed::Query { tool, params } => {
            pairs.extend([kind("query"), ("tool", Out::Text(tool.clone()))]);
            if !params.is_empty() {
                pairs.push(("tool_params", Out::Json(params.clone().into())));
            }
        }
        Deed::Text { content } => {
            pairs.push(kind("text"));
            if !content.is_empty() {
                pairs.push(("content", Out::Prose(content.clone())));
            }
        }
        Deed::Enter(_) => return None,
    }
    Some(Out::Map(pairs))
}
