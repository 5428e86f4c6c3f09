//! Divides the entities of a hall into parts.

use std::ops::Range;

use crate::model::{GroupedEntities, GroupedEntity, common_prefix_len};

/// Maximum number of entities that a hall lists, unless it must list more.
pub(super) const MAX_LISTED: usize = 20;

/// Maximum number of headings that are considered separately.
const MAX_RUNS: usize = 200;

/// Divides a section of a grouping into at most `slots` parts with at most `max` entities each; the
/// slots must suffice.
///
/// Each heading is a part of its own while there are slots; else the smallest neighbours are
/// merged, and those that are too large are divided. Where that is not possible, and among names,
/// parts are about equal.
pub(crate) fn partition(
    grouped: &GroupedEntities,
    all: &Range<usize>,
    slots: usize,
    max: usize,
) -> Vec<Range<usize>> {
    let runs =
        first_differing_heading(grouped, all).and_then(|level| heading_runs(grouped, all, level));
    match runs.and_then(|runs| merge_small_runs(runs, slots, max)) {
        Some(parts) => {
            let pieces = |it: Range<usize>| split_evenly(grouped, &it, it.len().div_ceil(max), max);
            parts.into_iter().flat_map(pieces).collect()
        }
        None => split_evenly(grouped, all, all.len().div_ceil(MAX_LISTED).clamp(2, slots), max),
    }
}

/// Returns the first heading level at which the entities of a section differ; `None` if only their
/// names differ.
pub(crate) fn first_differing_heading(
    grouped: &GroupedEntities,
    all: &Range<usize>,
) -> Option<usize> {
    let (first, last) =
        (grouped.entity_at(all.start)?, grouped.entity_at(all.end.checked_sub(1)?)?);
    first.headings.iter().zip(last.headings.iter()).position(|(a, b)| a != b)
}

/// Returns the run of entities around one that share its first headings.
pub(crate) fn run_with_same_headings(
    grouped: &GroupedEntities,
    entity: &GroupedEntity,
    headings: usize,
) -> Range<usize> {
    let shared = &entity.headings[..headings];
    let start = grouped.count_before(|it| it < entity && it.headings[..headings] != *shared);
    let end = grouped.count_before(|it| it <= entity || it.headings[..headings] == *shared);
    start..end
}

/// Divides a section into runs of one heading each; `None` if there are too many.
fn heading_runs(
    grouped: &GroupedEntities,
    all: &Range<usize>,
    level: usize,
) -> Option<Vec<Range<usize>>> {
    let (mut runs, mut start) = (Vec::new(), all.start);
    while start < all.end {
        let end =
            run_with_same_headings(grouped, grouped.entity_at(start)?, level + 1).end.min(all.end);
        runs.push(start..end);
        start = end;
        if runs.len() > MAX_RUNS {
            return None;
        }
    }
    Some(runs)
}

/// Merges the smallest neighbours until `slots` suffice; a run of more than `max` needs several
/// slots.
fn merge_small_runs(
    runs: Vec<Range<usize>>,
    slots: usize,
    max: usize,
) -> Option<Vec<Range<usize>>> {
    let mut parts = runs;
    while parts.iter().map(|it| it.len().div_ceil(max)).sum::<usize>() > slots {
        let pairs = parts.windows(2).map(|it| it[0].len() + it[1].len());
        let (index, together) = pairs.enumerate().min_by_key(|(_, together)| *together)?;
        if together > max {
            return None;
        }
        parts[index].end = parts.remove(index + 1).end;
    }
    Some(parts)
}

/// Divides a section into about equal parts of at max `max` entities; each boundary is moved to
/// the position nearby with the shortest label.
fn split_evenly(
    grouped: &GroupedEntities,
    all: &Range<usize>,
    pieces: usize,
    max: usize,
) -> Vec<Range<usize>> {
    let spare = max.saturating_sub(all.len().div_ceil(pieces)) / 2;
    let leeway = spare.min(all.len() / (4 * pieces));
    let ideal = |piece: usize| all.start + all.len() * piece / pieces;
    let cut = |piece: usize| {
        boundary_with_shortest_label(grouped, ideal(piece), leeway).unwrap_or(ideal(piece))
    };
    let mut cuts = vec![all.start];
    cuts.extend((1..pieces).map(cut));
    cuts.push(all.end);
    cuts.windows(2).map(|it| it[0]..it[1]).collect()
}

/// Returns the boundary at most `leeway` from `ideal` with the shortest label; of several the
/// nearest.
fn boundary_with_shortest_label(
    grouped: &GroupedEntities,
    ideal: usize,
    leeway: usize,
) -> Option<usize> {
    let (low, high) = (ideal - leeway, ideal + leeway);
    let (first, last) = (grouped.entity_at(low.checked_sub(1)?)?, grouped.entity_at(high)?);
    let middle = grouped.entity_at(ideal)?;
    let around = match first_differing_heading(grouped, &(low - 1..high + 1)) {
        Some(level) => run_with_same_headings(grouped, middle, level + 1),
        None => run_with_same_prefix(grouped, middle, common_prefix_len(&first.name, &last.name)),
    };
    let near = [around.start, around.end].into_iter().filter(|it| (low..=high).contains(it));
    near.min_by_key(|it| it.abs_diff(ideal))
}

/// Returns the run of entities around one whose names have the same prefix, up to the character
/// after `known` bytes.
fn run_with_same_prefix(
    grouped: &GroupedEntities,
    entity: &GroupedEntity,
    known: usize,
) -> Range<usize> {
    let behind = entity.name.get(known..).and_then(|it| it.chars().next());
    let length = known + behind.map_or(0, char::len_utf8);
    let begins_so = |it: &GroupedEntity| {
        it.headings == entity.headings && common_prefix_len(&it.name, &entity.name) >= length
    };
    let start = grouped.count_before(|it| it < entity && !begins_so(it));
    let end = grouped.count_before(|it| it <= entity || begins_so(it));
    start..end
}
