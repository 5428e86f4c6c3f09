//! From palace to page: pure functions that turn values into text.
//!
//! Nothing here reads a file, asks the time or keeps state: `now` is a
//! parameter, so yesterday can be tested today.

mod age;
mod date;
mod diary;
mod drawer;
mod entity;
mod entity_listing;
mod findings_report;
mod genus;
mod history;
mod map;
mod markdown;
mod narration;
mod palace_diff;
mod room;
mod scroll;
mod source_excerpt;
mod timeline;
mod wake_up;
mod work;
mod workspace_summary;

pub use age::ago;
pub use date::dated;
pub use diary::entry;
pub use drawer::{Filed, Reading, drawer, drawers, storeroom, title};
pub use entity::{entities, entity, left_out, relations};
pub use entity_listing::{Exhibit, passage};
pub use findings_report::{Reported, github, json, sarif};
pub use genus::{Census, genera, genus};
pub use history::{blame, log, moment, versions};
pub use map::{MapView, map};
pub use markdown::{room_leaf, scroll_leaf};
pub use narration::narrate;
pub use palace_diff::{differences, edge, fate, terms, thing};
pub use room::{Notice, RoomView, from_afar, hall, menu, room, unfinished};
pub use scroll::{Found, inventory, older, results, scroll, sightings};
pub use source_excerpt::excerpt;
pub use timeline::timeline;
pub use wake_up::{Part, waking};
pub use work::{ProcessView, TaskView, WorkView, process, task, work_notice, works};
pub use workspace_summary::{Summary, context, summary, tutorial};

use serde_json::Value;

use crate::model::{is_printable, printable};

/// Says how many there are of something: `1 scroll`, `3 scrolls`.
pub fn count(number: usize, noun: &str) -> String {
    match number {
        1 => format!("1 {noun}"),
        _ => format!("{number} {}", plural(noun)),
    }
}

/// Says it as English does of most that are several: `Claims`, `Theories`, `Processes`.
fn plural(noun: &str) -> String {
    if let Some(stem) = noun.strip_suffix("sis") {
        return format!("{stem}ses");
    }
    match noun.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'i', 'o', 'u']) => format!("{stem}ies"),
        _ if ["s", "x", "ch", "sh"].iter().any(|it| noun.ends_with(it)) => format!("{noun}es"),
        _ => format!("{noun}s"),
    }
}

/// Writes a number as people read it: `4,210`.
pub fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    groups.join(",")
}

/// Makes a text safe for one line of a page: no line breaks, which could pose
/// as a menu, and nothing that does more than be read.
pub fn line(text: &str) -> String {
    let clean = text.chars().map(|it| if is_printable(it) { it } else { ' ' });
    clean.collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Makes a text safe for a page: its lines stay.
pub fn prose(text: &str) -> String {
    printable(text.trim_end())
}

/// Writes a value as a person would: a text without quotes.
pub fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Cuts a text to at most `most` characters, with `…` where something went.
pub fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
    }
}
