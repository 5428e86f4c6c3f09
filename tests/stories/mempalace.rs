//! Replacing MemPalace: its nineteen tools, on a palace.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::harness::Home;
use crate::raw_client::{RawClient, answer_text};

pub(crate) const MEMPALACE_TOOLS: [&str; 2] = ["--tools", "mempalace"];

/// Calls a tool, and returns its value, which must be equal to the text.
#[track_caller]
pub(crate) fn call_structured(wire: &mut RawClient, tool: &str, arguments: Value) -> Value {
    let mut call = json!({ "name": format!("mempalace_{tool}") });
    call["arguments"] = arguments;
    let answer = wire.request("tools/call", call);
    let (text, value) = (answer_text(&answer), answer["result"]["structuredContent"].clone());
    let told: Value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}"));
    assert!(told == value || told == value["rooms"], "{value}\n{text}");
    value
}

/// Calls a tool that must refuse, and returns the refusal.
#[track_caller]
pub(crate) fn call_refused(wire: &mut RawClient, tool: &str, arguments: Value) -> String {
    let said = wire.call(&format!("mempalace_{tool}"), arguments);
    said.strip_prefix("refused: ")
        .unwrap_or_else(|| panic!("{tool} did not refuse: {said}"))
        .to_owned()
}

/// Replaces the ids, which differ between runs, by a word.
fn without_ids(text: &str) -> String {
    let is_id = |it: &str| it.len() == 26 && it.starts_with("01K");
    let words = text.split_inclusive(|it: char| !it.is_ascii_alphanumeric());
    words
        .map(|it| {
            let word = it.trim_end_matches(|it: char| !it.is_ascii_alphanumeric());
            if is_id(word) { it.replace(word, "ID") } else { it.to_owned() }
        })
        .collect()
}

#[track_caller]
pub(crate) fn add_drawer(wire: &mut RawClient, shelf: &str, content: &str) -> Value {
    let (wing, room) = shelf.split_once('/').unwrap();
    call_structured(wire, "add_drawer", json!({ "wing": wing, "room": room, "content": content }))
}

/// A palace with a decision and two facts.
fn home_with_decision() -> Home {
    let home = Home::new();
    let mut before = home.initialized_client_with(&MEMPALACE_TOOLS);
    let notes = json!({ "wing": "wing_myproject", "room": "decisions", "source_file": "meeting-2026-02-12.md",
        "content": "AUTH.DECISION:2026-02|chose.Clerk→Auth0.rejected|*pragmatic*|reasons: pricing, hosted UI" });
    let filed = call_structured(&mut before, "add_drawer", notes);
    let source = filed["drawer_id"].as_str().unwrap();
    let replaces = json!({ "subject": "Clerk", "predicate": "replaces", "object": "Auth0",
        "valid_from": "2026-02-12", "source_closet": source });
    call_structured(&mut before, "kg_add", replaces);
    let uses = json!({ "subject": "MyProject", "predicate": "uses", "object": "Clerk", "valid_from": "2026-02-12" });
    call_structured(&mut before, "kg_add", uses);
    before.close();
    home
}

