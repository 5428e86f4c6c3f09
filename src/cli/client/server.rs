//! The server that a client starts, or connects to.

use crate::cli::home::HomeArgs;
use crate::cli::http_server::{DEFAULT_URL, http_access};
use crate::cli::outcome::Failure;
use crate::mcp::ToolSet;

/// The command by which a client starts the server, and the server's name there.
pub(in crate::cli) struct ServerCommand {
    pub(in crate::cli) name: &'static str,
    pub(in crate::cli) program: String,
    pub(in crate::cli) arguments: Vec<String>,
}

/// The names that a server of Palazzo has in configurations.
pub(in crate::cli) const SERVER_NAMES: [&str; 3] = ["palazzo", "memory", "mempalace"];

impl ServerCommand {
    /// Returns the command that serves a home with these tool sets, and writes to the branch
    /// `propose` if it is given.
    pub(in crate::cli) fn new(home: &HomeArgs, tools: &[ToolSet], propose: Option<&str>) -> Self {
        let tools: Vec<_> = tools.iter().map(|it| it.name()).collect();
        let mut arguments = vec!["serve".to_owned(), home.find().display().to_string()];
        if !tools.is_empty() {
            arguments.extend(["--tools".to_owned(), tools.join(",")]);
        }
        if let Some(name) = home.workspace() {
            arguments.extend(["--workspace".to_owned(), name.to_owned()]);
        }
        if let Some(branch) = propose {
            arguments.extend(["--propose".to_owned(), branch.to_owned()]);
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
}

/// The server over HTTP that a client connects to.
pub(in crate::cli) struct HttpEndpoint {
    pub(in crate::cli) url: String,
    pub(in crate::cli) token: String,
}

impl HttpEndpoint {
    /// Uses the token of this user for the server at `url`.
    pub(in crate::cli) fn new(url: &str) -> Result<Self, Failure> {
        let base = url.trim_end_matches('/');
        if !base.starts_with("http://") && !base.starts_with("https://") {
            return Err(Failure::Message(format!(
                "`{url}` is no address of a server: write {DEFAULT_URL}, for example"
            )));
        }
        let url = format!("{}/mcp", base.strip_suffix("/mcp").unwrap_or(base));
        Ok(Self { url, token: http_access()?.token()? })
    }

    /// Returns the value of the header `Authorization`.
    pub(in crate::cli) fn authorization(&self) -> String {
        format!("Bearer {}", self.token)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_set_that_replaces_a_server_has_its_name() {
        let name =
            |tools: &[ToolSet]| ServerCommand::new(&HomeArgs::new("/a", None), tools, None).name;
        assert_eq!(name(&[]), "palazzo");
        assert_eq!(name(&[ToolSet::Memory]), "memory");
        assert_eq!(name(&[ToolSet::Mempalace]), "mempalace");
        assert_eq!(name(&[ToolSet::Palace, ToolSet::Memory]), "palazzo");
    }

    #[test]
    fn the_options_are_passed_to_the_server() {
        let arguments = |tools: &[ToolSet], workspace, propose| {
            let server = ServerCommand::new(&HomeArgs::new("/a", workspace), tools, propose);
            server.arguments[2..].join(" ")
        };
        assert_eq!(arguments(&[], None, None), "");
        assert_eq!(
            arguments(&[ToolSet::Palace, ToolSet::Memory], Some("My Code"), Some("draft")),
            "--tools palace,memory --workspace My Code --propose draft"
        );
    }
}
