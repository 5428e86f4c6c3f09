//! The MCP protocol, line by line: stateful and stateless versions, tool definitions,
//! the size of pages, and errors.

use std::collections::BTreeSet;
use std::fmt::Write;

use insta::{allow_duplicates, assert_snapshot};
use serde_json::{Value, json};

use crate::harness::{Home, MARCH_1};
use crate::raw_client::{RawClient, answer_text, initialize_params};

const HANDSHAKE_VERSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
const STATELESS_VERSION: &str = "2026-07-28";

// Stateful and stateless protocol versions.

#[test]
fn every_handshake_version_is_accepted() {
    for version in HANDSHAKE_VERSIONS {
        let mut wire = Home::new().raw_client();
        let answer = wire.request("initialize", initialize_params(version));
        assert_eq!(answer["result"]["protocolVersion"], version);
        wire.send_notification("notifications/initialized");
        let tools = wire.request("tools/list", json!({}));
        assert!(tools["result"]["tools"].is_array(), "{version}: {tools}");
    }
}

#[test]
fn an_unknown_version_is_answered_with_the_newest_handshake_version() {
    for version in ["1999-01-01", STATELESS_VERSION, "2031-01-01"] {
        let answer = Home::new().raw_client().request("initialize", initialize_params(version));
        assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{version}");
    }
}

