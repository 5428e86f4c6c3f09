//! Reads the graph as the reference memory server does: whole entities, oldest first, with the
//! relations that start or end at them.
//!
//! The whole graph may be more than a client accepts, so a page has a limit. A page that reaches
//! the limit reports what it leaves out, and how to read the next page. All pages together contain
//! the whole graph.

use std::collections::{BTreeSet, HashSet};

use serde_json::Value;
use ulid::Ulid;

use crate::{Caller, Keeper, Refusal, Session};
use palazzo_core::model::token_weight;
use palazzo_core::model::{Entity, Graph, IncomingRelation, Triple, abridge_to_weight};
use palazzo_core::render;
use palazzo_core::search::CaseInsensitiveNeedle;

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

/// Which part of the matching entities a page shows.
struct Omissions<'a> {
    /// All matching entities.
    matches: &'a [&'a Entity],
    /// How many of them come before those shown.
    start: usize,
    /// Those that the page shows.
    shown: &'a [Entity],
    /// How many relations of the shown entities are left out.
    omitted_relations: usize,
}

impl Omissions<'_> {
    /// Describes what the page leaves out, and how to ask for it; `None` if nothing is left out.
    /// `links` are the numbers of shown relations and of all.
    fn describe(&self, query: &NodeQuery<'_>, links: (usize, usize)) -> Option<String> {
        let end = self.start + self.shown.len();
        let truncated = self.truncated_entities(query.skipped_observation_count());
        if end == self.matches.len() && truncated.is_empty() && self.omitted_relations == 0 {
            return None;
        }
        let mut contents = Vec::new();
        if self.shown.len() < self.matches.len() {
            let (from, all) =
                (self.start + 1, render::count_with_noun(self.matches.len(), "entity"));
            contents.push(format!("{from} to {end} of {all}, oldest first"));
        }
        let observations = truncated.iter().take(3);
        contents
            .extend(observations.map(|(it, part)| describe_shown_observations(query, it, part)));
        if links.0 < links.1 {
            contents.push(format!(
                "{} of {}",
                links.0,
                render::count_with_noun(links.1, "relation")
            ));
        }
        let mut sentences =
            vec![format!("Too much for one answer: this one has {}", contents.join("; "))];
        sentences.extend(self.continuation_advice(query, truncated.first().copied()));
        Some(sentences.join(". "))
    }

    /// Returns the entities that are not shown with all observations after those skipped.
    fn truncated_entities(&self, skipped: usize) -> Vec<(&Entity, &Entity)> {
        let pairs = self.matches[self.start..].iter().copied().zip(self.shown);
        let is_part = |(it, part): &(&Entity, &Entity)| {
            it.observations.len() > skipped + part.observations.len()
                || has_abridged_observation(it, part)
        };
        pairs.filter(is_part).collect()
    }

    /// Returns sentences on how to ask for what is left out.
    fn continuation_advice(
        &self,
        query: &NodeQuery<'_>,
        part: Option<(&Entity, &Entity)>,
    ) -> Vec<String> {
        let is_cut = self.start + self.shown.len() < self.matches.len();
        let last = self.shown.last().filter(|_| is_cut);
        let last = last.map(|it| Value::from(it.name.as_str()));
        let is_of_many = matches!(query, NodeQuery::ByNames(names, _) if names.len() > 1);
        let mut advice = Vec::new();
        advice.extend(match (query, last) {
            (NodeQuery::All, Some(name)) => {
                Some(format!("To go on, call read_graph with {{\"after\": {name}}}"))
            }
            (NodeQuery::Containing(_), Some(name)) => {
                Some(format!("Use a more specific query, or go on with \"after\": {name}"))
            }
            _ => is_of_many.then(|| "Give fewer names at once".to_owned()),
        });
        if self.omitted_relations > 0 && !is_of_many {
            advice.push("open_nodes shows a relation if you give one of its ends".to_owned());
        }
        advice.extend(part.map(|(it, part)| observations_advice(query, it, part)));
        advice
    }
}

