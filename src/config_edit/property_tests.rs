//! Removing an inserted entry leaves a configuration of any style byte for byte as it was.

use proptest::prelude::*;
use serde_json::json;

use crate::config_edit::{
    ConfigFormat, EntryFields, EntryPlace, find_entry, insert_list_item, remove_list_items,
};
use palazzo_core::model::InsertionTrace;

pub(super) const JSON: EntryPlace<'static> = EntryPlace { section: "mcpServers", name: "palazzo" };
pub(super) const TOML: EntryPlace<'static> = EntryPlace { section: "mcp_servers", name: "palazzo" };
pub(super) const YAML: EntryPlace<'static> = EntryPlace { section: "extensions", name: "palazzo" };

fn fields() -> EntryFields {
    let value = json!({
        "command": "/bin/a \"b\"/it's",
        "args": ["serve", "C:\\größe # no, comment", "it: 's"],
        "enabled": true,
        "timeout": 300,
        "headers": { "Authorization": "Bearer: x" },
    });
    value.as_object().unwrap().clone()
}

/// Inserts the entry, requires that it is there, and removes it.
#[track_caller]
fn round_trip(format: ConfigFormat, place: EntryPlace, text: &str) -> String {
    let (with, trace) =
        format.insert(text, place, &fields()).unwrap_or_else(|it| panic!("{it}: {text:?}"));
    let config = format.parse(&with).unwrap();
    assert_eq!(find_entry(&config, place), Some(&fields().into()), "{with}");
    format.remove(&with, place, Some(&trace)).unwrap_or_else(|it| panic!("{it}: {with:?}"))
}

fn line_ends() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just("\n"), Just("\r\n")]
}

fn mark() -> impl Strategy<Value = &'static str> {
    prop_oneof![3 => Just(""), 1 => Just("\u{feff}")]
}

/// White space and comments of JSON.
fn json_gap() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => Just(""),
        3 => Just(" "),
        3 => Just("\n  "),
        1 => Just("\n"),
        1 => Just("\t"),
        1 => Just("/* , } */"),
        1 => Just("// \"a\": {\n"),
        1 => Just(" // ü\n    "),
    ];
    prop::collection::vec(piece, 0..3).prop_map(|it| it.concat())
}

fn json_value(section: Option<&'static str>) -> impl Strategy<Value = String> {
    let scalar = prop_oneof![
        Just("1".to_owned()),
        Just("-1.50".to_owned()),
        Just("null".to_owned()),
        Just("\"{\\\"\\u00e4 //\"".to_owned()),
        Just("[1, {\"a\": []},]".to_owned()),
    ];
    scalar.prop_recursive(3, 12, 4, move |inner| json_object(inner, section))
}

/// An object with random white space, comments and commas.
fn json_object(
    inner: impl Strategy<Value = String>,
    section: Option<&'static str>,
) -> impl Strategy<Value = String> {
    let property = (json_gap(), inner, json_gap(), json_gap(), json_gap());
    let properties = prop::collection::vec(property, 0..4);
    (properties, any::<bool>(), json_gap(), any::<bool>()).prop_map(
        move |(items, comma, end, has)| {
            let count = items.len();
            let mut text = "{".to_owned();
            for (index, (before, value, a, b, c)) in items.into_iter().enumerate() {
                let key = match section.filter(|_| has && index == 0 && value.starts_with('{')) {
                    Some(section) => section.to_owned(),
                    None => format!("key{index}"),
                };
                let comma = if comma || index + 1 < count { "," } else { "" };
                text += &format!("{before}\"{key}\"{a}:{b}{value}{c}{comma}");
            }
            text + &end + "}"
        },
    )
}

fn json_text() -> impl Strategy<Value = String> {
    let root = json_object(json_value(None), Some("mcpServers"));
    let whole = (json_gap(), root, json_gap()).prop_map(|(a, root, b)| a + &root + &b);
    let text = prop_oneof![8 => whole, 1 => json_gap(), 1 => Just(String::new())];
    (mark(), text, line_ends())
        .prop_map(|(mark, text, end)| format!("{mark}{}", text.replace('\n', end)))
}

