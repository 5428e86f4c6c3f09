//! A hook that shows a memory of the host at an action.
//!
//! The inputs in `hook_inputs` are those of Claude Code 2.1.332, with other paths and shorter texts.

use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Output, Stdio};

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::harness::{Home, MARCH_1};

const FOLDER: &str = "notes/drawers/claude/memory";

/// A home with the palace `notes` and these memories, each a name and a text.
fn home_with(memories: &[(&str, &str)]) -> Home {
    let home = Home::new();
    home.run_palazzo(&["init", "Notes"]);
    for (name, text) in memories {
        home.write(&format!("{FOLDER}/{name}.md"), text);
    }
    home
}

/// Returns the text of a memory of February 26 as Claude Code writes it.
fn memory(triggers: &str, text: &str) -> String {
    format!(
        "---\nname: a name\ndescription: A memory.\nmetadata: \n  node_type: memory\n  \
         type: feedback\n  modified: 2026-02-26T12:00:00.000Z\n  when:\n{triggers}---\n\n{text}\n"
    )
}

fn lesson() -> String {
    memory("    - run: ^cargo build\n", "Use `--locked`, else CI fails.")
}

/// Starts the hook and gives it an input.
fn start_hook(home: &Home, arguments: &[&str], input: &[u8]) -> Child {
    let mut command = home.palazzo_command(MARCH_1);
    // A busy machine may need more than the 50 ms of the hook.
    command.env("PALAZZO_HOOK_DEADLINE", "60000").args(["hook", "act"]).args(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = command.spawn().unwrap();
    // A hook that has wrong arguments reads nothing.
    let _ = running.stdin.take().unwrap().write_all(input);
    running
}

/// Returns what the hook prints. Whatever it is told, it succeeds and reports nothing.
#[track_caller]
fn run_hook_with(home: &Home, arguments: &[&str], input: &[u8]) -> String {
    let output = start_hook(home, arguments, input).wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[track_caller]
fn run_hook(home: &Home, input: &Value) -> String {
    run_hook_with(home, &[], input.to_string().as_bytes())
}

/// Returns the input after a command in a conversation.
fn after_command(session: &str, command: &str) -> Value {
    json!({
        "session_id": session, "cwd": "/project", "hook_event_name": "PostToolUse",
        "tool_name": "Bash", "tool_input": { "command": command },
        "tool_response": { "stdout": "", "stderr": "", "interrupted": false },
    })
}

/// Returns the text that the hook gives the agent after the command of the lesson.
#[track_caller]
fn shown_text(home: &Home, session: &str) -> String {
    let printed = run_hook(home, &after_command(session, "cargo build"));
    if printed.is_empty() {
        return printed;
    }
    let output: Value = serde_json::from_str(&printed).unwrap();
    output["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned()
}

#[track_caller]
fn trust(home: &Home) {
    let home_folder = home.path().display().to_string();
    let trusted = home.run_palazzo(&["trust", "--yes", &home_folder]);
    assert!(trusted.status.success(), "{trusted:?}");
}

fn printed(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    text(&output.stdout) + &text(&output.stderr)
}

/// Returns what the hook prints for each recorded input, by its name.
fn answers_to_recorded_inputs(home: &Home) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stories/hook_inputs");
    let mut inputs: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
    inputs.sort();
    let answers = inputs.iter().map(|file| {
        let name = file.file_stem().unwrap().to_string_lossy();
        let answer = run_hook_with(home, &[], &std::fs::read(file).unwrap());
        format!("{name}: {}", if answer.is_empty() { "nothing" } else { answer.trim_end() })
    });
    answers.collect::<Vec<_>>().join("\n")
}

#[test]
fn each_event_of_claude_code_has_its_answer() {
    let rust = memory("    - edit: src/**/*.rs\n", "Run `cargo fmt` before you commit.");
    let missing = memory("    - error: cannot access\n    - run: ls\n", "It is on the other disk.");
    let listing = memory("    - run: ^ls\n", "Prefer `find`.");
    let home = home_with(&[("rust", &rust), ("missing", &missing), ("listing", &listing)]);
    trust(&home);
    assert_snapshot!(answers_to_recorded_inputs(&home), @r#"
    FileChanged: nothing
    InstructionsLoaded: nothing
    PostToolBatch: nothing
    PostToolUse: {"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"Your memory `rust`, written 3 days ago, is about a change of this file:\n│ Run `cargo fmt` before you commit."}}
    PostToolUseFailure: {"hookSpecificOutput":{"hookEventName":"PostToolUseFailure","additionalContext":"Your memory `missing`, written 3 days ago, is about this error:\n│ It is on the other disk."}}
    PreToolUse: nothing
    SessionEnd: nothing
    SessionStart: nothing
    Stop: nothing
    SubagentStart: nothing
    SubagentStop: nothing
    UserPromptSubmit: nothing
    "#);
}

#[test]
fn a_hook_of_codex_has_the_same_answers() {
    let rust = memory("    - edit: src/**/*.rs\n", "Run `cargo fmt` before you commit.");
    let error = memory("    - error: E0433\n", "Add the crate to Cargo.toml.");
    let home = home_with(&[("rust", &rust), ("error", &error)]);
    trust(&home);
    let told = |tool: &str, input: Value, response: Value| {
        json!({
            "session_id": "codex", "cwd": "/project", "hook_event_name": "PostToolUse",
            "tool_name": tool, "tool_input": input, "tool_response": response,
        })
    };
    let output = |code: i64| json!({ "output": "error[E0433]", "metadata": { "exit_code": code } });
    let command = json!({ "command": ["bash", "-lc", "cargo check"] });
    assert_eq!(run_hook(&home, &told("shell", command.clone(), output(0))), "");
    let patch = "*** Begin Patch\n*** Update File: src/a.rs\n@@\n-a\n+b\n*** End Patch\n";
    let answers = [
        run_hook(&home, &told("shell", command, output(101))),
        run_hook(&home, &told("apply_patch", json!({ "command": patch }), json!("Success."))),
    ];
    assert_snapshot!(answers.concat(), @r#"
    {"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"Your memory `error`, written 3 days ago, is about this error:\n│ Add the crate to Cargo.toml."}}
    {"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"Your memory `rust`, written 3 days ago, is about a change of this file:\n│ Run `cargo fmt` before you commit."}}
    "#);
}

#[test]
fn an_input_that_is_not_valid_has_no_answer() {
    let home = home_with(&[("locked", &lesson())]);
    trust(&home);
    let mut inputs: Vec<Vec<u8>> = ["", "{", "[]", "null", "\u{0}", "\"PostToolUse\"", "{} {}"]
        .map(|it| it.as_bytes().to_vec())
        .to_vec();
    inputs.push(vec![0xff; 100]);
    inputs.push(vec![b'['; 1 << 20]);
    inputs.push(vec![b' '; (1 << 20) + 10]);
    inputs.push(
        after_command("s", &format!("cargo build {}", "x".repeat(1 << 20))).to_string().into(),
    );
    for (key, wrong) in [
        ("session_id", json!(1)),
        ("session_id", json!("")),
        ("hook_event_name", json!(["PostToolUse"])),
        ("hook_event_name", json!("posttooluse")),
        ("tool_name", json!({})),
        ("tool_input", json!("cargo build")),
        ("tool_input", json!({ "command": { "command": "cargo build" } })),
        ("tool_input", Value::Null),
    ] {
        let mut input = after_command("s", "cargo build");
        input[key] = wrong;
        inputs.push(input.to_string().into());
    }
    for input in inputs {
        let start = String::from_utf8_lossy(&input[..input.len().min(200)]).into_owned();
        assert_eq!(run_hook_with(&home, &[], &input), "", "{start}");
    }
    assert_ne!(shown_text(&home, "s"), "", "nothing of that counted as shown");
}

#[test]
fn wrong_arguments_have_no_answer() {
    let home = home_with(&[("locked", &lesson())]);
    trust(&home);
    let told = after_command("s", "cargo build").to_string();
    let run = |arguments: &[&str]| run_hook_with(&home, arguments, told.as_bytes());
    for arguments in [
        &["--nonsense"][..],
        &["more"],
        &["--home"],
        &["--home", "${PALACES}"],
        &["--home", "/nowhere"],
        &["--workspace", "elsewhere"],
    ] {
        assert_eq!(run(arguments), "", "{arguments:?}");
    }
    home.run_palazzo(&["init", "Other"]);
    assert_eq!(run(&[]), "", "there are two palaces");
    let palace = home.path().join("notes").display().to_string();
    assert_ne!(run(&["--home", &palace]), "");
    let other = after_command("t", "cargo build").to_string();
    assert_ne!(run_hook_with(&home, &["--workspace", "Notes"], other.as_bytes()), "");
}

#[test]
fn of_twenty_hooks_at_once_three_show_a_memory() {
    let names: Vec<_> = (0..10).map(|it| format!("m{it}")).collect();
    let text = memory("    - run: cargo\n", "Text.");
    let memories: Vec<_> = names.iter().map(|it| (it.as_str(), text.as_str())).collect();
    let home = home_with(&memories);
    trust(&home);
    let told = after_command("s", "cargo build").to_string();
    let hooks: Vec<_> = (0..20).map(|_| start_hook(&home, &[], told.as_bytes())).collect();
    let answers = hooks.into_iter().map(|it| it.wait_with_output().unwrap().stdout);
    let mut notes: Vec<_> = answers.filter(|it| !it.is_empty()).collect();
    notes.sort();
    notes.dedup();
    assert_eq!(notes.len(), 3, "{notes:?}");
    assert_eq!(shown_text(&home, "s"), "");
    assert_ne!(shown_text(&home, "another"), "");
}

#[test]
fn a_memory_from_elsewhere_is_shown_only_after_consent() {
    let home = home_with(&[("locked", &lesson())]);
    assert_eq!(shown_text(&home, "1"), "");
    let folder = home.path().display().to_string();
    let hide = |it: &Output| printed(it).replace(&folder, "HOME");
    assert_snapshot!(hide(&home.run_palazzo(&["trust", &folder])), @"
    HOME/notes
      the memory `locked` may be shown at `run ^cargo build`: Use `--locked`, else CI fails.
    Nothing is allowed yet. Run this in a terminal, or `palazzo trust --yes HOME`.
    ");
    assert_eq!(shown_text(&home, "1"), "");
    let check = home.run_palazzo(&["check", &folder]);
    assert_snapshot!(hide(&check), @"
    home/notes/drawers/claude/memory/locked.md:9:12: warning[no-consent]: these triggers count on this machine only after your consent
      9 |     - run: ^cargo build
        |            ^
        = `palazzo trust DIR` shows them and asks you
    1 palace, 0 rooms, 0 scrolls, 0 entities, 1 drawer: 0 errors, 1 warning
    ");
    trust(&home);
    assert_snapshot!(shown_text(&home, "1"), @"
    Your memory `locked`, written 3 days ago, is about this command:
    │ Use `--locked`, else CI fails.
    ");
    assert_snapshot!(hide(&home.run_palazzo(&["trust", &folder])), @"
    Nothing in HOME needs your consent.
    ");
    assert_snapshot!(hide(&home.run_palazzo(&["trust", "--list"])), @"
    HOME/notes
      the memory `locked` may be shown at `run ^cargo build`: Use `--locked`, else CI fails.
    ");
    assert_eq!(hide(&home.run_palazzo(&["check", &folder])).lines().count(), 1);

    home.write(&format!("{FOLDER}/locked.md"), &lesson().replace("CI", "the disk"));
    assert_eq!(shown_text(&home, "2"), "", "it has another text");
    home.write(&format!("{FOLDER}/locked.md"), &lesson().replace("^cargo", "cargo"));
    assert_eq!(shown_text(&home, "2"), "", "it has another trigger");
    home.write(&format!("{FOLDER}/locked.md"), &lesson());
    assert_ne!(shown_text(&home, "2"), "");

    let removed = home.run_palazzo(&["trust", "--remove", &folder]);
    assert!(hide(&removed).starts_with("No longer allowed:\n"), "{removed:?}");
    assert_eq!(shown_text(&home, "3"), "");
}

#[test]
fn what_the_host_has_written_is_shown_without_consent() {
    let home = home_with(&[("locked", &lesson())]);
    let file = home.path().join(FOLDER).join("locked.md");
    // The host moves the unknown key below `metadata`, and the hook sees what the agent gave.
    let content =
        "---\nname: locked\nwhen:\n- run: '^cargo build'\n---\nUse `--locked`, else CI fails.\n";
    let write = json!({
        "session_id": "s", "cwd": "/project", "hook_event_name": "PostToolUse", "tool_name": "Write",
        "tool_input": { "file_path": file, "content": content },
        "tool_response": { "type": "create", "content": content, "originalFile": null },
    });
    assert_eq!(run_hook(&home, &write), "");
    assert_ne!(shown_text(&home, "1"), "");
    home.write(&format!("{FOLDER}/locked.md"), &lesson().replace("CI", "the disk"));
    assert_eq!(shown_text(&home, "2"), "", "another program has changed it");
    let folder = home.path().display().to_string();
    home.write(&format!("{FOLDER}/locked.md"), &lesson());
    let trusted = home.run_palazzo(&["trust", &folder]);
    assert!(printed(&trusted).contains("needs your consent"), "{trusted:?}");
}

#[test]
fn many_large_and_special_files_are_left_out() {
    let home = home_with(&[("locked", &lesson())]);
    trust(&home);
    let folder = home.path().join(FOLDER);
    let large = format!("{}{}", lesson(), "x".repeat(1 << 20));
    home.write(&format!("{FOLDER}/large.md"), &large);
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("locked.md", folder.join("link.md")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", folder.join("zero.md")).unwrap();
        let made = std::process::Command::new("mkfifo").arg(folder.join("pipe.md")).status();
        assert!(made.unwrap().success());
    }
    assert_ne!(shown_text(&home, "1"), "");
    assert_eq!(shown_text(&home, "1"), "", "a link is no memory of its own");
    for it in 0..600 {
        home.write(&format!("{FOLDER}/more{it}.md"), "No trigger.\n");
    }
    // The 500 latest are read.
    let file = std::fs::File::options().append(true).open(folder.join("locked.md")).unwrap();
    let time = std::time::SystemTime::now();
    file.set_modified(time + std::time::Duration::from_secs(60)).unwrap();
    assert_ne!(shown_text(&home, "2"), "");
    file.set_modified(time - std::time::Duration::from_secs(60)).unwrap();
    assert_eq!(shown_text(&home, "3"), "");
}

#[test]
#[cfg(unix)]
fn a_linked_folder_of_memories_is_not_read() {
    let home = home_with(&[("locked", &lesson())]);
    trust(&home);
    let (folder, elsewhere) = (home.path().join(FOLDER), home.path().join("elsewhere"));
    std::fs::rename(&folder, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &folder).unwrap();
    assert_eq!(shown_text(&home, "1"), "");
    std::fs::remove_file(&folder).unwrap();
    std::fs::rename(&elsewhere, &folder).unwrap();
    assert_ne!(shown_text(&home, "1"), "");
}

#[test]
#[cfg(unix)]
fn where_nothing_can_be_remembered_nothing_is_shown() {
    let home = home_with(&[("locked", &lesson())]);
    trust(&home);
    let state = home.path().parent().unwrap().join(".local/state/palazzo/acts");
    std::fs::write(&state, "in the way").unwrap();
    assert_eq!(shown_text(&home, "1"), "");
    std::fs::remove_file(&state).unwrap();
    assert_ne!(shown_text(&home, "1"), "");
}

#[test]
fn a_trigger_that_cannot_fit_is_a_finding() {
    let wrong = "    - run: (\n    - edt: '*.rs'\n    - error: []\n";
    let home = home_with(&[("wrong", &memory(wrong, "Text."))]);
    let check = home.run_palazzo(&["check", &home.path().display().to_string()]);
    let hidden = printed(&check).replace(&home.path().display().to_string(), "HOME");
    assert_snapshot!(hidden, @"
    home/notes/drawers/claude/memory/wrong.md:9:12: error[bad-value]: the regular expression of `run`, `(`, cannot be used: unclosed group
      9 |     - run: (
        |            ^
    home/notes/drawers/claude/memory/wrong.md:9:12: warning[no-consent]: these triggers count on this machine only after your consent
      9 |     - run: (
        |            ^
        = `palazzo trust DIR` shows them and asks you
    home/notes/drawers/claude/memory/wrong.md:10:7: error[unknown-key]: a trigger has no key `edt`
      10 |     - edt: '*.rs'
         |       ^
         = did you mean `edit`?
    home/notes/drawers/claude/memory/wrong.md:11:14: error[wrong-type]: `error` is a text, and this is a list
      11 |     - error: []
         |              ^
    1 palace, 0 rooms, 0 scrolls, 0 entities, 1 drawer: 3 errors, 1 warning
    ");
}
