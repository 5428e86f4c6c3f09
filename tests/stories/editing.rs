//! Tools change files that people wrote: at random, file after file, edit after
//! edit. Each edit is read back as what was meant, and costs no comment but those
//! of what it removed.
//!
//! Each run is another. How long it takes is up to whoever asks:
//! `PROPTEST_CASES=100000 cargo test --release --test stories editing`.

use std::collections::BTreeSet;

use palazzo::format;
use palazzo::model::{Files, Palace, RoomId};
use proptest::collection::vec;
use proptest::prelude::*;

/// What may stand in a place.
enum Shape {
    /// A text of one line.
    Line,
    /// A text of one line or several.
    Prose,
    /// What a room is called.
    Slug,
    /// A day.
    Day,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Texts, by names that a person chose.
    Free,
    /// A list.
    List(&'static Self),
    /// A mapping: its keys, whether it needs them, and what stands there.
    Map(&'static [(&'static str, bool, Self)]),
    /// One of several shapes.
    OneOf(&'static [Self]),
}

const LABEL: (&str, bool, Shape) = ("label", true, Shape::Line);

const ACTION: Shape = Shape::OneOf(&[
    Shape::Map(&[
        LABEL,
        ("type", true, Shape::Word(&["navigate"])),
        ("room", true, Shape::Slug),
        ("workspace", false, Shape::Line),
    ]),
    Shape::Map(&[
        LABEL,
        ("type", true, Shape::Word(&["query"])),
        ("tool", true, Shape::Line),
        ("tool_params", false, Shape::Free),
    ]),
    Shape::Map(&[LABEL, ("type", true, Shape::Word(&["text"])), ("content", false, Shape::Prose)]),
]);

const RELATION: Shape = Shape::Map(&[
    ("to", true, Shape::Line),
    ("type", true, Shape::Line),
    ("since", false, Shape::Day),
    ("until", false, Shape::Day),
    ("source", false, Shape::Line),
]);

const STEP: Shape = Shape::OneOf(&[
    Shape::Line,
    Shape::Map(&[("step", true, Shape::Line), ("note", true, Shape::Prose)]),
]);

/// The files that tools change, each with its shape.
const KINDS: &[(&str, Shape)] = &[
    (
        "rooms/a.yaml",
        Shape::Map(&[
            ("name", true, Shape::Line),
            ("description", false, Shape::Prose),
            ("actions", false, Shape::List(&ACTION)),
            ("portals", false, Shape::List(&Shape::Slug)),
        ]),
    ),
    (
        "entities/a/a.yaml",
        Shape::Map(&[
            ("name", true, Shape::Line),
            ("genus", true, Shape::Line),
            ("status", false, Shape::Line),
            ("attributes", false, Shape::Free),
            ("observations", false, Shape::List(&Shape::Prose)),
            ("relations", false, Shape::List(&RELATION)),
        ]),
    ),
    (
        "tasks/a.yaml",
        Shape::Map(&[
            ("title", true, Shape::Line),
            ("entity", false, Shape::Line),
            ("room", false, Shape::Slug),
            ("who", false, Shape::Line),
            ("status", false, Shape::Word(&["open", "done"])),
            ("note", false, Shape::Prose),
        ]),
    ),
    (
        "processes/a.yaml",
        Shape::Map(&[
            ("name", true, Shape::Line),
            ("entity", false, Shape::Line),
            ("room", false, Shape::Slug),
            ("steps", true, Shape::List(&STEP)),
            ("status", false, Shape::Word(&["running", "done"])),
        ]),
    ),
];

/// Something that stands in a file.
#[derive(Clone, Debug)]
enum Part {
    Text(String),
    List(Vec<Self>),
    Map(Vec<(String, Self)>),
    /// One of several shapes, and which.
    One(usize, Box<Self>),
}

/// Whoever decides: one mood after the other, and again from the first.
struct Chance {
    moods: Vec<u8>,
    at: usize,
    number: usize,
}

impl Chance {
    fn of(&mut self, choices: usize) -> usize {
        self.at += 1;
        let mood = self.moods[self.at % self.moods.len()];
        // The same mood means another thing each time it comes round.
        (usize::from(mood) + self.at / self.moods.len() * 7) % choices
    }

    fn one_in(&mut self, choices: usize) -> bool {
        self.of(choices) == 0
    }

