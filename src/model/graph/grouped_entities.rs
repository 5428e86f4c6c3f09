//! Entities in order: what each arrangement of the graph holds, and where.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::model::graph::sorted_list::SortedList;
use crate::model::{Date, Entity, GroupBy, Grouping, compare_alphabetically};

/// One heading of a card: a genus, a status, a year; none comes last.
pub type GroupHeading = Option<String>;

/// The place of one entity in an arrangement: what it stands under, and what it
/// is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupedEntity {
    /// What it stands under, from the widest to the narrowest; all cards of an
    /// arrangement have the same number of headings.
    pub headings: Arc<[GroupHeading]>,
    /// The entity's name.
    pub name: Arc<str>,
}

/// A point between two cards: all cards it comes before stand on one side.
///
/// It names some headings, and if it names all of them, the beginning of a name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupBoundary {
    /// The first headings of the cards behind it.
    pub headings: Vec<GroupHeading>,
    /// How the first of their names begins.
    pub name_prefix: String,
}

/// All entities of one arrangement, in its order.
#[derive(Clone, Debug)]
pub struct GroupedEntities {
    entities: SortedList<GroupedEntity>,
}

/// The registers that somebody has asked for, kept in order from then on.
#[derive(Clone, Debug, Default)]
pub(crate) struct GroupingCache {
    groupings: BTreeMap<Grouping, GroupedEntities>,
}

impl GroupingCache {
    /// Keeps a register.
    pub(crate) fn insert_grouping(&mut self, arrangement: &Grouping, register: GroupedEntities) {
        self.groupings.insert(arrangement.clone(), register);
    }

    /// Returns a register that is kept.
    pub(crate) fn grouping(&self, arrangement: &Grouping) -> Option<&GroupedEntities> {
        self.groupings.get(arrangement)
    }

    /// Puts an entity in every register it belongs in.
    pub(crate) fn insert_entity(&mut self, name: &Arc<str>, entity: &Entity) {
        for (arrangement, register) in
            self.groupings.iter_mut().filter(|(it, _)| it.includes_genus(&entity.genus))
        {
            register.entities.insert(GroupedEntity::for_entity(arrangement, name, entity));
        }
    }

    /// Takes an entity, as it was put, from every register.
    pub(crate) fn remove_entity(&mut self, name: &Arc<str>, entity: &Entity) {
        for (arrangement, register) in
            self.groupings.iter_mut().filter(|(it, _)| it.includes_genus(&entity.genus))
        {
            register.entities.remove(&GroupedEntity::for_entity(arrangement, name, entity));
        }
    }
}

impl GroupedEntities {
    /// Puts cards in order.
    pub(crate) fn from_unsorted(cards: Vec<GroupedEntity>) -> Self {
        Self { entities: SortedList::from_unsorted(cards) }
    }

    /// Returns the card at a place, from 0.
    pub fn entity_at(&self, place: usize) -> Option<&GroupedEntity> {
        self.entities.get(place)
    }

    /// Returns how many cards come first of which `is_before` holds. It must
    /// hold of none behind one of which it does not.
    pub fn count_before(&self, is_before: impl Fn(&GroupedEntity) -> bool) -> usize {
        self.entities.count_before(is_before)
    }

    /// Returns the places between two marks; without a mark, to the end.
    pub fn range_between(
        &self,
        from: Option<&GroupBoundary>,
        until: Option<&GroupBoundary>,
    ) -> Range<usize> {
        let before = |mark: &GroupBoundary| self.count_before(|it| it.is_before_boundary(mark));
        let start = from.map_or(0, before);
        let end = until.map_or_else(|| self.entities.len(), before);
        start..end.max(start)
    }
}

impl GroupedEntity {
    /// Tells whether the card comes before a mark.
    pub fn is_before_boundary(&self, mark: &GroupBoundary) -> bool {
        let common = self.headings.len().min(mark.headings.len());
        compare_headings(&self.headings[..common], &mark.headings)
            .then_with(|| compare_alphabetically(&self.name, &mark.name_prefix))
            .is_lt()
    }

    pub(crate) fn for_entity(arrangement: &Grouping, name: &Arc<str>, entity: &Entity) -> Self {
        let headings = match arrangement {
            Grouping::Genus { by: GroupBy::Date, .. } => creation_date_headings(entity).into(),
            Grouping::Genus { by: GroupBy::Attribute(attribute), .. } => {
                [entity.attributes.get(attribute).and_then(value_heading)].into()
            }
            _ => headings_for(arrangement, &entity.genus, entity.status.as_deref())
                .unwrap_or_default(),
        };
        Self { headings, name: name.clone() }
    }
}

/// Returns what entities of that genus and status stand under; `None`: in this
/// arrangement that depends on more than these.
pub(crate) fn headings_for(
    arrangement: &Grouping,
    genus: &str,
    status: Option<&str>,
) -> Option<Arc<[GroupHeading]>> {
    let status = status.map(str::to_owned);
    match arrangement {
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

/// Puts numbers and dates in the order of what they say, a year among the numbers, and
/// words behind them; what says the same goes by its letters.
fn compare_values(a: &str, b: &str) -> Ordering {
    let in_order = match (parse_sortable_value(a), parse_sortable_value(b)) {
        (Some(a), Some(b)) => a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)),
        (a, b) => a.is_none().cmp(&b.is_none()),
    };
    in_order.then_with(|| compare_alphabetically(a, b))
}

/// Returns what a text says that is a number or a date.
fn parse_sortable_value(text: &str) -> Option<(f64, Option<Date>)> {
    // Most are words, and there may be a hundred thousand.
    text.starts_with(|it: char| it.is_ascii_digit() || "+-.".contains(it)).then_some(())?;
    if let Ok(date) = text.parse::<Date>() {
        return Some((date.year().into(), Some(date)));
    }
    let number: f64 = text.parse().ok()?;
    number.is_finite().then_some((number, None))
}

/// Year, month and day of an entity's beginning, which its id tells.
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
