//! Edits JSON with comments and trailing commas.

use std::ops::Range;

use jsonc_parser::ast::{Array, Object, ObjectProp, Value as Node};
use jsonc_parser::common::Ranged;
use jsonc_parser::errors::ParseError;
use jsonc_parser::tokens::{Token, TokenAndRange};
use jsonc_parser::{
    CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast, parse_to_serde_value,
};
use serde_json::{Value, json};

use crate::config_edit::entry::{ConfigError, EntryFields, EntryPlace, NO_SAFE_EDIT, WITH_COMMENT};
use crate::config_edit::line::{indentation, line_end, missing_line_end, replace_ranges};
use palazzo_core::model::InsertionTrace;

/// The indentation of a file that has none.
const DEFAULT_INDENTATION: &str = "  ";

const NOT_THERE: ConfigError = ConfigError::NotEditable("the entry is not there");

/// A parsed text.
struct Parsed<'a> {
    text: &'a str,
    root: Option<Node<'a>>,
    /// The tokens, comments among them.
    tokens: Vec<TokenAndRange<'a>>,
}

/// The brackets of an object or a list, and its properties or items.
struct Container {
    open: usize,
    close: usize,
    items: Vec<Range<usize>>,
}

/// An object or a list, and the index of one of its items.
type Place = (Container, usize);

pub(super) fn parse(text: &str) -> Result<Value, ConfigError> {
    parse_to_serde_value(text, &parse_options()).map_err(|it| syntax_error(&it))
}

/// Adds a value at the end of what is at `path`: of an object with a key, of a list without one.
/// Creates what is missing of the path.
pub(super) fn insert(
    text: &str,
    path: &[&str],
    key: Option<&str>,
    value: &Value,
) -> Result<(String, InsertionTrace), ConfigError> {
    let parsed = Parsed::new(text)?;
    let nested = |path: &[&str]| {
        let inner = key.map_or_else(|| json!([value]), |key| json!({ key: value }));
        path.iter().rev().fold(inner, |value, key| json!({ *key: value }))
    };
    let Some(mut node) = parsed.root.as_ref() else {
        let (before, after) = (missing_line_end(text), line_end(text));
        let config = parsed.pretty_value(&nested(path), "");
        let trace = InsertionTrace {
            created: path.len() + 1,
            before: before.to_owned(),
            after: after.to_owned(),
            ..InsertionTrace::default()
        };
        return Ok((format!("{text}{before}{config}{after}"), trace));
    };
    let mut missing = path;
    while let Some((name, rest)) = missing.split_first()
        && let Some((_, property)) = find_property(node, name)?
    {
        (node, missing) = (&property.value, rest);
    }
    let (text, after) = match (missing.split_first(), key) {
        (Some((name, rest)), _) => parsed.insert_item(node, Some(name), &nested(rest)),
        (None, Some(_)) => as_object(node).map(|_| parsed.insert_item(node, key, value))?,
        (None, None) => as_list(node).map(|_| parsed.insert_item(node, key, value))?,
    };
    let created = missing.len();
    Ok((text, InsertionTrace { created, after, ..InsertionTrace::default() }))
}

pub(super) fn update_existing(
    text: &str,
    place: EntryPlace,
    fields: &EntryFields,
) -> Result<String, ConfigError> {
    let mut text = text.to_owned();
    for (key, value) in fields {
        let parsed = Parsed::new(&text)?;
        let (_, entry) = parsed.find(&[place.section, place.name])?;
        let Some((_, field)) = find_property(entry, key)? else {
            text = parsed.insert_item(entry, Some(key), value).0;
            continue;
        };
        let range = range_of(&field.value);
        if parse(&text[range.clone()])? == *value {
            continue;
        }
        if parsed.count_comments(&range) > 0 {
            return Err(WITH_COMMENT);
        }
        let new = match text[range.clone()].contains('\n') {
            true => parsed.pretty_value(value, indentation(&text, field.range.start)),
            false => value.to_string(),
        };
        text = replace_ranges(&text, vec![(range, &new)]);
    }
    Ok(text)
}

/// Removes what is at `path`, and as many of the objects and lists around it as the trace says, if
/// they have nothing else, not even a comment.
pub(super) fn remove(
    text: &str,
    path: &[&str],
    trace: &InsertionTrace,
) -> Result<String, ConfigError> {
    let parsed = Parsed::new(text)?;
    let (mut places, _) = parsed.find(path)?;
    let (mut created, mut emptied) = (trace.created, None);
    while created > 0 && places.last().is_some_and(|(it, _)| parsed.has_one_item(it)) {
        (created, emptied) = (created - 1, places.pop());
    }
    let after = if created == 0 { trace.after.as_str() } else { "" };
    match (places.last(), emptied) {
        (Some((container, index)), _) => Ok(parsed.remove_item(container, *index, after)),
        (None, Some((root, _))) => {
            let (start, rest) = (&text[..root.open], &text[root.close + 1..]);
            let start = start.strip_suffix(&trace.before).unwrap_or(start);
            Ok(start.to_owned() + rest.strip_prefix(after).unwrap_or(rest))
        }
        (None, None) => Err(NOT_THERE),
    }
}