    /// Makes something of a shape. What it says first ends in `number`, by which
    /// it is known however it is changed.
    fn make(&mut self, shape: &Shape, number: usize) -> Part {
        match shape {
            Shape::Prose if self.one_in(2) => {
                let lines = ["Moss.\n\nIvy, too. %", "One: # two\n  three\n%", "- a\n- b %"];
                Part::Text(lines[self.of(3)].replace('%', &number.to_string()))
            }
            Shape::Line | Shape::Prose => self.line(number),
            Shape::Slug => Part::Text(format!("{}-{number}", ["hall", "attic"][self.of(2)])),
            Shape::Day => Part::Text(["1972-01-01", "1859-11-24"][self.of(2)].to_owned()),
            Shape::Word(words) => Part::Text(words[self.of(words.len())].to_owned()),
            Shape::Free => {
                let pairs = (0..=self.of(3)).map(|_| (self.key(), self.fresh(&Shape::Line)));
                Part::Map(pairs.collect())
            }
            Shape::List(shape) => Part::List((0..=self.of(4)).map(|_| self.fresh(shape)).collect()),
            Shape::Map(fields) => {
                let mut pairs = Vec::new();
                for (key, needed, shape) in *fields {
                    if *needed || self.one_in(2) {
                        let number = if pairs.is_empty() { number } else { self.next() };
                        pairs.push(((*key).to_owned(), self.make(shape, number)));
                    }
                }
                Part::Map(pairs)
            }
            Shape::OneOf(shapes) => {
                let which = self.of(shapes.len());
                Part::One(which, Box::new(self.make(&shapes[which], number)))
            }
        }
    }

    fn fresh(&mut self, shape: &Shape) -> Part {
        let number = self.next();
        self.make(shape, number)
    }

    fn next(&mut self) -> usize {
        self.number += 1;
        self.number
    }

    fn key(&mut self) -> String {
        format!("key {}", self.next())
    }

    fn line(&mut self, number: usize) -> Part {
        const LINES: &[&str] =
            &["Look", "It's: so", "# no", "\"Quoted\"", "Größe 🏛", "- dash", "{params}", "no,"];
        Part::Text(format!("{} {number}", LINES[self.of(LINES.len())]))
    }

    /// Changes one thing somewhere in a part.
    fn change(&mut self, part: &mut Part, shape: &Shape) {
        match (part, shape) {
            (Part::Map(pairs), Shape::Map(fields)) => {
                let (key, needed, shape) = &fields[self.of(fields.len())];
                let place = pairs.iter().position(|it| it.0 == *key);
                match place {
                    None => pairs.push(((*key).to_owned(), self.fresh(shape))),
                    Some(place) if !needed && self.one_in(4) => drop(pairs.remove(place)),
                    Some(place) => self.change(&mut pairs[place].1, shape),
                }
            }
            (Part::Map(pairs), Shape::Free) => match self.of(3) {
                0 => pairs.push((self.key(), self.fresh(&Shape::Line))),
                1 if pairs.len() > 1 => drop(pairs.remove(self.of(pairs.len()))),
                _ => {
                    let place = self.of(pairs.len());
                    self.change(&mut pairs[place].1, &Shape::Line);
                }
            },
            (Part::List(items), Shape::List(shape)) => match self.of(3) {
                0 => items.insert(self.of(items.len() + 1), self.fresh(shape)),
                1 if items.len() > 1 => drop(items.remove(self.of(items.len()))),
                _ => {
                    let place = self.of(items.len());
                    self.change(&mut items[place], shape);
                }
            },
            (Part::One(which, part), Shape::OneOf(shapes)) if !self.one_in(3) => {
                self.change(part, &shapes[*which]);
            }
            (part, shape) => {
                let number = part.number();
                *part = self.make(shape, number.parse().unwrap_or_default());
            }
        }
    }
}

impl Part {
    /// What it is known by in a list: the number that the first thing it says ends in.
    fn number(&self) -> String {
        match self {
            Self::Text(it) => {
                it.rsplit(|it: char| !it.is_ascii_digit()).next().unwrap_or_default().to_owned()
            }
            Self::List(items) => items.first().map(Self::number).unwrap_or_default(),
            Self::Map(pairs) => pairs.first().map(|it| it.1.number()).unwrap_or_default(),
            Self::One(_, it) => it.number(),
        }
    }

    /// Gathers the paths to everything in it.
    fn paths(&self, path: &str, paths: &mut BTreeSet<String>) {
        paths.insert(path.to_owned());
        match self {
            Self::Text(_) => {}
            Self::List(items) => {
                for it in items {
                    it.paths(&format!("{path}/{}", it.number()), paths);
                }
            }
            Self::Map(pairs) => {
                for (key, it) in pairs {
                    it.paths(&format!("{path}/{key}"), paths);
                }
            }
            Self::One(_, it) => it.paths(path, paths),
        }
    }
}

