//! A palace in a repository that a person also uses, with git and an editor.

use insta::assert_snapshot;
use serde_json::json;

use crate::harness::{Home, MARCH_1};

fn hall_json(description: &str) -> serde_json::Value {
    json!({ "slug": "hall", "name": "Hall", "description": description, "actions": [], "quiet": true })
}

const ADA_IDENTITY: [&str; 4] = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];

fn commit_as_ada(home: &Home, arguments: &[&str]) {
    home.git(&[&ADA_IDENTITY[..], &["commit", "-q"], arguments].concat());
}

#[tokio::test]
async fn a_palace_in_a_foreign_repository_commits_only_its_own_files() {
    let home = Home::new();
    home.write("notes.md", "one\n");
    home.write(".gitignore", "private/\n");
    home.git(&["init", "-q", "-b", "main"]);
    home.git(&["add", "notes.md", ".gitignore"]);
    commit_as_ada(&home, &["-m", "Begin"]);
    home.write("notes.md", "one\ntwo\n");
    home.git(&["add", "notes.md"]);
    home.write("notes.md", "one\ntwo\nthree\n");
    home.write("draft.md", "untracked\n");
    home.write("private/secret.md", "ignored\n");
    let mut agent = home.agent(MARCH_1).await;
    agent.call("set_workspace", json!({ "workspace": "palace", "create": true })).await;
    agent.call("build_room", hall_json("Stone.")).await;
    assert_snapshot!(home.git(&["status", "--porcelain"]), @r"
    MM notes.md
    ?? draft.md
    ");
    commit_as_ada(&home, &["-m", "Two"]);
    assert_snapshot!(home.git(&["log", "--format=%an: %s", "--name-status"]), @"
    Ada: Two

    M	notes.md
    claude: room hall: build

    A	palace/.palazzo/schema/room.json
    M	palace/palace.toml
    A	palace/rooms/hall.yaml
    claude: palace palace: create

    A	palace/.palazzo/README.md
    A	palace/palace.toml
    Ada: Begin

    A	.gitignore
    A	notes.md
    ");
}

#[tokio::test]
async fn a_hand_edit_is_committed_under_its_author_before_a_tool_writes() {
    let home = Home::new();
    let mut agent = home.agent(MARCH_1).await;
    agent.call("set_workspace", json!({ "workspace": "w", "create": true })).await;
    agent.call("build_room", hall_json("Stone.")).await;
    home.git(&["config", "user.name", "Ada"]);
    home.git(&["config", "user.email", "ada@example.org"]);
    home.write(
        "w/rooms/hall.yaml",
        "# The oldest room.\nname: 'Hall'   # of course\n\ndescription: Stone, and moss.\n",
    );
    let change = json!({ "slug": "hall", "merge": true, "quiet": true,
        "actions": [{ "label": "Listen", "type": "text", "content": "Drip." }] });
    assert_eq!(agent.call("build_room", change).await, "Built Hall (hall).\n");
    assert_snapshot!(home.read("w/rooms/hall.yaml"), @"
    # The oldest room.
    name: 'Hall'   # of course

    description: Stone, and moss.
    actions:
      - label: Listen
        type: text
        content: |
          Drip.
    ");
    assert_snapshot!(home.git(&["log", "-2", "--format=%an: %s"]), @"
    claude: room hall: change
    Ada: hand edit: rooms/hall.yaml
    ");
    home.assert_clean_repository();
}

#[tokio::test]
async fn a_room_saved_in_an_editor_is_seen_at_the_next_call() {
    let home = Home::new();
    let mut agent = home.agent(MARCH_1).await;
    agent.call("set_workspace", json!({ "workspace": "w", "create": true })).await;
    let door = json!({ "slug": "hall", "name": "Hall", "description": "Stone.",
        "actions": [{ "label": "Descend", "type": "navigate", "room": "crypt" }] });
    agent.call("build_room", door).await;
    home.write("w/rooms/crypt.yaml", "name: Crypt\ndescription: It is dark.\n");
    assert!(agent.choose(1).await.starts_with("── Crypt ──\nIt is dark.\n"));
}

#[tokio::test]
async fn two_servers_writing_one_room_lose_nothing() {
    let home = Home::new();
    let (mut one, mut two) = (home.agent(MARCH_1).await, home.agent(MARCH_1).await);
    one.call("set_workspace", json!({ "workspace": "w", "create": true })).await;
    one.call("build_room", hall_json("Stone.")).await;
    two.enter("w").await;
    for it in 0..20 {
        let label = |who: &str| format!("{who} {it}");
        let add = |label: String| {
            json!({ "slug": "hall", "merge": true, "quiet": true,
            "actions": [{ "label": label, "type": "text", "content": "x" }] })
        };
        let (a, b) = (add(label("one")), add(label("two")));
        tokio::join!(one.call("build_room", a), two.call("build_room", b));
    }
    let text = home.read("w/rooms/hall.yaml");
    assert_eq!(text.matches("- label: one").count() + text.matches("- label: two").count(), 40);
    assert_eq!(home.commit_count(), 42);
    home.assert_clean_repository();
}

#[tokio::test]
async fn with_manual_commits_files_stay_uncommitted() {
    let home = Home::new();
    home.run_palazzo(&["init", "w"]);
    home.write("w/palace.toml", "format = 1\nname = \"w\"\n\n[git]\ncommit = \"manual\" # mine\n");
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("w").await;
    agent.call("build_room", hall_json("Stone.")).await;
    assert_eq!(home.commit_count(), 1);
    assert_snapshot!(home.git(&["status", "--porcelain", "-uall"]), @r"
     M w/palace.toml
    ?? w/.palazzo/schema/room.json
    ?? w/rooms/hall.yaml
    ");
    assert_snapshot!(home.read("w/palace.toml"), @r#"
    format = 1
    name = "w"
    entry = "hall"

    [git]
    commit = "manual" # mine
    "#);
}

#[tokio::test]
async fn changes_reverted_by_git_are_gone_at_the_next_call() {
    let home = Home::new();
    let mut agent = home.agent(MARCH_1).await;
    agent.call("set_workspace", json!({ "workspace": "w", "create": true })).await;
    agent.call("build_room", hall_json("Stone.")).await;
    agent.call("create_entities", json!({ "entities": [{ "name": "Ghost", "genus": "G" }] })).await;
    home.git(&[&ADA_IDENTITY[..], &["revert", "--no-edit", "HEAD"]].concat());
    assert_eq!(agent.call("list_entities", json!({})).await, "No entities.\n");
    agent.call("write_scroll", json!({ "title": "Boo", "body": "x" })).await;
    home.git(&["reset", "-q", "--hard", "HEAD~1"]);
    assert!(agent.choose_with(17, "boo").await.starts_with("Nothing in the palace"));
    agent.call("create_entities", json!({ "entities": [{ "name": "Back", "genus": "G" }] })).await;
    assert!(agent.call("list_entities", json!({})).await.starts_with("1 entity:\n  31. Back"));
    home.assert_clean_repository();
}

#[tokio::test]
async fn invalid_settings_refuse_every_write() {
    let home = Home::new();
    home.run_palazzo(&["init", "w"]);
    home.write("w/palace.toml", "format = 1\nname = \"w\"\n[git]\ncommit = manual\n");
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("w").await;
    let refused = agent.call("build_room", hall_json("Stone.")).await;
    assert!(refused.starts_with("refused: palace.toml:4:10: this is not TOML"), "{refused}");
    assert_eq!((home.commit_count(), home.path().join("w/rooms").exists()), (1, false));
}

/// Creates a program `git` that logs its arguments, and exits only when told to.
#[cfg(unix)]
fn install_slow_git(home: &Home) -> std::path::PathBuf {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = home.path().with_file_name("bin");
    std::fs::create_dir(&folder).unwrap();
    for pipe in ["asked", "end"] {
        let made = std::process::Command::new("mkfifo").arg(folder.join(pipe)).status();
        assert!(made.unwrap().success());
    }
    let script = "#!/bin/sh\ncd \"${0%/*}\"\necho \"$@\" >asked\nread end <end\n";
    std::fs::write(folder.join("git"), script).unwrap();
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(folder.join("git"), executable).unwrap();
    folder
}

#[cfg(unix)]
#[test]
fn git_maintenance_runs_in_the_background() {
    let home = Home::new();
    home.write_git_config("");
    let bin = install_slow_git(&home);
    let mut command = home.palazzo_command(MARCH_1);
    command.arg("serve").env("PATH", &bin);
    let mut server = Home::raw_client_for_command(command);
    server.request("initialize", crate::raw_client::initialize_params("2025-11-25"));
    server.send_notification("notifications/initialized");
    let workspace = json!({ "workspace": "w", "create": true });
    let said = server.call("set_workspace", workspace);
    assert!(said.contains("Workspace: w"), "{said}");
    let asked = std::fs::read_to_string(bin.join("asked")).unwrap();
    let place = dunce::canonicalize(home.path()).unwrap();
    assert!(asked.starts_with(&format!("-C {} ", place.display())), "{asked}");
    assert!(asked.ends_with(" maintenance run --auto --quiet\n"), "{asked}");
    // The second write starts no maintenance, and the server exits while git still
    // runs.
    server.call("build_room", json!({ "slug": "hall", "name": "Hall", "description": "x" }));
    let ended = server.close();
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    std::fs::write(bin.join("end"), "now\n").unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn members_of_a_group_can_write_what_others_have_made() {
    use std::os::unix::fs::PermissionsExt as _;

    let home = Home::new();
    std::fs::create_dir_all(home.path()).unwrap();
    home.git(&["init", "-q", "-b", "main", "--shared=group"]);
    let remote = tempfile::tempdir().unwrap();
    home.git(&["init", "-q", "--bare", "-b", "main", remote.path().to_str().unwrap()]);
    let mut agent = home.agent(MARCH_1).await;
    agent.call("set_workspace", json!({ "workspace": "w", "create": true })).await;
    agent.call("build_room", hall_json("Stone.")).await;
    agent.disconnect().await;
    let url = format!("file://{}", remote.path().display());
    for arguments in [&["sync", "--setup", &url][..], &["sync"], &["search", "stone"], &["undo"]] {
        let done = home.run_palazzo(arguments);
        assert!(done.status.success(), "{arguments:?}: {done:?}");
    }
    let entries = walkdir::WalkDir::new(home.path()).min_depth(1).into_iter().flatten();
    let own = entries.filter(|it| it.path() != home.path().join(".git"));
    let mut count = 0;
    for entry in own {
        let (metadata, path) = (entry.metadata().unwrap(), entry.path().display());
        let mode = metadata.permissions().mode() & 0o7777;
        let wanted = match (metadata.is_dir(), mode & 0o200 != 0) {
            (true, _) => 0o2070,
            (false, true) => 0o060,
            // Objects are read-only.
            (false, false) => 0o040,
        };
        assert_eq!(mode & wanted, wanted, "{path}: {mode:o}");
        count += 1;
    }
    assert!(count > 60, "{count}");
}
