//! What others do to the files of a palace while a server has it open: each
//! call shows every save that was over before.

use std::fs;

use insta::assert_snapshot;
use serde_json::json;

use crate::harness::{Agent, Home, MARCH_1};

const GIT: [&str; 4] = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];

fn git(home: &Home, arguments: &[&str]) -> String {
    home.git(&[&GIT[..], arguments].concat())
}

fn entity(home: &Home, number: usize, status: &str) {
    let text = format!("name: Stone {number}\ngenus: Stone\nstatus: {status}\n");
    home.write(&format!("w/entities/stone/stone-{number:04}.yaml"), &text);
}

/// A palace with a hall and some stones, committed, and an agent in it.
async fn quarry(home: &Home, stones: usize) -> Agent {
    home.palazzo(&["init", "w"]);
    home.write("w/rooms/hall.yaml", "name: Hall\ndescription: Stone.\n");
    for number in 0..stones {
        entity(home, number, "rough");
    }
    git(home, &["add", "-A"]);
    git(home, &["commit", "-q", "-m", "Begin"]);
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("w").await;
    agent.transcript();
    agent
}

async fn census(agent: &mut Agent) -> String {
    agent.call("list_genera", json!({})).await
}

#[tokio::test]
async fn what_is_saved_anywhere_in_the_palace_is_seen_at_the_next_call() {
    let home = Home::new();
    let mut agent = quarry(&home, 1).await;
    for round in 0..20 {
        entity(&home, 0, &format!("cut {round:02}"));
        let seen = agent.call("get_entity", json!({ "name": "Stone 0" })).await;
        assert!(seen.contains(&format!("cut {round:02}")), "{seen}");
        entity(&home, round + 1, "new");
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

#[tokio::test]
async fn a_room_that_is_being_saved_looks_as_it_did_until_it_is_whole() {
    let home = Home::new();
    let mut agent = quarry(&home, 0).await;
    let before = agent.enter("w").await;
    home.write("w/rooms/hall.yaml", "");
    assert_eq!(agent.enter("w").await, before);
    home.write("w/rooms/hall.yaml", "name: Hall\ndescription: \"Moss");
    assert_eq!(agent.enter("w").await, before);
    fs::remove_file(home.path().join("w/rooms/hall.yaml")).unwrap();
    assert_eq!(agent.enter("w").await, before);
    home.write("w/rooms/hall.yaml", "name: Hall\ndescription: \"Moss.\"\n");
    assert_eq!(agent.enter("w").await, before.replace("Stone.", "Moss."));
}

#[tokio::test]
async fn who_opens_a_palace_while_a_room_is_broken_sees_it_as_it_was_committed() {
    let home = Home::new();
    let mut agent = quarry(&home, 0).await;
    let before = agent.enter("w").await;
    agent.leave().await;
    home.write("w/rooms/hall.yaml", "name: [\n");
    let mut agent = home.agent(MARCH_1).await;
    let after = agent.enter("w").await;
    let notice = "rooms/hall.yaml:1:7: this is not YAML: unclosed bracket '[' \
                  (shown is what it said before)";
    assert!(after.contains(notice), "{after}");
    let actions = &before[before.find("── Hall ──\nStone.").unwrap()..];
    assert!(after.contains(actions.trim_end_matches(['─', ' ', '\n'])), "{after}");
    home.write("w/rooms/hall.yaml", "name: Hall\ndescription: Moss.\n");
    assert!(agent.enter("w").await.contains("Moss."));
    agent.leave().await;
}

#[tokio::test]
async fn whatever_git_does_to_a_thousand_files_is_seen_at_the_next_call() {
    let home = Home::new();
    let mut agent = quarry(&home, 1000).await;
    git(&home, &["checkout", "-q", "-b", "polished"]);
    for number in 0..1000 {
        entity(&home, number, "polished");
    }
    assert_snapshot!(census(&mut agent).await, @"
    1 genus:
      Stone: 1000 (1000 polished)
    ");
    git(&home, &["stash", "-q"]);
    assert!(census(&mut agent).await.contains("(1000 rough)"));
    git(&home, &["stash", "pop", "-q"]);
    assert!(census(&mut agent).await.contains("(1000 polished)"));
    git(&home, &["commit", "-q", "-a", "-m", "Polish"]);
    assert!(census(&mut agent).await.contains("(1000 polished)"));
    git(&home, &["checkout", "-q", "main"]);
    assert!(census(&mut agent).await.contains("(1000 rough)"));

    let elsewhere = home.path().with_file_name("elsewhere");
    let elsewhere = elsewhere.to_str().unwrap();
    git(&home, &["clone", "-q", ".", elsewhere]);
    git(&home, &["-C", elsewhere, "merge", "-q", "origin/polished"]);
    git(&home, &["-C", elsewhere, "rm", "-q", "-r", "w/entities/stone/stone-0000.yaml"]);
    git(&home, &["-C", elsewhere, "commit", "-q", "-m", "Drop one"]);
    git(&home, &["pull", "-q", "--ff-only", elsewhere]);
    assert!(census(&mut agent).await.contains("Stone: 999 (999 polished)"));
    git(&home, &["reset", "-q", "--hard", "HEAD~2"]);
    assert!(census(&mut agent).await.contains("Stone: 1000 (1000 rough)"));
    home.is_in_order();
}

#[tokio::test]
async fn two_servers_see_what_the_other_writes_committed_or_not() {
    let home = Home::new();
    let mut one = quarry(&home, 1).await;
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
async fn who_does_not_watch_sees_what_is_committed_and_where_they_go() {
    let home = Home::new();
    quarry(&home, 1).await.leave().await;
    let mut agent = home.agent_with(MARCH_1, &["--watch", "off"]).await;
    agent.enter("w").await;
    entity(&home, 1, "rough");
    assert!(census(&mut agent).await.contains("Stone: 1 (1 rough)"));
    git(&home, &["add", "-A"]);
    git(&home, &["commit", "-q", "-m", "One more"]);
    assert!(census(&mut agent).await.contains("Stone: 2 (2 rough)"));
    home.write("w/rooms/hall.yaml", "name: Hall\ndescription: Moss.\n");
    assert!(agent.enter("w").await.contains("Moss."));
}

#[tokio::test]
async fn a_merge_that_ends_in_a_conflict_is_told_and_what_stood_before_stays() {
    let home = Home::new();
    let mut agent = quarry(&home, 0).await;
    git(&home, &["checkout", "-q", "-b", "moss"]);
    home.write("w/rooms/hall.yaml", "name: Hall\ndescription: Moss.\n");
    git(&home, &["commit", "-q", "-a", "-m", "Let moss grow"]);
    git(&home, &["checkout", "-q", "main"]);
    home.write("w/rooms/hall.yaml", "name: Hall\ndescription: Dust.\n");
    git(&home, &["commit", "-q", "-a", "-m", "Let dust fall"]);
    assert!(agent.enter("w").await.contains("Dust."));
    git(&home, &["-c", "alias.attempt=!git merge -q moss || true", "attempt"]);
    let conflict = home.read("w/rooms/hall.yaml");
    assert_snapshot!(agent.enter_until("w", "merge").await, @"
    ── Hall ──
    Dust.

    Actions:
      ─────
      0 map · 16 go to (params: room) · 17 search (params: words) · 18 inventory · 19 write a scroll
      ─────
    Notices:
      rooms/hall.yaml:2:1: a merge conflict nobody has resolved, 5 lines in all (shown is what it said before)
    ");

    let output = home.palazzo(&["check", "--fix"]);
    assert_snapshot!(String::from_utf8(output.stdout).unwrap(), @"
    home/w/rooms/hall.yaml:2:1: error[merge-conflict]: a merge conflict nobody has resolved, 5 lines in all
      2 | <<<<<<< HEAD
        | ^
        = keep what is right, take out the lines of `<<<<<<<`, `=======` and `>>>>>>>`, then `git add` it
    ");
    assert_eq!(home.read("w/rooms/hall.yaml"), conflict);
    home.write("w/rooms/hall.yaml", "name: Hall\ndescription: Moss under dust.\n");
    git(&home, &["commit", "-q", "-a", "-m", "Let moss grow under dust"]);
    let seen = agent.enter("w").await;
    assert!(seen.contains("Moss under dust.") && !seen.contains("merge"), "{seen}");
    home.is_in_order();
}
