//! `palazzo setup` and `setup --remove`, in the home folder of a user with clients.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

/// Each client with the place of its configuration on Linux, and one that a person has written.
#[cfg(target_os = "linux")]
const CLIENTS: [(&str, &str, &str); 10] = [
    (
        "claude-code",
        ".claude.json",
        "{\n  \"numStartups\": 3,\n  \"projects\": {\n    \"/a\": {\n      \"mcpServers\": {\n        \"palazzo\": {\n          \"command\": \"npx\"\n        }\n      }\n    }\n  }\n}",
    ),
    ("claude-desktop", ".config/Claude/claude_desktop_config.json", "{}"),
    ("cursor", ".cursor/mcp.json", "{\"mcpServers\":{\"files\":{\"command\":\"npx\"}}}\n"),
    (
        "vscode",
        ".config/Code/User/mcp.json",
        "{\r\n\t// mine\r\n\t\"servers\": {\r\n\t},\r\n\t\"inputs\": []\r\n}\r\n",
    ),
    (
        "codex",
        ".codex/config.toml",
        "# mine\nmodel = \"x\"\n\n[mcp_servers.files]\ncommand = \"npx\" # why\nargs = [\n  \"a\", # b\n]",
    ),
    (
        "gemini",
        ".gemini/settings.json",
        "\u{feff}{ \"mcpServers\": { \"files\": { \"command\": \"npx\", \"trust\": true } } }",
    ),
    (
        "zed",
        ".config/zed/settings.json",
        "// Zed settings\n{\n    \"theme\": \"One\", // dark\n    \"context_servers\": {\n        \"files\": {\n            \"command\": \"npx\",\n        }, // keep\n        // \"off\": {},\n    },\n}\n",
    ),
    ("windsurf", ".codeium/windsurf/mcp_config.json", ""),
    (
        "opencode",
        ".config/opencode/opencode.jsonc",
        "{\n  \"$schema\": \"https://opencode.ai/config.json\",\n  \"mcp\": {}\n}\n",
    ),
    (
        "goose",
        ".config/goose/config.yaml",
        "# mine\nGOOSE_MODEL: \"a: b\"\nextensions:\n    # built in\n    developer:\n        enabled: true\n        type: builtin\n\n# end\n",
    ),
];

/// A user with a home folder.
pub(crate) struct User {
    folder: tempfile::TempDir,
}

impl User {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Returns a command in the environment of the user, without programs.
    pub(crate) fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        let folder = self.folder.path();
        // No client is there.
        command.env_clear().env("HOME", folder).env("PATH", folder.join("no programs"));
        command.current_dir(self.folder.path());
        command
    }

    pub(crate) fn palazzo(&self, arguments: &[&str]) -> Output {
        self.command(env!("CARGO_BIN_EXE_palazzo")).args(arguments).output().unwrap()
    }

    /// Runs `palazzo setup`; returns its exit code and what it prints.
    pub(crate) fn setup(&self, arguments: &[&str]) -> (i32, String) {
        let output = self.palazzo(&[&["setup"], arguments].concat());
        let text = [output.stdout, output.stderr].concat();
        (output.status.code().unwrap(), String::from_utf8(text).unwrap())
    }

    /// Lists what is in the home folder, without the state of Palazzo.
    pub(crate) fn list_files(&self) -> Vec<String> {
        let mut pending = vec![self.folder.path().to_owned()];
        let mut found = Vec::new();
        while let Some(folder) = pending.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let name = path.strip_prefix(self.folder.path()).unwrap();
                let name = name.to_str().unwrap().to_owned();
                if name.starts_with(".local") {
                    continue;
                }
                if path.is_dir() {
                    pending.push(path);
                }
                found.push(name);
            }
        }
        found.sort();
        found
    }
}