/// A file as a person writes it.
struct Page<'a> {
    chance: &'a mut Chance,
    /// Whether nothing stands there but what must.
    is_plain: bool,
    text: String,
    /// The comments, each with the path of what it is about.
    comments: Vec<(String, String)>,
}

impl Page<'_> {
    fn write(&mut self, part: &Part) {
        self.above("", 0);
        self.part(part, "", 0);
        self.above("", 0);
    }

    /// Writes what follows a key or dash, from the blank on.
    fn value(&mut self, part: &Part, path: &str, indent: usize) {
        match part {
            Part::One(_, it) => self.value(it, path, indent),
            Part::Text(it) => self.scalar(it, path, indent),
            Part::List(items) if !self.is_plain && self.chance.one_in(3) && are_lines(items) => {
                let items: Vec<_> = items.iter().map(flow).collect();
                self.text.push_str(&format!(" [{}]", items.join(", ")));
                self.beside(path);
            }
            Part::Map(_) if !self.is_plain && self.chance.one_in(3) && is_line(part) => {
                self.text.push_str(&format!(" {}", flow(part)));
                self.beside(path);
            }
            Part::List(_) | Part::Map(_) => {
                self.beside(path);
                self.part(part, path, indent);
            }
        }
    }

    /// Writes lines.
    fn part(&mut self, part: &Part, path: &str, indent: usize) {
        match part {
            Part::Map(pairs) => {
                let mut pairs: Vec<_> = pairs.iter().collect();
                if !self.is_plain && !path.contains("attributes") && !path.contains("tool_params") {
                    let by = self.chance.of(pairs.len());
                    pairs.rotate_left(by);
                }
                for (key, it) in pairs {
                    let path = format!("{path}/{key}");
                    if !self.text.ends_with("- ") {
                        self.above(&path, indent);
                        self.text.push_str(&" ".repeat(indent));
                    }
                    self.text.push_str(&format!("{key}:"));
                    let deeper =
                        matches!(it, Part::Map(_)) || self.is_plain || self.chance.one_in(2);
                    self.value(it, &path, indent + if deeper { 2 } else { 0 });
                }
            }
            Part::List(items) => {
                for it in items {
                    let path = format!("{path}/{}", it.number());
                    self.above(&path, indent);
                    self.text.push_str(&format!("{}-", " ".repeat(indent)));
                    let inner = if let Part::One(_, inner) = it { inner } else { it };
                    match inner {
                        Part::Map(_) if self.is_plain || !self.chance.one_in(3) || !is_line(it) => {
                            self.text.push(' ');
                            self.part(inner, &path, indent + 2);
                        }
                        _ => self.value(inner, &path, indent + 2),
                    }
                }
            }
            Part::One(_, it) => self.part(it, path, indent),
            Part::Text(_) => unreachable!("a text stands behind something"),
        }
    }

    fn scalar(&mut self, it: &str, path: &str, indent: usize) {
        let is_safe = it.chars().all(|it| it.is_ascii_alphanumeric() || " -".contains(it));
        let is_safe = is_safe && !it.starts_with('-');
        match self.chance.of(3) {
            _ if self.is_plain => self.text.push_str(&format!(" {}", quoted(it))),
            0 if is_safe => self.text.push_str(&format!(" {it}")),
            1 if !it.contains('\n') => {
                self.text.push_str(&format!(" '{}'", it.replace('\'', "''")));
            }
            2 if !it.starts_with(' ') => {
                self.text.push_str(" |-");
                self.beside(path);
                for line in it.lines() {
                    let indent = if line.is_empty() { 0 } else { indent.max(2) + 1 };
                    self.text.push_str(&format!("{}{line}\n", " ".repeat(indent)));
                }
                return;
            }
            _ => self.text.push_str(&format!(" {}", quoted(it))),
        }
        self.beside(path);
    }

    /// Writes a comment of its own, and a blank line, or neither.
    fn above(&mut self, path: &str, indent: usize) {
        if self.is_plain {
            return;
        }
        if self.chance.one_in(4) {
            self.text.push('\n');
        }
        if self.chance.one_in(3) {
            let comment = self.comment(path);
            self.text.push_str(&format!("{}{comment}\n", " ".repeat(indent)));
        }
    }

    /// Ends a line, perhaps with a comment.
    fn beside(&mut self, path: &str) {
        if !self.is_plain && self.chance.one_in(3) {
            let comment = self.comment(path);
            self.text.push_str(&format!(" {comment}"));
        }
        self.text.push('\n');
    }

    fn comment(&mut self, path: &str) -> String {
        let comment = format!("# note {}.", self.comments.len());
        self.comments.push((comment.clone(), path.to_owned()));
        comment
    }
}

fn are_lines(items: &[Part]) -> bool {
    items.iter().all(is_line)
}

