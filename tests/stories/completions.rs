//! Completion at a shell: the scripts, and the names that the program returns to them.

use std::path::Path;
use std::process::Command;

use crate::harness::{Home, MARCH_1};

/// Completes the last word of a line, as the script for fish asks for it; returns each candidate
/// with its description.
fn complete(home: &Home, line: &str) -> Vec<String> {
    let mut command = home.palazzo_command(MARCH_1);
    command.env("PALAZZO_COMPLETE", "fish").arg("--").args(line.split(' '));
    let output = command.output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|it| it.replace('\t', ": ")).collect()
}

/// Lists the paths and sizes of everything in a folder.
fn list_files(folder: &Path) -> Vec<(String, u64)> {
    let entries = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().map(Result::unwrap);
    let entries = entries.map(|it| (it.path().display().to_string(), it.metadata().unwrap().len()));
    entries.collect()
}

fn home_with_palaces() -> Home {
    let home = Home::new();
    for name in ["Code", "Survey"] {
        assert!(home.run_palazzo(&["init", name, "--template", "codebase"]).status.success());
    }
    home
}

#[test]
fn names_of_the_palace_are_completed_and_nothing_is_written() {
    let home = home_with_palaces();
    let before = list_files(&home.path());
    let code = "--workspace code";
    assert_eq!(complete(&home, &format!("palazzo show {code} bug")), ["bug-crypt: room Bug Crypt"]);
    assert_eq!(complete(&home, &format!("palazzo log {code} MOVING")).len(), 1);
    assert_eq!(complete(&home, &format!("palazzo search x {code} --room bo")).len(), 1);
    assert_eq!(complete(&home, "palazzo map --workspace s"), ["survey"]);
    assert_eq!(complete(&home, "palazzo map --workspace=s"), ["--workspace=survey"]);
    assert_eq!(list_files(&home.path()), before);
    let moved = home.run_palazzo(&["mv", "bug-crypt", "cellar/", "--workspace", "code"]);
    assert!(moved.status.success(), "{moved:?}");
    let before = list_files(&home.path());
    assert_eq!(complete(&home, &format!("palazzo mv {code} cel")).len(), 2);
    assert_eq!(complete(&home, &format!("palazzo mv {code} x cellar/")).len(), 2);
    // Without one palace there is nothing to complete, and nothing is said.
    assert!(complete(&home, "palazzo show bug").is_empty());
    assert!(complete(&home, "palazzo show --home /nowhere bug").is_empty());
    assert_eq!(list_files(&home.path()), before);
}

#[tokio::test]
async fn the_short_ids_of_visits_are_completed() {
    let home = home_with_palaces();
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("code").await;
    agent.call("create_task", serde_json::json!({ "title": "Sweep" })).await;
    agent.disconnect().await;
    let id = home.git(&["log", "-1", "--format=%(trailers:key=Palazzo-Visit,valueonly)"]);
    let short = id.trim()[20..].to_lowercase();
    let line = format!("palazzo undo --workspace code --visit {}", &short[..3]);
    assert_eq!(complete(&home, &line), [format!("{short}: claude: task Sweep: create")]);
    // A command of a person is no visit.
    assert_eq!(complete(&home, "palazzo undo --workspace survey --visit ").len(), 0);
}

#[test]
fn commands_codes_kinds_and_templates_are_completed() {
    let home = Home::new();
    assert!(complete(&home, "palazzo wa").iter().any(|it| it.starts_with("walk: ")));
    let codes = complete(&home, "palazzo check --explain bad-sl");
    assert!(codes.len() == 1 && codes[0].starts_with("bad-slug: "), "{codes:?}");
    assert_eq!(
        complete(&home, "palazzo schema roo"),
        ["room: rooms/SLUG.yaml, rooms/WING/SLUG.yaml"]
    );
    assert_eq!(complete(&home, "palazzo search a --kind scr"), ["scroll"]);
    let templates = complete(&home, "palazzo init A --template code");
    assert!(templates.len() == 1 && templates[0].starts_with("codebase"), "{templates:?}");
}

#[test]
fn the_script_for_bash_completes_names_with_blanks() {
    let home = home_with_palaces();
    let program = Path::new(env!("CARGO_BIN_EXE_palazzo")).parent().unwrap();
    let complete = |typed: &str| {
        let script = format!(
            "source <(palazzo completions bash); COMP_WORDS=(palazzo show --workspace code \
             '{typed}'); COMP_CWORD=4; _clap_complete_palazzo palazzo '{typed}' code; \
             printf '%s\\n' \"${{COMPREPLY[@]}}\""
        );
        let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
        let output = Command::new("bash")
            .args(["--norc", "-c", &script])
            .env("PATH", path)
            .env("PALAZZO_HOME", home.path())
            .env("HOME", home.path())
            .env("PALAZZO_NOW", MARCH_1)
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(complete("bug"), "bug-crypt\n");
    assert_eq!(complete("mov"), "Moving\\ in\n");
    assert_eq!(complete("Moving\\ i"), "Moving\\ in\n");
}

#[test]
fn every_shell_has_a_script() {
    let home = Home::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let output = home.run_palazzo(&["completions", shell]);
        let script = String::from_utf8(output.stdout).unwrap();
        assert!(script.contains("PALAZZO_COMPLETE"), "{shell}: {script}");
    }
}
