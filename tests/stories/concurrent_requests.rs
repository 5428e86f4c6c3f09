//! Concurrent requests: which are answered, when, and under which id.

use std::collections::BTreeMap;
use std::fs::File;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

use crate::harness::Home;
use crate::mcp_protocol::{home_with_survey, stateless_params};
use crate::raw_client::{RawClient, answer_text};

/// Holds the lock that every writer of a home needs, until it is dropped.
fn hold_write_lock(home: &Home) -> File {
    let lock = home.path().join(".git/palazzo/lock");
    let lock = File::options().read(true).write(true).open(lock).unwrap();
    lock.lock().unwrap();
    lock
}

fn send_write_scroll(wire: &mut RawClient, title: &str) -> i64 {
    let scroll = json!({ "title": title, "body": "In turn." });
    wire.send_request("tools/call", json!({ "name": "write_scroll", "arguments": scroll }))
}

fn call_params(tool: &str, arguments: Value) -> Value {
    let mut call = json!({ "name": tool });
    call["arguments"] = arguments;
    call
}

fn send_cancel(wire: &mut RawClient, id: i64) {
    let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": { "requestId": id } });
    wire.send(&cancelled.to_string());
}

/// A server with the visits of `claude` and `codex`, after a first write.
fn start_in_survey(home: &Home) -> RawClient {
    let mut wire = home.initialized_client();
    let survey = json!({ "workspace": "paradigm-survey" });
    wire.call("set_workspace", survey.clone());
    wire.request("tools/call", stateless_params("codex", call_params("set_workspace", survey)));
    let first = send_write_scroll(&mut wire, "First");
    assert_eq!(wire.next_response()["id"], first);
    wire
}

fn committed_scroll_titles(home: &Home) -> Vec<String> {
    let log = home.git(&["log", "--reverse", "--format=%s"]);
    let scrolls = log.lines().filter(|it| it.starts_with("scroll "));
    scrolls.filter_map(|it| Some(it.split_once(": ")?.1.to_owned())).collect()
}

#[test]
fn reads_are_answered_while_a_write_waits_for_the_lock() {
    let home = home_with_survey();
    let mut wire = start_in_survey(&home);
    let lock = hold_write_lock(&home);
    let second = send_write_scroll(&mut wire, "Second");
    let dropped = send_write_scroll(&mut wire, "Dropped");
    let third = send_write_scroll(&mut wire, "Third");
    send_cancel(&mut wire, dropped);
    // The next response belongs to this request, so the writes are not answered yet.
    assert_eq!(wire.request("ping", json!({}))["result"], json!({}));
    assert!(wire.request("tools/list", json!({}))["result"]["tools"].is_array());
    let map = wire.request(
        "tools/call",
        stateless_params("codex", call_params("palace_action", json!({ "action": 0 }))),
    );
    assert!(answer_text(&map).contains("Great Hall"), "{map}");
    assert!(!answer_text(&map).contains("5 scrolls"), "{map}");
    let entry = stateless_params(
        "gemini",
        call_params("set_workspace", json!({ "workspace": "paradigm-survey" })),
    );
    let entry = answer_text(&wire.request("tools/call", entry));
    assert!(entry.contains("First") && !entry.contains("Second"), "{entry}");
    let found =
        stateless_params("codex", call_params("search_entities", json!({ "query": "fossils" })));
    let found = wire.request("tools/call", found);
    assert_eq!(found["result"]["isError"], false, "{found}");
    let room = "palace://paradigm-survey/rooms/great-hall";
    let room = wire.request("resources/read", stateless_params("codex", json!({ "uri": room })));
    assert!(room["result"]["contents"].is_array(), "{room}");

    drop(lock);
    assert_eq!(
        [wire.next_response()["id"].clone(), wire.next_response()["id"].clone()],
        [json!(second), json!(third)]
    );
    assert_eq!(wire.close().responses, Vec::<Value>::new());
    assert_eq!(committed_scroll_titles(&home), ["First", "Second", "Third"]);
    home.assert_clean_repository();
}

#[test]
fn a_read_waits_for_the_pending_write_of_its_visit() {
    let home = home_with_survey();
    let mut wire = start_in_survey(&home);
    let lock = hold_write_lock(&home);
    let second = send_write_scroll(&mut wire, "Second");
    let look = wire.send_request(
        "tools/call",
        call_params("palace_action", json!({ "action": 16, "params": "great-hall" })),
    );
    assert_eq!(wire.request("ping", json!({}))["result"], json!({}));
    drop(lock);
    assert_eq!(wire.next_response()["id"], second);
    let hall = wire.next_response();
    assert_eq!(hall["id"], look);
    assert!(answer_text(&hall).contains("Second"), "{hall}");
}

