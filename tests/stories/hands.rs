//! Hands that write files: the same thing as people spell it, in any order and
//! style, with comments everywhere.

use palazzo::model::{
    Action, ActionKind, AttributeDef, AttributeKind, Entity, Genus, Grouping, NavigationTarget,
    Process, ProcessStep, Relation, Room, StatusDef, Task, WorkStatus, WorkSubject,
};
use serde_json::{Map, Value};

/// What a file says, whoever writes it.
#[derive(Clone, Debug)]
pub(crate) enum Tree {
    Text(String),
    Plain(String),
    List(Vec<Self>),
    Map(Vec<(String, Self)>),
}

/// A hand, which makes the same choices whenever it begins with the same number.
pub(crate) struct Hand {
    state: u64,
    /// By how many columns it indents.
    step: usize,
    /// One in how many places has a comment; 0: none.
    comments: usize,
    marks: Vec<String>,
    text: String,
    /// Whether the text ends in a block, which blank lines would become part of.
    in_block: bool,
}

impl Hand {
    pub(crate) fn new(seed: u64) -> Self {
        let mut hand = Self {
            state: seed,
            step: 2,
            comments: 0,
            marks: Vec::new(),
            text: String::new(),
            in_block: false,
        };
        hand.step = 1 + hand.choose(4);
        hand.comments = [0, 1, 3, 6][hand.choose(4)];
        hand
    }

    /// Writes a file; returns it with the comments in it.
    pub(crate) fn write(mut self, tree: &Tree) -> (String, Vec<String>) {
        if self.chance(8) {
            self.text.push_str("---\n");
        }
        self.above(0);
        match tree {
            Tree::Map(pairs) => self.map(pairs, 0, true),
            _ => panic!("a file is a mapping"),
        }
        if self.chance(2) {
            self.above(0);
        }
        let ends_open = !self.in_block && self.chance(6);
        let (windows, marked) = (self.chance(5), self.chance(9));
        let mut text = self.text;
        if ends_open {
            text.truncate(text.trim_end_matches('\n').len());
        }
        let mark = if marked { "\u{feff}" } else { "" };
        let text = if windows { text.replace('\n', "\r\n") } else { text };
        (format!("{mark}{text}"), self.marks)
    }

    fn map(&mut self, pairs: &[(String, Tree)], indent: usize, mut begins_line: bool) {
        for (key, value) in self.shuffled(pairs) {
            if begins_line {
                self.above(indent);
                self.push(&" ".repeat(indent));
            }
            begins_line = true;
            let key = self.one_line(&key);
            self.push(&key);
            let colon = if self.chance(12) { " :" } else { ":" };
            self.push(colon);
            self.value(&value, indent, true);
        }
        self.foot(indent);
    }

    fn list(&mut self, items: &[Tree], indent: usize) {
        for item in items {
            self.above(indent);
            self.push(&" ".repeat(indent));
            self.push("-");
            self.value(item, indent, false);
        }
        self.foot(indent);
    }

    /// Writes what follows a key or a dash, to the end of the line.
    fn value(&mut self, value: &Tree, indent: usize, follows_key: bool) {
        let in_brackets = self.chance(4);
        match value {
            Tree::Map(pairs) if !in_brackets && !pairs.is_empty() => {
                let deeper = indent + self.step.max(2);
                if follows_key || self.chance(5) {
                    self.end_line();
                    self.map(pairs, deeper, true);
                } else {
                    let blanks = deeper - indent - 1;
                    self.push(&" ".repeat(blanks));
                    self.map(pairs, deeper, false);
                }
            }
            Tree::List(items) if !in_brackets && follows_key && !items.is_empty() => {
                let deeper = if self.chance(4) { 0 } else { self.step };
                self.end_line();
                self.list(items, indent + deeper);
            }
            Tree::Text(text) if self.chance(2) && may_be_block(text) => self.block(text, indent),
            Tree::Text(text) if self.chance(4) && is_plain(text) => {
                let text = text.replacen(' ', &format!("\n{}", " ".repeat(indent + self.step)), 1);
                self.push(&format!(" {text}"));
                self.end_line();
            }
            value => {
                let brackets = self.brackets(value, indent + self.step + 1);
                let blanks = " ".repeat(1 + self.choose(2));
                self.push(&format!("{blanks}{brackets}"));
                self.end_line();
            }
        }
    }

