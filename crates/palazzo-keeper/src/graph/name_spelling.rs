//! Which existing genera and entities the names of new entities mean, also if they are spelt in
//! another way.

use std::collections::HashMap;

use palazzo_core::model::{Entity, Graph, Relation, quoted};
use palazzo_core::render;

/// Changes the spelling of genera that differ from existing ones only in case, and returns a note
/// on each: the definition of a genus applies only to its exact spelling.
pub(crate) fn unify_genus_spelling(graph: &Graph, new: &mut [Entity]) -> Vec<String> {
    let (mut notes, mut spellings) = (Vec::new(), HashMap::new());
    for Entity { genus, .. } in new {
        let spelling = graph.canonical_genus_name(genus).unwrap_or(genus).to_owned();
        let spelling = spellings.entry(genus.to_lowercase()).or_insert(spelling);
        if genus != spelling {
            let [before, after] = [&*genus, spelling].map(|it| quoted(&render::truncate(it, 60)));
            notes.push(format!("the genus {before} was changed to the spelling {after}"));
            genus.clone_from(spelling);
        }
    }
    notes.dedup();
    notes
}

/// Gives an entity without an exact namesake the name of the only one of its genus whose name differs from it in
/// case, blanks and underscores. Returns a note on that, or on one that was called so before.
pub(crate) fn unify_entity_name_spelling(graph: &Graph, given: &mut Entity) -> Option<String> {
    if graph.get(&given.name).is_some() {
        return None;
    }
    let asked = quoted(&render::truncate(&given.name, 80));
    if let Some(known) = graph.find_entity_by_current_name(&given.name)
        && known.genus == given.genus
    {
        given.name.clone_from(&known.name);
        return Some(format!("{asked} is {}", quoted(&render::truncate(&known.name, 80))));
    }
    let now = graph.entities_formerly_named(&given.name).next()?;
    let now = quoted(&render::truncate(&now.name, 80));
    Some(format!(
        "{asked} was the name of {now}: if it is meant, merge the two with update_entity (`name` {now}, \
         `merge`)"
    ))
}

/// Directs relations to names that an entity had before, or that differ from its name in case, to the entity,
/// unless another one has the name exactly.
pub(crate) fn resolve_relation_targets(graph: &Graph, new: &[String], relations: &mut [Relation]) {
    for it in relations {
        if graph.get(&it.to).is_none()
            && !new.contains(&it.to)
            && let Some(known) = graph.find_entity(&it.to)
        {
            it.to.clone_from(&known.name);
        }
    }
}

/// Returns a note if another entity has a name that differs only in case.
pub(crate) fn case_variant_note(graph: &Graph, name: &str) -> Option<String> {
    let other = graph.names_ignoring_case(name).find(|it| *it != name)?;
    let [name, other] = [name, other].map(|it| quoted(&render::truncate(it, 80)));
    Some(format!("the name {name} differs from the name of the entity {other} only in case"))
}
