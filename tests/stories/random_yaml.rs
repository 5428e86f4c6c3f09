//! Hand-written YAML: the same content in any order and style, with comments
//! everywhere.

use palazzo_core::model::{
    Action, ActionKind, AttributeDef, AttributeKind, Entity, Genus, Grouping, NavigationTarget,
    Process, ProcessStep, Relation, Room, StatusDef, Task, WorkStatus, WorkSubject,
};
use serde_json::{Map, Value};

/// The content of a file, independent of its style.
#[derive(Clone, Debug)]
pub(crate) enum YamlTree {
    Text(String),
    Plain(String),
    List(Vec<Self>),
    Map(Vec<(String, Self)>),
}

/// A random style: the same seed always makes the same choices.
pub(crate) struct RandomYamlWriter {
    state: u64,
    /// The number of columns per indent.
    indent_step: usize,
    /// One in how many places has a comment; 0: none.
    comment_rate: usize,
    written_comments: Vec<String>,
    text: String,
    /// Whether the text ends in a block scalar, which would absorb blank lines.
    in_block: bool,
}

impl RandomYamlWriter {
    pub(crate) fn new(seed: u64) -> Self {
        let mut hand = Self {
            state: seed,
            indent_step: 2,
            comment_rate: 0,
            written_comments: Vec::new(),
            text: String::new(),
            in_block: false,
        };
        hand.indent_step = 1 + hand.random_below(4);
        hand.comment_rate = [0, 1, 3, 6][hand.random_below(4)];
        hand
    }

    /// Writes a file; returns it with its comments.
    pub(crate) fn write_yaml(mut self, tree: &YamlTree) -> (String, Vec<String>) {
        if self.one_in(8) {
            self.text.push_str("---\n");
        }
        self.write_comments_above(0);
        match tree {
            YamlTree::Map(pairs) => self.write_map(pairs, 0, true),
            _ => panic!("a file is a mapping"),
        }
        if self.one_in(2) {
            self.write_comments_above(0);
        }
        let ends_open = !self.in_block && self.one_in(6);
        let (windows, marked) = (self.one_in(5), self.one_in(9));
        let mut text = self.text;
        if ends_open {
            text.truncate(text.trim_end_matches('\n').len());
        }
        let mark = if marked { "\u{feff}" } else { "" };
        let text = if windows { text.replace('\n', "\r\n") } else { text };
        (format!("{mark}{text}"), self.written_comments)
    }

    fn write_map(&mut self, pairs: &[(String, YamlTree)], indent: usize, mut begins_line: bool) {
        for (key, value) in self.shuffled(pairs) {
            if begins_line {
                self.write_comments_above(indent);
                self.push_text(&" ".repeat(indent));
            }
            begins_line = true;
            let key = self.single_line_scalar(&key);
            self.push_text(&key);
            let colon = if self.one_in(12) { " :" } else { ":" };
            self.push_text(colon);
            self.write_value(&value, indent, true);
        }
        self.write_comments_below(indent);
    }

    fn write_list(&mut self, items: &[YamlTree], indent: usize) {
        for item in items {
            self.write_comments_above(indent);
            self.push_text(&" ".repeat(indent));
            self.push_text("-");
            self.write_value(item, indent, false);
        }
        self.write_comments_below(indent);
    }

    /// Writes the text after a key or a dash, to the end of the line.
    fn write_value(&mut self, value: &YamlTree, indent: usize, follows_key: bool) {
        let in_brackets = self.one_in(4);
        match value {
            YamlTree::Map(pairs) if !in_brackets && !pairs.is_empty() => {
                let deeper = indent + self.indent_step.max(2);
                if follows_key || self.one_in(5) {
                    self.end_line();
                    self.write_map(pairs, deeper, true);
                } else {
                    let blanks = deeper - indent - 1;
                    self.push_text(&" ".repeat(blanks));
                    self.write_map(pairs, deeper, false);
                }
            }
            YamlTree::List(items) if !in_brackets && follows_key && !items.is_empty() => {
                let deeper = if self.one_in(4) { 0 } else { self.indent_step };
                self.end_line();
                self.write_list(items, indent + deeper);
            }
            YamlTree::Text(text) if self.one_in(2) && can_be_block_scalar(text) => {
                self.write_block_scalar(text, indent);
            }
            YamlTree::Text(text) if self.one_in(4) && is_plain_scalar(text) => {
                let text =
                    text.replacen(' ', &format!("\n{}", " ".repeat(indent + self.indent_step)), 1);
                self.push_text(&format!(" {text}"));
                self.end_line();
            }
            value => {
                let brackets = self.flow_value(value, indent + self.indent_step + 1);
                let blanks = " ".repeat(1 + self.random_below(2));
                self.push_text(&format!("{blanks}{brackets}"));
                self.end_line();
            }
        }
    }

