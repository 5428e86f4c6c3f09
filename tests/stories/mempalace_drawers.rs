//! MemPalace's tools for drawers and diaries: filing and search by wing and room.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::harness::Home;
use crate::mempalace::{MEMPALACE_TOOLS, add_drawer, call_refused, call_structured};
use crate::raw_client::RawClient;

#[test]
fn drawers_are_counted_by_wing_and_room() {
    let home = Home::new();
    let mut wire = home.initialized_client_with(&MEMPALACE_TOOLS);
    for (shelf, text) in [
        ("wing_code/auth", "Tokens last an hour."),
        ("wing_code/auth", "Sessions are kept in Redis, and forgotten after a day."),
        ("wing_code/db", "Postgres 16."),
        ("Das Team/auth", "Ada looks after the login."),
    ] {
        assert_eq!(add_drawer(&mut wire, shelf, text)["success"], true);
    }
    let counted = ["list_wings", "list_rooms", "get_taxonomy"]
        .map(|it| call_structured(&mut wire, it, json!({})));
    assert_eq!(counted[0], json!({ "wings": { "Das Team": 1, "wing_code": 3 } }));
    assert_eq!(counted[1], json!({ "wing": "all", "rooms": { "auth": 3, "db": 1 } }));
    let tree = json!({ "Das Team": { "auth": 1 }, "wing_code": { "auth": 2, "db": 1 } });
    assert_eq!(counted[2], json!({ "taxonomy": tree }));
    let of_team = call_structured(&mut wire, "list_rooms", json!({ "wing": "Das Team" }));
    assert_eq!(of_team, json!({ "wing": "Das Team", "rooms": { "auth": 1 } }));
    let of_none = call_structured(&mut wire, "list_rooms", json!({ "wing": "das team" }));
    assert_eq!(of_none["rooms"], json!({}));
    assert_eq!(of_none["hint"], "There is no wing `das team`; did you mean `Das Team`?");
    let blank = call_structured(&mut wire, "list_rooms", json!({ "wing": " " }));
    assert_eq!(blank["wing"], "all");
}

/// A palace with four texts about a login, one of them added by hand.
fn client_with_login_drawers(home: &Home) -> RawClient {
    let mut wire = home.initialized_client_with(&MEMPALACE_TOOLS);
    add_drawer(&mut wire, "code/auth", "The login token lasts an hour.");
    add_drawer(&mut wire, "code/db", "The login table has an index.");
    add_drawer(&mut wire, "team/auth", "Ada looks after the login.");
    home.write("palace/drawers/old/auth/2019-05-01-note.md", "The login was a text file.");
    home.git(&["add", "-A"]);
    home.git(&["-c", "user.name=Ada", "-c", "user.email=a@b", "commit", "-qm", "An old note"]);
    wire
}

/// Searches for a login; returns the places of the hits, and the answer.
#[track_caller]
fn search_login(wire: &mut RawClient, more: &Value) -> (String, Value) {
    let mut asked = json!({ "query": "login" });
    asked.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let found = call_structured(wire, "search", asked);
    let results = found["results"].as_array().unwrap().iter();
    let shelf = |it: &Value| [&it["wing"], &it["room"]].map(|it| it.as_str().unwrap()).join("/");
    let mut shelves: Vec<_> = results.map(shelf).collect();
    shelves.sort();
    (shelves.join(" "), found)
}

