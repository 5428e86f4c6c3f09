//! Conversations: what the log and `show` report of them, and undoing one that others have built on.

use insta::assert_snapshot;
use serde_json::json;

use crate::harness::{Home, MARCH_1};
use crate::http_server::status_and_text;

const MARCH_2: &str = "2026-03-02T12:00:00Z";

/// Runs a command, and returns its output, including refusals, with `ID` for the ids of visits.
fn run(home: &Home, arguments: &[&str]) -> String {
    let output = home.palazzo_command(MARCH_2).args(arguments).output().unwrap();
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    let ids = home.git(&["log", "--format=%(trailers:key=Palazzo-Visit,valueonly,separator=)"]);
    ids.lines()
        .filter(|it| !it.is_empty())
        .fold(text, |text, id| text.replace(&id[id.len() - 6..].to_lowercase(), "ID"))
}

/// A palace with a hall and the entity Plan, by a visit of its own.
async fn home_with_plan() -> Home {
    let home = Home::new();
    let mut agent = home.agent(MARCH_1).await;
    agent.call("set_workspace", json!({ "workspace": "w", "create": true })).await;
    let hall = json!({ "slug": "hall", "name": "Hall", "description": "Stone.", "actions": [] });
    agent.call("build_room", hall).await;
    let plan = json!({ "name": "Plan", "genus": "Claim", "observations": ["It is old."] });
    agent.call("create_entities", json!({ "entities": [plan] })).await;
    agent.disconnect().await;
    home
}

