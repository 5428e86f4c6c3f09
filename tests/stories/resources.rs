//! Rooms, scrolls and the graph as resources: listed, read, completed and
//! followed, line by line in both eras.

use std::fs;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::harness::Home;
use crate::wire::Wire;

const HALL: &str = "palace://w/rooms/hall";
const CRYPT: &str = "palace://w/rooms/crypt";
const NOTE: &str = "palace://w/scrolls/hall/01KJMPXF9069S44V81ASY1KY37";

fn quarry() -> Home {
    let home = Home::new();
    home.palazzo(&["init", "w"]);
    home.write(
        "w/rooms/hall.yaml",
        "name: Hall\ndescription: Stone.\nactions:\n- { label: Descend, type: navigate, room: crypt }\n",
    );
    home.write("w/rooms/code/auth.yaml", "name: Auth\ndescription: Keys.\n");
    note(&home, "First");
    home
}

fn note(home: &Home, title: &str) {
    let text = format!("---\ntitle: {title}\nwritten: 2026-02-28\nby: ada\n---\n\nDust.\n");
    home.write("w/scrolls/hall/01KJMPXF9069S44V81ASY1KY37-note.md", &text);
}

fn hall(home: &Home, description: &str) {
    home.write("w/rooms/hall.yaml", &format!("name: Hall\ndescription: {description}\n"));
}

/// Says what a client of the stateless era says with every request.
fn stateless(mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "codex", "version": "1.0" },
    });
    params
}

#[track_caller]
fn read(wire: &mut Wire, uri: &str) -> String {
    let answer = wire.ask("resources/read", json!({ "uri": uri }));
    let contents = &answer["result"]["contents"];
    assert_eq!(contents[0]["uri"], uri, "{answer}");
    assert_eq!(contents[0]["mimeType"], "text/markdown", "{answer}");
    contents[0]["text"].as_str().unwrap().to_owned()
}

/// Tells what is heard next without being asked for.
#[track_caller]
fn heard(wire: &mut Wire) -> String {
    let news = wire.hear_news();
    let method = news["method"].as_str().unwrap().trim_start_matches("notifications/");
    match news["params"]["uri"].as_str() {
        Some(uri) => format!("{method} {uri}"),
        None => method.to_owned(),
    }
}

// Listing, reading, completing.

