//! Number 20: everything that the last answer named.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::json;

use crate::harness::{Agent, Home, MARCH_1};

const ROCKS: usize = 35;

/// Enters a palace whose hall has texts, queries, an action that changes something, and links.
async fn agent_in_hall(home: &Home) -> Agent {
    let mut agent = home.agent(MARCH_1).await;
    agent.call("set_workspace", json!({ "workspace": "w", "create": true })).await;
    home.write(
        "w/palace.toml",
        "format = 1\nname = \"W\"\nentry = \"hall\"\n[actions]\nallow = [\"create_task\"]\n",
    );
    let query = |label: &str, tool: &str, params: serde_json::Value| json!({ "label": label, "type": "query", "tool": tool, "tool_params": params });
    let actions = json!([
        { "label": "Read the inscription", "type": "text", "content": "Ask [[Ada]]." },
        query("List the rocks", "list_entities", json!({ "genus": "Rock" })),
        query("Look for a rock", "search_entities", json!({ "genus": "Rock", "query": "{params}" })),
        query("Sweep", "create_task", json!({ "title": "Sweep the hall" })),
        query("Walk the years", "get_timeline", json!({})),
    ]);
    let hall = json!({
        "slug": "hall", "name": "Hall", "description": "Bare. [[Granite 00]] lies here.",
        "actions": actions
    });
    agent.call("build_room", hall).await;
    let rock = |number: usize| {
        json!({
            "name": format!("Granite {number:02}"), "genus": "Rock",
            "observations": [format!("It is number {number:02}.")]
        })
    };
    let mut entities: Vec<_> = (0..ROCKS).map(rock).collect();
    entities.push(json!({
        "name": "Ada", "genus": "Person", "attributes": { "born": "1815-12-10" },
        "observations": ["She wrote the notes."]
    }));
    agent.call("create_entities", json!({ "entities": entities })).await;
    for title in ["On rain", "On snow"] {
        let body = format!("Body of {title}. [[Granite 01]] is wet.");
        agent.call("write_scroll", json!({ "title": title, "body": body })).await;
    }
    agent.call("set_workspace", json!({ "workspace": "w" })).await;
    agent
}

/// Reads an answer and its continuations; returns the texts, and the number of calls.
async fn read_to_the_end(agent: &mut Agent, number: i64) -> (String, usize) {
    let (mut page, mut calls) = (agent.choose(number).await, 1);
    let mut text = page.clone();
    while page.contains("palace_action 13 continues") {
        page = agent.choose(13).await;
        text.push_str(&page);
        calls += 1;
    }
    (text, calls)
}

#[track_caller]
fn assert_once(page: &str, part: &str) {
    assert_eq!(page.matches(part).count(), 1, "{part}: {page}");
}

#[tokio::test]
async fn everything_in_a_room_is_shown_once_and_changes_nothing() {
    let home = Home::new();
    let mut agent = agent_in_hall(&home).await;
    let state = || home.git(&["rev-parse", "HEAD"]) + &home.git(&["status", "--porcelain"]);
    let before = state();
    let (page, _) = read_to_the_end(&mut agent, 20).await;
    assert!(page.starts_with("── Everything in Hall ──\n"), "{page}");
    for part in ["Body of On rain", "Body of On snow", "Ask Ada", "She wrote the notes"] {
        assert_once(&page, part);
    }
    (0..ROCKS).for_each(|it| assert_once(&page, &format!("It is number {it:02}.")));
    assert!(page.contains("born"), "{page}");
    assert!(!page.contains("Look for a rock") || !page.contains("refused"), "{page}");
    assert_eq!(state(), before);
    // The queries of the room have not changed what 20 means.
    assert_eq!(read_to_the_end(&mut agent, 20).await.0, page);
    assert!(!agent.call("list_tasks", json!({})).await.contains("Sweep the hall"));
}

#[tokio::test]
async fn everything_is_what_the_last_answer_named() {
    let home = Home::new();
    let mut agent = agent_in_hall(&home).await;
    let found =
        agent.call("palace_action", json!({ "action": 17, "params": "notes kind:entity" })).await;
    assert!(found.contains("31. Ada") && !found.contains("32. "), "{found}");
    let (page, _) = read_to_the_end(&mut agent, 20).await;
    assert!(page.starts_with("── Everything that was listed ──\n"), "{page}");
    assert_once(&page, "She wrote the notes");
    assert!(!page.contains("Body of On"), "{page}");
    // The numbers of the list stay valid.
    assert!(agent.choose(31).await.contains("She wrote the notes"));
    agent.choose(0).await;
    let (page, _) = read_to_the_end(&mut agent, 20).await;
    assert!(page.starts_with("── Everything in W ──\n"), "{page}");
    for part in ["Bare.", "Body of On snow", "Body of On rain", "She wrote the notes"] {
        assert_once(&page, part);
    }
    let at = |part: &str| page.find(part).unwrap();
    assert!(at("Body of On snow") < at("Body of On rain") && at("Body of On rain") < at("Bare."));
    let (page, _) = read_to_the_end(&mut agent, 16).await;
    assert!(page.contains("Give in `params`"), "{page}");
    agent.call("palace_action", json!({ "action": 16, "params": "hall" })).await;
    assert!(agent.choose(20).await.starts_with("── Everything in Hall ──\n"));
}

