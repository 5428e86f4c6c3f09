//! The output of the program in a terminal.

use std::io::{Read, Write};
use std::process::{Output, Stdio};

use insta::assert_snapshot;

use crate::harness::{Home, MARCH_1};

/// Returns both output streams and the exit status of a command, with temporary
/// directories replaced by names.
fn format_output(home: &Home, output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let all = format!(
        "{}[err] {}[exit {}]",
        text(&output.stdout),
        text(&output.stderr),
        output.status.code().unwrap()
    );
    all.replace(&home.path().display().to_string(), "HOME")
        .replace(env!("CARGO_BIN_EXE_palazzo"), "PALAZZO")
}

fn run(home: &Home, arguments: &[&str]) -> String {
    format_output(home, &home.run_palazzo(arguments))
}

#[test]
fn a_palace_is_created_from_a_template_and_shown() {
    let home = Home::new();
    let story = [
        run(&home, &["templates"]),
        run(&home, &["init", "My Code", "--template", "codebase"]),
        run(&home, &["init", "My Code"]),
        run(&home, &["init", "Other", "--template", "codebse"]),
        run(&home, &["check"]),
        run(&home, &["map"]),
        run(&home, &["show", "bug-crypt"]),
        run(&home, &["show", "bug-cript"]),
        run(&home, &["show", "../../etc/passwd"]),
    ];
    assert_snapshot!(story.join("\n\n"));
    home.assert_clean_repository();
    assert!(home.read("my-code/palace.toml").contains("name = \"My Code\""));
}

#[test]
fn the_map_is_drawn_as_a_picture() {
    let home = Home::new();
    home.run_palazzo(&["init", "Survey", "--template", "paradigm-survey"]);
    let file = home.path().with_file_name("map.svg");
    let output = home.run_palazzo(&["map", "--svg", file.to_str().unwrap()]);
    assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
    let picture = std::fs::read_to_string(&file).unwrap();
    assert!(picture.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""), "{picture}");
    for name in ["Great Hall", "Hall of Geology", "Cuvier's Study", "Catastrophism Alcov"] {
        assert!(picture.contains(name), "{name}: {picture}");
    }
    let printed = home.run_palazzo(&["map", "--svg", "-"]);
    assert_eq!(String::from_utf8(printed.stdout).unwrap(), picture);
    let missing = home.path().join("none/map.svg");
    let refused = home.run_palazzo(&["map", "--svg", missing.to_str().unwrap()]);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("none/map.svg cannot be written"), "{said}");
    home.assert_clean_repository();
}

#[test]
fn commands_explain_what_to_do_without_exactly_one_palace() {
    let home = Home::new();
    let mut story = vec![run(&home, &["map"]), run(&home, &["walk"]), run(&home, &["check"])];
    home.run_palazzo(&["init", "One"]);
    home.run_palazzo(&["init", "Two"]);
    story.extend([
        run(&home, &["map"]),
        run(&home, &["map", "--workspace", "two"]),
        run(&home, &["map", "--workspace", "three"]),
        run(&home, &["show"]),
        run(&home, &["walk"]),
    ]);
    assert_snapshot!(story.join("\n\n"));
}

#[test]
fn the_help_lists_the_commands_in_groups() {
    assert_snapshot!(run(&Home::new(), &["--help"]));
}

#[test]
fn older_names_of_commands_still_work() {
    let home = Home::new();
    home.run_palazzo(&["init", "Code", "--template", "codebase"]);
    home.write("notes/plan.md", "# Plan\n\nBuild a shed.\n");
    let notes = home.path().join("notes").display().to_string();
    let place = home.path().display().to_string();
    for (older, now) in [
        (&["templates", "--home", &place][..], &["init", "--list", "--home", &place][..]),
        (&["templates", "--format", "json"], &["init", "--list", "--format", "json"]),
        (&["conflicts", &place], &["resolve", "--home", &place]),
        (&["conflicts", "--format", "json"], &["resolve", "--format", "json"]),
        (&["embed", &place], &["search", "--index", "--home", &place]),
        (&["mine", &notes, "--dry-run"], &["import", &notes, "--dry-run"]),
        (&["client-config"], &["setup", "--print"]),
        (&["client-config", "cursor", "--link"], &["setup", "--print", "cursor", "--link"]),
        (
            &["client-config", "codex", "--tools", "memory", "--propose", "ideas"],
            &["setup", "--print", "codex", "--tools", "memory", "--propose", "ideas"],
        ),
    ] {
        let said = run(&home, older);
        assert_eq!(said, run(&home, now), "{older:?}");
        assert!(!said.contains("Usage:"), "{said}");
    }
    let help = run(&home, &["hook", "--help"]);
    assert!(help.contains("Usage: palazzo hook <COMMAND>"), "{help}");
}