#[test]
fn a_server_announces_its_name_capabilities_and_instructions() {
    let mut wire = Home::new().raw_client();
    let answer = wire.request("initialize", initialize_params("2025-11-25"));
    assert_is_palazzo(&answer["result"]["serverInfo"]);
    assert_good_instructions(&answer["result"]);
    let can = json!({ "completions": {}, "prompts": {}, "tools": {},
        "resources": { "listChanged": true, "subscribe": true } });
    assert_eq!(answer["result"]["capabilities"], can);

    let answer =
        Home::new().raw_client().request("server/discover", stateless_params("claude", json!({})));
    assert_is_palazzo(&answer["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]);
    assert_good_instructions(&answer["result"]);
    assert_eq!(answer["result"]["capabilities"], can);
}

#[test]
fn discover_lists_the_supported_versions() {
    let mut wire = Home::new().raw_client();
    let answer = wire.request("server/discover", stateless_params("claude", json!({})));
    let mut versions = HANDSHAKE_VERSIONS.to_vec();
    versions.push(STATELESS_VERSION);
    assert_eq!(answer["result"]["supportedVersions"], json!(versions));
    assert_eq!(answer["result"]["resultType"], "complete");
    assert!(answer["result"]["ttlMs"].is_u64(), "{answer}");
    assert!(answer["result"]["cacheScope"].is_string(), "{answer}");
}

#[test]
fn a_stateless_call_needs_no_handshake_and_returns_the_server_info() {
    let home = home_with_survey();
    let mut wire = home.raw_client();
    for answer in [
        wire.request("tools/call", enter_survey_params("claude")),
        wire.request("tools/call", stateless_params("claude", json!({ "name": "get_entity" }))),
    ] {
        let result = &answer["result"];
        assert_eq!(result["resultType"], "complete", "{answer}");
        assert_is_palazzo(&result["_meta"]["io.modelcontextprotocol/serverInfo"]);
    }
    let tools = wire.request("tools/list", stateless_params("claude", json!({})));
    assert_eq!(tools["result"]["ttlMs"], 60_000);
    assert_eq!(tools["result"]["cacheScope"], "public");
}

#[test]
fn a_handshake_client_gets_no_stateless_fields() {
    let home = home_with_survey();
    let mut wire = home.initialized_client();
    let call = json!({ "name": "describe_workspace", "arguments": {} });
    for answer in [wire.request("tools/call", call), wire.request("tools/list", json!({}))] {
        for word in ["resultType", "ttlMs", "cacheScope", "_meta"] {
            assert_eq!(answer["result"].get(word), None, "{answer}");
        }
    }
}

#[test]
fn a_visit_continues_between_stateless_calls_of_the_same_client() {
    let home = home_with_survey();
    let mut wire = home.raw_client();
    wire.request("tools/call", enter_survey_params("claude"));
    wire.request("tools/call", enter_survey_params("codex"));
    let mut act = |client: &str, action: i64| {
        let call = json!({ "name": "palace_action", "arguments": { "action": action } });
        answer_text(&wire.request("tools/call", stateless_params(client, call)))
    };
    assert_eq!(first_line(&act("claude", 1)), "── Hall of Geology ──");
    assert_eq!(first_line(&act("claude", 15)), "── Great Hall ──");
    act("claude", 2);
    assert_eq!(first_line(&act("codex", 1)), "── Hall of Geology ──");
    assert_eq!(first_line(&act("claude", 15)), "── Great Hall ──");
}

#[test]
fn stateless_and_handshake_calls_of_a_connection_share_one_visit() {
    let home = home_with_survey();
    let mut wire = home.raw_client();
    wire.request("server/discover", stateless_params("claude", json!({})));
    wire.request("initialize", initialize_params("2025-06-18"));
    wire.send_notification("notifications/initialized");
    wire.call("set_workspace", json!({ "workspace": "paradigm-survey" }));
    let into_geology = json!({ "name": "palace_action", "arguments": { "action": 1 } });
    let there = wire.request("tools/call", stateless_params("claude", into_geology));
    assert_eq!(first_line(&answer_text(&there)), "── Hall of Geology ──");
    let back = wire.call("palace_action", json!({ "action": 15 }));
    assert_eq!(first_line(&back), "── Great Hall ──");
}

#[test]
fn a_stateless_call_without_required_metadata_is_refused() {
    let mut wire = Home::new().raw_client();
    let nothing = wire.request("tools/list", json!({}));
    assert_eq!(nothing["error"]["code"], -32602, "{nothing}");
    let mut params = stateless_params("claude", json!({}));
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2031-01-01".into();
    let unknown = wire.request("tools/list", params);
    assert_eq!(unknown["error"]["code"], -32022, "{unknown}");
    let supported = unknown["error"]["data"]["supported"].as_array().unwrap();
    assert!(supported.contains(&STATELESS_VERSION.into()), "{unknown}");
}

// Probes, and the beginning and end of a session.

#[test]
fn a_probe_succeeds_and_leaves_no_files() {
    let discover = request_line(1, "server/discover", &stateless_params("claude", json!({})));
    let initialize = request_line(1, "initialize", &initialize_params("2025-11-25"));
    let list = request_line(2, "tools/list", &json!({}));
    let notice = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string();
    let ping = request_line(1, "ping", &json!({}));
    for (lines, answers) in [
        (vec![], 0),
        (vec![&notice], 0),
        (vec![&ping], 1),
        (vec![&discover], 1),
        (vec![&discover, &discover], 2),
        (vec![&initialize], 1),
        (vec![&initialize, &notice, &list], 2),
    ] {
        let home = Home::new();
        let mut wire = home.raw_client();
        for line in &lines {
            wire.send(line);
        }
        let ended = wire.close();
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{lines:?}");
        assert_eq!(ended.responses.len(), answers, "{lines:?}: {:?}", ended.responses);
        assert!(!home.path().exists(), "{lines:?}");
        let around = home.path().parent().unwrap().read_dir().unwrap();
        assert_eq!(around.count(), 0, "{lines:?}");
    }
}

#[test]
fn a_probe_does_not_read_the_home() {
    let home = Home::new();
    std::fs::write(home.path(), "A file where a home should be.").unwrap();
    let mut wire = home.initialized_client();
    wire.request("tools/list", json!({}));
    wire.request("server/discover", stateless_params("claude", json!({})));
    let ended = wire.close();
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
}

#[test]
fn reading_needs_no_lock_and_writes_only_the_visit_log() {
    let home = home_with_survey();
    let lock = home.path().join(".git/palazzo/lock");
    let lock = std::fs::File::options().read(true).write(true).open(lock).unwrap();
    lock.lock().unwrap();
    let before = list_files(&home);
    let mut wire = home.initialized_client();
    let hall = wire.call("set_workspace", json!({ "workspace": "paradigm-survey" }));
    assert!(hall.contains("── Great Hall ──"), "{hall}");
    let geology = wire.call("palace_action", json!({ "action": 1 }));
    assert_eq!(first_line(&geology), "── Hall of Geology ──");
    wire.close();
    let mut after = list_files(&home);
    assert!(after.remove(".git/palazzo/cache"));
    assert_eq!(after, before);
}

#[test]
fn early_notifications_and_responses_are_ignored() {
    let discover = stateless_params("claude", json!({}));
    let greet = ("initialize", initialize_params("2025-11-25"));
    let unfit = ("tools/list", json!({}));
    for questions in [
        vec![greet.clone()],
        vec![("ping", json!({})), greet.clone()],
        vec![("server/discover", discover), greet.clone()],
        vec![unfit, greet],
        vec![("tools/call", enter_survey_params("claude"))],
    ] {
        let home = home_with_survey();
        let mut wire = home.raw_client();
        for (method, params) in questions {
            wire.send_notification("notifications/initialized");
            wire.send(r#"{"jsonrpc":"2.0","id":9,"result":{}}"#);
            let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
                "params": { "requestId": 7 } });
            wire.send(&cancelled.to_string());
            wire.request(method, params);
        }
        wire.send_notification("notifications/initialized");
        let hall = wire.request("tools/call", enter_survey_params("claude"));
        assert!(answer_text(&hall).contains("── Great Hall ──"), "{hall}");
        let ended = wire.close();
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    }
}

#[test]
fn a_server_answers_pending_requests_before_it_exits() {
    let home = home_with_survey();
    let mut wire = home.initialized_client();
    wire.call("set_workspace", json!({ "workspace": "paradigm-survey" }));
    let scroll = json!({ "title": "Last words", "body": "Gone." });
    let last =
        wire.send_request("tools/call", json!({ "name": "write_scroll", "arguments": scroll }));
    let ended = wire.close();
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    let answers: Vec<_> = ended.responses.iter().map(|it| it["id"].clone()).collect();
    assert_eq!(answers, [json!(last)]);
    assert!(home.git(&["log", "-1", "--format=%s"]).ends_with("Last words\n"));
    home.assert_clean_repository();
}

#[test]
fn calls_take_effect_in_the_order_they_arrive_and_are_answered_once_each() {
    let home = home_with_survey();
    let mut wire = home.initialized_client();
    let mut call = |tool: &str, arguments: Value| {
        wire.send_request("tools/call", json!({ "name": tool, "arguments": arguments }))
    };
    let mut asked =
        BTreeSet::from([call("set_workspace", json!({ "workspace": "paradigm-survey" }))]);
    let titles: Vec<_> = (0..200).map(|it| format!("Scroll {it}")).collect();
    for title in &titles {
        asked.insert(call("write_scroll", json!({ "title": title, "body": "In turn." })));
    }
    let answered: Vec<_> = asked.iter().map(|_| wire.next_response()).collect();
    assert!(answered.iter().all(|it| it["result"]["isError"] == false), "{answered:?}");
    let answered = answered.iter().map(|it| it["id"].as_i64().unwrap()).collect();
    assert_eq!(asked, answered);
    assert_eq!(wire.close().responses, Vec::<Value>::new());

    let log = home.git(&["log", "--reverse", "--format=%s", "-200"]);
    let commits: Vec<_> = log.lines().filter_map(|it| it.split_once(": ")).collect();
    assert_eq!(commits.iter().map(|it| it.1).collect::<Vec<_>>(), titles);
    let hall = "paradigm-survey/scrolls/great-hall";
    let mut by_id: Vec<_> =
        list_files(&home).into_iter().filter(|it| it.starts_with(hall)).collect();
    by_id.retain(|it| it.contains("scroll-"));
    let by_id = by_id.iter().filter_map(|it| it.strip_suffix(".md")?.split_once("-scroll-"));
    let by_id: Vec<_> = by_id.map(|it| format!("Scroll {}", it.1)).collect();
    assert_eq!(by_id, titles);
    home.assert_clean_repository();
}

// Tool definitions.

#[test]
fn every_tool_declares_its_effects() {
    let mut table = String::new();
    for tool in list_tools(&mut Home::new().initialized_client()) {
        let hints = &tool["annotations"];
        // Hints that equal the default of MCP are left out.
        let hint = |name: &str, default: bool, yes: &'static str| match hints[name]
            .as_bool()
            .unwrap_or(default)
        {
            true => yes,
            false => "-",
        };
        let is_reading = hints["readOnlyHint"] == true;
        writeln!(
            table,
            "{:20} {:24} {:8} {:12} {:11} {}",
            tool["name"].as_str().unwrap(),
            tool["title"].as_str().unwrap_or("-"),
            hint("readOnlyHint", false, "reads"),
            hint("destructiveHint", !is_reading, "destructive"),
            hint("idempotentHint", is_reading, "idempotent"),
            hint("openWorldHint", true, "open")
        )
        .unwrap();
    }
    assert_snapshot!(table);
}

#[test]
fn every_tool_and_every_argument_is_described() {
    for tool in list_tools(&mut Home::new().initialized_client()) {
        let name = tool["name"].as_str().unwrap();
        let description = tool["description"].as_str().unwrap();
        assert!((1..2048).contains(&description.len()), "{name}: {}", description.len());
        assert_eq!(tool["inputSchema"]["type"], "object", "{name}");
        assert!(tool["inputSchema"]["properties"].is_object(), "{name}");
        assert_schema_is_described(&tool["inputSchema"], name);
    }
}

#[test]
fn the_list_of_tools_is_short_and_always_the_same() {
    let home = Home::new();
    let mut wire = home.initialized_client();
    let first = wire.request("tools/list", json!({}))["result"].to_string();
    let again = wire.request("tools/list", json!({}))["result"].to_string();
    let elsewhere =
        Home::new().initialized_client().request("tools/list", json!({}))["result"].to_string();
    assert_eq!((&first, &first), (&again, &elsewhere));
    assert!(first.len() <= 12_600, "the list of tools has {} bytes", first.len());
}

#[test]
fn read_only_tools_change_nothing() {
    let home = home_with_survey();
    let mut wire = home.initialized_client();
    let before = list_files(&home);
    for tool in list_tools(&mut wire) {
        if tool["annotations"]["readOnlyHint"] != true {
            continue;
        }
        let arguments = match tool["name"].as_str().unwrap() {
            "search_entities" => json!({ "query": "fossils" }),
            "get_entity" | "get_relationships" => json!({ "name": "Gradualism" }),
            _ => json!({}),
        };
        let text = wire.call(tool["name"].as_str().unwrap(), arguments);
        assert!(!text.starts_with("refused"), "{text}");
    }
    assert_eq!(home.commit_count(), 1);
    assert_eq!(list_files(&home), before);
    home.assert_clean_repository();
}

#[test]
fn idempotent_tools_commit_nothing_the_second_time() {
    let home = home_with_survey();
    let mut wire = home.initialized_client();
    let hall = json!({ "slug": "hall-of-physics", "name": "Hall of Physics",
        "description": "A pendulum swings.", "portals": ["great-hall"] });
    let claim = json!({ "name": "Gradualism", "status": "settled",
        "add_observations": ["It is slow."], "remove_observations": ["It is fast."],
        "add_relations": [{ "type": "concerns", "to": "Geology" }] });
    for (tool, arguments) in [("build_room", hall), ("update_entity", claim)] {
        let once = wire.call(tool, arguments.clone());
        assert!(!once.starts_with("refused"), "{once}");
        let commits = home.commit_count();
        wire.call(tool, arguments);
        assert_eq!(home.commit_count(), commits, "{tool}");
    }
    home.assert_clean_repository();
}

#[test]
fn every_result_is_complete_as_text() {
    let home = home_with_survey();
    let mut wire = home.initialized_client();
    for (tool, arguments) in [
        ("set_workspace", json!({ "workspace": "paradigm-survey" })),
        ("palace_action", json!({ "action": 0 })),
        ("palace_action", json!({ "action": 99 })),
        ("build_room", json!({ "slug": "attic", "name": "Attic", "description": "Dust." })),
        ("write_scroll", json!({ "title": "Found", "body": "Dust." })),
        ("list_entities", json!({})),
        ("get_entity", json!({ "name": "Nobody" })),
        ("create_entities", json!({ "entities": [{ "name": "A", "genus": "Claim" }] })),
        ("describe_workspace", json!({})),
    ] {
        let answer = wire.request("tools/call", json!({ "name": tool, "arguments": arguments }));
        assert!(answer["result"]["isError"].is_boolean(), "{answer}");
        assert_eq!(answer["result"].get("structuredContent"), None, "{answer}");
        assert!(!answer_text(&answer).trim().is_empty(), "{answer}");
    }
}

// The size of pages.

#[test]
fn a_usual_room_page_without_contents_is_under_five_hundred_tokens() {
    let home = home_with_survey();
    let settings = home.read("paradigm-survey/palace.toml");
    home.write("paradigm-survey/palace.toml", &format!("{settings}\n[menu]\ncontents = 0\n"));
    let mut wire = home.initialized_client();
    wire.call("set_workspace", json!({ "workspace": "paradigm-survey" }));
    let rooms = list_files(&home);
    let rooms = rooms.iter().filter_map(|it| it.strip_prefix("paradigm-survey/rooms/"));
    for room in rooms.filter_map(|it| it.strip_suffix(".yaml")) {
        let page = wire.call("palace_action", json!({ "action": 16, "params": room }));
        assert!(page.starts_with("── "), "{page}");
        assert!(estimate_tokens(&page) < 500, "{} tokens:\n{page}", estimate_tokens(&page));
    }
}

#[test]
fn the_entry_page_with_its_hand_over_is_under_a_thousand_tokens() {
    let home = home_with_survey();
    let mut wire = home.initialized_client();
    let page = wire.call("set_workspace", json!({ "workspace": "paradigm-survey" }));
    assert!(page.starts_with("This is a memory palace"), "{page}");
    assert!(estimate_tokens(&page) < 1_000, "{} tokens:\n{page}", estimate_tokens(&page));
}

#[test]
fn the_entry_page_of_a_vast_palace_is_no_longer() {
    let home = Home::new();
    write_vast_palace(&home, "vast");
    for room in 0..300 {
        write_vast_room(&home, room);
    }
    let mut wire = home.initialized_client();
    let page = wire.call("set_workspace", json!({ "workspace": "vast" }));
    assert!(page.contains("── Gallery of Distant Matters 0 ──"), "{page}");
    assert!(page.contains("12. ") && page.contains("more)"), "{page}");
    assert!(estimate_tokens(&page) < 800, "{} tokens:\n{page}", estimate_tokens(&page));
}

#[test]
fn the_entry_page_of_a_vast_palace_without_rooms_is_no_longer() {
    let home = Home::new();
    write_vast_palace(&home, "vast");
    let mut wire = home.initialized_client();
    let page = wire.call("set_workspace", json!({ "workspace": "vast" }));
    assert!(page.contains("(0 rooms, 0 scrolls, 2000 entities)"), "{page}");
    assert!(page.contains("and 188 more"), "{page}");
    assert!(page.contains("This palace has no rooms yet"), "{page}");
    assert!(estimate_tokens(&page) < 800, "{} tokens:\n{page}", estimate_tokens(&page));
}

// Errors.

#[tokio::test]
async fn quoted_numbers_are_accepted_as_arguments() {
    let home = Home::new();
    home.run_palazzo(&["init", "w"]);
    home.write("w/rooms/hall.yaml", "name: Hall\ndescription: Reeds.\n");
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("w").await;
    let map = agent.choose(0).await;
    assert_eq!(agent.call("palace_action", json!({ "action": "0" })).await, map);
    let pages = [json!("1"), json!(1)].map(|it| json!({ "page": it }));
    let [quoted, plain] = pages;
    let listed = agent.call("list_entities", plain).await;
    assert_eq!(agent.call("list_entities", quoted).await, listed);
}

#[test]
fn wrong_arguments_are_reported_by_their_path() {
    let home = home_with_survey();
    let mut wire = home.initialized_client();
    let text = |label: &str| json!({ "label": label, "type": "text", "content": "…" });
    let room = |second: Value| json!({ "slug": "attic", "actions": [text("Look"), second] });
    let entity = |it: Value| json!({ "entities": [{ "name": "A", "genus": "B" }, it] });
    let mut page = String::new();
    for (tool, arguments) in [
        ("set_workspace", json!({})),
        ("set_workspace", json!({ "workspace": 1 })),
        ("set_workspace", json!({ "workspce": "paradigm-survey" })),
        ("set_workspace", json!({ "workspace": "x", "create": "yes" })),
        ("palace_action", json!({ "action": "three" })),
        ("palace_action", json!({ "action": 3.5 })),
        ("palace_action", json!({ "action": 3, "params": { "room": "attic" } })),
        ("build_room", json!({ "slug": "The Attic" })),
        ("build_room", json!({ "slug": "attic", "portals": ["hall", "Hall!"] })),
        ("build_room", room(json!({ "label": "Go", "type": 7 }))),
        ("build_room", room(json!({ "label": "Go", "type": "jump" }))),
        ("build_room", room(json!({ "type": "text", "content": "…" }))),
        ("build_room", room(json!({ "label": "Go", "type": "navigate", "rom": "attic" }))),
        ("build_room", room(json!({ "label": "Go", "type": "navigate" }))),
        ("build_room", room(json!("Go"))),
        ("create_entities", entity(json!({ "name": "C" }))),
        ("create_entities", entity(json!({ "name": "C", "genus": "D", "observations": "E" }))),
        ("create_entities", entity(json!({ "name": "C", "genus": "D", "relations": [{}] }))),
        ("list_entities", json!({ "page": -1 })),
        ("list_entities", json!({ "page": 0 })),
        ("get_relationships", json!({ "name": "Gradualism", "direction": "up" })),
        ("build_rom", json!({})),
        ("enter", json!({})),
    ] {
        let arguments_said = arguments.to_string();
        let answer = wire.call(tool, arguments);
        writeln!(page, "> {tool} {arguments_said}\n{answer}\n").unwrap();
    }
    assert_snapshot!(page);
}

#[test]
fn a_malformed_tool_call_is_refused_with_the_expected_form() {
    let home = home_with_survey();
    let mut wire = home.initialized_client();
    for params in [
        json!({}),
        json!({ "name": 7 }),
        json!({ "arguments": {} }),
        json!({ "name": "set_workspace", "arguments": ["paradigm-survey"] }),
        json!({ "name": "set_workspace", "arguments": "paradigm-survey" }),
    ] {
        let said = answer_text(&wire.request("tools/call", params));
        allow_duplicates! {
            assert_snapshot!(said, @"-32602: tools/call needs `name`, a string, and `arguments`, an object");
        }
    }
    assert_snapshot!(answer_text(&wire.request("tools/walk", json!({}))), @"-32601: there is no method `tools/walk`");
}

#[test]
fn invalid_parameters_and_unknown_methods_get_different_errors() {
    let home = home_with_survey();
    let mut wire = home.initialized_client();
    for (method, params) in [
        ("resources/subscribe", json!({ "uri": 5 })),
        ("resources/read", json!({})),
        ("prompts/get", json!({ "name": 5 })),
    ] {
        let answer = wire.request(method, params);
        let expected = format!("invalid parameters for {method}");
        assert_eq!(
            (&answer["error"]["code"], &answer["error"]["message"]),
            (&json!(-32602), &json!(expected))
        );
    }
}

#[test]
fn a_text_with_a_lone_surrogate_is_accepted() {
    let home = home_with_survey();
    let mut wire = home.initialized_client();
    let arguments = r#"{"title":"Cut","body":"A fine \ud83d","room":"great-hall"}"#;
    wire.call("set_workspace", json!({ "workspace": "paradigm-survey" }));
    wire.send(&format!(
        r#"{{"jsonrpc":"2.0","id":"cut","method":"tools/call","params":{{"name":"write_scroll","arguments":{arguments}}}}}"#
    ));
    let answer = wire.next_response();
    assert_eq!(
        (&answer["id"], &answer["result"]["isError"]),
        (&json!("cut"), &json!(false)),
        "{answer}"
    );
    let scrolls = home.path().join("paradigm-survey/scrolls/great-hall");
    let texts = std::fs::read_dir(scrolls).unwrap().map(|it| it.unwrap().path());
    let mut texts = texts.map(|it| std::fs::read_to_string(it).unwrap());
    assert!(texts.any(|it| it.contains("A fine \u{fffd}")));
}

#[test]
fn an_invalid_line_does_not_end_the_connection() {
    let home = home_with_survey();
    let mut wire = home.initialized_client();
    for (line, code) in [
        ("not json", -32700),
        ("{", -32700),
        ("[]", -32600),
        ("7", -32600),
        ("\"ping\"", -32600),
        (r#"{"jsonrpc":"2.0","id":null}"#, -32600),
    ] {
        wire.send(line);
        let message = wire.next_response();
        assert_eq!(message.get("id"), Some(&Value::Null), "{message}");
        assert_eq!(message["error"]["code"], code, "{message}");
    }
    wire.send("");
    assert_eq!(wire.request("ping", json!({}))["result"], json!({}));
    assert_eq!(wire.close().code, Some(0));
}

#[test]
fn an_unreadable_request_gets_a_parse_error() {
    let home = Home::new();
    let mut wire = home.raw_client();
    let deep = "[".repeat(200) + &"]".repeat(200);
    let asked = |id: i64, held: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"x","arguments":{{"a":{held}}}}}}}"#
        )
    };
    // Before the session has started, an invalid message does not end the connection.
    wire.send(&asked(1, "1e999"));
    let mut told = format!("{}\n", wire.next_response()["error"]);
    wire.request("initialize", initialize_params("2025-06-18"));
    wire.send_notification("notifications/initialized");
    for held in [deep.as_str(), "[1,]", "nonsense"] {
        wire.send(&asked(2, held));
        let answer = wire.next_response();
        assert_eq!(answer["id"], 2);
        told += &format!("{}\n", answer["error"]);
    }
    wire.send(&asked(3, &format!("\"{}\"", "x".repeat(17 * 1024 * 1024))));
    told += &wire.next_response()["error"].to_string();
    assert_snapshot!(told, @r#"
    {"code":-32700,"message":"the message cannot be parsed: number out of range at line 1 column 89"}
    {"code":-32700,"message":"the message cannot be parsed: recursion limit exceeded at line 1 column 209"}
    {"code":-32700,"message":"the message cannot be parsed: trailing comma at line 1 column 88"}
    {"code":-32700,"message":"the message cannot be parsed: expected ident at line 1 column 86"}
    {"code":-32700,"message":"the message cannot be parsed: the line is longer than 16 MiB"}
    "#);
    assert_eq!(wire.request("ping", json!({}))["result"], json!({}));
}

