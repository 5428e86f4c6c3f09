//! Sorted entities with group headings, for one grouping of the graph.

use crate::model::{GroupHeading, HallBoundary};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::model::graph::sorted_list::SortedList;
use crate::model::{Date, Entity, GroupBy, Grouping, compare_alphabetically};

/// An entity of a grouping: its headings and its name, which determine its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupedEntity {
    /// The headings, from the widest to the narrowest; all entities of a grouping have the same
    /// number of them.
    pub headings: Arc<[GroupHeading]>,
    /// The entity's name.
    pub name: Arc<str>,
}

/// All entities of one grouping, sorted.
#[derive(Clone, Debug)]
pub struct GroupedEntities {
    entities: SortedList<GroupedEntity>,
}

/// The groupings that have been requested; they are kept up to date from then on.
#[derive(Clone, Debug, Default)]
pub(crate) struct GroupingCache {
    groupings: BTreeMap<Grouping, GroupedEntities>,
}

impl GroupingCache {
    /// Stores a grouping.
    pub(crate) fn insert_grouping(&mut self, grouping: &Grouping, grouped: GroupedEntities) {
        self.groupings.insert(grouping.clone(), grouped);
    }

    /// Returns a stored grouping.
    pub(crate) fn cached_entities(&self, grouping: &Grouping) -> Option<&GroupedEntities> {
        self.groupings.get(grouping)
    }

    /// Inserts an entity into every stored grouping that includes its genus.
    pub(crate) fn insert_entity(&mut self, name: &Arc<str>, entity: &Entity) {
        for (grouping, grouped) in
            self.groupings.iter_mut().filter(|(it, _)| it.includes_genus(&entity.genus))
        {
            grouped.entities.insert(GroupedEntity::from_entity(grouping, name, entity));
        }
    }

    /// Removes an entity from every stored grouping; it must be equal to the inserted one.
    pub(crate) fn remove_entity(&mut self, name: &Arc<str>, entity: &Entity) {
        for (grouping, grouped) in
            self.groupings.iter_mut().filter(|(it, _)| it.includes_genus(&entity.genus))
        {
            grouped.entities.remove(&GroupedEntity::from_entity(grouping, name, entity));
        }
    }
}

impl GroupedEntities {
    /// Sorts the entities of a grouping.
    pub(crate) fn from_unsorted(entities: Vec<GroupedEntity>) -> Self {
        Self { entities: SortedList::from_unsorted(entities) }
    }

    /// Returns the entity at an index, from 0.
    pub fn entity_at(&self, index: usize) -> Option<&GroupedEntity> {
        self.entities.get(index)
    }

    /// Returns the number of leading entities for which `is_before` is true. `is_before` must be
    /// monotone: true for a prefix, false after.
    pub fn count_before(&self, is_before: impl Fn(&GroupedEntity) -> bool) -> usize {
        self.entities.count_before(is_before)
    }

    /// Returns the indexes between two boundaries; a missing boundary is the start or the end.
    pub fn range_between(
        &self,
        from: Option<&HallBoundary>,
        until: Option<&HallBoundary>,
    ) -> Range<usize> {
        let before =
            |boundary: &HallBoundary| self.count_before(|it| it.is_before_boundary(boundary));
        let start = from.map_or(0, before);
        let end = until.map_or_else(|| self.entities.len(), before);
        start..end.max(start)
    }
}

impl GroupedEntity {
    /// Returns whether the entity comes before a boundary.
    pub fn is_before_boundary(&self, boundary: &HallBoundary) -> bool {
        let common = self.headings.len().min(boundary.headings.len());
        compare_headings(&self.headings[..common], &boundary.headings)
            .then_with(|| compare_alphabetically(&self.name, &boundary.name_prefix))
            .is_lt()
    }