#[test]
fn a_visit_continues_while_another_visit_waits_to_write() {
    let home = home_with_survey();
    let mut wire = start_in_survey(&home);
    let lock = hold_write_lock(&home);
    let second = send_write_scroll(&mut wire, "Second");
    let step = |action: i64| {
        stateless_params("codex", call_params("palace_action", json!({ "action": action })))
    };
    let geology = answer_text(&wire.request("tools/call", step(1)));
    assert!(geology.starts_with("── Hall of Geology ──"), "{geology}");
    drop(lock);
    assert_eq!(wire.next_response()["id"], second);
    let back = answer_text(&wire.request("tools/call", step(15)));
    assert!(back.contains("── Great Hall ──") && back.contains("Second"), "{back}");
}

#[test]
fn an_action_that_writes_waits_for_earlier_writes() {
    let home = Home::new();
    home.run_palazzo(&["init", "w"]);
    home.write(
        "w/palace.toml",
        "format = 1\nname = \"w\"\n[actions]\nallow = [\"write_scroll\"]\n",
    );
    let action = "{label: Leave a mark, type: query, tool: write_scroll, tool_params: {title: Mark, body: x}}";
    home.write(
        "w/rooms/hall.yaml",
        &format!("name: Hall\ndescription: Reeds.\nactions:\n- {action}\n"),
    );
    home.run_palazzo(&["trust", "--yes"]);
    let mut wire = home.initialized_client();
    wire.call("set_workspace", json!({ "workspace": "w" }));
    let enter = call_params("set_workspace", json!({ "workspace": "w" }));
    wire.request("tools/call", stateless_params("codex", enter));
    let lock = hold_write_lock(&home);
    let first = send_write_scroll(&mut wire, "First");
    let mark = wire.send_request(
        "tools/call",
        stateless_params("codex", call_params("palace_action", json!({ "action": 1 }))),
    );
    let last = send_write_scroll(&mut wire, "Last");
    assert_eq!(wire.request("ping", json!({}))["result"], json!({}));
    drop(lock);
    let answers: Vec<_> = (0..3).map(|_| wire.next_response()["id"].clone()).collect();
    assert_eq!(answers, [json!(first), json!(mark), json!(last)]);
    assert_eq!(committed_scroll_titles(&home), ["First", "Mark", "Last"]);
}

#[cfg(unix)]
#[test]
fn a_terminated_server_finishes_the_running_write() {
    let home = home_with_survey();
    let mut wire = start_in_survey(&home);
    let lock = hold_write_lock(&home);
    let second = send_write_scroll(&mut wire, "Second");
    let third = send_write_scroll(&mut wire, "Third");
    // The answer to another visit comes from a snapshot, so the first write has begun.
    let step = stateless_params("codex", call_params("palace_action", json!({ "action": 1 })));
    wire.request("tools/call", step);
    wire.terminate();
    let refused = wire.next_response();
    assert_eq!((&refused["id"], refused["error"].is_object()), (&json!(third), true), "{refused}");
    drop(lock);
    let done = wire.next_response();
    assert_eq!(
        (&done["id"], &done["result"]["isError"]),
        (&json!(second), &json!(false)),
        "{done}"
    );
    let ended = wire.close();
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    assert_eq!(committed_scroll_titles(&home), ["First", "Second"]);
    let git = home.path().join(".git");
    for lock in ["index.lock", "HEAD.lock", "packed-refs.lock"] {
        assert!(!git.join(lock).exists(), "{lock}");
    }
    home.assert_clean_repository();
}

#[test]
fn pending_writes_finish_after_the_input_ends() {
    let home = home_with_survey();
    let mut wire = start_in_survey(&home);
    let lock = hold_write_lock(&home);
    let ids = ["Second", "Third"].map(|it| json!(send_write_scroll(&mut wire, it)));
    assert_eq!(wire.request("ping", json!({}))["result"], json!({}));
    let release = std::thread::spawn(move || drop(lock));
    let ended = wire.close();
    release.join().unwrap();
    assert_eq!(ended.code, Some(0));
    let answered: Vec<_> = ended.responses.iter().map(|it| it["id"].clone()).collect();
    assert_eq!(answered, ids);
    assert_eq!(committed_scroll_titles(&home), ["First", "Second", "Third"]);
}

