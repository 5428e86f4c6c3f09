//! Tools edit hand-written files: random files, random edits. Each edit must read back
//! as intended, and may remove no comments except those on removed parts.
//!
//! Each run is different. Its length is configurable: `PROPTEST_CASES=100000 cargo test
//! --release --test stories edits_keep_comments`.

use std::collections::BTreeSet;

use palazzo_core::format;
use palazzo_core::model::{Files, Palace, RoomId, TimeZone};
use proptest::collection::vec;
use proptest::prelude::*;

/// The shape of a value in a file.
enum ValueShape {
    /// A text of one line.
    Line,
    /// A text of one line or several.
    Prose,
    /// A room's slug.
    Slug,
    /// A day.
    Day,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Texts, by arbitrary names.
    Free,
    /// A list.
    List(&'static Self),
    /// A mapping: its keys, whether they are required, and the shapes of their values.
    Map(&'static [(&'static str, bool, Self)]),
    /// One of several shapes.
    OneOf(&'static [Self]),
}

const LABEL_FIELD: (&str, bool, ValueShape) = ("label", true, ValueShape::Line);

const ACTION_SHAPE: ValueShape = ValueShape::OneOf(&[
    ValueShape::Map(&[
        LABEL_FIELD,
        ("type", true, ValueShape::Word(&["navigate"])),
        ("room", true, ValueShape::Slug),
        ("workspace", false, ValueShape::Line),
    ]),
    ValueShape::Map(&[
        LABEL_FIELD,
        ("type", true, ValueShape::Word(&["query"])),
        ("tool", true, ValueShape::Line),
        ("tool_params", false, ValueShape::Free),
    ]),
    ValueShape::Map(&[
        LABEL_FIELD,
        ("type", true, ValueShape::Word(&["text"])),
        ("content", false, ValueShape::Prose),
    ]),
]);

const RELATION_SHAPE: ValueShape = ValueShape::Map(&[
    ("to", true, ValueShape::Line),
    ("type", true, ValueShape::Line),
    ("since", false, ValueShape::Day),
    ("until", false, ValueShape::Day),
    ("source", false, ValueShape::Line),
]);

const STEP_SHAPE: ValueShape = ValueShape::OneOf(&[
    ValueShape::Line,
    ValueShape::Map(&[("step", true, ValueShape::Line), ("note", true, ValueShape::Prose)]),
]);

/// The files that tools edit, each with its shape.
const FILE_SHAPES: &[(&str, ValueShape)] = &[
    (
        "rooms/a.yaml",
        ValueShape::Map(&[
            ("name", true, ValueShape::Line),
            ("description", false, ValueShape::Prose),
            ("actions", false, ValueShape::List(&ACTION_SHAPE)),
            ("portals", false, ValueShape::List(&ValueShape::Slug)),
        ]),
    ),
    (
        "entities/a/a.yaml",
        ValueShape::Map(&[
            ("name", true, ValueShape::Line),
            ("genus", true, ValueShape::Line),
            ("status", false, ValueShape::Line),
            ("attributes", false, ValueShape::Free),
            ("observations", false, ValueShape::List(&ValueShape::Prose)),
            ("relations", false, ValueShape::List(&RELATION_SHAPE)),
        ]),
    ),
    (
        "tasks/a.yaml",
        ValueShape::Map(&[
            ("title", true, ValueShape::Line),
            ("entity", false, ValueShape::Line),
            ("room", false, ValueShape::Slug),
            ("who", false, ValueShape::Line),
            ("status", false, ValueShape::Word(&["open", "done"])),
            ("note", false, ValueShape::Prose),
        ]),
    ),
    (
        "processes/a.yaml",
        ValueShape::Map(&[
            ("name", true, ValueShape::Line),
            ("entity", false, ValueShape::Line),
            ("room", false, ValueShape::Slug),
            ("steps", true, ValueShape::List(&STEP_SHAPE)),
            ("status", false, ValueShape::Word(&["running", "done"])),
        ]),
    ),
];

/// A value in a file.
#[derive(Clone, Debug)]
enum YamlValue {
    Text(String),
    List(Vec<Self>),
    Map(Vec<(String, Self)>),
    /// One of several shapes, with its index.
    OneOf(usize, Box<Self>),
}

/// A source of random choices from a cycle of bytes.
struct RandomChoices {
    seed_bytes: Vec<u8>,
    position: usize,
    last_number: usize,
}

