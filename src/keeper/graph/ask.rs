//! Asking the knowledge graph. Answers are compact, bounded and paged: they
//! cost what they show, whatever the size of the graph.

use std::collections::{BTreeSet, HashSet};

use serde_json::{Map, Value};

use crate::keeper::graph::dates::parse_date_argument;
use crate::keeper::graph::neighbours::EntityRelations;
use crate::keeper::graph::rules::new_fault_notes;
use crate::keeper::palace::OpenPalace;
use crate::keeper::palace::search_documents::entity_facet;
use crate::keeper::semantic::vectors::EmbeddedQuery;
use crate::keeper::workspaces::as_of::as_of_notice;
use crate::keeper::{Caller, Keeper, Refusal};
use crate::model::{Entity, EntityFilter, Graph, ItemId, ItemKind, Layout, Palace, did_you_mean};
use crate::render::{self, WorkspaceSummary};
use crate::search::Query;

/// How many of the latest changes a description tells of.
const RECENT_CHANGES: usize = 4;

/// How many relations a page has.
const RELATIONS_PER_PAGE: usize = 50;

/// Which entities a list shall have.
#[derive(Clone, Debug, Default)]
pub struct EntityQuery {
    /// Only those of this genus, whatever the case.
    pub genus: Option<String>,
    /// Only those of this status, whatever the case.
    pub status: Option<String>,
    /// Only those with these attributes.
    pub attributes: Map<String, Value>,
    /// Only those that are about these words, best first.
    pub query: Option<String>,
    /// The page, from 1, of thirty entities.
    pub page: usize,
}

/// Which relations of an entity are asked for.
#[derive(Clone, Debug, Default)]
pub struct RelationQuery {
    /// The entity, by name.
    pub name: String,
    /// Only those of this type.
    pub kind: Option<String>,
    /// Which way they lead.
    pub direction: Direction,
    /// Only those that hold at this date, as it is told.
    pub as_of: Option<String>,
    /// The page, from 1, of fifty relations.
    pub page: usize,
}

/// Which way relations lead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// Those it holds.
    Outgoing,
    /// Those that lead to it.
    Incoming,
    /// All.
    #[default]
    Both,
}

impl Keeper {
    /// Says what the workspace holds: counts, genera, latest changes.
    pub fn describe_workspace(&mut self, by: &Caller) -> Result<String, Refusal> {
        let key = self.current_workspace(by)?;
        let held = self.open_palace(&key)?;
        held.catch_up()?;
        let palace = &held.palace;
        let genera = palace.graph.genus_counts().map(|(genus, number)| (genus.to_owned(), number));
        let summary = WorkspaceSummary {
            rooms: palace.rooms().len(),
            scrolls: palace.scrolls().count(),
            entities: palace.graph.len(),
            genera: genera.collect(),
            recent_commits: held.recent_commits(RECENT_CHANGES)?,
        };
        let summary = render::workspace_summary(&palace.settings.name, &summary, by.now);
        Ok(as_of_notice(held, by.now) + &summary)
    }

    /// Lists the genera that have entities, with their statuses; or tells what is
    /// laid down for one.
    pub fn list_genera(&mut self, by: &Caller, asked: Option<&str>) -> Result<String, Refusal> {
        let palace = self.current_palace(by)?;
        let graph = &palace.graph;
        let census = |it| (it, graph.count_in_genus(it), graph.status_counts(it).collect());
        if let Some(asked) = asked {
            let name = resolve_genus_name(palace, asked)?;
            return Ok(render::genus(graph.genus_definition(&name), &census(&name)));
        }
        let ruled: Vec<_> = graph.genus_definitions().map(|it| it.name.as_str()).collect();
        let empty = ruled.iter().copied().filter(|it| graph.count_in_genus(it) == 0);
        let genera: Vec<_> =
            graph.genus_counts().map(|(it, _)| it).chain(empty).map(census).collect();
        Ok(render::genus_list(&genera, &ruled))
    }

