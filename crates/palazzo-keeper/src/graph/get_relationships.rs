//! The relations of one entity, outgoing and incoming.

use std::collections::BTreeSet;

use crate::graph::{parse_date_argument, resolve_entity_to_read};
use crate::{Refusal, Session};
use palazzo_core::model::{Date, Graph, IncomingRelation, Relation, did_you_mean, quoted};
use palazzo_core::render;

/// How many relations a page has.
const RELATIONS_PER_PAGE: usize = 50;

/// How many types of relations a hint lists.
const MAX_LISTED_KINDS: usize = 12;

/// A query for relations of one entity.
#[derive(Clone, Debug, Default)]
pub struct RelationQuery {
    /// The name of the entity.
    pub name: String,
    /// Only relations of this type.
    pub kind: Option<String>,
    /// Only relations in this direction.
    pub direction: Direction,
    /// Only relations that hold at this date, as the caller gave it.
    pub as_of: Option<String>,
    /// The page, from 1, of fifty relations.
    pub page: usize,
}

/// The directions of relations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// Relations of the entity to others.
    Outgoing,
    /// Relations of others to the entity.
    Incoming,
    /// Both.
    #[default]
    Both,
}

/// One page of the relations of an entity.
#[derive(Clone, Debug)]
pub struct RelationPage<'a> {
    /// The exact name of the entity.
    pub name: String,
    /// The date at which the relations hold, if the query gave one.
    pub as_of: Option<Date>,
    /// The outgoing relations on this page.
    pub outgoing: Vec<&'a Relation>,
    /// The incoming relations on this page.
    pub incoming: Vec<IncomingRelation<'a>>,
    /// How many relations match the query.
    pub total: usize,
    /// The number of the next page, if there is one.
    pub next_page: Option<usize>,
    /// How many relations have dates that cannot be read. Some of them may match the query.
    pub with_invalid_dates: usize,
    /// If nothing matches, the types of relations that the entity has.
    pub kinds_hint: String,
}

/// Returns the relations of one entity that match `query`.
pub fn get_relationships<'s>(
    session: &'s Session<'_>,
    query: &RelationQuery,
) -> Result<RelationPage<'s>, Refusal> {
    let (palace, today) = (&session.palace.palace, session.caller.today());
    let name = resolve_entity_to_read(palace, &query.name)?;
    let as_of = query.as_of.as_ref();
    let as_of = as_of.map(|it| parse_date_argument("as_of", it, today)).transpose()?;
    let all = EntityRelations::for_entity(&palace.graph, &name, query.direction);
    let mut matching = all.clone();
    let with_invalid_dates = matching.retain_matching(query.kind.as_deref(), as_of);
    let (total, page) = (matching.len(), query.page.max(1));
    let kind = query.kind.as_ref().filter(|_| total == 0);
    let kinds_hint = kind.map(|it| all.kinds_hint(it)).unwrap_or_default();
    let from = (page - 1).saturating_mul(RELATIONS_PER_PAGE).min(total);
    let until = from.saturating_add(RELATIONS_PER_PAGE).min(total);
    let (outgoing, incoming) = matching.slice(from, until);
    let (outgoing, incoming) = (outgoing.to_vec(), incoming.to_vec());
    let next_page = (until < total).then(|| page + 1);
    Ok(RelationPage {
        name,
        as_of,
        outgoing,
        incoming,
        total,
        next_page,
        with_invalid_dates,
        kinds_hint,
    })
}

/// Returns whether a relation to the entity `name` is one of its own: then it is an outgoing one
/// too.
pub(crate) fn is_relation_to_self(incoming: &IncomingRelation<'_>, name: &str) -> bool {
    incoming.from.is_defined && incoming.from.name == name
}

/// The outgoing relations of an entity, followed by the incoming ones.
#[derive(Clone, Debug)]
struct EntityRelations<'a> {
    outgoing: Vec<&'a Relation>,
    incoming: Vec<IncomingRelation<'a>>,
}