fn toml_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("# a comment\n"),
        Just("\n"),
        Just("  \n"),
        Just("[mcp_servers.files]\ncommand = \"npx\" # why\nargs = [\n  \"a\", # b\n]\n"),
        Just("[profiles.\"a b\"]\nmodel = '''\n[mcp_servers.x]\n'''\n"),
        Just("[[lists]]\nwhen = 1979-05-27T07:32:00Z\n"),
        Just("[mcp_servers.files.env]\nA = \"b\"\n"),
    ];
    let pieces = prop::collection::vec(piece, 0..6).prop_map(|it| {
        let mut text = "model = \"x\"\n".to_owned();
        for piece in it {
            let is_repeated =
                piece.starts_with('[') && !piece.starts_with("[[") && text.contains(piece);
            text += if is_repeated { "" } else { piece };
        }
        text
    });
    let text = prop_oneof![8 => pieces, 1 => Just(String::new()), 1 => Just("\n".to_owned())];
    (mark(), text, line_ends(), any::<bool>()).prop_map(|(mark, text, end, is_ended)| {
        let text = if is_ended { text.as_str() } else { text.trim_end() };
        format!("{mark}{}", text.replace('\n', end))
    })
}

fn yaml_text() -> impl Strategy<Value = String> {
    let above = prop_oneof![
        Just(""),
        Just("# settings\n\n"),
        Just("---\n"),
        Just("GOOSE_MODEL: \"a: b\"\nlist:\n- 1\n- {a: b}\n"),
        Just("text: |\n  extensions:\n    no: 1\n"),
    ];
    let section = prop_oneof![
        Just(""),
        Just("extensions:\n"),
        Just("extensions: # none yet\n"),
        Just("extensions: {}\n"),
        Just("extensions: {} # none\n"),
        Just("extensions: ~\n"),
        Just("\"extensions\":\n  a:\n    x: 1\n"),
        Just("extensions:\n    # first\n    a: {x: 1}\n    # last\n"),
        Just(
            "extensions:\n  a: # why\n\n    cmd: npx\n    args:\n    - x\n  b:\n    text: |-\n      y\n"
        ),
    ];
    let below =
        prop_oneof![Just(""), Just("\n# end\n"), Just("other: [1, 2]\n"), Just("\n\nz: 'it''s'\n")];
    (mark(), above, section, below, line_ends(), any::<bool>()).prop_map(
        |(mark, above, section, below, end, is_ended)| {
            let text = [above, section, below].concat();
            let text = if is_ended { text.as_str() } else { text.trim_end() };
            format!("{mark}{}", text.replace('\n', end))
        },
    )
}

proptest! {
    #[test]
    fn a_removed_entry_leaves_json_as_it_was(text in json_text()) {
        prop_assert_eq!(round_trip(ConfigFormat::Json, JSON, &text), text);
    }

    #[test]
    fn a_removed_entry_leaves_toml_as_it_was(text in toml_text()) {
        prop_assert_eq!(round_trip(ConfigFormat::Toml, TOML, &text), text);
    }

    #[test]
    fn a_removed_entry_leaves_yaml_as_it_was(text in yaml_text()) {
        prop_assert_eq!(round_trip(ConfigFormat::Yaml, YAML, &text), text);
    }

    #[test]
    fn a_list_that_is_removed_with_its_only_item_leaves_json_as_it_was(text in json_text()) {
        let path = ["hooks", "Stop"];
        let with = insert_list_item(&text, &path, &json!({ "a": ["}", 1] })).unwrap();
        let rest = remove_list_items(&with, &path, |_| true, 2).unwrap();
        // Nothing tells what was in an object that is empty.
        let is_empty = ConfigFormat::Json.parse(&text).unwrap() == json!({});
        prop_assert!(is_empty || rest == text, "{:?}", rest);
    }

    #[test]
    fn no_text_makes_an_edit_panic(text in "[\\PC\n\r\t]{0,60}") {
        for (format, place) in [
            (ConfigFormat::Json, JSON),
            (ConfigFormat::Toml, TOML),
            (ConfigFormat::Yaml, YAML),
        ] {
            if let Ok((with, trace)) = format.insert(&text, place, &fields()) {
                prop_assert_eq!(format.remove(&with, place, Some(&trace)), Ok(text.clone()));
            }
        }
    }
}

/// How a file is laid out.
#[derive(Clone, Copy, Debug)]
struct Layout {
    line_end: &'static str,
    has_trailing_comma: bool,
    is_section_first: bool,
}

