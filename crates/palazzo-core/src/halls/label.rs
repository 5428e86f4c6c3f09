//! Labels of the parts of a hall: the common headings and, if these are not enough, a range such as
//! `A to Bel`.

use std::ops::Range;

use crate::halls::partition::{first_differing_heading, run_with_same_headings};
use crate::model::{
    GroupBy, GroupHeading, GroupedEntities, GroupedEntity, Grouping, abridge_to_weight,
    common_prefix_len, whole_words_prefix_len,
};

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
    prefix_through_next_letter(name, common_prefix_len(name, before)).to_owned()
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
    let shared = common_prefix_len(name(scope.start)?, name(scope.end - 1)?);
    let prefix = |index: usize, others: &[Option<usize>]| {
        let own = name(index)?;
        let others = others.iter().flatten().filter(|it| scope.contains(it));
        let others = others.filter_map(|it| name(*it));
        let alike = others.map(|it| common_prefix_len(own, it)).fold(shared, usize::max);
        Some(with_whole_number(own, prefix_through_next_letter(own, alike)))
    };
    let (first, last) = (part.start, part.end - 1);
    let (before, behind) = (first.checked_sub(1), Some(part.end));
    let (mut start, mut end) = (prefix(first, &[before])?, prefix(last, &[behind])?);
    if start != end && common_prefix_len(start, end) == start.len().min(end.len()) {
        // `Dolomite 4 to Dolomite 9` is clearer than `Dolomite 4 to D`.
        (start, end) =
            (prefix(first, &[before, Some(last)])?, prefix(last, &[behind, Some(first)])?);
    }
    let stands_for_all = start == end;
    let start = abbreviate_prefix(start, whole_words_prefix_len(start, shared));
    let end = abbreviate_prefix(
        end,
        whole_words_prefix_len(end, shared.max(common_prefix_len(name(first)?, end))),
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
