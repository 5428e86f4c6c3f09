//! Import from the reference memory server, and export to it.

use std::collections::BTreeSet;
use std::process::Output;

use insta::assert_snapshot;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;

use crate::harness::Home;

const MEMORY_FILE: &str = r#"{"type":"entity","name":"Alice","entityType":"person","observations":["likes tea","likes tea"]}
{"type":"entity","name":"a/../b\n","entityType":"","observations":[]}
{"type":"entity","name":"日本","entityType":"country","observations":["has \"islands\""]}
{"type":"relation","from":"Ghost","to":"Alice","relationType":"haunts"}
{"type":"relation","from":"Alice","to":"Nobody","relationType":"knows"}"#;

/// A home next to a file of the reference server.
fn home_with_memory_file(text: &str) -> Home {
    let home = Home::new();
    home.write("../memory.jsonl", text);
    home
}

/// Runs a command, and returns its output and exit status.
fn run(home: &Home, arguments: &str) -> String {
    let Output { stdout, stderr, status } =
        home.run_palazzo(&arguments.split(' ').collect::<Vec<_>>());
    let place = home.path().display().to_string();
    let text = |bytes| String::from_utf8(bytes).unwrap().replace(&place, "HOME");
    let code = status.code().unwrap();
    format!("$ palazzo {arguments}\n{}[err] {}[exit {code}]\n", text(stdout), text(stderr))
}

fn export_memory(home: &Home) -> String {
    String::from_utf8(home.run_palazzo(&["export", "memory"]).stdout).unwrap()
}

fn line_set(text: &str) -> BTreeSet<&str> {
    text.split('\n').collect()
}

