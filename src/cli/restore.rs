//! `palazzo restore`.

use std::process::ExitCode;

use crate::cli::home::HomeArgs;
use crate::cli::{Outcome, terminal, terminal_user};

/// Make a room, a scroll, an entity or a file what it was, in a new commit
///
/// It may be one that is there no more. What you have edited and not committed
/// is committed first, as it is, in your name: nothing is lost.
#[derive(clap::Args)]
pub(super) struct Args {
    /// A room by slug or name, a scroll by id or title, an entity by name, or a file; as it was
    /// called then
    #[arg(value_name = "THING")]
    thing: String,

    /// The moment: a day, a time, an age like `3.weeks`, or a revision of git
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
