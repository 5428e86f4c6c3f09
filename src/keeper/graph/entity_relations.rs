//! The relations of one entity, outgoing and incoming.

use std::collections::BTreeSet;

use crate::keeper::graph::dates::parse_date_argument;
use crate::keeper::graph::lookup::resolve_entity_name;
use crate::keeper::{Refusal, Session};
use crate::model::{Date, Graph, IncomingRelation, Relation, did_you_mean};
use crate::render;

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
    pub undated: usize,
    /// If nothing matches, the types of relations that the entity has.
    pub kinds_hint: String,
}

/// Returns the relations of one entity that match `query`.
pub fn get_relationships<'s>(
    session: &'s Session<'_>,
    query: &RelationQuery,
) -> Result<RelationPage<'s>, Refusal> {
    let (palace, now) = (&session.palace.palace, session.caller.now);
    let name = resolve_entity_name(palace, &query.name)?;
    let as_of = query.as_of.as_ref().map(|it| parse_date_argument("as_of", it, now)).transpose()?;
    let all = EntityRelations::for_entity(&palace.graph, &name, query.direction);
    let mut matching = all.clone();
    let undated = matching.retain_matching(query.kind.as_deref(), as_of);
    let (total, page) = (matching.len(), query.page.max(1));
    let kind = query.kind.as_ref().filter(|_| total == 0);
    let kinds_hint = kind.map(|it| all.kinds_hint(it)).unwrap_or_default();
    let from = (page - 1).saturating_mul(RELATIONS_PER_PAGE).min(total);
    let until = from.saturating_add(RELATIONS_PER_PAGE).min(total);
    let (outgoing, incoming) = matching.slice(from, until);
    let (outgoing, incoming) = (outgoing.to_vec(), incoming.to_vec());
    let next_page = (until < total).then_some(page + 1);
    Ok(RelationPage { name, as_of, outgoing, incoming, total, next_page, undated, kinds_hint })
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
            relations.incoming.extend(graph.incoming_relations(name));
        }
        relations
    }

    /// Keeps the relations of a type that hold at a date. Returns how many of that type have
    /// dates that cannot be read.
    fn retain_matching(&mut self, kind: Option<&str>, as_of: Option<Date>) -> usize {
        let mut undated = 0;
        let mut is_match = |it: &Relation| {
            let is_kind = kind.is_none_or(|kind| kind == it.kind);
            let holds = as_of.map_or(Some(true), |at| it.holds_at(at));
            undated += usize::from(is_kind && holds.is_none());
            is_kind && holds == Some(true)
        };
        self.outgoing.retain(|it| is_match(it));
        self.incoming.retain(|it| is_match(it.relation));
        undated
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
        let quoted = |it: &str| format!("`{}`", render::truncate(&render::one_line(it), 60));
        if let Some(meant) = did_you_mean(kind, kinds.iter().copied()) {
            return format!(" Did you mean {}?", quoted(meant));
        }
        let more = if kinds.len() > MAX_LISTED_KINDS { " …" } else { "" };
        let listed: Vec<_> = kinds.into_iter().take(MAX_LISTED_KINDS).map(quoted).collect();
        format!(" It has {}{more}.", listed.join(", "))
    }
}
