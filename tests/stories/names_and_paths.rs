//! Names that could escape the palace folder, and names that only look alike.

use serde_json::json;

use crate::harness::{Home, MARCH_1};

const HOSTILE_NAMES: &[&str] = &[
    "",
    ".",
    "..",
    "../outside",
    "a/../../b",
    "/etc/passwd",
    "a\\b",
    "a\u{0}b",
    "CON",
    "con",
    "nul.txt",
    "Great-Hall",
    ".git",
    "-rf",
    "~",
    "$HOME",
    "a\nb",
    "rooms/",
    "/",
    "a//b",
    "a/b/c",
    "\u{202e}evil",
];

/// Lists everything in the directory that contains the home.
fn list_all_paths(home: &Home) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![home.path().parent().unwrap().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.is_symlink() && !path.ends_with(".git") {
                folders.push(path.clone());
            }
            found.push(path.display().to_string());
        }
    }
    found.sort();
    found
}

#[tokio::test]
async fn no_room_or_wing_name_escapes_the_palace() {
    let home = Home::new();
    let mut agent = home.agent(MARCH_1).await;
    agent.call("set_workspace", json!({ "workspace": "w", "create": true })).await;
    let hall = json!({ "slug": "hall", "name": "Hall", "description": "Stone.", "actions": [] });
    agent.call("build_room", hall).await;
    let before = (list_all_paths(&home), home.commit_count());
    let long = "a".repeat(300);
    // A blank is as good as nothing where a name may be left out.
    let names = HOSTILE_NAMES.iter().copied().filter(|it| !it.is_empty());
    for name in names.chain([long.as_str()]) {
        let room = json!({ "slug": name, "name": "X", "description": "X", "actions": [] });
        let wing =
            json!({ "slug": "x", "wing": name, "name": "X", "description": "X", "actions": [] });
        let door = json!({ "slug": "hall", "merge": true, "portals": [name] });
        let action = json!({ "slug": "hall", "merge": true,
            "actions": [{ "label": "Go", "type": "navigate", "room": name }] });
        for arguments in [room, wing, door, action] {
            let said = agent.call("build_room", arguments.clone()).await;
            assert!(
                said.starts_with("refused: wrong arguments for build_room at `"),
                "{arguments}: {said}"
            );
        }
        let scroll = json!({ "title": "X", "body": "X", "room": name });
        let said = agent.call("write_scroll", scroll).await;
        assert!(said.starts_with("refused: "), "{name:?}: {said}");
    }
    let nameless = json!({ "slug": " ", "name": "X", "description": "X", "actions": [] });
    let said = agent.call("build_room", nameless).await;
    assert!(said.starts_with("refused: wrong arguments for build_room at `slug`"), "{said}");
    assert_eq!((list_all_paths(&home), home.commit_count()), before);
    home.assert_clean_repository();
}

#[tokio::test]
async fn no_workspace_name_escapes_the_home() {
    let home = Home::new();
    let mut agent = home.agent(MARCH_1).await;
    agent.call("set_workspace", json!({ "workspace": "Great Hall", "create": true })).await;
    let before = list_all_paths(&home);
    let long = "a".repeat(300);
    let more = ["great-hall!", "…", long.as_str()];
    let fine = ["Great-Hall", "-rf", "$HOME", "nul.txt", "\u{202e}evil", "a\nb"];
    for name in HOSTILE_NAMES.iter().copied().chain(more).filter(|it| !fine.contains(it)) {
        let asked = json!({ "workspace": name, "create": true });
        let said = agent.call("set_workspace", asked).await;
        assert!(said.starts_with("refused: "), "{name:?}: {said}");
    }
    assert_eq!(list_all_paths(&home), before);
}

#[cfg(unix)]
#[tokio::test]
async fn a_symbolic_link_in_the_home_is_no_workspace() {
    let home = Home::new();
    let mut agent = home.agent(MARCH_1).await;
    agent.call("set_workspace", json!({ "workspace": "Great Hall", "create": true })).await;
    let outside = home.path().with_file_name("outside");
    std::fs::create_dir(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, home.path().join("linked")).unwrap();
    let asked = json!({ "workspace": "linked", "create": true });
    let said = agent.call("set_workspace", asked).await;
    assert!(said.starts_with("refused: "), "{said}");
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
}

#[tokio::test]
async fn any_visible_entity_name_is_accepted_and_stays_inside_the_palace() {
    let home = Home::new();
    let mut agent = home.agent(MARCH_1).await;
    let names = ["../../x", "/etc/passwd", "Alice", "alice", "日本", "CON", ".git/config"];
    let entities: Vec<_> = names.iter().map(|it| json!({ "name": it, "genus": it })).collect();
    let said = agent.call("create_entities", json!({ "entities": entities })).await;
    assert!(said.starts_with("Created"), "{said}");
    for name in names {
        let said = agent.call("get_entity", json!({ "name": name })).await;
        assert!(said.starts_with("── "), "{name:?}: {said}");
    }
    let outside = list_all_paths(&home).into_iter().filter(|it| !it.contains("/home"));
    assert_eq!(outside.collect::<Vec<_>>(), [""; 0]);
    home.assert_clean_repository();
}

#[cfg(unix)]
#[tokio::test]
async fn a_symbolic_link_inside_a_palace_is_not_followed() {
    let home = Home::new();
    let mut agent = home.agent(MARCH_1).await;
    agent.call("set_workspace", json!({ "workspace": "w", "create": true })).await;
    let outside = home.path().parent().unwrap().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("secret.yaml"), "name: Secret\ndescription: Hidden.\n").unwrap();
    std::os::unix::fs::symlink(&outside, home.path().join("w/rooms")).unwrap();
    let room = json!({ "slug": "hall", "name": "Hall", "description": "Stone.", "actions": [] });
    let said = agent.call("build_room", room).await;
    assert!(said.starts_with("refused: ") && said.contains("symbolic link"), "{said}");
    assert!(!outside.join("hall.yaml").exists());
    let mut next = home.agent(MARCH_1).await;
    let said = next.enter("w").await;
    assert!(!said.contains("Hidden"), "{said}");
}

#[tokio::test]
async fn workspace_names_that_differ_in_case_are_one_workspace() {
    let home = Home::new();
    let mut agent = home.agent(MARCH_1).await;
    agent.call("set_workspace", json!({ "workspace": "Rhubarb", "create": true })).await;
    agent.call("set_workspace", json!({ "workspace": "RHUBARB", "create": true })).await;
    std::fs::create_dir(home.path().join("Twin")).unwrap();
    home.write("Twin/palace.toml", "format = 1\nname = \"First\"\n");
    let said = agent.call("set_workspace", json!({ "workspace": "twin!", "create": true })).await;
    assert!(said.contains("`Twin` already exists"), "{said}");
    let unknown = agent.enter("Rubarb").await;
    assert!(
        unknown.contains("did you mean `Rhubarb`?") || unknown.contains("did you mean `rhubarb`?"),
        "{unknown}"
    );
}
