//! Lists of entities, a page at a time.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::model::graph::name_index::{
    hash_attribute_value, hash_attribute_values, lowercase_values,
};
use crate::model::{Entity, Graph};

/// Which entities are wanted. What is not said does not matter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EntityFilter {
    /// Those of this genus.
    pub genus: Option<String>,
    /// Those of this status, whatever the case.
    pub status: Option<String>,
    /// Those with these attributes, whatever the case of their values. Of an
    /// attribute that is a list, one item is enough.
    pub attributes: Map<String, Value>,
}

/// A page of a list, while it is put together.
struct FilterPage<'a> {
    skip: usize,
    limit: usize,
    total: usize,
    names: Vec<&'a Arc<str>>,
}

impl Graph {
    /// Returns how many entities are wanted, and of those, by genus and name,
    /// `most` after the first `left_out`. Spellings of a status that differ in
    /// case only come one after the other.
    pub fn filter_entities(
        &self,
        wanted: &EntityFilter,
        left_out: usize,
        most: usize,
    ) -> (usize, Vec<&Entity>) {
        let mut page = FilterPage { skip: left_out, limit: most, total: 0, names: Vec::new() };
        let genera = self.genera.keys().filter(|it| wanted.genus.as_ref().is_none_or(|g| g == *it));
        for genus in genera {
            if let Some((key, value)) = wanted.attributes.iter().next() {
                let word = lowercase_values(value).into_iter().next();
                let names = word
                    .into_iter()
                    .flat_map(|word| self.names_with_attribute_value(genus, key, &word));
                let names: Vec<_> = names.filter(|it| self.is_name_matching(it, wanted)).collect();
                page.add_names(names.len(), names.into_iter());
                continue;
            }
            match &wanted.status {
                None => self.genera.get(genus).map(|it| page.add_names(it.len(), it.iter())),
                Some(status) => self.statuses.get(genus).map(|it| {
                    let same = it.iter().filter(|(it, _)| equals_ignoring_case(it, status));
                    same.for_each(|(_, names)| page.add_names(names.len(), names.iter()));
                }),
            };
        }
        (page.total, page.names.into_iter().filter_map(|it| self.get(it)).collect())
    }

    /// Yields what entities are, by genus and status, as far as those alone make them
    /// wanted.
    pub fn genus_status_pairs(
        &self,
        wanted: &EntityFilter,
    ) -> impl Iterator<Item = (&str, Option<&str>)> {
        let genera = self.genus_counts().map(|(it, _)| it);
        let genera = genera.filter(|it| wanted.genus.as_ref().is_none_or(|genus| genus == it));
        let kinds = genera.flat_map(|genus| {
            let statuses = self.status_counts(genus).map(|(it, _)| Some(it));
            statuses.chain([None]).map(move |it| (genus, it))
        });
        kinds.filter(|(_, it)| {
            let asked = wanted.status.as_ref();
            asked.is_none_or(|asked| it.is_some_and(|status| equals_ignoring_case(status, asked)))
        })
    }

    /// Tells whether an entity is wanted.
    pub fn matches_filter(entity: &Entity, wanted: &EntityFilter) -> bool {
        let has = |key: &str, value: &Value| {
            let known = entity.attributes.get(key).map(lowercase_values).unwrap_or_default();
            let asked = lowercase_values(value);
            !asked.is_empty() && asked.iter().all(|it| known.contains(it))
        };
        wanted.genus.as_ref().is_none_or(|it| *it == entity.genus)
            && wanted.status.as_ref().is_none_or(|asked| {
                entity.status.as_ref().is_some_and(|status| equals_ignoring_case(status, asked))
            })
            && wanted.attributes.iter().all(|(key, value)| has(key, value))
    }

    /// Yields the attributes that are laid down for a genus and those that its entities
    /// have, most of them more than once.
    pub fn attribute_names<'a>(&'a self, genus: &'a str) -> impl Iterator<Item = &'a str> {
        let laid_down = self.genus_definition(genus).into_iter().flat_map(|it| &it.attributes);
        let laid_down = laid_down.map(|(name, _)| name.as_str());
        let entities = self.entities_of_genus(genus, None);
        laid_down.chain(entities.flat_map(|it| it.attributes.keys()).map(String::as_str))
    }

    /// Yields the names of the entities of `genus` with a value of an attribute,
    /// in lower case; some may have another, so that whoever asks looks again.
    pub(crate) fn names_with_attribute_value(
        &self,
        genus: &str,
        key: &str,
        word: &str,
    ) -> impl Iterator<Item = &Arc<str>> + use<'_> {
        let print = hash_attribute_value(genus, key, word);
        let found = self.values.range_while(
            || self.entity_names_by_key(hash_attribute_values),
            print,
            move |it| *it == print,
        );
        found.map(|(_, name)| name)
    }

    fn is_name_matching(&self, name: &str, wanted: &EntityFilter) -> bool {
        self.get(name).is_some_and(|it| Self::matches_filter(it, wanted))
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
