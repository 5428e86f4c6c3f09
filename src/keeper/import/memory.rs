//! Taking in what other programs remember, and giving it back.

use std::collections::{BTreeSet, HashSet};

use crate::exchange::{self, MemoryFile};
use crate::keeper::graph::edit::{GraphEdit, OversizedEntities};
use crate::keeper::graph::rules::with_initial_status;
use crate::keeper::memory_server::operations::add_absent_relations;
use crate::keeper::palace::{ChangePlan, OpenPalace};
use crate::keeper::session::new_id;
use crate::keeper::{Caller, GraphPage, Keeper, Refusal, Session, read_graph};
use crate::model::{Entity, MAX_FILE_BYTES, Relation, Triple};
use crate::render;
use crate::store::Listener;

/// What an import came to, or would.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryImportSummary {
    /// The name of the workspace; `None`: there is none yet.
    pub workspace: Option<String>,
    /// How many entities are new.
    pub entities: usize,
    /// How many observations others got.
    pub observations: usize,
    /// How many relations are new.
    pub relations: usize,
    /// What is worth knowing, each with its place in the file, in its order.
    pub notes: Vec<String>,
    /// How many of these could not be understood.
    pub faults: usize,
}

impl Keeper {
    /// Adds what a file of the reference memory server holds and is not there
    /// yet, all in one commit; nothing is taken away. Calls `tell` with how
    /// many steps of how many are done. Only says what it would do if `dry`.
    pub fn import_memory(
        &mut self,
        by: &Caller,
        file: &[u8],
        dry: bool,
        tell: impl Fn(usize, usize) + Send + Sync + 'static,
    ) -> Result<MemoryImportSummary, Refusal> {
        let MemoryFile { mut entities, relations, messages: told, fault_count: faults } =
            exchange::read_memory_file(file);
        for entity in &mut entities {
            entity.id = Some(new_id(&mut self.id_generator, by.now));
        }
        let mut told =
            MemoryImportSummary { notes: told, faults, ..MemoryImportSummary::default() };
        let key = match dry || (entities.is_empty() && relations.is_empty()) {
            true => self.current_workspace_if_any(by)?,
            false => Some(self.current_or_new_workspace(by)?),
        };
        let Some(key) = key else {
            let relations = relations.iter().collect::<BTreeSet<_>>().len();
            return Ok(MemoryImportSummary { entities: entities.len(), relations, ..told });
        };
        let (mut imported, mut large) = (MemoryImportSummary::default(), OversizedEntities::new());
        let held = self.open_palace(&key)?;
        held.set_progress_listener(Listener::new(tell));
        held.change(by, |held| {
            let edits = loop {
                let (revision, counted) = plan_import(held, &entities, &relations, &large)?;
                imported = counted;
                match revision.into_edits_within_limit()? {
                    Ok(edits) => break edits,
                    Err(more) => large.extend(more),
                }
            };
            let edits = if dry { Vec::new() } else { edits };
            let MemoryImportSummary { entities, observations, relations, .. } = imported;
            let body = format!(
                "{}, {} of others, {}",
                render::pluralize(entities, "entity"),
                render::pluralize(observations, "observation"),
                render::pluralize(relations, "relation")
            );
            Ok(ChangePlan { edits, subject: "memory: import".to_owned(), body })
        })?;
        let workspace = Some(held.palace.settings.name.clone());
        told.faults += large.len();
        told.notes.extend(large.into_iter().map(oversized_entity_note));
        Ok(MemoryImportSummary { workspace, notes: told.notes, faults: told.faults, ..imported })
    }
}

/// Returns the graph as a file of the reference memory server.
pub fn export_memory(session: &Session<'_>) -> Result<String, Refusal> {
    let GraphPage { entities, relations, .. } = read_graph(session, None, usize::MAX)?;
    Ok(exchange::write_memory_file(&entities, &relations))
}

/// Says of whom nothing was taken in.
fn oversized_entity_note((name, size): (String, usize)) -> String {
    let name = render::truncate(&render::one_line(&name), 60);
    format!(
        "`{name}` is left out, with the relations from it: its file would have {size} bytes, and \
         {MAX_FILE_BYTES} are the most"
    )
}

/// Adds what is not there, but for what is said of those who are too `large`; a file
/// is read only if there is something to add.
fn plan_import(
    held: &mut OpenPalace,
    entities: &[Entity],
    relations: &[Triple],
    large: &OversizedEntities,
) -> Result<(GraphEdit, MemoryImportSummary), Refusal> {
    let (mut revision, mut imported) = (GraphEdit::default(), MemoryImportSummary::default());
    for entity in entities.iter().filter(|it| !large.contains_key(&it.name)) {
        let old = held.palace.graph.get(&entity.name);
        if old.is_some_and(|it| has_all_observations(it, &entity.observations)) {
            continue;
        }
        let Some(old) = revision.entity_mut(held, &entity.name)? else {
            let begun = with_initial_status(&held.palace.graph, entity);
            revision.add_entity(held, begun)?;
            imported.entities += 1;
            continue;
        };
        for observation in &entity.observations {
            if !old.observations.contains(observation) {
                old.observations.push(observation.clone());
                imported.observations += 1;
            }
        }
    }
    let relations = relations.iter().filter(|it| !large.contains_key(&it.from));
    let new = missing_relations(held, relations);
    imported.relations = add_absent_relations(held, &mut revision, &new)?.len();
    Ok((revision, imported))
}

fn has_all_observations(entity: &Entity, observations: &[String]) -> bool {
    let known: HashSet<&String> = entity.observations.iter().collect();
    observations.iter().all(|it| known.contains(it))
}

/// Returns those relations that the graph does not hold.
fn missing_relations<'a>(
    held: &OpenPalace,
    relations: impl Iterator<Item = &'a Triple>,
) -> Vec<Triple> {
    let starts = held.palace.graph.entities_and_loose_ends();
    let known: HashSet<(&str, &str, &str)> = starts
        .flat_map(|from| from.relations.iter().map(|it| triple_key(&from.name, it)))
        .collect();
    let is_new =
        |it: &&Triple| !known.contains(&(it.from.as_str(), it.kind.as_str(), it.to.as_str()));
    relations.filter(is_new).cloned().collect()
}

fn triple_key<'a>(
    from: &'a str,
    Relation { kind, to, .. }: &'a Relation,
) -> (&'a str, &'a str, &'a str) {
    (from, kind, to)
}
