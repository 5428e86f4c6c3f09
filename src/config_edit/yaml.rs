//! Edits YAML in block style.

use granit_parser::{Event, Parser, ScalarStyle, Span, StrInput, StructureStyle};
use serde_json::{Map, Value};

use crate::config_edit::entry::{ConfigError, EntryFields, EntryPlace, WITH_COMMENT};
use crate::config_edit::line::{
    line_end, missing_line_end, start_of_line, start_of_next_line, syntax_error,
};
use palazzo_core::model::InsertionTrace;

/// Maximum nesting depth.
const MAX_DEPTH: usize = 128;

/// The indentation of a level.
const INDENTATION: &str = "  ";

/// The error for an entry whose keys are not in lines of their own.
const NOT_IN_BLOCK_STYLE: ConfigError =
    ConfigError::NotEditable("the entry is not there in block style");

/// A value with its position.
struct Node {
    value: Value,
    start: usize,
    end: usize,
    /// The keys of a mapping in block style, with their positions and values.
    block_keys: Vec<(String, usize, Node)>,
}

impl Node {
    /// Returns the position of a key of a mapping in block style, and its value.
    fn block_value(&self, key: &str) -> Option<(usize, &Node)> {
        self.block_keys.iter().find(|it| it.0 == key).map(|(_, at, value)| (*at, value))
    }
}

pub(super) fn parse(text: &str) -> Result<Value, ConfigError> {
    Ok(parse_node(text)?.map_or(Value::Null, |it| it.value))
}

pub(super) fn render(place: EntryPlace, fields: &EntryFields, line_end: &str) -> String {
    let entry = render_entry(INDENTATION, place.name, fields, line_end);
    format!("{}:{line_end}{}", scalar(place.section), entry.trim_end())
}

pub(super) fn insert(
    text: &str,
    place: EntryPlace,
    fields: &EntryFields,
) -> Result<(String, InsertionTrace), ConfigError> {
    let root = parse_node(text)?;
    let mut trace =
        InsertionTrace { before: missing_line_end(text).to_owned(), ..Default::default() };
    let end = line_end(text);
    let keys = root.as_ref().map_or(&[][..], |it| &it.block_keys);
    let Some((key_at, section)) =
        keys.iter().find(|it| it.0 == place.section).map(|it| (it.1, &it.2))
    else {
        trace.created = 1;
        let section = render(place, fields, end);
        return Ok((format!("{text}{}{section}{end}", trace.before), trace));
    };
    let colon = after_colon(text, key_at, place.section)?;
    let mut text = text.to_owned();
    let indentation = match section.block_keys.first() {
        Some((_, first, _)) => indentation_of(&text, *first)?,
        None if is_empty(&section.value) => {
            if section.end > colon {
                trace.replaced = text.drain(colon..section.end).collect();
            }
            INDENTATION.to_owned()
        }
        None => return Err(ConfigError::NotEditable("the servers are not in block style")),
    };
    let at = start_of_next_line(&text, colon);
    if at < text.len() || text.ends_with('\n') {
        trace.before = String::new();
    }
    let entry = render_entry(&indentation, place.name, fields, end);
    text.insert_str(at, &format!("{}{entry}", trace.before));
    Ok((text, trace))
}

pub(super) fn update_existing(
    text: &str,
    place: EntryPlace,
    fields: &EntryFields,
) -> Result<String, ConfigError> {
    let mut text = text.to_owned();
    for (key, value) in fields {
        text = update_field(&text, place, key, value)?;
    }
    Ok(text)
}

fn update_field(
    text: &str,
    place: EntryPlace,
    key: &str,
    value: &Value,
) -> Result<String, ConfigError> {
    let root = parse_node(text)?;
    let section = root.as_ref().and_then(|it| it.block_value(place.section));
    let entry = section.and_then(|(_, it)| it.block_value(place.name)).map(|(_, it)| it);
    let entry = entry.ok_or(NOT_IN_BLOCK_STYLE)?;
    let value = flow(value);
    let Some((key_at, old)) = entry.block_value(key) else {
        let (_, first, _) = entry.block_keys.first().ok_or(NOT_IN_BLOCK_STYLE)?;
        let indentation = indentation_of(text, *first)?;
        let at = start_of_next_line(text, entry.end);
        let end = missing_line_end(&text[..at]);
        let line = format!("{end}{indentation}{}: {value}{}", scalar(key), line_end(text));
        return Ok(format!("{}{line}{}", &text[..at], &text[at..]));
    };
    let colon = after_colon(text, key_at, key)?;
    let written = &text[colon..old.end];
    if written.contains(" #") || written.trim_start().starts_with(['&', '!', '*']) {
        return Err(WITH_COMMENT);
    }
    Ok(format!("{} {value}{}", &text[..colon], &text[old.end..]))
}

