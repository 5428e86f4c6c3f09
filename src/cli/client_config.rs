//! `palazzo client-config`: prints the configuration, or the command, by which a client
//! starts the server, or its language server.

use std::process::ExitCode;

use clap::ValueEnum;
use serde_json::json;

use crate::cli::home::{self, HomeArgs};
use crate::cli::http_server::{DEFAULT_URL, http_access};
use crate::cli::outcome::{Failure, Outcome};
use crate::cli::serve::reject_duplicate_tools;
use crate::cli::terminal;
use crate::mcp::{ToolSet, Toolbox};
use crate::model::quote_for_shell;

/// Print the configuration or command that makes an MCP client use Palazzo
#[derive(clap::Args)]
pub(super) struct Args {
    /// The client
    #[arg(default_value = "claude-code")]
    client: Client,

    #[command(flatten)]
    home: HomeArgs,

    /// The tool sets to offer, as for `palazzo serve`: `memory` replaces the
    /// reference memory server, `mempalace` replaces MemPalace
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    tools: Vec<ToolSet>,

    /// Let the server write to this branch as a proposal, as for `palazzo serve`
    #[arg(long, value_name = "BRANCH")]
    propose: Option<String>,

    /// Print the configuration for a server over HTTP, with its token; URL is that of another
    /// machine or port
    #[arg(long, value_name = "URL", num_args = 0..=1, require_equals = true, default_missing_value = DEFAULT_URL, conflicts_with_all = ["tools", "home", "workspace", "propose"])]
    http: Option<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Client {
    ClaudeCode,
    ClaudeDesktop,
    Cursor,
    Vscode,
    Codex,
    Lsp,
}

/// The command by which a client starts the server, and the server's name there.
struct ServerCommand {
    name: &'static str,
    program: String,
    arguments: Vec<String>,
}

/// The server over HTTP that a client connects to.
struct HttpEndpoint {
    url: String,
    token: String,
}

pub(super) fn run(args: &Args) -> Outcome {
    reject_duplicate_tools(Toolbox::new(args.tools.clone()))?;
    let config = match &args.http {
        Some(url) => HttpEndpoint::new(url)?.config(args.client)?,
        None => ServerCommand::from_args(args).config(args.client),
    };
    anstream::eprintln!("{}", args.client.instruction());
    terminal::print_text(&config)?;
    home::remember_home(args.home.given());
    Ok(ExitCode::SUCCESS)
}

impl Client {
    /// Tells where the configuration belongs.
    fn instruction(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Run (add `-s user` for all your projects):",
            Self::ClaudeDesktop => {
                "Put into claude_desktop_config.json (Settings, Developer, Edit Config):"
            }
            Self::Cursor => "Put into ~/.cursor/mcp.json:",
            Self::Vscode => "Put into .vscode/mcp.json:",
            Self::Codex => "Put into ~/.codex/config.toml:",
            Self::Lsp => "Put into .lsp.json of a plugin:",
        }
    }
}

impl HttpEndpoint {
    /// Uses the token of this user for the server at `url`.
    fn new(url: &str) -> Result<Self, Failure> {
        let base = url.trim_end_matches('/');
        if !base.starts_with("http://") && !base.starts_with("https://") {
            return Err(Failure::Message(format!(
                "`{url}` is no address of a server: write {DEFAULT_URL}, for example"
            )));
        }
        let url = format!("{}/mcp", base.strip_suffix("/mcp").unwrap_or(base));
        Ok(Self { url, token: http_access()?.token()? })
    }

    fn config(&self, client: Client) -> Result<String, Failure> {
        let refuse = |why: &str| Err(Failure::Message(why.to_owned()));
        match client {
            Client::ClaudeCode => Ok(self.claude_mcp_add_command()),
            Client::Cursor => Ok(self.json_config("mcpServers")),
            Client::Vscode => Ok(self.json_config("servers")),
            Client::Codex => Ok(self.toml_config()),
            Client::ClaudeDesktop => refuse(
                "Claude Desktop connects to servers over HTTP by OAuth only: leave out --http, and \
                 it starts a server of its own",
            ),
            Client::Lsp => refuse("the language server has no HTTP: leave out --http"),
        }
    }