#[test]
fn a_megabyte_argument_is_read_and_refused_where_it_is_too_long() {
    let home = home_with_survey();
    let mut wire = home.initialized_client();
    wire.call("set_workspace", json!({ "workspace": "paradigm-survey" }));
    let just = "All of it. ".repeat(95_000);
    let said = wire.call("write_scroll", json!({ "title": "Everything", "body": just }));
    assert_snapshot!(said, @r#"Wrote the scroll "Everything" in Great Hall (21 reads it)."#);
    let more = "All of it. ".repeat(96_000);
    let said = wire.call("write_scroll", json!({ "title": "And more", "body": more }));
    assert!(said.starts_with("refused: ") && said.contains("the limit is"), "{said}");
    for (tool, arguments) in [
        ("set_workspace", json!({ "workspace": more })),
        ("palace_action", json!({ "action": 16, "params": more })),
        ("palace_action", json!({ "action": 17, "params": more })),
        ("palace_action", json!({ "action": more })),
        ("build_room", json!({ "slug": more })),
        ("get_entity", json!({ "name": more })),
        ("list_entities", json!({ "genus": more })),
        ("list_entities", json!({ "status": more })),
        ("search_entities", json!({ "query": more })),
        (more.as_str(), json!({})),
    ] {
        let said = wire.call(tool, arguments);
        assert!(said.len() < 10_000, "{} bytes: {}", said.len(), &said[..1000]);
    }
    assert_eq!(home.commit_count(), 2);
    home.assert_clean_repository();
}

#[test]
fn only_protocol_messages_go_to_standard_output() {
    let home = home_with_survey();
    home.write("paradigm-survey/rooms/broken.yaml", "name: [");
    let mut wire = home.initialized_client();
    // Each answer must parse as a protocol message.
    wire.call("set_workspace", json!({ "workspace": "paradigm-survey" }));
    wire.call("set_workspace", json!({ "workspace": "nowhere" }));
    wire.call("palace_action", json!({ "action": 16, "params": "broken" }));
    wire.call("palace_action", json!({ "action": -5 }));
    wire.call("build_room", json!({ "slug": "broken", "name": "B", "description": "C" }));
    wire.call("write_scroll", json!({ "title": "\n\n", "body": "{\n}\n" }));
    wire.call("write_scroll", json!({ "title": "Two\nlines", "body": "\u{0}\r\n\u{2028}" }));
    wire.call("no_such_tool", json!({}));
    wire.send("not json");
    assert_eq!(wire.next_response()["error"]["code"], -32700);
    wire.request("no/such/method", json!({}));
    home.write("paradigm-survey/palace.toml", "format = [");
    wire.call("describe_workspace", json!({}));
    // At once: a server that looks while files are being removed reports a damaged repository.
    std::fs::rename(home.path(), home.path().with_extension("gone")).unwrap();
    wire.call("palace_action", json!({ "action": 0 }));
    wire.call("write_scroll", json!({ "title": "Where", "body": "Gone." }));
    let ended = wire.close();
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    assert_eq!(ended.responses, Vec::<Value>::new());
}

/// A home with the survey of the examples.
pub(crate) fn home_with_survey() -> Home {
    let home = Home::new();
    let made = home.run_palazzo(&["init", "Paradigm Survey", "--template", "paradigm-survey"]);
    assert!(made.status.success(), "{made:?}");
    home
}

/// Returns the `_meta` that a stateless client sends with every request.
pub(crate) fn stateless_params(client: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": STATELESS_VERSION,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": client, "version": "1.0" },
    });
    params
}

