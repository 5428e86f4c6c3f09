//! The end of sequences: final statuses, and the last page of an entity.

use serde_json::{Map, Value, json};

use crate::harness::{Home, MARCH_1};

#[tokio::test]
async fn a_page_of_a_very_large_entity_stays_readable() {
    let home = Home::new();
    home.run_palazzo(&["init", "w"]);
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("w").await;
    let attributes: Map<String, Value> =
        (0..120).map(|it| (format!("key {it:03}"), "word ".repeat(1_000).into())).collect();
    let entity = json!({ "name": "Much", "genus": "Thing", "attributes": attributes });
    agent.call("create_entities", json!({ "entities": [entity] })).await;
    let page = agent.call("get_entity", json!({ "name": "Much", "page": 3 })).await;
    let lines: Vec<_> = page.lines().collect();
    assert_eq!((lines.len(), lines[2].split_once(": ").unwrap().0), (22, "key 100"), "{page}");
    assert!(page.chars().count() < 41_000, "{}", page.chars().count());
    assert_eq!(lines[1], "Thing · created just now · page 3 of 3");
}
