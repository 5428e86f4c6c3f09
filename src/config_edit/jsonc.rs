//! Edits JSON with comments and trailing commas.

pub(super) mod list;

use std::ops::Range;

use jsonc_parser::ast::{Object, ObjectProp, Value as Node};
use jsonc_parser::common::Ranged as _;
use jsonc_parser::errors::ParseError;
use jsonc_parser::tokens::{Token, TokenAndRange};
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};
use serde::Serialize as _;
use serde_json::ser::{PrettyFormatter, Serializer};
use serde_json::{Map, Number, Value, json};

use crate::config_edit::entry::{ConfigError, EntryFields, EntryPlace, WITH_COMMENT};
use crate::config_edit::line::{indentation, line_end, missing_line_end, replace_ranges};
use palazzo_core::model::InsertionTrace;

/// The indentation of a file that has none.
const DEFAULT_INDENTATION: &str = "  ";

/// A parsed text.
struct Parsed<'a> {
    text: &'a str,
    root: Option<Node<'a>>,
    /// The tokens, comments among them.
    tokens: Vec<TokenAndRange<'a>>,
}

pub(super) fn parse(text: &str) -> Result<Value, ConfigError> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &parse_options());
    let root = parsed.map_err(|it| syntax_error(&it))?.value;
    Ok(root.map_or(Value::Null, |it| to_value(&it)))
}

pub(super) fn render(place: EntryPlace, fields: &EntryFields) -> String {
    format!("{:#}", json!({ place.section: { place.name: fields } }))
}

pub(super) fn insert(
    text: &str,
    place: EntryPlace,
    fields: &EntryFields,
) -> Result<(String, InsertionTrace), ConfigError> {
    let parsed = Parsed::new(text)?;
    let value = Value::from(fields.clone());
    let Some(root) = &parsed.root else {
        let (before, after) = (missing_line_end(text), line_end(text));
        let config = json!({ place.section: { place.name: value } });
        let config = to_pretty_text(&config, DEFAULT_INDENTATION).replace('\n', after);
        let trace = InsertionTrace {
            created: 2,
            before: before.to_owned(),
            after: after.to_owned(),
            ..InsertionTrace::default()
        };
        return Ok((format!("{text}{before}{config}{after}"), trace));
    };
    let root = as_object(root)?;
    let (created, (text, after)) = match find_property(root, place.section)? {
        Some(section) => {
            (0, parsed.insert_property(as_object(&section.value)?, place.name, &value))
        }
        None => (1, parsed.insert_property(root, place.section, &json!({ place.name: value }))),
    };
    Ok((text, InsertionTrace { created, after, ..InsertionTrace::default() }))
}

pub(super) fn update(
    text: &str,
    place: EntryPlace,
    fields: &EntryFields,
) -> Result<String, ConfigError> {
    let mut text = text.to_owned();
    for (key, value) in fields {
        let parsed = Parsed::new(&text)?;
        let (_, entry) = parsed.find_entry(place)?;
        let entry = as_object(&entry.value)?;
        let new = match find_property(entry, key)? {
            Some(field) if to_value(&field.value) == *value => continue,
            Some(field) => {
                let range = field.value.range();
                if parsed.has_comment_in(range.start..range.end) {
                    return Err(WITH_COMMENT);
                }
                let new = match text[range.start..range.end].contains('\n') {
                    true => parsed.pretty_value(value, indentation(&text, field.range.start)),
                    false => value.to_string(),
                };
                replace_ranges(&text, vec![(range.start..range.end, &new)])
            }
            None => parsed.insert_property(entry, key, value).0,
        };
        text = new;
    }
    Ok(text)
}

pub(super) fn remove(
    text: &str,
    place: EntryPlace,
    trace: Option<&InsertionTrace>,
) -> Result<String, ConfigError> {
    let parsed = Parsed::new(text)?;
    let (section, entry) = parsed.find_entry(place)?;
    let Some(root) = parsed.root.as_ref().and_then(Node::as_object) else { return not_there() };
    let servers = as_object(&section.value)?;
    let unknown = InsertionTrace::default();
    let trace = trace.unwrap_or(&unknown);
    let is_only = |it: &Object, inner: Range<usize>| {
        it.properties.len() == 1 && !parsed.has_comment(it, &inner)
    };
    if trace.created == 0 {
        return Ok(parsed.remove_property(servers, entry, &trace.after));
    }
    if !is_only(servers, entry.range.start..entry.range.end) {
        return Ok(parsed.remove_property(servers, entry, ""));
    }
    if trace.created == 1 || !is_only(root, section.range.start..section.range.end) {
        let after = if trace.created == 1 { &trace.after } else { "" };
        return Ok(parsed.remove_property(root, section, after));
    }
    let (start, rest) = (&text[..root.range.start], &text[root.range.end..]);
    let start = start.strip_suffix(&trace.before).unwrap_or(start);
    Ok(start.to_owned() + rest.strip_prefix(&trace.after).unwrap_or(rest))
}

