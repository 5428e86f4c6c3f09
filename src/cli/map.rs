//! `palazzo map`.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::cli::home::{self, WorkspaceArgs};
use crate::cli::outcome::{Outcome, terminal_user};
use crate::cli::terminal;
use crate::keeper;

/// Show the map of a palace: rooms, doors, scrolls, versions and ages
#[derive(clap::Args)]
pub(super) struct Args {
    /// The home, or one palace
    #[arg(value_name = "DIR")]
    dir: Option<PathBuf>,

    #[command(flatten)]
    workspace: WorkspaceArgs,
}

pub(super) fn run(args: &Args) -> Outcome {
    let mut keeper = home::keeper_for_home(args.dir.as_deref(), &args.workspace);
    let user = terminal_user("map");
    terminal::print_page(&keeper::show_map(&mut keeper.session(&user)?)?)?;
    Ok(ExitCode::SUCCESS)
}
