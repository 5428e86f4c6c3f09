//! What the reference memory server does, done to the graph: exact names, calls
//! that never fail for what is there already or is not there, and relations
//! from and to names that nobody has defined.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::keeper::graph::delete::distinct;
use crate::keeper::graph::edit::Revision;
use crate::keeper::graph::rules::Rules;
use crate::keeper::palace::{Held, Plan};
use crate::keeper::{Caller, Keeper, Refusal, listed};
use crate::model::{Entity, Triple};
use crate::render;

/// Observations of one entity, by its name.
pub type Observed = (String, Vec<String>);

/// What taking observations or relations away came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Erased {
    /// How many are gone.
    pub gone: usize,
    /// Of how many that were named.
    pub asked: usize,
    /// The entities they were to be taken from and that are not there, by name.
    pub missing: Vec<String>,
}

impl Keeper {
    /// Creates the entities whose names are free, the first of each name, and
    /// returns those.
    pub fn remember(&mut self, by: &Caller, new: Vec<Entity>) -> Result<Vec<Entity>, Refusal> {
        if new.is_empty() {
            return Ok(new);
        }
        let mut created =
            self.add_entities(by, new.clone(), Rules::Told)?.created.into_iter().peekable();
        // Both are in the same order, and the first of each name was taken.
        Ok(new
            .into_iter()
            .filter(|it| created.next_if(|name| *name == it.name).is_some())
            .collect())
    }

    /// Creates the relations that are not there, and returns those.
    pub fn relate(&mut self, by: &Caller, new: &[Triple]) -> Result<Vec<Triple>, Refusal> {
        if new.is_empty() {
            return Ok(Vec::new());
        }
        let key = self.current_or_first(by)?;
        let mut created = Vec::new();
        self.at(&key)?.change(by, |held| {
            let mut revision = Revision::default();
            created = relating(held, &mut revision, new)?;
            let subject = match created.as_slice() {
                [Triple { from, kind, to }] => {
                    let said = [from, kind, to].map(|it| render::cut(&render::line(it), 30));
                    format!("relation {}: create", said.join(" "))
                }
                _ => format!("relations: create {}", created.len()),
            };
            Ok(Plan { edits: revision.edits()?, subject, body: told(&created) })
        })?;
        Ok(created)
    }

    /// Adds to entities the observations they do not have, and returns those;
    /// adds nothing if one of the entities is not there.
    pub fn observe(&mut self, by: &Caller, new: &[Observed]) -> Result<Vec<Observed>, Refusal> {
        let Some(key) = self.current_if_any(by)? else {
            return match new.first() {
                Some((name, _)) => Err(Refusal::NotFound { name: name.clone() }),
                None => Ok(Vec::new()),
            };
        };
        let mut added = Vec::new();
        self.at(&key)?.change(by, |held| {
            let mut revision = Revision::default();
            added = observing(held, &mut revision, new)?;
            let what = render::count(added.iter().map(|(_, it)| it.len()).sum(), "observation");
            plan(revision, new.iter().map(|(name, _)| name), &format!("add {what}"))
        })?;
        Ok(added)
    }

    /// Takes observations from entities, where they are.
    pub fn forget_observations(
        &mut self,
        by: &Caller,
        old: &[Observed],
    ) -> Result<Erased, Refusal> {
        let mut erased = Erased::default();
        let key = self.current_if_any(by)?;
        let Some(key) = key else {
            erased.asked = old.iter().map(|(_, it)| distinct(it).count()).sum();
            erased.missing = old.iter().map(|(name, _)| name.clone()).collect();
            return Ok(erased);
        };
        self.at(&key)?.change(by, |held| {
            let mut revision = Revision::default();
            erased = unobserving(held, &mut revision, old)?;
            let what = render::count(erased.gone, "observation");
            plan(revision, old.iter().map(|(name, _)| name), &format!("delete {what}"))
        })?;
        Ok(erased)
    }

