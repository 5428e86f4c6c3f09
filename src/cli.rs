//! The command line: one file per subcommand, each with `Args` and `run`.

mod aaak;
mod blame;
mod built_in_templates;
mod check;
mod client;
mod client_config;
mod command_groups;
mod completions;
mod confirmation;
mod conflicts;
mod diff;
mod doctor;
mod embed;
mod export;
mod fmt;
mod git_driver;
mod git_setup;
mod home;
mod home_fault;
mod hook;
mod http_access;
#[cfg(feature = "http")]
mod http_server;
mod import;
mod import_args;
mod init;
mod item_change;
mod locate;
mod log;
#[cfg(feature = "language-server")]
mod lsp;
mod man;
mod map;
mod merge_file;
mod mine;
mod mv;
mod outcome;
mod output_format;
mod pager;
mod program;
mod proposals;
mod redacted_secrets;
mod resolve;
mod restore;
mod rm;
mod schema;
mod search;
mod serve;
mod setup;
mod show;
mod signal;
mod sync;
mod templates;
mod terminal;
mod trust;
mod undo;
mod user_folders;
#[cfg(feature = "http")]
mod view;
mod wake_up;
mod walk;

use std::io::ErrorKind;
use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::cli::outcome::{Failure, Outcome};

/// A memory palace for language models: rooms and scrolls as files in git,
/// visited over MCP
#[derive(Parser)]
#[command(
    name = "palazzo",
    version = env!("PALAZZO_VERSION"),
    max_term_width = 100,
    after_help = "\
A home is a directory of palaces, or one palace. A command uses the home it is given, else \
$PALAZZO_HOME, else the current directory if it contains palaces, else the nearest parent \
directory with a palace.toml, else $XDG_DATA_HOME/palazzo (~/.local/share/palazzo), else the home \
last given to init or setup, if it contains palaces.

  palazzo serve ~/palaces             the command that an MCP client starts
  palazzo setup --home ~/palaces      make the MCP clients on this machine use it
  palazzo init survey --template paradigm-survey --home ~/palaces
  palazzo walk ~/palaces              explore the palaces yourself

Every change that an agent makes is a commit in git: palazzo log and palazzo diff show it in terms \
of rooms, scrolls and entities, palazzo undo reverts the last one, palazzo restore restores an \
older version."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Serve(serve::Args),
    #[cfg(feature = "language-server")]
    Lsp(lsp::Args),
    Init(init::Args),
    Templates(templates::Args),
    Show(show::Args),
    Map(map::Args),
    #[cfg(feature = "http")]
    View(view::Args),
    Search(search::Args),
    Embed(embed::Args),
    Log(log::Args),
    Diff(diff::Args),
    Proposals(proposals::Args),
    Blame(blame::Args),
    Mv(mv::Args),
    Rm(rm::Args),
    Restore(restore::Args),
    Undo(undo::Args),
    Sync(sync::Args),
    Conflicts(conflicts::Args),
    Resolve(resolve::Args),
    GitSetup(git_setup::Args),
    #[command(flatten)]
    GitDriver(git_driver::DriverCommand),
    Check(check::Args),
    Locate(locate::Args),
    Doctor(doctor::Args),
    Trust(trust::Args),
    Aaak(aaak::Args),
    Fmt(fmt::Args),
    Schema(schema::Args),
    Walk(walk::Args),
    WakeUp(wake_up::Args),
    Hook(hook::Args),
    Import(import::Args),
    Mine(mine::Args),
    Export(export::Args),
    Setup(setup::Args),
    ClientConfig(client_config::Args),
    Completions(completions::Args),
    Man(man::Args),
}

/// Runs the command given in the process arguments. The exit code is 0; 1 if `check` or
/// `fmt` found a fault, `search` or `locate` found nothing, or `import` could not parse some lines or
/// rows; 2 if the command failed.
pub fn run() -> ExitCode {
    completions::complete_if_requested(program_definition);
    let matches = program_definition().try_get_matches();
    if hook::act::is_this_run() && matches.as_ref().is_err_and(clap::Error::use_stderr) {
        return ExitCode::SUCCESS;
    }
    let matches =
        matches.unwrap_or_else(|err| command_groups::suggest_present_commands(err).exit());
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|err| err.exit());
    let done = match home::reject_unusable_home(&matches) {
        Err(_) if hook::act::is_this_run() => Ok(ExitCode::SUCCESS),
        // A hook never fails.
        Err(failure) if cli.command.is_hook_run() => {
            terminal::eprint_failure(&failure.to_string());
            Ok(ExitCode::SUCCESS)
        }
        Err(failure) => Err(failure),
        Ok(()) => run_command(cli.command),
    };
    match done {
        Ok(code) => code,
        Err(Failure::Io(err)) if err.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(failure) => {
            terminal::eprint_failure(&failure.to_string());
            ExitCode::from(2)
        }
    }
}

/// Returns the definition of all commands and of the help.
fn program_definition() -> clap::Command {
    command_groups::with_command_groups(Cli::command())
}

impl Command {
    /// Returns whether a client runs the command at an event.
    fn is_hook_run(&self) -> bool {
        matches!(self, Self::Hook(it) if it.is_run_by_client())
    }
}

