//! The command line of the hook at the start of a conversation.

use std::fmt;

use crate::cli::home::HomeArgs;
use crate::cli::outcome::Failure;
use crate::cli::program::{program_path, to_utf8};
use palazzo_core::model::{quote_for_shell, unquote_for_shell};

/// The part by which the command is recognised, whatever the path of the program.
pub(in crate::cli) const START_COMMAND_MARKER: &str = " hook session-start --home ";

/// The other options, as Palazzo writes them.
const WORKSPACE: &str = " --workspace=";
const BUDGET: &str = " --budget ";

/// The command of the hook at the start of a conversation, as Palazzo writes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::cli) struct StartCommand {
    program: String,
    pub(in crate::cli) home: String,
    pub(in crate::cli) workspace: Option<String>,
    budget: usize,
}

impl StartCommand {
    /// Returns the command that summarizes a home in at most `budget` tokens. Fails if a path is not
    /// UTF-8.
    pub(in crate::cli) fn new(home: &HomeArgs, budget: usize) -> Result<Self, Failure> {
        Ok(Self {
            program: program_path()?,
            home: to_utf8(&home.find())?,
            workspace: home.workspace().map(str::to_owned),
            budget,
        })
    }

    /// Parses a command. Returns `None` if it is not in the form in which Palazzo writes it: somebody
    /// has changed it.
    pub(in crate::cli) fn parse(command: &str) -> Option<Self> {
        let (program, rest) = command.split_once(START_COMMAND_MARKER)?;
        let (place, budget) = rest.rsplit_once(BUDGET)?;
        let (home, workspace) = match place.split_once(WORKSPACE) {
            Some((home, name)) => (home, Some(unquote_for_shell(name)?)),
            None => (place, None),
        };
        let (program, home) = (unquote_for_shell(program)?, unquote_for_shell(home)?);
        Some(Self { program, home, workspace, budget: budget.parse().ok()? })
    }

    /// Returns this command with the options of another one, as far as none were given now.
    pub(in crate::cli) fn with_options_of(&self, old: &Self, is_home_given: bool) -> Self {
        Self {
            program: self.program.clone(),
            home: if is_home_given { &self.home } else { &old.home }.clone(),
            workspace: self.workspace.clone().or_else(|| old.workspace.clone()),
            budget: old.budget,
        }
    }
}

impl fmt::Display for StartCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [program, home] = [&self.program, &self.home].map(|it| quote_for_shell(it));
        write!(f, "{program}{START_COMMAND_MARKER}{home}")?;
        if let Some(name) = &self.workspace {
            write!(f, "{WORKSPACE}{}", quote_for_shell(name))?;
        }
        write!(f, "{BUDGET}{}", self.budget)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_palazzo_has_written_is_parsed() {
        for (home, workspace) in [("/a", None), ("/a b", Some("it's")), ("/-/~", Some("-x y"))] {
            let home = HomeArgs::new(home, workspace);
            let command = StartCommand::new(&home, 300).unwrap();
            assert_eq!(StartCommand::parse(&command.to_string()), Some(command));
        }
    }

    #[test]
    fn a_command_that_somebody_has_changed_is_not_parsed() {
        for command in [
            "A=1 /bin/palazzo hook session-start --home /a --budget 300",
            "/bin/palazzo hook session-start --home /a",
            "/bin/palazzo hook session-start --home /a --budget 300 | head",
            "/bin/palazzo hook session-start --home $HOME/a --budget 300",
            "/bin/palazzo hook session-start --home /a --workspace b --budget 300",
            "/bin/palazzo hook session-end --home /a",
        ] {
            assert_eq!(StartCommand::parse(command), None, "{command}");
        }
    }

    #[test]
    fn options_stay_unless_new_ones_are_given() {
        let old = "/old hook session-start --home /a --workspace=b --budget 300";
        let old = StartCommand::parse(old).unwrap();
        let new = "/new hook session-start --home /c --budget 2000";
        let new = StartCommand::parse(new).unwrap();
        assert_eq!(
            new.with_options_of(&old, true).to_string(),
            "/new hook session-start --home /c --workspace=b --budget 300"
        );
        assert_eq!(new.with_options_of(&old, false).home, "/a");
    }
}
