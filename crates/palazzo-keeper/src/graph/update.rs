//! Updates entities: changes, renames and merges them.

use serde_json::{Map, Value};

use crate::graph::entity_file_edits::EntityFileEdits;
use crate::graph::merge::merge_entity;
use crate::graph::name_spelling::{
    case_variant_note, resolve_relation_targets, unify_genus_spelling,
};
use crate::graph::relations;
use crate::graph::relations::RelationRemoval;
use crate::graph::rules::{
    find_new_violations, new_fault_notes, reject_violations, unreadable_date_note,
};
use crate::graph::{references, resolve_current_entity_name};
use crate::name_check::{reject_hidden_chars, reject_hidden_chars_in_relations};
use crate::palace::OpenPalace;
use crate::palace::change_plan::{ChangeOptions, ChangePlan};
use crate::{Caller, Keeper, Refusal, Session};
use palazzo_core::diff;
use palazzo_core::format::PalacePath;
use palazzo_core::model::{
    ChangeDetail, ChangeKind, Entity, EntityFault, FileEdit, Graph, Palace, Relation, did_you_mean,
    quoted,
};
use palazzo_core::render;
use palazzo_core::render::join_names;
use palazzo_core::visit::Visit;

/// A change of an entity. Fields without a value leave the entity as it is.
#[derive(Clone, Debug, Default)]
pub struct EntityChange {
    /// The name of the entity.
    pub name: String,
    /// Its new name; everything that refers to the entity is updated.
    pub new_name: Option<String>,
    /// The names of entities to merge into it.
    pub merge: Vec<String>,
    /// Its new genus.
    pub genus: Option<String>,
    /// Its new status; an empty text removes the status.
    pub status: Option<String>,
    /// Attributes to set; `null` removes an attribute.
    pub attributes: Map<String, Value>,
    /// Observations to add, unless they exist.
    pub add_observations: Vec<String>,
    /// Observations to remove.
    pub remove_observations: Vec<String>,
    /// Relations to add; a relation of the same type to the same entity that overlaps in time is
    /// changed instead.
    pub add_relations: Vec<Relation>,
    /// Relations to remove.
    pub remove_relations: Vec<RelationRemoval>,
}

/// The result of updating an entity.
#[derive(Clone, Debug)]
pub struct EntityUpdateOutcome {
    /// The summary of the update: a sentence without a full stop.
    pub summary: String,
    /// The name of the entity now.
    pub name: String,
    /// False if the entity had these values already.
    pub is_changed: bool,
    /// The values and relations that the merge removed.
    pub merge_notes: Vec<String>,
    /// Parts of the change that had no effect, and the reasons.
    pub notes: Vec<String>,
    /// The new faults of the entity, one per line.
    pub faults: String,
}

/// The result of a planned update.
#[derive(Default)]
pub(crate) struct EntityUpdateSummary {
    /// The name before and after.
    names: (String, String),
    /// The entities that were merged into it.
    merged: Vec<String>,
    /// The names that no entity has any more.
    old_names: Vec<String>,
    /// How many entities, rooms, tasks and processes referred to an old name.
    reference_counts: [usize; 4],
    /// The values and relations that the merge removed.
    merge_notes: Vec<String>,
    /// The faults of the entity before.
    faults: Vec<EntityFault>,
    /// The changes, without that of the name.
    details: Vec<ChangeDetail>,
    /// Parts of the change that had no effect, and the reasons.
    notes: Vec<String>,
}

/// Changes one entity, and everything that refers to it, in one commit.
///
/// Takes the keeper, because a new name also changes the visits of other callers.
pub fn update_entity(
    keeper: &mut Keeper,
    caller: &Caller,
    change: &EntityChange,
) -> Result<EntityUpdateOutcome, Refusal> {
    reject_hidden_chars_in_change(change)?;
    let mut session = keeper.session(caller)?;
    let (update, old_names) = update_entity_and_references(&mut session, change)?;
    let key = session.key;
    let mut rename = |visit: &mut Visit| {
        if visit.workspace.as_deref() == Some(key.as_str()) {
            references::rename_in_visit(visit, &old_names, &update.name);
        }
    };
    keeper.visits.values_mut().for_each(&mut rename);
    keeper.shared_visits.for_each(rename);
    Ok(update)
}

