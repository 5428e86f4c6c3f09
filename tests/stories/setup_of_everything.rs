//! `palazzo setup` with everything that it offers: the first palace, clients, a hook, a permission and
//! instructions.

use std::fs;

use serde_json::Value;

use crate::harness::Home;
use crate::setup::User;

const SETTINGS: &str = ".claude/settings.json";

/// Settings of a person, in different layouts.
const LAYOUTS: [&str; 5] = [
    "{}",
    "{ \"model\": \"opus\", \"permissions\": { \"allow\": [\"Bash(ls)\"] } }",
    "{\n  // mine\n  \"permissions\": {\n    \"allow\": [\n      \"Bash(ls)\", // safe\n    ],\n  },\n}\n",
    "{\r\n\t\"hooks\": {\r\n\t\t\"SessionStart\": [\r\n\t\t\t{ \"hooks\": [] }\r\n\t\t]\r\n\t}\r\n}\r\n",
    "\u{feff}{\"hooks\":{},\"permissions\":{\"allow\":[]}}",
];

fn user_with_claude_code() -> User {
    let user = User::new();
    user.write(".claude.json", "{}");
    user
}

#[test]
fn everything_is_set_up_and_taken_back_byte_for_byte() {
    for settings in LAYOUTS {
        let user = user_with_claude_code();
        user.write(SETTINGS, settings);
        user.write("CLAUDE.md", "Be brief.");
        let before = user.list_files();
        let home = user.path("palaces").display().to_string();
        let all = ["--all", "--yes", "--home", &home, "--instructions", "CLAUDE.md"];
        let (code, shown) = user.setup(&all);
        assert_eq!(code, 0, "{shown}");
        assert!(user.path("palaces/palace/palace.toml").is_file(), "{shown}");
        let text = user.read(SETTINGS);
        assert!(
            text.contains("\"mcp__palazzo__*\"") && text.contains(" hook session-start --home ")
        );
        assert!(user.read("CLAUDE.md").starts_with("Be brief.\n\nPalazzo (MCP) is"), "{shown}");
        let entry: Value = serde_json::from_str(&user.read(".claude.json")).unwrap();
        assert_eq!(entry["mcpServers"]["palazzo"]["alwaysLoad"], true);
        let (code, shown) = user.setup(&all);
        assert!(code == 0 && !shown.contains("written"), "{shown}");
        let (code, shown) = user.setup(&["--remove", "--yes"]);
        assert_eq!(code, 0, "{shown}");
        assert_eq!(user.read(SETTINGS), settings, "{shown}");
        assert_eq!(user.read("CLAUDE.md"), "Be brief.");
        assert_eq!(user.read(".claude.json"), "{}");
        fs::remove_dir_all(user.path("palaces")).unwrap();
        assert_eq!(user.list_files(), before);
    }
}

#[test]
fn files_that_the_set_up_creates_are_removed_with_their_folders() {
    let user = User::new();
    let options = ["--client", "claude-code", "--hooks", "--allow-tools", "--yes", "--home", "/a"];
    let (code, shown) = user.setup(&options);
    assert_eq!(code, 0, "{shown}");
    assert_eq!(user.list_files(), [".claude", ".claude.json", SETTINGS]);
    assert_eq!(user.setup(&["--remove", "--yes"]).0, 0);
    assert_eq!(user.list_files(), Vec::<String>::new());
}

#[test]
fn what_others_add_to_the_settings_stays() {
    let user = user_with_claude_code();
    let options = ["--hooks", "--allow-tools", "--yes", "--home", "/a"];
    assert_eq!(user.setup(&options).0, 0);
    // The client writes the file again.
    let mut settings: Value = serde_json::from_str(&user.read(SETTINGS)).unwrap();
    settings["permissions"]["allow"].as_array_mut().unwrap().push("Bash(ls)".into());
    settings["model"] = "opus".into();
    user.write(SETTINGS, &format!("{settings:#}"));
    let (code, shown) = user.setup(&["--remove", "--yes"]);
    assert_eq!(code, 0, "{shown}");
    let settings: Value = serde_json::from_str(&user.read(SETTINGS)).unwrap();
    let expected = serde_json::json!({ "permissions": { "allow": ["Bash(ls)"] }, "model": "opus" });
    assert_eq!(settings, expected, "{shown}");
}

