//! Parses text into a tree of nodes with positions.

use granit_parser::{Event, Marker, Parser, ScalarStyle, Span, StrInput, StructureStyle, options};
use serde_json::{Map, Number, Value};

use crate::format::yaml::error::{YamlError, error_from_scanner, error_without_hint};
use crate::model::{Code, Position, quoted};

/// Maximum nesting depth of lists and mappings.
const MAX_DEPTH: usize = 32;

/// One value with its position.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::format) struct Node {
    /// The start.
    pub(in crate::format) at: Position,
    /// The end: after the last character.
    pub(in crate::format) end: Position,
    /// Whether it is in a flow style (YAML 1.2, chapter 7): plain, in quotes, in brackets; else it
    /// is in a block style.
    pub(in crate::format) is_flow: bool,
    pub(in crate::format) value: NodeValue,
}

/// The content of a node.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::format) enum NodeValue {
    /// A text; `plain` if it was not quoted, so that `1912` and `true` may be more than text.
    Scalar { text: String, plain: bool },
    /// A sequence.
    List(Vec<Node>),
    /// A mapping, in the order of the file.
    Map(Vec<(MapKey, Node)>),
}

/// A key of a mapping with its position.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::format) struct MapKey {
    pub(in crate::format) at: Position,
    pub(in crate::format) text: String,
}

/// Parses one document; an empty one is an empty mapping.
pub(in crate::format) fn parse_yaml(text: &str) -> Result<Node, YamlError> {
    let options = options! { emit_comments: false, emit_anchor_events: true };
    let parser = Parser::new_from_str_with_options(text, options);
    NodeParser { parser, text }.parse_document()
}

impl NodeValue {
    /// Returns the end of the last child.
    fn last_value_end(&self) -> Option<Position> {
        match self {
            Self::Scalar { .. } => None,
            Self::List(items) => items.last().map(|it| it.end),
            Self::Map(pairs) => pairs.last().map(|(_, it)| it.end),
        }
    }
}

impl Node {
    /// An empty mapping.
    const EMPTY: Self = Self {
        at: Position::START,
        end: Position::START,
        is_flow: false,
        value: NodeValue::Map(Vec::new()),
    };

    /// Returns whether the value is null: `key:`, `~` or `null`.
    pub(in crate::format) fn is_null(&self) -> bool {
        matches!(&self.value, NodeValue::Scalar { text, plain: true }
            if matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL"))
    }

    /// Returns the kind of the value, for messages.
    pub(in crate::format) fn describe_kind(&self) -> &'static str {
        match &self.value {
            _ if self.is_null() => "nothing",
            NodeValue::Scalar { .. } => "a text",
            NodeValue::List(_) => "a list",
            NodeValue::Map(_) => "a mapping",
        }
    }

    /// Converts the value to JSON: scalars by the YAML 1.2 core schema, but numbers only in JSON
    /// notation.
    pub(in crate::format) fn to_json(&self) -> Value {
        match &self.value {
            NodeValue::Scalar { text, plain: false } => Value::String(text.clone()),
            NodeValue::Scalar { text, plain: true } => plain_scalar_to_json(text),
            NodeValue::List(items) => items.iter().map(Self::to_json).collect(),
            NodeValue::Map(pairs) => Value::Object(map_to_json(pairs)),
        }
    }

    fn null_to_empty_map(self) -> Self {
        if self.is_null() { Self { value: NodeValue::Map(Vec::new()), ..self } } else { self }
    }
}

fn map_to_json(pairs: &[(MapKey, Node)]) -> Map<String, Value> {
    pairs.iter().map(|(key, node)| (key.text.clone(), node.to_json())).collect()
}

/// Resolves the type of a plain scalar (YAML 1.2, chapter 10.3).
fn plain_scalar_to_json(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ => parse_json_number(text).map_or_else(|| Value::String(text.to_owned()), Value::Number),
    }
}

/// Parses a number in JSON notation. Any other is kept as text: `1.10` and `00123` would lose
/// digits, and so would a number with more digits than the type has.
fn parse_json_number(text: &str) -> Option<Number> {
    let whole =
        text.parse::<i64>().map(Number::from).or_else(|_| text.parse::<u64>().map(Into::into));
    let number = whole.ok().or_else(|| text.parse().ok().and_then(Number::from_f64))?;
    (number.to_string() == text).then_some(number)
}

