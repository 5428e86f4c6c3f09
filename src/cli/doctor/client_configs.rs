//! Finds the MCP clients whose configuration starts Palazzo, and its hooks in the settings of Claude
//! Code. Reads only.

use std::path::{Path, PathBuf};

use clap::ValueEnum as _;
use serde_json::Value;

use crate::cli::client::config_file::read_config;
use crate::cli::client::places::UserFolders;
use crate::cli::client::server::{runs_palazzo, served_home};
use crate::cli::client::{Client, entry_command};
use crate::cli::home::is_same_folder;
use crate::cli::hook::claude_settings::{START_EVENT, home_of_hook, palazzo_hooks};
use crate::cli::hook::start_command::StartCommand;
use crate::config_edit::ConfigFormat;
use palazzo_core::model::quote_for_shell;

/// A server in the configuration of a client that runs Palazzo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ConfiguredServer {
    /// The client.
    pub(super) client: &'static str,
    /// The file.
    pub(super) file: PathBuf,
    /// The name of the server in it.
    pub(super) name: String,
    /// The command that starts the server, with its arguments.
    pub(super) command: Vec<String>,
    /// Why the command is out of date.
    pub(super) problem: Option<&'static str>,
}

/// A configuration of a client that exists and cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UnreadableConfig {
    /// The client.
    pub(super) client: &'static str,
    /// The file.
    pub(super) file: PathBuf,
    /// Why it cannot be read.
    pub(super) reason: String,
}

/// The configurations of clients.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ClientConfigs {
    /// The servers that run Palazzo.
    pub(super) servers: Vec<ConfiguredServer>,
    /// The files that cannot be read.
    pub(super) unreadable: Vec<UnreadableConfig>,
}

/// A hook of Palazzo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ConfiguredHook {
    /// The settings.
    pub(super) file: PathBuf,
    /// The event at which the hook runs.
    pub(super) event: &'static str,
    /// The home; `None` if only a shell can tell it.
    pub(super) home: Option<String>,
    /// What is wrong with the home; `None`: it is that of a server in the settings of the client.
    pub(super) problem: Option<String>,
}

/// Reads the configurations of the user, and of the project in `here`.
pub(super) fn read_client_configs(here: &Path) -> ClientConfigs {
    let mut configs = ClientConfigs::default();
    for (client, file) in configuration_files(UserFolders::from_env().as_ref(), here) {
        match read_servers(client, &file) {
            Ok(servers) => configs.servers.extend(servers),
            Err(reason) => {
                let client = client.title();
                configs.unreadable.push(UnreadableConfig { client, file, reason });
            }
        }
    }
    configs
}

/// Returns the places where clients keep their configuration.
fn configuration_files(user: Option<&UserFolders>, here: &Path) -> Vec<(Client, PathBuf)> {
    let clients = Client::value_variants().iter();
    let mut files: Vec<_> = clients
        .flat_map(|client| {
            let of_user = user.and_then(|it| client.user_file(it));
            let of_project = client.project_file().map(|it| here.join(it));
            of_user.into_iter().chain(of_project).map(|it| (*client, it))
        })
        .collect();
    // The project may be the user's own folder.
    files.sort();
    files.dedup();
    files
}

/// Returns the servers of a configuration that run Palazzo; none of a file that does not exist.
/// Returns the reason if the file cannot be read.
fn read_servers(client: Client, file: &Path) -> Result<Vec<ConfiguredServer>, String> {
    let Some(text) = read_config(file)? else { return Ok(Vec::new()) };
    let config = client.format().parse(&text).map_err(|it| it.to_string())?;
    let mut commands = Vec::new();
    collect_commands(&config, client.entry_place("").section, &mut commands);
    let palazzo = commands.into_iter().filter(|(_, command)| runs_palazzo(command));
    let server = |(name, command): (String, Vec<String>)| ConfiguredServer {
        client: client.title(),
        file: file.to_owned(),
        name,
        problem: find_problem(&command),
        command,
    };
    Ok(palazzo.map(server).collect())
}

/// Collects the commands below the key of the servers at any depth: Claude Code has servers for
/// each project too.
fn collect_commands(value: &Value, section: &str, commands: &mut Vec<(String, Vec<String>)>) {
    let Some(object) = value.as_object() else { return };
    for (key, value) in object {
        if let (true, Some(servers)) = (key == section, value.as_object()) {
            let found = servers.iter();
            commands
                .extend(found.filter_map(|(name, it)| Some((name.clone(), entry_command(it)?))));
        } else {
            collect_commands(value, section, commands);
        }
    }
}

/// Returns what is out of date in a command that runs Palazzo.
fn find_problem(command: &[String]) -> Option<&'static str> {
    let program = Path::new(command.first()?);
    if !program.is_absolute() {
        return None;
    }
    let Ok(program) = dunce::canonicalize(program) else {
        return Some("the program does not exist; palazzo setup updates the entry");
    };
    let own = std::env::current_exe().and_then(dunce::canonicalize).ok()?;
    let is_other = program != own && program.file_name() == own.file_name();
    is_other.then_some("it is another program than this one; palazzo setup updates the entry")
}

/// Reads the hooks in the user's settings, and compares their homes with those of the user's servers.
pub(super) fn read_hooks(servers: &[ConfiguredServer]) -> Vec<ConfiguredHook> {
    let Some(folders) = UserFolders::from_env() else { return Vec::new() };
    let (file, entries) = (folders.claude_settings(), Client::ClaudeCode.user_file(&folders));
    let text = read_config(&file).ok().flatten().unwrap_or_default();
    let settings = ConfigFormat::Json.parse(&text).unwrap_or_default();
    let servers = servers.iter().filter(|it| entries.as_ref() == Some(&it.file));
    let served: Vec<_> = servers.filter_map(|it| served_home(&it.command)).collect();
    let hook = |(event, command)| {
        let home = home_of_hook(command);
        let problem = home.as_ref().and_then(|it| home_problem((event, command), it, &served));
        ConfiguredHook { file: file.clone(), event, home, problem }
    };
    palazzo_hooks(&settings).into_iter().map(hook).collect()
}