#[test]
#[cfg(target_os = "linux")]
fn clients_without_a_configuration_get_one_that_is_removed_without_a_trace() {
    let user = User::new();
    assert_eq!(user.setup(&["--yes"]).0, 1);
    let names = CLIENTS.map(|(name, _, _)| name).join(",");
    let (code, shown) = user.setup(&["--yes", "--client", &names, "--home", "/palaces"]);
    assert_eq!(code, 0, "{shown}");
    for (name, file, _) in CLIENTS {
        let file = file.replace("jsonc", "json");
        let text = user.read(&file);
        assert!(text.contains("serve") && text.contains("/palaces"), "{name}: {text}");
        assert!(text.ends_with('\n'), "{name}: {text}");
        let place = user.path(&file);
        assert!(shown.contains(&format!(": {}\n  a new file:\n", place.display())), "{shown}");
    }
    let doctor = String::from_utf8(user.palazzo(&["doctor"]).stdout).unwrap();
    assert_eq!(doctor.matches("\nclient ").count(), CLIENTS.len(), "{doctor}");
    let (code, shown) = user.setup(&["--yes", "--home", "/palaces"]);
    assert_eq!((code, shown.matches("`palazzo` is there already").count()), (0, 10), "{shown}");
    let (code, shown) = user.setup(&["--yes", "--remove"]);
    assert_eq!(code, 0, "{shown}");
    assert_eq!(user.list_files(), Vec::<String>::new(), "{shown}");
    let (code, shown) = user.setup(&["--remove"]);
    assert!(code == 0 && shown.starts_with("No client on this machine has an entry"), "{shown}");
}

#[test]
#[cfg(target_os = "linux")]
fn clients_that_are_removed_one_by_one_leave_no_folder() {
    let user = User::new();
    let clients = ["zed", "goose", "vscode"];
    for client in clients {
        assert_eq!(user.setup(&["--yes", "--client", client, "--home", "/palaces"]).0, 0);
    }
    for client in clients {
        assert_eq!(user.setup(&["--yes", "--remove", "--client", client]).0, 0);
    }
    assert_eq!(user.list_files(), Vec::<String>::new());
}

#[test]
#[cfg(target_os = "linux")]
fn configurations_are_byte_for_byte_as_before_after_the_removal() {
    let user = User::new();
    for (_, file, text) in CLIENTS {
        user.write(file, text);
    }
    let (code, shown) = user.setup(&["--yes", "--home", "/palaces"]);
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains("Only the entries of clients were wanted. `--all` adds"), "{shown}");
    for (name, file, text) in CLIENTS {
        assert_ne!(user.read(file), text, "{name}");
    }
    // Another tool set has an entry of its own.
    assert_eq!(user.setup(&["--yes", "--home", "/palaces", "--tools", "memory"]).0, 0);
    assert!(user.read(".codex/config.toml").contains("[mcp_servers.memory]"));
    // Another home: the entry is updated.
    let (code, shown) = user.setup(&["--yes", "--home", "/other"]);
    assert_eq!((code, shown.matches("written").count()), (0, 10), "{shown}");
    for (name, file, _) in CLIENTS {
        let text = user.read(file);
        assert!(text.contains("/other"), "{name}: {text}");
    }
    let (code, shown) = user.setup(&["--yes", "--remove"]);
    assert_eq!(code, 0, "{shown}");
    for (name, file, text) in CLIENTS {
        assert_eq!(user.read(file), text, "{name}");
    }
}

#[test]
fn nothing_is_written_without_consent() {
    let user = User::new();
    user.write(".cursor/mcp.json", "{}");
    for arguments in [&["--home", "/a"][..], &["--dry-run", "--home", "/a"]] {
        let (code, shown) = user.setup(arguments);
        assert_eq!(code, i32::from(arguments.len() == 2), "{shown}");
        assert!(shown.contains("+     \"palazzo\": {"), "{shown}");
        assert_eq!(user.list_files(), [".cursor", ".cursor/mcp.json"]);
        assert_eq!(user.read(".cursor/mcp.json"), "{}");
    }
}

