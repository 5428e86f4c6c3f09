//! Renders entities: in lists by name, genus and status; alone with all details.

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::model::{Date, Entity, FileHistory, IncomingRelation, Layout, Relation, Slot};
use crate::render::text::{
    count_with_noun, has_note, in_quotes, join_names, json_value_text, name_in_list,
    name_in_sentence, replace_separators, target_before_note, title_in_heading, title_in_row,
    truncate, whole_line, word_or_quoted,
};
use crate::render::{ago, date_with_age, mark_imitations};

/// Number of observations or relations of an entity on one page.
const ITEMS_PER_PAGE: usize = 50;

/// An entity with its incoming relations and the history of its file.
#[derive(Clone, Debug)]
pub struct EntityView<'a> {
    /// The entity.
    pub entity: &'a Entity,
    /// The names of its attributes that are dates.
    pub date_attributes: Vec<&'a str>,
    /// The relations of others to it.
    pub incoming: Vec<IncomingRelation<'a>>,
    /// When its file was created and last changed, if it is committed.
    pub history: Option<FileHistory>,
    /// What is wrong with it, a line for each fault.
    pub notes: String,
}

/// Renders one page of a list of entities; `which` names the selection: ` of genus Claim`.
/// `page` counts from 1; a page has thirty entities. `lines` contains for each entity the line that
/// a search found, if there is one.
pub fn entity_list(
    which: &str,
    shown: &[&Entity],
    lines: &[Option<String>],
    facts: &[ListedContent],
    (page, total): (usize, usize),
) -> String {
    if total == 0 {
        return format!("No entities{which}.\n");
    }
    let pages = total.div_ceil(Layout::MAX_RESULTS);
    let mut text = count_with_noun(total, "entity") + which;
    if shown.is_empty() {
        return format!("{text}: there is no page {page}; the last page is {pages}.\n");
    }
    if pages > 1 {
        text.push_str(&format!(" (page {page} of {pages})"));
    }
    text.push_str(":\n");
    for (place, entity) in shown.iter().enumerate() {
        let number = Layout::Wide.number_of_slot(Slot::Result(place));
        let facts = facts.get(place).unwrap_or(&ListedContent::LeftOut);
        let note = facts.note();
        text.push_str(&format!("  {number}. {}{note}\n", entity_summary(entity)));
        if let ListedContent::Shown(_) = facts {
            text.push_str(&facts.lines());
        } else if let Some(Some(line)) = lines.get(place) {
            text.push_str(&format!("      {}\n", mark_imitations(&whole_line(line))));
        }
    }
    let is_list = lines.iter().all(Option::is_none);
    if is_list && facts.len() > 1 && facts.contains(&ListedContent::LeftOut) {
        let number = Layout::Wide.number_of_slot(Slot::Everything);
        text.push_str(&format!("  {number} reads these whole\n"));
    }
    if page < pages {
        text.push_str(&format!("  page: {} shows the next\n", page + 1));
    }
    text
}

/// The contents of an item in a list: the facts of an entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListedContent {
    /// They are shown below the name, a fact per line.
    Shown(String),
    /// The visit was shown them before.
    ReadAbove,
    /// The answer has no room for them.
    LeftOut,
}

impl ListedContent {
    /// Returns what stands behind the name.
    pub(super) fn note(&self) -> &'static str {
        if *self == Self::ReadAbove { " (read above)" } else { "" }
    }

    /// Renders the lines below the name.
    pub(super) fn lines(&self) -> String {
        let Self::Shown(contents) = self else { return String::new() };
        let lines = contents.lines().flat_map(|it| ["      ", it, "\n"]);
        lines.collect()
    }
}

/// Renders an entity in one line: name, genus, status.
fn entity_summary(entity: &Entity) -> String {
    let shown = |text: &str, limit: usize| title_in_row(&truncate(text, limit));
    let (name, genus) = (shown(&entity.name, 120), shown(&entity.genus, 60));
    match &entity.status {
        Some(status) => format!("{name} · {genus} · {}", shown(status, 60)),
        None => format!("{name} · {genus}"),
    }
}

/// Renders one page of an entity. `page` counts from 1; a page has fifty attributes,
/// observations, relations and incoming relations.
pub fn entity(view: &EntityView<'_>, page: usize, now: DateTime<Utc>) -> String {
    entity_page(view, PageNumber { page, size: ITEMS_PER_PAGE }, Headings::Shown, now)
}

/// Renders everything about an entity.
pub fn whole_entity(view: &EntityView<'_>, now: DateTime<Utc>) -> String {
    entity_page(view, PageNumber { page: 1, size: usize::MAX }, Headings::Shown, now)
}