/// A stateless call that enters the survey.
fn enter_survey_params(client: &str) -> Value {
    let arguments = json!({ "workspace": "paradigm-survey" });
    stateless_params(client, json!({ "name": "set_workspace", "arguments": arguments }))
}

fn request_line(id: i64, method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
}

fn list_tools(wire: &mut RawClient) -> Vec<Value> {
    wire.request("tools/list", json!({}))["result"]["tools"].as_array().unwrap().clone()
}

fn first_line(page: &str) -> &str {
    page.lines().next().unwrap_or_default()
}

#[track_caller]
fn assert_is_palazzo(about: &Value) {
    let version = env!("CARGO_PKG_VERSION");
    let found = (&about["name"], &about["title"], &about["version"]);
    assert_eq!(found, (&"palazzo".into(), &"Palazzo".into(), &version.into()));
}

#[track_caller]
fn assert_good_instructions(result: &Value) {
    let text = result["instructions"].as_str().unwrap();
    assert!(text.len() < 2048, "{} bytes", text.len());
    assert!(text.contains("memory palace"), "{text}");
    let first = |word| text.find(word).unwrap_or_else(|| panic!("`{word}` is missing: {text}"));
    assert!(first("set_workspace") < first("palace_action"), "{text}");
}

/// The parameters that need no description.
const SELF_EXPLAINING: [&str; 21] = [
    "add_observations",
    "attributes",
    "entities",
    "entity",
    "genus",
    "name",
    "names",
    "note",
    "page",
    "query",
    "relations",
    "remove_relations",
    "since",
    "source",
    "status",
    "steps",
    "title",
    "to",
    "type",
    "until",
    "who",
];

