//! `palazzo completions`, and what the scripts call: the completion of a line.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Arg, Command, ValueHint};
use clap_complete::env::{CompleteEnv, Shells};
use clap_complete::{ArgValueCompleter, CompletionCandidate};

use crate::cli::home::{WorkspaceArgs, find_home_and_source, keeper_for_home};
use crate::cli::outcome::{Failure, Outcome, terminal_user};
use crate::cli::terminal;
use palazzo_core::model::{
    FileKind, ItemKind, RecordedVisit, Rule, commit_trailers, escape_unprintable_in_lines,
};
use palazzo_keeper::{self as keeper, ItemName, Keeper, LogFilter, RevisionQuery};

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

/// How many names are offered at most.
const MAX_CANDIDATES: usize = 500;
/// The number of commits in which visits are looked for.
const MAX_COMMITS: usize = 300;

/// How the words of the line are quoted. Bash alone passes and expects them as they are typed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quoting {
    None,
    Backslashes,
    Quotes(char),
}

impl Quoting {
    fn of_typed(typed: &str) -> Self {
        match typed.chars().next() {
            Some(quote @ ('"' | '\'')) => Self::Quotes(quote),
            _ if std::env::var_os("_CLAP_COMPLETE_COMP_TYPE").is_some() => Self::Backslashes,
            _ => Self::None,
        }
    }

    fn remove(self, typed: &str) -> String {
        match self {
            Self::None => typed.to_owned(),
            Self::Backslashes => typed.replace('\\', ""),
            Self::Quotes(quote) => typed.trim_matches(quote).to_owned(),
        }
    }

    fn add(self, name: &str) -> String {
        let is_plain = |it: char| it.is_alphanumeric() || "-_./,+:@%".contains(it);
        let escape = |it: char| {
            let backslash = if is_plain(it) { "" } else { "\\" };
            format!("{backslash}{it}")
        };
        match self {
            Self::None | Self::Quotes(_) => name.to_owned(),
            Self::Backslashes => name.chars().map(escape).collect(),
        }
    }
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
        () if is_thing && ["mv", "rm", "log", "diff"].contains(&command) => complete_thing_or_wing,
        () if is_thing => complete_thing,
        () if is_called("NEW") => complete_room_or_wing,
        () if argument.get_long() == Some("visit") => complete_visit,
        () if is_called("ROOM") => complete_room,
        () if is_called("WING") => complete_wing,
        () if is_called("NAME") && is_workspace => complete_workspace,
        () if argument.get_long() == Some("template") => complete_template,
        () if is_called("CODE") => complete_code,
        () if is_called("KIND") && command == "schema" => complete_file_kind,
        () if is_called("KIND") => complete_item_kind,
        () => return None,
    })
}

fn has_value_name(argument: &Arg, name: &str) -> bool {
    argument.get_value_names().is_some_and(|it| it.iter().any(|it| it == name))
}

/// Completes the name of a room, a scroll, an entity, a task or a process.
fn complete_thing(typed: &OsStr) -> Vec<CompletionCandidate> {
    complete_item(typed, |_| true)
}

/// Completes the name of a thing, or of a wing: `closed-stacks/`.
fn complete_thing_or_wing(typed: &OsStr) -> Vec<CompletionCandidate> {
    let items = list_items(typed);
    complete_name(typed, wings_with_slash(&items).chain(items.iter().map(name_and_description)))
}

/// Completes the slug of a room.
fn complete_room(typed: &OsStr) -> Vec<CompletionCandidate> {
    complete_item(typed, |it| it.kind == ItemKind::Room)
}

/// Completes the place to which `mv` moves a thing: a room, or a wing with a slash.
fn complete_room_or_wing(typed: &OsStr) -> Vec<CompletionCandidate> {
    let items = list_items(typed);
    let rooms = items.iter().filter(|it| it.kind == ItemKind::Room).map(name_and_description);
    complete_name(typed, wings_with_slash(&items).chain(rooms))
}

/// Completes the slug of a wing.
fn complete_wing(typed: &OsStr) -> Vec<CompletionCandidate> {
    let wings = list_wings(&list_items(typed));
    complete_name(typed, wings.into_iter().map(|it| (it, String::new())))
}

/// Completes the short id of a visit of a client, newest first.
fn complete_visit(typed: &OsStr) -> Vec<CompletionCandidate> {
    let (mut keeper, user) = (keeper_of_line(), terminal_user("completions"));
    let (query, filter) = (RevisionQuery::default(), LogFilter::default());
    let log = keeper::list_commits(&mut keeper, &user, &query, &filter, MAX_COMMITS);
    let commits = log.map(|it| it.commits).unwrap_or_default();
    let mut visits: Vec<(String, String)> = Vec::new();
    for it in commits.iter().map(|it| &it.details).filter(|it| it.is_by_client) {
        let id = it.trailer(commit_trailers::VISIT).and_then(|it| it.parse().ok());
        let Some(id) = id.map(RecordedVisit::shorten_id) else { continue };
        if !visits.iter().any(|(known, _)| *known == id) {
            let client = it.trailer(commit_trailers::CLIENT).unwrap_or_default();
            visits.push((id, format!("{client}: {}", it.summary.subject)));
        }
    }
    complete_name(typed, visits.into_iter())
}

/// Completes the name of a workspace of the home.
fn complete_workspace(typed: &OsStr) -> Vec<CompletionCandidate> {
    let keys = keeper::list_workspace_keys(&keeper_of_line()).unwrap_or_default();
    complete_name(typed, keys.into_iter().map(|it| (it, String::new())))
}

