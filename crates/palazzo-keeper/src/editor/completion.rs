//! Completions.

use std::collections::{BTreeMap, BTreeSet};

use crate::editor::EditorPalace;
use crate::editor::symbol::own_room;
use palazzo_core::format::{
    CursorContext, CursorPlace, PalacePath, cursor_context, file_kind, toml_cursor_context,
    toml_string, yaml_scalar,
};
use palazzo_core::model::{
    Action, AttributeKind, FileKind, Genus, Position, RoomId, RoomRef, Rule, Severity, Tool,
    ToolEffect, fold_name,
};
use palazzo_core::render;

/// The maximum number of completions.
const MAX_COMPLETIONS: usize = 100;
/// The maximum number of characters of the documentation of a completion.
const MAX_DOCUMENTATION_CHARS: usize = 300;

/// The completions at a position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompletionList {
    /// The completions, the best first.
    pub items: Vec<Completion>,
    /// Whether there are more.
    pub is_incomplete: bool,
    /// The quote that the user has begun the value with; the range begins with it.
    pub quote: Option<char>,
    /// The range that a completion replaces.
    pub range: Option<[Position; 2]>,
}

/// A text that can be written at a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The text that is shown, and searched while the user types.
    pub label: String,
    /// The kind.
    pub kind: CompletionKind,
    /// A few words about it.
    pub detail: String,
    /// More about it, as Markdown.
    pub documentation: String,
    /// The text to insert; in a snippet, `$1` and `${1:word}` are places to fill.
    pub insert: String,
    /// Whether the text is a snippet.
    pub is_snippet: bool,
}

/// The kind of a completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompletionKind {
    /// A room.
    Room,
    /// A room that is not built yet.
    UnfinishedRoom,
    /// An entity.
    Entity,
    /// A genus.
    Genus,
    /// A tool.
    Tool,
    /// A key.
    Key,
    /// One of a few words.
    Word,
    /// A part of a file.
    Snippet,
}

impl EditorPalace {
    /// Returns what can be written at a position.
    pub fn complete(&self, path: &str, at: Position) -> CompletionList {
        let Some(text) = self.text(path) else { return CompletionList::default() };
        let mut context = match file_kind(path) {
            Some(FileKind::Palace) => toml_cursor_context(&text, at),
            _ => cursor_context(&text, at, is_body(path, &text, at)),
        };
        let quote = context.prefix.chars().next().filter(|it| matches!(it, '"' | '\''));
        if quote.is_some() {
            context.prefix.remove(0);
        }
        let typed = fold_name(&context.prefix);
        let rank = |it: Completion| {
            let label = fold_name(&it.label);
            let rank = (!label.starts_with(&typed), !it.is_snippet);
            is_match(&label, &typed).then_some((rank, label, it))
        };
        let candidates = self.candidates(path, &context).into_iter();
        let mut ranked: Vec<_> = candidates.filter_map(rank).collect();
        ranked.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
        let is_incomplete = ranked.len() >= MAX_COMPLETIONS;
        ranked.truncate(MAX_COMPLETIONS);
        let mut items: Vec<_> = ranked.into_iter().map(|(_, _, it)| it).collect();
        for it in items.iter_mut().filter(|it| it.kind == CompletionKind::Room) {
            self.describe_room_completion(own_room(path).as_ref(), it);
        }
        if file_kind(path) == Some(FileKind::Palace) {
            for it in &mut items {
                it.insert = toml_string(&it.label);
            }
        }
        CompletionList { items, is_incomplete, quote, range: Some([context.start, context.end]) }
    }

