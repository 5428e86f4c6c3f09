//! The requirements of the second design; each test is named after its section.

use insta::assert_snapshot;
use serde_json::json;

use crate::harness::{Agent, Home, MARCH_1};

/// A palace with two rooms and three entities of two genera.
async fn small_palace(home: &Home) -> Agent {
    let mut agent = home.agent(MARCH_1).await;
    agent.call("set_workspace", json!({ "workspace": "Rhubarb", "create": true })).await;
    let entities = json!({ "entities": [
        { "name": "Rhubarb", "genus": "Plant", "status": "edible",
          "observations": ["The leaves are poisonous."] },
        { "name": "Sorrel", "genus": "Plant", "relations": [{ "type": "related_to", "to": "Rhubarb" }] },
        { "name": "Crumble", "genus": "Dish" },
    ] });
    agent.call("create_entities", entities).await;
    let garden = json!({
        "slug": "kitchen-garden", "name": "Kitchen Garden",
        "description": "Red stalks push through straw. A bell jar glints.",
        "actions": [
            { "label": "Lift the bell jar", "type": "query", "tool": "list_entities",
              "tool_params": { "genus": "Plant" } },
            { "label": "Enter the scullery", "type": "navigate", "room": "scullery" },
        ],
    });
    agent.call("build_room", garden).await;
    agent.take_transcript();
    agent
}

#[tokio::test]
async fn section_2_1_a_query_action_passes_its_parameters() {
    let home = Home::new();
    let mut agent = small_palace(&home).await;
    let seen = agent.choose(1).await;
    assert!(seen.contains("2 entities of genus Plant"), "{seen}");
    assert!(!seen.contains("Crumble"), "{seen}");
}

#[tokio::test]
async fn section_2_2_and_3_2_only_genera_of_this_workspace_are_listed() {
    let home = Home::new();
    home.run_palazzo(&["init", "Paradigm Survey", "--template", "paradigm-survey"]);
    let mut agent = small_palace(&home).await;
    agent.choose(2).await;
    agent.call("set_workspace", json!({ "workspace": "Bare", "create": true })).await;
    let first = json!({ "slug": "hut", "name": "Hut", "description": "Planks.",
        "actions": [{ "label": "Open the trapdoor", "type": "navigate", "room": "cellar" }] });
    agent.call("build_room", first).await;
    agent.choose(1).await;
    assert_snapshot!(agent.take_transcript());
}

#[tokio::test]
async fn section_2_3_and_3_3_a_query_result_is_narrated() {
    let home = Home::new();
    let mut agent = small_palace(&home).await;
    assert!(agent.choose(1).await.starts_with("You lift the bell jar:\n2 entities"));
    let plate = json!({ "slug": "kitchen-garden", "merge": true, "quiet": true, "actions": [
        { "label": "Bell jar", "type": "query", "tool": "list_entities" },
    ] });
    agent.call("build_room", plate).await;
    let seen = agent.choose(3).await;
    assert!(seen.starts_with("You choose \"Bell jar\":\n3 entities"), "{seen}");
}

#[tokio::test]
async fn section_2_4_a_room_shows_no_tasks_of_other_workspaces() {
    let home = Home::new();
    let mut agent = small_palace(&home).await;
    let before = agent.enter("Rhubarb").await;
    home.write("other/palace.toml", "format = 1\nname = \"Other\"\n");
    home.write("other/tasks/01KJMPXF9069S44V81ASY1KY37.yaml", "name: Weed\nstatus: pending\n");
    agent.disconnect().await;
    let mut next = home.agent(MARCH_1).await;
    next.enter("Other").await;
    // The first menu of a conversation is longer.
    next.enter("Rhubarb").await;
    assert_eq!(next.enter("Rhubarb").await, before);
}

#[tokio::test]
async fn section_2_5_and_3_4_more_than_twelve_doors_are_paged() {
    let home = Home::new();
    let mut agent = small_palace(&home).await;
    let doors: Vec<_> = (1..=18)
        .map(|it| json!({ "label": format!("Open door {it}"), "type": "navigate", "room": format!("cell-{it}") }))
        .collect();
    let hall = json!({ "slug": "corridor", "name": "Corridor", "description": "Doors.", "actions": doors });
    agent.call("build_room", hall).await;
    agent.take_transcript();
    agent.choose_with(16, "corridor").await;
    agent.choose(13).await;
    agent.choose(6).await;
    assert_snapshot!(agent.take_transcript());
}

