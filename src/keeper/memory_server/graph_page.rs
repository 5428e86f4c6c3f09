//! Reading the graph as the reference memory server does: whole entities,
//! oldest first, with the relations that start or end at them.
//!
//! What it answers with can be the whole graph. No client takes that in, so an
//! excerpt has a bound, and where it is reached it says what there is more and how
//! to go on behind it. The pages of the whole graph together are the graph.

mod cut;

use std::collections::{BTreeSet, HashSet};

use ulid::Ulid;

use crate::keeper::{Caller, Keeper, Refusal};
use crate::model::token_weight;
use crate::model::{Entity, Graph, IncomingRelation, Triple, abridge_to_weight};
use crate::search::Needle;

use cut::Omissions;

/// What an entity or a relation weighs beside what it says, and an observation:
/// the punctuation of JSON.
const JSON_OBJECT_COST: usize = 48;
const JSON_STRING_COST: usize = 5;

/// A part of the graph.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GraphPage {
    /// Entities, oldest first. Those that do not say when they were made are
    /// the oldest, by name.
    pub entities: Vec<Entity>,
    /// Relations, by the age of what they start from.
    pub relations: Vec<Triple>,
    /// What was left out, and how to ask for it; `None`: nothing was.
    pub omission_note: Option<String>,
}

/// Which entities are asked for.
enum NodeQuery<'a> {
    All,
    Containing(&'a str),
    /// Without so many of the first observations of each.
    ByNames(&'a [String], usize),
}

impl NodeQuery<'_> {
    fn skipped_observations(&self) -> usize {
        if let Self::ByNames(_, skip) = self { *skip } else { 0 }
    }
}

impl Keeper {
    /// Returns the whole graph, or what comes behind the entity `after`, up to about
    /// `most` thirds of a token of it.
    pub fn read_graph(
        &mut self,
        by: &Caller,
        after: Option<&str>,
        most: usize,
    ) -> Result<GraphPage, Refusal> {
        self.read_graph_page(by, &NodeQuery::All, after, most)
    }

    /// Returns the entities that hold `query` in name, genus or an observation,
    /// whatever the case, or those of them behind the entity `after`, up to about
    /// `most` thirds of a token. Of one that is too much to show, the observations
    /// come first that hold it.
    pub fn search_nodes(
        &mut self,
        by: &Caller,
        query: &str,
        after: Option<&str>,
        most: usize,
    ) -> Result<GraphPage, Refusal> {
        self.read_graph_page(by, &NodeQuery::Containing(query), after, most)
    }

    /// Returns the entities of those exact names without the first `skip`
    /// observations of each, up to about `most` thirds of a token.
    pub fn open_nodes(
        &mut self,
        by: &Caller,
        names: &[String],
        skip: usize,
        most: usize,
    ) -> Result<GraphPage, Refusal> {
        self.read_graph_page(by, &NodeQuery::ByNames(names, skip), None, most)
    }

    /// Returns a number by which the graph is known from any other, as it was when
    /// it was last looked at; 0 while there is none, and then the one who is woken
    /// is told when a palace comes.
    pub fn graph_digest(&mut self, by: &Caller) -> Result<u64, Refusal> {
        let Some(key) = self.current_workspace_if_any(by)? else {
            self.watch_home();
            return Ok(0);
        };
        Ok(self.open_palace(&key)?.file_states.generation().graph_digest)
    }

    fn read_graph_page(
        &mut self,
        by: &Caller,
        wanted: &NodeQuery<'_>,
        after: Option<&str>,
        most: usize,
    ) -> Result<GraphPage, Refusal> {
        let Some(key) = self.current_workspace_if_any(by)? else { return Ok(GraphPage::default()) };
        let held = self.open_palace(&key)?;
        held.catch_up()?;
        if let NodeQuery::ByNames(names, _) = wanted {
            for name in *names {
                if let Some(file) = held.palace.graph.file_of_entity(name).map(str::to_owned) {
                    held.refresh_file(&file);
                }
            }
        }
        let graph = &held.palace.graph;
        let missing = |name: &str| Refusal::MemoryEntityNotFound { name: name.to_owned() };
        let after = after.map(|it| graph.get(it).ok_or_else(|| missing(it))).transpose()?;
        Ok(build_graph_page(graph, wanted, after, most))
    }
}

