//! Parses the keys of a mapping, with a finding for each problem.

use ulid::Ulid;

use crate::format::yaml::{MapKey, Node, NodeValue, YamlError, parse_yaml};
use crate::model::{
    Code, Diagnostic, NoteFolders, Position, RoomRef, Settings, Slug, TimeZone, did_you_mean,
    escape_unprintable, quoted, typo_corrections,
};

/// Maximum number of findings per file; further ones appear when these are fixed.
const MAX_FINDINGS: usize = 50;
/// Maximum number of characters of a message.
const MAX_MESSAGE_CHARS: usize = 400;

/// Parses one file and collects its findings.
pub(crate) struct FileParser<'a> {
    file: &'a str,
    zone: TimeZone,
    note_folders: NoteFolders,
    findings: Vec<Diagnostic>,
    finding_limit: usize,
}

/// The keys of one mapping that have not been taken yet.
pub(crate) struct MappingFields {
    at: Position,
    description: &'static str,
    pairs: Vec<(MapKey, Node)>,
}

impl<'a> FileParser<'a> {
    pub(crate) fn new(file: &'a str) -> Self {
        Self::with_finding_limit(file, MAX_FINDINGS)
    }

    /// Returns a parser with a limit on the number of findings.
    pub(crate) fn with_finding_limit(file: &'a str, limit: usize) -> Self {
        Self {
            file,
            zone: TimeZone::UTC,
            note_folders: NoteFolders::default(),
            findings: Vec::new(),
            finding_limit: limit,
        }
    }

    /// Returns this parser with the zone of times that name none.
    pub(crate) fn in_zone(self, zone: &TimeZone) -> Self {
        Self { zone: zone.clone(), ..self }
    }

    /// Returns this parser with what the settings of the palace say of its files.
    pub(crate) fn with_settings(self, settings: &Settings) -> Self {
        let (zone, note_folders) = (settings.time_zone.clone(), settings.note_folders.clone());
        Self { zone, note_folders, ..self }
    }

    /// Returns the folders whose Markdown files are drawers.
    pub(crate) fn note_folders(&self) -> &NoteFolders {
        &self.note_folders
    }

    /// Returns the zone of times that name none.
    pub(crate) fn zone(&self) -> &TimeZone {
        &self.zone
    }

    /// Returns the path of the file.
    pub(crate) fn path(&self) -> &'a str {
        self.file
    }

    pub(crate) fn into_findings(mut self) -> Vec<Diagnostic> {
        if self.has_too_many_findings() {
            self.findings.truncate(self.finding_limit);
            if let Some(last) = self.findings.last_mut() {
                last.hint = Some("and more that are not listed".to_owned());
            }
        }
        self.findings
    }

    /// Returns the maximum number of findings.
    pub(crate) fn finding_limit(&self) -> usize {
        self.finding_limit
    }

    /// Returns whether the limit is exceeded, so that no more need be looked for.
    pub(crate) fn has_too_many_findings(&self) -> bool {
        self.findings.len() > self.finding_limit
    }

    /// Adds a finding; the caller may add a hint.
    pub(crate) fn report(
        &mut self,
        code: Code,
        at: Position,
        message: impl Into<String>,
    ) -> &mut Diagnostic {
        let message = one_line_message(&message.into());
        self.findings.truncate(self.finding_limit);
        let index = self.findings.len();
        self.findings.push(Diagnostic { at, ..Diagnostic::for_file(code, self.file, message) });
        &mut self.findings[index]
    }

    /// Parses a whole file as one mapping whose keys are among `known`.
    pub(crate) fn parse_file_as_mapping(
        &mut self,
        text: &str,
        what: &'static str,
        known: &[&str],
    ) -> Option<MappingFields> {
        match parse_yaml(text) {
            Ok(root) => self.parse_mapping(root, what, known),
            Err(YamlError { code, at, message, hint }) => {
                self.report(code, at, message).hint = hint.map(str::to_owned);
                None
            }
        }
    }

    /// Parses a mapping whose keys are among `known`; any other key is an error.
    pub(crate) fn parse_mapping(
        &mut self,
        node: Node,
        what: &'static str,
        known: &[&str],
    ) -> Option<MappingFields> {
        let at = node.at;
        let NodeValue::Map(pairs) = node.value else {
            let message = format!(
                "{what} is a mapping of `key: value`, and this is {}",
                node.describe_kind()
            );
            self.report(Code::WrongType, at, message);
            return None;
        };
        let (pairs, unknown): (Vec<_>, Vec<_>) =
            pairs.into_iter().partition(|(key, _)| known.contains(&key.text.as_str()));
        let words: Vec<_> =
            unknown.iter().map(|(key, _)| key.text.as_str()).take(self.finding_limit + 1).collect();
        for ((key, _), slip) in unknown.iter().zip(typo_corrections(&words, known)) {
            if self.has_too_many_findings() {
                break;
            }
            let meant = did_you_mean(&key.text, known.iter().copied());
            let message = format!("{what} has no key {}", quoted(&key.text));
            let finding = self.report(Code::UnknownKey, key.at, message);
            finding.hint = Some(format!("it may have {}", known.join(", ")));
            finding.suggest(meant);
            finding.set_certain_word(slip);
        }
        Some(MappingFields { at, description: what, pairs })
    }
}

