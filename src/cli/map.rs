//! `palazzo map`.

use std::process::ExitCode;

use crate::cli::home::PalaceArgs;
use crate::cli::outcome::{Outcome, terminal_user};
use crate::cli::terminal;
use crate::keeper;

/// Show the map of a palace: rooms, doors, scrolls, versions and ages
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    palace: PalaceArgs,
}

pub(super) fn run(args: &Args) -> Outcome {
    let (mut keeper, user) = (args.palace.keeper(), terminal_user("map"));
    terminal::print_page(&keeper::show_map(&mut keeper.session(&user)?)?)?;
    Ok(ExitCode::SUCCESS)
}