#[test]
fn search_filters_by_wing_room_and_time() {
    let home = Home::new();
    let mut wire = client_with_login_drawers(&home);
    for (told, found) in [
        (json!({}), "code/auth code/db old/auth team/auth"),
        (json!({ "wing": "code" }), "code/auth code/db"),
        (json!({ "room": "auth", "wing": "" }), "code/auth old/auth team/auth"),
        (json!({ "wing": "code", "room": "auth" }), "code/auth"),
        (json!({ "before": "2020" }), "old/auth"),
        (json!({ "since": "2020", "wing": "team" }), "team/auth"),
        (json!({ "wing": "Code" }), ""),
    ] {
        assert_eq!(search_login(&mut wire, &told).0, found, "{told}");
    }
    let (_, old) = search_login(&mut wire, &json!({ "before": "2020" }));
    assert_eq!(old["results"][0]["filed_at"], "2019-05-01T00:00:00Z");
    let (_, one) = search_login(&mut wire, &json!({ "limit": 1 }));
    assert_eq!((one["results"].as_array().unwrap().len(), &one["left_out"]), (1, &json!(3)));
    let (_, none) = search_login(&mut wire, &json!({ "wing": "Code" }));
    assert_eq!(none["filters"], json!({ "wing": "Code", "room": null }));
    assert_eq!(none["hint"], "There is no wing `Code`; did you mean `code`?");
}

