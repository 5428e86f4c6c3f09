//! Deleting entities, and with each the relations that lead to it.

use std::collections::BTreeSet;

use crate::keeper::graph::ask::resolve_entity_name;
use crate::keeper::graph::edit::GraphEdit;
use crate::keeper::graph::references;
use crate::keeper::palace::{ChangePlan, OpenPalace};
use crate::keeper::{Caller, Keeper, Refusal};
use crate::model::{Entity, Relation};
use crate::render;
use crate::render::join_names;

/// What deleting entities came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeletedEntities {
    /// The entities that are gone, by name.
    pub entities: Vec<String>,
    /// The names that no entity had.
    pub missing: Vec<String>,
    /// How many relations of others to any of those names are gone with them.
    pub relations: usize,
}

impl Keeper {
    /// Deletes the entities of those exact names and every relation from or to
    /// those names, in one commit. A name that no entity has is no error.
    pub fn delete_exact_entities(
        &mut self,
        by: &Caller,
        names: &[String],
    ) -> Result<DeletedEntities, Refusal> {
        let names: Vec<_> = distinct(names).cloned().collect();
        let mut removed = DeletedEntities { missing: names.clone(), ..DeletedEntities::default() };
        let Some(key) = self.current_workspace_if_any(by)? else { return Ok(removed) };
        self.open_palace(&key)?.change(by, |held| {
            let (plan, counted) = plan_deletion(held, &names)?;
            removed = counted;
            Ok(plan)
        })?;
        Ok(removed)
    }

    /// Deletes entities, found by name whatever the case, and says what became of
    /// that.
    pub fn delete_entities(&mut self, by: &Caller, names: &[String]) -> Result<String, Refusal> {
        if names.is_empty() {
            return Err(Refusal::Invalid("`names` is empty: nothing to delete".to_owned()));
        }
        let key = self.current_workspace(by)?;
        let held = self.open_palace(&key)?;
        held.catch_up()?;
        let known =
            |it: &String| resolve_entity_name(&held.palace, it).unwrap_or_else(|_| it.clone());
        let names: Vec<_> = names.iter().map(known).collect();
        let DeletedEntities { entities, missing, relations } =
            self.delete_exact_entities(by, &names)?;
        let mut told = match entities.len() {
            0 => "Deleted nothing".to_owned(),
            _ => format!("Deleted {}", join_names(&entities)),
        };
        if relations > 0 {
            told.push_str(&format!(
                ", with {} of others to that",
                render::pluralize(relations, "relation")
            ));
        }
        let still = references::describe_references(self.open_palace(&key)?, &entities);
        if !still.is_empty() {
            told.push_str(&format!("; still named by {}", still.join(", ")));
        }
        if !missing.is_empty() {
            told.push_str(&format!("; no entity is called {}", join_names(&missing)));
        }
        Ok(told + ".\n")
    }
}

/// Yields each text once, where it stands first.
pub(crate) fn distinct(texts: &[String]) -> impl Iterator<Item = &String> {
    let mut seen = BTreeSet::new();
    texts.iter().filter(move |it| seen.insert(it.as_str()))
}

fn plan_deletion(
    held: &mut OpenPalace,
    names: &[String],
) -> Result<(ChangePlan, DeletedEntities), Refusal> {
    let gone: BTreeSet<&str> = names.iter().map(String::as_str).collect();
    let (mut revision, mut removed) = (GraphEdit::default(), DeletedEntities::default());
    for name in names {
        if revision.entity_mut(held, name)?.is_some() {
            removed.entities.push(name.clone());
        } else {
            removed.missing.push(name.clone());
        }
        if let Some(loose) = revision.loose_end_mut(held, name)? {
            removed.relations += loose.relations.len();
        }
        revision.remove_entity(name, true);
        revision.remove_entity(name, false);
    }
    for (source, is_defined) in entities_relating_to(held, &gone) {
        let source = match is_defined {
            true => revision.entity_mut(held, &source)?,
            false => revision.loose_end_mut(held, &source)?,
        };
        let Some(Entity { relations, .. }) = source else { continue };
        let before = relations.len();
        relations.retain(|Relation { to, .. }| !gone.contains(to.as_str()));
        removed.relations += before - relations.len();
    }
    let (subject, body) = deletion_commit_message(names, &removed);
    Ok((ChangePlan { edits: revision.into_edits()?, subject, body }, removed))
}

/// Says what was deleted, for history.
fn deletion_commit_message(
    names: &[String],
    DeletedEntities { entities, relations, .. }: &DeletedEntities,
) -> (String, String) {
    let relations = render::pluralize(*relations, "relation");
    match entities.as_slice() {
        [] => (
            "relations: delete".to_owned(),
            format!("Deleted {relations} of {}", join_names(names)),
        ),
        [only] => {
            let short = render::truncate(&render::one_line(only), 50);
            (format!("entity {short}: delete"), format!("Deleted it and {relations} to it"))
        }
        them => {
            let subject = format!("entities: delete {}", them.len());
            (subject, format!("Deleted {} and {relations} to them", join_names(them)))
        }
    }
}

/// Lists who relates to any of the names and has none of them, by name and
/// whether defined.
fn entities_relating_to(held: &OpenPalace, gone: &BTreeSet<&str>) -> BTreeSet<(String, bool)> {
    let incoming = gone.iter().flat_map(|it| held.palace.graph.incoming_relations(it));
    let sources = incoming.map(|it| (it.from.name.clone(), it.from.is_defined));
    sources.filter(|(name, _)| !gone.contains(name.as_str())).collect()
}
