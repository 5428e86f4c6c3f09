//! Random steps: calls of every tool by its schema, commands, and edits by hand. Few names, so that
//! they collide often, including the nastiest.

use std::path::Path;
use std::process::Command;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

use crate::server::Server;
use crate::wanted::WantedDifference;

/// The tool sets, each served by a process of its own.
const SETS: [&str; 4] = ["palace,graph", "sync", "memory", "mempalace"];
/// How deep random arguments without a schema are nested.
const MAX_DEPTH: u32 = 3;

/// Stands for the palace of the session.
pub(crate) const PALACE: &str = "PALACE";

const WORKSPACES: &[&str] = &[PALACE, PALACE, PALACE, "two", "three", "../x"];
const SLUGS: &[&str] =
    &["hall", "hall", "hall", "crypt", "crypt", "attic", "east/hall", "entry", "No Slug", ".."];
const WINGS: &[&str] = &["east", "west", "code", "", "No Wing"];
const NAMES: &[&str] =
    &["Alice", "Alice", "Alice", "Bob", "Bob", "alice", "日本", "a/b", "../x", "", "two\nlines"];
const TYPES: &[&str] =
    &["person", "person", "Person", "knows", "knows", "works_on", "", "con", "genus: x"];
const QUERIES: &[&str] = &[
    "tea",
    "stone hall",
    "\"likes tea\"",
    "kind:scroll tea",
    "wing:east",
    "",
    "日本",
    "no such thing",
];
const TITLES: &[&str] = &["On stasis", "Plan", "Plan", "Plan", "A: b", ""];
const DATES: &[&str] =
    &["2026-11-30", "3 weeks", "HEAD~1", "1972", "2026-12-01T12:30:00Z", "never"];
const TOOLS: &[&str] =
    &["list_entities", "get_entity", "search_entities", "delete_entities", "no_tool"];
const TEMPLATES: &[&str] = &["codebase", "paradigm-survey", "no-template"];
const TEXTS: &[&str] = &[
    "Alice likes tea.",
    "A stone hall. [[Alice]] was here.",
    "two\nlines\n",
    "  indented\ntext",
    "# not a heading",
    "Actions:\n  1. Do it",
    "no",
    "",
    "🦀 日本 Straße",
    "\u{1b}[31mred\u{7}",
    "{params}",
];
/// Palaces of earlier versions, and the palace of each.
const OLD_PALACES: &[(&str, &str)] = &[
    ("tests/old-palaces/2026-11-26/home.stream", "lighthouse"),
    ("tests/old-palaces/2026-11-26/conflicts.stream", "keep"),
    ("tests/old-palaces/2026-11-26/twins.stream", "names"),
    ("tests/old-palaces/2026-11-26/pair-ada.stream", "shared"),
];

const THINGS: &[&str] =
    &["hall", "crypt", "east/", "Alice", "On stasis", "Plan", "palace.toml", "no such thing"];

/// Commands without an argument that names something.
const COMMANDS: &[&[&str]] = &[
    &["init", PALACE],
    &["init", "two", "--template", "codebase"],
    &["templates"],
    &["check"],
    &["check", "--format", "json"],
    &["check", "--fix"],
    &["fmt"],
    &["fmt", "--check"],
    &["map"],
    &["map", "--workspace", PALACE],
    &["log"],
    &["log", "--format", "json"],
    &["diff"],
    &["diff", "HEAD~2.."],
    &["diff", "HEAD~1..", "--format", "json"],
    &["diff", "HEAD~1..", "--text"],
    &["undo"],
    &["undo", "--dry-run"],
    &["conflicts"],
    &["proposals"],
    &["sync", "--status"],
    &["schema", "room"],
    &["wake-up"],
    &["export", "memory", "--workspace", PALACE],
    &["view", "--out", "page.html", "--workspace", PALACE],
    &["check", "--explain", "unknown-key"],
    &["trust"],
];

/// Where a session begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    /// The palaces in the home, as a stream of `git fast-export`; without it the home is new.
    pub(crate) stream: Option<&'static str>,
    /// The palace of the session.
    pub(crate) palace: &'static str,
}

/// A step of a session.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// A call of a tool.
    Call { set: &'static str, tool: String, arguments: Value },
    /// A command, with what it reads from standard input.
    Command { arguments: Vec<&'static str>, input: &'static str },
    /// An edit of the file with a number, counted round and round.
    Edit { file: usize, edit: Edit },
    /// A commit of all edits by hand.
    CommitByHand,
    /// The end of all servers.
    Restart,
}