struct NodeParser<'a> {
    parser: Parser<'a, StrInput<'a>>,
    text: &'a str,
}

impl<'a> NodeParser<'a> {
    fn next_event(&mut self) -> Result<(Event<'a>, Span), YamlError> {
        match self.parser.next_event() {
            Some(Ok(event)) => Ok(event),
            Some(Err(err)) => Err(error_from_scanner(&err, self.text)),
            None => Ok((Event::StreamEnd, Span::default())),
        }
    }

    fn parse_document(&mut self) -> Result<Node, YamlError> {
        loop {
            match self.next_event()? {
                (Event::StreamStart | Event::DocumentStart(..), _) => {}
                (Event::StreamEnd | Event::DocumentEnd, _) => return Ok(Node::EMPTY),
                (event, span) => {
                    let root = self.parse_node(event, span, 0)?;
                    return self.expect_end().map(|()| root.null_to_empty_map());
                }
            }
        }
    }

    fn parse_node(
        &mut self,
        event: Event<'a>,
        span: Span,
        depth: usize,
    ) -> Result<Node, YamlError> {
        let at = position_of_marker(span.start);
        if depth > MAX_DEPTH {
            return error_without_hint(Code::TooDeep, at, "nested too deeply: at most 32 levels");
        }
        let fancy =
            |at, message| error_without_hint(Code::NotPlainYaml, position_of_marker(at), message);
        if event.anchor_id().is_some() {
            let (_, span) = self.next_event()?;
            return fancy(span.start, "anchors (`&name`) are not used here: write the value out");
        }
        if event.tag().is_some() {
            let at = span.tag_start().unwrap_or(span.start);
            return fancy(at, "tags (`!name`) are not used here: leave it out, or quote the text");
        }
        let flow = !matches!(
            event,
            Event::SequenceStart(StructureStyle::Block, ..)
                | Event::MappingStart(StructureStyle::Block, ..)
                | Event::Scalar(_, ScalarStyle::Literal | ScalarStyle::Folded, ..)
        );
        let (body, end) = match event {
            Event::Scalar(text, style, ..) => {
                let plain = style == ScalarStyle::Plain;
                (NodeValue::Scalar { text: text.into_owned(), plain }, position_of_marker(span.end))
            }
            Event::SequenceStart(..) => self.parse_list(depth)?,
            Event::MappingStart(..) => self.parse_map(depth)?,
            _ => {
                let message = "aliases (`*name`) are not used here: write the value out";
                return fancy(span.start, message);
            }
        };
        // Blocks have no end of their own: the parser gives the position of what follows.
        let end = if flow { end } else { body.last_value_end().unwrap_or(end) };
        Ok(Node { at, end, is_flow: flow, value: body })
    }

    fn parse_list(&mut self, depth: usize) -> Result<(NodeValue, Position), YamlError> {
        let mut items = Vec::new();
        loop {
            match self.next_event()? {
                (Event::SequenceEnd, span) => {
                    return Ok((NodeValue::List(items), position_of_marker(span.end)));
                }
                (event, span) => items.push(self.parse_node(event, span, depth + 1)?),
            }
        }
    }

    fn parse_map(&mut self, depth: usize) -> Result<(NodeValue, Position), YamlError> {
        let mut pairs: Vec<(MapKey, Node)> = Vec::new();
        let mut seen = std::collections::HashMap::new();
        loop {
            let key = match self.next_event()? {
                (Event::MappingEnd, span) => {
                    return Ok((NodeValue::Map(pairs), position_of_marker(span.end)));
                }
                (event, span) => self.parse_key(event, span, depth)?,
            };
            if let Some(line) = seen.insert(key.text.clone(), key.at.line) {
                let name = quoted(&key.text);
                let message = format!("the key {name} occurs twice; the first is on line {line}");
                return error_without_hint(Code::DuplicateKey, key.at, message);
            }
            let (event, span) = self.next_event()?;
            let value = self.parse_node(event, span, depth + 1)?;
            pairs.push((key, value));
        }
    }