/// Asserts that every part of a schema is described, without keywords that break
/// clients.
#[track_caller]
fn assert_schema_is_described(schema: &Value, path: &str) {
    for word in ["format", "$ref", "$defs", "$schema", "default", "additionalProperties"] {
        assert_eq!(schema.get(word), None, "{path}");
    }
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{path}.{name}");
        let text = property["description"].as_str().unwrap_or_default();
        let is_clear = SELF_EXPLAINING.contains(&name.as_str());
        assert!(!text.is_empty() || is_clear, "{path} is not described");
        assert!(property["type"].is_string(), "{path}: {property}");
        assert_schema_is_described(property, &path);
    }
    for choice in schema["enum"].as_array().into_iter().flatten() {
        assert!(choice.is_string(), "{path}: {schema}");
    }
    if let Some(items) = schema.get("items") {
        assert_schema_is_described(items, &format!("{path}[]"));
    }
}

/// Estimates tokens generously: English has more bytes per token, box drawing fewer.
fn estimate_tokens(page: &str) -> usize {
    (page.len() * 2).div_ceil(7)
}

/// Lists the files of the home, and the entries of `.git` and `.git/palazzo`.
fn list_files(home: &Home) -> BTreeSet<String> {
    let listed = home.git(&["ls-files", "-co", "--", "."]);
    let mut files: BTreeSet<_> = listed.lines().map(str::to_owned).collect();
    let dir = home.path().join(".git");
    for entry in dir.read_dir().unwrap().chain(dir.join("palazzo").read_dir().unwrap()) {
        files
            .insert(entry.unwrap().path().strip_prefix(home.path()).unwrap().display().to_string());
    }
    files
}

