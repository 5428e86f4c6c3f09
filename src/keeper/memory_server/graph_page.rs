//! Reads the graph as the reference memory server does: whole entities, oldest first, with the
//! relations that start or end at them.
//!
//! The whole graph may be more than a client accepts, so a page has a limit. A page that reaches
//! the limit reports what it leaves out, and how to read the next page. All pages together contain
//! the whole graph.

mod node_query;
mod omissions;

use std::collections::{BTreeSet, HashSet};

use ulid::Ulid;

use crate::keeper::memory_server::graph_page::node_query::NodeQuery;
use crate::keeper::{Caller, Keeper, Refusal, Session};
use crate::model::token_weight;
use crate::model::{Entity, Graph, IncomingRelation, Triple, abridge_to_weight};
use crate::search::CaseInsensitiveNeedle;

use omissions::Omissions;

/// The cost of the JSON punctuation of an entity or a relation, and of an observation.
const JSON_OBJECT_COST: usize = 48;
const JSON_STRING_COST: usize = 5;

/// A part of the graph.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GraphPage {
    /// Entities, oldest first. Those without an id come before all others, by name.
    pub entities: Vec<Entity>,
    /// Relations, by the age of the entity that they start from.
    pub relations: Vec<Triple>,
    /// What the page leaves out, and how to ask for it; `None` if it leaves out nothing.
    pub omission_note: Option<String>,
}

/// Returns the whole graph, or the part after the entity `after`: at most about `max_weight` thirds
/// of a token.
pub fn read_graph(
    session: &Session<'_>,
    after: Option<&str>,
    max_weight: usize,
) -> Result<GraphPage, Refusal> {
    read_graph_page(session, &NodeQuery::All, after, max_weight)
}

/// Returns the entities with `query` in name, genus or an observation, in any case; or those
/// after the entity `after`: at most about `max_weight` thirds of a token. Of an entity that is too
/// long, the observations with `query` come first.
pub fn search_nodes(
    session: &Session<'_>,
    query: &str,
    after: Option<&str>,
    max_weight: usize,
) -> Result<GraphPage, Refusal> {
    read_graph_page(session, &NodeQuery::Containing(query), after, max_weight)
}

/// Returns the entities with exactly these names, without the first `skip` observations of each:
/// at most about `max_weight` thirds of a token.
pub fn open_nodes(
    session: &mut Session<'_>,
    names: &[String],
    skip: usize,
    max_weight: usize,
) -> Result<GraphPage, Refusal> {
    for name in names {
        let file = session.palace.palace.graph.file_of_entity(name).map(str::to_owned);
        if let Some(file) = file {
            session.palace.refresh_file(&file);
        }
    }
    read_graph_page(session, &NodeQuery::ByNames(names, skip), None, max_weight)
}

/// Returns a hash of the graph as it was last read. If there is no palace yet, returns 0 and starts
/// to watch the home for new palaces.
pub fn graph_digest(keeper: &mut Keeper, caller: &Caller) -> Result<u64, Refusal> {
    let Some(key) = keeper.current_workspace_if_any(caller)? else {
        keeper.watch_home();
        return Ok(0);
    };
    Ok(keeper.open_palace(&key)?.file_states.change_counters().graph_digest)
}

fn read_graph_page(
    session: &Session<'_>,
    query: &NodeQuery<'_>,
    after: Option<&str>,
    max_weight: usize,
) -> Result<GraphPage, Refusal> {
    let graph = &session.palace.palace.graph;
    let missing = |name: &str| Refusal::MemoryEntityNotFound { name: name.to_owned() };
    let after = after.map(|it| graph.get(it).ok_or_else(|| missing(it))).transpose()?;
    Ok(build_graph_page(graph, query, after, max_weight))
}

fn build_graph_page(
    graph: &Graph,
    query: &NodeQuery<'_>,
    after: Option<&Entity>,
    max_weight: usize,
) -> GraphPage {
    let all = select_entities(graph, query);
    let begin = after.map_or(0, |after| {
        all.partition_point(|it| creation_sort_key(it) <= creation_sort_key(after))
    });
    let rest = &all[begin..];
    let entities = fit_entities(graph, &all, rest, query, max_weight);
    let page = &rest[..entities.len()];
    let relations = match query {
        NodeQuery::All => {
            unique_relations(source_entities_of_page(graph, page, page.len() == rest.len()), |_| {
                true
            })
        }
        _ => page_relations(graph, &all, page),
    };
    let mut budget = max_weight.saturating_sub(entities.iter().map(entity_cost).sum());
    let shown_count =
        relations.iter().take_while(|it| try_spend(&mut budget, it.json_cost())).count();
    let total = match query {
        NodeQuery::All if page.len() < all.len() => {
            unique_relations(graph.entities_and_loose_ends(), |_| true).len()
        }
        _ => relations.len(),
    };
    let omissions = Omissions {
        matches: &all,
        start: begin,
        shown: &entities,
        omitted_relations: relations.len() - shown_count,
    };
    let omission_note = omissions.describe(query, (shown_count, total));
    let relations = relations.into_iter().take(shown_count).map(TripleRef::to_triple).collect();
    GraphPage { entities, relations, omission_note }
}