/// Completes the name of a template.
fn complete_template(typed: &OsStr) -> Vec<CompletionCandidate> {
    let templates = keeper::list_templates(&keeper_of_line()).map(|it| it.templates);
    let named = |it: keeper::Template| (it.name, it.settings.description);
    complete_name(typed, templates.unwrap_or_default().into_iter().map(named))
}

/// Completes the code of a finding.
fn complete_code(typed: &OsStr) -> Vec<CompletionCandidate> {
    let named = |it: &Rule| (it.name.to_owned(), it.meaning.to_owned());
    complete_name(typed, Rule::ALL.iter().map(named))
}

/// Completes a kind of file.
fn complete_file_kind(typed: &OsStr) -> Vec<CompletionCandidate> {
    let named = |it: FileKind| (it.name().to_owned(), it.path_pattern().to_owned());
    complete_name(typed, FileKind::ALL.into_iter().map(named))
}

/// Completes a kind of item.
fn complete_item_kind(typed: &OsStr) -> Vec<CompletionCandidate> {
    let named = |it: ItemKind| (it.to_string(), String::new());
    complete_name(typed, ItemKind::ALL.into_iter().map(named))
}

fn complete_item(
    typed: &OsStr,
    is_included: impl Fn(&ItemName) -> bool,
) -> Vec<CompletionCandidate> {
    let items = list_items(typed);
    complete_name(typed, items.iter().filter(|it| is_included(it)).map(name_and_description))
}

fn name_and_description(it: &ItemName) -> (String, String) {
    (it.name.clone(), it.description.clone())
}

fn list_wings(items: &[ItemName]) -> BTreeSet<String> {
    let rooms = items.iter().filter(|it| it.kind == ItemKind::Room);
    rooms.filter_map(|it| Some(it.name.split_once('/')?.0.to_owned())).collect()
}

fn wings_with_slash(items: &[ItemName]) -> impl Iterator<Item = (String, String)> {
    list_wings(items).into_iter().map(|it| (format!("{it}/"), "wing".to_owned()))
}

/// Lists the items of the palace of the line. Without a palace, or if one cannot be read, the list
/// is empty: a message would be printed into the line that is typed.
fn list_items(typed: &OsStr) -> Vec<ItemName> {
    let (mut keeper, user) = (keeper_of_line(), terminal_user("completions"));
    let typed = typed.to_string_lossy();
    let beginning = Quoting::of_typed(&typed).remove(&typed);
    keeper::list_item_names(&mut keeper, &user, &beginning).unwrap_or_default()
}

/// Returns the names that begin with what was typed, in any case, with their descriptions.
fn complete_name(
    typed: &OsStr,
    names: impl Iterator<Item = (String, String)>,
) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy();
    let quoting = Quoting::of_typed(&typed);
    let beginning = quoting.remove(&typed).to_lowercase();
    let matching = names.filter(|(name, _)| name.to_lowercase().starts_with(&beginning));
    let candidate = |(name, description): (String, String)| {
        let help = Some(escape_unprintable_in_lines(&description)).filter(|it| !it.is_empty());
        let name = quoting.add(&escape_unprintable_in_lines(&name).replace('\n', " "));
        CompletionCandidate::new(name).help(help.map(|it| it.replace('\n', " ").into()))
    };
    matching.take(MAX_CANDIDATES).map(candidate).collect()
}

/// Returns a keeper for the home and the workspace that the options of the line name.
fn keeper_of_line() -> Keeper {
    let words: Vec<_> = std::env::args_os().skip_while(|it| it != "--").skip(1).collect();
    let home = option_value(&words, "--home").map(PathBuf::from);
    let workspace = option_value(&words, "--workspace");
    let workspace = workspace.map(|it| it.to_string_lossy().into_owned());
    // A message would be printed into the line that is typed.
    let (home, _) = find_home_and_source(home.as_deref());
    keeper_for_home(Some(&home), &WorkspaceArgs { workspace })
}

/// Returns the value of an option: the next word, or what follows `=`.
fn option_value(words: &[OsString], option: &str) -> Option<OsString> {
    words.iter().enumerate().find_map(|(place, word)| {
        let joined = word.to_str().and_then(|it| it.strip_prefix(option)?.strip_prefix('='));
        match joined {
            Some(value) => Some(value.into()),
            None if word == option => words.get(place + 1).cloned(),
            None => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_completed_in_any_case_with_its_description() {
        let names = [("bug-crypt", "Bug Crypt"), ("hall", "")];
        let names = names.map(|(name, about)| (name.to_owned(), about.to_owned()));
        let found = complete_name(OsStr::new("BUG"), names.into_iter());
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].get_value(), "bug-crypt");
        assert_eq!(found[0].get_help().map(ToString::to_string).as_deref(), Some("Bug Crypt"));
    }

    #[test]
    fn bash_is_given_names_as_they_are_typed() {
        assert_eq!(Quoting::Backslashes.add("Ada's keep"), "Ada\\'s\\ keep");
        assert_eq!(Quoting::Backslashes.remove("Ada\\'s\\ k"), "Ada's k");
        assert!(Quoting::of_typed("\"Ada's k") == Quoting::Quotes('"'));
        assert_eq!(Quoting::Quotes('"').remove("\"Ada's k"), "Ada's k");
    }

    #[test]
    fn the_options_of_the_line_choose_the_home() {
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        let home = |line: &str| option_value(&words(line), "--home");
        assert_eq!(home("palazzo show --home /a hall"), Some("/a".into()));
        assert_eq!(home("palazzo show --home=/a hall"), Some("/a".into()));
        assert_eq!(home("palazzo show hall --home"), None);
        assert_eq!(home("palazzo show hall"), None);
    }
}
