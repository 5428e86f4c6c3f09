//! What happened when: the dated facts of the graph, across genera.

use std::ops::Range;

use crate::model::graph::name_index::{date_attributes, genus_date_keys, hash_key};
use crate::model::{Date, Entity, Graph, Relation};

/// Something that is known to have been so at a date.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DatedFact<'a> {
    /// The date.
    pub date: Date,
    /// The entity that says so.
    pub entity: &'a Entity,
    /// What was so.
    pub event: FactEvent<'a>,
}

/// What happened at the date of a [`ImportedFact`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FactEvent<'a> {
    /// A relation began.
    RelationBegan(&'a Relation),
    /// A relation ended.
    RelationEnded(&'a Relation),
    /// An attribute of this name gives the date.
    AttributeDate(&'a str),
}

/// A stretch of time: from the first moment of its beginning to that of its
/// end, which is outside.
#[derive(Clone, Copy, Debug, Default)]
pub struct TimeSpan {
    /// Its beginning; without one it has always been.
    pub since: Option<Date>,
    /// Its end; without one it will always be.
    pub until: Option<Date>,
}

impl Graph {
    /// Returns the dated facts of `span`, oldest first, `which` of them counted
    /// from 0; those of `genus`, if it is given.
    pub fn timeline(
        &self,
        span: TimeSpan,
        genus: Option<&str>,
        which: Range<usize>,
    ) -> Vec<DatedFact<'_>> {
        let mut facts = Vec::new();
        // No genus can contribute more than is asked for; the first moment of
        // a date may be past its end, so each is looked at again.
        for genus in self.genera.keys().filter(|it| genus.is_none_or(|genus| *it == genus)) {
            facts.extend(self.facts_of_genus(genus, span).take(which.end));
        }
        sort_and_page(facts, which)
    }

    /// Returns the dated facts of `span` that an entity has part in, oldest
    /// first, `which` of them counted from 0: its own, and the relations that
    /// lead to it; those of `genus`, if it is given.
    pub fn entity_timeline(
        &self,
        name: &str,
        span: TimeSpan,
        genus: Option<&str>,
        which: Range<usize>,
    ) -> Vec<DatedFact<'_>> {
        let own = self.get(name).into_iter().flat_map(|it| self.facts_of_entity(it));
        let others = self.incoming_relations(name).filter(|it| it.from.name != name);
        let others = others.flat_map(|it| relation_facts(it.from, it.relation));
        let is_wanted = |it: &DatedFact<'_>| {
            span.contains(it.date) && genus.is_none_or(|genus| *genus == it.entity.genus)
        };
        sort_and_page(own.chain(others).filter(is_wanted).collect(), which)
    }

    /// Counts the relations of an entity, and those that lead to it, of which a date
    /// is written as none: no timeline tells of that.
    pub fn count_unparsable_dates(&self, name: &str) -> usize {
        let own = self.get(name).into_iter().flat_map(|it| &it.relations);
        let others =
            self.incoming_relations(name).filter(|it| it.from.name != name).map(|it| it.relation);
        own.chain(others).filter(|it| it.parsed_dates().is_none()).count()
    }

    /// Yields the attributes of an entity that are dates: those its genus says are,
    /// and of the others the texts that can be nothing else.
    pub fn date_attributes<'a>(
        &'a self,
        entity: &'a Entity,
    ) -> impl Iterator<Item = (&'a str, Date)> {
        date_attributes(&entity.attributes, self.genus_definition(&entity.genus))
    }

    fn facts_of_genus(&self, genus: &str, span: TimeSpan) -> impl Iterator<Item = DatedFact<'_>> {
        let make =
            || self.entity_names_by_key(|it| genus_date_keys(it, self.genus_definition(&it.genus)));
        let print = hash_key(&genus);
        let from = (print, span.since.map_or(Date::FIRST, Date::coarsest_with_same_start));
        let belongs =
            move |(other, date): &(u64, Date)| *other == print && span.is_before_end(*date);
        let dates = self.dates.range_while(make, from, belongs);
        dates.filter_map(|((_, date), name)| Some((*date, self.get(name)?))).flat_map(
            |(date, entity)| {
                self.facts_of_entity(entity).into_iter().filter(move |it| it.date == date)
            },
        )
    }

    fn facts_of_entity<'a>(&'a self, entity: &'a Entity) -> Vec<DatedFact<'a>> {
        let relations = entity.relations.iter().flat_map(|it| relation_facts(entity, it));
        let noted = self.date_attributes(entity).map(|(key, date)| DatedFact {
            date,
            entity,
            event: FactEvent::AttributeDate(key),
        });
        noted.chain(relations).collect()
    }
}

impl TimeSpan {
    fn contains(self, date: Date) -> bool {
        self.since.is_none_or(|it| it.has_begun_by(date)) && self.is_before_end(date)
    }

    fn is_before_end(self, date: Date) -> bool {
        self.until.is_none_or(|it| !it.has_begun_by(date))
    }
}

/// Returns the beginning and the end of a relation.
fn relation_facts<'a>(
    entity: &'a Entity,
    relation: &'a Relation,
) -> impl Iterator<Item = DatedFact<'a>> {
    let began = relation.since_date().map(|date| (date, FactEvent::RelationBegan(relation)));
    let ended = relation.until_date().map(|date| (date, FactEvent::RelationEnded(relation)));
    began.into_iter().chain(ended).map(move |(date, event)| DatedFact { date, entity, event })
}

fn sort_and_page(mut facts: Vec<DatedFact<'_>>, which: Range<usize>) -> Vec<DatedFact<'_>> {
    facts.sort_by(|a, b| (a.date, &a.entity.name).cmp(&(b.date, &b.entity.name)));
    facts.into_iter().skip(which.start).take(which.len()).collect()
}
