//! What an agent should know when a conversation begins, and where it may leave
//! what it has learned when the conversation ends.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use crate::keeper::mempalace::facts::statement;
use crate::keeper::palace::Held;
use crate::keeper::walk::notices::{has_past, open_work};
use crate::keeper::work::list::view;
use crate::keeper::{Caller, Keeper, Refusal};
use crate::model::{Date, Severity};
use crate::render::{self, Part, ago, cut, line};
use crate::tokens;

/// The fewest tokens that say anything.
pub const LEAST_TOKENS: usize = 100;

/// How many tokens are enough, if nobody says otherwise.
pub const USUAL_TOKENS: usize = 1_000;

/// How many tokens the rooms may take in which something can be left.
const PLACES: usize = 600;

/// How many things of a kind are looked at: more would fit into no budget.
const LOOKED_AT: usize = 200;

/// How many of the latest changes are told.
const RECENT: usize = 10;

/// How many characters of a text are told.
const OPENING: usize = 240;

impl Keeper {
    /// Tells in at most `budget` tokens what an agent should know when it wakes
    /// up in a palace: what is to be done, what was written last, which facts
    /// hold, what lies where.
    pub fn wake_up(
        &mut self,
        by: &Caller,
        workspace: Option<&str>,
        budget: usize,
    ) -> Result<String, Refusal> {
        if budget < LEAST_TOKENS {
            let why = format!("a budget of {budget} tokens says nothing: give it {LEAST_TOKENS}");
            return Err(Refusal::Nonsense(why));
        }
        let held = self.looked_into(by, workspace)?;
        if has_past(&held.palace) {
            held.recall()?;
        }
        let now = by.now;
        let parts = [
            to_be_done(held, now),
            scrolls(held, now),
            diaries(held, now),
            facts(held, now),
            observations(held),
            wings(held),
            rooms(held),
            recent(held, now)?,
        ];
        Ok(render::waking(&head(held), &parts, budget, tokens::count))
    }

    /// Lists the rooms and wings in which something can be left.
    pub fn places(&mut self, by: &Caller, workspace: Option<&str>) -> Result<String, Refusal> {
        let held = self.looked_into(by, workspace)?;
        Ok(render::waking(&head(held), &[rooms(held), wings(held)], PLACES, tokens::count))
    }

    fn looked_into(&mut self, by: &Caller, workspace: Option<&str>) -> Result<&mut Held, Refusal> {
        let key = match workspace {
            Some(asked) => self.find(asked)?.key,
            // A palace that the first write would make holds nothing.
            None => match self.current(by) {
                Err(Refusal::NoSuchWorkspace { .. }) => {
                    return Err(self.none_set(Vec::new()));
                }
                current => current?,
            },
        };
        let held = self.at(&key)?;
        held.catch_up()?;
        Ok(held)
    }
}

/// Says which palace this is, and how much it holds.
fn head(held: &Held) -> String {
    let palace = &held.palace;
    let counts = [
        (palace.rooms().len(), "room"),
        (palace.scrolls().count(), "scroll"),
        (palace.graph.len(), "entity"),
        (palace.drawers.len(), "drawer"),
    ];
    let counts = counts.map(|(number, noun)| render::count(number, noun));
    format!("── {} ──\n{}\n", cut(&line(&palace.settings.name), 40), counts.join(", "))
}

fn to_be_done(held: &Held, now: DateTime<Utc>) -> Part {
    let broken = held.findings().filter(|it| it.severity() == Severity::Error);
    let broken = broken.map(|it| format!("Mend {}:{}: {}", it.file, it.at.line, line(&it.message)));
    let work = open_work(&held.palace, |_| true).concat();
    let work = work.iter().filter_map(|it| view(held, it));
    let work: Vec<_> = work.map(|it| render::work_notice(&it, now)).collect();
    let lines: Vec<_> = work.into_iter().chain(broken).collect();
    part("To be done", lines.len(), lines.into_iter())
}

fn scrolls(held: &Held, now: DateTime<Utc>) -> Part {
    let palace = &held.palace;
    let mut all: Vec<_> = palace.scrolls().collect();
    all.sort_by_key(|(_, it)| Reverse((it.written, it.id)));
    let lines = all.iter().map(|(room, it)| {
        let (title, room) = (cut(&line(&it.title), 80), cut(&palace.name_of(room), 40));
        let (by, age) = (cut(&line(&it.by), 20), ago(it.written, now));
        format!("\"{title}\" in {room} ({by}, {age}): {}", opening(&it.body))
    });
    part("Latest scrolls", all.len(), lines)
}

