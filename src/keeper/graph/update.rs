//! Changing entities: what is known of them, their names, and how many there are.

use std::sync::PoisonError;

use serde_json::{Map, Value};

use crate::compare;
use crate::keeper::graph::ask::known_entity;
use crate::keeper::graph::edit::Revision;
use crate::keeper::graph::merge::unite;
use crate::keeper::graph::references;
use crate::keeper::graph::relations;
use crate::keeper::graph::relations::Parting;
use crate::keeper::graph::rules::{against, allow, noted, remarks, spell_genera, twin};
use crate::keeper::palace::{Held, Plan};
use crate::keeper::{Caller, Keeper, Refusal, listed};
use crate::model::{Detail, Entity, Fate, Fault, Graph, Palace, Relation, did_you_mean};
use crate::render;

/// How many disagreements an answer tells of.
const TOLD: usize = 10;

/// What is to change in an entity. What is not given stays.
#[derive(Clone, Debug, Default)]
pub struct EntityChange {
    /// The entity, by name.
    pub name: String,
    /// Its new name: whatever names it follows.
    pub new_name: Option<String>,
    /// Other entities that become one with it, by name.
    pub merge: Vec<String>,
    /// Its new genus.
    pub genus: Option<String>,
    /// Its new status; an empty one takes the status away.
    pub status: Option<String>,
    /// Attributes to set; `null` takes an attribute away.
    pub attributes: Map<String, Value>,
    /// Observations to add, where they are not there already.
    pub add_observations: Vec<String>,
    /// Observations to take away.
    pub remove_observations: Vec<String>,
    /// Relations to add; one of the same type to the same entity whose time it
    /// touches is changed.
    pub add_relations: Vec<Relation>,
    /// Relations to take away.
    pub remove_relations: Vec<Parting>,
}

/// What became of an entity, to be told.
#[derive(Default)]
struct Outcome {
    /// Its name before, and now.
    names: (String, String),
    /// Those that became one with it.
    merged: Vec<String>,
    /// The names that nobody has any more.
    gone: Vec<String>,
    /// How many entities, rooms, tasks and processes named it, or those, otherwise.
    followers: [usize; 3],
    /// Where those that became one disagree.
    conflicts: Vec<String>,
    /// What was wrong with it before.
    faults: Vec<Fault>,
    /// How it is not what it was, but for its name.
    details: Vec<Detail>,
    /// What of the change could not be done, or was done already.
    notes: Vec<String>,
}

impl Keeper {
    /// Changes one entity, and whatever names it, in one commit.
    pub fn update_entity(&mut self, by: &Caller, change: &EntityChange) -> Result<String, Refusal> {
        let key = self.current(by)?;
        let held = self.at(&key)?;
        let mut change = change.clone();
        change.add_relations.iter_mut().for_each(|it| relations::date(it, by.now));
        let mut outcome = Outcome::default();
        let changed = held.change_alone(by, |held| {
            let (plan, done) = plan(held, &change)?;
            outcome = done;
            Ok(plan)
        })?;
        let graph = &held.palace.graph;
        let remarks = remarks(graph, graph.get(&outcome.names.1).into_iter(), &outcome.faults);
        let mut answer = match changed {
            true => format!("{}.\n", outcome.told()),
            false => format!(
                "{} was like that already: nothing changed.\n",
                render::line(&outcome.names.1)
            ),
        };
        for conflict in outcome.conflicts.iter().take(TOLD) {
            answer.push_str(&format!("Note: {conflict}.\n"));
        }
        if outcome.conflicts.len() > TOLD {
            let left = outcome.conflicts.len() - TOLD;
            answer.push_str(&format!("And {left} more.\n"));
        }
        let twin = twin(graph, &outcome.names.1).filter(|_| outcome.is_renamed());
        outcome.notes.extend(twin);
        answer.push_str(&noted(&outcome.notes));
        let mut shared = self.shared_visits.lock().unwrap_or_else(PoisonError::into_inner);
        let visits = self.visits.values_mut().chain(shared.values_mut());
        for visit in visits.filter(|it| it.workspace.as_deref() == Some(key.as_str())) {
            references::follow_visit(visit, &outcome.gone, &outcome.names.1);
        }
        Ok(answer + &remarks)
    }
}

