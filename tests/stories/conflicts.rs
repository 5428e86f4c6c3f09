//! Conflicts: two values for one field, kept until somebody settles them; and merges with git.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::harness::{Home, MARCH_1};

const ENTITY: &str = "survey/entities/claim/stasis.yaml";
const SETTINGS: &str = "survey/palace.toml";
const HALL: &str = "survey/rooms/hall.yaml";
const STATUS_CONFLICT: &str = "survey/conflicts/3f2a1b4c5d6e7f80.yaml";
const CONTENT_CONFLICT: &str = "survey/conflicts/a1b2c3d4e5f60718.yaml";

const STASIS: &str = "\
# By hand.
id: 01KGSRV28ADXPQGT6T6QX25YS8
name: Stasis is data
genus: Claim
status: settled # since the meeting
observations:
  - Species persist.
";

const AUTHORS: &str = "\
stands_by:
  author: ada
  at: 2026-03-01T10:00:00Z
other_by:
  author: claude
  at: 2026-03-01T09:00:00Z
";

/// A palace of one room and one claim, with a conflict about each.
fn home_with_conflicts() -> Home {
    let home = Home::new();
    home.write("survey/palace.toml", "format = 1\nname = \"Survey\"\nentry = \"hall\"\n");
    let hall = "id: 01KGSRV28ADXPQGT6T6QX25YS9\nname: Hall\ndescription: Stone.\nactions:\n  \
        - label: Listen\n    type: text\n    content: Tick.\nportals: [well]\n";
    home.write(HALL, hall);
    home.write("survey/rooms/well.yaml", "name: Well\ndescription: Water.\nportals: [hall]\n");
    home.write(ENTITY, STASIS);
    let conflict = format!(
        "id: 01KGSRV28ADXPQGT6T6QX25YS8\nfile: entities/claim/old-name.yaml\nfield: status\n\
         stands: settled\nother: overturned\n{AUTHORS}"
    );
    home.write(STATUS_CONFLICT, &conflict);
    let conflict = format!(
        "id: 01KGSRV28ADXPQGT6T6QX25YS9\nfile: rooms/hall.yaml\n\
         field: actions[\"Listen\"].content\nstands: Tick.\nother: Tock.\n{AUTHORS}"
    );
    home.write(CONTENT_CONFLICT, &conflict);
    home.git(&["init", "-q", "-b", "main"]);
    commit_all(&home, "By hand");
    home
}

fn commit_all(home: &Home, subject: &str) {
    home.git(&["add", "."]);
    home.git(&["-c", "user.name=ada", "-c", "user.email=ada@x", "commit", "-qm", subject]);
}