/// Makes calls in a conversation of their own, and returns the id of its visit.
async fn converse(home: &Home, calls: &[(&'static str, serde_json::Value)]) -> String {
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("w").await;
    for (tool, arguments) in calls.iter().cloned() {
        agent.call(tool, arguments).await;
    }
    agent.disconnect().await;
    let id = home.git(&["log", "-1", "--format=%(trailers:key=Palazzo-Visit,valueonly)"]);
    id.trim().to_owned()
}

fn observe(text: &str) -> (&'static str, serde_json::Value) {
    ("update_entity", json!({ "name": "Plan", "add_observations": [text] }))
}

#[tokio::test]
async fn one_conversation_is_taken_back_and_another_about_the_same_entity_stays() {
    let home = home_with_plan().await;
    let close = json!({ "name": "Plan", "status": "closed" });
    let first = converse(&home, &[observe("It is wrong."), ("update_entity", close)]).await;
    converse(&home, &[observe("It is green.")]).await;
    let file = "w/entities/claim/plan.yaml";
    home.write(file, &home.read(file).replace("- It is old.", "- It is old. # in the cellar"));
    assert_snapshot!(run(&home, &["undo", "--visit", &first]), @"
    Undid 2 commits of visit ID (claude, 1 day ago):
    entity Plan: status closed → none; observation 'It is wrong.' removed

    palazzo undo --visit ID takes this back.
    ");
    let file = home.read(file);
    assert!(file.contains("- It is old. # in the cellar\n  - It is green.\n"), "{file}");
    assert!(!file.contains("status") && !file.contains("wrong"), "{file}");
    assert!(run(&home, &["log", "--visits"]).contains("(undone)"));
    home.assert_clean_repository();
}

#[tokio::test]
async fn links_that_lead_nowhere_after_an_undo_are_listed() {
    let home = home_with_plan().await;
    let crypt = json!({ "slug": "crypt", "name": "Crypt", "description": "Dark.", "actions": [] });
    let granite = json!({ "entities": [{ "name": "Granite", "genus": "Rock" }] });
    let first = converse(&home, &[("build_room", crypt), ("create_entities", granite)]).await;
    let relation = json!([{ "type": "rests_on", "to": "Granite" }]);
    let door = json!([{ "label": "Descend", "type": "navigate", "room": "crypt" }]);
    converse(
        &home,
        &[
            ("update_entity", json!({ "name": "Plan", "add_relations": relation })),
            ("build_room", json!({ "slug": "hall", "merge": true, "actions": door })),
        ],
    )
    .await;
    assert_snapshot!(run(&home, &["undo", "--visit", &first]), @"
    Undid 2 commits of visit ID (claude, 1 day ago):
    room crypt: removed
    entity Granite: removed

    These links lead nowhere now:
      entities/claim/plan.yaml:9: there is no entity `Granite` yet
      rooms/hall.yaml:9: the room `crypt` is not built yet

    palazzo undo --visit ID takes this back.
    ");
    // What led nowhere before is not listed again.
    converse(
        &home,
        &[("create_entities", json!({ "entities": [{ "name": "Slate", "genus": "Rock" }] }))],
    )
    .await;
    let undone = run(&home, &["undo", "--visit", "last"]);
    assert!(undone.contains("entity Slate: removed\n\npalazzo undo"), "{undone}");
}

#[tokio::test]
async fn a_room_in_which_others_have_left_a_note_stays_and_so_does_the_entry() {
    let home = home_with_plan().await;
    let crypt = json!({
        "slug": "crypt", "name": "Crypt", "description": "Dark.", "actions": [], "entry": true
    });
    let granite = json!({ "entities": [{ "name": "Granite", "genus": "Rock" }] });
    let first = converse(&home, &[("build_room", crypt), ("create_entities", granite)]).await;
    let scroll = json!({ "room": "crypt", "title": "On [[Granite]]", "body": "Cold." });
    converse(&home, &[("write_scroll", scroll)]).await;
    let undone = run(&home, &["undo", "--visit", &first, "--dry-run"]);
    let hash = home.git(&["rev-parse", "--short=7", "HEAD"]);
    assert_snapshot!(undone.replace(hash.trim(), "HASH"), @r#"
    Would undo 2 commits of visit ID (claude, 1 day ago), but for 2 files:
    entity Granite: removed

    These files stay as they are:
      palace.toml names the entry, which stays because of HASH "scroll crypt: On [[Granite]]" (claude, 1 day ago)
      rooms/crypt.yaml would be removed, and has a scroll by HASH "scroll crypt: On [[Granite]]" (claude, 1 day ago)
    What would be removed stays whole: edit it, or remove it together with what others did:
    palazzo rm FILE
    "#);
}

#[tokio::test]
async fn an_undo_is_undone_by_its_id() {
    let home = home_with_plan().await;
    let first = converse(&home, &[observe("It is wrong.")]).await;
    let tree = home.git(&["rev-parse", "HEAD^{tree}"]);
    let undo_last_commit = || {
        let id = home.git(&["log", "-1", "--format=%(trailers:key=Palazzo-Visit,valueonly)"]);
        run(&home, &["undo", "--visit", &id.trim()[20..]])
    };
    run(&home, &["undo", "--visit", &first]);
    assert!(run(&home, &["log", "--visits"]).contains("(undone)"));
    assert_snapshot!(undo_last_commit(), @"
    Undid 1 commit of visit ID (ada, just now):
    entity Plan: observation 'It is wrong.' added

    palazzo undo --visit ID takes this back.
    ");
    assert_eq!(home.git(&["rev-parse", "HEAD^{tree}"]), tree);
    assert!(!run(&home, &["log", "--visits"]).contains("undone"));
    undo_last_commit();
    assert!(run(&home, &["log", "--visits"]).contains("(undone)"));
    home.assert_clean_repository();
}

#[tokio::test]
async fn a_conversation_that_goes_on_after_its_undo_is_described_by_what_is_left() {
    let home = home_with_plan().await;
    let granite = json!({ "entities": [{ "name": "Granite", "genus": "Rock" }] });
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("w").await;
    agent.call("create_entities", granite.clone()).await;
    run(&home, &["undo", "--visit", "last"]);
    agent.call("create_entities", granite).await;
    agent.disconnect().await;
    let log = run(&home, &["log", "--visits", "-n", "1"]);
    assert!(log.contains("entity Granite added  (partly undone)"), "{log}");
}

/// Undoes a conversation that created two rocks, of which another has changed one. Returns its id, and
/// the output of the command.
async fn undo_rocks_in_part(home: &Home) -> (String, String) {
    let entity = |name: &str| json!({ "name": name, "genus": "Rock" });
    let rocks = json!({ "entities": [entity("Granite"), entity("Slate")] });
    let first = converse(home, &[("create_entities", rocks), observe("It is wrong.")]).await;
    let hard = json!({ "name": "Granite", "add_observations": ["It is hard."] });
    converse(home, &[("update_entity", hard)]).await;
    let undone = run(home, &["undo", "--visit", &first]);
    (first, undone)
}

#[tokio::test]
async fn a_conversation_that_is_undone_in_part_is_described_by_what_is_left() {
    let home = home_with_plan().await;
    let (first, undone) = undo_rocks_in_part(&home).await;
    let hash = home.git(&["rev-parse", "--short=7", "HEAD~1"]);
    assert_snapshot!(undone.replace(hash.trim(), "HASH"), @r#"
    Undid 2 commits of visit ID (claude, 1 day ago), but for 1 file:
    entity Plan: observation 'It is wrong.' removed
    entity Slate: removed

    These files stay as they are:
      entities/rock/granite.yaml would be removed, and was changed by HASH "entity Granite: update" (claude, 1 day ago)
    What would be removed stays whole: edit it, or remove it together with what others did:
    palazzo rm FILE

    palazzo undo --visit ID takes this back.
    "#);
    assert_snapshot!(run(&home, &["log", "--visits"]), @"
    ID  1 day ago       claude  entity Granite changed
            2026-03-01 12:00 UTC, less than a minute
    ID  1 day ago       claude  entity Granite added  (partly undone)
            2026-03-01 12:00 UTC, less than a minute
    ID  1 day ago       claude  entity Plan added, room hall added, settings changed
            2026-03-01 12:00 UTC, less than a minute
    ");
    let shown = run(&home, &["show", "--visit", &first]);
    let (_, changes) = shown.split_once("\nWhat is left of what it changed:\n").unwrap();
    assert_snapshot!(changes, @"
    entity Granite: added

    palazzo diff --visit ID shows every line; palazzo undo --visit ID reverts the rest, unless others have changed it.
    ");
}

#[tokio::test]
async fn the_page_of_a_conversation_says_what_is_left_and_leaves_out_generated_files() {
    let home = home_with_plan().await;
    let id = home.git(&["log", "-1", "--format=%(trailers:key=Palazzo-Visit,valueonly)"]);
    let of_first = id.trim()[20..].to_lowercase();
    let (first, _) = undo_rocks_in_part(&home).await;
    let server = home.http_server(&["--no-token"]);
    let page = async |path: &str| {
        status_and_text(server.client.get(server.url(path)).send().await.unwrap()).await.1
    };
    let visit = page(&format!("/w/visits/{}", first[20..].to_lowercase())).await;
    assert!(visit.contains("It was undone in part. Reverts what is left of it"), "{visit}");
    assert!(page("/w/log").await.contains("(partly undone)"));
    // The first conversation has also created the palace, with its schemas.
    assert!(home.git(&["log", "--format=", "--name-only"]).contains(".palazzo/schema/"));
    let visit = page(&format!("/w/visits/{of_first}")).await;
    assert!(
        visit.contains("<code>rooms/hall.yaml") && !visit.contains("<code>.palazzo/"),
        "{visit}"
    );
}

#[tokio::test]
async fn what_is_undone_in_part_is_not_undone_again() {
    let home = home_with_plan().await;
    let (first, _) = undo_rocks_in_part(&home).await;
    let again = run(&home, &["undo", "--visit", &first]);
    assert!(again.contains("granite.yaml would be removed, and was changed by"), "{again}");
    // Slate, which another creates again, is not taken back with the rest.
    let slate = json!({ "entities": [{ "name": "Slate", "genus": "Rock" }] });
    converse(&home, &[("create_entities", slate)]).await;
    home.git(&["rm", "-q", "w/entities/rock/granite.yaml"]);
    let commit = ["-c", "user.name=Ada", "-c", "user.email=a@example.org", "commit", "-qm", "x"];
    home.git(&commit);
    assert_snapshot!(
        run(&home, &["undo", "--visit", &first, "--dry-run"]),
        @"palazzo: there is nothing to undo: nothing is left of 1 commit of visit ID (claude, 1 day ago)"
    );
}

#[tokio::test]
async fn what_another_has_renamed_or_moved_stays() {
    let home = home_with_plan().await;
    let crypt = json!({ "slug": "crypt", "name": "Crypt", "description": "Dark.", "actions": [] });
    let entity = |name: &str| json!({ "name": name, "genus": "Rock" });
    let rocks = json!({ "entities": [entity("Granite"), entity("Slate")] });
    let first = converse(&home, &[("build_room", crypt), ("create_entities", rocks)]).await;
    run(&home, &["mv", "Granite", "Basalt"]);
    run(&home, &["mv", "crypt", "deep/crypt"]);
    let undone = run(&home, &["undo", "--visit", &first]);
    assert!(
        undone.contains("(claude, 1 day ago), but for 2 files:\nentity Slate: removed\n"),
        "{undone}"
    );
    let granite =
        "  entities/rock/granite.yaml was renamed or moved to entities/rock/basalt.yaml by ";
    assert!(undone.contains(granite), "{undone}");
    let crypt = "  rooms/crypt.yaml was renamed or moved to rooms/deep/crypt.yaml by ";
    assert!(undone.contains(crypt) && !undone.contains("restore FILE"), "{undone}");
    assert!(run(&home, &["log", "--visits"]).contains("(partly undone)"));
    home.assert_clean_repository();
}

#[tokio::test]
async fn the_advice_for_a_renamed_file_brings_its_earlier_version_back() {
    let home = home_with_plan().await;
    let before = home.git(&["rev-parse", "HEAD"]);
    let granite = json!({ "entities": [{ "name": "Granite", "genus": "Rock" }] });
    let calls = [observe("It is wrong."), ("create_entities", granite)];
    let first = converse(&home, &calls).await;
    run(&home, &["mv", "Plan", "Scheme"]);
    run(&home, &["mv", "Scheme", "Design"]);
    let undone = run_for_json(&home, &["undo", "--visit", &first, "--dry-run"]);
    assert_eq!(undone["kept"][0]["file"], "entities/claim/plan.yaml");
    assert_eq!(undone["kept"][0]["moved_to"], "entities/claim/design.yaml");
    assert_eq!((&undone["visit"], &undone["short"]), (&json!(null), &json!(null)));
    let undone = run(&home, &["undo", "--visit", &first]);
    let advice = "palazzo restore entities/claim/plan.yaml --to MOMENT\n";
    assert!(undone.contains(advice), "{undone}");
    run(&home, &["restore", "entities/claim/plan.yaml", "--to", before.trim()]);
    let design = home.read("w/entities/claim/design.yaml");
    assert!(design.contains("name: Design") && !design.contains("wrong"), "{design}");
    assert!(!home.path().join("w/entities/claim/plan.yaml").exists());
}

fn run_for_json(home: &Home, arguments: &[&str]) -> serde_json::Value {
    let arguments = [arguments, &["--format", "json"]].concat();
    let output = home.palazzo_command(MARCH_2).args(arguments).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

#[tokio::test]
async fn an_undo_is_shown_by_the_id_that_it_has_printed() {
    let home = home_with_plan().await;
    let first = converse(&home, &[observe("It is wrong.")]).await;
    let undone = run_for_json(&home, &["undo", "--visit", &first]);
    let (id, short) = (undone["visit"].as_str().unwrap(), undone["short"].as_str().unwrap());
    assert!(id.to_lowercase().ends_with(short) && short.len() == 6, "{undone}");
    let hash = home.git(&["rev-parse", "--short=7", "HEAD"]);
    let shown = run(&home, &["show", "--visit", short]);
    assert_snapshot!(shown.replace(hash.trim(), "HASH"), @r#"
    Undo ID of "visit ID" by ada, just now (12:00 UTC, less than a minute)

    1 commit:
      HASH  undo: visit ID

    What it changed:
    entity Plan: observation 'It is wrong.' removed

    palazzo diff --visit ID shows every line; palazzo undo --visit ID reverts it.
    "#);
    let diff = run(&home, &["diff", "--visit", short]);
    assert!(diff.contains("observation 'It is wrong.' removed"), "{diff}");
    let shown = run_for_json(&home, &["show", "--visit", id]);
    let first = first[first.len() - 6..].to_lowercase();
    assert_eq!(shown["undoes"], format!("visit {first}"));
    run(&home, &["undo", "--visit", short]);
    let shown = run(&home, &["show", "--visit", short]);
    assert!(shown.contains(", undone)\n") && !shown.contains("palazzo undo"), "{shown}");
    // `last` is a conversation, never an undo.
    assert!(run(&home, &["show", "--visit", "last"]).starts_with("Visit ID of claude, "));
}

#[tokio::test]
async fn the_log_marks_commits_that_are_undone() {
    let home = home_with_plan().await;
    undo_rocks_in_part(&home).await;
    let marks = |arguments: &[&str]| {
        let log = run(&home, &[&["log"], arguments].concat());
        let lines = log.lines().map(|it| it.split_once("  ").map_or("", |(_, rest)| rest));
        lines.collect::<Vec<_>>().join("\n")
    };
    assert_snapshot!(marks(&["-n", "9"]), @"
    just now        ada     undo: visit ID  (id ID)
    1 day ago       claude  entity Granite: update
    1 day ago       claude  entity Plan: update  (undone)
    1 day ago       claude  entities: create 2  (partly undone)
    1 day ago       claude  entity Plan: create
    1 day ago       claude  room hall: build
    1 day ago       claude  palace w: create
    ");
    let slate = marks(&["entities/rock/slate.yaml"]);
    assert!(slate.contains("entities: create 2  (partly undone)"), "{slate}");
    // Of a revision, what came later is not read.
    assert!(!marks(&["HEAD~1"]).contains("undone"));
    let log = run_for_json(&home, &["log", "-n", "4"]);
    let states = log["commits"].as_array().unwrap().iter();
    let states = states.map(|it| (it["undone"].clone(), it["partly_undone"].clone()));
    let [no, part, whole] = [(false, false), (false, true), (true, false)]
        .map(|(whole, part)| (json!(whole), json!(part)));
    assert_eq!(states.collect::<Vec<_>>(), [no.clone(), no, whole, part]);
    assert_eq!(run_for_json(&home, &["log", "HEAD~1"])["commits"][0]["undone"], json!(null));
}

#[tokio::test]
async fn the_first_entity_comes_back_with_its_schema() {
    let home = Home::new();
    let mut agent = home.agent(MARCH_1).await;
    agent.call("set_workspace", json!({ "workspace": "w", "create": true })).await;
    let plan = json!({ "entities": [{ "name": "Plan", "genus": "Claim" }] });
    agent.call("create_entities", plan).await;
    agent.disconnect().await;
    let tree = home.git(&["rev-parse", "HEAD^{tree}"]);
    run(&home, &["undo", "--visit", "last"]);
    let id = home.git(&["log", "-1", "--format=%(trailers:key=Palazzo-Visit,valueonly)"]);
    let undone = run(&home, &["undo", "--visit", id.trim()]);
    assert!(undone.contains("entity Plan: added"), "{undone}");
    assert_eq!(home.git(&["rev-parse", "HEAD^{tree}"]), tree);
}

#[tokio::test]
async fn a_visit_that_is_undone_in_part_stays_so_when_a_rebase_changes_its_ids() {
    let home = home_with_plan().await;
    undo_rocks_in_part(&home).await;
    let before = run(&home, &["log", "--visits"]);
    let ada = ["-c", "user.name=Ada", "-c", "user.email=a@example.org"];
    let rebase =
        ["-c", "commit.gpgsign=false", "rebase", "-q", "--root", "--committer-date-is-author-date"];
    home.git(&[&ada[..], &rebase].concat());
    assert_eq!(run(&home, &["log", "--visits"]), before);
}

#[tokio::test]
async fn git_revert_of_an_undo_gives_the_conversation_back() {
    let home = home_with_plan().await;
    let first = converse(&home, &[observe("It is wrong.")]).await;
    run(&home, &["undo", "--visit", &first]);
    assert!(run(&home, &["log", "--visits"]).contains("(undone)"));
    let revert = ["-c", "user.name=Ada", "-c", "user.email=a@example.org", "revert", "--no-edit"];
    home.git(&[&revert[..], &["HEAD"]].concat());
    assert!(!run(&home, &["log", "--visits"]).contains("undone"));
    let undone = run(&home, &["undo", "--visit", "last"]);
    assert_snapshot!(undone, @"
    Undid 1 commit of visit ID (claude, 1 day ago):
    entity Plan: observation 'It is wrong.' removed

    palazzo undo --visit ID takes this back.
    ");
}

#[tokio::test]
async fn what_a_conversation_changed_more_than_once_is_shown_step_by_step() {
    let home = home_with_plan().await;
    let status = |it: &str| ("update_entity", json!({ "name": "Plan", "status": it }));
    let forget = json!({ "name": "Plan", "remove_observations": ["It is wrong."] });
    let calls = [
        observe("It is wrong."),
        status("open"),
        ("create_task", json!({ "title": "Sweep" })),
        ("update_entity", forget),
        status("done"),
        observe("It is right."),
    ];
    converse(&home, &calls).await;
    let shown = run(&home, &["show", "--visit", "last"]);
    let (_, changes) = shown.split_once("What it changed:\n").unwrap();
    assert_snapshot!(changes, @"
    entity Plan: status done added; observation 'It is right.' added
    task 'Sweep': added

    What it changed more than once, step by step:
    entity Plan: observation 'It is wrong.' added, then removed; status none → open → done

    palazzo diff --visit ID shows every line; palazzo undo --visit ID reverts it.
    ");
    let json: serde_json::Value =
        serde_json::from_str(&run(&home, &["show", "--visit", "last", "--format", "json"]))
            .unwrap();
    assert_eq!(json["repeated"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn the_log_lists_the_changes_of_one_client_since_a_moment() {
    let home = home_with_plan().await;
    converse(&home, &[observe("It is green.")]).await;
    let mut agent = home.agent_of_client("codex", MARCH_2, &[]).await;
    agent.enter("w").await;
    agent.call("create_task", json!({ "title": "Sweep" })).await;
    agent.disconnect().await;
    let count = |arguments: &[&str]| {
        let log = run(&home, &[&["log"], arguments].concat());
        log.lines().filter(|it| !it.starts_with(' ')).count()
    };
    assert_eq!(count(&["--visits"]), 3);
    assert_eq!(count(&["--visits", "--client", "CODEX"]), 1);
    assert_eq!(count(&["--visits", "--client", "claude"]), 2);
    assert_eq!(count(&["--visits", "--client", "claude", "-n", "1"]), 2);
    assert_eq!(count(&["--visits", "--since", "2h"]), 1);
    assert_eq!(count(&["--client", "codex"]), 1);
    assert_eq!(count(&["--since", "2026-03-02", "--client", "codex"]), 1);
    let none = run(&home, &["log", "--visits", "--client", "claude", "--since", "2h"]);
    assert_eq!(none, "There is no such visit.\n");
    let refused = run(&home, &["log", "--since", "some day"]);
    assert!(refused.contains("`some day` is not a time"), "{refused}");
}