    /// Lists entities by name, or, where words are asked for, by how well they
    /// fit. What is shown can be opened by number.
    pub fn list_entities(&mut self, by: &Caller, wanted: &EntityQuery) -> Result<String, Refusal> {
        let (key, models) = (self.current_workspace(by)?, self.models.clone());
        let held = self.open_palace(&key)?;
        held.catch_up()?;
        let mind = wanted.query.as_ref().and_then(|_| held.vector_store(&models));
        let graph = &held.palace.graph;
        let genus =
            wanted.genus.as_ref().map(|it| resolve_genus_name(&held.palace, it)).transpose()?;
        let which = describe_filters(genus.as_deref(), wanted);
        let EntityQuery { status, attributes, .. } = wanted.clone();
        let selection = EntityFilter { genus, status, attributes };
        let number = wanted.page.max(1);
        let first = (number - 1).saturating_mul(Layout::MAX_RESULTS);
        let understood =
            mind.as_ref().zip(wanted.query.as_ref()).map(|(it, q)| held.embed_query(it, q));
        let (total, shown): (usize, Vec<&Entity>) = match &wanted.query {
            None => graph.filter_entities(&selection, first, Layout::MAX_RESULTS),
            Some(words) => {
                let meaning = understood.as_ref().and_then(EmbeddedQuery::query_and_vectors);
                let most = first.saturating_add(Layout::MAX_RESULTS);
                let asked =
                    Query { text: words, limit: most, vectors: meaning, ..Query::default() };
                search_entities(held, &selection, &asked, first)
            }
        };
        let ranker = understood.as_ref().map(|it| format!("{}.\n", it.ranker)).unwrap_or_default();
        let mut page = render::entity_list(&which, &shown, total, number) + &ranker;
        if total == 0 && selection != EntityFilter::default() {
            page.push_str(&suggest_similar_filters(graph, &selection));
        }
        let openings = shown.iter().map(|it| ItemId::Entity(it.name.clone())).collect();
        self.visit(by).listed_items = openings;
        Ok(page)
    }

    /// Tells all that is known of one entity, page by page, from 1, where that is much.
    pub fn get_entity(&mut self, by: &Caller, name: &str, page: usize) -> Result<String, Refusal> {
        let key = self.current_workspace(by)?;
        let held = self.open_palace(&key)?;
        held.catch_up()?;
        let name = resolve_entity_name(&held.palace, name)?;
        let file = held.palace.graph.file_of_entity(&name).unwrap_or_default().to_owned();
        held.refresh_file(&file);
        held.load_history()?;
        let past = held.history().get(&file).copied();
        let graph = &held.palace.graph;
        let Some(entity) = graph.get(&name) else {
            return Err(Refusal::NoSuchEntity { asked: name, meant: None });
        };
        let incoming: Vec<_> = graph.incoming_relations(&name).collect();
        let dates: Vec<_> = graph.date_attributes(entity).map(|(key, _)| key).collect();
        let told = render::entity(entity, &dates, &incoming, past, page.max(1), by.now);
        Ok(told + &new_fault_notes(graph, std::iter::once(entity), &[]))
    }

    /// Tells how one entity is related to others.
    pub fn get_relationships(
        &mut self,
        by: &Caller,
        asked: &RelationQuery,
    ) -> Result<String, Refusal> {
        let palace = self.current_palace(by)?;
        let graph = &palace.graph;
        let name = resolve_entity_name(palace, &asked.name)?;
        let as_of =
            asked.as_of.as_ref().map(|it| parse_date_argument("as_of", it, by.now)).transpose()?;
        let all = EntityRelations::for_entity(graph, &name, asked.direction);
        let mut ties = all.clone();
        let undated = ties.retain_matching(asked.kind.as_deref(), as_of);
        let (total, page) = (ties.len(), asked.page.max(1));
        let as_of = as_of.map(|it| format!(" as of {it}")).unwrap_or_default();
        let (shown, left_out) = (render::one_line(&name), render::skipped_relations(undated));
        if total == 0 {
            let known = asked.kind.as_ref().map(|it| all.kinds_hint(it)).unwrap_or_default();
            return Ok(format!("{shown} has no such relations{as_of}.{known}\n{left_out}"));
        }
        let head = format!("{shown}, {}{as_of}", render::pluralize(total, "relation"));
        let from = (page - 1).saturating_mul(RELATIONS_PER_PAGE).min(total);
        let until = from.saturating_add(RELATIONS_PER_PAGE).min(total);
        let (outgoing, incoming) = ties.slice(from, until);
        let more = match until < total {
            true => format!("  page: {} shows the next\n", page + 1),
            false => String::new(),
        };
        let relations = render::relations(outgoing, incoming, by.now);
        Ok(format!("{head}\n{relations}{more}{left_out}"))
    }

    /// Returns the palace that the caller's tools act on, as it is now.
    pub(crate) fn current_palace(&mut self, by: &Caller) -> Result<&Palace, Refusal> {
        let key = self.current_workspace(by)?;
        let held = self.open_palace(&key)?;
        held.catch_up()?;
        Ok(&held.palace)
    }
}

