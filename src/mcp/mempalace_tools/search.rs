//! Finding texts, and reading one that was found: one tool.

use serde_json::{Value, json};
use ulid::Ulid;

use crate::keeper::{Caller, DrawerHit, DrawerHits, DrawerQuery, Keeper};
use crate::mcp::arguments::Search;
use crate::mcp::mempalace_tools::overview::{by_room, no_such, no_such_wing, rounded};
use crate::mcp::mempalace_tools::{
    READ_ON, drawer_id, found, found_in, hint, id_in, mind, moment, share, told,
};
use crate::mcp::reply::Answer;
use crate::mcp::toolbox::{Effect, Handle, ToolSet, Toolbox};

/// How many characters of a query are given back.
const QUERY: usize = 250;

/// How many bytes of a drawer are read at once: some thousand tokens.
const READ: usize = 24_000;

pub(crate) fn search() -> Handle {
    let about = (
        "Search drawers",
        "Find texts by what they are about, best first: the words as they were filed, where, \
         when and from where; of long ones the part that fits. Name the wing or room if you know \
         it. A drawer_id as the query reads that text.",
    );
    let run = |_: &Toolbox, keeper: &mut Keeper, by: &Caller, it: Search| searched(keeper, by, &it);
    Handle::new(ToolSet::Mempalace, "mempalace_search", about, Effect::Reads, run)
}

fn searched(keeper: &mut Keeper, by: &Caller, it: &Search) -> Answer {
    if let Some((id, from)) = named(&it.query)
        && let Some(drawer) = told(keeper.drawer_by_id(by, id, from))?
    {
        return found(keeper, by, read(&it.query, &drawer));
    }
    let ((wing, room), (since, before)) = (it.place(), it.dates());
    let filters = json!({ "wing": wing, "room": room });
    let wanted = DrawerQuery { words: it.query.clone(), wing, room, since, before };
    let DrawerHits { best: results, total, question: asked, ranker } =
        told(keeper.search_drawers(by, &wanted, it.limit()))?;
    let number = results.len();
    let mut value = json!({ "query": it.query, "filters": filters });
    sanitize(&mut value, &it.query, &asked);
    for (key, date) in [("since", &wanted.since), ("before", &wanted.before)] {
        if let Some(date) = date {
            value["filters"][key] = date.as_str().into();
        }
    }
    let most = share(results.iter().map(|it| it.text.as_str()));
    value["results"] = results.iter().map(|it| hit(it, most)).collect();
    if let Some(ranker) = ranker {
        value["ranker"] = ranker.name().into();
        if let Some(remark) = ranker.remark() {
            value["remark"] = remark.into();
        }
    }
    mind(&mut value, total - number, "raise the limit, or search with more words");
    if value["results"].as_array().is_some_and(|it| it.iter().any(|it| it["bytes"].is_object())) {
        hint(&mut value, READ_ON);
    }
    if let Some(remark) = it.limit_remark() {
        hint(&mut value, &remark);
    }
    if number == 0 {
        let why = why_none(keeper, by, &wanted)?;
        hint(&mut value, &why);
    }
    found(keeper, by, value)
}

/// Returns which drawer a query names, and from which byte on it is to be read.
fn named(query: &str) -> Option<(Ulid, usize)> {
    let query = query.trim();
    let (name, from) = query.rsplit_once('@').unwrap_or((query, "0"));
    let is_name =
        !name.contains(char::is_whitespace) && (name.len() == 26 || name.starts_with("drawer_"));
    Some((id_in(name).filter(|_| is_name)?, from.parse().ok()?))
}

/// Answers with the text of one drawer, or as much of it as an answer takes in.
fn read(query: &str, drawer: &DrawerHit) -> Value {
    let (text, part) = shown_from(&drawer.text, drawer.passage_start, READ);
    let next = part.as_ref().and_then(|it| it["to"].as_u64());
    let mut value = json!({ "query": query, "filters": { "wing": null, "room": null } });
    value["results"] = [spelled(drawer, &text, part)].into_iter().collect();
    if let Some(next) =
        next.filter(|it| usize::try_from(*it).is_ok_and(|it| it < drawer.text.len()))
    {
        let name = drawer_id(&drawer.location);
        hint(&mut value, &format!("The text goes on: search for `{name}@{next}`"));
    }
    value
}

/// Cuts out of a text at most `most` bytes from one of them on, and says which part
/// that is, if it is not all.
fn shown_from(text: &str, from: usize, most: usize) -> (String, Option<Value>) {
    let border = |at: usize| (0..=at.min(text.len())).rev().find(|it| text.is_char_boundary(*it));
    let from = border(from).unwrap_or_default();
    let to = border(from.saturating_add(most)).unwrap_or_default();
    let is_all = from == 0 && to == text.len();
    let part = json!({ "from": from, "to": to, "of": text.len() });
    (text[from..to].to_owned(), (!is_all).then_some(part))
}

/// Gives back of a long query no more than what was asked, and says so as MemPalace
/// does.
fn sanitize(value: &mut Value, query: &str, asked: &str) {
    let length = query.chars().count();
    if length <= QUERY {
        return;
    }
    let clean: String = asked.chars().take(QUERY).collect();
    value["query_sanitized"] = true.into();
    value["sanitizer"] =
        json!({ "original_length": length, "clean_length": clean.chars().count() });
    value["query"] = clean.into();
}

/// Says why nothing was found: where there is no such place, or something would be
/// found elsewhere or at another time.
fn why_none(keeper: &mut Keeper, by: &Caller, wanted: &DrawerQuery) -> Result<String, String> {
    let stock = told(keeper.drawer_stats(by))?;
    if let Some(why) = wanted.wing.as_ref().and_then(|it| no_such_wing(&stock, it)) {
        return Ok(why);
    }
    let rooms = by_room(&stock, wanted.wing.as_deref());
    if let Some(room) = wanted.room.as_ref().filter(|it| !rooms.contains_key(*it)) {
        let wing = wanted.wing.as_ref().map(|it| format!(" in `{it}`")).unwrap_or_default();
        return Ok(no_such("room", room, &wing, rooms.keys()));
    }
    let always = DrawerQuery { since: None, before: None, ..wanted.clone() };
    let anywhere = DrawerQuery { wing: None, room: None, ..always.clone() };
    for (less, what) in [(always, "`since` and `before`"), (anywhere, "`wing` and `room`")] {
        let total = told(keeper.search_drawers(by, &less, 1))?.total;
        if total > 0 {
            let texts = if total == 1 { "1 text fits" } else { &format!("{total} texts fit") };
            return Ok(format!("Nothing fits there; {texts} without {what}"));
        }
    }
    Ok("Nothing fits: try other words.".to_owned())
}

fn hit(it: &DrawerHit, most: usize) -> Value {
    let (text, part) = found_in(&it.text, it.passage_start, most);
    spelled(it, &text, part)
}

fn spelled(it: &DrawerHit, text: &str, part: Option<Value>) -> Value {
    let mut value = json!({
        "text": text,
        "wing": it.location.shelf.wing,
        "room": it.location.shelf.room,
        "source_file": it.source,
        "similarity": rounded(it.similarity),
        "drawer_id": drawer_id(&it.location),
        "filed_at": moment(it.filed),
    });
    if let Some(part) = part {
        value["bytes"] = part;
    }
    value
}