fn plan(held: &mut Held, change: &EntityChange) -> Result<(Plan, Outcome), Refusal> {
    let was = known_entity(&held.palace, &change.name)?;
    let merged = others(&held.palace, &was, change)?;
    let name = renamed(&held.palace.graph, &was, &merged, change)?;
    let mut revision = Revision::default();
    let old = opened(&mut revision, held, &was)?.clone();
    let (mut new, notes) = changed(&held.palace.graph, &old, change)?;
    let family: Vec<_> = merged.iter().chain([&was]).cloned().collect();
    let (mut conflicts, mut were) = (Vec::new(), vec![old.clone()]);
    for other in &merged {
        let other = opened(&mut revision, held, other)?.clone();
        conflicts.extend(unite(&mut new, &other, &family));
        were.push(other);
    }
    if name != was {
        new.relations.extend(revision.take_over(held, &name)?);
        new.name.clone_from(&name);
    }
    allow(against(&held.palace.graph, &were, &new).into_iter())?;
    let details = compare::entity(&old, &new).into_iter();
    let details = details.filter(|it| !matches!(it, Detail::Renamed { .. })).collect();
    *opened(&mut revision, held, &was)? = new;
    let gone: Vec<_> = family.into_iter().filter(|it| *it != name).collect();
    let mut followers = [0, 0, 0];
    for gone in &gone {
        followers[0] += references::follow(&mut revision, held, gone, &name, &merged)?;
    }
    for other in &merged {
        revision.remove(other, true);
    }
    revision.follow(held, &was);
    let mut edits = revision.edits()?;
    let rooms = references::rooms(held, &gone, &name)?;
    let works = references::works(held, &gone, &name)?;
    [followers[1], followers[2]] = [rooms.len(), works.len()];
    edits.extend(rooms.into_iter().chain(works));
    let faults = held.palace.graph.faults(&old);
    let names = (was, name);
    let outcome = Outcome { names, merged, gone, followers, conflicts, faults, details, notes };
    let plan = Plan { edits, subject: outcome.subject(), body: outcome.body(change) };
    Ok((plan, outcome))
}

/// Returns an entity that is known, to be changed.
fn opened<'a>(
    revision: &'a mut Revision,
    held: &mut Held,
    name: &str,
) -> Result<&'a mut Entity, Refusal> {
    let missing = || Refusal::NoSuchEntity { asked: name.to_owned(), meant: None };
    revision.entity(held, name)?.ok_or_else(missing)
}

/// Returns the names of those that are to become one with `name`.
fn others(palace: &Palace, name: &str, change: &EntityChange) -> Result<Vec<String>, Refusal> {
    let mut others = Vec::new();
    for asked in &change.merge {
        let other = known_entity(palace, asked)?;
        if other == name {
            let why = format!("`{}` is one with itself already", name.escape_debug());
            return Err(Refusal::Nonsense(why));
        }
        if !others.contains(&other) {
            others.push(other);
        }
    }
    Ok(others)
}

/// Returns the name an entity is to have.
fn renamed(
    graph: &Graph,
    was: &str,
    merged: &[String],
    change: &EntityChange,
) -> Result<String, Refusal> {
    let Some(name) = &change.new_name else { return Ok(was.to_owned()) };
    if name.trim().is_empty() {
        return Err(Refusal::Nonsense("the `new_name` is empty".to_owned()));
    }
    match graph.file_of(name) {
        Some(file) if name != was && !merged.contains(name) => {
            Err(Refusal::NameTaken { name: name.clone(), file: file.to_owned() })
        }
        _ => Ok(name.clone()),
    }
}

/// Returns what becomes of an entity, and what of the change is worth a note.
fn changed(
    graph: &Graph,
    old: &Entity,
    change: &EntityChange,
) -> Result<(Entity, Vec<String>), Refusal> {
    let (mut new, mut notes) = (old.clone(), missed(old, change));
    if let Some(genus) = &change.genus {
        new.genus.clone_from(genus);
        notes.extend(spell_genera(graph, std::slice::from_mut(&mut new)));
    }
    if let Some(status) = &change.status {
        new.status = Some(status.clone()).filter(|it| !it.is_empty());
    }
    for (key, value) in &change.attributes {
        match value {
            Value::Null => drop(new.attributes.shift_remove(key)),
            _ => drop(new.attributes.insert(key.clone(), value.clone())),
        }
    }
    new.observations.retain(|it| !change.remove_observations.contains(it));
    for observation in &change.add_observations {
        if !new.observations.contains(observation) {
            new.observations.push(observation.clone());
        }
    }
    new.relations.retain(|it| !change.remove_relations.iter().any(|gone| gone.means(it)));
    let was = new.relations.clone();
    for relation in &change.add_relations {
        let note = relations::add(&mut new.relations, &was, relation);
        notes.extend(note.map_err(Refusal::Nonsense)?);
    }
    Ok((new, notes))
}

