//! `palazzo undo`.

use std::process::ExitCode;

use crate::cli::home::HomeArgs;
use crate::cli::{Outcome, terminal, terminal_user};

/// Revert the last change that a tool made, in a new commit; again for the one before
///
/// Fails if one of its files has changed since, and says who changed it.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Only report what would be done
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    home: HomeArgs,
}

pub(super) fn run(args: &Args) -> Outcome {
    let mut keeper = args.home.keeper();
    terminal::print_page(&keeper.undo(&terminal_user("undo"), args.dry_run)?)?;
    Ok(ExitCode::SUCCESS)
}
