//! Renders drawers: one drawer, lists of drawers, and unbuilt rooms that have only drawers.

use chrono::{DateTime, Utc};

use crate::model::{
    DisplayWingRoom, DocumentProperties, Drawer, Headings, Layout, Provenance, RoomId, Slot,
    document_title,
};
use crate::render::room::{RoomView, menu};
use crate::render::text::{
    count_with_noun, name_in_list, name_in_sentence, one_line, text_in_page, title_in_heading,
    title_in_row, truncate, whole_line, word_or_quoted,
};
use crate::render::{age_or_day, mark_imitations, origin_suffix, provenance};

/// Limit for the characters of a title.
const TITLE_CHARS: usize = 60;

/// Limit for the characters of a title that the file gives.
const MAX_GIVEN_TITLE_CHARS: usize = 120;

/// Limit for the characters of a text in a list.
const PREVIEW_CHARS: usize = 160;

/// A drawer with its wing and room, and where it comes from.
#[derive(Clone, Debug)]
pub struct DrawerView<'a> {
    /// The drawer.
    pub drawer: &'a Drawer,
    /// The names of its wing and room.
    pub shelf: DisplayWingRoom,
    /// The room.
    pub room: &'a RoomId,
    /// Its author and its origin.
    pub provenance: Provenance,
}

/// Renders an unbuilt room that has drawers. `wing` is the name of its wing.
/// `advice` is how to build it.
pub fn unbuilt_drawer_room(view: &RoomView<'_>, name: &str, wing: &str, advice: &str) -> String {
    let description = unbuilt_drawer_room_description(view.drawer_count, wing);
    format!("── {} ──\n{description}\n{advice}\n{}", title_in_heading(name), menu(view))
}

/// Describes an unbuilt room that has drawers; `wing` is the name of its wing.
pub fn unbuilt_drawer_room_description(drawer_count: usize, wing: &str) -> String {
    format!(
        "A bare room in the wing {}: it is not built yet, and it contains only {}.",
        name_in_sentence(wing),
        count_with_noun(drawer_count, "drawer")
    )
}

