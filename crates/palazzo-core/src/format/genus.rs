//! Genus files: `genera/<name>.yaml`, the definition of one genus.
//!
//! Short forms: `born: date`, `confidence: [low, high]`, `lives_in: single`. A mapping has further
//! properties: `{ type: date, required: true }`.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::format::file_parser::{FileParser, parse_item_text, parse_text};
use crate::format::yaml::{MapKey, Node, NodeValue, OutputNode};
use crate::model::{
    AttributeDef, AttributeKind, Code, Genus, Position, RelationDef, StatusDef, did_you_mean,
    quoted,
};

const GENUS_KEYS: &[&str] =
    &["name", "plural", "description", "sentence", "attributes", "statuses", "relations"];
const ATTRIBUTE_KEYS: &[&str] = &["type", "required"];
const RELATION_KEYS: &[&str] = &["single"];
/// The words for the types of attributes.
const ATTRIBUTE_KINDS: &[&str] = &["text", "number", "date", "yes/no", "link", "link to …"];
/// The start of the type of an attribute that links to entities of one genus.
pub(super) const LINK_PREFIX: &str = "link to ";

pub(super) fn parse_genus(reader: &mut FileParser<'_>, text: &str) -> Option<Genus> {
    let mut fields = reader.parse_file_as_mapping(text, "a genus", GENUS_KEYS)?;
    let name = fields.take_required_text(reader, "name");
    let plural = fields.take_text(reader, "plural");
    let description = fields.take_text(reader, "description");
    let sentence = fields.take_value("sentence").and_then(|it| parse_sentence_template(reader, it));
    let attributes = fields.take_value("attributes").map(|it| parse_attribute_defs(reader, it));
    let statuses = fields.take_value("statuses").map(|it| parse_status_defs(reader, it));
    let relations = fields.take_value("relations").map(|it| parse_relation_defs(reader, it));
    Some(Genus {
        name: name?,
        plural,
        description: description.map(|it| it.trim_end().to_owned()),
        sentence,
        attributes: attributes.unwrap_or_default(),
        statuses: statuses.unwrap_or_default(),
        relations: relations.unwrap_or_default(),
    })
}

pub(super) fn genus_to_yaml(genus: &Genus) -> OutputNode {
    let mut pairs = vec![("name", OutputNode::Text(genus.name.clone()))];
    let texts = [
        ("plural", &genus.plural),
        ("description", &genus.description),
        ("sentence", &genus.sentence),
    ];
    let texts = texts.into_iter().filter_map(|(key, it)| Some((key, it.clone()?)));
    pairs.extend(texts.map(|(key, it)| (key, OutputNode::Text(it))));
    let entries = |it: Vec<(&String, OutputNode)>| {
        OutputNode::DynamicMap(it.into_iter().map(|(name, it)| (name.clone(), it)).collect())
    };
    if !genus.attributes.is_empty() {
        let all = genus.attributes.iter().map(|(name, it)| (name, attribute_def_to_yaml(it)));
        pairs.push(("attributes", entries(all.collect())));
    }
    if !genus.statuses.is_empty() {
        pairs.push(("statuses", status_defs_to_yaml(&genus.statuses)));
    }
    if !genus.relations.is_empty() {
        let word = |it: &RelationDef| if it.single { "single" } else { "" };
        let all =
            genus.relations.iter().map(|(name, it)| (name, OutputNode::Plain(word(it).to_owned())));
        pairs.push(("relations", entries(all.collect())));
    }
    OutputNode::Map(pairs)
}

fn parse_sentence_template(reader: &mut FileParser<'_>, node: Node) -> Option<String> {
    let at = node.at;
    let sentence = parse_text(reader, node, "sentence")?;
    if !sentence.contains(Genus::NAME_PLACEHOLDER) {
        let message = format!("a `sentence` must contain {}", Genus::NAME_PLACEHOLDER);
        reader.report(Code::BadValue, at, message).hint =
            Some("`the claim {name}`, in quotes if it contains `: `".to_owned());
        return None;
    }
    Some(sentence)
}

/// Returns the pairs of a mapping with free keys.
fn parse_map_entries(reader: &mut FileParser<'_>, node: Node, what: &str) -> Vec<(MapKey, Node)> {
    let kind = node.describe_kind();
    match node.value {
        NodeValue::Map(pairs) => pairs,
        _ => {
            let message = format!("`{what}` is a mapping, and this is {kind}");
            reader.report(Code::WrongType, node.at, message);
            Vec::new()
        }
    }
}

