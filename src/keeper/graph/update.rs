//! Changing entities: what is known of them, their names, and how many there are.

use std::sync::PoisonError;

use serde_json::{Map, Value};

use crate::diff;
use crate::keeper::graph::ask::resolve_entity_name;
use crate::keeper::graph::edit::GraphEdit;
use crate::keeper::graph::merge::merge_entity;
use crate::keeper::graph::references;
use crate::keeper::graph::relations;
use crate::keeper::graph::relations::RelationRemoval;
use crate::keeper::graph::rules::{
    case_variant, format_notes, new_fault_notes, reject_if_any, unify_genus_spelling, violations,
};
use crate::keeper::palace::{ChangePlan, OpenPalace};
use crate::keeper::{Caller, Keeper, Refusal};
use crate::model::{
    ChangeDetail, ChangeKind, Entity, EntityFault, Graph, Palace, Relation, did_you_mean,
};
use crate::render;
use crate::render::join_names;

/// How many disagreements an answer tells of.
const MAX_LISTED_CONFLICTS: usize = 10;

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
    pub remove_relations: Vec<RelationRemoval>,
}

/// What became of an entity, to be told.
#[derive(Default)]
struct UpdateOutcome {
    /// Its name before, and now.
    names: (String, String),
    /// Those that became one with it.
    merged: Vec<String>,
    /// The names that nobody has any more.
    old_names: Vec<String>,
    /// How many entities, rooms, tasks and processes named it, or those, otherwise.
    reference_counts: [usize; 3],
    /// Where those that became one disagree.
    conflicts: Vec<String>,
    /// What was wrong with it before.
    faults: Vec<EntityFault>,
    /// How it is not what it was, but for its name.
    details: Vec<ChangeDetail>,
    /// What of the change could not be done, or was done already.
    notes: Vec<String>,
}

impl Keeper {
    /// Changes one entity, and whatever names it, in one commit.
    pub fn update_entity(&mut self, by: &Caller, change: &EntityChange) -> Result<String, Refusal> {
        let key = self.current_workspace(by)?;
        let held = self.open_palace(&key)?;
        let mut change = change.clone();
        change.add_relations.iter_mut().for_each(|it| relations::resolve_dates(it, by.now));
        let mut outcome = UpdateOutcome::default();
        let changed = held.change_exclusively(by, |held| {
            let (plan, done) = plan_update(held, &change)?;
            outcome = done;
            Ok(plan)
        })?;
        let graph = &held.palace.graph;
        let remarks =
            new_fault_notes(graph, graph.get(&outcome.names.1).into_iter(), &outcome.faults);
        let mut answer = match changed {
            true => format!("{}.\n", outcome.describe()),
            false => format!(
                "{} was like that already: nothing changed.\n",
                render::one_line(&outcome.names.1)
            ),
        };
        for conflict in outcome.conflicts.iter().take(MAX_LISTED_CONFLICTS) {
            answer.push_str(&format!("Note: {conflict}.\n"));
        }
        if outcome.conflicts.len() > MAX_LISTED_CONFLICTS {
            let left = outcome.conflicts.len() - MAX_LISTED_CONFLICTS;
            answer.push_str(&format!("And {left} more.\n"));
        }
        let twin = case_variant(graph, &outcome.names.1).filter(|_| outcome.is_renamed());
        outcome.notes.extend(twin);
        answer.push_str(&format_notes(&outcome.notes));
        let mut shared = self.shared_visits.lock().unwrap_or_else(PoisonError::into_inner);
        let visits = self.visits.values_mut().chain(shared.values_mut());
        for visit in visits.filter(|it| it.workspace.as_deref() == Some(key.as_str())) {
            references::rename_in_visit(visit, &outcome.old_names, &outcome.names.1);
        }
        Ok(answer + &remarks)
    }
}

