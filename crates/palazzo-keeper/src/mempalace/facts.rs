//! Facts: relations with their dates, found by name in any spelling.

use std::collections::BTreeSet;

use crate::{Direction, Session};
use palazzo_core::model::{Date, Entity, Graph, PointInTime, Relation, fold_name};
use palazzo_core::render;

/// A fact of the palace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactRecord {
    /// The name of its subject.
    pub subject: String,
    /// Its kind, its object and its dates.
    pub relation: Relation,
    /// Whether it holds at the time of the call.
    pub current: bool,
}

/// The facts about one name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FactsAbout {
    /// The facts with the name as subject.
    pub outgoing: Vec<FactRecord>,
    /// The facts with the name as object.
    pub incoming: Vec<FactRecord>,
    /// The entity of that name, if it is defined.
    pub entity: Option<Entity>,
    /// How many facts are left out because it is unknown whether they held at the date.
    pub with_invalid_dates: usize,
    /// How many more facts there are: of other dates, or in the other direction.
    pub other_facts: usize,
    /// The most similar name, if there are no facts about this one.
    pub suggestion: Option<String>,
}

/// The numbers of names and facts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FactCounts {
    /// How many names there are: those in facts, and those of entities without facts.
    pub names: usize,
    /// How many facts there are.
    pub facts: usize,
    /// How many hold now.
    pub current: usize,
    /// How many have ended.
    pub ended: usize,
    /// The kinds of facts.
    pub kinds: BTreeSet<String>,
}

/// Returns the facts about `name`, in any spelling; if `as_of` is given, only those that hold at
/// that date. Current facts come first, then those that began last.
pub fn facts_about(
    session: &Session<'_>,
    name: &str,
    as_of: Option<Date>,
    direction: Direction,
) -> FactsAbout {
    let (graph, now) = (&session.palace.palace.graph, session.caller.point_in_time());
    let names = graph.spellings_of_name(name);
    let mut result = FactsAbout {
        entity: names.iter().find_map(|it| graph.get(it)).cloned(),
        ..FactsAbout::default()
    };
    let (mut with_invalid_dates, mut others) = (0, 0);
    let mut holds = |it: &Relation| {
        let holds = as_of.map_or(Some(true), |at| it.holds_at(at));
        with_invalid_dates += usize::from(holds.is_none());
        holds == Some(true)
    };
    for name in &names {
        // A fact from a name to itself is listed once.
        let is_listed = |(side, from, it): &(Direction, &Entity, &Relation)| {
            *side == Direction::Outgoing
                || direction == Direction::Incoming
                || fold_name(&from.name) != fold_name(&it.to)
        };
        for (side, from, it) in outgoing_and_incoming_facts(graph, name).filter(is_listed) {
            if ![Direction::Both, side].contains(&direction) || !holds(it) {
                others += 1;
                continue;
            }
            let facts = match side {
                Direction::Incoming => &mut result.incoming,
                _ => &mut result.outgoing,
            };
            facts.push(fact_record(&from.name, it, now));
        }
    }
    (result.with_invalid_dates, result.other_facts) = (with_invalid_dates, others);
    result.outgoing.sort_by_key(FactRecord::sort_key);
    result.incoming.sort_by_key(FactRecord::sort_key);
    if names.is_empty() {
        result.suggestion = graph.closest_name(name).map(str::to_owned);
    }
    result
}

/// Returns the facts about `name`, or all facts, in the order in which they began; those
/// without a start date come last.
pub fn fact_timeline(session: &Session<'_>, name: Option<&str>) -> Vec<FactRecord> {
    let mut facts = match name {
        Some(name) => {
            let facts = facts_about(session, name, None, Direction::Both);
            [facts.outgoing, facts.incoming].concat()
        }
        None => all_facts(session),
    };
    facts.sort_by_cached_key(|it| {
        let since = it.relation.since_date();
        (since.is_none(), since, it.subject.clone())
    });
    facts
}

