//! `palazzo mv` and `palazzo rm`: what refers to a renamed thing follows, also beside a running
//! server.

use insta::assert_snapshot;
use serde_json::json;

use crate::harness::{Home, MARCH_1};

/// Runs a command, and returns its output.
fn run(home: &Home, arguments: &[&str]) -> String {
    let output = home.run_palazzo(arguments);
    let said = [output.stdout, output.stderr].concat();
    format!("{}exit {}", String::from_utf8(said).unwrap(), output.status.code().unwrap())
}

/// A committed palace with a hall, an attic with a scroll and a task, and two entities.
fn home() -> Home {
    let home = Home::new();
    home.write_git_config(
        "[maintenance]\nauto = false\n[user]\nname = Ada\nemail = ada@example.org\n",
    );
    home.run_palazzo(&["init", "Keep"]);
    home.write("keep/palace.toml", "format = 1\nname = \"Keep\"\nentry = \"hall\"\n");
    let door = "actions:\n  - { label: Climb, type: navigate, room: attic }\n";
    home.write("keep/rooms/hall.yaml", &format!("name: Hall\ndescription: Stone.\n{door}"));
    let attic = "id: 01KGSRV28ADXPQGT6T6QX25YS8\nname: Attic\ndescription: Dust.\n";
    home.write("keep/rooms/attic.yaml", &format!("{attic}portals: [hall]\n"));
    let scroll = "---\ntitle: Moss\nwritten: 2026-03-01\n---\n\nGreen.\n";
    home.write("keep/scrolls/attic/01KJMM4N00F2JXHH4DQ7YF03TN-moss.md", scroll);
    home.write("keep/tasks/sweep.yaml", "title: Sweep\nroom: attic\nentity: Ada\n");
    let ada = "id: 01KGSRV28ADXPQGT6T6QX25YS9\nname: Ada\ngenus: Person\n";
    home.write("keep/entities/person/ada.yaml", ada);
    let eve = "name: Eve\ngenus: Person\nrelations:\n  - { type: knows, to: Ada }\n";
    home.write("keep/entities/person/eve.yaml", eve);
    home.git(&["add", "."]);
    home.git(&["commit", "-qm", "by hand"]);
    home
}

