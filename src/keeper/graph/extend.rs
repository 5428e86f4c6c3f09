//! Adds to an entity what it lacks, and never changes what it has.

use crate::keeper::graph::relations::describe_relation;
use crate::model::{Entity, Relation, quoted};
use crate::render::{json_value_text, truncate};

/// Maximum number of characters of a value in a note.
const MAX_VALUE_CHARS: usize = 60;

/// Adds to `entity` the status, attributes, observations and relations of `new` that it lacks.
/// Returns a note on each value of `new` that differs from one that the entity has.
pub(crate) fn extend_entity(entity: &mut Entity, new: &Entity) -> Vec<String> {
    let (mut differences, name) = (Vec::new(), short(&entity.name));
    let mut note = |what: &str, kept: &str, given: &str| {
        let [kept, given] = [kept, given].map(short);
        differences.push(format!("{name}: {what} stays {kept}; {given} was not written"));
    };
    if entity.genus != new.genus {
        note("the genus", &entity.genus, &new.genus);
    }
    match (&entity.status, &new.status) {
        (Some(kept), Some(given)) if kept != given => note("the status", kept, given),
        (None, Some(status)) => entity.status = Some(status.clone()),
        _ => {}
    }
    for (key, given) in &new.attributes {
        match entity.attributes.get(key) {
            None => drop(entity.attributes.insert(key.clone(), given.clone())),
            Some(kept) if kept == given => {}
            Some(kept) => note(&short(key), &json_value_text(kept), &json_value_text(given)),
        }
    }
    for observation in &new.observations {
        if !entity.observations.contains(observation) {
            entity.observations.push(observation.clone());
        }
    }
    for relation in &new.relations {
        if let Err(kept) = add_relation(&mut entity.relations, relation) {
            note("a relation", &kept, &describe_relation(relation));
        }
    }
    differences
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

fn short(text: impl AsRef<str>) -> String {
    quoted(&truncate(text.as_ref(), MAX_VALUE_CHARS))
}