/// Yields the entities that the relations of a page start from; on the last page also the
/// undefined ones.
fn source_entities_of_page<'a>(
    graph: &'a Graph,
    page: &[&'a Entity],
    is_last: bool,
) -> impl Iterator<Item = &'a Entity> {
    let loose = graph.entities_and_loose_ends().filter(move |it| is_last && !it.is_defined);
    page.iter().copied().chain(loose)
}

/// Returns as many entities as fit, with a part of the observations if an entity has very many, so
/// that there is space for others.
fn fit_entities(
    graph: &Graph,
    all: &[&Entity],
    rest: &[&Entity],
    query: &NodeQuery<'_>,
    max_weight: usize,
) -> Vec<Entity> {
    let mut budget = max_weight;
    // The relations of the entities must fit as well.
    let links = |it: &Entity| {
        let incoming = match query {
            NodeQuery::All => 0,
            _ => relations_from_non_hits(graph, all, &it.name)
                .map(|(_, link)| link.json_cost())
                .sum(),
        };
        (relations_cost(it) + incoming).min(max_weight / 3)
    };
    let share = match rest {
        [only] => max_weight.saturating_sub(links(only)),
        _ => max_weight / 3,
    };
    let parts = rest.iter().map(|it| {
        let part = truncate_entity(it, query, share);
        let cost = entity_cost(&part).saturating_add(links(it));
        (part, cost)
    });
    parts.take_while(|(_, cost)| try_spend(&mut budget, *cost)).map(|(part, _)| part).collect()
}

/// Returns the entities that match a query, oldest first.
fn select_entities<'a>(graph: &'a Graph, query: &NodeQuery<'_>) -> Vec<&'a Entity> {
    let all = || graph.entities_and_loose_ends().filter(|it| it.is_defined);
    let mut matches: Vec<&Entity> = match query {
        NodeQuery::All => all().collect(),
        NodeQuery::Containing(text) => {
            let mut needle = CaseInsensitiveNeedle::new(text);
            let mut is_match = |it: &Entity| {
                needle.is_in(&it.name)
                    || needle.is_in(&it.genus)
                    || it.observations.iter().any(|it| needle.is_in(it))
            };
            all().filter(|it| is_match(it)).collect()
        }
        NodeQuery::ByNames(names, _) => {
            let names: HashSet<&String> = names.iter().collect();
            names.into_iter().filter_map(|it| graph.get(it)).collect()
        }
    };
    matches.sort_unstable_by_key(|it| creation_sort_key(it));
    matches
}

/// Returns the key that sorts entities by the time of their creation, which their ids contain. An
/// entity without an id counts as older than all others.
fn creation_sort_key(entity: &Entity) -> (Option<Ulid>, &str) {
    (entity.id, &entity.name)
}

/// A relation in the graph.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct TripleRef<'a> {
    from: &'a str,
    kind: &'a str,
    to: &'a str,
}

impl TripleRef<'_> {
    fn json_cost(&self) -> usize {
        JSON_OBJECT_COST + [self.from, self.kind, self.to].map(json_text_cost).iter().sum::<usize>()
    }

    fn to_triple(self) -> Triple {
        let [from, kind, to] = [self.from, self.kind, self.to].map(str::to_owned);
        Triple { from, kind, to }
    }
}

/// Lists the relations of a page of `all` hits: those that start at an entity of the page, and
/// those that lead there from an entity that is not a hit. So all pages together contain each
/// relation of a hit exactly once.
fn page_relations<'a>(
    graph: &'a Graph,
    all: &[&'a Entity],
    page: &[&'a Entity],
) -> Vec<TripleRef<'a>> {
    let names: HashSet<&str> = page.iter().map(|it| it.name.as_str()).collect();
    let loose = names.iter().filter_map(|it| graph.loose_end(it));
    let incoming =
        names.iter().flat_map(|it| relations_from_non_hits(graph, all, it)).map(|(from, _)| from);
    let sources = page.iter().copied().chain(loose).chain(incoming);
    let mut seen = BTreeSet::new();
    let sources = sources.filter(|it| seen.insert((it.name.as_str(), it.is_defined)));
    unique_relations(sources, |it| names.contains(it.from) || names.contains(it.to))
}

