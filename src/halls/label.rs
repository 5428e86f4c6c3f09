//! What parts of a hall are called: by the headings they share, and where these
//! do not say it all, from where to where they go, as the tabs of a card index
//! do.

use std::ops::Range;

use crate::halls::partition::{run_around, runs_apart};
use crate::model::{Arrangement, By, Card, Heading, Register, abridged, alike, whole_words};

/// How much room a heading has, and each end of a tab.
const HEADING: usize = 40;
const TAB: usize = 28;

/// What all names of a stretch begin with is left out of its tabs if it has more
/// bytes than this.
const SHARED: usize = 12;

/// Returns what a part of a stretch is called by whoever stands in that, and what
/// by everybody else.
pub(super) fn of(
    register: &Register,
    arrangement: &Arrangement,
    all: &Range<usize>,
    part: &Range<usize>,
) -> Option<(String, String)> {
    let (first, last) = (register.card(part.start)?, register.card(part.end.checked_sub(1)?)?);
    let levels = first.headings.len();
    let apart = runs_apart(register, part);
    let given = runs_apart(register, all).unwrap_or(levels);
    let run = run_around(register, first, apart.unwrap_or(levels));
    let tab = match apart {
        _ if run == *part => None,
        Some(level) => Some(span(arrangement, first, last, level)),
        None => tabs(register, all, part),
    };
    // What nothing else stands beside need not be said, nor the year of a day.
    let needed = (0..levels).find(|it| run_around(register, first, *it) == run).unwrap_or(levels);
    let is_said = is_dated(arrangement) && tab.is_some() && apart.is_some();
    let headings = &first.headings[..if is_said { 0 } else { needed }];
    let joined =
        |said: Vec<String>| said.into_iter().chain(tab.clone()).collect::<Vec<_>>().join(" · ");
    let genus = match arrangement {
        Arrangement::Everything => None,
        Arrangement::Genus { genus, .. } => Some(abridged(genus, HEADING)),
    };
    let title = genus.into_iter().chain(said(arrangement, headings, 0)).collect();
    Some((joined(said(arrangement, headings, given)), joined(title)))
}

/// Returns the beginning of `name` that tells it from `before`, which comes
/// before it.
pub(super) fn behind(name: &str, before: &str) -> String {
    beginning(name, alike(name, before)).to_owned()
}

/// Says some headings, but for the first that are known.
fn said(arrangement: &Arrangement, headings: &[Heading], known: usize) -> Vec<String> {
    let levels = known.min(headings.len())..headings.len();
    // A day says its month and year.
    let levels = levels.filter(|it| !is_dated(arrangement) || it + 1 == headings.len());
    levels.map(|level| heading(arrangement, &headings[..=level], HEADING)).collect()
}

/// Says the last of some headings.
fn heading(arrangement: &Arrangement, headings: &[Heading], room: usize) -> String {
    let by = match arrangement {
        Arrangement::Everything => &By::Status,
        Arrangement::Genus { by, .. } => by,
    };
    match (by, headings.last().and_then(Option::as_ref)) {
        (By::Date, Some(_)) => {
            headings.iter().flatten().map(String::as_str).collect::<Vec<_>>().join("-")
        }
        (By::Attribute(attribute), Some(value)) => {
            format!("{}: {}", abridged(attribute, room), abridged(value, room))
        }
        (_, Some(value)) => abridged(value, room),
        (By::Attribute(attribute), None) => format!("without {}", abridged(attribute, room)),
        (by, None) => format!("without a {by}"),
    }
}

/// Says from which heading to which some cards go.
fn span(arrangement: &Arrangement, first: &Card, last: &Card, level: usize) -> String {
    let said = |card: &Card| heading(arrangement, &card.headings[..=level], TAB);
    let end = match (arrangement, &last.headings[level]) {
        // Of what both are the values has been said.
        (Arrangement::Genus { by: By::Attribute(_), .. }, Some(value)) => abridged(value, TAB),
        _ => said(last),
    };
    format!("{} to {end}", said(first))
}

/// Says from which name to which some cards go that stand under the same
/// headings, in as few letters as tell them from their neighbours.
fn tabs(register: &Register, all: &Range<usize>, part: &Range<usize>) -> Option<String> {
    let name = |place: usize| register.card(place).map(|it| &*it.name);
    let first = register.card(part.start)?;
    let run = run_around(register, first, first.headings.len());
    let scope = run.start.max(all.start)..run.end.min(all.end);
    let shared = alike(name(scope.start)?, name(scope.end - 1)?);
    let tab = |place: usize, others: &[Option<usize>]| {
        let own = name(place)?;
        let others = others.iter().flatten().filter(|it| scope.contains(it));
        let others = others.filter_map(|it| name(*it));
        Some(beginning(own, others.map(|it| alike(own, it)).fold(shared, usize::max)))
    };
    let (first, last) = (part.start, part.end - 1);
    let (before, behind) = (first.checked_sub(1), Some(part.end));
    let (mut start, mut end) = (tab(first, &[before])?, tab(last, &[behind])?);
    if start != end && alike(start, end) == start.len().min(end.len()) {
        // `Dolomite 4 to D` says less than `Dolomite 4 to Dolomite 9`.
        (start, end) = (tab(first, &[before, Some(last)])?, tab(last, &[behind, Some(first)])?);
    }
    let stands_for_all = start == end;
    let start = without(start, whole_words(start, shared));
    let end = without(end, whole_words(end, shared.max(alike(name(first)?, end))));
    Some(if stands_for_all { start } else { format!("{start} to {end}") })
}

/// Shortens a tab, which begins with words that are known.
fn without(tab: &str, known: usize) -> String {
    match known > SHARED {
        true => format!("…{}", abridged(&tab[known..], TAB)),
        false => abridged(tab, TAB),
    }
}

/// Returns how a name begins, up to the first letter or digit behind `known`
/// bytes.
fn beginning(name: &str, known: usize) -> &str {
    let rest = name[known..].char_indices();
    let end = rest.filter(|(_, it)| it.is_alphanumeric()).map(|(at, it)| at + it.len_utf8()).next();
    &name[..end.map_or(name.len(), |it| known + it)]
}

fn is_dated(arrangement: &Arrangement) -> bool {
    matches!(arrangement, Arrangement::Genus { by: By::Date, .. })
}