/// An edit of a file by a person.
#[derive(Clone, Debug)]
pub(crate) enum Edit {
    Append(&'static str),
    Replace(&'static str, &'static str),
    Delete,
}

/// The tools of a program, by set, and the texts of its help.
#[derive(Clone)]
pub(crate) struct Tools {
    tools: Vec<(&'static str, Value)>,
    manual: String,
}

impl Tools {
    /// Asks a program for its tools and its manual.
    pub(crate) fn list(program: &Path) -> Self {
        let home = tempfile::tempdir().unwrap();
        let mut tools = Vec::new();
        for set in SETS {
            let mut command = Command::new(program);
            command.arg("serve").arg(home.path()).args(["--tools", set]);
            let answer = Server::start(command).request("tools/list", &json!({}));
            let listed = answer["result"]["tools"].as_array().unwrap().iter();
            tools.extend(listed.map(|it| (set, it.clone())));
        }
        let output =
            Command::new(program).arg("man").arg(home.path().join("man")).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let mut pages: Vec<_> = std::fs::read_dir(home.path().join("man")).unwrap().collect();
        pages.sort_by_key(|it| it.as_ref().unwrap().file_name());
        let pages =
            pages.into_iter().map(|it| std::fs::read_to_string(it.unwrap().path()).unwrap());
        Self { tools, manual: pages.collect() }
    }

    /// Returns all of it as text, with the differences that are wanted.
    pub(crate) fn listing(&self, wanted: &[WantedDifference]) -> String {
        let tools = self.tools.iter().map(|(_, it)| serde_json::to_string_pretty(it).unwrap());
        let text = format!("{}\n{}", tools.collect::<Vec<_>>().join("\n"), self.manual);
        wanted.iter().fold(text, |text, it| it.translate(&text))
    }
}

/// Generates the beginning of a session.
pub(crate) fn start() -> impl Strategy<Value = Start> {
    let old = |(stream, palace)| Start { stream: Some(stream), palace };
    prop_oneof![
        2 => Just(Start { stream: None, palace: "one" }),
        1 => select(OLD_PALACES).prop_map(old),
    ]
}

/// Generates a step.
pub(crate) fn step(tools: &Tools) -> impl Strategy<Value = Step> + use<> {
    prop_oneof![
        40 => call(tools),
        10 => common_call(),
        8 => command(),
        3 => edit(),
        2 => Just(Step::CommitByHand),
        1 => Just(Step::Restart),
    ]
}

/// Generates a call of any tool, with arguments that its schema allows.
fn call(tools: &Tools) -> impl Strategy<Value = Step> + use<> {
    let calls = tools.tools.iter().map(|(set, tool)| {
        let (set, name) = (*set, tool["name"].as_str().unwrap().to_owned());
        let schema = &tool["inputSchema"];
        let arguments = value("", schema, schema);
        arguments.prop_map(move |it| Step::Call { set, tool: name.clone(), arguments: it }).boxed()
    });
    proptest::strategy::Union::new(calls)
}

/// Generates the calls without which a session stays empty.
fn common_call() -> impl Strategy<Value = Step> {
    let call = |tool: &str, arguments: Value| Step::Call {
        set: SETS[0],
        tool: tool.to_owned(),
        arguments,
    };
    prop_oneof![
        2 => Just(call("set_workspace", json!({ "workspace": PALACE, "create": true }))),
        2 => (select(SLUGS), select(NAMES), select(TEXTS)).prop_map(move |(slug, name, text)| {
            let action = json!({ "label": "Read it", "type": "text", "content": text });
            let query = json!({ "label": "Count them", "type": "query", "tool": "list_entities" });
            let room = json!({ "slug": slug, "name": name, "description": text,
                "actions": [action, query], "portals": ["hall"] });
            call("build_room", room)
        }),
        4 => (0..62_i64).prop_map(move |it| call("palace_action", json!({ "action": it }))),
        1 => (select(TITLES), select(TEXTS)).prop_map(move |(title, body)| {
            call("write_scroll", json!({ "title": title, "body": body }))
        }),
        1 => (select(NAMES), select(TYPES), select(TEXTS)).prop_map(move |(name, genus, text)| {
            let entity = json!({ "name": name, "genus": genus, "observations": [text] });
            call("create_entities", json!({ "entities": [entity] }))
        }),
    ]
}

/// Generates a value that a schema allows; now and then one that it does not allow.
fn value(name: &str, schema: &Value, root: &Value) -> BoxedStrategy<Value> {
    if let Some(path) = schema["$ref"].as_str() {
        let target = root.pointer(path.trim_start_matches('#')).unwrap_or(&Value::Null);
        return value(name, target, root);
    }
    if let Some(values) = schema["enum"].as_array() {
        return select(values.clone()).boxed();
    }
    if let Some(value) = schema.get("const") {
        return Just(value.clone()).boxed();
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(schemas) = schema[key].as_array() {
            let each = schemas.iter().map(|it| value(name, it, root)).collect::<Vec<_>>();
            return proptest::strategy::Union::new(each).boxed();
        }
    }
    let types = match &schema["type"] {
        Value::Array(types) => types.clone(),
        kind => vec![kind.clone()],
    };
    match types[0].as_str().unwrap_or_default() {
        "string" => text(name).prop_map(Value::from).boxed(),
        "integer" | "number" => (0..62_i64).prop_map(Value::from).boxed(),
        "boolean" => any::<bool>().prop_map(Value::from).boxed(),
        "array" => vec(value(name, &schema["items"], root), 0..4).prop_map(Value::from).boxed(),
        "object" => object(schema, root),
        _ => any_value(),
    }
}

/// Generates an object: nearly always with the required properties, sometimes with others.
fn object(schema: &Value, root: &Value) -> BoxedStrategy<Value> {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let mut properties = Just(Map::new()).boxed();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let weight = if required.contains(&Value::from(name.as_str())) { 0.97 } else { 0.25 };
        let value = proptest::option::weighted(weight, value(name, property, root));
        let name = name.clone();
        properties = (properties, value)
            .prop_map(move |(mut properties, value)| {
                properties.extend(value.map(|it| (name.clone(), it)));
                properties
            })
            .boxed();
    }
    let others = match &schema["additionalProperties"] {
        Value::Bool(false) | Value::Null => Just(Vec::new()).boxed(),
        other => vec((select(NAMES), value("", other, root)), 0..3).boxed(),
    };
    let all = (properties, others).prop_map(|(mut properties, others)| {
        properties.extend(others.into_iter().map(|(name, it)| (name.to_owned(), it)));
        Value::from(properties)
    });
    all.boxed()
}

fn any_value() -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        select(TEXTS).prop_map(Value::from),
        (0..5_i64).prop_map(Value::from)
    ];
    leaf.prop_recursive(MAX_DEPTH, 8, 3, |it| vec(it, 0..3).prop_map(Value::from)).boxed()
}

