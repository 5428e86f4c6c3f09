//! Merges two entities into one, and adds to an entity what it lacks.

use crate::graph::references::add_unique_relation;
use crate::graph::relations::describe_relation;
use palazzo_core::model::{Entity, Relation, quoted};
use palazzo_core::render::{json_value_text, name_in_sentence, truncate};

/// Maximum number of characters of a value in a note.
const MAX_VALUE_CHARS: usize = 60;

/// Adds everything in `other` to `into`. If both have a value, `into` keeps its own; relations
/// between the merged entities are removed. Returns a note on each value and relation that is lost.
/// `family` are the names of all entities that are being merged.
pub(crate) fn merge_entity(into: &mut Entity, other: &Entity, family: &[String]) -> Vec<String> {
    let mut conflicts = Vec::new();
    let mut add_conflict = |what: &str, kept: &str, lost: &str| {
        let [kept, lost] = [kept, lost].map(|it| name_in_sentence(&truncate(it, 60)));
        let other = name_in_sentence(&truncate(&other.name, 60));
        conflicts.push(format!("different values: {what} stays {kept}; {other} had {lost}"));
    };
    add_missing_values(into, other, &mut add_conflict);
    conflicts.extend(merge_relations(into, other, family));
    conflicts
}

/// Adds the relations of `other`. Returns a note on each relation that is removed.
fn merge_relations(into: &mut Entity, other: &Entity, family: &[String]) -> Vec<String> {
    let is_between = |from: &str, it: &Relation| it.to != from && family.contains(&it.to);
    let mut removed = Vec::new();
    for from in [&*into, other] {
        let between = from.relations.iter().filter(|it| is_between(&from.name, it));
        let labels = between.map(|it| {
            let [kind, to] = [&it.kind, &it.to].map(|it| name_in_sentence(&truncate(it, 60)));
            format!("{kind} → {to}")
        });
        removed.extend(labels.map(|it| format!("removed {it}, a relation between the two")));
    }
    let own = into.name.clone();
    into.relations.retain(|it| !is_between(&own, it));
    for relation in other.relations.iter().filter(|it| !is_between(&other.name, it)) {
        let mut relation = relation.clone();
        if relation.to == other.name {
            relation.to.clone_from(&own);
        }
        let to = relation.to.clone();
        add_unique_relation(&mut into.relations, relation, &to);
    }
    removed
}

/// Adds to `entity` the status, attributes, observations and relations of `new` that it lacks.
/// Returns a note on each value of `new` that differs from one that the entity has.
pub(crate) fn extend_entity(entity: &mut Entity, new: &Entity) -> Vec<String> {
    let (mut differences, name) = (Vec::new(), quoted_value(&entity.name));
    let mut note = |what: &str, kept: &str, given: &str| {
        let [kept, given] = [kept, given].map(quoted_value);
        differences.push(format!("{name}: {what} stays {kept}; {given} was not written"));
    };
    add_missing_values(entity, new, &mut note);
    for relation in &new.relations {
        if let Err(kept) = add_relation(&mut entity.relations, relation) {
            note("relation", &kept, &describe_relation(relation));
        }
    }
    differences
}

/// Adds the status, attributes and observations of `other` that `entity` lacks. Calls `on_difference`
/// for each value, the genus among them, that both have: with its name, the value that stays, and the
/// other one.
fn add_missing_values(
    entity: &mut Entity,
    other: &Entity,
    on_difference: &mut impl FnMut(&str, &str, &str),
) {
    if entity.genus != other.genus {
        on_difference("genus", &entity.genus, &other.genus);
    }
    match (&entity.status, &other.status) {
        (Some(kept), Some(lost)) if kept != lost => on_difference("status", kept, lost),
        (None, Some(status)) => entity.status = Some(status.clone()),
        _ => {}
    }
    for (key, value) in &other.attributes {
        match entity.attributes.get(key) {
            None => drop(entity.attributes.insert(key.clone(), value.clone())),
            Some(kept) if kept == value => {}
            Some(kept) => {
                let name = name_in_sentence(&truncate(key, MAX_VALUE_CHARS));
                on_difference(&name, &json_value_text(kept), &json_value_text(value));
            }
        }
    }
    for observation in &other.observations {
        if !entity.observations.contains(observation) {
            entity.observations.push(observation.clone());
        }
    }
}

/// Adds a relation, or the dates and the source that an existing one lacks. Fails with the existing
/// relation if the two differ and overlap in time.
fn add_relation(relations: &mut Vec<Relation>, new: &Relation) -> Result<(), String> {
    let is_same_fact =
        |it: &&mut Relation| it.has_same_kind_and_target(new) && it.overlaps_in_time(new);
    let mut same: Vec<_> = relations.iter_mut().filter(is_same_fact).collect();
    // The caller refuses invalid dates later, together with other violations.
    if same.is_empty() || !new.date_errors().is_empty() {
        relations.push(new.clone());
        return Ok(());
    }
    let has = |old: &Relation| {
        let differs = |old: &Option<String>, new: &Option<String>| new.is_some() && old != new;
        !differs(&old.since, &new.since)
            && !differs(&old.until, &new.until)
            && !differs(&old.source, &new.source)
    };
    if same.iter().any(|it| has(it)) {
        return Ok(());
    }
    let kept = same.iter().map(|it| describe_relation(it)).collect::<Vec<_>>().join(", ");
    let [old] = same.as_mut_slice() else { return Err(kept) };
    let mut extended = old.clone();
    extended.since = extended.since.or_else(|| new.since.clone());
    extended.until = extended.until.or_else(|| new.until.clone());
    extended.source = extended.source.or_else(|| new.source.clone());
    if !has(&extended) {
        return Err(kept);
    }
    **old = extended;
    Ok(())
}

fn quoted_value(text: &str) -> String {
    quoted(&truncate(text, MAX_VALUE_CHARS))
}
