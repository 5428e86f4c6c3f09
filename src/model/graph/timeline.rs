//! What happened when: the dated facts of the graph, across genera.

use std::ops::Range;

use crate::model::graph::name_index::{dated, of_dates, print};
use crate::model::{Date, Entity, Graph, Relation};

/// Something that is known to have been so at a date.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fact<'a> {
    /// The date.
    pub date: Date,
    /// The entity that says so.
    pub entity: &'a Entity,
    /// What was so.
    pub event: Event<'a>,
}

/// What happened at the date of a [`ImportedFact`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event<'a> {
    /// A relation began.
    Began(&'a Relation),
    /// A relation ended.
    Ended(&'a Relation),
    /// An attribute of this name gives the date.
    Noted(&'a str),
}

/// A stretch of time: from the first moment of its beginning to that of its
/// end, which is outside.
#[derive(Clone, Copy, Debug, Default)]
pub struct Span {
    /// Its beginning; without one it has always been.
    pub since: Option<Date>,
    /// Its end; without one it will always be.
    pub until: Option<Date>,
}

impl Graph {
    /// Returns the dated facts of `span`, oldest first, `which` of them counted
    /// from 0; those of `genus`, if it is given.
    pub fn timeline(&self, span: Span, genus: Option<&str>, which: Range<usize>) -> Vec<Fact<'_>> {
        let mut facts = Vec::new();
        // No genus can contribute more than is asked for; the first moment of
        // a date may be past its end, so each is looked at again.
        for genus in self.genera.keys().filter(|it| genus.is_none_or(|genus| *it == genus)) {
            facts.extend(self.facts_of(genus, span).take(which.end));
        }
        paged(facts, which)
    }

    /// Returns the dated facts of `span` that an entity has part in, oldest
    /// first, `which` of them counted from 0: its own, and the relations that
    /// lead to it; those of `genus`, if it is given.
    pub fn timeline_of(
        &self,
        name: &str,
        span: Span,
        genus: Option<&str>,
        which: Range<usize>,
    ) -> Vec<Fact<'_>> {
        let own = self.get(name).into_iter().flat_map(|it| self.facts(it));
        let others = self.incoming(name).filter(|it| it.from.name != name);
        let others = others.flat_map(|it| turns(it.from, it.relation));
        let is_wanted = |it: &Fact<'_>| {
            span.holds(it.date) && genus.is_none_or(|genus| *genus == it.entity.genus)
        };
        paged(own.chain(others).filter(is_wanted).collect(), which)
    }

    /// Counts the relations of an entity, and those that lead to it, of which a date
    /// is written as none: no timeline tells of that.
    pub fn misdated_of(&self, name: &str) -> usize {
        let own = self.get(name).into_iter().flat_map(|it| &it.relations);
        let others = self.incoming(name).filter(|it| it.from.name != name).map(|it| it.relation);
        own.chain(others).filter(|it| it.period().is_none()).count()
    }

    /// Yields the attributes of an entity that are dates: those its genus says are,
    /// and of the others the texts that can be nothing else.
    pub fn dates<'a>(&'a self, entity: &'a Entity) -> impl Iterator<Item = (&'a str, Date)> {
        dated(&entity.attributes, self.genus(&entity.genus))
    }

    fn facts_of(&self, genus: &str, span: Span) -> impl Iterator<Item = Fact<'_>> {
        let make = || self.keyed(|it| of_dates(it, self.genus(&it.genus)));
        let print = print(&genus);
        let from = (print, span.since.map_or(Date::FIRST, Date::beginning));
        let belongs =
            move |(other, date): &(u64, Date)| *other == print && span.is_before_end(*date);
        let dates = self.dates.range(make, from, belongs);
        dates.filter_map(|((_, date), name)| Some((*date, self.get(name)?))).flat_map(
            |(date, entity)| self.facts(entity).into_iter().filter(move |it| it.date == date),
        )
    }

    fn facts<'a>(&'a self, entity: &'a Entity) -> Vec<Fact<'a>> {
        let relations = entity.relations.iter().flat_map(|it| turns(entity, it));
        let noted =
            self.dates(entity).map(|(key, date)| Fact { date, entity, event: Event::Noted(key) });
        noted.chain(relations).collect()
    }
}

impl Span {
    fn holds(self, date: Date) -> bool {
        self.since.is_none_or(|it| it.has_begun(date)) && self.is_before_end(date)
    }

    fn is_before_end(self, date: Date) -> bool {
        self.until.is_none_or(|it| !it.has_begun(date))
    }
}

/// Returns the beginning and the end of a relation.
fn turns<'a>(entity: &'a Entity, relation: &'a Relation) -> impl Iterator<Item = Fact<'a>> {
    let began = relation.begin().map(|date| (date, Event::Began(relation)));
    let ended = relation.end().map(|date| (date, Event::Ended(relation)));
    began.into_iter().chain(ended).map(move |(date, event)| Fact { date, entity, event })
}

fn paged(mut facts: Vec<Fact<'_>>, which: Range<usize>) -> Vec<Fact<'_>> {
    facts.sort_by(|a, b| (a.date, &a.entity.name).cmp(&(b.date, &b.entity.name)));
    facts.into_iter().skip(which.start).take(which.len()).collect()
}
