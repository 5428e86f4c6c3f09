//! Holding what tools do to what is laid down for genera.

use std::collections::HashMap;

use crate::keeper::{EntityViolations, Refusal};
use crate::model::{Entity, EntityFault, Graph};
use crate::render;

/// How many things an answer tells of.
const MAX_NOTES: usize = 3;

/// What becomes of an entity that its genus forbids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RulePolicy {
    /// It is refused, and the caller told what would be allowed.
    Reject,
    /// It is written, and `check` tells of it: the caller's tools know no
    /// statuses and attributes, and could not do better.
    Report,
}

/// Says what forbids an entity, or a change of its status. What was wrong before
/// the change is no reason: somebody has to be able to mend it.
/// `old` is what becomes the new one: itself, and then those that become one with it.
pub(crate) fn violations(graph: &Graph, old: &[Entity], new: &Entity) -> Option<EntityViolations> {
    let before: Vec<_> = old.iter().flat_map(|it| graph.entity_faults(it)).collect();
    let faults = graph.entity_faults(new).into_iter().filter(|it| is_new_fault(it, &before));
    let faults: Vec<_> = faults.filter(EntityFault::is_rejected_on_write).collect();
    let change = status_change_violation(graph, old.first(), new);
    let is_of_genus = change.is_some() || faults.iter().any(EntityFault::is_genus_violation);
    let why: Vec<_> = faults.into_iter().map(|it| it.message).chain(change).collect();
    let genus = is_of_genus.then(|| new.genus.clone());
    (!why.is_empty()).then(|| EntityViolations { name: new.name.clone(), genus, reasons: why })
}

/// Refuses what is forbidden, all of it at once.
pub(crate) fn reject_if_any(
    forbidden: impl Iterator<Item = EntityViolations>,
) -> Result<(), Refusal> {
    let all: Vec<_> = forbidden.collect();
    if all.is_empty() { Ok(()) } else { Err(Refusal::Violations(all)) }
}

/// Spells the genera of entities as they are spelled already, where they are to differ
/// in case only, and says so: what is laid down for one holds for no other spelling.
pub(crate) fn unify_genus_spelling(graph: &Graph, new: &mut [Entity]) -> Vec<String> {
    let (mut notes, mut spelled) = (Vec::new(), HashMap::new());
    for Entity { genus, .. } in new {
        let known = graph.canonical_genus_name(genus).unwrap_or(genus).to_owned();
        let known = spelled.entry(genus.to_lowercase()).or_insert(known);
        if genus != known {
            let [said, short] =
                [&*genus, known].map(|it| render::truncate(&render::one_line(it), 60));
            notes.push(format!("the genus `{said}` is spelled `{short}` here"));
            genus.clone_from(known);
        }
    }
    notes.dedup();
    notes
}

/// Says that another entity has a name that differs in case only.
pub(crate) fn case_variant(graph: &Graph, name: &str) -> Option<String> {
    let other = graph.names_ignoring_case(name).find(|it| *it != name)?;
    let [name, other] = [name, other].map(|it| render::truncate(&render::one_line(it), 80));
    Some(format!("there is an entity `{other}` beside `{name}`, which differs in case only"))
}

/// Returns an entity with the status that those of its genus begin with, if it
/// has none.
pub(crate) fn with_initial_status(graph: &Graph, entity: &Entity) -> Entity {
    let first = graph.genus_definition(&entity.genus).and_then(|it| it.initial_status());
    let status = entity.status.clone().or_else(|| first.map(str::to_owned));
    Entity { status, ..entity.clone() }
}

/// Tells what is wrong with entities that is not forbidden, and was not so
/// before: whom they name and nobody knows, what contradicts itself.
pub(crate) fn new_fault_notes<'a>(
    graph: &Graph,
    entities: impl Iterator<Item = &'a Entity>,
    before: &[EntityFault],
) -> String {
    let faults = entities.flat_map(|it| graph.entity_faults(it));
    let faults: Vec<_> = faults.filter(|it| is_new_fault(it, before)).collect();
    let told: String = faults.iter().take(MAX_NOTES).map(|it| fault_note(graph, it)).collect();
    match faults.len().saturating_sub(MAX_NOTES) {
        0 => told,
        left => format!("{told}Note: and {left} more.\n"),
    }
}

/// Tells whether something was not wrong before; where it stands may change.
fn is_new_fault(fault: &EntityFault, before: &[EntityFault]) -> bool {
    before.iter().all(|it| it.message != fault.message)
}

fn fault_note(graph: &Graph, fault: &EntityFault) -> String {
    let meant = fault.undefined_name.as_ref().and_then(|it| graph.closest_name(it));
    let meant = meant.map(|it| format!("did you mean `{it}`?"));
    match meant.or_else(|| fault.hint.clone()) {
        Some(hint) => format!("Note: {} ({hint}).\n", fault.message),
        None => format!("Note: {}.\n", fault.message),
    }
}

fn status_change_violation(graph: &Graph, old: Option<&Entity>, new: &Entity) -> Option<String> {
    let old = old.filter(|it| it.genus == new.genus)?;
    graph
        .genus_definition(&new.genus)?
        .status_change_error(old.status.as_ref()?, new.status.as_deref())
}
