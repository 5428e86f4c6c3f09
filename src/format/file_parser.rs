//! Reading the keys of a mapping, with a finding for everything that is not
//! as it should be.

use ulid::Ulid;

use crate::format::yaml::{Body, Fault, Key, Node, parse};
use crate::model::{Code, Diagnostic, RoomRef, Slug, Spot, did_you_mean, is_printable, slips_of};

/// How many findings a file may have: whoever has mended those sees the rest.
const MOST: usize = 50;
/// How many characters of a message are told.
const LONGEST: usize = 400;

/// Reads one file, and keeps what is found to be wrong with it.
pub(crate) struct Reader<'a> {
    file: &'a str,
    findings: Vec<Diagnostic>,
    most: usize,
}

/// The keys of one mapping that have not been read yet.
pub(crate) struct Fields {
    at: Spot,
    what: &'static str,
    pairs: Vec<(Key, Node)>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(file: &'a str) -> Self {
        Self::finding(file, MOST)
    }

    /// Begins to read a file of which so many findings are kept.
    pub(crate) fn finding(file: &'a str, most: usize) -> Self {
        Self { file, findings: Vec::new(), most }
    }

    /// Returns the path of the file.
    pub(crate) fn path(&self) -> &'a str {
        self.file
    }

    pub(crate) fn into_findings(mut self) -> Vec<Diagnostic> {
        if self.is_full() {
            self.findings.truncate(self.most);
            if let Some(last) = self.findings.last_mut() {
                last.hint = Some("and more that are not listed".to_owned());
            }
        }
        self.findings
    }

    /// Returns how many findings are kept.
    pub(crate) fn most(&self) -> usize {
        self.most
    }

    /// Tells whether so much is wrong already that no more need be looked for.
    pub(crate) fn is_full(&self) -> bool {
        self.findings.len() > self.most
    }

    /// Keeps a finding; its hint may be added.
    pub(crate) fn find(
        &mut self,
        code: Code,
        at: Spot,
        message: impl Into<String>,
    ) -> &mut Diagnostic {
        let (file, message) = (self.file.to_owned(), in_one_line(&message.into()));
        self.findings.truncate(self.most);
        let place = self.findings.len();
        self.findings.push(Diagnostic { code, file, at, message, hint: None, meant: None });
        &mut self.findings[place]
    }

    /// Reads a whole file as one mapping whose keys are among `known`.
    pub(crate) fn file(
        &mut self,
        text: &str,
        what: &'static str,
        known: &[&str],
    ) -> Option<Fields> {
        match parse(text) {
            Ok(root) => self.fields(root, what, known),
            Err(Fault { code, at, message, hint }) => {
                self.find(code, at, message).hint = hint.map(str::to_owned);
                None
            }
        }
    }

    /// Reads a mapping whose keys are among `known`; each other is an error.
    pub(crate) fn fields(
        &mut self,
        node: Node,
        what: &'static str,
        known: &[&str],
    ) -> Option<Fields> {
        let at = node.at;
        let Body::Map(pairs) = node.body else {
            let message =
                format!("{what} is a mapping of `key: value`, and this is {}", node.kind());
            self.find(Code::WrongType, at, message);
            return None;
        };
        let (pairs, strange): (Vec<_>, Vec<_>) =
            pairs.into_iter().partition(|(key, _)| known.contains(&key.text.as_str()));
        let words: Vec<_> =
            strange.iter().map(|(key, _)| key.text.as_str()).take(self.most + 1).collect();
        for ((key, _), slip) in strange.iter().zip(slips_of(&words, known)) {
            if self.is_full() {
                break;
            }
            let hint = match did_you_mean(&key.text, known.iter().copied()) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("it may have {}", known.join(", ")),
            };
            let name = key.text.escape_debug();
            let message = format!("{what} has no key `{name}`");
            let finding = self.find(Code::UnknownKey, key.at, message);
            finding.hint = Some(hint);
            finding.meant = slip.map(Into::into);
        }
        Some(Fields { at, what, pairs })
    }
}

impl Fields {
    /// Where the mapping begins.
    pub(crate) fn at(&self) -> Spot {
        self.at
    }

    /// Where the value of `key` begins, if it is there; else where the mapping does.
    pub(crate) fn spot(&self, key: &str) -> Spot {
        let found = self.pairs.iter().find(|(it, _)| it.text == key);
        found.map_or(self.at, |(_, node)| node.at)
    }

    /// Yields the keys that nobody has taken, and that say something.
    pub(crate) fn left(&self) -> impl Iterator<Item = &Key> {
        self.pairs.iter().filter(|(_, node)| !node.is_null()).map(|(key, _)| key)
    }

