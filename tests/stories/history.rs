//! History: showing, comparing, visiting, restoring and undoing.

use std::process::Stdio;

use insta::assert_snapshot;
use serde_json::json;

use crate::harness::{Agent, Home, MARCH_1};

const MARCH_2: &str = "2026-03-02T12:00:00Z";
const MARCH_8: &str = "2026-03-08T12:00:00Z";
const MARCH_9: &str = "2026-03-09T12:00:00Z";

/// The author of commits made by hand.
const ADA_IDENTITY: [&str; 4] = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];

/// Runs a command at time `now`, and returns its output, including refusals.
fn run(home: &Home, now: &str, arguments: &[&str]) -> String {
    let output = home.palazzo_command(now).args(arguments).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let (said, why) = (text(&output.stdout), text(&output.stderr));
    let code = output.status.code().unwrap();
    let is_warning = why.starts_with("palazzo: `HEAD` is detached");
    assert_eq!(code == 0, why.is_empty() || is_warning, "{code}: {said}{why}");
    normalize_ids(&(said + &why))
}

/// Replaces what differs between runs by `HASH` and `ID`.
fn normalize_ids(text: &str) -> String {
    let is_end = |it: char| !it.is_ascii_alphanumeric();
    let word = |it: &str| match it.trim_end_matches(is_end) {
        word if word.len() >= 7 && word.chars().all(|it| it.is_ascii_hexdigit()) => {
            it.replace(word, "HASH")
        }
        word if word.len() == 26 && word.starts_with("01") => it.replace(word, "ID"),
        _ => it.to_owned(),
    };
    let mut is_visit = false;
    let words = text.split_inclusive(is_end).map(|it| {
        let is_id = std::mem::replace(&mut is_visit, matches!(it, "visit " | "id "));
        if is_id { it.replace(it.trim_end_matches(is_end), "ID") } else { word(it) }
    });
    words.collect()
}

/// Commits everything on March 9.
fn commit_by_hand(home: &Home, message: &str) {
    home.git(&["add", "-A"]);
    home.git_at(MARCH_9, &[&ADA_IDENTITY[..], &["commit", "-qm", message]].concat());
}

/// A hall of March 1, changed on March 2 with a scroll and two entities, of which one
/// is changed on March 8.
async fn home_with_history() -> Home {
    let home = Home::new();
    let mut agent = home.agent(MARCH_1).await;
    agent.call("set_workspace", json!({ "workspace": "w", "create": true })).await;
    let hall = json!({ "slug": "hall", "name": "Hall", "description": "Stone.\nMoss.",
        "actions": [{ "label": "Listen", "type": "text", "content": "Drip." }] });
    agent.call("build_room", hall).await;
    agent.disconnect().await;

    let mut agent = home.agent(MARCH_2).await;
    agent.enter("w").await;
    let change = json!({ "slug": "hall", "merge": true, "quiet": true,
        "description": "Stone.\nIvy.\nA draught.",
        "actions": [{ "label": "Descend", "type": "navigate", "room": "crypt" }] });
    agent.call("build_room", change).await;
    agent.call("write_scroll", json!({ "title": "On ivy", "body": "It was moss.\n" })).await;
    let entities = json!({ "entities": [
        { "name": "Granite", "genus": "Rock", "status": "grey" },
        { "name": "Basalt", "genus": "Rock", "observations": ["Dark."] } ] });
    agent.call("create_entities", entities).await;
    agent.disconnect().await;

    let mut agent = home.agent(MARCH_8).await;
    let change = json!({ "name": "Granite", "status": "speckled",
        "add_observations": ["Cooled slowly."], "add_relations": [{ "type": "older_than", "to": "Basalt" }] });
    agent.call("update_entity", change).await;
    agent.disconnect().await;
    home
}

async fn enter_as_of(agent: &mut Agent, moment: &str) -> String {
    agent.call("set_workspace", json!({ "workspace": "w", "as_of": moment })).await
}

