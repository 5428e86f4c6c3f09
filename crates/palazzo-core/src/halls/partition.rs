//! Divides the entities of a hall into parts. Their labels are the common headings and, if these are
//! not enough, a range such as `A to Bel`.

use std::ops::Range;

use crate::model::{
    GroupBy, GroupHeading, GroupedEntities, GroupedEntity, Grouping, abridge_to_weight,
    common_prefix_len_ignoring_case, whole_words_prefix_len,
};

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
fn run_with_same_headings(
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
        None => run_with_same_prefix(
            grouped,
            middle,
            common_prefix_len_ignoring_case(&first.name, &last.name),
        ),
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
        it.headings == entity.headings
            && common_prefix_len_ignoring_case(&it.name, &entity.name) >= length
    };
    let start = grouped.count_before(|it| it < entity && !begins_so(it));
    let end = grouped.count_before(|it| it <= entity || begins_so(it));
    start..end
}

/// Maximum weight of a heading, and of each end of a range.
const MAX_HEADING_WEIGHT: usize = 40;
const MAX_NAME_WEIGHT: usize = 28;

/// If all names of a section have a common prefix of more bytes than this, labels omit it.
const MIN_COMMON_PREFIX: usize = 12;

/// Returns the label of a part within its section `all`, and its title elsewhere.
pub(super) fn label_and_title(
    grouped: &GroupedEntities,
    grouping: &Grouping,
    all: &Range<usize>,
    part: &Range<usize>,
) -> Option<(String, String)> {
    let (first, last) =
        (grouped.entity_at(part.start)?, grouped.entity_at(part.end.checked_sub(1)?)?);
    let levels = first.headings.len();
    let apart = first_differing_heading(grouped, part);
    let given = first_differing_heading(grouped, all).unwrap_or(levels);
    let run = run_with_same_headings(grouped, first, apart.unwrap_or(levels));
    let range = match apart {
        _ if run == *part => None,
        Some(level) => Some(heading_range_text(grouping, first, last, level)),
        None => name_range_text(grouped, all, part),
    };
    // Omit headings that distinguish nothing, and the year in the label of a day.
    let needed =
        (0..levels).find(|it| run_with_same_headings(grouped, first, *it) == run).unwrap_or(levels);
    let is_in_range = is_by_date(grouping) && range.is_some() && apart.is_some();
    let headings = &first.headings[..if is_in_range { 0 } else { needed }];
    let joined =
        |texts: Vec<String>| texts.into_iter().chain(range.clone()).collect::<Vec<_>>().join(" · ");
    let genus = match grouping {
        Grouping::Everything => None,
        Grouping::Genus { genus, .. } => Some(abridge_to_weight(genus, MAX_HEADING_WEIGHT)),
    };
    let title = genus.into_iter().chain(heading_texts(grouping, headings, 0)).collect();
    Some((joined(heading_texts(grouping, headings, given)), joined(title)))
}

/// Returns the prefix of `name` that distinguishes it from `before`, the name before it.
pub(super) fn distinguishing_prefix(name: &str, before: &str) -> String {
    prefix_through_next_letter(name, common_prefix_len_ignoring_case(name, before)).to_owned()
}

/// Returns the texts of some headings, without the first `known` ones.
fn heading_texts(grouping: &Grouping, headings: &[GroupHeading], known: usize) -> Vec<String> {
    let levels = known.min(headings.len())..headings.len();
    // The text of a day contains its month and year.
    let levels = levels.filter(|it| !is_by_date(grouping) || it + 1 == headings.len());
    levels.map(|level| heading_text(grouping, &headings[..=level], MAX_HEADING_WEIGHT)).collect()
}

/// Returns the text of the last of some headings.
fn heading_text(grouping: &Grouping, headings: &[GroupHeading], room: usize) -> String {
    let by = match grouping {
        Grouping::Everything => &GroupBy::Status,
        Grouping::Genus { by, .. } => by,
    };
    match (by, headings.last().and_then(Option::as_ref)) {
        (GroupBy::Date, Some(_)) => {
            headings.iter().flatten().map(String::as_str).collect::<Vec<_>>().join("-")
        }
        (GroupBy::Attribute(attribute), Some(value)) => {
            format!("{}: {}", abridge_to_weight(attribute, room), abridge_to_weight(value, room))
        }
        (_, Some(value)) => abridge_to_weight(value, room),
        (GroupBy::Attribute(attribute), None) => {
            format!("without {}", abridge_to_weight(attribute, room))
        }
        (by, None) => format!("without a {by}"),
    }
}

