//! What somebody needs who comes in for the first time.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use crate::model::weight;
use crate::model::{Moment, abridged};
use crate::render::{ago, count, cut, line};

/// How many genera a summary lists.
const GENERA: usize = 12;

/// What a summary weighs at most, in thirds of a token, and the smallest part of
/// their letters that names are shortened to for it.
const MOST: usize = 870;
const FEWEST: usize = 3;

/// What a workspace holds, in few words.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// How many rooms.
    pub rooms: usize,
    /// How many scrolls.
    pub scrolls: usize,
    /// How many entities.
    pub entities: usize,
    /// Each genus that has entities in this workspace, with how many.
    pub genera: Vec<(String, usize)>,
    /// The latest changes, newest first.
    pub recent: Vec<Moment>,
}

/// Explains the palace to one who has never been in one (v1 section 10).
pub fn tutorial() -> &'static str {
    "This is a memory palace, and you are its keeper for now. Those who worked here before you \
     left it as you find it; what you leave, the next will find. Every room has a description \
     and numbered actions: choose one with palace_action. Some lead on, some ask the knowledge \
     graph and show what it knows, some tell you something.\n\
     Build rooms with build_room wherever a subject deserves a place of its own. Give each a \
     look, a sound, an object that stands for what it holds: what can be pictured is \
     remembered. A door may lead to a room that does not exist yet. Leave scrolls with \
     write_scroll: what you found, what you doubt, what remains. Before you go, leave one in \
     the entry room.\n"
}

/// Renders what a workspace holds (v1 section 5.1, v2 section 3.2), in less than
/// three hundred tokens: where names are of scripts that cost many, in fewer letters.
pub fn summary(name: &str, it: &Summary, now: DateTime<Utc>) -> String {
    let pages = (1..).map(|share| in_parts(name, it, now, share));
    let fitting = pages.take(FEWEST).find(|page| weight(page) <= MOST);
    fitting.unwrap_or_else(|| in_parts(name, it, now, FEWEST))
}

/// Renders it with names shortened to one of so many parts of what they might have.
fn in_parts(name: &str, it: &Summary, now: DateTime<Utc>, share: usize) -> String {
    let short = |text: &str, room: usize| abridged(&line(text), room / share);
    let counts = [(it.rooms, "room"), (it.scrolls, "scroll"), (it.entities, "entity")];
    let counts: Vec<_> = counts.into_iter().map(|(number, noun)| count(number, noun)).collect();
    let mut page = format!("Workspace: {} ({})\n", short(name, 60), counts.join(", "));
    if it.entities == 0 {
        page.push_str("This workspace holds no entities yet: create_entities makes some.\n");
    }
    let mut genera: Vec<_> = it.genera.iter().collect();
    genera.sort_by_key(|(_, number)| std::cmp::Reverse(*number));
    for (genus, number) in genera.iter().take(GENERA) {
        page.push_str(&format!("  {}: {number}\n", short(genus, 30)));
    }
    if genera.len() > GENERA {
        let left = genera.len() - GENERA;
        page.push_str(&format!("  and {left} more: list_genera\n"));
    }
    if !it.recent.is_empty() {
        page.push_str("Recent activity:\n");
    }
    for moment in &it.recent {
        let (subject, by) = (short(&moment.subject, 50), short(&moment.by, 20));
        page.push_str(&format!("  {subject} ({by}, {})\n", ago(moment.at, now)));
    }
    page
}

/// Renders what is known that could belong into an unbuilt room: the entities
/// that mention its topic, by genus, best first; or what there is at all.
pub fn context(
    topic: &str,
    related: &BTreeMap<&str, Vec<&str>>,
    genera: &[(&str, usize)],
) -> String {
    let mut page = "Workspace context:\n".to_owned();
    for (genus, names) in related.iter().take(GENERA) {
        let genus = cut(&line(genus), 60);
        page.push_str(&match names.as_slice() {
            [only] => format!("  {genus}: {}\n", cut(&line(only), 80)),
            [first, ..] => {
                let first = cut(&line(first), 80);
                format!("  {genus}: {} mention \"{topic}\", {first} first\n", names.len())
            }
            [] => String::new(),
        });
    }
    if related.is_empty() {
        let known = genera.iter().take(GENERA).map(|(it, n)| format!("{} {n}", cut(&line(it), 60)));
        page.push_str(&format!("  {}\n", known.collect::<Vec<_>>().join(", ")));
    }
    page
}