pub(super) fn remove(
    text: &str,
    place: EntryPlace,
    trace: Option<&InsertionTrace>,
) -> Result<String, ConfigError> {
    let found = find_entry(text, place)?;
    let unknown = InsertionTrace { replaced: " {}".to_owned(), ..InsertionTrace::default() };
    let trace = trace.unwrap_or(&unknown);
    let (mut start, end) = (found.entry_start, found.entry_end);
    let mut replaced = "";
    if found.is_only {
        let between = start_of_next_line(text, found.colon)..start;
        let is_bare = text[found.colon..start].trim().is_empty();
        if trace.created > 0 && is_bare && between.is_empty() {
            start = start_of_line(text, found.section_at);
        } else {
            replaced = &trace.replaced;
        }
    }
    let mut above = text[..start].to_owned();
    if !replaced.is_empty() {
        above.insert_str(found.colon, replaced);
    }
    // What was added below needs the end of the line above.
    if end == text.len() && !trace.before.is_empty() {
        above = above.strip_suffix(&trace.before).map(str::to_owned).unwrap_or(above);
    }
    Ok(above + &text[end..])
}

/// The lines of an entry.
struct FoundEntry {
    section_at: usize,
    colon: usize,
    entry_start: usize,
    entry_end: usize,
    is_only: bool,
}

fn find_entry(text: &str, place: EntryPlace) -> Result<FoundEntry, ConfigError> {
    let Some(root) = parse_node(text)? else { return Err(NOT_IN_BLOCK_STYLE) };
    let find = |node: &Node, name: &str| node.block_keys.iter().position(|it| it.0 == name);
    let Some((_, section_at, section)) = find(&root, place.section).map(|it| &root.block_keys[it])
    else {
        return Err(NOT_IN_BLOCK_STYLE);
    };
    let Some(index) = find(section, place.name) else { return Err(NOT_IN_BLOCK_STYLE) };
    let (_, entry_at, entry) = &section.block_keys[index];
    Ok(FoundEntry {
        section_at: *section_at,
        colon: after_colon(text, *section_at, place.section)?,
        entry_start: start_of_line(text, *entry_at),
        entry_end: start_of_next_line(text, entry.end),
        is_only: section.block_keys.len() == 1,
    })
}

/// Returns the position after the colon of a key.
fn after_colon(text: &str, key_at: usize, key: &str) -> Result<usize, ConfigError> {
    let quotes = if text[key_at..].starts_with(['"', '\'']) { 2 } else { 0 };
    let end = key_at + key.len() + quotes;
    let rest = text.get(end..).unwrap_or_default();
    let colon = rest.find(':').filter(|it| rest[..*it].trim().is_empty());
    colon
        .map(|it| end + it + 1)
        .ok_or(ConfigError::NotEditable("the key of the servers is not plain"))
}

fn indentation_of(text: &str, at: usize) -> Result<String, ConfigError> {
    let line = &text[start_of_line(text, at)..at];
    match line.chars().all(|it| it == ' ') {
        true => Ok(line.to_owned()),
        false => Err(ConfigError::NotEditable("the servers are not in lines of their own")),
    }
}

fn is_empty(value: &Value) -> bool {
    value.is_null() || value.as_object().is_some_and(Map::is_empty)
}

fn render_entry(indentation: &str, name: &str, fields: &EntryFields, line_end: &str) -> String {
    let mut lines = vec![format!("{indentation}{}:", scalar(name))];
    for (key, value) in fields {
        lines.push(format!("{indentation}{INDENTATION}{}: {}", scalar(key), flow(value)));
    }
    lines.push(String::new());
    lines.join(line_end)
}

/// Renders a value in flow style.
fn flow(value: &Value) -> String {
    match value {
        Value::String(it) => scalar(it),
        Value::Array(items) => {
            let items: Vec<_> = items
                .iter()
                .map(|it| match it {
                    Value::String(it) => quoted(it),
                    it => flow(it),
                })
                .collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(fields) => {
            let fields: Vec<_> = fields
                .iter()
                .map(|(key, it)| match it {
                    Value::String(it) => format!("{}: {}", quoted(key), quoted(it)),
                    it => format!("{}: {}", quoted(key), flow(it)),
                })
                .collect();
            format!("{{{}}}", fields.join(", "))
        }
        other => other.to_string(),
    }
}

/// Renders a text, without quotes if it is a word that YAML reads as text.
fn scalar(text: &str) -> String {
    const WORDS: [&str; 8] = ["true", "false", "null", "yes", "no", "on", "off", "y"];
    let is_word = text.starts_with(|it: char| it.is_ascii_alphabetic())
        && text.chars().all(|it| it.is_ascii_alphanumeric() || "_-".contains(it));
    match is_word && text != "n" && !WORDS.contains(&text.to_ascii_lowercase().as_str()) {
        true => text.to_owned(),
        false => quoted(text),
    }
}

/// Renders a text in double quotes: a JSON text is a YAML text.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// Parses one document.
fn parse_node(text: &str) -> Result<Option<Node>, ConfigError> {
    let mut parser = NodeParser { text, events: Parser::new_from_str(text) };
    let mut root = None;
    loop {
        match parser.next_event()? {
            (Event::StreamEnd, _) => return Ok(root),
            (Event::StreamStart | Event::DocumentStart(..) | Event::DocumentEnd, _) => {}
            _ if root.is_some() => {
                return Err(ConfigError::NotEditable("there are several documents"));
            }
            event => root = Some(parser.parse_node(event, 0)?),
        }
    }
}

struct NodeParser<'a> {
    text: &'a str,
    events: Parser<'a, StrInput<'a>>,
}