fn build_graph_page(
    graph: &Graph,
    wanted: &NodeQuery<'_>,
    after: Option<&Entity>,
    most: usize,
) -> GraphPage {
    let all = select_entities(graph, wanted);
    let begin =
        after.map_or(0, |after| all.partition_point(|it| creation_key(it) <= creation_key(after)));
    let found = &all[begin..];
    let entities = fit_entities(graph, &all, found, wanted, most);
    let page = &found[..entities.len()];
    let relations = match wanted {
        NodeQuery::All => {
            unique_relations(relation_sources(graph, page, page.len() == found.len()), |_| true)
        }
        _ => page_relations(graph, &all, page),
    };
    let mut room = most.saturating_sub(entities.iter().map(entity_cost).sum());
    let told = relations.iter().take_while(|it| try_spend(&mut room, it.cost())).count();
    let there_are = match wanted {
        NodeQuery::All if page.len() < all.len() => {
            unique_relations(graph.entities_and_loose_ends(), |_| true).len()
        }
        _ => relations.len(),
    };
    let cut = Omissions {
        matches: &all,
        start: begin,
        shown: &entities,
        omitted_relations: relations.len() - told,
    };
    let left_out = cut.describe(wanted, (told, there_are));
    let relations = relations.into_iter().take(told).map(TripleRef::to_triple).collect();
    GraphPage { entities, relations, omission_note: left_out }
}

/// Yields what the relations of a page start from; on the last page also what
/// nobody has defined.
fn relation_sources<'a>(
    graph: &'a Graph,
    page: &[&'a Entity],
    is_last: bool,
) -> impl Iterator<Item = &'a Entity> {
    let loose = graph.entities_and_loose_ends().filter(move |it| is_last && !it.is_defined);
    page.iter().copied().chain(loose)
}

/// Returns as many entities as there is room for. One of endless observations
/// is shown with some of them, so that it does not stand before all others.
fn fit_entities(
    graph: &Graph,
    all: &[&Entity],
    found: &[&Entity],
    wanted: &NodeQuery<'_>,
    most: usize,
) -> Vec<Entity> {
    let mut room = most;
    // A graph without its relations would be a list: they are to fit in as well.
    let links = |it: &Entity| {
        let incoming = match wanted {
            NodeQuery::All => 0,
            _ => relations_from_outside(graph, all, &it.name).map(|(_, link)| link.cost()).sum(),
        };
        (relations_cost(it) + incoming).min(most / 3)
    };
    let share = match found {
        [only] => most.saturating_sub(links(only)),
        _ => most / 3,
    };
    let parts = found.iter().map(|it| {
        let part = truncate_entity(it, wanted, share);
        let cost = entity_cost(&part).saturating_add(links(it));
        (part, cost)
    });
    parts.take_while(|(_, cost)| try_spend(&mut room, *cost)).map(|(part, _)| part).collect()
}

/// Returns the entities that are wanted, oldest first.
fn select_entities<'a>(graph: &'a Graph, wanted: &NodeQuery<'_>) -> Vec<&'a Entity> {
    let all = || graph.entities_and_loose_ends().filter(|it| it.is_defined);
    let mut found: Vec<&Entity> = match wanted {
        NodeQuery::All => all().collect(),
        NodeQuery::Containing(query) => {
            let mut needle = Needle::new(query);
            let mut holds = |it: &Entity| {
                needle.is_in(&it.name)
                    || needle.is_in(&it.genus)
                    || it.observations.iter().any(|it| needle.is_in(it))
            };
            all().filter(|it| holds(it)).collect()
        }
        NodeQuery::ByNames(names, _) => {
            let names: HashSet<&String> = names.iter().collect();
            names.into_iter().filter_map(|it| graph.get(it)).collect()
        }
    };
    found.sort_unstable_by_key(|it| creation_key(it));
    found
}

/// Sorts by when an entity was made. Ids do so; whoever has none came before
/// there was anybody to give one.
fn creation_key(entity: &Entity) -> (Option<Ulid>, &str) {
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
    fn cost(&self) -> usize {
        JSON_OBJECT_COST + [self.from, self.kind, self.to].map(json_text_cost).iter().sum::<usize>()
    }

    fn to_triple(self) -> Triple {
        let [from, kind, to] = [self.from, self.kind, self.to].map(str::to_owned);
        Triple { from, kind, to }
    }
}

