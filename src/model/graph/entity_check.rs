//! What is wrong with an entity, given what is laid down for its genus and who
//! else there is.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::model::entity::genus::scalar;
use crate::model::{
    Attribute, Code, Date, Entity, Genus, Graph, Kind, Relation, Severity, Trail, did_you_mean,
};

/// Something that is wrong with an entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What kind of thing it is.
    pub code: Code,
    /// Where it stands in the entity's file.
    pub about: Trail,
    /// What is wrong: one sentence without a full stop.
    pub message: String,
    /// What to do about it, if we know.
    pub hint: Option<String>,
    /// The name that is named and nobody has, if that is what is wrong.
    pub lost: Option<String>,
}

impl Graph {
    /// Tells everything that is wrong with an entity.
    pub fn faults(&self, entity: &Entity) -> Vec<Fault> {
        let mut faults = Vec::new();
        if let Some(genus) = self.genus(&entity.genus) {
            faults.extend(status(genus, entity));
            faults.extend(genus.attributes.iter().filter_map(|(name, about)| {
                self.attribute(genus, name, about, entity.attributes.get(name))
            }));
            faults.extend(contradictions(genus, entity));
            faults.extend(strangers(genus, entity));
        }
        let relations = entity.relations.iter().enumerate();
        let lost = relations.filter(|(_, it)| it.to != entity.name && self.get(&it.to).is_none());
        faults.extend(lost.map(|(place, it)| undefined(&it.to, relation(place).value("to"))));
        faults.extend(entity.relations.iter().enumerate().flat_map(misdated));
        faults
    }

    /// Tells of a name that nobody has defined, where it stands in a file that is
    /// `about` it.
    pub fn lost(&self, name: &str, about: Trail) -> Option<Fault> {
        self.get(name).is_none().then(|| undefined(name, about))
    }

    /// Looks at an attribute of which the genus speaks.
    fn attribute(
        &self,
        genus: &Genus,
        name: &str,
        about: &Attribute,
        value: Option<&Value>,
    ) -> Option<Fault> {
        let place = || Trail::TOP.value("attributes").value(name);
        let Some(value) = value.filter(|it| !it.is_null()) else {
            let message = format!("{} needs the attribute `{name}`: {}", genus.one(), about.kind);
            let missing = Fault::new(Code::MissingAttribute, Trail::TOP, message);
            return about.required.then_some(missing);
        };
        if let Some(why) = about.kind.refuses(value) {
            let message = format!("the attribute `{name}` of {}: {why}", genus.one());
            return Some(Fault::new(Code::WrongAttribute, place(), message));
        }
        let (Kind::Link(wanted), Some(to)) = (&about.kind, scalar(value)) else { return None };
        let Some(other) = self.get(&to) else { return Some(undefined(&to, place())) };
        let wanted = wanted.as_ref().filter(|it| **it != other.genus)?;
        let to = to.escape_debug();
        let message = format!("`{name}` names an entity of genus {wanted}; `{to}` is none");
        Some(Fault::new(Code::WrongAttribute, place(), message))
    }
}

impl Fault {
    /// Tells whether it is forbidden: no tool that could say better brings it about.
    pub fn is_forbidden(&self) -> bool {
        self.is_of_genus() || self.is_of_file()
    }

    /// Tells whether the genus forbids it.
    pub fn is_of_genus(&self) -> bool {
        matches!(self.code, Code::UnknownStatus | Code::MissingAttribute | Code::WrongAttribute)
    }

    /// Tells whether the file is wrong by itself: its reader finds that, too.
    pub fn is_of_file(&self) -> bool {
        matches!(self.code, Code::NoDate | Code::EmptyPeriod)
    }

    /// Tells whether something is wrong, and not only worth knowing.
    pub fn is_grave(&self) -> bool {
        self.code.severity() < Severity::Info
    }

    fn new(code: Code, about: Trail, message: String) -> Self {
        Self { code, about, message, hint: None, lost: None }
    }
}

fn status(genus: &Genus, entity: &Entity) -> Option<Fault> {
    let message = genus.refuses_status(entity.status.as_ref()?)?;
    Some(Fault::new(Code::UnknownStatus, Trail::TOP.value("status"), message))
}

/// Tells of attributes that the genus does not lay down, though it lays down others.
fn strangers(genus: &Genus, entity: &Entity) -> impl Iterator<Item = Fault> {
    let known = || genus.attributes.iter().map(|(name, _)| name.as_str());
    let keys = entity.attributes.keys().filter(|_| !genus.attributes.is_empty());
    keys.filter(|key| genus.attribute(key).is_none()).map(move |key| {
        let message =
            format!("no attribute `{}` is laid down for {}", key.escape_debug(), genus.one());
        let about = Trail::TOP.value("attributes").key(key);
        let meant = did_you_mean(key, known());
        let hint = meant.map(|it| format!("did you mean `{}`?", it.escape_debug()));
        Fault { hint, ..Fault::new(Code::UnknownAttribute, about, message) }
    })
}

fn undefined(name: &str, about: Trail) -> Fault {
    let message = format!("there is no entity `{}` yet", name.escape_debug());
    Fault { lost: Some(name.to_owned()), ..Fault::new(Code::UndefinedEntity, about, message) }
}

fn relation(place: usize) -> Trail {
    Trail::TOP.value("relations").item(place)
}

fn misdated((place, it): (usize, &Relation)) -> impl Iterator<Item = Fault> {
    let [kind, to] = [&it.kind, &it.to].map(|it| it.escape_debug().to_string());
    it.misdated().into_iter().map(move |(key, code, why)| {
        let message = format!("`{key}` of {kind} → {to}: {why}");
        Fault::new(code, relation(place).value(key), message)
    })
}

