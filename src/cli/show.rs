//! `palazzo show`.

use std::process::ExitCode;

use crate::cli::home::HomeArgs;
use crate::cli::outcome::{Outcome, terminal_user};
use crate::cli::terminal;
use crate::keeper;

/// Show a room as a visitor sees it, or any other thing
///
/// A THING is a room by slug or name, a scroll by id or title, an entity, a process or a
/// genus by name, a task by title, a drawer by id, or anything by its file.
#[derive(clap::Args)]
pub(super) struct Args {
    /// The thing; without it, the entry room
    #[arg(value_name = "THING")]
    thing: Option<String>,

    /// The thing as it was at this moment, by its name then: a day, a time, an age like `3.weeks`, or a git revision
    #[arg(long, value_name = "MOMENT", allow_hyphen_values = true)]
    at: Option<String>,

    #[command(flatten)]
    home: HomeArgs,
}

pub(super) fn run(args: &Args) -> Outcome {
    let (mut keeper, user) = (args.home.keeper(), terminal_user("show"));
    let (thing, at) = (args.thing.as_deref(), args.at.as_deref());
    terminal::print_page(&keeper::show_item(&mut keeper, &user, thing, at)?)?;
    Ok(ExitCode::SUCCESS)
}
