//! Adding to the knowledge graph.

use std::collections::{BTreeSet, HashMap};

use chrono::{DateTime, Utc};

use crate::format::new_entity_path;
use crate::keeper::graph::edit::GraphEdit;
use crate::keeper::graph::merge::merge_entity;
use crate::keeper::graph::relations;
use crate::keeper::graph::rules::{
    RulePolicy, case_variant, format_notes, new_fault_notes, reject_if_any, unify_genus_spelling,
    violations, with_initial_status,
};
use crate::keeper::palace::{ChangePlan, OpenPalace};
use crate::keeper::session::new_id;
use crate::keeper::{Caller, Keeper, Refusal};
use crate::model::Entity;
use crate::render;
use crate::render::join_names;

/// What adding entities came to.
pub(crate) struct AddedEntities {
    /// The workspace they are in now.
    pub(crate) workspace_key: String,
    /// The names of those that are new.
    pub(crate) created: Vec<String>,
    /// The names that were there already.
    pub(crate) existing: Vec<String>,
    /// What else is worth telling.
    pub(crate) notes: Vec<String>,
}

impl Keeper {
    /// Creates entities, all in one commit. Those whose names are taken are
    /// left as they are, and the answer says so.
    pub fn create_entities(&mut self, by: &Caller, new: Vec<Entity>) -> Result<String, Refusal> {
        if new.is_empty() {
            return Err(Refusal::Invalid("`entities` is empty: nothing to create".to_owned()));
        }
        let (new, mut notes) = merge_same_named_entities(new, by.now)?;
        let AddedEntities { workspace_key: key, created, existing, notes: more } =
            self.add_entities(by, new, RulePolicy::Reject)?;
        let graph = &self.open_palace(&key)?.palace.graph;
        notes.extend(more);
        notes.extend(created.iter().filter_map(|it| case_variant(graph, it)));
        let remarks = new_fault_notes(graph, created.iter().filter_map(|it| graph.get(it)), &[]);
        let mut answer = match created.len() {
            0 => "Created nothing".to_owned(),
            _ => format!("Created {}", join_names(&created)),
        };
        if !existing.is_empty() {
            answer.push_str(&format!(
                "; there already, and left as they are: {}",
                join_names(&existing)
            ));
        }
        Ok(format!("{answer}.\n{}{remarks}", format_notes(&notes)))
    }

    /// Adds those of `new` whose names are free, the first of each name.
    pub(crate) fn add_entities(
        &mut self,
        by: &Caller,
        new: Vec<Entity>,
        rules: RulePolicy,
    ) -> Result<AddedEntities, Refusal> {
        let mut names = BTreeSet::new();
        let mut new: Vec<_> = new.into_iter().filter(|it| names.insert(it.name.clone())).collect();
        for entity in &mut new {
            entity.id = Some(new_id(&mut self.id_generator, by.now));
        }
        let key = self.current_or_new_workspace(by)?;
        let (mut created, mut existing, mut notes) = (Vec::new(), Vec::new(), Vec::new());
        self.open_palace(&key)?.change_exclusively(by, |held| {
            // Somebody may have written the very file by hand meanwhile.
            for entity in &new {
                held.refresh_file(&new_entity_path(&held.palace.graph, entity, |_| false, |_| 0));
            }
            let graph = &held.palace.graph;
            let new = new.iter().cloned();
            let (there, mut fresh): (Vec<_>, Vec<_>) =
                new.partition(|it| graph.get(&it.name).is_some());
            if rules == RulePolicy::Reject {
                notes = unify_genus_spelling(graph, &mut fresh);
            }
            let fresh: Vec<_> = fresh.iter().map(|it| with_initial_status(graph, it)).collect();
            existing = there.into_iter().map(|it| it.name).collect();
            created = fresh.iter().map(|it| it.name.clone()).collect();
            let heeded = fresh.iter().filter(|_| rules == RulePolicy::Reject);
            reject_if_any(heeded.filter_map(|it| violations(graph, &[], it)))?;
            plan_creation(held, &fresh)
        })?;
        Ok(AddedEntities { workspace_key: key, created, existing, notes })
    }
}

/// Makes one of those that have the same name, and says so.
fn merge_same_named_entities(
    new: Vec<Entity>,
    now: DateTime<Utc>,
) -> Result<(Vec<Entity>, Vec<String>), Refusal> {
    let (mut joined, mut notes): (Vec<Entity>, _) = (Vec::new(), Vec::new());
    let mut places: HashMap<String, usize> = HashMap::new();
    for entity in new {
        let name = render::truncate(&render::one_line(&entity.name), 80);
        match places.get(&entity.name).and_then(|it| joined.get_mut(*it)) {
            None => {
                places.insert(entity.name.clone(), joined.len());
                joined.push(entity);
            }
            Some(first) => {
                notes.push(format!("`{name}` stands twice in the call, and both became one"));
                notes.extend(merge_entity(first, &entity, &[]));
            }
        }
    }
    for Entity { name, relations, .. } in &mut joined {
        let refused = |why: String| {
            Refusal::Invalid(format!("`{}`: {why}", render::truncate(&render::one_line(name), 80)))
        };
        for mut relation in std::mem::take(relations) {
            relations::resolve_dates(&mut relation, now);
            relations::add_relation(relations, &[], &relation).map_err(refused)?;
        }
    }
    Ok((joined, notes))
}

fn plan_creation(held: &mut OpenPalace, fresh: &[Entity]) -> Result<ChangePlan, Refusal> {
    let mut revision = GraphEdit::default();
    for entity in fresh {
        revision.add_entity(held, entity.clone())?;
    }
    let names: Vec<_> = fresh.iter().map(|it| it.name.clone()).collect();
    let subject = match names.as_slice() {
        [only] => format!("entity {}: create", render::truncate(&render::one_line(only), 50)),
        _ => format!("entities: create {}", names.len()),
    };
    Ok(ChangePlan {
        edits: revision.into_edits()?,
        subject,
        body: format!("Created {}", join_names(&names)),
    })
}
