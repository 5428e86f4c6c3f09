//! Search of a palace and of its drawers: the query with its filters, and one file for each search.

pub(crate) mod drawer_search;
pub(crate) mod menu_search;
pub(crate) mod palace_search;

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use crate::graph::parse_date_argument;
use crate::{Caller, Refusal};
use palazzo_core::model::{
    Date, ItemId, ItemKind, ItemKindError, Palace, RoomId, did_you_mean, quoted,
};

/// The names of filters, before a colon: `kind:drawer`.
const FILTER_KEYS: [&str; 5] = ["wing", "room", "kind", "since", "until"];

/// A search query with its filters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchQuery {
    /// A question or some words.
    pub words: String,
    /// Only items in this wing, by slug or name.
    pub wing: Option<String>,
    /// Only this room, by slug or name, and the scrolls and drawers in it.
    pub room: Option<String>,
    /// Only items of these kinds; empty means all.
    pub kinds: Vec<ItemKind>,
    /// Only items that were written at this date or later.
    pub since: Option<String>,
    /// Only items that were written before this date.
    pub until: Option<String>,
}

impl SearchQuery {
    /// Parses a query with filters: `kind:drawer since:2026-03 the boiler`. Values with white
    /// space are in quotes: `room:"great hall"`.
    pub(crate) fn parse(text: &str) -> Result<Self, Refusal> {
        let mut query = Self::default();
        let mut rest = text;
        while let Some(piece) = rest.split_inclusive(char::is_whitespace).next() {
            match parse_filter(rest) {
                Some((key, value, length)) => {
                    query.set_filter(key, value)?;
                    rest = &rest[length..];
                }
                None => {
                    query.words.push_str(piece);
                    rest = &rest[piece.len()..];
                }
            }
        }
        Ok(query)
    }

    /// Returns whether there is a filter.
    pub(crate) fn has_filters(&self) -> bool {
        let Self { words: _, wing, room, kinds, since, until } = self;
        !kinds.is_empty() || [wing, room, since, until].into_iter().any(Option::is_some)
    }

    /// Returns whether there are words to search for.
    pub(crate) fn has_words(&self) -> bool {
        !self.words.trim().is_empty()
    }

    /// Refuses a query that has neither words nor a time.
    pub fn reject_without_words_and_time(&self) -> Result<(), Refusal> {
        if self.has_words() || self.since.is_some() || self.until.is_some() {
            return Ok(());
        }
        let why = "give words to search for, or a time: `--since`, `--until`";
        Err(Refusal::Invalid(why.to_owned()))
    }

    /// Returns the range of times of the filters `since:` and `until:`.
    pub(crate) fn time_range(&self, caller: &Caller) -> Result<TimeRange, Refusal> {
        parse_time_range(self.since.as_deref(), ("until", self.until.as_deref()), caller)
    }

    /// Returns the rooms that match `wing:` and `room:`; `None` without such a filter.
    pub(crate) fn matching_rooms(
        &self,
        palace: &Palace,
    ) -> Result<Option<BTreeSet<RoomId>>, Refusal> {
        if self.wing.is_none() && self.room.is_none() {
            return Ok(None);
        }
        let scrolls = palace.scrolls().map(|(room, _)| room);
        let mut rooms: BTreeSet<_> = palace.enterable_rooms().into_iter().chain(scrolls).collect();
        if let Some(wing) = &self.wing {
            let label = format!("wing {}", quoted(wing));
            retain_named_rooms(&mut rooms, wing, &label, |it| all_names_of_wing(palace, it))?;
        }
        if let Some(room) = &self.room {
            let wing = self.wing.as_ref().map(|it| format!(" in {}", quoted(it)));
            let label = format!("room {}{}", quoted(room), wing.unwrap_or_default());
            retain_named_rooms(&mut rooms, room, &label, |it| all_names_of_room(palace, it))?;
        }
        Ok(Some(rooms.into_iter().cloned().collect()))
    }

    fn set_filter(&mut self, key: &str, value: &str) -> Result<(), Refusal> {
        let text = Some(value.to_owned());
        match key {
            "wing" => self.wing = text,
            "room" => self.room = text,
            "since" => self.since = text,
            "until" => self.until = text,
            _ => {
                let kind = value.parse();
                let kind = kind.map_err(|it: ItemKindError| Refusal::Invalid(it.to_string()))?;
                self.kinds.push(kind);
            }
        }
        Ok(())
    }
}

/// Returns the phrase of a query that is wholly in quotation marks, as [`contains_phrase`] takes it.
pub(crate) fn exact_phrase(words: &str) -> Option<String> {
    let words = words.trim();
    let marks = [('"', '"'), ('“', '”'), ('„', '“'), ('«', '»')];
    let inside = |(open, close)| words.strip_prefix(open)?.strip_suffix(close);
    let phrase = marks.into_iter().find_map(inside)?.trim();
    let is_one = !phrase.is_empty() && !phrase.contains('"');
    is_one.then(|| normalize_phrase(phrase))
}

