//! What the reference memory server does, done to the graph: exact names, calls
//! that never fail for what is there already or is not there, and relations
//! from and to names that nobody has defined.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::keeper::graph::create::add_entities;
use crate::keeper::graph::delete::distinct;
use crate::keeper::graph::edit::GraphEdit;
use crate::keeper::graph::rules::RulePolicy;
use crate::keeper::palace::{ChangePlan, OpenPalace};
use crate::keeper::{Caller, Keeper, Refusal};
use crate::model::{Entity, Triple};
use crate::render;
use crate::render::join_names;

/// Observations of one entity, by its name.
pub type EntityObservations = (String, Vec<String>);

/// What taking observations or relations away came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeletionSummary {
    /// How many are gone.
    pub deleted: usize,
    /// Of how many that were named.
    pub requested: usize,
    /// The entities they were to be taken from and that are not there, by name.
    pub missing: Vec<String>,
}

impl Keeper {
    /// Creates the entities whose names are free, the first of each name, and
    /// returns those.
    pub fn create_entities_if_absent(
        &mut self,
        by: &Caller,
        new: Vec<Entity>,
    ) -> Result<Vec<Entity>, Refusal> {
        if new.is_empty() {
            return Ok(new);
        }
        let created =
            add_entities(&mut self.session_for_writing(by)?, new.clone(), RulePolicy::Report)?;
        let mut created = created.created.into_iter().peekable();
        // Both are in the same order, and the first of each name was taken.
        Ok(new
            .into_iter()
            .filter(|it| created.next_if(|name| *name == it.name).is_some())
            .collect())
    }

    /// Creates the relations that are not there, and returns those.
    pub fn create_relations_if_absent(
        &mut self,
        by: &Caller,
        new: &[Triple],
    ) -> Result<Vec<Triple>, Refusal> {
        if new.is_empty() {
            return Ok(Vec::new());
        }
        let key = self.current_or_new_workspace(by)?;
        let mut created = Vec::new();
        self.open_palace(&key)?.change(by, |held| {
            let mut revision = GraphEdit::default();
            created = add_absent_relations(held, &mut revision, new)?;
            let subject = match created.as_slice() {
                [Triple { from, kind, to }] => {
                    let said =
                        [from, kind, to].map(|it| render::truncate(&render::one_line(it), 30));
                    format!("relation {}: create", said.join(" "))
                }
                _ => format!("relations: create {}", created.len()),
            };
            Ok(ChangePlan {
                edits: revision.into_edits()?,
                subject,
                body: describe_created_relations(&created),
            })
        })?;
        Ok(created)
    }

    /// Adds to entities the observations they do not have, and returns those;
    /// adds nothing if one of the entities is not there.
    pub fn add_observations(
        &mut self,
        by: &Caller,
        new: &[EntityObservations],
    ) -> Result<Vec<EntityObservations>, Refusal> {
        let Some(key) = self.current_workspace_if_any(by)? else {
            return match new.first() {
                Some((name, _)) => Err(Refusal::MemoryEntityNotFound { name: name.clone() }),
                None => Ok(Vec::new()),
            };
        };
        let mut added = Vec::new();
        self.open_palace(&key)?.change(by, |held| {
            let mut revision = GraphEdit::default();
            added = add_absent_observations(held, &mut revision, new)?;
            let what = render::pluralize(added.iter().map(|(_, it)| it.len()).sum(), "observation");
            build_plan(revision, new.iter().map(|(name, _)| name), &format!("add {what}"))
        })?;
        Ok(added)
    }

    /// Takes observations from entities, where they are.
    pub fn delete_observations(
        &mut self,
        by: &Caller,
        old: &[EntityObservations],
    ) -> Result<DeletionSummary, Refusal> {
        let mut erased = DeletionSummary::default();
        let key = self.current_workspace_if_any(by)?;
        let Some(key) = key else {
            erased.requested = old.iter().map(|(_, it)| distinct(it).count()).sum();
            erased.missing = old.iter().map(|(name, _)| name.clone()).collect();
            return Ok(erased);
        };
        self.open_palace(&key)?.change(by, |held| {
            let mut revision = GraphEdit::default();
            erased = remove_observations(held, &mut revision, old)?;
            let what = render::pluralize(erased.deleted, "observation");
            build_plan(revision, old.iter().map(|(name, _)| name), &format!("delete {what}"))
        })?;
        Ok(erased)
    }

    /// Takes relations away, where they are, whatever their dates.
    pub fn delete_relations(
        &mut self,
        by: &Caller,
        old: &[Triple],
    ) -> Result<DeletionSummary, Refusal> {
        let old: BTreeSet<&Triple> = old.iter().collect();
        let mut erased = DeletionSummary { requested: old.len(), ..DeletionSummary::default() };
        let Some(key) = self.current_workspace_if_any(by)? else { return Ok(erased) };
        self.open_palace(&key)?.change(by, |held| {
            let mut revision = GraphEdit::default();
            erased.deleted = remove_relations(held, &mut revision, &old)?;
            let what = render::pluralize(erased.deleted, "relation");
            build_plan(revision, old.iter().map(|it| &it.from), &format!("delete {what}"))
        })?;
        Ok(erased)
    }
}