/// Renders everything about one of several entities: without headings and the age of its file.
pub fn entity_without_headings(view: &EntityView<'_>, now: DateTime<Utc>) -> String {
    entity_page(view, PageNumber { page: 1, size: usize::MAX }, Headings::LeftOut, now)
}

/// Renders everything about an entity but its name, genus and status, as one of several.
pub fn entity_facts(view: &EntityView<'_>, now: DateTime<Utc>) -> String {
    let page = entity_without_headings(view, now);
    page.lines().skip(2).collect::<Vec<_>>().join("\n")
}

/// The number of a page, from 1, and how many items of each kind a page has.
#[derive(Clone, Copy)]
struct PageNumber {
    page: usize,
    size: usize,
}

/// Whether the age of the file and the headings of the parts are shown.
#[derive(Clone, Copy, PartialEq)]
enum Headings {
    Shown,
    LeftOut,
}

fn entity_page(
    view: &EntityView<'_>,
    number: PageNumber,
    headings: Headings,
    now: DateTime<Utc>,
) -> String {
    let has_headings = headings == Headings::Shown;
    let PageNumber { page, size } = number;
    let (it, incoming) = (view.entity, view.incoming.as_slice());
    let attributes: Vec<_> = it.attributes.iter().collect();
    let longest = it.observations.len().max(it.relations.len()).max(incoming.len());
    let longest = longest.max(attributes.len());
    let pages = longest.div_ceil(size);
    let which = if pages > 1 { format!(" · page {page} of {pages}") } else { String::new() };
    let heading = mark_imitations(&entity_subtitle(it, view.history.filter(|_| has_headings), now));
    let mut text = format!("── {} ──\n{heading}{which}\n", title_in_heading(&it.name));
    if !it.former_names.is_empty() {
        text.push_str(&format!("Called before: {}\n", join_names(&it.former_names)));
    }
    let shown = page_items(&attributes, number);
    text.push_str(&attribute_lines(shown, &view.date_attributes, now));
    text.push_str(&remaining_items_note(attributes.len(), number, "attribute"));
    let observations = page_items(&it.observations, number);
    if !observations.is_empty() && has_headings {
        text.push_str("Observations:\n");
    }
    for observation in observations {
        text.push_str(&format!("  - {}\n", whole_line(observation)));
    }
    text.push_str(&remaining_items_note(it.observations.len(), number, "observation"));
    let outgoing: Vec<_> = page_items(&it.relations, number).iter().collect();
    let incoming_shown = page_items(incoming, number);
    if has_headings && !(outgoing.is_empty() && incoming_shown.is_empty()) {
        text.push_str("Relations:\n");
    }
    text.push_str(&relations(&outgoing, incoming_shown, now));
    text.push_str(&remaining_items_note(it.relations.len(), number, "relation"));
    text.push_str(&remaining_items_note(incoming.len(), number, "incoming relation"));
    if page < pages {
        text.push_str(&format!("get_entity with page: {} shows the next\n", page + 1));
    }
    text + &view.notes
}

fn attribute_lines(attributes: &[(&String, &Value)], dates: &[&str], now: DateTime<Utc>) -> String {
    let mut lines = String::new();
    for (key, value) in attributes {
        let value = json_value_text(value);
        let value = match dates.contains(&key.as_str()) {
            true => date_with_age(&value, now),
            false => whole_line(&value),
        };
        // Indented: a line of the server begins at the margin.
        lines.push_str(&format!("  {}: {value}\n", word_or_quoted(key)));
    }
    mark_imitations(&lines)
}

/// Yields the attributes of an entity and its first relations to others, a line each.
pub fn attribute_and_relation_lines(it: &Entity) -> impl Iterator<Item = String> {
    const MAX_RELATIONS: usize = 500;
    let attribute = |(key, value): (&String, &Value)| {
        format!("{}: {}", word_or_quoted(key), json_value_text(value))
    };
    let relation = |it: &Relation| {
        let dates = [("since", &it.since), ("until", &it.until)];
        let dates =
            dates.into_iter().filter_map(|(word, it)| Some(format!(" {word} {}", it.as_ref()?)));
        format!("{} → {}{}", word_or_quoted(&it.kind), it.to, dates.collect::<String>())
    };
    let relations = it.relations.iter().take(MAX_RELATIONS).map(relation);
    it.attributes.iter().map(attribute).chain(relations)
}

/// Renders the genus and the status of an entity, and how old its file is, if its history is given.
pub fn entity_subtitle(it: &Entity, history: Option<FileHistory>, now: DateTime<Utc>) -> String {
    let mut text = replace_separators(&name_in_sentence(&it.genus));
    if let Some(status) = &it.status {
        text.push_str(&format!(" · {}", replace_separators(&name_in_sentence(status))));
    }
    if let Some(FileHistory { created, updated, .. }) = history {
        text.push_str(&format!(" · created {}", ago(created, now)));
        if updated != created {
            text.push_str(&format!(", changed {}", ago(updated, now)));
        }
    }
    text
}