impl<'a> EntityRelations<'a> {
    /// Returns the relations of the entity with that exact name.
    fn for_entity(graph: &'a Graph, name: &str, direction: Direction) -> Self {
        let mut relations = Self { outgoing: Vec::new(), incoming: Vec::new() };
        if direction != Direction::Incoming {
            relations.outgoing.extend(graph.get(name).into_iter().flat_map(|it| &it.relations));
        }
        if direction != Direction::Outgoing {
            let incoming = graph.incoming_relations(name);
            let is_listed = |it: &IncomingRelation<'_>| {
                direction == Direction::Both && is_relation_to_self(it, name)
            };
            relations.incoming.extend(incoming.filter(|it| !is_listed(it)));
        }
        relations
    }

    /// Keeps the relations of a type that hold at a date. Returns how many of that type have
    /// dates that cannot be read.
    fn retain_matching(&mut self, kind: Option<&str>, as_of: Option<Date>) -> usize {
        let mut with_invalid_dates = 0;
        let mut is_match = |it: &Relation| {
            let is_kind = kind.is_none_or(|kind| kind == it.kind);
            let holds = as_of.map_or(Some(true), |at| it.holds_at(at));
            with_invalid_dates += usize::from(is_kind && holds.is_none());
            is_kind && holds == Some(true)
        };
        self.outgoing.retain(|it| is_match(it));
        self.incoming.retain(|it| is_match(it.relation));
        with_invalid_dates
    }

    fn len(&self) -> usize {
        self.outgoing.len() + self.incoming.len()
    }

    /// Returns the relations from position `from` to before `until`.
    fn slice(&self, from: usize, until: usize) -> (&[&'a Relation], &[IncomingRelation<'a>]) {
        let out = self.outgoing.len();
        let outgoing = &self.outgoing[from.min(out)..until.min(out)];
        (outgoing, &self.incoming[from.max(out) - out..until.max(out) - out])
    }

    /// Suggests a type of relation that the entity has instead of `kind`, or lists them.
    fn kinds_hint(&self, kind: &str) -> String {
        let kinds = self.outgoing.iter().map(|it| it.kind.as_str());
        let kinds: BTreeSet<_> =
            kinds.chain(self.incoming.iter().map(|it| it.relation.kind.as_str())).collect();
        if kinds.is_empty() || kinds.contains(kind) {
            return String::new();
        }
        let quoted = |it: &str| quoted(&render::truncate(it, 60));
        if let Some(meant) = did_you_mean(kind, kinds.iter().copied()) {
            return format!(" Did you mean {}?", quoted(meant));
        }
        let more = if kinds.len() > MAX_LISTED_KINDS { " …" } else { "" };
        let listed: Vec<_> = kinds.into_iter().take(MAX_LISTED_KINDS).map(quoted).collect();
        format!(" It has {}{more}.", listed.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home::TestHome;

    const KARL: (&str, &str) = (
        "entities/person/karl.yaml",
        "name: Karl\ngenus: Person\nrelations:\n\
        - { type: rules, to: Rome, since: 2001, until: 2005 }\n\
        - { type: rules, to: Gaul, since: his youth }\n\
        - { type: likes, to: Honey }\n",
    );
    const EVE: (&str, &str) = (
        "entities/person/eve.yaml",
        "name: Eve\ngenus: Person\nrelations:\n- { type: likes, to: Karl, since: 2010 }\n",
    );

    fn relations_of_karl() -> RelationQuery {
        RelationQuery { name: "karl".to_owned(), ..RelationQuery::default() }
    }

    /// Lists relations of a palace with Karl and Eve, one per line, then the hint.
    fn query(query: &RelationQuery) -> String {
        TestHome::new(&[KARL, EVE]).run(|session| {
            let page = match get_relationships(session, query) {
                Ok(page) => page,
                Err(refusal) => return refusal.to_string(),
            };
            let outgoing = page.outgoing.iter().map(|it| format!("{} → {}", it.kind, it.to));
            let incoming =
                page.incoming.iter().map(|it| format!("{} ← {}", it.relation.kind, it.from.name));
            let counts = format!("{} in all, {} undated", page.total, page.with_invalid_dates);
            let lines = outgoing.chain(incoming).chain([counts, page.kinds_hint]);
            lines.filter(|it| !it.is_empty()).collect::<Vec<_>>().join("\n")
        })
    }

    #[test]
    fn outgoing_relations_come_before_incoming_ones() {
        insta::assert_snapshot!(query(&relations_of_karl()), @"
        rules → Rome
        rules → Gaul
        likes → Honey
        likes ← Eve
        4 in all, 0 undated
        ");
    }

    #[test]
    fn one_direction_leaves_out_the_other() {
        let of = |direction| query(&RelationQuery { direction, ..relations_of_karl() });
        assert_eq!(of(Direction::Incoming), "likes ← Eve\n1 in all, 0 undated");
        assert!(of(Direction::Outgoing).ends_with("likes → Honey\n3 in all, 0 undated"));
    }

    #[test]
    fn a_date_leaves_out_relations_that_do_not_hold_and_counts_unreadable_dates() {
        let as_of = |date: &str| {
            query(&RelationQuery { as_of: Some(date.to_owned()), ..relations_of_karl() })
        };
        let at_the_time = "rules → Rome\nlikes → Honey\n2 in all, 1 undated";
        assert_eq!(as_of("2004-12-31"), at_the_time);
        assert_eq!(as_of("2005"), "likes → Honey\n1 in all, 1 undated");
        assert_eq!(as_of("today"), "likes → Honey\nlikes ← Eve\n2 in all, 1 undated");
    }

    #[test]
    fn only_undated_relations_of_the_type_are_counted() {
        let (kind, as_of) = (Some("likes".to_owned()), Some("2000".to_owned()));
        let page = query(&RelationQuery { kind, as_of, ..relations_of_karl() });
        assert_eq!(page, "likes → Honey\n1 in all, 0 undated");
    }

    #[test]
    fn an_unknown_type_gets_the_nearest_one_or_a_list() {
        let of = |kind: &str| {
            query(&RelationQuery { kind: Some(kind.to_owned()), ..relations_of_karl() })
        };
        assert_eq!(of("rule"), "0 in all, 0 undated\n Did you mean `rules`?");
        assert_eq!(of("Likes"), "0 in all, 0 undated\n Did you mean `likes`?");
        assert_eq!(of("x"), "0 in all, 0 undated\n It has `likes`, `rules`.");
    }

    #[test]
    fn a_type_that_exists_at_another_time_gets_no_hint() {
        let (kind, as_of) = (Some("rules".to_owned()), Some("1900".to_owned()));
        let page = query(&RelationQuery { kind, as_of, ..relations_of_karl() });
        assert_eq!(page, "0 in all, 1 undated");
    }

    #[test]
    fn an_unreadable_date_is_refused() {
        let as_of = Some("his youth".to_owned());
        insta::assert_snapshot!(query(&RelationQuery { as_of, ..relations_of_karl() }), @"`as_of`: `his youth` is no date: write 1972, 1972-05, 1972-01-31, 44 BC or 2026-03-01T12:00:00Z");
    }

    #[test]
    fn an_undefined_target_is_no_entity() {
        insta::assert_snapshot!(query(&RelationQuery { name: "Honey".to_owned(), ..RelationQuery::default() }), @"no entity is called `Honey` (use search_entities to search by words)");
    }

    #[test]
    fn a_page_has_fifty_relations_and_spans_both_directions() {
        let drowned = (0..49).map(|it| format!("- {{ type: drowned, to: Hill {it} }}\n"));
        let flood = drowned.collect::<String>();
        let flood = format!("name: Flood\ngenus: Event\nrelations:\n{flood}");
        let later = ["A", "B"].map(|it| {
            format!("name: {it}\ngenus: Event\nrelations:\n- {{ type: follows, to: Flood }}\n")
        });
        let [a, b] = &later;
        let files =
            [("entities/e/f.yaml", &*flood), ("entities/e/a.yaml", a), ("entities/e/b.yaml", b)];
        let mut home = TestHome::new(&files);
        let mut page = |page: usize| {
            let name = "Flood".to_owned();
            let query = RelationQuery { name, page, ..RelationQuery::default() };
            home.run(|session| {
                let page = get_relationships(session, &query).unwrap();
                (page.outgoing.len(), page.incoming.len(), page.next_page)
            })
        };
        assert_eq!(page(1), (49, 1, Some(2)));
        assert_eq!(page(2), (0, 1, None));
        assert_eq!(page(3), (0, 0, None));
    }
}