/// Adds `new` relations where they are not there, and returns those.
pub(crate) fn add_absent_relations(
    held: &mut OpenPalace,
    revision: &mut GraphEdit,
    new: &[Triple],
) -> Result<Vec<Triple>, Refusal> {
    let mut known: HashMap<&str, HashSet<(String, String)>> = HashMap::new();
    let mut created = Vec::new();
    for triple in new {
        let Triple { from, kind, to } = triple;
        if !known.contains_key(from.as_str()) {
            known.insert(from, relation_keys_from(held, revision, from)?);
        }
        let is_new =
            known.get_mut(from.as_str()).is_some_and(|it| it.insert((kind.clone(), to.clone())));
        if is_new && let Some(start) = revision.get_or_add_source(held, from)? {
            start.relations.push(triple.clone().into());
            created.push(triple.clone());
        }
    }
    Ok(created)
}

/// Returns the relations from `name`, by type and target.
fn relation_keys_from(
    held: &mut OpenPalace,
    revision: &mut GraphEdit,
    name: &str,
) -> Result<HashSet<(String, String)>, Refusal> {
    let mut known = HashSet::new();
    let mut learn = |it: Option<&mut Entity>| {
        let relations = it.into_iter().flat_map(|it| &it.relations);
        known.extend(relations.map(|it| (it.kind.clone(), it.to.clone())));
    };
    learn(revision.entity_mut(held, name)?);
    learn(revision.loose_end_mut(held, name)?);
    Ok(known)
}

/// Adds `new` observations where they are not there, and returns those.
pub(crate) fn add_absent_observations(
    held: &mut OpenPalace,
    revision: &mut GraphEdit,
    new: &[EntityObservations],
) -> Result<Vec<EntityObservations>, Refusal> {
    let mut added = Vec::new();
    for (name, contents) in new {
        let entity = revision.entity_mut(held, name)?;
        let entity = entity.ok_or_else(|| Refusal::MemoryEntityNotFound { name: name.clone() })?;
        let known: HashSet<&String> = entity.observations.iter().collect();
        let fresh: Vec<_> = distinct(contents).filter(|it| !known.contains(it)).cloned().collect();
        entity.observations.extend(fresh.iter().cloned());
        added.push((name.clone(), fresh));
    }
    Ok(added)
}

fn remove_observations(
    held: &mut OpenPalace,
    revision: &mut GraphEdit,
    old: &[EntityObservations],
) -> Result<DeletionSummary, Refusal> {
    let mut erased = DeletionSummary::default();
    for (name, contents) in old {
        let old: BTreeSet<&String> = contents.iter().collect();
        erased.requested += old.len();
        let Some(entity) = revision.entity_mut(held, name)? else {
            erased.missing.push(name.clone());
            continue;
        };
        let there: BTreeSet<&String> = entity.observations.iter().collect();
        erased.deleted += old.intersection(&there).count();
        entity.observations.retain(|it| !old.contains(it));
    }
    Ok(erased)
}

fn remove_relations(
    held: &mut OpenPalace,
    revision: &mut GraphEdit,
    old: &BTreeSet<&Triple>,
) -> Result<usize, Refusal> {
    let mut starts: BTreeMap<&str, BTreeSet<(&str, &str)>> = BTreeMap::new();
    for Triple { from, kind, to } in old {
        starts.entry(from).or_default().insert((kind, to));
    }
    let mut erased = 0;
    for (from, old) in starts {
        let mut gone: BTreeSet<(String, String)> = BTreeSet::new();
        let mut erase = |start: Option<&mut Entity>| {
            let Some(Entity { relations, .. }) = start else { return };
            relations.retain(|it| {
                let is_old = old.contains(&(it.kind.as_str(), it.to.as_str()));
                gone.extend(is_old.then(|| (it.kind.clone(), it.to.clone())));
                !is_old
            });
        };
        erase(revision.entity_mut(held, from)?);
        erase(revision.loose_end_mut(held, from)?);
        erased += gone.len();
    }
    Ok(erased)
}

/// Makes a plan of a change to what is known of some entities.
fn build_plan<'a>(
    revision: GraphEdit,
    names: impl Iterator<Item = &'a String>,
    what: &str,
) -> Result<ChangePlan, Refusal> {
    let names: BTreeSet<_> = names.cloned().collect();
    let names: Vec<_> = names.into_iter().collect();
    let subject = match names.as_slice() {
        [only] => format!("entity {}: {what}", render::truncate(&render::one_line(only), 50)),
        _ => format!("entities: {what}"),
    };
    Ok(ChangePlan {
        edits: revision.into_edits()?,
        subject,
        body: format!("Of {}", join_names(&names)),
    })
}

/// Tells relations in one line, the first few of many.
fn describe_created_relations(relations: &[Triple]) -> String {
    let said = relations.iter().map(|it| format!("{} {} {}", it.from, it.kind, it.to));
    format!("Created {}", join_names(&said.collect::<Vec<_>>()))
}