    /// Takes relations away, where they are, whatever their dates.
    pub fn unrelate(&mut self, by: &Caller, old: &[Triple]) -> Result<Erased, Refusal> {
        let old: BTreeSet<&Triple> = old.iter().collect();
        let mut erased = Erased { asked: old.len(), ..Erased::default() };
        let Some(key) = self.current_if_any(by)? else { return Ok(erased) };
        self.at(&key)?.change(by, |held| {
            let mut revision = Revision::default();
            erased.gone = unrelating(held, &mut revision, &old)?;
            let what = render::count(erased.gone, "relation");
            plan(revision, old.iter().map(|it| &it.from), &format!("delete {what}"))
        })?;
        Ok(erased)
    }
}

/// Adds `new` relations where they are not there, and returns those.
pub(crate) fn relating(
    held: &mut Held,
    revision: &mut Revision,
    new: &[Triple],
) -> Result<Vec<Triple>, Refusal> {
    let mut known: HashMap<&str, HashSet<(String, String)>> = HashMap::new();
    let mut created = Vec::new();
    for triple in new {
        let Triple { from, kind, to } = triple;
        if !known.contains_key(from.as_str()) {
            known.insert(from, relations_of(held, revision, from)?);
        }
        let is_new =
            known.get_mut(from.as_str()).is_some_and(|it| it.insert((kind.clone(), to.clone())));
        if is_new && let Some(start) = revision.start(held, from)? {
            start.relations.push(triple.clone().into());
            created.push(triple.clone());
        }
    }
    Ok(created)
}

/// Returns the relations from `name`, by type and target.
fn relations_of(
    held: &mut Held,
    revision: &mut Revision,
    name: &str,
) -> Result<HashSet<(String, String)>, Refusal> {
    let mut known = HashSet::new();
    let mut learn = |it: Option<&mut Entity>| {
        let relations = it.into_iter().flat_map(|it| &it.relations);
        known.extend(relations.map(|it| (it.kind.clone(), it.to.clone())));
    };
    learn(revision.entity(held, name)?);
    learn(revision.loose_end(held, name)?);
    Ok(known)
}

/// Adds `new` observations where they are not there, and returns those.
pub(crate) fn observing(
    held: &mut Held,
    revision: &mut Revision,
    new: &[Observed],
) -> Result<Vec<Observed>, Refusal> {
    let mut added = Vec::new();
    for (name, contents) in new {
        let entity = revision.entity(held, name)?;
        let entity = entity.ok_or_else(|| Refusal::NotFound { name: name.clone() })?;
        let known: HashSet<&String> = entity.observations.iter().collect();
        let fresh: Vec<_> = distinct(contents).filter(|it| !known.contains(it)).cloned().collect();
        entity.observations.extend(fresh.iter().cloned());
        added.push((name.clone(), fresh));
    }
    Ok(added)
}

fn unobserving(
    held: &mut Held,
    revision: &mut Revision,
    old: &[Observed],
) -> Result<Erased, Refusal> {
    let mut erased = Erased::default();
    for (name, contents) in old {
        let old: BTreeSet<&String> = contents.iter().collect();
        erased.asked += old.len();
        let Some(entity) = revision.entity(held, name)? else {
            erased.missing.push(name.clone());
            continue;
        };
        let there: BTreeSet<&String> = entity.observations.iter().collect();
        erased.gone += old.intersection(&there).count();
        entity.observations.retain(|it| !old.contains(it));
    }
    Ok(erased)
}

fn unrelating(
    held: &mut Held,
    revision: &mut Revision,
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
        erase(revision.entity(held, from)?);
        erase(revision.loose_end(held, from)?);
        erased += gone.len();
    }
    Ok(erased)
}

/// Makes a plan of a change to what is known of some entities.
fn plan<'a>(
    revision: Revision,
    names: impl Iterator<Item = &'a String>,
    what: &str,
) -> Result<Plan, Refusal> {
    let names: BTreeSet<_> = names.cloned().collect();
    let names: Vec<_> = names.into_iter().collect();
    let subject = match names.as_slice() {
        [only] => format!("entity {}: {what}", render::cut(&render::line(only), 50)),
        _ => format!("entities: {what}"),
    };
    Ok(Plan { edits: revision.edits()?, subject, body: format!("Of {}", listed(&names)) })
}

/// Tells relations in one line, the first few of many.
fn told(relations: &[Triple]) -> String {
    let said = relations.iter().map(|it| format!("{} {} {}", it.from, it.kind, it.to));
    format!("Created {}", listed(&said.collect::<Vec<_>>()))
}