impl RandomChoices {
    fn pick(&mut self, choices: usize) -> usize {
        self.position += 1;
        let mood = self.seed_bytes[self.position % self.seed_bytes.len()];
        // In each cycle the same byte leads to another choice.
        (usize::from(mood) + self.position / self.seed_bytes.len() * 7) % choices
    }

    fn one_in(&mut self, choices: usize) -> bool {
        self.pick(choices) == 0
    }

    /// Generates a value of a shape. Its first text ends in `number`, which identifies
    /// it after any change.
    fn generate(&mut self, shape: &ValueShape, number: usize) -> YamlValue {
        match shape {
            ValueShape::Prose if self.one_in(2) => {
                let lines = ["Moss.\n\nIvy, too. %", "One: # two\n  three\n%", "- a\n- b %"];
                YamlValue::Text(lines[self.pick(3)].replace('%', &number.to_string()))
            }
            ValueShape::Line | ValueShape::Prose => self.text_ending_in(number),
            ValueShape::Slug => {
                YamlValue::Text(format!("{}-{number}", ["hall", "attic"][self.pick(2)]))
            }
            ValueShape::Day => {
                YamlValue::Text(["1972-01-01", "1859-11-24"][self.pick(2)].to_owned())
            }
            ValueShape::Word(words) => YamlValue::Text(words[self.pick(words.len())].to_owned()),
            ValueShape::Free => {
                let pairs = (0..=self.pick(3))
                    .map(|_| (self.new_key(), self.generate_new(&ValueShape::Line)));
                YamlValue::Map(pairs.collect())
            }
            ValueShape::List(shape) => {
                YamlValue::List((0..=self.pick(4)).map(|_| self.generate_new(shape)).collect())
            }
            ValueShape::Map(fields) => {
                let mut pairs = Vec::new();
                for (key, needed, shape) in *fields {
                    if *needed || self.one_in(2) {
                        let number = if pairs.is_empty() { number } else { self.next_number() };
                        pairs.push(((*key).to_owned(), self.generate(shape, number)));
                    }
                }
                YamlValue::Map(pairs)
            }
            ValueShape::OneOf(shapes) => {
                let which = self.pick(shapes.len());
                YamlValue::OneOf(which, Box::new(self.generate(&shapes[which], number)))
            }
        }
    }

    fn generate_new(&mut self, shape: &ValueShape) -> YamlValue {
        let number = self.next_number();
        self.generate(shape, number)
    }

    fn next_number(&mut self) -> usize {
        self.last_number += 1;
        self.last_number
    }

    fn new_key(&mut self) -> String {
        format!("key {}", self.next_number())
    }

    fn text_ending_in(&mut self, number: usize) -> YamlValue {
        const LINE_TEXTS: &[&str] =
            &["Look", "It's: so", "# no", "\"Quoted\"", "Größe 🏛", "- dash", "{params}", "no,"];
        YamlValue::Text(format!("{} {number}", LINE_TEXTS[self.pick(LINE_TEXTS.len())]))
    }

    /// Changes several things in a list, or one.
    fn mutate_list(&mut self, items: &mut Vec<YamlValue>, shape: &ValueShape) {
        for _ in 0..=self.pick(4) {
            let place = self.pick(items.len());
            match self.pick(4) {
                0 => items.insert(self.pick(items.len() + 1), self.generate_new(shape)),
                1 if items.len() > 1 => drop(items.remove(place)),
                2 => {
                    let moved = items.remove(place);
                    items.insert(self.pick(items.len() + 1), moved);
                }
                _ => {
                    let before = items[place].clone();
                    self.mutate(&mut items[place], shape);
                    if before.identity() != items[place].identity() {
                        items[place] = self.generate_new(shape);
                    }
                }
            }
        }
    }

    /// Changes one thing at a random place in a value, or several in one list.
    fn mutate(&mut self, part: &mut YamlValue, shape: &ValueShape) {
        match (part, shape) {
            (YamlValue::Map(pairs), ValueShape::Map(fields)) => {
                let (key, needed, shape) = &fields[self.pick(fields.len())];
                let place = pairs.iter().position(|it| it.0 == *key);
                match place {
                    None => pairs.push(((*key).to_owned(), self.generate_new(shape))),
                    Some(place) if !needed && self.one_in(4) => drop(pairs.remove(place)),
                    Some(place) => self.mutate(&mut pairs[place].1, shape),
                }
            }
            (YamlValue::Map(pairs), ValueShape::Free) => match self.pick(3) {
                0 => pairs.push((self.new_key(), self.generate_new(&ValueShape::Line))),
                1 if pairs.len() > 1 => drop(pairs.remove(self.pick(pairs.len()))),
                _ => {
                    let place = self.pick(pairs.len());
                    self.mutate(&mut pairs[place].1, &ValueShape::Line);
                }
            },
            (YamlValue::List(items), ValueShape::List(shape)) => self.mutate_list(items, shape),
            (YamlValue::OneOf(which, part), ValueShape::OneOf(shapes)) if !self.one_in(3) => {
                self.mutate(part, &shapes[*which]);
            }
            (part, shape) => {
                let number = part.trailing_number();
                *part = self.generate(shape, number.parse().unwrap_or_default());
            }
        }
    }
}

