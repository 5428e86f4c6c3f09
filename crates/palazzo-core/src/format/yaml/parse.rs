//! Parses text into a tree of nodes with positions. Errors have hints for the most frequent
//! mistakes.

use granit_parser::{
    ErrorKind, Event, Marker, Parser, ScalarStyle, ScanError, Span, StrInput, StructureStyle,
    options,
};
use serde_json::{Map, Number, Value};

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

/// The reason why a text is not valid YAML, or not in our subset.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::format) struct YamlError {
    pub(in crate::format) code: Code,
    pub(in crate::format) at: Position,
    pub(in crate::format) message: String,
    pub(in crate::format) hint: Option<&'static str>,
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

/// Returns an error without a hint.
fn error_without_hint<T>(
    code: Code,
    at: Position,
    message: impl Into<String>,
) -> Result<T, YamlError> {
    Err(YamlError { code, at, message: message.into(), hint: None })
}

/// Converts an error of the parser in `text`. Quotes that are not closed are reported where they
/// open, which is where a person forgot the other one.
fn error_from_scanner(err: &ScanError, text: &str) -> YamlError {
    let marker = err.marker();
    let at = Position { line: marker.line().max(1), column: marker.col() + 1 };
    if let ErrorKind::InvalidQuotedScalarIndent | ErrorKind::UnclosedQuotedScalar = err.kind()
        && let Some(at) = last_open_quote(text, at.line)
    {
        let message = "this is not YAML: these quotes are not closed".to_owned();
        return YamlError { code: Code::Syntax, at, message, hint: quoting_hint(err.kind()) };
    }
    let code = match err.kind() {
        ErrorKind::RecursionLimitExceeded => Code::TooDeep,
        ErrorKind::UnknownAnchor => Code::NotPlainYaml,
        _ => Code::Syntax,
    };
    let message = match code {
        Code::NotPlainYaml => "aliases (`*name`) are not used here".to_owned(),
        _ => format!("this is not YAML: {}", err.info()),
    };
    YamlError { code, at, message, hint: quoting_hint(err.kind()).or(indentation_hint(err.kind())) }
}

/// Returns the position of the last quotes up to `line` that are not closed in their line.
fn last_open_quote(text: &str, line: usize) -> Option<Position> {
    let lines: Vec<_> = text.lines().take(line).enumerate().collect();
    let mut open = lines.into_iter().rev();
    open.find_map(|(at, it)| Some(Position { line: at + 1, column: open_quote_in_line(it)? + 1 }))
}

/// Returns the place of the quotes, in characters, that a line opens and does not close. Quotes open
/// only where a value begins.
fn open_quote_in_line(line: &str) -> Option<usize> {
    let (mut open, mut last_sign) = (None, ':');
    let mut signs = line.chars().enumerate().peekable();
    while let Some((at, it)) = signs.next() {
        match open {
            None if matches!(it, '"' | '\'') && ":-?[{,".contains(last_sign) => {
                open = Some((at, it));
            }
            Some((_, '"')) if it == '\\' => drop(signs.next()),
            Some((_, quote)) if it == quote => {
                // Two single quotes stand for one.
                let is_escaped = quote == '\'' && signs.next_if(|(_, it)| *it == quote).is_some();
                open = open.filter(|_| is_escaped);
            }
            None | Some(_) => {}
        }
        if it != ' ' {
            last_sign = it;
        }
    }
    open.map(|(at, _)| at)
}

/// Returns a hint about missing or superfluous quotes.
fn quoting_hint(kind: &ErrorKind) -> Option<&'static str> {
    Some(match kind {
        ErrorKind::MappingValueNotAllowed => {
            "a text that contains `: ` needs quotes; a key begins in the column of its neighbours"
        }
        ErrorKind::UnknownAnchor => "a text that begins with `*` needs quotes",
        ErrorKind::MappingKeyNotAllowed => "a text that begins with `? ` needs quotes",
        ErrorKind::UnexpectedCharacter { character: '@' | '`' | '%' } => {
            "a text that begins with this character needs quotes"
        }
        ErrorKind::UnknownQuotedScalarEscape => {
            "write `\\\\` for a backslash, or use single quotes"
        }
        ErrorKind::InvalidQuotedScalarIndent | ErrorKind::UnclosedQuotedScalar => {
            "close the quotes on the line where they open, or indent the lines that follow"
        }
        ErrorKind::InvalidTrailingSingleQuotedScalar => {
            "quote the whole text, and write `''` for an apostrophe in it"
        }
        ErrorKind::InvalidTrailingDoubleQuotedScalar => {
            "quote the whole text, and write `\\\"` for a quotation mark in it"
        }
        ErrorKind::UnclosedFlowCollection { .. } => "close the bracket, or quote the text",
        ErrorKind::MisplacedFlowCollectionEnd => "open the bracket, or quote the text",
        ErrorKind::BlockSequenceEntryNotAllowed => {
            "a list begins on the line below its key; a text that begins with `- ` needs quotes"
        }
        _ => return None,
    })
}

/// Returns a hint about indentation.
fn indentation_hint(kind: &ErrorKind) -> Option<&'static str> {
    Some(match kind {
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation
        | ErrorKind::TabInPlainScalar
        | ErrorKind::TabAtBlockScalarStart => "indent with spaces",
        ErrorKind::UnexpectedCharacter { .. } => "remove the character",
        ErrorKind::InvalidBlockScalarHeader => "the text begins on the line below `|` or `>`",
        ErrorKind::InvalidIndentation | ErrorKind::ExpectedBlockMappingKey => {
            "keys of one mapping begin in the same column"
        }
        ErrorKind::ExpectedBlockSequenceEntry => "each item of a list begins with `- `",
        ErrorKind::SimpleKeyExpected => {
            "write `key: value`; the lines of a long text are indented, below `key: |`"
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::yaml::parse_yaml;

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

    #[test]
    fn quotes_are_left_open_where_a_value_begins() {
        let closed =
            ["a: \"b\"", "- 'it''s'", "a: it's", "a: x \"y", "[\"a\", 'b']", "a: \"\\\"\"", "-"];
        for line in closed {
            assert_eq!(open_quote_in_line(line), None, "{line}");
        }
        for (line, at) in [
            ("a: \"b", 3),
            ("  - 'it''s", 4),
            ("[\"a\", 'b]", 6),
            ("\"a", 0),
            ("a: \"\\\"", 3),
            ("é: \"b", 3),
        ] {
            assert_eq!(open_quote_in_line(line), Some(at), "{line}");
        }
    }

    #[test]
    fn a_missing_quote_is_reported_where_the_other_one_is() {
        for (text, line, column) in [
            ("a: x\nb: y\nc: \"z\nd: x\ne: \"y\"\n", 3, 4),
            ("a: x\nb:\n- 'z\n- x\n", 3, 3),
            ("a: x\nb:\n- c: \"z\n  d: x\n", 3, 6),
            ("a: x\nb: y\nc: \"z", 3, 4),
            ("a: x\nb: y\nc: [x, \"z]\nd: x\n", 3, 8),
            ("a: x\nb: y\nc: 'z\n   and more\nd: x\n", 3, 4),
        ] {
            let error = parse_yaml(text).unwrap_err();
            assert_eq!(error.at, Position { line, column }, "{text}: {}", error.message);
        }
    }
}