    /// Writes a text of several lines: as a literal block, or folded if it has only one
    /// line.
    fn write_block_scalar(&mut self, text: &str, indent: usize) {
        let body = text.trim_end_matches('\n');
        let breaks = text.len() - body.len();
        let folds = breaks == 0 && is_plain_scalar(body);
        let shape = if folds { ">" } else { "|" };
        let leads = body.starts_with([' ', '\t', '\n']);
        let number =
            if leads || self.one_in(4) { self.indent_step.to_string() } else { String::new() };
        self.push_text(&format!(" {shape}{number}{}", ["-", ""].get(breaks).unwrap_or(&"+")));
        self.end_line();
        let body = if folds { body.replacen(' ', "\n", 1) } else { body.to_owned() };
        for line in body.split('\n') {
            let margin =
                if line.is_empty() { String::new() } else { " ".repeat(indent + self.indent_step) };
            self.push_text(&format!("{margin}{line}\n"));
        }
        self.push_text(&"\n".repeat(breaks.saturating_sub(1)));
        self.in_block = true;
    }

    /// Writes a value in flow style; brackets may span several lines.
    fn flow_value(&mut self, value: &YamlTree, indent: usize) -> String {
        let (open, parts, close) = match value {
            YamlTree::Text(text) => return self.single_line_scalar(text),
            YamlTree::Plain(text) => return text.clone(),
            YamlTree::List(items) => {
                let items = items.iter().map(|it| self.flow_value(it, indent + 1)).collect();
                ("[", items, "]")
            }
            YamlTree::Map(pairs) => {
                let pairs = self.shuffled(pairs).into_iter();
                let pair = |(key, value): (String, YamlTree)| {
                    let key = self.single_line_scalar(&key);
                    format!("{key}: {}", self.flow_value(&value, indent + 1))
                };
                ("{", pairs.map(pair).collect::<Vec<_>>(), "}")
            }
        };
        if !self.one_in(3) {
            return format!("{open} {} {close}", parts.join(", "));
        }
        let margin = " ".repeat(indent);
        let mut text = format!("{open}{}\n", self.trailing_comment());
        for part in parts {
            if let Some(comment) = self.maybe_comment() {
                text.push_str(&format!("{margin}{comment}\n"));
            }
            text.push_str(&format!("{margin}{part},{}\n", self.trailing_comment()));
        }
        format!("{text}{margin}{close}")
    }