/// Returns whether a text contains a phrase of [`exact_phrase`], in any case and however its words are
/// spaced.
pub(crate) fn contains_phrase(text: &str, phrase: &str) -> bool {
    normalize_phrase(text).contains(phrase)
}

fn normalize_phrase(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// The start and the end of a range of times, without the end; `None` is no limit.
pub(crate) type TimeRange = (Option<DateTime<Utc>>, Option<DateTime<Utc>>);

/// Parses a range of times, whose days are those of the caller; `end` is the name of the second argument and its value.
/// From a date until the same date is all of it.
pub(crate) fn parse_time_range(
    since: Option<&str>,
    end: (&str, Option<&str>),
    caller: &Caller,
) -> Result<TimeRange, Refusal> {
    let parse = |argument, text: Option<&str>| {
        text.map(|it| parse_date_argument(argument, it, caller.today())).transpose()
    };
    let (first, last) = (parse("since", since)?, parse(end.0, end.1)?);
    let start = |it: Date| it.start_time(&caller.zone).unwrap_or(DateTime::<Utc>::MIN_UTC);
    let is_whole_date = end.0 == "until" && first.is_some() && first == last;
    let end_of_date = last.filter(|_| is_whole_date).and_then(|it| it.end_time(&caller.zone));
    let (since, before) = (first.map(start), end_of_date.or_else(|| last.map(start)));
    if since.zip(before).is_some_and(|(since, before)| since >= before) {
        let end = end.0;
        let why = format!("`since` must be earlier than `{end}`: no time is between them");
        return Err(Refusal::Invalid(why));
    }
    Ok((since, before))
}

/// Keeps the rooms that have the name `name`, in any case; `label` names the filter in the error
/// if no room has it.
fn retain_named_rooms(
    rooms: &mut BTreeSet<&RoomId>,
    name: &str,
    label: &str,
    names: impl Fn(&RoomId) -> Vec<String>,
) -> Result<(), Refusal> {
    let all: BTreeSet<_> = rooms.iter().flat_map(|it| names(it)).collect();
    let lower = name.to_lowercase();
    rooms.retain(|it| names(it).iter().any(|it| it.to_lowercase() == lower));
    if !rooms.is_empty() {
        return Ok(());
    }
    let suggestion = did_you_mean(name, all.iter().map(String::as_str));
    let suggestion =
        suggestion.map(|it| format!("; did you mean {}?", quoted(it))).unwrap_or_default();
    Err(Refusal::Invalid(format!("there is no {label}{suggestion}")))
}

/// Returns the room of a room, scroll or drawer.
pub(crate) fn room_of_item<'a>(palace: &'a Palace, item: &'a ItemId) -> Option<&'a RoomId> {
    match item {
        ItemId::Room(id) => Some(id),
        ItemId::Scroll(which) => Some(&which.room),
        ItemId::Drawer(file) => palace.drawers.room_of_file(file),
        _ => None,
    }
}

/// Parses a filter at the beginning of a text: its key, its value and its length in bytes.
fn parse_filter(text: &str) -> Option<(&str, &str, usize)> {
    let key = FILTER_KEYS
        .into_iter()
        .find(|it| text.strip_prefix(it).is_some_and(|rest| rest.starts_with(':')))?;
    let rest = &text[key.len() + 1..];
    let (value, length) = match rest.strip_prefix('"') {
        Some(quoted) => {
            let (value, _) = quoted.split_once('"')?;
            (value, value.len() + 2)
        }
        None => {
            let value = rest.split(char::is_whitespace).next()?;
            (value, value.len())
        }
    };
    (!value.is_empty()).then_some((key, value, key.len() + 1 + length))
}

fn all_names_of_wing(palace: &Palace, room: &RoomId) -> Vec<String> {
    let Some(wing) = &room.wing else { return Vec::new() };
    let name = palace.drawers.wing_name(wing).map(str::to_owned);
    [wing.to_string()].into_iter().chain(name).collect()
}

fn all_names_of_room(palace: &Palace, room: &RoomId) -> Vec<String> {
    let filed = palace.drawers.room_name(room).map(str::to_owned);
    [room.slug.to_string(), room.to_string(), palace.room_name(room)]
        .into_iter()
        .chain(filed)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_query(text: &str) -> SearchQuery {
        SearchQuery::parse(text).unwrap()
    }

    #[test]
    fn filters_may_be_anywhere_among_the_words() {
        let query = parse_query("kind:drawer why did\nroom:\"great hall\" it stop? since:2026-03");
        assert_eq!(query.words, " why did\n it stop? ");
        assert_eq!(query.kinds, [ItemKind::Drawer]);
        assert_eq!(query.room.as_deref(), Some("great hall"));
        assert_eq!(query.since.as_deref(), Some("2026-03"));
    }

    #[test]
    fn text_that_only_looks_like_a_filter_stays_in_the_words() {
        for text in ["kind: drawer", "a kindred room", "http://since:8080", "room:\"great", "wing:"]
        {
            assert_eq!(
                parse_query(text),
                SearchQuery { words: text.to_owned(), ..SearchQuery::default() }
            );
        }
    }
}
