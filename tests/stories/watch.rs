//! Changes by other programs while a server has the palace open: each call shows every
//! save that ended before it.

use std::fs;
use std::time::{Duration, SystemTime};

use insta::assert_snapshot;
use serde_json::json;

use crate::harness::{Agent, Home, MARCH_1};

const ADA_IDENTITY: [&str; 4] = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];

fn git_as_ada(home: &Home, arguments: &[&str]) -> String {
    home.git(&[&ADA_IDENTITY[..], arguments].concat())
}

fn write_stone(home: &Home, number: usize, status: &str) {
    let text = format!("name: Stone {number}\ngenus: Stone\nstatus: {status}\n");
    home.write(&format!("w/entities/stone/stone-{number:04}.yaml"), &text);
}

/// A palace with a hall and some stones, committed, and a client in it.
async fn agent_in_quarry(home: &Home, stones: usize) -> Agent {
    home.run_palazzo(&["init", "w"]);
    home.write("w/rooms/hall.yaml", "name: Hall\ndescription: Stone.\n");
    for number in 0..stones {
        write_stone(home, number, "rough");
    }
    git_as_ada(home, &["add", "-A"]);
    git_as_ada(home, &["commit", "-q", "-m", "Begin"]);
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("w").await;
    agent.take_transcript();
    agent
}

async fn list_genera(agent: &mut Agent) -> String {
    agent.call("list_genera", json!({})).await
}

#[tokio::test]
async fn every_saved_file_is_seen_at_the_next_call() {
    let home = Home::new();
    let mut agent = agent_in_quarry(&home, 1).await;
    for round in 0..20 {
        write_stone(&home, 0, &format!("cut {round:02}"));
        let seen = agent.call("get_entity", json!({ "name": "Stone 0" })).await;
        assert!(seen.contains(&format!("cut {round:02}")), "{seen}");
        write_stone(&home, round + 1, "new");
        let seen = agent.call("list_entities", json!({ "status": "new" })).await;
        assert!(seen.contains(&format!("Stone {}", round + 1)), "{seen}");
        let scroll =
            format!("---\ntitle: Note {round}\nwritten: 2026-03-01\n---\n\nZebra {round}.\n");
        home.write(&format!("w/scrolls/hall/note-{round}.md"), &scroll);
        let seen = agent.choose_with(17, &format!("zebra {round}")).await;
        assert!(seen.contains(&format!("Note {round} (scroll in Hall")), "{seen}");
        home.write(&format!("w/rooms/wing-{round}/cell.yaml"), "name: Cell\ndescription: Bare.\n");
        let seen = agent.choose_with(16, &format!("wing-{round}/cell")).await;
        assert!(seen.starts_with("── Cell ──"), "{seen}");
    }
}

/// Writes a file that was saved at a time.
fn write_saved_at(home: &Home, path: &str, text: &str, at: SystemTime) {
    home.write(path, text);
    let file = fs::File::options().write(true).open(home.path().join(path)).unwrap();
    file.set_modified(at).unwrap();
}

#[tokio::test]
async fn a_half_saved_room_keeps_its_last_version() {
    let home = Home::new();
    let mut agent = agent_in_quarry(&home, 0).await;
    let before = agent.enter("w").await;
    // A time to come says nothing about when the file was saved, however slow the test is.
    let an_hour_to_come = SystemTime::now() + Duration::from_secs(3600);
    write_saved_at(&home, "w/rooms/hall.yaml", "", an_hour_to_come);
    assert_eq!(agent.enter("w").await, before);
    let half = "name: Hall\ndescription: \"Moss";
    write_saved_at(&home, "w/rooms/hall.yaml", half, an_hour_to_come);
    assert_eq!(agent.enter("w").await, before);
    fs::remove_file(home.path().join("w/rooms/hall.yaml")).unwrap();
    assert_eq!(agent.enter("w").await, before);
    home.write("w/rooms/hall.yaml", "name: Hall\ndescription: \"Moss.\"\n");
    assert_eq!(agent.enter("w").await, before.replace("Stone.", "Moss."));
}

