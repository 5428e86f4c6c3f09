//! The command line: one file per subcommand, each with `Args` and `run`.

mod aaak;
mod blame;
mod check;
mod client_config;
mod completions;
mod diff;
mod doctor;
mod embed;
mod explain;
mod export;
mod fmt;
mod home;
mod hook;
mod import;
mod init;
mod log;
mod man;
mod map;
mod mine;
mod outcome;
mod progress_bar;
mod restore;
mod schema;
mod search;
mod serve;
mod show;
mod signal;
mod templates;
mod terminal;
mod trust;
mod undo;
mod wake_up;
mod walk;

use std::io::ErrorKind;
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};

use crate::cli::outcome::Failure;

/// A memory palace for language models: rooms and scrolls as files in git,
/// visited over MCP
#[derive(Parser)]
#[command(
    name = "palazzo",
    version,
    max_term_width = 100,
    after_help = "\
A home is a directory of palaces, or one palace. A command uses the home it is given, else \
$PALAZZO_HOME, else the current directory if it contains palaces, else the nearest parent \
directory with a palace.toml, else $XDG_DATA_HOME/palazzo (~/.local/share/palazzo).

  palazzo serve ~/palaces             the command that an MCP client starts
  palazzo client-config claude-code   print the client's configuration
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
    Init(init::Args),
    Templates(templates::Args),
    Show(show::Args),
    Map(map::Args),
    Search(search::Args),
    Embed(embed::Args),
    Log(log::Args),
    Diff(diff::Args),
    Blame(blame::Args),
    Restore(restore::Args),
    Undo(undo::Args),
    Check(check::Args),
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
    ClientConfig(client_config::Args),
    Completions(completions::Args),
    Man(man::Args),
}

/// Runs the command given in the process arguments. The exit code is 0; 1 if `check` or
/// `fmt` found a fault, `search` found nothing, or `import` could not parse some lines or
/// rows; 2 if the command failed.
pub fn run() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Serve(args) => serve::run(args),
        Command::Init(args) => init::run(&args),
        Command::Templates(args) => templates::run(&args),
        Command::Show(args) => show::run(&args),
        Command::Map(args) => map::run(&args),
        Command::Search(args) => search::run(args),
        Command::Embed(args) => embed::run(&args),
        Command::Log(args) => log::run(&args),
        Command::Diff(args) => diff::run(&args),
        Command::Blame(args) => blame::run(&args),
        Command::Restore(args) => restore::run(&args),
        Command::Undo(args) => undo::run(&args),
        Command::Check(args) => check::run(&args),
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
        Command::ClientConfig(args) => client_config::run(&args),
        Command::Completions(args) => completions::run(&args, Cli::command()),
        Command::Man(args) => man::run(&args, Cli::command()),
    };
    match outcome {
        Ok(code) => code,
        Err(Failure::Io(err)) if err.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(failure) => {
            terminal::eprint_failure(&failure.to_string());
            ExitCode::from(2)
        }
    }
}