/// Runs a command, and returns its output, including refusals.
fn run(home: &Home, arguments: &[&str]) -> String {
    let output = home.run_palazzo(arguments);
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

fn exists(home: &Home, path: &str) -> bool {
    home.path().join(path).exists()
}

#[tokio::test]
async fn rooms_entities_and_commands_show_open_conflicts() {
    let home = home_with_conflicts();
    let mut agent = home.agent(MARCH_1).await;
    let page = agent.enter("survey").await;
    let notices = page.split_once("Notices:\n").unwrap().1;
    assert_snapshot!(notices, @r#"
    Two answers for `actions["Listen"].content`: "Tick." stands (ada, 2 hours ago), "Tock." was written meanwhile by claude. To settle it, write the field with build_room (merge: true), or resolve {"conflict": "a1b2", "take": "stands" or "other"}
    Elsewhere, 1 conflict from merges: describe_workspace with findings: true lists what is open
    "#);
    let well = agent.choose_with(16, "well").await;
    assert!(!well.contains("conflict"), "{well}");
    let entity = agent.call("get_entity", json!({ "name": "Stasis is data" })).await;
    assert_snapshot!(entity.lines().last().unwrap(), @r#"Note: Two answers for status: "settled" stands (ada, 2 hours ago), "overturned" was written meanwhile by claude. To settle it, write the field with update_entity, or resolve {"conflict": "3f2a", "take": "stands" or "other"}."#);
    assert!(agent.choose(0).await.contains("2 conflicts from merges"));
    let workspace = agent.call("describe_workspace", json!({})).await;
    assert!(workspace.contains("2 conflicts from merges"), "{workspace}");
    agent.disconnect().await;
    assert_snapshot!(run(&home, &["conflicts"]), @r#"
    3f2a  entities/claim/stasis.yaml
          status: "settled" stands (ada, 2 hours ago), "overturned" was written meanwhile by claude
    a1b2  rooms/hall.yaml
          `actions["Listen"].content`: "Tick." stands (ada, 2 hours ago), "Tock." was written meanwhile by claude
    "#);
    let check = run(&home, &["check"]);
    assert_snapshot!(check, @r#"
    home/survey/entities/claim/stasis.yaml:5:9: info[open-conflict]: two answers for status: "settled" stands (ada), "overturned" was written meanwhile by claude
      5 | status: settled # since the meeting
        |         ^
        = write the field, or `palazzo resolve 3f2a stands|other`
    home/survey/rooms/hall.yaml:7:14: info[open-conflict]: two answers for `actions["Listen"].content`: "Tick." stands (ada), "Tock." was written meanwhile by claude
      7 |     content: Tick.
        |              ^
        = write the field, or `palazzo resolve a1b2 stands|other`
    1 palace, 2 rooms, 0 scrolls, 1 entity: 0 errors, 2 notes
    "#);
    let listed: Value =
        serde_json::from_str(&run(&home, &["conflicts", "--format", "json"])).unwrap();
    assert_eq!(listed["conflicts"][0]["file"], "entities/claim/stasis.yaml");
    assert_eq!(listed["conflicts"][1]["other"], "Tock.");
}

#[tokio::test]
async fn writing_the_field_settles_a_conflict_in_the_same_commit() {
    let home = home_with_conflicts();
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("survey").await;
    let other_field = json!({ "name": "Stasis is data", "add_observations": ["New."] });
    agent.call("update_entity", other_field).await;
    assert!(exists(&home, STATUS_CONFLICT));
    agent.call("update_entity", json!({ "name": "Stasis is data", "status": "open" })).await;
    assert!(!exists(&home, STATUS_CONFLICT));
    let changed = home.git(&["show", "--name-status", "--format=%s", "HEAD"]);
    assert_snapshot!(changed, @"
    entity Stasis is data: update

    D	survey/conflicts/3f2a1b4c5d6e7f80.yaml
    M	survey/entities/claim/stasis.yaml
    ");
    let action = json!([{ "label": "Listen", "type": "text", "content": "Ding." }]);
    let room = json!({ "slug": "hall", "merge": true, "quiet": true, "actions": action });
    agent.call("build_room", room).await;
    assert!(!exists(&home, CONTENT_CONFLICT));
    agent.disconnect().await;
    assert_eq!(home.git(&["status", "--porcelain"]), "");
    assert_snapshot!(run(&home, &["conflicts"]), @"There is no open conflict.");
}

#[tokio::test]
async fn a_renamed_item_keeps_its_conflict_and_a_deleted_one_loses_it() {
    let home = home_with_conflicts();
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("survey").await;
    agent.call("update_entity", json!({ "name": "Stasis is data", "new_name": "Stasis" })).await;
    agent.call("build_room", json!({ "slug": "hall", "rename": "nave" })).await;
    assert!(exists(&home, STATUS_CONFLICT) && exists(&home, CONTENT_CONFLICT));
    assert!(run(&home, &["conflicts"]).contains("a1b2  rooms/nave.yaml\n"));
    agent.call("delete_entities", json!({ "names": ["Stasis"] })).await;
    assert!(!exists(&home, STATUS_CONFLICT));
    agent.disconnect().await;
}

#[test]
fn resolve_writes_the_other_value_and_keeps_comments() {
    let home = home_with_conflicts();
    let planned = run(&home, &["resolve", "3f", "other", "--dry-run"]);
    assert_snapshot!(planned, @r#"Would take the other value of status in entities/claim/stasis.yaml: "overturned"."#);
    assert!(exists(&home, STATUS_CONFLICT));
    assert_snapshot!(run(&home, &["resolve", "3f2a", "other"]), @r#"Took the other value of status in entities/claim/stasis.yaml: "overturned"."#);
    let entity = STASIS.replace("status: settled", "status: overturned");
    assert_eq!(home.read(ENTITY), entity);
    assert_snapshot!(home.git(&["show", "--name-status", "--format=%an: %B", "HEAD"]), @r#"
    ada: conflict 3f2a: take the other status

    status: "settled" stands (ada), "overturned" was written meanwhile by claude

    Palazzo-Tool: resolve
    Palazzo-Client: ada
    Palazzo-Visit: ID


    A	survey/.palazzo/README.md
    D	survey/conflicts/3f2a1b4c5d6e7f80.yaml
    M	survey/entities/claim/stasis.yaml
    "#);
    assert_snapshot!(run(&home, &["resolve", "a1b2", "stands"]), @r#"Kept `actions["Listen"].content` in rooms/hall.yaml: "Tick."."#);
    assert!(home.read(HALL).contains("Tick.") && !exists(&home, CONTENT_CONFLICT));
    assert_snapshot!(run(&home, &["resolve", "a1b2", "stands"]), @"palazzo: there is no conflict `a1b2`: all are settled");
}

#[test]
fn a_conflict_that_was_settled_by_hand_is_deleted_by_fix() {
    let home = home_with_conflicts();
    home.write(ENTITY, &STASIS.replace("settled", "open"));
    std::fs::remove_file(home.path().join(CONTENT_CONFLICT)).unwrap();
    assert_snapshot!(run(&home, &["conflicts"]), @"There is no open conflict.");
    assert_snapshot!(run(&home, &["check"]), @"
    home/survey/conflicts/3f2a1b4c5d6e7f80.yaml:1:1: info[settled-conflict]: the conflict is settled: its field has another value now, or its item is gone
        = `palazzo check --fix` deletes the file
    1 palace, 2 rooms, 0 scrolls, 1 entity: 0 errors, 1 note
    ");
    assert_snapshot!(run(&home, &["check", "--fix"]), @"
    home/survey/conflicts/3f2a1b4c5d6e7f80.yaml:1:1: fixed[settled-conflict]: the conflict is settled: its field has another value now, or its item is gone
    1 palace, 2 rooms, 0 scrolls, 1 entity: 0 errors
    ");
    assert!(!exists(&home, STATUS_CONFLICT));
}

#[tokio::test]
async fn a_query_action_settles_a_conflict_where_the_palace_allows_it() {
    let home = home_with_conflicts();
    let hall = home.read(HALL).replace(
        "portals:",
        "  - label: Take the other answer\n    type: query\n    tool: resolve\n    \
         tool_params: { conflict: \"{params}\", take: other }\nportals:",
    );
    home.write(HALL, &hall);
    let settings = home.read("survey/palace.toml") + "[actions]\nallow = [\"resolve\"]\n";
    home.write("survey/palace.toml", &settings);
    run(&home, &["trust", "--yes", home.path().join("survey").to_str().unwrap()]);
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("survey").await;
    let answer = agent.choose_with(2, "3f2a").await;
    assert!(answer.contains("Took the other value of status"), "{answer}");
    assert!(home.read(ENTITY).contains("status: overturned # since the meeting"));
    agent.disconnect().await;
    let mut agent = home.agent_with(MARCH_1, &["--tools", "palace,graph,sync"]).await;
    agent.enter("survey").await;
    let open = agent.call("resolve", json!({})).await;
    assert!(open.starts_with("a1b2  rooms/hall.yaml\n"), "{open}");
    let taken = agent.call("resolve", json!({ "conflict": "a1", "take": "other" })).await;
    assert_snapshot!(taken, @r#"Took the other value of `actions["Listen"].content` in rooms/hall.yaml: "Tock."."#);
    agent.disconnect().await;
}

/// A palace with the merge driver, and a branch `other` on which `change` was made.
fn home_with_branches(change: impl Fn(&Home, &str)) -> Home {
    let home = home_with_conflicts();
    home.git(&["rm", "-rq", "survey/conflicts"]);
    run(&home, &["git-setup"]);
    commit_all(&home, "Set up");
    home.git(&["checkout", "-qb", "other"]);
    change(&home, "theirs");
    commit_all(&home, "Theirs");
    home.git(&["checkout", "-q", "main"]);
    change(&home, "ours");
    commit_all(&home, "Ours");
    home
}

const MERGE: [&str; 8] =
    ["-c", "user.name=ada", "-c", "user.email=ada@x", "merge", "-qm", "Merge", "other"];

#[test]
fn git_merges_an_observation_of_each_branch() {
    let home = home_with_branches(|home, side| {
        home.write(ENTITY, &format!("{STASIS}  - Seen by {side}.\n"));
    });
    home.git(&MERGE);
    assert_eq!(home.git(&["status", "--porcelain"]), "");
    let entity = home.read(ENTITY);
    assert!(entity.starts_with(STASIS), "{entity}");
    assert!(entity.contains("  - Seen by ours.\n"), "{entity}");
    assert!(entity.contains("  - Seen by theirs.\n"), "{entity}");
}

#[test]
fn git_leaves_a_file_with_two_values_unmerged_and_both_are_kept() {
    let home = home_with_branches(|home, side| {
        home.write(ENTITY, &STASIS.replace("settled", side));
    });
    let (code, printed) = home.git_code_and_errors(&MERGE);
    assert_eq!(code, Some(1), "{printed}");
    let kept = printed.lines().filter(|it| it.starts_with("  ") || it.starts_with("palazzo"));
    assert_snapshot!(kept.collect::<Vec<_>>().join("\n"), @"
    palazzo: survey/entities/claim/stasis.yaml: two values for one field; kept in conflicts/aadc05e54f8f90dc.yaml
      id: 01KGSRV28ADXPQGT6T6QX25YS8
      file: entities/claim/stasis.yaml
      field: status
      stands: theirs
      other: ours
    palazzo: survey/entities/claim/stasis.yaml: one value stands in the file: edit it if the other is right, then `git add` the file and `conflicts/`
    ");
    assert_eq!(home.read(ENTITY), STASIS.replace("settled", "theirs"));
    let status = home.git(&["status", "--porcelain"]);
    assert!(status.contains(&format!("UU {ENTITY}\n")), "{status}");
    commit_all(&home, "Merge");
    assert_snapshot!(run(&home, &["conflicts"]), @r#"
    aadc  entities/claim/stasis.yaml
          status: "theirs" stands, "ours" was written meanwhile
    "#);
    let listed: Value =
        serde_json::from_str(&run(&home, &["conflicts", "--format", "json"])).unwrap();
    let id = listed["conflicts"][0]["short"].as_str().unwrap();
    run(&home, &["resolve", id, "other"]);
    assert_eq!(home.read(ENTITY), STASIS.replace("settled", "ours"));
}

#[test]
fn git_stops_at_two_new_entities_in_one_file() {
    const FILE: &str = "survey/entities/claim/c.yaml";
    let home = home_with_branches(|home, side| {
        home.write(FILE, &format!("name: C {side}\ngenus: Claim\n"));
    });
    let (code, printed) = home.git_code_and_errors(&MERGE);
    assert_eq!(code, Some(1), "{printed}");
    assert!(printed.contains("different things in this file"), "{printed}");
    let both = home.read(FILE);
    assert!(both.contains("name: C ours\n") && both.contains("name: C theirs\n"), "{both}");
}

#[test]
fn git_merges_other_files_in_the_folders_of_a_palace_by_lines() {
    const FILE: &str = "survey/rooms/The Attic.yaml";
    let home = home_with_branches(|home, side| {
        let line =
            |it: &str| if it == side { format!("{it}, changed\n") } else { format!("{it}\n") };
        home.write(FILE, &(line("ours") + "a\nb\nc\n" + &line("theirs")));
    });
    let (code, printed) = home.git_code_and_errors(&MERGE);
    assert_eq!(code, Some(1), "{printed}");
    let both = home.read(FILE);
    assert!(both.contains("ours, changed\n") && both.contains("theirs, changed\n"), "{both}");
}

#[test]
fn a_criss_cross_merge_stops_at_two_values() {
    let home = home_with_branches(|home, side| {
        home.write(ENTITY, &STASIS.replace("settled", side));
    });
    let merge = |branch: &str, strategy: &str| {
        let words = ["-c", "user.name=ada", "-c", "user.email=ada@x", "merge", "-qm", "Merge"];
        home.git_code_and_errors(&[&words[..], &["-s", strategy, branch]].concat())
    };
    home.git(&["branch", "first"]);
    assert_eq!(merge("other", "ours").0, Some(0));
    home.git(&["checkout", "-q", "other"]);
    assert_eq!(merge("first", "ours").0, Some(0));
    let (code, printed) = merge("main", "ort");
    assert_eq!(code, Some(1), "{printed}");
    assert!(home.git(&["status", "--porcelain"]).contains(&format!("UU {ENTITY}\n")));
}

#[test]
fn git_merges_a_palace_of_a_newer_format_line_by_line() {
    let home = home_with_branches(|home, side| {
        home.write(ENTITY, &format!("{STASIS}  - Seen by {side}.\n"));
        let newer = home.read(SETTINGS).replace("format = 1", "format = 2");
        home.write(SETTINGS, &newer);
    });
    let (code, printed) = home.git_code_and_errors(&MERGE);
    assert_eq!(code, Some(1), "{printed}");
    let printed = printed.lines().filter(|it| it.starts_with("palazzo")).collect::<Vec<_>>();
    assert_snapshot!(printed.join("\n"), @"palazzo: survey/entities/claim/stasis.yaml: this palace has format 2, which needs a newer Palazzo; this one reads format 1; git merged it line by line, with conflicts");
    assert_snapshot!(home.read(ENTITY).replace(STASIS, ""), @"
    <<<<<<< ours
      - Seen by ours.
    =======
      - Seen by theirs.
    >>>>>>> theirs
    ");
    home.git(&["merge", "--abort"]);
    let refused = home.run_palazzo(&["git-setup"]);
    assert_eq!(refused.status.code(), Some(1));
    let refused = String::from_utf8(refused.stdout).unwrap();
    assert!(refused.contains("left alone: this palace has format 2"), "{refused}");
    run(&home, &["git-setup", "--remove"]);
    assert!(!exists(&home, "survey/.gitattributes"));
}

#[test]
fn git_merges_a_branch_of_a_newer_format_line_by_line() {
    let home = home_with_branches(|home, side| {
        home.write(ENTITY, &format!("{STASIS}  - Seen by {side}.\n"));
        if side == "theirs" {
            let newer = home.read(SETTINGS).replace("format = 1", "format = 2");
            home.write(SETTINGS, &newer);
        }
    });
    let (code, printed) = home.git_code_and_errors(&MERGE);
    assert_eq!(code, Some(1), "{printed}");
    assert!(printed.contains("format 2, which needs a newer Palazzo"), "{printed}");
    assert!(home.read(ENTITY).contains("<<<<<<< ours\n"), "{}", home.read(ENTITY));
}

#[cfg(unix)]
#[test]
fn resolve_prints_the_command_that_finishes_a_merge() {
    let home = home_with_branches(|home, side| {
        home.write(ENTITY, &STASIS.replace("settled", side));
    });
    home.git_code_and_errors(&MERGE);
    let listed: Value =
        serde_json::from_str(&run(&home, &["conflicts", "--format", "json"])).unwrap();
    let id = listed["conflicts"][0]["short"].as_str().unwrap();
    let dry_run = run(&home, &["resolve", id, "stands", "--dry-run"]);
    assert!(!dry_run.contains("The merge is not finished yet"), "{dry_run}");
    let resolved = home.run_palazzo(&["resolve", id, "stands"]);
    let resolved = String::from_utf8(resolved.stdout).unwrap();
    let command = resolved.split("The merge is not finished yet: ").nth(1).unwrap();
    let work = home.path().display().to_string();
    assert_eq!(
        command.trim_end().replace(&work, "HOME"),
        format!("git -C HOME add -- {ENTITY} && git -C HOME commit --no-edit")
    );
    home.write_git_config("[user]\n\tname = ada\n\temail = ada@x\n");
    let mut shell = std::process::Command::new("sh");
    home.isolate_environment(&mut shell);
    assert!(shell.args(["-c", command]).output().unwrap().status.success());
    assert_eq!(home.git(&["status", "--porcelain"]), "");
    assert_eq!(home.git(&["log", "-1", "--format=%s"]), "Merge\n");
    home.assert_clean_repository();
}

#[test]
fn git_merges_and_compares_line_by_line_if_the_program_is_gone() {
    let home = home_with_branches(|home, side| {
        home.write(ENTITY, &format!("{STASIS}  - Seen by {side}.\n"));
    });
    let config = home.read(".git/config");
    home.write(".git/config", &config.replace(env!("CARGO_BIN_EXE_palazzo"), "/gone/palazzo"));
    assert!(home.git(&["config", "merge.palazzo.driver"]).contains("/gone/palazzo merge-file"));
    let compared = home.git(&["diff", "main", "other", "--", ENTITY]);
    assert!(compared.contains("\n-  - Seen by ours.\n+  - Seen by theirs.\n"), "{compared}");
    let logged = home.git(&["log", "-p", "-1", "--", ENTITY]);
    assert!(logged.contains("\n+  - Seen by ours.\n"), "{logged}");
    let (code, printed) = home.git_code_and_errors(&MERGE);
    assert_eq!(code, Some(1), "{printed}");
    assert_snapshot!(home.read(ENTITY).replace(STASIS, ""), @"
    <<<<<<< ours
      - Seen by ours.
    =======
      - Seen by theirs.
    >>>>>>> theirs
    ");
}

#[test]
fn the_drivers_are_removed_without_a_trace() {
    let home = home_with_conflicts();
    let config = home.read(".git/config");
    run(&home, &["git-setup"]);
    let attributes = home.read("survey/.gitattributes");
    assert!(attributes.contains("/palace.toml merge=palazzo\n"), "{attributes}");
    assert!(home.git(&["config", "merge.palazzo.driver"]).contains(" merge-file -- %O %A %B %P"));
    run(&home, &["git-setup", "--remove"]);
    assert_eq!(home.read(".git/config"), config);
    assert!(!exists(&home, "survey/.gitattributes"));
}

#[test]
fn fix_merges_a_file_in_which_git_has_left_markers() {
    let home = home_with_branches(|home, side| {
        home.write(ENTITY, &format!("{STASIS}  - Seen by {side}.\n"));
    });
    run(&home, &["git-setup", "--remove"]);
    commit_all(&home, "No driver");
    let (code, _) = home.git_code_and_errors(&MERGE);
    assert_eq!(code, Some(1));
    assert!(home.read(ENTITY).contains("<<<<<<<"));
    let fixed = run(&home, &["check", "--fix"]);
    assert!(fixed.contains("fixed[merge-conflict]"), "{fixed}");
    let entity = home.read(ENTITY);
    assert!(!entity.contains("<<<<<<<") && entity.contains("  - Seen by ours.\n"), "{entity}");
    assert!(entity.contains("  - Seen by theirs.\n"), "{entity}");
}
