//! What is searched for, and where, when and among what it is looked for.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use crate::keeper::Refusal;
use crate::keeper::graph::dates::parse_date_argument;
use crate::model::{ItemId, ItemKind, ItemKindError, Palace, RoomId, did_you_mean};

/// What may narrow a search, as it is spelled before a colon: `kind:drawer`.
const FILTER_KEYS: [&str; 5] = ["wing", "room", "kind", "since", "until"];

/// What is searched for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchQuery {
    /// What it is about: a question or some words.
    pub words: String,
    /// Only what stands in this wing, by slug or name.
    pub wing: Option<String>,
    /// Only this room, by slug or name, and what hangs or is filed in it.
    pub room: Option<String>,
    /// Only things of these sorts; of all, if none is named.
    pub kinds: Vec<ItemKind>,
    /// Only what was written at this date or later.
    pub since: Option<String>,
    /// Only what was written before this date.
    pub until: Option<String>,
}

impl SearchQuery {
    /// Reads what is said in one text: `kind:drawer since:2026-03 the boiler`.
    /// What holds blanks stands in quotes, `room:"great hall"`.
    pub(crate) fn parse(said: &str) -> Result<Self, Refusal> {
        let mut sought = Self::default();
        let mut rest = said;
        while let Some(piece) = rest.split_inclusive(char::is_whitespace).next() {
            match parse_filter(rest) {
                Some((key, value, length)) => {
                    sought.set_filter(key, value)?;
                    rest = &rest[length..];
                }
                None => {
                    sought.words.push_str(piece);
                    rest = &rest[piece.len()..];
                }
            }
        }
        Ok(sought)
    }

    /// Returns when what is wanted was written: from when, and before when.
    pub(crate) fn time_range(&self, now: DateTime<Utc>) -> Result<TimeRange, Refusal> {
        parse_time_range(self.since.as_deref(), ("until", self.until.as_deref()), now)
    }

    /// Returns the rooms that are meant, if it matters where something is.
    pub(crate) fn matching_rooms(
        &self,
        palace: &Palace,
    ) -> Result<Option<BTreeSet<RoomId>>, Refusal> {
        if self.wing.is_none() && self.room.is_none() {
            return Ok(None);
        }
        let scrolls = palace.scrolls().map(|(room, _)| room);
        let mut places: BTreeSet<_> = palace.enterable_rooms().into_iter().chain(scrolls).collect();
        if let Some(wing) = &self.wing {
            let said = format!("wing `{}`", wing.escape_debug());
            retain_named_rooms(&mut places, wing, &said, |it| wing_names(palace, it))?;
        }
        if let Some(room) = &self.room {
            let wing = self.wing.as_ref().map(|it| format!(" in `{}`", it.escape_debug()));
            let said = format!("room `{}`{}", room.escape_debug(), wing.unwrap_or_default());
            retain_named_rooms(&mut places, room, &said, |it| room_names(palace, it))?;
        }
        Ok(Some(places.into_iter().cloned().collect()))
    }

    fn set_filter(&mut self, key: &str, value: &str) -> Result<(), Refusal> {
        let said = Some(value.to_owned());
        match key {
            "wing" => self.wing = said,
            "room" => self.room = said,
            "since" => self.since = said,
            "until" => self.until = said,
            _ => {
                let kind = value.parse();
                let kind = kind.map_err(|it: ItemKindError| Refusal::Invalid(it.to_string()))?;
                self.kinds.push(kind);
            }
        }
        Ok(())
    }
}

/// From when, and before when; `None`: whenever.
pub(crate) type TimeRange = (Option<DateTime<Utc>>, Option<DateTime<Utc>>);