    fn parse_key(
        &mut self,
        event: Event<'a>,
        span: Span,
        depth: usize,
    ) -> Result<MapKey, YamlError> {
        let at = position_of_marker(span.start);
        match self.parse_node(event, span, depth + 1)?.value {
            NodeValue::Scalar { text, plain: true } if text == "<<" => {
                let message = "merge keys (`<<`) are not used here: write the values out";
                error_without_hint(Code::NotPlainYaml, at, message)
            }
            NodeValue::Scalar { text, .. } => Ok(MapKey { at, text }),
            _ => error_without_hint(Code::NotPlainYaml, at, "a key must be a text"),
        }
    }

    fn expect_end(&mut self) -> Result<(), YamlError> {
        loop {
            match self.next_event()? {
                (Event::StreamEnd, _) => return Ok(()),
                (Event::DocumentEnd, _) => {}
                (_, span) => {
                    let message = "a second document begins here; a file has only one";
                    return error_without_hint(
                        Code::NotPlainYaml,
                        position_of_marker(span.start),
                        message,
                    );
                }
            }
        }
    }
}

/// Returns the position of a marker of the parser.
pub(crate) fn position_of_marker(marker: Marker) -> Position {
    Position { line: marker.line(), column: marker.col() + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn parse_error_text(text: &str) -> String {
        let fault = parse_yaml(text).unwrap_err();
        format!("{}:{}: [{}] {}", fault.at.line, fault.at.column, fault.code, fault.message)
    }

    #[test]
    fn unsupported_yaml_features_are_refused_by_name() {
        assert_eq!(
            parse_error_text("a: &x 1\nb: *x\n"),
            "1:4: [not-plain-yaml] anchors (`&name`) are not used here: write the value out"
        );
        assert_eq!(
            parse_error_text("a: 1\nb: !!str 2\n"),
            "2:4: [not-plain-yaml] tags (`!name`) are not used here: leave it out, or quote the text"
        );
        assert_eq!(
            parse_error_text("a:\n  <<: {b: 1}\n"),
            "2:3: [not-plain-yaml] merge keys (`<<`) are not used here: write the values out"
        );
        assert_eq!(
            parse_error_text("a: 1\nb: 2\na: 3\n"),
            "3:1: [duplicate-key] the key `a` occurs twice; the first is on line 1"
        );
        assert_eq!(
            parse_error_text("a: 1\n---\nb: 2\n"),
            "2:1: [not-plain-yaml] a second document begins here; a file has only one"
        );
    }

    #[test]
    fn too_deeply_nested_files_are_refused() {
        assert!(
            parse_error_text(&format!("a: {}{}", "[".repeat(40), "]".repeat(40)))
                .contains("at most 32 levels")
        );
        assert!(parse_yaml(&"[".repeat(100_000)).is_err());
        let steps: Vec<_> = (0..40).map(|it| " ".repeat(it) + "a:\n").collect();
        assert!(parse_error_text(&steps.concat()).contains("at most 32 levels"));
    }

    #[test]
    fn plain_scalars_have_the_types_of_the_core_schema() {
        let read = |text: &str| parse_yaml(&format!("v: {text}\n")).unwrap().to_json()["v"].clone();
        for text in [
            "no",
            "yes",
            "on",
            "1972-01-01",
            "12:30",
            "0b1",
            "1_000",
            "'1'",
            "\"true\"",
            ".inf",
            "inf",
        ] {
            assert!(read(text).is_string(), "{text}");
        }
        assert_eq!(read("-12"), -12);
        assert_eq!(read("1.5"), 1.5);
        assert_eq!(read("1.0"), 1.0);
        assert_eq!(read("18446744073709551615"), u64::MAX);
        assert_eq!(read("true"), true);
        assert_eq!(read("~"), Value::Null);
    }

    #[test]
    fn a_number_in_noncanonical_form_is_a_text() {
        let read = |text: &str| parse_yaml(&format!("v: {text}\n")).unwrap().to_json()["v"].clone();
        for text in [
            "1.10",
            "00123",
            "+49123",
            "-0246",
            "-0",
            ".5",
            "1.",
            "1e3",
            "0x1F",
            "0o17",
            "1e999",
            "18446744073709551616",
            "97801234567890123456789",
            "3.14159265358979323846",
        ] {
            assert_eq!(read(text), text);
        }
    }

    #[test]
    fn an_empty_file_is_an_empty_mapping() {
        for text in ["", "# only a comment\n", "---\n", "~\n"] {
            assert_eq!(parse_yaml(text).unwrap().value, NodeValue::Map(Vec::new()), "{text:?}");
        }
    }
}
