//! Hand-written files: read correctly, changed only where requested, and reported with
//! the place of each fault.

use std::fs;
use std::path::Path;

use chrono::DateTime;
use palazzo_core::format;
use palazzo_core::model::{
    Action, ActionKind, Code, Diagnostic, Drawer, Entity, Files, FrontMatterWingRoom, Grouping,
    NavigationTarget, Palace, Process, ProcessStep, Relation, Room, Task, TimeZone, WorkStatus,
    WorkSubject, normalize_prose,
};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Reads all files below a directory.
fn read_files_below(root: &Path) -> Files {
    let mut files = Files::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let inside = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            files.insert(inside, fs::read_to_string(&path).unwrap());
        }
    }
    files
}

#[test]
fn the_example_palaces_have_no_findings_and_are_written_back_unchanged() {
    let mut seen = 0;
    for example in fs::read_dir("example-palaces").unwrap() {
        let files = read_files_below(&example.unwrap().path());
        let (palace, findings) = format::parse_palace("example", &files);
        assert_eq!(findings, []);
        for (path, text) in &files {
            let written = match format::PalacePath::parse(path).unwrap() {
                format::PalacePath::Room(id) => format::serialize_room(palace.room(&id).unwrap()),
                format::PalacePath::Entity => {
                    format::serialize_entity(palace.graph.entity_in_file(path).unwrap())
                }
                format::PalacePath::Scroll(_) => {
                    let which = palace.scroll_in_file(path).unwrap();
                    format::serialize_scroll(palace.scroll(which).unwrap())
                }
                format::PalacePath::Drawer(_) => {
                    format::serialize_drawer(palace.drawers.drawer_in_file(path).unwrap())
                }
                format::PalacePath::Diary(_) => {
                    format::serialize_diary_entry(palace.diaries.entry_in_file(path).unwrap())
                }
                format::PalacePath::Genus => {
                    format::serialize_genus(palace.graph.genus_definition_in_file(path).unwrap())
                }
                format::PalacePath::Task => format::serialize_task(&palace.tasks[path]),
                format::PalacePath::Process => format::serialize_process(&palace.processes[path]),
                format::PalacePath::Settings => {
                    format::edit_settings_name_and_entry(text, &palace.settings).unwrap()
                }
                format::PalacePath::Conflict => format::serialize_conflict(&palace.conflicts[path]),
                format::PalacePath::Other => panic!("{path} is no file of a palace"),
            };
            assert_eq!(&written, text, "{path}");
            seen += 1;
        }
    }
    assert!(seen > 70, "only {seen} files");
}

/// Texts that YAML readers are known to misinterpret.
const TRICKY_TEXTS: &[&str] = &[
    "",
    " ",
    "no",
    "yes",
    "on",
    "~",
    "null",
    "true",
    "007",
    "1e3",
    "0x1F",
    "1972-01-01",
    "12:30:45",
    "a: b",
    "a #b",
    "# no comment",
    "- item",
    "[a",
    "{a",
    "a]",
    "a}",
    "*alias",
    "&anchor",
    "!tag",
    "|",
    ">",
    "%dir",
    "@at",
    "`tick`",
    "'single'",
    "\"double\"",
    "back\\slash",
    "tab\there",
    "trailing ",
    " leading",
    "a,b",
    "?",
    ":",
    "---",
    "...",
    "<<",
    "=",
    "é",
    "日本",
    "🏛",
    "\u{feff}x",
    "a\u{2028}b",
    "a\u{85}b",
    "bell\u{7}",
    "nul\u{0}",
    "cr\rlf",
    "two\nlines",
    "\nleading break",
    "  indented\nfirst",
    "trailing\n",
    "many\n\n\n",
    "a\n  b\n c\n",
    "a\n   \nb",
    "\t\ntab",
    "{params}",
];

pub(crate) fn text() -> impl Strategy<Value = String> {
    let nasty = proptest::sample::select(TRICKY_TEXTS).prop_map(str::to_owned);
    prop_oneof![3 => nasty, 2 => "[a-zA-Z ,.:#'\"-]{0,40}", 1 => any::<String>()]
}