    fn authorization(&self) -> String {
        format!("Bearer {}", self.token)
    }

    fn claude_mcp_add_command(&self) -> String {
        let url = quote_for_shell(&self.url);
        let header = quote_for_shell(&format!("Authorization: {}", self.authorization()));
        format!("claude mcp add --transport http palazzo {url} --header {header}")
    }

    fn json_config(&self, key: &str) -> String {
        let headers = json!({ "Authorization": self.authorization() });
        let server = json!({ "type": "http", "url": self.url, "headers": headers });
        format!("{:#}", json!({ key: { "palazzo": server } }))
    }

    fn toml_config(&self) -> String {
        let text = |it: &str| toml_edit::Value::from(it).to_string().trim().to_owned();
        let (url, authorization) = (text(&self.url), text(&self.authorization()));
        format!(
            "[mcp_servers.palazzo]\nurl = {url}\nhttp_headers = {{ Authorization = {authorization} }}"
        )
    }
}

impl ServerCommand {
    fn from_args(args: &Args) -> Self {
        let home = args.home.find().display().to_string();
        let mut arguments = vec!["serve".to_owned(), home];
        let tools: Vec<_> = args.tools.iter().map(|it| it.name()).collect();
        if !tools.is_empty() {
            arguments.extend(["--tools".to_owned(), tools.join(",")]);
        }
        if let Some(name) = args.home.workspace() {
            arguments.extend(["--workspace".to_owned(), name.to_owned()]);
        }
        if let Some(branch) = &args.propose {
            arguments.extend(["--propose".to_owned(), branch.clone()]);
        }
        // A tool set that replaces another server keeps that server's name.
        let name = match tools.as_slice() {
            ["memory"] => "memory",
            ["mempalace"] => "mempalace",
            _ => "palazzo",
        };
        let program = std::env::current_exe();
        let program = program.map_or("palazzo".to_owned(), |it| it.display().to_string());
        Self { name, program, arguments }
    }

    fn config(&self, client: Client) -> String {
        match client {
            Client::ClaudeCode => self.claude_mcp_add_command(),
            Client::ClaudeDesktop | Client::Cursor => self.json_config("mcpServers"),
            Client::Vscode => self.json_config("servers"),
            Client::Codex => self.toml_config(),
            Client::Lsp => self.lsp_config(),
        }
    }

    fn claude_mcp_add_command(&self) -> String {
        let words = std::iter::once(&self.program).chain(&self.arguments);
        let words: Vec<_> = words.map(|it| quote_for_shell(it)).collect();
        format!("claude mcp add {} -- {}", self.name, words.join(" "))
    }

    fn json_config(&self, key: &str) -> String {
        let Self { name, program, arguments } = self;
        let config = json!({ key: { *name: { "command": program, "args": arguments } } });
        format!("{config:#}")
    }

    fn lsp_config(&self) -> String {
        let languages = json!({ ".yaml": "yaml" });
        let config = json!({ "palazzo": { "command": self.program, "args": ["lsp"], "extensionToLanguage": languages } });
        format!("{config:#}")
    }

