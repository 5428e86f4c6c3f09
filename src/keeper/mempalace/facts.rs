//! Facts: relations with their time, by names however they are spelled.

use std::collections::BTreeSet;

use crate::keeper::graph::dates::parse_date_argument;
use crate::keeper::{Caller, Direction, Keeper, Refusal};
use crate::model::{Date, Entity, Graph, Relation, fold_name};
use crate::render;

/// A fact as it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactRecord {
    /// What it is said of, by name.
    pub subject: String,
    /// What is said, of which object, and when it holds.
    pub relation: Relation,
    /// Whether it holds at the moment of asking.
    pub current: bool,
}

/// What is known of one name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FactsAbout {
    /// The facts that start from it.
    pub outgoing: Vec<FactRecord>,
    /// The facts that lead to it.
    pub incoming: Vec<FactRecord>,
    /// The entity of that name, if it is defined.
    pub entity: Option<Entity>,
    /// How many facts are left out: of those it is not known whether they held.
    pub undated: usize,
    /// How many facts are known besides: of other times, or the other way round.
    pub other_facts: usize,
    /// The name that was probably meant, where nothing is known.
    pub suggestion: Option<String>,
}

/// How many facts there are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FactCounts {
    /// How many names they speak of, and how many entities nobody speaks of.
    pub names: usize,
    /// How many there are.
    pub facts: usize,
    /// How many hold now.
    pub current: usize,
    /// How many have ended.
    pub ended: usize,
    /// What they say, each once.
    pub kinds: BTreeSet<String>,
}

impl Keeper {
    /// Tells what is known of `name`, however it is spelled; at a date, if one
    /// is given. Facts that hold come first, then those that began last.
    pub fn facts_about(
        &mut self,
        by: &Caller,
        name: &str,
        as_of: Option<&str>,
        direction: Direction,
    ) -> Result<FactsAbout, Refusal> {
        let as_of = as_of.map(|it| parse_date_argument("as_of", it, by.now)).transpose()?;
        let Some(key) = self.current_workspace_if_any(by)? else {
            return Ok(FactsAbout::default());
        };
        let held = self.open_palace(&key)?;
        held.catch_up()?;
        let (graph, now) = (&held.palace.graph, Date::from(by.now));
        let names = graph.spellings_of_name(name);
        let mut dossier = FactsAbout {
            entity: names.iter().find_map(|it| graph.get(it)).cloned(),
            ..FactsAbout::default()
        };
        let (mut undated, mut besides) = (0, Vec::new());
        let mut is_wanted = |it: &Relation| {
            let holds = as_of.map_or(Some(true), |at| it.holds_at(at));
            undated += usize::from(holds.is_none());
            holds == Some(true)
        };
        for name in &names {
            // What somebody says of themselves is told once.
            let is_told = |(way, from, it): &(Direction, &Entity, &Relation)| {
                *way == Direction::Outgoing
                    || direction == Direction::Incoming
                    || fold_name(&from.name) != fold_name(&it.to)
            };
            for (way, from, it) in outgoing_and_incoming(graph, name).filter(is_told) {
                let is_asked = [Direction::Both, way].contains(&direction) && is_wanted(it);
                let told = match way {
                    _ if !is_asked => &mut besides,
                    Direction::Incoming => &mut dossier.incoming,
                    _ => &mut dossier.outgoing,
                };
                told.push(fact_record(&from.name, it, now));
            }
        }
        (dossier.undated, dossier.other_facts) = (undated, besides.len());
        dossier.outgoing.sort_by_key(FactRecord::sort_key);
        dossier.incoming.sort_by_key(FactRecord::sort_key);
        if names.is_empty() {
            dossier.suggestion = graph.closest_name(name).map(str::to_owned);
        }
        Ok(dossier)
    }

    /// Tells the facts about `name`, or all there are, in the order in which
    /// they began; those of which that is not known last.
    pub fn fact_timeline(
        &mut self,
        by: &Caller,
        name: Option<&str>,
    ) -> Result<Vec<FactRecord>, Refusal> {
        let mut facts = match name {
            Some(name) => {
                let it = self.facts_about(by, name, None, Direction::Both)?;
                [it.outgoing, it.incoming].concat()
            }
            None => self.all_facts(by)?,
        };
        facts.sort_by_cached_key(|it| {
            let since = it.relation.since_date();
            (since.is_none(), since, it.subject.clone())
        });
        Ok(facts)
    }

    /// Counts the facts.
    pub fn count_facts(&mut self, by: &Caller) -> Result<FactCounts, Refusal> {
        let now = Date::from(by.now);
        let facts = self.all_facts(by)?;
        let mut names: BTreeSet<String> = facts
            .iter()
            .flat_map(|it| [&it.subject, &it.relation.to])
            .map(|it| fold_name(it))
            .collect();
        if let Some(key) = self.current_workspace_if_any(by)? {
            names.extend(self.open_palace(&key)?.palace.graph.iter().map(|it| fold_name(&it.name)));
        }
        let has_ended =
            |it: &&FactRecord| it.relation.until_date().is_some_and(|it| it.has_begun_by(now));
        Ok(FactCounts {
            names: names.len(),
            facts: facts.len(),
            current: facts.iter().filter(|it| it.current).count(),
            ended: facts.iter().filter(has_ended).count(),
            kinds: facts.into_iter().map(|it| it.relation.kind).collect(),
        })
    }

    fn all_facts(&mut self, by: &Caller) -> Result<Vec<FactRecord>, Refusal> {
        let Some(key) = self.current_workspace_if_any(by)? else { return Ok(Vec::new()) };
        let held = self.open_palace(&key)?;
        held.catch_up()?;
        let now = Date::from(by.now);
        let starts = held.palace.graph.entities_and_loose_ends();
        let told = starts.flat_map(|it| it.relations.iter().map(move |fact| (&it.name, fact)));
        Ok(told.map(|(name, fact)| fact_record(name, fact, now)).collect())
    }
}

impl FactRecord {
    /// Says it in one line.
    pub fn to_line(&self) -> String {
        fact_line(&self.subject, &self.relation.kind, &self.relation.to)
    }

    /// Its place in a list: what holds first, then what began last.
    fn sort_key(&self) -> (bool, std::cmp::Reverse<Option<Date>>) {
        (!self.current, std::cmp::Reverse(self.relation.since_date()))
    }
}

/// Yields the facts that start from a name, and those that lead to it.
fn outgoing_and_incoming<'a>(
    graph: &'a Graph,
    name: &str,
) -> impl Iterator<Item = (Direction, &'a Entity, &'a Relation)> {
    let starts = [graph.get(name), graph.loose_end(name)].into_iter().flatten();
    let outgoing = starts.flat_map(|from| from.relations.iter().map(move |it| (from, it)));
    let outgoing = outgoing.map(|(from, it)| (Direction::Outgoing, from, it));
    let incoming = graph.incoming_relations(name);
    outgoing.chain(incoming.map(|it| (Direction::Incoming, it.from, it.relation)))
}

pub(crate) fn fact_record(subject: &str, it: &Relation, now: Date) -> FactRecord {
    FactRecord { subject: subject.to_owned(), relation: it.clone(), current: it.is_current(now) }
}

/// Says a fact in one line.
pub(crate) fn fact_line(subject: &str, kind: &str, object: &str) -> String {
    [subject, kind, object].map(|it| render::truncate(&render::one_line(it), 80)).join(" → ")
}