/// Counts the facts.
pub fn count_facts(session: &Session<'_>) -> FactCounts {
    let now = session.caller.point_in_time();
    let facts = all_facts(session);
    let mut names: BTreeSet<String> = facts
        .iter()
        .flat_map(|it| [&it.subject, &it.relation.to])
        .map(|it| fold_name(it))
        .collect();
    names.extend(session.palace.palace.graph.iter().map(|it| fold_name(&it.name)));
    let has_ended =
        |it: &&FactRecord| it.relation.until_date().is_some_and(|it| it.has_begun_by(now));
    FactCounts {
        names: names.len(),
        facts: facts.len(),
        current: facts.iter().filter(|it| it.current).count(),
        ended: facts.iter().filter(has_ended).count(),
        kinds: facts.into_iter().map(|it| it.relation.kind).collect(),
    }
}

fn all_facts(session: &Session<'_>) -> Vec<FactRecord> {
    let now = session.caller.point_in_time();
    let sources = session.palace.palace.graph.entities_and_loose_ends();
    let facts = sources.flat_map(|it| it.relations.iter().map(move |fact| (&it.name, fact)));
    facts.map(|(name, fact)| fact_record(name, fact, now)).collect()
}

impl FactRecord {
    /// Returns the fact in one line.
    pub fn to_line(&self) -> String {
        fact_line(&self.subject, &self.relation.kind, &self.relation.to)
    }

    /// Sorts current facts first, then those that began last.
    fn sort_key(&self) -> (bool, std::cmp::Reverse<Option<Date>>) {
        (!self.current, std::cmp::Reverse(self.relation.since_date()))
    }
}

/// Yields the facts with a name as subject, then those with the name as object.
fn outgoing_and_incoming_facts<'a>(
    graph: &'a Graph,
    name: &str,
) -> impl Iterator<Item = (Direction, &'a Entity, &'a Relation)> {
    let sources = [graph.get(name), graph.get_loose_end(name)].into_iter().flatten();
    let outgoing = sources.flat_map(|from| from.relations.iter().map(move |it| (from, it)));
    let outgoing = outgoing.map(|(from, it)| (Direction::Outgoing, from, it));
    let incoming = graph.incoming_relations(name);
    outgoing.chain(incoming.map(|it| (Direction::Incoming, it.from, it.relation)))
}

pub(crate) fn fact_record(subject: &str, it: &Relation, now: PointInTime) -> FactRecord {
    FactRecord { subject: subject.to_owned(), relation: it.clone(), current: it.is_current(now) }
}

