//! Creates entities.

use std::collections::{BTreeSet, HashMap};

use chrono::{DateTime, Utc};

use crate::format::new_entity_path;
use crate::keeper::graph::edit::GraphEdit;
use crate::keeper::graph::merge::merge_entity;
use crate::keeper::graph::relations;
use crate::keeper::graph::rules::{
    RulePolicy, case_variant_note, find_new_violations, new_fault_notes, reject_violations,
    unify_genus_spelling, with_initial_status,
};
use crate::keeper::name_check::{reject_hidden_chars, reject_hidden_chars_in_relations};
use crate::keeper::palace::OpenPalace;
use crate::keeper::palace::change_plan::ChangePlan;
use crate::keeper::{Caller, Keeper, Refusal, Session};
use crate::model::{Entity, quoted};
use crate::render;
use crate::render::join_names;

/// The result of creating entities.
#[derive(Clone, Debug)]
pub struct EntityCreationOutcome {
    /// The names of the entities that are new.
    pub created: Vec<String>,
    /// The names that other entities had already.
    pub existing: Vec<String>,
    /// Other notes to the caller.
    pub notes: Vec<String>,
    /// The faults of the new entities, one per line.
    pub faults: String,
}

/// The names of the entities that were added, and of those that existed already.
pub(crate) struct AddedEntityNames {
    pub(crate) created: Vec<String>,
    pub(crate) existing: Vec<String>,
    /// How the spelling of genera was changed.
    pub(crate) notes: Vec<String>,
}

/// Creates entities in one commit; does not change existing entities with the same names. Creates
/// the first palace if there is none.
pub fn create_entities(
    keeper: &mut Keeper,
    caller: &Caller,
    new: Vec<Entity>,
) -> Result<EntityCreationOutcome, Refusal> {
    if new.is_empty() {
        return Err(Refusal::Invalid("`entities` is empty: nothing to create".to_owned()));
    }
    new.iter().try_for_each(reject_hidden_chars_in_entity)?;
    let (new, mut notes) = merge_same_named_entities(new, caller.now)?;
    let mut session = keeper.session_for_writing(caller)?;
    let AddedEntityNames { created, existing, notes: spelling } =
        add_absent_entities(&mut session, new, RulePolicy::Reject)?;
    let graph = &session.palace.palace.graph;
    notes.extend(spelling);
    notes.extend(created.iter().filter_map(|it| case_variant_note(graph, it)));
    let faults = new_fault_notes(graph, created.iter().filter_map(|it| graph.get(it)), &[]);
    Ok(EntityCreationOutcome { created, existing, notes, faults })
}

fn reject_hidden_chars_in_entity(new: &Entity) -> Result<(), Refusal> {
    reject_hidden_chars("name", &new.name)?;
    reject_hidden_chars("genus", &new.genus)?;
    new.attributes.keys().try_for_each(|it| reject_hidden_chars("attributes", it))?;
    reject_hidden_chars_in_relations(&new.relations)
}

/// Adds the entities of `new` whose names are free; of several with one name, the first.
pub(crate) fn add_absent_entities(
    session: &mut Session<'_>,
    new: Vec<Entity>,
    rules: RulePolicy,
) -> Result<AddedEntityNames, Refusal> {
    let mut names = BTreeSet::new();
    let mut new: Vec<_> = new.into_iter().filter(|it| names.insert(it.name.clone())).collect();
    for entity in &mut new {
        entity.id = Some(session.new_id());
    }
    let (mut created, mut existing, mut notes) = (Vec::new(), Vec::new(), Vec::new());
    session.palace.change_files_exclusively(session.caller, |open| {
        // Another program may have written the same files meanwhile.
        for entity in &new {
            open.refresh_file(&new_entity_path(&open.palace.graph, entity, |_| false, |_| 0));
        }
        let graph = &open.palace.graph;
        let new = new.iter().cloned();
        let (present, mut absent): (Vec<_>, Vec<_>) =
            new.partition(|it| graph.get(&it.name).is_some());
        if rules == RulePolicy::Reject {
            notes = unify_genus_spelling(graph, &mut absent);
        }
        let absent: Vec<_> = absent.iter().map(|it| with_initial_status(graph, it)).collect();
        existing = present.into_iter().map(|it| it.name).collect();
        created = absent.iter().map(|it| it.name.clone()).collect();
        let checked = absent.iter().filter(|_| rules == RulePolicy::Reject);
        reject_violations(checked.filter_map(|it| find_new_violations(graph, &[], it)))?;
        plan_creation(open, &absent)
    })?;
    Ok(AddedEntityNames { created, existing, notes })
}