fn reject_hidden_chars_in_change(change: &EntityChange) -> Result<(), Refusal> {
    // An empty name is refused in other words.
    let new_name = change.new_name.iter().filter(|it| !it.trim().is_empty());
    let names = new_name.map(|it| ("new_name", it));
    let names = names.chain(change.genus.iter().map(|it| ("genus", it)));
    // An attribute without a value is removed, whatever its name.
    let added = change.attributes.iter().filter(|(_, value)| !value.is_null());
    let mut names = names.chain(added.map(|(key, _)| ("attributes", key)));
    names.try_for_each(|(what, it)| reject_hidden_chars(what, it))?;
    reject_hidden_chars_in_relations(&change.add_relations)
}

/// Changes one entity, and all files that refer to it. Returns also the names that no entity has
/// any more.
fn update_entity_and_references(
    session: &mut Session<'_>,
    change: &EntityChange,
) -> Result<(EntityUpdateOutcome, Vec<String>), Refusal> {
    let caller = session.caller;
    let mut change = change.clone();
    change
        .add_relations
        .iter_mut()
        .for_each(|it| relations::resolve_relative_dates(it, caller.today()));
    let mut outcome = EntityUpdateSummary::default();
    let edits = session.palace.change_files(caller, &ChangeOptions::exclusive(), |open| {
        let (plan, result) = plan_update(open, &change)?;
        outcome = result;
        Ok(plan)
    })?;
    let is_changed = !edits.is_empty();
    let graph = &session.palace.palace.graph;
    let entity = graph.get(&outcome.names.1);
    let faults = new_fault_notes(graph, entity.into_iter(), &outcome.faults);
    let date_note = unreadable_date_note(&outcome.names.1, &change.attributes);
    let (summary, is_renamed) = (outcome.describe(), outcome.is_renamed());
    let EntityUpdateSummary { names: (_, name), old_names, merge_notes, mut notes, .. } = outcome;
    notes.extend(case_variant_note(graph, &name).filter(|_| is_renamed));
    notes.extend(date_note.filter(|_| is_changed));
    Ok((EntityUpdateOutcome { summary, name, is_changed, merge_notes, notes, faults }, old_names))
}

/// Writes the new name to entities, rooms, tasks and processes. Returns all edits, and how many of
/// each referred to an old name.
fn plan_rename_edits(
    open: &mut OpenPalace,
    mut edit: EntityFileEdits,
    was: &str,
    name: &str,
    old_names: &[String],
    merged: &[String],
) -> Result<(Vec<FileEdit>, [usize; 4]), Refusal> {
    let mut in_entities = 0;
    for old_name in old_names {
        in_entities += references::rename_in_entities(&mut edit, open, old_name, name, merged)?;
    }
    for other in merged {
        edit.remove_entity(other, true);
    }
    edit.rename_file_if_standard(open, was);
    let mut edits = edit.into_edits()?;
    let [rooms, works] = references::plan_rename_in_rooms_and_work(open, old_names, name)?;
    let is_process = |it: &&FileEdit| PalacePath::parse(&it.path) == Ok(PalacePath::Process);
    let in_processes = works.iter().filter(is_process).count();
    let counts = [in_entities, rooms.len(), works.len() - in_processes, in_processes];
    edits.extend(rooms.into_iter().chain(works));
    Ok((edits, counts))
}

