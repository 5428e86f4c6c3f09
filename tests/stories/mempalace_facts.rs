//! MemPalace's tools for facts with dates: adding, ending and listing.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::harness::Home;
use crate::mempalace::{MEMPALACE_TOOLS, call_refused, call_structured};
use crate::raw_client::RawClient;

#[track_caller]
fn add_fact(wire: &mut RawClient, fact: &str, from: Option<&str>) -> Value {
    let said: Vec<_> = fact.split(" / ").collect();
    let mut asked = json!({ "subject": said[0], "predicate": said[1], "object": said[2] });
    if let Some(from) = from {
        asked["valid_from"] = from.into();
    }
    call_structured(wire, "kg_add", asked)
}

/// Returns the facts of a graph query, one per line.
#[track_caller]
fn query_facts(wire: &mut RawClient, asked: Value) -> Vec<String> {
    let found = call_structured(wire, "kg_query", asked);
    let facts = found["facts"].as_array().unwrap().iter();
    let word = |it: &Value| it.as_str().unwrap_or("…").to_owned();
    facts
        .map(|it| {
            let said = ["subject", "predicate", "object", "valid_from", "valid_to"];
            let mut said = said.map(|key| word(&it[key])).join(" ");
            if it["current"] == true {
                said.push_str(" now");
            }
            said
        })
        .collect()
}