    /// Takes the value of `key`, if something stands there.
    pub(crate) fn take(&mut self, key: &str) -> Option<Node> {
        let place = self.pairs.iter().position(|(it, _)| it.text == key)?;
        Some(self.pairs.remove(place).1).filter(|it| !it.is_null())
    }

    /// Takes a text. A number or a date is taken as it is written.
    pub(crate) fn text(&mut self, reader: &mut Reader<'_>, key: &str) -> Option<String> {
        let node = self.take(key)?;
        text(reader, node, key)
    }

    /// Takes a text that must be there and say something.
    pub(crate) fn required(&mut self, reader: &mut Reader<'_>, key: &str) -> Option<String> {
        match self.take(key) {
            Some(node) => {
                let at = node.at;
                let text = text(reader, node, key)?;
                if text.trim().is_empty() {
                    reader.find(Code::MissingKey, at, format!("the `{key}` is empty"));
                    return None;
                }
                Some(text)
            }
            None => {
                reader.find(Code::MissingKey, self.at, format!("{} needs a `{key}`", self.what));
                None
            }
        }
    }

    /// Takes a text that must be there, although it may be empty.
    pub(crate) fn stated(
        &mut self,
        reader: &mut Reader<'_>,
        key: &str,
        needed: &str,
    ) -> Option<String> {
        if let Some(node) = self.take(key) {
            return text(reader, node, key);
        }
        reader.find(Code::MissingKey, self.at, needed);
        None
    }

    /// Takes an id.
    pub(crate) fn id(&mut self, reader: &mut Reader<'_>, key: &str) -> Option<Ulid> {
        let node = self.take(key)?;
        let at = node.at;
        let text = text(reader, node, key)?;
        let id = text.parse().ok();
        if id.is_none() {
            let text = text.escape_debug();
            let message =
                format!("`{text}` is no ULID: 26 digits and letters, without I, L, O and U");
            reader.find(Code::BadId, at, message).hint =
                Some("leave it out, and do without".to_owned());
        }
        id
    }

    /// Takes the items of a list.
    pub(crate) fn list(&mut self, reader: &mut Reader<'_>, key: &str) -> Vec<Node> {
        self.take(key).and_then(|it| list(reader, it, key)).unwrap_or_default()
    }
}

/// Reads the items of a list.
pub(crate) fn list(reader: &mut Reader<'_>, node: Node, key: &str) -> Option<Vec<Node>> {
    let kind = node.kind();
    if let Body::List(items) = node.body {
        return Some(items);
    }
    reader.find(Code::WrongType, node.at, format!("`{key}` is a list, and this is {kind}"));
    None
}

/// Makes one line of what quotes a file, and a short one: whole books have stood
/// where a word belongs.
fn in_one_line(message: &str) -> String {
    let start = message.chars().take(LONGEST);
    let escaped = start.map(|it| match it {
        '\n' | '\t' => " ".to_owned(),
        it if is_printable(it) => it.to_string(),
        it => it.escape_debug().to_string(),
    });
    let more = if message.chars().nth(LONGEST).is_some() { "…" } else { "" };
    escaped.chain([more.to_owned()]).collect()
}

/// Reads a scalar as text.
pub(crate) fn text(reader: &mut Reader<'_>, node: Node, key: &str) -> Option<String> {
    let kind = node.kind();
    match node.body {
        Body::Scalar { text, .. } if kind != "nothing" => Some(text),
        _ => {
            let message = format!("`{key}` is a text, and this is {kind}");
            let err = reader.find(Code::WrongType, node.at, message);
            if kind == "a mapping" {
                err.hint = Some("a text that holds `: ` needs quotes".to_owned());
            }
            None
        }
    }
}

/// Reads a scalar as what a room is called.
pub(crate) fn room(reader: &mut Reader<'_>, node: Node, key: &str) -> Option<RoomRef> {
    let at = node.at;
    let said = text(reader, node, key)?;
    match said.parse() {
        Ok(it) => Some(it),
        Err(err) => {
            let meant = Slug::of(&said).filter(|_| !said.contains(['/', '\\', '\0']));
            let finding = reader.find(Code::BadSlug, at, err.to_string());
            finding.meant = meant.map(|it| it.as_str().into());
            None
        }
    }
}

/// Reads a scalar as what a room of another palace is called: which one might be
/// meant cannot be told here.
pub(crate) fn room_elsewhere(reader: &mut Reader<'_>, node: Node, key: &str) -> Option<RoomRef> {
    let room = room(reader, node, key);
    if room.is_none()
        && let Some(finding) = reader.findings.last_mut()
    {
        finding.meant = None;
    }
    room
}