/// Plans the change of one entity, and of everything that refers to it.
pub(crate) fn plan_update(
    open: &mut OpenPalace,
    change: &EntityChange,
) -> Result<(ChangePlan, EntityUpdateSummary), Refusal> {
    let was = resolve_current_entity_name(&open.palace, &change.name)?;
    let merged = names_to_merge(&open.palace, &was, change)?;
    let name = resolve_new_name(&open.palace.graph, &was, &merged, change)?;
    let mut edit = EntityFileEdits::default();
    let old = require_entity_mut(&mut edit, open, &was)?.clone();
    let (mut new, notes) = apply_change_to_copy(&open.palace.graph, &old, change)?;
    let all: Vec<_> = merged.iter().chain([&was]).cloned().collect();
    let (mut merge_notes, mut before) = (Vec::new(), vec![old.clone()]);
    for other in &merged {
        let other = require_entity_mut(&mut edit, open, other)?.clone();
        merge_notes.extend(merge_entity(&mut new, &other, &all));
        before.push(other);
    }
    if name != was {
        new.relations.extend(edit.take_loose_end_relations(open, &name)?);
        new.name.clone_from(&name);
    }
    reject_violations(find_new_violations(&open.palace.graph, &before, &new).into_iter())?;
    let details = diff::diff_entity(&old, &new).into_iter();
    let details = details.filter(|it| !matches!(it, ChangeDetail::Renamed { .. })).collect();
    new.record_former_names(&before);
    *require_entity_mut(&mut edit, open, &was)? = new;
    let old_names: Vec<_> = all.into_iter().filter(|it| *it != name).collect();
    let (edits, reference_counts) =
        plan_rename_edits(open, edit, &was, &name, &old_names, &merged)?;
    let faults = open.palace.graph.entity_faults(&old);
    let names = (was, name);
    let outcome = EntityUpdateSummary {
        names,
        merged,
        old_names,
        reference_counts,
        merge_notes,
        faults,
        details,
        notes,
    };
    let plan =
        ChangePlan { edits, subject: outcome.commit_subject(), body: outcome.commit_body(change) };
    Ok((plan, outcome))
}

/// Returns an entity that must exist, for a change.
fn require_entity_mut<'a>(
    edit: &'a mut EntityFileEdits,
    open: &mut OpenPalace,
    name: &str,
) -> Result<&'a mut Entity, Refusal> {
    let missing = || Refusal::NoSuchEntity { asked: name.to_owned(), meant: None };
    edit.entity_mut(open, name)?.ok_or_else(missing)
}

/// Returns the exact names of the entities to merge into `name`.
fn names_to_merge(
    palace: &Palace,
    name: &str,
    change: &EntityChange,
) -> Result<Vec<String>, Refusal> {
    let mut others = Vec::new();
    for other in &change.merge {
        let other = resolve_current_entity_name(palace, other)?;
        if other == name {
            let why = format!(
                "{} cannot be merged into itself: name another entity in `merge`",
                quoted(name)
            );
            return Err(Refusal::Invalid(why));
        }
        if !others.contains(&other) {
            others.push(other);
        }
    }
    Ok(others)
}

/// Returns the name of the entity after the change. Refuses a name that another entity has.
fn resolve_new_name(
    graph: &Graph,
    was: &str,
    merged: &[String],
    change: &EntityChange,
) -> Result<String, Refusal> {
    let Some(name) = &change.new_name else { return Ok(was.to_owned()) };
    if name.trim().is_empty() {
        return Err(Refusal::EmptyEntityName);
    }
    match graph.file_of_entity(name) {
        Some(file) if name != was && !merged.contains(name) => {
            Err(Refusal::NameTaken { name: name.clone(), file: file.to_owned() })
        }
        _ => Ok(name.clone()),
    }
}

