//! `palazzo diff`.

use std::process::ExitCode;

use crate::cli::home::HomeArgs;
use crate::cli::{Outcome, terminal, terminal_user};

/// Say what differs between two states of a palace, in its own words
///
/// Without a range: what is not committed yet. `A`: what has changed since A.
/// `A..B`: what changed from A to B. A moment is a day (its end, in UTC), a time,
/// an age like `3.weeks`, or a revision of git.
#[derive(clap::Args)]
pub(super) struct Args {
    /// `A..B`, or `A`
    #[arg(value_name = "RANGE", allow_hyphen_values = true)]
    range: Option<String>,

    /// Show the lines that differ as a patch for `git apply`, with paths from the
    /// root of the repository
    #[arg(long)]
    text: bool,

    #[command(flatten)]
    home: HomeArgs,
}

pub(super) fn run(args: &Args) -> Outcome {
    let mut keeper = args.home.keeper();
    let told = keeper.diff(&terminal_user("diff"), args.range.as_deref(), args.text)?;
    match args.text {
        true => terminal::print_patch(&told)?,
        false => terminal::print_page(&told)?,
    }
    Ok(ExitCode::SUCCESS)
}
