//! `palazzo setup --print`, and its older name `palazzo client-config`: prints the configuration, or
//! the command, by which a client starts the server, or its language server; or a link that makes a
//! client ask its user to add the server.

use std::process::ExitCode;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use crate::cli::client::Client;
use crate::cli::client::places::UserFolders;
use crate::cli::client::server::{HttpEndpoint, ServerCommand};
use crate::cli::home::{self, HomeArgs};
use crate::cli::http_access::DEFAULT_URL;
use crate::cli::outcome::{Failure, Outcome};
use crate::cli::serve::reject_duplicate_tools;
use crate::cli::terminal;
use crate::config_edit::EntryFields;
use crate::mcp::{ToolSet, Toolbox};
use palazzo_core::model::quote_for_shell;

/// Print the configuration or command that makes an MCP client use Palazzo: `palazzo setup --print`
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

    #[command(flatten)]
    options: PrintOptions,
}

/// The options for what is printed.
#[derive(clap::Args)]
pub(super) struct PrintOptions {
    /// Let the server write to this branch as a proposal, as for `palazzo serve`
    #[arg(long, value_name = "BRANCH")]
    propose: Option<String>,

    /// Print the configuration for a server over HTTP, with its token; URL is that of another
    /// machine or port
    #[arg(long, value_name = "URL", num_args = 0..=1, require_equals = true, default_missing_value = DEFAULT_URL, conflicts_with_all = ["tools", "home", "workspace", "propose"])]
    http: Option<String>,

    /// Print a link that adds the server when it is opened (cursor, vscode, lm-studio)
    #[arg(long)]
    link: bool,
}

pub(super) fn run(args: &Args) -> Outcome {
    print_config(args.client, &args.home, &args.tools, &args.options)
}

/// Prints the configuration of a client that serves `home` with these tool sets.
pub(super) fn print_config(
    client: Client,
    home: &HomeArgs,
    tools: &[ToolSet],
    options: &PrintOptions,
) -> Outcome {
    reject_duplicate_tools(Toolbox::new(tools.to_vec()))?;
    let config = ClientConfig::new(client, home, tools, options)?;
    if options.link {
        let link = install_link(client, config.name, &config.fields).map_err(Failure::Message)?;
        anstream::eprintln!("Open on the machine of the client:");
        terminal::print_text(&link)?;
    } else {
        let folders = UserFolders::from_env();
        let user_file = folders.and_then(|it| Some(it.abbreviate(&client.user_file(&it)?)));
        anstream::eprintln!("{}", client.placement_hint(user_file.as_deref()));
        terminal::print_text(&config.text(client))?;
    }
    home::remember_home(home.given());
    Ok(ExitCode::SUCCESS)
}

/// The server as the configuration of a client describes it.
struct ClientConfig {
    name: &'static str,
    fields: EntryFields,
    /// The command that adds it to Claude Code.
    claude_mcp_add: String,
    program: String,
}

impl ClientConfig {
    fn new(
        client: Client,
        home: &HomeArgs,
        tools: &[ToolSet],
        options: &PrintOptions,
    ) -> Result<Self, Failure> {
        match &options.http {
            Some(url) => Self::for_http(client, &HttpEndpoint::new(url)?),
            None => {
                let server = ServerCommand::new(home, tools, options.propose.as_deref())?;
                Ok(Self::for_command(client, server))
            }
        }
    }

    fn for_command(client: Client, server: ServerCommand) -> Self {
        let words = std::iter::once(&server.program).chain(&server.arguments);
        let words: Vec<_> = words.map(|it| quote_for_shell(it)).collect();
        Self {
            name: server.name,
            fields: client.command_entry(&server),
            claude_mcp_add: format!("claude mcp add {} -- {}", server.name, words.join(" ")),
            program: server.program,
        }
    }

    fn for_http(client: Client, endpoint: &HttpEndpoint) -> Result<Self, Failure> {
        let fields = client.http_entry(endpoint);
        let fields = fields.map_err(|why| Failure::Message(why.to_owned()))?;
        let url = quote_for_shell(&endpoint.url);
        let header = quote_for_shell(&format!("Authorization: {}", endpoint.authorization()));
        let claude_mcp_add =
            format!("claude mcp add --transport http palazzo {url} --header {header}");
        Ok(Self { name: "palazzo", fields, claude_mcp_add, program: String::new() })
    }

