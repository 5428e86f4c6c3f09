//! Renders scrolls, and the inventory with the scrolls of a room.

use chrono::{DateTime, Utc};

use crate::model::{Audience, Layout, Provenance, Scroll, Slot};
use crate::render::text::{
    count_with_noun, in_quotes, name_in_sentence, text_in_page, title_in_heading, title_in_row,
    truncate,
};
use crate::render::{ago, origin_suffix, short_provenance};

/// A scroll, and where it comes from.
#[derive(Clone, Debug)]
pub struct ScrollView<'a> {
    /// The scroll.
    pub scroll: &'a Scroll,
    /// Its author and its origin.
    pub provenance: Provenance,
    /// The title and the time of the scroll that replaces it.
    pub replaced_by: Option<(String, DateTime<Utc>)>,
}

impl<'a> ScrollView<'a> {
    /// Returns a scroll whose provenance is not needed.
    pub fn without_provenance(scroll: &'a Scroll) -> Self {
        Self { scroll, provenance: Provenance::default(), replaced_by: None }
    }
}

/// Renders one scroll; `text` is its text, in which links to entities are names.
pub fn scroll(view: &ScrollView<'_>, text: &str, room: &str, now: DateTime<Utc>) -> String {
    format!(
        "── {} ──\n{}\n\n{}\n",
        title_in_heading(&view.scroll.title),
        scroll_subtitle(view, room, now),
        text_in_page(text)
    )
}

/// Renders where a scroll is, who wrote it and when, and how it came there.
pub fn scroll_subtitle(view: &ScrollView<'_>, room: &str, now: DateTime<Utc>) -> String {
    let Scroll { written, by, .. } = view.scroll;
    format!(
        "A scroll in {}, written by {} {}{}.",
        name_in_sentence(room),
        name_in_sentence(by),
        ago(*written, now),
        origin_suffix(&view.provenance)
    ) + &view.replaced_by.as_ref().map(|it| replacement_note(it, now)).unwrap_or_default()
}

fn replacement_note((title, written): &(String, DateTime<Utc>), now: DateTime<Utc>) -> String {
    format!(" Replaced by {}, {}.", in_quotes(&truncate(title, 80)), ago(*written, now))
}

/// Renders the age and the author of a scroll in a list, without parentheses.
pub fn scroll_note(view: &ScrollView<'_>, now: DateTime<Utc>) -> String {
    let replaced = if view.replaced_by.is_some() { ", replaced by a newer one" } else { "" };
    format!("{}, {}{replaced}", ago(view.scroll.written, now), short_provenance(&view.provenance))
}

/// Renders a list of scrolls that are older than those on the room's page.
pub fn older_scrolls(
    room: &str,
    shown: &[ScrollView<'_>],
    left: usize,
    now: DateTime<Utc>,
) -> String {
    let mut page = format!("Older scrolls in {}:\n", name_in_sentence(room));
    page.push_str(&numbered_scrolls(shown, now));
    if left > 0 {
        let number = Layout::Wide.number_of_slot(Slot::OlderScrolls);
        page.push_str(&format!("  {number}. {}\n", count_with_noun(left, "older scroll")));
    }
    page
}

/// Renders the visitor's inventory: the actions that always work, and the scrolls of the
/// room; `total` is the number of all its scrolls.
pub fn inventory(
    scrolls: &[ScrollView<'_>],
    total: usize,
    audience: Audience,
    now: DateTime<Utc>,
) -> String {
    let mut page = audience
        .choose(
            "You carry a compass (0 shows the map), a lamp (17 with params searches the palace), \
             pen and ink (write_scroll leaves a note).\n",
            "You carry a compass (`map` shows the map), a lamp (`search WORDS` searches the \
             palace), pen and ink (`scroll TITLE` leaves a note).\n",
        )
        .to_owned();
    if scrolls.is_empty() {
        page.push_str("There are no scrolls here.\n");
        return page;
    }
    page.push_str("Within reach:\n");
    page.push_str(&numbered_scrolls(scrolls, now));
    if total > scrolls.len() {
        page.push_str(&format!(
            "  and {}\n",
            count_with_noun(total - scrolls.len(), "older scroll")
        ));
    }
    page
}

fn numbered_scrolls(scrolls: &[ScrollView<'_>], now: DateTime<Utc>) -> String {
    let line = |(place, it): (usize, &ScrollView<'_>)| {
        let number = Layout::Wide.number_of_slot(Slot::Scroll(place));
        format!("  {number}. {} ({})\n", title_in_row(&it.scroll.title), scroll_note(it, now))
    };
    scrolls.iter().enumerate().map(line).collect()
}
