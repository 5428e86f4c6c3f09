//! Hooks that start a Claude Code session with the palace's content, and save its
//! transcript.

use std::io::Write as _;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use notify::{RecursiveMode, Watcher as _};
use serde_json::{Value, json};

use crate::harness::{Home, MARCH_1};

/// Existing settings of a user, in their own order.
const EXISTING_SETTINGS: &str = r#"{
  "model": "opus",
  "hooks": {
    "Stop": [
      {
        "hooks": [
          {
            "type": "command",
            "command": "make check"
          }
        ]
      }
    ]
  },
  "cleanupPeriodDays": 30
}
"#;

/// Runs a command in a home with settings of Claude Code in `user`.
fn run_hook_command(home: &Home, arguments: &[&str]) -> Output {
    let mut command = home.palazzo_command(MARCH_1);
    command.env("CLAUDE_CONFIG_DIR", home.path().join("user"));
    command.arg("hook").args(arguments).output().unwrap()
}

fn read_settings(home: &Home) -> Value {
    serde_json::from_str(&home.read("user/settings.json")).unwrap()
}

#[test]
fn a_hook_is_installed_once_and_removed_without_a_trace() {
    let home = Home::new();
    home.write("user/settings.json", EXISTING_SETTINGS);
    for _ in 0..2 {
        assert!(run_hook_command(&home, &["install", "--budget", "300"]).status.success());
    }
    let installed = read_settings(&home);
    let keys: Vec<_> = installed.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["model", "hooks", "cleanupPeriodDays"]);
    assert_eq!(installed["hooks"]["Stop"][0]["hooks"][0]["command"], "make check");
    let starts = installed["hooks"]["SessionStart"].as_array().unwrap();
    assert_eq!((starts.len(), &starts[0]["matcher"]), (1, &json!("startup|clear|compact")));
    let removed = run_hook_command(&home, &["remove"]);
    assert!(removed.status.success() && removed.stdout.starts_with(b"The hook is removed from"));
    assert_eq!(home.read("user/settings.json"), EXISTING_SETTINGS);
    let again = run_hook_command(&home, &["remove"]);
    assert!(again.status.success() && again.stdout.starts_with(b"There is no hook of Palazzo in"));
}

#[test]
#[cfg(unix)]
fn installing_writes_through_a_dangling_settings_link() {
    let home = Home::new();
    home.write("user/README.md", "Settings lie elsewhere.\n");
    let link = home.path().join("user/settings.json");
    std::os::unix::fs::symlink("elsewhere.json", &link).unwrap();
    assert!(!run_hook_command(&home, &["install", "--budget", "0"]).status.success());
    assert!(run_hook_command(&home, &["install"]).status.success());
    assert!(link.is_symlink());
    assert!(home.read("user/elsewhere.json").contains("session-start"));
}