pub(crate) fn non_blank_text() -> impl Strategy<Value = String> {
    text().prop_filter("blank", |it| !it.trim().is_empty())
}

fn slug() -> impl Strategy<Value = String> {
    "[a-z0-9][a-z0-9_-]{0,12}"
        .prop_filter("reserved", |it| it.parse::<palazzo_core::model::Slug>().is_ok())
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        text().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        (-1e6..1e6).prop_map(|it: f64| json!(it)),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Value::from),
            vec((text(), inner), 0..3).prop_map(|it| Value::Object(it.into_iter().collect())),
        ]
    })
}

fn value_map() -> impl Strategy<Value = Map<String, Value>> {
    vec((text(), value()), 0..3).prop_map(|it| it.into_iter().collect())
}

fn action() -> impl Strategy<Value = Action> {
    let room = slug().prop_map(|it| it.parse().unwrap());
    let deed = prop_oneof![
        (room, proptest::option::of(non_blank_text())).prop_map(|(room, workspace)| {
            ActionKind::Navigate(NavigationTarget { room, workspace })
        }),
        (non_blank_text(), value_map())
            .prop_map(|(tool, params)| ActionKind::Query { tool, params }),
        non_blank_text().prop_map(|entity| ActionKind::ShowEntity { entity }),
        text().prop_map(|it| ActionKind::Text { content: normalize_prose(&it) }),
    ];
    (non_blank_text(), deed).prop_map(|(label, deed)| Action { label, kind: deed })
}

fn arrangement() -> impl Strategy<Value = Grouping> {
    let by = prop_oneof![Just("status".to_owned()), Just("name".to_owned()), non_blank_text()];
    let genus =
        (text(), by).prop_map(|(genus, by)| Grouping::Genus { genus, by: by.as_str().into() });
    prop_oneof![3 => genus, 1 => Just(Grouping::Everything)]
}

pub(crate) fn room() -> impl Strategy<Value = Room> {
    let portals = vec(slug().prop_map(|it| it.parse().unwrap()), 0..4);
    let generate = proptest::option::of(arrangement());
    (non_blank_text(), text(), vec(action(), 0..5), portals, generate).prop_map(
        |(name, it, actions, portals, generate)| Room {
            id: Some(ulid::Ulid::from_parts(1, 2)),
            name,
            description: normalize_prose(&it),
            actions,
            portals,
            generate,
        },
    )
}

pub(crate) fn entity() -> impl Strategy<Value = Entity> {
    let date = prop_oneof!["-?[0-9]{1,4}(-[0-9]{2})?", text()];
    let optional = || proptest::option::of(text());
    let relation = (text(), text(), proptest::option::of(date), optional(), optional())
        .prop_map(|(kind, to, since, until, source)| Relation { kind, to, since, until, source });
    let relations = vec(relation, 0..3);
    let former_names = vec(text(), 0..3);
    let lists = (vec(text(), 0..4), relations, former_names);
    (text(), text(), optional(), value_map(), lists).prop_map(
        |(name, genus, status, attributes, (observations, relations, former_names))| Entity {
            id: None,
            name,
            is_defined: true,
            genus,
            status,
            attributes,
            observations,
            relations,
            former_names,
        },
    )
}

fn drawer() -> impl Strategy<Value = Drawer> {
    let name = || proptest::option::of("[^\\s\\p{C}]{1,9}( [^\\s\\p{C}]{1,9}){0,2}");
    let verbatim = || prop_oneof![text(), "(---|[a-z: ]{0,9}|\r?\n){0,20}"];
    let optional = || proptest::option::of(text());
    let filed = (0..4_000_000_000_i64).prop_map(|it| DateTime::from_timestamp(it, 0));
    (name(), name(), optional(), optional(), optional(), filed, verbatim()).prop_map(
        |(wing, room, title, source, by, filed, text)| {
            let said = FrontMatterWingRoom { wing, room };
            let (id, labels) = (ulid::Ulid::from_parts(1, 2), Vec::new());
            Drawer { id, filed_under: said, title, labels, source, by, filed, text }
        },
    )
}

