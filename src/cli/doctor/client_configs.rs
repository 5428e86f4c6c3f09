//! Finds the MCP clients whose configuration starts Palazzo. Reads only.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::cli::home::env_path;

/// The largest configuration that is read.
const MAX_BYTES: u64 = 64 << 20;

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

/// Reads the configurations of the user, and of the project in `here`.
pub(super) fn read_client_configs(here: &Path) -> ClientConfigs {
    let user = env_path("HOME").or_else(|| env_path("USERPROFILE"));
    let mut configs = ClientConfigs::default();
    for (client, file) in configuration_files(user.as_deref(), here) {
        match read_servers(client, &file) {
            Ok(servers) => configs.servers.extend(servers),
            Err(reason) => configs.unreadable.push(UnreadableConfig { client, file, reason }),
        }
    }
    configs
}

/// Returns the places where clients keep their configuration.
fn configuration_files(user: Option<&Path>, here: &Path) -> Vec<(&'static str, PathBuf)> {
    let in_user_folder = [
        ("Claude Code", ".claude.json"),
        ("Claude Desktop", ".config/Claude/claude_desktop_config.json"),
        ("Claude Desktop", "Library/Application Support/Claude/claude_desktop_config.json"),
        ("Claude Desktop", "AppData/Roaming/Claude/claude_desktop_config.json"),
        ("Cursor", ".cursor/mcp.json"),
        ("VS Code", ".config/Code/User/mcp.json"),
        ("VS Code", "Library/Application Support/Code/User/mcp.json"),
        ("VS Code", "AppData/Roaming/Code/User/mcp.json"),
        ("Codex", ".codex/config.toml"),
        ("Gemini", ".gemini/settings.json"),
        ("Windsurf", ".codeium/windsurf/mcp_config.json"),
    ];
    let in_project = [
        ("Claude Code", ".mcp.json"),
        ("Cursor", ".cursor/mcp.json"),
        ("VS Code", ".vscode/mcp.json"),
        ("Codex", ".codex/config.toml"),
        ("Gemini", ".gemini/settings.json"),
    ];
    let of_user = user.iter().flat_map(|folder| in_user_folder.map(|(c, it)| (c, folder.join(it))));
    let of_project = in_project.map(|(client, it)| (client, here.join(it)));
    let mut files: Vec<_> = of_user.chain(of_project).collect();
    // The project may be the user's own folder.
    files.sort();
    files.dedup();
    files
}

/// Returns the servers of a configuration that run Palazzo; none of a file that does not exist.
/// Returns the reason if the file cannot be read.
fn read_servers(client: &'static str, file: &Path) -> Result<Vec<ConfiguredServer>, String> {
    let metadata = match fs::metadata(file) {
        Ok(metadata) => metadata,
        Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(err) => return Err(err.to_string()),
    };
    if !metadata.is_file() || metadata.len() > MAX_BYTES {
        return Err("it is not a file of at most 64 MiB".to_owned());
    }
    let text = fs::read_to_string(file).map_err(|it| it.to_string())?;
    let commands = match file.extension().is_some_and(|it| it == "toml") {
        true => {
            let document: toml_edit::DocumentMut =
                text.parse().map_err(|it: toml_edit::TomlError| it.message().to_owned())?;
            commands_in_toml(&document)
        }
        false if text.trim().is_empty() => Vec::new(),
        false => {
            let value = serde_json::from_str(&text)
                .map_err(|it| format!("it is not JSON without comments: {it}"))?;
            commands_in_json(&value)
        }
    };
    let palazzo = commands.into_iter().filter(|(_, command)| runs_palazzo(command));
    let server =
        |(name, command)| ConfiguredServer { client, file: file.to_owned(), name, command };
    Ok(palazzo.map(server).collect())
}