impl MappingFields {
    /// Returns the start of the mapping.
    pub(crate) fn mapping_start(&self) -> Position {
        self.at
    }

    /// Returns the start of the value of `key`; if there is none, of the mapping.
    pub(crate) fn value_position(&self, key: &str) -> Position {
        let found = self.pairs.iter().find(|(it, _)| it.text == key);
        found.map_or(self.at, |(_, node)| node.at)
    }

    /// Returns whether `key` has a value that is not null and has not been taken.
    pub(crate) fn has_value(&self, key: &str) -> bool {
        self.pairs.iter().any(|(it, node)| it.text == key && !node.is_null())
    }

    /// Yields the keys that have not been taken and are not null.
    pub(crate) fn unused_keys(&self) -> impl Iterator<Item = &MapKey> {
        self.pairs.iter().filter(|(_, node)| !node.is_null()).map(|(key, _)| key)
    }

    /// Takes the value of `key`, if it is there and not null.
    pub(crate) fn take_value(&mut self, key: &str) -> Option<Node> {
        self.take_nullable_value(key).filter(|it| !it.is_null())
    }

    /// Takes the value of `key`, also if it is null.
    pub(crate) fn take_nullable_value(&mut self, key: &str) -> Option<Node> {
        let index = self.pairs.iter().position(|(it, _)| it.text == key)?;
        Some(self.pairs.remove(index).1)
    }

    /// Takes a text. A number or a date is taken as written.
    pub(crate) fn take_text(&mut self, reader: &mut FileParser<'_>, key: &str) -> Option<String> {
        let node = self.take_value(key)?;
        parse_text(reader, node, key)
    }

    /// Takes a required text that must not be empty.
    pub(crate) fn take_required_text(
        &mut self,
        reader: &mut FileParser<'_>,
        key: &str,
    ) -> Option<String> {
        match self.take_value(key) {
            Some(node) => {
                let at = node.at;
                let text = parse_text(reader, node, key)?;
                if text.trim().is_empty() {
                    reader.report(Code::MissingKey, at, format!("the `{key}` is empty"));
                    return None;
                }
                Some(text)
            }
            None => {
                reader.report(
                    Code::MissingKey,
                    self.at,
                    format!("{} needs a `{key}`", self.description),
                );
                None
            }
        }
    }

    /// Takes a required text that may be empty.
    pub(crate) fn take_required_maybe_empty_text(
        &mut self,
        reader: &mut FileParser<'_>,
        key: &str,
        needed: &str,
    ) -> Option<String> {
        if let Some(node) = self.take_value(key) {
            return parse_text(reader, node, key);
        }
        reader.report(Code::MissingKey, self.at, needed);
        None
    }