fn parse_attribute_defs(reader: &mut FileParser<'_>, node: Node) -> Vec<(String, AttributeDef)> {
    let pairs = parse_map_entries(reader, node, "attributes").into_iter();
    pairs.filter_map(|(key, it)| Some((key.text, parse_attribute_def(reader, it)?))).collect()
}

fn parse_attribute_def(reader: &mut FileParser<'_>, node: Node) -> Option<AttributeDef> {
    let NodeValue::Map(_) = &node.value else {
        return Some(AttributeDef { kind: parse_attribute_kind(reader, node)?, required: false });
    };
    let mut fields = reader.parse_mapping(node, "an attribute", ATTRIBUTE_KEYS)?;
    let at = fields.mapping_start();
    let required =
        fields.take_value("required").is_some_and(|it| parse_bool(reader, &it, "required"));
    match fields.take_value("type") {
        Some(it) => Some(AttributeDef { kind: parse_attribute_kind(reader, it)?, required }),
        None => {
            let message = "an attribute needs a `type`";
            reader.report(Code::MissingKey, at, message).hint = Some(attribute_kinds_hint());
            None
        }
    }
}

fn parse_attribute_kind(reader: &mut FileParser<'_>, node: Node) -> Option<AttributeKind> {
    let at = node.at;
    if let NodeValue::List(items) = node.value {
        let words: Vec<_> =
            items.into_iter().filter_map(|it| parse_text(reader, it, "type")).collect();
        if words.is_empty() {
            reader.report(Code::BadValue, at, "the list of words is empty");
            return None;
        }
        return Some(AttributeKind::OneOf(words));
    }
    let word = parse_text(reader, node, "type")?;
    Some(match word.as_str() {
        "text" => AttributeKind::Text,
        "number" => AttributeKind::Number,
        "date" => AttributeKind::Date,
        "yes/no" => AttributeKind::YesNo,
        "link" => AttributeKind::Link(None),
        _ => match linked_genus(&word) {
            Some(genus) => AttributeKind::Link(Some(genus.to_owned())),
            None => {
                let message = format!("{} is not a type of attribute", quoted(&word));
                let meant = did_you_mean(&word, ATTRIBUTE_KINDS.iter().copied());
                let finding = reader.report(Code::BadValue, at, message);
                finding.hint = Some(attribute_kinds_hint());
                finding.suggest(meant);
                return None;
            }
        },
    })
}

/// Returns the genus in a type of attributes `link to GENUS`.
pub fn linked_genus(attribute_type: &str) -> Option<&str> {
    attribute_type.strip_prefix(LINK_PREFIX).map(str::trim).filter(|it| !it.is_empty())
}

fn attribute_kinds_hint() -> String {
    format!("{}, or the words to choose from: [low, high]", ATTRIBUTE_KINDS.join(", "))
}

fn parse_bool(reader: &mut FileParser<'_>, node: &Node, key: &str) -> bool {
    match node.to_json() {
        Value::Bool(it) => it,
        _ => {
            let message = format!("`{key}` is true or false");
            reader.report(Code::WrongType, node.at, message);
            false
        }
    }
}

/// Parses statuses: a list, or a mapping with the statuses that may follow each.
fn parse_status_defs(reader: &mut FileParser<'_>, node: Node) -> Vec<StatusDef> {
    let (mut statuses, mut ways) = (Vec::new(), Vec::new());
    match node.value {
        NodeValue::List(items) => {
            for it in items {
                let name = parse_item_text(reader, it, "statuses");
                statuses.extend(name.map(|name| StatusDef { name, next: None }));
            }
        }
        NodeValue::Scalar { .. } => {
            let message =
                "`statuses` is a list, or a mapping with the statuses that may follow each";
            reader.report(Code::WrongType, node.at, message);
        }
        NodeValue::Map(pairs) => {
            for (key, it) in pairs {
                let next = if it.is_null() {
                    None
                } else {
                    Some(parse_next_statuses(reader, it, &mut ways))
                };
                statuses.push(StatusDef { name: key.text, next });
            }
        }
    }
    let known: BTreeSet<_> = statuses.iter().map(|it| it.name.as_str()).collect();
    for (at, name) in ways.into_iter().filter(|(_, it)| !known.contains(it.as_str())) {
        // Each name is compared with all statuses, so stop at the limit.
        if reader.has_too_many_findings() {
            break;
        }
        let message = format!("{} is none of the statuses", quoted(&name));
        let meant = did_you_mean(&name, known.iter().copied());
        let finding = reader.report(Code::BadValue, at, message);
        finding.suggest(meant);
    }
    statuses
}

