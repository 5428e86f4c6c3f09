//! Checks changes of entities against the definitions of their genera.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::{EntityViolations, Refusal};
use palazzo_core::model::{Date, Entity, EntityFault, Graph, quoted};
use palazzo_core::render;

/// Maximum number of faults that an answer lists.
const MAX_NOTES: usize = 3;

/// Maximum number of undefined names that an answer suggests a name for.
const MAX_SUGGESTIONS: usize = 10;

/// Lists the rules that an entity, or the change of its status, breaks. Faults that it had before
/// the change do not count, so that they can be fixed one at a time. `old` is the entity before the
/// change, followed by the entities that are merged into it.
pub(crate) fn find_new_violations(
    graph: &Graph,
    old: &[Entity],
    new: &Entity,
) -> Option<EntityViolations> {
    let before: Vec<_> = old.iter().flat_map(|it| graph.entity_faults(it)).collect();
    let faults = graph.entity_faults(new).into_iter().filter(|it| is_new_fault(it, &before));
    let faults: Vec<_> = faults.filter(EntityFault::is_rejected_on_write).collect();
    let change = status_change_violation(graph, old.first(), new);
    let is_of_genus = change.is_some() || faults.iter().any(EntityFault::is_genus_violation);
    let reasons: Vec<_> = faults.into_iter().map(|it| it.message).chain(change).collect();
    let genus = is_of_genus.then(|| new.genus.clone());
    (!reasons.is_empty()).then(|| EntityViolations { name: new.name.clone(), genus, reasons })
}

/// Refuses a change with violations, and reports all of them.
pub(crate) fn reject_violations(
    violations: impl Iterator<Item = EntityViolations>,
) -> Result<(), Refusal> {
    let all: Vec<_> = violations.collect();
    if all.is_empty() { Ok(()) } else { Err(Refusal::Violations(all)) }
}

/// Returns a note on given attributes that begin as dates do and are none: timelines leave them out.
pub(crate) fn unreadable_date_note(name: &str, attributes: &Map<String, Value>) -> Option<String> {
    const MAX_NAMED: usize = 3;
    // `2023-1187` is a number of an invoice.
    let begins_as_date = |text: &str| {
        let digits = |it: &str| it.bytes().take_while(u8::is_ascii_digit).count();
        let month = text.split_once('-').filter(|(year, _)| year.len() == 4 && digits(year) == 4);
        month.is_some_and(|(_, month)| digits(month) == 2)
    };
    let texts = attributes.iter().filter_map(|(key, value)| Some((key, value.as_str()?)));
    let wrong = texts.filter(|(_, it)| begins_as_date(it) && it.parse::<Date>().is_err());
    let wrong: Vec<_> =
        wrong.take(MAX_NAMED).map(|(key, it)| format!("{} {}", quoted(key), quoted(it))).collect();
    let name = quoted(&render::truncate(name, 80));
    let list = wrong.join(", ");
    (!wrong.is_empty()).then(|| {
        format!(
            "of {name}, {list} is no date, so timelines leave it out: write 1972, 1972-05, \
             1972-01-31 or 2026-03-01T12:00:00Z"
        )
    })
}

/// Returns an entity with the initial status of its genus, if it has no status.
pub(crate) fn with_initial_status(graph: &Graph, entity: &Entity) -> Entity {
    let first = graph.genus_definition(&entity.genus).and_then(|it| it.initial_status());
    let status = entity.status.clone().or_else(|| first.map(str::to_owned));
    Entity { status, ..entity.clone() }
}

/// Lists the faults of entities that are allowed and not in `before`, one per line: undefined names,
/// all of them, and contradictions.
pub(crate) fn new_fault_notes<'a>(
    graph: &Graph,
    entities: impl Iterator<Item = &'a Entity>,
    before: &[EntityFault],
) -> String {
    let faults = entities.flat_map(|it| graph.entity_faults(it));
    let faults: Vec<_> = faults.filter(|it| is_new_fault(it, before)).collect();
    let undefined: BTreeSet<_> =
        faults.iter().filter_map(|it| it.undefined_name.as_deref()).collect();
    // A single name has a note like any other fault.
    let has_names_note = undefined.len() > 1;
    let mut notes = match has_names_note {
        true => undefined_names_note(graph, &undefined),
        false => String::new(),
    };
    let has_own_note = |it: &&EntityFault| !has_names_note || it.undefined_name.is_none();
    let others: Vec<_> = faults.iter().filter(has_own_note).collect();
    notes.extend(others.iter().take(MAX_NOTES).map(|it| fault_note(graph, it)));
    match others.len().saturating_sub(MAX_NOTES) {
        0 => notes,
        more => format!("{notes}Note: and {more} more.\n"),
    }
}

/// Returns true for a fault that is not in `before`, compared by message: its position may change.
fn is_new_fault(fault: &EntityFault, before: &[EntityFault]) -> bool {
    before.iter().all(|it| it.message != fault.message)
}

/// Renders the names that no entity has in one line.
fn undefined_names_note(graph: &Graph, names: &BTreeSet<&str>) -> String {
    // A suggestion costs a look at every name.
    let with_suggestion = |(place, name): (usize, &&str)| {
        let meant = if place < MAX_SUGGESTIONS { graph.closest_name(name) } else { None };
        let meant = meant.map(|it| format!(" (did you mean {}?)", quoted(it)));
        quoted(&render::truncate(name, 80)) + &meant.unwrap_or_default()
    };
    let names: Vec<_> = names.iter().enumerate().map(with_suggestion).collect();
    format!("Note: there are no entities yet with the names {}.\n", names.join(", "))
}

fn fault_note(graph: &Graph, fault: &EntityFault) -> String {
    let meant = fault.undefined_name.as_ref().and_then(|it| graph.closest_name(it));
    let meant = meant.or(fault.suggestion.as_deref());
    let meant = meant.map(|it| format!("did you mean {}?", quoted(it)));
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
