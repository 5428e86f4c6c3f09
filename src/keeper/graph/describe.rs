//! Describes the workspace, its genera and single entities.

use crate::keeper::graph::lookup::{resolve_entity_name, resolve_genus_name};
use crate::keeper::graph::rules::new_fault_notes;
use crate::keeper::{Refusal, Session};
use crate::model::{CommitSummary, Genus, Graph};
use crate::render::{EntityView, GenusCount, WorkspaceSummary};

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
        rooms: palace.rooms().len(),
        scrolls: palace.scrolls().count(),
        entities: palace.graph.len(),
        genera: genera.collect(),
        recent_commits: session.palace.recent_commits(RECENT_CHANGES)?,
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

/// Returns everything that the graph contains about one entity.
pub fn get_entity<'s>(session: &'s mut Session<'_>, name: &str) -> Result<EntityView<'s>, Refusal> {
    let open = &mut *session.palace;
    let name = resolve_entity_name(&open.palace, name)?;
    let file = open.palace.graph.file_of_entity(&name).unwrap_or_default().to_owned();
    open.refresh_file(&file);
    open.update_file_history_cache()?;
    let open = &*open;
    let graph = &open.palace.graph;
    let Some(entity) = graph.get(&name) else {
        return Err(Refusal::NoSuchEntity { asked: name, meant: None });
    };
    Ok(EntityView {
        entity,
        date_attributes: graph.date_attributes(entity).map(|(key, _)| key).collect(),
        incoming: graph.incoming_relations(&entity.name).collect(),
        history: open.file_histories().get(&file).copied(),
        notes: new_fault_notes(graph, std::iter::once(entity), &[]),
    })
}

fn count_entities_by_status<'a>(graph: &'a Graph, genus: &'a str) -> GenusCount<'a> {
    (genus, graph.count_in_genus(genus), graph.status_counts(genus).collect())
}
