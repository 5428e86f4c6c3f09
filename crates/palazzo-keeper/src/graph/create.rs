//! Creates entities.

use std::collections::{BTreeSet, HashMap};
use std::slice;

use chrono::NaiveDate;

use crate::graph::entity_file_edits::EntityFileEdits;
use crate::graph::merge::{extend_entity, merge_entity};
use crate::graph::name_spelling::{
    case_variant_note, resolve_relation_targets, unify_entity_name_spelling, unify_genus_spelling,
};
use crate::graph::relations;
use crate::graph::rules::{
    find_new_violations, new_fault_notes, reject_violations, unreadable_date_note,
    with_initial_status,
};
use crate::name_check::{reject_hidden_chars, reject_hidden_chars_in_relations};
use crate::palace::OpenPalace;
use crate::palace::change_plan::{ChangeOptions, ChangePlan};
use crate::palace::room_scope::unshown_genera;
use crate::{Caller, Keeper, Refusal, Session};
use palazzo_core::diff;
use palazzo_core::format::new_entity_path;
use palazzo_core::model::{ChangeKind, Entity, EntityFault, Palace, quoted};
use palazzo_core::render;
use palazzo_core::render::join_names;

/// Maximum number of entities whose wrong dates are told.
const MAX_DATE_NOTES: usize = 3;

/// The result of creating entities.
#[derive(Clone, Debug, Default)]
pub struct EntityCreationOutcome {
    /// The names of the entities that are new.
    pub created: Vec<String>,
    /// The entities that existed and that something was added to, each with its change.
    pub extended: Vec<ExtendedEntity>,
    /// The names of the entities that had everything already.
    pub unchanged: Vec<String>,
    /// Other notes to the caller: among them, what an entity has another value of.
    pub notes: Vec<String>,
    /// The faults of the entities, one per line.
    pub faults: String,
    /// The genera of the new entities that no room shows.
    pub unshown_genera: Vec<String>,
}

/// An entity that something was added to.
#[derive(Clone, Debug)]
pub struct ExtendedEntity {
    /// Its name.
    pub name: String,
    /// The difference between the entity before and after.
    pub change: ChangeKind,
}

/// Creates entities, and adds to those that exist what they lack, in one commit. Creates the first
/// palace if there is none.
pub fn create_entities(
    keeper: &mut Keeper,
    caller: &Caller,
    new: Vec<Entity>,
) -> Result<EntityCreationOutcome, Refusal> {
    if new.is_empty() {
        return Err(Refusal::EmptyList { argument: "entities", advice: "nothing to create" });
    }
    new.iter().try_for_each(reject_hidden_chars_in_entity)?;
    let (mut new, mut notes) = merge_same_named_entities(new, caller.today())?;
    let mut session = keeper.session_for_writing(caller)?;
    for entity in &mut new {
        entity.id = Some(session.new_id());
    }
    let (mut outcome, mut faults_before) = (EntityCreationOutcome::default(), Vec::new());
    session.palace.change_files(session.caller, &ChangeOptions::exclusive(), |open| {
        let (edit, planned, faults) = plan_additions(open, &new)?;
        (outcome, faults_before) = (planned, faults);
        let extended: Vec<_> = outcome.extended.iter().map(|it| it.name.clone()).collect();
        plan_commit(edit, &outcome.created, &extended)
    })?;
    notes.append(&mut outcome.notes);
    let palace = &session.palace.palace;
    let graph = &palace.graph;
    notes.extend(outcome.created.iter().filter_map(|it| case_variant_note(graph, it)));
    let names = outcome.created.iter().chain(outcome.extended.iter().map(|it| &it.name));
    let entities: Vec<_> = names.filter_map(|it| graph.get(it)).collect();
    let date_notes = new.iter().filter_map(|it| unreadable_date_note(&it.name, &it.attributes));
    notes.extend(date_notes.take(MAX_DATE_NOTES));
    outcome.faults = new_fault_notes(graph, entities.into_iter(), &faults_before);
    outcome.unshown_genera = unshown_genera_of(palace, &outcome.created);
    Ok(EntityCreationOutcome { notes, ..outcome })
}

fn reject_hidden_chars_in_entity(new: &Entity) -> Result<(), Refusal> {
    reject_hidden_chars("name", &new.name)?;
    reject_hidden_chars("genus", &new.genus)?;
    new.attributes.keys().try_for_each(|it| reject_hidden_chars("attributes", it))?;
    reject_hidden_chars_in_relations(&new.relations)
}

