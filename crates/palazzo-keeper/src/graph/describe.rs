//! Describes the workspace, its genera and single entities.

use crate::graph::get_relationships::is_relation_to_self;
use crate::graph::rules::new_fault_notes;
use crate::graph::{resolve_entity_to_read, resolve_genus_name};
use crate::palace::loaded_palace::LoadedPalace;
use crate::sync::notices::sync_line;
use crate::{Refusal, Session};
use palazzo_core::model::{CommitSummary, Genus, Graph, OpenConflict, Reader};
use palazzo_core::render::{self, EntityView, GenusCount, ItemCounts, WorkspaceSummary};

/// How many of the latest commits the description of a workspace lists.
const RECENT_CHANGES: usize = 4;

/// The contents of a workspace, in numbers, and the commit that it shows.
#[derive(Clone, Debug)]
pub struct WorkspaceDescription {
    /// The name of the workspace.
    pub name: String,
    /// The commit that is shown; `None` for the present.
    pub as_of: Option<CommitSummary>,
    /// Counts, genera and the latest commits.
    pub summary: WorkspaceSummary,
}

/// The genera of a workspace.
#[derive(Clone, Debug)]
pub struct GenusList<'a> {
    /// Each genus with its counts, those without entities last.
    pub counts: Vec<GenusCount<'a>>,
    /// The names of the genera that have a definition.
    pub defined: Vec<&'a str>,
}

/// A genus, with its counts and its definition, if it has one.
#[derive(Clone, Debug)]
pub struct GenusDescription<'a> {
    /// How many entities it has, by status.
    pub count: GenusCount<'a>,
    /// Its definition.
    pub definition: Option<&'a Genus>,
}

/// Counts the rooms, scrolls and entities of the workspace, and lists its latest commits.
pub fn describe_workspace(session: &Session<'_>) -> Result<WorkspaceDescription, Refusal> {
    let palace = &session.palace.palace;
    let genera = palace.graph.genus_counts().map(|(genus, number)| (genus.to_owned(), number));
    let summary = WorkspaceSummary {
        counts: ItemCounts::of(palace),
        genera: genera.collect(),
        recent_commits: session.palace.recent_commits(RECENT_CHANGES)?,
        conflicts: session.palace.count_open_conflicts(),
        sync: sync_line(session.palace.store(), session.caller.now).unwrap_or_default(),
    };
    let as_of = session.palace.store().as_of_commit().cloned();
    Ok(WorkspaceDescription { name: palace.settings.name.clone(), as_of, summary })
}

/// Lists the genera that have entities or a definition, with their statuses.
pub fn list_genera<'s>(session: &'s Session<'_>) -> GenusList<'s> {
    let graph = &session.palace.palace.graph;
    let defined: Vec<_> = graph.genus_definitions().map(|it| it.name.as_str()).collect();
    let empty = defined.iter().copied().filter(|it| graph.count_in_genus(it) == 0);
    let genera = graph.genus_counts().map(|(it, _)| it).chain(empty);
    GenusList { counts: genera.map(|it| count_entities_by_status(graph, it)).collect(), defined }
}

/// Describes one genus; `name` may differ from its name in case.
pub fn describe_genus<'s>(
    session: &'s Session<'_>,
    name: &str,
) -> Result<GenusDescription<'s>, Refusal> {
    let palace = &session.palace.palace;
    let name = resolve_genus_name(palace, name)?;
    let definition = palace.graph.genus_definition(name);
    Ok(GenusDescription { count: count_entities_by_status(&palace.graph, name), definition })
}

/// Returns everything that the graph contains about one entity; `asked` is its name, or words with which
/// only its name begins.
pub fn get_entity<'s>(
    session: &'s mut Session<'_>,
    asked: &str,
) -> Result<EntityView<'s>, Refusal> {
    let reader = session.caller.reader();
    let open = &mut *session.palace;
    let name = resolve_entity_to_read(&open.palace, asked)?;
    let file = open.palace.graph.file_of_entity(&name).unwrap_or_default().to_owned();
    open.refresh_file(&file);
    open.update_file_history_cache()?;
    let open = &*open;
    entity_view(open, &name, reader).ok_or(Refusal::NoSuchEntity { asked: name, meant: None })
}

/// Returns what is in memory about the entity with that exact name.
pub(crate) fn entity_view<'a>(
    open: &'a LoadedPalace,
    name: &str,
    reader: Reader,
) -> Option<EntityView<'a>> {
    let graph = &open.palace.graph;
    let (entity, file) = (graph.get(name)?, graph.file_of_entity(name).unwrap_or_default());
    let conflicts = open.open_conflicts_about(|it| it == file);
    let note = |it: &OpenConflict| {
        format!("Note: {}.\n", render::conflict_notice(it, Some("update_entity"), reader))
    };
    let conflicts: String = conflicts.iter().map(note).collect();
    let stale = open.stale_fact_notes(entity, file).into_iter();
    let stale = stale.chain(open.stale_file_notes_of_entity(&entity.name));
    let stale: String = stale.flat_map(|it| ["Note: ".to_owned(), it, ".\n".to_owned()]).collect();
    Some(EntityView {
        entity,
        date_attributes: graph.date_attributes(entity).map(|(key, _)| key).collect(),
        incoming: graph
            .incoming_relations(&entity.name)
            .filter(|it| !is_relation_to_self(it, &entity.name))
            .collect(),
        history: open.file_histories().get(file).copied(),
        notes: conflicts + &new_fault_notes(graph, std::iter::once(entity), &[]) + &stale,
    })
}

