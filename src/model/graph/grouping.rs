//! The entities of an arrangement, in its order.

use std::borrow::Cow;
use std::sync::Arc;

use crate::model::graph::grouped_entities::headings_for;
use crate::model::{Graph, GroupedEntities, GroupedEntity, Grouping};

impl Graph {
    /// Returns the entities of an arrangement in its order: at once if the
    /// arrangement is kept, else once they are put in order.
    pub fn grouped_entities(&self, arrangement: &Grouping) -> Cow<'_, GroupedEntities> {
        match self.grouping_cache.grouping(arrangement) {
            Some(kept) => Cow::Borrowed(kept),
            None => Cow::Owned(self.build_grouping(arrangement)),
        }
    }

    /// Tells whether an arrangement is kept in order.
    pub fn has_cached_grouping(&self, arrangement: &Grouping) -> bool {
        self.grouping_cache.grouping(arrangement).is_some()
    }

    /// Keeps an arrangement in order from now on, whatever is put and taken.
    pub fn cache_grouping(&mut self, arrangement: &Grouping) {
        if self.grouping_cache.grouping(arrangement).is_none() {
            let register = self.build_grouping(arrangement);
            self.grouping_cache.insert_grouping(arrangement, register);
        }
    }

    fn build_grouping(&self, arrangement: &Grouping) -> GroupedEntities {
        let genera = self.genera.keys().filter(|genus| arrangement.includes_genus(genus));
        GroupedEntities::from_unsorted(
            genera.flat_map(|genus| self.group_entities_of_genus(arrangement, genus)).collect(),
        )
    }

    /// Returns the cards of a genus, in no order. Most of what is asked, the
    /// indexes know without a look at the entities.
    fn group_entities_of_genus(&self, arrangement: &Grouping, genus: &str) -> Vec<GroupedEntity> {
        let names = self.genera.get(genus).into_iter().flatten();
        let Some(without_status) = headings_for(arrangement, genus, None) else {
            let entities = names.filter_map(|name| Some((name, self.get(name)?)));
            return entities
                .map(|(name, it)| GroupedEntity::for_entity(arrangement, name, it))
                .collect();
        };
        let mut cards = Vec::with_capacity(self.count_in_genus(genus));
        for (status, names) in self.statuses.get(genus).into_iter().flatten() {
            let headings = headings_for(arrangement, genus, Some(status)).unwrap_or_default();
            let card =
                |name: &Arc<str>| GroupedEntity { headings: headings.clone(), name: name.clone() };
            cards.extend(names.iter().map(card));
        }
        let left = self.count_in_genus(genus) - cards.len();
        let has_none = |name: &&Arc<str>| self.get(name).is_some_and(|it| it.status.is_none());
        let rest = names.filter(has_none).take(left);
        cards.extend(
            rest.map(|it| GroupedEntity { headings: without_status.clone(), name: it.clone() }),
        );
        cards
    }
}