#[test]
fn a_project_hook_goes_into_the_local_settings() {
    let home = Home::new();
    home.write("project/README.md", "A project.\n");
    let hook = |arguments: &[&str]| {
        let mut command = home.palazzo_command(MARCH_1);
        command.current_dir(home.path().join("project")).arg("hook").args(arguments);
        let output = command.arg("--project").output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let place = home.path().display().to_string();
    assert_eq!(hook(&["install", "--home", ".."]), format!("There is no palace in {place} yet\n"));
    let settings = home.read("project/.claude/settings.local.json");
    assert!(settings.contains(&format!(" --home {place} ")), "{settings}");
    home.run_palazzo(&["init", "Notes"]);
    assert_eq!(hook(&["install", "--home", ".."]), "");
    hook(&["remove"]);
    assert!(!home.path().join("project/.claude/settings.local.json").exists());
}

#[test]
fn the_installed_hook_prints_the_wake_up_page() {
    let home = Home::new();
    home.run_palazzo(&["init", "Ada's notes"]);
    assert!(run_hook_command(&home, &["install", "--workspace", "Ada's notes"]).status.success());
    let installed = read_settings(&home);
    let command = &installed["hooks"]["SessionStart"][0]["hooks"][0]["command"];
    let mut shell = Command::new("sh");
    home.isolate_environment(&mut shell);
    let told = shell.args(["-c", command.as_str().unwrap()]).env("PALAZZO_NOW", MARCH_1);
    let told = told.output().unwrap();
    let known = home.run_palazzo(&["wake-up", "Ada's notes"]);
    assert!(String::from_utf8_lossy(&told.stdout).contains("\n── Ada's notes ──\n"), "{told:?}");
    assert_eq!(told.stdout, known.stdout);
}

#[test]
fn a_hook_for_one_of_several_palaces_needs_the_workspace() {
    let home = Home::new();
    home.run_palazzo(&["init", "Notes"]);
    home.run_palazzo(&["init", "Code"]);
    let refusal = |arguments: &[&str]| {
        let refused = run_hook_command(&home, arguments);
        assert_eq!(refused.status.code(), Some(2));
        String::from_utf8(refused.stderr).unwrap()
    };
    let said = refusal(&["install"]);
    let several = "palazzo: there are several palaces: give --workspace NAME (Code, Notes)\n";
    assert_eq!(said, several);
    let said = refusal(&["install", "--workspace", "Nots"]);
    assert_eq!(said, "palazzo: there is no palace `Nots` here; there are Code, Notes\n");
    assert!(!home.path().join("user/settings.json").exists());
    assert!(run_hook_command(&home, &["install", "--workspace", "notes"]).status.success());
}

#[test]
fn session_start_succeeds_without_a_palace() {
    let home = Home::new();
    let refused = [
        run_hook_command(&home, &["session-start"]),
        run_hook_command(&home, &["session-start", "--workspace", "elsewhere"]),
        run_hook_command(&home, &["session-start", "--budget", "1"]),
        run_hook_command(&home, &["session-start", "--budget", "many"]),
    ];
    for it in refused {
        assert!(it.status.success() && it.stdout.is_empty() && !it.stderr.is_empty(), "{it:?}");
    }
    assert!(!home.path().exists());
}

/// Runs the command that is installed for an event, like Claude Code.
fn run_installed_hook(home: &Home, installed: &Value, event: &str, told: &Value) -> Output {
    let command = installed["hooks"][event][0]["hooks"][0]["command"].as_str().unwrap();
    let mut shell = Command::new("sh");
    home.isolate_environment(&mut shell);
    shell.args(["-c", command]).env("PALAZZO_NOW", MARCH_1);
    shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = shell.spawn().unwrap();
    running.stdin.take().unwrap().write_all(told.to_string().as_bytes()).unwrap();
    running.wait_with_output().unwrap()
}

#[test]
fn session_end_files_the_transcript_when_installed_with_keep() {
    let home = Home::new();
    home.run_palazzo(&["init", "Notes"]);
    home.write("user/settings.json", EXISTING_SETTINGS);
    assert!(
        run_hook_command(&home, &["install", "--keep", "--workspace", "Notes"]).status.success()
    );
    let installed = read_settings(&home);
    let said = |who: &str, text: &str| {
        json!({ "type": who, "sessionId": "s", "cwd": "/home/ada/seams",
            "timestamp": "2026-03-01T09:00:00Z", "message": { "role": who, "content": text } })
    };
    let talk = [said("user", "Where is the seam?"), said("assistant", "Below the grey beds.")];
    home.write("talk.jsonl", &talk.map(|it| format!("{it}\n")).concat());
    let talk = home.path().join("talk.jsonl");
    let (tell, commits) = mpsc::channel();
    let mut watcher = notify::recommended_watcher(tell).unwrap();
    watcher.watch(&home.path().join(".git/logs"), RecursiveMode::Recursive).unwrap();
    let (before, told) = (home.commit_count(), json!({ "transcript_path": talk }));
    for event in ["PreCompact", "SessionEnd"] {
        let output = run_installed_hook(&home, &installed, event, &told);
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    }
    while home.commit_count() == before {
        commits.recv_timeout(Duration::from_secs(20)).unwrap().unwrap();
    }
    let drawers = home.git(&["grep", "-h", "grey beds", "HEAD", "--", "notes/drawers"]);
    assert_eq!(drawers.lines().count(), 1, "{drawers}");
    assert!(run_hook_command(&home, &["remove"]).status.success());
    assert_eq!(home.read("user/settings.json"), EXISTING_SETTINGS);
}

#[test]
fn session_end_without_a_transcript_path_files_nothing() {
    let home = Home::new();
    for told in ["", "{", "[]", "{\"transcript_path\": 1}"] {
        home.write("told.json", told);
        let told = std::fs::File::open(home.path().join("told.json")).unwrap();
        let output = home
            .palazzo_command(MARCH_1)
            .args(["hook", "session-end"])
            .stdin(told)
            .output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && said.contains("names no `transcript_path`"), "{said}");
    }
}

#[test]
fn unreadable_settings_are_left_unchanged() {
    let home = Home::new();
    for odd in
        ["{ \"model\": ", "[]", "{ \"hooks\": [] }", "{ \"hooks\": { \"SessionStart\": 1 } }"]
    {
        home.write("user/settings.json", odd);
        let refused = run_hook_command(&home, &["install"]);
        let said = String::from_utf8(refused.stderr).unwrap();
        assert_eq!(refused.status.code(), Some(2));
        assert!(said.contains("settings.json` is not changed: "), "{said}");
        assert_eq!(home.read("user/settings.json"), odd);
    }
}