impl YamlValue {
    /// Returns the number that identifies it in a list: the one at the end of its first
    /// text.
    fn trailing_number(&self) -> String {
        let text = self.first_text();
        text.rsplit(|it: char| !it.is_ascii_digit()).next().unwrap_or_default().to_owned()
    }

    /// Returns what makes it another item of its list: its label, its text, or what a relation says.
    fn identity(&self) -> Vec<&str> {
        match self {
            Self::Map(pairs) => {
                let says = pairs.iter().skip(1).filter(|it| it.0 == "type" || it.0 == "since");
                pairs.iter().take(1).chain(says).map(|it| it.1.first_text()).collect()
            }
            Self::OneOf(_, it) => it.identity(),
            _ => vec![self.first_text()],
        }
    }

    /// Returns its first text.
    fn first_text(&self) -> &str {
        match self {
            Self::Text(it) => it,
            Self::List(items) => items.first().map(Self::first_text).unwrap_or_default(),
            Self::Map(pairs) => pairs.first().map(|it| it.1.first_text()).unwrap_or_default(),
            Self::OneOf(_, it) => it.first_text(),
        }
    }

    /// Collects the paths to everything in it.
    fn collect_paths(&self, path: &str, paths: &mut BTreeSet<String>) {
        paths.insert(path.to_owned());
        match self {
            Self::Text(_) => {}
            Self::List(items) => {
                for it in items {
                    it.collect_paths(&format!("{path}/{}", it.trailing_number()), paths);
                }
            }
            Self::Map(pairs) => {
                for (key, it) in pairs {
                    it.collect_paths(&format!("{path}/{key}"), paths);
                }
            }
            Self::OneOf(_, it) => it.collect_paths(path, paths),
        }
    }
}

/// Writes a file in the style of a person.
struct HandWrittenYaml<'a> {
    chance: &'a mut RandomChoices,
    /// Whether optional parts are left out.
    is_plain: bool,
    text: String,
    /// The comments, each with the path of the value it belongs to.
    comments: Vec<(String, String)>,
}

