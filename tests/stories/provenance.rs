//! Author and origin of scrolls, drawers and search hits.

use serde_json::{Value, json};

use crate::harness::{Home, MARCH_1};
use crate::mempalace::{MEMPALACE_TOOLS, call_structured};
use crate::sync::{Remote, sync};

const BY_HAND: &str = "keep/scrolls/hall/01K00000000000000000000001-on-slate.md";

/// Runs the program; returns what it prints.
#[track_caller]
fn run(home: &Home, arguments: &[&str]) -> String {
    let output = home.run_palazzo(arguments);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the best hit for some words.
#[track_caller]
fn hit(home: &Home, words: &str) -> Value {
    let found: Value =
        serde_json::from_str(&run(home, &["search", words, "--format", "json"])).unwrap();
    found["results"][0].clone()
}

fn provenance(by: &str, origin: &str, source: Option<&str>) -> Value {
    json!({ "by": by, "origin": origin, "source": source, "changed_by": null, "synced": false })
}

/// A palace with a scroll by a tool, one by hand, a mined drawer and an imported entity.
async fn home() -> Home {
    let home = Home::new();
    let mut agent = home.agent(MARCH_1).await;
    agent.call("set_workspace", json!({ "workspace": "keep", "create": true })).await;
    let room = json!({ "slug": "hall", "name": "Hall", "description": "Bare.", "actions": [] });
    agent.call("build_room", room).await;
    agent.call("write_scroll", json!({ "title": "On basalt", "body": "It is dark." })).await;
    home.git(&["config", "user.name", "Ada"]);
    home.git(&["config", "user.email", "ada@example.org"]);
    home.write(
        BY_HAND,
        "---\ntitle: On slate\nwritten: 2026-02-28T12:00:00Z\nby: ada\n---\n\nIt splits.\n",
    );
    home.git(&["add", "."]);
    home.git_at(MARCH_1, &["commit", "-qm", "A scroll"]);
    home.write("field/notes.txt", "Quartz scratches glass.");
    let field = home.path().join("field");
    run(&home, &["mine", "--workspace", "keep", field.to_str().unwrap()]);
    std::fs::remove_dir_all(&field).unwrap();
    home.write(
        "m.jsonl",
        r#"{"type":"entity","name":"Gneiss","entityType":"rock","observations":["Banded."]}"#,
    );
    let file = home.path().join("m.jsonl");
    run(&home, &["import", "memory", file.to_str().unwrap(), "--workspace", "keep"]);
    std::fs::remove_file(file).unwrap();
    home
}

#[tokio::test]
async fn hits_show_author_and_origin() {
    let home = home().await;
    assert_eq!(hit(&home, "dark")["provenance"], provenance("claude", "tool", None));
    assert_eq!(hit(&home, "splits")["provenance"], provenance("ada", "hand", None));
    let mined = provenance("ada", "mined", Some("notes.txt"));
    assert_eq!(hit(&home, "quartz")["provenance"], mined);
    assert_eq!(hit(&home, "banded")["provenance"]["origin"], "imported");
    let page = run(&home, &["search", "quartz"]);
    assert!(page.contains(", by ada, mined)\n"), "{page}");
    let mut wire = home.initialized_client_with(&MEMPALACE_TOOLS);
    let found = call_structured(&mut wire, "search", json!({ "query": "quartz" }));
    let known = &found["results"][0];
    assert_eq!((&known["added_by"], &known["origin"]), (&json!("ada"), &json!("mined")));
    assert_eq!(known.get("synced"), None);
}

#[tokio::test]
async fn rooms_scrolls_and_drawers_show_author_and_origin() {
    let home = home().await;
    let mut agent = home.agent(MARCH_1).await;
    agent.call("set_workspace", json!({ "workspace": "keep" })).await;
    let room = agent.call("palace_action", json!({ "action": 16, "params": "hall" })).await;
    assert!(room.contains("On basalt (just now, by claude, read above)\n"), "{room}");
    assert!(room.contains("On slate (1 day ago, by ada, by hand, read above)\n"), "{room}");
    let scroll = agent.call("palace_action", json!({ "action": 21 })).await;
    assert!(scroll.contains("written by claude just now, with a tool."), "{scroll}");
    let shown = run(&home, &["show", "On slate"]);
    assert!(shown.contains("written by ada 1 day ago, by hand."), "{shown}");
    let page = agent.call("palace_action", json!({ "action": 17, "params": "quartz" })).await;
    assert!(page.contains("by ada, mined)"), "{page}");
    let drawer = agent.call("palace_action", json!({ "action": 31 })).await;
    assert!(drawer.contains("by ada, mined from notes.txt."), "{drawer}");
}

#[tokio::test]
async fn a_moved_scroll_keeps_its_origin_and_an_uncommitted_one_is_by_hand() {
    let home = home().await;
    run(&home, &["mv", "hall", "great-hall"]);
    assert_eq!(hit(&home, "dark")["provenance"], provenance("claude", "tool", None));
    assert_eq!(hit(&home, "splits")["provenance"], provenance("ada", "hand", None));
    let new = "keep/scrolls/great-hall/01K00000000000000000000002-on-gabbro.md";
    home.write(
        new,
        "---\ntitle: On gabbro\nwritten: 2026-02-28T12:00:00Z\nby: bob\n---\n\nCoarse.\n",
    );
    assert_eq!(hit(&home, "coarse")["provenance"], provenance("bob", "hand", None));
    // Whoever commits it need not have written it.
    home.git(&["add", "."]);
    home.git_at(MARCH_1, &["commit", "-qm", "What the others wrote"]);
    let unknown =
        json!({ "by": "bob", "origin": null, "source": null, "changed_by": null, "synced": false });
    assert_eq!(hit(&home, "coarse")["provenance"], unknown);
}

#[tokio::test]
async fn what_another_machine_wrote_is_synced() {
    let remote = Remote::with_palace();
    let [here, there] = [remote.clone_to_machine(), remote.clone_to_machine()];
    for (home, client, word) in [(&here, "ours", "Basalt"), (&there, "theirs", "Slate")] {
        let mut agent = home.agent_of_client(client, MARCH_1, &[]).await;
        agent.call("set_workspace", json!({ "workspace": "keep" })).await;
        agent
            .call("write_scroll", json!({ "title": word, "body": format!("{word} rests.") }))
            .await;
    }
    for home in [&there, &here] {
        assert_eq!(sync(home, &["--setup"]).1, 0);
    }
    for home in [&there, &here, &there] {
        assert_eq!(sync(home, &[]).1, 0);
    }
    let found = run(&here, &["search", "rests", "--kind", "scroll"]);
    assert!(found.contains("by theirs, synced)"), "{found}");
    assert!(found.contains("by ours)"), "{found}");
    let found = run(&there, &["search", "rests", "--kind", "scroll"]);
    assert!(found.contains("by theirs)"), "{found}");
    assert!(found.contains("by ours, synced)"), "{found}");
}
