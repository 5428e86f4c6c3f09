//! Entity files: `entities/<genus>/<name>.yaml`, one entity each, with its
//! observations and outgoing relations.
//!
//! A file with a name and relations and nothing else, not even a genus, is a
//! loose end: the reference memory server lets relations start from names that
//! no entity bears.

use serde_json::{Map, Value};

use crate::format::file_parser::{Reader, text};
use crate::format::yaml::{Body, Node, Out};
use crate::model::{Code, Entity, Relation, Spot};

const ENTITY: &[&str] =
    &["id", "name", "genus", "status", "attributes", "observations", "relations"];
const RELATION: &[&str] = &["type", "to", "since", "until", "source"];

pub(super) fn read(reader: &mut Reader<'_>, file: &str) -> Option<Entity> {
    let mut fields = reader.file(file, "an entity", ENTITY)?;
    let id = fields.id(reader, "id");
    // Any text at all can be a name, even an empty one: the reference memory
    // server allows it, and what it holds must fit in here.
    let name = fields.stated(reader, "name", "an entity needs a `name`");
    let at = fields.at();
    let genus = fields.take("genus");
    let is_defined = genus.is_some();
    let genus = genus.map_or(Some(String::new()), |it| text(reader, it, "genus"));
    let status = fields.text(reader, "status");
    let attributes = fields.take("attributes").map(|it| attributes(reader, &it));
    let observations = fields.list(reader, "observations");
    let observations = observations.into_iter().filter_map(|it| text(reader, it, "observations"));
    let observations = observations.collect();
    let relations = fields.list(reader, "relations");
    let relations = relations.into_iter().filter_map(|it| relation(reader, it)).collect();
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
    };
    let is_whole = is_defined || is_loose_end(reader, at, &entity);
    (is_named && is_whole).then_some(entity)
}

/// Tells whether what has no genus is more than a name that relations start
/// from; either is worth a finding.
fn is_loose_end(reader: &mut Reader<'_>, at: Spot, it: &Entity) -> bool {
    let is_loose = !it.relations.is_empty()
        && it.status.is_none()
        && it.attributes.is_empty()
        && it.observations.is_empty();
    if is_loose {
        let name = it.name.escape_debug();
        let message = format!("`{name}` has no `genus`: it is only where relations start");
        reader.find(Code::LooseEnd, at, message).hint =
            Some("give it a `genus` to make an entity of it".to_owned());
    } else {
        let message = "an entity needs a `genus`: what kind of thing it is";
        reader.find(Code::MissingKey, at, message);
    }
    is_loose
}

fn attributes(reader: &mut Reader<'_>, node: &Node) -> Map<String, Value> {
    match (&node.body, node.to_json()) {
        (Body::Map(_), Value::Object(map)) => map,
        _ => {
            let message = format!("`attributes` is a mapping, and this is {}", node.kind());
            reader.find(Code::WrongType, node.at, message);
            Map::new()
        }
    }
}

pub(super) fn relation(reader: &mut Reader<'_>, node: Node) -> Option<Relation> {
    let mut fields = reader.fields(node, "a relation", RELATION)?;
    let kind = fields.stated(reader, "type", "a relation needs a `type`: `disputed_by`");
    let to = fields.stated(reader, "to", "a relation needs an entity it leads `to`");
    // Any text does for a date: not everything is known so well.
    let [since, until] = ["since", "until"].map(|key| {
        let node = fields.take(key)?;
        Some((node.at, text(reader, node, key)?))
    });
    let places =
        [("since", &since), ("until", &until)].map(|(key, it)| Some((key, it.as_ref()?.0)));
    let relation = Relation {
        kind: kind?,
        to: to?,
        since: since.map(|(_, said)| said),
        until: until.map(|(_, said)| said),
        source: fields.text(reader, "source"),
    };
    for (key, code, why) in relation.misdated() {
        if let Some((_, at)) = places.iter().flatten().find(|(it, _)| *it == key) {
            reader.find(code, *at, why);
        }
    }
    Some(relation)
}

pub(super) fn out(entity: &Entity) -> Out {
    let mut pairs = Vec::new();
    if let Some(id) = entity.id {
        pairs.push(("id", Out::Plain(id.to_string())));
    }
    pairs.push(("name", Out::Text(entity.name.clone())));
    if entity.is_defined {
        pairs.push(("genus", Out::Text(entity.genus.clone())));
    }
    if let Some(status) = &entity.status {
        pairs.push(("status", Out::Text(status.clone())));
    }
    if !entity.attributes.is_empty() {
        pairs.push(("attributes", Out::Json(entity.attributes.clone().into())));
    }
    if !entity.observations.is_empty() {
        let observations = entity.observations.iter().cloned().map(Out::Text).collect();
        pairs.push(("observations", Out::List(observations)));
    }
    if !entity.relations.is_empty() {
        pairs.push(("relations", Out::List(entity.relations.iter().map(relation_out).collect())));
    }
    Out::Map(pairs)
}

fn relation_out(relation: &Relation) -> Out {
    let mut pairs =
        vec![("type", Out::Text(relation.kind.clone())), ("to", Out::Text(relation.to.clone()))];
    let dates = [("since", &relation.since), ("until", &relation.until)];
    let dates = dates.into_iter().filter_map(|(key, it)| Some((key, date_out(it.as_ref()?))));
    pairs.extend(dates);
    if let Some(source) = &relation.source {
        pairs.push(("source", Out::Text(source.clone())));
    }
    Out::FlowMap(pairs)
}

/// Dates stand without quotes, as a person would write them: the reader takes
/// them as text whatever they look like.
fn date_out(date: &str) -> Out {
    let bare = !date.is_empty()
        && date.bytes().all(|it| matches!(it, b'0'..=b'9' | b'-'))
        && date.trim_start_matches('-').starts_with(|it: char| it.is_ascii_digit())
        && !date.starts_with("--");
    if bare { Out::Plain(date.to_owned()) } else { Out::Text(date.to_owned()) }
}
