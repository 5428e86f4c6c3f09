//! Deleting entities, and with each the relations that lead to it.

use std::collections::BTreeSet;

use crate::keeper::graph::ask::known_entity;
use crate::keeper::graph::edit::Revision;
use crate::keeper::graph::references;
use crate::keeper::palace::{Held, Plan};
use crate::keeper::{Caller, Keeper, Refusal, listed};
use crate::model::{Entity, Relation};
use crate::render;

/// What deleting entities came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Removed {
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
    pub fn remove_entities(&mut self, by: &Caller, names: &[String]) -> Result<Removed, Refusal> {
        let names: Vec<_> = distinct(names).cloned().collect();
        let mut removed = Removed { missing: names.clone(), ..Removed::default() };
        let Some(key) = self.current_if_any(by)? else { return Ok(removed) };
        self.at(&key)?.change(by, |held| {
            let (plan, counted) = removal(held, &names)?;
            removed = counted;
            Ok(plan)
        })?;
        Ok(removed)
    }

    /// Deletes entities, found by name whatever the case, and says what became of
    /// that.
    pub fn delete_entities(&mut self, by: &Caller, names: &[String]) -> Result<String, Refusal> {
        if names.is_empty() {
            return Err(Refusal::Nonsense("`names` is empty: nothing to delete".to_owned()));
        }
        let key = self.current(by)?;
        let held = self.at(&key)?;
        held.catch_up()?;
        let known = |it: &String| known_entity(&held.palace, it).unwrap_or_else(|_| it.clone());
        let names: Vec<_> = names.iter().map(known).collect();
        let Removed { entities, missing, relations } = self.remove_entities(by, &names)?;
        let mut told = match entities.len() {
            0 => "Deleted nothing".to_owned(),
            _ => format!("Deleted {}", listed(&entities)),
        };
        if relations > 0 {
            told.push_str(&format!(
                ", with {} of others to that",
                render::count(relations, "relation")
            ));
        }
        let still = references::shown_by(self.at(&key)?, &entities);
        if !still.is_empty() {
            told.push_str(&format!("; still named by {}", still.join(", ")));
        }
        if !missing.is_empty() {
            told.push_str(&format!("; no entity is called {}", listed(&missing)));
        }
        Ok(told + ".\n")
    }
}

/// Yields each text once, where it stands first.
pub(crate) fn distinct(texts: &[String]) -> impl Iterator<Item = &String> {
    let mut seen = BTreeSet::new();
    texts.iter().filter(move |it| seen.insert(it.as_str()))
}

fn removal(held: &mut Held, names: &[String]) -> Result<(Plan, Removed), Refusal> {
    let gone: BTreeSet<&str> = names.iter().map(String::as_str).collect();
    let (mut revision, mut removed) = (Revision::default(), Removed::default());
    for name in names {
        if revision.entity(held, name)?.is_some() {
            removed.entities.push(name.clone());
        } else {
            removed.missing.push(name.clone());
        }
        if let Some(loose) = revision.loose_end(held, name)? {
            removed.relations += loose.relations.len();
        }
        revision.remove(name, true);
        revision.remove(name, false);
    }
    for (source, is_defined) in sources(held, &gone) {
        let source = match is_defined {
            true => revision.entity(held, &source)?,
            false => revision.loose_end(held, &source)?,
        };
        let Some(Entity { relations, .. }) = source else { continue };
        let before = relations.len();
        relations.retain(|Relation { to, .. }| !gone.contains(to.as_str()));
        removed.relations += before - relations.len();
    }
    let (subject, body) = told(names, &removed);
    Ok((Plan { edits: revision.edits()?, subject, body }, removed))
}

/// Says what was deleted, for history.
fn told(names: &[String], Removed { entities, relations, .. }: &Removed) -> (String, String) {
    let relations = render::count(*relations, "relation");
    match entities.as_slice() {
        [] => ("relations: delete".to_owned(), format!("Deleted {relations} of {}", listed(names))),
        [only] => {
            let short = render::cut(&render::line(only), 50);
            (format!("entity {short}: delete"), format!("Deleted it and {relations} to it"))
        }
        them => {
            let subject = format!("entities: delete {}", them.len());
            (subject, format!("Deleted {} and {relations} to them", listed(them)))
        }
    }
}

/// Lists who relates to any of the names and has none of them, by name and
/// whether defined.
fn sources(held: &Held, gone: &BTreeSet<&str>) -> BTreeSet<(String, bool)> {
    let incoming = gone.iter().flat_map(|it| held.palace.graph.incoming(it));
    let sources = incoming.map(|it| (it.from.name.clone(), it.from.is_defined));
    sources.filter(|(name, _)| !gone.contains(name.as_str())).collect()
}
