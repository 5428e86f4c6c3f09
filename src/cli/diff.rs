//! `palazzo diff`.

use std::process::ExitCode;

use crate::cli::home::HomeArgs;
use crate::cli::outcome::{Outcome, terminal_user};
use crate::cli::terminal;
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
    let (mut keeper, user) = (args.home.keeper(), terminal_user("diff"));
    match keeper::diff_revisions(&keeper.session(&user)?, args.range.as_deref(), args.text)? {
        PalaceDiff::Patch(patch) => terminal::print_patch(&patch)?,
        PalaceDiff::Same => terminal::print_page("Nothing differs.\n")?,
        PalaceDiff::Items(items) => terminal::print_page(&render::palace_diff(&items))?,
    }
    Ok(ExitCode::SUCCESS)
}