fn about() -> impl Strategy<Value = WorkSubject> {
    let room = proptest::option::of(slug().prop_map(|it| it.parse().unwrap()));
    (proptest::option::of(text()), room).prop_map(|(entity, room)| WorkSubject { entity, room })
}

fn state() -> impl Strategy<Value = WorkStatus> {
    let at = (0..4_000_000_000_i64).prop_map(|it| DateTime::from_timestamp(it, 0));
    prop_oneof![Just(WorkStatus::Open), Just(WorkStatus::Done(None)), at.prop_map(WorkStatus::Done)]
}

fn note() -> impl Strategy<Value = Option<String>> {
    proptest::option::of(text().prop_map(|it| normalize_prose(&it)))
        .prop_map(|it| it.filter(|it| !it.is_empty()))
}

pub(crate) fn task() -> impl Strategy<Value = Task> {
    (non_blank_text(), about(), proptest::option::of(text()), state(), note()).prop_map(
        |(title, about, who, state, note)| Task {
            title,
            subject: about,
            who,
            status: state,
            note,
            ..Task::default()
        },
    )
}

pub(crate) fn process() -> impl Strategy<Value = Process> {
    let stage = (non_blank_text(), note()).prop_map(|(text, note)| ProcessStep { text, note });
    (non_blank_text(), about(), vec(stage, 1..5), 0..5_usize, state()).prop_map(
        |(name, about, stages, step, state)| {
            let step = step % stages.len() + 1;
            Process {
                name,
                subject: about,
                steps: stages,
                step_number: step,
                status: state,
                started: None,
            }
        },
    )
}

/// Parses a palace, and leaves out findings about invisible characters: random texts contain some.
pub(crate) fn parse_any_characters(files: &Files) -> (Palace, Vec<Diagnostic>) {
    let (palace, mut findings) = format::parse_palace("test", files);
    findings.retain(|it| it.code != Code::InvisibleCharacter);
    (palace, findings)
}

/// Reads the only task and the only process.
pub(crate) fn read_task_and_process(path: &str, text: &str) -> (Option<Task>, Option<Process>) {
    let (palace, findings) =
        parse_any_characters(&Files::from([(path.to_owned(), text.to_owned())]));
    assert_eq!(findings, [], "{text}");
    (palace.tasks.into_values().next(), palace.processes.into_values().next())
}

pub(crate) fn read_room(text: &str) -> (Option<Room>, usize) {
    let files = Files::from([("rooms/hall.yaml".to_owned(), text.to_owned())]);
    let (palace, findings) = parse_any_characters(&files);
    (palace.room(&"hall".parse().unwrap()).cloned(), findings.len())
}

pub(crate) fn read_entity(text: &str) -> Option<Entity> {
    let files = Files::from([("entities/a/a.yaml".to_owned(), text.to_owned())]);
    let (palace, findings) = parse_any_characters(&files);
    // Dates may be any texts, and invalid ones are reported.
    let of_dates = |it: &&Diagnostic| matches!(it.code, Code::NoDate | Code::EmptyPeriod);
    let findings: Vec<_> = findings.iter().filter(|it| !of_dates(it)).collect();
    assert!(findings.is_empty(), "{findings:?}\n{text}");
    palace.graph.entity_in_file("entities/a/a.yaml").cloned()
}

const GENUS: &str = "\
name: Claim
plural: Claims
description: Something that somebody holds to be true.
sentence: the claim \"{name}\"
attributes:
  proposed: date
  proposed_by: link to Person
  confidence:
    type:
      - low
      - medium
      - high
    required: true
  weight: number
  public: yes/no
  motto: text
  see also: link
statuses:
  proposed:
    - contested
    - settled
  contested:
    - settled
    - overturned
  settled:
    - contested
  overturned: []
  withdrawn:
relations:
  disputed_by:
  held_by: single
";
const GENUS_BY_HAND: &str = "\
# What we argue about.
name: Claim
statuses: [open, settled]
relations:
  held_by: { single: true }
  owned_by: { single: false }
attributes:
  confidence: { type: [low, high] }
";
const GENUS_REWRITTEN: &str = "\
name: Claim
attributes:
  confidence:
    - low
    - high
