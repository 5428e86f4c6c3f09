//! The hook of Claude Code that `palazzo setup` adds, and its update in settings that have one.

use std::path::Path;

use serde_json::Value;

use crate::cli::client::config_file::{read_config, require_writable};
use crate::cli::home::HomeArgs;
use crate::cli::hook::claude_settings::{home_of_hook, start_commands, start_hook_item};
use crate::cli::hook::start_command::StartCommand;
use crate::cli::outcome::Failure;
use crate::cli::setup::change::{Change, RecordChange};
use crate::cli::setup::description::signed_lines;
use crate::cli::setup::plan::SetupStep;
use crate::config_edit::{ConfigFormat, replace_json_string};
use palazzo_core::model::{ClientSetup, path_text};
use palazzo_keeper::DEFAULT_WAKE_UP_TOKENS;

/// The hook that each conversation should begin with.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct StartHook {
    command: StartCommand,
    is_home_given: bool,
    /// Why the hook would not know which palace to use.
    fault: Option<String>,
}

impl StartHook {
    /// Returns the hook for a home.
    pub(super) fn new(home: &HomeArgs) -> Result<Self, Failure> {
        let keeper = home.keeper();
        let checked = match keeper.has_palaces() {
            true => keeper.require_default_workspace().map(drop),
            false => Ok(()),
        };
        Ok(Self {
            command: StartCommand::new(home, DEFAULT_WAKE_UP_TOKENS)?,
            is_home_given: home.given().is_some(),
            fault: checked.err().map(|it| format!("no hook: {it}")),
        })
    }

    /// Returns the item of the list `hooks.SessionStart`. Fails if the hook would not know which
    /// palace to use.
    pub(super) fn item(&self) -> Result<Value, String> {
        self.fault.clone().map_or_else(|| Ok(start_hook_item(&self.command)), Err)
    }

    /// Returns the command line.
    pub(super) fn command(&self) -> String {
        self.command.to_string()
    }

    /// Plans to update the hook of Palazzo in settings; `None` if they have none. As in the entry of a
    /// client, the home and the options stay unless they are given. A hook that somebody has changed
    /// stays.
    pub(super) fn update_step(
        &self,
        target: &Path,
        text: &str,
    ) -> Result<Option<SetupStep>, String> {
        let settings = parse_settings(text)?;
        let commands = start_commands(&settings);
        let is_wanted = |it: &&str| {
            !self.is_home_given || home_of_hook(it).as_ref() == Some(&self.command.home)
        };
        let old = match commands.as_slice() {
            [] => return Ok(None),
            [command] => StartCommand::parse(command),
            _ => None,
        };
        let Some(old) = old else {
            return match commands.iter().all(is_wanted) {
                true => Ok(Some(SetupStep::Nothing("the hook is there already".to_owned()))),
                false => Err(hook_that_stays(&commands)),
            };
        };
        let new = self.command.with_options_of(&old, self.is_home_given);
        if new == old {
            return Ok(Some(SetupStep::Nothing("the hook is there already".to_owned())));
        }
        if let (true, None, Some(fault)) = (new.home != old.home, &new.workspace, &self.fault) {
            return Err(fault.clone());
        }
        let edited = replace_json_string(text, &old.to_string(), &new.to_string());
        let edited = edited.map_err(|it| it.to_string())?;
        require_writable(target)?;
        let line = |sign, it: &StartCommand| signed_lines(sign, &format!("{HOOK_LINE}{it}"));
        let description = format!("  {MEANING}\n{}{}", line('-', &old), line('+', &new));
        let target = target.to_owned();
        let (was, new, record) = (Some(text.to_owned()), Some(edited), RecordChange::Keep);
        Ok(Some(SetupStep::Change(Box::new(Change { target, was, new, record, description }))))
    }
}

/// Parses settings of a client; the error says what to do.
pub(super) fn parse_settings(text: &str) -> Result<Value, String> {
    let settings = ConfigFormat::Json.parse(text);
    settings.map_err(|it| format!("{it}; correct it and run this again"))
}

/// The words before the command of a hook, and what the hook does, for the person who is asked.
pub(super) const HOOK_LINE: &str = "hooks.SessionStart: ";
pub(super) const MEANING: &str = "each conversation begins with a summary of the palace:";

/// Returns whether settings have a hook of Palazzo at the start of a conversation.
pub(super) fn has_start_hook(file: &Path) -> bool {
    let text = read_config(file).ok().flatten().unwrap_or_default();
    let settings = ConfigFormat::Json.parse(&text);
    settings.is_ok_and(|it| !start_commands(&it).is_empty())
}

/// Returns settings in which the hook has the command with which it was added: a later set-up has
/// changed it.
pub(super) fn with_recorded_command(text: &str, record: &ClientSetup) -> Option<String> {
    let settings = ConfigFormat::Json.parse(text).ok()?;
    match (start_commands(&settings).as_slice(), record.start.first()) {
        ([now], Some(added)) => replace_json_string(text, now, added).ok(),
        _ => None,
    }
}

/// Returns why a hook with another home stays.
fn hook_that_stays(commands: &[&str]) -> String {
    let homes = commands.iter().filter_map(|it| home_of_hook(it));
    let homes: Vec<_> = homes.map(path_text).collect();
    match (commands.len(), homes.is_empty()) {
        (1, true) => "its hook of Palazzo was changed by hand; correct its home by hand".to_owned(),
        (1, false) => format!(
            "its hook of Palazzo was changed by hand, and keeps its home {}; correct it by hand",
            homes.join(", ")
        ),
        (count, _) => format!("it has {count} hooks of Palazzo; remove the others by hand"),
    }
}