#[test]
fn a_memory_file_is_imported_once_and_exported_unchanged() {
    let home = home_with_memory_file(MEMORY_FILE);
    let story = [
        run(&home, "import memory memory.jsonl --dry-run"),
        run(&home, "export memory"),
        run(&home, "import memory memory.jsonl --workspace days"),
        run(&home, "import memory memory.jsonl"),
        run(&home, "import memory memory.jsonl --dry-run"),
        run(&home, "import memory nowhere.jsonl"),
        run(&home, "export memory memory.jsonl"),
        run(&home, "export memory back.jsonl"),
    ];
    assert_snapshot!(story.concat(), @"
    $ palazzo import memory memory.jsonl --dry-run
    Would add to a new workspace: entities 3, observations of others 0, relations 2.
    [err] [exit 0]
    $ palazzo export memory
    [err] palazzo: there is no palace in HOME yet; `palazzo init NAME` creates one, `palazzo --help` explains how the home is chosen
    [exit 2]
    $ palazzo import memory memory.jsonl --workspace days
    Added to `days` in HOME/days: entities 3, observations of others 0, relations 2.
    [err] palazzo: there was no workspace `days`: created HOME/days
    [exit 0]
    $ palazzo import memory memory.jsonl
    Added to `days` in HOME/days: entities 0, observations of others 0, relations 0.
    [err] [exit 0]
    $ palazzo import memory memory.jsonl --dry-run
    Would add to `days` in HOME/days: entities 0, observations of others 0, relations 0.
    [err] [exit 0]
    $ palazzo import memory nowhere.jsonl
    [err] palazzo: cannot read nowhere.jsonl: No such file or directory (os error 2)
    [exit 2]
    $ palazzo export memory memory.jsonl
    [err] palazzo: memory.jsonl exists already and is not overwritten: name another file, or move that one away first
    [exit 2]
    $ palazzo export memory back.jsonl
    [err] [exit 0]
    ");
    assert_eq!(line_set(&export_memory(&home)), line_set(MEMORY_FILE));
    assert_eq!(home.read("../back.jsonl"), export_memory(&home));
    home.assert_clean_repository();
}

#[test]
fn an_import_is_one_commit() {
    let home = home_with_memory_file(MEMORY_FILE);
    run(&home, "import memory memory.jsonl --workspace days");
    assert_snapshot!(home.git(&["log", "--reverse", "--format=%s: %b"]), @"
    palace days: create: Created the workspace days

    Palazzo-Tool: import
    Palazzo-Client: ada
    Palazzo-Visit: ID

    memory: import: 3 entities, 0 observations of others, 2 relations

    Palazzo-Tool: import
    Palazzo-Client: ada
    Palazzo-Visit: ID
    ");
}

#[test]
fn invalid_lines_are_reported_and_the_others_imported() {
    let text = r#"{"type":"entity","name":"A","entityType":"t","since":1}

nonsense
{"type":"entity","name":"B","observations":{"x":1},"since":1}
"#;
    let home = home_with_memory_file(text);
    assert_snapshot!(run(&home, "import memory memory.jsonl"), @r#"
    $ palazzo import memory memory.jsonl
    Added to `palace` in HOME/palace: entities 1, observations of others 0, relations 0; not understood and left out: 2.
    [err] memory.jsonl: line 1: the key "since" is unknown and left out
    memory.jsonl: line 3: this is not JSON (column 2): expected ident
    memory.jsonl: line 4: its `observations` are neither a list nor a text
    [exit 1]
    "#);
    let a = home.read("palace/entities/t/a.yaml");
    assert_eq!(a.lines().skip(2).collect::<Vec<_>>(), ["name: A", "genus: t"]);
}

#[test]
fn a_file_of_another_memory_server_is_imported() {
    let text = r#"{"type":"_aim","source":"mcp-knowledge-graph"}
{
  "name": "Ada", "entity_type": "person",
  "observations": "Likes tea"
} {"type":"thing","name":"Kettle"}
{"type":"thing","name":
[{"from_entity":"Ada","to_entity":"Kettle","relation_type":"owns"}]
"#;
    let home = home_with_memory_file(text);
    assert_snapshot!(run(&home, "import memory memory.jsonl"), @"
    $ palazzo import memory memory.jsonl
    Added to `palace` in HOME/palace: entities 2, observations of others 0, relations 1; not understood and left out: 1.
    [err] memory.jsonl: line 1: the marker of mcp-knowledge-graph is left out
    memory.jsonl: line 6: this is not JSON (column 23): EOF while parsing a value
    [exit 1]
    ");
    let again = run(&home, "import memory memory.jsonl");
    assert!(again.contains("entities 0, observations of others 0, relations 0"), "{again}");
    assert_eq!(
        line_set(&export_memory(&home)),
        line_set(
            r#"{"type":"entity","name":"Ada","entityType":"person","observations":["Likes tea"]}
{"type":"entity","name":"Kettle","entityType":"thing","observations":[]}
{"type":"relation","from":"Ada","to":"Kettle","relationType":"owns"}"#
        )
    );
}

#[test]
fn a_file_without_entities_and_relations_is_refused() {
    for text in
        ["{\"name\":\"left-pad\",\"version\":\"1.0.0\"}", "{\"colour\":\"grey\"}", "[{\"id\":1}]"]
    {
        let home = home_with_memory_file(text);
        let told = run(&home, "import memory memory.jsonl");
        let expected = "memory.jsonl: line 1: this is neither an entity (`name`, `entityType`, \
            `observations`) nor a relation (`from`, `to`, `relationType`)\n[exit 1]\n";
        assert!(told.ends_with(expected), "{told}");
        assert!(!home.path().join("palace").exists());
    }
}

#[test]
fn only_the_first_hundred_invalid_lines_are_listed() {
    let home = home_with_memory_file(&"nonsense\n".repeat(3000));
    let told = run(&home, "import memory memory.jsonl");
    let lines: Vec<_> = told.lines().collect();
    assert_eq!(lines.len(), 104);
    assert_snapshot!(lines[101..].join("\n"), @"
    memory.jsonl: line 100: this is not JSON (column 2): expected ident
    memory.jsonl: and 2900 more like these
    [exit 1]
    ");
}

#[test]
fn an_entity_too_large_for_a_file_is_skipped() {
    let entity = |name: &str, text: &str| json!({ "type": "entity", "name": name, "entityType": "t", "observations": [text] });
    let large = entity("Large", &"o".repeat(1_000_000));
    let marked = entity("Marked", &"\u{1}".repeat(800_000));
    let hub = (0..40_000).map(|it| json!({ "type": "relation", "from": "Hub", "to": format!("one of many, no. {it}"), "relationType": "leads to" }));
    let small = [entity("Hub", ""), entity("Small", ""), large, marked].into_iter();
    let all: Vec<_> = small.chain(hub).map(|it| it.to_string()).collect();
    let home = home_with_memory_file(&all.join("\n"));
    assert_snapshot!(run(&home, "import memory memory.jsonl"), @"
    $ palazzo import memory memory.jsonl
    Added to `palace` in HOME/palace: entities 2, observations of others 0, relations 0; not understood and left out: 2.
    [err] memory.jsonl: `Hub` is left out, with the relations from it: its file would have 1989038 bytes, and the limit is 1048576
    memory.jsonl: `Marked` is left out, with the relations from it: its file would have 3200140 bytes, and the limit is 1048576
    [exit 1]
    ");
    let kept = export_memory(&home);
    home.write("../again.jsonl", &kept);
    let again = run(&home, "import memory again.jsonl");
    assert!(
        again.contains("entities 0, observations of others 0") && again.ends_with("[exit 0]\n")
    );
    assert_eq!(kept.split('\n').count(), 2);
}

#[test]
fn an_import_merges_into_existing_entities() {
    let home = home_with_memory_file(MEMORY_FILE);
    home.write("palace/palace.toml", "name = \"Palace\"\n");
    let alice = "# by hand\nname: Alice\ngenus: Friend\nobservations:\n  - sings\n";
    home.write("palace/entities/friend/alice.yaml", alice);
    home.run_palazzo(&["import", "memory", "memory.jsonl"]);
    assert_snapshot!(home.read("palace/entities/friend/alice.yaml"), @"
    # by hand
    name: Alice
    genus: Friend
    observations:
      - sings
      - likes tea
    relations:
      - type: knows
        to: Nobody
    ");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 6, max_shrink_iters: 50, ..ProptestConfig::default() })]

    #[test]
    fn any_text_survives_import_and_export(
        texts in vec((any::<String>(), any::<String>(), vec(any::<String>(), 0..3)), 1..12)
    ) {
        let mut known = BTreeSet::new();
        let mut text = Vec::new();
        for (name, kind, facts) in texts.iter().filter(|it| known.insert(&it.0)) {
            let entity =
                json!({ "type": "entity", "name": name, "entityType": kind, "observations": facts });
            let relation =
                json!({ "type": "relation", "from": kind, "to": name, "relationType": name });
            text.extend([entity.to_string(), relation.to_string()]);
        }
        let text = text.join("\n");
        let home = home_with_memory_file(&text);
        prop_assert_eq!(home.run_palazzo(&["import", "memory", "memory.jsonl"]).status.code(), Some(0));
        let back = export_memory(&home);
        prop_assert_eq!(line_set(&back), line_set(&text));
        let again = run(&home, "import memory memory.jsonl");
        let nothing = "entities 0, observations of others 0, relations 0.";
        prop_assert!(again.contains(nothing), "{}", again);
    }
}

#[test]
fn an_export_overwrites_no_file() {
    let home = Home::new();
    home.run_palazzo(&["init", "Code"]);
    home.write("back.jsonl", "precious");
    let output = home.run_palazzo(&["export", "memory", "home/back.jsonl"]);
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "palazzo: home/back.jsonl exists already and is not overwritten: name another file, or \
         move that one away first\n"
    );
    assert_eq!((output.status.code(), home.read("back.jsonl").as_str()), (Some(2), "precious"));
}