    /// Writes a text of several lines: literally, or folded where it has one only.
    fn block(&mut self, text: &str, indent: usize) {
        let body = text.trim_end_matches('\n');
        let breaks = text.len() - body.len();
        let folds = breaks == 0 && is_plain(body);
        let shape = if folds { ">" } else { "|" };
        let leads = body.starts_with([' ', '\t', '\n']);
        let number = if leads || self.chance(4) { self.step.to_string() } else { String::new() };
        self.push(&format!(" {shape}{number}{}", ["-", ""].get(breaks).unwrap_or(&"+")));
        self.end_line();
        let body = if folds { body.replacen(' ', "\n", 1) } else { body.to_owned() };
        for line in body.split('\n') {
            let margin =
                if line.is_empty() { String::new() } else { " ".repeat(indent + self.step) };
            self.push(&format!("{margin}{line}\n"));
        }
        self.push(&"\n".repeat(breaks.saturating_sub(1)));
        self.in_block = true;
    }

    /// Writes a value in brackets or on one line; brackets may take several.
    fn brackets(&mut self, value: &Tree, indent: usize) -> String {
        let (open, parts, close) = match value {
            Tree::Text(text) => return self.one_line(text),
            Tree::Plain(text) => return text.clone(),
            Tree::List(items) => {
                let items = items.iter().map(|it| self.brackets(it, indent + 1)).collect();
                ("[", items, "]")
            }
            Tree::Map(pairs) => {
                let pairs = self.shuffled(pairs).into_iter();
                let pair = |(key, value): (String, Tree)| {
                    let key = self.one_line(&key);
                    format!("{key}: {}", self.brackets(&value, indent + 1))
                };
                ("{", pairs.map(pair).collect::<Vec<_>>(), "}")
            }
        };
        if !self.chance(3) {
            return format!("{open} {} {close}", parts.join(", "));
        }
        let margin = " ".repeat(indent);
        let mut text = format!("{open}{}\n", self.beside());
        for part in parts {
            if let Some(comment) = self.comment() {
                text.push_str(&format!("{margin}{comment}\n"));
            }
            text.push_str(&format!("{margin}{part},{}\n", self.beside()));
        }
        format!("{text}{margin}{close}")
    }

    /// Writes a text on one line: as it is where it may stand so, or in quotes.
    fn one_line(&mut self, text: &str) -> String {
        let is_printable =
            |it: char| it == ' ' || it.is_alphanumeric() || it.is_ascii_punctuation();
        match self.choose(3) {
            0 if is_plain(text) => text.to_owned(),
            1 if text.chars().all(is_printable) => format!("'{}'", text.replace('\'', "''")),
            _ => {
                let escaped = text.chars().map(|it| match it {
                    '"' | '\\' => format!("\\{it}"),
                    ' '..='~' => it.to_string(),
                    _ => format!("\\U{:08X}", u32::from(it)),
                });
                format!("\"{}\"", escaped.collect::<String>())
            }
        }
    }

    /// Writes perhaps blank lines, perhaps comments.
    fn above(&mut self, indent: usize) {
        for _ in 0..self.choose(3) {
            if self.chance(3) && !self.in_block {
                self.push("\n");
            }
            if let Some(comment) = self.comment() {
                self.push(&format!("{}{comment}\n", " ".repeat(indent)));
            }
        }
    }

    /// Writes perhaps a comment below the last key or item.
    fn foot(&mut self, indent: usize) {
        if self.chance(4) {
            self.above(indent);
        }
    }

    fn end_line(&mut self) {
        let beside = self.beside();
        self.push(&beside);
        self.push("\n");
    }

    fn beside(&mut self) -> String {
        let blanks = " ".repeat(1 + self.choose(3));
        self.comment().map(|it| format!("{blanks}{it}")).unwrap_or_default()
    }

    fn comment(&mut self) -> Option<String> {
        if self.comments == 0 || !self.chance(self.comments) {
            return None;
        }
        let comment = format!("# kept {}.", self.marks.len());
        self.marks.push(comment.clone());
        Some(comment)
    }