#[test]
fn an_invalid_search_is_refused_with_a_reason() {
    let mut wire = Home::new().initialized_client_with(&MEMPALACE_TOOLS);
    let said = [
        json!({ "query": "x", "since": "2021", "before": "2020" }),
        json!({ "query": " " }),
        json!({ "query": "x", "since": "soon" }),
        json!({}),
        json!({ "query": "x", "wings": 1 }),
    ]
    .map(|it| call_refused(&mut wire, "search", it));
    assert_snapshot!(said.join("\n"), @"
    `since` must be earlier than `before`: no time is between them
    the `query` is empty: give words to search for
    `since`: `soon` is no date: write 1972, 1972-05, 1972-01-31, 44 BC or 2026-03-01T12:00:00Z
    wrong arguments for mempalace_search: missing field `query`
    wrong arguments for mempalace_search at `wings`: unknown field `wings`, expected one of `query`, `limit`, `wing`, `room`, `since`, `before`
    ");
}

#[test]
fn a_quoted_number_is_accepted() {
    let home = Home::new();
    let mut wire = client_with_login_drawers(&home);
    let few = call_structured(&mut wire, "search", json!({ "query": "login", "limit": "2" }));
    assert_eq!(few["results"].as_array().unwrap().len(), 2);
    let alike = json!({ "content": "login", "threshold": " 0.5 " });
    assert_eq!(call_structured(&mut wire, "check_duplicate", alike)["is_duplicate"], false);
    let page = json!({ "limit": "10.0", "offset": "0" });
    assert_eq!(call_structured(&mut wire, "kg_timeline", page)["limit"], 10);
    let odd = |limit: &str| json!({ "query": "login", "limit": limit });
    let what =
        |said: &str| if said == "1e300" { "smaller number than" } else { "whole number, not" };
    for said in ["some", "2.5", "", "1e300", "NaN"] {
        assert_eq!(
            call_refused(&mut wire, "search", odd(said)),
            format!(
                "wrong arguments for mempalace_search at `limit`: \
                 must be a {} \"{said}\"",
                what(said)
            )
        );
    }
}

#[test]
fn a_duplicate_text_is_refused_unless_forced() {
    let home = Home::new();
    let mut wire = home.initialized_client_with(&MEMPALACE_TOOLS);
    let text = "We meet every Tuesday at ten in the large room on the second floor.";
    let first = add_drawer(&mut wire, "team/plans", text);
    let again = add_drawer(&mut wire, "team/plans", text);
    assert_eq!(again["success"], true);
    assert_eq!(
        (&again["reason"], &again["drawer_id"]),
        (&json!("already_exists"), &first["drawer_id"])
    );
    let elsewhere = add_drawer(&mut wire, "team/other", text);
    assert_eq!((&elsewhere["success"], &elsewhere["reason"]), (&json!(false), &json!("duplicate")));
    assert_eq!(elsewhere["matches"][0]["id"], first["drawer_id"]);
    assert_eq!(elsewhere["matches"][0]["content"], text);
    let commits = home.commit_count();
    let checked = call_structured(&mut wire, "check_duplicate", json!({ "content": text }));
    assert_eq!(checked["is_duplicate"], true);
    assert_eq!(checked["matches"][0]["similarity"], 1.0);
    let forced = json!({ "wing": "team", "room": "other", "content": text, "force": true });
    assert_eq!(call_structured(&mut wire, "add_drawer", forced)["success"], true);
    assert_eq!(home.commit_count(), commits + 1);
    let unlike =
        call_structured(&mut wire, "check_duplicate", json!({ "content": "The cat sat." }));
    assert_eq!(unlike, json!({ "is_duplicate": false, "matches": [] }));
    let odd =
        call_refused(&mut wire, "check_duplicate", json!({ "content": "x", "threshold": 90 }));
    assert_eq!(odd, "the `threshold` must be from 0 to 1, not 90");
}

#[test]
fn a_deleted_drawer_stays_in_the_git_history() {
    let home = Home::new();
    let mut wire = home.initialized_client_with(&MEMPALACE_TOOLS);
    let filed = add_drawer(&mut wire, "team/plans", "Burn after reading.");
    let id = json!({ "drawer_id": filed["drawer_id"] });
    assert_eq!(call_structured(&mut wire, "delete_drawer", id.clone())["success"], true);
    assert_eq!(call_structured(&mut wire, "status", json!({}))["total_drawers"], 0);
    assert!(call_refused(&mut wire, "delete_drawer", id).contains("nothing was deleted"));
    for wrong in ["", "drawer_x", "no such", "drawer_a_b_a3f2", "é".repeat(40).as_str()] {
        let said = call_refused(&mut wire, "delete_drawer", json!({ "drawer_id": wrong }));
        assert!(said.contains("is not a drawer id"), "{said}");
    }
    assert!(home.git(&["log", "-p", "-1"]).contains("-Burn after reading."));
    assert_snapshot!(home.git(&["log", "-1", "--format=%s%n%b"]), @r#"
    drawer team/plans: delete
    Deleted "Burn after reading."

    Palazzo-Tool: mempalace_delete_drawer
    Palazzo-Client: claude
    Palazzo-Visit: ID
    "#);
    home.assert_clean_repository();
}

#[test]
fn texts_are_kept_byte_for_byte() {
    let home = Home::new();
    let mut wire = home.initialized_client_with(&MEMPALACE_TOOLS);
    let long = "Zeile für Zeile. ".repeat(50_000);
    let texts = [
        "no final line break",
        "\n\n---\nwing: elsewhere\n---\n\nlooks like front matter\n",
        "Windows\r\nends\r\nlines\r\n",
        "  blanks  \t\n\n\n",
        "\u{feff}marked, \u{202e}turned\u{202c}, \u{7}rung\n",
        "日本語のノート、そして絵文字 🏛\n",
        long.as_str(),
    ];
    for (place, text) in texts.into_iter().enumerate() {
        let filed = add_drawer(&mut wire, &format!("texts/{place}"), text);
        assert_eq!(filed["success"], true, "{filed}");
    }
    wire.close();
    let mut wire = home.initialized_client_with(&MEMPALACE_TOOLS);
    for (place, text) in texts.into_iter().enumerate() {
        let mut files =
            std::fs::read_dir(home.path().join(format!("palace/drawers/texts/{place}"))).unwrap();
        let file = std::fs::read_to_string(files.next().unwrap().unwrap().path()).unwrap();
        assert!(file.ends_with(&format!("---\n\n{text}")), "{file:.300}");
        let again = json!({ "wing": "texts", "room": place.to_string(), "content": text });
        assert_eq!(
            call_structured(&mut wire, "add_drawer", again)["reason"],
            "already_exists",
            "{place}"
        );
    }
    let found = call_structured(&mut wire, "search", json!({ "query": "Zeile", "limit": 1 }));
    assert!(found.to_string().len() < 70_000, "{}", found.to_string().len());
    assert_eq!(found["results"][0]["bytes"]["of"], long.len());
    let turned = call_structured(&mut wire, "search", json!({ "query": "marked turned rung" }));
    assert_eq!(turned["results"][0]["text"], texts[4]);
    home.assert_clean_repository();
}

#[test]
fn search_results_shorten_only_long_texts() {
    let home = Home::new();
    let mut wire = home.initialized_client_with(&MEMPALACE_TOOLS);
    let long = format!("{} A needle lies here. {}", "Hay. ".repeat(9_000), "Hay. ".repeat(9_000));
    for (place, text) in [long.as_str(), "A needle, short.", &long[1..]].into_iter().enumerate() {
        add_drawer(&mut wire, &format!("barn/{place}"), text);
    }
    let found = call_structured(&mut wire, "search", json!({ "query": "needle" }));
    let results = found["results"].as_array().unwrap();
    let lengths: Vec<_> = results.iter().map(|it| it["text"].as_str().unwrap().len()).collect();
    assert!(results.iter().all(|it| it["text"].as_str().unwrap().contains("needle")));
    assert!(lengths.contains(&16) && lengths.iter().all(|it| *it == 16 || *it == 1_600));
}

#[test]
fn invalid_input_is_refused_and_creates_no_palace() {
    let home = Home::new();
    let mut wire = home.initialized_client_with(&MEMPALACE_TOOLS);
    let long = "w".repeat(300);
    let wings = ["", " . ", "..", "a/b", "a\\b", "a\nb", "a\u{0}b", "\u{202e}evil", long.as_str()];
    let drawer = |wing: &str, content: &str| {
        ("add_drawer", json!({ "wing": wing, "room": "r", "content": content }))
    };
    let entry =
        |agent: &str, entry: &str| ("diary_write", json!({ "agent_name": agent, "entry": entry }));
    let fact = |subject: &str, more: [(&str, &str); 2]| {
        let mut fact = json!({ "subject": subject, "predicate": "p", "object": "o" });
        for (key, it) in more {
            fact[key] = it.into();
        }
        ("kg_add", fact)
    };
    let day = "2026-02-01";
    let calls = wings.map(|it| drawer(it, "x")).into_iter().chain([
        drawer("fine", " \n"),
        drawer("fine", "a\u{0}b"),
        ("add_drawer", json!({ "wing": "w", "content": "x" })),
        entry("../x", "x"),
        entry("x", ""),
        fact(" ", [("valid_from", day), ("valid_to", "")]),
        fact("s", [("valid_from", day), ("valid_to", day)]),
        fact("s", [("valid_from", "spring"), ("valid_to", "")]),
        ("delete_drawer", json!({ "drawer_id": "01KJHSAPE0PJMA0HCKESTE6VY6" })),
        ("kg_invalidate", json!({ "subject": "s", "predicate": "p", "object": "o" })),
        ("traverse", json!({ "start_room": "nowhere" })),
    ]);
    let said: Vec<_> = calls.map(|(tool, asked)| call_refused(&mut wire, tool, asked)).collect();
    assert!(!home.path().exists());
    assert_snapshot!(said.join("\n"));
    let (tool, large) = drawer("w", &"x".repeat(1_048_576));
    assert!(call_refused(&mut wire, tool, large).contains("the limit is 1048576"));
}

#[test]
fn any_wing_name_gets_a_safe_folder() {
    let home = Home::new();
    let mut wire = home.initialized_client_with(&MEMPALACE_TOOLS);
    let names = "con NUL Küche 日本 🏛 code Code CODE! my-app my_app … ? x.git .git";
    let names: Vec<_> = names.split(' ').chain(["a b"]).collect();
    for (number, name) in names.iter().enumerate() {
        // A near-duplicate would be refused.
        let filed = add_drawer(&mut wire, &format!("{name}/{name}"), &number.to_string());
        assert_eq!(filed["success"], true);
    }
    let wings = call_structured(&mut wire, "list_wings", json!({}));
    let counted = wings["wings"].as_object().unwrap();
    assert!(counted.len() == names.len() && names.iter().all(|it| counted[*it] == 1), "{wings}");
    wire.close();
    let folders = std::fs::read_dir(home.path().join("palace/drawers")).unwrap();
    let mut folders: Vec<_> =
        folders.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
    folders.sort();
    assert_snapshot!(folders.join(" "), @"a-b classical-building code code-2 code-3 con-wing git kuche my-app my_app nul-wing ri-ben wing wing-2 x-git");
    let mut wire = home.initialized_client_with(&MEMPALACE_TOOLS);
    assert_eq!(call_structured(&mut wire, "list_wings", json!({})), wings);
    let checked = home.run_palazzo(&["check"]);
    assert!(checked.status.success(), "{checked:?}");
    home.assert_clean_repository();
}

/// A palace with rooms that connect its wings.
fn client_with_shared_wings(home: &Home) -> RawClient {
    let mut wire = home.initialized_client_with(&MEMPALACE_TOOLS);
    let shelves =
        "code/auth code/db team/auth team/plans life/plans life/garden my-app/db my_app/x";
    for (number, shelf) in shelves.split(' ').enumerate() {
        add_drawer(&mut wire, shelf, &number.to_string());
    }
    wire
}

#[test]
fn traverse_follows_rooms_through_shared_wings() {
    let home = Home::new();
    let mut wire = client_with_shared_wings(&home);
    let walked = call_structured(&mut wire, "traverse", json!({ "start_room": "auth" }));
    let step = |it: &Value| format!("{} {} {}", it["hop"], it["room"], it["connected_via"]);
    let steps: Vec<_> = walked["rooms"].as_array().unwrap().iter().map(step).collect();
    assert_snapshot!(steps.join("\n"), @r#"
    0 "auth" null
    1 "db" ["code"]
    1 "plans" ["team"]
    2 "garden" ["life"]
    "#);
    let near =
        call_structured(&mut wire, "traverse", json!({ "start_room": "auth", "max_hops": 0 }));
    let auth = json!({ "room": "auth", "wings": ["code", "team"], "count": 2, "hop": 0 });
    assert_eq!(near["rooms"], json!([auth]));
    let lost = call_refused(&mut wire, "traverse", json!({ "start_room": "auht" }));
    assert_eq!(lost, "no room is called `auht`; did you mean `auth`?");
}

#[test]
fn rooms_with_the_same_name_are_tunnels_between_wings() {
    let home = Home::new();
    let mut wire = client_with_shared_wings(&home);
    let between =
        call_structured(&mut wire, "find_tunnels", json!({ "wing_a": "code", "wing_b": "team" }));
    let auth = json!({ "room": "auth", "wings": ["code", "team"], "count": 2, "recent": "2026-03-01T12:00:00Z" });
    assert_eq!(between["rooms"], json!([auth]));
    let of_app = call_structured(&mut wire, "find_tunnels", json!({ "wing_a": "my-app" }));
    assert_eq!(of_app["rooms"][0]["room"], "db");
    let of_other =
        call_structured(&mut wire, "find_tunnels", json!({ "wing_a": "my_app", "wing_b": null }));
    assert_eq!(of_other["rooms"], json!([]), "a hyphen is not an underscore");
    let counted = call_structured(&mut wire, "graph_stats", json!({}));
    let numbers = ["total_rooms", "tunnel_rooms", "total_edges"].map(|it| counted[it].clone());
    assert_eq!(numbers, [json!(5), json!(3), json!(3)]);
    assert_eq!(counted["rooms_per_wing"]["code"], 2);
    assert_eq!(counted["top_tunnels"].as_array().unwrap().len(), 3);
}

#[test]
fn diary_entries_are_kept_per_agent() {
    let home = Home::new();
    let mut wire = home.initialized_client_with(&MEMPALACE_TOOLS);
    let first = call_structured(
        &mut wire,
        "diary_write",
        json!({ "agent_name": "Claude", "entry": "SESSION|built.auth|★★", "topic": "work" }),
    );
    assert_eq!(
        (&first["agent"], &first["topic"], &first["timestamp"]),
        (&json!("Claude"), &json!("work"), &json!("2026-03-01T12:00:00Z"))
    );
    let entry = "SESSION|built.auth|★★";
    let second = json!({ "agent_name": "claude", "entry": entry });
    assert_eq!(
        call_structured(&mut wire, "diary_write", second)["success"],
        true,
        "what is felt twice is written twice"
    );
    call_structured(&mut wire, "diary_write", json!({ "agent_name": "日本", "entry": "やあ" }));
    let read =
        call_structured(&mut wire, "diary_read", json!({ "agent_name": "CLAUDE", "last_n": 1 }));
    assert_eq!((&read["total"], &read["showing"]), (&json!(2), &json!(1)));
    assert_eq!(
        read["entries"][0],
        json!({ "date": "2026-03-01", "timestamp": "2026-03-01T12:00:00Z", "topic": "general", "content": entry })
    );
    let none = call_structured(&mut wire, "diary_read", json!({ "agent_name": "gpt" }));
    assert_eq!(none["message"], "No diary entries yet. Agents with a diary: claude, 日本.");
    assert_eq!(
        call_structured(&mut wire, "status", json!({}))["diaries"],
        json!({ "claude": 2, "日本": 1 })
    );
    wire.close();
    let mut wire = home.initialized_client_with(&MEMPALACE_TOOLS);
    let read = call_structured(&mut wire, "diary_read", json!({ "agent_name": "claude" }));
    assert_eq!(read["entries"][1]["topic"], "work");
    assert!(home.git(&["log", "--format=%s"]).contains("diary claude: general"));
    home.assert_clean_repository();
}

#[test]
fn two_servers_add_drawers_concurrently_and_lose_nothing() {
    let home = Home::new();
    let (mut one, mut two) = (
        home.initialized_client_with(&MEMPALACE_TOOLS),
        home.initialized_client_with(&MEMPALACE_TOOLS),
    );
    add_drawer(&mut one, "a/first", "The first.");
    for it in 0..15 {
        for (wire, who) in [(&mut one, "one"), (&mut two, "two")] {
            let content = format!("Text {it} by {who} that is like no other: {}", "x".repeat(it));
            let asked = json!({ "wing": "a", "room": "Shared", "content": content, "force": true });
            wire.send_request(
                "tools/call",
                json!({ "name": "mempalace_add_drawer", "arguments": asked }),
            );
            let asked = json!({ "subject": who, "predicate": "counts", "object": it.to_string() });
            wire.send_request(
                "tools/call",
                json!({ "name": "mempalace_kg_add", "arguments": asked }),
            );
        }
    }
    for wire in [&mut one, &mut two] {
        for _ in 0..30 {
            let answer = wire.next_response();
            assert_eq!(answer["result"]["structuredContent"]["success"], true, "{answer}");
        }
    }
    for wire in [&mut one, &mut two] {
        let rooms = json!({ "Shared": 30, "first": 1 });
        assert_eq!(call_structured(wire, "list_rooms", json!({}))["rooms"], rooms);
        assert_eq!(call_structured(wire, "kg_stats", json!({}))["triples"], 30);
    }
    assert_eq!(home.commit_count(), 62);
    home.assert_clean_repository();
}

#[test]
fn two_servers_adding_the_same_text_store_it_once() {
    let home = Home::new();
    let (mut one, mut two) = (
        home.initialized_client_with(&MEMPALACE_TOOLS),
        home.initialized_client_with(&MEMPALACE_TOOLS),
    );
    add_drawer(&mut one, "a/first", "The first.");
    add_drawer(&mut two, "a/first", "The second.");
    for it in 0..20 {
        let asked = json!({ "wing": "a", "room": "shared", "content": format!("Said {it} times."), "force": true });
        for wire in [&mut one, &mut two] {
            wire.send_request(
                "tools/call",
                json!({ "name": "mempalace_add_drawer", "arguments": asked }),
            );
        }
        for wire in [&mut one, &mut two] {
            wire.next_response();
        }
    }
    assert_eq!(call_structured(&mut one, "list_rooms", json!({}))["rooms"]["shared"], 20);
    home.assert_clean_repository();
}

#[test]
fn a_drawer_can_be_visited_and_edited_by_hand() {
    let home = Home::new();
    let mut wire = home.initialized_client_with(&["--tools", "palace,mempalace"]);
    let filed = add_drawer(&mut wire, "Mein Haus/Küche", "Das Salz steht links.");
    wire.call("set_workspace", json!({ "workspace": "palace" }));
    let kitchen = wire.call("palace_action", json!({ "action": 16, "params": "küche" }));
    assert!(kitchen.starts_with("── Küche ──\nA bare room in the wing Mein Haus:"), "{kitchen}");
    let list = wire.call("palace_action", json!({ "action": 30 }));
    assert!(
        list.contains("31. Das Salz steht links. (Mein Haus, just now, by claude, with a tool)"),
        "{list}"
    );
    let room = json!({ "slug": "mein-haus/kuche", "name": "Die Küche", "description": "Es riecht nach Brot.",
        "actions": [{ "label": "Search the cupboards", "type": "query", "tool": "mempalace_search", "tool_params": { "wing": "Mein Haus", "query": "{params}" } }] });
    wire.call("build_room", room);
    let built = wire.call("palace_action", json!({ "action": 16, "params": "die küche" }));
    assert!(
        built.contains("Es riecht nach Brot.") && built.contains("30. Open the drawers (1)"),
        "{built}"
    );
    let asked = wire.call("palace_action", json!({ "action": 1, "params": "salz" }));
    assert!(asked.contains("Das Salz steht links."), "{asked}");
    let path = home.git(&["ls-files", "palace/drawers"]);
    let text = home.read(path.trim());
    home.write(path.trim(), &text.replace("links", "rechts").replace("Mein Haus", "Unser Haus"));
    home.git(&["-c", "user.name=Ada", "-c", "user.email=a@b", "commit", "-qam", "By hand"]);
    let wings = call_structured(&mut wire, "list_wings", json!({}));
    assert_eq!(wings["wings"], json!({ "Unser Haus": 1 }));
    let found = call_structured(&mut wire, "search", json!({ "query": "salz" }));
    assert_eq!(found["results"][0]["text"], "Das Salz steht rechts.");
    assert_eq!(found["results"][0]["drawer_id"], filed["drawer_id"]);
}

#[test]
fn an_empty_search_result_explains_why() {
    let home = Home::new();
    let mut wire = client_with_login_drawers(&home);
    let mut why =
        |told: Value| search_login(&mut wire, &told).1["hint"].as_str().unwrap().to_owned();
    assert_snapshot!(why(json!({ "wing": "Code" })), @"There is no wing `Code`; did you mean `code`?");
    assert_snapshot!(why(json!({ "room": "auht" })), @"There is no room `auht`; did you mean `auth`?");
    assert_snapshot!(why(json!({ "wing": "team", "room": "db" })), @"There is no room `db` in `team`");
    assert_snapshot!(why(json!({ "wing": "code", "before": "2020" })), @"No text matches there; 2 texts match without `since` and `before`");
    assert_snapshot!(why(json!({ "wing": "code", "query": "Ada" })), @"No text matches there; 1 text matches without `wing` and `room`");
    assert_snapshot!(why(json!({ "wing": "code", "query": "zebra" })), @"No text matches: try other words.");
    let none = call_structured(&mut wire, "search", json!({ "query": "login", "limit": 0 }));
    assert_eq!(none["results"].as_array().unwrap().len(), 1);
    assert_snapshot!(none["hint"], @r#""3 more left out: raise the limit, or search with more words. `limit` must be from 1 to 100: 0 was changed to 1""#);
    let tunnels = wire.call("mempalace_find_tunnels", json!({ "wing_a": "cod" }));
    assert!(tunnels.contains("There is no wing `cod`; did you mean `code`?"), "{tunnels}");
}

#[test]
fn a_long_text_is_shown_in_part_and_can_be_read_whole() {
    let home = Home::new();
    let mut wire = home.initialized_client_with(&MEMPALACE_TOOLS);
    let filler: Vec<_> = (0..500).map(|it| format!("On day {it} nothing happened.")).collect();
    let filler = filler.join(" ");
    let text = format!("{filler} The boiler showed F28. {filler}");
    let id = add_drawer(&mut wire, "home/cellar", &text)["drawer_id"].as_str().unwrap().to_owned();
    let found = call_structured(&mut wire, "search", json!({ "query": "boiler" }));
    let hit = &found["results"][0];
    let shown = hit["text"].as_str().unwrap();
    assert!(shown.contains("The boiler showed F28.") && shown.len() < 2_000, "{shown}");
    let from = usize::try_from(hit["bytes"]["from"].as_u64().unwrap()).unwrap();
    assert_eq!(shown, &text[from..from + shown.len()]);
    assert_snapshot!(found["hint"].as_str().unwrap(), @"`bytes` is the range of the text that is shown: mempalace_search with the `drawer_id` as the query reads the whole text, with `drawer_id@BYTE` from that byte on");
    let (mut read, mut query) = (String::new(), id.clone());
    while read.len() < text.len() {
        let part = call_structured(&mut wire, "search", json!({ "query": query }));
        read.push_str(part["results"][0]["text"].as_str().unwrap());
        query = format!("{id}@{}", read.len());
        let hint =
            (read.len() < text.len()).then(|| format!("The text continues: search for `{query}`"));
        assert_eq!(part["hint"].as_str(), hint.as_deref());
    }
    assert_eq!(read, text);
    let gone = id.replace(|it: char| it.is_ascii_digit(), "7");
    assert_eq!(
        call_structured(&mut wire, "search", json!({ "query": gone }))["bytes"],
        Value::Null
    );
}

#[test]
fn a_query_pasted_after_a_prompt_is_extracted() {
    let home = Home::new();
    let mut wire = home.initialized_client_with(&MEMPALACE_TOOLS);
    add_drawer(&mut wire, "home/cellar", "The boiler stopped since the pressure valve was stuck.");
    add_drawer(
        &mut wire,
        "code/auth",
        "Tokens and sessions of the user are refreshed step by step.",
    );
    let prompt = "You are a helpful assistant. ".repeat(200);
    let prompt =
        prompt + "\nSystem: follow the instructions carefully, think about tokens, sessions.\n\n";
    for question in
        ["User: why did the boiler stop?", "Question: why did the boiler stop\n\nAnswer:"]
    {
        let query = format!("{prompt}{question}");
        let found = call_structured(&mut wire, "search", json!({ "query": query }));
        assert_eq!(
            found["query"].as_str().unwrap().trim_end_matches('?'),
            "why did the boiler stop"
        );
        assert_eq!(found["query_sanitized"], true);
        assert_eq!(found["sanitizer"]["original_length"], query.len());
        assert_eq!(found["results"][0]["wing"], "home");
        assert!(found["results"][0]["similarity"].as_f64().unwrap() > 0.6, "{found}");
    }
}

#[test]
fn spellings_of_an_agent_name_share_one_diary() {
    let home = Home::new();
    let mut wire = home.initialized_client_with(&MEMPALACE_TOOLS);
    home.write("palace/palace.toml", "format = 1\nname = \"Palace\"\n");
    for (file, matter) in [
        ("claude_opus/2026-02-01-x", ""),
        ("claude-opus/2026-02-02-y", "---\nagent: claude_opus\n---\n\n"),
    ] {
        home.write(&format!("palace/diary/{file}.md"), &format!("{matter}By hand."));
    }
    for name in ["Claude Opus", "claude-opus"] {
        call_structured(
            &mut wire,
            "diary_write",
            json!({ "agent_name": name, "entry": "By tool." }),
        );
    }
    for name in ["claude_opus", "CLAUDE OPUS"] {
        let read = call_structured(&mut wire, "diary_read", json!({ "agent_name": name }));
        assert_eq!(
            (&read["total"], &read["entries"][3]["date"]),
            (&json!(4), &json!("2026-02-01"))
        );
    }
    assert_eq!(
        call_structured(&mut wire, "status", json!({}))["diaries"],
        json!({ "claude-opus": 4 })
    );
}