fn plan_update(
    held: &mut OpenPalace,
    change: &EntityChange,
) -> Result<(ChangePlan, UpdateOutcome), Refusal> {
    let was = resolve_entity_name(&held.palace, &change.name)?;
    let merged = names_to_merge(&held.palace, &was, change)?;
    let name = resolve_new_name(&held.palace.graph, &was, &merged, change)?;
    let mut revision = GraphEdit::default();
    let old = require_entity(&mut revision, held, &was)?.clone();
    let (mut new, notes) = apply_change(&held.palace.graph, &old, change)?;
    let family: Vec<_> = merged.iter().chain([&was]).cloned().collect();
    let (mut conflicts, mut were) = (Vec::new(), vec![old.clone()]);
    for other in &merged {
        let other = require_entity(&mut revision, held, other)?.clone();
        conflicts.extend(merge_entity(&mut new, &other, &family));
        were.push(other);
    }
    if name != was {
        new.relations.extend(revision.take_loose_end(held, &name)?);
        new.name.clone_from(&name);
    }
    reject_if_any(violations(&held.palace.graph, &were, &new).into_iter())?;
    let details = diff::diff_entity(&old, &new).into_iter();
    let details = details.filter(|it| !matches!(it, ChangeDetail::Renamed { .. })).collect();
    *require_entity(&mut revision, held, &was)? = new;
    let gone: Vec<_> = family.into_iter().filter(|it| *it != name).collect();
    let mut followers = [0, 0, 0];
    for gone in &gone {
        followers[0] += references::rename_in_entities(&mut revision, held, gone, &name, &merged)?;
    }
    for other in &merged {
        revision.remove_entity(other, true);
    }
    revision.update_file_name(held, &was);
    let mut edits = revision.into_edits()?;
    let rooms = references::rename_in_rooms(held, &gone, &name)?;
    let works = references::rename_in_work(held, &gone, &name)?;
    [followers[1], followers[2]] = [rooms.len(), works.len()];
    edits.extend(rooms.into_iter().chain(works));
    let faults = held.palace.graph.entity_faults(&old);
    let names = (was, name);
    let outcome = UpdateOutcome {
        names,
        merged,
        old_names: gone,
        reference_counts: followers,
        conflicts,
        faults,
        details,
        notes,
    };
    let plan =
        ChangePlan { edits, subject: outcome.commit_subject(), body: outcome.commit_body(change) };
    Ok((plan, outcome))
}

/// Returns an entity that is known, to be changed.
fn require_entity<'a>(
    revision: &'a mut GraphEdit,
    held: &mut OpenPalace,
    name: &str,
) -> Result<&'a mut Entity, Refusal> {
    let missing = || Refusal::NoSuchEntity { asked: name.to_owned(), meant: None };
    revision.entity_mut(held, name)?.ok_or_else(missing)
}

/// Returns the names of those that are to become one with `name`.
fn names_to_merge(
    palace: &Palace,
    name: &str,
    change: &EntityChange,
) -> Result<Vec<String>, Refusal> {
    let mut others = Vec::new();
    for asked in &change.merge {
        let other = resolve_entity_name(palace, asked)?;
        if other == name {
            let why = format!("`{}` is one with itself already", name.escape_debug());
            return Err(Refusal::Invalid(why));
        }
        if !others.contains(&other) {
            others.push(other);
        }
    }
    Ok(others)
}

/// Returns the name an entity is to have.
fn resolve_new_name(
    graph: &Graph,
    was: &str,
    merged: &[String],
    change: &EntityChange,
) -> Result<String, Refusal> {
    let Some(name) = &change.new_name else { return Ok(was.to_owned()) };
    if name.trim().is_empty() {
        return Err(Refusal::Invalid("the `new_name` is empty".to_owned()));
    }
    match graph.file_of_entity(name) {
        Some(file) if name != was && !merged.contains(name) => {
            Err(Refusal::NameTaken { name: name.clone(), file: file.to_owned() })
        }
        _ => Ok(name.clone()),
    }
}