#[test]
fn a_typical_session_runs_from_status_to_add_drawer() {
    let home = home_with_decision();
    let mut wire = home.initialized_client_with(&MEMPALACE_TOOLS);
    let status = call_structured(&mut wire, "status", json!({}));
    assert_eq!(status["total_drawers"], 1);
    assert_eq!(status["wings"], json!({ "wing_myproject": 1 }));
    assert_eq!(status["rooms"], json!({ "decisions": 1 }));
    assert_eq!(status["palace_path"], home.path().join("palace").display().to_string());
    for step in ["mempalace_kg_query", "mempalace_search", "mempalace_diary_write"] {
        assert!(status["protocol"].as_str().unwrap().contains(step));
    }
    assert!(status["aaak_dialect"].as_str().unwrap().contains("ALC=Alice"));

    let asked =
        json!({ "query": "reasons for choosing Clerk", "wing": "wing_myproject", "limit": 5 });
    let found = call_structured(&mut wire, "search", asked);
    let mut pages = vec![without_ids(&format!("{found:#}"))];
    assert!(found["results"][0]["similarity"].as_f64().is_some_and(|it| it > 0.0 && it <= 1.0));
    let asked = json!({ "entity": "Clerk", "direction": "both" });
    pages.push(without_ids(&format!("{:#}", call_structured(&mut wire, "kg_query", asked))));
    let new = json!({ "wing": "wing_myproject", "room": "decisions", "added_by": "mcp",
        "content": "AUTH.COST:2026-02|Auth0.price↑40%→triggered.Clerk.eval|★★★" });
    pages.push(without_ids(&format!("{:#}", call_structured(&mut wire, "add_drawer", new))));
    let similarity = format!("{}", found["results"][0]["similarity"]);
    assert_snapshot!(pages.join("\n").replace(&similarity, "…"));

    assert_snapshot!(home.git(&["log", "--format=%an: %s", "--reverse"]), @"
    claude: palace palace: create
    claude: drawer wing_myproject/decisions: file
    claude: fact Clerk → replaces → Auth0: add
    claude: fact MyProject → uses → Clerk: add
    claude: drawer wing_myproject/decisions: file
    ");
    home.assert_clean_repository();
}

#[test]
fn the_nineteen_tools_declare_their_arguments_and_effects() {
    let mut wire = Home::new().initialized_client_with(&MEMPALACE_TOOLS);
    let list = wire.request("tools/list", json!({}))["result"]["tools"].clone();
    assert!(
        list.to_string().len() < 10_797,
        "more than the original's: {}",
        list.to_string().len()
    );
    let spelled = list.as_array().unwrap().iter().map(|it| {
        let (input, hints) = (&it["inputSchema"], &it["annotations"]);
        let optional: Vec<_> = input["properties"].as_object().unwrap().keys().cloned().collect();
        let is_required =
            |key: &String| input["required"].as_array().is_some_and(|it| it.contains(&json!(key)));
        let said: Vec<_> = optional
            .into_iter()
            .map(|it| if is_required(&it) { it } else { format!("[{it}]") })
            .collect();
        let reads = if hints["readOnlyHint"] == true { "reads" } else { "writes" };
        format!("{} {reads}: {}", it["name"].as_str().unwrap(), said.join(" "))
    });
    let spelled: Vec<_> = spelled.collect();
    assert_eq!(spelled.len(), 19);
    assert_snapshot!(spelled.join("\n"));
}

#[test]
fn without_a_palace_reading_tools_hint_how_to_create_one() {
    let home = Home::new();
    let mut wire = home.initialized_client_with(&MEMPALACE_TOOLS);
    let asked = [
        ("status", json!({})),
        ("list_wings", json!({})),
        ("list_rooms", json!({})),
        ("get_taxonomy", json!({})),
        ("search", json!({ "query": "x" })),
        ("check_duplicate", json!({ "content": "x" })),
        ("get_aaak_spec", json!({})),
        ("kg_query", json!({ "entity": "x" })),
        ("kg_timeline", json!({})),
        ("kg_stats", json!({})),
        ("graph_stats", json!({})),
        ("diary_read", json!({ "agent_name": "x" })),
    ];
    for (tool, arguments) in asked {
        let hint = call_structured(&mut wire, tool, arguments)["hint"].clone();
        assert!(
            hint.as_str().is_some_and(|it| it.starts_with("Nothing is stored yet")),
            "{tool}: {hint}"
        );
    }
    assert_eq!(call_structured(&mut wire, "find_tunnels", json!({}))["rooms"], json!([]));
    assert!(!home.path().exists());
    let written = call_structured(
        &mut wire,
        "diary_write",
        json!({ "agent_name": "Claude", "entry": "Hello." }),
    );
    assert_eq!(written["success"], true);
    assert!(home.path().join("palace/palace.toml").exists());
    assert_eq!(call_structured(&mut wire, "status", json!({}))["hint"], Value::Null);
}