#[tokio::test]
async fn a_broken_file_that_is_no_longer_being_written_is_reported_at_the_first_look() {
    let home = Home::new();
    let mut agent = agent_in_quarry(&home, 0).await;
    let before = agent.enter("w").await;
    let a_second_ago = SystemTime::now() - Duration::from_secs(1);
    write_saved_at(&home, "w/rooms/hall.yaml", "name: [\n", a_second_ago);
    write_saved_at(&home, "w/rooms/attic.yaml", "name: Attic\nactions: [\n", a_second_ago);
    write_saved_at(&home, "w/entities/stone/new.yaml", "name: \"New\n", a_second_ago);
    let seen = agent.enter("w").await;
    let hall = "rooms/hall.yaml:1:7: this is not YAML: unclosed bracket '[' \
                (its last valid content is shown)";
    for notice in [hall, "rooms/attic.yaml:2:10: this is not YAML", "entities/stone/new.yaml"] {
        assert!(seen.contains(notice), "{notice}: {seen}");
    }
    assert!(before.contains("Stone.") && seen.contains("Stone."), "{seen}");
    agent.disconnect().await;
}

#[tokio::test]
async fn a_room_broken_before_opening_shows_its_committed_version() {
    let home = Home::new();
    let mut agent = agent_in_quarry(&home, 0).await;
    let before = agent.enter("w").await;
    agent.disconnect().await;
    home.write("w/rooms/hall.yaml", "name: [\n");
    let mut agent = home.agent(MARCH_1).await;
    // The first menu of a conversation is longer.
    agent.enter("w").await;
    let after = agent.enter("w").await;
    let notice = "rooms/hall.yaml:1:7: this is not YAML: unclosed bracket '[' \
                  (its last valid content is shown)";
    assert!(after.contains(notice), "{after}");
    let actions = &before[before.find("── Hall ──\nStone.").unwrap()..];
    assert!(after.contains(actions.trim_end_matches(['─', ' ', '\n'])), "{after}");
    home.write("w/rooms/hall.yaml", "name: Hall\ndescription: Moss.\n");
    assert!(agent.enter("w").await.contains("Moss."));
    agent.disconnect().await;
}

