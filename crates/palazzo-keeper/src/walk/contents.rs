//! The contents of items, in the answers that name them. What a visit was shown before is left out.

use ulid::Ulid;

use crate::graph::describe::{describe_genus, get_entity};
use crate::templates::is_example;
use crate::walk::changes_since_visit::mark_scroll_read;
use crate::walk::drawers::read_drawer;
use crate::walk::show_item::{read_diary_entry, render_room_text, render_scroll};
use crate::walk::{mark_shown, was_shown};
use crate::work::{render_work_item, work_view};
use crate::{Refusal, Session};
use palazzo_core::model::{Audience, ItemId, Layout, ScrollId, Slot};
use palazzo_core::render::{self, ListedContent};

/// The number of characters of contents in one answer, unless the settings name another.
const DEFAULT_CHARS: usize = 2_500;

/// The characters before each line of facts in a list, and the line break.
const INDENT_CHARS: usize = 7;

/// A scroll is not cut for a rest of fewer characters.
const MAX_EXCESS_CHARS: usize = 500;

/// A scroll is not cut to fewer characters.
const MIN_CHARS_OF_PART: usize = 600;

/// Returns how many characters of contents an answer has for the caller: a person asks for them.
fn max_content_chars(session: &Session<'_>) -> usize {
    match session.caller.audience() {
        Audience::Agent => {
            let set = session.palace.palace.settings.contents;
            set.map_or(DEFAULT_CHARS, |it| it as usize)
        }
        Audience::Person => 0,
    }
}

/// Renders one of several items with all that it holds; a room with its description and its texts.
pub(crate) fn render_whole_item(
    session: &mut Session<'_>,
    item: &ItemId,
) -> Result<String, Refusal> {
    let now = session.caller.now;
    Ok(match item {
        ItemId::Room(id) => render_room_text(&session.palace.palace, id),
        ItemId::Scroll(which) => {
            session.palace.load_provenance()?;
            render_scroll(session, which).unwrap_or_default()
        }
        ItemId::Drawer(file) => read_drawer(session, file)?,
        ItemId::Diary(file) => read_diary_entry(session, file)?,
        ItemId::Task(_) | ItemId::Process(_) => render_work_item(session.palace, item, now)?,
        ItemId::Genus(name) => {
            let genus = describe_genus(session, name)?;
            render::genus(genus.definition, &genus.count)
        }
        ItemId::Entity(name) => render::entity_without_headings(&get_entity(session, name)?, now),
    })
}

/// Remembers that the visit was shown an item in full.
pub(crate) fn mark_item_read(session: &mut Session<'_>, item: &ItemId) {
    match item {
        ItemId::Scroll(which) => mark_scroll_read(session, which),
        item => mark_shown(session, item),
    }
}

/// Renders one of several entities, and remembers that the visit was shown it.
pub fn show_compact_entity(session: &mut Session<'_>, name: &str) -> Result<String, Refusal> {
    let now = session.caller.now;
    let view = get_entity(session, name)?;
    let (item, text) =
        (ItemId::Entity(view.entity.name.clone()), render::entity_without_headings(&view, now));
    mark_shown(session, &item);
    Ok(text)
}

/// Renders one page of an entity, and remembers that the visit was shown it if the page has everything.
pub fn show_entity(session: &mut Session<'_>, name: &str, page: usize) -> Result<String, Refusal> {
    let now = session.caller.now;
    let view = get_entity(session, name)?;
    let (item, text) = (ItemId::Entity(view.entity.name.clone()), render::entity(&view, page, now));
    if text == render::whole_entity(&view, now) {
        mark_shown(session, &item);
    }
    Ok(text)
}