    /// Writes a text on one line: plain if possible, or in quotes.
    fn single_line_scalar(&mut self, text: &str) -> String {
        let is_printable =
            |it: char| it == ' ' || it.is_alphanumeric() || it.is_ascii_punctuation();
        match self.random_below(3) {
            0 if is_plain_scalar(text) => text.to_owned(),
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

    /// Writes optional blank lines and comments.
    fn write_comments_above(&mut self, indent: usize) {
        for _ in 0..self.random_below(3) {
            if self.one_in(3) && !self.in_block {
                self.push_text("\n");
            }
            if let Some(comment) = self.maybe_comment() {
                self.push_text(&format!("{}{comment}\n", " ".repeat(indent)));
            }
        }
    }

    /// Writes an optional comment below the last key or item.
    fn write_comments_below(&mut self, indent: usize) {
        if self.one_in(4) {
            self.write_comments_above(indent);
        }
    }

    fn end_line(&mut self) {
        let beside = self.trailing_comment();
        self.push_text(&beside);
        self.push_text("\n");
    }

    fn trailing_comment(&mut self) -> String {
        let blanks = " ".repeat(1 + self.random_below(3));
        self.maybe_comment().map(|it| format!("{blanks}{it}")).unwrap_or_default()
    }

    fn maybe_comment(&mut self) -> Option<String> {
        if self.comment_rate == 0 || !self.one_in(self.comment_rate) {
            return None;
        }
        let comment = format!("# kept {}.", self.written_comments.len());
        self.written_comments.push(comment.clone());
        Some(comment)
    }

    fn shuffled(&mut self, pairs: &[(String, YamlTree)]) -> Vec<(String, YamlTree)> {
        let mut left = pairs.to_vec();
        let mut shuffled = Vec::new();
        while !left.is_empty() {
            let place = if self.one_in(2) { 0 } else { self.random_below(left.len()) };
            shuffled.push(left.remove(place));
        }
        shuffled
    }

    fn push_text(&mut self, text: &str) {
        self.in_block = false;
        self.text.push_str(text);
    }

    fn one_in(&mut self, one_in: usize) -> bool {
        self.random_below(one_in) == 0
    }

    fn random_below(&mut self, of: usize) -> usize {
        // A linear congruential generator with Knuth's constants; its high bits are
        // random enough.
        self.state = self
            .state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.state >> 33).unwrap() % of
    }
}

/// Returns true if a text can be plain everywhere.
fn is_plain_scalar(text: &str) -> bool {
    let is_word = |it: &str| !it.is_empty() && it.chars().all(|it| it.is_ascii_alphabetic());
    let means_more = ["true", "false", "null"].contains(&text.to_lowercase().as_str());
    text.split(' ').all(is_word) && !means_more
}

/// Returns true if a block scalar preserves the text.
fn can_be_block_scalar(text: &str) -> bool {
    let odd =
        |it: char| it != '\n' && it != ' ' && !it.is_alphanumeric() && !it.is_ascii_punctuation();
    !text.contains(odd) && !text.trim().is_empty()
}

pub(crate) fn room_tree(room: &Room) -> YamlTree {
    let mut pairs = vec![("name", text_tree(&room.name))];
    pairs.extend(room.id.map(|it| ("id", YamlTree::Plain(it.to_string()))));
    pairs.push(("description", text_tree(&room.description)));
    pairs.push(("actions", YamlTree::List(room.actions.iter().map(action_tree).collect())));
    pairs.extend(room.generate.as_ref().map(|it| ("generate", arrangement_tree(it))));
    pairs.push((
        "portals",
        YamlTree::List(room.portals.iter().map(|it| text_tree(&it.to_string())).collect()),
    ));
    map_tree(pairs)
}

fn arrangement_tree(arrangement: &Grouping) -> YamlTree {
    match arrangement {
        Grouping::Everything => map_tree(vec![("by", text_tree("genus"))]),
        Grouping::Genus { genus, by } => {
            map_tree(vec![("by", text_tree(&by.to_string())), ("genus", text_tree(genus))])
        }
    }
}

fn action_tree(action: &Action) -> YamlTree {
    let mut pairs = vec![("label", text_tree(&action.label))];
    match &action.kind {
        ActionKind::Navigate(NavigationTarget { room, workspace }) => {
            pairs.extend([("type", text_tree("navigate")), ("room", text_tree(&room.to_string()))]);
            pairs.extend(workspace.as_ref().map(|it| ("workspace", text_tree(it))));
        }
        ActionKind::Query { tool, params } => {
            pairs.extend([
                ("type", text_tree("query")),
                ("tool", text_tree(tool)),
                ("tool_params", json_map_tree(params)),
            ]);
        }
        ActionKind::ShowEntity { entity } => {
            pairs.extend([("type", text_tree("query")), ("entity", text_tree(entity))]);
        }
        ActionKind::Text { content } => {
            pairs.extend([("type", text_tree("text")), ("content", text_tree(content))]);
        }
        ActionKind::EnterHall(_) => unreachable!("no file leads into a hall"),
    }
    map_tree(pairs)
}

pub(crate) fn entity_tree(entity: &Entity) -> YamlTree {
    let mut pairs = vec![("genus", text_tree(&entity.genus)), ("name", text_tree(&entity.name))];
    let former_names = entity.former_names.iter().map(|it| text_tree(it)).collect();
    pairs.push(("former_names", YamlTree::List(former_names)));
    pairs.extend(entity.status.as_ref().map(|it| ("status", text_tree(it))));
    pairs.push(("attributes", json_map_tree(&entity.attributes)));
    pairs.push((
        "observations",
        YamlTree::List(entity.observations.iter().map(|it| text_tree(it)).collect()),
    ));
    pairs.push(("relations", YamlTree::List(entity.relations.iter().map(relation_tree).collect())));
    map_tree(pairs)
}

fn relation_tree(relation: &Relation) -> YamlTree {
    let mut pairs = vec![("type", text_tree(&relation.kind)), ("to", text_tree(&relation.to))];
    let more =
        [("since", &relation.since), ("until", &relation.until), ("source", &relation.source)];
    pairs.extend(more.into_iter().filter_map(|(key, it)| Some((key, text_tree(it.as_ref()?)))));
    map_tree(pairs)
}

pub(crate) fn genus_tree(genus: &Genus) -> YamlTree {
    let mut pairs = vec![("name", text_tree(&genus.name))];
    let texts = [
        ("plural", &genus.plural),
        ("description", &genus.description),
        ("sentence", &genus.sentence),
    ];
    pairs.extend(texts.into_iter().filter_map(|(key, it)| Some((key, text_tree(it.as_ref()?)))));
    let attributes = genus.attributes.iter().map(|(key, it)| (key.clone(), attribute_tree(it)));
    let single = |it: bool| YamlTree::Plain(if it { "single" } else { "" }.to_owned());
    let relations = genus.relations.iter().map(|(key, it)| (key.clone(), single(it.single)));
    pairs.extend([
        ("attributes", YamlTree::Map(attributes.collect())),
        ("statuses", statuses_tree(&genus.statuses)),
        ("relations", YamlTree::Map(relations.collect())),
    ]);
    map_tree(pairs)
}

fn attribute_tree(it: &AttributeDef) -> YamlTree {
    let kind = match &it.kind {
        AttributeKind::Text => text_tree("text"),
        AttributeKind::Number => text_tree("number"),
        AttributeKind::Date => text_tree("date"),
        AttributeKind::YesNo => text_tree("yes/no"),
        AttributeKind::OneOf(words) => {
            YamlTree::List(words.iter().map(|it| text_tree(it)).collect())
        }
        AttributeKind::Link(None) => text_tree("link"),
        AttributeKind::Link(Some(genus)) => text_tree(&format!("link to {genus}")),
    };
    if it.required {
        map_tree(vec![("type", kind), ("required", YamlTree::Plain("true".to_owned()))])
    } else {
        kind
    }
}

fn statuses_tree(statuses: &[StatusDef]) -> YamlTree {
    let texts = |it: &[String]| YamlTree::List(it.iter().map(|it| text_tree(it)).collect());
    if statuses.iter().all(|it| it.next.is_none()) {
        return texts(&statuses.iter().map(|it| it.name.clone()).collect::<Vec<_>>());
    }
    let next =
        |it: &StatusDef| it.next.as_ref().map_or(YamlTree::Plain(String::new()), |it| texts(it));
    YamlTree::Map(statuses.iter().map(|it| (it.name.clone(), next(it))).collect())
}

pub(crate) fn task_tree(task: &Task) -> YamlTree {
    let mut pairs = vec![("title", text_tree(&task.title))];
    pairs.extend(about_pairs(&task.subject));
    pairs.extend(task.who.iter().map(|it| ("who", text_tree(it))));
    pairs.extend(state_pairs(task.status, "open"));
    pairs.extend(task.note.iter().map(|it| ("note", text_tree(it))));
    map_tree(pairs)
}

pub(crate) fn process_tree(process: &Process) -> YamlTree {
    let mut pairs = vec![("name", text_tree(&process.name))];
    pairs.extend(about_pairs(&process.subject));
    pairs.push(("steps", YamlTree::List(process.steps.iter().map(stage_tree).collect())));
    if process.step_number != 1 {
        pairs.push(("step", YamlTree::Plain(process.step_number.to_string())));
    }
    pairs.extend(state_pairs(process.status, "running"));
    map_tree(pairs)
}

fn about_pairs(about: &WorkSubject) -> Vec<(&'static str, YamlTree)> {
    let entity = about.entity.iter().map(|it| ("entity", text_tree(it)));
    entity.chain(about.room.iter().map(|it| ("room", text_tree(&it.to_string())))).collect()
}

/// Returns the keys of a status; none for the default.
fn state_pairs(state: WorkStatus, open: &str) -> Vec<(&'static str, YamlTree)> {
    match state {
        WorkStatus::Open if open == "open" => Vec::new(),
        WorkStatus::Open => vec![("status", text_tree(open))],
        WorkStatus::Done(None) => vec![("status", text_tree("done"))],
        WorkStatus::Done(Some(at)) => vec![("done", YamlTree::Plain(at.to_rfc3339()))],
    }
}

fn stage_tree(stage: &ProcessStep) -> YamlTree {
    match &stage.note {
        None => text_tree(&stage.text),
        Some(note) => map_tree(vec![("step", text_tree(&stage.text)), ("note", text_tree(note))]),
    }
}

fn json_tree(value: &Value) -> YamlTree {
    match value {
        Value::String(it) => text_tree(it),
        Value::Array(items) => YamlTree::List(items.iter().map(json_tree).collect()),
        Value::Object(map) => json_map_tree(map),
        value => YamlTree::Plain(value.to_string()),
    }
}

fn json_map_tree(map: &Map<String, Value>) -> YamlTree {
    YamlTree::Map(map.iter().map(|(key, value)| (key.clone(), json_tree(value))).collect())
}

fn map_tree(pairs: Vec<(&str, YamlTree)>) -> YamlTree {
    YamlTree::Map(pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

fn text_tree(text: &str) -> YamlTree {
    YamlTree::Text(text.to_owned())
}