#[tokio::test]
async fn section_3_1_merging_a_room_changes_only_the_given_fields() {
    let home = Home::new();
    let mut agent = small_palace(&home).await;
    let change = json!({
        "slug": "kitchen-garden", "merge": true,
        "actions": [
            { "label": "Enter the scullery", "type": "navigate", "room": "cold-larder" },
            { "label": "Read the seed packet", "type": "text", "content": "Sow in March." },
        ],
        "portals": ["orchard"],
    });
    agent.call("build_room", change.clone()).await;
    let commits = home.commit_count();
    let again = agent.call("build_room", change).await;
    assert_eq!(home.commit_count(), commits, "{again}");
    assert_snapshot!(agent.take_transcript());
    assert_snapshot!(home.git(&["log", "-1", "--format=%an <%ae>%n%B%n", "--stat"]));
    home.assert_clean_repository();
}

#[tokio::test]
async fn section_3_5_and_3_7_a_broken_room_file_is_reported_and_its_last_version_shown() {
    let home = Home::new();
    let mut agent = small_palace(&home).await;
    home.write(
        "rhubarb/rooms/kitchen-garden.yaml",
        "name: Kitchen Garden\ndescription: A jar: open\n",
    );
    let fault = "rooms/kitchen-garden.yaml:2:19: this is not YAML";
    let seen = agent.enter_until("Rhubarb", fault).await;
    assert!(seen.contains("Red stalks push through straw."), "{seen}");
    let change =
        json!({ "slug": "kitchen-garden", "name": "Bed", "description": "Bare.", "actions": [] });
    let refused = agent.call("build_room", change).await;
    assert!(
        refused.starts_with("refused: rooms/kitchen-garden.yaml:2:19: this is not YAML"),
        "{refused}"
    );
    assert!(home.read("rhubarb/rooms/kitchen-garden.yaml").contains("A jar: open"));
}

#[tokio::test]
async fn section_3_6_a_door_into_another_workspace_can_be_walked_back() {
    let home = Home::new();
    home.run_palazzo(&["init", "Paradigm Survey", "--template", "paradigm-survey"]);
    let mut agent = small_palace(&home).await;
    let door = json!({ "slug": "kitchen-garden", "merge": true, "quiet": true, "actions": [
        { "label": "Climb the wall", "type": "navigate", "room": "cuviers-study", "workspace": "Paradigm Survey" },
        { "label": "Climb the hedge", "type": "navigate", "room": "maze", "workspace": "Nowhere" },
    ] });
    agent.call("build_room", door).await;
    agent.take_transcript();
    let there = agent.choose(3).await;
    assert!(there.contains("── Cuvier's Study ──"), "{there}");
    assert!(there.contains("15 back to Kitchen Garden in Rhubarb"), "{there}");
    let counted = agent.call("describe_workspace", json!({})).await;
    assert!(counted.starts_with("Workspace: Paradigm Survey"), "{counted}");
    let back = agent.choose(15).await;
    assert!(back.contains("── Kitchen Garden ──"), "{back}");
    let lost = agent.choose(4).await;
    assert!(lost.starts_with("refused: there is no workspace `Nowhere`"), "{lost}");
}

#[tokio::test]
async fn section_3_8_search_covers_names_descriptions_labels_and_scrolls() {
    let home = Home::new();
    let mut agent = small_palace(&home).await;
    let note = json!({ "title": "Frost", "body": "The forced crowns froze on Tuesday." });
    agent.call("write_scroll", note).await;
    agent.take_transcript();
    for words in ["kitchen", "stalks", "scullery", "frost", "crowns tuesday", "zeppelin"] {
        agent.choose_with(17, words).await;
    }
    agent.choose_with(17, "frost").await;
    agent.choose(31).await;
    let menu = "\nActions:\n  1. Lift the bell jar\n";
    let transcript = agent.take_transcript();
    let short: Vec<_> =
        transcript.split("\n\n").filter(|it| !menu.contains(&it[..8.min(it.len())])).collect();
    assert_snapshot!(short.join("\n\n"));
}

#[tokio::test]
async fn section_3_9_versions_and_ages_of_rooms_come_from_history() {
    let home = Home::new();
    let agent = small_palace(&home).await;
    agent.disconnect().await;
    let mut later = home.agent("2026-03-01T14:00:00Z").await;
    later.enter("Rhubarb").await;
    let change =
        json!({ "slug": "kitchen-garden", "merge": true, "quiet": true, "description": "Snow." });
    later.call("build_room", change).await;
    later.disconnect().await;
    let mut much_later = home.agent("2026-03-01T16:30:00Z").await;
    much_later.enter("Rhubarb").await;
    let map = much_later.choose(0).await;
    assert!(map.contains("Kitchen Garden (kitchen-garden) [v2, 2 hours ago] entry"), "{map}");
}
