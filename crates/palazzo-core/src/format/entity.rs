//! Entity files: `entities/<genus>/<name>.yaml`, one entity each, with its observations and
//! outgoing relations.
//!
//! A file with only a name and relations, without a genus, is a loose end: the reference memory
//! server allows relations that start from names without an entity.

use serde_json::{Map, Value};

use crate::format::file_parser::{FileParser, MappingFields, parse_item_text, parse_text};
use crate::format::yaml::{Node, NodeValue, OutputNode};
use crate::model::{Code, Entity, Position, Relation, quoted};

const ENTITY_KEYS: &[&str] =
    &["id", "name", "former_names", "genus", "status", "attributes", "observations", "relations"];
const RELATION_KEYS: &[&str] = &["type", "to", "since", "until", "source"];

pub(super) fn parse_entity(reader: &mut FileParser<'_>, text: &str) -> Option<Entity> {
    let mut fields = reader.parse_file_as_mapping(text, "an entity", ENTITY_KEYS)?;
    let id = fields.take_ulid(reader, "id");
    // Any text can be a name, even an empty one: the reference memory server allows it, and its
    // data must be importable.
    let name = fields.take_required_maybe_empty_text(reader, "name", "an entity needs a `name`");
    let former_names = take_texts(reader, &mut fields, "former_names");
    let at = fields.mapping_start();
    let genus = fields.take_value("genus");
    let is_defined = genus.is_some();
    let genus = genus.map_or(Some(String::new()), |it| parse_text(reader, it, "genus"));
    let status = fields.take_text(reader, "status");
    let attributes = fields.take_value("attributes").map(|it| parse_attributes(reader, &it));
    let observations = take_texts(reader, &mut fields, "observations");
    let relations = fields.take_list(reader, "relations");
    let relations = relations.into_iter().filter_map(|it| parse_relation(reader, it)).collect();
    let attributes = attributes.unwrap_or_default();
    let is_named = name.is_some();
    let entity = Entity {
        id,
        name: name.unwrap_or_default(),
        is_defined,
        genus: genus?,
        status,
        attributes,
        observations,
        relations,
        former_names,
    };
    let is_whole = is_defined || report_missing_genus(reader, at, &entity);
    (is_named && is_whole).then_some(entity)
}

/// Takes a list of texts; reports and skips items that are none.
fn take_texts(reader: &mut FileParser<'_>, fields: &mut MappingFields, key: &str) -> Vec<String> {
    let items = fields.take_list(reader, key).into_iter();
    items.filter_map(|it| parse_item_text(reader, it, key)).collect()
}

/// Returns whether an entity without a genus is a loose end, a name with nothing but relations;
/// reports a finding in either case.
fn report_missing_genus(reader: &mut FileParser<'_>, at: Position, it: &Entity) -> bool {
    let is_loose = !it.relations.is_empty()
        && it.status.is_none()
        && it.attributes.is_empty()
        && it.observations.is_empty()
        && it.former_names.is_empty();
    if is_loose {
        let message = format!("{} has no `genus`, only relations", quoted(&it.name));
        reader.report(Code::LooseEnd, at, message).hint =
            Some("add a `genus` to make it an entity".to_owned());
    } else {
        let message = "an entity needs a `genus`: its type";
        reader.report(Code::MissingKey, at, message);
    }
    is_loose
}

fn parse_attributes(reader: &mut FileParser<'_>, node: &Node) -> Map<String, Value> {
    match (&node.value, node.to_json()) {
        (NodeValue::Map(_), Value::Object(map)) => map,
        _ => {
            let message =
                format!("`attributes` is a mapping, and this is {}", node.describe_kind());
            reader.report(Code::WrongType, node.at, message);
            Map::new()
        }
    }
}

pub(super) fn parse_relation(reader: &mut FileParser<'_>, node: Node) -> Option<Relation> {
    let mut fields = reader.parse_mapping(node, "a relation", RELATION_KEYS)?;
    let kind = fields.take_required_maybe_empty_text(
        reader,
        "type",
        "a relation needs a `type`: `disputed_by`",
    );
    let to = fields.take_required_maybe_empty_text(
        reader,
        "to",
        "a relation needs `to`: the name of its target",
    );
    // Any text is accepted as a date, because not every date is known exactly.
    let [since, until] = ["since", "until"].map(|key| {
        let node = fields.take_value(key)?;
        Some((node.at, parse_text(reader, node, key)?))
    });
    let places =
        [("since", &since), ("until", &until)].map(|(key, it)| Some((key, it.as_ref()?.0)));
    let relation = Relation {
        kind: kind?,
        to: to?,
        since: since.map(|(_, said)| said),
        until: until.map(|(_, said)| said),
        source: fields.take_text(reader, "source"),
    };
    for (key, code, why) in relation.date_errors() {
        if let Some((_, at)) = places.iter().flatten().find(|(it, _)| *it == key) {
            reader.report(code, *at, why);
        }
    }
    Some(relation)
}

pub(super) fn entity_to_yaml(entity: &Entity) -> OutputNode {
    let mut pairs = Vec::new();
    if let Some(id) = entity.id {
        pairs.push(("id", OutputNode::Plain(id.to_string())));
    }
    pairs.push(("name", OutputNode::Text(entity.name.clone())));
    if !entity.former_names.is_empty() {
        let names = entity.former_names.iter().cloned().map(OutputNode::Text).collect();
        pairs.push(("former_names", OutputNode::List(names)));
    }
    if entity.is_defined {
        pairs.push(("genus", OutputNode::Text(entity.genus.clone())));
    }
    if let Some(status) = &entity.status {
        pairs.push(("status", OutputNode::Text(status.clone())));
    }
    if !entity.attributes.is_empty() {
        pairs.push(("attributes", OutputNode::from_json_map(&entity.attributes)));
    }
    if !entity.observations.is_empty() {
        let observations = entity.observations.iter().cloned().map(OutputNode::Text).collect();
        pairs.push(("observations", OutputNode::List(observations)));
    }
    if !entity.relations.is_empty() {
        pairs.push((
            "relations",
            OutputNode::List(entity.relations.iter().map(relation_to_yaml).collect()),
        ));
    }
    OutputNode::Map(pairs)
}

fn relation_to_yaml(relation: &Relation) -> OutputNode {
    let mut pairs = vec![
        ("type", OutputNode::Text(relation.kind.clone())),
        ("to", OutputNode::Text(relation.to.clone())),
    ];
    let dates = [("since", &relation.since), ("until", &relation.until)];
    let dates = dates.into_iter().filter_map(|(key, it)| Some((key, date_to_yaml(it.as_ref()?))));
    pairs.extend(dates);
    if let Some(source) = &relation.source {
        pairs.push(("source", OutputNode::Text(source.clone())));
    }
    OutputNode::Map(pairs)
}

/// Writes dates without quotes where possible, as an author would; the parser reads them as text in
/// either case.
fn date_to_yaml(date: &str) -> OutputNode {
    let bare = !date.is_empty()
        && date.bytes().all(|it| matches!(it, b'0'..=b'9' | b'-'))
        && date.trim_start_matches('-').starts_with(|it: char| it.is_ascii_digit())
        && !date.starts_with("--");
    if bare { OutputNode::Plain(date.to_owned()) } else { OutputNode::Text(date.to_owned()) }
}