const LAYOUTS: [Layout; 4] = [
    Layout { line_end: "\n", has_trailing_comma: false, is_section_first: true },
    Layout { line_end: "\r\n", has_trailing_comma: true, is_section_first: false },
    Layout { line_end: "\n", has_trailing_comma: true, is_section_first: true },
    Layout { line_end: "\r\n", has_trailing_comma: false, is_section_first: false },
];

fn json_file(entries: &[String], layout: Layout) -> String {
    let comma = if layout.has_trailing_comma { "," } else { "" };
    let entries = entries.join(",\n    ");
    let section = match entries.as_str() {
        "" => format!("  \"mcpServers\": {{}}{comma}"),
        entries => format!("  \"mcpServers\": {{\n    {entries}{comma}\n  }}{comma}"),
    };
    let text = match layout.is_section_first {
        true => format!(
            "{{\n{section}{}\n  \"z\": 1{comma}\n}}\n",
            if comma.is_empty() { "," } else { "" }
        ),
        false => format!("{{\n  // first\n  \"z\": 1,\n{section}\n}}"),
    };
    text.replace('\n', layout.line_end)
}

fn toml_file(entries: &[String], layout: Layout) -> String {
    let last = if layout.is_section_first { "" } else { "\n# last\n[z]\na = 1\n" };
    let entries = entries.iter().fold(String::new(), |text, it| text + "\n" + it + "\n");
    format!("a = 1\n{entries}{last}").replace('\n', layout.line_end)
}

fn yaml_file(entries: &[String], layout: Layout) -> String {
    let last = if layout.is_section_first { "" } else { "# last\nz: 1\n" };
    let entries = entries.iter().fold(String::new(), |text, it| text + it + "\n");
    format!("a: 1\nextensions:\n{entries}{last}").replace('\n', layout.line_end)
}

/// Requires that the entry is removed exactly, wherever it is among the entries of others.
#[track_caller]
fn assert_others_are_kept(
    format: ConfigFormat,
    place: EntryPlace,
    ours: &str,
    others: &[String],
    file: fn(&[String], Layout) -> String,
) {
    for layout in LAYOUTS {
        let (_, trace) = format.insert(&file(&others[..1], layout), place, &fields()).unwrap();
        for index in 0..=others.len() {
            let mut all = others.to_vec();
            all.insert(index, ours.to_owned());
            let with = file(&all, layout);
            let without = format.remove(&with, place, Some(&trace)).unwrap();
            assert_eq!(without, file(others, layout), "{layout:?} {index}");
        }
    }
}

#[test]
fn entries_that_others_add_before_and_after_are_kept() {
    let json = |name: &str| format!("\"{name}\": {{ \"command\": \"x\" }}");
    let others = ["a", "b", "c"].map(json);
    assert_others_are_kept(ConfigFormat::Json, JSON, &json("palazzo"), &others, json_file);

    let toml = |name: &str| format!("[mcp_servers.{name}]\ncommand = \"x\" # why\nargs = []");
    let others = ["a", "b", "c"].map(toml);
    assert_others_are_kept(ConfigFormat::Toml, TOML, &toml("palazzo"), &others, toml_file);

    let yaml = |name: &str| format!("  {name}:\n    cmd: x\n    args:\n    - y");
    let others = ["a", "b", "c"].map(yaml);
    assert_others_are_kept(ConfigFormat::Yaml, YAML, &yaml("palazzo"), &others, yaml_file);
}

#[test]
fn a_section_that_was_created_stays_if_others_use_it() {
    let insert =
        |format: ConfigFormat, place, text: &str| format.insert(text, place, &fields()).unwrap();
    let (with, trace) = insert(ConfigFormat::Json, JSON, "{\n  \"a\": 1\n}\n");
    let with = with.replace("\"mcpServers\": {", "\"mcpServers\": {\n    \"other\": {},");
    let without = ConfigFormat::Json.remove(&with, JSON, Some(&trace)).unwrap();
    assert_eq!(without, "{\n  \"a\": 1,\n  \"mcpServers\": {\n    \"other\": {}\n  }\n}\n");

    let (with, trace) = insert(ConfigFormat::Yaml, YAML, "a: 1\n");
    let with = with + "  other:\n    x: 1\n";
    let without = ConfigFormat::Yaml.remove(&with, YAML, Some(&trace)).unwrap();
    assert_eq!(without, "a: 1\nextensions:\n  other:\n    x: 1\n");

    let (with, trace) = insert(ConfigFormat::Toml, TOML, "a = 1");
    for below in ["[b]\nc = 1\n", "\n[b]\nc = 1\n"] {
        let without =
            ConfigFormat::Toml.remove(&format!("{with}{below}"), TOML, Some(&trace)).unwrap();
        assert_eq!(without, format!("a = 1\n{below}"));
    }
}

