//! The MCP clients that Palazzo knows: their names, the format of their configuration, and the entry
//! by which each starts a server.

pub(super) mod config_file;
pub(super) mod places;
pub(super) mod server;

use clap::ValueEnum;
use serde_json::{Value, json};

use crate::cli::client::server::{HttpEndpoint, ServerCommand};
use crate::config_edit::{ConfigFormat, EntryFields, EntryPlace};

/// An MCP client, or a client of the language server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(super) enum Client {
    ClaudeCode,
    ClaudeDesktop,
    Cursor,
    Vscode,
    Codex,
    Gemini,
    Zed,
    Windsurf,
    Opencode,
    Goose,
    LmStudio,
    #[cfg_attr(not(feature = "language-server"), value(skip), expect(dead_code))]
    Lsp,
}

/// The field of Claude Code that loads the tools of a server at once.
const ALWAYS_LOAD: &str = "alwaysLoad";

/// The seconds that goose waits for an answer.
const GOOSE_TIMEOUT_SECS: u32 = 300;

impl Client {
    /// Returns the name as an argument of a command.
    pub(super) fn name(self) -> String {
        self.to_possible_value().map(|it| it.get_name().to_owned()).unwrap_or_default()
    }

    /// Returns the name of the product.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::ClaudeDesktop => "Claude Desktop",
            Self::Cursor => "Cursor",
            Self::Vscode => "VS Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
            Self::Zed => "Zed",
            Self::Windsurf => "Windsurf",
            Self::Opencode => "opencode",
            Self::Goose => "goose",
            Self::LmStudio => "LM Studio",
            Self::Lsp => "the language server",
        }
    }

    /// Returns the line that says where to put the configuration that `setup --print` prints.
    /// `user_file` is the place of the configuration of the user, if it is known.
    pub(super) fn placement_hint(self, user_file: Option<&str>) -> String {
        let (file, hint) = match self {
            Self::ClaudeCode => return "Run (add `-s user` for all your projects):".to_owned(),
            Self::ClaudeDesktop => (None, " (Settings, Developer, Edit Config)"),
            Self::Vscode => (None, " (or .vscode/mcp.json, for one folder)"),
            Self::LmStudio => (Some("mcp.json"), " (Program, Install, Edit mcp.json)"),
            Self::Lsp => (Some(".lsp.json of a plugin"), ""),
            Self::Zed => (None, " (command `zed: open settings file`)"),
            Self::Goose => (None, " (`goose info` shows the file)"),
            Self::Cursor | Self::Codex | Self::Gemini | Self::Windsurf | Self::Opencode => {
                (None, "")
            }
        };
        let file = file.or(user_file).unwrap_or("the configuration of the client");
        format!("Put into {file}{hint}:")
    }

    /// Returns the format of the configuration file.
    pub(super) fn format(self) -> ConfigFormat {
        match self {
            Self::Codex => ConfigFormat::Toml,
            Self::Goose => ConfigFormat::Yaml,
            _ => ConfigFormat::Json,
        }
    }

    /// Returns the place of a server in the configuration file.
    pub(super) fn entry_place(self, name: &str) -> EntryPlace<'_> {
        let section = match self {
            Self::Vscode => "servers",
            Self::Codex => "mcp_servers",
            Self::Zed => "context_servers",
            Self::Opencode => "mcp",
            Self::Goose => "extensions",
            _ => "mcpServers",
        };
        EntryPlace { section, name }
    }

    /// Returns the entry by which the client starts the server.
    pub(super) fn command_entry(self, server: &ServerCommand) -> EntryFields {
        let ServerCommand { name, program, arguments, .. } = server;
        to_fields(match self {
            Self::Opencode => {
                let command = [std::slice::from_ref(program), arguments].concat();
                json!({ "type": "local", "command": command, "enabled": true })
            }
            Self::Goose => json!({
                "name": name,
                "type": "stdio",
                "enabled": true,
                "cmd": program,
                "args": arguments,
                "timeout": GOOSE_TIMEOUT_SECS,
            }),
            // Claude Code would else load the tools only when it searches for them.
            Self::ClaudeCode => {
                json!({ "command": program, "args": arguments, ALWAYS_LOAD: true })
            }
            _ => json!({ "command": program, "args": arguments }),
        })
    }

    /// Returns the fields of an entry that name the command.
    pub(super) fn command_fields(self, server: &ServerCommand) -> EntryFields {
        let mut fields = self.command_entry(server);
        fields.retain(|key, _| matches!(key.as_str(), "command" | "cmd" | "args"));
        fields
    }

    /// Returns the fields that an entry of an older set-up does not have yet.
    pub(super) fn missing_fields(self, server: &ServerCommand, entry: &Value) -> EntryFields {
        let mut fields = self.command_entry(server);
        fields.retain(|key, _| key == ALWAYS_LOAD && entry.get(key).is_none());
        fields
    }

    /// Returns the entry by which the client connects to a server over HTTP; the error says why it
    /// cannot.
    pub(super) fn http_entry(self, endpoint: &HttpEndpoint) -> Result<EntryFields, &'static str> {
        let (url, authorization) = (&endpoint.url, endpoint.authorization());
        let headers = json!({ "Authorization": authorization });
        Ok(to_fields(match self {
            Self::ClaudeCode | Self::Cursor | Self::Vscode => {
                json!({ "type": "http", "url": url, "headers": headers })
            }
            Self::Codex => json!({ "url": url, "http_headers": headers }),
            Self::Gemini => json!({ "httpUrl": url, "headers": headers }),
            Self::Zed | Self::LmStudio => json!({ "url": url, "headers": headers }),
            Self::Windsurf => json!({ "serverUrl": url, "headers": headers }),
            Self::Opencode => {
                json!({ "type": "remote", "url": url, "enabled": true, "headers": headers })
            }
            Self::Goose => json!({
                "name": "palazzo",
                "type": "streamable_http",
                "enabled": true,
                "uri": url,
                "headers": headers,
                "timeout": GOOSE_TIMEOUT_SECS,
            }),
            Self::ClaudeDesktop => {
                return Err(
                    "Claude Desktop connects to servers over HTTP by OAuth only: leave out \
                            --http, and it starts a server of its own",
                );
            }
            Self::Lsp => return Err("the language server has no HTTP: leave out --http"),
        }))
    }
}

