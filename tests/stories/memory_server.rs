//! Replacing the reference memory server: its nine tools, on a palace.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::harness::{Home, MARCH_1};
use crate::raw_client::{RawClient, answer_text, initialize_params};

/// The arguments that offer the memory tools, with and without a limit on answers.
const MEMORY_TOOLS: [&str; 2] = ["--tools", "memory"];
const UNBOUNDED_MEMORY_TOOLS: [&str; 3] = ["--tools", "memory", "--unbounded"];

/// Calls a tool, and returns its value, which must be equal to the text.
#[track_caller]
fn call_structured(wire: &mut RawClient, tool: &str, arguments: Value) -> Value {
    let mut call = json!({ "name": tool });
    call["arguments"] = arguments;
    let answer = wire.request("tools/call", call);
    let (text, value) = (answer_text(&answer), answer["result"]["structuredContent"].clone());
    match value.get("message") {
        Some(message) => assert_eq!(message, &text),
        None => {
            let told: Value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}"));
            let list = ["entities", "relations", "results"].map(|it| value[it].clone());
            assert!(told == value || list.contains(&told), "{value}\n{text}");
        }
    }
    value
}

fn entity_json(name: &str, kind: &str, observations: &[&str]) -> Value {
    json!({ "name": name, "entityType": kind, "observations": observations })
}

fn relation_json(from: &str, kind: &str, to: &str) -> Value {
    json!({ "from": from, "to": to, "relationType": kind })
}

fn observations_json(name: &str, contents: &[&str]) -> Value {
    json!({ "entityName": name, "contents": contents })
}

/// Alice, who likes tea and knows Bob; and Bob.
fn client_with_alice_and_bob(home: &Home) -> RawClient {
    let mut wire = home.initialized_client_with(&MEMORY_TOOLS);
    let them = [entity_json("Alice", "person", &["likes tea"]), entity_json("Bob", "person", &[])];
    call_structured(&mut wire, "create_entities", json!({ "entities": them }));
    let knows = [relation_json("Alice", "knows", "Bob")];
    call_structured(&mut wire, "create_relations", json!({ "relations": knows }));
    wire
}

fn entity_names(graph: &Value) -> Vec<&str> {
    let entities = graph["entities"].as_array().unwrap().iter();
    entities.map(|it| it["name"].as_str().unwrap()).collect()
}