#[test]
fn a_workspace_narrows_the_commands_for_a_whole_home() {
    let home = Home::new();
    home.run_palazzo(&["init", "Code", "--template", "codebase"]);
    home.run_palazzo(&["init", "Other"]);
    home.write("other/rooms/hall.yaml", "name: [\n");
    for command in ["check", "fmt", "doctor", "trust", "proposals"] {
        let narrowed = run(&home, &[command, "--workspace", "code"]);
        assert!(!narrowed.contains("other"), "{command}: {narrowed}");
    }
    assert!(run(&home, &["check"]).contains("other/rooms/hall.yaml"));
    let unknown = run(&home, &["check", "--workspace", "nope"]);
    assert!(unknown.contains("nope") && unknown.ends_with("[exit 2]"), "{unknown}");
}

#[test]
fn walk_reads_action_numbers_from_standard_input() {
    let home = Home::new();
    home.run_palazzo(&["init", "Code", "--template", "codebase"]);
    let mut walk = home
        .palazzo_command(MARCH_1)
        .arg("walk")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let typed = "15\nhelp\n16 bug-crypt\nscroll A smell\nIt drips.\n.\n21\n99\nq\n";
    walk.stdin.take().unwrap().write_all(typed.as_bytes()).unwrap();
    let output = walk.wait_with_output().unwrap();
    assert_snapshot!(format_output(&home, &output));
    assert!(
        home.git(&["log", "-1", "--format=%an: %s"]).starts_with("ada: scroll bug-crypt: A smell")
    );
}

#[test]
fn a_closed_output_pipe_ends_the_program_silently() {
    let home = Home::new();
    home.run_palazzo(&["init", "Code", "--template", "codebase"]);
    for arguments in [&["map"][..], &["show"], &["completions", "bash"], &["templates"]] {
        let mut command = home.palazzo_command(MARCH_1);
        command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!((said.as_str(), child.wait().unwrap().code()), ("", Some(0)), "{arguments:?}");
    }
}

#[test]
fn control_characters_in_files_never_reach_the_terminal() {
    let home = Home::new();
    home.run_palazzo(&["init", "Code"]);
    let room = "name: \"Red\\e[31m\"\ndescription: \"a\\e[2Jb\\a\\u202Ec\"\n\"k\\e[2J\": 1\n";
    home.write("code/rooms/hall.yaml", room);
    home.write("code/rooms/b\u{1b}[2Jad.yaml", "\"d\\e[2J\": 1\n\"d\\e[2J\": 2\n");
    home.write("code/palace.toml", "format = 1\nname = \"P\\u001B[2J\"\n\"k\\u001B[2J\" = 1\n");
    for arguments in [&["map"][..], &["show"], &["check"], &["map", "--workspace", "\u{1b}[2J"]] {
        // Forced colours show the output of a terminal.
        let output = home
            .palazzo_command(MARCH_1)
            .env("CLICOLOR_FORCE", "1")
            .args(arguments)
            .output()
            .unwrap();
        let all = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        for odd in ["\u{1b}[2J", "\u{1b}[31mRed", "Red\u{1b}[31m", "\u{7}", "\u{202e}"] {
            assert!(!all.contains(odd), "{arguments:?}: {all:?}");
        }
        assert!(all.contains("\u{1b}["), "no colours, no test: {all:?}");
    }
}

#[test]
fn client_config_prints_the_configuration_of_every_client() {
    let home = Home::new();
    let clients = ["claude-code", "claude-desktop", "cursor", "vscode", "codex"];
    let story: Vec<_> = clients.iter().map(|it| run(&home, &["client-config", it])).collect();
    let odd = run(&home, &["client-config", "codex", "--home", "/a \"b\"/it's"]);
    let shell = run(&home, &["client-config", "claude-code", "--home", "/a \"b\"/it's"]);
    assert_snapshot!(format!("{}\n\n{odd}\n\n{shell}", story.join("\n\n")));
}