/// Replaces the one string that is `was`; all else stays, also comments.
pub(super) fn replace_string(text: &str, was: &str, new: &str) -> Result<String, ConfigError> {
    let parsed = Parsed::new(text)?;
    let is_it = |it: &&TokenAndRange| matches!(&it.token, Token::String(value) if value == was);
    let mut found = parsed.tokens.iter().filter(is_it);
    let (Some(token), None) = (found.next(), found.next()) else {
        return Err(NO_SAFE_EDIT);
    };
    let new = Value::from(new).to_string();
    Ok(replace_ranges(text, vec![(range_of(token), &new)]))
}

impl<'a> Parsed<'a> {
    fn new(text: &'a str) -> Result<Self, ConfigError> {
        let collect =
            CollectOptions { comments: CommentCollectionStrategy::AsTokens, tokens: true };
        let parsed = parse_to_ast(text, &collect, &parse_options());
        let parsed = parsed.map_err(|it| syntax_error(&it))?;
        Ok(Self { text, root: parsed.value, tokens: parsed.tokens.unwrap_or_default() })
    }

    /// Finds what is at `path`. Returns also the objects and lists around it, each with the index of
    /// what is inside; the index in a list is a step of the path.
    fn find(&self, path: &[&str]) -> Result<(Vec<Place>, &Node<'a>), ConfigError> {
        let mut node = self.root.as_ref().ok_or(NOT_THERE)?;
        let mut places = Vec::new();
        for step in path {
            let found = match node {
                Node::Array(it) => {
                    step.parse().ok().and_then(|at| Some((at, it.elements.get(at)?)))
                }
                _ => find_property(node, step)?.map(|(at, property)| (at, &property.value)),
            };
            let (index, inner) = found.ok_or(NOT_THERE)?;
            places.push((container(node), index));
            node = inner;
        }
        Ok((places, node))
    }

    /// Adds a value at the end of an object, with a key, or of a list. Returns the text, and the
    /// white space that was added before the closing bracket.
    fn insert_item(&self, node: &Node, key: Option<&str>, value: &Value) -> (String, String) {
        let (text, container) = (self.text, container(node));
        let Container { open, close, items } = &container;
        let previous = self.tokens_around(*close).0.last().map_or(*close, |it| it.range.end);
        let last = items.last();
        let last_end = last.map_or(previous, |it| it.end);
        let comma = find_comma(self.tokens_around(last_end).1.iter()).filter(|_| last.is_some());
        let is_comma_missing = last.is_some() && comma.is_none();
        let is_in_line = last.is_some_and(|it| !self.begins_line(it.start))
            && !text[last_end..*close].contains('\n');
        let is_dense = is_in_line && key.is_some() && !text[open + 1..].starts_with(' ');
        let key = key.map_or_else(String::new, |key| {
            format!("{}{}", Value::from(key), if is_dense { ":" } else { ": " })
        });
        let mut piece = if is_in_line {
            format!("{}{key}{value}", if is_dense { "" } else { " " })
        } else {
            let indentation = self.item_indentation(&container);
            let value = self.pretty_value(value, &indentation);
            format!("{}{indentation}{key}{value}", line_end(text))
        };
        if comma.is_some() {
            piece.push(',');
        }
        let after = match last.is_none() && !text[previous..*close].contains('\n') {
            true => line_end(text).to_owned() + indentation(text, *open),
            false => String::new(),
        };
        piece += &after;
        let comma = if is_comma_missing { "," } else { "" };
        let edits = vec![(last_end..last_end, comma), (previous..previous, piece.as_str())];
        (replace_ranges(text, edits), after)
    }