#[test]
fn a_write_cancelled_while_it_waits_for_the_lock_changes_nothing() {
    let home = home_with_survey();
    let mut wire = start_in_survey(&home);
    let lock = hold_write_lock(&home);
    let cancelled = send_write_scroll(&mut wire, "Cancelled");
    // The answer to another visit comes from a snapshot, so the write has begun to wait.
    let step = stateless_params("codex", call_params("palace_action", json!({ "action": 1 })));
    wire.request("tools/call", step);
    send_cancel(&mut wire, cancelled);
    assert_eq!(wire.request("ping", json!({}))["result"], json!({}));
    drop(lock);
    let last = send_write_scroll(&mut wire, "Last");
    assert_eq!(wire.next_response()["id"], last);
    assert_eq!(committed_scroll_titles(&home), ["First", "Last"]);
    home.assert_clean_repository();
}

#[test]
fn the_progress_of_a_long_call_is_sent_until_it_is_answered() {
    let home = home_with_survey();
    let mut wire = start_in_survey(&home);
    let entity = |number| json!({ "name": format!("Pebble {number}"), "genus": "Stone" });
    let entities: Vec<_> = (0..1500).map(entity).collect();
    let mut call = call_params("create_entities", json!({ "entities": entities }));
    call["_meta"] = json!({ "progressToken": "pebbles" });
    let id = wire.send_request("tools/call", call);
    let mut reports = Vec::new();
    let answer = loop {
        let message = wire.next_message();
        match message["method"].as_str() {
            Some("notifications/progress") => reports.push(message["params"].clone()),
            Some(_) => {}
            None => break message,
        }
    };
    assert_eq!((&answer["id"], &answer["result"]["isError"]), (&json!(id), &json!(false)));
    assert!(!reports.is_empty());
    let done: Vec<_> = reports.iter().map(|it| it["progress"].as_f64().unwrap()).collect();
    assert!(done.is_sorted_by(|a, b| a < b), "{done:?}");
    for it in &reports {
        assert_eq!(it["progressToken"], "pebbles", "{it}");
        assert!(it["progress"].as_f64() <= it["total"].as_f64(), "{it}");
    }
    assert_eq!(wire.request("ping", json!({}))["result"], json!({}));
}

#[test]
fn a_request_that_reuses_a_pending_id_is_refused() {
    let home = home_with_survey();
    let mut wire = start_in_survey(&home);
    let lock = hold_write_lock(&home);
    let second = send_write_scroll(&mut wire, "Second");
    wire.send(&json!({ "jsonrpc": "2.0", "id": second, "method": "ping" }).to_string());
    let refused = wire.next_response();
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(second), &json!(-32600)));
    drop(lock);
    let done = wire.next_response();
    assert_eq!(
        (&done["id"], &done["result"]["isError"]),
        (&json!(second), &json!(false)),
        "{done}"
    );
}

#[test]
fn with_an_impossible_clock_reads_work_and_writes_are_refused() {
    let arguments: [(&str, Value); 9] = [
        ("build_room", json!({ "slug": "attic", "name": "Attic", "description": "Dust." })),
        ("write_scroll", json!({ "title": "A", "body": "B" })),
        ("create_entities", json!({ "entities": [{ "name": "A", "genus": "B" }] })),
        ("create_task", json!({ "title": "A" })),
        ("start_process", json!({ "name": "A", "steps": ["B"] })),
        ("set_workspace", json!({ "workspace": "new", "create": true })),
        ("mempalace_add_drawer", json!({ "wing": "a", "room": "b", "content": "c" })),
        ("mempalace_diary_write", json!({ "agent_name": "a", "entry": "b" })),
        ("mempalace_kg_add", json!({ "subject": "a", "predicate": "b", "object": "c" })),
    ];
    for (now, shown) in [
        ("1960-01-01T00:00:00Z", "1960-01-01 00:00 UTC"),
        ("+11000-01-01T00:00:00Z", "+11000-01-01 00:00 UTC"),
    ] {
        let home = home_with_survey();
        let mut command = home.palazzo_command(now);
        command.args(["serve", "--tools", "palace,graph,mempalace"]);
        let mut wire = Home::raw_client_for_command(command);
        wire.request("initialize", crate::raw_client::initialize_params("2025-11-25"));
        wire.send_notification("notifications/initialized");
        let hall = wire.call("set_workspace", json!({ "workspace": "paradigm-survey" }));
        assert!(hall.contains("── Great Hall ──"), "{hall}");
        for (tool, arguments) in &arguments {
            let refused = wire.call(tool, arguments.clone());
            assert!(refused.contains(shown) && refused.contains("clock"), "{tool}: {refused}");
        }
        let map = wire.call("palace_action", json!({ "action": 0 }));
        assert!(map.contains("Great Hall"), "{map}");
        assert_eq!(home.commit_count(), 1);
    }
}