fn parse_next_statuses(
    reader: &mut FileParser<'_>,
    node: Node,
    ways: &mut Vec<(Position, String)>,
) -> Vec<String> {
    let items = match node.value {
        NodeValue::List(items) => items,
        _ => vec![node],
    };
    let places: Vec<_> = items.iter().map(|it| it.at).collect();
    let names = items.into_iter().map(|it| parse_item_text(reader, it, "statuses"));
    let said: Vec<_> =
        places.into_iter().zip(names).filter_map(|(at, it)| Some((at, it?))).collect();
    ways.extend(said.iter().cloned());
    said.into_iter().map(|(_, name)| name).collect()
}

fn parse_relation_defs(reader: &mut FileParser<'_>, node: Node) -> Vec<(String, RelationDef)> {
    let pairs = parse_map_entries(reader, node, "relations").into_iter();
    pairs.map(|(key, it)| (key.text, parse_relation_def(reader, it))).collect()
}

fn parse_relation_def(reader: &mut FileParser<'_>, node: Node) -> RelationDef {
    let at = node.at;
    match &node.value {
        _ if node.is_null() => RelationDef::default(),
        NodeValue::Scalar { text, .. } if text == "single" => RelationDef { single: true },
        NodeValue::Map(_) => {
            let fields = reader.parse_mapping(node, "a relation of a genus", RELATION_KEYS);
            let single = fields.and_then(|mut it| it.take_value("single"));
            RelationDef { single: single.is_some_and(|it| parse_bool(reader, &it, "single")) }
        }
        _ => {
            let message = "a relation is either `single` or without a value";
            reader.report(Code::BadValue, at, message);
            RelationDef::default()
        }
    }
}

fn attribute_def_to_yaml(it: &AttributeDef) -> OutputNode {
    let kind = match &it.kind {
        AttributeKind::Text => OutputNode::Plain("text".to_owned()),
        AttributeKind::Number => OutputNode::Plain("number".to_owned()),
        AttributeKind::Date => OutputNode::Plain("date".to_owned()),
        AttributeKind::YesNo => OutputNode::Plain("yes/no".to_owned()),
        AttributeKind::OneOf(words) => {
            OutputNode::List(words.iter().cloned().map(OutputNode::Text).collect())
        }
        AttributeKind::Link(None) => OutputNode::Plain("link".to_owned()),
        AttributeKind::Link(Some(genus)) => OutputNode::Text(format!("{LINK_PREFIX}{genus}")),
    };
    if !it.required {
        return kind;
    }
    OutputNode::Map(vec![("type", kind), ("required", OutputNode::Plain("true".to_owned()))])
}

/// Writes a mapping if any status limits the next ones; else a list.
fn status_defs_to_yaml(statuses: &[StatusDef]) -> OutputNode {
    let texts =
        |it: &[String]| OutputNode::List(it.iter().cloned().map(OutputNode::Text).collect());
    if statuses.iter().all(|it| it.next.is_none()) {
        return texts(&statuses.iter().map(|it| it.name.clone()).collect::<Vec<_>>());
    }
    let next =
        |it: &StatusDef| it.next.as_ref().map_or(OutputNode::Plain(String::new()), |it| texts(it));
    OutputNode::DynamicMap(statuses.iter().map(|it| (it.name.clone(), next(it))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suggested_status_name_escapes_its_tab() {
        let text = "name: Claim\nstatuses:\n  c\tontested: [settled]\n  settled: [contested]\n";
        let mut reader = FileParser::new("genera/claim.yaml");
        parse_genus(&mut reader, text).unwrap();
        let hints: Vec<_> = reader.into_findings().into_iter().filter_map(|it| it.hint).collect();
        assert_eq!(hints, ["did you mean `c\\tontested`?"]);
    }
    #[test]
    fn findings_about_faulty_statuses_are_limited() {
        let ways: Vec<_> =
            (0..20_000).map(|it| format!("  status-{it}: [stotus-{it}]\n")).collect();
        let mut reader = FileParser::new("genera/claim.yaml");
        parse_genus(&mut reader, &format!("name: Claim\nstatuses:\n{}", ways.concat())).unwrap();
        assert_eq!(reader.into_findings().len(), 50);
    }
}
