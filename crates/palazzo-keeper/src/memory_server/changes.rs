//! The changes of the reference memory server: names are exact, it is no error to create what
//! exists or to delete what does not, and relations may start and end at undefined names.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::graph::create::add_absent_entities;
use crate::graph::delete::distinct_texts;
use crate::graph::entity_file_edits::EntityFileEdits;
use crate::palace::OpenPalace;
use crate::palace::change_plan::{ChangeOptions, ChangePlan};
use crate::{Caller, Keeper, Refusal};
use palazzo_core::model::{Entity, Triple};
use palazzo_core::render;
use palazzo_core::render::join_names;

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
    let created = add_absent_entities(&mut session, new.clone())?;
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
    session.palace.change_files(caller, &ChangeOptions::default(), |open| {
        let mut edit = EntityFileEdits::default();
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
    session.palace.change_files(caller, &ChangeOptions::default(), |open| {
        let mut edit = EntityFileEdits::default();
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
    session.palace.change_files(caller, &ChangeOptions::default(), |open| {
        let mut edit = EntityFileEdits::default();
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
    session.palace.change_files(caller, &ChangeOptions::default(), |open| {
        let mut edit = EntityFileEdits::default();
        summary.deleted = remove_relations(open, &mut edit, &old)?;
        let what = render::count_with_noun(summary.deleted, "relation");
        change_plan_for_entities(edit, old.iter().map(|it| &it.from), &format!("delete {what}"))
    })?;
    Ok(summary)
}

/// Adds the relations that do not exist, and returns those.
pub(crate) fn add_absent_relations(
    open: &mut OpenPalace,
    edit: &mut EntityFileEdits,
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
    edit: &mut EntityFileEdits,
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
    edit: &mut EntityFileEdits,
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
    edit: &mut EntityFileEdits,
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
    edit: &mut EntityFileEdits,
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
    edit: EntityFileEdits,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home::{TestHome, ada};

    const ALICE: (&str, &str) = (
        "entities/person/alice.yaml",
        "name: Alice\ngenus: person\nobservations:\n  - likes tea\n  - sings\nrelations:\n  \
        - { type: knows, to: Bob, since: 2001, until: 2005 }\n  - { type: knows, to: Bob, since: 2010 }\n",
    );

    fn texts(all: &[&str]) -> Vec<String> {
        all.iter().map(|it| (*it).to_owned()).collect()
    }

    fn observations(name: &str, contents: &[&str]) -> EntityObservations {
        (name.to_owned(), texts(contents))
    }

    fn triple(from: &str, kind: &str, to: &str) -> Triple {
        let [from, kind, to] = [from, kind, to].map(str::to_owned);
        Triple { from, kind, to }
    }

    fn new_entity(name: &str, genus: &str) -> Entity {
        Entity { is_defined: true, genus: genus.to_owned(), ..Entity::new_loose_end(name) }
    }

    fn summary(deleted: usize, requested: usize, missing: &[&str]) -> DeletionSummary {
        DeletionSummary { deleted, requested, missing: texts(missing) }
    }

    #[test]
    fn the_first_new_entity_of_each_name_is_created() {
        let mut home = TestHome::new(&[ALICE]);
        let new = [("Alice", "robot"), ("Bob", "robot"), ("Bob", "person"), ("bob", "cat")];
        let new: Vec<_> = new.iter().map(|(name, genus)| new_entity(name, genus)).collect();
        let created = create_entities_if_absent(&mut home.keeper, &ada(), new.clone()).unwrap();
        assert_eq!(created, [new[1].clone(), new[3].clone()]);
        assert_eq!(home.read(ALICE.0).unwrap(), ALICE.1);
    }

    #[test]
    fn relations_that_exist_or_are_repeated_are_not_created() {
        let mut home = TestHome::new(&[ALICE]);
        let likes = triple("Alice", "likes", "Bob");
        let new = [triple("Alice", "knows", "Bob"), likes.clone(), likes.clone()];
        let created = create_relations_if_absent(&mut home.keeper, &ada(), &new).unwrap();
        assert_eq!(created, [likes]);
        let text = format!("{}  - type: likes\n    to: Bob\n", ALICE.1);
        assert_eq!(home.read(ALICE.0).unwrap(), text);
    }

    #[test]
    fn a_relation_from_an_undefined_name_is_written_to_a_loose_end() {
        let mut home = TestHome::new(&[]);
        let new = [triple("Ghost", "haunts", "Ghost"), triple("Ghost", "haunts", "ghost")];
        let created = create_relations_if_absent(&mut home.keeper, &ada(), &new).unwrap();
        assert_eq!(created, new);
        insta::assert_snapshot!(home.read("entities/undefined/ghost.yaml").unwrap(), @"
        # yaml-language-server: $schema=../../.palazzo/schema/entity.json
        name: Ghost
        relations:
          - type: haunts
            to: Ghost
          - type: haunts
            to: ghost
        ");
    }

    #[test]
    fn only_new_observations_are_added_and_returned() {
        let mut home = TestHome::new(&[ALICE]);
        let new =
            [observations("Alice", &["sings", "hums", "hums"]), observations("Alice", &["hums"])];
        let added = add_observations(&mut home.keeper, &ada(), &new).unwrap();
        assert_eq!(added, [observations("Alice", &["hums"]), observations("Alice", &[])]);
        let text = ALICE.1.replace("  - sings\n", "  - sings\n  - hums\n");
        assert_eq!(home.read(ALICE.0).unwrap(), text);
    }

    #[test]
    fn observations_of_a_missing_entity_are_refused_and_nothing_is_added() {
        let mut home = TestHome::new(&[ALICE]);
        let new = [observations("Alice", &["hums"]), observations("alice", &["hums"])];
        let refusal = add_observations(&mut home.keeper, &ada(), &new).unwrap_err();
        assert_eq!(refusal.to_string(), "Entity with name alice not found");
        assert_eq!(home.read(ALICE.0).unwrap(), ALICE.1);
    }

    #[test]
    fn an_observation_above_the_size_limit_is_refused() {
        let mut home = TestHome::new(&[ALICE]);
        let new = [observations("Alice", &[&"x".repeat(1024 * 1024)])];
        let refusal = add_observations(&mut home.keeper, &ada(), &new).unwrap_err().to_string();
        assert!(refusal.starts_with("`entities/person/alice.yaml` would have 1048"), "{refusal}");
        assert_eq!(home.read(ALICE.0).unwrap(), ALICE.1);
    }

    #[test]
    fn deleting_observations_counts_them_and_reports_missing_names() {
        let mut home = TestHome::new(&[ALICE]);
        let old =
            [observations("Alice", &["sings", "sings", "hums"]), observations("Carol", &["x"])];
        let outcome = delete_observations(&mut home.keeper, &ada(), &old).unwrap();
        assert_eq!(outcome, summary(1, 3, &["Carol"]));
        assert_eq!(home.read(ALICE.0).unwrap(), ALICE.1.replace("  - sings\n", ""));
    }

    #[test]
    fn deleting_a_relation_deletes_all_its_periods_and_counts_one() {
        let mut home = TestHome::new(&[ALICE]);
        let old = [triple("Alice", "knows", "Bob"), triple("Alice", "knows", "bob")];
        let outcome = delete_relations(&mut home.keeper, &ada(), &old).unwrap();
        assert_eq!(outcome, summary(1, 2, &[]));
        let text = home.read(ALICE.0).unwrap();
        assert!(text.ends_with("  - sings\n"), "{text}");
    }

    #[test]
    fn deleting_the_last_relation_of_a_loose_end_deletes_its_file() {
        let ghost = (
            "entities/undefined/ghost.yaml",
            "name: Ghost\nrelations: [{ type: haunts, to: Bob }]\n",
        );
        let mut home = TestHome::new(&[ghost]);
        let old = [triple("Ghost", "haunts", "Bob")];
        let outcome = delete_relations(&mut home.keeper, &ada(), &old).unwrap();
        assert_eq!((outcome, home.read(ghost.0)), (summary(1, 1, &[]), None));
    }

    #[test]
    fn deleting_from_a_home_without_a_palace_creates_none() {
        let dir = tempfile::tempdir().unwrap();
        let mut keeper = Keeper::new(dir.path().join("home"), None);
        let outcome =
            delete_observations(&mut keeper, &ada(), &[observations("Bob", &["a", "a", "b"])]);
        assert_eq!(outcome.unwrap(), summary(0, 2, &["Bob"]));
        let outcome = delete_relations(&mut keeper, &ada(), &[triple("a", "b", "c")]);
        assert_eq!(outcome.unwrap(), summary(0, 1, &[]));
        let refusal = add_observations(&mut keeper, &ada(), &[observations("Bob", &[])]);
        assert_eq!(refusal.unwrap_err().to_string(), "Entity with name Bob not found");
        assert!(!dir.path().join("home").exists());
    }

    #[test]
    fn creating_nothing_creates_no_palace() {
        let dir = tempfile::tempdir().unwrap();
        let mut keeper = Keeper::new(dir.path().join("home"), None);
        assert_eq!(create_entities_if_absent(&mut keeper, &ada(), Vec::new()).unwrap(), []);
        assert_eq!(create_relations_if_absent(&mut keeper, &ada(), &[]).unwrap(), []);
        assert_eq!(add_observations(&mut keeper, &ada(), &[]).unwrap(), []);
        assert!(!dir.path().join("home").exists());
    }
}
