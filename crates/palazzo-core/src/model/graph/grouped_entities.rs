//! Sorted entities with group headings, for one grouping of the graph.

use crate::model::{GroupHeading, HallBoundary};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde_json::Value;

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

/// Initial number of items in a row; a row with twice as many is split.
const CHUNK_SIZE: usize = 512;

/// A sorted list without duplicates that finds an item by index, and the index of a position,
/// without counting all items.
///
/// Rows are short enough for fast insertion and few enough for a fast sum of their lengths: with
/// 100,000 items both take less than a microsecond.
#[derive(Clone, Debug)]
struct SortedList<T> {
    chunks: Vec<Vec<T>>,
}

impl<T: Ord> SortedList<T> {
    /// Sorts and deduplicates items.
    fn from_unsorted(mut items: Vec<T>) -> Self {
        items.sort();
        items.dedup();
        let mut rows = Vec::with_capacity(items.len().div_ceil(CHUNK_SIZE));
        while items.len() > CHUNK_SIZE {
            rows.push(items.split_off(items.len() - CHUNK_SIZE));
        }
        rows.push(items);
        rows.reverse();
        Self { chunks: rows }
    }

    /// Returns the number of items.
    fn len(&self) -> usize {
        self.chunks.iter().map(Vec::len).sum()
    }

    /// Returns the item at an index, from 0.
    fn get(&self, mut index: usize) -> Option<&T> {
        for row in &self.chunks {
            match row.get(index) {
                Some(found) => return Some(found),
                None => index -= row.len(),
            }
        }
        None
    }

    /// Returns the number of leading items for which `is_before` is true. `is_before` must be
    /// monotone: true for a prefix, false after.
    fn count_before(&self, is_before: impl Fn(&T) -> bool) -> usize {
        let whole = self.chunks.partition_point(|row| row.last().is_some_and(&is_before));
        let (passed, rest) = self.chunks.split_at(whole);
        let within = rest.first().map_or(0, |row| row.partition_point(is_before));
        passed.iter().map(Vec::len).sum::<usize>() + within
    }

    /// Inserts an item, unless it is already in the list.
    fn insert(&mut self, item: T) {
        let row = self.find_chunk(&item);
        if row == self.chunks.len() {
            self.chunks.push(Vec::new());
        }
        let found = &mut self.chunks[row];
        if let Err(index) = found.binary_search(&item) {
            found.insert(index, item);
        }
        if found.len() >= 2 * CHUNK_SIZE {
            let half = found.split_off(CHUNK_SIZE);
            self.chunks.insert(row + 1, half);
        }
    }

    /// Removes an item, if it is in the list.
    fn remove(&mut self, item: &T) {
        let row = self.find_chunk(item);
        let Some(found) = self.chunks.get_mut(row) else { return };
        if let Ok(index) = found.binary_search(item) {
            found.remove(index);
        }
        if found.is_empty() {
            self.chunks.remove(row);
        }
    }

    /// Returns the index of the row for an item: the first row that does not end before it, else
    /// the last row.
    fn find_chunk(&self, item: &T) -> usize {
        let row = self.chunks.partition_point(|row| row.last().is_some_and(|last| last < item));
        row.min(self.chunks.len().saturating_sub(1))
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
    use std::collections::BTreeSet;

    use proptest::prelude::*;

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

    proptest! {
        #[test]
        fn positions_match_those_of_a_sorted_set(
            first in proptest::collection::vec(0_u16..5_000, 0..2_500),
            then in proptest::collection::vec((any::<bool>(), 0_u16..5_000), 0..2_500),
        ) {
            let mut ranked = SortedList::from_unsorted(first.clone());
            let mut set: BTreeSet<_> = first.into_iter().collect();
            for (comes, thing) in then {
                if comes {
                    ranked.insert(thing);
                    set.insert(thing);
                } else {
                    ranked.remove(&thing);
                    set.remove(&thing);
                }
            }
            prop_assert_eq!(ranked.len(), set.len());
            for (place, thing) in set.iter().enumerate() {
                prop_assert_eq!(ranked.get(place), Some(thing));
                prop_assert_eq!(ranked.count_before(|it| it < thing), place);
            }
            prop_assert_eq!(ranked.get(set.len()), None);
        }
    }
}