impl<'a> NodeParser<'a> {
    fn next_event(&mut self) -> Result<(Event<'a>, Span), ConfigError> {
        match self.events.next_event() {
            Some(Ok((Event::Comment(..), _))) => self.next_event(),
            Some(Ok(event)) => Ok(event),
            Some(Err(err)) => {
                let at = err.marker().byte_offset().unwrap_or_default();
                Err(syntax_error(self.text, at, &err.info()))
            }
            None => Err(syntax_error(self.text, self.text.len(), "the text ends too early")),
        }
    }

    fn parse_node(
        &mut self,
        (event, span): (Event<'a>, Span),
        depth: usize,
    ) -> Result<Node, ConfigError> {
        let (start, mut end) = positions(&span);
        if depth > MAX_DEPTH {
            return Err(syntax_error(self.text, start, "too many levels"));
        }
        let mut block_keys = Vec::new();
        let value = match event {
            Event::Scalar(text, style, _, tag) => match style {
                ScalarStyle::Plain if tag.is_none() => plain_value(&text),
                _ => text.into_owned().into(),
            },
            Event::Alias(anchor) => format!("*{anchor}").into(),
            Event::SequenceStart(style, ..) => {
                let (items, last_end, list_end) = self.parse_items(depth)?;
                end = if is_block(style) { last_end.unwrap_or(end) } else { list_end };
                items.into()
            }
            Event::MappingStart(style, ..) => {
                let (map, keys, map_end) = self.parse_mapping(depth)?;
                end = map_end;
                if is_block(style) {
                    end = keys.last().map_or(end, |(_, _, it)| it.end);
                    block_keys = keys;
                }
                map.into()
            }
            _ => return Err(syntax_error(self.text, start, "a value is missing")),
        };
        // The end of a text in block style is the start of what follows.
        let end = start.max(self.text[..end].trim_end().len());
        Ok(Node { value, start, end, block_keys })
    }

    /// Parses the items of a list. Returns them, the end of the last, and the end of the list.
    fn parse_items(
        &mut self,
        depth: usize,
    ) -> Result<(Vec<Value>, Option<usize>, usize), ConfigError> {
        let (mut items, mut last_end) = (Vec::new(), None);
        loop {
            let event = match self.next_event()? {
                (Event::SequenceEnd, span) => return Ok((items, last_end, positions(&span).1)),
                event => event,
            };
            let node = self.parse_node(event, depth + 1)?;
            last_end = Some(node.end);
            items.push(node.value);
        }
    }

    #[expect(clippy::type_complexity, reason = "the three results belong to one mapping")]
    fn parse_mapping(
        &mut self,
        depth: usize,
    ) -> Result<(Map<String, Value>, Vec<(String, usize, Node)>, usize), ConfigError> {
        let (mut map, mut keys) = (Map::new(), Vec::new());
        loop {
            let key = match self.next_event()? {
                (Event::MappingEnd, span) => return Ok((map, keys, positions(&span).1)),
                event => self.parse_node(event, depth + 1)?,
            };
            let event = self.next_event()?;
            let node = self.parse_node(event, depth + 1)?;
            let name = match &key.value {
                Value::String(it) => it.clone(),
                other => other.to_string(),
            };
            if map.insert(name.clone(), node.value.clone()).is_some() {
                return Err(syntax_error(self.text, key.start, "a key is there twice"));
            }
            keys.push((name, key.start, node));
        }
    }
}

fn is_block(style: StructureStyle) -> bool {
    matches!(style, StructureStyle::Block)
}

fn positions(span: &Span) -> (usize, usize) {
    let offset = |it: granit_parser::Marker| it.byte_offset().unwrap_or_default();
    (offset(span.start), offset(span.end))
}

/// Returns the value of a plain scalar.
fn plain_value(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => true.into(),
        "false" | "False" | "FALSE" => false.into(),
        _ => match text.parse::<i64>() {
            Ok(number) => number.into(),
            Err(_) => text.into(),
        },
    }
}