/// Says what is to be taken away and is not there.
fn missed(old: &Entity, change: &EntityChange) -> Vec<String> {
    let note = |what: &str, said: &str, known: &[String]| {
        let short = |text: &str| render::cut(&render::line(text), 80);
        let meant = did_you_mean(said, known.iter().map(String::as_str));
        let hint = meant.map(|it| format!(" (did you mean `{}`?)", short(it))).unwrap_or_default();
        format!("there was no {what} `{}`{hint}", short(said))
    };
    let gone =
        |(key, value): &(&String, &Value)| value.is_null() && !old.attributes.contains_key(*key);
    let keys: Vec<_> = old.attributes.keys().cloned().collect();
    let attributes = change.attributes.iter().filter(gone);
    let attributes = attributes.map(|(key, _)| note("attribute", key, &keys));
    let observations = change.remove_observations.iter();
    let observations = observations.filter(|it| !old.observations.contains(it));
    let observations = observations.map(|it| note("observation", it, &old.observations));
    let known: Vec<_> = old.relations.iter().map(relations::told).collect();
    let partings = change.remove_relations.iter();
    let partings = partings.filter(|gone| !old.relations.iter().any(|it| gone.means(it)));
    let partings = partings.map(|it| note("relation", &it.told(), &known));
    attributes.chain(observations).chain(partings).collect()
}

impl Outcome {
    fn is_renamed(&self) -> bool {
        self.names.0 != self.names.1
    }

    /// Says what was done.
    fn told(&self) -> String {
        let (was, name) = (render::line(&self.names.0), render::line(&self.names.1));
        let mut told = match (self.is_renamed(), self.merged.is_empty()) {
            (false, true) => format!("Changed {name}"),
            (true, true) => format!("Renamed {was} to {name}"),
            (false, false) => format!("Merged {} into {name}", listed(&self.merged)),
            (true, false) => format!("Merged {was} and {} into {name}", listed(&self.merged)),
        };
        let nouns = ["entity", "room", "task"];
        let followers = self.followers.into_iter().zip(nouns).filter(|(number, _)| *number > 0);
        let followers: Vec<_> = followers.map(|(it, noun)| render::count(it, noun)).collect();
        if !followers.is_empty() {
            let verb = if self.followers.iter().sum::<usize>() == 1 { "follows" } else { "follow" };
            told.push_str(&format!("; {} {verb}", followers.join(" and ")));
        }
        if !self.details.is_empty() {
            told.push_str(&format!(": {}", render::fate(&Fate::Changed(self.details.clone()))));
        }
        told
    }

    fn subject(&self) -> String {
        let verb = match (self.is_renamed(), self.merged.is_empty()) {
            (_, false) => "merge",
            (true, true) => "rename",
            (false, true) => "update",
        };
        format!("entity {}: {verb}", render::cut(&render::line(&self.names.1), 50))
    }

    /// Says what an update was about, for history.
    fn body(&self, change: &EntityChange) -> String {
        let said = details(change);
        let told = match (self.is_renamed() || !self.merged.is_empty(), said.is_empty()) {
            (true, true) => self.told(),
            (true, false) => format!("{}, {said}", self.told()),
            (false, _) => said,
        };
        render::cut(&render::line(&told), 200)
    }
}

fn details(change: &EntityChange) -> String {
    let mut said = Vec::new();
    said.extend(change.genus.as_ref().map(|it| format!("genus {it}")));
    said.extend(change.status.as_ref().map(|it| format!("status {it}")));
    said.extend(change.attributes.keys().map(|it| format!("attribute {it}")));
    let mut counted = |number: usize, what: &str| {
        if number > 0 {
            let (noun, rest) = what.split_once(' ').unwrap_or((what, ""));
            said.push(format!("{} {rest}", render::count(number, noun)));
        }
    };
    counted(change.add_observations.len(), "observation added");
    counted(change.remove_observations.len(), "observation removed");
    counted(change.add_relations.len(), "relation added");
    counted(change.remove_relations.len(), "relation removed");
    said.join(", ")
}