/// Yields the relations to `name` from entities that are not in `all`, each with its entity.
fn relations_from_non_hits<'a>(
    graph: &'a Graph,
    all: &[&'a Entity],
    name: &'a str,
) -> impl Iterator<Item = (&'a Entity, TripleRef<'a>)> {
    let is_in_all = |it: &Entity| {
        all.binary_search_by(|other| creation_sort_key(other).cmp(&creation_sort_key(it))).is_ok()
    };
    let incoming = graph.incoming_relations(name);
    let from_outside = incoming.filter(move |it| !it.from.is_defined || !is_in_all(it.from));
    from_outside.map(|IncomingRelation { from, relation }| {
        (from, TripleRef { from: &from.name, kind: &relation.kind, to: &relation.to })
    })
}

/// Lists the relations from `sources` that pass the filter, each once, by age.
fn unique_relations<'a>(
    sources: impl Iterator<Item = &'a Entity>,
    filter: impl Fn(&TripleRef<'a>) -> bool,
) -> Vec<TripleRef<'a>> {
    let mut sources: Vec<_> = sources.collect();
    sources.sort_unstable_by_key(|it| (!it.is_defined, creation_sort_key(it)));
    let links = sources.into_iter().flat_map(|from| {
        let links = from.relations.iter();
        links.map(|it| TripleRef { from: &from.name, kind: &it.kind, to: &it.to })
    });
    // The same relation may occur with several dates.
    let mut seen = HashSet::new();
    links.filter(filter).filter(|it| seen.insert(*it)).collect()
}

/// Subtracts `cost` from `budget`, if that much is left.
fn try_spend(budget: &mut usize, cost: usize) -> bool {
    let left = budget.checked_sub(cost);
    *budget = left.unwrap_or(*budget);
    left.is_some()
}

fn entity_cost(it: &Entity) -> usize {
    let observations =
        it.observations.iter().map(|it| json_text_cost(it) + JSON_STRING_COST).sum::<usize>();
    JSON_OBJECT_COST + json_text_cost(&it.name) + json_text_cost(&it.genus) + observations
}

fn relations_cost(from: &Entity) -> usize {
    let links = from.relations.iter();
    links.map(|it| TripleRef { from: &from.name, kind: &it.kind, to: &it.to }.json_cost()).sum()
}

/// Returns the cost of a text in JSON, with its escape characters.
fn json_text_cost(text: &str) -> usize {
    let escape = |it: u8| match it {
        b'"' | b'\\' | b'\n' | b'\t' => 1,
        0..0x20 => 9,
        _ => 0,
    };
    token_weight(text) + text.bytes().map(escape).sum::<usize>()
}

/// Returns an entity with as many of its observations as fit; with the beginning and the end of
/// the first one, if that alone is too long.
fn truncate_entity(entity: &Entity, query: &NodeQuery<'_>, max_weight: usize) -> Entity {
    let genus = entity.genus.clone();
    let name_only = Entity::new_loose_end(&entity.name);
    let bare = Entity { id: entity.id, is_defined: true, genus, ..name_only };
    let budget = max_weight.saturating_sub(entity_cost(&bare));
    let count_fitting = |texts: &[&String]| {
        let mut budget = budget;
        texts
            .iter()
            .take_while(|it| try_spend(&mut budget, json_text_cost(it) + JSON_STRING_COST))
            .count()
    };
    let mut texts: Vec<_> =
        entity.observations.iter().skip(query.skipped_observation_count()).collect();
    let mut count = count_fitting(&texts);
    if let NodeQuery::Containing(text) = query
        && count < texts.len()
    {
        let mut needle = CaseInsensitiveNeedle::new(text);
        texts.sort_by_cached_key(|it| !needle.is_in(it));
        count = count_fitting(&texts);
    }
    let observations = match texts.first() {
        Some(first) if count == 0 => {
            vec![abridge_to_weight(first, budget.saturating_sub(JSON_STRING_COST) / 2)]
        }
        _ => texts.into_iter().take(count).cloned().collect(),
    };
    Entity { observations, ..bare }
}