/// Replaces the one string that is `was`; all else stays, also comments.
pub(super) fn replace_string(text: &str, was: &str, new: &str) -> Result<String, ConfigError> {
    let parsed = Parsed::new(text)?;
    let is_it = |it: &&TokenAndRange| matches!(&it.token, Token::String(value) if value == was);
    let mut found = parsed.tokens.iter().filter(is_it);
    let (Some(token), None) = (found.next(), found.next()) else {
        return Err(ConfigError::NotEditable("it is written in a way that has no safe edit"));
    };
    let new = Value::from(new).to_string();
    Ok(replace_ranges(text, vec![(token.range.start..token.range.end, &new)]))
}

impl<'a> Parsed<'a> {
    fn new(text: &'a str) -> Result<Self, ConfigError> {
        let collect =
            CollectOptions { comments: CommentCollectionStrategy::AsTokens, tokens: true };
        let parsed = parse_to_ast(text, &collect, &parse_options());
        let parsed = parsed.map_err(|it| syntax_error(&it))?;
        Ok(Self { text, root: parsed.value, tokens: parsed.tokens.unwrap_or_default() })
    }

    /// Finds an entry and the property that contains it.
    fn find_entry(
        &self,
        place: EntryPlace,
    ) -> Result<(&ObjectProp<'a>, &ObjectProp<'a>), ConfigError> {
        let Some(root) = &self.root else { return not_there() };
        let Some(section) = find_property(as_object(root)?, place.section)? else {
            return not_there();
        };
        match find_property(as_object(&section.value)?, place.name)? {
            Some(entry) => Ok((section, entry)),
            None => not_there(),
        }
    }

    /// Adds a property at the end of an object. Returns the text, and the white space that was
    /// added before the closing brace.
    fn insert_property(&self, object: &Object, key: &str, value: &Value) -> (String, String) {
        let text = self.text;
        let (open, close) = (object.range.start, object.range.end - 1);
        let previous = self.token_before(close).map_or(open + 1, |it| it.range.end);
        let last = object.properties.last();
        let is_comma_missing = last.is_some_and(|it| self.comma_after(it.range.end).is_none());
        let is_one_line = last.is_some() && !text[open..close].contains('\n');
        let key = Value::from(key).to_string();
        let mut piece = match is_one_line {
            true => {
                let space = if text[open + 1..].starts_with(' ') { " " } else { "" };
                let colon = if space.is_empty() { ":" } else { ": " };
                format!("{space}{key}{colon}{value}")
            }
            false => {
                let indentation = self.property_indentation(object);
                let value = self.pretty_value(value, &indentation);
                format!("{}{indentation}{key}: {value}", line_end(text))
            }
        };
        if last.is_some() && !is_comma_missing {
            piece.push(',');
        }
        let is_open_line = last.is_none() && !text[previous..close].contains('\n');
        let after = match is_open_line {
            true => line_end(text).to_owned() + indentation(text, self.first_of_line(open)),
            false => String::new(),
        };
        let last_end = last.map_or(previous, |it| it.range.end);
        let comma = if is_comma_missing { "," } else { "" };
        let (start, between, rest) =
            (&text[..last_end], &text[last_end..previous], &text[previous..]);
        (format!("{start}{comma}{between}{piece}{after}{rest}"), after)
    }

    /// Deletes a property, its comma, the white space before it, and, if the object is then empty,
    /// `after`.
    fn remove_property(&self, object: &Object, property: &ObjectProp, after: &str) -> String {
        let Range { start, end } = property.range.start..property.range.end;
        let previous = self.token_before(start);
        let mut from = previous.map_or(0, |it| it.range.end);
        let following = self.comma_after(end);
        let rest = following.as_ref().map_or(end, |it| it.end);
        let is_line_comment = previous.is_some_and(|it| matches!(it.token, Token::CommentLine(_)));
        if is_line_comment && !self.text[rest..].starts_with(['\n', '\r']) {
            from = start;
        }
        let mut edits = vec![(from..end, "")];
        let is_only = object.properties.len() == 1;
        match following {
            Some(comma) => edits.push((comma, "")),
            None => edits.extend(self.comma_before(start).map(|it| (it, ""))),
        }
        if is_only && !after.is_empty() && self.text[rest..].starts_with(after) {
            edits.push((rest..rest + after.len(), ""));
        }
        replace_ranges(self.text, edits)
    }

    /// Returns the indentation of the properties of an object of several lines.
    fn property_indentation(&self, object: &Object) -> String {
        let starts = object.properties.iter().map(|it| it.range.start);
        let mut at_line_start = starts.filter(|it| self.first_of_line(*it) == *it);
        match at_line_start.next_back() {
            Some(at) => indentation(self.text, at).to_owned(),
            None => {
                let outer = indentation(self.text, self.first_of_line(object.range.start));
                outer.to_owned() + self.indentation_unit()
            }
        }
    }