/// Writes a palace with 2,000 entities of 200 genera.
fn write_vast_palace(home: &Home, key: &str) {
    home.write(&format!("{key}/palace.toml"), "format = 1\nname = \"The Vast Palace\"\n");
    for entity in 0..2000 {
        let genus = format!("Kind of Matter With a Long and Winding Name {}", entity % 200);
        let text = format!("name: Matter {entity}\ngenus: {genus}\nobservations: [It is so.]\n");
        home.write(&format!("{key}/entities/matter/matter-{entity}.yaml"), &text);
    }
}

/// Writes a room with thirty actions and a portal to the first room (of the first room, to
/// the second).
fn write_vast_room(home: &Home, room: usize) {
    let description = "Shelves run into the dusk, and a lamp swings where somebody has just \
        passed. Far off a clock strikes an hour that is not the right one. "
        .repeat(3);
    let portal = usize::from(room == 0);
    let mut text = format!(
        "name: Gallery of Distant Matters {room}\ndescription: {description}\n\
         portals: [gallery-{portal:03}]\nactions:\n"
    );
    for action in 0..30 {
        text.push_str(&format!(
            "  - {{ label: Examine the cabinet of curious matters {action}, type: text, content: No. }}\n"
        ));
    }
    home.write(&format!("vast/rooms/gallery-{room:03}.yaml"), &text);
    let scroll = format!(
        "---\ntitle: What was found among the distant matters {room}\n\
         written: {MARCH_1}\nby: claude\n---\nNothing.\n"
    );
    let file = format!("vast/scrolls/gallery-000/01KJHSAPE0PJMA0HCKESTE{room:04}-found.md");
    home.write(&file, &scroll);
}
