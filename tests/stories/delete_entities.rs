//! Deleting entities, and the effect on files that mention them.

use insta::assert_snapshot;
use palazzo_keeper::{self as keeper, Caller, DeletedEntities, Keeper};

use crate::harness::{Home, MARCH_1};

/// A hand-written palace: Alice knows Bob, with a comment above, and an undefined Carol; a
/// ghost without a genus haunts Bob.
fn home_with_village() -> Home {
    let home = Home::new();
    home.write("village/palace.toml", "name = \"Village\"\n");
    let alice = "name: Alice\ngenus: person\nrelations:\n# old friends\n\
                 - { type: knows, to: Bob, since: 1972 }\n- { type: knows, to: Carol }\n";
    home.write("village/entities/person/alice.yaml", alice);
    home.write("village/entities/person/bob.yaml", "name: Bob\ngenus: person\n");
    let ghost = "name: Ghost\nrelations:\n- { type: haunts, to: Bob }\n";
    home.write("village/entities/undefined/ghost.yaml", ghost);
    home
}

fn remove_entities(home: &Home, names: &[&str]) -> DeletedEntities {
    let mut keeper = Keeper::new(home.path(), None);
    let claude = Caller::for_client("claude", MARCH_1.parse().unwrap());
    let by = Caller { tool: "delete_entities", ..claude };
    let names: Vec<_> = names.iter().map(|it| (*it).to_owned()).collect();
    match keeper.session_if_any(&by).unwrap() {
        Some(mut session) => keeper::delete_entities_by_exact_name(&mut session, &names).unwrap(),
        None => DeletedEntities::all_missing(&names),
    }
}

#[test]
fn deleting_an_entity_removes_the_relations_to_it_in_one_commit() {
    let home = home_with_village();
    let removed = remove_entities(&home, &["Bob", "bob", "Bob"]);
    assert_eq!(removed.entities, ["Bob"]);
    assert_eq!(removed.missing, ["bob"]);
    assert_eq!(removed.relations, 2);
    assert_snapshot!(home.read("village/entities/person/alice.yaml"), @"
    name: Alice
    genus: person
    relations:
    # old friends
    - { type: knows, to: Carol }
    ");
    let left = home.git(&["ls-tree", "-r", "--name-only", "HEAD"]);
    assert_eq!(left, "village/.palazzo/README.md\nvillage/entities/person/alice.yaml\n");
    assert_snapshot!(home.git(&["log", "-1", "--format=%s%n%n%b"]), @"
    entity Bob: delete

    Deleted it and 2 relations to it

    Palazzo-Tool: delete_entities
    Palazzo-Client: claude
    Palazzo-Visit: ID
    ");
}

#[test]
fn a_name_used_only_in_relations_can_be_deleted() {
    let home = home_with_village();
    let removed = remove_entities(&home, &["Ghost", "Carol"]);
    assert_eq!((removed.entities.len(), removed.missing.len(), removed.relations), (0, 2, 2));
    assert!(!home.path().join("village/entities/undefined").exists());
    assert!(!home.read("village/entities/person/alice.yaml").contains("Carol"));
}

#[test]
fn check_warns_about_relations_from_an_undefined_entity() {
    let home = home_with_village();
    home.write("village/entities/undefined/nobody.yaml", "name: Nobody\n");
    let checked = home.run_palazzo(&["check"]);
    assert_snapshot!(String::from_utf8(checked.stdout).unwrap(), @"
    home/village/entities/undefined/ghost.yaml:1:1: warning[loose-end]: `Ghost` has no `genus`, only relations
      1 | name: Ghost
        | ^
        = add a `genus` to make it an entity
    home/village/entities/undefined/nobody.yaml:1:1: error[missing-key]: an entity needs a `genus`: its type
      1 | name: Nobody
        | ^
    ");
}
