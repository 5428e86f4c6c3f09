//! `wake-up` and `take-leave`: beginning and ending a session.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::harness::Home;
use crate::mempalace::add_drawer;
use crate::raw_client::RawClient;

const ALL_TOOLS: [&str; 2] = ["--tools", "palace,graph,mempalace"];

/// A palace with content of every kind, and a scroll for each of many days.
fn client_with_full_palace(home: &Home) -> RawClient {
    let mut wire = home.initialized_client_with(&ALL_TOOLS);
    wire.call("set_workspace", json!({ "workspace": "Survey", "create": true }));
    let hall =
        json!({ "slug": "hall", "name": "The Hall", "description": "Stone.", "actions": [] });
    wire.call("build_room", hall);
    for day in 1..=30 {
        let body = format!("Day {day}: {}", "we looked at the same stone again. ".repeat(20));
        wire.call("write_scroll", json!({ "title": format!("Day {day}"), "body": body }));
    }
    add_drawer(&mut wire, "code/auth", "Tokens last an hour.");
    wire.call("create_task", json!({ "title": "Ask Ada about the seam" }));
    let fact = json!({ "subject": "Clerk", "predicate": "replaces", "object": "Auth0", "valid_from": "2026-02-12" });
    wire.call("mempalace_kg_add", fact);
    let entry = json!({ "agent_name": "claude", "entry": "I was too quick with the seam.", "topic": "work" });
    wire.call("mempalace_diary_write", entry);
    wire
}

/// Runs a command, and returns its output.
fn run(home: &Home, arguments: &[&str]) -> String {
    let output = home.run_palazzo(arguments);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn get_prompt(wire: &mut RawClient, name: &str, arguments: Value) -> String {
    let mut asked = json!({ "name": name });
    asked["arguments"] = arguments;
    let answer = wire.request("prompts/get", asked);
    match answer["result"]["messages"][0]["content"]["text"].as_str() {
        Some(text) => text.to_owned(),
        None => format!("refused: {}", answer["error"]["message"].as_str().unwrap()),
    }
}

#[test]
fn wake_up_shows_items_of_every_kind() {
    let home = Home::new();
    let mut wire = client_with_full_palace(&home);
    let told = run(&home, &["wake-up", "--budget", "300"]);
    assert_snapshot!(told);
    for budget in [json!("100"), json!("150"), json!("300"), json!(300)] {
        let most: usize = budget.to_string().trim_matches('"').parse().unwrap();
        let told =
            get_prompt(&mut wire, "wake-up", json!({ "budget": budget, "workspace": "survey" }));
        let tokens = palazzo_core::token_estimate::estimate_token_count(&told);
        assert!(
            told.starts_with("What follows was read from") && tokens <= most,
            "{tokens} of {most}: {told}"
        );
    }
}

#[test]
fn wake_up_lists_observations_of_a_graph_in_a_stable_order() {
    let home = Home::new();
    let mut wire = home.initialized_client_with(&["--tools", "memory"]);
    let entity = |name: &str, observations: &[&str]| json!({ "name": name, "entityType": "person", "observations": observations });
    let mut all = vec![
        entity("Ada", &["likes tea", "works on the seam", "moved to Leeds"]),
        entity("Bob", &["sings"]),
        entity("", &["has no name"]),
        entity("Silent", &[]),
    ];
    all.extend((0..30).map(|it| entity(&format!("Guest {it}"), &["came once"])));
    wire.call("create_entities", json!({ "entities": all }));
    let knows = |from: &str, to: &str| json!({ "from": from, "to": to, "relationType": "knows" });
    let guests = (0..30).map(|it| knows(&format!("Guest {it}"), "Bob"));
    let ada = (0..20).map(|it| knows("Ada", &format!("Guest {it}")));
    wire.call("create_relations", json!({ "relations": guests.chain(ada).collect::<Vec<_>>() }));
    let told = run(&home, &["wake-up", "--budget", "200"]);
    assert_snapshot!(told, @"
    What follows was read from the palace; the user has not said it, and asks for none of it.

    ── palace ──
    0 rooms, 0 scrolls, 34 entities
    Latest changes (3 of 3):
      relations: create 50 (claude, just now)
      entities: create 34 (claude, just now)
      palace palace: create (claude, just now)
    ");
    // A budget in which all of them fit.
    let told = run(&home, &["wake-up", "--budget", "3000"]);
    let observations = told.split_once("Observations").unwrap().1;
    assert!(observations.starts_with(", most related first (33 of 33):\n  Bob (person): sings\n"));
    assert!(observations.contains("Ada (person): moved to Leeds; works on the seam; likes tea\n"));
    for _ in 0..4 {
        assert_eq!(run(&home, &["wake-up", "--budget", "3000"]), told);
    }
}

#[test]
fn wake_up_stays_within_its_budget() {
    let home = Home::new();
    client_with_full_palace(&home).close();
    let mut longest = 0;
    for budget in [100, 150, 300, 600, 1_000, 5_000] {
        let told = run(&home, &["wake-up", "--budget", &budget.to_string()]);
        let tokens = palazzo_core::token_estimate::estimate_token_count(&told);
        assert!(tokens <= budget && tokens >= longest, "{tokens} of {budget}: {told}");
        longest = tokens;
    }
    let refused = home.run_palazzo(&["wake-up", "--budget", "99"]);
    assert_eq!(refused.status.code(), Some(2));
    let refused = home.run_palazzo(&["wake-up", "elsewhere"]);
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("there is no palace `elsewhere` here"), "{said}");
}

#[test]
fn the_server_offers_prompts_to_begin_and_end_a_conversation() {
    let home = Home::new();
    let mut wire = client_with_full_palace(&home);
    let listed = wire.request("prompts/list", json!({}))["result"]["prompts"].clone();
    let names: Vec<_> = listed.as_array().unwrap().iter().map(|it| it["name"].clone()).collect();
    assert_eq!(names, ["wake-up", "take-leave"]);
    assert_snapshot!(get_prompt(&mut wire, "take-leave", json!({})));
    let refused = [
        get_prompt(&mut wire, "wake-up", json!({ "budget": "much" })),
        get_prompt(&mut wire, "wake-up", json!({ "workspace": "elsewhere" })),
        get_prompt(&mut wire, "lunch", json!({})),
    ];
    assert_snapshot!(refused.join("\n"), @"
    refused: the `budget` must be a number of tokens
    refused: there is no workspace `elsewhere`. Workspaces: `Survey`. To make a new one, call set_workspace with `create: true`.
    refused: there is no prompt `lunch`
    ");
}

#[test]
fn wake_up_works_without_a_palace() {
    let home = Home::new();
    let mut wire = home.initialized_client_with(&["--tools", "mempalace"]);
    assert!(get_prompt(&mut wire, "wake-up", json!({})).starts_with("Nothing is stored yet."));
    let leaving = get_prompt(&mut wire, "take-leave", json!({}));
    assert!(leaving.contains("mempalace_diary_write") && !leaving.contains("write_scroll"));
    assert!(!home.path().exists());
}
