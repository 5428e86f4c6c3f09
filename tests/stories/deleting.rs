//! Deleting entities, and what becomes of those who knew them.

use insta::assert_snapshot;
use palazzo::keeper::{Caller, DeletedEntities, Keeper};

use crate::harness::{Home, MARCH_1};

/// A palace that a person wrote: Alice knows Bob, and so do a comment and a
/// ghost of whom nothing else is known.
fn village() -> Home {
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

fn remove(home: &Home, names: &[&str]) -> DeletedEntities {
    let mut keeper = Keeper::new(home.path(), None);
    let claude = Caller::for_client("claude", MARCH_1.parse().unwrap());
    let by = Caller { tool: "delete_entities", ..claude };
    let names: Vec<_> = names.iter().map(|it| (*it).to_owned()).collect();
    keeper.delete_exact_entities(&by, &names).unwrap()
}

#[test]
fn an_entity_goes_with_every_relation_that_leads_to_it_in_one_commit() {
    let home = village();
    let removed = remove(&home, &["Bob", "bob", "Bob"]);
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
    assert_eq!(left, "village/entities/person/alice.yaml\n");
    assert_snapshot!(home.git(&["log", "-1", "--format=%s%n%n%b"]), @"
    entity Bob: delete

    Deleted it and 2 relations to it

    Palazzo-Tool: delete_entities
    Palazzo-Client: claude
    ");
}

#[test]
fn a_name_that_only_relations_bear_can_be_deleted_too() {
    let home = village();
    let removed = remove(&home, &["Ghost", "Carol"]);
    assert_eq!((removed.entities.len(), removed.missing.len(), removed.relations), (0, 2, 2));
    assert!(!home.path().join("village/entities/undefined").exists());
    assert!(!home.read("village/entities/person/alice.yaml").contains("Carol"));
}

#[test]
fn nothing_is_founded_to_delete_from() {
    let home = Home::new();
    assert_eq!(remove(&home, &["Bob"]).missing, ["Bob"]);
    assert!(!home.path().exists());
}

#[test]
fn what_relations_start_from_may_have_no_genus_and_is_pointed_out() {
    let home = village();
    home.write("village/entities/undefined/nobody.yaml", "name: Nobody\n");
    let checked = home.palazzo(&["check"]);
    assert_snapshot!(String::from_utf8(checked.stdout).unwrap(), @"
    home/village/entities/undefined/ghost.yaml:1:1: warning[loose-end]: `Ghost` has no `genus`: it is only where relations start
      1 | name: Ghost
        | ^
        = give it a `genus` to make an entity of it
    home/village/entities/undefined/nobody.yaml:1:1: error[missing-key]: an entity needs a `genus`: what kind of thing it is
      1 | name: Nobody
        | ^
    ");
}