statuses:
  - open
  - settled
relations:
  held_by: single
  owned_by:
";

#[test]
fn a_genus_is_read_and_written_back_in_canonical_form() {
    for (text, written) in [(GENUS, GENUS), (GENUS_BY_HAND, GENUS_REWRITTEN)] {
        let files = Files::from([("genera/claim.yaml".to_owned(), text.to_owned())]);
        let (palace, findings) = format::parse_palace("test", &files);
        assert_eq!(findings, []);
        assert_eq!(
            format::serialize_genus(palace.graph.genus_definition("Claim").unwrap()),
            written
        );
    }
}

/// Makes a canonical file look hand-written: other comments, blank lines, a key moved;
/// every inserted mark can be found again.
fn add_hand_written_comments(text: &str) -> (String, Vec<String>) {
    let (mut lines, mut marks) = (Vec::new(), Vec::new());
    let mut mark = |lines: &mut Vec<String>| {
        let comment = format!("# kept {}", marks.len());
        marks.push(comment.clone());
        lines.push(comment);
    };
    mark(&mut lines);
    for line in text.lines() {
        if ["name:", "actions:", "generate:", "portals:"].iter().any(|it| line.starts_with(it)) {
            lines.push(String::new());
            mark(&mut lines);
        }
        lines.push(line.to_owned());
    }
    (lines.join("\n") + "\n", marks)
}

/// Writes an entity with one attribute per line, each with a comment.
fn with_commented_attributes(entity: &Entity) -> String {
    let bare = Entity { attributes: Map::new(), ..entity.clone() };
    let mut text = format::serialize_entity(&bare);
    for (place, (key, value)) in entity.attributes.iter().enumerate() {
        if place == 0 {
            text.push_str("attributes:\n");
        }
        text.push_str(&format!("  # kept\n  {}: {value} # kept\n", Value::from(key.as_str())));
    }
    text
}

