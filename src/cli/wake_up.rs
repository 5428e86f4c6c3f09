//! `palazzo wake-up`.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::cli::{Outcome, home, terminal, terminal_user};
use crate::keeper::{self, DEFAULT_TOKENS, Keeper};

/// Say what an agent should know when a conversation begins
///
/// What is to be done, what was written last, which facts hold, what lies where:
/// as much as fits into the budget. The MCP prompt of this name says the same.
#[derive(clap::Args)]
pub(super) struct Args {
    /// The workspace, where the home has several
    workspace: Option<String>,

    /// How many tokens it may take, as the public tokenizer `cl100k_base` counts
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