/// Writes a fact in one line.
pub(crate) fn fact_line(subject: &str, kind: &str, object: &str) -> String {
    [subject, kind, object].map(|it| render::truncate(&render::one_line(it), 80)).join(" → ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home::TestHome;

    const MAX: &str = "name: Max\ngenus: Person\nrelations:\n\
        - { type: child_of, to: Alice }\n\
        - { type: does, to: swimming, since: 2024-05-01, until: 2026-02-15 }\n\
        - { type: does, to: chess, since: 2026-02-15 }\n\
        - { type: knows, to: MAX }\n";
    const CAESAR: &str = "name: Caesar\ngenus: Person\nrelations:\n\
        - { type: rules, to: Rome, since: 49 BC, until: 44 BC }\n\
        - { type: becomes, to: a month, since: 2100 }\n";

    fn home() -> TestHome {
        let files = [("entities/person/max.yaml", MAX), ("entities/person/caesar.yaml", CAESAR)];
        TestHome::new(&files)
    }

    fn about(name: &str, as_of: Option<&str>, direction: Direction) -> FactsAbout {
        let as_of = as_of.map(|it| it.parse().unwrap());
        home().run(|session| facts_about(session, name, as_of, direction))
    }

    fn objects(facts: &[FactRecord]) -> Vec<&str> {
        facts.iter().map(|it| it.relation.to.as_str()).collect()
    }

    #[test]
    fn current_facts_come_first_then_those_that_began_last() {
        let facts = about("max", None, Direction::Outgoing);
        assert_eq!(objects(&facts.outgoing), ["chess", "Alice", "MAX", "swimming"]);
        let current: Vec<_> = facts.outgoing.iter().map(|it| it.current).collect();
        assert_eq!(current, [true, true, true, false]);
    }

    #[test]
    fn a_fact_holds_from_its_first_day_until_the_day_before_its_end() {
        for (date, count) in [("2024-04-30", 0), ("2024-05-01", 1), ("2026-02-14", 1)] {
            let facts = about("Max", Some(date), Direction::Outgoing);
            let swims = facts.outgoing.iter().filter(|it| it.relation.to == "swimming");
            assert_eq!(swims.count(), count, "{date}");
        }
        let facts = about("Max", Some("2026-02-15"), Direction::Outgoing);
        assert!(!objects(&facts.outgoing).contains(&"swimming"));
    }

    #[test]
    fn facts_outside_the_date_and_the_direction_are_counted() {
        let facts = about("rome", Some("44 BC"), Direction::Both);
        assert_eq!((facts.incoming.len(), facts.other_facts), (0, 1));
        let facts = about("rome", None, Direction::Outgoing);
        assert_eq!((facts.incoming.len(), facts.other_facts), (0, 1));
        let facts = about("rome", Some("45 BC"), Direction::Incoming);
        assert_eq!((objects(&facts.incoming), facts.other_facts), (vec!["Rome"], 0));
    }

    #[test]
    fn a_fact_from_a_name_to_itself_is_listed_once() {
        let facts = about("MAX", None, Direction::Both);
        assert_eq!(objects(&facts.incoming), [""; 0]);
        assert_eq!(facts.outgoing.iter().filter(|it| it.relation.kind == "knows").count(), 1);
        assert_eq!(objects(&about("MAX", None, Direction::Incoming).incoming), ["MAX"]);
    }

    #[test]
    fn an_unknown_name_gets_the_most_similar_one_as_a_suggestion() {
        assert_eq!(about("Cesar", None, Direction::Both).suggestion.as_deref(), Some("Caesar"));
        assert_eq!(about("Caesar", None, Direction::Both).suggestion, None);
    }

    #[test]
    fn a_name_that_is_only_an_object_has_no_entity() {
        assert_eq!(about("rome", None, Direction::Both).entity, None);
        let entity = about("MAX", None, Direction::Both).entity.unwrap();
        assert_eq!((entity.name.as_str(), entity.genus.as_str()), ("Max", "Person"));
    }

    #[test]
    fn the_timeline_begins_before_christ_and_ends_without_dates() {
        let all = home().run(|session| fact_timeline(session, None));
        assert_eq!(objects(&all), ["Rome", "swimming", "chess", "a month", "Alice", "MAX"]);
        let of_alice = home().run(|session| fact_timeline(session, Some("ALICE")));
        assert_eq!(objects(&of_alice), ["Alice"]);
    }

    #[test]
    fn facts_that_begin_later_are_neither_current_nor_ended() {
        let counts = home().run(|session| count_facts(session));
        assert_eq!((counts.facts, counts.current, counts.ended), (6, 3, 2));
        // Max, Caesar, Alice, swimming, chess, Rome, a month.
        assert_eq!(counts.names, 7);
        let kinds: Vec<_> = counts.kinds.iter().map(String::as_str).collect();
        assert_eq!(kinds, ["becomes", "child_of", "does", "knows", "rules"]);
    }

    #[test]
    fn a_fact_in_one_line_shortens_long_names() {
        let line = fact_line("A\nB", "is", &"é".repeat(100));
        assert_eq!(line, format!("A B → is → {}…", "é".repeat(80)));
    }
}