/// Returns what is wrong with a hook, an event and a command, whose home no server of the client has.
fn home_problem((event, command): (&str, &str), home: &str, served: &[String]) -> Option<String> {
    let first = served.first()?;
    if served.iter().any(|it| is_same_folder(Path::new(it), Path::new(home))) {
        return None;
    }
    let place = quote_for_shell(first);
    let advice = match (event == START_EVENT.0, StartCommand::parse(command)) {
        (true, Some(_)) => format!("palazzo setup --home {place} updates it"),
        (true, None) => "it was changed by hand, correct it by hand".to_owned(),
        (false, _) => format!("palazzo hook install --keep --home {place} replaces it"),
    };
    Some(format!("the server of Claude Code has another home, {place}; {advice}"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn servers(client: Client, text: &str) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config");
        fs::write(&file, text).unwrap();
        match read_servers(client, &file) {
            Ok(servers) => {
                let line = |it: ConfiguredServer| format!("{}: {}", it.name, it.command.join(" "));
                servers.into_iter().map(line).collect()
            }
            Err(reason) => vec![reason],
        }
    }

    #[test]
    fn servers_are_found_in_json_also_those_of_one_project() {
        let text = r#"{
            "mcpServers": { // with comments
                "palazzo": {"command": "/bin/palazzo", "args": ["serve", "/a b"]},
                "other": {"command": "npx", "args": ["-y", "server-files", "/home/palazzo"]},
            },
            "projects": {"/work": {"mcpServers": {"mine": {"command": "palazzo.exe"}}}}
        }"#;
        let found = servers(Client::ClaudeCode, text);
        assert_eq!(found, ["palazzo: /bin/palazzo serve /a b", "mine: palazzo.exe"]);
        assert_eq!(servers(Client::Cursor, "{"), ["line 1: Unterminated object"]);
        assert!(servers(Client::Cursor, "").is_empty());
        assert_eq!(read_servers(Client::Cursor, Path::new("/nowhere/a.json")), Ok(Vec::new()));
    }

    #[test]
    fn servers_are_found_in_the_form_of_each_client() {
        let text = "[mcp_servers.palazzo]\ncommand = \"env\"\n\
                    args = [\"A=1\", \"palazzo\", \"serve\"]\n\
                    [mcp_servers.other]\ncommand = \"other\"\n";
        assert_eq!(servers(Client::Codex, text), ["palazzo: env A=1 palazzo serve"]);
        assert_eq!(servers(Client::Codex, "=").len(), 1);
        let text =
            "{\"mcp\": {\"p\": {\"type\": \"local\", \"command\": [\"palazzo\", \"serve\"]}}}";
        assert_eq!(servers(Client::Opencode, text), ["p: palazzo serve"]);
        let text = "extensions:\n  p: {type: stdio, cmd: palazzo, args: [serve]}\n";
        assert_eq!(servers(Client::Goose, text), ["p: palazzo serve"]);
        let text = "{\"context_servers\": {\"p\": {\"command\": \"palazzo\"}}}";
        assert_eq!(servers(Client::Zed, text), ["p: palazzo"]);
    }

    #[test]
    fn a_program_that_is_gone_or_another_one_is_a_problem() {
        let problem = |it: &str| find_problem(&[it.to_owned()]).unwrap_or("none");
        assert_eq!(problem("palazzo"), "none");
        let own = std::env::current_exe().unwrap();
        assert_eq!(problem(own.to_str().unwrap()), "none");
        let folder = tempfile::tempdir().unwrap();
        let other = folder.path().join(own.file_name().unwrap());
        assert!(problem(other.to_str().unwrap()).starts_with("the program does not exist"));
        fs::write(&other, "").unwrap();
        assert!(problem(other.to_str().unwrap()).starts_with("it is another program"));
    }

    #[test]
    fn a_configuration_of_the_user_and_the_project_is_read_once() {
        let user = UserFolders::from_env().unwrap();
        let home = Client::Cursor.user_file(&user).unwrap();
        let home = home.ancestors().nth(2).unwrap();
        let files = configuration_files(Some(&user), home);
        let cursor = files.iter().filter(|(client, _)| *client == Client::Cursor);
        assert_eq!(cursor.count(), 1);
    }

    #[test]
    fn a_hook_with_the_home_of_no_server_is_a_problem() {
        let problem = |hook: (&str, &str), served: &[&str]| {
            let served: Vec<_> = served.iter().map(|it| (*it).to_owned()).collect();
            home_problem(hook, "/a", &served).unwrap_or_default()
        };
        let start = (START_EVENT.0, "palazzo hook session-start --home /a --budget 300");
        assert_eq!(problem(start, &[]), "");
        assert_eq!(problem(start, &["/b", "/a"]), "");
        let other = "the server of Claude Code has another home, /b; ";
        for (hook, advice) in [
            (start, "palazzo setup --home /b updates it"),
            (
                (START_EVENT.0, "A=1 palazzo hook session-start --home /a"),
                "it was changed by hand, correct it by hand",
            ),
            (
                ("SessionEnd", "palazzo hook session-end --home /a"),
                "palazzo hook install --keep --home /b replaces it",
            ),
        ] {
            assert_eq!(problem(hook, &["/b"]), format!("{other}{advice}"));
        }
    }
}