impl HandWrittenYaml<'_> {
    fn write_document(&mut self, part: &YamlValue) {
        self.write_comment_above("", 0);
        self.write_lines(part, "", 0);
        self.write_comment_above("", 0);
    }

    /// Writes the text after a key or dash, including the space.
    fn write_value(&mut self, part: &YamlValue, path: &str, indent: usize) {
        match part {
            YamlValue::OneOf(_, it) => self.write_value(it, path, indent),
            YamlValue::Text(it) => self.write_scalar(it, path, indent),
            YamlValue::List(items)
                if !self.is_plain && self.chance.one_in(3) && are_all_single_line(items) =>
            {
                let items: Vec<_> = items.iter().map(flow_style).collect();
                self.text.push_str(&format!(" [{}]", items.join(", ")));
                self.end_line(path);
            }
            YamlValue::Map(_)
                if !self.is_plain && self.chance.one_in(3) && is_single_line(part) =>
            {
                self.text.push_str(&format!(" {}", flow_style(part)));
                self.end_line(path);
            }
            YamlValue::List(_) | YamlValue::Map(_) => {
                self.end_line(path);
                self.write_lines(part, path, indent);
            }
        }
    }

    /// Writes a value as lines.
    fn write_lines(&mut self, part: &YamlValue, path: &str, indent: usize) {
        match part {
            YamlValue::Map(pairs) => {
                let mut pairs: Vec<_> = pairs.iter().collect();
                if !self.is_plain && !path.contains("attributes") && !path.contains("tool_params") {
                    let by = self.chance.pick(pairs.len());
                    pairs.rotate_left(by);
                }
                for (key, it) in pairs {
                    let path = format!("{path}/{key}");
                    if !self.text.ends_with("- ") {
                        self.write_comment_above(&path, indent);
                        self.text.push_str(&" ".repeat(indent));
                    }
                    self.text.push_str(&format!("{key}:"));
                    let deeper =
                        matches!(it, YamlValue::Map(_)) || self.is_plain || self.chance.one_in(2);
                    self.write_value(it, &path, indent + if deeper { 2 } else { 0 });
                }
            }
            YamlValue::List(items) => {
                for it in items {
                    let path = format!("{path}/{}", it.trailing_number());
                    self.write_comment_above(&path, indent);
                    self.text.push_str(&format!("{}-", " ".repeat(indent)));
                    let inner = if let YamlValue::OneOf(_, inner) = it { inner } else { it };
                    match inner {
                        YamlValue::Map(_)
                            if self.is_plain || !self.chance.one_in(3) || !is_single_line(it) =>
                        {
                            self.text.push(' ');
                            self.write_lines(inner, &path, indent + 2);
                        }
                        _ => self.write_value(inner, &path, indent + 2),
                    }
                }
            }
            YamlValue::OneOf(_, it) => self.write_lines(it, path, indent),
            YamlValue::Text(_) => unreachable!("a text stands behind something"),
        }
    }

    fn write_scalar(&mut self, it: &str, path: &str, indent: usize) {
        let is_safe = it.chars().all(|it| it.is_ascii_alphanumeric() || " -".contains(it));
        let is_safe = is_safe && !it.starts_with('-');
        match self.chance.pick(3) {
            _ if self.is_plain => self.text.push_str(&format!(" {}", quoted(it))),
            0 if is_safe => self.text.push_str(&format!(" {it}")),
            1 if !it.contains('\n') => {
                self.text.push_str(&format!(" '{}'", it.replace('\'', "''")));
            }
            2 if !it.starts_with(' ') => {
                self.text.push_str(" |-");
                self.end_line(path);
                for line in it.lines() {
                    let indent = if line.is_empty() { 0 } else { indent.max(2) + 1 };
                    self.text.push_str(&format!("{}{line}\n", " ".repeat(indent)));
                }
                return;
            }
            _ => self.text.push_str(&format!(" {}", quoted(it))),
        }
        self.end_line(path);
    }

    /// Writes a comment on its own line, and a blank line, or neither.
    fn write_comment_above(&mut self, path: &str, indent: usize) {
        if self.is_plain {
            return;
        }
        if self.chance.one_in(4) {
            self.text.push('\n');
        }
        if self.chance.one_in(3) {
            let comment = self.new_comment(path);
            self.text.push_str(&format!("{}{comment}\n", " ".repeat(indent)));
        }
    }

    /// Ends a line, sometimes with a comment.
    fn end_line(&mut self, path: &str) {
        if !self.is_plain && self.chance.one_in(3) {
            let comment = self.new_comment(path);
            self.text.push_str(&format!(" {comment}"));
        }
        self.text.push('\n');
    }

    fn new_comment(&mut self, path: &str) -> String {
        let comment = format!("# note {}.", self.comments.len());
        self.comments.push((comment.clone(), path.to_owned()));
        comment
    }
}

fn are_all_single_line(items: &[YamlValue]) -> bool {
    items.iter().all(is_single_line)
}

fn is_single_line(part: &YamlValue) -> bool {
    match part {
        YamlValue::Text(it) => !it.contains('\n'),
        YamlValue::List(items) => are_all_single_line(items),
        YamlValue::Map(pairs) => pairs.iter().all(|it| is_single_line(&it.1)),
        YamlValue::OneOf(_, it) => is_single_line(it),
    }
}

