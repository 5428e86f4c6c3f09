//! Taking in what other programs remember, and giving it back.

use std::collections::{BTreeSet, HashSet};

use crate::exchange::{self, Memory};
use crate::keeper::graph::edit::{Revision, TooLarge};
use crate::keeper::graph::rules::begun;
use crate::keeper::memory_server::operations::relating;
use crate::keeper::palace::{Held, Plan};
use crate::keeper::{Caller, Excerpt, Keeper, Refusal, fresh_id};
use crate::model::{Entity, LARGEST_FILE, Relation, Triple};
use crate::render;
use crate::store::Listener;

/// What an import came to, or would.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// The name of the workspace; `None`: there is none yet.
    pub workspace: Option<String>,
    /// How many entities are new.
    pub entities: usize,
    /// How many observations others got.
    pub observations: usize,
    /// How many relations are new.
    pub relations: usize,
    /// What is worth knowing, each with its place in the file, in its order.
    pub told: Vec<String>,
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
    ) -> Result<Imported, Refusal> {
        let Memory { mut entities, relations, told, faults } = exchange::read_memory(file);
        for entity in &mut entities {
            entity.id = Some(fresh_id(&mut self.ids, by.now));
        }
        let mut told = Imported { told, faults, ..Imported::default() };
        let key = match dry || (entities.is_empty() && relations.is_empty()) {
            true => self.current_if_any(by)?,
            false => Some(self.current_or_first(by)?),
        };
        let Some(key) = key else {
            let relations = relations.iter().collect::<BTreeSet<_>>().len();
            return Ok(Imported { entities: entities.len(), relations, ..told });
        };
        let (mut imported, mut large) = (Imported::default(), TooLarge::new());
        let held = self.at(&key)?;
        held.tell(Listener::new(tell));
        held.change(by, |held| {
            let edits = loop {
                let (revision, counted) = importing(held, &entities, &relations, &large)?;
                imported = counted;
                match revision.edits_that_fit()? {
                    Ok(edits) => break edits,
                    Err(more) => large.extend(more),
                }
            };
            let edits = if dry { Vec::new() } else { edits };
            let Imported { entities, observations, relations, .. } = imported;
            let body = format!(
                "{}, {} of others, {}",
                render::count(entities, "entity"),
                render::count(observations, "observation"),
                render::count(relations, "relation")
            );
            Ok(Plan { edits, subject: "memory: import".to_owned(), body })
        })?;
        let workspace = Some(held.palace.settings.name.clone());
        told.faults += large.len();
        told.told.extend(large.into_iter().map(left_out));
        Ok(Imported { workspace, told: told.told, faults: told.faults, ..imported })
    }

    /// Writes the graph as a file of the reference memory server.
    pub fn export_memory(&mut self, by: &Caller) -> Result<String, Refusal> {
        self.current(by)?;
        let Excerpt { entities, relations, .. } = self.read_graph(by, None, usize::MAX)?;
        Ok(exchange::write_memory(&entities, &relations))
    }
}

/// Says of whom nothing was taken in.
fn left_out((name, size): (String, usize)) -> String {
    let name = render::cut(&render::line(&name), 60);
    format!(
        "`{name}` is left out, with the relations from it: its file would have {size} bytes, and \
         {LARGEST_FILE} are the most"
    )
}

/// Adds what is not there, but for what is said of those who are too `large`; a file
/// is read only if there is something to add.
fn importing(
    held: &mut Held,
    entities: &[Entity],
    relations: &[Triple],
    large: &TooLarge,
) -> Result<(Revision, Imported), Refusal> {
    let (mut revision, mut imported) = (Revision::default(), Imported::default());
    for entity in entities.iter().filter(|it| !large.contains_key(&it.name)) {
        let old = held.palace.graph.get(&entity.name);
        if old.is_some_and(|it| holds_all(it, &entity.observations)) {
            continue;
        }
        let Some(old) = revision.entity(held, &entity.name)? else {
            let begun = begun(&held.palace.graph, entity);
            revision.add(held, begun)?;
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
    let new = new_relations(held, relations);
    imported.relations = relating(held, &mut revision, &new)?.len();
    Ok((revision, imported))
}

fn holds_all(entity: &Entity, observations: &[String]) -> bool {
    let known: HashSet<&String> = entity.observations.iter().collect();
    observations.iter().all(|it| known.contains(it))
}

/// Returns those relations that the graph does not hold.
fn new_relations<'a>(held: &Held, relations: impl Iterator<Item = &'a Triple>) -> Vec<Triple> {
    let starts = held.palace.graph.starts();
    let known: HashSet<(&str, &str, &str)> =
        starts.flat_map(|from| from.relations.iter().map(|it| said(&from.name, it))).collect();
    let is_new =
        |it: &&Triple| !known.contains(&(it.from.as_str(), it.kind.as_str(), it.to.as_str()));
    relations.filter(is_new).cloned().collect()
}

fn said<'a>(from: &'a str, Relation { kind, to, .. }: &'a Relation) -> (&'a str, &'a str, &'a str) {
    (from, kind, to)
}