#[test]
fn a_line_below_the_instructions_is_not_joined_with_the_one_above() {
    for (before, after) in [
        ("Run make test.", "Run make test.\n- my rule\n"),
        ("Run make test.\n", "Run make test.\n- my rule\n"),
        ("Run make test.\n\n", "Run make test.\n\n- my rule\n"),
        ("", "- my rule\n"),
    ] {
        let user = user_with_claude_code();
        user.write("CLAUDE.md", before);
        let options = ["--instructions", "CLAUDE.md", "--yes", "--home", "/a"];
        assert_eq!(user.setup(&options).0, 0);
        let is_paragraph = user.read("CLAUDE.md").contains("\n\nPalazzo (MCP) is");
        assert_eq!(is_paragraph, !before.is_empty());
        user.write("CLAUDE.md", &format!("{}- my rule\n", user.read("CLAUDE.md")));
        assert_eq!(user.setup(&["--remove", "--yes"]).0, 0);
        assert_eq!(user.read("CLAUDE.md"), after);
    }
}

#[test]
fn without_a_terminal_only_what_is_named_is_planned() {
    let user = user_with_claude_code();
    let (code, shown) = user.setup(&["--home", "/a"]);
    assert_eq!(code, 1, "{shown}");
    assert!(shown.starts_with("1. Claude Code: ") && !shown.contains("\n2. "), "{shown}");
    assert!(shown.contains("Run this in a terminal, or with --yes."), "{shown}");
    let (code, shown) = user.setup(&["--allow-tools", "--dry-run", "--home", "/a"]);
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains("no longer asks before it calls a tool of this server"), "{shown}");
    assert_eq!(user.list_files(), [".claude.json"]);
}