fn flow_style(part: &YamlValue) -> String {
    match part {
        YamlValue::Text(it) => quoted(it),
        YamlValue::List(items) => {
            format!("[{}]", items.iter().map(flow_style).collect::<Vec<_>>().join(", "))
        }
        YamlValue::Map(pairs) => {
            let pairs: Vec<_> =
                pairs.iter().map(|(key, it)| format!("{key}: {}", flow_style(it))).collect();
            format!("{{ {} }}", pairs.join(", "))
        }
        YamlValue::OneOf(_, it) => flow_style(it),
    }
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

fn read_palace(path: &str, text: &str) -> Palace {
    format::parse_palace("test", &Files::from([(path.to_owned(), text.to_owned())])).0
}

/// Edits the text of a file like a tool: from the content of one palace to that of the
/// other.
fn edit_file(path: &str, text: &str, was: &Palace, now: &Palace) -> Option<String> {
    let room: RoomId = "a".parse().unwrap();
    match path.split('/').next().unwrap() {
        "rooms" => format::edit_room_text(path, text, was.room(&room)?, now.room(&room)?),
        "entities" => format::edit_entity_text(
            path,
            text,
            was.graph.entity_in_file(path)?,
            now.graph.entity_in_file(path)?,
        ),
        "tasks" => format::edit_task_text(
            path,
            text,
            was.tasks.get(path)?,
            now.tasks.get(path)?,
            &TimeZone::UTC,
        ),
        _ => format::edit_process_text(
            path,
            text,
            was.processes.get(path)?,
            now.processes.get(path)?,
            &TimeZone::UTC,
        ),
    }
}

fn write_random_file(
    chance: &mut RandomChoices,
    part: &YamlValue,
    is_plain: bool,
) -> (String, Vec<(String, String)>) {
    let mut page = HandWrittenYaml { chance, is_plain, text: String::new(), comments: Vec::new() };
    page.write_document(part);
    let HandWrittenYaml { chance, text, comments, .. } = page;
    let text = match chance.pick(6) {
        _ if is_plain => text,
        0 => text.replace('\n', "\r\n"),
        1 => text.trim_end().to_owned(),
        2 => format!("\u{feff}{text}"),
        _ => text,
    };
    (text, comments)
}

fn value_paths(part: &YamlValue) -> BTreeSet<String> {
    let mut paths = BTreeSet::new();
    part.collect_paths("", &mut paths);
    paths
}

/// Returns true if a comment on its own line is above the value that it belongs to, and
/// not above another one in the same list or mapping.
fn is_comment_above_its_value(
    text: &str,
    comment: &str,
    about: &str,
    alive: &BTreeSet<String>,
) -> bool {
    let (before, after) = text.split_once(comment).unwrap();
    let is_alone = before.rsplit('\n').next().is_some_and(|it| it.trim().is_empty());
    let Some((parent, own)) = about.rsplit_once('/').filter(|_| is_alone) else { return true };
    let siblings = alive.iter().filter_map(|it| it.rsplit_once('/')).filter(|it| it.0 == parent);
    let first = siblings.filter_map(|(_, it)| Some((find_key_or_number(after, it)?, it))).min();
    first.is_some_and(|(_, it)| it == own)
}

/// Finds a key, or the index of an item.
fn find_key_or_number(text: &str, name: &str) -> Option<usize> {
    let is_number = name.chars().all(|it| it.is_ascii_digit());
    let ends = |at: usize, it: &str| {
        let (before, after) = (&text[..at], &text[at + it.len()..]);
        match is_number {
            true => {
                let is_end =
                    ["\n", "\\n", " ", "hall-", "attic-"].iter().any(|it| before.ends_with(it));
                let is_other = before.ends_with("# note ") || before.ends_with("key ");
                is_end
                    && !is_other
                    && !after.starts_with(|it: char| it.is_ascii_digit() || it == '-')
            }
            false => before.ends_with(['\n', ' ']) && after.starts_with(':'),
        }
    };
    text.match_indices(name).find(|(at, it)| ends(*at, it)).map(|(at, _)| at)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_edit_takes_effect_and_keeps_every_comment(
        kind in 0..FILE_SHAPES.len(),
        moods in vec(any::<u8>(), 40..400),
        edits in 1..8_usize,
    ) {
        let (path, shape) = &FILE_SHAPES[kind];
        let mut chance = RandomChoices { seed_bytes: moods, position: 0, last_number: 0 };
        let mut part = chance.generate_new(shape);
        let (mut text, mut comments) = write_random_file(&mut chance, &part, false);
        let first = text.clone();
        let mut was = read_palace(path, &text);
        prop_assert_eq!(&was, &read_palace(path, &write_random_file(&mut chance, &part, true).0), "{}", text);
        for _ in 0..edits {
            chance.mutate(&mut part, shape);
            let now = read_palace(path, &write_random_file(&mut chance, &part, true).0);
            let anew = edit_file(path, &text, &was, &now);
            prop_assert!(anew.is_some(), "refused: {:?}\n{}", part, text);
            let anew = anew.unwrap();
            prop_assert_eq!(&read_palace(path, &anew), &now, "{}\n-- became --\n{}", text, anew);
            let alive = value_paths(&part);
            comments.retain(|(_, about)| alive.contains(about));
            for (comment, about) in &comments {
                let why = || format!("{comment} {about}\n{first}\n-- then --\n{text}\n-- became --\n{anew}");
                prop_assert!(anew.contains(comment), "lost: {}", why());
                prop_assert!(is_comment_above_its_value(&anew, comment, about, &alive), "astray: {}", why());
            }
            (text, was) = (anew, now);
        }
    }
}