    /// Takes an id.
    pub(crate) fn take_ulid(&mut self, reader: &mut FileParser<'_>, key: &str) -> Option<Ulid> {
        let node = self.take_value(key)?;
        let at = node.at;
        let text = parse_text(reader, node, key)?;
        let id = text.parse().ok();
        if id.is_none() {
            let text = quoted(&text);
            let message =
                format!("{text} is no ULID: 26 digits and letters, without I, L, O and U");
            reader.report(Code::BadId, at, message).hint =
                Some("delete the line: an `id` is optional".to_owned());
        }
        id
    }

    /// Takes the items of a list.
    pub(crate) fn take_list(&mut self, reader: &mut FileParser<'_>, key: &str) -> Vec<Node> {
        self.take_value(key).and_then(|it| parse_list(reader, it, key)).unwrap_or_default()
    }
}

/// Parses the items of a list.
pub(crate) fn parse_list(reader: &mut FileParser<'_>, node: Node, key: &str) -> Option<Vec<Node>> {
    let kind = node.describe_kind();
    if let NodeValue::List(items) = node.value {
        return Some(items);
    }
    reader.report(Code::WrongType, node.at, format!("`{key}` is a list, and this is {kind}"));
    None
}

/// Escapes and shortens a message to one short line, because it may quote any amount of the file.
fn one_line_message(message: &str) -> String {
    let start = message.chars().take(MAX_MESSAGE_CHARS);
    let start: String = start.map(|it| if matches!(it, '\n' | '\t') { ' ' } else { it }).collect();
    let more = if message.chars().nth(MAX_MESSAGE_CHARS).is_some() { "…" } else { "" };
    escape_unprintable(&start) + more
}

/// Parses the value of a key as text.
pub(crate) fn parse_text(reader: &mut FileParser<'_>, node: Node, key: &str) -> Option<String> {
    parse_scalar(reader, node, &format!("`{key}`"))
}

/// Parses an item of a list as text.
pub(crate) fn parse_item_text(
    reader: &mut FileParser<'_>,
    node: Node,
    list: &str,
) -> Option<String> {
    parse_scalar(reader, node, &format!("each of `{list}`"))
}

/// Parses a scalar as text; `what` names it in a finding.
fn parse_scalar(reader: &mut FileParser<'_>, node: Node, what: &str) -> Option<String> {
    let kind = node.describe_kind();
    match node.value {
        NodeValue::Scalar { text, .. } if kind != "nothing" => Some(text),
        _ => {
            let message = format!("{what} is a text, and this is {kind}");
            let err = reader.report(Code::WrongType, node.at, message);
            if kind == "a mapping" {
                err.hint = Some("a text that contains `: ` needs quotes".to_owned());
            }
            None
        }
    }
}

/// Parses a scalar as a reference to a room.
pub(crate) fn parse_room_ref(
    reader: &mut FileParser<'_>,
    node: Node,
    key: &str,
) -> Option<RoomRef> {
    let at = node.at;
    let text = parse_text(reader, node, key)?;
    parse_room_text(reader, at, &text)
}

/// Parses an item of a list as a reference to a room.
pub(crate) fn parse_item_room_ref(
    reader: &mut FileParser<'_>,
    node: Node,
    list: &str,
) -> Option<RoomRef> {
    let at = node.at;
    let text = parse_item_text(reader, node, list)?;
    parse_room_text(reader, at, &text)
}

fn parse_room_text(reader: &mut FileParser<'_>, at: Position, text: &str) -> Option<RoomRef> {
    match text.parse() {
        Ok(it) => Some(it),
        Err(err) => {
            let meant = Slug::from_text(text).filter(|_| !text.contains(['/', '\\', '\0']));
            let finding = reader.report(Code::BadSlug, at, err.to_string());
            finding.set_certain_word(meant.as_ref().map(Slug::as_str));
            None
        }
    }
}

/// Parses a scalar as a reference to a room of another palace, whose rooms are not known here, so
/// that no correction is possible.
pub(crate) fn parse_foreign_room_ref(
    reader: &mut FileParser<'_>,
    node: Node,
    key: &str,
) -> Option<RoomRef> {
    let room = parse_room_ref(reader, node, key);
    if room.is_none()
        && let Some(finding) = reader.findings.last_mut()
    {
        finding.meant = None;
    }
    room
}