#[test]
fn each_request_of_a_batch_is_answered_under_its_id() {
    let mut wire = Home::new().initialized_client();
    wire.send(
        r#"[{"jsonrpc":"2.0","id":"a","method":"ping"},{"jsonrpc":"2.0","id":"b"},
            {"jsonrpc":"2.0","method":"notifications/initialized"}]"#
            .replace('\n', "")
            .as_str(),
    );
    wire.send(r#"[{"jsonrpc":"2.0","id":"c","method":"ping"},{"jsonrpc":"2.0","id":"d","#);
    let answers = (0..4).map(|_| wire.next_response());
    let codes: BTreeMap<_, _> =
        answers.map(|it| (it["id"].to_string(), it["error"]["code"].clone())).collect();
    let expected =
        [("a", Value::Null), ("b", json!(-32600)), ("c", json!(-32700)), ("d", json!(-32700))];
    let expected = expected.map(|(id, code)| (format!("\"{id}\""), code));
    assert_eq!(codes, BTreeMap::from(expected));
    assert_eq!(wire.close().responses, Vec::<Value>::new());
}

/// The rest of a request after the id.
const REQUEST_TAILS: &[&str] = &[
    r#""method":"ping"}"#,
    r#""method":"tools/list","params":{"cursor":null,"_meta":{"progressToken":1}}}"#,
    r#""method":"tools/call","params":{"name":"describe_workspace","arguments":{}}}"#,
    r#""method":"tools/call","params":{"name":"palace_action","arguments":{"action":16,"params":"a"}}}"#,
    r#""method":"tools/call","params":{"name":"create_entities","arguments":{"entities":[{"name":"A","genus":"B"}]}}}"#,
    r#""method":"resources/read","params":{"uri":"palace://w/rooms/hall"}}"#,
    r#""method":"resources/subscribe","params":{"uri":"palace://w/rooms/hall"}}"#,
    r#""method":"prompts/get","params":{"name":"wake-up","arguments":{"budget":"500"}}}"#,
    r#""method":"completion/complete","params":{"ref":{"type":"ref/resource","uri":"x"},"argument":{}}}"#,
    r#""method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}"#,
];

/// A single corruption of a line.
#[derive(Clone, Debug)]
enum Mutation {
    Insert(Index, Vec<u8>),
    Remove(Index, usize),
    Cut(Index),
}

/// The texts inserted into a line.
const INSERTED_BYTES: &[&[u8]] =
    &[b"{", b"}", b"[", b"]", b"\"", b",", b"\0", b"\xff", b"\\", b"1e999", b"7"];

fn mutation() -> impl Strategy<Value = Mutation> {
    let place = any::<Index>;
    let bytes = select(INSERTED_BYTES);
    prop_oneof![
        3 => (place(), bytes).prop_map(|(at, it)| Mutation::Insert(at, it.to_vec())),
        3 => (place(), 1..20_usize).prop_map(|(at, length)| Mutation::Remove(at, length)),
        1 => place().prop_map(Mutation::Cut),
    ]
}

/// The rest of a request after the id, with corruptions.
fn mutated_request() -> impl Strategy<Value = Vec<u8>> {
    (select(REQUEST_TAILS), vec(mutation(), 0..4)).prop_map(|(request, slips)| {
        let mut line = request.as_bytes().to_vec();
        for slip in slips {
            let size = line.len() + 1;
            match slip {
                Mutation::Insert(at, bytes) => {
                    drop(line.splice(at.index(size)..at.index(size), bytes));
                }
                Mutation::Remove(at, length) => {
                    let at = at.index(size);
                    line.drain(at..(at + length).min(line.len()));
                }
                Mutation::Cut(at) => line.truncate(at.index(size)),
            }
        }
        line
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 4, max_shrink_iters: 50, ..ProptestConfig::default() })]

    #[test]
    fn every_broken_line_is_answered_once_under_its_id(lines in vec(mutated_request(), 1_000)) {
        let home = Home::new();
        home.run_palazzo(&["init", "w"]);
        let mut wire = home.initialized_client();
        wire.call("set_workspace", json!({ "workspace": "w" }));
        let mut unanswered = BTreeMap::new();
        for (number, text_ending_in) in lines.into_iter().enumerate() {
            let begun = format!("{{\"jsonrpc\":\"2.0\",\"id\":\"fuzz {number}\",");
            let line = [begun.as_bytes(), &text_ending_in].concat();
            wire.send_bytes(&line);
            unanswered.insert(format!("fuzz {number}"), line);
        }
        let ended = wire.close();
        prop_assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
        for answer in ended.responses {
            let id = answer["id"].as_str().unwrap_or_default();
            prop_assert!(unanswered.remove(id).is_some(), "answered twice, or not asked: {}", answer);
        }
        let unanswered: Vec<_> = unanswered.values().map(|it| String::from_utf8_lossy(it)).collect();
        prop_assert!(unanswered.is_empty(), "{:#?}", unanswered);
    }
}
