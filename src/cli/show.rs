//! `palazzo show`.

use std::process::ExitCode;

use crate::cli::home::HomeArgs;
use crate::cli::outcome::{Failure, Outcome, terminal_user};
use crate::cli::terminal;
use crate::keeper;
use crate::model::RoomRef;

/// Show a room as a visitor sees it
#[derive(clap::Args)]
pub(super) struct Args {
    /// The room, by slug; without it, the entry room
    room: Option<String>,

    /// The room at this moment: a day, a time, an age like `3.weeks`, or a git revision
    #[arg(long, value_name = "MOMENT", allow_hyphen_values = true)]
    at: Option<String>,

    #[command(flatten)]
    home: HomeArgs,
}

pub(super) fn run(args: &Args) -> Outcome {
    let room = args.room.as_ref().map(|it| it.parse::<RoomRef>()).transpose();
    let room = room.map_err(|err| Failure::Message(err.to_string()))?;
    let mut keeper = args.home.keeper();
    terminal::print_page(&keeper::show_room(
        &mut keeper,
        &terminal_user("show"),
        room.as_ref(),
        args.at.as_deref(),
    )?)?;
    Ok(ExitCode::SUCCESS)
}
