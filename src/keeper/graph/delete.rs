//! Deletes entities, and the relations to them.

use std::collections::BTreeSet;

use crate::keeper::graph::edit::GraphEdit;
use crate::keeper::graph::lookup::resolve_entity_name;
use crate::keeper::graph::references;
use crate::keeper::palace::OpenPalace;
use crate::keeper::palace::change_plan::ChangePlan;
use crate::keeper::{Caller, Keeper, Refusal, Session};
use crate::model::{Entity, Relation};
use crate::render;
use crate::render::join_names;

/// The result of deleting entities by their exact names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeletedEntities {
    /// The names of the entities that were deleted.
    pub entities: Vec<String>,
    /// The names that no entity had.
    pub missing: Vec<String>,
    /// How many relations of other entities to these names were deleted.
    pub relations: usize,
}

impl DeletedEntities {
    /// Returns the result in a home without palaces, where every name is missing.
    pub fn all_missing(names: &[String]) -> Self {
        Self { missing: distinct_texts(names).cloned().collect(), ..Self::default() }
    }
}

/// The result of deleting entities, with the files that still name them.
#[derive(Clone, Debug)]
pub struct EntityDeletionOutcome {
    /// The deleted entities and relations.
    pub deleted: DeletedEntities,
    /// The rooms, tasks and processes that still name the entities: a phrase for each kind.
    pub references: Vec<String>,
}

/// Deletes the entities with these exact names and every relation from or to these names, in one
/// commit. A name that no entity has is no error.
pub fn delete_entities_by_exact_name(
    session: &mut Session<'_>,
    names: &[String],
) -> Result<DeletedEntities, Refusal> {
    let names: Vec<_> = distinct_texts(names).cloned().collect();
    let mut deleted = DeletedEntities::default();
    session.palace.change_files(session.caller, |open| {
        let (plan, result) = plan_deletion(open, &names)?;
        deleted = result;
        Ok(plan)
    })?;
    Ok(deleted)
}

/// Deletes entities as [`delete_entities_by_exact_name`] does; `names` may differ from their names in
/// case.
pub fn delete_entities(
    keeper: &mut Keeper,
    caller: &Caller,
    names: &[String],
) -> Result<EntityDeletionOutcome, Refusal> {
    if names.is_empty() {
        return Err(Refusal::Invalid("`names` is empty: nothing to delete".to_owned()));
    }
    let mut session = keeper.session(caller)?;
    let palace = &session.palace.palace;
    let exact = |it: &String| resolve_entity_name(palace, it).unwrap_or_else(|_| it.clone());
    let names: Vec<_> = names.iter().map(exact).collect();
    let deleted = delete_entities_by_exact_name(&mut session, &names)?;
    let references = references::describe_references(session.palace, &deleted.entities);
    Ok(EntityDeletionOutcome { deleted, references })
}

/// Yields each text once, at its first position.
pub(crate) fn distinct_texts(texts: &[String]) -> impl Iterator<Item = &String> {
    let mut seen = BTreeSet::new();
    texts.iter().filter(move |it| seen.insert(it.as_str()))
}

fn plan_deletion(
    open: &mut OpenPalace,
    names: &[String],
) -> Result<(ChangePlan, DeletedEntities), Refusal> {
    let set: BTreeSet<&str> = names.iter().map(String::as_str).collect();
    let (mut edit, mut deleted) = (GraphEdit::default(), DeletedEntities::default());
    for name in names {
        if edit.entity_mut(open, name)?.is_some() {
            deleted.entities.push(name.clone());
        } else {
            deleted.missing.push(name.clone());
        }
        if let Some(loose) = edit.loose_end_mut(open, name)? {
            deleted.relations += loose.relations.len();
        }
        edit.remove_entity(name, true);
        edit.remove_entity(name, false);
    }
    for (source, is_defined) in entities_relating_to(open, &set) {
        let source = match is_defined {
            true => edit.entity_mut(open, &source)?,
            false => edit.loose_end_mut(open, &source)?,
        };
        let Some(Entity { relations, .. }) = source else { continue };
        let before = relations.len();
        relations.retain(|Relation { to, .. }| !set.contains(to.as_str()));
        deleted.relations += before - relations.len();
    }
    let (subject, body) = deletion_commit_message(names, &deleted);
    Ok((ChangePlan { edits: edit.into_edits()?, subject, body }, deleted))
}

/// Returns the subject and the body of the commit message.
fn deletion_commit_message(
    names: &[String],
    DeletedEntities { entities, relations, .. }: &DeletedEntities,
) -> (String, String) {
    let relations = render::count_with_noun(*relations, "relation");
    match entities.as_slice() {
        [] => (
            "relations: delete".to_owned(),
            format!("Deleted {relations} of {}", join_names(names)),
        ),
        [only] => {
            let short = render::truncate(&render::one_line(only), 50);
            (format!("entity {short}: delete"), format!("Deleted it and {relations} to it"))
        }
        several => {
            let subject = format!("entities: delete {}", several.len());
            (subject, format!("Deleted {} and {relations} to them", join_names(several)))
        }
    }
}

/// Lists the entities and loose ends with relations to any of `names`, without those in `names`:
/// the name of each, and whether it is defined.
fn entities_relating_to(open: &OpenPalace, names: &BTreeSet<&str>) -> BTreeSet<(String, bool)> {
    let incoming = names.iter().flat_map(|it| open.palace.graph.incoming_relations(it));
    let sources = incoming.map(|it| (it.from.name.clone(), it.from.is_defined));
    sources.filter(|(name, _)| !names.contains(name.as_str())).collect()
}
