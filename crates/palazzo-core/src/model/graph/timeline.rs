//! The timeline: the dated facts of the graph, across genera.

use std::ops::Range;

use crate::model::graph::lazy_index::{date_attributes, date_index_keys, hash_key};
use crate::model::{Date, Entity, Graph, Relation};

/// A fact with a date.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DatedFact<'a> {
    /// The date.
    pub date: Date,
    /// The entity that contains the fact.
    pub entity: &'a Entity,
    /// The fact.
    pub event: FactEvent<'a>,
}

/// The kind of a [`DatedFact`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FactEvent<'a> {
    /// A relation began.
    RelationBegan(&'a Relation),
    /// A relation ended.
    RelationEnded(&'a Relation),
    /// An attribute of this name gives the date.
    AttributeDate(&'a str),
}

/// A period: from the first second of its start to the first second of its end, exclusive.
#[derive(Clone, Copy, Debug, Default)]
pub struct TimeSpan {
    /// The start; `None`: unbounded.
    pub since: Option<Date>,
    /// The end; `None`: unbounded.
    pub until: Option<Date>,
}

impl Graph {
    /// Returns the dated facts of `span`, oldest first, restricted to `genus` if given; `which` is
    /// the range of results, from 0.
    pub fn timeline(
        &self,
        span: TimeSpan,
        genus: Option<&str>,
        which: Range<usize>,
    ) -> Vec<DatedFact<'_>> {
        let mut facts = Vec::new();
        // No genus can contribute more facts than requested; the genera are merged by date
        // afterwards.
        for genus in self.genera.keys().filter(|it| genus.is_none_or(|genus| *it == genus)) {
            facts.extend(self.dated_facts_of_genus(genus, span).take(which.end));
        }
        sort_and_paginate_facts(facts, which)
    }

    /// Returns the dated facts of `span` about an entity, its own and the relations that lead to
    /// it, oldest first, restricted to `genus` if given; `which` is the range of results, from 0.
    pub fn entity_timeline(
        &self,
        name: &str,
        span: TimeSpan,
        genus: Option<&str>,
        which: Range<usize>,
    ) -> Vec<DatedFact<'_>> {
        let own = self.get(name).into_iter().flat_map(|it| self.dated_facts_of_entity(it));
        let others = self.incoming_relations(name).filter(|it| it.from.name != name);
        let others = others.flat_map(|it| dated_facts_of_relation(it.from, it.relation));
        let is_match = |it: &DatedFact<'_>| {
            span.contains(it.date)
                && !span.contains_start_of(it)
                && genus.is_none_or(|genus| *genus == it.entity.genus)
        };
        sort_and_paginate_facts(own.chain(others).filter(is_match).collect(), which)
    }

    /// Returns the number of relations from and to an entity that have a date that does not parse
    /// and are therefore missing from the timeline.
    pub fn count_relations_with_invalid_dates(&self, name: &str) -> usize {
        let own = self.get(name).into_iter().flat_map(|it| &it.relations);
        let others =
            self.incoming_relations(name).filter(|it| it.from.name != name).map(|it| it.relation);
        own.chain(others).filter(|it| it.parsed_dates().is_none()).count()
    }

    /// Yields the attributes of an entity that are dates: those that its genus defines as dates,
    /// and among undefined ones the texts that parse as a date.
    pub fn date_attributes<'a>(
        &'a self,
        entity: &'a Entity,
    ) -> impl Iterator<Item = (&'a str, Date)> {
        date_attributes(&entity.attributes, self.genus_definition(&entity.genus))
    }

    fn dated_facts_of_genus(
        &self,
        genus: &str,
        span: TimeSpan,
    ) -> impl Iterator<Item = DatedFact<'_>> {
        let make =
            || self.entity_names_by_key(|it| date_index_keys(it, self.genus_definition(&it.genus)));
        let hash = hash_key(&genus);
        let from = (hash, span.since.map_or(Date::FIRST, Date::coarsest_with_same_start));
        let belongs =
            move |(other, date): &(u64, Date)| *other == hash && span.is_before_end(*date);
        let dates = self.dates.range_while(make, from, belongs);
        dates.filter_map(|((_, date), name)| Some((*date, self.get(name)?))).flat_map(
            move |(date, entity)| {
                let facts = self.dated_facts_of_entity(entity).into_iter();
                facts.filter(move |it| it.date == date && !span.contains_start_of(it))
            },
        )
    }

    fn dated_facts_of_entity<'a>(&'a self, entity: &'a Entity) -> Vec<DatedFact<'a>> {
        let relations = entity.relations.iter().flat_map(|it| dated_facts_of_relation(entity, it));
        let attributes = self.date_attributes(entity).map(|(key, date)| DatedFact {
            date,
            entity,
            event: FactEvent::AttributeDate(key),
        });
        attributes.chain(relations).collect()
    }
}

impl TimeSpan {
    fn contains(self, date: Date) -> bool {
        self.since.is_none_or(|it| it.has_begun_by(date)) && self.is_before_end(date)
    }

    /// Returns whether a fact is the end of a relation whose start is in the period, too. The start is listed
    /// with the end.
    fn contains_start_of(self, fact: &DatedFact<'_>) -> bool {
        match fact.event {
            FactEvent::RelationEnded(it) => it.since_date().is_some_and(|it| self.contains(it)),
            FactEvent::RelationBegan(_) | FactEvent::AttributeDate(_) => false,
        }
    }

    fn is_before_end(self, date: Date) -> bool {
        self.until.is_none_or(|it| !it.has_begun_by(date))
    }
}

/// Returns the start and the end of a relation as facts.
fn dated_facts_of_relation<'a>(
    entity: &'a Entity,
    relation: &'a Relation,
) -> impl Iterator<Item = DatedFact<'a>> {
    let began = relation.since_date().map(|date| (date, FactEvent::RelationBegan(relation)));
    let ended = relation.until_date().map(|date| (date, FactEvent::RelationEnded(relation)));
    began.into_iter().chain(ended).map(move |(date, event)| DatedFact { date, entity, event })
}

fn sort_and_paginate_facts(
    mut facts: Vec<DatedFact<'_>>,
    which: Range<usize>,
) -> Vec<DatedFact<'_>> {
    facts.sort_by(|a, b| (a.date, &a.entity.name).cmp(&(b.date, &b.entity.name)));
    facts.into_iter().skip(which.start).take(which.len()).collect()
}