/// Plans to create the entities of `new` whose names are free, and to add to the others what they
/// lack. Returns also the faults that these had before.
fn plan_additions(
    open: &mut OpenPalace,
    new: &[Entity],
) -> Result<(EntityFileEdits, EntityCreationOutcome, Vec<EntityFault>), Refusal> {
    let mut new = new.to_vec();
    let mut notes = unify_genus_spelling(&open.palace.graph, &mut new);
    notes
        .extend(new.iter_mut().filter_map(|it| unify_entity_name_spelling(&open.palace.graph, it)));
    let names: Vec<_> = new.iter().map(|it| it.name.clone()).collect();
    for entity in &mut new {
        resolve_relation_targets(&open.palace.graph, &names, &mut entity.relations);
    }
    let (present, absent) = partition_by_name(open, &new);
    let mut outcome = EntityCreationOutcome { notes, ..EntityCreationOutcome::default() };
    let (mut edit, mut violations, mut faults) =
        (EntityFileEdits::default(), Vec::new(), Vec::new());
    for entity in &absent {
        let entity = with_initial_status(&open.palace.graph, entity);
        violations.extend(find_new_violations(&open.palace.graph, &[], &entity));
        outcome.created.push(entity.name.clone());
        edit.add_entity(open, entity)?;
    }
    for given in &present {
        let Some(entity) = edit.entity_mut(open, &given.name)? else { continue };
        let old = entity.clone();
        outcome.notes.extend(extend_entity(entity, given));
        let change = ChangeKind::Changed(diff::diff_entity(&old, entity));
        match *entity == old {
            true => outcome.unchanged.push(old.name.clone()),
            false => outcome.extended.push(ExtendedEntity { name: old.name.clone(), change }),
        }
        let extended = entity.clone();
        violations.extend(find_new_violations(
            &open.palace.graph,
            slice::from_ref(&old),
            &extended,
        ));
        faults.extend(open.palace.graph.entity_faults(&old));
    }
    reject_violations(violations.into_iter())?;
    Ok((edit, outcome, faults))
}

/// Divides entities into those whose names an entity of the palace has, and the others.
fn partition_by_name(open: &mut OpenPalace, new: &[Entity]) -> (Vec<Entity>, Vec<Entity>) {
    // Another program may have written the same files meanwhile.
    for entity in new {
        open.refresh_file(&new_entity_path(&open.palace.graph, entity, |_| false, |_| 0));
    }
    new.iter().cloned().partition(|it| open.palace.graph.get(&it.name).is_some())
}

/// Adds the entities of `new` whose names are free; of several with one name, the first. Genera
/// have no rules here. Returns the names of the new entities.
pub(crate) fn add_absent_entities(
    session: &mut Session<'_>,
    new: Vec<Entity>,
) -> Result<Vec<String>, Refusal> {
    let mut names = BTreeSet::new();
    let mut new: Vec<_> = new.into_iter().filter(|it| names.insert(it.name.clone())).collect();
    for entity in &mut new {
        entity.id = Some(session.new_id());
    }
    let mut created = Vec::new();
    session.palace.change_files(session.caller, &ChangeOptions::exclusive(), |open| {
        let (_, absent) = partition_by_name(open, &new);
        let mut edit = EntityFileEdits::default();
        for entity in &absent {
            edit.add_entity(open, with_initial_status(&open.palace.graph, entity))?;
        }
        created = absent.into_iter().map(|it| it.name).collect();
        plan_commit(edit, &created, &[])
    })?;
    Ok(created)
}

/// Merges entities with the same name, with notes on each merge, and replaces relative dates
/// of relations by calendar dates.
fn merge_same_named_entities(
    new: Vec<Entity>,
    today: NaiveDate,
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
            relations::resolve_relative_dates(&mut relation, today);
            relations::add_or_update_relation(relations, &[], &relation).map_err(refuse)?;
        }
    }
    Ok((merged, notes))
}

/// Plans the commit of an edit that creates and extends the entities with these names.
fn plan_commit(
    edit: EntityFileEdits,
    created: &[String],
    extended: &[String],
) -> Result<ChangePlan, Refusal> {
    let what = |verb: &str, names: &[String]| match names {
        [] => None,
        [only] => {
            let name = render::truncate(&render::one_line(only), 50);
            Some((format!("entity {name}: {verb}"), format!("{verb} 1")))
        }
        several => {
            let count = format!("{verb} {}", several.len());
            Some((format!("entities: {count}"), count))
        }
    };
    let subject = match (what("create", created), what("extend", extended)) {
        (Some((_, created)), Some((_, extended))) => format!("entities: {created}, {extended}"),
        (Some((subject, _)), None) | (None, Some((subject, _))) => subject,
        (None, None) => String::new(),
    };
    let sentences = [("Created", created), ("Extended", extended)].into_iter();
    let sentences = sentences.filter(|(_, names)| !names.is_empty());
    let sentences: Vec<_> =
        sentences.map(|(verb, names)| format!("{verb} {}", join_names(names))).collect();
    Ok(ChangePlan { edits: edit.into_edits()?, subject, body: sentences.join(". ") })
}

