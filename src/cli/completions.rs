//! `palazzo completions`, and what the scripts call: the completion of a line.

mod name_candidates;

use std::ffi::OsStr;
use std::process::ExitCode;

use clap::{Arg, Command, ValueHint};
use clap_complete::env::{CompleteEnv, Shells};
use clap_complete::{ArgValueCompleter, CompletionCandidate};

use crate::cli::outcome::{Failure, Outcome};
use crate::cli::terminal;

/// The variable by which a script asks for the completion of a line; its value is the shell.
const VARIABLE: &str = "PALAZZO_COMPLETE";

/// Print the completion script for a shell
///
/// The script completes commands, options, and the names of rooms, wings, scrolls, entities and
/// workspaces, for which it calls `palazzo`.
#[derive(clap::Args)]
pub(super) struct Args {
    /// The shell
    shell: Shell,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Shell {
    Bash,
    Elvish,
    Fish,
    Powershell,
    Zsh,
}

/// Completes a line for a script, and ends the process; returns if no script called it.
pub(super) fn complete_if_requested(program: fn() -> Command) {
    CompleteEnv::with_factory(move || with_name_completion(program())).var(VARIABLE).complete();
}

pub(super) fn run(args: &Args) -> Outcome {
    let name = match args.shell {
        Shell::Bash => "bash",
        Shell::Elvish => "elvish",
        Shell::Fish => "fish",
        Shell::Powershell => "powershell",
        Shell::Zsh => "zsh",
    };
    let shells = Shells::builtins();
    let shell = shells.completer(name);
    let shell = shell.ok_or_else(|| Failure::Message(format!("no script exists for {name}")))?;
    let mut script = Vec::new();
    shell.write_registration(VARIABLE, "palazzo", "palazzo", "palazzo", &mut script)?;
    terminal::print_text(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}

/// Adds the completion of names to the arguments of a command and its subcommands.
fn with_name_completion(command: Command) -> Command {
    let name = command.get_name().to_owned();
    let add = |argument: Arg| match completion_of_argument(&name, &argument) {
        Some(complete) => argument.add(ArgValueCompleter::new(complete)),
        None if has_value_name(&argument, "DIR") => argument.value_hint(ValueHint::DirPath),
        None => argument,
    };
    command.mut_args(add).mut_subcommands(with_name_completion)
}

/// Completes the value of an argument from its beginning.
type Complete = fn(&OsStr) -> Vec<CompletionCandidate>;

/// Returns how an argument of the command `command` is completed, by the name of its value.
fn completion_of_argument(command: &str, argument: &Arg) -> Option<Complete> {
    let is_called = |name| has_value_name(argument, name);
    let is_workspace = argument.get_long() == Some("workspace") || command == "wake-up";
    let is_thing = is_called("THING") || is_called("THING|REVISION");
    Some(match () {
        () if is_thing && ["mv", "rm", "log", "diff"].contains(&command) => {
            name_candidates::complete_thing_or_wing
        }
        () if is_thing => name_candidates::complete_thing,
        () if is_called("NEW") => name_candidates::complete_room_or_wing,
        () if argument.get_long() == Some("visit") => name_candidates::complete_visit,
        () if is_called("ROOM") => name_candidates::complete_room,
        () if is_called("WING") => name_candidates::complete_wing,
        () if is_called("NAME") && is_workspace => name_candidates::complete_workspace,
        () if argument.get_long() == Some("template") => name_candidates::complete_template,
        () if is_called("CODE") => name_candidates::complete_code,
        () if is_called("KIND") && command == "schema" => name_candidates::complete_file_kind,
        () if is_called("KIND") => name_candidates::complete_item_kind,
        () => return None,
    })
}

fn has_value_name(argument: &Arg, name: &str) -> bool {
    argument.get_value_names().is_some_and(|it| it.iter().any(|it| it == name))
}
