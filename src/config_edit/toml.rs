//! Edits TOML.

use std::ops::Range;

use serde_json::{Map, Value};
use toml_edit::{Document, Item, Key, Table, TableLike};

use crate::config_edit::entry::{ConfigError, EntryFields, EntryPlace, WITH_COMMENT};
use crate::config_edit::line::{
    line_end, missing_line_end, replace_ranges, start_of_line, start_of_next_line, syntax_error,
};
use palazzo_core::model::InsertionTrace;

pub(super) fn parse(text: &str) -> Result<Value, ConfigError> {
    Ok(to_json(parse_document(text)?.as_item()))
}

pub(super) fn render(place: EntryPlace, fields: &EntryFields, line_end: &str) -> String {
    let header = format!("[{}.{}]", to_key(place.section), to_key(place.name));
    let fields = fields.iter().map(|(key, value)| format!("{} = {}", to_key(key), to_toml(value)));
    std::iter::once(header).chain(fields).collect::<Vec<_>>().join(line_end)
}

pub(super) fn insert(
    text: &str,
    place: EntryPlace,
    fields: &EntryFields,
) -> (String, InsertionTrace) {
    let end = line_end(text);
    let mut before = missing_line_end(text).to_owned();
    if !text.is_empty() {
        before += end;
    }
    let entry = render(place, fields, end);
    let edited = format!("{text}{before}{entry}{end}");
    (edited, InsertionTrace { before, ..InsertionTrace::default() })
}

pub(super) fn update_existing(
    text: &str,
    place: EntryPlace,
    fields: &EntryFields,
) -> Result<String, ConfigError> {
    let document = parse_document(text)?;
    let (_, entry) = find_entry(&document, place)?;
    let table = entry.as_table_like().ok_or(ConfigError::NotEditable("the entry is no table"))?;
    let (mut edits, mut missing) = (Vec::new(), Vec::new());
    for (key, value) in fields {
        match table.get(key) {
            Some(old) if to_json(old) == *value => {}
            Some(old) => {
                let range = old.span().ok_or_else(no_position)?;
                // A comment ends with its line.
                if text[range.clone()].contains('#') && text[range.clone()].contains('\n') {
                    return Err(WITH_COMMENT);
                }
                edits.push((range, to_toml(value).to_string()));
            }
            None => missing.push(format!("{} = {}", to_key(key), to_toml(value))),
        }
    }
    if !missing.is_empty() {
        let start = entry.span().ok_or_else(no_position)?;
        let (at, new) = match entry.as_inline_table() {
            Some(inline) => {
                let comma = if inline.is_empty() { "" } else { "," };
                (start.start + 1, format!(" {}{comma}", missing.join(", ")))
            }
            None => {
                let lines = missing.iter().map(|it| format!("{it}{}", line_end(text)));
                (start_of_next_line(text, start.end), lines.collect())
            }
        };
        edits.push((at..at, new));
    }
    let edits = edits.iter().map(|(range, new)| (range.clone(), new.as_str())).collect();
    Ok(replace_ranges(text, edits))
}

pub(super) fn remove(
    text: &str,
    place: EntryPlace,
    trace: Option<&InsertionTrace>,
) -> Result<String, ConfigError> {
    let document = parse_document(text)?;
    let (key, entry) = find_entry(&document, place)?;
    let mut blocks = Vec::new();
    collect_blocks(text, key, entry, &mut blocks);
    blocks.sort_by_key(|it| it.start);
    let Some(first) = blocks.first_mut() else { return Err(no_position()) };
    let before = trace.map_or("", |it| it.before.as_str());
    first.start -= length_before(text, first, before);
    let edits = blocks.into_iter().map(|it| (it, "")).collect();
    Ok(replace_ranges(text, edits))
}

/// Returns how much of the inserted line ends is deleted together with a block of lines.
fn length_before(text: &str, block: &Range<usize>, before: &str) -> usize {
    let above = &text[..block.start];
    let end = line_end(text);
    let is_whole = match before {
        "" => return 0,
        // An empty line is above the entry, and not only the end of another line.
        it if it == end => above == end || above.ends_with(&end.repeat(2)),
        it => above.ends_with(it),
    };
    // If others have added lines below, even an empty one, the line above must keep its end.
    let is_line_end_needed = before != end && block.end < text.len();
    match (is_whole, is_line_end_needed) {
        (false, _) => 0,
        (true, false) => before.len(),
        (true, true) => end.len(),
    }
}