/// Lists the relations that are told with a page of `all` that was found: those that
/// start there, and those that lead there from what was not found. So all pages
/// together have each relation of which one end was found once.
fn page_relations<'a>(
    graph: &'a Graph,
    all: &[&'a Entity],
    page: &[&'a Entity],
) -> Vec<TripleRef<'a>> {
    let names: HashSet<&str> = page.iter().map(|it| it.name.as_str()).collect();
    let loose = names.iter().filter_map(|it| graph.loose_end(it));
    let incoming =
        names.iter().flat_map(|it| relations_from_outside(graph, all, it)).map(|(from, _)| from);
    let starts = page.iter().copied().chain(loose).chain(incoming);
    let mut seen = BTreeSet::new();
    let starts = starts.filter(|it| seen.insert((it.name.as_str(), it.is_defined)));
    unique_relations(starts, |it| names.contains(it.from) || names.contains(it.to))
}

/// Yields the relations to `name` from what is not among `all`, each with what it
/// starts from.
fn relations_from_outside<'a>(
    graph: &'a Graph,
    all: &[&'a Entity],
    name: &'a str,
) -> impl Iterator<Item = (&'a Entity, TripleRef<'a>)> {
    let is_found = |it: &Entity| {
        all.binary_search_by(|other| creation_key(other).cmp(&creation_key(it))).is_ok()
    };
    let incoming = graph.incoming_relations(name);
    let strange = incoming.filter(move |it| !it.from.is_defined || !is_found(it.from));
    strange.map(|IncomingRelation { from, relation }| {
        (from, TripleRef { from: &from.name, kind: &relation.kind, to: &relation.to })
    })
}

/// Lists the wanted relations from any of `starts`, each once, by age.
fn unique_relations<'a>(
    starts: impl Iterator<Item = &'a Entity>,
    wanted: impl Fn(&TripleRef<'a>) -> bool,
) -> Vec<TripleRef<'a>> {
    let mut starts: Vec<_> = starts.collect();
    starts.sort_unstable_by_key(|it| (!it.is_defined, creation_key(it)));
    let links = starts.into_iter().flat_map(|from| {
        let links = from.relations.iter();
        links.map(|it| TripleRef { from: &from.name, kind: &it.kind, to: &it.to })
    });
    // The same may hold from one date and again from another.
    let mut seen = HashSet::new();
    links.filter(wanted).filter(|it| seen.insert(*it)).collect()
}

/// Takes `cost` out of `room`, if there is so much left.
fn try_spend(room: &mut usize, cost: usize) -> bool {
    let left = room.checked_sub(cost);
    *room = left.unwrap_or(*room);
    left.is_some()
}

fn entity_cost(it: &Entity) -> usize {
    let observations =
        it.observations.iter().map(|it| json_text_cost(it) + JSON_STRING_COST).sum::<usize>();
    JSON_OBJECT_COST + json_text_cost(&it.name) + json_text_cost(&it.genus) + observations
}

fn relations_cost(from: &Entity) -> usize {
    let links = from.relations.iter();
    links.map(|it| TripleRef { from: &from.name, kind: &it.kind, to: &it.to }.cost()).sum()
}

/// Returns what a text weighs in JSON, where some signs stand behind another.
fn json_text_cost(text: &str) -> usize {
    let escape = |it: u8| match it {
        b'"' | b'\\' | b'\n' | b'\t' => 1,
        0..0x20 => 9,
        _ => 0,
    };
    token_weight(text) + text.bytes().map(escape).sum::<usize>()
}

/// Returns an entity with as many of the observations that are wanted as there is
/// room for: with the beginning and the end of the first, if that alone is too much.
fn truncate_entity(entity: &Entity, wanted: &NodeQuery<'_>, room: usize) -> Entity {
    let genus = entity.genus.clone();
    let name_only = Entity::new_loose_end(&entity.name);
    let bare = Entity { id: entity.id, is_defined: true, genus, ..name_only };
    let room = room.saturating_sub(entity_cost(&bare));
    let fitting = |these: &[&String]| {
        let mut room = room;
        these
            .iter()
            .take_while(|it| try_spend(&mut room, json_text_cost(it) + JSON_STRING_COST))
            .count()
    };
    let mut these: Vec<_> =
        entity.observations.iter().skip(wanted.skipped_observations()).collect();
    let mut fit = fitting(&these);
    if let NodeQuery::Containing(query) = wanted
        && fit < these.len()
    {
        let mut needle = Needle::new(query);
        these.sort_by_cached_key(|it| !needle.is_in(it));
        fit = fitting(&these);
    }
    let observations = match these.first() {
        Some(first) if fit == 0 => {
            vec![abridge_to_weight(first, room.saturating_sub(JSON_STRING_COST) / 2)]
        }
        _ => these.into_iter().take(fit).cloned().collect(),
    };
    Entity { observations, ..bare }
}
