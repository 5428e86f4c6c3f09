//! What the graph shows in a room or a hall.

use crate::model::{Entity, Layout, Slot, abridged, alike};
use crate::render::{line, thousands};

/// How much room all names of a page have together, and each at least and at
/// most: a page of thirty stays below five hundred tokens.
const NAMES: usize = 640;
const SHORTEST: usize = 20;
const LONGEST: usize = 64;

/// What all names of a list begin with is said once if it has more bytes than this.
const SHARED: usize = 12;

/// What the graph shows in a place, besides what can be chosen there.
#[derive(Clone, Debug, PartialEq)]
pub struct Exhibit<'a> {
    /// What it is called: `Claim · contested`.
    pub title: String,
    /// How many entities it is about.
    pub total: usize,
    /// Those that are shown, in the order of their numbers.
    pub listed: Vec<&'a Entity>,
    /// What else is to be known of it: one sentence.
    pub remark: Option<String>,
}

/// Says where a passage leads, and how many entities stand there.
pub fn passage(to: &str, total: usize) -> String {
    format!("{to} ({})", thousands(total))
}

/// Renders what a hall holds, which is all there is to it.
pub(super) fn hall(exhibit: &Exhibit<'_>) -> String {
    let about = match exhibit.total {
        0 => "This hall is empty now: what it held is gone, or stands elsewhere.".to_owned(),
        total => format!("Made from the graph as it is now: {}.", entities(total)),
    };
    format!("── {} ──\n{about}\n{}", line(&exhibit.title), list(exhibit))
}

/// Renders what a room shows of the graph.
pub(super) fn shown(exhibit: &Exhibit<'_>) -> String {
    let end = if exhibit.listed.is_empty() { '.' } else { ':' };
    let about = match exhibit.total {
        0 => "no entities yet.".to_owned(),
        total => format!("{}{end}", entities(total)),
    };
    let remark = exhibit.remark.as_ref().map(|it| format!("{it}\n")).unwrap_or_default();
    format!("\n{}: {about}\n{remark}{}", line(&exhibit.title), list(exhibit))
}

/// Lists entities with what tells them apart: in a hall of contested claims
/// neither genus nor status do.
fn list(Exhibit { listed, .. }: &Exhibit<'_>) -> String {
    let differ =
        |of: fn(&Entity) -> Option<&str>| listed.windows(2).any(|pair| of(pair[0]) != of(pair[1]));
    let (genera, statuses) = (differ(|it| Some(&it.genus)), differ(|it| it.status.as_deref()));
    let room = (NAMES / listed.len().max(1)).clamp(SHORTEST, LONGEST);
    let names: Vec<_> = listed.iter().map(|it| line(&it.name)).collect();
    let shared = shared(&names);
    let label = |(it, name): (&&Entity, &String)| {
        let genus = genera.then_some(it.genus.as_str());
        let notes = genus.into_iter().chain(it.status.as_deref().filter(|_| statuses));
        let notes = notes.map(|it| format!(" · {}", abridged(&line(it), SHORTEST)));
        let notes = notes.collect::<Vec<_>>().concat();
        let left = room.saturating_sub(notes.chars().count()).max(SHORTEST);
        let more = if shared.is_empty() { "" } else { "…" };
        format!("{more}{}{notes}", abridged(&name[shared.len()..], left))
    };
    let numbers = (0..).map(|place| Layout::Wide.number(Slot::Opening(place)));
    let lines = listed.iter().zip(&names).zip(numbers);
    let lines = lines.map(|(it, number)| format!("  {number}. {}\n", label(it)));
    let lines = lines.collect::<Vec<_>>().concat();
    if shared.is_empty() {
        lines
    } else {
        format!("Each begins with \"{}\".\n{lines}", shared.trim_end())
    }
}

/// Returns the words that all names of a list begin with, if they are many.
fn shared(names: &[String]) -> &str {
    let Some((first, others @ [_, ..])) = names.split_first() else { return "" };
    let bytes = others.iter().map(|it| alike(first, it)).min().unwrap_or_default();
    let words = first[..bytes].rfind(|it: char| !it.is_alphanumeric()).unwrap_or_default();
    if words > SHARED { &first[..words] } else { "" }
}

fn entities(total: usize) -> String {
    format!("{} {}", thousands(total), if total == 1 { "entity" } else { "entities" })
}
