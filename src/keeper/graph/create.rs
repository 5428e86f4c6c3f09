//! Creates entities.

use std::collections::{BTreeSet, HashMap};

use chrono::{DateTime, Utc};

use crate::format::new_entity_path;
use crate::keeper::graph::edit::GraphEdit;
use crate::keeper::graph::merge::merge_entity;
use crate::keeper::graph::relations;
use crate::keeper::graph::rules::{
    RulePolicy, case_variant_note, find_new_violations, new_fault_notes, reject_violations,
    unify_genus_spelling, with_initial_status,
};
use crate::keeper::palace::OpenPalace;
use crate::keeper::palace::change_plan::ChangePlan;
use crate::keeper::{Caller, Keeper, Refusal, Session};
use crate::model::Entity;
use crate::render;
use crate::render::join_names;

/// The result of creating entities.
#[derive(Clone, Debug)]
pub struct EntityCreationOutcome {
    /// The names of the entities that are new.
    pub created: Vec<String>,
    /// The names that other entities had already.
    pub existing: Vec<String>,
    /// Other notes to the caller.
    pub notes: Vec<String>,
    /// The faults of the new entities, one per line.
    pub faults: String,
}

/// The names of the entities that were added, and of those that existed already.
pub(crate) struct AddedEntityNames {
    pub(crate) created: Vec<String>,
    pub(crate) existing: Vec<String>,
    /// How the spelling of genera was changed.
    pub(crate) notes: Vec<String>,
}

/// Creates entities in one commit; does not change existing entities with the same names. Creates
/// the first palace if there is none.
pub fn create_entities(
    keeper: &mut Keeper,
    caller: &Caller,
    new: Vec<Entity>,
) -> Result<EntityCreationOutcome, Refusal> {
    if new.is_empty() {
        return Err(Refusal::Invalid("`entities` is empty: nothing to create".to_owned()));
    }
    let (new, mut notes) = merge_same_named_entities(new, caller.now)?;
    let mut session = keeper.session_for_writing(caller)?;
    let AddedEntityNames { created, existing, notes: spelling } =
        add_absent_entities(&mut session, new, RulePolicy::Reject)?;
    let graph = &session.palace.palace.graph;
    notes.extend(spelling);
    notes.extend(created.iter().filter_map(|it| case_variant_note(graph, it)));
    let faults = new_fault_notes(graph, created.iter().filter_map(|it| graph.get(it)), &[]);
    Ok(EntityCreationOutcome { created, existing, notes, faults })
}

/// Adds the entities of `new` whose names are free; of several with one name, the first.
pub(crate) fn add_absent_entities(
    session: &mut Session<'_>,
    new: Vec<Entity>,
    rules: RulePolicy,
) -> Result<AddedEntityNames, Refusal> {
    let mut names = BTreeSet::new();
    let mut new: Vec<_> = new.into_iter().filter(|it| names.insert(it.name.clone())).collect();
    for entity in &mut new {
        entity.id = Some(session.new_id());
    }
    let (mut created, mut existing, mut notes) = (Vec::new(), Vec::new(), Vec::new());
    session.palace.change_files_exclusively(session.caller, |open| {
        // Another program may have written the same files meanwhile.
        for entity in &new {
            open.refresh_file(&new_entity_path(&open.palace.graph, entity, |_| false, |_| 0));
        }
        let graph = &open.palace.graph;
        let new = new.iter().cloned();
        let (present, mut absent): (Vec<_>, Vec<_>) =
            new.partition(|it| graph.get(&it.name).is_some());
        if rules == RulePolicy::Reject {
            notes = unify_genus_spelling(graph, &mut absent);
        }
        let absent: Vec<_> = absent.iter().map(|it| with_initial_status(graph, it)).collect();
        existing = present.into_iter().map(|it| it.name).collect();
        created = absent.iter().map(|it| it.name.clone()).collect();
        let checked = absent.iter().filter(|_| rules == RulePolicy::Reject);
        reject_violations(checked.filter_map(|it| find_new_violations(graph, &[], it)))?;
        plan_creation(open, &absent)
    })?;
    Ok(AddedEntityNames { created, existing, notes })
}

/// Merges entities with the same name, with notes on each merge, and replaces relative dates
/// of relations by calendar dates.
fn merge_same_named_entities(
    new: Vec<Entity>,
    now: DateTime<Utc>,
) -> Result<(Vec<Entity>, Vec<String>), Refusal> {
    let (mut merged, mut notes): (Vec<Entity>, _) = (Vec::new(), Vec::new());
    let mut positions: HashMap<String, usize> = HashMap::new();
    for entity in new {
        let name = render::truncate(&render::one_line(&entity.name), 80);
        match positions.get(&entity.name).and_then(|it| merged.get_mut(*it)) {
            None => {
                positions.insert(entity.name.clone(), merged.len());
                merged.push(entity);
            }
            Some(first) => {
                notes.push(format!("the call contains `{name}` twice, and the two were merged"));
                notes.extend(merge_entity(first, &entity, &[]));
            }
        }
    }
    for Entity { name, relations, .. } in &mut merged {
        let refuse = |why: String| {
            Refusal::Invalid(format!("`{}`: {why}", render::truncate(&render::one_line(name), 80)))
        };
        for mut relation in std::mem::take(relations) {
            relations::resolve_relative_dates(&mut relation, now);
            relations::add_or_update_relation(relations, &[], &relation).map_err(refuse)?;
        }
    }
    Ok((merged, notes))
}

fn plan_creation(open: &mut OpenPalace, new: &[Entity]) -> Result<ChangePlan, Refusal> {
    let mut edit = GraphEdit::default();
    for entity in new {
        edit.add_entity(open, entity.clone())?;
    }
    let names: Vec<_> = new.iter().map(|it| it.name.clone()).collect();
    let subject = match names.as_slice() {
        [only] => format!("entity {}: create", render::truncate(&render::one_line(only), 50)),
        _ => format!("entities: create {}", names.len()),
    };
    Ok(ChangePlan {
        edits: edit.into_edits()?,
        subject,
        body: format!("Created {}", join_names(&names)),
    })
}