/// A relation, and the stretch of time in which it holds.
type Held<'a> = (Date, Option<Date>, usize, &'a Relation);

/// Tells of relations that hold at the same time where only one may. Of those
/// whose dates are no dates nothing is known.
fn contradictions(genus: &Genus, entity: &Entity) -> Vec<Fault> {
    let mut held: BTreeMap<&str, Vec<Held<'_>>> = BTreeMap::new();
    for (place, it) in entity.relations.iter().enumerate() {
        if let (true, Some((begin, end))) = (genus.is_single(&it.kind), it.period()) {
            let begin = begin.unwrap_or(Date::FIRST);
            // What ends before it begins contradicts nothing.
            if end.is_none_or(|end| !end.has_begun(begin)) {
                held.entry(&it.kind).or_default().push((begin, end, place, it));
            }
        }
    }
    held.into_values().flat_map(overlaps).collect()
}

/// Finds relations that begin before one to another entity has ended. It is
/// enough to look at the one that ends last: whatever else still holds then
/// was in contradiction with it before.
fn overlaps(mut held: Vec<Held<'_>>) -> Vec<Fault> {
    held.sort_by_key(|(begin, ..)| *begin);
    let mut faults = Vec::new();
    let mut last: Option<Held<'_>> = None;
    for now in held {
        let before = last.filter(|(_, end, _, it)| {
            it.to != now.3.to && end.is_none_or(|end| !end.has_begun(now.0))
        });
        if let Some((.., it)) = before {
            let (kind, a, b) = (&it.kind, it.to.escape_debug(), now.3.to.escape_debug());
            let message = format!("`{kind}` holds for `{a}` and `{b}` at once, and may for one");
            let about = relation(now.2).value("to");
            let fault = Fault::new(Code::Contradiction, about, message);
            faults.push(Fault { hint: Some("say until when the former held".to_owned()), ..fault });
        }
        let lasts = |(_, end, ..): &Held<'_>| match (end, now.1) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(end), Some(other)) => other.has_begun(*end),
        };
        last = last.filter(lasts).or(Some(now));
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{RelationType, Status};

    fn person() -> Genus {
        let attribute = |kind, required| Attribute { kind, required };
        let words = vec!["low".to_owned(), "high".to_owned()];
        Genus {
            name: "Person".to_owned(),
            attributes: vec![
                ("born".to_owned(), attribute(Kind::Date, true)),
                ("trust".to_owned(), attribute(Kind::OneOf(words), false)),
                ("teacher".to_owned(), attribute(Kind::Link(Some("Person".to_owned())), false)),
            ],
            statuses: vec![
                Status { name: "alive".to_owned(), next: Some(vec!["dead".to_owned()]) },
                Status { name: "dead".to_owned(), next: Some(Vec::new()) },
            ],
            relations: vec![("lives_in".to_owned(), RelationType { single: true })],
            ..Genus::default()
        }
    }

    fn told(attributes: &Value, status: &str, homes: &[(&str, &str, &str)]) -> String {
        let text = |it: &str| Some(it.to_owned()).filter(|it| !it.is_empty());
        let mut graph = Graph::default();
        graph.put_genus("genera/person.yaml", Some(person())).unwrap();
        let mut entity = Entity {
            id: None,
            name: "Rome".to_owned(),
            is_defined: true,
            genus: "City".to_owned(),
            status: None,
            attributes: serde_json::Map::new(),
            observations: Vec::new(),
            relations: Vec::new(),
        };
        graph.put("rome.yaml", Some(entity.clone())).unwrap();
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
        let faults = graph.faults(&entity).into_iter();
        faults.map(|it| format!("[{}] {}", it.code, it.message)).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn an_entity_is_held_to_what_its_genus_lays_down() {
        use serde_json::json;
        let fine = json!({ "born": "-0246" });
        assert_eq!(told(&fine, "alive", &[]), "");
        let more = json!({ "born": "-0246", "shoes": 2 });
        assert_eq!(
            told(&more, "", &[]),
            "[unknown-attribute] no attribute `shoes` is laid down for a Person"
        );
        assert_eq!(told(&fine, "", &[]), "");
        insta::assert_snapshot!(told(&json!({ "trust": "hihg", "teacher": "Rome" }), "daed", &[]), @"
        [unknown-status] `daed` is no status of a Person; did you mean `dead`? (there are `alive`, `dead`)
        [missing-attribute] a Person needs the attribute `born`: a date (1972, 1972-05-01, 44 BC)
        [wrong-attribute] the attribute `trust` of a Person: `hihg` is none of its words; did you mean `high`? (there are `low`, `high`)
        [wrong-attribute] `teacher` names an entity of genus Person; `Rome` is none
        ");
        insta::assert_snapshot!(told(&json!({ "born": 1972, "trust": ["low"], "teacher": "Sosylus" }), "", &[]), @r#"
        [wrong-attribute] the attribute `trust` of a Person: `[\"low\"]` is none of its words (there are `low`, `high`)
        [undefined-entity] there is no entity `Sosylus` yet
        "#);
    }

    #[test]
    fn one_may_not_live_in_two_places_at_once() {
        let at = |homes: &[(&str, &str, &str)]| {
            let told = told(&serde_json::json!({ "born": "-0246" }), "", homes);
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
            "[contradiction] `lives_in` holds for `Carthage` and `Rome` at once, and may for one"
        );
        let all_along = [("Gades", "-0230", "-0229"), ("Rome", "-0100", ""), ("Carthage", "", "")];
        assert_eq!(at(&all_along).lines().count(), 2, "{}", at(&all_along));
    }
}