    fn shuffled(&mut self, pairs: &[(String, Tree)]) -> Vec<(String, Tree)> {
        let mut left = pairs.to_vec();
        let mut shuffled = Vec::new();
        while !left.is_empty() {
            let place = if self.chance(2) { 0 } else { self.choose(left.len()) };
            shuffled.push(left.remove(place));
        }
        shuffled
    }

    fn push(&mut self, text: &str) {
        self.in_block = false;
        self.text.push_str(text);
    }

    fn chance(&mut self, one_in: usize) -> bool {
        self.choose(one_in) == 0
    }

    fn choose(&mut self, of: usize) -> usize {
        // A linear congruential generator with Knuth's numbers: its high bits will do.
        self.state = self
            .state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.state >> 33).unwrap() % of
    }
}

/// Tells whether a text can stand without quotes anywhere.
fn is_plain(text: &str) -> bool {
    let is_word = |it: &str| !it.is_empty() && it.chars().all(|it| it.is_ascii_alphabetic());
    let means_more = ["true", "false", "null"].contains(&text.to_lowercase().as_str());
    text.split(' ').all(is_word) && !means_more
}

/// Tells whether a block gives the text back as it is.
fn may_be_block(text: &str) -> bool {
    let odd =
        |it: char| it != '\n' && it != ' ' && !it.is_alphanumeric() && !it.is_ascii_punctuation();
    !text.contains(odd) && !text.trim().is_empty()
}

pub(crate) fn room(room: &Room) -> Tree {
    let mut pairs = vec![("name", text(&room.name))];
    pairs.extend(room.id.map(|it| ("id", Tree::Plain(it.to_string()))));
    pairs.push(("description", text(&room.description)));
    pairs.push(("actions", Tree::List(room.actions.iter().map(action).collect())));
    pairs.extend(room.generate.as_ref().map(|it| ("generate", arrangement(it))));
    pairs.push((
        "portals",
        Tree::List(room.portals.iter().map(|it| text(&it.to_string())).collect()),
    ));
    map(pairs)
}

fn arrangement(arrangement: &Grouping) -> Tree {
    match arrangement {
        Grouping::Everything => map(vec![("by", text("genus"))]),
        Grouping::Genus { genus, by } => {
            map(vec![("by", text(&by.to_string())), ("genus", text(genus))])
        }
    }
}

fn action(action: &Action) -> Tree {
    let mut pairs = vec![("label", text(&action.label))];
    match &action.kind {
        ActionKind::Navigate(NavigationTarget { room, workspace }) => {
            pairs.extend([("type", text("navigate")), ("room", text(&room.to_string()))]);
            pairs.extend(workspace.as_ref().map(|it| ("workspace", text(it))));
        }
        ActionKind::Query { tool, params } => {
            pairs.extend([
                ("type", text("query")),
                ("tool", text(tool)),
                ("tool_params", json_map(params)),
            ]);
        }
        ActionKind::Text { content } => {
            pairs.extend([("type", text("text")), ("content", text(content))]);
        }
        ActionKind::EnterHall(_) => unreachable!("no file leads into a hall"),
    }
    map(pairs)
}

pub(crate) fn entity(entity: &Entity) -> Tree {
    let mut pairs = vec![("genus", text(&entity.genus)), ("name", text(&entity.name))];
    pairs.extend(entity.status.as_ref().map(|it| ("status", text(it))));
    pairs.push(("attributes", json_map(&entity.attributes)));
    pairs.push((
        "observations",
        Tree::List(entity.observations.iter().map(|it| text(it)).collect()),
    ));
    pairs.push(("relations", Tree::List(entity.relations.iter().map(relation).collect())));
    map(pairs)
}

fn relation(relation: &Relation) -> Tree {
    let mut pairs = vec![("type", text(&relation.kind)), ("to", text(&relation.to))];
    let more =
        [("since", &relation.since), ("until", &relation.until), ("source", &relation.source)];
    pairs.extend(more.into_iter().filter_map(|(key, it)| Some((key, text(it.as_ref()?)))));
    map(pairs)
}