/// Renders drawers of the room named `room`; `left` is the number of older drawers that are
/// not shown.
pub fn drawer_list(
    room: &str,
    shown: &[DrawerView<'_>],
    left: usize,
    now: DateTime<Utc>,
) -> String {
    let mut page = format!("The drawers of {}, newest first:\n", name_in_sentence(room));
    for (place, it) in shown.iter().enumerate() {
        let number = Layout::Wide.number_of_slot(Slot::Result(place));
        page.push_str(&format!("  {number}. {}\n", drawer_row(it, now)));
    }
    let number = Layout::Wide.number_of_slot(Slot::Drawers);
    if left > 0 {
        page.push_str(&format!("  {number}. {}\n", count_with_noun(left, "older drawer")));
    }
    page
}

/// Renders a drawer in a list: the beginning of its text, its wing, its date and its origin.
pub fn drawer_row(view: &DrawerView<'_>, now: DateTime<Utc>) -> String {
    let mut notes = vec![name_in_list(&view.shelf.wing)];
    notes.extend(view.drawer.filed.map(|it| age_or_day(it, now)));
    notes.extend(Some(provenance(&view.provenance)).filter(|it| !it.is_empty()));
    let preview = preview(&view.drawer.text);
    let preview = match &view.drawer.title {
        Some(title) => format!("{}: {preview}", one_line(title)),
        None => preview,
    };
    let excerpt = title_in_row(&truncate(&preview, PREVIEW_CHARS));
    format!("{excerpt} ({})", notes.join(", "))
}

/// Renders the numbers and rows of the later texts that share the rare words of one; without any, the rare
/// words that no later text has.
pub fn later_texts(
    rows: impl Iterator<Item = (Option<usize>, String)>,
    words: &[String],
) -> String {
    const MAX_WORDS: usize = 6;
    let row = |(number, row): (Option<usize>, String)| match number {
        Some(number) => format!("  {number}. {row}\n"),
        None => format!("  {}\n", mark_imitations(&row)),
    };
    let rows: Vec<_> = rows.map(row).collect();
    match rows.is_empty() {
        true if words.is_empty() => "\nNo later text shares its rare words.\n".to_owned(),
        true => {
            let words: Vec<_> = words.iter().take(MAX_WORDS).map(|it| word_or_quoted(it)).collect();
            format!("\nNo later text shares its rare words: {}.\n", words.join(", "))
        }
        false => format!("\nLater texts that share its rare words:\n{}", rows.concat()),
    }
}

/// Renders a note in a list: its title and its room.
pub fn note_label(note: &Drawer, room: &RoomId) -> String {
    label_with_place(&drawer_title(note), &room.to_string())
}

/// Renders a name in a list, and where it belongs: a room, or a genus.
pub fn label_with_place(name: &str, place: &str) -> String {
    format!("{} ({})", title_in_row(&truncate(name, TITLE_CHARS)), one_line(place))
}

/// Renders what a note links to, and what leads to it: rows, each with the number that opens it, and how
/// many more there are. Empty if both lists are.
pub fn note_links(
    linked: &(Vec<(Option<usize>, String)>, usize),
    leading_here: &(Vec<(Option<usize>, String)>, usize),
) -> String {
    let mut page = String::new();
    for (heading, (rows, more)) in [("It links to", linked), ("What leads here", leading_here)] {
        if rows.is_empty() {
            continue;
        }
        page.push_str(&format!("\n{heading}:\n"));
        for (number, row) in rows {
            match number {
                Some(number) => page.push_str(&format!("  {number}. {row}\n")),
                None => page.push_str(&format!("  {}\n", mark_imitations(row))),
            }
        }
        if *more > 0 {
            page.push_str(&format!("  and {more} more\n"));
        }
    }
    page
}

/// Renders a drawer.
pub fn drawer(view: &DrawerView<'_>, now: DateTime<Utc>) -> String {
    let text = &view.drawer.text;
    let (title, heading) = (drawer_title(view.drawer), drawer_subtitle(view, now));
    let title = title_in_heading(&title);
    format!("── {title} ──\n{heading}\n\n{}", text_in_page(text))
}

/// Renders where a drawer is, who filed it and when, and how it came there.
pub fn drawer_subtitle(view: &DrawerView<'_>, now: DateTime<Utc>) -> String {
    let DrawerView { drawer, shelf, room, provenance } = view;
    let filed = drawer.filed.map(|it| format!(", filed {}", age_or_day(it, now)));
    let by = provenance.by.as_ref().map(|it| format!(" by {}", name_in_sentence(it)));
    format!(
        "A drawer of {} in {} ({room}){}{}{}.",
        name_in_sentence(&shelf.room),
        name_in_sentence(&shelf.wing),
        filed.unwrap_or_default(),
        by.unwrap_or_default(),
        origin_suffix(provenance)
    )
}

/// Returns the title of a drawer: that of its file or of its document, or the first words.
pub fn drawer_title(drawer: &Drawer) -> String {
    match &drawer.title {
        Some(title) => truncate(&one_line(title), MAX_GIVEN_TITLE_CHARS),
        None if drawer.source.is_some() && first_message(&drawer.text).is_none() => {
            let title = document_title(&drawer.text).map(|it| one_line(&it));
            title.map_or_else(|| text_title(&drawer.text), |it| truncate(&it, TITLE_CHARS))
        }
        None => text_title(&drawer.text),
    }
}

/// Returns the title of a text: that of its front matter, its main heading, or its first words. Those
/// of a conversation are the words of its first message.
pub fn text_title(text: &str) -> String {
    let properties = DocumentProperties::parse(text);
    let body = first_message(text).unwrap_or(properties.body);
    let main_heading = || Headings::of(body).find(|it| it.level == 1).map(|it| one_line(it.text));
    let first_line = || {
        let line = body.lines().map(one_line).find(|it| it.chars().any(char::is_alphanumeric));
        line.map(|it| it.trim_start_matches('#').trim_start().to_owned())
    };
    let title = properties.title().map(one_line);
    let title = title.or_else(|| first_message(text).is_none().then(main_heading).flatten());
    truncate(&title.or_else(first_line).unwrap_or_else(|| "A drawer".to_owned()), TITLE_CHARS)
}

/// Returns the text from the first message on, without the line that names the speaker; `None` if it
/// is no conversation.
fn first_message(text: &str) -> Option<&str> {
    text.strip_prefix("User:\n").or_else(|| text.strip_prefix("Assistant:\n"))
}

/// Returns the beginning of a text in one line, without front matter and the name of the first speaker.
fn preview(text: &str) -> String {
    let body = first_message(text).unwrap_or_else(|| DocumentProperties::parse(text).body);
    let body = if body.trim().is_empty() { text } else { body };
    whole_line(&body.chars().take(4 * PREVIEW_CHARS).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_title_of_a_text_is_what_its_author_wrote() {
        for (text, title) in [
            ("User:\nWhy is the seam black?\n\nAssistant:\n# Coal\n", "Why is the seam black?"),
            ("Assistant:\nHello.\n", "Hello."),
            ("User:\n```\nlet x = 1;\n```\n", "let x = 1;"),
            ("---\ntags: [a]\ntitle: Coal\n---\nBlack.\n", "Coal"),
            ("---\ntags: [a]\n---\nBlack.\n", "Black."),
            ("\n## Coal\n\nBlack.\n", "Coal"),
            ("[badge]\n\n# Coal\n", "Coal"),
            ("We chose coal.\n\n## Why\n", "We chose coal."),
            ("***\n", "A drawer"),
        ] {
            assert_eq!(text_title(text), title, "{text}");
        }
    }
}
