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
use std::time::SystemTime;

use chrono::{DateTime, Utc};
use clap::{Parser, Subcommand};

use crate::keeper::{Caller, Refusal};

/// The result of a command: exit code 0, or 1 if it found a fault.
type Outcome = Result<ExitCode, Failure>;

/// The error of a command that could not run; the process exits with 2.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("{}", refusal_for_terminal(.0))]
    Refused(#[from] Refusal),
    #[error("{0}")]
    Message(String),
    #[error("{0}")]
    Io(#[from] std::io::Error),
    #[error("the connection failed: {0}")]
    Connection(Box<dyn std::error::Error + Send + Sync>),
}

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
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args),
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

/// Words a refusal for a terminal user, who has commands instead of tools.
fn refusal_for_terminal(refusal: &Refusal) -> String {
    match refusal {
        Refusal::NoWorkspaceSet { known, home, .. } if known.is_empty() => {
            format!(
                "there is no palace in {} yet; `palazzo init NAME` creates one, `palazzo --help` \
                 explains how the home is chosen",
                home.display()
            )
        }
        Refusal::NoWorkspaceSet { known, .. } => {
            format!("there are several palaces: give --workspace NAME ({})", known.join(", "))
        }
        Refusal::NoSuchWorkspace { asked, known, .. } => {
            format!("there is no palace `{asked}` here; there are {}", known.join(", "))
        }
        refusal => refusal.to_string(),
    }
}

/// Returns the current time, or the time in `PALAZZO_NOW` (RFC 3339), which tests and
/// demonstrations set.
fn current_time() -> DateTime<Utc> {
    let fixed = std::env::var("PALAZZO_NOW").ok().and_then(|it| it.parse().ok());
    // `Utc::now` panics if the clock shows a year before 1970.
    fixed.unwrap_or_else(|| SystemTime::now().into())
}

/// Returns the person at the terminal as the caller of `command`.
fn terminal_user(command: &'static str) -> Caller {
    let name = std::env::var("USER").or_else(|_| std::env::var("USERNAME"));
    Caller::for_person(&name.unwrap_or_else(|_| "someone".to_owned()), command, current_time())
}
