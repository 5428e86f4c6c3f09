//! Notices on facts of single-valued relations that were not touched for long.

use serde_json::json;

use crate::harness::Home;

const FIRST: &str = "2024-03-01T12:00:00Z";
const LATER: &str = "2026-02-20T12:00:00Z";

const SETTINGS: &str = "format = 1\nname = \"Keep\"\n";
const PERSON: &str = "name: Person\nrelations:\n  lives_in: single\n  knows: {}\n";

fn check(home: &Home) -> String {
    let output = home.run_palazzo(&["check"]);
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().filter(|it| it.contains("stale-fact")).map(|it| it.to_owned() + "\n").collect()
}

#[tokio::test]
async fn a_single_fact_is_reported_if_it_was_not_touched_while_its_entity_changed() {
    let home = Home::new();
    home.write("keep/palace.toml", SETTINGS);
    home.write("keep/genera/person.yaml", PERSON);
    let mut agent = home.agent(FIRST).await;
    agent.call("set_workspace", json!({ "workspace": "keep" })).await;
    let relations = json!([
        { "type": "lives_in", "to": "Rome", "until": "2020-01-01" },
        { "type": "lives_in", "to": "Paris", "since": "2020-01-01" },
        { "type": "knows", "to": "Bob" },
    ]);
    let ada = json!({ "name": "Ada", "genus": "Person", "relations": relations });
    let bob = json!({ "name": "Bob", "genus": "Person", "relations":
        [{ "type": "lives_in", "to": "Oslo" }] });
    agent.call("create_entities", json!({ "entities": [ada, bob] })).await;
    let mut agent = home.agent(LATER).await;
    agent.call("set_workspace", json!({ "workspace": "keep" })).await;
    let change = json!({ "name": "Ada", "add_observations": ["She has a boat now."] });
    agent.call("update_entity", change).await;
    // Without the setting, nothing is reported.
    assert_eq!(check(&home), "");
    home.write("keep/palace.toml", &format!("{SETTINGS}[check]\nstale_fact_days = 365\n"));
    let found = check(&home);
    let note = "`lives_in` → `Paris` was not touched since 2024-03-01, and the entity changed on \
        2026-02-20";
    assert!(found.contains(&format!("info[stale-fact]: {note}\n")), "{found}");
    assert_eq!(found.lines().count(), 1, "{found}");
    let entity = agent.call("get_entity", json!({ "name": "Ada" })).await;
    assert!(entity.contains(&format!("Note: {note}.")), "{entity}");
    // A source confirms the fact.
    let file = "keep/entities/person/ada.yaml";
    let text = home.read(file).replace("to: Paris\n", "to: Paris\n    source: her letter\n");
    home.write(file, &text);
    assert_eq!(check(&home), "");
    home.git(&["config", "user.name", "Ada"]);
    home.git(&["config", "user.email", "ada@example.org"]);
    home.git(&["add", "."]);
    home.git_at(LATER, &["commit", "-qm", "Confirm"]);
    assert_eq!(check(&home), "");
    let entity = agent.call("get_entity", json!({ "name": "Ada" })).await;
    assert!(!entity.contains("was not touched"), "{entity}");
}
