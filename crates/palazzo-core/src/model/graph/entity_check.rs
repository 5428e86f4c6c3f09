//! Checks an entity against the definition of its genus and against the other entities.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::model::entity::genus::scalar_text;
use crate::model::{
    AttributeDef, AttributeKind, Code, Date, Entity, Genus, Graph, Relation, Severity, ValuePath,
    did_you_mean, quoted, quoted_unless_plain,
};

/// A fault in an entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntityFault {
    /// The code of the finding.
    pub code: Code,
    /// The path to the value inside the entity's file.
    pub path: ValuePath,
    /// The message: one sentence without a full stop.
    pub message: String,
    /// How to fix it, if known.
    pub hint: Option<String>,
    /// The word that was probably meant.
    pub suggestion: Option<String>,
    /// The name that no file defines, if that is the fault.
    pub undefined_name: Option<String>,
}

impl Graph {
    /// Returns all faults of an entity.
    pub fn entity_faults(&self, entity: &Entity) -> Vec<EntityFault> {
        let mut faults = Vec::new();
        if let Some(genus) = self.genus_definition(&entity.genus) {
            faults.extend(status_fault(genus, entity));
            faults.extend(genus.attributes.iter().filter_map(|(name, about)| {
                self.attribute_fault(genus, name, about, entity.attributes.get(name))
            }));
            faults.extend(find_contradictions(genus, entity));
            faults.extend(unknown_attribute_faults(genus, entity));
        }
        let relations = entity.relations.iter().enumerate();
        let undefined =
            relations.filter(|(_, it)| it.to != entity.name && self.get(&it.to).is_none());
        faults.extend(undefined.map(|(index, it)| {
            undefined_entity_fault(&it.to, relation_path(index).then_value("to"))
        }));
        faults.extend(entity.relations.iter().enumerate().flat_map(relation_date_faults));
        faults
    }

    /// Returns a fault if no file defines `name`; `about` is the path to the name in its file.
    pub fn undefined_name_fault(&self, name: &str, about: ValuePath) -> Option<EntityFault> {
        self.get(name).is_none().then(|| undefined_entity_fault(name, about))
    }

    /// Checks one attribute that the genus defines.
    fn attribute_fault(
        &self,
        genus: &Genus,
        name: &str,
        about: &AttributeDef,
        value: Option<&Value>,
    ) -> Option<EntityFault> {
        let place = || ValuePath::ROOT.then_value("attributes").then_value(name);
        let Some(value) = value.filter(|it| !it.is_null()) else {
            let message = format!(
                "{} needs the attribute {}: {}",
                genus.name_with_article(),
                quoted(name),
                about.kind
            );
            let missing = EntityFault::new(Code::MissingAttribute, ValuePath::ROOT, message);
            return about.required.then_some(missing);
        };
        if let Some(why) = about.kind.value_error(value) {
            let message =
                format!("the attribute {} of {}: {why}", quoted(name), genus.name_with_article());
            return Some(EntityFault::new(Code::WrongAttribute, place(), message));
        }
        let (AttributeKind::Link(target), Some(to)) = (&about.kind, scalar_text(value)) else {
            return None;
        };
        let Some(other) = self.get(&to) else { return Some(undefined_entity_fault(&to, place())) };
        let target = target.as_ref().filter(|it| **it != other.genus)?;
        let ([name, to], target) = ([name, &to].map(quoted), quoted_unless_plain(target));
        let message = format!("{name} must name an entity of genus {target}; {to} is not one");
        Some(EntityFault::new(Code::WrongAttribute, place(), message))
    }
}

impl EntityFault {
    /// Returns whether tools must reject a write that causes this fault.
    pub fn is_rejected_on_write(&self) -> bool {
        self.is_genus_violation() || self.is_invalid_date()
    }

    /// Returns whether it violates the genus definition.
    pub fn is_genus_violation(&self) -> bool {
        matches!(self.code, Code::UnknownStatus | Code::MissingAttribute | Code::WrongAttribute)
    }

    /// Returns whether it is a wrong date, which the parser of the file finds as well.
    pub fn is_invalid_date(&self) -> bool {
        matches!(self.code, Code::NoDate | Code::EmptyPeriod)
    }

    /// Returns whether it is at least a warning, not only information.
    pub fn is_warning_or_error(&self) -> bool {
        self.code.severity() < Severity::Info
    }

    fn new(code: Code, about: ValuePath, message: String) -> Self {
        let (hint, suggestion, undefined_name) = (None, None, None);
        Self { code, path: about, message, hint, suggestion, undefined_name }
    }
}

