//! Finds the hooks of Palazzo in the settings of Claude Code. Reads only.

use std::path::{Path, PathBuf};

use crate::cli::client::Client;
use crate::cli::client::config_file::read_config;
use crate::cli::client::places::UserFolders;
use crate::cli::client::server::served_home;
use crate::cli::doctor::client_configs::ConfiguredServer;
use crate::cli::home::is_same_folder;
use crate::cli::hook::start_command::StartCommand;
use crate::cli::hook::{START_EVENT, home_of_hook, palazzo_hooks};
use crate::config_edit::ConfigFormat;
use palazzo_core::model::quote_for_shell;

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
    use super::*;

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
