//! The sorted entities of a grouping.

use std::borrow::Cow;
use std::sync::Arc;

use crate::model::graph::grouped_entities::headings_of_genus_and_status;
use crate::model::{Graph, GroupedEntities, GroupedEntity, Grouping};

impl Graph {
    /// Returns the sorted entities of a grouping: from the cache, or sorted now.
    pub fn grouped_entities(&self, grouping: &Grouping) -> Cow<'_, GroupedEntities> {
        match self.grouping_cache.cached_entities(grouping) {
            Some(cached) => Cow::Borrowed(cached),
            None => Cow::Owned(self.build_grouped_entities(grouping)),
        }
    }

    /// Returns whether a grouping is in the cache.
    pub fn has_cached_grouping(&self, grouping: &Grouping) -> bool {
        self.grouping_cache.cached_entities(grouping).is_some()
    }

    /// Adds a grouping to the cache, where it is kept up to date.
    pub fn cache_grouping(&mut self, grouping: &Grouping) {
        if self.grouping_cache.cached_entities(grouping).is_none() {
            let grouped = self.build_grouped_entities(grouping);
            self.grouping_cache.insert_grouping(grouping, grouped);
        }
    }

    fn build_grouped_entities(&self, grouping: &Grouping) -> GroupedEntities {
        let genera = self.genera.keys().filter(|genus| grouping.includes_genus(genus));
        GroupedEntities::from_unsorted(
            genera.flat_map(|genus| self.group_entities_of_genus(grouping, genus)).collect(),
        )
    }

    /// Returns the entities of a genus with their headings, unsorted. Most groupings need only the
    /// indexes, not the entities.
    fn group_entities_of_genus(&self, grouping: &Grouping, genus: &str) -> Vec<GroupedEntity> {
        let names = self.genera.get(genus).into_iter().flatten();
        let Some(without_status) = headings_of_genus_and_status(grouping, genus, None) else {
            let entities = names.filter_map(|name| Some((name, self.get(name)?)));
            return entities
                .map(|(name, it)| GroupedEntity::from_entity(grouping, name, it))
                .collect();
        };
        let mut grouped = Vec::with_capacity(self.count_in_genus(genus));
        for (status, names) in self.statuses.get(genus).into_iter().flatten() {
            let headings =
                headings_of_genus_and_status(grouping, genus, Some(status)).unwrap_or_default();
            let with_headings =
                |name: &Arc<str>| GroupedEntity { headings: headings.clone(), name: name.clone() };
            grouped.extend(names.iter().map(with_headings));
        }
        let left = self.count_in_genus(genus) - grouped.len();
        let has_none = |name: &&Arc<str>| self.get(name).is_some_and(|it| it.status.is_none());
        let rest = names.filter(has_none).take(left);
        grouped.extend(
            rest.map(|it| GroupedEntity { headings: without_status.clone(), name: it.clone() }),
        );
        grouped
    }
}
