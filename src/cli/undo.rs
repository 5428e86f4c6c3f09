//! `palazzo undo`.

use std::process::ExitCode;

use crate::cli::home::HomeArgs;
use crate::cli::outcome::{Outcome, terminal_user};
use crate::cli::terminal;
use crate::keeper;
use crate::render;

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
    let (mut keeper, user) = (args.home.keeper(), terminal_user("undo"));
    let undone = keeper::undo_last_call(&mut keeper.session(&user)?, args.dry_run)?;
    let verb = if args.dry_run { "Would undo" } else { "Undid" };
    let changes = render::palace_diff(&undone.changes);
    terminal::print_page(&format!("{verb} {}:\n{changes}", undone.description))?;
    Ok(ExitCode::SUCCESS)
}
