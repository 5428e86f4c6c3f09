//! Answers hold what they name: scrolls of a room, facts of listed entities.

use serde_json::json;

use crate::harness::{Agent, Home, MARCH_1};

const MARCH_3: &str = "2026-03-03T12:00:00Z";

/// Builds a hall with a door to a crypt with three scrolls, of which the oldest is long.
async fn build_palace(home: &Home) {
    let mut agent = home.agent(MARCH_1).await;
    agent.call("set_workspace", json!({ "workspace": "w", "create": true })).await;
    for (slug, portal) in [("hall", "crypt"), ("crypt", "hall")] {
        let room = json!({
            "slug": slug, "name": slug, "description": "Bare.", "portals": [portal], "quiet": true
        });
        agent.call("build_room", room).await;
    }
    for (title, lines) in [("On rain", 300), ("On snow", 2), ("On fog", 1)] {
        let body = format!("{}End of {title}.", "It is wet.\n".repeat(lines));
        let scroll = json!({ "room": "crypt", "title": title, "body": body });
        agent.call("write_scroll", scroll).await;
    }
    let rock = |number: usize| {
        json!({
            "name": format!("Rock {number:02}"), "genus": "Rock",
            "observations": [format!("Fact {number:02} {}.", "of stone ".repeat(20))]
        })
    };
    let entities: Vec<_> = (0..20).map(rock).collect();
    agent.call("create_entities", json!({ "entities": entities })).await;
    agent.disconnect().await;
}

async fn go_to_crypt(agent: &mut Agent) -> String {
    agent.call("palace_action", json!({ "action": 16, "params": "crypt" })).await
}

#[tokio::test]
async fn a_room_shows_its_newest_scrolls_until_the_visit_has_read_them() {
    let home = Home::new();
    build_palace(&home).await;
    let mut agent = home.agent(MARCH_3).await;
    agent.enter("w").await;
    let page = go_to_crypt(&mut agent).await;
    let at = |part: &str| page.find(part).unwrap_or_else(|| panic!("{part}: {page}"));
    assert!(at("End of On fog.") < at("End of On snow."), "{page}");
    assert!(at("End of On snow.") < at("── crypt ──"), "{page}");
    assert!(!page.contains("End of On rain."), "{page}");
    assert!(page.contains("characters, 23 reads it whole.\n"), "{page}");
    assert!(page.contains("21. On fog (2 days ago, by claude, read above)"), "{page}");
    assert!(page.chars().count() < 2_500 + 1_000, "{page}");
    agent.choose(23).await;
    agent.choose(15).await;
    let again = go_to_crypt(&mut agent).await;
    assert!(again.starts_with("── crypt ──\n"), "{again}");
    // A changed scroll is shown again.
    let file = home.git(&["ls-files", "w/scrolls/crypt"]);
    let file = file.lines().find(|it| it.contains("fog")).unwrap();
    home.write(file, &home.read(file).replace("End of", "The end of"));
    let changed = go_to_crypt(&mut agent).await;
    assert!(changed.starts_with("── On fog ──\n"), "{changed}");
    assert!(changed.contains("The end of On fog.") && !changed.contains("On snow.\n"), "{changed}");
    agent.enter("w").await;
    assert!(go_to_crypt(&mut agent).await.contains("End of On snow."));
}

#[tokio::test]
async fn a_list_shows_the_facts_of_its_first_entities() {
    let home = Home::new();
    build_palace(&home).await;
    let mut agent = home.agent(MARCH_3).await;
    agent.enter("w").await;
    let list = agent.call("list_entities", json!({ "genus": "Rock" })).await;
    let shown = (0..20).filter(|it| list.contains(&format!("Fact {it:02} "))).count();
    assert!((8..15).contains(&shown), "{shown}: {list}");
    assert!(list.contains("  50. Rock 19 · Rock\n"), "{list}");
    assert!(list.chars().count() < 2_500 + 1_500, "{}", list.chars().count());
    let again = agent.call("list_entities", json!({ "genus": "Rock" })).await;
    assert_eq!(again.matches(" (read above)\n").count(), shown, "{again}");
    assert!(again.contains(&format!("Fact {shown:02} ")), "{again}");
    // A search shows the line that matches, also of what was read.
    let found = agent.call("search_entities", json!({ "query": "fact 00" })).await;
    assert!(found.contains("Fact 00 of stone"), "{found}");
}

#[tokio::test]
async fn the_settings_can_leave_contents_out() {
    let home = Home::new();
    build_palace(&home).await;
    let settings = home.read("w/palace.toml");
    home.write("w/palace.toml", &format!("{settings}\n[menu]\ncontents = 0\n"));
    let mut agent = home.agent(MARCH_3).await;
    agent.enter("w").await;
    assert!(go_to_crypt(&mut agent).await.starts_with("── crypt ──\n"));
    let list = agent.call("list_entities", json!({ "genus": "Rock" })).await;
    assert!(!list.contains("Fact"), "{list}");
    home.write("w/palace.toml", &format!("{settings}\n[menu]\ncontents = 20001\n"));
    let told = String::from_utf8(home.run_palazzo(&["check"]).stdout).unwrap();
    assert!(told.contains("`contents` is 0 to 20000 characters, not 20001"), "{told}");
}

#[tokio::test]
async fn a_search_shows_everything_of_its_shown_results_only() {
    let home = Home::new();
    build_palace(&home).await;
    let mut agent = home.agent(MARCH_3).await;
    agent.enter("w").await;
    let found = agent.choose_with(17, "fact 07 stone").await;
    let shown = (31..61).filter(|it| found.contains(&format!("  {it}. "))).count();
    assert!(found.contains(" weaker result") && shown <= 8, "{found}");
    let everything = agent.choose(20).await;
    assert_eq!(everything.matches("\nRock\n").count(), shown, "{everything}");
}

#[tokio::test]
async fn a_cut_hand_over_names_the_number_that_reads_it() {
    let home = Home::new();
    build_palace(&home).await;
    let mut agent = home.agent(MARCH_3).await;
    agent.enter("w").await;
    let long = "A line of the hand-over.\n".repeat(300);
    let scroll = json!({ "room": "entry", "title": "Hand-over", "body": long });
    agent.call("write_scroll", scroll).await;
    let page = agent.enter("w").await;
    assert!(page.contains("characters, 21 reads it whole.\n"), "{page}");
    assert!(page.contains("21. Hand-over"), "{page}");
}