/// Finds the entities of a selection that are about something, best first: how many
/// there are, and as many as are wanted, but for the `first` ones.
fn search_entities<'a>(
    held: &'a OpenPalace,
    selection: &EntityFilter,
    asked: &Query<'_>,
    first: usize,
) -> (usize, Vec<&'a Entity>) {
    let graph = &held.palace.graph;
    let any = selection.attributes.is_empty();
    let fits = |it: &ItemId| {
        any || graph.entity_for_item(it).is_some_and(|it| Graph::matches_filter(it, selection))
    };
    let kinds = selected_facets(held, selection);
    let asked = Query { kinds: &[ItemKind::Entity], facets: kinds.as_deref(), ..*asked };
    let hits = held.index().find(&asked, fits);
    let shown = hits.best.iter().skip(first);
    (hits.total, shown.filter_map(|it| graph.entity_for_item(&it.item)).collect())
}

/// Tells of the facets of the index which are those of entities that are wanted by
/// their genus and status; `None`: all are.
fn selected_facets(held: &OpenPalace, wanted: &EntityFilter) -> Option<Vec<bool>> {
    if wanted.genus.is_none() && wanted.status.is_none() {
        return None;
    }
    let kinds = held.palace.graph.genus_status_pairs(wanted);
    let facets: HashSet<_> = kinds.map(|(genus, status)| entity_facet(genus, status)).collect();
    Some(held.index().facet_filter(|it| facets.contains(it)))
}

/// Finds an entity by its exact name, or by its name in another case.
pub(crate) fn resolve_entity_name(palace: &Palace, asked: &str) -> Result<String, Refusal> {
    let graph = &palace.graph;
    if graph.get(asked).is_some() {
        return Ok(asked.to_owned());
    }
    let mut same = graph.names_ignoring_case(asked.trim());
    if let (Some(only), None) = (same.next(), same.next()) {
        return Ok(only.to_owned());
    }
    let meant = graph.closest_name(asked).map(str::to_owned);
    Err(Refusal::NoSuchEntity { asked: asked.to_owned(), meant })
}

/// Finds a genus by its exact name, or by its name in another case.
pub(crate) fn resolve_genus_name(palace: &Palace, asked: &str) -> Result<String, Refusal> {
    if let Some(found) = palace.graph.find_genus_ignoring_case(asked) {
        return Ok(found.to_owned());
    }
    let genera: BTreeSet<_> = palace.graph.all_genus_names().collect();
    let some: Vec<_> = genera.iter().take(12).map(|it| format!("`{it}`")).collect();
    let known = match some.len() {
        0 => "this workspace holds no entities yet".to_owned(),
        _ => format!("this workspace has {}", some.join(", ")),
    };
    Err(Refusal::Invalid(format!("no entity has the genus `{}`; {known}", asked.escape_debug())))
}

/// Says which status or attribute that is asked for nobody has, if it may be a slip.
fn suggest_similar_filters(graph: &Graph, asked: &EntityFilter) -> String {
    let genera =
        || graph.all_genus_names().filter(|it| asked.genus.as_ref().is_none_or(|g| g == it));
    let laid_down = || genera().filter_map(|it| graph.genus_definition(it));
    let statuses = genera().flat_map(|it| graph.status_counts(it)).map(|(it, _)| it);
    let statuses =
        statuses.chain(laid_down().flat_map(|it| &it.statuses).map(|it| it.name.as_str()));
    let keys = genera().flat_map(|it| graph.attribute_names(it));
    let (statuses, keys): (BTreeSet<_>, BTreeSet<_>) = (statuses.collect(), keys.collect());
    let status = asked.status.iter().map(|it| ("status", it, &statuses));
    let attributes = asked.attributes.keys().map(|it| ("attribute", it, &keys));
    let slips = status.chain(attributes).filter_map(|(what, said, known)| {
        let is_known = known.iter().any(|it| it.to_lowercase() == said.to_lowercase());
        let meant = did_you_mean(said, known.iter().copied()).filter(|_| !is_known)?;
        let [said, meant] = [said, meant].map(|it| render::truncate(&render::one_line(it), 60));
        Some(format!("No entity has the {what} `{said}`; did you mean `{meant}`?\n"))
    });
    slips.collect::<Vec<_>>().concat()
}

/// Says which entities a list has: ` of genus Claim with status open about "rocks"`.
fn describe_filters(genus: Option<&str>, wanted: &EntityQuery) -> String {
    let EntityQuery { status, attributes, query, .. } = wanted;
    let quoted = |text: &str| render::truncate(&render::one_line(text), 80);
    let mut which = String::new();
    if let Some(genus) = genus {
        which.push_str(&format!(" of genus {}", quoted(genus)));
    }
    if let Some(status) = status {
        which.push_str(&format!(" with status {}", quoted(status)));
    }
    for (key, value) in attributes {
        which.push_str(&format!(" with {} {}", quoted(key), quoted(&render::value_text(value))));
    }
    if let Some(query) = query {
        which.push_str(&format!(" about \"{}\"", quoted(query)));
    }
    which
}
