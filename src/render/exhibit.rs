//! What the graph shows in a room or a hall.

use crate::model::{Entity, Layout, Slot, abridged, alike};
use crate::render::{line, thousands};

/// How much room all names of a page have together, and each at least and at
/// most: a page of thirty stays below five hundred tokens. Beside a genus or a
/// status a name makes do with less.
const NAMES: usize = 640;
const SHORTEST: usize = 20;
const BESIDE: usize = 12;
const LONGEST: usize = 64;

/// What all names of a list begin with is said once if it has more bytes than this.
const SHARED: usize = 7;

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
        let left = room.saturating_sub(notes.chars().count()).max(BESIDE);
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
    let space = first[..bytes].char_indices().rfind(|(_, it)| !it.is_alphanumeric());
    let words = space.map_or(0, |(at, it)| at + it.len_utf8());
    if words > SHARED { &first[..words] } else { "" }
}

fn entities(total: usize) -> String {
    format!("{} {}", thousands(total), if total == 1 { "entity" } else { "entities" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens;

    /// What is left of five hundred tokens beside a hall's title and menu.
    const LIST: usize = 400;

    /// Thirty entities.
    fn named(name: fn(usize) -> String, status: fn(usize) -> Option<&'static str>) -> Vec<Entity> {
        let entity = |it| Entity {
            is_defined: true,
            status: status(it).map(str::to_owned),
            ..Entity::loose_end(&name(it))
        };
        (0..Layout::OPENINGS).map(entity).collect()
    }

    #[test]
    fn what_all_names_begin_with_is_said_once() {
        let seen = |names: &[&str]| {
            let entities: Vec<_> = names.iter().map(|it| Entity::loose_end(it)).collect();
            let listed = entities.iter().collect();
            list(&Exhibit { title: String::new(), total: names.len(), listed, remark: None })
        };
        let symbols = ["gneiss::fold::open", "gneiss::fold::shut", "gneiss::form"];
        let few = ["Ice moves", "Ice melts"];
        insta::assert_snapshot!(seen(&symbols) + &seen(&few), @r#"
        Each begins with "gneiss::".
          31. …fold::open
          32. …fold::shut
          33. …form
          31. Ice moves
          32. Ice melts
        "#);
    }

    #[test]
    fn thirty_names_of_whatever_kind_fit_on_a_page_of_five_hundred_tokens() {
        let kinds: [fn(usize) -> String; 6] = [
            |it| format!("{} is older than the map of it, no. {it}", ["Ice", "Stasis"][it % 2]),
            |it| format!("{}, Râmnicu Vâlcea {it}", ["Dąbrowa", "Żywiec", "Plzeň"][it % 3]),
            |it| format!("{:08x}-4f1d-{:012x}", it * 0x0b97_3145, it * 0x5eed_1234),
            |it| format!("{}::Murchison::flux_{it:02}", ["eustasy", "neptunism"][it % 2]),
            |it| format!("{}山水月石第{it}番", ["風谷", "雲雪", "梅竹"][it % 3]),
            |it| format!("{}.example/~a{it}/?q=%20&b=[{it}]#{{x}}", ["http://a", "b"][it % 2]),
        ];
        let statuses = |it: usize| Some(["contested", "settled"][it % 2]);
        for entities in kinds.iter().flat_map(|it| [named(*it, |_| None), named(*it, statuses)]) {
            let listed = entities.iter().collect();
            let title = String::new();
            let page = list(&Exhibit { title, total: Layout::OPENINGS, listed, remark: None });
            let cost = tokens::count(&page);
            assert!(cost <= LIST, "{cost} tokens:\n{page}");
        }
    }
}