fn status_fault(genus: &Genus, entity: &Entity) -> Option<EntityFault> {
    let message = genus.status_error(entity.status.as_ref()?)?;
    Some(EntityFault::new(Code::UnknownStatus, ValuePath::ROOT.then_value("status"), message))
}

/// Returns a fault for each attribute that the genus does not define; none if it defines no
/// attributes.
fn unknown_attribute_faults(genus: &Genus, entity: &Entity) -> impl Iterator<Item = EntityFault> {
    let known = || genus.attributes.iter().map(|(name, _)| name.as_str());
    let keys = entity.attributes.keys().filter(|_| !genus.attributes.is_empty());
    keys.filter(|key| genus.attribute_def(key).is_none()).map(move |key| {
        let message =
            format!("no attribute {} is defined for {}", quoted(key), genus.name_with_article());
        let about = ValuePath::ROOT.then_value("attributes").then_key(key);
        let suggestion = did_you_mean(key, known()).map(str::to_owned);
        EntityFault { suggestion, ..EntityFault::new(Code::UnknownAttribute, about, message) }
    })
}

fn undefined_entity_fault(name: &str, about: ValuePath) -> EntityFault {
    let message = format!("there is no entity {} yet", quoted(name));
    EntityFault {
        undefined_name: Some(name.to_owned()),
        ..EntityFault::new(Code::UndefinedEntity, about, message)
    }
}

fn relation_path(index: usize) -> ValuePath {
    ValuePath::ROOT.then_value("relations").then_item(index)
}

fn relation_date_faults((index, it): (usize, &Relation)) -> impl Iterator<Item = EntityFault> {
    let [kind, to] = [&it.kind, &it.to].map(|it| quoted(it));
    it.date_errors().into_iter().map(move |(key, code, why)| {
        let message = format!("`{key}` of {kind} → {to}: {why}");
        EntityFault::new(code, relation_path(index).then_value(key), message)
    })
}

/// A relation with its start and end, and its index in the entity.
type DatedRelation<'a> = (Date, Option<Date>, usize, &'a Relation);

/// Returns faults for relations that overlap in time although the genus allows only one at a time.
/// Relations with invalid dates are ignored.
fn find_contradictions(genus: &Genus, entity: &Entity) -> Vec<EntityFault> {
    let mut relations: BTreeMap<&str, Vec<DatedRelation<'_>>> = BTreeMap::new();
    for (index, it) in entity.relations.iter().enumerate() {
        if let (true, Some((begin, end))) = (genus.is_single_relation(&it.kind), it.parsed_dates())
        {
            let begin = begin.unwrap_or(Date::FIRST);
            // A relation that ends before it begins contradicts nothing.
            if end.is_none_or(|end| !end.has_begun_by(begin)) {
                relations.entry(&it.kind).or_default().push((begin, end, index, it));
            }
        }
    }
    relations.into_values().flat_map(find_overlaps).collect()
}

