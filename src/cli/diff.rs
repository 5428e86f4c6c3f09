//! `palazzo diff`.

use std::process::ExitCode;

use crate::cli::home::HomeArgs;
use crate::cli::{Outcome, terminal, terminal_user};
use crate::keeper::{self, PalaceDiff};
use crate::render;

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
    let (mut keeper, user) = (args.home.keeper(), terminal_user("diff"));
    match keeper::diff_revisions(&keeper.session(&user)?, args.range.as_deref(), args.text)? {
        PalaceDiff::Patch(patch) => terminal::print_patch(&patch)?,
        PalaceDiff::Same => terminal::print_page("Nothing differs.\n")?,
        PalaceDiff::Items(items) => terminal::print_page(&render::palace_diff(&items))?,
    }
    Ok(ExitCode::SUCCESS)
}
