//! A list in order that knows the place of each thing in it.

/// How many things a row is made with; a row of twice as many is parted.
const ROW_SIZE: usize = 512;

/// Things in order, each once: which is the thousandth, and how many come
/// before some point, is told without counting through.
///
/// The rows are short enough to be shifted and few enough to be summed up: with
/// a hundred thousand things both take less than a microsecond.
#[derive(Clone, Debug)]
pub(crate) struct SortedList<T> {
    rows: Vec<Vec<T>>,
}

impl<T: Ord> SortedList<T> {
    /// Puts things in order.
    pub(crate) fn from_unsorted(mut things: Vec<T>) -> Self {
        things.sort();
        things.dedup();
        let mut rows = Vec::with_capacity(things.len().div_ceil(ROW_SIZE));
        while things.len() > ROW_SIZE {
            rows.push(things.split_off(things.len() - ROW_SIZE));
        }
        rows.push(things);
        rows.reverse();
        Self { rows }
    }

    /// Returns how many there are.
    pub(crate) fn len(&self) -> usize {
        self.rows.iter().map(Vec::len).sum()
    }

    /// Returns the thing at a place, from 0.
    pub(crate) fn get(&self, mut place: usize) -> Option<&T> {
        for row in &self.rows {
            match row.get(place) {
                Some(found) => return Some(found),
                None => place -= row.len(),
            }
        }
        None
    }

    /// Returns how many things come first of which `is_before` holds. It must
    /// hold of none behind one of which it does not.
    pub(crate) fn count_before(&self, is_before: impl Fn(&T) -> bool) -> usize {
        let whole = self.rows.partition_point(|row| row.last().is_some_and(&is_before));
        let (passed, rest) = self.rows.split_at(whole);
        let within = rest.first().map_or(0, |row| row.partition_point(is_before));
        passed.iter().map(Vec::len).sum::<usize>() + within
    }

    /// Puts a thing in its place, unless it is there.
    pub(crate) fn insert(&mut self, thing: T) {
        let row = self.row_for(&thing);
        if row == self.rows.len() {
            self.rows.push(Vec::new());
        }
        let found = &mut self.rows[row];
        if let Err(place) = found.binary_search(&thing) {
            found.insert(place, thing);
        }
        if found.len() >= 2 * ROW_SIZE {
            let half = found.split_off(ROW_SIZE);
            self.rows.insert(row + 1, half);
        }
    }

    /// Takes a thing away, if it is there.
    pub(crate) fn remove(&mut self, thing: &T) {
        let row = self.row_for(thing);
        let Some(found) = self.rows.get_mut(row) else { return };
        if let Ok(place) = found.binary_search(thing) {
            found.remove(place);
        }
        if found.is_empty() {
            self.rows.remove(row);
        }
    }

    /// Returns the row a thing belongs to: the first that does not end before
    /// it, else the last there is.
    fn row_for(&self, thing: &T) -> usize {
        let row = self.rows.partition_point(|row| row.last().is_some_and(|last| last < thing));
        row.min(self.rows.len().saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

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