fn count_entities_by_status<'a>(graph: &'a Graph, genus: &'a str) -> GenusCount<'a> {
    (genus, graph.count_in_genus(genus), graph.status_counts(genus).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::create_entities;
    use crate::test_home::{TestHome, ada};
    use palazzo_core::model::Entity;

    const ADA: (&str, &str) = (
        "entities/person/ada.yaml",
        "name: Ada\ngenus: Person\nstatus: dead\nattributes: { born: 1815-12-10, height: tall }\n",
    );
    const NOTES: (&str, &str) = (
        "entities/book/notes.yaml",
        "name: Notes\ngenus: Book\nrelations:\n- { type: written_by, to: Ada }\n- { type: about, to: Engine }\n",
    );
    const CLAIM: (&str, &str) = ("genera/claim.yaml", "name: Claim\n");

    #[test]
    fn a_workspace_is_described_by_its_counts() {
        let hall = ("rooms/hall.yaml", "name: Hall\ndescription: Stone.\nactions: []\n");
        let description = TestHome::new(&[ADA, NOTES, CLAIM, hall])
            .run(|session| describe_workspace(session).unwrap());
        let summary = description.summary;
        assert_eq!((description.name.as_str(), description.as_of), ("Keep", None));
        assert_eq!(summary.counts.to_string(), "1 room, 0 scrolls, 2 entities");
        assert_eq!(summary.genera, [("Book".to_owned(), 1), ("Person".to_owned(), 1)]);
    }

    #[test]
    fn a_workspace_lists_its_four_latest_commits_newest_first() {
        let mut home = TestHome::new(&[]);
        for name in ["A", "B", "C", "D", "E"] {
            let genus = "Letter".to_owned();
            let new = Entity { is_defined: true, genus, ..Entity::new_loose_end(name) };
            create_entities(&mut home.keeper, &ada(), vec![new]).unwrap();
        }
        let commits = home.run(|it| describe_workspace(it).unwrap().summary.recent_commits);
        let subjects: Vec<_> = commits.iter().map(|it| it.subject.as_str()).collect();
        let expected = ["E", "D", "C", "B"].map(|it| format!("entity {it}: create"));
        assert_eq!(subjects, expected);
    }

    #[test]
    fn genera_without_entities_come_last() {
        TestHome::new(&[ADA, NOTES, CLAIM]).run(|session| {
            let genera = list_genera(session);
            let expected =
                [("Book", 1, vec![]), ("Person", 1, vec![("dead", 1)]), ("Claim", 0, vec![])];
            assert_eq!(genera.counts, expected);
            assert_eq!(genera.defined, ["Claim"]);
        });
    }

    #[test]
    fn an_empty_palace_has_no_genera() {
        TestHome::new(&[]).run(|session| assert_eq!(list_genera(session).counts, []));
    }

    #[test]
    fn a_genus_is_found_in_another_case() {
        TestHome::new(&[ADA, CLAIM]).run(|session| {
            let claim = describe_genus(session, "CLAIM").unwrap();
            assert_eq!(claim.count, ("Claim", 0, vec![]));
            assert!(claim.definition.is_some());
            assert!(describe_genus(session, "person").unwrap().definition.is_none());
        });
    }

    #[test]
    fn an_unknown_genus_is_refused() {
        let refusal = TestHome::new(&[])
            .run(|session| describe_genus(session, "Claim").unwrap_err().to_string());
        insta::assert_snapshot!(refusal, @"no entity has the genus `Claim`; this workspace has no entities yet");
    }

    #[test]
    fn an_entity_is_shown_with_its_dates_and_the_relations_to_it() {
        TestHome::new(&[ADA, NOTES]).run(|session| {
            let view = get_entity(session, "ADA").unwrap();
            assert_eq!(view.entity.name, "Ada");
            assert_eq!(view.date_attributes, ["born"]);
            let incoming = view.incoming.iter().map(|it| it.from.name.as_str());
            assert_eq!(incoming.collect::<Vec<_>>(), ["Notes"]);
            assert_eq!(view.notes, "");
        });
    }

    #[test]
    fn a_relation_of_an_entity_to_itself_is_shown_once() {
        let text = "name: Ouroboros\ngenus: Snake\nrelations:\n- { type: eats, to: Ouroboros }\n";
        TestHome::new(&[("entities/snake/ouroboros.yaml", text)]).run(|session| {
            let view = get_entity(session, "Ouroboros").unwrap();
            assert_eq!((view.entity.relations.len(), view.incoming.len()), (1, 0));
        });
    }

    #[test]
    fn the_faults_of_an_entity_are_shown_with_it() {
        let notes =
            TestHome::new(&[ADA, NOTES]).run(|session| get_entity(session, "Notes").unwrap().notes);
        assert_eq!(notes, "Note: there is no entity `Engine` yet.\n");
    }

    #[test]
    fn an_entity_has_a_history_once_it_is_committed() {
        let mut home = TestHome::new(&[]);
        let genus = "Book".to_owned();
        let new = Entity { is_defined: true, genus, ..Entity::new_loose_end("Notes") };
        create_entities(&mut home.keeper, &ada(), vec![new]).unwrap();
        let history = home.run(|it| get_entity(it, "Notes").unwrap().history.unwrap());
        assert_eq!((history.count, history.created), (1, ada().now));
    }

    #[test]
    fn an_unknown_entity_is_refused_with_a_suggestion() {
        let refusal = TestHome::new(&[NOTES])
            .run(|session| get_entity(session, "Nots").unwrap_err().to_string());
        insta::assert_snapshot!(refusal, @"no entity is called `Nots`; did you mean `Notes`? (use search_entities to search by words)");
    }
}