/// Collects the lines of an entry: for each of its tables the header and the values, with the empty
/// lines and comments between them.
fn collect_blocks(text: &str, key: &Key, item: &Item, blocks: &mut Vec<Range<usize>>) {
    let Some(table) = item.as_table() else {
        if let (Some(key), Some(value)) = (key.span(), item.span()) {
            blocks.push(lines_of(text, key.start..value.end));
        }
        return;
    };
    let mut own = (!table.is_dotted() && !table.is_implicit()).then(|| table.span()).flatten();
    for (key, item) in table_items(table) {
        if item.is_table() || item.is_array_of_tables() {
            collect_blocks(text, key, item, blocks);
        } else if let (Some(key), Some(value)) = (key.span(), item.span()) {
            let start = own.as_ref().map_or(key.start, |it| it.start.min(key.start));
            let end = own.as_ref().map_or(value.end, |it| it.end.max(value.end));
            own = Some(start..end);
        }
    }
    blocks.extend(own.map(|it| lines_of(text, it)));
}

fn table_items(table: &Table) -> impl Iterator<Item = (&Key, &Item)> {
    table.iter().filter_map(|(name, _)| table.get_key_value(name))
}

fn lines_of(text: &str, range: Range<usize>) -> Range<usize> {
    start_of_line(text, range.start)..start_of_next_line(text, range.end)
}

fn find_entry<'a>(
    document: &'a Document<&str>,
    place: EntryPlace,
) -> Result<(&'a Key, &'a Item), ConfigError> {
    let section = document.get(place.section).and_then(Item::as_table);
    let entry = section.and_then(|it| it.get_key_value(place.name));
    entry.ok_or(ConfigError::NotEditable("the entry is not there, or its servers are no section"))
}

fn parse_document(text: &str) -> Result<Document<&str>, ConfigError> {
    Document::parse(text).map_err(|it| {
        syntax_error(text, it.span().map_or(0, |it| it.start), it.message().trim_end())
    })
}

fn no_position() -> ConfigError {
    ConfigError::NotEditable("the entry has no lines of its own")
}

fn to_key(name: &str) -> String {
    Key::new(name).to_string()
}

fn to_toml(value: &Value) -> toml_edit::Value {
    match value {
        Value::Bool(it) => (*it).into(),
        Value::Number(it) => match it.as_i64() {
            Some(it) => it.into(),
            None => it.as_f64().unwrap_or_default().into(),
        },
        Value::Array(items) => items.iter().map(to_toml).collect::<toml_edit::Array>().into(),
        Value::Object(fields) => {
            let pairs = fields.iter().map(|(key, it)| (key.as_str(), to_toml(it)));
            pairs.collect::<toml_edit::InlineTable>().into()
        }
        Value::String(it) => it.into(),
        // TOML has no null, and no entry contains one.
        Value::Null => "".into(),
    }
}

fn to_json(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Value(it) => value_to_json(it),
        Item::Table(it) => table_to_json(it),
        Item::ArrayOfTables(it) => it.iter().map(|it| table_to_json(it)).collect(),
    }
}

fn table_to_json(table: &dyn TableLike) -> Value {
    table.iter().map(|(key, it)| (key.to_owned(), to_json(it))).collect::<Map<_, _>>().into()
}

fn value_to_json(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(it) => it.value().as_str().into(),
        toml_edit::Value::Integer(it) => (*it.value()).into(),
        toml_edit::Value::Float(it) => (*it.value()).into(),
        toml_edit::Value::Boolean(it) => (*it.value()).into(),
        toml_edit::Value::Datetime(it) => it.value().to_string().into(),
        toml_edit::Value::Array(it) => it.iter().map(value_to_json).collect(),
        toml_edit::Value::InlineTable(it) => table_to_json(it),
    }
}
