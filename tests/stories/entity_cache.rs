//! The entity cache: a palace opens faster the second time, and never shows outdated
//! entities.

use std::fs;

use serde_json::json;

use crate::harness::{Home, MARCH_1};

const CACHE_PATH: &str = ".git/palazzo/cache/atlas/entities";

/// A palace with enough entities for a cache.
fn home_with_islands() -> Home {
    let home = Home::new();
    home.write("atlas/palace.toml", "name = \"Atlas\"\n");
    for number in 0..300 {
        home.write(&island_path(number), &format!("name: Island {number}\ngenus: Island\n"));
    }
    home.git(&["init", "-q", "-b", "main"]);
    home.git(&["add", "."]);
    home.write_git_config(
        "[user]\nname = Ada\nemail = ada@example.org\n[maintenance]\nauto = false\n",
    );
    home.git_at(MARCH_1, &["commit", "-qm", "islands"]);
    home
}

fn island_path(number: usize) -> String {
    format!("atlas/entities/island/island-{number}.yaml")
}

/// Starts a session, and returns what it reads about some islands.
async fn transcript_of_islands(home: &Home) -> String {
    let mut agent = home.agent(MARCH_1).await;
    agent.call("describe_workspace", json!({})).await;
    for name in ["Island 7", "Island 8", "Island 300", "Atoll 7"] {
        agent.call("get_entity", json!({ "name": name })).await;
    }
    let told = agent.take_transcript();
    agent.disconnect().await;
    told
}

#[tokio::test]
async fn a_reopened_palace_matches_its_files() {
    let home = home_with_islands();
    let first = transcript_of_islands(&home).await;
    // Files that were saved a moment ago are not cached.
    while !home.path().join(CACHE_PATH).exists() {
        assert_eq!(transcript_of_islands(&home).await, first);
    }
    assert_eq!(transcript_of_islands(&home).await, first);
    assert_eq!(home.git(&["status", "--porcelain"]), "");

    let place = home.path().join(island_path(7));
    let before = place.metadata().unwrap().modified().unwrap();
    home.write(&island_path(7), "name: Atoll 7\ngenus: Island\n");
    fs::File::options().write(true).open(&place).unwrap().set_modified(before).unwrap();
    fs::remove_file(home.path().join(island_path(8))).unwrap();
    home.write(&island_path(300), "name: Island 300\ngenus: Island\nobservations: [It is new.]\n");
    let changed = transcript_of_islands(&home).await;
    insta::assert_snapshot!(changed);

    let kept = fs::read(home.path().join(CACHE_PATH)).unwrap();
    for torn in [&kept[..kept.len() / 2], &[&kept[..900], b"!", &kept[901..]].concat(), b""] {
        fs::write(home.path().join(CACHE_PATH), torn).unwrap();
        assert_eq!(transcript_of_islands(&home).await, changed);
    }
    fs::remove_file(home.path().join(CACHE_PATH)).unwrap();
    assert_eq!(transcript_of_islands(&home).await, changed);
}