#[test]
fn a_hook_of_a_plugin_and_a_broken_file_are_left_alone() {
    let user = user_with_claude_code();
    user.write(SETTINGS, r#"{"enabledPlugins": {"palazzo@palazzo": true}}"#);
    let (code, shown) = user.setup(&["--hooks", "--yes", "--home", "/a"]);
    assert!(code == 0 && shown.contains("the plugin has the hook"), "{shown}");
    user.write(SETTINGS, "{\n  broken\n}\n");
    let (code, shown) = user.setup(&["--allow-tools", "--yes", "--home", "/a"]);
    assert!(code == 1 && shown.contains("left alone: line 2: "), "{shown}");
    assert_eq!(user.read(SETTINGS), "{\n  broken\n}\n");
}

#[test]
#[cfg(unix)]
fn a_person_at_a_terminal_leaves_parts_out_by_their_numbers() {
    use crate::walk::Terminal;
    let start = |user: &User, arguments: &[&str]| {
        let mut command = user.command(env!("CARGO_BIN_EXE_palazzo"));
        command.arg("setup").args(arguments);
        Terminal::start_command(command, 100)
    };
    let user = user_with_claude_code();
    user.write(".cursor/mcp.json", "{}");
    let home = user.path("palaces").display().to_string();
    let mut terminal = start(&user, &["--home", &home]);
    let plan = terminal.read_until("to leave out: ");
    for part in ["1. Palace `palace`", "2. Claude Code: ", "3. Cursor: ", "4. Claude Code: ", "5. "]
    {
        assert!(plan.contains(part), "{part}: {plan}");
    }
    terminal.type_and_read("6\n", "numbers from 1 to 5 leave those parts out: 1 5;");
    terminal.read_until("to leave out: ");
    terminal.type_and_read("3, 4\n", "takes all of it back");
    assert_eq!(terminal.read_to_end().1, Some(0));
    assert!(user.path("palaces/palace/palace.toml").is_file());
    assert_eq!(user.read(".cursor/mcp.json"), "{}");
    let settings = user.read(SETTINGS);
    assert!(settings.contains("mcp__palazzo__*") && !settings.contains("SessionStart"));
    assert!(!user.path(".claude/CLAUDE.md").exists());
    // `n` writes nothing, Enter everything.
    let mut terminal = start(&user, &["--home", &home]);
    terminal.read_until("to leave out: ");
    terminal.type_and_read("n\n", "Nothing is written.");
    assert_eq!(terminal.read_to_end().1, Some(1));
    let mut terminal = start(&user, &["--remove"]);
    terminal.read_until("to leave out: ");
    terminal.type_and_read("\n", "settings.json");
    assert_eq!(terminal.read_to_end().1, Some(0));
    assert_eq!(user.read(".claude.json"), "{}");
    assert!(!user.path(SETTINGS).exists());
}

#[test]
#[cfg(unix)]
fn a_person_at_a_terminal_adds_the_line_for_agents_by_its_letter() {
    use crate::walk::Terminal;
    let user = user_with_claude_code();
    user.write(".claude/CLAUDE.md", "Be brief.\n");
    user.write(".codex/config.toml", "model = \"x\"\n");
    let before = user.list_files();
    let mut command = user.command(env!("CARGO_BIN_EXE_palazzo"));
    command.args(["setup", "--home", &user.path("palaces").display().to_string()]);
    let mut terminal = Terminal::start_command(command, 120);
    let plan = terminal.read_until("to leave out: ");
    for part in [
        "Written only if you add it by its letter:",
        "a. Instructions: ",
        ".claude/CLAUDE.md",
        "b. Instructions: ",
        ".codex/AGENTS.md",
        "Write 1 to 5? Enter for yes, a or b to add that part",
    ] {
        assert!(plan.contains(part), "{part}: {plan}");
    }
    terminal.type_and_read("1 a\n", "takes all of it back");
    assert_eq!(terminal.read_to_end().1, Some(0));
    assert!(user.read(".claude/CLAUDE.md").starts_with("Be brief.\n\nPalazzo (MCP) is"));
    assert!(!user.path(".codex/AGENTS.md").exists());
    let (code, shown) = user.setup(&["--remove", "--yes"]);
    assert_eq!(code, 0, "{shown}");
    assert_eq!(user.read(".claude/CLAUDE.md"), "Be brief.\n");
    assert_eq!(user.list_files(), before);
}

#[test]
#[cfg(unix)]
fn a_line_in_another_file_leaves_the_letters_of_the_usual_ones() {
    use crate::walk::Terminal;
    let user = user_with_claude_code();
    user.write(".codex/config.toml", "");
    let start = |file: &str| {
        let mut command = user.command(env!("CARGO_BIN_EXE_palazzo"));
        command.args(["setup", "--home", &user.path("palaces").display().to_string()]);
        command.args(["--instructions", file]);
        Terminal::start_command(command, 120)
    };
    let mut terminal = start("notes.md");
    let plan = terminal.read_until("to leave out: ");
    assert!(
        plan.contains("6. Instructions: ") && plan.contains("a or b to add that part"),
        "{plan}"
    );
    terminal.type_and_read("?\n", "a or b adds that part to the rest.");
    terminal.read_until("to leave out: ");
    terminal.type_and_read("a 1\n", "takes all of it back");
    assert_eq!(terminal.read_to_end().1, Some(0));
    assert!(user.read("notes.md").starts_with("Palazzo (MCP) is"));
    assert!(user.read(".claude/CLAUDE.md").starts_with("Palazzo (MCP) is"));
    // A file that is named has no letter beside its number.
    let mut terminal = start(".codex/AGENTS.md");
    let plan = terminal.read_until("to leave out: ");
    assert!(plan.contains("AGENTS.md") && !plan.contains("by its letter"), "{plan}");
    terminal.type_and_read("n\n", "Nothing is written.");
}

#[test]
#[cfg(unix)]
fn a_removal_leaves_nothing_of_its_own_in_the_folder_of_the_state() {
    let state = ".local/state/palazzo";
    let user = user_with_claude_code();
    let home = user.path("palaces").display().to_string();
    let set_up = ["--all", "--yes", "--home", &home];
    assert_eq!(user.setup(&set_up).0, 0);
    // The palace stays, and other commands still find its home.
    assert_eq!(user.setup(&["--remove", "--yes"]).0, 0);
    let list = || {
        let entries = fs::read_dir(user.path(state)).unwrap();
        let mut names: Vec<_> = entries.map(|it| it.unwrap().file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(list(), ["last-home", "last-home.lock"]);
    // Without the palace, its home is of no use.
    fs::remove_dir_all(&home).unwrap();
    assert_eq!(user.setup(&["--remove", "--yes"]).0, 0);
    assert!(!user.path(state).exists());
    // A folder of the person's own stays.
    fs::create_dir_all(user.path(".local/state")).unwrap();
    assert_eq!(user.setup(&["--yes", "--home", &home]).0, 0);
    assert_eq!(user.setup(&["--remove", "--yes"]).0, 0);
    assert!(user.path(".local/state").exists() && !user.path(state).exists());
    // One that the set-up has made does not, unless something else is in it.
    fs::remove_dir_all(user.path(".local")).unwrap();
    assert_eq!(user.setup(&["--yes", "--home", &home]).0, 0);
    assert_eq!(user.setup(&["--remove", "--yes"]).0, 0);
    assert!(!user.path(".local").exists());
    assert_eq!(user.setup(&["--yes", "--home", &home]).0, 0);
    user.write(".local/state/palazzo/walk-history", "look\n");
    assert_eq!(user.setup(&["--remove", "--yes"]).0, 0);
    let (_, shown) = user.setup(&["--yes", "--home", &home]);
    assert!(!shown.contains("Commands without"), "{shown}");
    let (_, shown) = user.setup(&["--remove", "--yes"]);
    assert!(
        shown.contains("What other commands keep for themselves stays too: `rm -r "),
        "{shown}"
    );
    assert_eq!(list(), ["walk-history"]);
}

#[test]
#[cfg(target_os = "linux")]
fn a_set_up_of_another_home_says_which_one_commands_use() {
    let user = user_with_claude_code();
    user.write(".local/share/palazzo/shop/palace.toml", "name = \"Shop\"\n");
    let home = user.path("other").display().to_string();
    let (code, shown) = user.setup(&["--yes", "--home", &home]);
    let used = user.path(".local/share/palazzo").display().to_string();
    let expected = format!("Commands without `--home {home}` use {used}, the default.");
    assert!(code == 0 && shown.contains(&expected), "{shown}");
}

#[test]
#[cfg(target_os = "linux")]
fn in_a_folder_that_was_removed_nothing_is_called_damaged() {
    let user = user_with_claude_code();
    let home = user.path("palaces").display().to_string();
    assert_eq!(user.setup(&["--yes", "--palace", "shop", "--home", &home]).0, 0);
    std::fs::create_dir(user.path("gone")).unwrap();
    let script = format!("rmdir ../gone; exec \"$PALAZZO\" log --home {home}");
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &script]).current_dir(user.path("gone"));
    let output = shell.env("PALAZZO", env!("CARGO_BIN_EXE_palazzo")).output().unwrap();
    let shown = String::from_utf8(output.stderr).unwrap();
    assert!(shown.contains("find the current folder"), "{shown}");
    assert!(!shown.contains("damaged"), "{shown}");
}

#[test]
fn a_removal_names_the_palaces_that_stay() {
    let user = user_with_claude_code();
    let home = user.path("palaces").display().to_string();
    assert_eq!(user.setup(&["--yes", "--palace", "shop", "--home", &home]).0, 0);
    let (_, shown) = user.setup(&["--remove", "--yes"]);
    let expected = format!("The palace stays. `rm -r {home}/shop` deletes it, but not its history");
    assert!(shown.contains(&expected), "{shown}");
}

#[test]
fn an_older_entry_of_claude_code_gets_the_setting_that_loads_the_tools_at_once() {
    let user = user_with_claude_code();
    assert_eq!(user.setup(&["--yes", "--home", "/a"]).0, 0);
    let current = user.read(".claude.json");
    let mut config: Value = serde_json::from_str(&current).unwrap();
    config["mcpServers"]["palazzo"].as_object_mut().unwrap().remove("alwaysLoad");
    user.write(".claude.json", &config.to_string());
    let (code, shown) = user.setup(&["--yes"]);
    assert!(code == 0 && shown.contains("+ alwaysLoad: true"), "{shown}");
    let config: Value = serde_json::from_str(&user.read(".claude.json")).unwrap();
    assert_eq!(config["mcpServers"]["palazzo"]["alwaysLoad"], true);
    // Who has turned it off keeps that.
    user.write(".claude.json", &current.replace("true", "false"));
    let (_, shown) = user.setup(&["--yes"]);
    assert!(shown.contains("`palazzo` is there already"), "{shown}");
    assert_eq!(user.setup(&["--remove", "--yes"]).0, 0);
    assert_eq!(user.read(".claude.json"), "{}");
}

#[test]
fn a_palace_is_committed_beside_the_files_of_others_only_with_consent() {
    let home = Home::new();
    home.write("src/main.rs", "fn main() {}\n");
    home.git(&["init", "-q"]);
    home.git(&["add", "-A"]);
    home.git(&["-c", "user.name=Eve", "-c", "user.email=e@example.org", "commit", "-qm", "begin"]);
    let place = home.path().join("palaces").display().to_string();
    let init = |arguments: &[&str]| {
        let output = home.run_palazzo(&[&["init", "--home", &place], arguments].concat());
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, refused) = init(&["Keep"]);
    assert_eq!(code, Some(2), "{refused}");
    assert!(refused.contains("which has other content (src/)"), "{refused}");
    assert!(refused.contains("--yes") && !home.path().join("palaces").exists(), "{refused}");
    let (code, created) = init(&["Keep", "--yes"]);
    assert_eq!(code, Some(0), "{created}");
    let work = home.path().display().to_string();
    assert!(
        created.starts_with(&format!("Created Keep in the git repository {work}. ")),
        "{created}"
    );
    // Who has a palace there has consented.
    assert_eq!(init(&["Loft"]).0, Some(0));
}
