//! Reads JSON values one after another: line by line, several on a line, over several lines, in
//! lists, and in the lists of an object. After something that is not JSON, reading goes on with the
//! next record.

use serde_json::{Map, Value};

/// The keys of the lists in an object that holds a whole graph, and what the lists hold.
const LISTS: &[(&str, RecordKind)] = &[
    ("entities", RecordKind::Entity),
    ("nodes", RecordKind::Entity),
    ("relations", RecordKind::Relation),
    ("relationships", RecordKind::Relation),
    ("edges", RecordKind::Relation),
];

/// The kind of a record, if the list that contains it names one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecordKind {
    /// An entity.
    Entity,
    /// A relation.
    Relation,
}

/// A part of the text.
#[derive(Debug, PartialEq)]
pub(super) enum JsonPart {
    /// A value, and the kind of the list that it is in.
    Record(Value, Option<RecordKind>),
    /// A key and its value in an object that holds lists.
    Field(String, Value),
    /// Text that is not JSON, with the reason.
    Broken(String),
}

/// An iterator over the parts of a text, each with the number of its line.
pub(super) struct JsonRecords<'a> {
    text: &'a [u8],
    at: usize,
    line: usize,
    /// The position up to which lines were counted.
    counted: usize,
    /// The lists and objects around the position.
    around: Vec<OpenContainer>,
    is_broken: bool,
}

/// A list, or an object that holds lists, and the line in which it begins.
enum OpenContainer {
    List(usize, Option<RecordKind>),
    Object(usize),
}

impl<'a> JsonRecords<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0, line: 1, counted: 0, around: Vec::new(), is_broken: false }
    }

    fn skip_separators(&mut self) {
        // Some programs separate records by the character RS.
        let is_separator = |it: &u8| it.is_ascii_whitespace() || matches!(it, b',' | b'\x1e');
        self.at += self.text[self.at..].iter().take_while(|it| is_separator(it)).count();
        let passed = &self.text[self.counted..self.at];
        self.line += passed.split(|it| *it == b'\n').count() - 1;
        self.counted = self.at;
    }

    fn enter(&mut self, around: OpenContainer) {
        self.around.push(around);
        self.at += 1;
    }

    /// Leaves the innermost list or object that `end` closes; returns false if there is none.
    fn leave(&mut self, end: u8) -> bool {
        let is_closed = |it: &OpenContainer| matches!(it, OpenContainer::List(..)) == (end == b']');
        let Some(place) = self.around.iter().rposition(is_closed) else { return false };
        self.around.truncate(place);
        self.at += 1;
        true
    }

    /// Reads a key of an object that holds lists. Returns its value, unless that is read by parts.
    fn read_field(&mut self) -> Option<JsonPart> {
        let Ok((key, length)) = parse_first::<String>(&self.text[self.at..]) else {
            return Some(self.skip_broken());
        };
        let rest = &self.text[self.at + length..];
        let blanks = |it: &[u8]| it.iter().take_while(|it| it.is_ascii_whitespace()).count();
        let colon = blanks(rest);
        if rest.get(colon) != Some(&b':') {
            return Some(self.skip_broken());
        }
        self.at += length + colon + 1;
        self.at += blanks(&self.text[self.at..]);
        let list = LISTS.iter().find(|(name, _)| *name == key);
        if let (Some((_, kind)), Some(b'[')) = (list, self.text.get(self.at)) {
            self.enter(OpenContainer::List(self.line, Some(*kind)));
            return None;
        }
        match parse_first::<Value>(&self.text[self.at..]) {
            Ok((value, _)) if holds_lists(&value) => self.enter(OpenContainer::Object(self.line)),
            Ok((value, length)) => {
                self.at += length;
                return Some(JsonPart::Field(key, value));
            }
            Err(_) => return Some(self.skip_broken()),
        }
        None
    }

    /// Reads a value, unless that is an object which is read by parts.
    fn read_value(&mut self) -> Option<JsonPart> {
        let rest = &self.text[self.at..];
        let parsed = parse_first::<Value>(rest);
        let is_by_parts = match &parsed {
            Ok((value, _)) => holds_lists(value),
            Err(_) => begins_lists(rest),
        };
        if is_by_parts {
            self.enter(OpenContainer::Object(self.line));
            return None;
        }
        let Ok((value, length)) = parsed else { return Some(self.skip_broken()) };
        self.at += length;
        let kind = self.around.last().and_then(|it| match it {
            OpenContainer::List(_, kind) => *kind,
            OpenContainer::Object(_) => None,
        });
        Some(JsonPart::Record(value, kind))
    }

    /// Skips what is not JSON, up to the next record.
    fn skip_broken(&mut self) -> JsonPart {
        self.is_broken = true;
        let start = self.at;
        self.at = self.next_record();
        // Parsed up to there, the message is about this record and not about the next one.
        let parse = |text: &[u8]| parse_first::<Value>(text).err();
        let record = self.text[start..self.at].trim_ascii_end();
        let err = parse(record).or_else(|| parse(&self.text[start..]));
        let Some(err) = err else {
            return JsonPart::Broken("this is not JSON here".to_owned());
        };
        let before = start - self.line_start(start);
        let column = match err.line() {
            0 => before + 1,
            1 => before + err.column(),
            _ => err.column(),
        };
        let place = match err.line() {
            0 | 1 => format!("column {column}"),
            more => format!("line {}, column {column}", self.line + more - 1),
        };
        let why = err.to_string();
        let why = why.split(" at line ").next().unwrap_or_default();
        JsonPart::Broken(format!("this is not JSON ({place}): {why}"))
    }

    fn line_start(&self, at: usize) -> usize {
        self.text[..at].iter().rposition(|it| *it == b'\n').map_or(0, |it| it + 1)
    }

    /// Returns the position of the next record after the one at the current position, which cannot be
    /// parsed: the next line that begins with a bracket and is not indented more, or the next object
    /// that looks like a record. A value that is no object ends with its line.
    fn next_record(&self) -> usize {
        let is_object = self.text.get(self.at) == Some(&b'{');
        let own = self.indentation(self.at).unwrap_or(usize::MAX);
        let begins_record = |at: usize| match self.text[at] {
            b'\n' => !is_object,
            b'[' | b']' => is_object && self.indentation(at).is_some_and(|it| it <= own),
            b'{' if is_object && self.indentation(at).is_some_and(|it| it <= own) => true,
            b'{' => {
                let before = self.text[..at].iter().rev();
                let before = before.copied().find(|it| !it.is_ascii_whitespace() && *it != b',');
                let is_after_bracket = matches!(before, Some(b'[' | b'}' | b']'));
                (is_after_bracket || !is_object) && looks_like_record(&self.text[at..])
            }
            _ => false,
        };
        (self.at + 1..self.text.len()).find(|at| begins_record(*at)).unwrap_or(self.text.len())
    }

    /// Returns the indentation of a line whose first character is at a position.
    fn indentation(&self, at: usize) -> Option<usize> {
        let before = self.text[..at].iter().rev();
        let blanks = before.take_while(|it| matches!(it, b' ' | b'\t')).count();
        let is_line_start = at == blanks || self.text[at - blanks - 1] == b'\n';
        is_line_start.then_some(blanks)
    }

    /// Returns a message about a list or an object without an end, unless it was broken before.
    fn end(&mut self) -> Option<(usize, JsonPart)> {
        let around = std::mem::take(&mut self.around).into_iter().next()?;
        let (line, what) = match around {
            OpenContainer::List(line, _) => (line, "the list that begins here has no end"),
            OpenContainer::Object(line) => (line, "the object that begins here has no end"),
        };
        (!self.is_broken).then(|| (line, JsonPart::Broken(what.to_owned())))
    }
}

