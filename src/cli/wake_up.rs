//! `palazzo wake-up`.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::cli::outcome::{Outcome, terminal_user};
use crate::cli::{home, terminal};
use crate::keeper::{self, DEFAULT_TOKENS, Keeper};

/// Print what an agent should know when a conversation begins
///
/// Open tasks, the latest texts, the current facts, and the contents of the rooms:
/// as much as fits into the budget. The MCP prompt `wake-up` returns the same text.
#[derive(clap::Args)]
pub(super) struct Args {
    /// The workspace, if the home has several
    workspace: Option<String>,

    /// The largest number of tokens to print, as estimated for the tokenizer `cl100k_base`
    #[arg(long, value_name = "TOKENS", default_value_t = DEFAULT_TOKENS)]
    budget: usize,

    /// The home, or one palace
    #[arg(long, value_name = "DIR")]
    home: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> Outcome {
    let keeper = Keeper::new(home::find_home(args.home.as_deref()), None);
    let mut keeper = keeper.with_consent_folder(home::state_dir());
    terminal::print_page(&keeper::wake_up(
        &mut keeper,
        &terminal_user("wake-up"),
        args.workspace.as_deref(),
        args.budget,
    )?)?;
    Ok(ExitCode::SUCCESS)
}