#[test]
#[cfg(unix)]
fn what_cannot_be_changed_safely_is_left_alone_and_named() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let user = User::new();
    user.write(".cursor/mcp.json", "{\n  \"mcpServers\": {\n    broken\n  }\n}\n");
    user.write(".codex/config.toml", "[mcp_servers.palazzo]\ncommand = \"npx\"\n");
    user.write(".codeium/windsurf/mcp_config.json", "{}");
    let locked = user.path(".codeium/windsurf/mcp_config.json");
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o444)).unwrap();
    fs::create_dir_all(user.path(".gemini/settings.json")).unwrap();
    user.write("dotfiles/claude.json", "{\"a\": 1}");
    symlink("dotfiles/claude.json", user.path(".claude.json")).unwrap();
    let before = user.list_files();
    let (code, shown) = user.setup(&[
        "--yes",
        "--home",
        "/a \"b\"/it's",
        "--client",
        "cursor,codex,windsurf,gemini,claude-code,lm-studio",
    ]);
    assert_eq!(code, 1, "{shown}");
    for part in [
        "left alone: line 3: ",
        "correct it and run this again\n",
        "its entry `palazzo` starts or connects to something else; remove it if Palazzo",
        "mcp_config.json\n  left alone: it is read-only; add the entry by hand",
        "left alone: it is not a file of at most 64 MiB",
        "LM Studio: -\n  left alone: the place of its configuration is not known",
        "(palazzo setup --print gemini)",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(user.path(".claude.json").is_symlink());
    let written: Value = serde_json::from_str(&user.read("dotfiles/claude.json")).unwrap();
    assert_eq!(written["mcpServers"]["palazzo"]["args"][1], "/a \"b\"/it's");
    assert_eq!(user.list_files(), before);
    let (code, shown) = user.setup(&["--yes", "--remove"]);
    assert!(code == 1 && shown.contains("left alone: line 3: "), "{shown}");
    assert_eq!(user.read("dotfiles/claude.json"), "{\"a\": 1}");
    assert_eq!(user.read(".codex/config.toml"), "[mcp_servers.palazzo]\ncommand = \"npx\"\n");
}

#[test]
fn an_older_entry_is_updated_and_keeps_what_the_user_has_set() {
    let user = User::new();
    let old = "{\"mcpServers\": {\"palazzo\": {\"command\": \"/old/palazzo\", \"args\": [\"serve\", \"/old\", \"--tools\", \"palace\"], \"trust\": true}}}";
    user.write(".gemini/settings.json", old);
    let doctor = String::from_utf8(user.palazzo(&["doctor"]).stdout).unwrap();
    assert!(doctor.contains("the program does not exist; palazzo setup updates"), "{doctor}");
    assert_eq!(user.setup(&["--yes", "--home", "/a"]).0, 0);
    let new: Value = serde_json::from_str(&user.read(".gemini/settings.json")).unwrap();
    let entry = &new["mcpServers"]["palazzo"];
    assert_eq!(entry["command"], env!("CARGO_BIN_EXE_palazzo"));
    assert_eq!(entry["args"], json!(["serve", "/a", "--tools", "palace"]));
    assert_eq!(entry["trust"], true);
    // Setup has not added the entry, so there is no record.
    let (code, shown) = user.setup(&["--yes", "--remove"]);
    assert!(code == 0 && shown.contains("no record"), "{shown}");
    assert_eq!(user.read(".gemini/settings.json"), "{\"mcpServers\": {}}");
}

#[test]
fn options_of_an_entry_stay_and_so_does_its_home_unless_one_is_given() {
    let user = User::new();
    let entry_of = |arguments: &[&str]| {
        let config = json!({ "mcpServers": { "palazzo": { "command": "/old/palazzo", "args": arguments } } });
        user.write(".cursor/mcp.json", &config.to_string());
    };
    let updated = |arguments: &[&str]| {
        let (code, shown) = user.setup(&[&["--yes", "--client", "cursor"], arguments].concat());
        assert_eq!(code, 0, "{shown}");
        let config: Value = serde_json::from_str(&user.read(".cursor/mcp.json")).unwrap();
        config["mcpServers"]["palazzo"]["args"].clone()
    };
    entry_of(&["serve", "--read-only", "/a"]);
    assert_eq!(updated(&[]), json!(["serve", "--read-only", "/a"]));
    assert_eq!(updated(&["--home", "/b"]), json!(["serve", "/b", "--read-only"]));
    let tools = json!(["serve", "--tools", "palace", "/b", "--read-only"]);
    assert_eq!(updated(&["--tools", "palace"]), tools);
    entry_of(&["serve", "/a", "--from-the-future"]);
    let (code, shown) = user.setup(&["--yes", "--client", "cursor"]);
    assert!(code == 1 && shown.contains("has no option `--from-the-future`"), "{shown}");
}