    pub(crate) fn from_entity(grouping: &Grouping, name: &Arc<str>, entity: &Entity) -> Self {
        let headings = match grouping {
            Grouping::Genus { by: GroupBy::Date, .. } => creation_date_headings(entity).into(),
            Grouping::Genus { by: GroupBy::Attribute(attribute), .. } => {
                [entity.attributes.get(attribute).and_then(value_heading)].into()
            }
            _ => headings_of_genus_and_status(grouping, &entity.genus, entity.status.as_deref())
                .unwrap_or_default(),
        };
        Self { headings, name: name.clone() }
    }
}

/// Returns the headings for a genus and a status, or `None` if the grouping depends on more than
/// these.
pub(crate) fn headings_of_genus_and_status(
    grouping: &Grouping,
    genus: &str,
    status: Option<&str>,
) -> Option<Arc<[GroupHeading]>> {
    let status = status.map(str::to_owned);
    match grouping {
        Grouping::Everything => Some([Some(genus.to_owned()), status].into()),
        Grouping::Genus { by: GroupBy::Status, .. } => Some([status].into()),
        Grouping::Genus { by: GroupBy::Name, .. } => Some([].into()),
        Grouping::Genus { by: GroupBy::Date | GroupBy::Attribute(_), .. } => None,
    }
}

impl Ord for GroupedEntity {
    fn cmp(&self, other: &Self) -> Ordering {
        compare_headings(&self.headings, &other.headings)
            .then_with(|| compare_alphabetically(&self.name, &other.name))
    }
}

impl PartialOrd for GroupedEntity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

fn compare_headings(a: &[GroupHeading], b: &[GroupHeading]) -> Ordering {
    let differing = a.iter().zip(b).find(|(a, b)| a != b);
    match differing {
        Some((Some(a), Some(b))) => compare_values(a, b),
        Some((None, _)) => Ordering::Greater,
        Some((_, None)) => Ordering::Less,
        None => a.len().cmp(&b.len()),
    }
}

/// Compares numbers and dates by value, a year as a number, and sorts words after them; equal
/// values are compared as text.
fn compare_values(a: &str, b: &str) -> Ordering {
    let in_order = match (parse_sortable_value(a), parse_sortable_value(b)) {
        (Some(a), Some(b)) => a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)),
        (a, b) => a.is_none().cmp(&b.is_none()),
    };
    in_order.then_with(|| compare_alphabetically(a, b))
}

/// Parses a text as a number or a date.
fn parse_sortable_value(text: &str) -> Option<(f64, Option<Date>)> {
    // Most headings are words, and there may be 100,000, so check the first character before
    // parsing.
    text.starts_with(|it: char| it.is_ascii_digit() || "+-.".contains(it)).then_some(())?;
    if let Ok(date) = text.parse::<Date>() {
        return Some((date.year().into(), Some(date)));
    }
    let number: f64 = text.parse().ok()?;
    number.is_finite().then_some((number, None))
}

/// Returns year, month and day of the entity's creation, from its id.
fn creation_date_headings(entity: &Entity) -> [GroupHeading; 3] {
    let created = entity.id.map(|it| DateTime::<Utc>::from(it.datetime()));
    ["%Y", "%m", "%d"].map(|part| created.map(|it| it.format(part).to_string()))
}

fn value_heading(value: &Value) -> GroupHeading {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        value => Some(value.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_dates_sort_by_value_before_words() {
        let mut said = [
            "1900",
            "0900",
            "44 BC",
            "none",
            "-0010",
            "753 BC",
            "1066-10-14",
            "1066",
            "12 BC",
            "0033-04-03",
            "168",
            "9",
            "31",
            "-2.5",
            "1e3",
            "Inf",
            "-",
            "1066-10",
            "10",
            "+inf",
        ];
        said.sort_by(|a, b| compare_values(a, b));
        let sorted = "753 BC, 44 BC, 12 BC, -0010, -2.5, 9, 10, 31, 0033-04-03, 168, 0900, 1e3, \
                      1066, 1066-10, 1066-10-14, 1900, +inf, -, Inf, none";
        assert_eq!(said.join(", "), sorted);
    }
}