    fn text(&self, client: Client) -> String {
        match client {
            Client::ClaudeCode => self.claude_mcp_add.clone(),
            Client::Lsp => {
                let languages = json!({ ".yaml": "yaml" });
                let server = json!({ "command": self.program, "args": ["lsp"], "extensionToLanguage": languages });
                format!("{:#}", json!({ "palazzo": server }))
            }
            _ => client.format().render(client.entry_place(self.name), &self.fields),
        }
    }
}

/// The characters that are escaped in a query: all but the unreserved ones of RFC 3986.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Returns the link that adds an entry to a client; the error says why there is none.
fn install_link(client: Client, name: &str, fields: &EntryFields) -> Result<String, String> {
    let config = Value::from(fields.clone());
    let base64 = || escape(&STANDARD.encode(config.to_string()));
    match client {
        Client::Cursor => Ok(format!(
            "cursor://anysphere.cursor-deeplink/mcp/install?name={}&config={}",
            escape(name),
            base64()
        )),
        Client::LmStudio => {
            Ok(format!("lmstudio://add_mcp?name={}&config={}", escape(name), base64()))
        }
        Client::Vscode => {
            let mut named = EntryFields::from_iter([("name".to_owned(), json!(name))]);
            named.extend(fields.clone());
            Ok(format!("vscode:mcp/install?{}", escape(&Value::from(named).to_string())))
        }
        Client::Goose => {
            Err("goose opens links only for a few programs, such as npx and uvx: leave \
                              out --link"
                .to_owned())
        }
        other => Err(format!(
            "{} has no install links; cursor, vscode and lm-studio do: leave out --link",
            other.title()
        )),
    }
}