#[test]
fn an_entry_that_has_become_another_server_stays() {
    let user = User::new();
    let arguments = ["--yes", "--client", "cursor", "--home", "/a", "--tools", "memory"];
    assert_eq!(user.setup(&arguments).0, 0);
    let other =
        r#"{"mcpServers":{"memory":{"command":"npx","args":["other"],"env":{"KEY":"hunter2"}}}}"#;
    user.write(".cursor/mcp.json", other);
    let (code, shown) = user.setup(&["--yes", "--remove"]);
    assert!(code == 0 && shown.contains("`memory` is another server now, and stays"), "{shown}");
    assert!(shown.contains("record removed: ") && !shown.contains("hunter2"), "{shown}");
    assert_eq!(user.read(".cursor/mcp.json"), other);
    assert!(user.setup(&["--remove"]).1.starts_with("No client on this machine"));
}

#[test]
#[cfg(unix)]
fn an_entry_names_the_link_by_which_the_program_was_started() {
    let user = User::new();
    fs::create_dir(user.path("bin")).unwrap();
    let link = user.path("bin/palazzo");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_palazzo"), &link).unwrap();
    let mut command = user.command("/bin/sh");
    command.env("PATH", format!("{}:/usr/bin:/bin", user.path("bin").display()));
    command.args(["-c", "palazzo setup --yes --client cursor; palazzo client-config"]);
    let output = command.output().unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(shown.contains(&format!("-- {} serve", link.display())), "{shown}");
    let config: Value = serde_json::from_str(&user.read(".cursor/mcp.json")).unwrap();
    assert_eq!(config["mcpServers"]["palazzo"]["command"], link.to_str().unwrap());
    let doctor = String::from_utf8(user.palazzo(&["doctor"]).stdout).unwrap();
    assert!(!doctor.contains("another program"), "{doctor}");
}

#[test]
fn an_entry_through_another_program_stays_and_a_failed_set_up_keeps_the_record() {
    let user = User::new();
    let npx =
        r#"{"mcpServers":{"palazzo":{"command":"npx","args":["-y","palazzo","serve","/a"]}}}"#;
    user.write(".cursor/mcp.json", npx);
    let (code, shown) = user.setup(&["--client", "cursor", "--yes", "--home", "/a"]);
    assert!(code == 0 && shown.contains("is there already, by npx"), "{shown}");
    user.setup(&["--remove", "--yes"]);
    assert_eq!(user.read(".cursor/mcp.json"), npx);
    // A client that is named twice has one file.
    user.write(".cursor/mcp.json", "{}");
    let twice = ["--client", "cursor", "--client", "cursor", "--yes", "--home", "/a"];
    assert_eq!(user.setup(&twice).0, 0);
    assert_eq!(user.setup(&["--client", "cursor,cursor", "--remove", "--yes"]).0, 0);
    assert_eq!(user.read(".cursor/mcp.json"), "{}");
}

#[test]
#[cfg(target_os = "linux")]
fn what_is_beside_an_entry_of_palazzo_is_never_shown() {
    let (cursor, codex) = (".cursor/mcp.json", ".codex/config.toml");
    let user = User::new();
    let shown = || {
        let inserted = user.setup(&["--dry-run", "--home", "/new"]).1;
        inserted + &user.setup(&["--dry-run", "--remove"]).1
    };
    let comment = "    // { \"KEY\": \"hunter2\" }\n";
    user.write(cursor, &format!("{{\n  \"mcpServers\": {{\n    \"a\": {{}}\n{comment}  }}\n}}\n"));
    let entry = "[mcp_servers.palazzo]\ncommand = \"/old/palazzo\"\nargs = [\"serve\", \"/old\"]\n";
    let other = "[mcp_servers.other]\nenv = { KEY = \"hunter2\" }\n";
    let env = "[mcp_servers.palazzo.env]\nA = \"hunter2\"\n";
    user.write(codex, &[entry, other, env].concat());
    let both = shown();
    assert!(both.contains("- command: \"/old/palazzo\"") && !both.contains("hunter2"), "{both}");
    user.write(
        cursor,
        r#"{"mcpServers":{"palazzo":{"command":"/old/palazzo","env":{"KEY":"hunter2"},"args":["serve","/old"]}}}"#,
    );
    let both = shown();
    assert!(both.contains("- palazzo: /old/palazzo serve") && !both.contains("hunter2"), "{both}");
}

