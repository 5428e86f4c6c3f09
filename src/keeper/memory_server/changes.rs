//! The changes of the reference memory server: names are exact, it is no error to create what
//! exists or to delete what does not, and relations may start and end at undefined names.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::keeper::graph::create::add_absent_entities;
use crate::keeper::graph::delete::distinct_texts;
use crate::keeper::graph::edit::GraphEdit;
use crate::keeper::graph::rules::RulePolicy;
use crate::keeper::palace::OpenPalace;
use crate::keeper::palace::change_plan::ChangePlan;
use crate::keeper::{Caller, Keeper, Refusal};
use crate::model::{Entity, Triple};
use crate::render;
use crate::render::join_names;

/// Observations of one entity, by its name.
pub type EntityObservations = (String, Vec<String>);

/// What a deletion of observations or relations did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeletionSummary {
    /// How many were deleted.
    pub deleted: usize,
    /// How many the call named.
    pub requested: usize,
    /// The names in the call that no entity has.
    pub missing: Vec<String>,
}

/// Creates the entities whose names are free, the first of each name, and returns those.
pub fn create_entities_if_absent(
    keeper: &mut Keeper,
    caller: &Caller,
    new: Vec<Entity>,
) -> Result<Vec<Entity>, Refusal> {
    if new.is_empty() {
        return Ok(new);
    }
    let mut session = keeper.session_for_writing(caller)?;
    let created = add_absent_entities(&mut session, new.clone(), RulePolicy::Report)?.created;
    let mut created = created.into_iter().peekable();
    // Both are in the same order, and the first of each name was created.
    Ok(new.into_iter().filter(|it| created.next_if(|name| *name == it.name).is_some()).collect())
}

/// Creates the relations that do not exist, and returns those.
pub fn create_relations_if_absent(
    keeper: &mut Keeper,
    caller: &Caller,
    new: &[Triple],
) -> Result<Vec<Triple>, Refusal> {
    if new.is_empty() {
        return Ok(Vec::new());
    }
    let session = keeper.session_for_writing(caller)?;
    let mut created = Vec::new();
    session.palace.change_files(caller, |open| {
        let mut edit = GraphEdit::default();
        created = add_absent_relations(open, &mut edit, new)?;
        let subject = match created.as_slice() {
            [Triple { from, kind, to }] => {
                let parts = [from, kind, to].map(|it| render::truncate(&render::one_line(it), 30));
                format!("relation {}: create", parts.join(" "))
            }
            _ => format!("relations: create {}", created.len()),
        };
        let body = describe_created_relations(&created);
        Ok(ChangePlan { edits: edit.into_edits()?, subject, body })
    })?;
    Ok(created)
}

/// Adds to entities the observations that they do not have, and returns those; adds nothing if
/// one of the entities does not exist.
pub fn add_observations(
    keeper: &mut Keeper,
    caller: &Caller,
    new: &[EntityObservations],
) -> Result<Vec<EntityObservations>, Refusal> {
    let Some(session) = keeper.session_if_any(caller)? else {
        return match new.first() {
            Some((name, _)) => Err(Refusal::MemoryEntityNotFound { name: name.clone() }),
            None => Ok(Vec::new()),
        };
    };
    let mut added = Vec::new();
    session.palace.change_files(caller, |open| {
        let mut edit = GraphEdit::default();
        added = add_absent_observations(open, &mut edit, new)?;
        let what =
            render::count_with_noun(added.iter().map(|(_, it)| it.len()).sum(), "observation");
        change_plan_for_entities(edit, new.iter().map(|(name, _)| name), &format!("add {what}"))
    })?;
    Ok(added)
}

/// Deletes observations of entities. It is no error if they do not exist.
pub fn delete_observations(
    keeper: &mut Keeper,
    caller: &Caller,
    old: &[EntityObservations],
) -> Result<DeletionSummary, Refusal> {
    let mut summary = DeletionSummary::default();
    let Some(session) = keeper.session_if_any(caller)? else {
        summary.requested = old.iter().map(|(_, it)| distinct_texts(it).count()).sum();
        summary.missing = old.iter().map(|(name, _)| name.clone()).collect();
        return Ok(summary);
    };
    session.palace.change_files(caller, |open| {
        let mut edit = GraphEdit::default();
        summary = remove_observations(open, &mut edit, old)?;
        let what = render::count_with_noun(summary.deleted, "observation");
        change_plan_for_entities(edit, old.iter().map(|(name, _)| name), &format!("delete {what}"))
    })?;
    Ok(summary)
}

/// Deletes relations, whatever their dates. It is no error if they do not exist.
pub fn delete_relations(
    keeper: &mut Keeper,
    caller: &Caller,
    old: &[Triple],
) -> Result<DeletionSummary, Refusal> {
    let old: BTreeSet<&Triple> = old.iter().collect();
    let mut summary = DeletionSummary { requested: old.len(), ..DeletionSummary::default() };
    let Some(session) = keeper.session_if_any(caller)? else { return Ok(summary) };
    session.palace.change_files(caller, |open| {
        let mut edit = GraphEdit::default();
        summary.deleted = remove_relations(open, &mut edit, &old)?;
        let what = render::count_with_noun(summary.deleted, "relation");
        change_plan_for_entities(edit, old.iter().map(|it| &it.from), &format!("delete {what}"))
    })?;
    Ok(summary)
}

