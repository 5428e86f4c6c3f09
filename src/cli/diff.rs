//! `palazzo diff`.

use std::process::ExitCode;

use crate::cli::home::Home;
use crate::cli::{Outcome, person, terminal};

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
    home: Home,
}

pub(super) fn run(args: &Args) -> Outcome {
    let mut keeper = args.home.keeper();
    let told = keeper.diff(&person("diff"), args.range.as_deref(), args.text)?;
    match args.text {
        true => terminal::patch(&told)?,
        false => terminal::print(&told)?,
    }
    Ok(ExitCode::SUCCESS)
}