fn diaries(held: &Held, now: DateTime<Utc>) -> Part {
    let diaries = &held.palace.diaries;
    let entries = diaries.agents().flat_map(|(agent, _)| {
        diaries.of(agent).take(LOOKED_AT).map(move |(_, entry)| (agent, entry))
    });
    let mut entries: Vec<_> = entries.collect();
    entries.sort_by_key(|(_, it)| Reverse((it.written, it.id)));
    let lines = entries.into_iter().map(|(agent, it)| {
        let age = it.written.map(|at| format!(", {}", ago(at, now))).unwrap_or_default();
        let (agent, topic) = (cut(&line(agent), 20), cut(&line(&it.topic), 40));
        format!("{agent}{age}, {topic}: {}", opening(&it.text))
    });
    part("Diary", diaries.len(), lines)
}

/// Tells the facts that hold, those that began last first, and of those that began
/// together the newest subject's.
fn facts(held: &Held, now: DateTime<Utc>) -> Part {
    let today = Date::from(now);
    let mut starts: Vec<_> = held.palace.graph.starts().collect();
    starts.sort_unstable_by_key(|it| (Reverse(it.id), &it.name, it.is_defined));
    let all =
        starts.into_iter().flat_map(|it| it.relations.iter().map(move |fact| (&it.name, fact)));
    let mut holding: Vec<_> = all.filter(|(_, fact)| fact.is_current(today)).collect();
    holding.sort_by_cached_key(|(_, fact)| Reverse(fact.begin()));
    let lines = holding.iter().map(|(name, fact)| {
        let since = fact.since.as_ref().map(|it| format!(" (since {})", cut(&line(it), 20)));
        statement(name, fact, today).told() + &since.unwrap_or_default()
    });
    part("Facts that hold", holding.len(), lines)
}

/// Tells what was observed last of the entities that are related most, and of those
/// the newest.
fn observations(held: &Held) -> Part {
    let graph = &held.palace.graph;
    let mut all: Vec<_> = graph.starts().filter(|it| !it.observations.is_empty()).collect();
    all.sort_by_cached_key(|it| {
        let related = it.relations.len() + graph.incoming(&it.name).count();
        (Reverse((related, it.id)), it.name.clone())
    });
    let lines = all.iter().map(|it| {
        let (name, genus) = (cut(&line(&it.name), 60), cut(&line(&it.genus), 40));
        let genus = if genus.is_empty() { genus } else { format!(" ({genus})") };
        let last = it.observations.iter().rev().take(OPENING / 8).map(|it| opening(it));
        let last: Vec<_> = last.filter(|it| !it.is_empty()).collect();
        format!("{name}{genus}: {}", opening(&last.join("; ")))
    });
    part("Observed, of the most related first", all.len(), lines)
}

/// Tells which wings hold drawers, and how many in which room.
fn wings(held: &Held) -> Part {
    let mut wings: BTreeMap<String, BTreeMap<String, usize>> = BTreeMap::new();
    for (shelf, _, count) in held.palace.drawers.shelves() {
        *wings.entry(shelf.wing).or_default().entry(shelf.room).or_default() += count;
    }
    let mut wings: Vec<_> = wings.into_iter().collect();
    wings.sort_by_key(|(_, rooms)| Reverse(rooms.values().sum::<usize>()));
    let lines = wings.iter().map(|(wing, rooms)| {
        let rooms: Vec<_> = rooms.iter().map(|(room, count)| format!("{room} {count}")).collect();
        cut(&line(&format!("{wing}: {}", rooms.join(", "))), OPENING)
    });
    part("Drawers by wing and room", wings.len(), lines)
}

/// Tells the rooms: the entry, then those with most scrolls.
fn rooms(held: &Held) -> Part {
    let palace = &held.palace;
    let mut rooms: Vec<_> =
        palace.rooms().map(|(id, it)| (id, it, palace.scrolls_in(id).count())).collect();
    rooms.sort_by_key(|(id, _, scrolls)| (palace.entry() != Some(*id), Reverse(*scrolls)));
    let lines = rooms.iter().map(|(id, room, scrolls)| {
        let scrolls = match scrolls {
            0 => String::new(),
            _ => format!(", {}", render::count(*scrolls, "scroll")),
        };
        format!("{} ({id}){scrolls}", cut(&line(&room.name), 60))
    });
    part("Rooms, the entry first", rooms.len(), lines)
}

fn recent(held: &Held, now: DateTime<Utc>) -> Result<Part, Refusal> {
    let moments = held.recent(RECENT)?;
    let lines = moments.iter().map(|it| {
        let (subject, by) = (cut(&line(&it.subject), 80), cut(&line(&it.by), 20));
        format!("{subject} ({by}, {})", ago(it.at, now))
    });
    Ok(part("Latest changes", moments.len(), lines))
}

fn part(heading: &'static str, total: usize, lines: impl Iterator<Item = String>) -> Part {
    Part { heading, lines: lines.take(LOOKED_AT).collect(), total }
}

/// Returns how a text begins.
fn opening(text: &str) -> String {
    let start: String = text.chars().take(2 * OPENING).collect();
    cut(&line(&start), OPENING)
}