fn is_line(part: &Part) -> bool {
    match part {
        Part::Text(it) => !it.contains('\n'),
        Part::List(items) => are_lines(items),
        Part::Map(pairs) => pairs.iter().all(|it| is_line(&it.1)),
        Part::One(_, it) => is_line(it),
    }
}

fn flow(part: &Part) -> String {
    match part {
        Part::Text(it) => quoted(it),
        Part::List(items) => format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", ")),
        Part::Map(pairs) => {
            let pairs: Vec<_> =
                pairs.iter().map(|(key, it)| format!("{key}: {}", flow(it))).collect();
            format!("{{ {} }}", pairs.join(", "))
        }
        Part::One(_, it) => flow(it),
    }
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

fn read(path: &str, text: &str) -> Palace {
    format::parse_palace("test", &Files::from([(path.to_owned(), text.to_owned())])).0
}

/// Changes the text of a file as a tool would: from what one palace holds to what
/// the other does.
fn edited(path: &str, text: &str, was: &Palace, now: &Palace) -> Option<String> {
    let room: RoomId = "a".parse().unwrap();
    match path.split('/').next().unwrap() {
        "rooms" => format::edit_room_text(path, text, was.room(&room)?, now.room(&room)?),
        "entities" => format::edit_entity_text(
            path,
            text,
            was.graph.entity_in_file(path)?,
            now.graph.entity_in_file(path)?,
        ),
        "tasks" => format::edit_task_text(path, text, was.tasks.get(path)?, now.tasks.get(path)?),
        _ => format::edit_process_text(
            path,
            text,
            was.processes.get(path)?,
            now.processes.get(path)?,
        ),
    }
}

fn written(chance: &mut Chance, part: &Part, is_plain: bool) -> (String, Vec<(String, String)>) {
    let mut page = Page { chance, is_plain, text: String::new(), comments: Vec::new() };
    page.write(part);
    let Page { chance, text, comments, .. } = page;
    let text = match chance.of(6) {
        _ if is_plain => text,
        0 => text.replace('\n', "\r\n"),
        1 => text.trim_end().to_owned(),
        2 => format!("\u{feff}{text}"),
        _ => text,
    };
    (text, comments)
}

fn paths(part: &Part) -> BTreeSet<String> {
    let mut paths = BTreeSet::new();
    part.paths("", &mut paths);
    paths
}

/// Tells whether a comment on a line of its own stands above what it is about, and not
/// above something else in the same list or mapping.
fn is_about(text: &str, comment: &str, about: &str, alive: &BTreeSet<String>) -> bool {
    let (before, after) = text.split_once(comment).unwrap();
    let is_alone = before.rsplit('\n').next().is_some_and(|it| it.trim().is_empty());
    let Some((parent, own)) = about.rsplit_once('/').filter(|_| is_alone) else { return true };
    let siblings = alive.iter().filter_map(|it| it.rsplit_once('/')).filter(|it| it.0 == parent);
    let first = siblings.filter_map(|(_, it)| Some((place(after, it)?, it))).min();
    first.is_some_and(|(_, it)| it == own)
}

/// Finds a key, or the number of an item.
fn place(text: &str, name: &str) -> Option<usize> {
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
    fn an_edit_does_what_it_shall_and_leaves_every_comment(
        kind in 0..KINDS.len(),
        moods in vec(any::<u8>(), 40..400),
        edits in 1..8_usize,
    ) {
        let (path, shape) = &KINDS[kind];
        let mut chance = Chance { moods, at: 0, number: 0 };
        let mut part = chance.fresh(shape);
        let (mut text, mut comments) = written(&mut chance, &part, false);
        let first = text.clone();
        let mut was = read(path, &text);
        prop_assert_eq!(&was, &read(path, &written(&mut chance, &part, true).0), "{}", text);
        for _ in 0..edits {
            chance.change(&mut part, shape);
            let now = read(path, &written(&mut chance, &part, true).0);
            let anew = edited(path, &text, &was, &now);
            prop_assert!(anew.is_some(), "refused: {:?}\n{}", part, text);
            let anew = anew.unwrap();
            prop_assert_eq!(&read(path, &anew), &now, "{}\n-- became --\n{}", text, anew);
            let alive = paths(&part);
            comments.retain(|(_, about)| alive.contains(about));
            for (comment, about) in &comments {
                let why = || format!("{comment} {about}\n{first}\n-- then --\n{text}\n-- became --\n{anew}");
                prop_assert!(anew.contains(comment), "lost: {}", why());
                prop_assert!(is_about(&anew, comment, about, &alive), "astray: {}", why());
            }
            (text, was) = (anew, now);
        }
    }
}