/// Returns the genera of the entities with these names that no room shows. A palace without rooms
/// shows nothing.
fn unshown_genera_of(palace: &Palace, names: &[String]) -> Vec<String> {
    if names.is_empty() || palace.rooms().len() == 0 {
        return Vec::new();
    }
    let genera = names.iter().filter_map(|it| Some(palace.graph.get(it)?.genus.as_str()));
    let genera: BTreeSet<_> = genera.collect();
    let unshown = unshown_genera(palace).into_iter().map(|(genus, _)| genus);
    unshown.filter(|it| genera.contains(it.as_str())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home::{TestHome, ada};
    use palazzo_core::model::Relation;

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
    fn attributes_that_only_begin_as_dates_do_are_told() {
        let mut home = TestHome::new(&[]);
        let storm = Entity {
            attributes: serde_json::from_str(
                r#"{"from":"2026-01-10/2026-01-12","on":"2026-02-30","at":"2026-01","code":"2026-1187"}"#,
            )
            .unwrap(),
            ..new_entity("Gudrun", "Storm")
        };
        insta::assert_snapshot!(create(&mut home, vec![storm]).unwrap().notes.join("\n"), @"of `Gudrun`, `from` `2026-01-10/2026-01-12`, `on` `2026-02-30` is no date, so timelines leave it out: write 1972, 1972-05, 1972-01-31 or 2026-03-01T12:00:00Z");
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

    /// Lists the additions to existing entities, then the notes of a call.
    fn describe_additions(outcome: &EntityCreationOutcome) -> String {
        let added = outcome.extended.iter();
        let added = added.map(|it| format!("{}: {}", it.name, render::change_summary(&it.change)));
        added.chain(outcome.notes.clone()).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn an_existing_entity_gets_what_it_lacks_in_the_same_commit() {
        let text = "name: Ada   # she\ngenus: Person\nattributes: { born: 1815 }\nobservations:\n  \
                    - One.\nrelations:\n  - { type: met, to: Bob, since: 1833 }\n";
        let mut home = TestHome::new(&[(ADA.0, text)]);
        let met = |since: Option<&str>, to: &str| Relation {
            kind: "met".to_owned(),
            to: to.to_owned(),
            since: since.map(str::to_owned),
            until: None,
            source: None,
        };
        let new = Entity {
            status: Some("alive".to_owned()),
            attributes: serde_json::from_str(r#"{"born":1816,"place":"London"}"#).unwrap(),
            observations: vec!["One.".to_owned(), "Two.".to_owned()],
            relations: vec![met(Some("1840"), "Bob"), met(None, "Eve")],
            ..new_entity("Ada", "Robot")
        };
        let outcome = create(&mut home, vec![new, new_entity("Eve", "Person")]).unwrap();
        assert_eq!(
            (outcome.created.as_slice(), outcome.unchanged.as_slice()),
            (&["Eve".into()][..], &[][..])
        );
        insta::assert_snapshot!(describe_additions(&outcome), @"
        Ada: status alive added; place London added; observation 'Two.' added; relation met → Eve added
        `Ada`: genus stays `Person`; `Robot` was not written
        `Ada`: born stays `1815`; `1816` was not written
        `Ada`: relation stays `met → Bob (since 1833)`; `met → Bob (since 1840)` was not written
        ");
        let old = "name: Ada   # she\ngenus: Person\nstatus: alive\n";
        let now = home.read(ADA.0).unwrap();
        assert!(now.starts_with(old) && now.contains("since: 1833"), "{now}");
        let again = create(&mut home, vec![new_entity("Eve", "PERSON")]).unwrap();
        assert_eq!(again.unchanged, ["Eve"]);
        assert_eq!(again.notes, ["the genus `PERSON` was changed to the spelling `Person`"]);
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
    fn entities_of_two_genera_may_have_names_that_differ_only_in_case() {
        let mut home = TestHome::new(&[ADA]);
        let outcome = create(&mut home, vec![new_entity("ADA", "Language")]).unwrap();
        let note = "the name `ADA` differs from the name of the entity `Ada` only in case";
        assert_eq!(outcome.notes, [note]);
        assert!(home.read("entities/language/ada.yaml").unwrap().contains("name: ADA\n"));
        let again =
            Entity { observations: vec!["Wrote.".to_owned()], ..new_entity("aDA", "Person") };
        let outcome = create(&mut home, vec![again]).unwrap();
        assert_eq!(
            (outcome.created.len(), outcome.extended.len()),
            (1, 0),
            "of two alike, none is meant"
        );
    }

    #[test]
    fn a_name_in_another_case_is_the_entity_and_an_old_name_is_told() {
        let old = "name: Haus Linde\ngenus: House\nformer_names: [Linden House]\n";
        let mut home = TestHome::new(&[ADA, ("entities/house/haus-linde.yaml", old)]);
        let met = Relation {
            kind: "lives_in".to_owned(),
            to: "Linden House".to_owned(),
            since: None,
            until: None,
            source: None,
        };
        let again = Entity { relations: vec![met], ..new_entity("ADA", "Person") };
        let outcome = create(&mut home, vec![again]).unwrap();
        assert_eq!(outcome.created, [""; 0]);
        assert_eq!(outcome.notes, ["`ADA` is `Ada`"]);
        assert!(home.read(ADA.0).unwrap().contains("to: Haus Linde\n"));
        let outcome = create(&mut home, vec![new_entity("Linden House", "House")]).unwrap();
        assert!(outcome.notes[0].starts_with("`Linden House` was the name of `Haus Linde`: if"));
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
        let added = home.run(|it| add_absent_entities(it, drift)).unwrap();
        assert_eq!(added, ["Drift"]);
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
