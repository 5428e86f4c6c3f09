//! Tasks and processes: work left open in one session, and found by the next.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::harness::{Agent, Home, MARCH_1};

const MARCH_3: &str = "2026-03-03T12:00:00Z";

/// A palace of three rooms: an entry, a hall that shows claims, and a study that shows
/// one book.
async fn create_survey(home: &Home) -> Agent {
    home.write("survey/genera/claim.yaml", "name: Claim\nsentence: the claim \"{name}\"\n");
    home.write("survey/palace.toml", "name = \"Survey\"\nentry = \"hall\"\n");
    home.git(&["init", "-q", "-b", "main"]);
    commit_all(home);
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("survey").await;
    let entities = json!({ "entities": [
        { "name": "Stasis is data", "genus": "Claim" }, { "name": "Theory of the Earth", "genus": "Book" },
    ] });
    agent.call("create_entities", entities).await;
    let query = |label: &str, tool: &str, params: Value| json!({ "label": label, "type": "query", "tool": tool, "tool_params": params });
    for (slug, actions) in [
        ("hall", json!([])),
        (
            "geology",
            json!([query("Open the cabinet", "list_entities", json!({ "genus": "claim" }))]),
        ),
        (
            "study",
            json!([query("Take the book", "get_entity", json!({ "name": "Theory of the Earth" }))]),
        ),
    ] {
        let room =
            json!({ "slug": slug, "name": slug, "description": "Stone.", "actions": actions });
        agent.call("build_room", room).await;
    }
    agent.take_transcript();
    agent
}

fn commit_all(home: &Home) {
    home.git(&["add", "."]);
    home.git(&["-c", "user.name=ada", "-c", "user.email=ada@x", "commit", "-qm", "By hand"]);
}

/// Goes to a room and returns the server's notices there.
async fn room_notices(agent: &mut Agent, room: &str) -> String {
    let page = agent.choose_with(16, room).await;
    page.split_once("Notices:\n").map_or(String::new(), |(_, it)| it.to_owned())
}

