//! Deletes entities, and the relations to them.

use std::collections::BTreeSet;

use crate::graph::entity_file_edits::EntityFileEdits;
use crate::graph::{references, resolve_current_entity_name};
use crate::palace::OpenPalace;
use crate::palace::change_plan::{ChangeOptions, ChangePlan};
use crate::{Caller, Keeper, Refusal, Session};
use palazzo_core::model::{Entity, Relation};
use palazzo_core::render;
use palazzo_core::render::join_names;

/// The number of missing names for which a similar one is searched, in all names of the graph: as many as an
/// answer names.
const MAX_HINTS: usize = 10;

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
    /// For each missing name the one that may be meant, if there is any; for the first ten only.
    pub meant: Vec<Option<String>>,
}

/// Deletes the entities with these exact names and every relation from or to these names, in one
/// commit. A name that no entity has is no error.
pub fn delete_entities_by_exact_name(
    session: &mut Session<'_>,
    names: &[String],
) -> Result<DeletedEntities, Refusal> {
    let names: Vec<_> = distinct_texts(names).cloned().collect();
    let mut deleted = DeletedEntities::default();
    session.palace.change_files(session.caller, &ChangeOptions::default(), |open| {
        let (plan, result) = plan_deletion(open, &names)?;
        deleted = result;
        Ok(plan)
    })?;
    Ok(deleted)
}

/// Deletes entities as [`delete_entities_by_exact_name`] does; `names` may differ from their names
/// in case. Refuses names of which none has an entity or a relation to it.
pub fn delete_entities(
    keeper: &mut Keeper,
    caller: &Caller,
    names: &[String],
) -> Result<EntityDeletionOutcome, Refusal> {
    if names.is_empty() {
        return Err(Refusal::EmptyList { argument: "names", advice: "nothing to delete" });
    }
    let mut session = keeper.session(caller)?;
    let palace = &session.palace.palace;
    let mut refusal = None;
    let exact = |it: &String| match resolve_current_entity_name(palace, it) {
        Ok(exact) => exact,
        Err(err) => {
            refusal.get_or_insert(err);
            it.clone()
        }
    };
    let names: Vec<_> = names.iter().map(exact).collect();
    let deleted = delete_entities_by_exact_name(&mut session, &names)?;
    if deleted.entities.is_empty() && deleted.relations == 0 {
        return Err(match (refusal, deleted.missing.as_slice()) {
            (Some(refusal), [_]) => refusal,
            (_, missing) => Refusal::Invalid(format!(
                "nothing was deleted: no entity is called {} (use search_entities to search by \
                 words)",
                join_names(missing)
            )),
        });
    }
    let references = references::describe_references(session.palace, &deleted.entities);
    let graph = &session.palace.palace.graph;
    let closest = |name: &String| graph.closest_name(name).map(str::to_owned);
    let missing = deleted.missing.iter().enumerate();
    let meant =
        missing.map(|(place, it)| if place < MAX_HINTS { closest(it) } else { None }).collect();
    Ok(EntityDeletionOutcome { deleted, references, meant })
}

/// Yields each text once, at its first position.
pub(crate) fn distinct_texts(texts: &[String]) -> impl Iterator<Item = &String> {
    let mut seen = BTreeSet::new();
    texts.iter().filter(move |it| seen.insert(it.as_str()))
}