#[expect(clippy::too_many_lines, reason = "one line for each command")]
fn run_command(command: Command) -> Outcome {
    match command {
        Command::Serve(args) => serve::run(args),
        #[cfg(feature = "language-server")]
        Command::Lsp(args) => lsp::run(&args),
        Command::Init(args) => init::run(&args),
        Command::Templates(args) => templates::run(&args),
        Command::Show(args) => show::run(&args),
        Command::Map(args) => map::run(&args),
        #[cfg(feature = "http")]
        Command::View(args) => view::run(&args),
        Command::Search(args) => search::run(args),
        Command::Embed(args) => embed::run(&args),
        Command::Log(args) => log::run(&args),
        Command::Diff(args) => diff::run(&args),
        Command::Proposals(args) => proposals::run(&args),
        Command::Blame(args) => blame::run(&args),
        Command::Mv(args) => mv::run(&args),
        Command::Rm(args) => rm::run(&args),
        Command::Restore(args) => restore::run(&args),
        Command::Undo(args) => undo::run(&args),
        Command::Sync(args) => sync::run(&args),
        Command::Conflicts(args) => conflicts::run(&args),
        Command::Resolve(args) => resolve::run(&args),
        Command::GitSetup(args) => git_setup::run(&args),
        Command::GitDriver(driver) => git_driver::run(&driver),
        Command::Check(args) => check::run(&args),
        Command::Locate(args) => locate::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Trust(args) => trust::run(&args),
        Command::Aaak(args) => aaak::run(&args),
        Command::Fmt(args) => fmt::run(&args),
        Command::Schema(args) => schema::run(&args),
        Command::Walk(args) => walk::run(&args),
        Command::WakeUp(args) => wake_up::run(&args),
        Command::Hook(args) => hook::run(&args),
        Command::Import(args) => import::run(&args),
        Command::Mine(args) => mine::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Setup(args) => setup::run(&args),
        Command::ClientConfig(args) => client_config::run(&args),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => {
            man::run(&args, command_groups::unhide_program_commands(Cli::command()))
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::error::ErrorKind;

    use super::*;

    /// Parses the arguments of a command; returns the kind of the error.
    fn parse_error(line: &str) -> Option<ErrorKind> {
        let words = std::iter::once("palazzo").chain(line.split_whitespace());
        Cli::try_parse_from(words).err().map(|it| it.kind())
    }

    /// Returns the values of one argument of a command.
    fn values_of(line: &str, argument: &str) -> Vec<String> {
        let words = std::iter::once("palazzo").chain(line.split_whitespace());
        let matches = Cli::command().try_get_matches_from(words).unwrap();
        let mut command = &matches;
        while let Some((_, subcommand)) = command.subcommand() {
            command = subcommand;
        }
        let values = command.get_raw(argument).into_iter().flatten();
        values.map(|it| it.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn the_definitions_of_all_commands_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_and_argument_has_a_description() {
        let mut commands = vec![Cli::command()];
        let mut count = 0;
        while let Some(command) = commands.pop() {
            assert!(command.get_about().is_some(), "{}", command.get_name());
            let bare = command.get_arguments().find(|it| it.get_help().is_none());
            assert_eq!(bare.map(clap::Arg::get_id), None, "{}", command.get_name());
            commands.extend(command.get_subcommands().cloned());
            count += 1;
        }
        assert!(count > 30, "{count}");
    }

    #[test]
    fn a_command_parses_with_the_fewest_arguments() {
        let lines = "serve|init Keep|init --repository|templates|show|map|view|search stasis|embed|log|\
            diff|blame hall|mv hall loft|rm hall|restore hall --to 2026-03-01|undo|sync|\
             sync --setup|sync --setup URL|sync /a --status|conflicts|resolve|resolve 3f2a other|\
             merge-file a b c rooms/hall.yaml|locate -|locate -x|check|check --explain|doctor|trust|\
            trust --list|trust --remove /a|aaak spec|fmt|schema|walk|wake-up|hook install|\
            hook remove|hook session-start|hook session-end|hook act|import memory -|import mempalace|\
            import notes.md|import notes memory --wing Ada|mine notes.md|export memory|setup|init --list|\
            search --index|setup --print|setup --print cursor --link|setup --remove --yes|client-config|completions bash|man /tmp";
        for line in lines.split('|') {
            assert_eq!(parse_error(line), None, "{line}");
        }
    }

    #[test]
    fn a_command_without_a_required_argument_is_refused() {
        let lines = "init|init --template codebase|search|blame|restore hall|restore --to 2026|\
            resolve 3f2a|resolve --dry-run|setup --link|merge-file a b c|\
            doctor --yes|mine|locate|import memory|completions|man";
        for line in lines.split('|') {
            assert_eq!(parse_error(line), Some(ErrorKind::MissingRequiredArgument), "{line}");
        }
        for line in ["", "aaak", "hook", "import", "export"] {
            let help = ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
            assert_eq!(parse_error(line), Some(help), "{line}");
        }
    }

    #[test]
    fn arguments_that_contradict_each_other_are_refused() {
        let lines = "serve /a --home /b|map /a --home /b|walk /a --home /b|embed /a --home /b|\
            check /a --home /b|sync /a --home /b|sync --status --undo|view --no-open --out a.html|sync --setup --dry-run|doctor /a --home /b|trust /a --home /b|fmt a.yaml --home /b|\
            wake-up Keep --workspace Keep|trust --list --home /a|init Keep --repository /a|init --repository --template codebase|trust /a --list|trust --list --yes|\
            trust --list --remove /a|trust /a --remove /b|trust --remove /a --yes|\
            setup --yes --dry-run|setup --print --yes|search a --index|resolve 3f2a other --format json|\
            init --list Keep|check /a --workspace Keep --home /b|init A --format json|setup --yes --link|setup --remove --home /a|setup --remove --tools memory|\
            hook install --project --settings a.json|hook remove --project --settings a.json";
        for line in lines.split('|') {
            assert_eq!(parse_error(line), Some(ErrorKind::ArgumentConflict), "{line}");
        }
    }

    #[test]
    fn every_command_that_uses_a_home_has_the_option() {
        let without = [
            "spec",
            "schema",
            "completions",
            "man",
            "remove",
            "git-diff",
            "git-textconv",
            "merge-file",
            // The roots come from the editor.
            "lsp",
        ];
        let mut commands: Vec<_> = Cli::command().get_subcommands().cloned().collect();
        while let Some(command) = commands.pop() {
            if command.has_subcommands() {
                commands.extend(command.get_subcommands().cloned());
                continue;
            }
            let has_home = command.get_arguments().any(|it| it.get_long() == Some("home"));
            assert!(has_home || without.contains(&command.get_name()), "{}", command.get_name());
        }
    }

    #[test]
    fn a_misspelt_value_is_refused_with_the_right_one() {
        let message = |line: &str| {
            let words = std::iter::once("palazzo").chain(line.split(' '));
            let error = Cli::try_parse_from(words).err().unwrap().to_string();
            error.lines().next().unwrap_or_default().to_owned()
        };
        let lines = [
            "check --explain bad-slig",
            "serve --tools memry",
            "schema rom",
            "search a --kind Room",
        ];
        insta::assert_snapshot!(lines.map(message).join("\n"), @"
        error: invalid value 'bad-slig' for '--explain [<CODE>]': there is no code `bad-slig`; did you mean `bad-slug`?
        error: invalid value 'memry' for '--tools <LIST>': there is no tool set `memry`; there are palace, graph, sync, memory, mempalace
        error: invalid value 'rom' for '[KIND]': no kind of file is called `rom`; did you mean `room`?
        error: invalid value 'Room' for '--kind <KIND>': there is no kind `Room`; did you mean `room`?
        ");
    }

    #[test]
    fn an_argument_has_a_default_value() {
        let cases = [
            ("serve", "watch", "auto"),
            ("log", "most", "20"),
            ("search a", "limit", "10"),
            ("search a", "format", "human"),
            ("check", "format", "human"),
            ("export memory", "file", "-"),
            ("client-config", "client", "claude-code"),
            ("wake-up", "budget", "2000"),
            ("hook session-start", "budget", "2000"),
        ];
        for (line, argument, value) in cases {
            assert_eq!(values_of(line, argument).join(" "), value, "{line} {argument}");
        }
    }

    #[test]
    fn a_list_is_given_with_commas_words_or_repeated_options() {
        assert_eq!(values_of("serve --tools memory,mempalace", "tools"), ["memory", "mempalace"]);
        let search = "search the Great Hall --kind room --kind scroll --limit 3";
        assert_eq!(values_of(search, "words"), ["the", "Great", "Hall"]);
        assert_eq!(values_of(search, "kind"), ["room", "scroll"]);
        assert_eq!(values_of("fmt a.yaml b", "paths"), ["a.yaml", "b"]);
    }

    #[test]
    fn things_follow_revisions_after_two_hyphens() {
        let line = "diff hall Granite main..agent --text -- Basalt";
        assert_eq!(values_of(line, "first"), ["hall"]);
        assert_eq!(values_of(line, "more"), ["Granite", "main..agent"]);
        assert_eq!(values_of(line, "things"), ["Basalt"]);
        assert_eq!(values_of("log hall main..agent -n5", "words"), ["hall", "main..agent"]);
        assert_eq!(values_of("log -- hall", "things"), ["hall"]);
    }

    #[test]
    fn a_moment_may_begin_with_a_hyphen() {
        assert_eq!(values_of("restore hall --to -1.week", "to"), ["-1.week"]);
        assert_eq!(values_of("show hall --at -1.week", "at"), ["-1.week"]);
        assert_eq!(values_of("diff -1.week..HEAD --text", "first"), ["-1.week..HEAD"]);
    }

    #[test]
    fn the_hook_accepts_any_budget_so_that_it_never_exits_with_a_failure() {
        assert_eq!(values_of("hook session-start --budget many", "budget"), ["many"]);
        assert_eq!(parse_error("wake-up --budget many"), Some(ErrorKind::ValueValidation));
    }
}