/// Applies `change` to a copy of `old`. Returns notes on the parts that had no effect.
fn apply_change_to_copy(
    graph: &Graph,
    old: &Entity,
    change: &EntityChange,
) -> Result<(Entity, Vec<String>), Refusal> {
    let (mut new, mut notes) = (old.clone(), missing_removal_notes(old, change));
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
    new.observations.retain(|it| {
        !change.remove_observations.iter().any(|removal| names_stored_text(removal, it))
    });
    for observation in &change.add_observations {
        if !new.observations.contains(observation) {
            new.observations.push(observation.clone());
        }
    }
    new.relations.retain(|it| !change.remove_relations.iter().any(|removal| removal.matches(it)));
    let was = new.relations.clone();
    let mut added = change.add_relations.clone();
    resolve_relation_targets(graph, std::slice::from_ref(&old.name), &mut added);
    for relation in &added {
        let note = relations::add_or_update_relation(&mut new.relations, &was, relation);
        notes.extend(note.map_err(Refusal::Invalid)?);
    }
    Ok((new, notes))
}

/// Returns whether an argument names a stored text. The sign before marked lines is removed from
/// arguments; a file that was edited by hand may contain it.
fn names_stored_text(argument: &str, stored: &str) -> bool {
    argument == stored || argument == render::unmark_imitations(stored)
}

/// Notes what the change should remove and the entity does not have.
fn missing_removal_notes(old: &Entity, change: &EntityChange) -> Vec<String> {
    let note = |what: &str, name: &str, existing: &[String]| {
        let short = |text: &str| quoted(&render::truncate(text, 80));
        let meant = did_you_mean(name, existing.iter().map(String::as_str));
        let hint = meant.map(|it| format!(" (did you mean {}?)", short(it))).unwrap_or_default();
        format!("there was no {what} {}{hint}", short(name))
    };
    let is_missing =
        |(key, value): &(&String, &Value)| value.is_null() && !old.attributes.contains_key(*key);
    let keys: Vec<_> = old.attributes.keys().cloned().collect();
    let attributes = change.attributes.iter().filter(is_missing);
    let attributes = attributes.map(|(key, _)| note("attribute", key, &keys));
    let observations = change.remove_observations.iter();
    let is_there =
        |removal: &&String| old.observations.iter().any(|it| names_stored_text(removal, it));
    let observations = observations.filter(|it| !is_there(it));
    let observations = observations.map(|it| note("observation", it, &old.observations));
    let existing: Vec<_> = old.relations.iter().map(relations::describe_relation).collect();
    let removals = change.remove_relations.iter();
    let removals = removals.filter(|removal| !old.relations.iter().any(|it| removal.matches(it)));
    let removals = removals.map(|it| note("relation", &it.describe(), &existing));
    attributes.chain(observations).chain(removals).collect()
}

impl EntityUpdateSummary {
    fn is_renamed(&self) -> bool {
        self.names.0 != self.names.1
    }

    /// Summarizes the update in a sentence without a full stop.
    fn describe(&self) -> String {
        let [was, name] = [&self.names.0, &self.names.1].map(|it| render::name_in_sentence(it));
        let mut summary = match (self.is_renamed(), self.merged.is_empty()) {
            (false, true) => format!("Changed {name}"),
            (true, true) => format!("Renamed {was} to {name}"),
            (false, false) => format!("Merged {} into {name}", join_names(&self.merged)),
            (true, false) => format!("Merged {was} and {} into {name}", join_names(&self.merged)),
        };
        let references = self.references();
        if !references.is_empty() {
            summary.push_str(&format!("; references updated in {references}"));
        }
        if !self.details.is_empty() {
            summary.push_str(&format!(
                ": {}",
                render::change_summary(&ChangeKind::Changed(self.details.clone()))
            ));
        }
        summary
    }

    /// Counts the other files that referred to an old name: `2 entities and 1 room`.
    pub(crate) fn references(&self) -> String {
        let nouns = ["entity", "room", "task", "process"];
        let counts = self.reference_counts.into_iter().zip(nouns).filter(|(number, _)| *number > 0);
        let counts: Vec<_> = counts.map(|(it, noun)| render::count_with_noun(it, noun)).collect();
        counts.join(" and ")
    }

    fn commit_subject(&self) -> String {
        let verb = match (self.is_renamed(), self.merged.is_empty()) {
            (_, false) => "merge",
            (true, true) => "rename",
            (false, true) => "update",
        };
        format!("entity {}: {verb}", render::truncate(&render::one_line(&self.names.1), 50))
    }

