//! `palazzo map`.

use std::process::ExitCode;

use crate::cli::home::PalaceArgs;
use crate::cli::outcome::{Outcome, terminal_user};
use crate::cli::output_format::FormatArgs;
use crate::cli::terminal;
use crate::keeper;

/// Show the map of a palace: rooms, doors, scrolls, versions and ages
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    format: FormatArgs,

    #[command(flatten)]
    palace: PalaceArgs,
}

pub(super) fn run(args: &Args) -> Outcome {
    let (mut keeper, user) = (args.palace.keeper(), terminal_user("map"));
    let mut session = keeper.session(&user)?;
    terminal::print_page(&match args.format.is_json() {
        true => keeper::show_map_as_json(&mut session)?,
        false => keeper::show_map(&mut session)?,
    })?;
    Ok(ExitCode::SUCCESS)
}
