//! From text to a tree in which everything knows where it stands.

use granit_parser::{Event, Marker, Parser, ScalarStyle, Span, StrInput, StructureStyle, options};
use serde_json::{Map, Number, Value};

use crate::format::yaml::error::{Fault, fault, syntax};
use crate::model::{Code, Spot};

/// How deep lists and mappings may lie in each other.
const DEEPEST: usize = 32;

/// One value, and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::format) struct Node {
    /// Where it begins.
    pub(in crate::format) at: Spot,
    /// Where it ends: behind its last character.
    pub(in crate::format) end: Spot,
    /// Whether it is in a flow style (YAML 1.2, chapter 7): plain, in quotes, in
    /// brackets; else it is a block of lines.
    pub(in crate::format) flow: bool,
    pub(in crate::format) body: Body,
}

/// What a value is made of.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::format) enum Body {
    /// A text; `plain` when it stood there without quotes, so that `1912` and
    /// `true` may be meant as more than text.
    Scalar { text: String, plain: bool },
    /// A sequence.
    List(Vec<Node>),
    /// A mapping, in the order of the file.
    Map(Vec<(Key, Node)>),
}

/// A key of a mapping, and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::format) struct Key {
    pub(in crate::format) at: Spot,
    pub(in crate::format) text: String,
}

/// Reads one document; an empty one is an empty mapping.
pub(in crate::format) fn parse(text: &str) -> Result<Node, Fault> {
    let options = options! { emit_comments: false, emit_anchor_events: true };
    Events(Parser::new_from_str_with_options(text, options)).document()
}

impl Body {
    /// Where the last of its values ends.
    fn end(&self) -> Option<Spot> {
        match self {
            Self::Scalar { .. } => None,
            Self::List(items) => items.last().map(|it| it.end),
            Self::Map(pairs) => pairs.last().map(|(_, it)| it.end),
        }
    }
}

impl Node {
    /// Nothing at all.
    const EMPTY: Self =
        Self { at: Spot::START, end: Spot::START, flow: false, body: Body::Map(Vec::new()) };

    /// Tells whether nothing stands here: `key:`, `~` or `null`.
    pub(in crate::format) fn is_null(&self) -> bool {
        matches!(&self.body, Body::Scalar { text, plain: true }
            if matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL"))
    }

    /// Says what kind of thing stands here, for messages.
    pub(in crate::format) fn kind(&self) -> &'static str {
        match &self.body {
            _ if self.is_null() => "nothing",
            Body::Scalar { .. } => "a text",
            Body::List(_) => "a list",
            Body::Map(_) => "a mapping",
        }
    }

    /// Reads the value as JSON, scalars by the YAML 1.2 core schema, but numbers only
    /// as JSON spells them.
    pub(in crate::format) fn to_json(&self) -> Value {
        match &self.body {
            Body::Scalar { text, plain: false } => Value::String(text.clone()),
            Body::Scalar { text, plain: true } => resolve(text),
            Body::List(items) => items.iter().map(Self::to_json).collect(),
            Body::Map(pairs) => Value::Object(map(pairs)),
        }
    }

    fn or_empty(self) -> Self {
        if self.is_null() { Self { body: Body::Map(Vec::new()), ..self } } else { self }
    }
}

fn map(pairs: &[(Key, Node)]) -> Map<String, Value> {
    pairs.iter().map(|(key, node)| (key.text.clone(), node.to_json())).collect()
}

/// Gives a plain scalar its type (YAML 1.2, chapter 10.3).
fn resolve(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ => number(text).map_or_else(|| Value::String(text.to_owned()), Value::Number),
    }
}

/// Reads a number that is spelled as JSON spells it. Any other is the text that it is:
/// `1.10` and `00123` would lose what they say, and so would more digits than a
/// number holds.
fn number(text: &str) -> Option<Number> {
    let whole =
        text.parse::<i64>().map(Number::from).or_else(|_| text.parse::<u64>().map(Into::into));
    let number = whole.ok().or_else(|| text.parse().ok().and_then(Number::from_f64))?;
    (number.to_string() == text).then_some(number)
}

struct Events<'a>(Parser<'a, StrInput<'a>>);