/// Renders the first of these scrolls that this visit was not shown, as many as fit into the limit of an
/// answer; the last one may be cut. Examples of a template stay out. Returns also which ones this visit
/// was shown now or before.
pub(crate) fn render_new_scrolls(
    session: &mut Session<'_>,
    scrolls: &[ScrollId],
) -> Result<(String, Vec<Ulid>), Refusal> {
    if !scrolls.is_empty() {
        session.palace.load_provenance()?;
    }
    let is_agent = session.caller.audience() == Audience::Agent;
    let (mut page, mut shown, mut left) = (String::new(), Vec::new(), max_content_chars(session));
    for (place, which) in scrolls.iter().enumerate() {
        let item = ItemId::Scroll(which.clone());
        if was_shown(session, &item) {
            shown.push(which.id);
            continue;
        }
        if session.visit.begun_hand_over.as_ref() == Some(which) {
            continue;
        }
        let scroll = session.palace.palace.scroll(which);
        if left == 0 || scroll.is_none_or(|it| is_example(&it.title)) {
            continue;
        }
        let text = render_scroll(session, which).unwrap_or_default();
        let text = text.trim_end();
        let chars = text.chars().count();
        if chars > left + MAX_EXCESS_CHARS {
            if left >= MIN_CHARS_OF_PART {
                let number = Layout::Wide.number_of_slot(Slot::Scroll(place));
                page.push_str(&render::cut_text(text, left, &format!("{number} reads it whole")));
            }
            left = 0;
            continue;
        }
        left = left.saturating_sub(chars);
        mark_scroll_read(session, which);
        shown.push(which.id);
        page.push_str(text);
        page.push_str("\n\n");
    }
    // A person scrolls back anyway.
    shown.retain(|_| is_agent);
    Ok((page, shown))
}

/// Renders the facts of the first of these entities, as many as fit into the limit of an answer; those
/// that this visit was shown before say so, unless one of their lines matches the query.
pub(crate) fn render_new_facts(
    session: &mut Session<'_>,
    names: &[String],
    matching_lines: &[Option<String>],
) -> Result<Vec<ListedContent>, Refusal> {
    let mut left = max_content_chars(session);
    let facts = names.iter().enumerate().map(|(place, name)| {
        let facts = |session: &mut Session<'_>| {
            let now = session.caller.now;
            Ok(render::entity_facts(&get_entity(session, name)?, now))
        };
        let listed = render_if_new(session, &ItemId::Entity(name.clone()), &mut left, facts)?;
        let has_line = matching_lines.get(place).is_some_and(Option::is_some);
        let hides_line = has_line && listed == ListedContent::ReadAbove;
        Ok(if hides_line { ListedContent::LeftOut } else { listed })
    });
    facts.collect()
}

/// Renders the notes and the steps of the first of these tasks and processes, as [`render_new_facts`] does.
pub(crate) fn render_new_work(
    session: &mut Session<'_>,
    items: &[ItemId],
) -> Result<Vec<ListedContent>, Refusal> {
    let mut left = max_content_chars(session);
    let text = |session: &Session<'_>, item: &ItemId| {
        let view = work_view(session.palace, item);
        Ok(view.map(|it| render::work_details(&it, session.caller.now)).unwrap_or_default())
    };
    let contents = items
        .iter()
        .map(|item| render_if_new(session, item, &mut left, |session| text(session, item)));
    contents.collect()
}

/// Returns the text of an item in a list if this visit was not shown it and it fits into the characters
/// that are `left`.
fn render_if_new(
    session: &mut Session<'_>,
    item: &ItemId,
    left: &mut usize,
    text: impl FnOnce(&mut Session<'_>) -> Result<String, Refusal>,
) -> Result<ListedContent, Refusal> {
    if was_shown(session, item) {
        return Ok(ListedContent::ReadAbove);
    }
    if *left == 0 {
        return Ok(ListedContent::LeftOut);
    }
    let text = text(session)?;
    // In the list, each line is indented.
    let chars: usize = text.lines().map(|it| it.chars().count() + INDENT_CHARS).sum();
    if chars > *left {
        *left = 0;
        return Ok(ListedContent::LeftOut);
    }
    *left -= chars;
    mark_shown(session, item);
    Ok(ListedContent::Shown(text))
}