#[test]
fn rooms_and_scrolls_are_listed_in_both_eras() {
    let home = quarry();
    let listed = home.greeted().ask("resources/list", json!({}))["result"].clone();
    let lines: Vec<_> =
        listed["resources"].as_array().unwrap().iter().map(ToString::to_string).collect();
    assert_snapshot!(lines.join("\n"), @r#"
    {"uri":"palace://w/rooms/hall","name":"hall","title":"Hall","description":"Stone.","mimeType":"text/markdown"}
    {"uri":"palace://w/rooms/code/auth","name":"code/auth","title":"Auth","description":"Keys.","mimeType":"text/markdown"}
    {"uri":"palace://w/scrolls/hall/01KJMPXF9069S44V81ASY1KY37","name":"hall/01KJMPXF9069S44V81ASY1KY37","title":"First","description":"A scroll by ada in Hall","mimeType":"text/markdown","annotations":{"lastModified":"2026-02-28T00:00:00+00:00"}}
    "#);
    assert_eq!(listed.as_object().unwrap().len(), 1, "{listed}");
    let mut wire = home.wire();
    let again = wire.ask("resources/list", stateless(json!({})))["result"].clone();
    assert_eq!(again["resources"], listed["resources"]);
    assert_eq!((&again["ttlMs"], &again["cacheScope"]), (&json!(0), &json!("private")));
    let templates = wire.ask("resources/templates/list", stateless(json!({})))["result"].clone();
    assert_eq!(templates["ttlMs"], 3_600_000);
    let lines: Vec<_> = templates["resourceTemplates"]
        .as_array()
        .unwrap()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_snapshot!(lines.join("\n"), @r#"
    {"uriTemplate":"palace://{workspace}/rooms/{+room}","name":"room","title":"A room","description":"A room: description, actions, doors and scrolls","mimeType":"text/markdown"}
    {"uriTemplate":"palace://{workspace}/scrolls/{+room}/{id}","name":"scroll","title":"A scroll","description":"A dated note that hangs in a room","mimeType":"text/markdown"}
    "#);
}

#[test]
fn rooms_and_scrolls_are_read_in_both_eras() {
    let home = quarry();
    let mut wire = home.greeted();
    assert_snapshot!(read(&mut wire, HALL), @"
    # Hall

    Stone.

    ## Actions

    - Descend (not built yet)

    ## Scrolls

    - [First](palace://w/scrolls/hall/01KJMPXF9069S44V81ASY1KY37) by ada, 2026-02-28
    ");
    assert_snapshot!(read(&mut wire, NOTE), @"
    # First

    By ada in [Hall](palace://w/rooms/hall), 2026-02-28T00:00:00Z

    Dust.
    ");
    assert_eq!(read(&mut wire, "palace://w/rooms/code%2Fauth"), "# Auth\n\nKeys.\n");
    let answer = home.wire().ask("resources/read", stateless(json!({ "uri": HALL })));
    let result = &answer["result"];
    assert_eq!(result["contents"][0]["text"], read(&mut wire, HALL));
    let about = &result["_meta"]["io.modelcontextprotocol/serverInfo"];
    assert_eq!(about["name"], "palazzo", "{answer}");
}

#[test]
fn what_is_not_there_is_not_found_and_the_nearest_is_named() {
    let home = quarry();
    home.write("w/rooms/broken.yaml", "name: [");
    let mut wire = home.greeted();
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
        let error = &wire.ask("resources/read", json!({ "uri": uri }))["error"];
        assert_eq!((&error["code"], &error["data"]["uri"]), (&json!(-32002), &json!(uri)));
        page.push_str(&format!("{}\n", error["message"].as_str().unwrap()));
        let error = &wire.ask("resources/read", stateless(json!({ "uri": uri })))["error"];
        assert_eq!(error["code"], -32602, "{uri}");
    }
    assert_snapshot!(page, @"
    no room is called `hal`; did you mean `hall`?
    no room is called `crypt`; there are, among others, `hall`, `code/auth`
    rooms/broken.yaml:1:7: this is not YAML: unclosed bracket '['
    no scroll `01KJMPXF9069S44V81ASY1KY38` hangs in `hall`; the newest there are `01KJMPXF9069S44V81ASY1KY37`
    no scroll `01KJMPXF9069S44V81ASY1KY37` hangs in `crypt`; no scroll does
    there is no workspace `nowhere`. Workspaces: `w`. To make a new one, call set_workspace with `create: true`.
    `palace://w/rooms/..%2f..%2fetc%2fpasswd` is no address of a palace: they look like palace://WORKSPACE/rooms/ROOM and palace://WORKSPACE/scrolls/ROOM/ID
    there is no workspace `../`. Workspaces: `w`. To make a new one, call set_workspace with `create: true`.
    `file:///etc/passwd` is no address of a palace: they look like palace://WORKSPACE/rooms/ROOM and palace://WORKSPACE/scrolls/ROOM/ID
    `` is no address of a palace: they look like palace://WORKSPACE/rooms/ROOM and palace://WORKSPACE/scrolls/ROOM/ID
    ");
}

#[test]
fn a_long_list_comes_in_pages_that_nothing_falls_between() {
    let home = quarry();
    for number in 0..450 {
        home.write(&format!("w/rooms/cell-{number:03}.yaml"), "name: Cell\ndescription: Bare.\n");
    }
    let mut wire = home.greeted();
    let (mut uris, mut cursor, mut pages) = (Vec::new(), json!({}), 0);
    loop {
        let page = wire.ask("resources/list", cursor)["result"].clone();
        let listed = page["resources"].as_array().unwrap().iter();
        uris.extend(listed.map(|it| it["uri"].as_str().unwrap().to_owned()));
        pages += 1;
        // Somebody builds and tears down behind and before the place one reads at.
        home.write(&format!("w/rooms/a-{pages}.yaml"), "name: New\ndescription: New.\n");
        fs::remove_file(home.path().join(format!("w/rooms/cell-00{pages}.yaml"))).unwrap();
        let Some(next) = page["nextCursor"].as_str() else { break };
        cursor = json!({ "cursor": next });
    }
    assert_eq!((pages, uris.len()), (3, 453));
    assert!(uris.windows(2).all(|it| it[0] != it[1]), "{uris:?}");
    let error = &wire.ask("resources/list", json!({ "cursor": "x" }))["error"];
    assert_eq!(error["code"], -32602);
}

#[test]
fn while_no_palace_is_meant_there_is_nothing_to_list() {
    let home = Home::new();
    let mut wire = home.greeted();
    let nothing = json!([]);
    assert_eq!(wire.ask("resources/list", json!({}))["result"]["resources"], nothing);
    assert!(!home.path().exists());
    for name in ["one", "two"] {
        home.palazzo(&["init", name, "--template", "paradigm-survey"]);
    }
    assert_eq!(wire.ask("resources/list", json!({}))["result"]["resources"], nothing);
    wire.call("set_workspace", json!({ "workspace": "two" }));
    assert_eq!(heard(&mut wire), "resources/list_changed");
    let listed = wire.ask("resources/list", json!({}))["result"]["resources"].clone();
    let uris: Vec<_> = listed.as_array().unwrap().iter().map(|it| it["uri"].clone()).collect();
    assert!(uris.len() > 5, "{listed}");
    assert!(uris.iter().all(|it| it.as_str().unwrap().starts_with("palace://two/")), "{listed}");
}

#[test]
fn an_address_is_completed_part_by_part() {
    let home = quarry();
    let mut wire = home.greeted();
    let mut complete = |name: &str, value: &str, known: Value| {
        let params = json!({
            "ref": { "type": "ref/resource", "uri": "palace://{workspace}/scrolls/{+room}/{id}" },
            "argument": { "name": name, "value": value },
            "context": { "arguments": known },
        });
        wire.ask("completion/complete", params)["result"]["completion"]["values"].clone()
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
    let params = json!({ "ref": { "type": "ref/prompt", "name": "x" },
        "argument": { "name": "x", "value": "" } });
    assert_eq!(wire.ask("completion/complete", params)["error"]["code"], -32602);
}

// Following, with a handshake.

#[test]
fn who_follows_a_room_hears_of_every_change_to_what_they_would_read() {
    let home = quarry();
    let mut wire = home.greeted();
    wire.ask("resources/list", json!({}));
    for uri in [HALL, NOTE] {
        assert_eq!(wire.ask("resources/subscribe", json!({ "uri": uri }))["result"], json!({}));
    }
    // An edit by hand.
    hall(&home, "Moss.");
    assert_eq!(heard(&mut wire), format!("resources/updated {HALL}"));
    assert!(read(&mut wire, HALL).contains("Moss."));
    // One that changes nothing, one elsewhere, and one that does change it.
    hall(&home, "Moss.");
    home.write("w/rooms/code/auth.yaml", "name: Auth\ndescription: Locks.\n");
    hall(&home, "Moss and fern.");
    assert_eq!(heard(&mut wire), format!("resources/updated {HALL}"));
    // A scroll that hangs there: its title shows in the room.
    note(&home, "Second");
    assert_eq!(heard(&mut wire), "resources/list_changed");
    assert_eq!(heard(&mut wire), format!("resources/updated {HALL}"));
    assert_eq!(heard(&mut wire), format!("resources/updated {NOTE}"));
    // A tool of this very server: first its answer, then the news.
    let scroll = json!({ "title": "Third", "body": "x", "room": "hall" });
    let call = wire.post("tools/call", json!({ "name": "write_scroll", "arguments": scroll }));
    assert_eq!(wire.hear_line()["id"], call);
    assert_eq!(heard(&mut wire), "resources/list_changed");
    assert_eq!(heard(&mut wire), format!("resources/updated {HALL}"));
    // Another server.
    let mut other = home.greeted();
    let change = json!({ "slug": "hall", "merge": true, "description": "Ice.", "quiet": true });
    other.call("build_room", change);
    assert_eq!(heard(&mut wire), format!("resources/updated {HALL}"));
    // No longer.
    wire.ask("resources/unsubscribe", json!({ "uri": HALL }));
    hall(&home, "Fire.");
    note(&home, "Fourth");
    assert_eq!(heard(&mut wire), "resources/list_changed");
    assert_eq!(heard(&mut wire), format!("resources/updated {NOTE}"));
    assert_eq!(wire.end().said, Vec::<Value>::new());
}

#[test]
fn nobody_hears_of_what_is_half_written() {
    let home = quarry();
    let mut wire = home.greeted();
    wire.ask("resources/list", json!({}));
    wire.ask("resources/subscribe", json!({ "uri": HALL }));
    let before = read(&mut wire, HALL);
    for half in ["", "name: Hall\ndescription: \"St"] {
        home.write("w/rooms/hall.yaml", half);
        assert_eq!(read(&mut wire, HALL), before);
    }
    fs::remove_file(home.path().join("w/rooms/hall.yaml")).unwrap();
    assert_eq!(read(&mut wire, HALL), before);
    hall(&home, "Moss.");
    assert_eq!(heard(&mut wire), format!("resources/updated {HALL}"));
    assert_eq!(read(&mut wire, HALL).lines().nth(2), Some("Moss."));
    assert_eq!(wire.end().said, Vec::<Value>::new());
}

#[test]
fn a_room_that_is_yet_to_be_built_can_be_followed() {
    let home = quarry();
    let mut wire = home.greeted();
    wire.ask("resources/list", json!({}));
    for uri in [CRYPT, HALL] {
        wire.ask("resources/subscribe", json!({ "uri": uri }));
    }
    home.write("w/rooms/crypt.yaml", "name: Crypt\ndescription: It is dark.\n");
    assert_eq!(heard(&mut wire), "resources/list_changed");
    // The door of the hall leads somewhere now.
    assert_eq!(heard(&mut wire), format!("resources/updated {CRYPT}"));
    assert_eq!(heard(&mut wire), format!("resources/updated {HALL}"));
    fs::remove_file(home.path().join("w/rooms/crypt.yaml")).unwrap();
    assert_eq!(heard(&mut wire), "resources/list_changed");
    assert_eq!(heard(&mut wire), format!("resources/updated {CRYPT}"));
    assert_eq!(heard(&mut wire), format!("resources/updated {HALL}"));
    for uri in ["palace://nowhere/rooms/hall", "palace://w", "file:///etc"] {
        let error = wire.ask("resources/subscribe", json!({ "uri": uri }))["error"].clone();
        assert_eq!(error["code"], -32002, "{error}");
    }
}

#[test]
fn a_thousand_files_that_git_changes_at_once_are_one_change_to_each_follower() {
    let home = quarry();
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
    let mut wire = home.greeted();
    wire.ask("resources/list", json!({}));
    let cells = ["palace://w/rooms/cell-0", "palace://w/rooms/cell-999"];
    for uri in cells {
        wire.ask("resources/subscribe", json!({ "uri": uri }));
    }
    for (branch, seen) in [("main", "Bare."), ("other", "Other.")] {
        git(&["checkout", "-q", branch]);
        let mut updates = [heard(&mut wire), heard(&mut wire)];
        updates.sort();
        assert_eq!(updates, cells.map(|uri| format!("resources/updated {uri}")));
        assert!(read(&mut wire, cells[1]).contains(seen));
    }
    assert_eq!(wire.end().said, Vec::<Value>::new());
}

#[test]
fn a_palace_that_goes_and_comes_back_is_told_of() {
    let home = quarry();
    let mut wire = home.greeted();
    wire.ask("resources/list", json!({}));
    wire.ask("resources/subscribe", json!({ "uri": HALL }));
    let (here, away) = (home.path().join("w"), home.path().with_file_name("away"));
    fs::rename(&here, &away).unwrap();
    assert_eq!(heard(&mut wire), "resources/list_changed");
    assert_eq!(heard(&mut wire), format!("resources/updated {HALL}"));
    fs::rename(&away, &here).unwrap();
    assert_eq!(heard(&mut wire), "resources/list_changed");
    assert_eq!(heard(&mut wire), format!("resources/updated {HALL}"));
    assert!(read(&mut wire, HALL).contains("Stone."));
}

// Listening, without a handshake.

#[test]
fn who_listens_is_promised_first_and_then_told() {
    let home = quarry();
    let mut wire = home.wire();
    let wish = json!({ "resourcesListChanged": true, "toolsListChanged": true,
        "resourceSubscriptions": [HALL, "file:///etc/passwd", NOTE] });
    let id = wire.post("subscriptions/listen", stateless(json!({ "notifications": wish })));
    let promise = wire.hear_line();
    assert_eq!(promise["method"], "notifications/subscriptions/acknowledged");
    let promised = json!({ "resourcesListChanged": true, "resourceSubscriptions": [HALL, NOTE] });
    assert_eq!(promise["params"]["notifications"], promised);
    let tag = "io.modelcontextprotocol/subscriptionId";
    assert_eq!(promise["params"]["_meta"][tag], id);

    hall(&home, "Moss.");
    let update = wire.hear_line();
    assert_eq!(update["method"], "notifications/resources/updated");
    assert_eq!(update["params"]["uri"], HALL);
    assert_eq!(update["params"]["_meta"][tag], id);
    note(&home, "Second");
    let news: Vec<_> = (0..3).map(|_| wire.hear_line()).collect();
    assert!(news.iter().all(|it| it["params"]["_meta"][tag] == id), "{news:?}");
    assert_eq!(news[0]["method"], "notifications/resources/list_changed");
    assert_eq!(news[1]["params"]["uri"], HALL);
    assert_eq!(news[2]["params"]["uri"], NOTE);

    let ended = wire.end();
    assert_eq!((ended.code, ended.errors.as_str()), (Some(0), ""));
    assert_eq!(ended.said.len(), 1, "{:?}", ended.said);
    assert_eq!(ended.said[0]["id"], id);
}

#[test]
fn several_listen_and_each_hears_what_it_asked_for_until_it_leaves() {
    let home = quarry();
    let mut wire = home.wire();
    let mut listen = |uris: &[&str]| {
        let wish = json!({ "notifications": { "resourceSubscriptions": uris } });
        let id = wire.post("subscriptions/listen", stateless(wish));
        assert_eq!(wire.hear_line()["method"], "notifications/subscriptions/acknowledged");
        id
    };
    let (one, two) = (listen(&[HALL]), listen(&[HALL, NOTE]));
    hall(&home, "Moss.");
    let tag = "io.modelcontextprotocol/subscriptionId";
    let told = |it: Value| (it["params"]["_meta"][tag].clone(), it["params"]["uri"].clone());
    assert_eq!(told(wire.hear_line()), (json!(one), json!(HALL)));
    assert_eq!(told(wire.hear_line()), (json!(two), json!(HALL)));
    let cancel = json!({ "requestId": one });
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel });
    wire.send(&cancel.to_string());
    hall(&home, "Ice.");
    assert_eq!(told(wire.hear_line()), (json!(two), json!(HALL)));
    note(&home, "Second");
    assert_eq!(told(wire.hear_line()), (json!(two), json!(HALL)));
    assert_eq!(told(wire.hear_line()), (json!(two), json!(NOTE)));
    assert_eq!(wire.end().code, Some(0));
}

#[test]
fn each_era_has_its_own_way_of_following() {
    let home = quarry();
    let mut wire = home.greeted();
    let wish = json!({ "notifications": { "resourcesListChanged": true } });
    assert_eq!(wire.ask("subscriptions/listen", wish)["error"]["code"], -32601);
    let mut wire = home.wire();
    let follow = stateless(json!({ "uri": HALL }));
    assert_eq!(wire.ask("resources/subscribe", follow)["error"]["code"], -32601);
}

#[test]
fn a_server_that_only_looks_every_two_seconds_tells_too() {
    let home = quarry();
    let mut wire = home.wire_with(&["--watch", "poll"]);
    wire.ask("initialize", crate::wire::greeting("2025-11-25"));
    wire.tell("notifications/initialized");
    wire.ask("resources/list", json!({}));
    wire.ask("resources/subscribe", json!({ "uri": HALL }));
    hall(&home, "Moss.");
    assert_eq!(heard(&mut wire), format!("resources/updated {HALL}"));
    home.write("w/rooms/crypt.yaml", "name: Crypt\ndescription: It is dark.\n");
    assert_eq!(heard(&mut wire), "resources/list_changed");
    let ended = wire.end();
    assert_eq!((ended.code, ended.errors.as_str()), (Some(0), ""));
}

// The graph, in the place of the reference memory server.

const GRAPH: &str = "memory://knowledge-graph";
const MEMORY: [&str; 2] = ["--tools", "memory"];

fn remember(wire: &mut Wire, name: &str) {
    let entity = json!({ "name": name, "entityType": "person", "observations": [] });
    wire.call("create_entities", json!({ "entities": [entity] }));
}

fn observe(wire: &mut Wire, name: &str, what: &str) {
    let new = json!({ "entityName": name, "contents": [what] });
    wire.call("add_observations", json!({ "observations": [new] }));
}

#[test]
fn the_graph_is_read_at_the_address_that_the_reference_gives_it() {
    let home = Home::new();
    let mut wire = home.greeted_with(&MEMORY);
    let mut page = wire.ask("resources/list", json!({}))["result"].to_string();
    let read = |wire: &mut Wire| {
        wire.ask("resources/read", json!({ "uri": GRAPH }))["result"]["contents"][0].clone()
    };
    page += &format!("\n{}", read(&mut wire));
    remember(&mut wire, "Alice");
    page += &format!("\n{}", read(&mut wire));
    assert_snapshot!(page, @r#"
    {"resources":[{"uri":"memory://knowledge-graph","name":"knowledge-graph","title":"Knowledge Graph","description":"The full knowledge graph with all entities and relations","mimeType":"application/json"}]}
    {"uri":"memory://knowledge-graph","mimeType":"application/json","text":"{\"entities\":[],\n\"relations\":[]}"}
    {"uri":"memory://knowledge-graph","mimeType":"application/json","text":"{\"entities\":[\n{\"name\":\"Alice\",\"entityType\":\"person\",\"observations\":[]}\n],\n\"relations\":[]}"}
    "#);
    assert_eq!(read(&mut wire)["text"], wire.call("read_graph", json!({})));
    let stateless =
        home.wire_with(&MEMORY).ask("resources/read", stateless(json!({ "uri": GRAPH })));
    assert_eq!(stateless["result"]["contents"][0], read(&mut wire));

    // Whoever wants it all can have it.
    let name = |it: usize| format!("Somebody of the name of {it}");
    let many = (0..900).map(|it| json!({ "name": name(it), "entityType": "", "observations": [] }));
    wire.call("create_entities", json!({ "entities": many.collect::<Vec<_>>() }));
    let graph = |wire: &mut Wire| -> Value {
        serde_json::from_str(read(wire)["text"].as_str().unwrap()).unwrap()
    };
    assert_snapshot!(graph(&mut wire)["notice"].as_str().unwrap(), @r#"Too much to show: here are 1 to 772 of 901 entities, oldest first. To go on, call read_graph with {"after": "Somebody of the name of 770"}"#);
    let whole = graph(&mut home.greeted_with(&["--tools", "memory", "--unbounded"]));
    assert_eq!(whole["entities"].as_array().unwrap().len(), 901);
}

#[test]
fn the_graph_is_no_resource_where_the_tools_of_memory_are_not_offered() {
    let home = quarry();
    let mut wire = home.greeted_with(&["--tools", "palace,memory"]);
    let listed = wire.ask("resources/list", json!({}))["result"]["resources"].clone();
    assert_eq!((&listed[0]["uri"], &listed[1]["uri"]), (&json!(GRAPH), &json!(HALL)));
    let mut wire = home.greeted();
    let listed = wire.ask("resources/list", json!({}))["result"]["resources"].clone();
    assert_eq!(listed[0]["uri"], HALL);
    for method in ["resources/read", "resources/subscribe"] {
        assert_eq!(wire.ask(method, json!({ "uri": GRAPH }))["error"]["code"], -32002);
    }
}

#[test]
fn who_follows_the_graph_hears_of_every_change_to_it_and_of_no_list() {
    let home = Home::new();
    let mut wire = home.greeted_with(&MEMORY);
    wire.ask("resources/list", json!({}));
    assert_eq!(wire.ask("resources/subscribe", json!({ "uri": GRAPH }))["result"], json!({}));
    let updated = format!("resources/updated {GRAPH}");
    // The first of all, with which the palace is founded.
    remember(&mut wire, "Alice");
    assert_eq!(heard(&mut wire), updated);
    observe(&mut wire, "Alice", "likes tea");
    assert_eq!(heard(&mut wire), updated);
    // What is there already changes nothing; nor does what the graph does not tell.
    observe(&mut wire, "Alice", "likes tea");
    home.write("palace/genera/person.yaml", "name: person\n");
    let file = "palace/entities/person/alice.yaml";
    let alice = fs::read_to_string(home.path().join(file)).unwrap();
    home.write(file, &format!("# Known since school.\n{alice}status: away\n"));
    assert!(wire.call("read_graph", json!({})).contains("likes tea"));
    // Another server.
    let mut other = home.greeted_with(&MEMORY);
    let knows = json!({ "from": "Alice", "to": "Bob", "relationType": "knows" });
    other.call("create_relations", json!({ "relations": [knows] }));
    assert_eq!(heard(&mut wire), updated);
    // A person, and git.
    home.write("palace/entities/person/bob.yaml", "name: Bob\ngenus: person\n");
    assert_eq!(heard(&mut wire), updated);
    fs::remove_file(home.path().join("palace/entities/person/bob.yaml")).unwrap();
    assert_eq!(heard(&mut wire), updated);
    // No longer.
    wire.ask("resources/unsubscribe", json!({ "uri": GRAPH }));
    remember(&mut wire, "Carol");
    assert_eq!(wire.end().said, Vec::<Value>::new());
}

#[test]
fn who_follows_the_graph_before_there_is_one_hears_when_another_makes_it() {
    let home = Home::new();
    let mut wire = home.greeted_with(&MEMORY);
    wire.ask("resources/subscribe", json!({ "uri": GRAPH }));
    let updated = format!("resources/updated {GRAPH}");
    let mut other = home.greeted_with(&MEMORY);
    remember(&mut other, "Alice");
    assert_eq!(heard(&mut wire), updated);
    observe(&mut other, "Alice", "likes tea");
    assert_eq!(heard(&mut wire), updated);
}

#[test]
fn the_graph_that_is_followed_is_the_one_that_tools_act_on() {
    let home = quarry();
    home.palazzo(&["init", "v"]);
    home.write("v/entities/person/alice.yaml", "name: Alice\ngenus: person\n");
    let mut wire = home.greeted_with(&["--tools", "palace,memory"]);
    wire.ask("resources/subscribe", json!({ "uri": GRAPH }));
    let updated = format!("resources/updated {GRAPH}");
    let mut enter = |workspace| {
        wire.call("set_workspace", json!({ "workspace": workspace }));
        let news = heard(&mut wire);
        (news, wire.call("read_graph", json!({})).contains("Alice"))
    };
    assert_eq!(enter("v"), (updated.clone(), true));
    assert_eq!(enter("w"), ("resources/list_changed".to_owned(), false));
    assert_eq!(heard(&mut wire), updated);
    home.write("v/entities/person/alice.yaml", "name: Alice\ngenus: cat\n");
    remember(&mut wire, "Bob");
    assert_eq!(heard(&mut wire), updated);
    assert_eq!(wire.end().said, Vec::<Value>::new());
}

#[test]
fn who_listens_to_the_graph_is_told_of_it() {
    let home = Home::new();
    let mut wire = home.wire_with(&MEMORY);
    let wish = json!({ "resourcesListChanged": true, "resourceSubscriptions": [GRAPH] });
    let id = wire.post("subscriptions/listen", stateless(json!({ "notifications": wish })));
    assert_eq!(wire.hear_line()["params"]["notifications"], wish);
    let entity = json!({ "name": "Alice", "entityType": "person", "observations": [] });
    let call = json!({ "name": "create_entities", "arguments": { "entities": [entity] } });
    wire.ask("tools/call", stateless(call));
    let update = wire.hear_news();
    assert_eq!(update["params"]["uri"], GRAPH, "{update}");
    assert_eq!(update["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], id);
    assert_eq!(wire.end().said.len(), 1);
}
