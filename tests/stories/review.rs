//! Reviewing a branch: with `palazzo diff` and `log`, and through git after `palazzo git-setup`.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::harness::{Home, MARCH_1};

const MARCH_2: &str = "2026-03-02T12:00:00Z";

/// Runs a command at the second of March, and returns its output, including refusals.
fn run(home: &Home, arguments: &[&str]) -> String {
    let output = home.palazzo_command(MARCH_2).args(arguments).output().unwrap();
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

/// A palace with a hall on `main`, and thirty changes of two visits on the branch `agent`.
async fn home_with_branch() -> Home {
    let home = Home::new();
    let mut agent = home.agent(MARCH_1).await;
    agent.call("set_workspace", json!({ "workspace": "w", "create": true })).await;
    let hall = json!({ "slug": "hall", "name": "Hall", "actions": [],
        "description": "A long hall of stone.\nThe windows face north." });
    agent.call("build_room", hall).await;
    agent.disconnect().await;
    home.git(&["checkout", "-q", "-b", "agent"]);
    let mut first = home.agent(MARCH_1).await;
    first.enter("w").await;
    for number in 1..=9 {
        let room = json!({ "slug": format!("cell-{number}"), "name": format!("Cell {number}"),
            "description": "Bare walls.", "portals": ["hall"], "quiet": true, "actions": [] });
        first.call("build_room", room).await;
        let entity = json!({ "name": format!("Claim {number}"), "genus": "Claim",
            "observations": [format!("Seen {number} times.")] });
        first.call("create_entities", json!({ "entities": [entity] })).await;
    }
    first.call("create_task", json!({ "title": "Count the cells" })).await;
    let change = json!({ "slug": "hall", "merge": true, "quiet": true,
        "description": "A long hall of grey stone.\nThe windows face north." });
    first.call("build_room", change).await;
    first.disconnect().await;
    let mut second = home.agent(MARCH_2).await;
    second.enter("w").await;
    for number in 1..=9 {
        let scroll =
            json!({ "title": format!("Note {number}"), "body": "A thought.", "room": "hall" });
        second.call("write_scroll", scroll).await;
    }
    let change = json!({ "name": "Claim 1", "status": "open" });
    second.call("update_entity", change).await;
    second.disconnect().await;
    assert_eq!(home.git(&["rev-list", "--count", "main..agent"]).trim(), "30");
    home
}

#[tokio::test]
async fn thirty_changes_are_reviewed_in_git_and_one_visit_is_undone() {
    let home = home_with_branch().await;
    let config = home.read(".git/config");
    let said = run(&home, &["git-setup"]);
    assert_eq!(said.matches("  created ").count(), 1, "{said}");
    assert_eq!(said.matches("  changed ").count(), 1, "{said}");
    assert!(run(&home, &["git-setup"]).contains("  nothing to change\n"));

    let review = home.git(&["diff", "main...agent"]);
    assert_eq!(review.matches("\nscroll 'Note ").count(), 9, "{review}");
    let hall = review.split('\n').skip_while(|it| !it.starts_with("room hall: ")).take(4);
    assert_snapshot!(hall.collect::<Vec<_>>().join("\n"), @"
    room hall: description changed (1 line)
        description:
      ~   A long hall of {+grey +}stone.
          The windows face north.
    ");
    assert_snapshot!(home.git(&["diff", "main...agent", "--", "w/tasks", "w/entities/claim/claim-1.yaml"]), @"
    entity Claim 1: added
      + name: Claim 1
      + genus: Claim
      + status: open
      + observation: Seen 1 times.
    task 'Count the cells': added
      + name: Count the cells
      + status: open
    ");
    let patch = home.git(&["log", "-p", "-1", "--format=%s", "--", "w/rooms/hall.yaml"]);
    assert!(
        patch.contains("\n-  A long hall of stone.\n+  A long hall of grey stone.\n"),
        "{patch}"
    );

    let visit = home.git(&["log", "-1", "--format=%(trailers:key=Palazzo-Visit,valueonly)"]);
    let undone = run(&home, &["undo", "--visit", visit.trim()]);
    assert!(undone.starts_with("Undid 10 commits of visit "), "{undone}");
    let review = home.git(&["diff", "main...agent"]);
    assert!(!review.contains("Note") && review.contains("entity Claim 1: added"), "{review}");

    run(&home, &["git-setup", "--remove"]);
    assert_eq!(home.read(".git/config"), config);
    home.assert_clean_repository();
}

#[tokio::test]
async fn things_and_ranges_select_what_is_compared_and_listed() {
    let home = home_with_branch().await;
    home.git(&["checkout", "-q", "main"]);
    assert_snapshot!(run(&home, &["diff", "main...agent", "hall", "Note 1", "count the cells"]), @"
    room hall: description changed (1 line)
        description:
      ~   A long hall of {+grey +}stone.
          The windows face north.

    scroll 'Note 1' in hall: added
      + name: Note 1
      + by: claude
      + written: 2026-03-02T12:00:00Z
      + text:
      +   A thought.

    task 'Count the cells': added
      + name: Count the cells
      + status: open
    ");
    assert_snapshot!(run(&home, &["diff", "main", "agent", "--", "Claim 1"]), @"
    entity Claim 1: added
      + name: Claim 1
      + genus: Claim
      + status: open
      + observation: Seen 1 times.
    ");
    assert_snapshot!(run(&home, &["diff", "main...agent", "nowhere"]), @"palazzo: no room, scroll, entity, task or file is called `nowhere`; it is no time or git revision either");
    assert_snapshot!(run(&home, &["diff", "main", "agent", "main"]), @"palazzo: give one revision, two, or one range: A, A B, A..B or A...B");
    let listed = run(&home, &["log", "main..agent", "Cell 1", "Claim 1"]);
    let listed: Vec<_> = listed.lines().map(|it| it.get(9..).unwrap_or(it)).collect();
    assert_snapshot!(listed.join("\n"), @"
    just now        claude  entity Claim 1: update
      entity Claim 1: status open added
    1 day ago       claude  entity Claim 1: create
      entity Claim 1: added as entities/claim/claim-1.yaml
    1 day ago       claude  room cell-1: build
      room cell-1: added as rooms/cell-1.yaml
    ");
    assert_eq!(run(&home, &["log", "agent..main"]), "There is no commit.\n");
}

#[tokio::test]
async fn scripts_read_diffs_as_json() {
    let home = home_with_branch().await;
    let json = |arguments: &[&str]| run_for_json(&home, arguments);
    let diff = json(&["diff", "main...agent", "hall"]);
    assert_eq!(diff["items"].as_array().unwrap().len(), 1);
    assert_snapshot!(format!("{:#}", diff["items"][0]["details"]), @r#"
    [
      {
        "type": "text",
        "of": "description",
        "changed_lines": 1,
        "lines": [
          {
            "op": "removed",
            "text": "A long hall of stone."
          },
          {
            "op": "added",
            "text": "A long hall of grey stone."
          },
          {
            "op": "kept",
            "text": "The windows face north."
          }
        ]
      }
    ]
    "#);
}

#[tokio::test]
async fn scripts_read_listings_as_json() {
    let home = home_with_branch().await;
    let json = |arguments: &[&str]| run_for_json(&home, arguments);
    let log = json(&["log", "main..agent", "-n", "1"]);
    assert_eq!(
        (&log["truncated"], &log["commits"][0]["tool"]),
        (&json!(true), &json!("update_entity"))
    );
    assert_eq!(log["commits"][0]["files"], json!(["entities/claim/claim-1.yaml"]));
    assert_snapshot!(format!("{:#}", json(&["show", "cell-1"])["content"]), @r#"
    {
      "name": "Cell 1",
      "description": "Bare walls.",
      "portals": [
        "hall"
      ]
    }
    "#);
    assert_eq!(json(&["map"])["rooms"].as_array().unwrap().len(), 10);
    assert_eq!(json(&["blame", "hall"])["lines"][0]["commit"]["by"], "claude");
    assert!(json(&["wake-up"])["tokens"].as_u64().unwrap() > 0);
}

fn run_for_json(home: &Home, arguments: &[&str]) -> Value {
    let arguments = [arguments, &["--format", "json"]].concat();
    serde_json::from_str(&run(home, &arguments)).unwrap()
}

#[tokio::test]
async fn a_pull_request_gets_the_differences_as_markdown() {
    let home = home_with_branch().await;
    let markdown = run(&home, &["diff", "main...agent", "hall", "Claim 1", "--format", "markdown"]);
    let markdown: Vec<_> = markdown.lines().skip(1).collect();
    assert_snapshot!(markdown.join("\n"), @"
    1 room changed, 1 entity added

    - **room hall**: description changed (1 line)
      <details><summary>content</summary>

      ```diff
        description:
      !   A long hall of {+grey +}stone.
          The windows face north.
      ```

      </details>
    - **entity Claim 1**: added
      <details><summary>content</summary>

      ```diff
      + name: Claim 1
      + genus: Claim
      + status: open
      + observation: Seen 1 times.
      ```

      </details>
    ");
}