/// Reads from when and before when something is wanted; `end` tells how the
/// latter is called.
pub(crate) fn parse_time_range(
    since: Option<&str>,
    end: (&str, Option<&str>),
    now: DateTime<Utc>,
) -> Result<TimeRange, Refusal> {
    let moment = |what, said: Option<&str>| -> Result<Option<DateTime<Utc>>, Refusal> {
        let date = said.map(|it| parse_date_argument(what, it, now)).transpose()?;
        Ok(date.map(|it| it.start_time().unwrap_or(DateTime::<Utc>::MIN_UTC)))
    };
    let (since, before) = (moment("since", since)?, moment(end.0, end.1)?);
    if since.zip(before).is_some_and(|(since, before)| since >= before) {
        let end = end.0;
        let why = format!("`since` must be earlier than `{end}`: nothing lies between them");
        return Err(Refusal::Invalid(why));
    }
    Ok((since, before))
}

/// Keeps the rooms one of whose names is `meant`, in whatever case; `said` is how
/// that is told to whom means none.
fn retain_named_rooms(
    places: &mut BTreeSet<&RoomId>,
    meant: &str,
    said: &str,
    names: impl Fn(&RoomId) -> Vec<String>,
) -> Result<(), Refusal> {
    let known: BTreeSet<_> = places.iter().flat_map(|it| names(it)).collect();
    let lower = meant.to_lowercase();
    places.retain(|it| names(it).iter().any(|it| it.to_lowercase() == lower));
    if !places.is_empty() {
        return Ok(());
    }
    let near = did_you_mean(meant, known.iter().map(String::as_str));
    let near = near.map(|it| format!("; did you mean `{it}`?")).unwrap_or_default();
    Err(Refusal::Invalid(format!("there is no {said}{near}")))
}

/// Returns the room in which something stands, hangs or is filed.
pub(crate) fn room_of_item<'a>(palace: &'a Palace, opening: &'a ItemId) -> Option<&'a RoomId> {
    match opening {
        ItemId::Room(id) => Some(id),
        ItemId::Scroll(which) => Some(&which.room),
        ItemId::Drawer(file) => palace.drawers.room_of_file(file),
        _ => None,
    }
}

/// Takes a filter off the beginning of a text: its key, its value, how long it is.
fn parse_filter(text: &str) -> Option<(&str, &str, usize)> {
    let key = FILTER_KEYS
        .into_iter()
        .find(|it| text.strip_prefix(it).is_some_and(|rest| rest.starts_with(':')))?;
    let said = &text[key.len() + 1..];
    let (value, length) = match said.strip_prefix('"') {
        Some(quoted) => {
            let (value, _) = quoted.split_once('"')?;
            (value, value.len() + 2)
        }
        None => {
            let value = said.split(char::is_whitespace).next()?;
            (value, value.len())
        }
    };
    (!value.is_empty()).then_some((key, value, key.len() + 1 + length))
}

fn wing_names(palace: &Palace, room: &RoomId) -> Vec<String> {
    let Some(wing) = &room.wing else { return Vec::new() };
    let name = palace.drawers.wing_name(wing).map(str::to_owned);
    [wing.to_string()].into_iter().chain(name).collect()
}

fn room_names(palace: &Palace, room: &RoomId) -> Vec<String> {
    let filed = palace.drawers.room_name(room).map(str::to_owned);
    [room.slug.to_string(), room.to_string(), palace.room_name(room)]
        .into_iter()
        .chain(filed)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_query(said: &str) -> SearchQuery {
        SearchQuery::parse(said).unwrap()
    }

    #[test]
    fn filters_may_stand_anywhere_among_the_words() {
        let sought = parse_query("kind:drawer why did\nroom:\"great hall\" it stop? since:2026-03");
        assert_eq!(sought.words, " why did\n it stop? ");
        assert_eq!(sought.kinds, [ItemKind::Drawer]);
        assert_eq!(sought.room.as_deref(), Some("great hall"));
        assert_eq!(sought.since.as_deref(), Some("2026-03"));
    }

    #[test]
    fn text_that_only_looks_like_a_filter_stays_in_the_words() {
        for said in ["kind: drawer", "a kindred room", "http://since:8080", "room:\"great", "wing:"]
        {
            assert_eq!(
                parse_query(said),
                SearchQuery { words: said.to_owned(), ..SearchQuery::default() }
            );
        }
    }
}
