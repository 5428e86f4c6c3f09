//! Filtered lists of entities, with pagination.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::model::graph::lazy_index::lowercase_values;
use crate::model::{Entity, Graph};

/// A filter for entities. Fields that are not set match everything.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EntityFilter {
    /// The genus.
    pub genus: Option<String>,
    /// The status, ignoring case.
    pub status: Option<String>,
    /// Attribute values, ignoring case. For a list attribute, one matching item is enough.
    pub attributes: Map<String, Value>,
}

/// A page of results while it is filled.
struct FilterPage<'a> {
    skip: usize,
    limit: usize,
    total: usize,
    names: Vec<&'a Arc<str>>,
}

impl Graph {
    /// Returns the number of matching entities, and up to `limit` of them after the first `skip`,
    /// by genus and name. Statuses that differ only in case come one after the other.
    pub fn filter_entities(
        &self,
        filter: &EntityFilter,
        skip: usize,
        limit: usize,
    ) -> (usize, Vec<&Entity>) {
        let mut page = FilterPage { skip, limit, total: 0, names: Vec::new() };
        let genera = self.genera.keys().filter(|it| filter.genus.as_ref().is_none_or(|g| g == *it));
        for genus in genera {
            if let Some((key, value)) = filter.attributes.iter().next() {
                let word = lowercase_values(value).into_iter().next();
                let names = word
                    .into_iter()
                    .flat_map(|word| self.possible_names_by_attribute_value(genus, key, &word));
                let names: Vec<_> =
                    names.filter(|it| self.is_entity_matching(it, filter)).collect();
                page.add_names(names.len(), names.into_iter());
                continue;
            }
            match &filter.status {
                None => self.genera.get(genus).map(|it| page.add_names(it.len(), it.iter())),
                Some(status) => self.statuses.get(genus).map(|it| {
                    let same = it.iter().filter(|(it, _)| equals_ignoring_case(it, status));
                    same.for_each(|(_, names)| page.add_names(names.len(), names.iter()));
                }),
            };
        }
        (page.total, page.names.into_iter().filter_map(|it| self.get(it)).collect())
    }

    /// Yields the pairs of genus and status that match the genus and status of the filter.
    pub fn genus_status_pairs(
        &self,
        filter: &EntityFilter,
    ) -> impl Iterator<Item = (&str, Option<&str>)> {
        let genera = self.genus_counts().map(|(it, _)| it);
        let genera = genera.filter(|it| filter.genus.as_ref().is_none_or(|genus| genus == it));
        let kinds = genera.flat_map(|genus| {
            let statuses = self.status_counts(genus).map(|(it, _)| Some(it));
            statuses.chain([None]).map(move |it| (genus, it))
        });
        kinds.filter(|(_, it)| {
            let status = filter.status.as_ref();
            status.is_none_or(|status| it.is_some_and(|it| equals_ignoring_case(it, status)))
        })
    }

    /// Returns whether an entity matches the filter.
    pub fn matches_filter(entity: &Entity, filter: &EntityFilter) -> bool {
        let has = |key: &str, value: &Value| {
            let known = entity.attributes.get(key).map(lowercase_values).unwrap_or_default();
            let asked = lowercase_values(value);
            !asked.is_empty() && asked.iter().all(|it| known.contains(it))
        };
        filter.genus.as_ref().is_none_or(|it| *it == entity.genus)
            && filter.status.as_ref().is_none_or(|asked| {
                entity.status.as_ref().is_some_and(|status| equals_ignoring_case(status, asked))
            })
            && filter.attributes.iter().all(|(key, value)| has(key, value))
    }

    /// Yields the attributes that a genus defines and those that its entities have; most occur more
    /// than once.
    pub fn attribute_names<'a>(&'a self, genus: &'a str) -> impl Iterator<Item = &'a str> {
        let defined = self.genus_definition(genus).into_iter().flat_map(|it| &it.attributes);
        let defined = defined.map(|(name, _)| name.as_str());
        let entities = self.entities_of_genus(genus, None);
        defined.chain(entities.flat_map(|it| it.attributes.keys()).map(String::as_str))
    }

    fn is_entity_matching(&self, name: &str, filter: &EntityFilter) -> bool {
        self.get(name).is_some_and(|it| Self::matches_filter(it, filter))
    }
}

impl<'a> FilterPage<'a> {
    fn add_names(&mut self, count: usize, names: impl Iterator<Item = &'a Arc<str>>) {
        self.total += count;
        let room = self.limit - self.names.len();
        if room > 0 && self.skip < count {
            self.names.extend(names.skip(self.skip).take(room));
        }
        self.skip = self.skip.saturating_sub(count);
    }
}

fn equals_ignoring_case(a: &str, b: &str) -> bool {
    a.to_lowercase() == b.to_lowercase()
}
