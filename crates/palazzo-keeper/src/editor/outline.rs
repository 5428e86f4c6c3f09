//! The outline of a file: actions, portals, observations, relations, headings; and items by words of
//! their names.

use std::collections::HashMap;

use crate::editor::EditorPalace;
use crate::editor::references::FilePlace;
use palazzo_core::format::{PlacedValue, file_kind, placed_values, room_path};
use palazzo_core::model::{FileKind, PathStep, Position, fold_name};
use palazzo_core::render;

/// The maximum number of entries.
const MAX_ENTRIES: usize = 1_000;

/// The maximum number of items that are found.
const MAX_ITEMS: usize = 200;

/// An entry of the outline of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutlineEntry {
    /// The name.
    pub name: String,
    /// More about it.
    pub detail: String,
    /// The kind.
    pub kind: OutlineKind,
    /// The start of the name.
    pub start: Position,
    /// The end of the name.
    pub end: Position,
}

/// The kind of an entry of an outline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutlineKind {
    /// The item that the file holds.
    Item,
    /// An action.
    Action,
    /// A portal.
    Portal,
    /// An observation.
    Observation,
    /// A relation.
    Relation,
    /// A step of a process.
    Step,
    /// A heading of a text.
    Heading,
}

/// A room, genus, entity or scroll of the palace, with the place of its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedItem {
    /// The name.
    pub name: String,
    /// More about it: `room`, its genus, `scroll in hall`.
    pub detail: String,
    /// The place of its name.
    pub place: FilePlace,
}

impl EditorPalace {
    /// Lists the parts of a file, in their order.
    pub fn outline(&self, path: &str) -> Vec<OutlineEntry> {
        let Some(text) = self.text(path) else { return Vec::new() };
        if file_kind(path) == Some(FileKind::Scroll) {
            return headings(&text);
        }
        let mut values = placed_values(path, &text);
        values.retain(|it| !it.is_key());
        let texts: TextsByPath<'_> =
            values.iter().map(|it| (it.path.steps(), it.text.as_str())).collect();
        let entries = values.iter().filter_map(|it| outline_entry(path, it, &texts));
        entries.take(MAX_ENTRIES).collect()
    }

    /// Lists the rooms, genera, entities and scrolls whose names have all words of `words`.
    pub fn find_items(&self, words: &str) -> Vec<NamedItem> {
        let typed = fold_name(words);
        let is_match = |name: &str| {
            let name = fold_name(name);
            typed.split_whitespace().all(|it| name.contains(it))
        };
        let palace = &self.open.palace;
        let rooms =
            palace.rooms().filter(|(id, it)| is_match(&it.name) || is_match(id.slug.as_str()));
        let rooms = rooms.map(|(id, it)| (it.name.clone(), "room".to_owned(), room_path(id)));
        let entities = palace.graph.entities_with_files().filter(|(_, it)| is_match(&it.name));
        let entities =
            entities.map(|(file, it)| (it.name.clone(), it.genus.clone(), file.to_owned()));
        let scrolls = palace.scroll_files().filter_map(|(file, id)| {
            let scroll = palace.scroll(id).filter(|it| is_match(&it.title))?;
            Some((scroll.title.clone(), format!("scroll in {}", id.room), file.to_owned()))
        });
        let genera = palace.graph.genus_definitions().filter(|it| is_match(&it.name));
        let genera = genera.filter_map(|it| {
            let file = palace.graph.file_of_genus_definition(&it.name)?;
            Some((it.name.clone(), "genus".to_owned(), file.to_owned()))
        });
        let found = rooms.chain(genera).chain(entities).chain(scrolls).take(MAX_ITEMS);
        let item = |(name, detail, path): (String, String, String)| {
            let place = FilePlace { path, start: Position::START, end: Position::START };
            NamedItem { name: render::one_line(&name), detail: render::whole_line(&detail), place }
        };
        found.map(item).collect()
    }
}

type TextsByPath<'a> = HashMap<&'a [PathStep], &'a str>;

fn outline_entry(path: &str, value: &PlacedValue, texts: &TextsByPath<'_>) -> Option<OutlineEntry> {
    let words = value.path.words();
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    let sibling = |key: &str| {
        let (_, parent) = value.path.steps().split_last()?;
        let path = [parent, &[PathStep::Value(key.to_owned())]].concat();
        texts.get(path.as_slice()).map(ToString::to_string)
    };
    let (kind, detail) = match words.as_slice() {
        ["name" | "title"] => (OutlineKind::Item, file_kind(path)?.name().to_owned()),
        ["actions", _, "label"] => {
            let target = sibling("room").or_else(|| sibling("tool")).or_else(|| sibling("entity"));
            (OutlineKind::Action, target.unwrap_or_default())
        }
        ["portals", _] => (OutlineKind::Portal, String::new()),
        ["observations", _] => (OutlineKind::Observation, String::new()),
        ["relations", _, "to"] => (OutlineKind::Relation, sibling("type").unwrap_or_default()),
        ["steps", _] | ["steps", _, "step"] => (OutlineKind::Step, String::new()),
        _ => return None,
    };
    let name = value.text.lines().next().unwrap_or_default().to_owned();
    (!name.is_empty()).then_some(OutlineEntry {
        name,
        detail,
        kind,
        start: value.start,
        end: value.end,
    })
}

/// Lists the Markdown headings of a text.
fn headings(text: &str) -> Vec<OutlineEntry> {
    let mut is_code = false;
    let mut found = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        is_code ^= line.starts_with("```") || line.starts_with("~~~");
        let title = line.trim_start_matches('#');
        let level = line.len() - title.len();
        if is_code || !(1..=6).contains(&level) || !title.starts_with(' ') {
            continue;
        }
        found.push(OutlineEntry {
            name: title.trim().to_owned(),
            detail: String::new(),
            kind: OutlineKind::Heading,
            start: Position { line: number, column: 1 },
            end: Position { line: number, column: line.chars().count() + 1 },
        });
    }
    found
}