    /// Deletes an item, its comma, the white space before it, and, if nothing else is there,
    /// `after`.
    fn remove_item(&self, container: &Container, index: usize, after: &str) -> String {
        let Range { start, end } = container.items[index].clone();
        let (before, following) = (self.tokens_around(start).0, self.tokens_around(end).1);
        let previous = before.last();
        let mut from = previous.map_or(0, |it| it.range.end);
        let following = find_comma(following.iter());
        let rest = following.as_ref().map_or(end, |it| it.end);
        let is_line_comment = previous.is_some_and(|it| matches!(it.token, Token::CommentLine(_)));
        if is_line_comment && !self.text[rest..].starts_with(['\n', '\r']) {
            from = start;
        }
        let mut edits = vec![(from..end, "")];
        match following {
            Some(comma) => edits.push((comma, "")),
            None => edits.extend(find_comma(before.iter().rev()).map(|it| (it, ""))),
        }
        if container.items.len() == 1 && self.text[rest..].starts_with(after) {
            edits.push((rest..rest + after.len(), ""));
        }
        replace_ranges(self.text, edits)
    }

    /// Returns the indentation of the items of a container of several lines.
    fn item_indentation(&self, container: &Container) -> String {
        let starts = container.items.iter().map(|it| it.start);
        let mut at_line_start = starts.filter(|it| self.begins_line(*it));
        match at_line_start.next_back() {
            Some(at) => indentation(self.text, at).to_owned(),
            None => {
                let outer = indentation(self.text, container.open);
                outer.to_owned() + self.indentation_unit()
            }
        }
    }

    /// Returns the indentation of one level: that of the first property of the file.
    fn indentation_unit(&self) -> &str {
        let root = self.root.as_ref().and_then(Node::as_object);
        let first = root.and_then(|it| it.properties.first()).map(|it| it.range.start);
        let first = first.filter(|it| self.begins_line(*it));
        let found = first.map_or("", |it| indentation(self.text, it));
        if found.is_empty() { DEFAULT_INDENTATION } else { found }
    }

    fn pretty_value(&self, value: &Value, indentation: &str) -> String {
        let (unit, pretty) = (self.indentation_unit(), format!("{value:#}"));
        let lines = pretty.lines().map(|line| {
            let rest = line.trim_start();
            unit.repeat((line.len() - rest.len()) / 2) + rest
        });
        lines.collect::<Vec<_>>().join(&format!("{}{indentation}", line_end(self.text)))
    }

    fn begins_line(&self, at: usize) -> bool {
        let above = self.text[..at].trim_end_matches([' ', '\t']);
        above.is_empty() || above.ends_with('\n')
    }

    /// Returns the tokens before and after a position.
    fn tokens_around(&self, at: usize) -> (&[TokenAndRange<'a>], &[TokenAndRange<'a>]) {
        self.tokens.split_at(self.tokens.partition_point(|it| it.range.start < at))
    }

    /// Returns whether a container has one item, and no comment beside it.
    fn has_one_item(&self, container: &Container) -> bool {
        let Container { open, close, items } = container;
        let comments = self.count_comments(&(*open..*close));
        matches!(items.as_slice(), [item] if self.count_comments(item) == comments)
    }

    fn count_comments(&self, range: &Range<usize>) -> usize {
        let is_inside = |it: &&TokenAndRange| is_comment(it) && range.contains(&it.range.start);
        self.tokens.iter().filter(is_inside).count()
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

fn as_list<'b, 'a>(node: &'b Node<'a>) -> Result<&'b Array<'a>, ConfigError> {
    node.as_array().ok_or(ConfigError::NotEditable("it has another value where a list is expected"))
}

fn container(node: &Node) -> Container {
    let items = match node {
        Node::Object(it) => it.properties.iter().map(range_of).collect(),
        Node::Array(it) => it.elements.iter().map(range_of).collect(),
        _ => Vec::new(),
    };
    let Range { start, end } = range_of(node);
    Container { open: start, close: end - 1, items }
}

fn range_of(node: &impl Ranged) -> Range<usize> {
    node.range().start..node.range().end
}

/// Finds a property of an object, and its index; fails if there are several with this name.
fn find_property<'b, 'a>(
    node: &'b Node<'a>,
    name: &str,
) -> Result<Option<(usize, &'b ObjectProp<'a>)>, ConfigError> {
    let properties = as_object(node)?.properties.iter().enumerate();
    let mut found = properties.filter(|(_, it)| it.name.as_str() == name);
    match (found.next(), found.next()) {
        (_, Some(_)) => Err(ConfigError::NotEditable("a key is there twice")),
        (found, None) => Ok(found),
    }
}

fn is_comment(token: &TokenAndRange) -> bool {
    matches!(token.token, Token::CommentLine(_) | Token::CommentBlock(_))
}

/// Returns the place of the first token that is no comment, if it is a comma.
fn find_comma<'a>(mut tokens: impl Iterator<Item = &'a TokenAndRange<'a>>) -> Option<Range<usize>> {
    let token = tokens.find(|it| !is_comment(it))?;
    matches!(token.token, Token::Comma).then(|| range_of(token))
}
