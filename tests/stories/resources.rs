//! Rooms, scrolls and the graph as resources: listing, reading, completion and
//! subscriptions, line by line in stateful and stateless protocol versions.

use std::fs;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::harness::Home;
use crate::raw_client::RawClient;

const HALL_URI: &str = "palace://w/rooms/hall";
const CRYPT_URI: &str = "palace://w/rooms/crypt";
const NOTE_URI: &str = "palace://w/scrolls/hall/01KJMPXF9069S44V81ASY1KY37";

fn home_with_hall() -> Home {
    let home = Home::new();
    home.run_palazzo(&["init", "w"]);
    home.write(
        "w/rooms/hall.yaml",
        "name: Hall\ndescription: Stone.\nactions:\n- { label: Descend, type: navigate, room: crypt }\n",
    );
    home.write("w/rooms/code/auth.yaml", "name: Auth\ndescription: Keys.\n");
    write_note(&home, "First");
    home
}

fn write_note(home: &Home, title: &str) {
    let text = format!("---\ntitle: {title}\nwritten: 2026-02-28\nby: ada\n---\n\nDust.\n");
    home.write("w/scrolls/hall/01KJMPXF9069S44V81ASY1KY37-note.md", &text);
}

fn write_hall(home: &Home, description: &str) {
    home.write("w/rooms/hall.yaml", &format!("name: Hall\ndescription: {description}\n"));
}

/// Returns the `_meta` that a stateless client sends with every request.
fn stateless_params(mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "codex", "version": "1.0" },
    });
    params
}

#[track_caller]
fn read_resource(wire: &mut RawClient, uri: &str) -> String {
    let answer = wire.request("resources/read", json!({ "uri": uri }));
    let contents = &answer["result"]["contents"];
    assert_eq!(contents[0]["uri"], uri, "{answer}");
    assert_eq!(contents[0]["mimeType"], "text/markdown", "{answer}");
    contents[0]["text"].as_str().unwrap().to_owned()
}

