//! `palazzo diff`.

use std::process::ExitCode;

use crate::cli::home::HomeArgs;
use crate::cli::{Outcome, terminal, terminal_user};
use crate::keeper::{self, PalaceDiff};
use crate::render;

/// Show the differences between two states of a palace: rooms, scrolls, entities
///
/// Without a range: uncommitted changes. `A`: changes since A. `A..B`: changes from
/// A to B. A moment is a day (its end, in UTC), a time, an age like `3.weeks`, or a
/// git revision.
#[derive(clap::Args)]
pub(super) struct Args {
    /// `A..B`, or `A`
    #[arg(value_name = "RANGE", allow_hyphen_values = true)]
    range: Option<String>,

    /// Print a patch for `git apply`, with paths relative to the root of the repository
    #[arg(long)]
    text: bool,

    #[command(flatten)]
    home: HomeArgs,
}

pub(super) fn run(args: &Args) -> Outcome {
    let mut keeper = args.home.keeper();
    let diff = keeper.diff(&terminal_user("diff"), args.range.as_deref(), args.text)?;
    match args.text {
        true => terminal::print_patch(&diff)?,
        false => terminal::print_page(&diff)?,
    }
    Ok(ExitCode::SUCCESS)
}