/// Adds the relations that do not exist, and returns those.
pub(crate) fn add_absent_relations(
    open: &mut OpenPalace,
    edit: &mut GraphEdit,
    new: &[Triple],
) -> Result<Vec<Triple>, Refusal> {
    let mut keys_by_source: HashMap<&str, HashSet<(String, String)>> = HashMap::new();
    let mut created = Vec::new();
    for triple in new {
        let Triple { from, kind, to } = triple;
        if !keys_by_source.contains_key(from.as_str()) {
            keys_by_source.insert(from, relation_keys_from(open, edit, from)?);
        }
        let is_new = keys_by_source
            .get_mut(from.as_str())
            .is_some_and(|it| it.insert((kind.clone(), to.clone())));
        if is_new && let Some(source) = edit.entity_or_new_loose_end_mut(open, from)? {
            source.relations.push(triple.clone().into());
            created.push(triple.clone());
        }
    }
    Ok(created)
}

/// Returns the relations from `name`, by kind and target.
fn relation_keys_from(
    open: &mut OpenPalace,
    edit: &mut GraphEdit,
    name: &str,
) -> Result<HashSet<(String, String)>, Refusal> {
    let mut keys = HashSet::new();
    let mut collect = |it: Option<&mut Entity>| {
        let relations = it.into_iter().flat_map(|it| &it.relations);
        keys.extend(relations.map(|it| (it.kind.clone(), it.to.clone())));
    };
    collect(edit.entity_mut(open, name)?);
    collect(edit.loose_end_mut(open, name)?);
    Ok(keys)
}

/// Adds the observations that entities do not have, and returns those.
pub(crate) fn add_absent_observations(
    open: &mut OpenPalace,
    edit: &mut GraphEdit,
    new: &[EntityObservations],
) -> Result<Vec<EntityObservations>, Refusal> {
    let mut added = Vec::new();
    for (name, contents) in new {
        let entity = edit.entity_mut(open, name)?;
        let entity = entity.ok_or_else(|| Refusal::MemoryEntityNotFound { name: name.clone() })?;
        let present: HashSet<&String> = entity.observations.iter().collect();
        let absent: Vec<_> =
            distinct_texts(contents).filter(|it| !present.contains(it)).cloned().collect();
        entity.observations.extend(absent.iter().cloned());
        added.push((name.clone(), absent));
    }
    Ok(added)
}

fn remove_observations(
    open: &mut OpenPalace,
    edit: &mut GraphEdit,
    old: &[EntityObservations],
) -> Result<DeletionSummary, Refusal> {
    let mut summary = DeletionSummary::default();
    for (name, contents) in old {
        let old: BTreeSet<&String> = contents.iter().collect();
        summary.requested += old.len();
        let Some(entity) = edit.entity_mut(open, name)? else {
            summary.missing.push(name.clone());
            continue;
        };
        let present: BTreeSet<&String> = entity.observations.iter().collect();
        summary.deleted += old.intersection(&present).count();
        entity.observations.retain(|it| !old.contains(it));
    }
    Ok(summary)
}

fn remove_relations(
    open: &mut OpenPalace,
    edit: &mut GraphEdit,
    old: &BTreeSet<&Triple>,
) -> Result<usize, Refusal> {
    let mut keys_by_source: BTreeMap<&str, BTreeSet<(&str, &str)>> = BTreeMap::new();
    for Triple { from, kind, to } in old {
        keys_by_source.entry(from).or_default().insert((kind, to));
    }
    let mut deleted = 0;
    for (from, old) in keys_by_source {
        let mut removed: BTreeSet<(String, String)> = BTreeSet::new();
        let mut remove = |source: Option<&mut Entity>| {
            let Some(Entity { relations, .. }) = source else { return };
            relations.retain(|it| {
                let is_old = old.contains(&(it.kind.as_str(), it.to.as_str()));
                removed.extend(is_old.then(|| (it.kind.clone(), it.to.clone())));
                !is_old
            });
        };
        remove(edit.entity_mut(open, from)?);
        remove(edit.loose_end_mut(open, from)?);
        deleted += removed.len();
    }
    Ok(deleted)
}

/// Builds the plan of a change of some entities.
fn change_plan_for_entities<'a>(
    edit: GraphEdit,
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
        edits: edit.into_edits()?,
        subject,
        body: format!("Of {}", join_names(&names)),
    })
}

/// Describes relations in one line, the first few of many.
fn describe_created_relations(relations: &[Triple]) -> String {
    let texts = relations.iter().map(|it| format!("{} {} {}", it.from, it.kind, it.to));
    format!("Created {}", join_names(&texts.collect::<Vec<_>>()))
}
