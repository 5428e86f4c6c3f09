//! The hook of Claude Code follows the home of the client, and what a person has made of it stays.

use serde_json::Value;

use crate::setup::User;

const SETTINGS: &str = ".claude/settings.json";

/// Settings in which a hook was added in different layouts.
const LAYOUTS: [&str; 4] = [
    "{}",
    "{ \"hooks\": { \"Stop\": [] } } // end\n",
    "{\r\n\t// mine\r\n\t\"hooks\": {\r\n\t\t\"SessionStart\": [\r\n\t\t\t{ \"hooks\": [] }, // old\r\n\t\t],\r\n\t},\r\n}\r\n",
    "\u{feff}{\"hooks\":{},\"model\":\"opus\"}",
];

/// Returns a user who has set up Claude Code with a hook, and what the settings were before.
fn user_with_hook(settings: &str) -> User {
    let user = User::new();
    user.write(".claude.json", "{}");
    user.write(SETTINGS, settings);
    let options = ["--hooks", "--allow-tools", "--yes", "--home", "/old"];
    let (code, shown) = user.setup(&options);
    assert_eq!(code, 0, "{shown}");
    user
}

fn hook_command(user: &User) -> String {
    let text = user.read(SETTINGS);
    let at = text.find(" hook session-start ").unwrap();
    let start = text[..at].rfind('"').unwrap();
    let end = at + text[at..].find('"').unwrap();
    serde_json::from_str(&text[start..=end]).unwrap()
}

#[test]
#[cfg(unix)]
fn a_hook_gets_the_new_home_of_the_client_and_is_taken_back_byte_for_byte() {
    for settings in LAYOUTS {
        let user = user_with_hook(settings);
        let before = user.read(SETTINGS);
        let (code, shown) = user.setup(&["--yes", "--home", "/it's new"]);
        assert_eq!(code, 0, "{shown}");
        let line = |sign, home: &str| {
            format!("\n  {sign} hooks.SessionStart: {}", hook_command(&user).replace(QUOTED, home))
        };
        assert!(shown.contains(&(line('-', "/old") + &line('+', QUOTED))), "{shown}");
        let in_json = format!("--home {}", QUOTED.replace('\\', r"\\"));
        assert_eq!(user.read(SETTINGS), before.replace("--home /old", &in_json));
        let (code, shown) = user.setup(&["--yes"]);
        assert!(code == 0 && !shown.contains("hooks.SessionStart"), "{shown}");
        assert_eq!(user.setup(&["--remove", "--yes"]).0, 0);
        assert_eq!(user.read(SETTINGS), settings);
    }
}

/// A home with a space and an apostrophe, as a shell reads it.
#[cfg(unix)]
const QUOTED: &str = r"'/it'\''s new'";

#[test]
#[cfg(unix)]
fn the_program_and_the_options_of_a_hook_are_treated_as_those_of_the_entry() {
    let user = user_with_hook("{}");
    let command = hook_command(&user);
    let program = command.split_once(" hook ").unwrap().0;
    let older = "/gone/palazzo hook session-start --home /old --workspace=x --budget 300";
    user.write(SETTINGS, &user.read(SETTINGS).replace(&command, older));
    let (code, shown) = user.setup(&["--yes"]);
    assert!(code == 0 && shown.contains(&format!("- hooks.SessionStart: {older}")), "{shown}");
    assert_eq!(hook_command(&user), older.replace("/gone/palazzo", program));
    assert_eq!(user.setup(&["--yes", "--home", "/new", "--hooks"]).0, 0);
    let newest = format!("{program} hook session-start --home /new --workspace=x --budget 300");
    assert_eq!(hook_command(&user), newest);
    // Another client has no part in it.
    user.write(".cursor/mcp.json", "{}");
    assert_eq!(user.setup(&["--yes", "--client", "cursor", "--home", "/other"]).0, 0);
    assert_eq!(hook_command(&user), newest);
    assert_eq!(user.setup(&["--remove", "--yes"]).0, 0);
    assert_eq!(user.read(SETTINGS), "{}");
}

#[test]
#[cfg(unix)]
fn a_hook_that_a_person_has_changed_stays_and_is_named() {
    let user = user_with_hook("{}");
    let changed = user.read(SETTINGS).replace("--budget 2000", "--budget 2000 | head -50");
    user.write(SETTINGS, &changed);
    let (code, shown) = user.setup(&["--yes", "--hooks"]);
    assert!(code == 0 && shown.contains("the hook is there already"), "{shown}");
    let (code, shown) = user.setup(&["--yes", "--home", "/new"]);
    let why =
        "left alone: its hook of Palazzo was changed by hand, and keeps its home /old; correct";
    assert!(code == 1 && shown.contains(why), "{shown}");
    assert_eq!(user.read(SETTINGS), changed);
    let doctor = doctor(&user);
    assert!(doctor.contains("it was changed by hand, correct it by hand\n"), "{doctor}");
    // A second hook, which is not the person's only one.
    let mut settings: Value = serde_json::from_str(&changed).unwrap();
    let list = settings["hooks"]["SessionStart"].as_array_mut().unwrap();
    list.push(list[0].clone());
    user.write(SETTINGS, &settings.to_string());
    let (code, shown) = user.setup(&["--yes", "--home", "/newer"]);
    assert!(code == 1 && shown.contains("left alone: it has 2 hooks of Palazzo; "), "{shown}");
}

fn doctor(user: &User) -> String {
    String::from_utf8(user.palazzo(&["doctor"]).stdout).unwrap()
}

#[test]
#[cfg(unix)]
fn the_doctor_names_a_hook_whose_home_is_not_that_of_the_client() {
    let user = user_with_hook("{}");
    let line = format!(
        "hook   Claude Code, SessionStart in {}: home /old\n",
        user.path(SETTINGS).display()
    );
    let shown = doctor(&user);
    assert!(shown.contains(&line) && !shown.contains("another home"), "{shown}");
    let entry = user.read(".claude.json").replace("\"/old\"", "\"/new\"");
    user.write(".claude.json", &entry);
    let problem = "the server of Claude Code has another home, /new; palazzo setup --home /new \
                   updates it";
    let shown = doctor(&user);
    assert!(shown.contains(&format!("{line}       {problem}\n")), "{shown}");
    let report = user.palazzo(&["doctor", "--format", "json"]).stdout;
    let report: Value = serde_json::from_slice(&report).unwrap();
    assert_eq!(report["hooks"][0]["home"], "/old");
    assert_eq!(report["hooks"][0]["problem"], problem);
    assert_eq!(user.setup(&["--yes", "--home", "/new"]).0, 0);
    let shown = doctor(&user);
    assert!(!shown.contains("another home"), "{shown}");
}