    fn candidates(&self, path: &str, context: &CursorContext) -> Vec<Completion> {
        if context.place == CursorPlace::EntityLink {
            let links = self.entities(&context.prefix, None).into_iter();
            return links.map(|it| Completion { insert: it.label.clone(), ..it }).collect();
        }
        let parents: Vec<_> = context.parents.iter().map(String::as_str).collect();
        match file_kind(path) {
            Some(FileKind::Room) => self.in_room(path, &parents, context),
            Some(FileKind::Entity) => self.in_entity(&parents, context),
            Some(FileKind::Task | FileKind::Process) => match &context.place {
                CursorPlace::Value(key) if key == "room" => self.rooms(None, &context.prefix),
                CursorPlace::Value(key) if key == "entity" => self.entities(&context.prefix, None),
                _ => Vec::new(),
            },
            Some(FileKind::Palace) => self.in_settings(context),
            _ => Vec::new(),
        }
    }

    fn in_room(&self, path: &str, parents: &[&str], context: &CursorContext) -> Vec<Completion> {
        let own = own_room(path);
        match (parents, &context.place) {
            (["portals", "-"], CursorPlace::Item) => self.rooms(own.as_ref(), &context.prefix),
            (["actions", "-"], CursorPlace::Value(key)) => match key.as_str() {
                "type" => words(&["navigate", "query", "text"]),
                "room" => self.rooms(own.as_ref(), &context.prefix),
                "tool" => self.action_tools(),
                "entity" => self.entities(&context.prefix, None),
                "workspace" => {
                    let names: BTreeSet<_> = self.workspaces.iter().collect();
                    names.into_iter().map(|it| word(it)).collect()
                }
                _ => Vec::new(),
            },
            (["actions", "-"], CursorPlace::Item) => action_snippets(),
            (["actions", "-", "tool_params", Action::ENTITY_LIST_PARAM], CursorPlace::Item) => {
                self.entities(&context.prefix, None)
            }
            (["actions", "-", "tool_params"], CursorPlace::Key) => self.tool_parameters(context),
            (["actions", "-", "tool_params"], CursorPlace::Value(key)) => match key.as_str() {
                "genus" => self.genera(&context.prefix),
                "room" => self.rooms(None, &context.prefix),
                it if Action::ENTITY_PARAMS.contains(&it) => self.entities(&context.prefix, None),
                _ => Vec::new(),
            },
            (["generate"], CursorPlace::Value(key)) if key == "genus" => {
                self.genera(&context.prefix)
            }
            _ => Vec::new(),
        }
    }

    fn in_entity(&self, parents: &[&str], context: &CursorContext) -> Vec<Completion> {
        // In `attributes`, the genus is a key of the mapping around.
        let genus = context.siblings.get("genus").or_else(|| context.outer.get("genus"));
        let genus = genus.and_then(|it| self.open.palace.graph.genus_definition(it));
        match (parents, &context.place) {
            ([], CursorPlace::Value(key)) if key == "genus" => self.genera(&context.prefix),
            ([], CursorPlace::Value(key)) if key == "status" => self.statuses(genus, context),
            (["relations", "-"], CursorPlace::Value(key)) if key == "to" => {
                self.entities(&context.prefix, None)
            }
            (["relations", "-"], CursorPlace::Value(key)) if key == "type" => self.relation_types(),
            (["relations", "-"], CursorPlace::Item) => {
                vec![snippet("relation", "a relation to an entity", "type: ${1:type}\n  to: $0")]
            }
            (["attributes"], CursorPlace::Key) => {
                let attributes = genus.map(|it| it.attributes.as_slice()).unwrap_or_default();
                let new = attributes.iter().filter(|it| !context.siblings.contains_key(&it.0));
                new.map(|(key, _)| key_completion(key, "an attribute of the genus")).collect()
            }
            (["attributes"], CursorPlace::Value(key)) => {
                match genus.and_then(|it| it.attribute_def(key)).map(|it| &it.kind) {
                    Some(AttributeKind::OneOf(allowed)) => {
                        allowed.iter().map(|it| word(it)).collect()
                    }
                    Some(AttributeKind::YesNo) => words(&["true", "false"]),
                    Some(AttributeKind::Link(genus)) => {
                        self.entities(&context.prefix, genus.as_deref())
                    }
                    _ => Vec::new(),
                }
            }
            _ => Vec::new(),
        }
    }