#[expect(clippy::too_many_lines, reason = "its steps follow each other")]
#[test]
fn a_fact_ends_on_the_day_its_successor_begins() {
    let home = Home::new();
    let mut wire = home.initialized_client_with(&MEMPALACE_TOOLS);
    add_fact(&mut wire, "Max / does / swimming", Some("2024-05-01"));
    add_fact(&mut wire, "Max / child of / Alice", None);
    let ended = json!({ "subject": "MAX", "predicate": "Does", "object": "Swimming", "ended": "2026-02-15" });
    let ended = call_structured(&mut wire, "kg_invalidate", ended);
    assert_eq!(
        ended,
        json!({ "success": true, "fact": "Max → does → swimming", "ended": "2026-02-15" })
    );
    add_fact(&mut wire, "max / does / chess", Some("2026-02-15"));
    assert_eq!(
        query_facts(&mut wire, json!({ "entity": "max" })),
        [
            "Max does chess 2026-02-15 … now",
            "Max child_of Alice … … now",
            "Max does swimming 2024-05-01 2026-02-15"
        ]
    );
    let on = |wire: &mut RawClient, day: &str| {
        query_facts(wire, json!({ "entity": "Max", "as_of": day })).len()
    };
    assert_eq!(["2024-04-30", "2024-05-01", "2026-02-14"].map(|it| on(&mut wire, it)), [1, 2, 2]);
    let then = query_facts(&mut wire, json!({ "entity": "Max", "as_of": "2026-02-15" }));
    assert_eq!(then, ["Max does chess 2026-02-15 … now", "Max child_of Alice … … now"]);
    assert_eq!(
        query_facts(&mut wire, json!({ "entity": "alice", "direction": "outgoing" })),
        [""; 0]
    );
    assert_eq!(
        query_facts(&mut wire, json!({ "entity": "ALICE", "direction": "incoming" })).len(),
        1
    );
    let lines = home.read("palace/entities/thing/max.yaml");
    let lines = lines.lines().filter(|it| !it.starts_with("id:"));
    assert_snapshot!(lines.collect::<Vec<_>>().join("\n"), @"
    # yaml-language-server: $schema=../../.palazzo/schema/entity.json
    name: Max
    genus: Thing
    relations:
      - type: does
        to: swimming
        since: 2024-05-01
        until: 2026-02-15
      - type: child_of
        to: Alice
      - type: does
        to: chess
        since: 2026-02-15
    ");
    home.assert_clean_repository();
}

#[test]
fn ending_a_fact_that_does_not_hold_lists_the_facts_that_do() {
    let home = Home::new();
    let mut wire = home.initialized_client_with(&MEMPALACE_TOOLS);
    add_fact(&mut wire, "Clerk / replaces / Auth0", Some("2026-02-12"));
    add_fact(&mut wire, "Clerk / costs / money", None);
    let end = |subject: &str, object: &str, ended: &str| json!({ "subject": subject, "predicate": "replaces", "object": object, "ended": ended });
    let mut said = vec![
        call_refused(&mut wire, "kg_invalidate", end("Clerk", "Okta", "2026-03-01")),
        call_refused(&mut wire, "kg_invalidate", end("Clark", "Auth0", "2026-03-01")),
        call_refused(&mut wire, "kg_invalidate", end("Clerk", "Auth0", "2026-02-11")),
        call_refused(&mut wire, "kg_invalidate", end("Clerk", "Auth0", "some day")),
    ];
    call_structured(
        &mut wire,
        "kg_invalidate",
        json!({ "subject": "clerk", "predicate": "REPLACES", "object": "auth0" }),
    );
    said.push(call_refused(&mut wire, "kg_invalidate", end("Clerk", "Auth0", "2026-03-02")));
    let again = json!({ "subject": "Clerk", "predicate": "replaces", "object": "Auth0" });
    said.push(call_refused(&mut wire, "kg_add", again));
    assert_snapshot!(said.join("\n"));
    let since = add_fact(&mut wire, "Clerk / replaces / Auth0", Some("2026-04-01"));
    assert_eq!(since["triple_id"], "t_clerk_replaces_auth0_2026-04-01");
}

#[test]
fn a_fact_is_added_once_and_other_current_facts_are_reported() {
    let home = Home::new();
    let mut wire = home.initialized_client_with(&MEMPALACE_TOOLS);
    let first = add_fact(&mut wire, "My Project / uses / Auth0", None);
    assert_eq!(first["fact"], "My Project → uses → Auth0");
    let commits = home.commit_count();
    assert_eq!(add_fact(&mut wire, "my_project / USES / auth0", None)["reason"], "already_known");
    assert_eq!(home.commit_count(), commits);
    let dated = add_fact(&mut wire, "my_project / uses / AUTH0", Some("2025"));
    assert_eq!(
        (dated.get("reason"), &dated["triple_id"]),
        (None, &json!("t_my_project_uses_auth0_2025"))
    );
    let later = add_fact(&mut wire, "My Project / uses / Auth0", Some("2026"));
    assert_eq!((&later["reason"], &later["valid_from"]), (&json!("already_known"), &json!("2025")));
    let second = add_fact(&mut wire, "My Project / uses / Clerk", Some("2026-03-12"));
    assert_eq!(second["also_true"], json!(["My Project → uses → Auth0"]));
    assert_eq!(query_facts(&mut wire, json!({ "entity": "My Project" })).len(), 2);
    let missed = call_structured(&mut wire, "kg_query", json!({ "entity": "My Porject" }));
    assert_eq!(missed["hint"], "Nothing is known about that name; did you mean `My Project`?");
}

#[test]
fn all_tool_sets_share_one_graph() {
    let home = Home::new();
    let mut wire = home.initialized_client_with(&["--tools", "mempalace,memory"]);
    let alice = json!({ "name": "Alice", "entityType": "person", "observations": ["likes tea"] });
    wire.call("create_entities", json!({ "entities": [alice] }));
    add_fact(&mut wire, "alice / knows / Bob", Some("2020"));
    let found = call_structured(&mut wire, "kg_query", json!({ "entity": "ALICE" }));
    assert_eq!(
        (&found["genus"], &found["observations"]),
        (&json!("person"), &json!(["likes tea"]))
    );
    assert_eq!(found["facts"][0]["subject"], "Alice");
    let opened = wire.call("open_nodes", json!({ "names": ["Alice"] }));
    assert!(
        opened.contains("\"relationType\": \"knows\"")
            || opened.contains("\"relationType\":\"knows\""),
        "{opened}"
    );
    let both = json!({ "relations": [{ "from": "Bob", "to": "Alice", "relationType": "knows" }] });
    wire.call("create_relations", both);
    assert_eq!(
        query_facts(&mut wire, json!({ "entity": "bob" })),
        ["Bob knows Alice … … now", "Alice knows Bob 2020 … now"]
    );
}

#[expect(clippy::too_many_lines, reason = "its steps follow each other")]
#[test]
fn the_timeline_lists_facts_by_start_date() {
    let home = Home::new();
    let mut wire = home.initialized_client_with(&MEMPALACE_TOOLS);
    for (said, from) in [
        ("Ada / wrote / Notes", Some("1843")),
        ("Ada / born in / London", Some("1815-12-10")),
        ("Ada / liked / machines", None),
        ("Caesar / crossed / Rubicon", Some("49 BC")),
        ("Ada / will be / read", Some("2100")),
    ] {
        add_fact(&mut wire, said, from);
    }
    let all = call_structured(&mut wire, "kg_timeline", json!({}));
    let objects: Vec<_> = all["timeline"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["object"].as_str().unwrap())
        .collect();
    assert_eq!(objects, ["Rubicon", "London", "Notes", "read", "machines"]);
    let page = call_structured(
        &mut wire,
        "kg_timeline",
        json!({ "entity": "ada", "limit": 2, "offset": 1 }),
    );
    assert_eq!(
        (&page["entity"], &page["count"], &page["total"]),
        (&json!("ada"), &json!(2), &json!(4))
    );
    assert_eq!(page["hint"], "1 more left out: continue with offset 3");
    call_structured(
        &mut wire,
        "kg_invalidate",
        json!({ "subject": "Ada", "predicate": "liked", "object": "machines", "ended": "1852" }),
    );
    assert_snapshot!(call_refused(&mut wire, "kg_query", json!({ "entity": " " })), @"the `entity` is empty: give a name");
    let counted = call_structured(&mut wire, "kg_stats", json!({}));
    assert_eq!(
        counted,
        json!({ "entities": 7, "triples": 5, "current_facts": 3, "expired_facts": 1, "future_facts": 1,
            "relationship_types": ["born_in", "crossed", "liked", "will_be", "wrote"] })
    );
}

/// Returns the hint of an answer; `nothing` if it has none.
#[track_caller]
fn answer_hint(wire: &mut RawClient, tool: &str, asked: Value) -> String {
    call_structured(wire, tool, asked)["hint"].as_str().unwrap_or("nothing").to_owned()
}

#[test]
fn an_empty_query_hints_at_facts_outside_its_filters() {
    let home = Home::new();
    let mut wire = home.initialized_client_with(&MEMPALACE_TOOLS);
    add_fact(&mut wire, "Caesar / rules / Rome", Some("49 BC"));
    let ended =
        json!({ "subject": "Caesar", "predicate": "rules", "object": "Rome", "ended": "44 BC" });
    call_structured(&mut wire, "kg_invalidate", ended);
    assert_snapshot!(answer_hint(&mut wire, "kg_query", json!({ "entity": "rome", "as_of": "44 BC" })), @"No fact matches at 44 BC; 1 fact is found without `as_of` and `direction`");
    assert_snapshot!(answer_hint(&mut wire, "kg_query", json!({ "entity": "rome", "direction": "outgoing" })), @"No fact matches; 1 fact is found without `as_of` and `direction`");
    assert_snapshot!(answer_hint(&mut wire, "kg_query", json!({ "entity": "Cesar" })), @"Nothing is known about that name; did you mean `Caesar`?");
    assert_snapshot!(answer_hint(&mut wire, "kg_query", json!({ "entity": "rome", "as_of": "45 BC" })), @"nothing");
}

#[test]
fn adding_a_fact_with_another_start_reports_the_existing_one() {
    let home = Home::new();
    let mut wire = home.initialized_client_with(&MEMPALACE_TOOLS);
    add_fact(&mut wire, "Max / loves / chess", Some("2020"));
    let stands =
        |wire: &mut RawClient, from| add_fact(wire, "Max / loves / chess", from)["hint"].clone();
    assert_eq!(stands(&mut wire, None), Value::Null);
    assert_eq!(stands(&mut wire, Some("2020")), Value::Null);
    assert_snapshot!(stands(&mut wire, Some("2024")), @r#""Nothing changed: this fact is stored as valid from 2020. If that date is wrong, correct it in the file of the subject.""#);
    assert_snapshot!(stands(&mut wire, Some("2011")), @r#""Nothing changed: this fact is stored as valid from 2020. If it also held from 2011 on, add that fact with `valid_to` 2020. If that date is wrong, correct it in the file of the subject.""#);
    let earlier = json!({ "subject": "Max", "predicate": "loves", "object": "chess", "valid_from": "2011", "valid_to": "2020" });
    assert_eq!(call_structured(&mut wire, "kg_add", earlier)["success"], true);
    assert_eq!(query_facts(&mut wire, json!({ "entity": "Max", "as_of": "2015" })).len(), 1);
    let within = json!({ "subject": "Max", "predicate": "loves", "object": "chess", "valid_from": "2015", "valid_to": "2018" });
    assert_snapshot!(call_refused(&mut wire, "kg_add", within), @"that fact exists already, from 2011 until 2020, and the two overlap in time: if it holds again, set `valid_from` to 2020 or later");
}

#[test]
fn status_reports_unreadable_files_beside_the_counts() {
    let home = Home::new();
    home.write("palace/palace.toml", "name = \"Palace\"\n");
    home.write("palace/drawers/a/b/2026-01-01.md", "---\nwing: a\nwing: b\n---\nText");
    home.write("palace/drawers/a/b/2026-01-02.md", "Fine.");
    let mut wire = home.initialized_client_with(&MEMPALACE_TOOLS);
    let status = call_structured(&mut wire, "status", json!({}));
    // The text below front matter that cannot be read is found all the same.
    assert_eq!(status["total_drawers"], 2);
    assert_snapshot!(status["hint"].as_str().unwrap(), @"Files that cannot be read: drawers/a/b/2026-01-01.md:3:1: the key `wing` occurs twice; the first is on line 2");
}