#[tokio::test]
async fn a_room_moved_by_a_command_beside_a_server_is_followed_by_its_visitors() {
    let home = home();
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("Keep").await;
    let attic = agent.choose(1).await;
    assert!(attic.contains("── Attic ──") && attic.contains("21. Moss"), "{attic}");
    assert_snapshot!(run(&home, &["mv", "attic", "east/", "--dry-run"]), @"
    Would rename room `attic` to `east/attic`, with 1 other room, 1 scroll, 1 task. 6 files:
      deleted rooms/attic.yaml
      new     rooms/east/attic.yaml
      changed rooms/hall.yaml
      deleted scrolls/attic/01KJMM4N00F2JXHH4DQ7YF03TN-moss.md
      new     scrolls/east/attic/01KJMM4N00F2JXHH4DQ7YF03TN-moss.md
      changed tasks/sweep.yaml
    exit 0
    ");
    assert_snapshot!(run(&home, &["mv", "attic", "east/loft"]), @"
    Renamed room `attic` to `east/loft`, with 1 other room, 1 scroll, 1 task.
    exit 0
    ");
    home.assert_clean_repository();
    let scroll = json!({ "title": "Dust", "body": "Grey." });
    let written = agent.call("write_scroll", scroll).await;
    assert!(written.contains("in Attic"), "{written}");
    let back = agent.choose(15).await;
    assert!(back.contains("1. Climb"), "{back}");
    let attic = agent.choose(1).await;
    assert!(attic.contains("── Attic ──") && attic.contains("Moss"), "{attic}");
    assert!(attic.contains("Dust") && attic.contains("Task: Sweep"), "{attic}");
    assert_eq!(home.git(&["ls-files", "keep/scrolls"]).matches("scrolls/east/loft/").count(), 2);
    assert!(home.read("keep/rooms/hall.yaml").contains("room: east/loft"));
    assert_eq!(
        home.git(&["log", "-2", "--format=%s", "--", "keep/rooms"]),
        "room attic: rename to east/loft\nby hand\n"
    );
}

#[tokio::test]
async fn an_entity_is_renamed_and_a_room_deleted_by_commands() {
    let home = home();
    assert_snapshot!(run(&home, &["mv", "ada", "Ada Lovelace"]), @"
    Renamed entity Ada to Ada Lovelace, with 1 entity and 1 task.
    exit 0
    ");
    assert!(home.read("keep/entities/person/eve.yaml").contains("to: Ada Lovelace"));
    assert!(home.read("keep/tasks/sweep.yaml").contains("entity: Ada Lovelace"));
    assert_snapshot!(run(&home, &["rm", "attic", "--scrolls-to", "hall", "--no-commit"]), @"
    Deleted room attic; 1 scroll moved to `hall`; 1 other room without the doors to it; 1 task moved to `hall`. 5 files changed, not committed:
      deleted rooms/attic.yaml
      changed rooms/hall.yaml
      deleted scrolls/attic/01KJMM4N00F2JXHH4DQ7YF03TN-moss.md
      new     scrolls/hall/01KJMM4N00F2JXHH4DQ7YF03TN-moss.md
      changed tasks/sweep.yaml
    exit 0
    ");
    assert_snapshot!(home.git(&["status", "--porcelain", "-uall"]), @"
     D keep/rooms/attic.yaml
     M keep/rooms/hall.yaml
     D keep/scrolls/attic/01KJMM4N00F2JXHH4DQ7YF03TN-moss.md
     M keep/tasks/sweep.yaml
    ?? keep/scrolls/hall/01KJMM4N00F2JXHH4DQ7YF03TN-moss.md
    ");
    assert_snapshot!(run(&home, &["rm", "hall"]), @"
    palazzo: `hall` is the entry room: make another room the entry first, with `entry` in palace.toml
    exit 2
    ");
    assert_snapshot!(run(&home, &["mv", "Moss", "nowhere"]), @"
    palazzo: no room is called `nowhere`; existing rooms include `hall`
    exit 2
    ");
    assert_eq!(
        home.git(&["log", "-1", "--format=%s%n%(trailers:key=Palazzo-Tool)"]),
        "entity Ada Lovelace: rename\nPalazzo-Tool: mv\n\n"
    );
}

/// Renames the attic as a person with git.
fn move_attic_by_hand(home: &Home) {
    std::fs::create_dir_all(home.path().join("keep/rooms/east")).unwrap();
    home.git(&["mv", "keep/rooms/attic.yaml", "keep/rooms/east/loft.yaml"]);
}

#[tokio::test]
async fn a_room_moved_by_hand_beside_a_server_is_followed_by_its_visitors() {
    let home = home();
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("Keep").await;
    assert!(agent.choose(1).await.contains("── Attic ──"));
    move_attic_by_hand(&home);
    agent.enter_until("Keep", "The room `attic` is `east/loft` now").await;
    let loft = agent.choose(1).await;
    assert!(loft.contains("── Attic ──"), "{loft}");
    run(&home, &["check", "--fix"]);
    agent.enter_until("Keep", "── Hall ──").await;
    let mut loft = agent.choose(1).await;
    while !(loft.contains("21. Moss") && loft.contains("Task: Sweep")) {
        agent.enter("Keep").await;
        loft = agent.choose(1).await;
    }
    assert!(loft.contains("── Attic ──"), "{loft}");
}

#[test]
fn a_room_moved_by_hand_is_found_by_its_id_and_check_fixes_the_rest() {
    let home = home();
    move_attic_by_hand(&home);
    assert_snapshot!(run(&home, &["check"]), @"
    home/keep/rooms/hall.yaml:4:43: warning[old-name]: `attic` is the old name of the room `east/loft`
      4 |   - { label: Climb, type: navigate, room: attic }
        |                                           ^
        = rooms/east/loft.yaml has the id of `attic`; `palazzo check --fix` changes the references
    home/keep/scrolls/attic/01KJMM4N00F2JXHH4DQ7YF03TN-moss.md:1:1: warning[lost-scroll]: the room `attic` of this scroll has another name now
        = rooms/east/loft.yaml has the id of `attic`; `palazzo check --fix` moves the scrolls
    home/keep/tasks/sweep.yaml:2:7: warning[old-name]: `attic` is the old name of the room `east/loft`
      2 | room: attic
        |       ^
        = rooms/east/loft.yaml has the id of `attic`; `palazzo check --fix` changes the references
    1 palace, 2 rooms, 1 scroll, 2 entities: 0 errors, 3 warnings
    exit 0
    ");
    assert_snapshot!(run(&home, &["check", "--fix"]), @"
    home/keep/rooms/hall.yaml:4:43: fixed[old-name]: `attic` is the old name of the room `east/loft`
    home/keep/scrolls/attic/01KJMM4N00F2JXHH4DQ7YF03TN-moss.md:1:1: fixed[lost-scroll]: the room `attic` of this scroll has another name now
    home/keep/tasks/sweep.yaml:2:7: fixed[old-name]: `attic` is the old name of the room `east/loft`
    1 palace, 2 rooms, 1 scroll, 2 entities: 0 errors
    exit 0
    ");
    assert!(home.read("keep/rooms/hall.yaml").contains("room: east/loft"));
    assert!(home.read("keep/tasks/sweep.yaml").contains("room: east/loft"));
    assert_eq!(
        home.read("keep/scrolls/east/loft/01KJMM4N00F2JXHH4DQ7YF03TN-moss.md").lines().last(),
        Some("Green.")
    );
    home.git(&["add", "."]);
    home.git(&["commit", "-qm", "rename the attic"]);
    assert!(run(&home, &["check", "--level", "warning"]).contains(": 0 errors\n"));
}

#[test]
fn an_entity_renamed_by_hand_and_a_copy_are_recognized() {
    let home = home();
    let ada = home.read("keep/entities/person/ada.yaml");
    home.write("keep/entities/person/ada.yaml", &ada.replace("name: Ada", "name: Lovelace"));
    home.write("keep/rooms/aaa.yaml", &home.read("keep/rooms/attic.yaml"));
    assert_snapshot!(run(&home, &["check", "--level", "warning"]), @"
    home/keep/entities/person/eve.yaml:4:24: warning[old-name]: `Ada` is the old name of the entity `Lovelace`
      4 |   - { type: knows, to: Ada }
        |                        ^
        = entities/person/ada.yaml had that name; `palazzo check --fix` changes the references
    home/keep/rooms/aaa.yaml:1:5: warning[same-id]: this file is a copy of rooms/attic.yaml: both have the same id
      1 | id: 01KGSRV28ADXPQGT6T6QX25YS8
        |     ^
        = `palazzo check --fix` gives it an id of its own
    home/keep/tasks/sweep.yaml:3:9: warning[old-name]: `Ada` is the old name of the entity `Lovelace`
      3 | entity: Ada
        |         ^
        = entities/person/ada.yaml had that name; `palazzo check --fix` changes the references
    1 palace, 3 rooms, 1 scroll, 2 entities: 0 errors, 3 warnings
    exit 0
    ");
    assert_snapshot!(run(&home, &["check", "--fix", "--level", "warning"]), @"
    home/keep/entities/person/eve.yaml:4:24: fixed[old-name]: `Ada` is the old name of the entity `Lovelace`
    home/keep/rooms/aaa.yaml:1:5: fixed[same-id]: this file is a copy of rooms/attic.yaml: both have the same id
    home/keep/tasks/sweep.yaml:3:9: fixed[old-name]: `Ada` is the old name of the entity `Lovelace`
    1 palace, 3 rooms, 1 scroll, 2 entities: 0 errors
    exit 0
    ");
    assert!(home.read("keep/entities/person/eve.yaml").contains("to: Lovelace"));
    assert!(home.read("keep/tasks/sweep.yaml").contains("entity: Lovelace"));
    assert!(home.read("keep/rooms/attic.yaml").contains("01KGSRV28ADXPQGT6T6QX25YS8"));
    assert!(!home.read("keep/rooms/aaa.yaml").contains("01KGSRV28ADXPQGT6T6QX25YS8"));
}

#[test]
fn a_committed_rename_is_found_in_the_history() {
    let home = home();
    home.git(&["mv", "keep/rooms/attic.yaml", "keep/rooms/loft.yaml"]);
    home.git(&["commit", "-qm", "rename the attic"]);
    let ada = home.read("keep/entities/person/ada.yaml");
    home.write("keep/entities/person/ada.yaml", &ada.replace("name: Ada", "name: Lovelace"));
    home.git(&["commit", "-qam", "rename Ada"]);
    let found = run(&home, &["check", "--level", "warning"]);
    assert_eq!(found.matches("warning[old-name]").count(), 4, "{found}");
    assert_eq!(found.matches("warning[lost-scroll]").count(), 1, "{found}");
}