#[test]
fn without_a_trace_the_entry_is_removed_and_the_text_stays_valid() {
    for (format, place, text) in [
        (ConfigFormat::Json, JSON, ""),
        (ConfigFormat::Json, JSON, "{}"),
        (ConfigFormat::Json, JSON, "{\"a\":1}"),
        (ConfigFormat::Toml, TOML, "a = 1"),
        (ConfigFormat::Yaml, YAML, "extensions: {}"),
        (ConfigFormat::Yaml, YAML, "a: 1\n"),
    ] {
        let (with, _) = format.insert(text, place, &fields()).unwrap();
        let without = format.remove(&with, place, None).unwrap();
        assert_eq!(find_entry(&format.parse(&without).unwrap(), place), None, "{without}");
        assert!(!without.contains("serve"), "{without}");
    }
}

#[test]
fn a_removed_entry_takes_its_own_tables_along() {
    let text = "[mcp_servers.palazzo]\ncommand = \"x\"\n\n[b]\nc = 1\n\n[mcp_servers.palazzo.env]\nA = \"1\"\n\n[d]\n";
    let removed = ConfigFormat::Toml.remove(text, TOML, None).unwrap();
    assert_eq!(removed, "\n[b]\nc = 1\n\n\n[d]\n");
    let inline = "[mcp_servers]\na = {}\npalazzo = { command = \"x\" }\nb = {}\n";
    let removed = ConfigFormat::Toml.remove(inline, TOML, None).unwrap();
    assert_eq!(removed, "[mcp_servers]\na = {}\nb = {}\n");
}

#[test]
fn what_cannot_be_edited_safely_is_refused() {
    let refusal = |format: ConfigFormat, place, text: &str| {
        format.insert(text, place, &fields()).unwrap_err().to_string()
    };
    let json = |text: &str| refusal(ConfigFormat::Json, JSON, text);
    assert_eq!(json("{\n\"a\": 1\n\"b\": 2}"), "line 2: Expected comma");
    let no_object = "it has another value where an object is expected";
    assert_eq!(json("[]"), no_object);
    assert_eq!(json("{\"mcpServers\": []}"), no_object);
    let twice = "a key is there twice";
    assert_eq!(json("{\"mcpServers\": {}, \"mcpServers\": {}}"), twice);
    assert!(json(&"[".repeat(100_000)).contains("depth"));
    let toml = |text: &str| refusal(ConfigFormat::Toml, TOML, text);
    assert!(toml("a = 1\nb = \n").starts_with("line 2: "), "{}", toml("a = 1\nb = \n"));
    assert_eq!(toml("mcp_servers = { a = {} }"), "it is written in a way that has no safe edit");
    let yaml = |text: &str| refusal(ConfigFormat::Yaml, YAML, text);
    assert!(yaml("a: 1\nb: [\n").starts_with("line "), "{}", yaml("a: 1\nb: [\n"));
    for text in ["extensions: {a: {}}\n", "a: 1\n---\nb: 2\n", "a: 1\n...\n", "[1]\n", "{a: 1}\n"] {
        assert!(!yaml(text).starts_with("line"), "{text}: {}", yaml(text));
    }
}

#[test]
fn an_empty_configuration_gets_a_whole_file() {
    let (text, trace) = ConfigFormat::Json.insert("", JSON, &EntryFields::new()).unwrap();
    assert_eq!(text, "{\n  \"mcpServers\": {\n    \"palazzo\": {}\n  }\n}\n");
    assert_eq!((trace.created, trace.after.as_str()), (2, "\n"));
    assert_eq!(ConfigFormat::Json.remove(&text, JSON, Some(&trace)).unwrap(), "");
    assert_eq!(
        ConfigFormat::Toml.insert("", TOML, &EntryFields::new()).unwrap().1,
        InsertionTrace::default()
    );
}