    /// Returns the body of the commit message.
    fn commit_body(&self, change: &EntityChange) -> String {
        let fields = describe_change(change, &self.details);
        let body = match (self.is_renamed() || !self.merged.is_empty(), fields.is_empty()) {
            (true, true) => self.describe(),
            (true, false) => format!("{}, {fields}", self.describe()),
            (false, _) => fields,
        };
        render::truncate(&render::one_line(&body), 200)
    }
}

/// Lists the fields that a change sets or clears, and counts what it adds and removes.
fn describe_change(change: &EntityChange, details: &[ChangeDetail]) -> String {
    let mut fields = Vec::new();
    fields.extend(change.genus.as_ref().map(|it| format!("genus {it}")));
    let new_status = change.status.as_ref().filter(|it| !it.is_empty());
    fields.extend(new_status.map(|it| format!("status {it}")));
    fields.extend(details.iter().filter_map(render::cleared_status));
    fields.extend(change.attributes.keys().map(|it| format!("attribute {it}")));
    let mut counted = |number: usize, what: &str| {
        if number > 0 {
            let (noun, rest) = what.split_once(' ').unwrap_or((what, ""));
            fields.push(format!("{} {rest}", render::count_with_noun(number, noun)));
        }
    };
    counted(change.add_observations.len(), "observation added");
    counted(change.remove_observations.len(), "observation removed");
    counted(change.add_relations.len(), "relation added");
    counted(change.remove_relations.len(), "relation removed");
    fields.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::describe::get_entity;
    use crate::test_home::{TestHome, ada};
    use palazzo_core::model::ItemId;

    const ADA: (&str, &str) = (
        "entities/person/ada.yaml",
        "name: Ada\ngenus: Person\nstatus: alive\nattributes:\n  born: 1815\nobservations:\n  - She wrote notes.\n",
    );
    const BABBAGE: (&str, &str) = (
        "entities/person/babbage.yaml",
        "name: Babbage\ngenus: Person\nrelations:\n  - { type: met, to: Ada }\n",
    );

    fn change_ada() -> EntityChange {
        EntityChange { name: "Ada".to_owned(), ..EntityChange::default() }
    }

    fn rename_ada(name: &str) -> EntityChange {
        EntityChange { new_name: Some(name.to_owned()), ..change_ada() }
    }

    fn merge_into_ada(name: &str) -> EntityChange {
        EntityChange { merge: vec![name.to_owned()], ..change_ada() }
    }

    /// Applies a change to a palace with Ada and Babbage.
    fn update(change: &EntityChange) -> (TestHome, Result<EntityUpdateOutcome, Refusal>) {
        let mut home = TestHome::new(&[ADA, BABBAGE]);
        let outcome = update_entity(&mut home.keeper, &ada(), change);
        (home, outcome)
    }

    fn refusal_of(change: &EntityChange) -> String {
        let (home, outcome) = update(change);
        assert_eq!(home.read(ADA.0).unwrap(), ADA.1);
        outcome.unwrap_err().to_string()
    }

    #[test]
    fn renaming_an_entity_renames_its_file_and_updates_relations_to_it() {
        let (home, outcome) = update(&rename_ada("Lovelace"));
        let summary = "Renamed Ada to Lovelace; references updated in 1 entity";
        assert_eq!(outcome.unwrap().summary, summary);
        assert_eq!(home.read(ADA.0), None);
        let text = home.read("entities/person/lovelace.yaml").unwrap();
        let name = "name: Lovelace\nformer_names:\n  - Ada\n";
        assert_eq!(text, ADA.1.replace("name: Ada\n", name));
        assert_eq!(home.read(BABBAGE.0).unwrap(), BABBAGE.1.replace("Ada", "Lovelace"));
    }

    #[test]
    fn the_summary_of_a_rename_counts_tasks_and_processes() {
        let mut home = TestHome::new(&[ADA]);
        home.write("tasks/ask.yaml", "title: Ask her\nentity: Ada\n");
        home.write("processes/read.yaml", "name: Read\nentity: Ada\nsteps: [Begin]\n");
        let outcome = update_entity(&mut home.keeper, &ada(), &rename_ada("Lovelace")).unwrap();
        let expected = "Renamed Ada to Lovelace; references updated in 1 task and 1 process";
        assert_eq!(outcome.summary, expected);
    }

    #[test]
    fn renaming_an_entity_updates_links_in_rooms_but_not_in_scrolls() {
        let hall = "name: Hall\n# Below the dome.\ndescription: |\n  A bust of [[ada]].\nactions:\n\
                    - label: Read\n  type: text\n  content: |\n    [[Ada|She]] wrote `[[Ada]]`.\n";
        let scroll = "---\ntitle: Notes\nwritten: 2026-01-01\n---\n\nBy [[Ada]].\n";
        let scroll = ("scrolls/hall/01KGSRV28ADXPQGT6T6QX25YS8-notes.md", scroll);
        let mut home = TestHome::new(&[ADA, ("rooms/hall.yaml", hall), scroll]);
        let outcome = update_entity(&mut home.keeper, &ada(), &rename_ada("Lovelace")).unwrap();
        assert_eq!(outcome.summary, "Renamed Ada to Lovelace; references updated in 1 room");
        let renamed = hall.replace("[[ada]]", "[[Lovelace]]").replace("[[Ada|", "[[Lovelace|");
        assert_eq!(home.read("rooms/hall.yaml").unwrap(), renamed);
        assert_eq!(home.read(scroll.0).unwrap(), scroll.1);
    }

    #[test]
    fn an_entity_that_gets_its_first_name_back_keeps_only_the_other_as_a_former_name() {
        let (mut home, _) = update(&rename_ada("Lovelace"));
        let back = EntityChange { name: "Lovelace".to_owned(), ..rename_ada("Ada") };
        update_entity(&mut home.keeper, &ada(), &back).unwrap();
        let text = home.read(ADA.0).unwrap();
        assert!(text.starts_with("name: Ada\nformer_names:\n  - Lovelace\n"), "{text}");
    }

    #[test]
    fn a_former_name_finds_the_entity_to_read_and_is_refused_for_a_change() {
        let (mut home, _) = update(&rename_ada("Lovelace"));
        let found = home.run(|it| get_entity(it, "ada").map(|it| it.entity.name.clone()));
        assert_eq!(found.unwrap(), "Lovelace");
        let refused = update_entity(&mut home.keeper, &ada(), &change_ada()).unwrap_err();
        insta::assert_snapshot!(refused, @"no entity is called `Ada` any more: it was renamed or merged; use `Lovelace`");
    }

    #[test]
    fn renaming_an_entity_to_another_case_keeps_its_file() {
        let (home, outcome) = update(&rename_ada("ADA"));
        assert_eq!(outcome.unwrap().notes, [""; 0]);
        assert_eq!(home.read(ADA.0).unwrap(), ADA.1.replace("Ada", "ADA"));
        assert_eq!(home.read(BABBAGE.0).unwrap(), BABBAGE.1.replace("Ada", "ADA"));
    }

    #[test]
    fn a_name_that_differs_from_another_only_in_case_is_noted() {
        let (_home, outcome) = update(&rename_ada("BABBAGE"));
        let note = "the name `BABBAGE` differs from the name of the entity `Babbage` only in case";
        assert_eq!(outcome.unwrap().notes, [note]);
    }

    #[test]
    fn renaming_to_the_name_of_another_entity_is_refused() {
        insta::assert_snapshot!(refusal_of(&rename_ada("Babbage")), @"an entity named `Babbage` already exists in entities/person/babbage.yaml; to merge the two, name that one in `merge`");
    }

    #[test]
    fn renaming_to_an_empty_name_is_refused() {
        assert_eq!(refusal_of(&rename_ada(" \n")), "the `new_name` is empty");
    }

    #[test]
    fn renaming_an_entity_updates_the_numbers_that_a_visit_lists() {
        let mut home = TestHome::new(&[ADA]);
        home.run(|session| {
            session.visit.workspace = Some("keep".to_owned());
            session.visit.listed_items = vec![ItemId::Entity("Ada".to_owned())];
        });
        update_entity(&mut home.keeper, &ada(), &rename_ada("Lovelace")).unwrap();
        let listed = home.run(|it| it.visit.listed_items.clone());
        assert_eq!(listed, [ItemId::Entity("Lovelace".to_owned())]);
    }

    #[test]
    fn a_merge_under_the_name_of_the_other_entity_takes_its_file() {
        let change =
            EntityChange { new_name: Some("Babbage".to_owned()), ..merge_into_ada("Babbage") };
        let (home, outcome) = update(&change);
        outcome.unwrap();
        assert_eq!(home.read(ADA.0), None);
        assert!(
            home.read(BABBAGE.0)
                .unwrap()
                .starts_with("name: Babbage\nformer_names:\n  - Ada\ngenus: Person\nstatus: alive")
        );
        assert_eq!(home.read("entities/person/babbage-2.yaml"), None);
    }

    #[test]
    fn merging_removes_the_other_entity_and_the_relations_between_the_two() {
        let (home, outcome) = update(&merge_into_ada("babbage"));
        let outcome = outcome.unwrap();
        assert_eq!(outcome.summary, "Merged Babbage into Ada");
        assert_eq!(outcome.merge_notes, ["removed met → Ada, a relation between the two"]);
        assert_eq!(home.read(BABBAGE.0), None);
        let name = "name: Ada\nformer_names:\n  - Babbage\n";
        assert_eq!(home.read(ADA.0).unwrap(), ADA.1.replace("name: Ada\n", name));
    }

    #[test]
    fn an_entity_can_take_the_name_of_an_entity_that_it_merges() {
        let merge = merge_into_ada("Babbage");
        let (mut home, outcome) =
            update(&EntityChange { new_name: Some("Babbage".to_owned()), ..merge });
        assert_eq!(outcome.unwrap().summary, "Merged Ada and Babbage into Babbage");
        let entity = home.run(|it| it.palace.palace.graph.get("Babbage").unwrap().clone());
        assert_eq!(entity.observations, ["She wrote notes."]);
        assert_eq!(home.run(|it| it.palace.palace.graph.len()), 1);
    }

    #[test]
    fn merging_an_entity_into_itself_is_refused() {
        insta::assert_snapshot!(refusal_of(&merge_into_ada("ada")), @"`Ada` cannot be merged into itself: name another entity in `merge`");
    }

    #[test]
    fn a_change_of_an_unknown_entity_is_refused_with_a_suggestion() {
        let change = EntityChange { name: "Babage".to_owned(), ..EntityChange::default() };
        insta::assert_snapshot!(refusal_of(&change), @"no entity is called `Babage`; did you mean `Babbage`? (use search_entities to search by words)");
    }

    #[test]
    fn a_change_to_the_present_values_changes_nothing() {
        let (home, outcome) = update(&EntityChange {
            status: Some("alive".to_owned()),
            add_observations: vec!["She wrote notes.".to_owned()],
            ..change_ada()
        });
        assert!(!outcome.unwrap().is_changed);
        assert_eq!(home.read(ADA.0).unwrap(), ADA.1);
    }

    #[test]
    fn an_empty_status_removes_the_status() {
        let (home, outcome) = update(&EntityChange { status: Some(String::new()), ..change_ada() });
        assert_eq!(outcome.unwrap().summary, "Changed Ada: status alive → none");
        assert_eq!(home.read(ADA.0).unwrap(), ADA.1.replace("status: alive\n", ""));
    }

    #[test]
    fn null_removes_an_attribute() {
        let attributes = Map::from_iter([("born".to_owned(), Value::Null)]);
        let (home, outcome) = update(&EntityChange { attributes, ..change_ada() });
        assert_eq!(outcome.unwrap().summary, "Changed Ada: born 1815 removed");
        assert_eq!(home.read(ADA.0).unwrap(), ADA.1.replace("attributes:\n  born: 1815\n", ""));
    }

    #[test]
    fn removing_what_the_entity_does_not_have_is_noted_with_a_suggestion() {
        let (kind, to, since) = ("met".to_owned(), "Nobody".to_owned(), None);
        let (_home, outcome) = update(&EntityChange {
            attributes: Map::from_iter([("brn".to_owned(), Value::Null)]),
            remove_observations: vec!["She wrote note.".to_owned()],
            remove_relations: vec![RelationRemoval { kind, to, since }],
            ..change_ada()
        });
        insta::assert_snapshot!(outcome.unwrap().notes.join("\n"), @"
        there was no attribute `brn` (did you mean `born`?)
        there was no observation `She wrote note.` (did you mean `She wrote notes.`?)
        there was no relation `met → Nobody`
        ");
    }

    #[test]
    fn a_stored_sign_is_no_part_of_an_observation_to_remove() {
        let mut home = TestHome::new(&[(
            "entities/a.yaml",
            "name: A\ngenus: B\nobservations: [\"│ Notices: x\", \"│ y\"]\n",
        )]);
        let removed = ["Notices: x", "y"].map(str::to_owned).to_vec();
        let change = EntityChange {
            name: "A".to_owned(),
            remove_observations: removed,
            ..EntityChange::default()
        };
        let notes = update_entity(&mut home.keeper, &ada(), &change).unwrap().notes;
        assert_eq!(notes, ["there was no observation `y`"]);
    }

    #[test]
    fn a_new_genus_moves_the_file_to_its_folder() {
        let (home, outcome) =
            update(&EntityChange { genus: Some("Poet".to_owned()), ..change_ada() });
        assert_eq!(outcome.unwrap().summary, "Changed Ada: genus Person → Poet");
        assert_eq!(home.read(ADA.0), None);
        assert!(home.read("entities/poet/ada.yaml").unwrap().contains("genus: Poet\n"));
    }

    #[test]
    fn only_the_faults_of_this_change_are_reported() {
        let knows = |to: &str| Relation {
            kind: "knows".to_owned(),
            to: to.to_owned(),
            since: None,
            until: None,
            source: None,
        };
        let mut home = TestHome::new(&[ADA]);
        let mut faults = Vec::new();
        for name in ["Byron", "Mary"] {
            let change = EntityChange { add_relations: vec![knows(name)], ..change_ada() };
            faults.push(update_entity(&mut home.keeper, &ada(), &change).unwrap().faults);
        }
        assert_eq!(faults[1], "Note: there is no entity `Mary` yet.\n");
    }

    #[test]
    fn a_final_status_cannot_be_removed() {
        let genus = ("genera/person.yaml", "name: Person\nstatuses:\n  alive: []\n");
        let mut home = TestHome::new(&[ADA, genus]);
        let change = EntityChange { status: Some(String::new()), ..change_ada() };
        let refusal = update_entity(&mut home.keeper, &ada(), &change).unwrap_err();
        insta::assert_snapshot!(refusal, @"`Ada` is not valid: a Person does not go from `alive` to none: `alive` is where it ends. list_genera with the genus `Person` lists its rules; nothing was changed");
        assert_eq!(home.read(ADA.0).unwrap(), ADA.1);
    }

    #[test]
    fn a_change_is_described_by_its_fields_and_counts() {
        let change = EntityChange {
            genus: Some("Poet".to_owned()),
            add_observations: vec!["One.".to_owned(), "Two.".to_owned()],
            ..change_ada()
        };
        assert_eq!(describe_change(&change, &[]), "genus Poet, 2 observations added");
        assert_eq!(describe_change(&change_ada(), &[]), "");
    }
}