    /// Returns the indentation of one level: that of the first property of the file.
    fn indentation_unit(&self) -> &str {
        let root = self.root.as_ref().and_then(Node::as_object);
        let first = root.and_then(|it| it.properties.first()).map(|it| it.range.start);
        let first = first.filter(|it| self.first_of_line(*it) == *it);
        let found = first.map_or("", |it| indentation(self.text, it));
        if found.is_empty() { DEFAULT_INDENTATION } else { found }
    }

    fn pretty_value(&self, value: &Value, indentation: &str) -> String {
        let line_end = format!("{}{indentation}", line_end(self.text));
        to_pretty_text(value, self.indentation_unit()).replace('\n', &line_end)
    }

    /// Returns the position of the first character that is no blank in the line of a position.
    fn first_of_line(&self, at: usize) -> usize {
        let start = self.text[..at].rfind('\n').map_or(0, |it| it + 1);
        let line = &self.text[start..];
        start + line.len() - line.trim_start_matches([' ', '\t']).len()
    }

    fn token_before(&self, at: usize) -> Option<&TokenAndRange<'a>> {
        self.tokens[..self.tokens.partition_point(|it| it.range.start < at)].last()
    }

    fn comma_before(&self, at: usize) -> Option<Range<usize>> {
        let before = &self.tokens[..self.tokens.partition_point(|it| it.range.start < at)];
        before.iter().rev().find(|it| !is_comment(it)).and_then(comma_range)
    }

    fn comma_after(&self, at: usize) -> Option<Range<usize>> {
        let after = &self.tokens[self.tokens.partition_point(|it| it.range.start < at)..];
        after.iter().find(|it| !is_comment(it)).and_then(comma_range)
    }

    /// Returns whether an object has a comment outside of `inner`.
    fn has_comment(&self, object: &Object, inner: &Range<usize>) -> bool {
        let (before, after) = (object.range.start..inner.start, inner.end..object.range.end);
        self.has_comment_in(before) || self.has_comment_in(after)
    }

    fn has_comment_in(&self, range: Range<usize>) -> bool {
        self.tokens.iter().any(|it| is_comment(it) && range.contains(&it.range.start))
    }
}

fn parse_options() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

fn syntax_error(error: &ParseError) -> ConfigError {
    ConfigError::Syntax { line: error.line_display(), message: error.kind().to_string() }
}

fn as_object<'b, 'a>(node: &'b Node<'a>) -> Result<&'b Object<'a>, ConfigError> {
    node.as_object()
        .ok_or(ConfigError::NotEditable("it has another value where an object is expected"))
}

/// Finds a property; fails if there are several with this name.
fn find_property<'b, 'a>(
    object: &'b Object<'a>,
    name: &str,
) -> Result<Option<&'b ObjectProp<'a>>, ConfigError> {
    let mut found = object.properties.iter().filter(|it| it.name.as_str() == name);
    match (found.next(), found.next()) {
        (_, Some(_)) => Err(ConfigError::NotEditable("a key is there twice")),
        (found, None) => Ok(found),
    }
}

fn not_there<T>() -> Result<T, ConfigError> {
    Err(ConfigError::NotEditable("the entry is not there"))
}

fn is_comment(token: &TokenAndRange) -> bool {
    matches!(token.token, Token::CommentLine(_) | Token::CommentBlock(_))
}

fn comma_range(token: &TokenAndRange) -> Option<Range<usize>> {
    matches!(token.token, Token::Comma).then_some(token.range.start..token.range.end)
}

fn to_pretty_text(value: &Value, indentation: &str) -> String {
    let mut bytes = Vec::new();
    let formatter = PrettyFormatter::with_indent(indentation.as_bytes());
    // Writing a value to memory cannot fail.
    let written = value.serialize(&mut Serializer::with_formatter(&mut bytes, formatter));
    written.ok().and_then(|()| String::from_utf8(bytes).ok()).unwrap_or_default()
}

fn to_value(node: &Node) -> Value {
    match node {
        Node::StringLit(it) => it.value.as_ref().into(),
        Node::NumberLit(it) => match it.value.parse::<Number>() {
            Ok(number) => number.into(),
            Err(_) => it.value.into(),
        },
        Node::BooleanLit(it) => it.value.into(),
        Node::NullKeyword(_) => Value::Null,
        Node::Array(it) => it.elements.iter().map(to_value).collect(),
        Node::Object(it) => {
            let pairs = it.properties.iter();
            let pairs = pairs.map(|it| (it.name.as_str().to_owned(), to_value(&it.value)));
            pairs.collect::<Map<_, _>>().into()
        }
    }
}
