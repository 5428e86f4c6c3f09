//! Opening a palace again: what was understood of its files is remembered, and
//! nothing is remembered wrongly.

use std::fs;

use serde_json::json;

use crate::harness::{Home, MARCH_1};

const KEPT: &str = ".git/palazzo/aside/atlas/recollection";

/// A palace of so many entities that they are not read each time.
fn atlas() -> Home {
    let home = Home::new();
    home.write("atlas/palace.toml", "name = \"Atlas\"\n");
    for number in 0..300 {
        home.write(&island(number), &format!("name: Island {number}\ngenus: Island\n"));
    }
    home.git(&["init", "-q", "-b", "main"]);
    home.git(&["add", "."]);
    home.configure("[user]\nname = Ada\nemail = ada@example.org\n[maintenance]\nauto = false\n");
    home.git_at(MARCH_1, &["commit", "-qm", "islands"]);
    home
}

fn island(number: usize) -> String {
    format!("atlas/entities/island/island-{number}.yaml")
}

/// Begins a conversation, and tells what it hears of some islands.
async fn told(home: &Home) -> String {
    let mut agent = home.agent(MARCH_1).await;
    agent.call("describe_workspace", json!({})).await;
    for name in ["Island 7", "Island 8", "Island 300", "Atoll 7"] {
        agent.call("get_entity", json!({ "name": name })).await;
    }
    let told = agent.transcript();
    agent.leave().await;
    told
}

#[tokio::test]
async fn a_palace_opened_again_is_as_its_files_stand() {
    let home = atlas();
    let first = told(&home).await;
    // Files that were saved a moment ago are not kept in mind.
    while !home.path().join(KEPT).exists() {
        assert_eq!(told(&home).await, first);
    }
    assert_eq!(told(&home).await, first);
    assert_eq!(home.git(&["status", "--porcelain"]), "");

    let place = home.path().join(island(7));
    let before = place.metadata().unwrap().modified().unwrap();
    home.write(&island(7), "name: Atoll 7\ngenus: Island\n");
    fs::File::options().write(true).open(&place).unwrap().set_modified(before).unwrap();
    fs::remove_file(home.path().join(island(8))).unwrap();
    home.write(&island(300), "name: Island 300\ngenus: Island\nobservations: [It is new.]\n");
    let changed = told(&home).await;
    insta::assert_snapshot!(changed);

    let kept = fs::read(home.path().join(KEPT)).unwrap();
    for torn in [&kept[..kept.len() / 2], &[&kept[..900], b"!", &kept[901..]].concat(), b""] {
        fs::write(home.path().join(KEPT), torn).unwrap();
        assert_eq!(told(&home).await, changed);
    }
    fs::remove_file(home.path().join(KEPT)).unwrap();
    assert_eq!(told(&home).await, changed);
}