/// Returns the command in an entry of any client, with its arguments.
pub(super) fn entry_command(entry: &Value) -> Option<Vec<String>> {
    let texts = |it: &Value| -> Vec<String> {
        it.as_array().into_iter().flatten().filter_map(|it| Some(it.as_str()?.to_owned())).collect()
    };
    let command = entry.get("command").or_else(|| entry.get("cmd"))?;
    let mut words = match command {
        Value::String(program) => vec![program.clone()],
        Value::Array(_) => texts(command),
        // An older form of Zed.
        _ => {
            return entry_command(
                &json!({ "command": command.get("path")?, "args": command.get("args") }),
            );
        }
    };
    words.extend(entry.get("args").map(texts).unwrap_or_default());
    (!words.is_empty()).then_some(words)
}

fn to_fields(value: Value) -> EntryFields {
    match value {
        Value::Object(fields) => fields,
        _ => EntryFields::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::client::server::runs_palazzo;

    #[test]
    fn the_command_of_an_entry_is_found_in_the_form_of_each_client() {
        let server = ServerCommand {
            name: "palazzo",
            program: "/bin/palazzo".to_owned(),
            arguments: vec!["serve".to_owned(), "/a".to_owned()],
            is_home_given: true,
        };
        for client in Client::value_variants() {
            let entry = client.command_entry(&server).into();
            let command = entry_command(&entry).unwrap();
            assert_eq!(command, ["/bin/palazzo", "serve", "/a"], "{client:?}");
            assert!(runs_palazzo(&command));
            assert!(entry_command(&client.command_fields(&server).into()).is_some());
        }
        let old = json!({ "command": { "path": "env", "args": ["palazzo", "serve"] } });
        assert!(runs_palazzo(&entry_command(&old).unwrap()));
        for other in [json!({}), json!({ "command": [] }), json!({ "url": "x" }), json!(1)] {
            assert_eq!(entry_command(&other), None);
        }
        assert!(!runs_palazzo(&["npx".to_owned(), "/home/palazzo".to_owned()]));
    }
}