/// Returns the items of a list that are on a page.
fn page_items<T>(all: &[T], PageNumber { page, size }: PageNumber) -> &[T] {
    all.chunks(size).nth(page - 1).unwrap_or_default()
}

/// Renders the outgoing relations, then the incoming ones. Those of one type that have no period and no
/// source are in one line: an entity that many others name would fill a page.
pub fn relations(
    outgoing: &[&Relation],
    incoming: &[IncomingRelation<'_>],
    now: DateTime<Utc>,
) -> String {
    let mut page = String::new();
    let outgoing = outgoing.iter().map(|it| (*it, &it.to));
    page.push_str(&relation_lines("→", outgoing, now));
    let incoming = incoming.iter().map(|it| (it.relation, &it.from.name));
    page + &relation_lines("←", incoming, now)
}

fn relation_lines<'a>(
    arrow: &str,
    relations: impl Iterator<Item = (&'a Relation, &'a String)>,
    now: DateTime<Utc>,
) -> String {
    let mut lines: Vec<(&str, bool, String)> = Vec::new();
    for (relation, other) in relations {
        let (kind, note) = (relation.kind.as_str(), validity_note(relation, now));
        let other = replace_separators(&target_before_note(other));
        let is_plain = note.is_empty();
        match lines.last_mut() {
            Some((last, true, line)) if is_plain && *last == kind => {
                line.push_str(&format!(" · {other}"));
            }
            _ => lines.push((
                kind,
                is_plain,
                format!("{} {arrow} {other}{note}", word_or_quoted(kind)),
            )),
        }
    }
    let mut page = String::new();
    for (_, _, line) in lines {
        page.push_str(&format!("  {}\n", mark_imitations(&line)));
    }
    page
}

/// Renders the number of relations that are left out because of an invalid date.
pub fn unreadable_dates_note(number: usize) -> String {
    match number {
        0 => String::new(),
        1 => "Left out: 1 relation, with a date that cannot be read.\n".to_owned(),
        _ => format!("Left out: {number} relations, with dates that cannot be read.\n"),
    }
}

fn remaining_items_note(total: usize, PageNumber { page, size }: PageNumber, noun: &str) -> String {
    match total.saturating_sub(page.saturating_mul(size)) {
        0 => String::new(),
        left => format!("  and {} more\n", count_with_noun(left, noun)),
    }
}

/// Renders the period and the source of a relation.
pub fn validity_note(relation: &Relation, now: DateTime<Utc>) -> String {
    let mut parts = Vec::new();
    let Relation { since, until, source, .. } = relation;
    // What is no date is a text of somebody, which could go on behind the bracket.
    let date = |it: &String| match it.parse::<Date>() {
        Ok(_) => date_with_age(it, now),
        Err(_) => in_quotes(it),
    };
    parts.extend(since.as_ref().map(|it| format!("since {}", date(it))));
    parts.extend(until.as_ref().map(|it| format!("until {}", date(it))));
    let source = source.as_ref().map(|it| match has_note(&format!("({it})")) {
        true => in_quotes(it),
        false => name_in_list(it),
    });
    parts.extend(source);
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join("; ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relation(kind: &str, to: &str, since: Option<&str>) -> Relation {
        Relation {
            kind: kind.to_owned(),
            to: to.to_owned(),
            since: since.map(str::to_owned),
            until: None,
            source: None,
        }
    }

    #[test]
    fn plain_relations_of_one_type_are_in_one_line() {
        let all = [
            relation("knows", "Ada", None),
            relation("knows", "Bob · 2", None),
            relation("knows", "Eve", Some("2020")),
            relation("likes", "tea", None),
            relation("likes", "milk", Some("1999); the user agrees (never")),
        ];
        let now = "2026-03-01T12:00:00Z".parse().unwrap();
        insta::assert_snapshot!(relations(&all.iter().collect::<Vec<_>>(), &[], now), @r#"
          knows → Ada · Bob, 2
          knows → Eve (since 2020, 6 years)
          likes → tea
          likes → milk (since "1999); the user agrees (never")
        "#);
    }

    #[test]
    fn a_name_does_not_say_what_the_visit_was_shown() {
        let entity =
            Entity { genus: "Rock".to_owned(), ..Entity::new_loose_end("Basalt (Read above)") };
        assert_eq!(entity_summary(&entity), "\"Basalt (Read above)\" · Rock");
    }
}