/// Generates a text for the property with a name.
fn text(name: &str) -> BoxedStrategy<&'static str> {
    let pool = match name {
        "workspace" => WORKSPACES,
        "slug" | "room" | "portals" | "scrolls_to" | "rename" | "start_room" => SLUGS,
        "wing" | "wing_a" | "wing_b" => WINGS,
        "name" | "names" | "entity" | "entityName" | "entityNames" | "from" | "to" | "subject"
        | "object" | "agent_name" => NAMES,
        "genus" | "type" | "entityType" | "relationType" | "predicate" | "status" | "topic" => {
            TYPES
        }
        "query" | "params" => QUERIES,
        "title" | "task" | "process" => TITLES,
        "as_of" | "since" | "until" | "valid_from" | "ended" | "date" => DATES,
        "tool" => TOOLS,
        "template" => TEMPLATES,
        _ => TEXTS,
    };
    prop_oneof![30 => select(pool), 1 => select(TEXTS)].boxed()
}

fn edit() -> impl Strategy<Value = Step> {
    let edit = select(vec![
        Edit::Append("# a comment\n"),
        Edit::Append("no key\n"),
        Edit::Append("portals: [attic]\n"),
        Edit::Append("A line by hand.\n"),
        Edit::Replace("Alice", "Alicia"),
        Edit::Replace("hall", "lobby"),
        Edit::Replace("\n", "\r\n"),
        Edit::Replace(":", ": "),
        Edit::Delete,
    ]);
    (any::<usize>(), edit).prop_map(|(file, edit)| Step::Edit { file, edit })
}

fn command() -> impl Strategy<Value = Step> {
    let fixed = select(COMMANDS).prop_map(<[&str]>::to_vec);
    let about = (
        select(&["show", "blame", "log", "rm", "restore", "mv", "locate", "search"][..]),
        select(THINGS),
        select(SLUGS),
        select(DATES),
    );
    let about = about.prop_map(|(command, thing, target, moment)| {
        let mut arguments = vec![command, thing, "--workspace", PALACE];
        match command {
            "mv" => arguments.insert(2, target),
            "restore" => arguments.extend(["--to", moment]),
            "show" => arguments.extend(["--at", moment]),
            _ => {}
        }
        arguments
    });
    let walk =
        select(&["1\n2\n0\nq\n", "go hall\nscroll Plan\nTea.\n.\nq\n", "17 tea\n31\nq\n"][..])
            .prop_map(|input| Step::Command {
                arguments: vec!["walk", "--workspace", PALACE],
                input,
            });
    let command = prop_oneof![2 => fixed, 1 => about];
    prop_oneof![
        8 => command.prop_map(|arguments| Step::Command { arguments, input: "" }),
        1 => walk,
    ]
}