impl<'a> Events<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Span), Fault> {
        match self.0.next_event() {
            Some(Ok(event)) => Ok(event),
            Some(Err(err)) => Err(syntax(&err)),
            None => Ok((Event::StreamEnd, Span::default())),
        }
    }

    fn document(&mut self) -> Result<Node, Fault> {
        loop {
            match self.next()? {
                (Event::StreamStart | Event::DocumentStart(..), _) => {}
                (Event::StreamEnd | Event::DocumentEnd, _) => return Ok(Node::EMPTY),
                (event, span) => {
                    let root = self.node(event, span, 0)?;
                    return self.end().map(|()| root.or_empty());
                }
            }
        }
    }

    fn node(&mut self, event: Event<'a>, span: Span, depth: usize) -> Result<Node, Fault> {
        let at = spot(span.start);
        if depth > DEEPEST {
            return fault(Code::TooDeep, at, "this lies too deep: 32 levels are the most");
        }
        let fancy = |at, message| fault(Code::NotPlainYaml, spot(at), message);
        if event.anchor_id().is_some() {
            let (_, span) = self.next()?;
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
                (Body::Scalar { text: text.into_owned(), plain }, spot(span.end))
            }
            Event::SequenceStart(..) => self.list(depth)?,
            Event::MappingStart(..) => self.map(depth)?,
            _ => {
                let message = "aliases (`*name`) are not used here: write the value out";
                return fancy(span.start, message);
            }
        };
        // Blocks have no end of their own: the parser gives the place of what follows.
        let end = if flow { end } else { body.end().unwrap_or(end) };
        Ok(Node { at, end, flow, body })
    }

    fn list(&mut self, depth: usize) -> Result<(Body, Spot), Fault> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, span) => return Ok((Body::List(items), spot(span.end))),
                (event, span) => items.push(self.node(event, span, depth + 1)?),
            }
        }
    }

    fn map(&mut self, depth: usize) -> Result<(Body, Spot), Fault> {
        let mut pairs: Vec<(Key, Node)> = Vec::new();
        let mut seen = std::collections::HashMap::new();
        loop {
            let key = match self.next()? {
                (Event::MappingEnd, span) => return Ok((Body::Map(pairs), spot(span.end))),
                (event, span) => self.key(event, span, depth)?,
            };
            if let Some(line) = seen.insert(key.text.clone(), key.at.line) {
                let name = key.text.escape_debug();
                let message = format!("`{name}` stands here twice; the first is on line {line}");
                return fault(Code::DuplicateKey, key.at, message);
            }
            let (event, span) = self.next()?;
            let value = self.node(event, span, depth + 1)?;
            pairs.push((key, value));
        }
    }

    fn key(&mut self, event: Event<'a>, span: Span, depth: usize) -> Result<Key, Fault> {
        let at = spot(span.start);
        match self.node(event, span, depth + 1)?.body {
            Body::Scalar { text, plain: true } if text == "<<" => {
                let message = "merge keys (`<<`) are not used here: write the values out";
                fault(Code::NotPlainYaml, at, message)
            }
            Body::Scalar { text, .. } => Ok(Key { at, text }),
            _ => fault(Code::NotPlainYaml, at, "a key must be a text"),
        }
    }

    fn end(&mut self) -> Result<(), Fault> {
        loop {
            match self.next()? {
                (Event::StreamEnd, _) => return Ok(()),
                (Event::DocumentEnd, _) => {}
                (_, span) => {
                    let message = "a second document begins here; a file holds one";
                    return fault(Code::NotPlainYaml, spot(span.start), message);
                }
            }
        }
    }
}

/// Returns the place of what the parser has marked.
pub(crate) fn spot(marker: Marker) -> Spot {
    Spot { line: marker.line(), column: marker.col() + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(text: &str) -> String {
        let fault = parse(text).unwrap_err();
        format!("{}:{}: [{}] {}", fault.at.line, fault.at.column, fault.code, fault.message)
    }

    #[test]
    fn what_palaces_do_without_is_refused_by_name() {
        assert_eq!(
            refused("a: &x 1\nb: *x\n"),
            "1:4: [not-plain-yaml] anchors (`&name`) are not used here: write the value out"
        );
        assert_eq!(
            refused("a: 1\nb: !!str 2\n"),
            "2:4: [not-plain-yaml] tags (`!name`) are not used here: leave it out, or quote the text"
        );
        assert_eq!(
            refused("a:\n  <<: {b: 1}\n"),
            "2:3: [not-plain-yaml] merge keys (`<<`) are not used here: write the values out"
        );
        assert_eq!(
            refused("a: 1\nb: 2\na: 3\n"),
            "3:1: [duplicate-key] `a` stands here twice; the first is on line 1"
        );
        assert_eq!(
            refused("a: 1\n---\nb: 2\n"),
            "2:1: [not-plain-yaml] a second document begins here; a file holds one"
        );
    }

    #[test]
    fn a_file_that_digs_too_deep_is_refused_and_not_followed() {
        assert!(
            refused(&format!("a: {}{}", "[".repeat(40), "]".repeat(40)))
                .contains("32 levels are the most")
        );
        assert!(parse(&"[".repeat(100_000)).is_err());
        let steps: Vec<_> = (0..40).map(|it| " ".repeat(it) + "a:\n").collect();
        assert!(refused(&steps.concat()).contains("32 levels are the most"));
    }

    #[test]
    fn plain_scalars_have_the_types_of_the_core_schema() {
        let read = |text: &str| parse(&format!("v: {text}\n")).unwrap().to_json()["v"].clone();
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
    fn a_number_that_would_be_written_otherwise_is_a_text() {
        let read = |text: &str| parse(&format!("v: {text}\n")).unwrap().to_json()["v"].clone();
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
    fn nothing_at_all_is_an_empty_mapping() {
        for text in ["", "# only a comment\n", "---\n", "~\n"] {
            assert_eq!(parse(text).unwrap().body, Body::Map(Vec::new()), "{text:?}");
        }
    }
}