/// Plans to delete entities, and the relations from and to their names.
pub(crate) fn plan_deletion(
    open: &mut OpenPalace,
    names: &[String],
) -> Result<(ChangePlan, DeletedEntities), Refusal> {
    let set: BTreeSet<&str> = names.iter().map(String::as_str).collect();
    let (mut edit, mut deleted) = (EntityFileEdits::default(), DeletedEntities::default());
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home::{TestHome, ada};

    const ADA: (&str, &str) = ("entities/person/ada.yaml", "name: Ada\ngenus: Person\n");
    const EVE: (&str, &str) = (
        "entities/person/eve.yaml",
        "name: Eve\ngenus: Person\nrelations:\n- { type: knows, to: Ada, since: 1830 }\n- { type: knows, to: Carol }\n",
    );
    const GHOST: (&str, &str) =
        ("entities/undefined/ghost.yaml", "name: Ghost\nrelations:\n- { type: haunts, to: Ada }\n");

    fn texts(names: &[&str]) -> Vec<String> {
        names.iter().map(|it| (*it).to_owned()).collect()
    }

    fn deleted(entities: &[&str], missing: &[&str], relations: usize) -> DeletedEntities {
        DeletedEntities { entities: texts(entities), missing: texts(missing), relations }
    }

    /// Deletes from a palace with Ada, Eve and the loose end Ghost.
    fn delete_exactly(names: &[&str]) -> (TestHome, DeletedEntities) {
        let mut home = TestHome::new(&[ADA, EVE, GHOST]);
        let outcome = home.run(|it| delete_entities_by_exact_name(it, &texts(names))).unwrap();
        (home, outcome)
    }

    #[test]
    fn deleting_an_entity_deletes_the_relations_to_it() {
        let (home, outcome) = delete_exactly(&["Ada"]);
        assert_eq!(outcome, deleted(&["Ada"], &[], 2));
        assert_eq!((home.read(ADA.0), home.read(GHOST.0)), (None, None));
        let left = EVE.1.replace("- { type: knows, to: Ada, since: 1830 }\n", "");
        assert_eq!(home.read(EVE.0).unwrap(), left);
    }

    #[test]
    fn a_name_in_another_case_is_missing_where_names_are_exact() {
        let (home, outcome) = delete_exactly(&["ada"]);
        assert_eq!(outcome, deleted(&[], &["ada"], 0));
        assert!(home.read(ADA.0).is_some());
    }

    #[test]
    fn a_repeated_name_is_deleted_once() {
        let (_home, outcome) = delete_exactly(&["Eve", "Eve", "Nobody", "Nobody"]);
        assert_eq!(outcome, deleted(&["Eve"], &["Nobody"], 0));
    }

    #[test]
    fn deleting_a_name_without_an_entity_deletes_the_relations_from_and_to_it() {
        let (home, outcome) = delete_exactly(&["Ghost", "Carol"]);
        assert_eq!(outcome, deleted(&[], &["Ghost", "Carol"], 2));
        assert_eq!(home.read(GHOST.0), None);
        assert!(!home.read(EVE.0).unwrap().contains("Carol"));
    }

    #[test]
    fn relations_between_the_deleted_entities_are_not_counted() {
        let (_home, outcome) = delete_exactly(&["Ada", "Eve"]);
        assert_eq!(outcome, deleted(&["Ada", "Eve"], &[], 1));
    }

    #[test]
    fn deleting_no_names_deletes_nothing() {
        let (home, outcome) = delete_exactly(&[]);
        assert_eq!(outcome, DeletedEntities::default());
        assert_eq!(home.read(EVE.0).unwrap(), EVE.1);
    }

    #[test]
    fn delete_entities_ignores_case() {
        let mut home = TestHome::new(&[ADA]);
        let outcome = delete_entities(&mut home.keeper, &ada(), &texts(&[" ADA"])).unwrap();
        assert_eq!(outcome.deleted, deleted(&["Ada"], &[], 0));
        assert_eq!(outcome.references, [""; 0]);
        assert_eq!(home.read(ADA.0), None);
    }

    #[test]
    fn delete_entities_refuses_names_that_no_entity_has() {
        let mut home = TestHome::new(&[ADA]);
        let mut refusal = |names: &[&str]| {
            delete_entities(&mut home.keeper, &ada(), &texts(names)).unwrap_err().to_string()
        };
        insta::assert_snapshot!(refusal(&["Adda"]), @"no entity is called `Adda`; did you mean `Ada`? (use search_entities to search by words)");
        insta::assert_snapshot!(refusal(&["Zed", "Nobody"]), @"nothing was deleted: no entity is called Zed, Nobody (use search_entities to search by words)");
        let outcome = delete_entities(&mut home.keeper, &ada(), &texts(&["Zed", "Ada"])).unwrap();
        assert_eq!(outcome.deleted, deleted(&["Ada"], &["Zed"], 0));
        let mut home =
            TestHome::new(&[ADA, ("entities/person/bob.yaml", "name: Robert\ngenus: Person\n")]);
        let outcome = delete_entities(&mut home.keeper, &ada(), &texts(&["Robrt", "Ada"])).unwrap();
        assert_eq!(outcome.meant, [Some("Robert".to_owned())]);
    }

    #[test]
    fn delete_entities_keeps_both_of_two_names_that_differ_from_it_in_case() {
        let other = ("entities/person/ada-2.yaml", "name: ADA\ngenus: Person\n");
        let mut home = TestHome::new(&[ADA, other]);
        delete_entities(&mut home.keeper, &ada(), &texts(&["ada"])).unwrap_err();
        assert!(home.read(ADA.0).is_some() && home.read(other.0).is_some());
    }

    #[test]
    fn delete_entities_refuses_an_empty_list() {
        let refusal = delete_entities(&mut TestHome::new(&[ADA]).keeper, &ada(), &[]).unwrap_err();
        assert_eq!(refusal.to_string(), "`names` is empty: nothing to delete");
    }

    #[test]
    fn delete_entities_reports_the_tasks_that_still_name_the_entity() {
        let task = ("tasks/ask.yaml", "title: Ask her\nstatus: open\nentity: Ada\n");
        let mut home = TestHome::new(&[ADA, task]);
        let outcome = delete_entities(&mut home.keeper, &ada(), &texts(&["Ada"])).unwrap();
        assert_eq!(outcome.references, ["1 task (Ask her)"]);
    }

    #[test]
    fn without_a_palace_every_name_is_missing_once() {
        let names = texts(&["Eve", "Ada", "Eve"]);
        assert_eq!(DeletedEntities::all_missing(&names), deleted(&[], &["Eve", "Ada"], 0));
    }

    #[test]
    fn the_commit_message_counts_what_was_deleted() {
        let message = |outcome: &DeletedEntities| {
            let (subject, body) = deletion_commit_message(&texts(&["Ada", "Eve"]), outcome);
            format!("{subject}: {body}")
        };
        insta::assert_snapshot!(message(&deleted(&[], &["Ada", "Eve"], 1)), @"relations: delete: Deleted 1 relation of Ada, Eve");
        insta::assert_snapshot!(message(&deleted(&["Ada"], &["Eve"], 2)), @"entity Ada: delete: Deleted it and 2 relations to it");
        insta::assert_snapshot!(message(&deleted(&["Ada", "Eve"], &[], 0)), @"entities: delete 2: Deleted Ada, Eve and 0 relations to them");
    }
}
