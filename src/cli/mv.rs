//! `palazzo mv`.

use std::process::ExitCode;

use crate::cli::home::HomeArgs;
use crate::cli::item_change::{ChangeModeArgs, print_item_change};
use crate::cli::outcome::{Outcome, terminal_user};
use palazzo_keeper as keeper;

/// Rename or move a room, a wing, a scroll, an entity or a drawer; what refers to it follows
///
/// Doors, scrolls, drawers, relations, tasks, processes and the entry room are changed in the
/// same commit.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  palazzo mv attic loft             a room gets another slug
  palazzo mv attic east/            a room moves into a wing; \"/\" moves it out of its wing
  palazzo mv east/ west             a wing gets another slug
  palazzo mv \"On moss\" attic       a scroll moves to another room
  palazzo mv Darwin \"Charles Darwin\"
                                    an entity gets another name
  palazzo mv DRAWER code/auth       a drawer, by id or file, moves to another wing and room")]
pub(super) struct Args {
    /// A room by slug or name, a wing by its slug and `/`, a scroll by id or title, an entity by
    /// name, a drawer by id, or a file
    #[arg(value_name = "THING")]
    thing: String,

    /// Its new name or place
    #[arg(value_name = "NEW")]
    new: String,

    #[command(flatten)]
    mode: ChangeModeArgs,

    #[command(flatten)]
    home: HomeArgs,
}

pub(super) fn run(args: &Args) -> Outcome {
    let (mut keeper, user) = (args.home.keeper(), terminal_user("mv"));
    let mut session = keeper.session(&user)?;
    let change = keeper::move_item(&mut session, &args.thing, &args.new, args.mode.mode())?;
    print_item_change(&change)?;
    Ok(ExitCode::SUCCESS)
}
