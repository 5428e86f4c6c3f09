//! Days of people who do not live in UTC, and times in files that name no zone.

use insta::assert_snapshot;
use serde_json::json;

use crate::harness::{Agent, Home, MARCH_1};

/// In UTC the last day of February, in Tokyo the first of March.
const NIGHT: &str = "2026-02-28T16:00:00Z";

fn home_with_zone(zone: &str) -> Home {
    let home = Home::new();
    home.write("survey/palace.toml", &settings_with_zone(zone));
    home.write("survey/rooms/hall.yaml", "name: Hall\n");
    home
}

fn settings_with_zone(zone: &str) -> String {
    format!("name = \"Survey\"\nentry = \"hall\"\n\n[time]\nzone = \"{zone}\"\n")
}

async fn agent_in(home: &Home, zone: &str, now: &str) -> Agent {
    let mut command = home.palazzo_command(now);
    command.env("TZ", zone).args(["serve", "--tools", "palace,graph,mempalace"]);
    let mut agent = Agent::start("claude", command).await;
    agent.enter("survey").await;
    agent
}

#[tokio::test]
async fn today_is_the_day_of_the_machine() {
    for (zone, now, today, tomorrow) in [
        ("Asia/Tokyo", NIGHT, "2026-03-01", "2026-03-02"),
        ("America/Los_Angeles", "2026-03-01T06:00:00Z", "2026-02-28", "2026-03-01"),
        ("UTC", NIGHT, "2026-02-28", "2026-03-01"),
    ] {
        let home = home_with_zone("UTC");
        let mut agent = agent_in(&home, zone, now).await;
        let relations = json!([
            { "type": "lives_in", "to": "Kyoto", "since": "today" },
            { "type": "works_in", "to": "Osaka", "until": "tomorrow" },
            { "type": "ruled", "to": "Nara", "since": "2020", "until": "today" },
        ]);
        let entity = json!({ "name": "Ada", "genus": "Person", "relations": relations });
        let created = agent.call("create_entities", json!({ "entities": [entity] })).await;
        assert!(!created.starts_with("refused"), "{created}");
        let facts = agent.call("get_entity", json!({ "name": "Ada" })).await;
        for text in [format!("since {today}"), format!("until {tomorrow}")] {
            assert!(facts.contains(&text), "{zone}: {facts}");
        }
        let timeline = agent.call("get_timeline", json!({ "since": "tomorrow" })).await;
        assert!(timeline.contains(tomorrow) && !timeline.contains("Kyoto"), "{zone}: {timeline}");
        let facts = agent.call("mempalace_kg_query", json!({ "entity": "Ada" })).await;
        let current = facts.matches("\"current\":true").count();
        let ended = facts.matches("\"current\":false").count();
        assert_eq!((current, ended), (2, 1), "{zone}: {facts}");
        let triple = json!({ "subject": "Ada", "predicate": "works_in", "object": "Osaka" });
        agent.call("mempalace_kg_invalidate", triple).await;
        let ended = agent.call("get_entity", json!({ "name": "Ada" })).await;
        assert!(ended.contains(&format!("until {today}")), "{zone}: {ended}");
        agent.disconnect().await;
    }
}

#[tokio::test]
async fn filters_and_revisions_mean_the_day_of_the_machine() {
    let home = home_with_zone("UTC");
    let mut agent = agent_in(&home, "UTC", "2026-02-27T12:00:00Z").await;
    agent.call("write_scroll", json!({ "title": "Older", "body": "The roof leaks." })).await;
    agent.disconnect().await;
    let mut agent = agent_in(&home, "Asia/Tokyo", NIGHT).await;
    let scroll = json!({ "title": "Boiler", "body": "The boiler leaks." });
    agent.call("write_scroll", scroll).await;
    let found = agent.choose_with(17, "since:2026-03-01 boiler").await;
    assert!(found.starts_with("1 result"), "{found}");
    let older = agent.choose_with(17, "until:2026-03-01 boiler").await;
    assert!(!older.contains("Boiler (scroll"), "{older}");
    agent.disconnect().await;
    let show = |zone: &str, day: &str| {
        let mut command = home.palazzo_command(MARCH_1);
        command.env("TZ", zone).args(["diff", day]);
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    assert!(show("Asia/Tokyo", "2026-02-28").contains("Boiler"));
    assert!(!show("UTC", "2026-02-28").contains("Boiler"));
}

#[tokio::test]
async fn times_in_files_without_a_zone_have_that_of_the_palace() {
    let home = home_with_zone("Asia/Tokyo");
    for (title, written) in [
        ("day", "2026-03-01"),
        ("minute", "2026-03-01 12:00"),
        ("second", "2026-03-01T12:00:00"),
        ("full", "2026-03-01T12:00:00Z"),
    ] {
        let text = format!("---\ntitle: {title}\nwritten: {written}\nby: ada\n---\n\nText.\n");
        home.write(&format!("survey/scrolls/hall/{title}.md"), &text);
    }
    home.write("survey/tasks/paint.yaml", "title: Paint\nstatus: done\ndone: 2026-03-01\n");
    let ages = |zone: &str| {
        let mut texts = ["day", "minute", "second", "full", "Paint"].map(|it| {
            let mut command = home.palazzo_command(MARCH_1);
            command.env("TZ", zone).args(["show", it]);
            String::from_utf8(command.output().unwrap().stdout).unwrap()
        });
        texts
            .iter_mut()
            .map(|it| it.lines().nth(1).unwrap_or_default().to_owned())
            .collect::<Vec<_>>()
    };
    let in_tokyo = ages("UTC");
    assert_snapshot!(in_tokyo.join("\n"), @"
    A scroll in Hall, written by ada 21 hours ago.
    A scroll in Hall, written by ada 9 hours ago.
    A scroll in Hall, written by ada 9 hours ago.
    A scroll in Hall, written by ada just now.
    Task · done 21 hours ago
    ");
    assert_eq!(ages("America/Los_Angeles"), in_tokyo, "two machines read the same");
    home.write("survey/palace.toml", &settings_with_zone("UTC"));
    assert_snapshot!(ages("Asia/Tokyo").join("\n"), @"
    A scroll in Hall, written by ada 12 hours ago.
    A scroll in Hall, written by ada just now.
    A scroll in Hall, written by ada just now.
    A scroll in Hall, written by ada just now.
    Task · done 12 hours ago
    ");
}

#[tokio::test]
async fn a_running_server_reads_times_again_when_the_palace_gets_a_zone() {
    let home = home_with_zone("UTC");
    let scroll = "---\ntitle: Day\nwritten: 2026-03-01\nby: ada\n---\n\nText.\n";
    home.write("survey/scrolls/hall/day.md", scroll);
    home.write("survey/tasks/2026-02-01-paint.yaml", "title: Paint # mine\n");
    let mut agent = agent_in(&home, "UTC", MARCH_1).await;
    let entered = agent.enter("survey").await;
    assert!(entered.contains("12 hours ago"), "{entered}");
    home.write("survey/palace.toml", &settings_with_zone("Asia/Tokyo"));
    let entered = agent.enter("survey").await;
    assert!(entered.contains("21 hours ago"), "{entered}");
    let done = agent.call("complete_task", json!({ "task": "Paint" })).await;
    assert!(!done.starts_with("refused"), "{done}");
    let file = home.read("survey/tasks/2026-02-01-paint.yaml");
    assert_eq!(file, "title: Paint # mine\nstatus: done\ndone: 2026-03-01T12:00:00Z\n");
    agent.disconnect().await;
}