/// Returns the message with which a resource is refused.
#[track_caller]
fn read_refused_resource(wire: &mut RawClient, uri: &str) -> String {
    let answer = wire.request("resources/read", json!({ "uri": uri }));
    answer["error"]["message"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

/// Returns the next notification.
#[track_caller]
fn next_notification_text(wire: &mut RawClient) -> String {
    let news = wire.next_notification();
    let method = news["method"].as_str().unwrap().trim_start_matches("notifications/");
    match news["params"]["uri"].as_str() {
        Some(uri) => format!("{method} {uri}"),
        None => method.to_owned(),
    }
}

// Listing, reading, completion.

#[test]
fn a_palace_of_a_newer_format_has_findings_and_no_other_resources() {
    let home = home_with_hall();
    let mut wire = home.initialized_client();
    read_resource(&mut wire, HALL_URI);
    home.write("w/palace.toml", "format = 2\nname = \"W\"\n");
    for uri in [HALL_URI, NOTE_URI] {
        let refused = read_refused_resource(&mut wire, uri);
        assert!(refused.contains("format 2, which needs a newer Palazzo"), "{refused}");
    }
    let listed = wire.request("resources/list", json!({}));
    assert!(!listed.to_string().contains("palace://w/rooms"), "{listed}");
    let findings = read_resource(&mut wire, "palace://w/findings");
    assert!(findings.contains("error[format-version]"), "{findings}");
}

#[test]
fn rooms_and_scrolls_are_listed_with_and_without_a_handshake() {
    let home = home_with_hall();
    let listed = home.initialized_client().request("resources/list", json!({}))["result"].clone();
    let lines: Vec<_> =
        listed["resources"].as_array().unwrap().iter().map(ToString::to_string).collect();
    assert_snapshot!(lines.join("\n"), @r#"
    {"uri":"palace://w/rooms/hall","name":"hall","title":"Hall","description":"Stone.","mimeType":"text/markdown"}
    {"uri":"palace://w/rooms/code/auth","name":"code/auth","title":"Auth","description":"Keys.","mimeType":"text/markdown"}
    {"uri":"palace://w/scrolls/hall/01KJMPXF9069S44V81ASY1KY37","name":"hall/01KJMPXF9069S44V81ASY1KY37","title":"First","description":"A scroll by ada in Hall, by hand","mimeType":"text/markdown","annotations":{"lastModified":"2026-02-28T00:00:00+00:00"}}
    {"uri":"palace://w/findings","name":"findings","title":"Findings in w","description":"What is wrong or missing in the palace","mimeType":"text/markdown"}
    "#);
    assert_eq!(listed.as_object().unwrap().len(), 1, "{listed}");
    let mut wire = home.raw_client();
    let again = wire.request("resources/list", stateless_params(json!({})))["result"].clone();
    assert_eq!(again["resources"], listed["resources"]);
    assert_eq!((&again["ttlMs"], &again["cacheScope"]), (&json!(0), &json!("private")));
    let templates =
        wire.request("resources/templates/list", stateless_params(json!({})))["result"].clone();
    assert_eq!(templates["ttlMs"], 3_600_000);
    let lines: Vec<_> = templates["resourceTemplates"]
        .as_array()
        .unwrap()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_snapshot!(lines.join("\n"), @r#"
    {"uriTemplate":"palace://{workspace}/rooms/{+room}","name":"room","title":"A room","description":"A room: description, actions, doors and scrolls","mimeType":"text/markdown"}
    {"uriTemplate":"palace://{workspace}/scrolls/{+room}/{id}","name":"scroll","title":"A scroll","description":"A dated note in a room","mimeType":"text/markdown"}
    {"uriTemplate":"palace://{workspace}/findings","name":"findings","title":"Findings","description":"What is wrong or missing in a palace, and genera that no room shows","mimeType":"text/markdown"}
    "#);
}

#[test]
fn rooms_and_scrolls_are_read_with_and_without_a_handshake() {
    let home = home_with_hall();
    let mut wire = home.initialized_client();
    assert_snapshot!(read_resource(&mut wire, HALL_URI), @"
    # Hall

    Stone.

    ## Actions

    - Descend (not built yet)

    ## Scrolls

    - [First](palace://w/scrolls/hall/01KJMPXF9069S44V81ASY1KY37) by ada, 2026-02-28, by hand
    ");
    assert_snapshot!(read_resource(&mut wire, NOTE_URI), @"
    # First

    By ada in [Hall](palace://w/rooms/hall), 2026-02-28T00:00:00Z, by hand

    Dust.
    ");
    assert_eq!(read_resource(&mut wire, "palace://w/rooms/code%2Fauth"), "# Auth\n\nKeys.\n");
    let answer =
        home.raw_client().request("resources/read", stateless_params(json!({ "uri": HALL_URI })));
    let result = &answer["result"];
    assert_eq!(result["contents"][0]["text"], read_resource(&mut wire, HALL_URI));
    let about = &result["_meta"]["io.modelcontextprotocol/serverInfo"];
    assert_eq!(about["name"], "palazzo", "{answer}");
}

#[test]
fn the_findings_of_a_palace_are_read_and_followed() {
    let home = home_with_hall();
    home.write("w/entities/rock/granite.yaml", "name: Granite\ngenus: Rock\n");
    let mut wire = home.initialized_client();
    let uri = "palace://w/findings";
    assert_snapshot!(read_resource(&mut wire, uri), @"
    # Findings in w

    1 warning, 1 note:
    - rooms/code/auth.yaml:1:1: warning[unreachable]: this room cannot be reached from the entry (add an action or a portal to this room in another room)
    - rooms/hall.yaml:4:43: info[unfinished-room]: the room `crypt` is not built yet

    Genera that no action and no `generate` of a room shows:
    - Rock (1 entity)
    ");
    wire.request("resources/subscribe", json!({ "uri": uri }));
    home.write("w/rooms/well.yaml", "nmae: Well\n");
    let expected = "resources/updated palace://w/findings";
    assert_eq!(next_notification_text(&mut wire), expected);
    assert_snapshot!(read_resource(&mut wire, uri), @"
    # Findings in w

    2 errors, 1 note:
    - rooms/well.yaml:1:1: error[unknown-key]: a room has no key `nmae` (did you mean `name`?)
    - rooms/well.yaml:1:1: error[missing-key]: a room needs a `name`
    - rooms/hall.yaml:4:43: info[unfinished-room]: the room `crypt` is not built yet

    Genera that no action and no `generate` of a room shows:
    - Rock (1 entity)
    ");
    // The same page is a tool's answer, also for an action of a room.
    let text = wire.call("describe_workspace", json!({ "findings": true }));
    assert!(text.starts_with(&read_resource(&mut wire, uri)), "{text}");
}

#[test]
fn a_missing_resource_is_refused_with_the_nearest_name() {
    let home = home_with_hall();
    home.write("w/rooms/broken.yaml", "name: [");
    let mut wire = home.initialized_client();
    let mut page = String::new();
    for uri in [
        "palace://w/rooms/hal",
        "palace://w/rooms/crypt",
        "palace://w/rooms/broken",
        "palace://w/scrolls/hall/01KJMPXF9069S44V81ASY1KY38",
        "palace://w/scrolls/crypt/01KJMPXF9069S44V81ASY1KY37",
        "palace://nowhere/rooms/hall",
        "palace://w/rooms/..%2f..%2fetc%2fpasswd",
        "palace://..%2f/rooms/hall",
        "file:///etc/passwd",
        "",
    ] {
        let error = &wire.request("resources/read", json!({ "uri": uri }))["error"];
        assert_eq!((&error["code"], &error["data"]["uri"]), (&json!(-32002), &json!(uri)));
        page.push_str(&format!("{}\n", error["message"].as_str().unwrap()));
        let error =
            &wire.request("resources/read", stateless_params(json!({ "uri": uri })))["error"];
        assert_eq!(error["code"], -32602, "{uri}");
    }
    assert_snapshot!(page, @"
    no room is called `hal`; did you mean `hall`?
    no room is called `crypt`; existing rooms include `hall`, `code/auth`
    rooms/broken.yaml:1:7: this is not YAML: unclosed bracket '['
    there is no scroll `01KJMPXF9069S44V81ASY1KY38` in `hall`; its newest scrolls are `01KJMPXF9069S44V81ASY1KY37`
    there is no scroll `01KJMPXF9069S44V81ASY1KY37` in `crypt`; the room has no scrolls
    there is no workspace `nowhere`. Workspaces: `w`. To make a new one, call set_workspace with `create: true`.
    `palace://w/rooms/..%2f..%2fetc%2fpasswd` is not the URI of a palace: write palace://WORKSPACE/rooms/ROOM, palace://WORKSPACE/scrolls/ROOM/ID or palace://WORKSPACE/findings
    there is no workspace `../`. Workspaces: `w`. To make a new one, call set_workspace with `create: true`.
    `file:///etc/passwd` is not the URI of a palace: write palace://WORKSPACE/rooms/ROOM, palace://WORKSPACE/scrolls/ROOM/ID or palace://WORKSPACE/findings
    `` is not the URI of a palace: write palace://WORKSPACE/rooms/ROOM, palace://WORKSPACE/scrolls/ROOM/ID or palace://WORKSPACE/findings
    ");
}

#[test]
fn paging_a_long_list_skips_nothing() {
    let home = home_with_hall();
    for number in 0..450 {
        home.write(&format!("w/rooms/cell-{number:03}.yaml"), "name: Cell\ndescription: Bare.\n");
    }
    let mut wire = home.initialized_client();
    let (mut uris, mut cursor, mut pages) = (Vec::new(), json!({}), 0);
    loop {
        let page = wire.request("resources/list", cursor)["result"].clone();
        let listed = page["resources"].as_array().unwrap().iter();
        uris.extend(listed.map(|it| it["uri"].as_str().unwrap().to_owned()));
        pages += 1;
        // Rooms are added and deleted before and after the cursor.
        home.write(&format!("w/rooms/a-{pages}.yaml"), "name: New\ndescription: New.\n");
        fs::remove_file(home.path().join(format!("w/rooms/cell-00{pages}.yaml"))).unwrap();
        let Some(next) = page["nextCursor"].as_str() else { break };
        cursor = json!({ "cursor": next });
    }
    assert_eq!((pages, uris.len()), (3, 454));
    assert!(uris.windows(2).all(|it| it[0] != it[1]), "{uris:?}");
    let error = &wire.request("resources/list", json!({ "cursor": "x" }))["error"];
    assert_eq!(error["code"], -32602);
}

#[test]
fn without_a_chosen_workspace_no_resources_are_listed() {
    let home = Home::new();
    let mut wire = home.initialized_client();
    let nothing = json!([]);
    assert_eq!(wire.request("resources/list", json!({}))["result"]["resources"], nothing);
    assert!(!home.path().exists());
    for name in ["one", "two"] {
        home.run_palazzo(&["init", name, "--template", "paradigm-survey"]);
    }
    assert_eq!(wire.request("resources/list", json!({}))["result"]["resources"], nothing);
    wire.call("set_workspace", json!({ "workspace": "two" }));
    assert_eq!(next_notification_text(&mut wire), "resources/list_changed");
    let listed = wire.request("resources/list", json!({}))["result"]["resources"].clone();
    let uris: Vec<_> = listed.as_array().unwrap().iter().map(|it| it["uri"].clone()).collect();
    assert!(uris.len() > 5, "{listed}");
    assert!(uris.iter().all(|it| it.as_str().unwrap().starts_with("palace://two/")), "{listed}");
}

#[test]
fn the_workspace_of_a_prompt_is_completed() {
    let home = home_with_hall();
    let mut wire = home.initialized_client();
    let mut complete = |prompt: &str, name: &str| {
        let params = json!({ "ref": { "type": "ref/prompt", "name": prompt },
            "argument": { "name": name, "value": "W" } });
        wire.request("completion/complete", params)
    };
    let values = |answer: Value| answer["result"]["completion"]["values"].clone();
    assert_eq!(values(complete("wake-up", "workspace")), json!(["w"]));
    assert_eq!(values(complete("take-leave", "workspace")), json!(["w"]));
    assert_eq!(values(complete("wake-up", "budget")), json!([]));
    let refused = complete("sleep", "workspace");
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
}

#[test]
fn a_resource_uri_is_completed_part_by_part() {
    let home = home_with_hall();
    let mut wire = home.initialized_client();
    let mut complete = |name: &str, value: &str, known: Value| {
        let params = json!({
            "ref": { "type": "ref/resource", "uri": "palace://{workspace}/scrolls/{+room}/{id}" },
            "argument": { "name": name, "value": value },
            "context": { "arguments": known },
        });
        wire.request("completion/complete", params)["result"]["completion"]["values"].clone()
    };
    let in_w = json!({ "workspace": "w" });
    assert_eq!(complete("workspace", "", json!({})), json!(["w"]));
    assert_eq!(complete("room", "", in_w.clone()), json!(["hall", "code/auth"]));
    assert_eq!(complete("room", "Co", in_w.clone()), json!(["code/auth"]));
    let in_hall = json!({ "workspace": "w", "room": "hall" });
    assert_eq!(complete("id", "01", in_hall), json!(["01KJMPXF9069S44V81ASY1KY37"]));
    assert_eq!(complete("id", "", json!({ "workspace": "w", "room": "crypt" })), json!([]));
    assert_eq!(complete("room", "", json!({ "workspace": "nowhere" })), json!([]));
    assert_eq!(complete("colour", "", in_w), json!([]));
    // Without a workspace, the only one is meant.
    assert_eq!(complete("room", "ha", json!({})), json!(["hall"]));
    let params = json!({ "ref": { "type": "ref/prompt", "name": "x" },
        "argument": { "name": "x", "value": "" } });
    assert_eq!(wire.request("completion/complete", params)["error"]["code"], -32602);
}

// Subscriptions, with a handshake.

#[test]
fn a_room_subscriber_is_notified_of_every_visible_change() {
    let home = home_with_hall();
    let mut wire = home.initialized_client();
    wire.request("resources/list", json!({}));
    for uri in [HALL_URI, NOTE_URI] {
        assert_eq!(wire.request("resources/subscribe", json!({ "uri": uri }))["result"], json!({}));
    }
    // An edit by hand.
    write_hall(&home, "Moss.");
    assert_eq!(next_notification_text(&mut wire), format!("resources/updated {HALL_URI}"));
    assert!(read_resource(&mut wire, HALL_URI).contains("Moss."));
    // An edit without effect, one elsewhere, and one with an effect.
    write_hall(&home, "Moss.");
    home.write("w/rooms/code/auth.yaml", "name: Auth\ndescription: Locks.\n");
    write_hall(&home, "Moss and fern.");
    assert_eq!(next_notification_text(&mut wire), format!("resources/updated {HALL_URI}"));
    // A scroll in the room: its title appears on the room's page.
    write_note(&home, "Second");
    assert_eq!(next_notification_text(&mut wire), "resources/list_changed");
    assert_eq!(next_notification_text(&mut wire), format!("resources/updated {HALL_URI}"));
    assert_eq!(next_notification_text(&mut wire), format!("resources/updated {NOTE_URI}"));
    // A tool of the same server: first its answer, then the notification.
    let scroll = json!({ "title": "Third", "body": "x", "room": "hall" });
    let call =
        wire.send_request("tools/call", json!({ "name": "write_scroll", "arguments": scroll }));
    assert_eq!(wire.next_message()["id"], call);
    assert_eq!(next_notification_text(&mut wire), "resources/list_changed");
    assert_eq!(next_notification_text(&mut wire), format!("resources/updated {HALL_URI}"));
    // Another server.
    let mut other = home.initialized_client();
    let change = json!({ "slug": "hall", "merge": true, "description": "Ice.", "quiet": true });
    other.call("build_room", change);
    assert_eq!(next_notification_text(&mut wire), format!("resources/updated {HALL_URI}"));
    // After unsubscribing.
    wire.request("resources/unsubscribe", json!({ "uri": HALL_URI }));
    write_hall(&home, "Fire.");
    write_note(&home, "Fourth");
    assert_eq!(next_notification_text(&mut wire), "resources/list_changed");
    assert_eq!(next_notification_text(&mut wire), format!("resources/updated {NOTE_URI}"));
    assert_eq!(wire.close().responses, Vec::<Value>::new());
}

#[test]
fn a_half_written_file_sends_no_notification() {
    let home = home_with_hall();
    let mut wire = home.initialized_client();
    wire.request("resources/list", json!({}));
    wire.request("resources/subscribe", json!({ "uri": HALL_URI }));
    let before = read_resource(&mut wire, HALL_URI);
    for half in ["", "name: Hall\ndescription: \"St"] {
        home.write("w/rooms/hall.yaml", half);
        assert_eq!(read_resource(&mut wire, HALL_URI), before);
    }
    fs::remove_file(home.path().join("w/rooms/hall.yaml")).unwrap();
    assert_eq!(read_resource(&mut wire, HALL_URI), before);
    write_hall(&home, "Moss.");
    assert_eq!(next_notification_text(&mut wire), format!("resources/updated {HALL_URI}"));
    assert_eq!(read_resource(&mut wire, HALL_URI).lines().nth(2), Some("Moss."));
    assert_eq!(wire.close().responses, Vec::<Value>::new());
}

#[test]
fn a_room_can_be_subscribed_before_it_is_built() {
    let home = home_with_hall();
    let mut wire = home.initialized_client();
    wire.request("resources/list", json!({}));
    for uri in [CRYPT_URI, HALL_URI] {
        wire.request("resources/subscribe", json!({ "uri": uri }));
    }
    home.write("w/rooms/crypt.yaml", "name: Crypt\ndescription: It is dark.\n");
    assert_eq!(next_notification_text(&mut wire), "resources/list_changed");
    // The hall's door now leads somewhere.
    assert_eq!(next_notification_text(&mut wire), format!("resources/updated {CRYPT_URI}"));
    assert_eq!(next_notification_text(&mut wire), format!("resources/updated {HALL_URI}"));
    fs::remove_file(home.path().join("w/rooms/crypt.yaml")).unwrap();
    assert_eq!(next_notification_text(&mut wire), "resources/list_changed");
    assert_eq!(next_notification_text(&mut wire), format!("resources/updated {CRYPT_URI}"));
    assert_eq!(next_notification_text(&mut wire), format!("resources/updated {HALL_URI}"));
    for uri in ["palace://nowhere/rooms/hall", "palace://w", "file:///etc"] {
        let error = wire.request("resources/subscribe", json!({ "uri": uri }))["error"].clone();
        assert_eq!(error["code"], -32002, "{error}");
    }
}

#[test]
fn a_checkout_of_a_thousand_files_sends_one_update_per_subscription() {
    let home = home_with_hall();
    for number in 0..1000 {
        home.write(&format!("w/rooms/cell-{number}.yaml"), "name: Cell\ndescription: Bare.\n");
    }
    let ada = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
    let git = |arguments: &[&str]| home.git(&[&ada[..], arguments].concat());
    git(&["add", "-A"]);
    git(&["commit", "-q", "-m", "Begin"]);
    git(&["checkout", "-q", "-b", "other"]);
    for number in 0..1000 {
        home.write(&format!("w/rooms/cell-{number}.yaml"), "name: Cell\ndescription: Other.\n");
    }
    git(&["commit", "-q", "-a", "-m", "Other"]);
    let mut wire = home.initialized_client();
    wire.request("resources/list", json!({}));
    let cells = ["palace://w/rooms/cell-0", "palace://w/rooms/cell-999"];
    for uri in cells {
        wire.request("resources/subscribe", json!({ "uri": uri }));
    }
    for (branch, seen) in [("main", "Bare."), ("other", "Other.")] {
        git(&["checkout", "-q", branch]);
        let mut updates = [next_notification_text(&mut wire), next_notification_text(&mut wire)];
        updates.sort();
        assert_eq!(updates, cells.map(|uri| format!("resources/updated {uri}")));
        assert!(read_resource(&mut wire, cells[1]).contains(seen));
    }
    assert_eq!(wire.close().responses, Vec::<Value>::new());
}

#[test]
fn removing_and_restoring_a_palace_sends_notifications() {
    let home = home_with_hall();
    let mut wire = home.initialized_client();
    wire.request("resources/list", json!({}));
    wire.request("resources/subscribe", json!({ "uri": HALL_URI }));
    let (here, away) = (home.path().join("w"), home.path().with_file_name("away"));
    fs::rename(&here, &away).unwrap();
    assert_eq!(next_notification_text(&mut wire), "resources/list_changed");
    assert_eq!(next_notification_text(&mut wire), format!("resources/updated {HALL_URI}"));
    fs::rename(&away, &here).unwrap();
    assert_eq!(next_notification_text(&mut wire), "resources/list_changed");
    assert_eq!(next_notification_text(&mut wire), format!("resources/updated {HALL_URI}"));
    assert!(read_resource(&mut wire, HALL_URI).contains("Stone."));
}

// Listening, without a handshake.

#[test]
fn listen_is_acknowledged_before_updates_are_sent() {
    let home = home_with_hall();
    let mut wire = home.raw_client();
    // A server that is still reading the palace may report that the list has changed since then.
    wire.request("resources/list", stateless_params(json!({})));
    let wish = json!({ "resourcesListChanged": true, "toolsListChanged": true,
        "resourceSubscriptions": [HALL_URI, "file:///etc/passwd", NOTE_URI] });
    let id = wire
        .send_request("subscriptions/listen", stateless_params(json!({ "notifications": wish })));
    let promise = wire.next_message();
    assert_eq!(promise["method"], "notifications/subscriptions/acknowledged");
    let promised =
        json!({ "resourcesListChanged": true, "resourceSubscriptions": [HALL_URI, NOTE_URI] });
    assert_eq!(promise["params"]["notifications"], promised);
    let tag = "io.modelcontextprotocol/subscriptionId";
    assert_eq!(promise["params"]["_meta"][tag], id);

    write_hall(&home, "Moss.");
    let update = wire.next_message();
    assert_eq!(update["method"], "notifications/resources/updated");
    assert_eq!(update["params"]["uri"], HALL_URI);
    assert_eq!(update["params"]["_meta"][tag], id);
    write_note(&home, "Second");
    let news: Vec<_> = (0..3).map(|_| wire.next_message()).collect();
    assert!(news.iter().all(|it| it["params"]["_meta"][tag] == id), "{news:?}");
    assert_eq!(news[0]["method"], "notifications/resources/list_changed");
    assert_eq!(news[1]["params"]["uri"], HALL_URI);
    assert_eq!(news[2]["params"]["uri"], NOTE_URI);

    let ended = wire.close();
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    assert_eq!(ended.responses.len(), 1, "{:?}", ended.responses);
    assert_eq!(ended.responses[0]["id"], id);
}

/// Waits for updates, each of a listener and a resource, in any order. One save can be seen as two
/// changes, so an update may come again, and so may those that are `repeated` from before.
fn expect_updates(wire: &mut RawClient, updates: &[(Value, Value)], repeated: &[(Value, Value)]) {
    let mut missing = updates.to_vec();
    while !missing.is_empty() {
        let params = &wire.next_message()["params"];
        let listener = params["_meta"]["io.modelcontextprotocol/subscriptionId"].clone();
        let update = (listener, params["uri"].clone());
        assert!(updates.contains(&update) || repeated.contains(&update), "{update:?}");
        missing.retain(|it| *it != update);
    }
}

#[test]
fn each_listener_gets_its_own_updates_until_it_cancels() {
    let home = home_with_hall();
    let mut wire = home.raw_client();
    let mut listen = |uris: &[&str]| {
        let wish = json!({ "notifications": { "resourceSubscriptions": uris } });
        let id = wire.send_request("subscriptions/listen", stateless_params(wish));
        assert_eq!(wire.next_message()["method"], "notifications/subscriptions/acknowledged");
        id
    };
    let (one, two) = (listen(&[HALL_URI]), listen(&[HALL_URI, NOTE_URI]));
    write_hall(&home, "Moss.");
    let hall = |id| (json!(id), json!(HALL_URI));
    expect_updates(&mut wire, &[hall(one), hall(two)], &[]);
    let cancel = json!({ "requestId": one });
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel });
    wire.send(&cancel.to_string());
    wire.request("resources/list", stateless_params(json!({})));
    write_hall(&home, "Ice.");
    expect_updates(&mut wire, &[hall(two)], &[]);
    write_note(&home, "Second");
    expect_updates(&mut wire, &[hall(two), (json!(two), json!(NOTE_URI))], &[hall(two)]);
    assert_eq!(wire.close().code, Some(0));
}

#[test]
fn subscribe_requires_a_handshake_and_listen_works_only_without() {
    let home = home_with_hall();
    let mut wire = home.initialized_client();
    let wish = json!({ "notifications": { "resourcesListChanged": true } });
    assert_eq!(wire.request("subscriptions/listen", wish)["error"]["code"], -32601);
    let mut wire = home.raw_client();
    let follow = stateless_params(json!({ "uri": HALL_URI }));
    assert_eq!(wire.request("resources/subscribe", follow)["error"]["code"], -32601);
}

#[test]
fn a_polling_server_sends_notifications_too() {
    let home = home_with_hall();
    let mut wire = home.raw_client_with(&["--watch", "poll"]);
    wire.request("initialize", crate::raw_client::initialize_params("2025-11-25"));
    wire.send_notification("notifications/initialized");
    wire.request("resources/list", json!({}));
    wire.request("resources/subscribe", json!({ "uri": HALL_URI }));
    write_hall(&home, "Moss.");
    assert_eq!(next_notification_text(&mut wire), format!("resources/updated {HALL_URI}"));
    home.write("w/rooms/crypt.yaml", "name: Crypt\ndescription: It is dark.\n");
    assert_eq!(next_notification_text(&mut wire), "resources/list_changed");
    let ended = wire.close();
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
}

// The graph, as in the reference memory server.

const GRAPH_URI: &str = "memory://knowledge-graph";
const MEMORY_TOOLS: [&str; 2] = ["--tools", "memory"];

fn create_person(wire: &mut RawClient, name: &str) {
    let entity = json!({ "name": name, "entityType": "person", "observations": [] });
    wire.call("create_entities", json!({ "entities": [entity] }));
}

fn add_observation(wire: &mut RawClient, name: &str, what: &str) {
    let new = json!({ "entityName": name, "contents": [what] });
    wire.call("add_observations", json!({ "observations": [new] }));
}

#[test]
fn the_graph_is_read_at_the_uri_of_the_reference_server() {
    let home = Home::new();
    let mut wire = home.initialized_client_with(&MEMORY_TOOLS);
    let mut page = wire.request("resources/list", json!({}))["result"].to_string();
    let read = |wire: &mut RawClient| {
        wire.request("resources/read", json!({ "uri": GRAPH_URI }))["result"]["contents"][0].clone()
    };
    page += &format!("\n{}", read(&mut wire));
    create_person(&mut wire, "Alice");
    page += &format!("\n{}", read(&mut wire));
    assert_snapshot!(page, @r#"
    {"resources":[{"uri":"memory://knowledge-graph","name":"knowledge-graph","title":"Knowledge Graph","description":"The full knowledge graph with all entities and relations","mimeType":"application/json"}]}
    {"uri":"memory://knowledge-graph","mimeType":"application/json","text":"{\"entities\":[],\n\"relations\":[]}"}
    {"uri":"memory://knowledge-graph","mimeType":"application/json","text":"{\"entities\":[\n{\"name\":\"Alice\",\"entityType\":\"person\",\"observations\":[]}\n],\n\"relations\":[]}"}
    "#);
    assert_eq!(read(&mut wire)["text"], wire.call("read_graph", json!({})));
    let stateless = home
        .raw_client_with(&MEMORY_TOOLS)
        .request("resources/read", stateless_params(json!({ "uri": GRAPH_URI })));
    assert_eq!(stateless["result"]["contents"][0], read(&mut wire));

    // A client can request it without a limit.
    let name = |it: usize| format!("Somebody of the name of {it}");
    let many = (0..900).map(|it| json!({ "name": name(it), "entityType": "", "observations": [] }));
    wire.call("create_entities", json!({ "entities": many.collect::<Vec<_>>() }));
    let graph = |wire: &mut RawClient| -> Value {
        serde_json::from_str(read(wire)["text"].as_str().unwrap()).unwrap()
    };
    assert_snapshot!(graph(&mut wire)["notice"].as_str().unwrap(), @r#"Too much for one answer: this one has 1 to 772 of 901 entities, oldest first. To go on, call read_graph with {"after": "Somebody of the name of 770"}"#);
    let whole = graph(&mut home.initialized_client_with(&["--tools", "memory", "--unbounded"]));
    assert_eq!(whole["entities"].as_array().unwrap().len(), 901);
}

#[test]
fn the_graph_is_a_resource_only_with_the_memory_tools() {
    let home = home_with_hall();
    let mut wire = home.initialized_client_with(&["--tools", "palace,memory"]);
    let listed = wire.request("resources/list", json!({}))["result"]["resources"].clone();
    assert_eq!((&listed[0]["uri"], &listed[1]["uri"]), (&json!(GRAPH_URI), &json!(HALL_URI)));
    let mut wire = home.initialized_client();
    let listed = wire.request("resources/list", json!({}))["result"]["resources"].clone();
    assert_eq!(listed[0]["uri"], HALL_URI);
    for method in ["resources/read", "resources/subscribe"] {
        assert_eq!(wire.request(method, json!({ "uri": GRAPH_URI }))["error"]["code"], -32002);
    }
}

#[test]
fn a_graph_subscriber_is_notified_of_graph_changes_only() {
    let home = Home::new();
    let mut wire = home.initialized_client_with(&MEMORY_TOOLS);
    wire.request("resources/list", json!({}));
    assert_eq!(
        wire.request("resources/subscribe", json!({ "uri": GRAPH_URI }))["result"],
        json!({})
    );
    let updated = format!("resources/updated {GRAPH_URI}");
    // The first entity, which also creates the palace.
    create_person(&mut wire, "Alice");
    assert_eq!(next_notification_text(&mut wire), updated);
    add_observation(&mut wire, "Alice", "likes tea");
    assert_eq!(next_notification_text(&mut wire), updated);
    // No notification: a duplicate, and changes that the graph does not show.
    add_observation(&mut wire, "Alice", "likes tea");
    home.write("palace/genera/person.yaml", "name: person\n");
    let file = "palace/entities/person/alice.yaml";
    let alice = fs::read_to_string(home.path().join(file)).unwrap();
    home.write(file, &format!("# Known since school.\n{alice}status: away\n"));
    assert!(wire.call("read_graph", json!({})).contains("likes tea"));
    // Another server.
    let mut other = home.initialized_client_with(&MEMORY_TOOLS);
    let knows = json!({ "from": "Alice", "to": "Bob", "relationType": "knows" });
    other.call("create_relations", json!({ "relations": [knows] }));
    assert_eq!(next_notification_text(&mut wire), updated);
    // A person, and git.
    home.write("palace/entities/person/bob.yaml", "name: Bob\ngenus: person\n");
    assert_eq!(next_notification_text(&mut wire), updated);
    fs::remove_file(home.path().join("palace/entities/person/bob.yaml")).unwrap();
    assert_eq!(next_notification_text(&mut wire), updated);
    // After unsubscribing.
    wire.request("resources/unsubscribe", json!({ "uri": GRAPH_URI }));
    create_person(&mut wire, "Carol");
    assert_eq!(wire.close().responses, Vec::<Value>::new());
}

#[test]
fn a_graph_subscriber_is_notified_when_another_server_creates_it() {
    let home = Home::new();
    let mut wire = home.initialized_client_with(&MEMORY_TOOLS);
    wire.request("resources/subscribe", json!({ "uri": GRAPH_URI }));
    let updated = format!("resources/updated {GRAPH_URI}");
    let mut other = home.initialized_client_with(&MEMORY_TOOLS);
    create_person(&mut other, "Alice");
    assert_eq!(next_notification_text(&mut wire), updated);
    add_observation(&mut other, "Alice", "likes tea");
    assert_eq!(next_notification_text(&mut wire), updated);
}

#[test]
fn the_graph_subscription_follows_the_current_workspace() {
    let home = home_with_hall();
    home.run_palazzo(&["init", "v"]);
    home.write("v/entities/person/alice.yaml", "name: Alice\ngenus: person\n");
    let mut wire = home.initialized_client_with(&["--tools", "palace,memory"]);
    wire.request("resources/subscribe", json!({ "uri": GRAPH_URI }));
    let updated = format!("resources/updated {GRAPH_URI}");
    let mut enter = |workspace| {
        wire.call("set_workspace", json!({ "workspace": workspace }));
        let news = next_notification_text(&mut wire);
        (news, wire.call("read_graph", json!({})).contains("Alice"))
    };
    assert_eq!(enter("v"), (updated.clone(), true));
    assert_eq!(enter("w"), ("resources/list_changed".to_owned(), false));
    assert_eq!(next_notification_text(&mut wire), updated);
    home.write("v/entities/person/alice.yaml", "name: Alice\ngenus: cat\n");
    create_person(&mut wire, "Bob");
    assert_eq!(next_notification_text(&mut wire), updated);
    assert_eq!(wire.close().responses, Vec::<Value>::new());
}

#[test]
fn listen_sends_updates_of_the_graph() {
    let home = Home::new();
    let mut wire = home.raw_client_with(&MEMORY_TOOLS);
    let wish = json!({ "resourcesListChanged": true, "resourceSubscriptions": [GRAPH_URI] });
    let id = wire
        .send_request("subscriptions/listen", stateless_params(json!({ "notifications": wish })));
    assert_eq!(wire.next_message()["params"]["notifications"], wish);
    let entity = json!({ "name": "Alice", "entityType": "person", "observations": [] });
    let call = json!({ "name": "create_entities", "arguments": { "entities": [entity] } });
    wire.request("tools/call", stateless_params(call));
    let update = wire.next_notification();
    assert_eq!(update["params"]["uri"], GRAPH_URI, "{update}");
    assert_eq!(update["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], id);
    assert_eq!(wire.close().responses.len(), 1);
}