/// Runs commands one after the other, and returns them with their output.
fn run_all(home: &Home, now: &str, commands: &[&[&str]]) -> String {
    let tell = |it: &&[&str]| format!("$ palazzo {}\n{}", it.join(" "), run(home, now, it));
    commands.iter().map(tell).collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn log_diff_blame_and_show_print_the_history() {
    let home = home_with_history().await;
    home.write("w/rooms/hall.yaml", &home.read("w/rooms/hall.yaml").replace("Ivy.", "Ivy, thick."));
    home.write("w/README.md", "Not the palace's.\n");
    let story = run_all(
        &home,
        MARCH_9,
        &[
            &["log"],
            &["log", "-n", "2"],
            &["log", "hall"],
            &["log", "granite"],
            &["log", "On ivy"],
            &["diff"],
            &["diff", "HEAD~1.."],
            &["diff", "2026-03-01..2026-03-02"],
            &["diff", "yesterday"],
            &["diff", "--text"],
            &["blame", "hall"],
            &["show", "hall", "--at", "1.week"],
            &["show", "hall"],
            &["show", "On ivy"],
            &["show", "granite", "--at", "2026-03-02"],
        ],
    );
    assert_snapshot!(story);
}

/// Prints a patch in one folder of a home, and applies it with git in another.
fn print_and_apply_patch(home: &Home, palazzo: (&str, &[&str]), git: (&str, &[&str])) {
    let mut command = home.palazzo_command(MARCH_9);
    let patch = command.current_dir(home.path().join(palazzo.0)).args(palazzo.1).output().unwrap();
    let file = home.path().with_file_name("patch");
    std::fs::write(&file, patch.stdout).unwrap();
    home.git(&[&["-C", git.0, "apply"], git.1, &[file.to_str().unwrap()]].concat());
}

#[tokio::test]
async fn git_applies_the_printed_diff_from_any_folder() {
    let home = home_with_history().await;
    home.write("notes.md", "Beside the palace.\n");
    home.write("w/rooms/crypt.yaml", "name: Crypt\r\ndescription: Bones.\r\n");
    home.write("w/entities/rock/grüner Stein.yaml", "name: Grüner Stein\ngenus: Rock");
    commit_by_hand(&home, "write");
    home.write("w/rooms/crypt.yaml", "name: Crypt\r\ndescription: Bones, and dust.\r\n");
    home.write("w/entities/rock/grüner Stein.yaml", "name: Grüner Stein\ngenus: Stone");
    home.git(&["rm", "-q", "w/entities/rock/basalt.yaml"]);
    home.write("w/rooms/attic.yaml", "name: Attic\n");
    home.git(&["add", "-A"]);
    let status = home.git(&["status", "--porcelain"]);
    assert_eq!(status.lines().count(), 4, "{status}");
    for place in [".", "w"] {
        let diff: &[&str] = &["diff", "--text"];
        print_and_apply_patch(&home, (place, diff), (place, &["-R", "--index"]));
        assert_eq!(home.git(&["status", "--porcelain"]), "", "{place}");
        let palazzo: &[&str] = &["diff", "--text", "HEAD~1..HEAD"];
        print_and_apply_patch(&home, (place, palazzo), (place, &["-R", "--index"]));
        print_and_apply_patch(&home, (place, palazzo), (place, &["--index"]));
        assert_eq!(home.git(&["status", "--porcelain"]), "", "{place}");
        home.write("w/rooms/crypt.yaml", "name: Crypt\r\n");
        home.git(&["add", "-A"]);
    }
}

#[tokio::test]
async fn restore_brings_back_deleted_and_changed_items() {
    let home = home_with_history().await;
    home.git(&["rm", "-q", "w/entities/rock/basalt.yaml"]);
    commit_by_hand(&home, "no basalt");
    home.write("w/rooms/hall.yaml", "name: [\n");
    let story = run_all(
        &home,
        MARCH_9,
        &[
            &["restore", "Basalt", "--to", "2026-03-02"],
            &["restore", "hall", "--to", "2026-03-01"],
            &["restore", "hall", "--to", "2026-03-01"],
            &["restore", "granite", "--to", "HEAD~5"],
            &["restore", "attic", "--to", "HEAD"],
            &["restore", "Basalt", "--to", "2026-03-01"],
            &["restore", "hall", "--to", "2026-02-01"],
            &["log", "-n", "4"],
            &["log", "basalt"],
        ],
    );
    assert_snapshot!(story);
    assert_eq!(home.git(&["show", "HEAD~2:w/rooms/hall.yaml"]), "name: [\n");
    assert_eq!(run(&home, MARCH_9, &["diff", "2026-03-01..HEAD"]).matches("room hall").count(), 0);
    home.assert_clean_repository();
}

#[tokio::test]
async fn restore_follows_a_moved_file_and_overwrites_no_other() {
    let home = home_with_history().await;
    std::fs::create_dir(home.path().join("w/rooms/east")).unwrap();
    home.git(&["mv", "w/rooms/hall.yaml", "w/rooms/east/hall.yaml"]);
    home.git(&["rm", "-q", "w/entities/rock/granite.yaml"]);
    home.write("w/entities/rock/granite.yaml", "name: granite!\ngenus: Rock\n");
    commit_by_hand(&home, "move");
    let story = run_all(
        &home,
        MARCH_9,
        &[
            &["restore", "hall", "--to", "2026-03-01"],
            &["restore", "Granite", "--to", "2026-03-02"],
            &["log", "hall"],
            &["diff", "2026-03-08"],
        ],
    );
    assert_snapshot!(story);
    home.assert_clean_repository();
}

#[tokio::test]
async fn undo_reverts_tool_calls_one_after_the_other() {
    let home = home_with_history().await;
    let at = |it: &str| home.git(&["rev-parse", &format!("{it}^{{tree}}")]);
    let trees: Vec<_> = ["HEAD~1", "HEAD~2", "HEAD~3", "HEAD~4"].map(at).into();
    let commits = home.commit_count();
    let dry = run(&home, MARCH_9, &["undo", "--dry-run"]);
    assert_eq!(home.commit_count(), commits);
    let mut story = vec![dry];
    for tree in trees {
        story.push(run(&home, MARCH_9, &["undo"]));
        assert_eq!(at("HEAD"), tree);
    }
    story.push(run(&home, MARCH_9, &["undo"]));
    story.push(run(&home, MARCH_9, &["undo"]));
    story.push(run(&home, MARCH_9, &["log", "-n", "3"]));
    assert_snapshot!(story.join("\n"));
    let trailers = home.git(&["log", "-1", "--format=%(trailers:key=Palazzo-Undoes,valueonly)"]);
    assert_eq!(
        home.git(&["rev-parse", &format!("{}~0", trailers.trim())]),
        trailers.replace("\n\n", "\n")
    );
    home.assert_clean_repository();
}

#[cfg(unix)]
#[tokio::test]
async fn undo_and_restore_give_back_the_mode_of_the_commit() {
    use std::os::unix::fs::PermissionsExt as _;

    let home = Home::new();
    assert!(home.run_palazzo(&["init", "keep"]).status.success());
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("keep").await;
    agent
        .call("create_entities", json!({ "entities": [{ "name": "Ada", "genus": "Person" }] }))
        .await;
    agent.disconnect().await;
    let files = || home.git(&["ls-files", "-s"]);
    let file = files().lines().find(|it| it.ends_with("/ada.yaml")).unwrap().to_owned();
    let file = file.split_once('\t').unwrap().1.to_owned();
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(home.path().join(&file), mode).unwrap();
    home.git(&[&ADA_IDENTITY[..], &["commit", "-qam", "Mode"]].concat());
    for back in [vec!["undo"], vec!["restore", "Ada", "--to", "HEAD~1"]] {
        run(&home, MARCH_2, &["rm", "Ada"]);
        assert!(!files().contains(&file));
        run(&home, MARCH_2, &back);
        assert!(
            files().lines().any(|it| it.starts_with("100755") && it.ends_with(&file)),
            "{}",
            files()
        );
        let mode = std::fs::metadata(home.path().join(&file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o100, 0o100);
    }
    home.assert_clean_repository();
}

#[tokio::test]
async fn a_whole_visit_is_undone_in_one_commit() {
    let home = Home::new();
    let mut first = home.agent(MARCH_1).await;
    first.call("set_workspace", json!({ "workspace": "w", "create": true })).await;
    let rock = |name: &str| json!({ "entities": [{ "name": name, "genus": "Rock" }] });
    first.call("create_entities", rock("Slate")).await;
    first.disconnect().await;
    let before = home.git(&["rev-parse", "HEAD^{tree}"]);
    let mut second = home.agent(MARCH_2).await;
    second.call("create_entities", rock("Granite")).await;
    second.call("create_task", json!({ "title": "Sweep" })).await;
    second.call("update_entity", json!({ "name": "Slate", "new_name": "Shale" })).await;
    second.disconnect().await;
    let visits = home.git(&["log", "--format=%(trailers:key=Palazzo-Visit,valueonly,separator=)"]);
    let visits: Vec<_> = visits.lines().collect();
    assert_eq!(visits[..3], [visits[0]; 3]);
    assert_ne!(visits[0], visits[3]);
    assert_eq!(visits[3], visits[4]);
    let mut story = vec![run(&home, MARCH_8, &["undo", "--visit", visits[0], "--dry-run"])];
    story.push(run(&home, MARCH_8, &["undo", "--visit", visits[0]]));
    assert_eq!(home.git(&["rev-parse", "HEAD^{tree}"]), before);
    story.push(run(&home, MARCH_8, &["undo", "--visit", visits[0]]));
    story.push(run(&home, MARCH_8, &["undo", "--client", "claude", "--since", "2026-03-01"]));
    story.push(run(&home, MARCH_8, &["undo", "--client", "claude", "--since", "2026-03-01"]));
    story.push(run(&home, MARCH_8, &["log"]));
    assert_snapshot!(story.join("\n"));
    let base = home.git(&["rev-list", "--max-parents=0", "HEAD"]);
    let rebase = ["rebase", "-q", "--force-rebase", base.trim()];
    home.git(&[&ADA_IDENTITY[..], &rebase].concat());
    let again = run(&home, MARCH_8, &["undo", "--visit", visits[0]]);
    assert!(again.contains("are undone already"), "{again}");
    home.assert_clean_repository();
}

#[tokio::test]
async fn undo_refuses_when_a_file_has_changed_since() {
    let home = home_with_history().await;
    let granite = home.read("w/entities/rock/granite.yaml");
    home.write("w/entities/rock/granite.yaml", &granite.replace("speckled", "pink"));
    let uncommitted = run(&home, MARCH_9, &["undo"]);
    commit_by_hand(&home, "a note on granite");
    let committed = run(&home, MARCH_9, &["undo"]);
    assert_snapshot!(uncommitted + &committed, @r#"
    palazzo: cannot undo HASH "entity Granite: update" (claude, 1 day ago), because its files were changed later: entities/rock/granite.yaml by hand, not committed yet
    palazzo: cannot undo HASH "entity Granite: update" (claude, 1 day ago), because its files were changed later: entities/rock/granite.yaml by HASH "a note on granite" (Ada, just now)
    "#);
    // After the file is restored, the change can be undone.
    home.write("w/entities/rock/granite.yaml", &granite);
    commit_by_hand(&home, "no note");
    assert!(run(&home, MARCH_9, &["undo"]).starts_with("Undid HASH \"entity Granite: update\""));
    home.assert_clean_repository();
}

#[tokio::test]
async fn undo_recognizes_undone_commits_after_revert_rebase_and_amend() {
    let home = home_with_history().await;
    // `git revert` works as well.
    home.git(&[&ADA_IDENTITY[..], &["revert", "--no-edit", "HEAD"]].concat());
    assert!(run(&home, MARCH_9, &["undo"]).starts_with("Undid HASH \"entities: create 2\""));
    let base = home.git(&["rev-list", "--max-parents=0", "HEAD"]);
    let rebase = ["rebase", "-q", "--force-rebase", base.trim()];
    home.git(&[&ADA_IDENTITY[..], &rebase].concat());
    assert!(run(&home, MARCH_9, &["undo"]).starts_with("Undid HASH \"scroll hall: On ivy\""));
    home.git(&[&ADA_IDENTITY[..], &["commit", "-q", "--amend", "--no-edit"]].concat());
    assert!(run(&home, MARCH_9, &["undo"]).starts_with("Undid HASH \"room hall: change\""));
    home.git(&["reset", "-q", "--hard", "HEAD~1"]);
    assert!(run(&home, MARCH_9, &["undo"]).starts_with("Undid HASH \"room hall: change\""));
    home.assert_clean_repository();
}

#[tokio::test]
async fn an_agent_walks_the_palace_as_of_an_earlier_date() {
    let home = home_with_history().await;
    let mut agent = home.agent(MARCH_9).await;
    agent.enter("w").await;
    agent.take_transcript();
    enter_as_of(&mut agent, "2026-03-01").await;
    agent.choose(1).await;
    agent.choose(0).await;
    agent.choose_with(17, "moss").await;
    agent.choose(14).await;
    agent.call("list_entities", json!({})).await;
    agent.call("describe_workspace", json!({})).await;
    agent.call("write_scroll", json!({ "title": "Too late", "body": "x" })).await;
    agent.call("build_room", json!({ "slug": "hall", "name": "Hall", "description": "x" })).await;
    agent.call("create_entities", json!({ "entities": [{ "name": "X", "genus": "Y" }] })).await;
    enter_as_of(&mut agent, "5 days ago").await;
    agent.choose(2).await;
    agent.choose(15).await;
    agent.choose(21).await;
    agent.call("get_entity", json!({ "name": "granite" })).await;
    agent.enter("w").await;
    agent.call("get_entity", json!({ "name": "granite" })).await;
    assert_snapshot!(normalize_ids(&agent.take_transcript()));
    assert_eq!(home.commit_count(), 6);
}

#[tokio::test]
async fn doors_from_a_past_palace_lead_to_present_ones_and_back() {
    let home = Home::new();
    let mut agent = home.agent(MARCH_1).await;
    for (name, to) in [("one", "two"), ("two", "one")] {
        agent.call("set_workspace", json!({ "workspace": name, "create": true })).await;
        let door = |label: &str, to| json!({ "label": label, "type": "navigate", "room": "hall", "workspace": to });
        let hall = json!({ "slug": "hall", "name": "Hall", "description": format!("First, of {name}."),
            "actions": [door("Cross over", to), door("Turn round", name)], "quiet": true });
        agent.call("build_room", hall).await;
    }
    agent.disconnect().await;
    let mut agent = home.agent(MARCH_8).await;
    for name in ["one", "two"] {
        agent.enter(name).await;
        let hall =
            json!({ "slug": "hall", "merge": true, "description": "Second.", "quiet": true });
        agent.call("build_room", hall).await;
    }
    agent.call("set_workspace", json!({ "workspace": "one", "as_of": "2026-03-01" })).await;
    let second_line =
        |page: &str| page.lines().filter(|it| !it.is_empty()).nth(1).unwrap().to_owned();
    // The same palace by its name opens at the same time.
    assert_eq!(second_line(&agent.choose(2).await), "First, of one.");
    let crossed = agent.choose(1).await;
    assert!(
        crossed.starts_with("You are in two now, and in the present.\n\n── Hall ──\nSecond."),
        "{crossed}"
    );
    assert!(crossed.contains("15 back to Hall in one as it was"), "{crossed}");
    assert_eq!(second_line(&agent.choose(15).await), "First, of one.");
    // From the present to the present.
    agent.enter("two").await;
    let crossed = agent.choose(1).await;
    assert!(crossed.starts_with("You are in one now.\n\n── Hall ──\nSecond."), "{crossed}");
}

#[tokio::test]
async fn past_palaces_dropped_from_the_cache_are_read_again() {
    let home = Home::new();
    let mut agent = home.agent(MARCH_1).await;
    agent.call("set_workspace", json!({ "workspace": "w", "create": true })).await;
    for it in 0..8 {
        let hall = json!({ "slug": "hall", "name": "Hall", "description": format!("Number {it}."), "quiet": true });
        agent.call("build_room", hall).await;
    }
    for back in (0..8).chain([7, 0]) {
        let page = enter_as_of(&mut agent, &format!("HEAD~{back}")).await;
        assert!(page.contains(&format!("\nNumber {}.\n", 7 - back)), "{page}");
    }
    // Continuing from a room that was deleted meanwhile.
    enter_as_of(&mut agent, "HEAD~7").await;
    let mut other = home.agent(MARCH_1).await;
    for back in 0..6 {
        enter_as_of(&mut other, &format!("HEAD~{back}")).await;
    }
    let page = agent.choose_with(16, "hall").await;
    assert!(page.contains("\nNumber 0.\n"), "{page}");
}

#[tokio::test]
async fn invalid_as_of_values_are_refused_and_leave_the_visit_in_place() {
    let home = Home::new();
    home.write("notes.md", "A person's repository.\n");
    home.git(&["init", "-q", "-b", "main"]);
    commit_by_hand(&home, "begin");
    home.run_palazzo(&["init", "w", "--template", "codebase", "--yes"]);
    home.git(&["tag", "blob", "HEAD:notes.md"]);
    let mut agent = home.agent(MARCH_9).await;
    agent.enter("w").await;
    agent.take_transcript();
    for moment in [
        "--upload-pack=touch /tmp/x",
        "-n1",
        "HEAD:w/palace.toml",
        "HEAD..HEAD",
        ":/begin",
        "../../etc/passwd",
        "/etc/passwd",
        "blob",
        "@{99}",
        "@{upstream}",
        "HEAD~99",
        "refs/heads/none",
        "\u{1b}[2J",
        "2025-01-01",
        "999999999999 weeks",
        "2026-02-30",
        "soon",
        "HEAD~1",
    ] {
        enter_as_of(&mut agent, moment).await;
    }
    let lone = json!({ "workspace": "new", "create": true, "as_of": "1 day" });
    agent.call("set_workspace", lone).await;
    assert_snapshot!(normalize_ids(&agent.take_transcript()));
    assert!(agent.choose(0).await.starts_with("── Map of w ──"));
    assert!(!home.path().join("new").exists());
}

/// Runs a command in another repository next to the home.
fn run_in_repository(home: &Home, beside: &str, arguments: &[&str]) -> String {
    let mut command = home.palazzo_command(MARCH_9);
    command.args(arguments).env("PALAZZO_HOME", home.path().with_file_name(beside));
    let output = command.output().unwrap();
    normalize_ids(
        &(String::from_utf8(output.stdout).unwrap() + &String::from_utf8_lossy(&output.stderr)),
    )
}

#[tokio::test]
async fn history_commands_work_in_linked_worktrees_and_on_a_detached_head() {
    let home = home_with_history().await;
    home.git(&["branch", "side", "HEAD~4"]);
    home.git(&["worktree", "add", "-q", "../linked", "side"]);
    let in_linked = |arguments: &[&str]| run_in_repository(&home, "linked", arguments);
    assert_eq!(in_linked(&["log"]).lines().count(), 2);
    let items =
        |page: String| page.lines().filter(|it| !it.is_empty() && !it.starts_with(' ')).count();
    assert_eq!(items(in_linked(&["diff", "side..main"])), 4);
    let restored = in_linked(&["restore", "Basalt", "--to", "main"]);
    assert!(restored.starts_with("Restored entity Basalt as it was"), "{restored}");
    assert!(in_linked(&["undo"]).starts_with("Undid HASH \"entity Basalt: restore\""));

    home.git(&["checkout", "-q", "--detach", "HEAD~1"]);
    assert!(run(&home, MARCH_9, &["undo"]).starts_with("Undid HASH \"entities: create 2\""));
    assert_eq!(items(run(&home, MARCH_9, &["diff", "main.."])), 2);
    home.assert_clean_repository();

    home.git(&["clone", "-q", "--bare", ".", "../bare"]);
    let bare = home.path().with_file_name("bare/w");
    std::fs::create_dir(&bare).unwrap();
    std::fs::write(bare.join("palace.toml"), "name = \"w\"\n").unwrap();
    let why = run_in_repository(&home, "bare", &["log"]);
    assert!(why.contains("is a bare repository"), "{why}");
}

/// Returns the hall's line of the map.
fn hall_line_of_map(map: &str) -> String {
    map.lines().find(|it| it.contains("(hall)")).unwrap_or_default().trim().to_owned()
}

#[tokio::test]
async fn version_counts_are_right_after_rebase_reset_and_merge() {
    let home = home_with_history().await;
    let map = || hall_line_of_map(&run(&home, MARCH_9, &["map"]));
    let show = run(&home, MARCH_9, &["show", "hall"]);
    assert_eq!(show.lines().last(), Some("v2, changed 7 days ago, created 8 days ago"));
    assert_eq!(map(), "Hall (hall) [1 scroll, v2, 7 days ago] entry");
    // A commit with a new id after a rebase is counted once.
    let base = home.git(&["rev-list", "--max-parents=0", "HEAD"]);
    let rebase = ["rebase", "-q", "--committer-date-is-author-date", "--force-rebase"];
    home.git(&[&ADA_IDENTITY[..], &rebase, &[base.trim()]].concat());
    assert_eq!(map(), "Hall (hall) [1 scroll, v2, 7 days ago] entry");
    home.git(&["reset", "-q", "--hard", "HEAD~4"]);
    assert_eq!(map(), "Hall (hall) [v1, 8 days ago] entry");
    home.git(&["reset", "-q", "--hard", "ORIG_HEAD"]);
    // After a merge, the commits of both branches are counted.
    home.git(&["checkout", "-q", "-b", "side", "HEAD~1"]);
    home.write("w/rooms/hall.yaml", &(home.read("w/rooms/hall.yaml") + "# aside\n"));
    commit_by_hand(&home, "aside");
    home.git(&["checkout", "-q", "main"]);
    home.git(&[&ADA_IDENTITY[..], &["merge", "-q", "--no-edit", "side"]].concat());
    assert_eq!(map(), "Hall (hall) [1 scroll, v3, just now] entry");
    assert_eq!(run(&home, MARCH_9, &["log", "hall"]).lines().count(), 6);
}

#[tokio::test]
async fn a_shallow_clone_shows_its_partial_history_until_unshallowed() {
    let home = home_with_history().await;
    let origin = format!("file://{}", home.path().display());
    home.git(&["clone", "-q", "--depth", "1", &origin, "../shallow"]);
    let in_shallow = |arguments: &[&str]| run_in_repository(&home, "shallow", arguments);
    assert_eq!(
        hall_line_of_map(&in_shallow(&["map"])),
        "Hall (hall) [1 scroll, v1, 1 day ago] entry"
    );
    assert_snapshot!(in_shallow(&["log", "hall"]), @r"
    HASH  1 day ago       claude  entity Granite: update
               added as rooms/hall.yaml
    ");
    assert!(in_shallow(&["blame", "hall"]).lines().all(|it| it.starts_with("HASH  claude  1 day")));
    assert!(in_shallow(&["diff", "HEAD~1"]).contains("is not a revision in this repository"));
    let shallow = home.path().with_file_name("shallow");
    home.git(&["-C", shallow.to_str().unwrap(), "fetch", "-q", "--unshallow"]);
    assert_eq!(
        hall_line_of_map(&in_shallow(&["map"])),
        "Hall (hall) [1 scroll, v2, 7 days ago] entry"
    );
}

#[tokio::test]
async fn a_past_version_that_cannot_be_read_is_reported() {
    let home = home_with_history().await;
    let whole = home.read("w/rooms/hall.yaml");
    home.write("w/rooms/hall.yaml", "name: [\n");
    commit_by_hand(&home, "break it");
    home.write("w/rooms/hall.yaml", &whole);
    commit_by_hand(&home, "mend it");
    let mut story = run_all(
        &home,
        MARCH_9,
        &[
            &["diff", "HEAD~2..HEAD~1"],
            &["diff", "HEAD~1..HEAD"],
            &["log", "-n", "2", "hall"],
            &["show", "hall", "--at", "HEAD~1"],
            &["restore", "hall", "--to", "HEAD~1"],
        ],
    );
    let mut agent = home.agent(MARCH_9).await;
    story.push_str(enter_as_of(&mut agent, "HEAD~1").await.split_once("\n\n").unwrap().1);
    assert_snapshot!(normalize_ids(&story));
}

#[tokio::test]
async fn restored_files_get_the_line_endings_of_the_checkout() {
    let home = home_with_history().await;
    home.git(&["config", "core.autocrlf", "true"]);
    home.git(&["rm", "-q", "--cached", "-r", "."]);
    home.git(&["reset", "-q", "--hard"]);
    assert!(home.read("w/rooms/hall.yaml").contains("\r\n"));
    assert_eq!(run(&home, MARCH_9, &["diff"]), "Nothing differs.\n");
    assert!(run(&home, MARCH_9, &["undo"]).starts_with("Undid HASH \"entity Granite: update\""));
    assert!(
        run(&home, MARCH_9, &["restore", "hall", "--to", "2026-03-01"])
            .starts_with("Restored room hall")
    );
    let hall = home.read("w/rooms/hall.yaml");
    assert_eq!(hall.matches('\n').count(), hall.matches("\r\n").count());
    assert_eq!(home.git(&["show", "HEAD:w/rooms/hall.yaml"]), hall.replace("\r\n", "\n"));
    home.assert_clean_repository();
}

#[tokio::test]
async fn an_ambiguous_name_is_refused_with_the_candidates() {
    let home = home_with_history().await;
    home.write("w/rooms/east/hall.yaml", "name: Hall\n");
    home.write("w/rooms/west/hall.yaml", "name: Granite\n");
    home.write("w/scrolls/hall/2.md", "---\ntitle: Granite\nwritten: 2026-03-01\n---\n\nx\n");
    let story = run_all(
        &home,
        MARCH_9,
        &[
            &["blame", "granite"],
            &["blame", "Granite"],
            &["blame", "west/hall"],
            &["blame", "hall"],
            &["blame", "rooms/east/hall.yaml"],
            &["blame", "scrolls/hall/2.md"],
            &["blame", "../../etc/passwd"],
            &["blame", "nothing of the kind"],
            &["log", "w/rooms/hall.yaml"],
        ],
    );
    assert_snapshot!(story);
}

#[tokio::test]
async fn history_commands_print_no_control_characters_and_exit_quietly() {
    let home = home_with_history().await;
    let by_eve = ["-c", "user.name=E\u{1b}[2Jve", "-c", "user.email=e@x"];
    home.write("w/rooms/odd.yaml", "name: \"Red\\e[31m\"\ndescription: \"\u{202e}a\\e[2J\"\n");
    home.git(&["add", "-A"]);
    home.git(&[&by_eve[..], &["commit", "-qm", "odd\u{1b}[31m"]].concat());
    home.write("w/rooms/odd.yaml", "name: Odd\u{7}\ndescription: \"\u{1b}[2J\"\n");
    for arguments in [
        &["log"][..],
        &["log", "odd"],
        &["diff"],
        &["diff", "HEAD~1.."],
        &["diff", "--text"],
        &["diff", "--text", "HEAD~1.."],
        &["blame", "rooms/odd.yaml"],
        &["show", "odd", "--at", "HEAD"],
        &["undo", "--dry-run"],
    ] {
        let output = home
            .palazzo_command(MARCH_9)
            .env("CLICOLOR_FORCE", "1")
            .args(arguments)
            .output()
            .unwrap();
        let all = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        for odd in ["\u{1b}[2J", "\u{1b}[31mRed", "\u{7}", "\u{202e}"] {
            assert!(!all.contains(odd), "{arguments:?}: {all:?}");
        }
        assert_exits_quietly(&home, arguments);
    }
}

/// Asserts that a command exits silently if its output pipe is closed.
fn assert_exits_quietly(home: &Home, arguments: &[&str]) {
    let mut command = home.palazzo_command(MARCH_9);
    command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()), "{arguments:?}");
}
