//! Rooms that show the graph, and the generated halls below them.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::harness::{Agent, Home, MARCH_1};

/// The subjects of claims, and their statements.
const CLAIM_SUBJECTS: [&str; 9] =
    ["Basalt", "Chalk", "Drift", "Erratics", "Fossils", "Granite", "Ice", "Loess", "Schist"];
const CLAIM_PREDICATES: [&str; 7] = [
    "came down with the flood",
    "forms on the floor of the sea",
    "is older than life",
    "moves a thumb's breadth a year",
    "repeats every sixth layer",
    "tells one age from another",
    "was made once and for all",
];

/// A palace in git with a room that shows this many claims.
fn home_with_claims(claims: usize) -> Home {
    let home = Home::new();
    home.write("w/palace.toml", "format = 1\nname = \"Survey\"\nentry = \"archive\"\n");
    home.write("w/rooms/archive.yaml", ARCHIVE_ROOM);
    for number in 0..claims {
        let status = ["contested", "open", "open", "settled"][number % 4];
        write_claim(&home, number, status);
    }
    home.git(&["init", "-q", "-b", "main"]);
    commit_all(&home);
    home
}

const ARCHIVE_ROOM: &str = "\
name: Archive of Claims
description: |
  Drawers climb to the dome. A ladder hums on its brass rail.
actions:
  - label: Read the brass plate
    type: text
    content: Whoever takes out a card puts it back.
generate: { genus: Claim, by: status } # as many drawers as there are statuses
portals: [reading-room]
";

fn write_claim(home: &Home, number: usize, status: &str) {
    let (about, said) = (CLAIM_SUBJECTS[number % 9], CLAIM_PREDICATES[number / 9 % 7]);
    let text = format!("name: {about} {said}, no. {number}\ngenus: Claim\nstatus: {status}\n");
    home.write(&format!("w/entities/claim/{:02}/{number}.yaml", number % 50), &text);
}

fn commit_all(home: &Home) {
    home.git(&["add", "-A"]);
    home.git(&["-c", "user.name=Ada", "-c", "user.email=ada@x", "commit", "-qm", "By hand"]);
}

async fn agent_in_survey(home: &Home) -> Agent {
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("Survey").await;
    agent.enter("Survey").await;
    agent
}

