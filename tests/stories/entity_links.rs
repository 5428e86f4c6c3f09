//! Entities that rooms and scrolls lead to.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::harness::{Agent, Home, MARCH_1};

/// A client in a palace with the person Georges Cuvier and the study.
async fn agent_in_study(home: &Home, description: &str, actions: Value) -> Agent {
    let mut agent = home.agent(MARCH_1).await;
    agent.call("set_workspace", json!({ "workspace": "w", "create": true })).await;
    let cuvier =
        json!({ "name": "Cuvier", "genus": "Person", "observations": ["He named the mastodon."] });
    let entities = json!({ "entities": [cuvier, { "name": "Mastodon", "genus": "Fossil" }] });
    agent.call("create_entities", entities).await;
    let room =
        json!({ "slug": "study", "name": "Study", "description": description, "actions": actions });
    agent.call("build_room", room).await;
    agent
}

#[tokio::test]
async fn an_action_shows_an_entity_by_name() {
    let home = Home::new();
    let actions = json!([
        { "label": "Look at the portrait", "type": "query", "entity": "cuvier" },
        { "label": "Open a drawer", "type": "query", "entity": "{params}" },
    ]);
    let mut agent = agent_in_study(&home, "Wax and dust.", actions).await;
    let portrait = agent.choose(1).await;
    assert!(portrait.starts_with("You look at the portrait:\n── Cuvier ──\nPerson"), "{portrait}");
    let drawer = agent.choose_with(2, "Mastodon").await;
    assert!(drawer.starts_with("You open a drawer:\n── Mastodon ──"), "{drawer}");
    assert_snapshot!(home.read("w/rooms/study.yaml").lines().skip(4).collect::<Vec<_>>().join("\n"), @r#"
      Wax and dust.
    actions:
      - label: Look at the portrait
        type: query
        entity: cuvier
      - label: Open a drawer
        type: query
        entity: "{params}"
    "#);
    let both =
        json!({ "label": "A", "type": "query", "tool": "list_entities", "entity": "Cuvier" });
    let refused = json!({ "slug": "study", "merge": true, "actions": [both] });
    let refused = agent.call("build_room", refused).await;
    assert!(
        refused.contains("the action `A` shows an `entity`: give its name, and no `tool`"),
        "{refused}"
    );
}

#[tokio::test]
async fn links_in_rooms_and_scrolls_open_their_entities() {
    let home = Home::new();
    let note = json!({ "label": "Read the card", "type": "text", "content": "[[mastodon]], drawn for [[Cuvier|the baron]] and [[Nobody]]." });
    let description = "A portrait of [[Cuvier]] hangs above his desk; [[cuvier|he]] frowns.";
    let mut agent = agent_in_study(&home, description, json!([note])).await;
    let scroll =
        json!({ "title": "Bones", "body": "[[Cuvier]] saw the [[Mastodon|beast]]: `[[Cuvier]]`." });
    agent.call("write_scroll", scroll).await;
    agent.take_transcript();

    agent.enter("w").await;
    agent.choose(31).await;
    agent.choose(1).await;
    agent.choose(32).await;
    agent.call("update_entity", json!({ "name": "Cuvier", "new_name": "Georges Cuvier" })).await;
    agent.choose(21).await;
    agent.choose(31).await;
    agent.choose_with(17, "beast").await;
    agent.choose(31).await;
    agent.choose(32).await;
    agent.call("get_entity", json!({ "name": "Cuvier" })).await;
    assert_snapshot!(agent.take_transcript());
    let room = home.read("w/rooms/study.yaml");
    assert!(room.contains("A portrait of [[Georges Cuvier]] hangs"), "{room}");
    assert!(room.contains("[[Georges Cuvier|the baron]]"), "{room}");

    let shown = |arguments: &[&str]| String::from_utf8(home.run_palazzo(arguments).stdout).unwrap();
    assert!(
        shown(&["show"])
            .contains("\nA portrait of Georges Cuvier hangs above his desk; he frowns.\n")
    );
    assert!(shown(&["show", "Bones"]).contains("\nGeorges Cuvier saw the beast: `[[Cuvier]]`.\n"));
    assert!(shown(&["show", "Cuvier"]).starts_with("── Georges Cuvier ──"));
    assert!(shown(&["wake-up"]).contains("Georges Cuvier saw the beast: `[[Cuvier]]`."));
    assert_snapshot!(shown(&["check"]), @"
    home/w/rooms/study.yaml:10:64: info[unresolved-link]: the link `[[Nobody]]` names no entity
      10 | …don]], drawn for [[Georges Cuvier|the baron]] and [[Nobody]].
         |                                                    ^
    ");
    home.assert_clean_repository();
}

#[tokio::test]
async fn links_of_a_room_follow_the_entities_that_it_lists() {
    let home = Home::new();
    let mut agent = agent_in_study(&home, "By [[Cuvier]] and [[Mastodon]].", json!([])).await;
    let generate = json!({ "genus": "Fossil", "by": "name" });
    let room = json!({ "slug": "study", "merge": true, "generate": generate });
    let page = agent.call("build_room", room).await;
    assert!(page.contains("By Cuvier [32] and Mastodon [31]."), "{page}");
    assert!(page.contains("31. Mastodon"), "{page}");
    assert!(agent.choose(32).await.starts_with("── Cuvier ──"));
}