fn escape(text: &str) -> String {
    utf8_percent_encode(text, ESCAPED).to_string()
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum as _;
    use insta::assert_snapshot;
    use percent_encoding::percent_decode_str;
    use serde_json::Value;

    use super::*;
    use crate::config_edit::find_entry;

    fn config(client: Client, arguments: &[&str]) -> String {
        let arguments = arguments.iter().map(|it| (*it).to_owned()).collect();
        let program = "/bin/palazzo".to_owned();
        let server = ServerCommand { name: "palazzo", program, arguments, is_home_given: true };
        ClientConfig::for_command(client, server).text(client)
    }

    fn endpoint() -> HttpEndpoint {
        HttpEndpoint { url: "http://127.0.0.1:7227/mcp".to_owned(), token: "secret".to_owned() }
    }

    fn http_config(client: Client) -> Result<String, Failure> {
        Ok(ClientConfig::for_http(client, &endpoint())?.text(client))
    }

    #[test]
    fn a_client_of_a_server_over_http_sends_the_token() {
        let clients =
            [Client::ClaudeCode, Client::Gemini, Client::Zed, Client::Windsurf, Client::Opencode];
        let endpoint = endpoint();
        let entries = clients.map(|it| Value::from(it.http_entry(&endpoint).unwrap()).to_string());
        assert_snapshot!(entries.join("\n"), @r#"
        {"type":"http","url":"http://127.0.0.1:7227/mcp","headers":{"Authorization":"Bearer secret"}}
        {"httpUrl":"http://127.0.0.1:7227/mcp","headers":{"Authorization":"Bearer secret"}}
        {"url":"http://127.0.0.1:7227/mcp","headers":{"Authorization":"Bearer secret"}}
        {"serverUrl":"http://127.0.0.1:7227/mcp","headers":{"Authorization":"Bearer secret"}}
        {"type":"remote","url":"http://127.0.0.1:7227/mcp","enabled":true,"headers":{"Authorization":"Bearer secret"}}
        "#);
        let configs = [Client::ClaudeCode, Client::Codex, Client::Goose];
        let configs = configs.map(|it| http_config(it).unwrap());
        assert_snapshot!(configs.join("\n"), @r#"
        claude mcp add --transport http palazzo http://127.0.0.1:7227/mcp --header 'Authorization: Bearer secret'
        [mcp_servers.palazzo]
        url = "http://127.0.0.1:7227/mcp"
        http_headers = { Authorization = "Bearer secret" }
        extensions:
          palazzo:
            name: palazzo
            type: streamable_http
            enabled: true
            uri: "http://127.0.0.1:7227/mcp"
            headers: {"Authorization": "Bearer secret"}
            timeout: 300
        "#);
        let refusal = http_config(Client::ClaudeDesktop).unwrap_err().to_string();
        assert!(refusal.contains("OAuth"), "{refusal}");
    }

    #[test]
    fn each_client_has_its_own_form() {
        let arguments = &["serve", "/a \"b\"/it's"];
        let opencode: Value = config(Client::Opencode, arguments).parse().unwrap();
        let command =
            r#"{"type":"local","command":["/bin/palazzo","serve","/a \"b\"/it's"],"enabled":true}"#;
        assert_eq!(opencode["mcp"]["palazzo"].to_string(), command);
        let configs =
            [Client::Vscode, Client::Codex, Client::Goose].map(|it| config(it, arguments));
        assert_snapshot!(configs.join("\n"), @r#"
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
        [mcp_servers.palazzo]
        command = "/bin/palazzo"
        args = ["serve", """/a "b"/it's"""]
        extensions:
          palazzo:
            name: palazzo
            type: stdio
            enabled: true
            cmd: "/bin/palazzo"
            args: ["serve", "/a \"b\"/it's"]
            timeout: 300
        "#);
    }

    #[test]
    fn the_language_server_gets_no_home() {
        assert_snapshot!(config(Client::Lsp, &["serve", "/a", "--tools", "memory"]), @r#"
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
    fn arguments_are_quoted_so_that_they_parse_to_the_same_values() {
        let odd = ["serve", "C:\\a \"b\"\\it's", "größe # no", "true"];
        for client in Client::value_variants() {
            if matches!(client, Client::ClaudeCode | Client::Lsp) {
                continue;
            }
            let parsed = client.format().parse(&config(*client, &odd)).unwrap();
            let entry = find_entry(&parsed, client.entry_place("palazzo")).unwrap();
            let command = crate::cli::client::entry_command(entry).unwrap();
            assert_eq!(command[0], "/bin/palazzo");
            assert_eq!(command[1..], odd, "{client:?}");
            assert!(entry.as_object().unwrap().values().all(|it| *it != Value::Null));
        }
    }

    #[test]
    fn the_command_for_claude_code_is_quoted_for_a_shell() {
        assert_snapshot!(
            config(Client::ClaudeCode, &["serve", "/a b/it's", "--tools", "palace,graph"]),
            @r"claude mcp add palazzo -- /bin/palazzo serve '/a b/it'\''s' --tools 'palace,graph'"
        );
    }

    #[test]
    fn a_link_contains_the_entry() {
        let fields = json!({ "command": "/bin/a b", "args": ["serve", "/größe \"q\"/it's?&=+%"] });
        let fields = fields.as_object().unwrap();
        let decode = |it: &str| percent_decode_str(it).decode_utf8().unwrap().into_owned();
        for (client, start) in [
            (
                Client::Cursor,
                "cursor://anysphere.cursor-deeplink/mcp/install?name=my%20palazzo&config=",
            ),
            (Client::LmStudio, "lmstudio://add_mcp?name=my%20palazzo&config="),
        ] {
            let link = install_link(client, "my palazzo", fields).unwrap();
            let config = STANDARD.decode(decode(link.strip_prefix(start).unwrap())).unwrap();
            let config: Value = serde_json::from_slice(&config).unwrap();
            assert_eq!(&config, &Value::from(fields.clone()));
        }
        let link = install_link(Client::Vscode, "palazzo", fields).unwrap();
        let config = decode(link.strip_prefix("vscode:mcp/install?").unwrap());
        let mut config: EntryFields = serde_json::from_str(&config).unwrap();
        assert_eq!(config.shift_remove("name"), Some(json!("palazzo")));
        assert_eq!(&config, fields);
    }

    #[test]
    fn a_client_without_links_is_refused_with_those_that_have_them() {
        let links = Client::value_variants().iter();
        let links = links.filter(|it| install_link(**it, "palazzo", &EntryFields::new()).is_ok());
        assert_eq!(links.count(), 3);
        let refusal = install_link(Client::Zed, "palazzo", &EntryFields::new()).unwrap_err();
        assert!(refusal.contains("Zed") && refusal.contains("cursor"), "{refusal}");
    }
}
