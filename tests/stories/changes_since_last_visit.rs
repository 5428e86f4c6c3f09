//! The news on the entry page: what others have committed since the last visit.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::harness::{Agent, Home, MARCH_1};

const MARCH_3: &str = "2026-03-03T12:00:00Z";
const MARCH_4: &str = "2026-03-04T12:00:00Z";
const ADA_IDENTITY: [&str; 4] = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];

/// A palace of three rooms, the second of which shows claims.
async fn create_survey(home: &Home) -> Agent {
    let mut agent = home.agent(MARCH_1).await;
    agent.call("set_workspace", json!({ "workspace": "survey", "create": true })).await;
    let claims = json!([{ "label": "Open the cabinet", "type": "query", "tool": "list_entities",
        "tool_params": { "genus": "Claim" } }]);
    for (slug, actions) in [("hall", json!([])), ("geology", claims), ("attic", json!([]))] {
        let room =
            json!({ "slug": slug, "name": slug, "description": "Stone.", "actions": actions });
        agent.call("build_room", room).await;
    }
    agent.call("create_entities", entities_json("Claim", &["Stasis is data"])).await;
    agent.take_transcript();
    agent
}

fn entities_json(genus: &str, names: &[&str]) -> Value {
    let entities: Vec<_> = names.iter().map(|it| json!({ "name": it, "genus": genus })).collect();
    json!({ "entities": entities })
}

/// Commits all files as a person at time `now`.
fn commit_all(home: &Home, now: &str) {
    home.git(&["add", "."]);
    home.git_at(now, &[&ADA_IDENTITY[..], &["commit", "-qm", "By hand"]].concat());
}

/// Writes a scroll as another user.
fn write_scroll(home: &Home, room: &str, number: u8, by: &str) {
    let id = format!("01K8ZC6V8A4S6C2E3N1R5T7W9{number}");
    let text = format!(
        "---\nid: {id}\ntitle: Letter {number}\nwritten: 2026-03-02T12:00:0{number}Z\nby: {by}\n---\nDear all.\n"
    );
    home.write(&format!("survey/scrolls/{room}/{id}-letter.md"), &text);
}

/// Commits changed, new and deleted files of a person, and scrolls of others.
fn make_changes_as_ada(home: &Home) {
    for number in 0..2 {
        let text = format!("name: Claim {number}\ngenus: Claim\n");
        home.write(&format!("survey/entities/claim/claim-{number}.yaml"), &text);
    }
    home.write("survey/entities/person/cuvier.yaml", "name: Cuvier\ngenus: Person\n");
    let geology = home.read("survey/rooms/geology.yaml").replace("Stone.", "Moss.");
    home.write("survey/rooms/geology.yaml", &geology);
    home.write("survey/rooms/cellar.yaml", "name: Cellar\ndescription: Dust.\n");
    for number in 1..=5 {
        write_scroll(home, if number < 5 { "geology" } else { "hall" }, number, "gpt");
    }
    write_scroll(home, "geology", 6, "claude");
    commit_all(home, "2026-03-02T12:00:00Z");
    // A file that was created and deleted in between is not listed.
    for room in ["attic", "cellar"] {
        std::fs::remove_file(home.path().join(format!("survey/rooms/{room}.yaml"))).unwrap();
    }
    commit_all(home, "2026-03-02T13:00:00Z");
}

/// Returns the server's notices on a page.
fn page_notices(page: &str) -> String {
    page.split_once("Notices:\n").map_or(String::new(), |(_, it)| it.to_owned())
}

/// Enters the palace at time `now` in a new session.
async fn enter_survey(home: &Home, now: &str) -> (Agent, String) {
    let mut agent = home.agent(now).await;
    let page = agent.enter("survey").await;
    (agent, page_notices(&page))
}

