//! `palazzo rm`.

use std::process::ExitCode;

use crate::cli::home::HomeArgs;
use crate::cli::item_change::{ChangeModeArgs, print_item_change};
use crate::cli::outcome::{Outcome, terminal_user};
use palazzo_keeper as keeper;

/// Delete rooms, wings, scrolls, entities, drawers, tasks or processes, in one commit
///
/// A room takes the doors to it along, and its scrolls unless `--scrolls-to` names a room for
/// them; its drawers stay in their wing. An entity takes the relations to it along. The entry room
/// cannot be deleted. `palazzo restore` and `palazzo undo` bring things back.
#[derive(clap::Args)]
pub(super) struct Args {
    /// A room by slug or name, a wing by its slug and `/`, a scroll by id or title, an entity by
    /// name, a drawer by id, a task by title, or a file
    #[arg(value_name = "THING", required = true)]
    things: Vec<String>,

    /// The room that gets the scrolls of the deleted rooms, and the tasks about them
    #[arg(long, value_name = "ROOM")]
    scrolls_to: Option<String>,

    #[command(flatten)]
    mode: ChangeModeArgs,

    #[command(flatten)]
    home: HomeArgs,
}

pub(super) fn run(args: &Args) -> Outcome {
    let (mut keeper, user) = (args.home.keeper(), terminal_user("rm"));
    let mut session = keeper.session(&user)?;
    let scrolls_to = args.scrolls_to.as_deref();
    let change = keeper::delete_items(&mut session, &args.things, scrolls_to, args.mode.mode())?;
    print_item_change(&change)?;
    Ok(ExitCode::SUCCESS)
}