/// The editor cannot remove the last key behind a text that ends with blank lines.
#[test]
fn a_room_that_cannot_be_edited_in_place_is_rewritten_with_its_comments() {
    let id = "00000000010000000000000002";
    let text =
        format!("# kept 0\nid: {id}\n\n# kept 1\nname: |+\n  many\n\n\n\n# kept 2\nportals: [a]\n");
    let was = read_room(&text).0.unwrap();
    let now = Room { portals: Vec::new(), ..was.clone() };
    let edited = format::edit_room_text("rooms/hall.yaml", &text, &was, &now).unwrap();
    assert_eq!(read_room(&edited), (Some(now), 0), "{edited}");
    assert!(edited.contains("# kept 0") && edited.contains("# kept 1"), "{edited}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn any_room_is_read_back_as_it_was_written(room in room()) {
        let text = format::serialize_room(&room);
        prop_assert_eq!(read_room(&text), (Some(room), 0), "{}", text);
    }

    #[test]
    fn any_entity_is_read_back_as_it_was_written(entity in entity()) {
        let text = format::serialize_entity(&entity);
        prop_assert_eq!(read_entity(&text), Some(entity), "{}", text);
    }

    #[test]
    fn any_drawer_is_read_back_as_it_was_written(drawer in drawer()) {
        let text = format::serialize_drawer(&drawer);
        let path = format!("drawers/a/b/{}.md", drawer.id);
        let (palace, findings) = parse_any_characters(&Files::from([(path.clone(), text.clone())]));
        prop_assert_eq!((palace.drawers.drawer_in_file(&path), findings), (Some(&drawer), vec![]), "{}", text);
    }

    #[test]
    fn editing_a_hand_written_room_keeps_its_comments(was in room(), now in room()) {
        let (text, marks) = add_hand_written_comments(&format::serialize_room(&was));
        let mut now = now;
        now.id = was.id;
        let edited = format::edit_room_text("rooms/hall.yaml", &text, &was, &now);
        let edited = edited.ok_or_else(|| TestCaseError::fail(format!("refused:\n{text}")))?;
        prop_assert_eq!(read_room(&edited), (Some(now.clone()), 0), "{}", edited);
        // The comment above a removed key may be removed too.
        let gone = usize::from(!was.actions.is_empty() && now.actions.is_empty())
            + usize::from(was.generate.is_some() && now.generate.is_none())
            + usize::from(!was.portals.is_empty() && now.portals.is_empty());
        let kept = marks.iter().filter(|it| edited.contains(it.as_str())).count();
        prop_assert!(kept + gone >= marks.len(), "{}\n-- became --\n{}", text, edited);
    }

    #[test]
    fn editing_a_hand_written_entity_keeps_its_comments(was in entity(), now in entity()) {
        let was = Entity { name: now.name.clone(), ..was };
        for text in [add_hand_written_comments(&format::serialize_entity(&was)).0, with_commented_attributes(&was)] {
            prop_assert_eq!(read_entity(&text), Some(was.clone()), "{}", text);
            let edited = format::edit_entity_text("entities/a/a.yaml", &text, &was, &now);
            let edited = edited.ok_or_else(|| TestCaseError::fail(format!("refused:\n{text}")))?;
            prop_assert_eq!(read_entity(&edited), Some(now.clone()), "{}", edited);
            let marks = |it: &str| it.matches("# kept\n").count();
            let stay = was.attributes.keys().filter(|it| now.attributes.contains_key(*it)).count();
            prop_assert!(marks(&edited) >= (2 * stay).min(marks(&text)), "{}", edited);
        }
    }

    #[test]
    fn any_task_is_read_back_as_written_and_as_edited(was in task(), now in task()) {
        let path = "tasks/a.yaml";
        let text = format::new_task_text(path, &was).unwrap();
        prop_assert_eq!(read_task_and_process(path, &text).0, Some(was.clone()), "{}", text);
        let text = add_hand_written_comments(&text).0;
        let edited = format::edit_task_text(path, &text, &was, &now, &TimeZone::UTC);
        let edited = edited.ok_or_else(|| TestCaseError::fail(format!("refused:\n{text}")))?;
        prop_assert_eq!(read_task_and_process(path, &edited).0, Some(now), "{}", edited);
    }

    #[test]
    fn any_process_is_read_back_as_written_and_as_edited(
        was in process(),
        now in process(),
    ) {
        let path = "processes/a.yaml";
        let text = format::new_process_text(path, &was).unwrap();
        prop_assert_eq!(read_task_and_process(path, &text).1, Some(was.clone()), "{}", text);
        let text = add_hand_written_comments(&text).0;
        let edited = format::edit_process_text(path, &text, &was, &now, &TimeZone::UTC);
        let edited = edited.ok_or_else(|| TestCaseError::fail(format!("refused:\n{text}")))?;
        prop_assert_eq!(read_task_and_process(path, &edited).1, Some(now), "{}", edited);
    }

    #[test]
    fn no_text_makes_a_reader_panic(text in any::<String>()) {
        for path in [
            "rooms/a.yaml",
            "entities/a/a.yaml",
            "scrolls/a/a.md",
            "drawers/a/b/a.md",
            "diary/a/a.md",
            "palace.toml",
        ] {
            format::parse_palace("test", &Files::from([(path.to_owned(), text.clone())]));
        }
    }
}

#[test]
fn a_comment_after_a_multi_line_text_survives_its_replacement() {
    const HALL: &str = "rooms/hall.yaml";
    let text = "name: Hall\ndescription:\n  Stone,\n  and moss. # seen in May\nactions:\n\
                - label: Look\n  type: text\n  content: A long\n    wall. # north\n";
    let (palace, findings) =
        format::parse_palace("test", &Files::from([(HALL.into(), text.into())]));
    assert_eq!(findings, []);
    let (_, was) = palace.rooms().next().unwrap();
    let mut now = was.clone();
    now.description = "Dust.".to_owned();
    now.actions[0].kind = ActionKind::Text { content: "A low wall.".to_owned() };
    insta::assert_snapshot!(format::edit_room_text(HALL, text, was, &now).unwrap(), @r"
    name: Hall
    description:
      Dust. # seen in May
    actions:
    - label: Look
      type: text
      content: A low
        wall. # north
    ");
}