/// Merges entities with the same name, with notes on each merge, and replaces relative dates
/// of relations by calendar dates.
fn merge_same_named_entities(
    new: Vec<Entity>,
    now: DateTime<Utc>,
) -> Result<(Vec<Entity>, Vec<String>), Refusal> {
    let (mut merged, mut notes): (Vec<Entity>, _) = (Vec::new(), Vec::new());
    let mut positions: HashMap<String, usize> = HashMap::new();
    for entity in new {
        let name = quoted(&render::truncate(&entity.name, 80));
        match positions.get(&entity.name).and_then(|it| merged.get_mut(*it)) {
            None => {
                positions.insert(entity.name.clone(), merged.len());
                merged.push(entity);
            }
            Some(first) => {
                notes.push(format!("the call contains {name} twice, and the two were merged"));
                notes.extend(merge_entity(first, &entity, &[]));
            }
        }
    }
    for Entity { name, relations, .. } in &mut merged {
        let refuse = |why: String| {
            Refusal::Invalid(format!("{}: {why}", quoted(&render::truncate(name, 80))))
        };
        for mut relation in std::mem::take(relations) {
            relations::resolve_relative_dates(&mut relation, now);
            relations::add_or_update_relation(relations, &[], &relation).map_err(refuse)?;
        }
    }
    Ok((merged, notes))
}

