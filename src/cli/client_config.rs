//! `palazzo client-config`: what to paste or run, so that a client starts the
//! server.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::ValueEnum;
use serde_json::json;

use crate::cli::{Outcome, home, page};

/// Print what to paste or run so that an MCP client uses Palazzo
#[derive(clap::Args)]
pub(super) struct Args {
    /// The client
    #[arg(default_value = "claude-code")]
    client: Client,

    /// The home, or one palace
    #[arg(long, value_name = "DIR")]
    home: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Client {
    ClaudeCode,
    ClaudeDesktop,
    Cursor,
    Vscode,
    Codex,
}

pub(super) fn run(args: &Args) -> Outcome {
    let home = home::find(args.home.as_deref()).display().to_string();
    let program =
        std::env::current_exe().map_or("palazzo".to_owned(), |it| it.display().to_string());
    let (program, home) = (program.as_str(), home.as_str());
    let (where_to, what) = match args.client {
        Client::ClaudeCode => (
            "Run (add `-s user` for all your projects):",
            format!("claude mcp add palazzo -- {} serve {}", quoted(program), quoted(home)),
        ),
        Client::ClaudeDesktop => (
            "Put into claude_desktop_config.json (Settings, Developer, Edit Config):",
            servers("mcpServers", program, home),
        ),
        Client::Cursor => ("Put into ~/.cursor/mcp.json:", servers("mcpServers", program, home)),
        Client::Vscode => ("Put into .vscode/mcp.json:", servers("servers", program, home)),
        Client::Codex => ("Put into ~/.codex/config.toml:", toml(program, home)),
    };
    anstream::eprintln!("{where_to}");
    page::print(&what)?;
    Ok(ExitCode::SUCCESS)
}

fn servers(key: &str, program: &str, home: &str) -> String {
    let config = json!({ key: { "palazzo": { "command": program, "args": ["serve", home] } } });
    format!("{config:#}")
}

fn toml(program: &str, home: &str) -> String {
    let text = |it: &str| toml_edit::Value::from(it).to_string();
    let (program, serve, home) = (text(program), text("serve"), text(home));
    format!("[mcp_servers.palazzo]\ncommand = {program}\nargs = [{serve}, {home}]")
}

/// Quotes a word for a POSIX shell, where it needs it.
pub(super) fn quoted(word: &str) -> String {
    let plain = |it: char| it.is_ascii_alphanumeric() || "/._-+:@%".contains(it);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