#[test]
#[cfg(target_os = "linux")]
fn an_entry_in_an_older_form_of_zed_is_left_alone() {
    let file = ".config/zed/settings.json";
    let text = r#"{"context_servers":{"palazzo":{"command":{"path":"/old/palazzo","args":["serve"],"env":{"A":"b"}}}}}"#;
    let user = User::new();
    user.write(file, text);
    let (code, shown) = user.setup(&["--yes", "--client", "zed", "--home", "/new"]);
    assert!(code == 1 && shown.contains("has an older form; remove it"), "{shown}");
    assert_eq!(user.read(file), text);
}

#[test]
fn what_others_add_meanwhile_stays() {
    let user = User::new();
    user.write(".cursor/keep", "");
    assert_eq!(user.setup(&["--yes", "--client", "cursor", "--home", "/a"]).0, 0);
    let mut config: Value = serde_json::from_str(&user.read(".cursor/mcp.json")).unwrap();
    config["mcpServers"]["other"] = json!({ "command": "npx" });
    user.write(".cursor/mcp.json", &format!("{config:#}\n"));
    assert_eq!(user.setup(&["--yes", "--remove"]).0, 0);
    assert_eq!(
        user.read(".cursor/mcp.json"),
        "{\n  \"mcpServers\": {\n    \"other\": {\n      \"command\": \"npx\"\n    }\n  }\n}\n"
    );
    // The record is lost.
    assert_eq!(user.setup(&["--yes", "--client", "codex", "--home", "/a"]).0, 0);
    fs::remove_dir_all(user.path(".local/state/palazzo")).unwrap();
    let (code, shown) = user.setup(&["--yes", "--remove"]);
    assert!(code == 0 && shown.contains("there is no record"), "{shown}");
    assert_eq!(user.read(".codex/config.toml"), "");
}

#[test]
fn a_file_that_a_variable_has_moved_is_found_again_for_the_removal() {
    let user = User::new();
    let mut command = user.command(env!("CARGO_BIN_EXE_palazzo"));
    command.env("CODEX_HOME", user.path("moved")).args(["setup", "--yes", "--client", "codex"]);
    assert!(command.output().unwrap().status.success());
    assert_eq!(user.list_files(), ["moved", "moved/config.toml"]);
    assert_eq!(user.setup(&["--yes", "--remove"]).0, 0);
    assert_eq!(user.list_files(), Vec::<String>::new());
}

#[test]
#[cfg(unix)]
fn a_file_that_was_replaced_by_a_link_is_found_again_for_the_removal() {
    let user = User::new();
    user.write(".cursor/mcp.json", "{ }");
    assert_eq!(user.setup(&["--yes", "--client", "cursor", "--home", "/palaces"]).0, 0);
    fs::create_dir(user.path("dotfiles")).unwrap();
    fs::rename(user.path(".cursor/mcp.json"), user.path("dotfiles/mcp.json")).unwrap();
    std::os::unix::fs::symlink("../dotfiles/mcp.json", user.path(".cursor/mcp.json")).unwrap();
    let (code, shown) = user.setup(&["--yes", "--remove"]);
    assert!(code == 0 && !shown.contains("no record"), "{shown}");
    assert_eq!(user.read("dotfiles/mcp.json"), "{ }");
    let (_, shown) = user.setup(&["--remove"]);
    assert!(shown.starts_with("No client on this machine has an entry"), "{shown}");
}

#[test]
fn a_link_is_printed_for_the_clients_that_open_links() {
    let user = User::new();
    let output = user.palazzo(&["client-config", "cursor", "--link", "--home", "/a"]);
    let link = String::from_utf8(output.stdout).unwrap();
    let start = "cursor://anysphere.cursor-deeplink/mcp/install?name=palazzo&config=";
    assert!(output.status.success() && link.starts_with(start), "{link}");
    let refused = user.palazzo(&["client-config", "zed", "--link", "--home", "/a"]);
    let refusal = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(refusal.contains("Zed has no install links"), "{refusal}");
}