#[tokio::test]
async fn a_process_continues_in_the_next_conversation() {
    let home = Home::new();
    let mut first = create_survey(&home).await;
    let process = json!({ "name": "Cuvier Lead investigation", "room": "study",
        "steps": ["Read the paper of 1796", "Compare the jaws", "Ask the museum"] });
    first.call("start_process", process.clone()).await;
    first.call("start_process", process).await;
    let note = json!({ "process": "cuvier lead investigation", "note": "Two elephants, not one." });
    first.call("advance_process", note).await;
    let said = first.take_transcript();
    first.disconnect().await;

    let mut next = home.agent(MARCH_3).await;
    next.enter("survey").await;
    assert_eq!(
        room_notices(&mut next, "study").await,
        "  Process: Cuvier Lead investigation (step 2/3, 2 days ago)\n"
    );
    assert_eq!(room_notices(&mut next, "geology").await, "");
    next.take_transcript();
    next.call("list_tasks", json!({})).await;
    next.choose(31).await;
    let advance = json!({ "process": "Cuvier Lead investigation" });
    next.call("advance_process", advance.clone()).await;
    next.call("advance_process", json!({ "process": "Cuvier Lead", "note": "x" })).await;
    next.call("advance_process", advance.clone()).await;
    let commits = home.commit_count();
    next.call("advance_process", advance).await;
    assert_eq!(home.commit_count(), commits);
    assert_eq!(room_notices(&mut next, "study").await, "");
    let process = next.take_transcript();
    let process = process.split("\n\n> palace_action {\"action\":16").next().unwrap();
    assert_snapshot!(said + process);
    let file = home.git(&["ls-files", "survey/processes"]);
    assert_snapshot!(home.read(file.trim()));
    assert_snapshot!(home.git(&["log", "-2", "--format=%s", "--", "survey/processes"]), @"
    process Cuvier Lead investigation: advance
    process Cuvier Lead investigation: advance
    ");
    home.assert_clean_repository();
}

/// Creates three tasks, and tries to create invalid ones.
async fn create_tasks(agent: &mut Agent) {
    for task in [
        json!({ "title": "Count the lenses", "entity": "stasis is data", "who": "ada" }),
        json!({ "title": "Count the lenses", "entity": "Stasis is data" }),
        json!({ "title": "Dust the shelves", "room": "study", "note": "Mind the book.\n" }),
        json!({ "title": "Think", "note": "At length." }),
        json!({ "title": "Think again", "entity": "Nobody" }),
        json!({ "title": " " }),
    ] {
        agent.call("create_task", task).await;
    }
}

#[tokio::test]
async fn a_task_is_shown_in_its_rooms_until_it_is_done() {
    let home = Home::new();
    let mut agent = create_survey(&home).await;
    create_tasks(&mut agent).await;
    agent.disconnect().await;

    let mut next = home.agent(MARCH_3).await;
    let page = next.enter("survey").await;
    assert_snapshot!(page.split_once("Notices:\n").unwrap().1, @"
      Task: Count the lenses (for ada, 2 days ago)
      Task: Dust the shelves (2 days ago)
      Task: Think (2 days ago)
    ");
    let lenses = "  Task: Count the lenses (for ada, 2 days ago)\n";
    assert_eq!(room_notices(&mut next, "geology").await, lenses);
    assert_eq!(room_notices(&mut next, "study").await, "  Task: Dust the shelves (2 days ago)\n");
    next.call("complete_task", json!({ "task": "dust the shelves" })).await;
    assert_eq!(room_notices(&mut next, "study").await, "");
    assert_eq!(room_notices(&mut next, "geology").await, lenses);
}

#[tokio::test]
async fn tasks_are_created_listed_and_completed() {
    let home = Home::new();
    let mut agent = create_survey(&home).await;
    create_tasks(&mut agent).await;
    agent.call("list_tasks", json!({})).await;
    agent.choose(32).await;
    agent.call("list_tasks", json!({ "entity": "stasis is data" })).await;
    let done = json!({ "task": "dust the shelves", "note": "Found a letter." });
    agent.call("complete_task", done).await;
    agent.call("complete_task", json!({ "task": "Dust the shelves" })).await;
    agent.call("complete_task", json!({ "task": "Count the lense" })).await;
    agent.call("list_tasks", json!({ "room": "study" })).await;
    agent.call("list_tasks", json!({ "room": "study", "done": true })).await;
    agent.choose(31).await;
    agent.choose_with(17, "letter").await;
    let said = agent.take_transcript();
    let said = said.split("\n\n> ").map(|it| it.split("\n\nActions:\n").next().unwrap());
    assert_snapshot!(said.collect::<Vec<_>>().join("\n\n> "));
    home.assert_clean_repository();
}

const SPRING_CLEANING_PROCESS: &str = "\
# Every spring.
name: Spring cleaning
steps:
  - Open the windows   # all of them
  - {step: Beat the carpets, note: Not the red one.}
  - Close the windows
step: 2
entity: 'Stasis is data'
";

const LAMPS_TASK: &str = "\
# Soon.
title: Trim the lamps
entity: Stasis is data

room: study
";

#[tokio::test]
async fn hand_written_tasks_and_processes_keep_their_formatting() {
    let home = Home::new();
    let mut agent = create_survey(&home).await;
    home.write("survey/processes/spring-cleaning.yaml", SPRING_CLEANING_PROCESS);
    home.write("survey/tasks/2026-02-01-lamps.yaml", LAMPS_TASK);
    home.write("survey/tasks/broken.yaml", "title: Mend me\nstatus: opened\n");
    commit_all(&home);
    assert_snapshot!(room_notices(&mut agent, "geology").await.split("tasks/broken").next().unwrap(), @"
      Process: Spring cleaning (step 2/3, just now)
      Task: Trim the lamps (28 days ago)
    ");
    agent.take_transcript();
    for (tool, arguments) in [
        ("advance_process", json!({ "process": "spring-cleaning", "note": "Dust everywhere." })),
        ("advance_process", json!({ "process": "Spring cleaning", "note": "A moth.", "step": 1 })),
        ("advance_process", json!({ "process": "Spring cleaning", "step": 4 })),
        ("update_entity", json!({ "name": "Stasis is data", "new_name": "Stasis" })),
        ("complete_task", json!({ "task": "Trim the lamps", "note": "They smoke." })),
        ("complete_task", json!({ "task": "Mend me" })),
    ] {
        agent.call(tool, arguments).await;
    }
    assert_snapshot!(agent.take_transcript());
    assert_snapshot!(home.read("survey/processes/spring-cleaning.yaml"));
    assert_snapshot!(home.read("survey/tasks/2026-02-01-lamps.yaml"));
    let check = home.run_palazzo(&["check"]);
    let found = String::from_utf8(check.stdout).unwrap();
    assert!(
        found.contains("tasks/broken.yaml:2:9: error[bad-value]: the `status` is open"),
        "{found}"
    );
}
