//! What differs, in words.

use crate::model::{Detail, Difference, Fate, Filed, Part, Relation, Thing};
use crate::render::{count, cut, line};

/// How many ways in which one thing differs are told.
const MOST: usize = 20;
/// How many characters of a value or a name are shown.
const LONG: usize = 80;

/// Renders what differs, one thing a line:
/// `room hall-of-geology: action 'Enter the alcove' added; description changed (3 lines)`.
pub fn differences(differences: &[Difference]) -> String {
    let line = |it: &Difference| format!("{}: {}\n", thing(&it.thing), fate(&it.fate));
    differences.iter().map(line).collect::<Vec<_>>().concat()
}

/// Renders what became of one thing, without saying which.
pub fn fate(fate: &Fate) -> String {
    match fate {
        Fate::Added => "added".to_owned(),
        Fate::Removed => "removed".to_owned(),
        Fate::Changed(details) if details.is_empty() => {
            "says the same in other words (comments, blank lines, order)".to_owned()
        }
        Fate::Changed(details) => {
            let mut told: Vec<_> = details.iter().take(MOST).map(detail).collect();
            if details.len() > MOST {
                told.push(format!("and {} more", details.len() - MOST));
            }
            told.join("; ")
        }
    }
}

/// Names a thing in a line.
pub fn thing(thing: &Thing) -> String {
    match thing {
        Thing::Settings => "settings".to_owned(),
        Thing::Room(id) => format!("room {id}"),
        Thing::Scroll { which, title } => format!("scroll {} in {}", quoted(title), which.room),
        Thing::Entity(name) => format!("entity {}", short(name)),
        Thing::Filed { what, path } => format!("{} {}", filed(*what), short(path)),
        Thing::File(path) => format!("file {}", short(path)),
    }
}

fn filed(what: Filed) -> &'static str {
    match what {
        Filed::Genus => "genus",
        Filed::Task => "task",
        Filed::Process => "process",
        Filed::Drawer => "drawer",
        Filed::Entry => "diary entry",
    }
}

fn detail(detail: &Detail) -> String {
    match detail {
        Detail::Moved { from } => format!("moved from {from}"),
        Detail::Renamed { from, to } => format!("called {}, was {}", quoted(to), quoted(from)),
        Detail::Lines { text: "", count: number } => {
            format!("changed ({})", count(*number, "line"))
        }
        Detail::Lines { text, count: number } => {
            format!("{text} changed ({})", count(*number, "line"))
        }
        Detail::Value { of, was, now } => match (was, now) {
            (Some(was), Some(now)) => format!("{} {} → {}", short(of), short(was), short(now)),
            (None, Some(now)) => format!("{} {} added", short(of), short(now)),
            (Some(was), None) => format!("{} {} removed", short(of), short(was)),
            (None, None) => short(of),
        },
        Detail::Gained(it) => format!("{} added", part(it)),
        Detail::Lost(it) => format!("{} removed", part(it)),
        Detail::Altered(it) => format!("{} changed", part(it)),
        Detail::Dated { was, now } => {
            let said = |it| terms(it).unwrap_or("no dates".to_owned());
            format!("relation {}: {} → {}", edge(now), said(was), said(now))
        }
        Detail::Reordered(all) => format!("{all} in another order"),
        Detail::Unreadable { before: true, why } => {
            format!("changed; it could not be read before ({})", short(why))
        }
        Detail::Unreadable { before: false, why } => {
            format!("changed; it cannot be read ({})", short(why))
        }
    }
}

fn part(part: &Part) -> String {
    match part {
        Part::Action(label) => format!("action {}", quoted(label)),
        Part::Portal(room) => format!("portal to {room}"),
        Part::Observation(text) => format!("observation {}", quoted(text)),
        Part::Relation(it) => match terms(it) {
            Some(terms) => format!("relation {} ({terms})", edge(it)),
            None => format!("relation {}", edge(it)),
        },
    }
}

/// Names a relation by its type and where it leads: `rules → Pope`.
pub fn edge(it: &Relation) -> String {
    format!("{} → {}", short(&it.kind), short(&it.to))
}

/// Says when a relation held and from where that is known, as it is written:
/// `since 2001, until 2005`.
pub fn terms(it: &Relation) -> Option<String> {
    let terms = [("since", &it.since), ("until", &it.until), ("source", &it.source)];
    let terms = terms.into_iter().filter_map(|(word, it)| Some((word, it.as_ref()?)));
    let said: Vec<_> = terms.map(|(word, it)| format!("{word} {}", short(it))).collect();
    (!said.is_empty()).then(|| said.join(", "))
}

fn quoted(text: &str) -> String {
    format!("'{}'", short(text))
}

fn short(text: &str) -> String {
    cut(&line(text), LONG)
}