impl Iterator for JsonRecords<'_> {
    type Item = (usize, JsonPart);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            self.skip_separators();
            let Some(byte) = self.text.get(self.at) else { return self.end() };
            let part = match byte {
                b'[' => {
                    self.enter(OpenContainer::List(self.line, None));
                    None
                }
                b']' | b'}' if self.leave(*byte) => None,
                b'"' if matches!(self.around.last(), Some(OpenContainer::Object(_))) => {
                    self.read_field()
                }
                _ => self.read_value(),
            };
            if let Some(part) = part {
                return Some((self.line, part));
            }
        }
    }
}

/// Returns true if the lists of a graph are stored under a key.
pub(super) fn is_list_key(key: &str) -> bool {
    LISTS.iter().any(|(name, _)| *name == key)
}

/// Parses the value at the start of a text, and returns it with its length.
fn parse_first<T: serde::de::DeserializeOwned>(
    text: &[u8],
) -> Result<(T, usize), serde_json::Error> {
    let mut values = serde_json::Deserializer::from_slice(text).into_iter();
    match values.next() {
        Some(Ok(value)) => Ok((value, values.byte_offset())),
        Some(Err(err)) => Err(err),
        None => Err(serde::de::Error::custom("there is no value")),
    }
}

/// Returns true if an object holds lists of records, and is not itself one that has relations.
fn holds_lists(value: &Value) -> bool {
    let Some(map) = value.as_object() else { return false };
    let is_record = map.contains_key("name") || map.contains_key("entityName");
    let has_list = |(name, kind): &(&str, RecordKind)| {
        map.contains_key(*name) && (*kind == RecordKind::Entity || !is_record)
    };
    LISTS.iter().any(has_list) || (!is_record && map.values().any(holds_lists))
}

/// Returns true if a text which is not JSON begins like an object that holds lists.
fn begins_lists(text: &[u8]) -> bool {
    let Some(start) = text.split(|it| *it == b'[').next().filter(|it| it.len() < text.len()) else {
        return false;
    };
    let start = String::from_utf8_lossy(start);
    let is_list = |(name, _): &(&str, RecordKind)| start.contains(&format!("\"{name}\""));
    start.starts_with('{')
        && !start.contains(['}', '\\'])
        && !start.contains("\"name\"")
        && LISTS.iter().any(is_list)
}

/// Returns true if an object with the keys of a record can be parsed at the start of a text.
fn looks_like_record(text: &[u8]) -> bool {
    let parsed = parse_first::<Map<String, Value>>(text);
    parsed.is_ok_and(|(it, _)| ["name", "from", "type"].iter().any(|key| it.contains_key(*key)))
}
