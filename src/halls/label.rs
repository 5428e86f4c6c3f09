//! What parts of a hall are called: by the headings they share, and where these
//! do not say it all, from where to where they go, as the tabs of a card index
//! do.

use std::ops::Range;

use crate::halls::partition::{first_differing_heading, run_with_same_headings};
use crate::model::{
    GroupBy, GroupHeading, GroupedEntities, GroupedEntity, Grouping, abridge_to_weight,
    common_prefix_len, whole_words_len,
};

/// How much room a heading has, and each end of a tab.
const MAX_HEADING_WEIGHT: usize = 40;
const MAX_NAME_WEIGHT: usize = 28;

/// What all names of a stretch begin with is left out of its tabs if it has more
/// bytes than this.
const MIN_COMMON_PREFIX: usize = 12;

/// Returns what a part of a stretch is called by whoever stands in that, and what
/// by everybody else.
pub(super) fn label_and_title(
    register: &GroupedEntities,
    arrangement: &Grouping,
    all: &Range<usize>,
    part: &Range<usize>,
) -> Option<(String, String)> {
    let (first, last) =
        (register.entity_at(part.start)?, register.entity_at(part.end.checked_sub(1)?)?);
    let levels = first.headings.len();
    let apart = first_differing_heading(register, part);
    let given = first_differing_heading(register, all).unwrap_or(levels);
    let run = run_with_same_headings(register, first, apart.unwrap_or(levels));
    let tab = match apart {
        _ if run == *part => None,
        Some(level) => Some(heading_range(arrangement, first, last, level)),
        None => name_range(register, all, part),
    };
    // What nothing else stands beside need not be said, nor the year of a day.
    let needed = (0..levels)
        .find(|it| run_with_same_headings(register, first, *it) == run)
        .unwrap_or(levels);
    let is_said = is_by_date(arrangement) && tab.is_some() && apart.is_some();
    let headings = &first.headings[..if is_said { 0 } else { needed }];
    let joined =
        |said: Vec<String>| said.into_iter().chain(tab.clone()).collect::<Vec<_>>().join(" · ");
    let genus = match arrangement {
        Grouping::Everything => None,
        Grouping::Genus { genus, .. } => Some(abridge_to_weight(genus, MAX_HEADING_WEIGHT)),
    };
    let title = genus.into_iter().chain(heading_texts(arrangement, headings, 0)).collect();
    Some((joined(heading_texts(arrangement, headings, given)), joined(title)))
}

/// Returns the beginning of `name` that tells it from `before`, which comes
/// before it.
pub(super) fn distinguishing_prefix(name: &str, before: &str) -> String {
    prefix_beyond(name, common_prefix_len(name, before)).to_owned()
}

/// Says some headings, but for the first that are known.
fn heading_texts(arrangement: &Grouping, headings: &[GroupHeading], known: usize) -> Vec<String> {
    let levels = known.min(headings.len())..headings.len();
    // A day says its month and year.
    let levels = levels.filter(|it| !is_by_date(arrangement) || it + 1 == headings.len());
    levels.map(|level| heading_text(arrangement, &headings[..=level], MAX_HEADING_WEIGHT)).collect()
}

/// Says the last of some headings.
fn heading_text(arrangement: &Grouping, headings: &[GroupHeading], room: usize) -> String {
    let by = match arrangement {
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

/// Says from which heading to which some cards go.
fn heading_range(
    arrangement: &Grouping,
    first: &GroupedEntity,
    last: &GroupedEntity,
    level: usize,
) -> String {
    let said =
        |card: &GroupedEntity| heading_text(arrangement, &card.headings[..=level], MAX_NAME_WEIGHT);
    let end = match (arrangement, &last.headings[level]) {
        // Of what both are the values has been said.
        (Grouping::Genus { by: GroupBy::Attribute(_), .. }, Some(value)) => {
            abridge_to_weight(value, MAX_NAME_WEIGHT)
        }
        _ => said(last),
    };
    format!("{} to {end}", said(first))
}

/// Says from which name to which some cards go that stand under the same
/// headings, in as few letters as tell them from their neighbours.
fn name_range(
    register: &GroupedEntities,
    all: &Range<usize>,
    part: &Range<usize>,
) -> Option<String> {
    let name = |place: usize| register.entity_at(place).map(|it| &*it.name);
    let first = register.entity_at(part.start)?;
    let run = run_with_same_headings(register, first, first.headings.len());
    let scope = run.start.max(all.start)..run.end.min(all.end);
    let shared = common_prefix_len(name(scope.start)?, name(scope.end - 1)?);
    let tab = |place: usize, others: &[Option<usize>]| {
        let own = name(place)?;
        let others = others.iter().flatten().filter(|it| scope.contains(it));
        let others = others.filter_map(|it| name(*it));
        Some(prefix_beyond(
            own,
            others.map(|it| common_prefix_len(own, it)).fold(shared, usize::max),
        ))
    };
    let (first, last) = (part.start, part.end - 1);
    let (before, behind) = (first.checked_sub(1), Some(part.end));
    let (mut start, mut end) = (tab(first, &[before])?, tab(last, &[behind])?);
    if start != end && common_prefix_len(start, end) == start.len().min(end.len()) {
        // `Dolomite 4 to D` says less than `Dolomite 4 to Dolomite 9`.
        (start, end) = (tab(first, &[before, Some(last)])?, tab(last, &[behind, Some(first)])?);
    }
    let stands_for_all = start == end;
    let start = abbreviate_prefix(start, whole_words_len(start, shared));
    let end = abbreviate_prefix(
        end,
        whole_words_len(end, shared.max(common_prefix_len(name(first)?, end))),
    );
    Some(if stands_for_all { start } else { format!("{start} to {end}") })
}

/// Shortens a tab, which begins with words that are known.
fn abbreviate_prefix(tab: &str, known: usize) -> String {
    match known > MIN_COMMON_PREFIX {
        true => format!("…{}", abridge_to_weight(&tab[known..], MAX_NAME_WEIGHT)),
        false => abridge_to_weight(tab, MAX_NAME_WEIGHT),
    }
}

/// Returns how a name begins, up to the first letter or digit behind `known`
/// bytes.
fn prefix_beyond(name: &str, known: usize) -> &str {
    let rest = name[known..].char_indices();
    let end = rest.filter(|(_, it)| it.is_alphanumeric()).map(|(at, it)| at + it.len_utf8()).next();
    &name[..end.map_or(name.len(), |it| known + it)]
}

fn is_by_date(arrangement: &Grouping) -> bool {
    matches!(arrangement, Grouping::Genus { by: GroupBy::Date, .. })
}