#[tokio::test]
async fn everything_works_in_the_classic_layout_and_for_a_person() {
    let home = Home::new();
    let mut agent = agent_in_hall(&home).await;
    home.write(
        "w/palace.toml",
        "format = 1\nname = \"W\"\nentry = \"hall\"\nlayout = \"classic\"\n",
    );
    let (page, _) = read_to_the_end(&mut agent, 20).await;
    assert!(page.starts_with("── Everything in Hall ──\n"), "{page}");
    assert_once(&page, "Body of On snow");
    let mut walk = home.palazzo_command(MARCH_1);
    walk.arg("walk").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut walk = walk.spawn().unwrap();
    walk.stdin.take().unwrap().write_all(b"everything\n").unwrap();
    let walked = String::from_utf8(walk.wait_with_output().unwrap().stdout).unwrap();
    assert!(walked.contains("── Everything in Hall ──"), "{walked}");
    assert_once(&walked, "Body of On rain");
}

/// Builds a palace of 12 rooms, 20 scrolls of 2 to 5 KB, and 150 entities.
async fn build_palace(home: &Home) {
    let mut agent = home.agent(MARCH_1).await;
    agent.call("set_workspace", json!({ "workspace": "w", "create": true })).await;
    for number in 0..12 {
        let portals: Vec<_> = (0..number).take(1).map(|it| format!("room-{it}")).collect();
        let room = json!({
            "slug": format!("room-{number}"), "name": format!("Room {number}"),
            "description": format!("This is the description of room {number:02}."),
            "portals": portals, "quiet": true
        });
        agent.call("build_room", room).await;
    }
    for number in 0..20 {
        let filler = "A line of notes about a decision and its reasons.\n".repeat(40 + 3 * number);
        let scroll = json!({
            "room": format!("room-{}", number % 12), "title": format!("Scroll {number}"),
            "body": format!("{filler}This is the end of scroll {number:02}.")
        });
        agent.call("write_scroll", scroll).await;
    }
    let entity = |number: usize| {
        json!({
            "name": format!("Claim {number:03}"), "genus": "Claim", "status": "open",
            "observations": [
                format!("This is a fact of claim {number:03}."),
                "It was found by reading, and it is not certain."
            ]
        })
    };
    let entities: Vec<_> = (0..150).map(entity).collect();
    agent.call("create_entities", json!({ "entities": entities })).await;
    agent.disconnect().await;
}

#[tokio::test]
async fn a_palace_is_read_whole_in_at_most_eight_calls() {
    let home = Home::new();
    build_palace(&home).await;
    let mut reader = home.agent(MARCH_1).await;
    let mut text = reader.call("set_workspace", json!({ "workspace": "w" })).await;
    text.push_str(&reader.choose(0).await);
    let (everything, calls) = read_to_the_end(&mut reader, 20).await;
    text.push_str(&everything);
    for number in 0..12 {
        assert!(text.contains(&format!("the description of room {number:02}.")), "{number}");
    }
    for number in 0..20 {
        assert!(text.contains(&format!("the end of scroll {number:02}.")), "{number}");
    }
    for number in 0..150 {
        assert!(text.contains(&format!("a fact of claim {number:03}.")), "{number}");
    }
    assert!(calls + 2 <= 8, "{calls}: {} characters", text.len());
}

#[tokio::test]
async fn what_a_cut_page_has_not_shown_is_not_called_read() {
    let home = Home::new();
    build_palace(&home).await;
    let mut reader = home.agent(MARCH_1).await;
    reader.call("set_workspace", json!({ "workspace": "w" })).await;
    reader.choose(0).await;
    let first = reader.choose(20).await;
    let room = (1..12).find(|it| !first.contains(&format!("the end of scroll {it:02}."))).unwrap();
    let go = json!({ "action": 16, "params": format!("room-{room}") });
    let page = reader.call("palace_action", go).await;
    assert!(page.contains("── Scroll"), "{page}");
    assert!(!page.contains("read above"), "{page}");
}
