//! The entities of an arrangement, in its order.

use std::borrow::Cow;
use std::sync::Arc;

use crate::model::graph::grouped_entities::headings;
use crate::model::{Arrangement, Card, Graph, Register};

impl Graph {
    /// Returns the entities of an arrangement in its order: at once if the
    /// arrangement is kept, else once they are put in order.
    pub fn register(&self, arrangement: &Arrangement) -> Cow<'_, Register> {
        match self.catalogue.register(arrangement) {
            Some(kept) => Cow::Borrowed(kept),
            None => Cow::Owned(self.arranged(arrangement)),
        }
    }

    /// Tells whether an arrangement is kept in order.
    pub fn keeps(&self, arrangement: &Arrangement) -> bool {
        self.catalogue.register(arrangement).is_some()
    }

    /// Keeps an arrangement in order from now on, whatever is put and taken.
    pub fn keep(&mut self, arrangement: &Arrangement) {
        if self.catalogue.register(arrangement).is_none() {
            let register = self.arranged(arrangement);
            self.catalogue.keep(arrangement, register);
        }
    }

    fn arranged(&self, arrangement: &Arrangement) -> Register {
        let genera = self.genera.keys().filter(|genus| arrangement.has(genus));
        Register::of(genera.flat_map(|genus| self.cards(arrangement, genus)).collect())
    }

    /// Returns the cards of a genus, in no order. Most of what is asked, the
    /// indexes know without a look at the entities.
    fn cards(&self, arrangement: &Arrangement, genus: &str) -> Vec<Card> {
        let names = self.genera.get(genus).into_iter().flatten();
        let Some(without_status) = headings(arrangement, genus, None) else {
            let entities = names.filter_map(|name| Some((name, self.get(name)?)));
            return entities.map(|(name, it)| Card::of(arrangement, name, it)).collect();
        };
        let mut cards = Vec::with_capacity(self.count(genus));
        for (status, names) in self.statuses.get(genus).into_iter().flatten() {
            let headings = headings(arrangement, genus, Some(status)).unwrap_or_default();
            let card = |name: &Arc<str>| Card { headings: headings.clone(), name: name.clone() };
            cards.extend(names.iter().map(card));
        }
        let left = self.count(genus) - cards.len();
        let has_none = |name: &&Arc<str>| self.get(name).is_some_and(|it| it.status.is_none());
        let rest = names.filter(has_none).take(left);
        cards.extend(rest.map(|it| Card { headings: without_status.clone(), name: it.clone() }));
        cards
    }
}