/// Returns a page without the line of globals, which is the same everywhere.
fn without_global_actions(page: &str) -> String {
    let is_global = |it: &str| it.contains(" · 16 go to") || it.contains(" · go ROOM");
    let lines = page.lines().filter(|it| !is_global(it));
    lines.collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn forty_claims_are_reached_in_two_choices() {
    let home = home_with_claims(40);
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("Survey").await;
    agent.take_transcript();
    agent.enter("Survey").await;
    agent.choose(2).await;
    agent.choose(33).await;
    agent.choose(31).await;
    agent.choose(0).await;
    agent.choose(15).await;
    assert_snapshot!(agent.take_transcript());
    home.assert_clean_repository();
}

#[tokio::test]
async fn three_thousand_claims_are_reached_in_four_choices() {
    let home = home_with_claims(3_000);
    let mut agent = agent_in_survey(&home).await;
    agent.take_transcript();
    agent.choose(3).await;
    agent.choose(7).await;
    agent.choose(2).await;
    agent.choose(31).await;
    assert_snapshot!(without_global_actions(&agent.take_transcript()));
}

#[tokio::test]
async fn the_classic_layout_splits_into_seven_groups() {
    let home = home_with_claims(1_000);
    home.write(
        "w/palace.toml",
        "format = 1\nname = \"Survey\"\nentry = \"archive\"\n[menu]\nlayout = \"classic\"\n",
    );
    let mut agent = agent_in_survey(&home).await;
    agent.take_transcript();
    agent.choose(3).await;
    agent.choose(7).await;
    agent.choose(15).await;
    assert_snapshot!(agent.take_transcript());
}

#[tokio::test]
async fn a_hall_number_keeps_its_meaning_when_others_change_the_graph() {
    let home = home_with_claims(400);
    let mut agent = agent_in_survey(&home).await;
    let before = agent.choose(2).await;
    assert!(before.contains("Claim · contested ──"), "{before}");
    let first = "Actions:\n  1. B to C (23)\n  2. D to E (22)\n";
    assert!(before.contains(first), "{before}");

    // While the doors are shown, a colleague settles the claim behind the second,
    // renames the one behind the first, and deletes the room.
    let contested = |it: &usize| it.is_multiple_of(4);
    let settled = (0..400).filter(contested).filter(|it| it % 9 > 1);
    settled.for_each(|it| write_claim(&home, it, "settled"));
    let text = "name: Amber floats\ngenus: Claim\nstatus: contested\n";
    home.write("w/entities/claim/00/0.yaml", text);
    commit_all(&home);
    home.write("w/rooms/archive.yaml", "name: Empty Archive\ndescription: Bare shelves.\n");

    let second = agent.choose(2).await;
    assert_snapshot!(without_global_actions(&second), @"
    ── Claim · contested · D to E ──
    This hall is empty now: its entities were deleted or belong elsewhere.

    Actions:
      ─────
    ");
    let back = agent.choose(15).await;
    assert_snapshot!(without_global_actions(&back), @"
    ── Claim · contested ──
    Made from the graph as it is now: 23 entities.

    Actions:
      1. A to B (12)
      2. C (11)
      ─────
    ");
    agent.choose(1).await;
    let first = agent.choose(31).await;
    assert!(first.starts_with("── Amber floats ──"), "{first}");
    agent.choose(15).await;
    assert_snapshot!(without_global_actions(&agent.choose(15).await), @"
    ── Empty Archive ──
    Bare shelves.

    Actions:
      ─────
    ");
    home.git(&["fsck", "--strict", "--no-dangling"]);
}

#[tokio::test]
async fn halls_are_never_written_to_files() {
    let home = home_with_claims(40);
    let mut agent = agent_in_survey(&home).await;
    agent.choose(2).await;
    agent.choose(31).await;
    home.assert_clean_repository();

    // A note written in a hall is filed in its room.
    let said =
        agent.call("write_scroll", json!({ "title": "Dust", "body": "On all cards." })).await;
    assert_eq!(said, "Wrote the scroll \"Dust\" in \"Archive of Claims\" (21 reads it).\n");
    // A change of the room from a hall is visible there, and adds nothing else to the
    // room's file.
    let cord = json!({ "label": "Pull the cord", "type": "text", "content": "A lamp goes on." });
    let change = json!({ "slug": "archive", "merge": true, "actions": [cord] });
    let seen = agent.call("build_room", change).await;
    assert!(
        seen.contains(
            "  1. Read the brass plate\n  2. Pull the cord\n  3. Claim · contested (10)\n"
        ),
        "{seen}"
    );
    assert!(agent.choose(15).await.contains("── Claim · contested ──"));
    let cord = "  - label: Pull the cord\n    type: text\n    content: |\n      A lamp goes on.\n";
    let mark = "generate: {";
    assert_eq!(
        home.read("w/rooms/archive.yaml"),
        ARCHIVE_ROOM.replace(mark, &format!("{cord}{mark}"))
    );
    home.assert_clean_repository();
}

#[tokio::test]
async fn build_room_sets_what_the_room_shows() {
    let home = home_with_claims(40);
    let mut agent = agent_in_survey(&home).await;
    let shows = async |agent: &mut Agent, generate: Value| {
        let room = json!({ "slug": "annex", "name": "Annex", "description": "Green lamps.",
                           "generate": generate, "quiet": true });
        agent.call("build_room", room).await;
        let file = home.read("w/rooms/annex.yaml");
        let (_, generate) = file.split_once("generate:").unwrap();
        let shown = String::from_utf8(home.run_palazzo(&["show", "annex"]).stdout).unwrap();
        let shown = without_global_actions(&shown);
        format!("generate:{generate}{}", shown.split_once("lamps.\n").unwrap().1)
    };
    assert_snapshot!(shows(&mut agent, json!({ "genus": "claim", "by": "certainty" })).await);
    assert_snapshot!(shows(&mut agent, json!({ "genus": "Rumour" })).await, @"
    generate:
      genus: Rumour
      by: status

    Rumour: no entities yet.

    Actions:
      ─────

    v2, changed just now
    ");
    assert_snapshot!(shows(&mut agent, json!({ "by": "genus" })).await, @"
    generate:
      by: genus

    All that is known: 40 entities.

    Actions:
      1. Claim · contested (10)
      2. Claim · open (20)
      3. Claim · settled (10)
      ─────

    v3, changed just now
    ");
    home.assert_clean_repository();
}

#[tokio::test]
async fn a_room_that_only_shows_the_graph_is_not_empty() {
    let home = home_with_claims(1);
    let mut agent = agent_in_survey(&home).await;
    let bare = json!({ "slug": "stack", "name": "Stack", "description": "",
                       "generate": { "genus": "Claim" }, "quiet": true });
    agent.call("build_room", bare).await;
    let found = String::from_utf8(home.run_palazzo(&["check"]).stdout).unwrap();
    assert!(!found.contains("empty-room"), "{found}");
}

#[tokio::test]
async fn an_invalid_generate_setting_is_refused() {
    let home = home_with_claims(1);
    let mut agent = agent_in_survey(&home).await;
    let mut refused = String::new();
    for generate in [
        json!({ "by": "status" }),
        json!({ "genus": "Claim", "by": "genus" }),
        json!({ "genus": "Claim", "order": "name" }),
        json!("Claim"),
    ] {
        let room =
            json!({ "slug": "annex", "name": "Annex", "description": "", "generate": generate });
        refused.push_str(&agent.call("build_room", room).await);
        refused.push('\n');
    }
    assert_snapshot!(refused, @r#"
    refused: wrong arguments for build_room at `generate`: `generate` needs a `genus`; `by: genus` alone shows all entities
    refused: wrong arguments for build_room at `generate`: entities of one genus are sorted by status, name, date or an attribute; without a `genus`, `by: genus` shows all
    refused: wrong arguments for build_room at `generate.order`: unknown field `order`, expected `genus` or `by`
    refused: wrong arguments for build_room at `generate`: invalid type: string "Claim", expected an object with `genus` and `by`
    "#);
    home.assert_clean_repository();
}

#[tokio::test]
async fn a_room_with_many_actions_is_paged() {
    let home = home_with_claims(100);
    let text = |it: usize| json!({ "label": format!("Pull lever {it}"), "type": "text", "content": "Click." });
    let levers: Vec<_> = (1..=11).map(text).collect();
    let mut agent = agent_in_survey(&home).await;
    agent.call("build_room", json!({ "slug": "archive", "merge": true, "actions": levers })).await;
    let page = agent.choose(13).await;
    assert_snapshot!(without_global_actions(&page), @"
    Actions:
      1. Claim · contested (25)
      2. Claim · open (50)
      3. Claim · settled (25)
      4. Go to Reading Room
      13. More actions (back to the first)
      ─────
    ");
    assert!(agent.choose(1).await.starts_with("── Claim · contested ──"));
}

#[tokio::test]
async fn a_palace_without_rooms_is_walked_through_halls() {
    let home = home_with_claims(60);
    home.git(&["rm", "-rq", "w/rooms"]);
    home.write("w/entities/layer/k-pg.yaml", "name: K-Pg\ngenus: Layer\n");
    home.write("w/palace.toml", "format = 1\nname = \"Survey\"\n");
    commit_all(&home);
    let mut agent = agent_in_survey(&home).await;
    let mut other = agent_in_survey(&home).await;
    agent.take_transcript();
    agent.choose(0).await;
    agent.choose(1).await;
    agent.choose(2).await;
    agent.choose(0).await;
    agent.call("write_scroll", json!({ "title": "Lost", "body": "x" })).await;
    assert_snapshot!(agent.take_transcript());

    let hut = json!({ "slug": "hut", "name": "Hut", "description": "Planks." });
    let built = other.call("build_room", hut).await;
    assert!(built.starts_with("── Hut ──"), "{built}");
    // A visitor in a hall continues there, and returns to the room at its end.
    assert!(agent.choose(15).await.starts_with("── Claim ──"));
    assert!(agent.choose(15).await.starts_with("── Hut ──"));
    home.assert_clean_repository();
}

#[tokio::test]
async fn a_visitor_without_a_room_enters_the_first_room_built() {
    let home = home_with_claims(60);
    home.git(&["rm", "-rq", "w/rooms"]);
    home.write("w/palace.toml", "format = 1\nname = \"Survey\"\n");
    commit_all(&home);
    let (mut agent, mut other) = (agent_in_survey(&home).await, agent_in_survey(&home).await);
    other
        .call("build_room", json!({ "slug": "hut", "name": "Hut", "description": "Planks." }))
        .await;
    let seen = agent.choose(0).await;
    assert!(seen.contains("Hut (hut) [v1, just now] entry ← You are here"), "{seen}");
}

#[tokio::test]
async fn the_survey_template_groups_claims_by_status_in_its_loft() {
    let home = Home::new();
    home.run_palazzo(&["init", "Paradigm Survey", "--template", "paradigm-survey"]);
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("Paradigm Survey").await;
    let observatory = agent.choose(3).await;
    assert!(observatory.contains("\n  6. Climb the ladder to the Ledger Loft\n"), "{observatory}");
    agent.take_transcript();
    agent.choose(6).await;
    agent.choose(31).await;
    let change = json!({ "name": "Gradualism", "status": "settled" });
    agent.call("update_entity", change).await;
    agent.choose_with(16, "ledger loft").await;
    assert_snapshot!(agent.take_transcript());

    // Too many entities for one page are divided into aisles.
    let lean = |it: usize| json!({ "name": format!("Claim {it}"), "genus": "Claim", "status": "contested" });
    let many: Vec<_> = (0..20).map(lean).collect();
    agent.call("create_entities", json!({ "entities": many })).await;
    agent.take_transcript();
    agent.choose_with(16, "ledger loft").await;
    agent.choose(4).await;
    agent.choose(32).await;
    assert_snapshot!(agent.take_transcript());
    home.assert_clean_repository();
}