/// Returns the range of headings of some entities.
fn heading_range_text(
    grouping: &Grouping,
    first: &GroupedEntity,
    last: &GroupedEntity,
    level: usize,
) -> String {
    let text = |entity: &GroupedEntity| {
        heading_text(grouping, &entity.headings[..=level], MAX_NAME_WEIGHT)
    };
    let end = match (grouping, &last.headings[level]) {
        // The text of `first` already contains the name of the attribute.
        (Grouping::Genus { by: GroupBy::Attribute(_), .. }, Some(value)) => {
            abridge_to_weight(value, MAX_NAME_WEIGHT)
        }
        _ => text(last),
    };
    format!("{} to {end}", text(first))
}

/// Returns the range of names of some entities with the same headings, with prefixes just long
/// enough to distinguish them from their neighbours.
fn name_range_text(
    grouped: &GroupedEntities,
    all: &Range<usize>,
    part: &Range<usize>,
) -> Option<String> {
    let name = |index: usize| grouped.entity_at(index).map(|it| &*it.name);
    let first = grouped.entity_at(part.start)?;
    let run = run_with_same_headings(grouped, first, first.headings.len());
    let scope = run.start.max(all.start)..run.end.min(all.end);
    let shared = common_prefix_len_ignoring_case(name(scope.start)?, name(scope.end - 1)?);
    let prefix = |index: usize, others: &[Option<usize>]| {
        let own = name(index)?;
        let others = others.iter().flatten().filter(|it| scope.contains(it));
        let others = others.filter_map(|it| name(*it));
        let alike =
            others.map(|it| common_prefix_len_ignoring_case(own, it)).fold(shared, usize::max);
        Some(with_whole_number(own, prefix_through_next_letter(own, alike)))
    };
    let (first, last) = (part.start, part.end - 1);
    let (before, behind) = (first.checked_sub(1), Some(part.end));
    let (mut start, mut end) = (prefix(first, &[before])?, prefix(last, &[behind])?);
    if start != end && common_prefix_len_ignoring_case(start, end) == start.len().min(end.len()) {
        // `Dolomite 4 to Dolomite 9` is clearer than `Dolomite 4 to D`.
        (start, end) =
            (prefix(first, &[before, Some(last)])?, prefix(last, &[behind, Some(first)])?);
    }
    let stands_for_all = start == end;
    let start = abbreviate_prefix(start, whole_words_prefix_len(start, shared));
    let end = abbreviate_prefix(
        end,
        whole_words_prefix_len(end, shared.max(common_prefix_len_ignoring_case(name(first)?, end))),
    );
    Some(if stands_for_all { start } else { format!("{start} to {end}") })
}

/// Shortens a prefix whose first `known` bytes the label can omit.
fn abbreviate_prefix(prefix: &str, known: usize) -> String {
    match known > MIN_COMMON_PREFIX {
        true => format!("…{}", abridge_to_weight(&prefix[known..], MAX_NAME_WEIGHT)),
        false => abridge_to_weight(prefix, MAX_NAME_WEIGHT),
    }
}

/// Returns the prefix of a name up to the first letter or digit after `known` bytes.
fn prefix_through_next_letter(name: &str, known: usize) -> &str {
    let rest = name[known..].char_indices();
    let end = rest.filter(|(_, it)| it.is_alphanumeric()).map(|(at, it)| at + it.len_utf8()).next();
    &name[..end.map_or(name.len(), |it| known + it)]
}

/// Extends a prefix of a name that ends within a number: `Turn 2` is not the beginning of `Turn 29`.
fn with_whole_number<'a>(name: &'a str, prefix: &str) -> &'a str {
    let is_digit = |it: &u8| it.is_ascii_digit();
    let ends_in_number = prefix.as_bytes().last().is_some_and(is_digit);
    let rest = &name.as_bytes()[prefix.len()..];
    let more = rest.iter().take_while(|it| ends_in_number && is_digit(it)).count();
    &name[..prefix.len() + more]
}

fn is_by_date(grouping: &Grouping) -> bool {
    matches!(grouping, Grouping::Genus { by: GroupBy::Date, .. })
}
