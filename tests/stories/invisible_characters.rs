//! Invisible characters: shown as escapes, reported, and refused in names.

use serde_json::{Value, json};

use crate::harness::{Home, MARCH_1};

/// "AB" in tag characters, which models read and people do not see.
const TAGS: &str = "\u{e0041}\u{e0042}";

fn run(home: &Home, arguments: &[&str]) -> String {
    let output = home.run_palazzo(arguments);
    let [out, err] = [output.stdout, output.stderr].map(|it| String::from_utf8(it).unwrap());
    format!("{out}{err}")
}

/// Writes an entity with an observation, which may end with hidden characters.
fn write_two(home: &Home, hidden: &str) {
    let text = format!(
        "name: Two\ngenus: Number\nobservations:\n- It is two{hidden}.\n- می\u{200c}شود 👩\u{200d}🚀\n"
    );
    home.write("w/entities/number/two.yaml", &text);
}

/// A palace with hidden characters in committed files, and in an entity that was then edited.
fn home_with_hidden_text() -> Home {
    let home = Home::new();
    home.run_palazzo(&["init", "w"]);
    write_two(&home, "");
    home.write("w/rooms/hall.yaml", &format!("name: Hall{TAGS}\ndescription: Bare{TAGS}.\n"));
    home.write(
        "w/scrolls/hall/01KJHSAPE0PJMA0HCKESTE6VY6-x.md",
        &format!("---\ntitle: X{TAGS}\n---\nDust{TAGS}.\n"),
    );
    home.git(&["add", "-A"]);
    home.git(&["-c", "user.name=Eve", "-c", "user.email=eve@example.org", "commit", "-qm", "Copy"]);
    write_two(&home, TAGS);
    home
}

#[tokio::test]
async fn hidden_text_is_shown_as_escapes_to_agents_and_people() {
    let home = home_with_hidden_text();
    let mut agent = home.agent(MARCH_1).await;
    let pages = [
        agent.enter("w").await,
        agent.choose(21).await,
        agent.call("get_entity", json!({ "name": "Two" })).await,
        agent.call("describe_workspace", json!({ "findings": true })).await,
        agent.call("search_entities", json!({ "query": "two" })).await,
    ];
    agent.disconnect().await;
    let commands = [
        &["show"][..],
        &["show", "Two"],
        &["map"],
        &["diff"],
        &["diff", "--text"],
        &["log"],
        &["search", "two"],
        &["search", "dust"],
        &["check"],
        &["wake-up"],
        &["fmt", "--diff"],
    ];
    let pages = pages.into_iter().chain(commands.map(|it| run(&home, it)));
    for page in pages {
        assert!(!page.contains(|it| matches!(it, '\u{e0000}'..='\u{e007f}')), "{page}");
    }
    let entity = run(&home, &["show", "Two"]);
    assert!(entity.contains(r"It is two\u{e0041}\u{e0042}."), "{entity}");
    assert!(entity.contains("می\u{200c}شود 👩\u{200d}🚀"), "{entity}");
    for command in [&["diff"][..], &["diff", "--text"]] {
        let diff = run(&home, command);
        assert!(diff.contains(r"two\u{e0041}\u{e0042}"), "{diff}");
    }
}

/// Returns calls that would store a name in each place that may hold one.
fn calls_with_name(name: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("create_entities", json!({ "entities": [{ "name": name, "genus": "Person" }] })),
        ("create_entities", json!({ "entities": [{ "name": "Bob", "genus": name }] })),
        ("update_entity", json!({ "name": "Ada", "new_name": name })),
        ("update_entity", json!({ "name": "Ada", "genus": name })),
        ("update_entity", json!({ "name": "Ada", "attributes": { (name): 1 } })),
        (
            "update_entity",
            json!({ "name": "Ada", "add_relations": [{ "type": name, "to": "Bob" }] }),
        ),
        (
            "update_entity",
            json!({ "name": "Ada", "add_relations": [{ "type": "knows", "to": name }] }),
        ),
        ("build_room", json!({ "slug": "attic", "name": name, "description": "High." })),
        (
            "build_room",
            json!({ "slug": "hall", "merge": true, "actions": [{ "label": name, "type": "text", "content": "x" }] }),
        ),
        ("write_scroll", json!({ "room": "hall", "title": name, "body": "x" })),
        ("create_task", json!({ "title": name })),
        ("start_process", json!({ "name": name, "steps": ["x"] })),
        ("set_workspace", json!({ "workspace": name, "create": true })),
    ]
}

#[tokio::test]
async fn names_with_hidden_characters_are_refused_by_the_tools_for_rooms_and_graph() {
    let home = Home::new();
    let mut agent = home.agent(MARCH_1).await;
    agent.call("set_workspace", json!({ "workspace": "w", "create": true })).await;
    let hall = json!({ "slug": "hall", "name": "Hall", "description": "Bare.", "actions": [] });
    agent.call("build_room", hall).await;
    let entity = json!({ "entities": [{ "name": "Ada", "genus": "Person" }] });
    agent.call("create_entities", entity).await;
    let commits = home.commit_count();
    for hidden in [TAGS, "\u{7}", "\u{202e}", "\u{2066}"] {
        let name = format!("Ada{hidden}");
        for (tool, arguments) in calls_with_name(&name) {
            let said = agent.call(tool, arguments.clone()).await;
            assert!(said.starts_with("refused: "), "{tool} {arguments}: {said}");
        }
    }
    assert_eq!(home.commit_count(), commits);
    home.assert_clean_repository();
}

#[tokio::test]
async fn the_compatible_tools_store_what_they_are_given() {
    let home = Home::new();
    let mut agent = home.agent_with(MARCH_1, &["--tools", "memory,mempalace"]).await;
    let observation = format!("Engineer{TAGS}");
    let entity = json!({ "name": format!("Ada{TAGS}"), "entityType": "person", "observations": [observation] });
    agent.call("create_entities", json!({ "entities": [entity] })).await;
    let drawer =
        json!({ "wing": format!("wing{TAGS}"), "room": "hall", "content": format!("x{TAGS}") });
    agent.call("mempalace_add_drawer", drawer).await;
    let fact = json!({ "subject": format!("Bob{TAGS}"), "predicate": "knows", "object": "Ada" });
    agent.call("mempalace_kg_add", fact).await;
    let read = agent.call("open_nodes", json!({ "names": [format!("Ada{TAGS}")] })).await;
    let read: serde_json::Value = serde_json::from_str(&read).unwrap();
    assert_eq!(read["entities"][0]["observations"][0], observation.as_str());
    agent.disconnect().await;
    let stored = home.git(&["grep", "-h", "-e", TAGS, "HEAD"]);
    for name in ["Ada", "Engineer", "wing", "x", "Bob"] {
        assert!(stored.contains(&format!("{name}{TAGS}")), "{name}: {stored}");
    }
}
