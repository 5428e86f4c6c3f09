//! Tools make several changes in lists that a person has written: what they leave alone keeps every
//! byte.

use serde_json::json;

use crate::harness::{Home, MARCH_1};

const ADA: &str = "\
name: Ada
genus: Person
observations:
- one # c1
- 'two' # c2

# From her letters:
- >
  three, folded
  by hand # no comment
- \"four\" # c4
relations:
- { type: knows,  to: 'Bob' } # since school
- type: met
  to: Carol # in town
# long ago
- { type: met, to: Dan } # c3
";

const HALL: &str = "\
name: Hall
description: >
  Stone. Ask for [[Bob]] here,
  and for [[Dan]].
actions:
# doors first
- { label: Go down, type: navigate, room: crypt } # c1
- label: See him # c2
  type: query
  entity: 'Bob'

- label: \"Read\" # c3
  type: text
  content: \"It's [[Bob]]'s.\\nAnd \\\"his\\\".\"
";

fn write_palace(home: &Home) {
    home.write("w/palace.toml", "name = \"W\"\nentry = \"hall\"\n");
    home.write("w/rooms/hall.yaml", HALL);
    home.write("w/rooms/crypt.yaml", "name: Crypt\ndescription: Dark.\n");
    home.write("w/entities/person/ada.yaml", ADA);
    for name in ["Bob", "Carol", "Dan"] {
        let path = format!("w/entities/person/{}.yaml", name.to_lowercase());
        home.write(&path, &format!("name: {name} # he\ngenus: Person\n"));
    }
}

#[tokio::test]
async fn an_entity_keeps_the_items_that_a_tool_does_not_change() {
    let home = Home::new();
    write_palace(&home);
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("w").await;
    let change = json!({
        "name": "Ada",
        "remove_observations": ["one"],
        "add_observations": ["five"],
        "remove_relations": [{ "type": "met", "to": "Carol" }],
        "add_relations": [{ "type": "met", "to": "Eve" }],
    });
    agent.call("update_entity", change).await;
    let ada = ADA
        .replace("- one # c1\n", "")
        .replace("relations:", "- five\nrelations:")
        .replace("- type: met\n  to: Carol # in town\n", "");
    let ada = format!("{ada}- to: Eve\n  type: met\n");
    let written = home.read("w/entities/person/ada.yaml");
    assert_eq!(written.replace("- type: met\n  to: Eve\n", "- to: Eve\n  type: met\n"), ada);
}

#[tokio::test]
async fn a_rename_changes_the_name_and_nothing_around_it() {
    let home = Home::new();
    write_palace(&home);
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("w").await;
    for (name, new_name) in [("Bob", "Bobby O'Hara"), ("Dan", "Eve")] {
        agent.call("update_entity", json!({ "name": name, "new_name": new_name })).await;
    }
    let ada = ADA.replace("'Bob'", "Bobby O'Hara").replace("Dan", "Eve");
    assert_eq!(home.read("w/entities/person/ada.yaml"), ada);
    let hall = HALL
        .replace("'Bob'", "'Bobby O''Hara'")
        .replace("[[Bob]]", "[[Bobby O'Hara]]")
        .replace("[[Dan]]", "[[Eve]]");
    assert_eq!(home.read("w/rooms/hall.yaml"), hall);
}

#[tokio::test]
async fn merged_entities_leave_the_relations_to_others_as_they_are() {
    let home = Home::new();
    write_palace(&home);
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("w").await;
    agent.call("update_entity", json!({ "name": "Carol", "merge": ["Dan"] })).await;
    let ada = ADA.replace("# long ago\n- { type: met, to: Dan } # c3\n", "# long ago\n");
    assert_eq!(home.read("w/entities/person/ada.yaml"), ada);
}

#[tokio::test]
async fn sorted_actions_take_their_comments_along() {
    let home = Home::new();
    write_palace(&home);
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("w").await;
    let actions = json!([
        { "label": "Read", "type": "text", "content": "It's [[Bob]]'s.\nAnd \"his\"." },
        { "label": "Look", "type": "text", "content": "Stone." },
        { "label": "Go down", "type": "navigate", "room": "crypt" },
    ]);
    let description = "Stone. Ask for [[Bob]] here, and for [[Dan]].\n";
    let room =
        json!({ "slug": "hall", "name": "Hall", "description": description, "actions": actions });
    agent.call("build_room", room).await;
    insta::assert_snapshot!(home.read("w/rooms/hall.yaml"), @r#"
    name: Hall
    description: >
      Stone. Ask for [[Bob]] here,
      and for [[Dan]].
    actions:
    - label: "Read" # c3
      type: text
      content: "It's [[Bob]]'s.\nAnd \"his\"."
    - label: Look
      type: text
      content: |
        Stone.
    # doors first
    - { label: Go down, type: navigate, room: crypt } # c1
    "#);
}
