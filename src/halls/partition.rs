//! Where what a hall holds is parted.

use std::ops::Range;

use crate::halls::MAX_LISTED;
use crate::model::{GroupedEntities, GroupedEntity, common_prefix_len};

/// More headings than these are not looked at one by one.
const MAX_RUNS: usize = 200;

/// Parts a stretch of a register into `slots` parts at most, none of which has more
/// than `most` entities; there must be room for them.
///
/// Each heading is a part of its own while there are slots; then the smallest
/// neighbours share one, and what is too large has several. Where even that
/// does not do, and among names, parts are about equal.
pub(crate) fn partition(
    register: &GroupedEntities,
    all: &Range<usize>,
    slots: usize,
    most: usize,
) -> Vec<Range<usize>> {
    let runs =
        first_differing_heading(register, all).and_then(|level| heading_runs(register, all, level));
    match runs.and_then(|runs| merge_small_runs(runs, slots, most)) {
        Some(parts) => {
            let pieces =
                |it: Range<usize>| even_parts(register, &it, it.len().div_ceil(most), most);
            parts.into_iter().flat_map(pieces).collect()
        }
        None => even_parts(register, all, all.len().div_ceil(MAX_LISTED).clamp(2, slots), most),
    }
}

/// Returns the first heading in which the cards of a stretch differ; `None`:
/// only names tell them apart.
pub(crate) fn first_differing_heading(
    register: &GroupedEntities,
    all: &Range<usize>,
) -> Option<usize> {
    let (first, last) =
        (register.entity_at(all.start)?, register.entity_at(all.end.checked_sub(1)?)?);
    first.headings.iter().zip(last.headings.iter()).position(|(a, b)| a != b)
}

/// Returns the run of cards around one that share their first headings with it.
pub(crate) fn run_with_same_headings(
    register: &GroupedEntities,
    card: &GroupedEntity,
    headings: usize,
) -> Range<usize> {
    let shared = &card.headings[..headings];
    let start = register.count_before(|it| it < card && it.headings[..headings] != *shared);
    let end = register.count_before(|it| it <= card || it.headings[..headings] == *shared);
    start..end
}

/// Parts a stretch into runs of one heading each, if there are not too many.
fn heading_runs(
    register: &GroupedEntities,
    all: &Range<usize>,
    level: usize,
) -> Option<Vec<Range<usize>>> {
    let (mut runs, mut start) = (Vec::new(), all.start);
    while start < all.end {
        let end = run_with_same_headings(register, register.entity_at(start)?, level + 1)
            .end
            .min(all.end);
        runs.push(start..end);
        start = end;
        if runs.len() > MAX_RUNS {
            return None;
        }
    }
    Some(runs)
}

/// Joins the smallest neighbours until `slots` suffice, counting several for a
/// run of more than `most`.
fn merge_small_runs(
    runs: Vec<Range<usize>>,
    slots: usize,
    most: usize,
) -> Option<Vec<Range<usize>>> {
    let mut parts = runs;
    while parts.iter().map(|it| it.len().div_ceil(most)).sum::<usize>() > slots {
        let pairs = parts.windows(2).map(|it| it[0].len() + it[1].len());
        let (place, together) = pairs.enumerate().min_by_key(|(_, together)| *together)?;
        if together > most {
            return None;
        }
        parts[place].end = parts.remove(place + 1).end;
    }
    Some(parts)
}

/// Parts a stretch into about equal pieces of at most `most`, each boundary
/// moved to where it can be said in the fewest letters nearby.
fn even_parts(
    register: &GroupedEntities,
    all: &Range<usize>,
    pieces: usize,
    most: usize,
) -> Vec<Range<usize>> {
    let spare = most.saturating_sub(all.len().div_ceil(pieces)) / 2;
    let leeway = spare.min(all.len() / (4 * pieces));
    let ideal = |piece: usize| all.start + all.len() * piece / pieces;
    let cut =
        |piece: usize| shortest_boundary(register, ideal(piece), leeway).unwrap_or(ideal(piece));
    let mut cuts = vec![all.start];
    cuts.extend((1..pieces).map(cut));
    cuts.push(all.end);
    cuts.windows(2).map(|it| it[0]..it[1]).collect()
}

/// Returns the boundary at most `leeway` from `ideal` that is said in the fewest
/// letters; of several the nearest.
fn shortest_boundary(register: &GroupedEntities, ideal: usize, leeway: usize) -> Option<usize> {
    let (low, high) = (ideal - leeway, ideal + leeway);
    let (first, last) = (register.entity_at(low.checked_sub(1)?)?, register.entity_at(high)?);
    let middle = register.entity_at(ideal)?;
    let around = match first_differing_heading(register, &(low - 1..high + 1)) {
        Some(level) => run_with_same_headings(register, middle, level + 1),
        None => run_with_same_prefix(register, middle, common_prefix_len(&first.name, &last.name)),
    };
    let near = [around.start, around.end].into_iter().filter(|it| (low..=high).contains(it));
    near.min_by_key(|it| it.abs_diff(ideal))
}

/// Returns the run of cards around one whose names begin as its name does, up to
/// the character behind `known` bytes.
fn run_with_same_prefix(
    register: &GroupedEntities,
    card: &GroupedEntity,
    known: usize,
) -> Range<usize> {
    let behind = card.name.get(known..).and_then(|it| it.chars().next());
    let length = known + behind.map_or(0, char::len_utf8);
    let begins_so = |it: &GroupedEntity| {
        it.headings == card.headings && common_prefix_len(&it.name, &card.name) >= length
    };
    let start = register.count_before(|it| it < card && !begins_so(it));
    let end = register.count_before(|it| it <= card || begins_so(it));
    start..end
}
