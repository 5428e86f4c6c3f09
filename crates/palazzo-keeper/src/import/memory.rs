//! Imports and exports files of the reference memory server.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::graph::entity_file_edits::{EntityFileEdits, OversizedEntities};
use crate::graph::rules::with_initial_status;
use crate::import::{
    ImportOptions, RedactedSecret, Redactions, SecretNumbers, redact_faults_and_notes,
};
use crate::memory_server::changes::add_absent_relations;
use crate::palace::OpenPalace;
use crate::palace::change_plan::{ChangeOptions, ChangePlan};
use crate::session::new_id;
use crate::{Caller, GraphPage, Keeper, Refusal, Session, read_graph};
use palazzo_core::exchange::{self, MemoryServerFile};
use palazzo_core::model::{Entity, MAX_FILE_BYTES, Relation, Triple, quoted};
use palazzo_core::render;

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
    /// The secrets that were redacted in what is new.
    pub redacted: Vec<RedactedSecret>,
}

/// Adds the contents of a file of the reference memory server that the palace does not have, in one
/// commit; deletes nothing. Secrets are redacted before; `name` is the name of the file. Calls
/// `progress` with the numbers of steps done and of all steps. In a dry run, only counts. Creates the
/// first palace if there is none.
pub fn import_memory(
    keeper: &mut Keeper,
    caller: &Caller,
    (name, file): (&str, &[u8]),
    options: ImportOptions,
    progress: impl Fn(usize, usize) + Send + Sync + 'static,
) -> Result<MemoryImportSummary, Refusal> {
    let (dry, mut redactions) = (options.mode.is_dry_run(), Redactions::new(options));
    let mut parsed = exchange::parse_memory_server_file(file);
    parsed.messages = redact_faults_and_notes(parsed.messages, options);
    redact_graph(&mut redactions, name, &mut parsed);
    let MemoryServerFile { mut entities, relations, messages: notes, fault_count: faults } = parsed;
    for entity in &mut entities {
        entity.id = Some(new_id(&mut keeper.id_generator, caller.now));
    }
    let caller = &caller.with_progress(progress);
    let session = match dry || (entities.is_empty() && relations.is_empty()) {
        true => keeper.session_if_any(caller)?,
        false => Some(keeper.session_for_writing(caller)?),
    };
    let Some(mut session) = session else {
        let redacted = secrets_of_graph(&redactions, &entities, &relations);
        let redacted = redactions.list_secrets(&redacted);
        let relations = relations.iter().collect::<BTreeSet<_>>().len();
        let (entities, summary) = (entities.len(), MemoryImportSummary::default());
        return Ok(MemoryImportSummary { entities, relations, notes, faults, redacted, ..summary });
    };
    let graph = (entities.as_slice(), relations.as_slice());
    let mut summary = import_entities_and_relations(&mut session, graph, &redactions, dry)?;
    summary.notes.splice(0..0, notes);
    summary.faults += faults;
    Ok(summary)
}

fn import_entities_and_relations(
    session: &mut Session<'_>,
    graph: (&[Entity], &[Triple]),
    redactions: &Redactions,
    dry: bool,
) -> Result<MemoryImportSummary, Refusal> {
    let (mut summary, mut oversized) = (MemoryImportSummary::default(), OversizedEntities::new());
    session.palace.change_files(session.caller, &ChangeOptions::default(), |open| {
        let edits = loop {
            let (edit, counts) = plan_import(open, graph, redactions, &oversized)?;
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
    let name = quoted(&render::truncate(&name, 60));
    format!(
        "{name} is left out, with the relations from it: its file would have {size} bytes, and \
         the limit is {MAX_FILE_BYTES}"
    )
}

/// Adds what does not exist, except to the `oversized` entities. Reads a file only if something has
/// to be added to it.
fn plan_import(
    open: &mut OpenPalace,
    (entities, relations): (&[Entity], &[Triple]),
    redactions: &Redactions,
    oversized: &OversizedEntities,
) -> Result<(EntityFileEdits, MemoryImportSummary), Refusal> {
    let (mut edit, mut summary) = (EntityFileEdits::default(), MemoryImportSummary::default());
    let mut redacted = SecretNumbers::new();
    for entity in entities.iter().filter(|it| !oversized.contains_key(&it.name)) {
        let old = open.palace.graph.get(&entity.name);
        let missing = |it: &Entity| missing_observations(it, &entity.observations, redactions);
        if old.is_some_and(|it| missing(it).is_empty()) {
            continue;
        }
        let Some(old) = edit.entity_mut(open, &entity.name)? else {
            let new = with_initial_status(&open.palace.graph, entity);
            edit.add_entity(open, new)?;
            summary.entities += 1;
            redacted.extend(secrets_of_graph(redactions, std::slice::from_ref(entity), &[]));
            continue;
        };
        for observation in missing(old) {
            redacted.extend(redactions.secrets_of([observation.as_str()]));
            old.observations.push(observation);
            summary.observations += 1;
        }
    }
    let relations = relations.iter().filter(|it| !oversized.contains_key(&it.from));
    let new = missing_relations(open, relations);
    let created = add_absent_relations(open, &mut edit, &new)?;
    redacted.extend(secrets_of_graph(redactions, &[], &created));
    summary.redacted = redactions.list_secrets(&redacted);
    summary.relations = created.len();
    Ok((edit, summary))
}

/// Redacts the names and observations of a file, and joins entities that have the same name then.
fn redact_graph(redactions: &mut Redactions, source: &str, file: &mut MemoryServerFile) {
    let mut places: HashMap<String, usize> = HashMap::new();
    for mut entity in std::mem::take(&mut file.entities) {
        entity.name = redactions.redact(&entity.name, source, |_| "name of an entity".to_owned());
        let place = format!("entity {}", quoted(&render::truncate(&entity.name, 60)));
        for text in entity.observations.iter_mut().chain([&mut entity.genus]) {
            *text = redactions.redact(text, source, |_| place.clone());
        }
        let place = *places.entry(entity.name.clone()).or_insert(file.entities.len());
        match file.entities.get_mut(place) {
            Some(first) => first.observations.append(&mut entity.observations),
            None => file.entities.push(entity),
        }
    }
    for Triple { from, kind, to } in &mut file.relations {
        for name in [from, kind, to] {
            *name = redactions.redact(name, source, |_| "relation".to_owned());
        }
    }
}

/// Returns the secrets that were in the texts of entities and relations.
fn secrets_of_graph(
    redactions: &Redactions,
    entities: &[Entity],
    relations: &[Triple],
) -> SecretNumbers {
    let of_entities = entities.iter().flat_map(|it| [&it.name, &it.genus]);
    let of_relations = relations.iter().flat_map(|it| [&it.from, &it.kind, &it.to]);
    let observations = entities.iter().flat_map(|it| &it.observations);
    let texts = of_entities.chain(observations).chain(of_relations);
    redactions.secrets_of(texts.map(String::as_str))
}

/// Returns the observations that an entity does not have, each once. One that it has with its
/// secrets counts as present.
fn missing_observations(
    entity: &Entity,
    observations: &[String],
    redactions: &Redactions,
) -> Vec<String> {
    let mut present: HashSet<&str> = entity.observations.iter().map(String::as_str).collect();
    let mut missing = Vec::new();
    for it in observations {
        let has_original = redactions.originals_of(it).any(|it| present.contains(it));
        if !has_original && present.insert(it) {
            missing.push(it.clone());
        }
    }
    missing
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