fn plan_creation(open: &mut OpenPalace, new: &[Entity]) -> Result<ChangePlan, Refusal> {
    let mut edit = GraphEdit::default();
    for entity in new {
        edit.add_entity(open, entity.clone())?;
    }
    let names: Vec<_> = new.iter().map(|it| it.name.clone()).collect();
    let subject = match names.as_slice() {
        [only] => format!("entity {}: create", render::truncate(&render::one_line(only), 50)),
        _ => format!("entities: create {}", names.len()),
    };
    Ok(ChangePlan {
        edits: edit.into_edits()?,
        subject,
        body: format!("Created {}", join_names(&names)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keeper::test_home::{TestHome, ada};
    use crate::model::Relation;

    const ADA: (&str, &str) = ("entities/person/ada.yaml", "name: Ada\ngenus: Person\n");
    const CLAIM: (&str, &str) =
        ("genera/claim.yaml", "name: Claim\nstatuses:\n  open: [settled]\n  settled: []\n");

    fn new_entity(name: &str, genus: &str) -> Entity {
        Entity { is_defined: true, genus: genus.to_owned(), ..Entity::new_loose_end(name) }
    }

    /// Creates a person who met Ada since a date.
    fn new_friend(since: &[&str]) -> Entity {
        let met = |since: &&str| Relation {
            kind: "met".to_owned(),
            to: "Ada".to_owned(),
            since: Some((*since).to_owned()),
            until: None,
            source: None,
        };
        Entity { relations: since.iter().map(met).collect(), ..new_entity("Eve", "Person") }
    }

    fn create(home: &mut TestHome, new: Vec<Entity>) -> Result<EntityCreationOutcome, Refusal> {
        create_entities(&mut home.keeper, &ada(), new)
    }

    #[test]
    fn a_new_entity_gets_a_file_and_an_id_with_the_time_of_the_call() {
        let mut home = TestHome::new(&[]);
        let outcome = create(&mut home, vec![new_entity("Ada Lovelace", "Person")]).unwrap();
        assert_eq!(outcome.created, ["Ada Lovelace"]);
        let text = home.read("entities/person/ada-lovelace.yaml").unwrap();
        assert!(text.ends_with("name: Ada Lovelace\ngenus: Person\n"), "{text}");
        let id = home.run(|it| it.palace.palace.graph.get("Ada Lovelace").unwrap().id.unwrap());
        assert_eq!(u64::try_from(ada().now.timestamp_millis()), Ok(id.timestamp_ms()));
    }

    #[test]
    fn an_existing_entity_is_reported_and_not_changed() {
        let mut home = TestHome::new(&[ADA]);
        let new = vec![new_entity("Ada", "Robot"), new_entity("Eve", "Robot")];
        let outcome = create(&mut home, new).unwrap();
        assert_eq!((outcome.existing, outcome.created), (vec!["Ada".into()], vec!["Eve".into()]));
        assert_eq!(home.read(ADA.0).unwrap(), ADA.1);
    }

    #[test]
    fn creating_no_entities_is_refused() {
        let refusal = create(&mut TestHome::new(&[]), Vec::new()).unwrap_err();
        assert_eq!(refusal.to_string(), "`entities` is empty: nothing to create");
    }

    #[test]
    fn entities_with_one_name_in_a_call_are_merged() {
        let friend = |status: &str, text: &str| Entity {
            status: Some(status.to_owned()),
            observations: vec![text.to_owned()],
            ..new_friend(&["1830"])
        };
        let mut home = TestHome::new(&[ADA]);
        let new = vec![friend("old", "One."), friend("new", "Two.")];
        insta::assert_snapshot!(create(&mut home, new).unwrap().notes.join("\n"), @"
        the call contains `Eve` twice, and the two were merged
        different values: status stays old; Eve had new
        ");
        let text = home.read("entities/person/eve.yaml").unwrap();
        let relations = "relations:\n  - type: met\n    to: Ada\n    since: 1830\n";
        let end = format!("status: old\nobservations:\n  - One.\n  - Two.\n{relations}");
        assert!(text.ends_with(&end), "{text}");
    }

    #[test]
    fn names_that_differ_only_in_case_get_two_files_and_a_note() {
        let mut home = TestHome::new(&[ADA]);
        let outcome = create(&mut home, vec![new_entity("ADA", "Person")]).unwrap();
        let note = "the name `ADA` differs from the name of the entity `Ada` only in case";
        assert_eq!(outcome.notes, [note]);
        assert!(home.read("entities/person/ada-2.yaml").unwrap().contains("name: ADA\n"));
    }

    #[test]
    fn a_genus_is_written_as_existing_entities_spell_it() {
        let mut home = TestHome::new(&[ADA]);
        let outcome = create(&mut home, vec![new_entity("Eve", "PERSON")]).unwrap();
        assert_eq!(outcome.notes, ["the genus `PERSON` was changed to the spelling `Person`"]);
        assert!(home.read("entities/person/eve.yaml").unwrap().contains("genus: Person\n"));
    }

    #[test]
    fn a_new_entity_gets_the_first_status_of_its_genus() {
        let mut home = TestHome::new(&[CLAIM]);
        create(&mut home, vec![new_entity("Drift", "Claim")]).unwrap();
        let text = home.read("entities/claim/drift.yaml").unwrap();
        assert!(text.contains("status: open\n"), "{text}");
    }

    #[test]
    fn one_invalid_entity_prevents_the_creation_of_all() {
        let mut home = TestHome::new(&[CLAIM]);
        let status = Some("opne".to_owned());
        let drift = Entity { status, ..new_entity("Drift", "Claim") };
        let refusal = create(&mut home, vec![new_entity("Eve", "Person"), drift]).unwrap_err();
        insta::assert_snapshot!(refusal, @"`Drift` is not valid: `opne` is no status of a Claim; did you mean `open`? (there are `open`, `settled`). list_genera with the genus `Claim` lists its rules; nothing was changed");
        assert_eq!(home.read("entities/person/eve.yaml"), None);
    }

    #[test]
    fn an_invalid_entity_can_be_added_without_the_rules_of_its_genus() {
        let mut home = TestHome::new(&[CLAIM]);
        let status = Some("opne".to_owned());
        let drift = vec![Entity { status, ..new_entity("Drift", "Claim") }];
        let added = home.run(|it| add_absent_entities(it, drift, RulePolicy::Report)).unwrap();
        assert_eq!(added.created, ["Drift"]);
        assert!(home.read("entities/claim/drift.yaml").unwrap().contains("status: opne\n"));
    }

    #[test]
    fn a_relation_to_an_undefined_name_is_reported_with_a_suggestion() {
        let mut home =
            TestHome::new(&[("entities/person/adam.yaml", "name: Adam\ngenus: Person\n")]);
        let outcome = create(&mut home, vec![new_friend(&["1830"])]).unwrap();
        assert_eq!(outcome.faults, "Note: there is no entity `Ada` yet (did you mean `Adam`?).\n");
    }

    #[test]
    fn a_relative_date_is_written_as_a_calendar_date() {
        let mut home = TestHome::new(&[ADA]);
        create(&mut home, vec![new_friend(&["Yesterday"])]).unwrap();
        let text = home.read("entities/person/eve.yaml").unwrap();
        assert!(text.ends_with("- type: met\n    to: Ada\n    since: 2026-02-28\n"), "{text}");
    }

    #[test]
    fn overlapping_relations_of_a_new_entity_are_refused() {
        let refusal = create(&mut TestHome::new(&[ADA]), vec![new_friend(&["1830", "1840"])]);
        insta::assert_snapshot!(refusal.unwrap_err(), @"`Eve`: met → Ada (since 1830) and met → Ada (since 1840) overlap in time: give only one of them");
    }

    #[test]
    fn a_name_that_is_no_file_name_gets_a_safe_file() {
        let mut home = TestHome::new(&[]);
        for (name, file) in [("../../x", "x"), ("!!!", "entity"), ("Émile", "emile")] {
            create(&mut home, vec![new_entity(name, "../Odd")]).unwrap();
            assert!(home.read(&format!("entities/odd/{file}.yaml")).is_some(), "{name}");
            assert!(home.run(|it| it.palace.palace.graph.get(name).is_some()), "{name}");
        }
    }
}
