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
        (0..120).map(|it| (format!("key_{it:03}"), "word ".repeat(1_000).into())).collect();
    let entity = json!({ "name": "Much", "genus": "Thing", "attributes": attributes });
    agent.call("create_entities", json!({ "entities": [entity] })).await;
    let page = agent.call("get_entity", json!({ "name": "Much", "page": 3 })).await;
    let (shown, how) = page.split_once("\nLeft to read: ").unwrap();
    assert!(how.ends_with(" characters; palace_action 13 continues.\n\n"), "{how}");
    assert!(page.chars().count() <= 24_000, "{}", page.chars().count());
    let mut whole = shown.to_owned();
    while !whole.contains("key_119") {
        whole.push_str(&agent.choose(13).await);
    }
    assert_eq!(whole.lines().filter(|it| it.starts_with("  key_")).count(), 20);
    // Ellipses and line breaks divide the parts.
    assert!(whole.matches("word").count() >= 20 * 999, "{}", whole.matches("word").count());
    let lines: Vec<_> = page.lines().collect();
    assert_eq!(lines[2].split_once(": ").unwrap().0, "  key_100");
    assert_eq!(lines[1], "Thing · created just now · page 3 of 3");
}