#[tokio::test]
async fn git_operations_on_a_thousand_files_are_seen_at_the_next_call() {
    let home = Home::new();
    let mut agent = agent_in_quarry(&home, 1000).await;
    git_as_ada(&home, &["checkout", "-q", "-b", "polished"]);
    for number in 0..1000 {
        write_stone(&home, number, "polished");
    }
    assert_snapshot!(list_genera(&mut agent).await, @"
    1 genus:
      Stone: 1000 (1000 polished)
    ");
    git_as_ada(&home, &["stash", "-q"]);
    assert!(list_genera(&mut agent).await.contains("(1000 rough)"));
    git_as_ada(&home, &["stash", "pop", "-q"]);
    assert!(list_genera(&mut agent).await.contains("(1000 polished)"));
    git_as_ada(&home, &["commit", "-q", "-a", "-m", "Polish"]);
    assert!(list_genera(&mut agent).await.contains("(1000 polished)"));
    git_as_ada(&home, &["checkout", "-q", "main"]);
    assert!(list_genera(&mut agent).await.contains("(1000 rough)"));

    let elsewhere = home.path().with_file_name("elsewhere");
    let elsewhere = elsewhere.to_str().unwrap();
    git_as_ada(&home, &["clone", "-q", ".", elsewhere]);
    git_as_ada(&home, &["-C", elsewhere, "merge", "-q", "origin/polished"]);
    git_as_ada(&home, &["-C", elsewhere, "rm", "-q", "-r", "w/entities/stone/stone-0000.yaml"]);
    git_as_ada(&home, &["-C", elsewhere, "commit", "-q", "-m", "Drop one"]);
    git_as_ada(&home, &["pull", "-q", "--ff-only", elsewhere]);
    assert!(list_genera(&mut agent).await.contains("Stone: 999 (999 polished)"));
    git_as_ada(&home, &["reset", "-q", "--hard", "HEAD~2"]);
    assert!(list_genera(&mut agent).await.contains("Stone: 1000 (1000 rough)"));
    home.assert_clean_repository();
}

#[tokio::test]
async fn two_servers_see_each_others_writes_committed_or_not() {
    let home = Home::new();
    let mut one = agent_in_quarry(&home, 1).await;
    let mut two = home.agent(MARCH_1).await;
    two.enter("w").await;
    for manual in [false, true] {
        let git = if manual { "\n[git]\ncommit = \"manual\"\n" } else { "" };
        home.write("w/palace.toml", &format!("format = 1\nname = \"w\"\n{git}"));
        for round in 0..10 {
            let fact = format!("Fact {manual} {round}.");
            let change = json!({ "name": "Stone 0", "add_observations": [fact] });
            one.call("update_entity", change).await;
            let seen = two.call("get_entity", json!({ "name": "Stone 0" })).await;
            assert!(seen.contains(&fact), "{seen}");
            std::mem::swap(&mut one, &mut two);
        }
    }
}

#[tokio::test]
async fn without_watching_only_commits_and_visited_rooms_are_seen() {
    let home = Home::new();
    agent_in_quarry(&home, 1).await.disconnect().await;
    let mut agent = home.agent_with(MARCH_1, &["--watch", "off"]).await;
    agent.enter("w").await;
    write_stone(&home, 1, "rough");
    assert!(list_genera(&mut agent).await.contains("Stone: 1 (1 rough)"));
    git_as_ada(&home, &["add", "-A"]);
    git_as_ada(&home, &["commit", "-q", "-m", "One more"]);
    assert!(list_genera(&mut agent).await.contains("Stone: 2 (2 rough)"));
    home.write("w/rooms/hall.yaml", "name: Hall\ndescription: Moss.\n");
    assert!(agent.enter("w").await.contains("Moss."));
}

#[tokio::test]
async fn a_merge_conflict_is_reported_and_the_last_version_stays() {
    let home = Home::new();
    let mut agent = agent_in_quarry(&home, 0).await;
    git_as_ada(&home, &["checkout", "-q", "-b", "moss"]);
    home.write("w/rooms/hall.yaml", "name: Hall\ndescription: Moss.\n");
    git_as_ada(&home, &["commit", "-q", "-a", "-m", "Let moss grow"]);
    git_as_ada(&home, &["checkout", "-q", "main"]);
    home.write("w/rooms/hall.yaml", "name: Hall\ndescription: Dust.\n");
    git_as_ada(&home, &["commit", "-q", "-a", "-m", "Let dust fall"]);
    assert!(agent.enter("w").await.contains("Dust."));
    git_as_ada(&home, &["-c", "alias.attempt=!git merge -q moss || true", "attempt"]);
    let conflict = home.read("w/rooms/hall.yaml");
    assert_snapshot!(agent.enter_until("w", "merge").await, @"
    Workspace: w (1 room, 0 scrolls, 0 entities)

    ── Hall ──
    Dust.

    Actions:
      ─────
      0 map · 16 go to · 17 search · 18 inventory · 19 write a scroll · 20 everything here
      ─────
    Notices:
      rooms/hall.yaml:2:1: an unresolved merge conflict, 5 lines in all (its last valid content is shown)
    ");

    let output = home.run_palazzo(&["check", "--fix"]);
    assert_snapshot!(String::from_utf8(output.stdout).unwrap(), @"
    home/w/rooms/hall.yaml:2:1: error[merge-conflict]: an unresolved merge conflict, 5 lines in all
      2 | <<<<<<< HEAD
        | ^
        = keep what is right, delete the lines of `<<<<<<<`, `=======` and `>>>>>>>`, then `git add` it
    ");
    assert_eq!(home.read("w/rooms/hall.yaml"), conflict);
    home.write("w/rooms/hall.yaml", "name: Hall\ndescription: Moss under dust.\n");
    git_as_ada(&home, &["commit", "-q", "-a", "-m", "Let moss grow under dust"]);
    let seen = agent.enter("w").await;
    assert!(seen.contains("Moss under dust.") && !seen.contains("merge"), "{seen}");
    home.assert_clean_repository();
}
