//! `palazzo blame`.

use std::process::ExitCode;

use crate::cli::home::HomeArgs;
use crate::cli::outcome::{Outcome, terminal_user};
use crate::cli::terminal;
use crate::keeper;
use crate::render;

/// Show who wrote each line of a room, a scroll, an entity or a file, and when
#[derive(clap::Args)]
pub(super) struct Args {
    /// A room by slug or name, a scroll by id or title, an entity by name, or a file
    #[arg(value_name = "THING")]
    thing: String,

    #[command(flatten)]
    home: HomeArgs,
}

pub(super) fn run(args: &Args) -> Outcome {
    let (mut keeper, user) = (args.home.keeper(), terminal_user("blame"));
    let lines = keeper::blame_item(&mut keeper.session(&user)?, &args.thing)?;
    terminal::print_page(&render::blame(&lines, user.now))?;
    Ok(ExitCode::SUCCESS)
}
