//! From palace to page: pure functions that turn values into text.
//!
//! Nothing here reads a file, asks the time or keeps state: `now` is a
//! parameter, so yesterday can be tested today.

mod entity;
mod map;
mod narration;
mod room;
mod scroll;
mod summary;
mod time;

pub use entity::{Census, entities, entity, genera, relations};
pub use map::{MapView, map};
pub use narration::narrate;
pub use room::{Notice, RoomView, from_afar, menu, room, unfinished};
pub use scroll::{Found, inventory, older, results, scroll};
pub use summary::{Summary, context, summary, tutorial};
pub use time::ago;

/// Says how many there are of something: `1 scroll`, `3 scrolls`.
pub fn count(number: usize, noun: &str) -> String {
    let plural = match noun {
        "entity" if number != 1 => return format!("{number} entities"),
        _ if number == 1 => "",
        _ => "s",
    };
    format!("{number} {noun}{plural}")
}

/// Makes a text safe for one line of a page: no line breaks, no control
/// characters, which could move a terminal's cursor or pose as a menu.
pub fn line(text: &str) -> String {
    let clean = text.chars().map(|it| if is_safe(it) { it } else { ' ' });
    clean.collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Makes a text safe for a page: its lines stay, other control characters go.
pub fn prose(text: &str) -> String {
    text.trim_end().chars().filter(|it| is_safe(*it) || matches!(it, '\n' | '\t')).collect()
}

/// Control characters move a terminal's cursor; bidirectional overrides make a
/// line read as something it is not.
fn is_safe(it: char) -> bool {
    !it.is_control() && !matches!(it, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Cuts a text to at most `most` characters, with `…` where something went.
pub fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
    }
}
