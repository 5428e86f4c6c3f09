//! Imports and exports files of the reference memory server.

use std::collections::{BTreeSet, HashSet};

use crate::exchange::{self, MemoryServerFile};
use crate::keeper::graph::edit::{GraphEdit, OversizedEntities};
use crate::keeper::graph::rules::with_initial_status;
use crate::keeper::memory_server::changes::add_absent_relations;
use crate::keeper::palace::OpenPalace;
use crate::keeper::palace::change_plan::ChangePlan;
use crate::keeper::session::new_id;
use crate::keeper::{Caller, GraphPage, Keeper, Refusal, Session, read_graph};
use crate::model::{Entity, MAX_FILE_BYTES, Relation, Triple};
use crate::render;

/// The counts of an import, or of a dry run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryImportSummary {
    /// The name of the workspace; `None` if there is none yet.
    pub workspace: Option<String>,
    /// How many entities are new.
    pub entities: usize,
    /// How many observations were added to existing entities.
    pub observations: usize,
    /// How many relations are new.
    pub relations: usize,
    /// Notes to the user, in the order of the file, each with its line.
    pub notes: Vec<String>,
    /// How many of the notes are about something that could not be imported.
    pub faults: usize,
}

/// Adds the contents of a file of the reference memory server that the palace does not have, in one
/// commit; deletes nothing. Calls `progress` with the numbers of steps done and of all steps. If
/// `dry`, only counts. Creates the first palace if there is none.
pub fn import_memory(
    keeper: &mut Keeper,
    caller: &Caller,
    file: &[u8],
    dry: bool,
    progress: impl Fn(usize, usize) + Send + Sync + 'static,
) -> Result<MemoryImportSummary, Refusal> {
    let MemoryServerFile { mut entities, relations, messages: notes, fault_count: faults } =
        exchange::parse_memory_server_file(file);
    for entity in &mut entities {
        entity.id = Some(new_id(&mut keeper.id_generator, caller.now));
    }
    let caller = &caller.with_progress(progress);
    let session = match dry || (entities.is_empty() && relations.is_empty()) {
        true => keeper.session_if_any(caller)?,
        false => Some(keeper.session_for_writing(caller)?),
    };
    let Some(mut session) = session else {
        let relations = relations.iter().collect::<BTreeSet<_>>().len();
        let entities = entities.len();
        return Ok(MemoryImportSummary {
            entities,
            relations,
            notes,
            faults,
            ..Default::default()
        });
    };
    let mut summary = import_entities_and_relations(&mut session, &entities, &relations, dry)?;
    summary.notes.splice(0..0, notes);
    summary.faults += faults;
    Ok(summary)
}

fn import_entities_and_relations(
    session: &mut Session<'_>,
    entities: &[Entity],
    relations: &[Triple],
    dry: bool,
) -> Result<MemoryImportSummary, Refusal> {
    let (mut summary, mut oversized) = (MemoryImportSummary::default(), OversizedEntities::new());
    session.palace.change_files(session.caller, |open| {
        let edits = loop {
            let (edit, counts) = plan_import(open, entities, relations, &oversized)?;
            summary = counts;
            match edit.into_edits_within_limit()? {
                Ok(edits) => break edits,
                Err(more) => oversized.extend(more),
            }
        };
        let edits = if dry { Vec::new() } else { edits };
        let MemoryImportSummary { entities, observations, relations, .. } = summary;
        let body = format!(
            "{}, {} of others, {}",
            render::count_with_noun(entities, "entity"),
            render::count_with_noun(observations, "observation"),
            render::count_with_noun(relations, "relation")
        );
        Ok(ChangePlan { edits, subject: "memory: import".to_owned(), body })
    })?;
    summary.workspace = Some(session.palace.palace.settings.name.clone());
    summary.faults = oversized.len();
    summary.notes = oversized.into_iter().map(oversized_entity_note).collect();
    Ok(summary)
}

/// Returns the graph as a file of the reference memory server.
pub fn export_memory(session: &Session<'_>) -> Result<String, Refusal> {
    let GraphPage { entities, relations, .. } = read_graph(session, None, usize::MAX)?;
    Ok(exchange::serialize_memory_server_file(&entities, &relations))
}

/// Reports that an entity was not imported because its file would be too large.
fn oversized_entity_note((name, size): (String, usize)) -> String {
    let name = render::truncate(&render::one_line(&name), 60);
    format!(
        "`{name}` is left out, with the relations from it: its file would have {size} bytes, and \
         the limit is {MAX_FILE_BYTES}"
    )
}

/// Adds what does not exist, except to the `oversized` entities. Reads a file only if something has
/// to be added to it.
fn plan_import(
    open: &mut OpenPalace,
    entities: &[Entity],
    relations: &[Triple],
    oversized: &OversizedEntities,
) -> Result<(GraphEdit, MemoryImportSummary), Refusal> {
    let (mut edit, mut summary) = (GraphEdit::default(), MemoryImportSummary::default());
    for entity in entities.iter().filter(|it| !oversized.contains_key(&it.name)) {
        let old = open.palace.graph.get(&entity.name);
        if old.is_some_and(|it| has_all_observations(it, &entity.observations)) {
            continue;
        }
        let Some(old) = edit.entity_mut(open, &entity.name)? else {
            let entity = with_initial_status(&open.palace.graph, entity);
            edit.add_entity(open, entity)?;
            summary.entities += 1;
            continue;
        };
        for observation in &entity.observations {
            if !old.observations.contains(observation) {
                old.observations.push(observation.clone());
                summary.observations += 1;
            }
        }
    }
    let relations = relations.iter().filter(|it| !oversized.contains_key(&it.from));
    let new = missing_relations(open, relations);
    summary.relations = add_absent_relations(open, &mut edit, &new)?.len();
    Ok((edit, summary))
}

fn has_all_observations(entity: &Entity, observations: &[String]) -> bool {
    let present: HashSet<&String> = entity.observations.iter().collect();
    observations.iter().all(|it| present.contains(it))
}

/// Returns the relations that the graph does not have.
fn missing_relations<'a>(
    open: &OpenPalace,
    relations: impl Iterator<Item = &'a Triple>,
) -> Vec<Triple> {
    let sources = open.palace.graph.entities_and_loose_ends();
    let present: HashSet<(&str, &str, &str)> = sources
        .flat_map(|from| from.relations.iter().map(|it| triple_key(&from.name, it)))
        .collect();
    let is_new =
        |it: &&Triple| !present.contains(&(it.from.as_str(), it.kind.as_str(), it.to.as_str()));
    relations.filter(is_new).cloned().collect()
}

fn triple_key<'a>(
    from: &'a str,
    Relation { kind, to, .. }: &'a Relation,
) -> (&'a str, &'a str, &'a str) {
    (from, kind, to)
}
