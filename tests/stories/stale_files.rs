//! Notices on scrolls and entities that name files of the repository which are gone or much changed.

use serde_json::json;

use crate::harness::{Home, MARCH_1};

fn check(home: &Home) -> String {
    let output = home.run_palazzo(&["check"]);
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().filter(|it| it.contains("stale-file")).map(|it| it.to_owned() + "\n").collect()
}

#[tokio::test]
async fn a_scroll_and_an_entity_warn_of_files_that_are_gone_or_much_changed() {
    let home = Home::new();
    let mut agent = home.agent(MARCH_1).await;
    agent.call("set_workspace", json!({ "workspace": "keep", "create": true })).await;
    home.git(&["config", "user.name", "Ada"]);
    home.git(&["config", "user.email", "ada@example.org"]);
    home.write("src/gone.rs", "fn main() {}\n");
    home.write("src/much.rs", "1\n2\n3\n4\n");
    home.write("src/same.rs", "1\n");
    home.git(&["add", "."]);
    home.git_at(MARCH_1, &["commit", "-qm", "Code"]);
    let room = json!({ "slug": "hall", "name": "Hall", "description": "Bare.", "actions": [] });
    agent.call("build_room", room).await;
    let body = "See src/gone.rs:3, `src/same.rs` and ../../etc/passwd.";
    agent.call("write_scroll", json!({ "title": "On code", "body": body })).await;
    let fact = "It is read in [much](src/much.rs).";
    let entity = json!({ "name": "Parser", "genus": "Part", "observations": [fact] });
    agent.call("create_entities", json!({ "entities": [entity] })).await;
    assert_eq!(check(&home), "");
    home.write("src/much.rs", "1\n2\n5\n6\n");
    home.git(&["rm", "-q", "src/gone.rs"]);
    // A deletion counts when it is committed.
    assert_eq!(check(&home), "");
    home.git(&["add", "."]);
    home.git_at(MARCH_1, &["commit", "-qm", "More code"]);
    let found = check(&home);
    assert!(found.contains("info[stale-file]: names `src/gone.rs`, which is gone\n"), "{found}");
    assert!(found.contains("names `src/much.rs`, of which at least half has changed"), "{found}");
    assert_eq!(found.lines().count(), 2, "{found}");
    let room = agent.call("palace_action", json!({ "action": 16, "params": "hall" })).await;
    assert!(room.contains("The scroll On code names `src/gone.rs`, which is gone\n"), "{room}");
    let scroll = agent.call("palace_action", json!({ "action": 21 })).await;
    assert!(scroll.contains("Note: it names `src/gone.rs`, which is gone."), "{scroll}");
    let entity = agent.call("get_entity", json!({ "name": "Parser" })).await;
    assert!(entity.contains("Note: names `src/much.rs`, of which at least half"), "{entity}");
    // Whoever changes the entity has seen the file as it is.
    let again = json!({ "name": "Parser", "add_observations": ["It has a table now."] });
    agent.call("update_entity", again).await;
    assert_eq!(check(&home).lines().count(), 1);
    assert_eq!(home.git(&["status", "--porcelain"]), "");
}