#[test]
fn the_nine_tools_declare_their_effects_and_output_schemas() {
    let mut wire = Home::new().initialized_client_with(&MEMORY_TOOLS);
    let list = wire.request("tools/list", json!({}));
    let tools = list["result"]["tools"].as_array().unwrap();
    let about = tools.iter().map(|it| {
        let hints = &it["annotations"];
        let hint = |name: &str, word| if hints[name] == true { word } else { "" };
        let answers: Vec<_> =
            it["outputSchema"]["properties"].as_object().unwrap().keys().cloned().collect();
        assert_eq!(it["inputSchema"].get("additionalProperties"), None);
        format!(
            "{}: {} ({}){}{}{}\n",
            it["name"].as_str().unwrap(),
            it["title"].as_str().unwrap(),
            answers.join(", "),
            hint("readOnlyHint", " reads"),
            hint("destructiveHint", " destroys"),
            hint("idempotentHint", " once")
        )
    });
    assert_snapshot!(about.collect::<String>(), @"
    create_entities: Create Entities (entities) once
    create_relations: Create Relations (relations) once
    add_observations: Add Observations (results) once
    delete_entities: Delete Entities (success, message) destroys once
    delete_observations: Delete Observations (success, message) destroys once
    delete_relations: Delete Relations (success, message) destroys once
    read_graph: Read Graph (entities, relations, notice) reads
    search_nodes: Search Nodes (entities, relations, notice) reads
    open_nodes: Open Nodes (entities, relations, notice) reads
    ");
}

#[test]
fn the_instructions_name_only_the_offered_tools() {
    for (tools, told, untold) in [
        ("memory", "search_nodes", "set_workspace"),
        ("palace,graph", "update_entity", "search_nodes"),
        ("palace", "set_workspace", "update_entity"),
        ("palace,memory", "search_nodes", "update_entity"),
    ] {
        let mut wire = Home::new().raw_client_with(&["--tools", tools]);
        let answer = wire.request("initialize", initialize_params("2025-11-25"));
        let instructions = answer["result"]["instructions"].as_str().unwrap();
        assert!(instructions.contains(told) && !instructions.contains(untold), "{instructions}");
    }
    let refused = Home::new().run_palazzo(&["serve", "--tools", "graph,memory"]);
    assert_eq!(refused.status.code(), Some(2));
    assert_snapshot!(String::from_utf8(refused.stderr).unwrap(), @"palazzo: two of the sets in --tools have different tools named `create_entities`: offer one of the sets");
}

#[test]
fn the_memory_location_does_not_depend_on_the_working_folder() {
    let home = Home::new();
    home.run_palazzo(&["init", "Project"]);
    home.write("memory.jsonl", "{\"type\":\"entity\",\"name\":\"Ada\"}\n");
    let place = home.path().display().to_string();
    let told = |arguments: &[&str]| {
        let mut command = home.palazzo_command(MARCH_1);
        command.env_remove("PALAZZO_HOME").current_dir(home.path()).args(arguments);
        let output = command.output().unwrap();
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap().replace(&place, "HOME")
    };
    let import = ["import", "memory", "memory.jsonl", "--home", "~/home/own"];
    assert_snapshot!(told(&import[..3]), @"Added to `Project` in HOME/project: entities 1, observations of others 0, relations 0.");
    assert_snapshot!(told(&import), @"Added to `palace` in HOME/own/palace: entities 1, observations of others 0, relations 0.");
    for place in [&["~/home/own"][..], &["--home", "~/home/own"]] {
        let mut command = home.palazzo_command(MARCH_1);
        command.env_remove("PALAZZO_HOME").current_dir(home.path().join("project"));
        command.arg("serve").args(place).args(MEMORY_TOOLS);
        let mut wire = Home::raw_client_for_command(command);
        wire.request("initialize", initialize_params("2025-11-25"));
        wire.send_notification("notifications/initialized");
        assert_eq!(entity_names(&call_structured(&mut wire, "read_graph", json!({}))), ["Ada"]);
    }
}

#[test]
fn a_server_started_for_a_missing_workspace_creates_it() {
    let home = Home::new();
    home.run_palazzo(&["init", "Code"]);
    home.run_palazzo(&["init", "Survey"]);
    let mut wire = home.initialized_client_with(&MEMORY_TOOLS);
    assert_snapshot!(wire.call("read_graph", json!({})), @"refused: there are several workspaces, and none is selected: start the server with `--workspace NAME`. Workspaces: `Code`, `Survey`.");
    let mut wire = home.initialized_client_with(&["--tools", "memory", "--workspace", "survy"]);
    assert_eq!(entity_names(&call_structured(&mut wire, "read_graph", json!({}))), [""; 0]);
    let ada = json!({ "entities": [entity_json("Ada", "person", &[])] });
    call_structured(&mut wire, "create_entities", ada.clone());
    call_structured(&mut wire, "create_entities", ada);
    let place = home.path().display().to_string();
    assert_snapshot!(wire.close().stderr.replace(&place, "HOME"), @"palazzo: there was no workspace `survy`: created HOME/survy; did you mean `survey`?");
}

#[expect(clippy::too_many_lines, reason = "its steps follow each other")]
#[test]
fn a_graph_is_created_read_and_deleted() {
    let home = Home::new();
    let mut wire = client_with_alice_and_bob(&home);
    let of_bob = json!({ "entityName": "Bob", "observations": ["sings"] });
    let mut page = String::new();
    for (tool, arguments) in [
        ("create_entities", json!({ "entities": [entity_json("Alice", "robot", &["rusts"])] })),
        ("create_relations", json!({ "relations": [relation_json("Alice", "knows", "Bob")] })),
        (
            "add_observations",
            json!({ "observations": [observations_json("Bob", &["sings", "sings"])] }),
        ),
        ("search_nodes", json!({ "query": "TEA" })),
        ("open_nodes", json!({ "names": ["Bob", "bob"] })),
        ("delete_observations", json!({ "deletions": [of_bob] })),
        ("delete_relations", json!({ "relations": [relation_json("Alice", "knows", "Bob")] })),
        ("delete_entities", json!({ "entityNames": ["Bob"] })),
        ("read_graph", json!({})),
    ] {
        page += &format!("{tool}: {}\n", call_structured(&mut wire, tool, arguments));
    }
    assert_snapshot!(page, @r#"
    create_entities: {"entities":[]}
    create_relations: {"relations":[]}
    add_observations: {"results":[{"entityName":"Bob","addedObservations":["sings"]}]}
    search_nodes: {"entities":[{"name":"Alice","entityType":"person","observations":["likes tea"]}],"relations":[{"from":"Alice","to":"Bob","relationType":"knows"}]}
    open_nodes: {"entities":[{"name":"Bob","entityType":"person","observations":["sings"]}],"relations":[{"from":"Alice","to":"Bob","relationType":"knows"}]}
    delete_observations: {"success":true,"message":"Observations deleted successfully"}
    delete_relations: {"success":true,"message":"Relations deleted successfully"}
    delete_entities: {"success":true,"message":"Entities deleted successfully"}
    read_graph: {"entities":[{"name":"Alice","entityType":"person","observations":["likes tea"]}],"relations":[]}
    "#);
    home.assert_clean_repository();
    assert_snapshot!(home.git(&["log", "--reverse", "--format=%s"]), @"
    palace palace: create
    entities: create 2
    relation Alice knows Bob: create
    entity Bob: add 1 observation
    entity Bob: delete 1 observation
    entity Alice: delete 1 relation
    entity Bob: delete
    ");
}

#[test]
fn deleting_missing_items_succeeds_and_names_them() {
    let home = Home::new();
    let mut wire = client_with_alice_and_bob(&home);
    let before = home.commit_count();
    let mut page = String::new();
    for (tool, arguments) in [
        ("delete_entities", json!({ "entityNames": ["Alise", "Carol", "Carol"] })),
        (
            "delete_observations",
            json!({ "deletions": [
                { "entityName": "Alice", "observations": ["likes coffee"] },
                { "entityName": "Carol", "observations": ["sings"] }
            ] }),
        ),
        ("delete_relations", json!({ "relations": [relation_json("Bob", "knows", "Alice")] })),
        (
            "add_observations",
            json!({ "observations": [
                observations_json("Bob", &["sings"]),
                observations_json("Ghost", &["haunts"])
            ] }),
        ),
        ("create_entities", json!({ "entities": [{ "name": "Carol", "observations": [] }] })),
    ] {
        page += &format!("{tool}: {}\n", wire.call(tool, arguments));
    }
    assert_snapshot!(page, @r#"
    delete_entities: Entities deleted: 0 of 2; not found: "Alise", "Carol"
    delete_observations: Observations deleted: 0 of 2; not found: "Carol"
    delete_relations: Relations deleted: 0 of 1; the others were not found
    add_observations: refused: Entity with name Ghost not found
    create_entities: refused: wrong arguments for create_entities at `entities[0]`: missing field `entityType`
    "#);
    assert_eq!(home.commit_count(), before);
}

#[test]
fn relations_may_connect_undefined_entities() {
    let home = Home::new();
    let mut wire = client_with_alice_and_bob(&home);
    let both =
        [relation_json("Ghost", "haunts", "Alice"), relation_json("Ghost", "haunts", "Phantom")];
    call_structured(&mut wire, "create_relations", json!({ "relations": both }));
    assert_snapshot!(home.read("palace/entities/undefined/ghost.yaml"), @"
    # yaml-language-server: $schema=../../.palazzo/schema/entity.json
    name: Ghost
    relations:
      - type: haunts
        to: Alice
      - type: haunts
        to: Phantom
    ");
    let graph = call_structured(&mut wire, "read_graph", json!({}));
    assert_eq!(entity_names(&graph), ["Alice", "Bob"]);
    assert_eq!(graph["relations"].as_array().unwrap().len(), 3);
    let found = call_structured(&mut wire, "search_nodes", json!({ "query": "" }));
    assert_eq!(found["relations"].as_array().unwrap().len(), 2);

    let ghost = json!({ "entities": [entity_json("Ghost", "spirit", &["is cold"])] });
    call_structured(&mut wire, "create_entities", ghost);
    assert!(!home.path().join("palace/entities/undefined").exists());
    let graph = call_structured(&mut wire, "open_nodes", json!({ "names": ["Ghost"] }));
    assert_eq!(graph["relations"], json!(both));
    assert_eq!(
        call_structured(
            &mut home.initialized_client_with(&MEMORY_TOOLS),
            "open_nodes",
            json!({ "names": ["Ghost"] })
        ),
        graph
    );
}

#[expect(clippy::too_many_lines, reason = "its steps follow each other")]
#[test]
fn any_text_is_a_valid_name_and_entities_keep_creation_order() {
    let home = Home::new();
    let nasty = [
        "z",
        "",
        "../../x",
        "a/b",
        "two\nlines",
        "\u{0}",
        "no",
        "null",
        "Émile",
        "émile",
        "日本",
        "\u{202e}",
        "- x: y",
        "~",
        "CON",
        "a",
    ];
    let long = "long ".repeat(400);
    let mut expected: Vec<&str> = nasty.to_vec();
    expected.push(&long);
    let mut wire = home.initialized_client_with(&MEMORY_TOOLS);
    for name in &expected {
        call_structured(
            &mut wire,
            "create_entities",
            json!({ "entities": [entity_json(name, name, &[name, ""])] }),
        );
        call_structured(
            &mut wire,
            "create_relations",
            json!({ "relations": [relation_json(name, name, "a")] }),
        );
    }
    let graph = call_structured(&mut wire, "read_graph", json!({}));
    assert_eq!(entity_names(&graph), expected);
    assert_eq!(graph["entities"][5], entity_json("\u{0}", "\u{0}", &["\u{0}", ""]));
    assert_eq!(
        call_structured(&mut home.initialized_client_with(&MEMORY_TOOLS), "read_graph", json!({})),
        graph
    );
    home.assert_clean_repository();
}

#[expect(clippy::too_many_lines, reason = "its steps follow each other")]
#[test]
fn a_long_answer_is_cut_with_a_notice_on_how_to_continue() {
    let home = Home::new();
    let mut wire = home.initialized_client_with(&MEMORY_TOOLS);
    let fact = "It has been observed more than once. ".repeat(9);
    let name = |it: usize| format!("Entity {it}");
    let many = (0..300).map(|it| entity_json(&name(it), "thing", &[&fact]));
    call_structured(&mut wire, "create_entities", json!({ "entities": many.collect::<Vec<_>>() }));
    let chain = (1..300).map(|it| relation_json(&name(it), "follows", &name(it - 1)));
    call_structured(
        &mut wire,
        "create_relations",
        json!({ "relations": chain.collect::<Vec<_>>() }),
    );

    let mut notices = String::new();
    let all: Vec<_> = (0..300).map(name).collect();
    for (tool, arguments) in [
        ("read_graph", json!({})),
        ("search_nodes", json!({ "query": "entity" })),
        ("open_nodes", json!({ "names": all })),
    ] {
        let graph = call_structured(&mut wire, tool, arguments.clone());
        let size = graph.to_string().len();
        assert!((50_000..66_000).contains(&size), "{size}");
        let shown = entity_names(&graph).len();
        assert_eq!(entity_names(&graph), all[..shown]);
        notices += &format!("{tool}: {}\n", graph["notice"].as_str().unwrap());
        let whole = call_structured(
            &mut home.initialized_client_with(&UNBOUNDED_MEMORY_TOOLS),
            tool,
            arguments,
        );
        assert_eq!(entity_names(&whole), all);
        assert_eq!(
            (whole["relations"].as_array().unwrap().len(), whole.get("notice")),
            (299, None)
        );
    }
    assert_snapshot!(notices, @r#"
    read_graph: Too much for one answer: this one has 1 to 122 of 300 entities, oldest first; 121 of 299 relations. To go on, call read_graph with {"after": "Entity 121"}
    search_nodes: Too much for one answer: this one has 1 to 122 of 300 entities, oldest first. Use a more specific query, or go on with "after": "Entity 121"
    open_nodes: Too much for one answer: this one has 1 to 122 of 300 entities, oldest first. Give fewer names at once
    "#);
    let few = call_structured(&mut wire, "search_nodes", json!({ "query": "entity 7" }));
    assert_eq!((entity_names(&few).len(), few.get("notice")), (11, None));
}

/// Reads page by page; returns the whole graph, and the notices.
fn read_all_pages(wire: &mut RawClient, tool: &str, mut arguments: Value) -> (Value, String) {
    let (mut pages, mut notices) = (json!({ "entities": [], "relations": [] }), Vec::new());
    loop {
        let page = call_structured(wire, tool, arguments.clone());
        for key in ["entities", "relations"] {
            let items = page[key].as_array().unwrap().clone();
            pages[key].as_array_mut().unwrap().extend(items);
        }
        let Some(notice) = page.get("notice") else { return (pages, notices.join("\n")) };
        notices.push(notice.as_str().unwrap().to_owned());
        arguments["after"] = page["entities"].as_array().unwrap().last().unwrap()["name"].clone();
    }
}

/// Sorts the relations of a graph.
fn sorted_relations(graph: &Value) -> Vec<String> {
    let all = graph["relations"].as_array().unwrap().iter();
    let mut all: Vec<_> = all.map(Value::to_string).collect();
    all.sort();
    all
}

#[test]
fn the_whole_graph_can_be_read_page_by_page() {
    let home = Home::new();
    let mut wire = home.initialized_client_with(&MEMORY_TOOLS);
    let fact = "It has been observed more than once. ".repeat(9);
    let name = |it: usize| format!("Entity {it}");
    let many = (0..300).map(|it| entity_json(&name(it), "thing", &[&fact]));
    call_structured(&mut wire, "create_entities", json!({ "entities": many.collect::<Vec<_>>() }));
    let mesh = (0..300).flat_map(|it| [(it, it * 7 % 300), (it, it * 11 % 300)]);
    let mesh = mesh.map(|(from, to)| relation_json(&name(from), "meets", &name(to)));
    let loose = relation_json("nobody", "meets", &name(0));
    let relations: Vec<_> = mesh.chain([loose]).collect();
    call_structured(&mut wire, "create_relations", json!({ "relations": relations }));

    let whole = call_structured(
        &mut home.initialized_client_with(&UNBOUNDED_MEMORY_TOOLS),
        "read_graph",
        json!({}),
    );
    let (pages, notices) = read_all_pages(&mut wire, "read_graph", json!({}));
    assert_eq!(pages, whole);
    assert_snapshot!(notices, @r#"
    Too much for one answer: this one has 1 to 106 of 300 entities, oldest first; 210 of 597 relations. To go on, call read_graph with {"after": "Entity 105"}
    Too much for one answer: this one has 107 to 211 of 300 entities, oldest first; 209 of 597 relations. To go on, call read_graph with {"after": "Entity 210"}
    "#);
    let (found, notices) = read_all_pages(&mut wire, "search_nodes", json!({ "query": "THING" }));
    assert_eq!(found["entities"], whole["entities"]);
    assert_eq!(sorted_relations(&found), sorted_relations(&whole));
    assert_snapshot!(notices, @r#"
    Too much for one answer: this one has 1 to 106 of 300 entities, oldest first. Use a more specific query, or go on with "after": "Entity 105"
    Too much for one answer: this one has 107 to 211 of 300 entities, oldest first. Use a more specific query, or go on with "after": "Entity 210"
    "#);
    assert_snapshot!(wire.call("read_graph", json!({ "after": "nobody" })), @"refused: Entity with name nobody not found");
}

#[test]
fn a_large_entity_is_read_in_parts() {
    let home = Home::new();
    let mut wire = home.initialized_client_with(&MEMORY_TOOLS);
    let facts: Vec<_> =
        (0..3000).map(|it| format!("Fact number {it} is as long as it is.")).collect();
    let facts: Vec<_> = facts.iter().map(String::as_str).collect();
    let hub = json!({ "entities": [entity_json("Hub", "thing", &facts), entity_json("B", "thing", &[])] });
    call_structured(&mut wire, "create_entities", hub);
    let graph = call_structured(&mut wire, "read_graph", json!({}));
    assert_eq!(entity_names(&graph), ["Hub", "B"]);
    assert!(graph.to_string().len() < 66_000);
    let mut notices = format!("{}\n", graph["notice"].as_str().unwrap());

    let (mut read, mut skip) = (Vec::new(), 0);
    loop {
        let page =
            call_structured(&mut wire, "open_nodes", json!({ "names": ["Hub"], "skip": skip }));
        let told = page["entities"][0]["observations"].as_array().unwrap();
        read.extend(told.iter().map(|it| it.as_str().unwrap().to_owned()));
        skip = read.len();
        let Some(notice) = page.get("notice") else { break };
        notices += &format!("{}\n", notice.as_str().unwrap());
    }
    assert_eq!(read, facts);
    assert_snapshot!(notices, @r#"
    Too much for one answer: this one has 448 of the 3000 observations of Hub. To go on with observations, call open_nodes with {"names": ["Hub"], "skip": 448}
    Too much for one answer: this one has 1322 of the 3000 observations of Hub. To go on with observations, call open_nodes with {"names": ["Hub"], "skip": 1322}
    Too much for one answer: this one has 1323 to 2597 of the 3000 observations of Hub. To go on with observations, call open_nodes with {"names": ["Hub"], "skip": 2597}
    "#);
}

#[test]
fn answers_stay_below_the_client_token_limit_in_any_script() {
    let home = Home::new();
    let mut wire = home.initialized_client_with(&MEMORY_TOOLS);
    // Random letters, which no tokenizer compresses.
    let mut seed = 0x5eed_u32;
    let mut any = |of: &[char]| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        of[(seed >> 8) as usize % of.len()]
    };
    let range = |from: char, to: char| (from..=to).collect::<Vec<_>>();
    for (script, letters) in [
        ("Amharic", range('\u{1200}', '\u{1357}')),
        ("rare Han", range('\u{4e00}', '\u{9fff}')),
        ("rarest Han", range('\u{20000}', '\u{2a6df}')),
        ("emoji", range('\u{1f300}', '\u{1f64f}')),
        ("hex", range('0', '9').into_iter().chain(range('a', 'f')).collect()),
        ("punctuation", range('!', '/')),
        ("Russian", range('а', 'я')),
        ("Hindi", range('\u{905}', '\u{939}')),
        ("words", "the stone is old ".chars().collect()),
    ] {
        let many = (0..200).map(|it| {
            let fact: String = (0..400).map(|_| any(&letters)).collect();
            entity_json(&format!("{script} {it}"), script, &[&fact])
        });
        call_structured(
            &mut wire,
            "create_entities",
            json!({ "entities": many.collect::<Vec<_>>() }),
        );
        let found = wire.call("search_nodes", json!({ "query": script }));
        let tokens = palazzo_core::token_estimate::estimate_token_count(&found);
        assert!((9_000..25_000).contains(&tokens), "{script}: {tokens} tokens");
    }
}

#[test]
fn an_observation_too_large_for_a_file_is_refused_without_loss() {
    let home = Home::new();
    let mut wire = client_with_alice_and_bob(&home);
    let large = "x".repeat(1024 * 1024);
    let observed = json!({ "observations": [
        observations_json("Bob", &["sings"]),
        observations_json("Alice", &[&large])
    ] });
    let refusal = wire.call("add_observations", observed);
    assert_snapshot!(refusal, @"refused: `entities/person/alice.yaml` would have 1048771 bytes, and the limit is 1048576; split it up");
    let graph = call_structured(&mut wire, "read_graph", json!({}));
    assert_eq!(graph["entities"][1], entity_json("Bob", "person", &[]));
    home.assert_clean_repository();
}

/// The call number `number` of `server`.
fn numbered_call(server: &str, number: usize) -> Value {
    let told = format!("{server} {number}");
    let (tool, key, item) = match number % 4 {
        0 => ("add_observations", "observations", observations_json("Alice", &[&told])),
        1 => ("create_relations", "relations", relation_json("Ghost", &told, "Alice")),
        // Names with equal slugs, and some that both servers create.
        2 => ("create_entities", "entities", entity_json(&("!".repeat(number) + server), "t", &[])),
        _ => ("create_entities", "entities", entity_json(&format!("Both {number}"), "t", &[])),
    };
    json!({ "name": tool, "arguments": { key: [item] } })
}

#[test]
fn forty_concurrent_calls_to_two_servers_lose_nothing() {
    let home = Home::new();
    let mut wires = [client_with_alice_and_bob(&home), home.initialized_client_with(&MEMORY_TOOLS)];
    for number in 0..20 {
        for (wire, server) in wires.iter_mut().zip(["one", "two"]) {
            wire.send_request("tools/call", numbered_call(server, number));
        }
    }
    let mut created = 0;
    for wire in &mut wires {
        for _ in 0..20 {
            let answer = wire.next_response();
            assert_eq!(answer["result"]["isError"], false, "{answer}");
            let new = answer["result"]["structuredContent"]["entities"].as_array();
            created += new.map_or(0, Vec::len);
        }
    }
    let [one, two] = &mut wires;
    let graph = call_structured(one, "read_graph", json!({}));
    let alice = graph["entities"].as_array().unwrap().iter().find(|it| it["name"] == "Alice");
    assert_eq!(alice.unwrap()["observations"].as_array().unwrap().len(), 11);
    assert_eq!(graph["relations"].as_array().unwrap().len(), 11);
    assert_eq!((created, entity_names(&graph).len()), (15, 17));
    assert_eq!(call_structured(two, "read_graph", json!({})), graph);
    assert_eq!(
        call_structured(&mut home.initialized_client_with(&MEMORY_TOOLS), "read_graph", json!({})),
        graph
    );
    home.assert_clean_repository();
}

#[test]
fn hand_edits_are_seen_and_kept() {
    let home = Home::new();
    let mut wire = client_with_alice_and_bob(&home);
    let file = "palace/entities/person/alice.yaml";
    let edited = home.read(file).replace("- likes tea", "# since childhood\n  - likes coffee");
    home.write(file, &edited);
    let graph = call_structured(&mut wire, "open_nodes", json!({ "names": ["Alice"] }));
    assert_eq!(graph["entities"][0]["observations"], json!(["likes coffee"]));
    let more = json!({ "observations": [observations_json("Alice", &["sings"])] });
    call_structured(&mut wire, "add_observations", more);
    assert!(home.read(file).contains("# since childhood\n  - likes coffee\n  - sings\n"));

    home.write(file, "name: Alice\ngenus: [\n");
    let more = json!({ "observations": [observations_json("Alice", &["hums"])] });
    let refusal = wire.call("add_observations", more);
    assert!(refusal.starts_with("refused: entities/person/alice.yaml:"), "{refusal}");
    assert_eq!(home.read(file), "name: Alice\ngenus: [\n");
}

#[test]
fn room_actions_query_the_graph_whatever_tools_are_offered() {
    let home = Home::new();
    let mut wire = home.initialized_client_with(&["--tools", "palace,memory"]);
    wire.call("set_workspace", json!({ "workspace": "palace", "create": true }));
    let action = |label: &str, tool: &str| json!({ "label": label, "type": "query", "tool": tool, "tool_params": { "query": "tea" } });
    let actions = [action("Search", "search_entities"), action("Seek", "search_nodes")];
    let hall = json!({ "slug": "hall", "name": "Hall", "description": "x", "actions": actions });
    wire.call("build_room", hall);
    let tea = json!({ "entities": [entity_json("Tea", "drink", &["hot"])] });
    call_structured(&mut wire, "create_entities", tea);
    let found = wire.call("palace_action", json!({ "action": 1 }));
    assert!(found.contains("31. Tea · drink"), "{found}");
    let refusal = wire.call("palace_action", json!({ "action": 2 }));
    assert!(
        refusal.contains("this action runs `search_nodes`, but there is no such tool"),
        "{refusal}"
    );
}