#[test]
fn a_palace_is_found_from_its_subfolders() {
    let home = Home::new();
    home.run_palazzo(&["init", "Code", "--template", "codebase"]);
    let mut command = home.palazzo_command(MARCH_1);
    command.env_remove("PALAZZO_HOME").current_dir(home.path().join("code/rooms"));
    let output = command.args(["check"]).output().unwrap();
    assert!(String::from_utf8(output.stderr).unwrap().starts_with("1 palace, 5 rooms"));
}

#[test]
fn a_folder_that_contains_palaces_is_a_home() {
    let home = Home::new();
    home.run_palazzo(&["init", "Code", "--template", "codebase"]);
    let inside = |folder: &str, arguments: &[&str]| {
        let mut command = home.palazzo_command(MARCH_1);
        command.env_remove("PALAZZO_HOME").current_dir(home.path().join(folder));
        format_output(&home, &command.args(arguments).output().unwrap())
    };
    let map = inside("", &["map"]);
    assert!(map.contains("── Map of Code ──"), "{map}");
    assert_eq!(inside("code/rooms", &["map"]), map);
    home.run_palazzo(&["init", "Survey"]);
    let several =
        "[err] palazzo: there are several palaces: give --workspace NAME (Code, Survey)\n[exit 2]";
    for command in ["map", "log", "show", "undo"] {
        assert_eq!(inside("", &[command]), several);
    }
}

#[test]
fn the_home_is_an_option_of_every_command_and_an_argument_of_some() {
    let home = Home::new();
    home.run_palazzo(&["init", "Code", "--template", "codebase"]);
    let place = home.path().display().to_string();
    let outside = |arguments: &[&str]| {
        let mut command = home.palazzo_command(MARCH_1);
        let output = command.env_remove("PALAZZO_HOME").args(arguments).output().unwrap();
        format_output(&home, &output)
    };
    for command in ["map", "walk", "check", "doctor", "trust", "embed", "fmt"] {
        let with_option = outside(&[command, "--home", &place]);
        assert_eq!(with_option, outside(&[command, &place]), "{command}");
        assert!(!with_option.contains("there is no palace"), "{command}: {with_option}");
    }
    let summary = outside(&["wake-up", "--workspace", "Code", "--home", &place]);
    assert!(summary.contains("Code"), "{summary}");
    assert_eq!(summary, outside(&["wake-up", "Code", "--home", &place]));
}

#[test]
fn the_home_given_last_is_used_when_no_other_is_found() {
    let home = Home::new();
    let place = home.path().display().to_string();
    let outside = |arguments: &[&str]| {
        let mut command = home.palazzo_command(MARCH_1);
        let output = command.env_remove("PALAZZO_HOME").args(arguments).output().unwrap();
        format_output(&home, &output)
    };
    assert!(outside(&["log"]).contains("there is no palace in"));
    outside(&["init", "Code", "--home", &place]);
    let log = outside(&["log"]);
    let note = "[err] palazzo: the home is HOME, which was given last; --home or $PALAZZO_HOME \
                chooses another\n";
    assert!(log.contains("palace code: create") && log.contains(note), "{log}");
    assert_eq!(log.matches("given last").count(), 1);
    // Naming the home without success, or in another command, changes nothing.
    outside(&["init", "Code", "--home", "/proc/nowhere"]);
    outside(&["map", "--home", "elsewhere"]);
    assert_eq!(outside(&["log"]), log);
    // The home in the data folder comes first.
    let data = home.path().with_file_name(".local").join("share/palazzo").display().to_string();
    outside(&["client-config", "--home", &data]);
    outside(&["init", "Data"]);
    let log = outside(&["log"]);
    assert!(log.contains("palace data: create") && !log.contains("given last"), "{log}");
}

#[test]
fn a_home_given_twice_is_refused() {
    let home = Home::new();
    home.run_palazzo(&["init", "Code"]);
    let place = home.path().display().to_string();
    assert_snapshot!(run(&home, &["init", "--repository", &place, "--home", "elsewhere"]), @"
    [err] palazzo: `--repository DIR` and `--home DIR` both name the home: give one of them
    [exit 2]
    ");
    let init = run(&home, &["init", "--repository", "--home", &place]);
    assert!(init.contains("Every palace in HOME has a repository."), "{init}");
    let templates = run(&home, &["templates", "--home", &place]);
    assert_eq!(templates, run(&home, &["templates"]));
}