    fn toml_config(&self) -> String {
        let text = |it: &String| toml_edit::Value::from(it).to_string();
        let arguments: Vec<_> = self.arguments.iter().map(text).collect();
        let (program, arguments) = (text(&self.program), arguments.join(", "));
        format!("[mcp_servers.{}]\ncommand = {program}\nargs = [{arguments}]", self.name)
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    fn server_command(arguments: &[&str]) -> ServerCommand {
        let arguments = arguments.iter().map(|it| (*it).to_owned()).collect();
        ServerCommand { name: "palazzo", program: "/bin/palazzo".to_owned(), arguments }
    }

    fn args(tools: &[ToolSet], workspace: Option<&str>) -> Args {
        Args {
            client: Client::ClaudeCode,
            home: HomeArgs::new("/a", workspace),
            tools: tools.to_vec(),
            propose: None,
            http: None,
        }
    }

    fn endpoint() -> HttpEndpoint {
        HttpEndpoint { url: "http://127.0.0.1:7227/mcp".to_owned(), token: "secret".to_owned() }
    }

    #[test]
    fn a_client_of_a_server_over_http_sends_the_token() {
        let clients = [Client::ClaudeCode, Client::Cursor, Client::Codex];
        let configs = clients.map(|it| endpoint().config(it).unwrap());
        assert_snapshot!(configs.join("\n\n"), @r#"
        claude mcp add --transport http palazzo http://127.0.0.1:7227/mcp --header 'Authorization: Bearer secret'

        {
          "mcpServers": {
            "palazzo": {
              "type": "http",
              "url": "http://127.0.0.1:7227/mcp",
              "headers": {
                "Authorization": "Bearer secret"
              }
            }
          }
        }

        [mcp_servers.palazzo]
        url = "http://127.0.0.1:7227/mcp"
        http_headers = { Authorization = "Bearer secret" }
        "#);
        let refusal = endpoint().config(Client::ClaudeDesktop).unwrap_err().to_string();
        assert!(refusal.contains("OAuth"), "{refusal}");
    }

    #[test]
    fn json_lists_the_arguments_as_they_are() {
        assert_snapshot!(server_command(&["serve", "/a \"b\"/it's"]).json_config("servers"), @r#"
        {
          "servers": {
            "palazzo": {
              "command": "/bin/palazzo",
              "args": [
                "serve",
                "/a \"b\"/it's"
              ]
            }
          }
        }
        "#);
    }

    #[test]
    fn the_language_server_gets_no_home() {
        assert_snapshot!(server_command(&["serve", "/a", "--tools", "memory"]).lsp_config(), @r#"
        {
          "palazzo": {
            "command": "/bin/palazzo",
            "args": [
              "lsp"
            ],
            "extensionToLanguage": {
              ".yaml": "yaml"
            }
          }
        }
        "#);
    }

    #[test]
    fn toml_quotes_arguments_so_that_they_parse_to_the_same_values() {
        let odd = ["serve", "C:\\a \"b\"\\it's", "größe"];
        let config = server_command(&odd).toml_config();
        let parsed: toml_edit::DocumentMut = config.parse().unwrap();
        let server = &parsed["mcp_servers"]["palazzo"];
        let read: Vec<_> =
            server["args"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
        assert_eq!((server["command"].as_str(), read.as_slice()), (Some("/bin/palazzo"), &odd[..]));
    }

    #[test]
    fn the_command_for_claude_code_is_quoted_for_a_shell() {
        assert_snapshot!(
            server_command(&["serve", "/a b/it's", "--tools", "palace,graph"]).claude_mcp_add_command(),
            @r"claude mcp add palazzo -- /bin/palazzo serve '/a b/it'\''s' --tools 'palace,graph'"
        );
    }

    #[test]
    fn a_tool_set_that_replaces_a_server_has_its_name() {
        let name = |tools: &[ToolSet]| ServerCommand::from_args(&args(tools, None)).name;
        assert_eq!(name(&[]), "palazzo");
        assert_eq!(name(&[ToolSet::Memory]), "memory");
        assert_eq!(name(&[ToolSet::Mempalace]), "mempalace");
        assert_eq!(name(&[ToolSet::Palace, ToolSet::Memory]), "palazzo");
    }

    #[test]
    fn the_tool_sets_and_the_workspace_are_passed_to_the_server() {
        let arguments = |args| ServerCommand::from_args(&args).arguments.split_off(2).join(" ");
        let tools = [ToolSet::Palace, ToolSet::Memory];
        assert_eq!(arguments(args(&[], None)), "");
        assert_eq!(
            arguments(args(&tools, Some("My Code"))),
            "--tools palace,memory --workspace My Code"
        );
    }
}