/// Selects the entities of a page.
enum NodeQuery<'a> {
    /// All entities.
    All,
    /// The entities that contain a text.
    Containing(&'a str),
    /// The entities with these names; the number of observations to skip of each.
    ByNames(&'a [String], usize),
}

impl NodeQuery<'_> {
    /// Returns how many of the first observations of each entity to leave out.
    fn skipped_observation_count(&self) -> usize {
        if let Self::ByNames(_, skip) = self { *skip } else { 0 }
    }
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
    let (entities, cost) = fit_entities(graph, &all, rest, query, max_weight);
    let page = &rest[..entities.len()];
    let relations = match query {
        NodeQuery::All => {
            unique_relations(source_entities_of_page(graph, page, page.len() == rest.len()), |_| {
                true
            })
        }
        _ => page_relations(graph, &all, page),
    };
    let mut budget = max_weight.saturating_sub(cost);
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
/// that there is space for others; and their cost without relations.
fn fit_entities(
    graph: &Graph,
    all: &[&Entity],
    rest: &[&Entity],
    query: &NodeQuery<'_>,
    max_weight: usize,
) -> (Vec<Entity>, usize) {
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
    let (mut parts, mut total) = (Vec::new(), 0);
    for entity in rest {
        let (part, cost) = truncate_entity(entity, query, share);
        if !try_spend(&mut budget, cost.saturating_add(links(entity))) {
            break;
        }
        parts.push(part);
        total += cost;
    }
    (parts, total)
}

/// Returns the entities that match a query, oldest first.
fn select_entities<'a>(graph: &'a Graph, query: &NodeQuery<'_>) -> Vec<&'a Entity> {
    let all = || graph.entities_and_loose_ends().filter(|it| it.is_defined);
    let mut matches: Vec<&Entity> = match query {
        NodeQuery::All => all().collect(),
        NodeQuery::Containing(text) => {
            graph.entities_containing(&text.to_lowercase()).unwrap_or_else(|| {
                let mut needle = CaseInsensitiveNeedle::new(text);
                let mut is_match = |it: &Entity| {
                    needle.is_in(&it.name)
                        || needle.is_in(&it.genus)
                        || it.observations.iter().any(|it| needle.is_in(it))
                };
                all().filter(|it| is_match(it)).collect()
            })
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
    let loose = names.iter().filter_map(|it| graph.get_loose_end(it));
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
/// the first one, if that alone is too long; and the cost of the result.
fn truncate_entity(entity: &Entity, query: &NodeQuery<'_>, max_weight: usize) -> (Entity, usize) {
    let genus = entity.genus.clone();
    let name_only = Entity::new_loose_end(&entity.name);
    let bare = Entity { id: entity.id, is_defined: true, genus, ..name_only };
    let bare_cost = entity_cost(&bare);
    let budget = max_weight.saturating_sub(bare_cost);
    let observation_cost = |it: &str| json_text_cost(it) + JSON_STRING_COST;
    let count_fitting = |texts: &[&String]| {
        let mut left = budget;
        let fits = |it: &&&String| try_spend(&mut left, observation_cost(it));
        let count = texts.iter().take_while(fits).count();
        (count, budget - left)
    };
    let mut texts: Vec<_> =
        entity.observations.iter().skip(query.skipped_observation_count()).collect();
    let (mut count, mut cost) = count_fitting(&texts);
    if let NodeQuery::Containing(text) = query
        && count < texts.len()
    {
        let mut needle = CaseInsensitiveNeedle::new(text);
        texts.sort_by_cached_key(|it| !needle.is_in(it));
        (count, cost) = count_fitting(&texts);
    }
    let observations = match texts.first() {
        Some(first) if count == 0 => {
            let part = abridge_to_weight(first, budget.saturating_sub(JSON_STRING_COST) / 2);
            cost = observation_cost(&part);
            vec![part]
        }
        _ => texts.into_iter().take(count).cloned().collect(),
    };
    (Entity { observations, ..bare }, bare_cost + cost)
}

/// Describes which observations of an entity the page has.
fn describe_shown_observations(query: &NodeQuery<'_>, it: &Entity, part: &Entity) -> String {
    let (skipped, shown) = (query.skipped_observation_count(), part.observations.len());
    let all = render::count_with_noun(it.observations.len(), "observation");
    let name = render::truncate(&render::one_line(&it.name), 60);
    let which = match skipped {
        0 => shown.to_string(),
        _ => format!("{} to {}", skipped + 1, skipped + shown),
    };
    let how = match query {
        _ if has_abridged_observation(it, part) => ", shortened",
        NodeQuery::Containing(_) => ", those that contain the query first",
        _ => "",
    };
    format!("{which} of the {all} of {name}{how}")
}

/// Returns a sentence on how to read the other observations of an entity.
fn observations_advice(query: &NodeQuery<'_>, it: &Entity, part: &Entity) -> String {
    let name = Value::from(it.name.as_str());
    if let NodeQuery::Containing(_) = query {
        return format!(
            "open_nodes with {{\"names\": [{name}]}} shows observations in their order"
        );
    }
    match query.skipped_observation_count() + part.observations.len() {
        skip if skip < it.observations.len() => {
            format!(
                "To go on with observations, call open_nodes with {{\"names\": [{name}], \"skip\": {skip}}}"
            )
        }
        _ => "To read a long observation whole, start the server with --unbounded".to_owned(),
    }
}

/// Returns true if the page has one observation of an entity, and that one is shortened.
fn has_abridged_observation(it: &Entity, part: &Entity) -> bool {
    matches!(part.observations.as_slice(), [only] if !it.observations.contains(only))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home::{TestHome, ada};
    use palazzo_core::model::Relation;

    /// Returns an entity with an id, unless that is 0, and with relations to other entities.
    fn entity(id: u128, name: &str, observations: &[&str], targets: &[&str]) -> Entity {
        let relation = |to: &&str| Triple {
            from: name.to_owned(),
            kind: "knows".to_owned(),
            to: (*to).to_owned(),
        };
        Entity {
            id: Some(Ulid(id)).filter(|_| id > 0),
            is_defined: true,
            genus: "Person".to_owned(),
            observations: observations.iter().map(|it| (*it).to_owned()).collect(),
            relations: targets.iter().map(relation).map(Relation::from).collect(),
            ..Entity::new_loose_end(name)
        }
    }

    fn graph_of(entities: Vec<Entity>) -> Graph {
        let mut graph = Graph::default();
        for (number, entity) in entities.into_iter().enumerate() {
            graph.set_file_entity(&format!("entities/{number}.yaml"), Some(entity)).unwrap();
        }
        graph
    }

    fn names(page: &GraphPage) -> Vec<&str> {
        page.entities.iter().map(|it| it.name.as_str()).collect()
    }

    fn relations(page: &GraphPage) -> Vec<String> {
        page.relations.iter().map(|it| format!("{} {}", it.from, it.to)).collect()
    }

    fn whole_page(graph: &Graph, query: &NodeQuery<'_>) -> GraphPage {
        build_graph_page(graph, query, None, usize::MAX)
    }

    #[test]
    fn the_graph_is_ordered_by_age_and_entities_without_id_come_first() {
        let entities = [(9, "Young"), (2, "Old"), (0, "Z"), (0, "A")];
        let graph = graph_of(entities.map(|(id, name)| entity(id, name, &[], &["A"])).to_vec());
        let page = whole_page(&graph, &NodeQuery::All);
        assert_eq!(names(&page), ["A", "Z", "Old", "Young"]);
        assert_eq!(relations(&page), ["A A", "Z A", "Old A", "Young A"]);
        assert_eq!(page.omission_note, None);
    }

    #[test]
    fn an_empty_graph_is_an_empty_page() {
        assert_eq!(whole_page(&Graph::default(), &NodeQuery::All), GraphPage::default());
    }

    #[test]
    fn a_relation_with_two_periods_is_shown_once() {
        let graph = graph_of(vec![entity(1, "Ada", &[], &["Eve", "Eve"])]);
        assert_eq!(relations(&whole_page(&graph, &NodeQuery::All)), ["Ada Eve"]);
    }

    #[test]
    fn the_relations_of_a_loose_end_are_shown_without_it() {
        let ghost = Entity { is_defined: false, ..entity(0, "Ghost", &[], &["Ada"]) };
        let graph = graph_of(vec![ghost, entity(1, "Ada", &[], &["Ada"])]);
        let page = whole_page(&graph, &NodeQuery::All);
        assert_eq!(
            (names(&page), relations(&page)),
            (vec!["Ada"], vec!["Ada Ada".into(), "Ghost Ada".into()])
        );
        assert_eq!(
            relations(&whole_page(&graph, &NodeQuery::Containing("ada"))),
            ["Ada Ada", "Ghost Ada"]
        );
    }

    #[test]
    fn a_search_finds_a_text_in_name_genus_and_observations_in_any_case() {
        let graph =
            graph_of(vec![entity(1, "Émile", &["Likes TEA."], &[]), entity(2, "Eve", &[], &[])]);
        let found = |text: &str| whole_page(&graph, &NodeQuery::Containing(text)).entities.len();
        assert_eq!([found("tea"), found("émi"), found("PERSON"), found("")], [1, 1, 2, 2]);
        assert_eq!(found("coffee"), 0);
    }

    #[test]
    fn a_search_shows_all_relations_from_and_to_its_hits() {
        let chain = [("A", "B"), ("B", "C"), ("C", "D"), ("D", "A")];
        let graph = graph_of(chain.map(|(from, to)| entity(0, from, &[], &[to])).to_vec());
        let page = whole_page(&graph, &NodeQuery::ByNames(&["B".to_owned()], 0));
        assert_eq!((names(&page), relations(&page)), (vec!["B"], vec!["A B".into(), "B C".into()]));
    }

    #[test]
    fn names_are_exact_and_repeated_ones_are_opened_once() {
        let graph = graph_of(vec![entity(1, "Bob", &[], &[])]);
        let asked = ["bob", "Bob", "Bob", "Carol"].map(str::to_owned);
        assert_eq!(names(&whole_page(&graph, &NodeQuery::ByNames(&asked, 0))), ["Bob"]);
    }

    #[test]
    fn the_first_observations_can_be_skipped() {
        let graph = graph_of(vec![entity(1, "Bob", &["One.", "Two.", "Three."], &[])]);
        let names = ["Bob".to_owned()];
        let open = |skip| whole_page(&graph, &NodeQuery::ByNames(&names, skip)).entities[0].clone();
        assert_eq!(open(2).observations, ["Three."]);
        assert_eq!(open(usize::MAX).observations, [""; 0]);
    }

    #[test]
    fn pages_of_any_size_contain_the_whole_graph() {
        let name = |it: u128| format!("Entity {it}");
        let ring =
            (0..20).map(|it| entity(it, &name(it), &["It rained."], &[&name((it + 1) % 20)]));
        let graph = graph_of(ring.collect());
        for query in [NodeQuery::All, NodeQuery::Containing("RAIN")] {
            let whole = whole_page(&graph, &query);
            for max_weight in [600, 1000, 2000] {
                let (mut pages, mut after) = (GraphPage::default(), None);
                for _ in 0..20 {
                    let page = build_graph_page(&graph, &query, after, max_weight);
                    after = page.entities.last().and_then(|it| graph.get(&it.name)).or(after);
                    pages.entities.extend(page.entities);
                    pages.relations.extend(page.relations);
                }
                pages.relations.sort_by_key(|it| graph.get(&it.from).unwrap().id);
                assert_eq!(pages, whole, "{max_weight}");
            }
        }
    }

    #[test]
    fn a_page_at_the_limit_reports_how_to_go_on() {
        let names = ["A", "B \"b\"", "C"].map(str::to_owned);
        let facts = "rain ".repeat(50);
        let graph = graph_of(names.iter().map(|it| entity(0, it, &[&facts], &["A"])).collect());
        let begin = "Too much for one answer: this one has 1 to 2 of 3 entities, oldest first";
        for (query, advice) in [
            (
                NodeQuery::All,
                r#"; 2 of 3 relations. To go on, call read_graph with {"after": "B \"b\""}"#,
            ),
            (
                NodeQuery::Containing("rain"),
                r#". Use a more specific query, or go on with "after": "B \"b\"""#,
            ),
            (NodeQuery::ByNames(&names, 0), ". Give fewer names at once"),
        ] {
            let page = build_graph_page(&graph, &query, None, 1000);
            assert_eq!(page.omission_note.unwrap(), format!("{begin}{advice}"));
        }
    }

    #[test]
    fn a_long_observation_is_shortened_in_the_middle() {
        let text = format!("It began {}and it ended.", "and went on ".repeat(1000));
        let graph = graph_of(vec![entity(1, "Flood", &[&text], &[])]);
        let page = build_graph_page(&graph, &NodeQuery::All, None, 500);
        let shown = &page.entities[0].observations[0];
        assert!(shown.starts_with("It began") && shown.ends_with("it ended."), "{shown}");
        assert!((100..500).contains(&token_weight(shown)), "{shown}");
        insta::assert_snapshot!(page.omission_note.unwrap(), @"Too much for one answer: this one has 1 of the 1 observation of Flood, shortened. To read a long observation whole, start the server with --unbounded");
    }

    #[test]
    fn of_a_long_entity_the_observations_with_the_searched_text_come_first() {
        let mut facts = vec!["Nothing was to be seen on that day."; 100];
        facts.push("The NEEDLE is here.");
        let graph = graph_of(vec![entity(1, "Log", &facts, &[])]);
        let page = build_graph_page(&graph, &NodeQuery::Containing("needle"), None, 600);
        let shown = &page.entities[0].observations;
        assert_eq!(shown[..2], [facts[100], facts[0]]);
        let note = format!(
            "{} of the 101 observations of Log, those that contain the query first. open_nodes \
            with {{\"names\": [\"Log\"]}} shows observations in their order",
            shown.len()
        );
        assert_eq!(page.omission_note.unwrap().rsplit_once("one has ").unwrap().1, note);
    }

    #[test]
    fn a_page_after_an_unknown_entity_is_refused() {
        let refusal = TestHome::new(&[])
            .run(|session| read_graph(session, Some("nobody"), 1000).unwrap_err().to_string());
        assert_eq!(refusal, "Entity with name nobody not found");
    }

    #[test]
    fn the_digest_changes_with_the_graph_and_is_zero_without_a_palace() {
        let mut home = TestHome::new(&[("entities/a.yaml", "name: A\ngenus: Letter\n")]);
        let before = graph_digest(&mut home.keeper, &ada()).unwrap();
        crate::create_entities(&mut home.keeper, &ada(), vec![entity(0, "B", &[], &[])]).unwrap();
        assert_ne!(graph_digest(&mut home.keeper, &ada()).unwrap(), before);
        let dir = tempfile::tempdir().unwrap();
        let mut keeper = Keeper::new(dir.path().join("home"), None);
        assert_eq!(graph_digest(&mut keeper, &ada()).unwrap(), 0);
    }

    #[test]
    fn the_cost_of_a_text_includes_its_escape_characters() {
        assert_eq!(json_text_cost("tea"), token_weight("tea"));
        assert_eq!(json_text_cost("\"\n"), token_weight("\"\n") + 2);
        assert_eq!(json_text_cost("\u{1}"), token_weight("\u{1}") + 9);
    }
}
