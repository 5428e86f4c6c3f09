//! Genus files: `genera/<name>.yaml`, what is laid down for the entities of one
//! genus.
//!
//! Everything that can be said in a word is: `born: date`, `confidence: [low,
//! high]`, `lives_in: single`. A mapping says more: `{ type: date, required: true }`.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::format::file_parser::{Reader, text};
use crate::format::yaml::{Body, Key, Node, Out};
use crate::model::{Attribute, Code, Genus, Kind, RelationType, Spot, Status, did_you_mean};

const GENUS: &[&str] =
    &["name", "plural", "description", "sentence", "attributes", "statuses", "relations"];
const ATTRIBUTE: &[&str] = &["type", "required"];
const RELATION: &[&str] = &["single"];
/// The words for what an attribute may hold.
const KINDS: &[&str] = &["text", "number", "date", "yes/no", "link", "link to …"];
const LINK_TO: &str = "link to ";

pub(super) fn read(reader: &mut Reader<'_>, file: &str) -> Option<Genus> {
    let mut fields = reader.file(file, "a genus", GENUS)?;
    let name = fields.required(reader, "name");
    let plural = fields.text(reader, "plural");
    let description = fields.text(reader, "description");
    let sentence = fields.take("sentence").and_then(|it| sentence(reader, it));
    let attributes = fields.take("attributes").map(|it| attributes(reader, it));
    let statuses = fields.take("statuses").map(|it| statuses(reader, it));
    let relations = fields.take("relations").map(|it| relations(reader, it));
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

pub(super) fn out(genus: &Genus) -> Out {
    let mut pairs = vec![("name", Out::Text(genus.name.clone()))];
    let texts = [
        ("plural", &genus.plural),
        ("description", &genus.description),
        ("sentence", &genus.sentence),
    ];
    let texts = texts.into_iter().filter_map(|(key, it)| Some((key, it.clone()?)));
    pairs.extend(texts.map(|(key, it)| (key, Out::Text(it))));
    let entries = |it: Vec<(&String, Out)>| {
        Out::Entries(it.into_iter().map(|(name, it)| (name.clone(), it)).collect())
    };
    if !genus.attributes.is_empty() {
        let all = genus.attributes.iter().map(|(name, it)| (name, attribute_out(it)));
        pairs.push(("attributes", entries(all.collect())));
    }
    if !genus.statuses.is_empty() {
        pairs.push(("statuses", statuses_out(&genus.statuses)));
    }
    if !genus.relations.is_empty() {
        let word = |it: &RelationType| if it.single { "single" } else { "" };
        let all = genus.relations.iter().map(|(name, it)| (name, Out::Plain(word(it).to_owned())));
        pairs.push(("relations", entries(all.collect())));
    }
    Out::Map(pairs)
}

fn sentence(reader: &mut Reader<'_>, node: Node) -> Option<String> {
    let at = node.at;
    let sentence = text(reader, node, "sentence")?;
    if !sentence.contains(Genus::NAME) {
        let message = format!("a `sentence` has a place for the name: {}", Genus::NAME);
        reader.find(Code::BadValue, at, message).hint =
            Some("`the claim {name}`, in quotes if it holds `: `".to_owned());
        return None;
    }
    Some(sentence)
}

/// Takes the keys of a mapping that a person chose.
fn entries(reader: &mut Reader<'_>, node: Node, what: &str) -> Vec<(Key, Node)> {
    let kind = node.kind();
    match node.body {
        Body::Map(pairs) => pairs,
        _ => {
            let message = format!("`{what}` is a mapping, and this is {kind}");
            reader.find(Code::WrongType, node.at, message);
            Vec::new()
        }
    }
}

fn attributes(reader: &mut Reader<'_>, node: Node) -> Vec<(String, Attribute)> {
    let pairs = entries(reader, node, "attributes").into_iter();
    pairs.filter_map(|(key, it)| Some((key.text, attribute(reader, it)?))).collect()
}

fn attribute(reader: &mut Reader<'_>, node: Node) -> Option<Attribute> {
    let Body::Map(_) = &node.body else {
        return Some(Attribute { kind: kind(reader, node)?, required: false });
    };
    let mut fields = reader.fields(node, "an attribute", ATTRIBUTE)?;
    let at = fields.at();
    let required = fields.take("required").is_some_and(|it| flag(reader, &it, "required"));
    match fields.take("type") {
        Some(it) => Some(Attribute { kind: kind(reader, it)?, required }),
        None => {
            let message = "an attribute says of which `type` it is";
            reader.find(Code::MissingKey, at, message).hint = Some(kinds());
            None
        }
    }
}

fn kind(reader: &mut Reader<'_>, node: Node) -> Option<Kind> {
    let at = node.at;
    if let Body::List(items) = node.body {
        let words: Vec<_> = items.into_iter().filter_map(|it| text(reader, it, "type")).collect();
        if words.is_empty() {
            reader.find(Code::BadValue, at, "none of no words can be chosen");
            return None;
        }
        return Some(Kind::OneOf(words));
    }
    let word = text(reader, node, "type")?;
    Some(match word.as_str() {
        "text" => Kind::Text,
        "number" => Kind::Number,
        "date" => Kind::Date,
        "yes/no" => Kind::YesNo,
        "link" => Kind::Link(None),
        _ => match word.strip_prefix(LINK_TO).map(str::trim).filter(|it| !it.is_empty()) {
            Some(genus) => Kind::Link(Some(genus.to_owned())),
            None => {
                let message = format!("`{}` is no type of attribute", word.escape_debug());
                let meant = did_you_mean(&word, KINDS.iter().copied());
                let hint = meant.map_or_else(kinds, |it| format!("did you mean `{it}`?"));
                reader.find(Code::BadValue, at, message).hint = Some(hint);
                return None;
            }
        },
    })
}

fn kinds() -> String {
    format!("{}, or the words to choose from: [low, high]", KINDS.join(", "))
}

fn flag(reader: &mut Reader<'_>, node: &Node, key: &str) -> bool {
    match node.to_json() {
        Value::Bool(it) => it,
        _ => {
            let message = format!("`{key}` is true or false");
            reader.find(Code::WrongType, node.at, message);
            false
        }
    }
}

/// Reads statuses: a list, or with what may follow each, a mapping.
fn statuses(reader: &mut Reader<'_>, node: Node) -> Vec<Status> {
    let (mut statuses, mut ways) = (Vec::new(), Vec::new());
    match node.body {
        Body::List(items) => {
            for it in items {
                let name = text(reader, it, "statuses");
                statuses.extend(name.map(|name| Status { name, next: None }));
            }
        }
        Body::Scalar { .. } => {
            let message = "`statuses` is a list, or says what may follow each of them";
            reader.find(Code::WrongType, node.at, message);
        }
        Body::Map(pairs) => {
            for (key, it) in pairs {
                let next = if it.is_null() { None } else { Some(following(reader, it, &mut ways)) };
                statuses.push(Status { name: key.text, next });
            }
        }
    }
    let known: BTreeSet<_> = statuses.iter().map(|it| it.name.as_str()).collect();
    for (at, name) in ways.into_iter().filter(|(_, it)| !known.contains(it.as_str())) {
        // Each is compared with all.
        if reader.is_full() {
            break;
        }
        let message = format!("`{}` is none of the statuses", name.escape_debug());
        let meant = did_you_mean(&name, known.iter().copied());
        let hint = meant.map(|it| format!("did you mean `{}`?", it.escape_debug()));
        reader.find(Code::BadValue, at, message).hint = hint;
    }
    statuses
}

fn following(reader: &mut Reader<'_>, node: Node, ways: &mut Vec<(Spot, String)>) -> Vec<String> {
    let items = match node.body {
        Body::List(items) => items,
        _ => vec![node],
    };
    let places: Vec<_> = items.iter().map(|it| it.at).collect();
    let names = items.into_iter().map(|it| text(reader, it, "statuses"));
    let said: Vec<_> =
        places.into_iter().zip(names).filter_map(|(at, it)| Some((at, it?))).collect();
    ways.extend(said.iter().cloned());
    said.into_iter().map(|(_, name)| name).collect()
}

fn relations(reader: &mut Reader<'_>, node: Node) -> Vec<(String, RelationType)> {
    let pairs = entries(reader, node, "relations").into_iter();
    pairs.map(|(key, it)| (key.text, relation(reader, it))).collect()
}

fn relation(reader: &mut Reader<'_>, node: Node) -> RelationType {
    let at = node.at;
    match &node.body {
        _ if node.is_null() => RelationType::default(),
        Body::Scalar { text, .. } if text == "single" => RelationType { single: true },
        Body::Map(_) => {
            let fields = reader.fields(node, "a relation of a genus", RELATION);
            let single = fields.and_then(|mut it| it.take("single"));
            RelationType { single: single.is_some_and(|it| flag(reader, &it, "single")) }
        }
        _ => {
            let message = "of a relation one can say that it is `single`";
            reader.find(Code::BadValue, at, message);
            RelationType::default()
        }
    }
}

fn attribute_out(it: &Attribute) -> Out {
    let kind = match &it.kind {
        Kind::Text => Out::Plain("text".to_owned()),
        Kind::Number => Out::Plain("number".to_owned()),
        Kind::Date => Out::Plain("date".to_owned()),
        Kind::YesNo => Out::Plain("yes/no".to_owned()),
        Kind::OneOf(words) => Out::FlowList(words.iter().cloned().map(Out::Text).collect()),
        Kind::Link(None) => Out::Plain("link".to_owned()),
        Kind::Link(Some(genus)) => Out::Text(format!("{LINK_TO}{genus}")),
    };
    if !it.required {
        return kind;
    }
    Out::FlowMap(vec![("type", kind), ("required", Out::Plain("true".to_owned()))])
}

/// A mapping where something is laid down for what follows; else a list.
fn statuses_out(statuses: &[Status]) -> Out {
    let texts = |it: &[String]| Out::FlowList(it.iter().cloned().map(Out::Text).collect());
    if statuses.iter().all(|it| it.next.is_none()) {
        return texts(&statuses.iter().map(|it| it.name.clone()).collect::<Vec<_>>());
    }
    let next = |it: &Status| it.next.as_ref().map_or(Out::Plain(String::new()), |it| texts(it));
    Out::Entries(statuses.iter().map(|it| (it.name.clone(), next(it))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_with_a_tab_in_its_name_is_proposed_without_one() {
        let text = "name: Claim\nstatuses:\n  c\tontested: [settled]\n  settled: [contested]\n";
        let mut reader = Reader::new("genera/claim.yaml");
        read(&mut reader, text).unwrap();
        let hints: Vec<_> = reader.into_findings().into_iter().filter_map(|it| it.hint).collect();
        assert_eq!(hints, ["did you mean `c\\tontested`?"]);
    }
    #[test]
    fn statuses_of_nothing_but_faults_are_not_all_compared() {
        let ways: Vec<_> =
            (0..20_000).map(|it| format!("  status-{it}: [stotus-{it}]\n")).collect();
        let mut reader = Reader::new("genera/claim.yaml");
        read(&mut reader, &format!("name: Claim\nstatuses:\n{}", ways.concat())).unwrap();
        assert_eq!(reader.into_findings().len(), 50);
    }
}
