//! Merges two entities into one.

use crate::graph::extend::add_missing_values;
use crate::graph::references::add_unique_relation;
use palazzo_core::model::{Entity, Relation};
use palazzo_core::render::{name_in_sentence, truncate};

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