/// Returns what becomes of an entity, and what of the change is worth a note.
fn apply_change(
    graph: &Graph,
    old: &Entity,
    change: &EntityChange,
) -> Result<(Entity, Vec<String>), Refusal> {
    let (mut new, mut notes) = (old.clone(), missing_removals(old, change));
    if let Some(genus) = &change.genus {
        new.genus.clone_from(genus);
        notes.extend(unify_genus_spelling(graph, std::slice::from_mut(&mut new)));
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
    new.relations.retain(|it| !change.remove_relations.iter().any(|gone| gone.matches(it)));
    let was = new.relations.clone();
    for relation in &change.add_relations {
        let note = relations::add_relation(&mut new.relations, &was, relation);
        notes.extend(note.map_err(Refusal::Invalid)?);
    }
    Ok((new, notes))
}

/// Says what is to be taken away and is not there.
fn missing_removals(old: &Entity, change: &EntityChange) -> Vec<String> {
    let note = |what: &str, said: &str, known: &[String]| {
        let short = |text: &str| render::truncate(&render::one_line(text), 80);
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
    let known: Vec<_> = old.relations.iter().map(relations::describe_relation).collect();
    let partings = change.remove_relations.iter();
    let partings = partings.filter(|gone| !old.relations.iter().any(|it| gone.matches(it)));
    let partings = partings.map(|it| note("relation", &it.describe(), &known));
    attributes.chain(observations).chain(partings).collect()
}

impl UpdateOutcome {
    fn is_renamed(&self) -> bool {
        self.names.0 != self.names.1
    }

    /// Says what was done.
    fn describe(&self) -> String {
        let (was, name) = (render::one_line(&self.names.0), render::one_line(&self.names.1));
        let mut told = match (self.is_renamed(), self.merged.is_empty()) {
            (false, true) => format!("Changed {name}"),
            (true, true) => format!("Renamed {was} to {name}"),
            (false, false) => format!("Merged {} into {name}", join_names(&self.merged)),
            (true, false) => format!("Merged {was} and {} into {name}", join_names(&self.merged)),
        };
        let nouns = ["entity", "room", "task"];
        let followers =
            self.reference_counts.into_iter().zip(nouns).filter(|(number, _)| *number > 0);
        let followers: Vec<_> = followers.map(|(it, noun)| render::pluralize(it, noun)).collect();
        if !followers.is_empty() {
            let verb =
                if self.reference_counts.iter().sum::<usize>() == 1 { "follows" } else { "follow" };
            told.push_str(&format!("; {} {verb}", followers.join(" and ")));
        }
        if !self.details.is_empty() {
            told.push_str(&format!(
                ": {}",
                render::change_summary(&ChangeKind::Changed(self.details.clone()))
            ));
        }
        told
    }

    fn commit_subject(&self) -> String {
        let verb = match (self.is_renamed(), self.merged.is_empty()) {
            (_, false) => "merge",
            (true, true) => "rename",
            (false, true) => "update",
        };
        format!("entity {}: {verb}", render::truncate(&render::one_line(&self.names.1), 50))
    }

    /// Says what an update was about, for history.
    fn commit_body(&self, change: &EntityChange) -> String {
        let said = describe_change(change);
        let told = match (self.is_renamed() || !self.merged.is_empty(), said.is_empty()) {
            (true, true) => self.describe(),
            (true, false) => format!("{}, {said}", self.describe()),
            (false, _) => said,
        };
        render::truncate(&render::one_line(&told), 200)
    }
}

fn describe_change(change: &EntityChange) -> String {
    let mut said = Vec::new();
    said.extend(change.genus.as_ref().map(|it| format!("genus {it}")));
    said.extend(change.status.as_ref().map(|it| format!("status {it}")));
    said.extend(change.attributes.keys().map(|it| format!("attribute {it}")));
    let mut counted = |number: usize, what: &str| {
        if number > 0 {
            let (noun, rest) = what.split_once(' ').unwrap_or((what, ""));
            said.push(format!("{} {rest}", render::pluralize(number, noun)));
        }
    };
    counted(change.add_observations.len(), "observation added");
    counted(change.remove_observations.len(), "observation removed");
    counted(change.add_relations.len(), "relation added");
    counted(change.remove_relations.len(), "relation removed");
    said.join(", ")
}
