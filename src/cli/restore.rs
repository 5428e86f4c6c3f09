//! `palazzo restore`.

use std::process::ExitCode;

use crate::cli::home::HomeArgs;
use crate::cli::{Outcome, terminal, terminal_user};

/// Restore an earlier version of a room, a scroll, an entity or a file, in a new commit
///
/// It may be deleted by now. Your uncommitted edits are committed first, in your
/// name, so nothing is lost.
#[derive(clap::Args)]
pub(super) struct Args {
    /// A room by slug or name, a scroll by id or title, an entity by name, or a file; by its
    /// name at that moment
    #[arg(value_name = "THING")]
    thing: String,

    /// The moment: a day, a time, an age like `3.weeks`, or a git revision
    #[arg(long, value_name = "MOMENT", allow_hyphen_values = true)]
    to: String,

    #[command(flatten)]
    home: HomeArgs,
}

pub(super) fn run(args: &Args) -> Outcome {
    let mut keeper = args.home.keeper();
    terminal::print_page(&keeper.restore(&terminal_user("restore"), &args.thing, &args.to)?)?;
    Ok(ExitCode::SUCCESS)
}