/// Returns the commands below the keys `mcpServers` and `servers` at any depth: Claude Code has
/// servers for each project too.
fn commands_in_json(value: &Value) -> Vec<(String, Vec<String>)> {
    let Some(object) = value.as_object() else { return Vec::new() };
    let mut commands = Vec::new();
    for (key, value) in object {
        if let ("mcpServers" | "servers", Some(servers)) = (key.as_str(), value.as_object()) {
            let command = |it: &Value| {
                let program = it.get("command")?.as_str()?.to_owned();
                let arguments = it.get("args").and_then(Value::as_array).into_iter().flatten();
                let arguments = arguments.filter_map(|it| it.as_str().map(str::to_owned));
                Some(std::iter::once(program).chain(arguments).collect())
            };
            commands
                .extend(servers.iter().filter_map(|(name, it)| Some((name.clone(), command(it)?))));
        }
        commands.extend(commands_in_json(value));
    }
    commands
}

/// Returns the commands below the key `mcp_servers`.
fn commands_in_toml(document: &toml_edit::DocumentMut) -> Vec<(String, Vec<String>)> {
    let servers = document.get("mcp_servers").and_then(toml_edit::Item::as_table_like);
    let command = |it: &toml_edit::Item| {
        let program = it.get("command")?.as_str()?.to_owned();
        let arguments = it.get("args").and_then(toml_edit::Item::as_array).into_iter().flatten();
        let arguments = arguments.filter_map(|it| it.as_str().map(str::to_owned));
        Some(std::iter::once(program).chain(arguments).collect())
    };
    let servers = servers.into_iter().flat_map(toml_edit::TableLike::iter);
    servers.filter_map(|(name, it)| Some((name.to_owned(), command(it)?))).collect()
}

/// Returns whether a command runs Palazzo itself, or another program, such as `env`, that runs
/// `palazzo serve`.
fn runs_palazzo(command: &[String]) -> bool {
    let is_palazzo = |it: &String| {
        let name = it.rsplit(['/', '\\']).next().unwrap_or_default();
        name.strip_suffix(".exe").unwrap_or(name) == "palazzo"
    };
    command.first().is_some_and(is_palazzo)
        || command.windows(2).any(|it| is_palazzo(&it[0]) && it[1] == "serve")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn servers(name: &str, text: &str) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(name);
        fs::write(&file, text).unwrap();
        match read_servers("Client", &file) {
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
            "mcpServers": {
                "palazzo": {"command": "/bin/palazzo", "args": ["serve", "/a b"]},
                "other": {"command": "npx", "args": ["-y", "server-files", "/home/palazzo"]}
            },
            "projects": {"/work": {"mcpServers": {"mine": {"command": "palazzo.exe"}}}}
        }"#;
        let found = servers("claude.json", text);
        assert_eq!(found, ["palazzo: /bin/palazzo serve /a b", "mine: palazzo.exe"]);
        let reason =
            "it is not JSON without comments: EOF while parsing an object at line 1 column 1";
        assert_eq!(servers("broken.json", "{"), [reason]);
        assert!(servers("empty.json", "").is_empty());
        assert_eq!(read_servers("Client", Path::new("/nowhere/a.json")), Ok(Vec::new()));
    }

    #[test]
    fn servers_are_found_in_toml() {
        let text = "[mcp_servers.palazzo]\ncommand = \"env\"\n\
                    args = [\"A=1\", \"palazzo\", \"serve\"]\n\
                    [mcp_servers.other]\ncommand = \"other\"\n";
        assert_eq!(servers("config.toml", text), ["palazzo: env A=1 palazzo serve"]);
        assert_eq!(servers("broken.toml", "=").len(), 1);
    }

    #[test]
    fn a_configuration_of_the_user_and_the_project_is_read_once() {
        let files = configuration_files(Some(Path::new("/home/ada")), Path::new("/home/ada"));
        let cursor = files.iter().filter(|(client, _)| *client == "Cursor");
        assert_eq!(cursor.count(), 1);
    }
}