/// Finds relations that begin before one to another entity has ended. It is enough to compare with
/// the one that ends last: any other that still holds has already been reported as a contradiction
/// with it.
fn find_overlaps(mut relations: Vec<DatedRelation<'_>>) -> Vec<EntityFault> {
    relations.sort_by_key(|(begin, ..)| *begin);
    let mut faults = Vec::new();
    let mut last: Option<DatedRelation<'_>> = None;
    for now in relations {
        let before = last.filter(|(_, end, _, it)| {
            it.to != now.3.to && end.is_none_or(|end| !end.has_begun_by(now.0))
        });
        if let Some((.., it)) = before {
            let [kind, a, b] = [&it.kind, &it.to, &now.3.to].map(|it| quoted(it));
            let message = format!("{kind} holds for {a} and {b} at once, but only one is allowed");
            let about = relation_path(now.2).then_value("to");
            let fault = EntityFault::new(Code::Contradiction, about, message);
            faults.push(EntityFault {
                hint: Some("set `until` of the former one".to_owned()),
                ..fault
            });
        }
        let lasts = |(_, end, ..): &DatedRelation<'_>| match (end, now.1) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(end), Some(other)) => other.has_begun_by(*end),
        };
        last = last.filter(lasts).or(Some(now));
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{RelationDef, StatusDef};

    fn person_genus() -> Genus {
        let attribute = |kind, required| AttributeDef { kind, required };
        let words = vec!["low".to_owned(), "high".to_owned()];
        Genus {
            name: "Person".to_owned(),
            attributes: vec![
                ("born".to_owned(), attribute(AttributeKind::Date, true)),
                ("trust".to_owned(), attribute(AttributeKind::OneOf(words), false)),
                (
                    "teacher".to_owned(),
                    attribute(AttributeKind::Link(Some("Person".to_owned())), false),
                ),
            ],
            statuses: vec![
                StatusDef { name: "alive".to_owned(), next: Some(vec!["dead".to_owned()]) },
                StatusDef { name: "dead".to_owned(), next: Some(Vec::new()) },
            ],
            relations: vec![("lives_in".to_owned(), RelationDef { single: true })],
            ..Genus::default()
        }
    }

    fn list_faults(attributes: &Value, status: &str, homes: &[(&str, &str, &str)]) -> String {
        let text = |it: &str| Some(it.to_owned()).filter(|it| !it.is_empty());
        let mut graph = Graph::default();
        graph.set_genus_in_file("genera/person.yaml", Some(person_genus())).unwrap();
        let mut entity = Entity {
            id: None,
            name: "Rome".to_owned(),
            is_defined: true,
            genus: "City".to_owned(),
            status: None,
            attributes: serde_json::Map::new(),
            observations: Vec::new(),
            relations: Vec::new(),
            former_names: Vec::new(),
        };
        graph.set_file_entity("rome.yaml", Some(entity.clone())).unwrap();
        let relation = |(to, since, until): &(&str, &str, &str)| Relation {
            kind: "lives_in".to_owned(),
            to: (*to).to_owned(),
            since: text(since),
            until: text(until),
            source: None,
        };
        entity.genus = "Person".to_owned();
        entity.name = "Hannibal".to_owned();
        entity.status = text(status);
        entity.attributes = attributes.as_object().unwrap().clone();
        entity.relations = homes.iter().map(relation).collect();
        let faults = graph.entity_faults(&entity).into_iter();
        faults.map(|it| format!("[{}] {}", it.code, it.message)).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn an_entity_is_checked_against_its_genus() {
        use serde_json::json;
        let fine = json!({ "born": "-0246" });
        assert_eq!(list_faults(&fine, "alive", &[]), "");
        let more = json!({ "born": "-0246", "shoes": 2 });
        assert_eq!(
            list_faults(&more, "", &[]),
            "[unknown-attribute] no attribute `shoes` is defined for a Person"
        );
        assert_eq!(list_faults(&fine, "", &[]), "");
        insta::assert_snapshot!(list_faults(&json!({ "trust": "hihg", "teacher": "Rome" }), "daed", &[]), @"
        [unknown-status] `daed` is no status of a Person; did you mean `dead`? (there are `alive`, `dead`)
        [missing-attribute] a Person needs the attribute `born`: a date (1972, 1972-05-01, 44 BC)
        [wrong-attribute] the attribute `trust` of a Person: `hihg` is none of its words; did you mean `high`? (there are `low`, `high`)
        [wrong-attribute] `teacher` must name an entity of genus Person; `Rome` is not one
        ");
        insta::assert_snapshot!(list_faults(&json!({ "born": 1972, "trust": ["low"], "teacher": "Sosylus" }), "", &[]), @r#"
        [wrong-attribute] the attribute `trust` of a Person: `["low"]` is none of its words; did you mean `low`? (there are `low`, `high`)
        [undefined-entity] there is no entity `Sosylus` yet
        "#);
    }

    #[test]
    fn a_single_relation_may_not_hold_for_two_targets_at_once() {
        let at = |homes: &[(&str, &str, &str)]| {
            let told = list_faults(&serde_json::json!({ "born": "-0246" }), "", homes);
            let told: Vec<_> = told.lines().filter(|it| it.starts_with("[contra")).collect();
            told.join("\n")
        };
        let from_then_on = [("Carthage", "", "-0236"), ("Rome", "-0236", "")];
        assert_eq!(at(&from_then_on), "");
        let twice = [("Rome", "-0236", ""), ("Rome", "-0100", "")];
        assert_eq!(at(&twice), "");
        let nobody_knows = [("Rome", "", "when he left"), ("Carthage", "", "")];
        assert_eq!(at(&nobody_knows), "");
        let years_together = [("Carthage", "", "-0236"), ("Rome", "-0237-12-31", "")];
        assert_eq!(
            at(&years_together),
            "[contradiction] `lives_in` holds for `Carthage` and `Rome` at once, but only one is allowed"
        );
        let all_along = [("Gades", "-0230", "-0229"), ("Rome", "-0100", ""), ("Carthage", "", "")];
        assert_eq!(at(&all_along).lines().count(), 2, "{}", at(&all_along));
    }
}