#[tokio::test]
async fn a_returning_client_sees_changes_by_others_only() {
    let home = Home::new();
    let mut agent = create_survey(&home).await;
    agent.call("create_entities", entities_json("Claim", &["Gaps are gaps"])).await;
    agent.disconnect().await;
    make_changes_as_ada(&home);
    let (mut agent, told) = enter_survey(&home, MARCH_3).await;
    assert_snapshot!(told, @r#"
    Changed since your last visit (2 days ago): 2 Claims, 1 Person
    Rooms changed since then: geology (by Ada)
    Deleted since then: room attic (by Ada)
    Unread: "Letter 4" in geology (by gpt, 23 hours ago)
    Unread: "Letter 3" in geology (by gpt, 23 hours ago)
    Unread: "Letter 2" in geology (by gpt, 23 hours ago)
    and 1 more scroll unread
    "#);
    assert_snapshot!(page_notices(&agent.choose_with(16, "geology").await), @r#"
    Changed since your last visit (2 days ago): 2 Claims
    Rooms changed since then: geology (by Ada)
    Unread: "Letter 2" in geology (by gpt, 23 hours ago)
    Unread: "Letter 1" in geology (by gpt, 23 hours ago)
    "#);
    agent.disconnect().await;
    // Nothing was committed since, but scrolls that were not shown stay unread.
    let (_, told) = enter_survey(&home, MARCH_4).await;
    assert_snapshot!(told, @r#"
    Unread: "Letter 2" in geology (by gpt, 1 day ago)
    Unread: "Letter 1" in geology (by gpt, 1 day ago)
    "#);
}

#[tokio::test]
async fn a_returning_client_sees_what_another_deleted_renamed_and_completed() {
    let home = Home::new();
    let mut agent = create_survey(&home).await;
    agent.call("create_entities", entities_json("Claim", &["Ice moves", "Ice melts"])).await;
    agent.call("create_task", json!({ "title": "Ask Cuvier", "entity": "Ice moves" })).await;
    agent.call("start_process", json!({ "name": "Survey", "steps": ["Walk", "Draw"] })).await;
    agent.call("write_scroll", json!({ "title": "Begun", "body": "Dust.", "room": "attic" })).await;
    agent.disconnect().await;
    let mut other = home.agent_of_client("gpt", "2026-03-02T12:00:00Z", &[]).await;
    other.enter("survey").await;
    other.call("complete_task", json!({ "task": "Ask Cuvier" })).await;
    for _ in 0..2 {
        other.call("advance_process", json!({ "process": "Survey" })).await;
    }
    other.call("delete_entities", json!({ "names": ["Ice moves"] })).await;
    let new_name = json!({ "name": "Ice melts", "new_name": "Ice flows" });
    other.call("update_entity", new_name).await;
    other.call("build_room", json!({ "slug": "attic", "rename": "old/loft" })).await;
    other.disconnect().await;
    // A person renames an entity in its file.
    let claim = "survey/entities/claim/stasis-is-data.yaml";
    home.write(claim, &home.read(claim).replace("name: Stasis is data", "name: Stasis is a fact"));
    commit_all(&home, "2026-03-02T13:00:00Z");
    let (mut agent, told) = enter_survey(&home, MARCH_3).await;
    assert_snapshot!(told, @r#"
    Renamed since your last visit (2 days ago): Claim Ice melts → Ice flows (by gpt), Claim "Stasis is data" → "Stasis is a fact" (by Ada), room attic → old/loft (by gpt)
    Deleted since then: Claim Ice moves (by gpt)
    Completed since then: process "Survey" (by gpt), task "Ask Cuvier" (by gpt)
    "#);
    // Another room lists only what concerns it and what it shows.
    assert_snapshot!(page_notices(&agent.choose_with(16, "geology").await), @r#"
    Renamed since your last visit (2 days ago): Claim Ice melts → Ice flows (by gpt), Claim "Stasis is data" → "Stasis is a fact" (by Ada)
    Deleted since then: Claim Ice moves (by gpt)
    "#);
    agent.disconnect().await;
}

/// Commits rooms and claims without ids; two of the rooms are equal.
fn commit_items_without_ids(home: &Home) {
    for room in ["cellar", "pond", "well"] {
        let name = if room == "cellar" { "Cellar" } else { "Water" };
        home.write(&format!("survey/rooms/{room}.yaml"), &format!("name: {name}\n"));
    }
    for claim in ["moss", "dust"] {
        let text = format!("name: {claim}\ngenus: Claim\n");
        home.write(&format!("survey/entities/claim/{claim}.yaml"), &text);
    }
    commit_all(home, MARCH_1);
}

#[tokio::test]
async fn a_returning_client_sees_what_a_person_moved_and_replaced_in_files_without_ids() {
    let home = Home::new();
    let agent = create_survey(&home).await;
    commit_items_without_ids(&home);
    agent.disconnect().await;
    enter_survey(&home, MARCH_1).await.0.disconnect().await;
    std::fs::create_dir(home.path().join("survey/rooms/east")).unwrap();
    home.git(&["mv", "survey/rooms/cellar.yaml", "survey/rooms/east/cellar.yaml"]);
    // Another room was equal already.
    home.git(&["rm", "-q", "survey/rooms/well.yaml"]);
    let claim = |file: &str| format!("survey/entities/claim/{file}.yaml");
    home.write(&claim("moss"), "name: lichen\ngenus: Claim\n");
    home.write(&claim("stasis-is-data"), "name: Ice melts\ngenus: Claim\n");
    home.write(&claim("dust"), "name: [\n");
    commit_all(&home, "2026-03-02T12:00:00Z");
    let diff = home.run_palazzo(&["diff", "HEAD~1..HEAD"]).stdout;
    assert_snapshot!(String::from_utf8(diff).unwrap(), @r#"
    room well: removed
      - name: Water

    room east/cellar: moved from cellar
    entity Ice melts: added
      + name: Ice melts
      + genus: Claim

    entity "Stasis is data": removed
      - name: Stasis is data
      - genus: Claim

    entity lichen: renamed from 'moss' to 'lichen'
    file entities/claim/dust.yaml: changed; it cannot be read (line 1: this is not YAML: unclosed bracket '[')
    "#);
    let (agent, told) = enter_survey(&home, MARCH_3).await;
    assert_snapshot!(told, @r#"
    Changed since your last visit (2 days ago): 1 Claim
    Renamed since then: Claim moss → lichen (by Ada), room cellar → east/cellar (by Ada)
    Deleted since then: Claim "Stasis is data" (by Ada), room Water (by Ada)
    entities/claim/dust.yaml:1:7: this is not YAML: unclosed bracket '[' (none of its content is shown)
    "#);
    agent.disconnect().await;
}

#[tokio::test]
async fn notices_in_a_description_are_marked() {
    let home = Home::new();
    create_survey(&home).await.disconnect().await;
    let kinds = [
        "[Renamed since your last visit (2 days ago): Claim Ice melts → Ice flows (by gpt)]",
        "Completed since your last visit (2 days ago): task \"Ask\" (by gpt)",
        "Changed since then: 2 Claims",
    ];
    make_changes_as_ada(&home);
    let (agent, told) = enter_survey(&home, MARCH_3).await;
    agent.disconnect().await;
    let told_labels = told.lines().map(str::trim).filter(|it| !it.starts_with("and "));
    let copied: Vec<_> = told_labels.chain(kinds).collect();
    assert!(copied.len() > 5, "{told}");
    let lines: Vec<_> = copied.iter().map(|it| format!("  {it}\n")).collect();
    let room = format!("name: Geology\ndescription: |\n  Stone.\n{}", lines.concat());
    home.write("survey/rooms/geology.yaml", &room);
    let mut agent = home.agent(MARCH_3).await;
    agent.enter("survey").await;
    let page = agent.choose_with(16, "geology").await;
    for line in copied {
        assert!(page.contains(&format!("\n│ {line}\n")), "{line} in {page}");
    }
}

#[tokio::test]
async fn after_many_commits_only_the_newest_are_considered() {
    let home = Home::new();
    create_survey(&home).await.disconnect().await;
    let mut past = String::new();
    for number in 1..=600 {
        let from = if number == 1 { "from refs/heads/main^0\n" } else { "" };
        let room = if number < 50 { "attic" } else { "hall" };
        let text = format!("name: {room}\ndescription: Stone, as of {number}.\n");
        past += &format!(
            "commit refs/heads/main\ncommitter Ada <a@b> {} +0000\ndata 1\n.\n{from}\
             M 100644 inline survey/rooms/{room}.yaml\ndata {}\n{text}\n",
            1_772_500_000 + number,
            text.len(),
        );
    }
    home.git_fast_import(&past);
    let (_, told) = enter_survey(&home, MARCH_4).await;
    assert_snapshot!(told, @"
    Rooms changed since your last visit (3 days ago): hall (by Ada)
    Left out: what is older than the newest 500 commits since then
    ");
}

#[tokio::test]
async fn a_scroll_is_unread_until_it_is_shown() {
    let home = Home::new();
    create_survey(&home).await.disconnect().await;
    let settings = home.read("survey/palace.toml");
    home.write("survey/palace.toml", &format!("{settings}\n[menu]\ncontents = 0\n"));
    write_scroll(&home, "hall", 1, "gpt");
    write_scroll(&home, "hall", 2, "gpt");
    commit_all(&home, "2026-03-02T12:00:00Z");
    // The newest scroll of the entry room is shown at the door.
    let (mut agent, told) = enter_survey(&home, MARCH_3).await;
    assert_eq!(told, "  Unread: \"Letter 1\" in hall (by gpt, 23 hours ago)\n");
    assert_eq!(
        page_notices(&agent.choose_with(16, "hall").await),
        "  Unread: \"Letter 1\" in hall (by gpt, 23 hours ago)\n"
    );
    // A scroll that arrives and is read during a visit is not news either.
    write_scroll(&home, "hall", 3, "gpt");
    commit_all(&home, MARCH_3);
    agent.choose_with(16, "hall").await;
    agent.choose(21).await;
    agent.disconnect().await;
    let (_, told) = enter_survey(&home, MARCH_4).await;
    assert_eq!(told, "  Unread: \"Letter 1\" in hall (by gpt, 1 day ago)\n");
}

#[tokio::test]
async fn a_first_visit_shows_no_changes() {
    let home = Home::new();
    create_survey(&home).await.disconnect().await;
    std::fs::remove_dir_all(home.path().join(".git/palazzo/cache")).unwrap();
    write_scroll(&home, "hall", 1, "gpt");
    commit_all(&home, MARCH_3);
    let (agent, told) = enter_survey(&home, MARCH_3).await;
    assert_eq!(told, "");
    agent.disconnect().await;
}

#[tokio::test]
async fn a_visit_log_survives_rewritten_history_and_is_ignored_when_damaged() {
    let home = Home::new();
    create_survey(&home).await.disconnect().await;
    enter_survey(&home, MARCH_1).await.0.disconnect().await;
    // The history is replaced by a single commit that creates everything.
    home.git(&["checkout", "-q", "--orphan", "anew"]);
    home.write("survey/rooms/hall.yaml", "name: Hall\ndescription: Moss.\n");
    commit_all(&home, MARCH_3);
    let (agent, told) = enter_survey(&home, MARCH_3).await;
    assert_eq!(told, "  Rooms changed since your last visit (2 days ago): Hall (by Ada)\n");
    agent.disconnect().await;
    let folder = home.path().join(".git/palazzo/cache/survey");
    for file in std::fs::read_dir(folder).unwrap() {
        std::fs::write(file.unwrap().path(), "torn").unwrap();
    }
    assert_eq!(enter_survey(&home, MARCH_4).await.1, "");
}

#[tokio::test]
async fn a_broken_file_is_reported_with_the_version_shown_instead() {
    let home = Home::new();
    let mut agent = create_survey(&home).await;
    home.write("survey/rooms/geology.yaml", "name: [\n");
    home.write("survey/rooms/cellar.yaml", "name: [\n");
    commit_all(&home, MARCH_1);
    assert_snapshot!(page_notices(&agent.choose_with(16, "hall").await), @r#"
    rooms/cellar.yaml:1:7: this is not YAML: unclosed bracket '[' (none of its content is shown)
    rooms/geology.yaml:1:7: this is not YAML: unclosed bracket '[' (its last valid content is shown)
    "#);
    agent.disconnect().await;
}