    fn in_settings(&self, context: &CursorContext) -> Vec<Completion> {
        match &context.place {
            CursorPlace::Value(key) => match key.as_str() {
                "entry" => self.rooms(None, &context.prefix),
                "layout" => words(&["wide", "classic"]),
                "commit" => words(&["auto", "manual"]),
                "hand_edits" => words(&["leave", "commit"]),
                "sign" => words(&["auto"]),
                _ => Vec::new(),
            },
            CursorPlace::Item => match context.parents.iter().rev().nth(1).map(String::as_str) {
                Some("allow") => {
                    let changing = self.tools.iter().filter(|it| it.effect == ToolEffect::Changes);
                    changing.map(tool_completion).collect()
                }
                Some("silence") => {
                    let rules = Rule::ALL.iter().filter(|it| it.severity != Severity::Error);
                    rules.map(|it| completion(it.name, CompletionKind::Word, it.meaning)).collect()
                }
                _ => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    /// Lists the rooms as they are written in the room `from`, and the unfinished ones; with their
    /// wings if `prefix` has a slash.
    fn rooms(&self, from: Option<&RoomId>, prefix: &str) -> Vec<Completion> {
        let palace = &self.open.palace;
        let written = |id: &RoomId| {
            let bare = RoomRef::from(RoomId { wing: None, slug: id.slug.clone() });
            let is_unique = palace.resolve_room(&bare, from).as_ref() == Ok(id);
            if is_unique && !prefix.contains('/') { bare.to_string() } else { id.to_string() }
        };
        let built = palace.rooms().map(|(id, _)| id).filter(|id| Some(*id) != from);
        let built = built.map(|id| completion(&written(id), CompletionKind::Room, ""));
        let unfinished = self.unfinished_rooms().iter().filter(|it| !palace.is_enterable_room(it));
        // The name that is being typed is no room.
        let unfinished = unfinished.map(ToString::to_string).filter(|it| it != prefix);
        let unfinished =
            unfinished.map(|it| completion(&it, CompletionKind::UnfinishedRoom, "not built yet"));
        built.chain(unfinished).collect()
    }

    /// Adds the name and the description of a room.
    fn describe_room_completion(&self, from: Option<&RoomId>, it: &mut Completion) {
        let palace = &self.open.palace;
        let id = it.label.parse().ok().and_then(|it| palace.resolve_room(&it, from).ok());
        if let Some(room) = id.and_then(|it| palace.room(&it)) {
            let description = render::truncate(&room.description, MAX_DOCUMENTATION_CHARS);
            it.detail = render::one_line(&room.name);
            it.documentation = render::text_in_page(&description);
        }
    }

    /// Lists entities whose names have the words of `prefix`, at most as many as are shown.
    fn entities(&self, prefix: &str, genus: Option<&str>) -> Vec<Completion> {
        let found = self.names().find(&fold_name(prefix), genus, MAX_COMPLETIONS);
        let found = found.into_iter().map(|(name, genus)| Completion {
            insert: yaml_scalar(name),
            ..completion(name, CompletionKind::Entity, genus)
        });
        found.collect()
    }

    fn genera(&self, typed: &str) -> Vec<Completion> {
        let graph = &self.open.palace.graph;
        let mut genera: BTreeMap<&str, usize> = graph.genus_counts().collect();
        let defined: BTreeSet<_> = graph.genus_definitions().map(|it| it.name.as_str()).collect();
        for name in &defined {
            genera.entry(name).or_default();
        }
        // The name that is being typed may be that of this entity alone.
        genera.retain(|name, count| *name != typed || *count > 1 || defined.contains(name));
        let genera = genera.into_iter().map(|(name, count)| {
            let count = render::count_with_noun(count, "entity");
            completion(name, CompletionKind::Genus, &count)
        });
        genera.collect()
    }

    /// Lists the statuses that may follow the present one, or those that entities of the genus have.
    fn statuses(&self, genus: Option<&Genus>, context: &CursorContext) -> Vec<Completion> {
        match genus.filter(|it| !it.statuses.is_empty()) {
            Some(genus) => genus.statuses.iter().map(|it| word(&it.name)).collect(),
            None => {
                let name = context.siblings.get("genus").map(String::as_str).unwrap_or_default();
                let used = self.open.palace.graph.status_counts(name);
                used.map(|(it, _)| word(it)).filter(|it| !it.label.is_empty()).collect()
            }
        }
    }

    fn relation_types(&self) -> Vec<Completion> {
        let types = self.names().relation_types.iter().map(|(kind, count)| {
            completion(kind, CompletionKind::Word, &render::count_with_noun(*count, "relation"))
        });
        types.collect()
    }

    /// Lists the tools that actions may call.
    fn action_tools(&self) -> Vec<Completion> {
        let allowed = &self.open.palace.settings.allowed_tools;
        let callable =
            self.tools.iter().filter(|it| it.effect.action_refusal(it.name, allowed).is_none());
        callable.map(tool_completion).collect()
    }

    fn tool_parameters(&self, context: &CursorContext) -> Vec<Completion> {
        let called = context.outer.get("tool").map(|it| Tool::bare_name(it));
        let tools = self.tools.iter().filter(|it| called.is_none_or(|called| it.name == called));
        let mut names: Vec<_> =
            tools.flat_map(|it| &it.parameters).map(|it| it.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        let new = names.into_iter().filter(|it| !context.siblings.contains_key(*it));
        new.map(|it| key_completion(it, "a parameter")).collect()
    }
}

/// Returns whether a position is in the text after front matter.
fn is_body(path: &str, text: &str, at: Position) -> bool {
    if !matches!(
        PalacePath::parse(path),
        Ok(PalacePath::Scroll(_) | PalacePath::Drawer(_) | PalacePath::Diary(_))
    ) {
        return false;
    }
    let mut fences = text.lines().zip(1..).filter(|(line, _)| line.trim_end() == "---");
    fences.nth(1).is_none_or(|(_, line)| at.line > line)
}

/// Returns whether a label has all words that were typed.
fn is_match(label: &str, typed: &str) -> bool {
    typed.split_whitespace().all(|it| label.contains(it))
}

fn completion(label: &str, kind: CompletionKind, detail: &str) -> Completion {
    Completion {
        label: label.to_owned(),
        kind,
        detail: render::whole_line(detail),
        documentation: String::new(),
        insert: label.to_owned(),
        is_snippet: false,
    }
}

fn word(text: &str) -> Completion {
    completion(text, CompletionKind::Word, "")
}

fn words(words: &[&str]) -> Vec<Completion> {
    words.iter().map(|it| word(it)).collect()
}

fn key_completion(key: &str, detail: &str) -> Completion {
    Completion { insert: format!("{key}: "), ..completion(key, CompletionKind::Key, detail) }
}

fn tool_completion(tool: &Tool) -> Completion {
    let parameters: Vec<_> = tool.parameters.iter().map(|it| it.name.as_str()).collect();
    completion(tool.name, CompletionKind::Tool, &parameters.join(", "))
}

fn snippet(label: &str, detail: &str, insert: &str) -> Completion {
    let completion = completion(label, CompletionKind::Snippet, detail);
    Completion { insert: insert.to_owned(), is_snippet: true, ..completion }
}

/// Lists the parts of a room file that a user would write: whole actions.
fn action_snippets() -> Vec<Completion> {
    vec![
        snippet(
            "navigate",
            "an action that leads to a room",
            "label: ${1:Go through the door}\n  type: navigate\n  room: $0",
        ),
        snippet(
            "query",
            "an action that calls a tool",
            "label: ${1:Look around}\n  type: query\n  tool: ${2:list_entities}\n  tool_params:\n    $0",
        ),
        snippet(
            "text",
            "an action that shows a text",
            "label: ${1:Read the inscription}\n  type: text\n  content: |\n    $0",
        ),
    ]
}
