//! The relations of one entity, both ways.

use std::collections::BTreeSet;

use crate::keeper::Direction;
use crate::model::{Date, Graph, IncomingRelation, Relation, did_you_mean};
use crate::render;

/// How many types of relations are named to whom asks for another.
const MAX_LISTED_KINDS: usize = 12;

/// The relations that lead out, and then those that lead here.
#[derive(Clone, Debug)]
pub(crate) struct EntityRelations<'a> {
    outgoing: Vec<&'a Relation>,
    incoming: Vec<IncomingRelation<'a>>,
}

impl<'a> EntityRelations<'a> {
    /// Returns those of the entity of that exact name.
    pub(crate) fn for_entity(graph: &'a Graph, name: &'a str, direction: Direction) -> Self {
        let mut ties = Self { outgoing: Vec::new(), incoming: Vec::new() };
        if direction != Direction::Incoming {
            ties.outgoing.extend(graph.get(name).into_iter().flat_map(|it| &it.relations));
        }
        if direction != Direction::Outgoing {
            ties.incoming.extend(graph.incoming_relations(name));
        }
        ties
    }

    /// Keeps those of a type that hold at a date; returns of how many it is not known
    /// whether they do.
    pub(crate) fn retain_matching(&mut self, kind: Option<&str>, as_of: Option<Date>) -> usize {
        let mut undated = 0;
        let mut is_wanted = |it: &Relation| {
            let is_kind = kind.is_none_or(|kind| kind == it.kind);
            let holds = as_of.map_or(Some(true), |at| it.holds_at(at));
            undated += usize::from(is_kind && holds.is_none());
            is_kind && holds == Some(true)
        };
        self.outgoing.retain(|it| is_wanted(it));
        self.incoming.retain(|it| is_wanted(it.relation));
        undated
    }

    /// Returns how many there are.
    pub(crate) fn len(&self) -> usize {
        self.outgoing.len() + self.incoming.len()
    }

    /// Returns those from one place to another.
    pub(crate) fn slice(
        &self,
        from: usize,
        until: usize,
    ) -> (&[&'a Relation], &[IncomingRelation<'a>]) {
        let out = self.outgoing.len();
        let outgoing = &self.outgoing[from.min(out)..until.min(out)];
        (outgoing, &self.incoming[from.max(out) - out..until.max(out) - out])
    }

    /// Says which types there are, if none of them is `asked`.
    pub(crate) fn kinds_hint(&self, asked: &str) -> String {
        let kinds = self.outgoing.iter().map(|it| it.kind.as_str());
        let kinds: BTreeSet<_> =
            kinds.chain(self.incoming.iter().map(|it| it.relation.kind.as_str())).collect();
        if kinds.is_empty() || kinds.contains(asked) {
            return String::new();
        }
        let quoted = |it: &str| format!("`{}`", render::truncate(&render::one_line(it), 60));
        if let Some(meant) = did_you_mean(asked, kinds.iter().copied()) {
            return format!(" Did you mean {}?", quoted(meant));
        }
        let more = if kinds.len() > MAX_LISTED_KINDS { " …" } else { "" };
        let some: Vec<_> = kinds.into_iter().take(MAX_LISTED_KINDS).map(quoted).collect();
        format!(" It has {}{more}.", some.join(", "))
    }
}
