//! `palazzo log`.

use std::process::ExitCode;

use crate::cli::home::HomeArgs;
use crate::cli::{Outcome, terminal, terminal_user};

/// List changes with date and author, newest first
///
/// For one THING it also shows its changes in detail: a room by slug or name, a
/// scroll by id or title, an entity by name, anything by its file. THING may be
/// deleted by now.
#[derive(clap::Args)]
pub(super) struct Args {
    /// A room, a scroll, an entity or a file; without it, the whole palace
    #[arg(value_name = "THING")]
    thing: Option<String>,

    /// The largest number of commits to list
    #[arg(short = 'n', value_name = "NUMBER", default_value_t = 20)]
    most: usize,

    #[command(flatten)]
    home: HomeArgs,
}

pub(super) fn run(args: &Args) -> Outcome {
    let mut keeper = args.home.keeper();
    terminal::print_page(&keeper.log(&terminal_user("log"), args.thing.as_deref(), args.most)?)?;
    Ok(ExitCode::SUCCESS)
}