pub(crate) fn genus(genus: &Genus) -> Tree {
    let mut pairs = vec![("name", text(&genus.name))];
    let texts = [
        ("plural", &genus.plural),
        ("description", &genus.description),
        ("sentence", &genus.sentence),
    ];
    pairs.extend(texts.into_iter().filter_map(|(key, it)| Some((key, text(it.as_ref()?)))));
    let attributes = genus.attributes.iter().map(|(key, it)| (key.clone(), attribute(it)));
    let single = |it: bool| Tree::Plain(if it { "single" } else { "" }.to_owned());
    let relations = genus.relations.iter().map(|(key, it)| (key.clone(), single(it.single)));
    pairs.extend([
        ("attributes", Tree::Map(attributes.collect())),
        ("statuses", statuses(&genus.statuses)),
        ("relations", Tree::Map(relations.collect())),
    ]);
    map(pairs)
}

fn attribute(it: &AttributeDef) -> Tree {
    let kind = match &it.kind {
        AttributeKind::Text => text("text"),
        AttributeKind::Number => text("number"),
        AttributeKind::Date => text("date"),
        AttributeKind::YesNo => text("yes/no"),
        AttributeKind::OneOf(words) => Tree::List(words.iter().map(|it| text(it)).collect()),
        AttributeKind::Link(None) => text("link"),
        AttributeKind::Link(Some(genus)) => text(&format!("link to {genus}")),
    };
    if it.required {
        map(vec![("type", kind), ("required", Tree::Plain("true".to_owned()))])
    } else {
        kind
    }
}

fn statuses(statuses: &[StatusDef]) -> Tree {
    let texts = |it: &[String]| Tree::List(it.iter().map(|it| text(it)).collect());
    if statuses.iter().all(|it| it.next.is_none()) {
        return texts(&statuses.iter().map(|it| it.name.clone()).collect::<Vec<_>>());
    }
    let next = |it: &StatusDef| it.next.as_ref().map_or(Tree::Plain(String::new()), |it| texts(it));
    Tree::Map(statuses.iter().map(|it| (it.name.clone(), next(it))).collect())
}

pub(crate) fn task(task: &Task) -> Tree {
    let mut pairs = vec![("title", text(&task.title))];
    pairs.extend(about(&task.subject));
    pairs.extend(task.who.iter().map(|it| ("who", text(it))));
    pairs.extend(state(task.status, "open"));
    pairs.extend(task.note.iter().map(|it| ("note", text(it))));
    map(pairs)
}

pub(crate) fn process(process: &Process) -> Tree {
    let mut pairs = vec![("name", text(&process.name))];
    pairs.extend(about(&process.subject));
    pairs.push(("steps", Tree::List(process.steps.iter().map(stage).collect())));
    if process.step_number != 1 {
        pairs.push(("step", Tree::Plain(process.step_number.to_string())));
    }
    pairs.extend(state(process.status, "running"));
    map(pairs)
}

fn about(about: &WorkSubject) -> Vec<(&'static str, Tree)> {
    let entity = about.entity.iter().map(|it| ("entity", text(it)));
    entity.chain(about.room.iter().map(|it| ("room", text(&it.to_string())))).collect()
}

/// Says how it stands, as far as that does not go without saying.
fn state(state: WorkStatus, open: &str) -> Vec<(&'static str, Tree)> {
    match state {
        WorkStatus::Open if open == "open" => Vec::new(),
        WorkStatus::Open => vec![("status", text(open))],
        WorkStatus::Done(None) => vec![("status", text("done"))],
        WorkStatus::Done(Some(at)) => vec![("done", Tree::Plain(at.to_rfc3339()))],
    }
}

fn stage(stage: &ProcessStep) -> Tree {
    match &stage.note {
        None => text(&stage.text),
        Some(note) => map(vec![("step", text(&stage.text)), ("note", text(note))]),
    }
}

fn json(value: &Value) -> Tree {
    match value {
        Value::String(it) => text(it),
        Value::Array(items) => Tree::List(items.iter().map(json).collect()),
        Value::Object(map) => json_map(map),
        value => Tree::Plain(value.to_string()),
    }
}

fn json_map(map: &Map<String, Value>) -> Tree {
    Tree::Map(map.iter().map(|(key, value)| (key.clone(), json(value))).collect())
}

fn map(pairs: Vec<(&str, Tree)>) -> Tree {
    Tree::Map(pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

fn text(text: &str) -> Tree {
    Tree::Text(text.to_owned())
}
