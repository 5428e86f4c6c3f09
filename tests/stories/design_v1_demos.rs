//! The six acceptance demonstrations of the first design (v1 section 12), each as an
//! agent and its user see it.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::harness::{Agent, Home, MARCH_1};

/// The survey's graph without its rooms: 18 Domains, 9 Claims, 6 Leads.
fn survey_without_rooms() -> Home {
    let home = Home::new();
    home.run_palazzo(&["init", "Paradigm Survey", "--template", "paradigm-survey"]);
    home.git(&["rm", "-rq", "paradigm-survey/rooms", "paradigm-survey/scrolls"]);
    let settings = "format = 1\nname = \"Paradigm Survey\"\n";
    home.write("paradigm-survey/palace.toml", settings);
    home.git(&[
        "-c",
        "user.name=ada",
        "-c",
        "user.email=ada@x",
        "commit",
        "-qam",
        "Clear the rooms",
    ]);
    home
}

fn great_hall_json() -> Value {
    json!({
        "slug": "great-hall",
        "name": "Great Hall",
        "description": "Rain drums on a glass dome. Three doors stand in the round wall:\n\
            one of slate, one of bone, one of ship's timber.",
        "actions": [
            { "label": "Study the star map", "type": "query", "tool": "list_genera" },
            { "label": "Enter the door of bone", "type": "navigate", "room": "hall-of-biology" },
            { "label": "Enter the door of slate", "type": "navigate", "room": "hall-of-geology" },
        ],
    })
}

fn hall_of_geology_json() -> Value {
    json!({
        "slug": "hall-of-geology",
        "name": "Hall of Geology",
        "description": "Bands of red and grey rock run round the walls. A cabinet of\n\
            fossils stands open; its lowest drawer is stuck.",
        "actions": [
            {
                "label": "Examine the fossil cabinet", "type": "query",
                "tool": "list_entities", "tool_params": { "genus": "Claim" },
            },
            {
                "label": "Read the brass plate", "type": "text",
                "content": "Cuvier saw the gaps and called them floods.",
            },
        ],
    })
}

async fn build_room(agent: &mut Agent, room: Value) -> String {
    agent.call("build_room", room).await
}

#[tokio::test]
async fn demo_1_a_cold_start_in_a_workspace_without_rooms() {
    let home = survey_without_rooms();
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("Paradigm Survey").await;
    build_room(&mut agent, great_hall_json()).await;
    agent.enter("paradigm survey").await;
    assert_snapshot!(agent.take_transcript());
    home.assert_clean_repository();
}

#[tokio::test]
async fn demo_2_entering_an_unbuilt_room_building_it_and_going_back() {
    let home = survey_without_rooms();
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("Paradigm Survey").await;
    build_room(&mut agent, great_hall_json()).await;
    agent.take_transcript();
    agent.choose(3).await;
    agent.call("search_entities", json!({ "query": "geology", "genus": "Claim" })).await;
    build_room(&mut agent, hall_of_geology_json()).await;
    agent.choose(15).await;
    assert_snapshot!(agent.take_transcript());
    home.assert_clean_repository();
}

#[tokio::test]
async fn demo_3_a_query_shows_its_results_without_moving_the_visitor() {
    let home = survey_without_rooms();
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("Paradigm Survey").await;
    build_room(&mut agent, hall_of_geology_json()).await;
    agent.take_transcript();
    agent.choose(1).await;
    agent.choose(2).await;
    agent.choose(31).await;
    assert_snapshot!(agent.take_transcript());
}

#[tokio::test]
async fn demo_4_a_scroll_is_dated_automatically_and_shows_its_age() {
    let home = survey_without_rooms();
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("Paradigm Survey").await;
    build_room(&mut agent, hall_of_geology_json()).await;
    agent.take_transcript();
    let scroll = json!({
        "title": "Stasis and Cuvier",
        "body": "Both saw the same gaps.\n\n* Cuvier: floods\n* Eldredge and Gould: data",
    });
    agent.call("write_scroll", scroll).await;
    agent.enter("Paradigm Survey").await;
    let mut later = home.agent("2026-03-04T12:00:00Z").await;
    later.enter("Paradigm Survey").await;
    later.choose(21).await;
    assert_snapshot!(agent.take_transcript() + &later.take_transcript());
    home.assert_clean_repository();
}

#[tokio::test]
async fn demo_5_the_next_conversation_finds_the_rooms_and_scrolls() {
    let home = survey_without_rooms();
    let mut first = home.agent(MARCH_1).await;
    first.enter("Paradigm Survey").await;
    build_room(&mut first, great_hall_json()).await;
    first.choose(3).await;
    build_room(&mut first, hall_of_geology_json()).await;
    first
        .call("write_scroll", json!({ "title": "Where I stopped", "body": "At the drawer." }))
        .await;
    first.disconnect().await;

    let mut next = home.agent("2026-03-04T12:00:00Z").await;
    next.enter("Paradigm Survey").await;
    next.choose(3).await;
    next.choose(21).await;
    assert_snapshot!(next.take_transcript());
}

#[tokio::test]
async fn demo_6_global_actions_work_from_any_room() {
    let home = survey_without_rooms();
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("Paradigm Survey").await;
    build_room(&mut agent, great_hall_json()).await;
    agent.choose(3).await;
    agent.take_transcript();
    agent.choose(0).await;
    agent.choose(18).await;
    agent.choose(19).await;
    agent.choose_with(17, "slate").await;
    agent.choose_with(16, "great hall").await;
    assert_snapshot!(agent.take_transcript());
}

#[tokio::test]
async fn demo_6_the_classic_layout_uses_the_numbers_of_the_first_design() {
    let home = survey_without_rooms();
    let settings = home.read("paradigm-survey/palace.toml") + "\n[menu]\nlayout = \"classic\"\n";
    home.write("paradigm-survey/palace.toml", &settings);
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("Paradigm Survey").await;
    build_room(&mut agent, great_hall_json()).await;
    agent.choose(3).await;
    build_room(&mut agent, hall_of_geology_json()).await;
    agent.call("write_scroll", json!({ "title": "Stasis and Cuvier", "body": "Gaps." })).await;
    agent.take_transcript();
    agent.choose(15).await;
    agent.choose(3).await;
    agent.choose(0).await;
    agent.choose(8).await;
    agent.choose(9).await;
    assert_snapshot!(agent.take_transcript());
}
